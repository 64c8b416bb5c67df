//! A case as its file writes it, and how it is run.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde::Deserialize;

use crate::expect::{Expected, Got};
use crate::project::Project;

/// A file of cases.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cases {
    /// What the cases are about.
    pub(crate) about: String,
    /// The command line of cases that have none of their own.
    #[serde(default)]
    pub(crate) run: Runs,
    pub(crate) case: Vec<Case>,
}

/// One case: a project, and one command line or several in it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    pub(crate) name: String,
    /// Why, where the name does not say it.
    #[serde(default)]
    #[expect(dead_code, reason = "for whoever reads the file")]
    note: String,
    /// One command line, or several of which the last is checked and the others only may not fail.
    #[serde(default)]
    run: Runs,
    /// The directory to run in, in the project.
    #[serde(default)]
    cd: String,
    /// `~/x` stands for a file in the home.
    #[serde(default)]
    files: BTreeMap<String, Content>,
    #[serde(default)]
    dirs: Vec<String>,
    /// A link and where it leads.
    #[serde(default)]
    links: BTreeMap<String, String>,
    #[serde(default)]
    fifos: Vec<String>,
    /// Octal, set after everything is written.
    #[serde(default)]
    modes: BTreeMap<String, String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    without_env: Vec<String>,
    #[serde(default)]
    stdin: Content,
    /// Run as somebody without rights; who runs the tests may have them all.
    #[serde(default)]
    as_nobody: bool,
    #[serde(default = "patience")]
    seconds: u64,
    /// In place of `run`: command lines with expectations of their own.
    #[serde(default)]
    step: Vec<Step>,
    #[serde(flatten)]
    expected: Expected,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    run: String,
    #[serde(default)]
    stdin: Content,
    /// Written before the command runs.
    #[serde(default)]
    files: BTreeMap<String, Content>,
    #[serde(flatten)]
    expected: Expected,
}

#[derive(Default, Deserialize)]
#[serde(untagged)]
pub(crate) enum Runs {
    #[default]
    None,
    One(String),
    Many(Vec<String>),
}

impl Runs {
    fn lines(&self) -> Vec<&str> {
        match self {
            Runs::None => Vec::new(),
            Runs::One(line) => vec![line],
            Runs::Many(lines) => lines.iter().map(String::as_str).collect(),
        }
    }
}

/// Bytes, small or large.
#[derive(Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum Content {
    Text(String),
    Hex {
        hex: String,
    },
    /// A text and how often it stands there.
    Repeat {
        repeat: (String, usize),
    },
    Parts {
        parts: Vec<Content>,
    },
}

impl Default for Content {
    fn default() -> Self {
        Content::Text(String::new())
    }
}

fn patience() -> u64 {
    30
}

impl Content {
    fn bytes(&self, project: &Project) -> Vec<u8> {
        match self {
            Content::Text(text) => project.fill(text).into_bytes(),
            Content::Hex { hex } => {
                let digits: Vec<u8> = hex
                    .bytes()
                    .filter(|byte| !byte.is_ascii_whitespace())
                    .collect();
                digits
                    .chunks(2)
                    .map(|pair| {
                        u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16)
                            .expect("hex digits")
                    })
                    .collect()
            }
            Content::Repeat {
                repeat: (text, times),
            } => text.repeat(*times).into_bytes(),
            Content::Parts { parts } => parts.iter().flat_map(|part| part.bytes(project)).collect(),
        }
    }
}

impl Case {
    /// Runs the case; what is wrong comes back as text.
    pub(crate) fn run(&self, usual: &Runs) -> Result<(), String> {
        let project = Project::new();
        let result = self
            .set_up(&project)
            .and_then(|()| self.run_in(&project, usual));
        for name in self.modes.keys() {
            // What is closed could not be removed.
            let _ = fs::set_permissions(project.place(name), fs::Permissions::from_mode(0o755));
        }
        result
    }

    fn run_in(&self, project: &Project, usual: &Runs) -> Result<(), String> {
        let lines = match self.run.lines() {
            own if own.is_empty() && self.step.is_empty() => usual.lines(),
            own => own,
        };
        match (lines.split_last(), self.step.is_empty()) {
            (Some((last, before)), true) => {
                for line in before {
                    let got = self.result(project, line, &Content::default())?;
                    if !matches!(got.code, Some(0 | 2 | 3)) {
                        return Err(format!("$ {line}\nfailed before the last command:\n{got}"));
                    }
                }
                let got = self.result(project, last, &self.stdin)?;
                self.expected.compare(last, &got, project)
            }
            (None, false) => {
                for step in &self.step {
                    for (name, content) in &step.files {
                        project.write(name, &content.bytes(project));
                    }
                    let got = self.result(project, &step.run, &step.stdin)?;
                    step.expected.compare(&step.run, &got, project)?;
                }
                Ok(())
            }
            _ => Err("a case has either `run` or `step`".into()),
        }
    }

