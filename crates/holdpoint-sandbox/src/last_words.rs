//! What a process says when it cannot go on.
//!
//! Most agents let a tool call through when their hook crashes, hangs or ends without a word. A
//! process that has called [`arm`] ends in its last words and its exit code instead: after a panic,
//! a stack overflow or another fault, when memory or its time runs out, and when it is told to stop.
//! Only `SIGKILL` leaves no time to speak.
//!
//! It is for a process with one thread that has one answer to give.

use std::io;
use std::path::Path;
use std::time::Duration;

/// What is said, and what the process may use before it is.
#[derive(Clone, Copy, Debug)]
pub struct LastWords {
    /// For standard output: an agent's own form of a refusal. May be empty.
    pub stdout: &'static str,
    /// What the line on standard error starts with; the cause and a line break follow.
    pub stderr: &'static str,
    /// The exit code.
    pub code: i32,
    /// How long the process may take, waiting included.
    pub deadline: Duration,
    /// How much memory it may map, in bytes.
    pub memory: u64,
}

/// From here on, whatever ends this process early says `words`.
///
/// A process that is armed twice says the words of the first time.
pub fn arm(words: LastWords) -> io::Result<()> {
    system::arm(words)?;
    std::panic::set_hook(Box::new(|_| system::speak(PANIC)));
    Ok(())
}

/// From here on an armed process would say other words; its time and memory stay what they are.
///
/// One that is told so twice says what it was told first.
pub fn say_instead(stdout: &'static str, stderr: &'static str, code: i32) {
    system::say_instead(stdout, stderr, code);
}

/// Gives a process that is armed more time, from now on: it waits for somebody.
pub fn take_time(time: Duration) -> io::Result<()> {
    system::set_alarm(time)
}

/// While it is so, being told to stop (by `SIGTERM`, `SIGINT` or `SIGHUP`) is noted instead of ending
/// the process, once: it has something to take back first, and five seconds for it.
pub fn note_stops(noted: bool) {
    system::note_stops(noted);
}

/// Whether the process was told to stop while that is noted.
pub fn was_told_to_stop() -> bool {
    system::was_told_to_stop()
}

/// Last words also leave a line at `path`, so that what could not be recorded is not forgotten. The
/// first place that is named counts.
pub fn leave_note_at(path: &Path) -> io::Result<()> {
    system::leave_note_at(path)
}

/// Why a process cannot go on, as its last words put it.
const PANIC: &str = "an error in Holdpoint itself (a panic)";
const FAULT: &str = "an error in Holdpoint itself (a memory fault or a stack overflow)";
const ABORT: &str = "an error in Holdpoint itself (an abort, or no memory left)";
const TIME: &str = "the answer took too long";
const STOPPED: &str = "Holdpoint was stopped before it could answer";

#[cfg(unix)]
mod system {
    use std::cell::UnsafeCell;
    use std::ffi::CString;
    use std::io;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;
    use std::ptr;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    use libc::{c_int, c_void};

    use super::{ABORT, FAULT, LastWords, STOPPED, TIME};

    static WORDS: OnceLock<LastWords> = OnceLock::new();

    /// What is said in place of those words.
    static OTHERS: OnceLock<LastWords> = OnceLock::new();

    /// Where a line is left.
    static NOTE: OnceLock<CString> = OnceLock::new();

    /// Whether a stop is noted, and whether one was.
    static NOTED: AtomicBool = AtomicBool::new(false);
    static TOLD: AtomicBool = AtomicBool::new(false);

    /// The seconds a process has that was told to stop and has something to take back.
    const TO_STOP: libc::c_uint = 5;

    /// Every signal that would end the process without a word and can be caught, with its meaning.
    /// `SIGPIPE` is not among them: the runtime ignores it, and a write that fails says so itself.
    const ENDINGS: &[(c_int, &str)] = &[
        (libc::SIGSEGV, FAULT),
        (libc::SIGBUS, FAULT),
        (libc::SIGILL, FAULT),
        (libc::SIGFPE, FAULT),
        (libc::SIGTRAP, FAULT),
        (libc::SIGSYS, FAULT),
        (libc::SIGABRT, ABORT),
        (libc::SIGALRM, TIME),
        (libc::SIGVTALRM, TIME),
        (libc::SIGPROF, TIME),
        (libc::SIGXCPU, TIME),
        (libc::SIGTERM, STOPPED),
        (libc::SIGINT, STOPPED),
        (libc::SIGHUP, STOPPED),
        (libc::SIGQUIT, STOPPED),
        (libc::SIGUSR1, STOPPED),
        (libc::SIGUSR2, STOPPED),
    ];

    /// Room for the handler when the ordinary stack is used up; more than any machine state needs.
    const STACK_SIZE: usize = 64 << 10;

