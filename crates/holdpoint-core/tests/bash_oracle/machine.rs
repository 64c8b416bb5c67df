//! A real bash that runs many lines and tells which commands it ran.
//!
//! Each line runs in a subshell of one bash, in an empty directory and with a search path that
//! leads only to a few harmless filters. The commands of the lines do not exist: functions and
//! `command_not_found_handle` write down what they were called with, after the line's number, to a
//! pipe that is read until the last process has closed it.

use std::fs;
use std::io::Read;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// What the lines may really run.
const FILTERS: [&str; 13] = [
    "bash", "cat", "tr", "rev", "base64", "basename", "dirname", "seq", "env", "nice", "timeout",
    "xargs", "sleep",
];

/// What they may run besides where it is installed.
const TOOLS: [&str; 3] = ["find", "make", "git"];

/// Longest time for one line: a value that uses itself never ends (`x='a[$(echo ${a[x]})]'`), each round in
/// a process of its own. What the line ran until then counts, and bash goes on with the next.
const PATIENCE: Duration = Duration::from_secs(8);

const LOGGING: &str = r#"
command_not_found_handle() {
  local IFS=
  printf '%s\0' "$__n" "${@//$'\n'/$'\2'}" $'\1' >&9
  return 127
}
"#;

/// Where the lines run; it goes away with the test.
pub(crate) struct Machine {
    place: PathBuf,
    bash: PathBuf,
}

impl Machine {
    pub(crate) fn new(name: &str) -> Self {
        let own = format!("bash-oracle-{name}-{}", std::process::id());
        let place = std::env::temp_dir().join(own);
        let programs = place.join("programs");
        fs::create_dir_all(place.join("empty")).expect("a temporary directory");
        fs::create_dir_all(&programs).expect("a temporary directory");
        for filter in FILTERS {
            let real = found(filter);
            symlink(real, programs.join(filter)).expect("a link");
        }
        for tool in TOOLS {
            if let Some(real) = installed(tool) {
                symlink(real, programs.join(tool)).expect("a link");
            }
        }
        let bash = found("bash");
        // What wrappers start must be a program, not a function.
        let program = programs.join("cmd_w");
        let text = format!(
            "#!{}\n{LOGGING}command_not_found_handle cmd_w \"$@\"\n",
            bash.display()
        );
        fs::write(&program, text).expect("a script");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("a mode");
        let mut driver = LOGGING.to_owned();
        for name in super::generator::PROGRAMS {
            driver += &format!("{name}() {{ command_not_found_handle {name} \"$@\"; }}\n");
            driver += &format!("export -f {name}\n");
        }
        driver += "export -f command_not_found_handle\nexport __n\n";
        driver += "exec 9>&1 >/dev/null 2>/dev/null </dev/null\n";
        driver += "mapfile -t -d '' __lines <\"$1\"; shift\n";
        driver += "for ((__n = 0; __n < ${#__lines[@]}; __n++)); do\n";
        driver += "  printf '%s\\0\\3\\0' \"$__n\" >&9\n";
        driver += "  ( ulimit -t 2; eval \"${__lines[__n]}\" )\n";
        // Patterns name nothing: what a line left behind goes.
        driver += "  compgen -G '*' >/dev/null && /bin/rm -rf -- ./* ./.[!.]*\n";
        driver += "done\n";
        fs::write(place.join("driver"), driver).expect("a script");
        Self { place, bash }
    }

