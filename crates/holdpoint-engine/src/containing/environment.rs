//! The variables a contained command finds: its user's, without secrets and without ways to others' services.

use std::ffi::OsString;

use holdpoint_core::is_secret_variable;

/// Variables that name a door to something outside: a socket, an agent, a proxy that is not there.
const DOORS: [&str; 12] = [
    "SSH_AUTH_SOCK",
    "SSH_AGENT_PID",
    "GPG_AGENT_INFO",
    "DBUS_SESSION_BUS_ADDRESS",
    "DBUS_SYSTEM_BUS_ADDRESS",
    "XDG_RUNTIME_DIR",
    "WAYLAND_DISPLAY",
    "DISPLAY",
    "XAUTHORITY",
    "DOCKER_HOST",
    "KUBECONFIG",
    "BASH_ENV",
];

/// What is left of an environment. Temporary files go to the command's own directory.
pub(super) fn without_secrets(
    all: impl Iterator<Item = (OsString, OsString)>,
) -> Vec<(OsString, OsString)> {
    let mut kept: Vec<_> = all
        .filter(|(name, _)| {
            // A name that is no text names nothing that a program looks for.
            name.to_str().is_some_and(|name| {
                !DOORS.contains(&name) && !is_secret_variable(name) && name != "TMPDIR"
            })
        })
        .collect();
    kept.push(("TMPDIR".into(), "/tmp".into()));
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_and_doors_stay_outside() {
        let names = [
            "PATH",
            "HOME",
            "AWS_SECRET_ACCESS_KEY",
            "GITHUB_TOKEN",
            "SSH_AUTH_SOCK",
            "TMPDIR",
            "CARGO_HOME",
        ];
        let all = names
            .iter()
            .map(|name| (OsString::from(*name), OsString::from("x")));
        let kept = without_secrets(all);
        let names: Vec<_> = kept.iter().filter_map(|(name, _)| name.to_str()).collect();
        assert_eq!(names, ["PATH", "HOME", "CARGO_HOME", "TMPDIR"]);
        assert!(kept.contains(&("TMPDIR".into(), "/tmp".into())));
    }
}
