//! The terminal a process was started from, for as long as a question stands on it.
//!
//! Lines are edited by the terminal itself, so nothing keeps a history. What was typed before the
//! question is thrown away: it cannot be meant as its answer. Ctrl-C is read as a character and ends
//! no process; neither the one that asks nor the agent that waits for it. Whatever happens, the
//! terminal gets back the mode it had: also when the process ends in its
//! [`last_words`](crate::last_words).

use std::fs::File;
use std::io;
use std::time::Duration;

/// What Ctrl-C is in the bytes that are read.
pub const CTRL_C: u8 = 3;

/// What Ctrl-\ is in the bytes that are read.
pub const CTRL_BACKSLASH: u8 = 28;

/// The controlling terminal, in the mode of a question until it is dropped.
///
/// A process holds one at a time.
pub struct Terminal {
    held: system::Held,
}

impl Terminal {
    /// Takes the controlling terminal. It fails where there is none, and where another job is in
    /// the foreground: whoever types now does not see the question.
    pub fn take() -> io::Result<Self> {
        let held = system::Held::take()?;
        Ok(Self { held })
    }

    /// Reads what was typed: up to the end of a line, Ctrl-C or Ctrl-\. Nothing within `wait` is
    /// none; the end of input (Ctrl-D) is 0.
    pub fn read(&mut self, bytes: &mut [u8], wait: Duration) -> io::Result<Option<usize>> {
        self.held.read(bytes, wait)
    }

    /// The terminal, to write to and to hand on.
    pub fn file(&self) -> &File {
        self.held.file()
    }

    /// Leaves the terminal to another program until what comes back is dropped. Meanwhile Ctrl-C is
    /// that program's; this process does not end by it.
    pub fn lend(&self) -> io::Result<Lent<'_>> {
        self.held.lend()?;
        Ok(Lent { terminal: self })
    }
}

/// Another program has the terminal.
pub struct Lent<'a> {
    terminal: &'a Terminal,
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        self.terminal.held.ask_again();
    }
}

/// Gives a terminal that is held its mode back, without a word. May be called in a signal handler.
#[cfg(unix)]
pub(crate) fn restore() {
    system::restore();
}

#[cfg(unix)]
mod system {
    use std::fs::{File, OpenOptions};
    use std::io::{self, Read};
    use std::os::fd::AsRawFd;
    use std::ptr;
    use std::sync::atomic::{AtomicPtr, Ordering};
    use std::time::Duration;

    use libc::{c_int, sigaction, termios};

    use super::{CTRL_BACKSLASH, CTRL_C};

    /// The terminal that is held and its mode before. Whoever takes the pointer out restores it and
    /// owns the box: the one that drops the terminal, or a handler that ends the process.
    static BEFORE: AtomicPtr<Before> = AtomicPtr::new(ptr::null_mut());

    struct Before {
        fd: c_int,
        mode: termios,
    }

    pub(super) struct Held {
        file: File,
        asking: termios,
        interrupts: [sigaction; 2],
    }

    /// What Ctrl-C and Ctrl-\ send where the terminal sends signals.
    const INTERRUPTS: [c_int; 2] = [libc::SIGINT, libc::SIGQUIT];

    impl Held {
        pub(super) fn take() -> io::Result<Self> {
            let file = OpenOptions::new().read(true).write(true).open("/dev/tty");
            let file = file.map_err(|error| match error.raw_os_error() {
                Some(libc::ENXIO) => io::Error::other("this process has none"),
                Some(_) | None => error,
            })?;
            let fd = file.as_raw_fd();
            // SAFETY: takes no pointer; a wrong descriptor is an error.
            let foreground = unsafe { libc::tcgetpgrp(fd) };
            // SAFETY: takes nothing and cannot fail.
            let own = unsafe { libc::getpgrp() };
            if foreground != own {
                return Err(io::Error::other("another job has the terminal"));
            }
            let mode = mode_of(fd)?;
            let interrupts = handlers()?;
            let before = Box::into_raw(Box::new(Before { fd, mode }));
            let free = BEFORE.compare_exchange(
                ptr::null_mut(),
                before,
                Ordering::AcqRel,
                Ordering::Acquire,
            );
            if free.is_err() {
                drop_before(before);
                return Err(io::Error::other("the terminal is in use already"));
            }
            let held = Self {
                file,
                asking: asking(mode),
                interrupts,
            };
            // From here on, dropping it restores the mode.
            set_mode(fd, libc::TCSAFLUSH, &held.asking)?;
            Ok(held)
        }

        pub(super) fn read(
            &mut self,
            bytes: &mut [u8],
            wait: Duration,
        ) -> io::Result<Option<usize>> {
            let mut input = libc::pollfd {
                fd: self.file.as_raw_fd(),
                events: libc::POLLIN,
                revents: 0,
            };
            let millis = c_int::try_from(wait.as_millis()).unwrap_or(c_int::MAX);
            // SAFETY: one valid entry.
            let ready = unsafe { libc::poll(&raw mut input, 1, millis) };
            let result = match ready {
                0 => return Ok(None),
                1.. => self.file.read(bytes).map(Some),
                _ => Err(io::Error::last_os_error()),
            };
            match result {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(None),
                other => other,
            }
        }

        pub(super) fn file(&self) -> &File {
            &self.file
        }