    /// Starts bash on these lines.
    pub(crate) fn start(&self, batch: usize, lines: &[String]) -> Running<'_> {
        let file = self.place.join(format!("lines-{batch}"));
        let mut text = String::new();
        for line in lines {
            text += line;
            text.push('\0');
        }
        fs::write(&file, text).expect("a file of lines");
        let empty = self.place.join(format!("empty-{batch}"));
        fs::create_dir_all(&empty).expect("a directory");
        let child = Command::new(&self.bash)
            .args(["--norc", "--noprofile"])
            .arg(self.place.join("driver"))
            .arg(&file)
            .env_clear()
            .env("PATH", self.place.join("programs"))
            .env("HOME", "/home/nobody")
            .env("LC_ALL", "C.UTF-8")
            .env("FUNCNEST", "30")
            .current_dir(&empty)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .expect("bash starts");
        Running {
            machine: self,
            child,
            batch,
            lines: lines.to_vec(),
            file,
        }
    }

    /// What bash tried to run for one line.
    pub(crate) fn ran(&self, line: &str) -> Vec<Vec<String>> {
        let mut all = self.start(usize::MAX, &[line.to_owned()]).finish();
        all.ran.pop().unwrap_or_default()
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.place);
    }
}

/// A bash at work.
pub(crate) struct Running<'m> {
    machine: &'m Machine,
    child: Child,
    batch: usize,
    lines: Vec<String>,
    file: PathBuf,
}

/// What lines ran.
pub(crate) struct Finished {
    /// One argv for each command of each line.
    pub(crate) ran: Vec<Vec<Vec<String>>>,
    /// How many lines had to be ended.
    pub(crate) endless: usize,
}

impl Running<'_> {
    /// What each line ran.
    pub(crate) fn finish(mut self) -> Finished {
        let mut pipe = self.child.stdout.take().expect("a pipe");
        let (send, receive) = mpsc::channel();
        std::thread::spawn(move || {
            let mut buffer = vec![0; 1 << 16];
            while let Ok(count @ 1..) = pipe.read(&mut buffer) {
                if send.send(buffer[..count].to_vec()).is_err() {
                    break;
                }
            }
        });
        let mut log: Vec<u8> = Vec::new();
        let (mut line, mut since, mut seen) = (0, Instant::now(), 0);
        let ended = loop {
            match receive.recv_timeout(PATIENCE / 4) {
                Ok(piece) => log.extend(piece),
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => break true,
            }
            // The marks of lines that were begun; a mark may come in two pieces.
            let from = seen;
            seen = log.len().saturating_sub(2);
            let mark: &[u8] = b"\0\x03\0";
            let begun = log[from..].windows(3).filter(|at| *at == mark).count();
            if begun > 0 {
                (line, since) = (line + begun, Instant::now());
            }
            if since.elapsed() > PATIENCE {
                break false;
            }
        };
        if !ended {
            let group = format!("-{}", self.child.id());
            let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
            log.extend(receive.iter().flatten());
        }
        let _ = self.child.wait();
        let _ = fs::remove_file(&self.file);
        let mut finished = Finished {
            ran: commands(&log, self.lines.len()),
            endless: usize::from(!ended),
        };
        // What was not begun is begun now.
        if !ended && line < self.lines.len() {
            let rest = self.machine.start(self.batch, &self.lines[line..]).finish();
            finished.ran.truncate(line);
            finished.ran.extend(rest.ran);
            finished.endless += rest.endless;
        }
        finished
    }
}

fn commands(log: &[u8], lines: usize) -> Vec<Vec<Vec<String>>> {
    let mut all = vec![Vec::new(); lines];
    let log = String::from_utf8_lossy(log);
    let mut fields: Vec<String> = Vec::new();
    for field in log.split('\0') {
        match field {
            "\u{3}" => fields.clear(),
            "\u{1}" => {
                let mut argv = std::mem::take(&mut fields);
                let number: usize = argv.remove(0).parse().expect("a line's number");
                all[number].push(argv);
            }
            field => fields.push(field.replace('\u{2}', "\n")),
        }
    }
    all
}

/// A program of this machine.
fn found(name: &str) -> PathBuf {
    installed(name)
        .unwrap_or_else(|| panic!("{name} must be installed: the reader is compared with bash"))
}

/// Whether this machine has a program.
pub(crate) fn is_installed(name: &str) -> bool {
    installed(name).is_some()
}

fn installed(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|directory| directory.join(name))
        .find(|program| Path::is_file(program))
}
