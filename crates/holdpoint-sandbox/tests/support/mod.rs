//! What the tests without a harness share: this program as the supervisor of one contained command, on a network with
//! nothing on it but this machine.

use std::fs;
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;

use holdpoint_sandbox::contain::{self, Limits, Notice, Plan, Refusal, Tier};
use holdpoint_sandbox::network::{HostName, HostRule, Upstream};

#[cfg(target_os = "linux")]
mod mask;
#[cfg(target_os = "linux")]
pub(crate) mod restricted;
/// Nothing is made through bubblewrap elsewhere.
#[cfg(not(target_os = "linux"))]
pub(crate) mod restricted {
    pub(crate) fn is_possible() -> bool {
        false
    }
    pub(crate) fn copy_of_bubblewrap(_to: &std::path::Path) {}
    pub(crate) fn become_restricted(_arguments: &[String]) -> std::process::ExitCode {
        std::process::ExitCode::FAILURE
    }
}

/// The tier `full` where only bubblewrap can make it.
pub(crate) const BUBBLEWRAPPED: &str = "bubblewrapped";

/// The exit code of a supervisor that could not make its sandbox.
pub(crate) const NOT_MADE: i32 = 125;

/// Whether somebody has said that there is no sandbox on this machine to be tried: without that word a test that cannot be
/// made fails, because nobody reads what passes.
pub(crate) fn may_be_left_out() -> bool {
    std::env::var_os("HOLDPOINT_SKIP_SANDBOX").is_some_and(|word| word == "1")
}

/// `--contain TIER PLACE PROGRAM TEXT`: this program as the supervisor of one case.
pub(crate) fn contained(arguments: &[String]) -> ExitCode {
    let [tier, place, program, text] = arguments else {
        return ExitCode::from(NOT_MADE as u8);
    };
    let place = Path::new(place);
    let (workspace, home) = (place.join("work"), place.join("home"));
    let protected = [
        ".git/hooks",
        ".git/config",
        ".git/config.worktree",
        ".git/info",
        ".git/modules",
        ".claude",
        ".env",
        ".mcp.json",
        "deep/er/settings.json",
        "linked",
    ];
    let environment = [
        (
            "PATH",
            "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin".to_owned(),
        ),
        ("HOME", home.display().to_string()),
        ("PLACE", place.display().to_string()),
        ("WORK", workspace.display().to_string()),
        ("LANG", "C".to_owned()),
    ];
    let plan = Plan {
        command: vec![program.into(), "-c".into(), text.into()],
        environment: environment
            .map(|(name, value)| (name.into(), value.into()))
            .into(),
        directory: workspace.clone(),
        writable: vec![workspace.clone(), home.join("cache")],
        readable: [home.join("tools")]
            .into_iter()
            .chain(listed("ESCAPES_READ").map(PathBuf::from))
            .collect(),
        home: Some(home),
        hidden: [place.join("state"), place.join("work/hidden.txt")]
            .into_iter()
            .chain(listed("ESCAPES_HIDE").map(PathBuf::from))
            .collect(),
        protected: protected
            .into_iter()
            // Bubblewrap can protect no link, and makes no sandbox then.
            .filter(|path| {
                tier != BUBBLEWRAPPED || *path != "linked" || number("ESCAPES_LINKS", 0) == 1
            })
            .map(|path| workspace.join(path))
            .collect(),
        pinned: vec![workspace.join(".git/commondir")],
        journals: place.join("state/sandbox"),
        limits: Limits {
            time: Some(std::time::Duration::from_millis(number(
                "ESCAPES_TIME",
                60_000,
            ))),
            memory: Some(number("ESCAPES_MEMORY", 0)).filter(|memory| *memory > 0),
            processes: number("ESCAPES_PROCESSES", 4096),
            file_size: 1 << 20,
            temporary: 8 << 20,
            output: Some(number("ESCAPES_OUTPUT", 0)).filter(|output| *output > 0),
        },
        floor: if tier == "full" || tier == BUBBLEWRAPPED {
            Tier::Full
        } else {
            Tier::Landlock
        },
        hosts: listed("ESCAPES_HOSTS")
            .map(|rule| HostRule::parse(&rule).unwrap())
            .collect(),
        session: listed("ESCAPES_SESSION").map(PathBuf::from).next(),
        tracing: number("ESCAPES_TRACING", 0) == 1,
        notice: match number("ESCAPES_NOTICE", 0) {
            0 => Notice::Nothing,
            1 => Notice::Refusals,
            _ => Notice::Everything,
        },
        stops: listed("ESCAPES_STOPS").map(PathBuf::from).collect(),
    };
    let highest = if tier == "landlock" {
        Tier::Landlock
    } else {
        Tier::Full
    };
    let mask = std::env::var("ESCAPES_MASK").unwrap_or_default();
    #[cfg(target_os = "linux")]
    if !mask.is_empty() {
        mask::mask(&mask);
    }
    #[cfg(not(target_os = "linux"))]
    assert!(mask.is_empty(), "nothing can be masked here");
    let outside = Outside {
        place: place.to_owned(),
    };
    match contain::run_with(&plan, highest, Arc::new(outside)) {
        Ok(ran) if tier == BUBBLEWRAPPED && !ran.layers.bubblewrap => {
            println!("it was not bubblewrap that made it");
            ExitCode::from(NOT_MADE as u8)
        }
        Ok(ran) => {
            let mut said = String::new();
            for host in &ran.opened {
                said += &format!(
                    "opened {} {} {} {}\n",
                    host.name, host.port, host.sent, host.received
                );
            }
            for refusal in &ran.refusals {
                said += &match refusal {
                    Refusal::Host { name, port, reason } => {
                        format!("refused {name} {port}: {reason}\n")
                    }
                    Refusal::Write(path) => format!("refused write {}\n", path.display()),
                    Refusal::Protected(path) => format!("refused protected {}\n", path.display()),
                    Refusal::Call(name) => format!("refused call {name}\n"),
                };
            }
            for path in &ran.replaced {
                said += &format!("replaced {}\n", path.display());
            }
            for path in &ran.hidden {
                said += &format!("hidden {}\n", path.display());
            }
            for (what, paths) in [
                ("read", &ran.trace.read),
                ("written", &ran.trace.written),
                ("run", &ran.trace.run),
            ] {
                for path in paths {
                    said += &format!("{what} {}\n", path.display());
                }
            }
            said += &format!("tier {}\nlayers {}\n", ran.tier, ran.layers);
            for limit in &ran.reached {
                said += &format!("reached {limit}\n");
            }
            for limit in &ran.unenforced {
                said += &format!("unenforced {limit}\n");
            }
            let _ = fs::write(place.join("said"), said);
            ExitCode::from(ran.ended.code())
        }
        Err(error) => {
            println!("{error}");
            ExitCode::from(NOT_MADE as u8)
        }
    }
}

