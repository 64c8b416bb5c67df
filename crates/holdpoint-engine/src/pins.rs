//! Whose signatures count on this machine: `approvers.json` beside the machine's policy, where only root writes.
//!
//! A file that anybody else could have written pins nobody, and is not passed over either: what would need a signature then
//! gets none that counts.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use holdpoint_core::Risk;
use holdpoint_core::policy::{Authority, Presence, StatedPresence};
use holdpoint_proof::Pins;
use holdpoint_proof::pins::MAX_PINS;

use crate::locations::Locations;
use crate::store::{Unread, is_absent, read_bounded, rewrite};

/// What is known of people's keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pinned {
    /// Nobody's key is pinned.
    Nobody,
    /// These are.
    Keys(Pins),
    /// Keys are pinned, and they cannot be believed, for this reason.
    Unusable(String),
}

impl Pinned {
    /// The keys on this machine.
    pub fn at(locations: &Locations) -> Self {
        let path = locations.approvers();
        if is_absent(&path) {
            return Pinned::Nobody;
        }
        let unusable = |what: &str| Pinned::Unusable(format!("{}: {what}", path.display()));
        if let Err(what) = only_root_writes(&path) {
            return unusable(&what);
        }
        let most = u64::try_from(MAX_PINS).unwrap_or(u64::MAX);
        let bytes = match read_bounded(&path, most) {
            Ok(bytes) => bytes,
            Err(Unread::Missing) => return Pinned::Nobody,
            Err(unread) => return unusable(&unread.to_string()),
        };
        match Pins::read(&bytes) {
            Ok(pins) if pins.is_empty() => Pinned::Nobody,
            Ok(pins) => Pinned::Keys(pins),
            Err(bad) => unusable(&bad.to_string()),
        }
    }

    /// The keys; why there are none that count.
    pub fn keys(self) -> Result<Pins, String> {
        match self {
            Pinned::Keys(pins) => Ok(pins),
            Pinned::Nobody => Err(
                "nobody's key is pinned on this machine: sudo holdpoint people pin NAME --key FILE"
                    .into(),
            ),
            Pinned::Unusable(why) => Err(format!("the pinned keys cannot be used ({why})")),
        }
    }

    /// How sure it must be that a person says yes to a call of this risk, by what the policy states.
    ///
    /// Pinned keys are root's word: only root's policy asks for less than a signature for high risk then. A project asks for
    /// more than what counts without it, never for less.
    pub fn level(&self, stated: Option<StatedPresence>, risk: Risk) -> Presence {
        let floor = match self {
            Pinned::Keys(_) | Pinned::Unusable(_) if risk >= Risk::High => Presence::Key,
            Pinned::Keys(_) | Pinned::Unusable(_) | Pinned::Nobody => Presence::Terminal,
        };
        match stated {
            None => floor,
            Some(stated) => match stated.by {
                Authority::Managed => stated.level,
                Authority::User if floor == Presence::Terminal => stated.level,
                Authority::User | Authority::Project => stated.level.max(floor),
            },
        }
    }
}

/// Why a level cannot be held on this machine; none if it can.
pub fn not_held(level: Presence, pinned: &Pinned) -> Option<String> {
    match level {
        Presence::None | Presence::Terminal => None,
        Presence::Code => Some(
            "codes need a desk under an account of its own, which this machine does not have: say `key`"
                .into(),
        ),
        Presence::Key => pinned.clone().keys().err(),
        Presence::Elsewhere => {
            Some("this machine belongs to no fleet, so nobody answers elsewhere: say `key`".into())
        }
    }
}

/// Changes whose keys count; for root alone.
pub fn change_pins(
    locations: &Locations,
    edit: impl FnOnce(&mut Pins) -> Result<(), String>,
) -> Result<(), String> {
    let path = locations.approvers();
    let failed = |error: io::Error| format!("{}: cannot be changed ({error})", path.display());
    let mut pins = match Pinned::at(locations) {
        Pinned::Nobody => Pins::default(),
        Pinned::Keys(pins) => pins,
        Pinned::Unusable(why) => return Err(why),
    };
    edit(&mut pins)?;
    let text = serde_json::to_vec_pretty(&pins).map_err(|error| failed(io::Error::other(error)))?;
    if let Some(directory) = path.parent() {
        make_readable_directory(directory).map_err(failed)?;
    }
    rewrite(&path, &text, None).map_err(failed)?;
    make_readable(&path).map_err(failed)?;
    // What was written must count: a directory above that others can write is found now and not at the first release.
    match Pinned::at(locations) {
        Pinned::Unusable(why) => Err(why),
        Pinned::Nobody | Pinned::Keys(_) => Ok(()),
    }
}

#[cfg(unix)]
fn make_readable_directory(directory: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true).mode(0o755).create(directory)
}

#[cfg(unix)]
fn make_readable(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn make_readable_directory(directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory)
}

#[cfg(not(unix))]
fn make_readable(_path: &Path) -> io::Result<()> {
    Ok(())
}

