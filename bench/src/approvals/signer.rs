//! Somebody whose key is pinned, and who signs every yes: what that costs beside an answer without.
//!
//! The key is one of ssh's in software: what a device and a person take is not the program's. It wants root, who may give the daemon
//! an `/etc` in which the key is pinned.

#[path = "../../../crates/holdpoint-proof/tests/support/mod.rs"]
#[allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "what tests sign with"
)]
mod signing;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use holdpoint_broker::wire::{self, Places, Reply, Wanted};
use holdpoint_proof::{PinnedKey, Proof, Signed};

use self::signing::{Device, Touch, pins};

/// Whoever signs.
const NAME: &str = "ann";

pub(crate) struct Signer {
    device: Device,
    key: PinnedKey,
}

impl Signer {
    pub(crate) fn new() -> Result<Self> {
        let device = Device::ed25519();
        let key = PinnedKey::of_ssh(&device.line("ssh:"))?;
        Ok(Self { device, key })
    }

    /// An `/etc` below a directory in which the key is pinned; none where nobody may have one.
    pub(crate) fn etc(&self, below: &Path) -> Result<Option<PathBuf>> {
        let etc = below.join("etc");
        fs::create_dir_all(etc.join("holdpoint")).context("an /etc for the daemon")?;
        for name in ["passwd", "group", "machine-id", "nsswitch.conf"] {
            // What is not on this machine is not needed either.
            let _ = fs::copy(Path::new("/etc").join(name), etc.join(name));
        }
        let pinned = serde_json::to_vec(&pins(NAME, vec![self.key.clone()]))?;
        fs::write(etc.join("holdpoint/approvers.json"), pinned)?;
        let mut may = in_etc(Path::new("test"), Some(&etc));
        let may = may.args(["-e", "/etc/holdpoint/approvers.json"]).status();
        Ok(may.is_ok_and(|ended| ended.success()).then_some(etc))
    }

    /// What lets a request run.
    pub(crate) fn signs(&self, places: &Places, id: &str) -> Result<Signed> {
        let wanted = Wanted::Statement {
            id: id.to_owned(),
            approver: NAME.into(),
        };
        let statement = match wire::ask(places, wanted)? {
            Reply::Statement { statement } => statement,
            other => bail!("what is to be signed came to {other:?}"),
        };
        let signature = self.device.signs(statement.as_bytes(), Touch::default());
        let key = self.key.id.clone();
        Ok(Signed {
            statement,
            proof: Proof::Sshsig { key, signature },
        })
    }
}

/// A program where this is `/etc`.
pub(crate) fn in_etc(program: &Path, etc: Option<&Path>) -> Command {
    match etc {
        None => Command::new(program),
        Some(etc) => {
            let mut command = Command::new("unshare");
            let line = r#"mount --bind "$0" /etc && exec "$@""#;
            command.args(["-m", "sh", "-c", line]).arg(etc).arg(program);
            command
        }
    }
}