/// A variable's number.
fn number(name: &str, otherwise: u64) -> u64 {
    let value = std::env::var(name).ok();
    value.map_or(otherwise, |value| value.parse().unwrap())
}

/// A variable's words.
fn listed(name: &str) -> impl Iterator<Item = String> {
    let value = std::env::var(name).unwrap_or_default();
    let words: Vec<String> = value.split_whitespace().map(str::to_owned).collect();
    words.into_iter()
}

/// A network with nothing on it but this machine: names have the addresses a case needs, and whatever is dialled is
/// noted and leads to the server the case has started.
struct Outside {
    place: PathBuf,
}

impl Upstream for Outside {
    fn resolve(&self, name: &HostName) -> io::Result<Vec<IpAddr>> {
        let addresses = match name.as_str() {
            "private.example" => "10.0.0.1",
            "loopback.example" => "127.0.0.1",
            "metadata.example" => "169.254.169.254",
            "mapped.example" => "::ffff:127.0.0.1",
            "translated.example" => "64:ff9b::7f00:1",
            "mixed.example" => "93.184.216.34 192.168.0.1",
            "nowhere.example" => "",
            // Public when it is asked the first time, and this machine from then on.
            "rebound.example" => match fs::File::create_new(self.place.join("asked")) {
                Ok(_) => "93.184.216.34",
                Err(_) => "127.0.0.1",
            },
            _ => "93.184.216.34",
        };
        Ok(addresses
            .split_whitespace()
            .map(|address| address.parse().unwrap())
            .collect())
    }

    fn dial(&self, address: SocketAddr) -> io::Result<TcpStream> {
        let mut dialled = fs::File::options()
            .create(true)
            .append(true)
            .open(self.place.join("dialled"))?;
        writeln!(dialled, "{address}")?;
        let port = fs::read_to_string(self.place.join("work/port"))?;
        let port: u16 = port.trim().parse().map_err(io::Error::other)?;
        TcpStream::connect((Ipv4Addr::LOCALHOST, port))
    }
}

/// A program as a user: this one, or from root an ordinary one.
pub(crate) fn as_user(user: &str, program: &str) -> Command {
    if user == "nobody" {
        let mut command = Command::new("setpriv");
        command.args([
            "--reuid",
            "nobody",
            "--regid",
            "nogroup",
            "--clear-groups",
            "--",
            program,
        ]);
        command
    } else {
        Command::new(program)
    }
}

/// A directory for a test: not where a contained command has files of its own, and for root where another user can go.
pub(crate) fn place_for(user: &str, name: &str) -> PathBuf {
    let above = match user {
        "self" => env!("CARGO_TARGET_TMPDIR"),
        _ => "/srv",
    };
    PathBuf::from(above).join(format!("holdpoint-{name}-{}-{user}", std::process::id()))
}