        pub(super) fn lend(&self) -> io::Result<()> {
            let mut plain = self.asking;
            plain.c_lflag |= libc::ISIG;
            for slot in [libc::VEOL, libc::VEOL2] {
                set_key(&mut plain, slot, libc::_POSIX_VDISABLE);
            }
            // A handler, because a program that is started would inherit that a signal is ignored.
            // SAFETY: all-zero bytes are a valid `sigaction`: no flags, an empty mask.
            let mut unheard: sigaction = unsafe { std::mem::zeroed() };
            unheard.sa_sigaction = on_interrupt as extern "C" fn(c_int) as usize;
            unheard.sa_flags = libc::SA_RESTART;
            for signal in INTERRUPTS {
                handle(signal, &unheard)?;
            }
            set_mode(self.file.as_raw_fd(), libc::TCSAFLUSH, &plain)
        }

        pub(super) fn ask_again(&self) {
            // What cannot be set back here is an error of the next read.
            let _ = set_mode(self.file.as_raw_fd(), libc::TCSAFLUSH, &self.asking);
            for (signal, handler) in INTERRUPTS.into_iter().zip(&self.interrupts) {
                let _ = handle(signal, handler);
            }
        }
    }

    impl Drop for Held {
        fn drop(&mut self) {
            // A line somebody began is no answer and nobody else's input.
            // SAFETY: takes no pointer.
            let _ = unsafe { libc::tcflush(self.file.as_raw_fd(), libc::TCIFLUSH) };
            drop_before(taken());
        }
    }

    /// Restores the mode in a process that ends; the box is left to the kernel, because a handler
    /// must not free memory.
    pub(super) fn restore() {
        let _ = taken();
    }

    /// The entry of the terminal that is held, after its mode was restored.
    fn taken() -> *mut Before {
        let before = BEFORE.swap(ptr::null_mut(), Ordering::AcqRel);
        // SAFETY: a pointer that was in `BEFORE` is a box nobody else has.
        if let Some(before) = unsafe { before.as_ref() } {
            let _ = set_mode(before.fd, libc::TCSANOW, &before.mode);
        }
        before
    }

    fn drop_before(before: *mut Before) {
        if !before.is_null() {
            // SAFETY: it came from `Box::into_raw`, and is in `BEFORE` no longer.
            drop(unsafe { Box::from_raw(before) });
        }
    }

    /// The mode of a question: lines, echo, no signals, no flow control.
    fn asking(mut mode: termios) -> termios {
        mode.c_iflag &= !(libc::IXON | libc::ISTRIP | libc::INLCR | libc::IGNCR);
        mode.c_iflag |= libc::ICRNL | libc::IUTF8;
        mode.c_oflag |= libc::OPOST | libc::ONLCR;
        mode.c_lflag &= !(libc::ISIG | libc::ECHONL | libc::TOSTOP);
        mode.c_lflag |=
            libc::ICANON | libc::ECHO | libc::ECHOE | libc::ECHOK | libc::ECHOCTL | libc::IEXTEN;
        // Both end a line, so that they are read at once.
        set_key(&mut mode, libc::VEOL, CTRL_C);
        set_key(&mut mode, libc::VEOL2, CTRL_BACKSLASH);
        set_key(&mut mode, libc::VEOF, 4);
        mode
    }

    fn set_key(mode: &mut termios, slot: usize, key: u8) {
        if let Some(place) = mode.c_cc.get_mut(slot) {
            *place = key;
        }
    }

    fn mode_of(fd: c_int) -> io::Result<termios> {
        // SAFETY: all-zero bytes are a valid `termios`.
        let mut mode: termios = unsafe { std::mem::zeroed() };
        // SAFETY: the struct is valid and nobody else sees it.
        checked(unsafe { libc::tcgetattr(fd, &raw mut mode) })?;
        Ok(mode)
    }

    fn set_mode(fd: c_int, when: c_int, mode: &termios) -> io::Result<()> {
        // SAFETY: the struct is valid; a wrong descriptor is an error.
        checked(unsafe { libc::tcsetattr(fd, when, mode) })
    }

    fn handlers() -> io::Result<[sigaction; 2]> {
        // SAFETY: all-zero bytes are a valid `sigaction`.
        let mut found: [sigaction; 2] = unsafe { std::mem::zeroed() };
        for (signal, place) in INTERRUPTS.into_iter().zip(&mut found) {
            // SAFETY: nothing is set; the place is valid and nobody else sees it.
            checked(unsafe { libc::sigaction(signal, ptr::null(), place) })?;
        }
        Ok(found)
    }

    fn handle(signal: c_int, handler: &sigaction) -> io::Result<()> {
        // SAFETY: the handler is one that was there before, or does nothing.
        checked(unsafe { libc::sigaction(signal, handler, ptr::null_mut()) })
    }

    extern "C" fn on_interrupt(_signal: c_int) {}

    fn checked(result: c_int) -> io::Result<()> {
        match result {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

#[cfg(not(unix))]
mod system {
    use std::fs::File;
    use std::io;
    use std::time::Duration;

    /// No question can stand on a terminal here yet, so there is never one of these.
    pub(super) enum Held {}

    impl Held {
        pub(super) fn take() -> io::Result<Self> {
            Err(io::ErrorKind::Unsupported.into())
        }

        pub(super) fn read(&mut self, _: &mut [u8], _: Duration) -> io::Result<Option<usize>> {
            match *self {}
        }

        pub(super) fn file(&self) -> &File {
            match *self {}
        }

        pub(super) fn lend(&self) -> io::Result<()> {
            match *self {}
        }

        pub(super) fn ask_again(&self) {
            match *self {}
        }
    }
}