/// Whether nobody but root could have written a file: it, and every directory on the way to it, by the name given and by
/// the one that leads to.
#[cfg(unix)]
fn only_root_writes(path: &Path) -> Result<(), String> {
    let real = fs::canonicalize(path).map_err(|error| format!("cannot be looked at ({error})"))?;
    let all = path.ancestors().chain(real.ancestors());
    for one in all.filter(|one| !one.as_os_str().is_empty()) {
        let found =
            fs::symlink_metadata(one).map_err(|error| format!("cannot be looked at ({error})"))?;
        if let Some(what) = others_write(&found) {
            let one: PathBuf = one.to_owned();
            return Err(format!(
                "{what} {}: only root may be able to change whose signatures count",
                one.display()
            ));
        }
    }
    Ok(())
}

#[cfg(unix)]
fn others_write(found: &Metadata) -> Option<&'static str> {
    use std::os::unix::fs::MetadataExt;
    if found.uid() != 0 {
        return Some("somebody else than root owns");
    }
    // A link has the rights of what it leads to. In a directory like /tmp (sticky) nobody renames what is root's.
    let sticky = found.is_dir() && found.mode() & 0o1000 != 0;
    let open = found.mode() & 0o022 != 0 && !found.is_symlink() && !sticky;
    open.then_some("others can write")
}

#[cfg(not(unix))]
fn only_root_writes(_path: &Path) -> Result<(), String> {
    Err("whose a file is cannot be told on this system".into())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, chown};

    const LINE: &str = "sk-ssh-ed25519@openssh.com AAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY29tAAAAIAEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAAAABHNzaDo= ann@desk";

    fn locations(root: &Path) -> Locations {
        Locations {
            managed: root.join("etc/holdpoint/permissions.json"),
            user: None,
            named: None,
            state: Some(root.join("state")),
            home: None,
        }
    }

    fn pin(locations: &Locations) -> Result<(), String> {
        change_pins(locations, |pins| {
            let key = holdpoint_proof::PinnedKey::of_ssh(LINE).map_err(|bad| bad.to_string())?;
            pins.pin("ann", key).map_err(|bad| bad.to_string())
        })
    }

    #[test]
    fn keys_count_where_only_root_writes() {
        let home = tempfile::tempdir().unwrap();
        let locations = locations(home.path());
        assert_eq!(Pinned::at(&locations), Pinned::Nobody);
        let pinned = pin(&locations);
        if holdpoint_sandbox::user::id() != 0 {
            assert!(pinned.unwrap_err().contains("only root"));
            return;
        }
        pinned.unwrap();
        assert!(matches!(Pinned::at(&locations), Pinned::Keys(_)));
        let (file, directory) = (locations.approvers(), home.path().join("etc"));
        for path in [&file, &directory] {
            let before = fs::metadata(path).unwrap().permissions();
            for mode in [0o666, 0o775] {
                fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
                assert!(
                    matches!(Pinned::at(&locations), Pinned::Unusable(_)),
                    "{mode:o}"
                );
            }
            fs::set_permissions(path, before).unwrap();
            chown(path, Some(1), None).unwrap();
            assert!(matches!(Pinned::at(&locations), Pinned::Unusable(_)));
            chown(path, Some(0), None).unwrap();
        }
        assert!(matches!(Pinned::at(&locations), Pinned::Keys(_)));
        // A link into somebody's home is theirs.
        let theirs = home.path().join("theirs");
        fs::create_dir(&theirs).unwrap();
        fs::rename(&file, theirs.join("approvers.json")).unwrap();
        chown(&theirs, Some(1), None).unwrap();
        std::os::unix::fs::symlink(theirs.join("approvers.json"), &file).unwrap();
        assert!(matches!(Pinned::at(&locations), Pinned::Unusable(_)));
    }

    #[test]
    fn as_soon_as_somebody_is_pinned_high_risk_wants_a_key() {
        let keys = Pinned::Unusable("test".into());
        let by = |by: Authority, level: Presence| Some(StatedPresence { level, by });
        use Authority::{Managed, Project, User};
        for (pinned, stated, risk, wanted) in [
            (&Pinned::Nobody, None, Risk::Critical, Presence::Terminal),
            (
                &Pinned::Nobody,
                by(User, Presence::None),
                Risk::Critical,
                Presence::None,
            ),
            (
                &Pinned::Nobody,
                by(Project, Presence::None),
                Risk::Low,
                Presence::Terminal,
            ),
            (
                &Pinned::Nobody,
                by(Project, Presence::Key),
                Risk::Low,
                Presence::Key,
            ),
            (&keys, None, Risk::High, Presence::Key),
            (&keys, None, Risk::Medium, Presence::Terminal),
            (&keys, by(User, Presence::None), Risk::High, Presence::Key),
            (
                &keys,
                by(User, Presence::None),
                Risk::Medium,
                Presence::None,
            ),
            (
                &keys,
                by(Managed, Presence::Terminal),
                Risk::Critical,
                Presence::Terminal,
            ),
        ] {
            assert_eq!(
                pinned.level(stated, risk),
                wanted,
                "{pinned:?} {stated:?} {risk:?}"
            );
        }
    }
}
