//! `holdpoint serve --install` and `--uninstall`: the approval daemon as a service of this user, so that it runs whenever they
//! are there. Without it, agents that cannot ask are only ever refused.

use std::fs;
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};
use holdpoint_broker::wire::{self, Wanted};
use holdpoint_core::policy::channel_of;
use holdpoint_engine::{Locations, load_layers};

use super::serve::{not_for_agents, places};

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

    fn description(self, service: &Service) -> String {
        match self {
            Manager::Systemd => unit(service),
            Manager::Launchd => plist(service),
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

/// Variables that say where the policy and the requests are: a service that has others than the shell looks elsewhere than the
/// hooks do, which then find no daemon.
const PLACES: [&str; 4] = [
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
    "HOLDPOINT_CONFIG",
    "PERMISSION_CONFIG_PATH",
];

/// What the service runs, and with which variables.
struct Service {
    words: Vec<String>,
    variables: Vec<(&'static str, String)>,
}

impl Service {
    /// The daemon as it was asked for, in the surroundings of this shell.
    fn of(program: &Path, args: &cli::Serve) -> anyhow::Result<Self> {
        let mut variables = Vec::new();
        for name in PLACES {
            let Some(value) = std::env::var_os(name).filter(|value| !value.is_empty()) else {
                continue;
            };
            if name.starts_with("XDG_") && !Path::new(&value).is_absolute() {
                // Nobody heeds it.
                continue;
            }
            // The service is started somewhere else.
            let whole =
                std::path::absolute(&value).with_context(|| format!("{name} names no place"))?;
            match whole.to_str() {
                Some(whole) => variables.push((name, whole.to_owned())),
                None => bail!("{name} names a place whose name is not text: rename it"),
            }
        }
        let service = Self {
            words: serve_words(program, args)?,
            variables,
        };
        let words = service.words.iter();
        let values = service.variables.iter().map(|(_, value)| value);
        // A line of its own in the service's file would be an instruction of its own.
        if let Some(word) = words
            .chain(values)
            .find(|word| word.chars().any(char::is_control))
        {
            bail!(
                "`{}` has a line break or another control character in it, which a service's file cannot hold: rename it",
                crate::terminal::escape_for_display(word, 200)
            );
        }
        Ok(service)
    }
}

/// Offers the service to whoever has just put Holdpoint before their agents, where nobody could be asked otherwise. `wanted` makes it
/// without a question, and only where `asks` is there anybody to be asked one.
pub(super) fn offer(
    wanted: bool,
    asks: bool,
    locations: &Locations,
    terminal: &mut Terminal,
) -> anyhow::Result<()> {
    if !wanted && somebody_is_reached(locations) {
        return Ok(());
    }
    if !wanted {
        writeln!(
            terminal.out,
            "No approval daemon runs here: an agent without a dialog of its own is refused what you would be asked about."
        )?;
        if !asks {
            writeln!(
                terminal.out,
                "`holdpoint serve --install` starts one, now and whenever you sign in."
            )?;
            return Ok(());
        }
        write!(
            terminal.out,
            "Start one, now and whenever you sign in (a service of yours; `holdpoint serve --uninstall` takes it away)? [y/N] "
        )?;
        terminal.out.flush()?;
        let mut answer = String::new();
        io::stdin().lock().read_line(&mut answer)?;
        if !matches!(answer.trim(), "y" | "Y" | "yes") {
            writeln!(
                terminal.out,
                "Not now: `holdpoint serve --install` does it later."
            )?;
            return Ok(());
        }
    }
    not_for_agents("start the approval daemon")?;
    install(&cli::Serve::default(), terminal).map(drop)
}

/// Whether a person is reached as it is: by a channel of their own, a daemon, or a service that starts one. A policy that cannot be
/// read is no matter of this.
fn somebody_is_reached(locations: &Locations) -> bool {
    let policy = load_layers(locations, Path::new("/"));
    let named = policy.map_or(true, |policy| channel_of(&policy).is_some());
    let runs = || {
        let places = places(locations);
        places.is_ok_and(|places| wire::ask(&places, Wanted::Pending).is_ok())
    };
    let installed = || place(Manager::here()).is_ok_and(|file| file.exists());
    named || installed() || runs()
}

/// Writes the service and starts it.
pub(crate) fn install(args: &cli::Serve, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    let manager = Manager::here();
    let file = place(manager)?;
    let program = std::env::current_exe().context("this program cannot be found")?;
    let text = manager.description(&Service::of(&program, args)?);
    if let Some(directory) = file.parent() {
        fs::create_dir_all(directory)
            .with_context(|| format!("{}: cannot be made", directory.display()))?;
    }
    fs::write(&file, text).with_context(|| format!("{}: cannot be written", file.display()))?;
    writeln!(terminal.out, "Written: {}", file.display())?;
    let name = file.to_string_lossy();
    let commands = manager.to_start(&name);
    if let Err(why) = run_all(&commands) {
        writeln!(terminal.out, "{}", by_hand(&commands))?;
        bail!("the service is written and could not be started: {why}");
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
fn serve_words(program: &Path, args: &cli::Serve) -> anyhow::Result<Vec<String>> {
    let text = |path: &Path| match path.to_str() {
        Some(text) => Ok(text.to_owned()),
        None => bail!(
            "{}: a service's file cannot hold a name that is not text: rename it",
            path.display()
        ),
    };
    let mut words = vec![text(program)?, "serve".to_owned()];
    let mut add = |flag: &str, value: String| words.extend([flag.to_owned(), value]);
    if let Some(address) = args.listen {
        add("--listen", address.to_string());
    }
    for (flag, file) in [("--cert", &args.cert), ("--key", &args.key)] {
        if let Some(file) = file {
            // The service is started somewhere else.
            let whole = fs::canonicalize(file).unwrap_or_else(|_| file.clone());
            add(flag, text(&whole)?);
        }
    }
    for name in &args.name {
        add("--name", name.clone());
    }
    Ok(words)
}

fn unit(service: &Service) -> String {
    let quoted = |word: &str| {
        let word = word.replace('\\', "\\\\").replace('"', "\\\"");
        format!("\"{}\"", word.replace('%', "%%"))
    };
    // Only a command's words know variables.
    let words = service
        .words
        .iter()
        .map(|word| quoted(&word.replace('$', "$$")));
    let words: Vec<String> = words.collect();
    let variables = service.variables.iter();
    let variables: String = variables
        .map(|(name, value)| format!("Environment={}\n", quoted(&format!("{name}={value}"))))
        .collect();
    format!(
        "[Unit]\nDescription=Holdpoint approval daemon\n\n[Service]\n{variables}ExecStart={}\nRestart=on-failure\nRestartSec=2\n\n\
         [Install]\nWantedBy=default.target\n",
        words.join(" ")
    )
}

fn plist(service: &Service) -> String {
    let plain = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;");
    let words = service.words.iter();
    let words: String = words
        .map(|word| format!("    <string>{}</string>\n", plain(word)))
        .collect();
    let variables = service.variables.iter();
    let variables: String = variables
        .map(|(name, value)| {
            format!(
                "    <key>{name}</key>\n    <string>{}</string>\n",
                plain(value)
            )
        })
        .collect();
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
  <key>EnvironmentVariables</key>
  <dict>
{variables}  </dict>
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

    fn service() -> Service {
        let words = [
            "/opt/my tools/100%/holdpoint",
            "serve",
            "--name",
            "a\"b$c<&",
        ];
        Service {
            words: words.map(str::to_owned).into(),
            variables: vec![("XDG_STATE_HOME", "/srv/50% of $x <&".to_owned())],
        }
    }

    #[test]
    fn a_unit_keeps_every_word_whole() {
        let text = unit(&service());
        let line = r#"ExecStart="/opt/my tools/100%%/holdpoint" "serve" "--name" "a\"b$$c<&""#;
        assert!(text.contains(line), "{text}");
        assert!(
            text.contains("\nEnvironment=\"XDG_STATE_HOME=/srv/50%% of $x <&\"\n"),
            "{text}"
        );
        assert!(text.contains("WantedBy=default.target"));
    }

    #[test]
    fn a_plist_is_text_that_nothing_breaks_out_of() {
        let text = plist(&service());
        assert!(text.contains("<string>a\"b$c&lt;&amp;</string>"), "{text}");
        assert!(
            text.contains(
                "<key>XDG_STATE_HOME</key>\n    <string>/srv/50% of $x &lt;&amp;</string>"
            ),
            "{text}"
        );
        assert_eq!(text.matches("<string>").count(), 6);
    }
}
