//! The daemon that is measured: a release of the program, in a home that is thrown away.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};
use holdpoint_broker::wire::Places;

use super::signer::{Signer, in_etc};

/// Everything is asked about, by the daemon, and waits until it is answered.
const POLICY: &str = r#"{"defaultPolicy":"ask","channel":{"type":"daemon"},"approval":{"deadline":0,"presence":"none"}}"#;

/// The same, and somebody must sign.
const SIGNED: &str = r#"{"defaultPolicy":"ask","channel":{"type":"daemon"},"approval":{"deadline":0,"presence":"key"}}"#;

/// After so long it has nothing to do any more.
const REST: Duration = Duration::from_secs(3);

pub(crate) struct Daemon {
    program: PathBuf,
    home: PathBuf,
    workspace: PathBuf,
    places: Places,
    /// Its `/etc`, where somebody must sign.
    etc: Option<PathBuf>,
    child: Child,
    address: String,
}

/// Megabytes.
pub(crate) struct Memory {
    /// All that is in memory, the program's own pages included.
    pub(crate) resident: f64,
    /// What no other process could share.
    pub(crate) own: f64,
}

impl Daemon {
    pub(crate) fn start(program: &Path) -> Result<Self> {
        Self::started(program, &home("held"), None, POLICY)
    }

    /// One that lets nothing run without a signature; none where nobody may pin a key for it.
    pub(crate) fn signed(program: &Path, signer: &Signer) -> Result<Option<Self>> {
        let home = home("signed");
        match signer.etc(&home)? {
            Some(etc) => Self::started(program, &home, Some(etc), SIGNED).map(Some),
            None => {
                fs::remove_dir_all(&home)?;
                Ok(None)
            }
        }
    }

    fn started(program: &Path, home: &Path, etc: Option<PathBuf>, policy: &str) -> Result<Self> {
        let home = home.to_owned();
        let workspace = home.join("work");
        let config = home.join(".config/holdpoint");
        fs::create_dir_all(&workspace).context("a home for the daemon")?;
        fs::create_dir_all(&config)?;
        fs::write(config.join("permissions.json"), policy)?;
        let mut command = in_etc(program, etc.as_deref());
        let mut child = surrounded(&mut command, &home, &workspace)
            .args(["serve", "--listen", "127.0.0.1:0"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .context("the daemon cannot be started")?;
        let mut said = String::new();
        if let Some(output) = child.stdout.as_mut() {
            BufReader::new(output).read_line(&mut said)?;
        }
        let places = Places::under(&home.join(".local/state/holdpoint"));
        let mut daemon = Self {
            program: program.to_owned(),
            home,
            workspace,
            places,
            etc,
            child,
            address: String::new(),
        };
        let address = said.trim_end().rsplit_once("http://");
        let (_, address) = address.context("the daemon does not say where it is")?;
        address
            .trim_end_matches('/')
            .clone_into(&mut daemon.address);
        // Said before the socket is there, which callers wait for.
        for _ in 0..500 {
            if daemon.places.socket().exists() {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(daemon)
    }

    pub(crate) fn places(&self) -> &Places {
        &self.places
    }

    pub(crate) fn home(&self) -> &Path {
        &self.home
    }

    pub(crate) fn workspace(&self) -> &Path {
        &self.workspace
    }

    /// Host and port of the page.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// A hook that asks this daemon.
    pub(crate) fn hook(&self) -> Command {
        let mut command = in_etc(&self.program, self.etc.as_deref());
        surrounded(&mut command, &self.home, &self.workspace);
        command.args(["hook", "claude-code"]);
        command
    }

    /// Another program in the same surroundings.
    pub(crate) fn beside(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        surrounded(&mut command, &self.home, &self.workspace);
        command
    }

    /// What the daemon keeps in memory once it has nothing to do.
    pub(crate) fn memory(&self) -> Result<Memory> {
        std::thread::sleep(REST);
        let path = format!("/proc/{}/status", self.child.id());
        let status = fs::read_to_string(path).context("memory is only counted on Linux")?;
        let megabytes = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            let kilobytes =
                line.and_then(|rest| rest.split_whitespace().nth(1)?.parse::<f64>().ok());
            kilobytes
                .map(|kilobytes| kilobytes * 1024.0 / 1e6)
                .with_context(|| format!("`{name}` is not counted"))
        };
        Ok(Memory {
            resident: megabytes("VmRSS")?,
            own: megabytes("RssAnon")?,
        })
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.home);
    }
}

/// A home that is thrown away. A short name: the path of a socket has little room.
fn home(what: &str) -> PathBuf {
    std::env::temp_dir().join(format!("holdpoint-{what}-{}", std::process::id()))
}

/// Nothing of whoever runs this: no policy, and no mark of an agent.
fn surrounded<'c>(command: &'c mut Command, home: &Path, workspace: &Path) -> &'c mut Command {
    command
        .env_clear()
        .env("HOME", home)
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("CLAUDE_PROJECT_DIR", workspace)
        .current_dir(workspace)
}