    #[repr(align(16))]
    struct Stack(UnsafeCell<[u8; STACK_SIZE]>);

    // SAFETY: the bytes are only ever handed to the kernel as the alternate stack of one thread;
    // no reference into them is made.
    unsafe impl Sync for Stack {}

    static STACK: Stack = Stack(UnsafeCell::new([0; STACK_SIZE]));

    pub(super) fn arm(words: LastWords) -> io::Result<()> {
        // What the handler needs is in place before anything can call it.
        let words = *WORDS.get_or_init(|| words);
        use_own_stack()?;
        catch_endings()?;
        limit_memory(words.memory)?;
        set_alarm(words.deadline)
    }

    pub(super) fn say_instead(stdout: &'static str, stderr: &'static str, code: i32) {
        if let Some(words) = WORDS.get() {
            let _ = OTHERS.set(LastWords {
                stdout,
                stderr,
                code,
                ..*words
            });
        }
    }

    pub(super) fn note_stops(noted: bool) {
        NOTED.store(noted, Ordering::Relaxed);
    }

    pub(super) fn was_told_to_stop() -> bool {
        TOLD.load(Ordering::Relaxed)
    }

    pub(super) fn leave_note_at(path: &Path) -> io::Result<()> {
        let path = CString::new(path.as_os_str().as_bytes())?;
        let _ = NOTE.set(path);
        Ok(())
    }

    fn use_own_stack() -> io::Result<()> {
        let stack = libc::stack_t {
            ss_sp: STACK.0.get().cast::<c_void>(),
            ss_flags: 0,
            ss_size: STACK_SIZE,
        };
        // SAFETY: the stack is static, large enough and used for nothing else.
        checked(unsafe { libc::sigaltstack(&raw const stack, ptr::null_mut()) })
    }

    fn catch_endings() -> io::Result<()> {
        // SAFETY: all-zero bytes are a valid `sigaction`: no flags, an empty mask.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction = on_signal as extern "C" fn(c_int) as usize;
        action.sa_flags = libc::SA_ONSTACK | libc::SA_RESTART;
        // While the last words are said, nothing else is heard.
        // SAFETY: the mask is a valid set that nobody else sees.
        checked(unsafe { libc::sigfillset(&raw mut action.sa_mask) })?;
        for (signal, _) in ENDINGS {
            // SAFETY: the handler only makes calls that are allowed in one.
            checked(unsafe { libc::sigaction(*signal, &raw const action, ptr::null_mut()) })?;
        }
        // Whoever started this process may have blocked signals, the alarm among them.
        // SAFETY: all-zero bytes are a valid `sigset_t`.
        let mut none: libc::sigset_t = unsafe { std::mem::zeroed() };
        // SAFETY: the set is valid and nobody else sees it.
        checked(unsafe { libc::sigemptyset(&raw mut none) })?;
        // SAFETY: the set is valid; the old mask is not asked for.
        checked(unsafe { libc::sigprocmask(libc::SIG_SETMASK, &raw const none, ptr::null_mut()) })
    }

