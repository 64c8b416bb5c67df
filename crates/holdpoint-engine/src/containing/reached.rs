//! Whether commands can be contained on this machine, found out once and remembered while the machine is the same.
//!
//! Nothing is let run by what is remembered: a run makes its sandbox, or does not run and has it forgotten. So the worst a wrong
//! note does is one call that fails in the place of a question.

use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;

use super::{Tier, reachable};
use crate::Locations;
use crate::store::{read_bounded, write_whole};

/// The variable by which a person says that no sandbox is to be made: what would be contained is asked about.
const SWITCH: &str = "HOLDPOINT_SANDBOX";

/// The longest note.
const MAX_NOTE: u64 = 1024;

/// What has to be the same for a sandbox to be had again: the machine since it was started, the user, the namespaces this
/// process is in, and whether programs may be given users of their own.
const SAME: [&str; 7] = [
    "/proc/sys/kernel/random/boot_id",
    "/proc/self/ns/user",
    "/proc/self/ns/mnt",
    "/proc/self/ns/pid",
    "/proc/sys/user/max_user_namespaces",
    "/proc/sys/kernel/unprivileged_userns_clone",
    "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
];

/// Whether commands can be contained on this machine. That takes the tier `full`: a lower one gives neither loopback nor
/// protected paths, so it answers no question; and where `hosts` are to be reached, one that reaches them. Found out by making a
/// sandbox in which nothing runs, once while the machine runs and stays as it is.
pub fn is_reachable(locations: &Locations, hosts: bool) -> bool {
    static REACHABLE: [OnceLock<bool>; 2] = [OnceLock::new(), OnceLock::new()];
    let [without, with] = &REACHABLE;
    if std::env::var_os(SWITCH).is_some_and(|word| word == "none") {
        return false;
    }
    let known = if hosts { with } else { without };
    *known.get_or_init(|| {
        let here = here();
        let is_noted = |path: PathBuf| {
            let noted = read_bounded(&path, MAX_NOTE).ok();
            noted.as_deref() == here.as_ref().map(String::as_bytes) && noted.is_some()
        };
        if note(locations, hosts).is_some_and(is_noted) {
            return true;
        }
        let reaches = reachable(hosts).0 == Tier::Full;
        if let (true, Some(path), Some(here)) = (reaches, note(locations, hosts), here) {
            // Where it cannot be kept it is found out again.
            let _ = write_whole(&path, here.as_bytes());
        }
        reaches
    })
}

/// Forgets that commands can be contained, since one was not.
pub fn forget_reachable(locations: &Locations) {
    for path in [false, true].map(|hosts| note(locations, hosts)) {
        // Without a note there is nothing to forget.
        let _ = path.map(fs::remove_file);
    }
}

fn note(locations: &Locations, hosts: bool) -> Option<PathBuf> {
    let state = locations.state.as_ref()?;
    Some(state.join(match hosts {
        true => "sandbox-reached-with-hosts",
        false => "sandbox-reached",
    }))
}

/// The machine as it is; none if that cannot be told.
fn here() -> Option<String> {
    let mut text = format!("{}\n", holdpoint_sandbox::user::id());
    for path in SAME {
        let is_file = path.starts_with("/proc/sys");
        let said = match is_file {
            true => fs::read_to_string(path).unwrap_or_default(),
            false => fs::read_link(path).ok()?.display().to_string(),
        };
        text.push_str(said.trim());
        text.push('\n');
    }
    // Without the first nobody knows whether it is the same machine.
    let boot = text.lines().nth(1).is_some_and(|boot| !boot.is_empty());
    boot.then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_machine_is_told_the_same_way() {
        assert_eq!(here(), here());
        #[cfg(target_os = "linux")]
        assert!(here().is_some_and(|text| text.len() > 60 && text.len() < MAX_NOTE as usize));
    }
}