    fn set_up(&self, project: &Project) -> Result<(), String> {
        for name in &self.dirs {
            fs::create_dir_all(project.place(name)).map_err(|error| format!("{name}: {error}"))?;
        }
        for (name, content) in &self.files {
            project.write(name, &content.bytes(project));
        }
        for (name, target) in &self.links {
            let link = project.place(name);
            fs::create_dir_all(link.parent().unwrap()).unwrap();
            symlink(project.fill(target), &link).map_err(|error| format!("{name}: {error}"))?;
        }
        for name in &self.fifos {
            let made = Command::new("mkfifo").arg(project.place(name)).status();
            if !made.is_ok_and(|status| status.success()) {
                return Err(format!("{name}: mkfifo failed"));
            }
        }
        if self.as_nobody && is_root() {
            give_away(&project.path());
            give_away(&project.home());
            // The directories above the program may be closed to others. Another process makes the
            // copy: a file open for writing here would be open in every child of this one, and
            // busy.
            let copied = Command::new("cp")
                .arg(env!("CARGO_BIN_EXE_holdpoint"))
                .arg(project.beside("holdpoint"))
                .status();
            if !copied.is_ok_and(|status| status.success()) {
                return Err("the program cannot be copied".into());
            }
        }
        for (name, mode) in &self.modes {
            let mode = u32::from_str_radix(mode, 8).map_err(|error| format!("{mode}: {error}"))?;
            fs::set_permissions(project.place(name), fs::Permissions::from_mode(mode))
                .map_err(|error| format!("{name}: {error}"))?;
        }
        Ok(())
    }

    fn result(&self, project: &Project, line: &str, stdin: &Content) -> Result<Got, String> {
        let words = words(&project.fill(line))?;
        let (program, args) = words.split_first().ok_or("`run` is empty")?;
        if program != "holdpoint" {
            return Err(format!("`{program}` is not holdpoint"));
        }
        let mut command = if self.as_nobody && is_root() {
            let mut command = project.command_of(project.beside("holdpoint"));
            command.uid(NOBODY).gid(NOBODY);
            command
        } else {
            project.command()
        };
        command
            .args(args)
            .current_dir(project.path().join(&self.cd))
            .envs(
                self.env
                    .iter()
                    .map(|(name, value)| (name, project.fill(value))),
            );
        for name in &self.without_env {
            command.env_remove(name);
        }
        run_for(
            Duration::from_secs(self.seconds),
            command,
            stdin.bytes(project),
        )
        .map_err(|problem| format!("$ {line}\n{problem}"))
    }
}

const NOBODY: u32 = 65534;

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    // What this process makes belongs to it.
    let made = tempfile::tempfile().unwrap();
    made.metadata().unwrap().uid() == 0
}

fn give_away(place: &Path) {
    chown(place, Some(NOBODY), Some(NOBODY)).unwrap();
    if place.is_dir() && !place.is_symlink() {
        for entry in fs::read_dir(place).unwrap() {
            give_away(&entry.unwrap().path());
        }
    }
}

/// Runs a command to its end, or until its time is up; then it is killed.
fn run_for(time: Duration, mut command: Command, input: Vec<u8>) -> Result<Got, String> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("it cannot be started: {error}"))?;
    let mut stdin = child.stdin.take().unwrap();
    let feeder = thread::spawn(move || {
        // A program may end without reading everything.
        let _ = stdin.write_all(&input);
    });
    let reader = |mut pipe: Box<dyn Read + Send>| {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = pipe.read_to_end(&mut bytes);
            bytes
        })
    };
    let stdout = reader(Box::new(child.stdout.take().unwrap()));
    let stderr = reader(Box::new(child.stderr.take().unwrap()));
    let deadline = Instant::now() + time;
    let status = loop {
        match child.try_wait().map_err(|error| error.to_string())? {
            Some(status) => break Some(status),
            None if Instant::now() > deadline => {
                let _ = child.kill();
                let _ = child.wait();
                break None;
            }
            None => thread::sleep(Duration::from_millis(2)),
        }
    };
    let _ = feeder.join();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    let (stdout, stderr) = (text(stdout.join().unwrap()), text(stderr.join().unwrap()));
    match status {
        None => Err(format!(
            "it ran for more than {} s and was killed",
            time.as_secs()
        )),
        Some(status) => Ok(Got {
            code: status.code(),
            stdout,
            stderr,
        }),
    }
}

/// A command line split as a shell would: white space, quotes, backslashes; nothing is expanded.
fn words(line: &str) -> Result<Vec<String>, String> {
    let (mut words, mut word) = (Vec::new(), None::<String>);
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next() {
                        Some('\'') => break,
                        Some(c) => word.push(c),
                        None => return Err(format!("a quote is not closed: {line}")),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next() {
                        Some('"') => break,
                        Some('\\') => word.extend(chars.next()),
                        Some(c) => word.push(c),
                        None => return Err(format!("a quote is not closed: {line}")),
                    }
                }
            }
            '\\' => word.get_or_insert_default().extend(chars.next()),
            c if c.is_whitespace() => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Ok(words)
}
