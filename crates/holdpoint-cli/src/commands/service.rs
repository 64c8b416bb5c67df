//! `holdpoint serve --install` and `--uninstall`: the approval daemon as a service of this user, so that it runs whenever they
//! are there. Without it, agents that cannot ask are only ever refused.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};

use crate::cli;
use crate::exit::Exit;
use crate::terminal::Terminal;

/// What looks after services here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manager {
    Systemd,
    Launchd,
}

/// The name of the service, as each of them wants it.
const UNIT: &str = "holdpoint.service";
const LABEL: &str = "dev.holdpoint.serve";

impl Manager {
    fn here() -> Self {
        match cfg!(target_os = "macos") {
            true => Manager::Launchd,
            false => Manager::Systemd,
        }
    }

    /// The file that describes the service.
    fn file(self, home: &Path, config: &Path) -> PathBuf {
        match self {
            Manager::Systemd => config.join("systemd/user").join(UNIT),
            Manager::Launchd => home.join(format!("Library/LaunchAgents/{LABEL}.plist")),
        }
    }

    fn description(self, words: &[String]) -> String {
        match self {
            Manager::Systemd => unit(words),
            Manager::Launchd => plist(words),
        }
    }

    /// The commands that start the service now and at every sign-in.
    fn to_start(self, file: &str) -> Vec<Vec<&str>> {
        match self {
            Manager::Systemd => vec![
                vec!["systemctl", "--user", "daemon-reload"],
                vec!["systemctl", "--user", "enable", "--now", UNIT],
            ],
            Manager::Launchd => vec![vec!["launchctl", "load", "-w", file]],
        }
    }

    /// The commands that end it.
    fn to_stop(self, file: &str) -> Vec<Vec<&str>> {
        match self {
            Manager::Systemd => vec![vec!["systemctl", "--user", "disable", "--now", UNIT]],
            Manager::Launchd => vec![vec!["launchctl", "unload", "-w", file]],
        }
    }
}

/// Writes the service and starts it.
pub(crate) fn install(args: &cli::Serve, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    let manager = Manager::here();
    let file = place(manager)?;
    let program = std::env::current_exe().context("this program cannot be found")?;
    let text = manager.description(&serve_words(&program, args));
    if let Some(directory) = file.parent() {
        fs::create_dir_all(directory)
            .with_context(|| format!("{}: cannot be made", directory.display()))?;
    }
    fs::write(&file, text).with_context(|| format!("{}: cannot be written", file.display()))?;
    writeln!(terminal.out, "Written: {}", file.display())?;
    let name = file.to_string_lossy();
    let commands = manager.to_start(&name);
    if let Err(why) = run_all(&commands) {
        writeln!(terminal.out, "It could not be started: {why}.")?;
        writeln!(terminal.out, "{}", by_hand(&commands))?;
        return Ok(Exit::Error);
    }
    writeln!(
        terminal.out,
        "The approval daemon runs now, and whenever you are signed in. Its page: holdpoint open\n\
         Take it away again with: holdpoint serve --uninstall"
    )?;
    Ok(Exit::Fine)
}

/// Ends the service and removes it.
pub(crate) fn uninstall(terminal: &mut Terminal) -> anyhow::Result<Exit> {
    let manager = Manager::here();
    let file = place(manager)?;
    if !file.exists() {
        writeln!(terminal.out, "There is no service to take away.")?;
        return Ok(Exit::Fine);
    }
    let ended = run_all(&manager.to_stop(&file.to_string_lossy()));
    fs::remove_file(&file).with_context(|| format!("{}: cannot be removed", file.display()))?;
    writeln!(terminal.out, "Removed: {}", file.display())?;
    if let Err(why) = ended {
        writeln!(
            terminal.out,
            "Whether it still runs is not known ({why}): `holdpoint pending` says so."
        )?;
    }
    Ok(Exit::Fine)
}

