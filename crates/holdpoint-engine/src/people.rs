//! The list of people on disk: `people.json` beside the user's policy.
//!
//! It is changed under a lock, recorded first and written in one step. A list others can write is not
//! believed.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use holdpoint_broker::Problem;
use holdpoint_broker::people::{MAX_ROSTER, People, PeopleStore, Roster};
use holdpoint_ledger::Kind;
use serde_json::Value;

use crate::account::account_name;
use crate::locations::Locations;
use crate::recording::Recorder;
use crate::store::{Unread, lock, plain_words, read_bounded, write_whole};

/// The people of this account.
pub fn people_at(locations: &Locations) -> Result<People, Problem> {
    let file = PeopleFile::at(locations)?;
    Ok(People::new(Arc::new(file), account_name()))
}

struct PeopleFile {
    path: PathBuf,
    locations: Locations,
}

impl PeopleFile {
    fn at(locations: &Locations) -> Result<Self, Problem> {
        let beside = locations.user.as_deref().and_then(Path::parent);
        let directory = beside.ok_or_else(|| {
            Problem("no home directory is known, so nobody can be named: set HOME".into())
        })?;
        Ok(Self {
            path: directory.join("people.json"),
            locations: locations.clone(),
        })
    }

    fn problem(&self, what: &str) -> Problem {
        let path = self.path.display().to_string();
        Problem(format!("{}: {what}", path.escape_debug()))
    }
}

impl PeopleStore for PeopleFile {
    fn load(&self) -> Result<Roster, Problem> {
        let bytes = match read_bounded(&self.path, MAX_ROSTER) {
            Ok(bytes) => bytes,
            Err(Unread::Missing) => return Ok(Roster::default()),
            Err(unread) => return Err(self.problem(&format!("{unread}: check the list of people"))),
        };
        if is_writable_by_others(&self.path) {
            return Err(self.problem("others can change it: run chmod 600 on it"));
        }
        Roster::read(&self.path.display().to_string(), &bytes)
    }

    fn change(
        &self,
        by: &str,
        what: &Value,
        edit: &mut dyn FnMut(&mut Roster) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
        let failed = |error: io::Error| {
            self.problem(&format!("it cannot be changed ({})", plain_words(&error)))
        };
        let _held = lock(&self.path).map_err(failed)?;
        let mut roster = self.load()?;
        edit(&mut roster)?;
        let text =
            serde_json::to_vec_pretty(&roster).map_err(|error| failed(io::Error::other(error)))?;
        Recorder::at(&self.locations)
            .and_then(|recorder| recorder.changes_by(by, Kind::PolicyChange, None, what))
            .map_err(|error| Problem(error.to_string()))?;
        write_whole(&self.path, &text).map_err(failed)
    }
}

#[cfg(unix)]
fn is_writable_by_others(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    path.metadata().is_ok_and(|found| found.mode() & 0o022 != 0)
}

#[cfg(not(unix))]
fn is_writable_by_others(_path: &Path) -> bool {
    false
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use holdpoint_broker::Role;
    use holdpoint_ledger::Reader;

    fn locations(home: &Path) -> Locations {
        Locations {
            managed: home.join("etc/permissions.json"),
            user: Some(home.join("config/permissions.json")),
            named: None,
            state: Some(home.join("state")),
            home: Some(home.to_owned()),
        }
    }

    #[test]
    fn a_change_is_on_record_and_the_list_for_its_owner_alone() {
        let home = tempfile::tempdir().unwrap();
        let locations = locations(home.path());
        let people = people_at(&locations).unwrap();
        let token = people.add("dev", "ann", Role::Approver).unwrap();
        let path = home.path().join("config/people.json");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert!(!fs::read_to_string(&path).unwrap().contains(&token));
        assert!(people.known_by("ann", &token).unwrap().is_some());
        let mut reader = Reader::new(locations.ledger().unwrap());
        let mut text = String::new();
        while let Some(line) = reader.next().unwrap() {
            text += &String::from_utf8_lossy(line.bytes);
        }
        assert!(
            text.contains("add person") && text.contains("ann"),
            "{text}"
        );
        assert!(!text.contains(&token), "{text}");
    }

    #[test]
    fn what_cannot_be_recorded_is_not_changed() {
        let home = tempfile::tempdir().unwrap();
        let mut locations = locations(home.path());
        people_at(&locations)
            .unwrap()
            .add("dev", "ann", Role::Approver)
            .unwrap();
        fs::write(home.path().join("file"), "").unwrap();
        locations.state = Some(home.path().join("file"));
        let people = people_at(&locations).unwrap();
        assert!(people.add("dev", "bob", Role::Approver).is_err());
        assert!(people.remove("dev", "ann").is_err());
        assert_eq!(people.roster().unwrap().people.len(), 1);
    }

    #[test]
    fn a_list_others_can_write_is_not_believed() {
        let home = tempfile::tempdir().unwrap();
        let people = people_at(&locations(home.path())).unwrap();
        people.add("dev", "ann", Role::Approver).unwrap();
        let path = home.path().join("config/people.json");
        for mode in [0o620, 0o602] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            assert!(people.roster().unwrap_err().0.contains("chmod 600"));
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        fs::write(&path, "{").unwrap();
        assert!(people.roster().is_err());
        fs::write(&path, vec![b' '; 2 << 20]).unwrap();
        assert!(people.roster().is_err());
    }
}