    /// An allocation beyond the limit fails; the runtime then aborts, which is caught.
    fn limit_memory(most: u64) -> io::Result<()> {
        let mut limit = libc::rlimit {
            rlim_cur: 0,
            rlim_max: 0,
        };
        // SAFETY: the struct is valid and nobody else sees it.
        checked(unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) })?;
        limit.rlim_cur = limit.rlim_cur.min(limit.rlim_max).min(most);
        // SAFETY: the struct is valid; a soft limit below the hard one may always be set.
        checked(unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) })
    }

    pub(super) fn set_alarm(deadline: Duration) -> io::Result<()> {
        let too_long = |_| io::Error::from(io::ErrorKind::InvalidInput);
        let timer = libc::itimerval {
            it_interval: libc::timeval {
                tv_sec: 0,
                tv_usec: 0,
            },
            it_value: libc::timeval {
                tv_sec: deadline.as_secs().try_into().map_err(too_long)?,
                // Less than a million, and an `i32` where macOS has one: `Into` is enough for both.
                tv_usec: deadline.subsec_micros().cast_signed().into(),
            },
        };
        // SAFETY: the timer is valid; the old one is not asked for.
        checked(unsafe { libc::setitimer(libc::ITIMER_REAL, &raw const timer, ptr::null_mut()) })
    }

    fn checked(result: c_int) -> io::Result<()> {
        if result == 0 {
            Ok(())
        } else {
            Err(io::Error::last_os_error())
        }
    }

    extern "C" fn on_signal(signal: c_int) {
        let stops = matches!(signal, libc::SIGTERM | libc::SIGINT | libc::SIGHUP);
        if stops && NOTED.swap(false, Ordering::Relaxed) {
            TOLD.store(true, Ordering::Relaxed);
            // SAFETY: the call is allowed in a handler; the alarm ends in last words.
            unsafe { libc::alarm(TO_STOP) };
            return;
        }
        let cause = ENDINGS
            .iter()
            .find(|(known, _)| *known == signal)
            .map_or(STOPPED, |(_, cause)| cause);
        speak(cause)
    }

    /// Says the last words and ends the process. May be called in a signal handler: it allocates
    /// nothing and takes no lock.
    pub(super) fn speak(cause: &str) -> ! {
        crate::terminal::restore();
        let code = match OTHERS.get().or_else(|| WORDS.get()) {
            Some(words) => {
                say(libc::STDOUT_FILENO, words.stdout);
                for piece in [words.stderr, cause, "\n"] {
                    say(libc::STDERR_FILENO, piece);
                }
                leave_note(cause);
                words.code
            }
            // Not armed: nothing to say, but never a success.
            None => libc::EXIT_FAILURE,
        };
        // SAFETY: `_exit` may be called anywhere, and runs nothing of this process.
        unsafe { libc::_exit(code) }
    }

    /// Adds a line to the file of notes. What fails here is let go: the refusal has been said.
    fn leave_note(cause: &str) {
        let Some(path) = NOTE.get() else { return };
        let how =
            libc::O_WRONLY | libc::O_CREAT | libc::O_APPEND | libc::O_CLOEXEC | libc::O_NONBLOCK;
        let mode: libc::c_uint = 0o600;
        // SAFETY: the path is a live text that ends with a zero byte, and may be opened in a handler.
        let file = unsafe { libc::open(path.as_ptr(), how, mode) };
        if file >= 0 {
            for piece in [cause, "\n"] {
                // SAFETY: the pointer and the length are those of a live text.
                let _ = unsafe { libc::write(file, piece.as_ptr().cast::<c_void>(), piece.len()) };
            }
        }
    }

    /// Writes a short text if that can be done without waiting: whoever should read it may be the
    /// reason that time ran out.
    fn say(file: c_int, text: &str) {
        let mut ready = libc::pollfd {
            fd: file,
            events: libc::POLLOUT,
            revents: 0,
        };
        // SAFETY: one valid entry, and no waiting.
        let found = unsafe { libc::poll(&raw mut ready, 1, 0) };
        if found == 1 && ready.revents & libc::POLLOUT != 0 && !text.is_empty() {
            // SAFETY: the pointer and the length are those of a live text.
            let _ = unsafe { libc::write(file, text.as_ptr().cast::<c_void>(), text.len()) };
        }
    }
}

/// Without signals a panic is still caught, and a thread keeps the time.
#[cfg(not(unix))]
mod system {
    use std::fs::OpenOptions;
    use std::io::{self, Write};
    use std::path::{Path, PathBuf};
    use std::sync::OnceLock;
    use std::thread;

    use super::{ABORT, FAULT, LastWords, STOPPED, TIME};

    static WORDS: OnceLock<LastWords> = OnceLock::new();
    static OTHERS: OnceLock<LastWords> = OnceLock::new();
    static NOTE: OnceLock<PathBuf> = OnceLock::new();

    pub(super) fn say_instead(stdout: &'static str, stderr: &'static str, code: i32) {
        if let Some(words) = WORDS.get() {
            let _ = OTHERS.set(LastWords {
                stdout,
                stderr,
                code,
                ..*words
            });
        }
    }

    pub(super) fn leave_note_at(path: &Path) -> io::Result<()> {
        let _ = NOTE.set(path.to_owned());
        Ok(())
    }

    pub(super) fn note_stops(_: bool) {}

    pub(super) fn was_told_to_stop() -> bool {
        false
    }

    pub(super) fn set_alarm(_: std::time::Duration) -> io::Result<()> {
        // The thread that watches the time cannot be told to wait longer.
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }

    pub(super) fn arm(words: LastWords) -> io::Result<()> {
        // These causes have no signal here.
        let _ = (FAULT, ABORT, STOPPED);
        let words = *WORDS.get_or_init(|| words);
        thread::Builder::new().spawn(move || {
            thread::sleep(words.deadline);
            speak(TIME)
        })?;
        Ok(())
    }

    pub(super) fn speak(cause: &str) -> ! {
        let code = match OTHERS.get().or_else(|| WORDS.get()) {
            Some(words) => {
                let _ = io::stdout().write_all(words.stdout.as_bytes());
                let _ = io::stdout().flush();
                let _ = writeln!(io::stderr(), "{}{cause}", words.stderr);
                if let Some(path) = NOTE.get() {
                    let file = OpenOptions::new().create(true).append(true).open(path);
                    let _ = file.and_then(|mut file| writeln!(file, "{cause}"));
                }
                words.code
            }
            None => 1,
        };
        std::process::exit(code)
    }
}