fn place(manager: Manager) -> anyhow::Result<PathBuf> {
    let Some(home) = std::env::var_os("HOME").map(PathBuf::from) else {
        bail!("no home directory is known: set HOME");
    };
    let config = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
    let config = config.filter(|path| path.is_absolute());
    Ok(manager.file(&home, &config.unwrap_or_else(|| home.join(".config"))))
}

/// The words of the daemon's command, as it was asked for.
fn serve_words(program: &Path, args: &cli::Serve) -> Vec<String> {
    let mut words = vec![program.display().to_string(), "serve".to_owned()];
    let mut add = |flag: &str, value: String| words.extend([flag.to_owned(), value]);
    if let Some(address) = args.listen {
        add("--listen", address.to_string());
    }
    for (flag, file) in [("--cert", &args.cert), ("--key", &args.key)] {
        if let Some(file) = file {
            // The service is started somewhere else.
            let whole = fs::canonicalize(file).unwrap_or_else(|_| file.clone());
            add(flag, whole.display().to_string());
        }
    }
    for name in &args.name {
        add("--name", name.clone());
    }
    words
}

fn unit(words: &[String]) -> String {
    let quoted = |word: &String| {
        let word = word.replace('\\', "\\\\").replace('"', "\\\"");
        format!("\"{}\"", word.replace('%', "%%").replace('$', "$$"))
    };
    let words: Vec<String> = words.iter().map(quoted).collect();
    format!(
        "[Unit]\nDescription=Holdpoint approval daemon\n\n[Service]\nExecStart={}\nRestart=on-failure\nRestartSec=2\n\n\
         [Install]\nWantedBy=default.target\n",
        words.join(" ")
    )
}

fn plist(words: &[String]) -> String {
    let string = |word: &String| {
        let word = word.replace('&', "&amp;").replace('<', "&lt;");
        format!("    <string>{word}</string>\n")
    };
    let words: String = words.iter().map(string).collect();
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>{LABEL}</string>
  <key>ProgramArguments</key>
  <array>
{words}  </array>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
</dict>
</plist>
"#
    )
}

/// What to do where nobody looks after services: in containers, over `su`, on systems without systemd.
fn by_hand(commands: &[Vec<&str>]) -> String {
    let commands: Vec<String> = commands
        .iter()
        .map(|words| format!("  {}", words.join(" ")))
        .collect();
    format!(
        "The file is there. Signed in as yourself, run\n{}\nor start `holdpoint serve` where you start your agents.",
        commands.join("\n")
    )
}

fn run_all(commands: &[Vec<&str>]) -> Result<(), String> {
    for words in commands {
        let Some((program, words)) = words.split_first() else {
            continue;
        };
        let ran = Command::new(program)
            .args(words)
            .stdin(Stdio::null())
            .output();
        match ran {
            Ok(ran) if ran.status.success() => {}
            Ok(ran) => {
                let said = String::from_utf8_lossy(&ran.stderr);
                let said = said.lines().next().unwrap_or("it says nothing");
                return Err(format!("`{program}` failed: {said}"));
            }
            Err(error) => return Err(format!("`{program}` cannot be run ({})", error.kind())),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words() -> Vec<String> {
        let words = [
            "/opt/my tools/100%/holdpoint",
            "serve",
            "--name",
            "a\"b$c<&",
        ];
        words.map(str::to_owned).into()
    }

    #[test]
    fn a_unit_keeps_every_word_whole() {
        let text = unit(&words());
        let line = r#"ExecStart="/opt/my tools/100%%/holdpoint" "serve" "--name" "a\"b$$c<&""#;
        assert!(text.contains(line), "{text}");
        assert!(text.contains("WantedBy=default.target"));
    }

    #[test]
    fn a_plist_is_text_that_nothing_breaks_out_of() {
        let text = plist(&words());
        assert!(text.contains("<string>a\"b$c&lt;&amp;</string>"), "{text}");
        assert_eq!(text.matches("<string>").count(), 5);
    }
}
