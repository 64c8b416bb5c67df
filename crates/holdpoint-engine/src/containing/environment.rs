//! The variables a contained command finds: its user's, without secrets and without ways to others' services.

use std::ffi::{OsStr, OsString};

use holdpoint_core::is_secret_variable;
use holdpoint_core::text::redaction::Redactor;

use crate::excerpt::showing;

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
    let redactor = showing();
    let mut kept: Vec<_> = all
        .filter(|(name, _)| {
            // A name that is no text names nothing that a program looks for.
            name.to_str().is_some_and(|name| {
                !DOORS.contains(&name) && !is_secret_variable(name) && name != "TMPDIR"
            })
        })
        .filter(|(name, value)| !holds_secret(&redactor, name, value))
        .collect();
    kept.push(("TMPDIR".into(), "/tmp".into()));
    kept
}

/// Whether what a variable holds looks like a secret, whatever it is called: a token, or a password in an address.
fn holds_secret(redactor: &Redactor, name: &OsStr, value: &OsStr) -> bool {
    let line = format!("{}={}", name.to_string_lossy(), value.to_string_lossy());
    redactor.text(&line).as_str() != line
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

    #[test]
    fn what_holds_a_secret_stays_outside_under_any_name() {
        let token = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
        let all = [
            ("FOO", token.as_str()),
            ("DATABASE_URL", "postgres://u:p4ssw0rdX@db.example.com/d"),
            ("PATH", "/usr/local/bin:/usr/bin"),
            ("LS_COLORS", "rs=0:di=01;34:ln=01;36"),
            ("COMMIT", "3f786850e387550fdab836ed7e6dc881de23001b"),
            ("PWD", "/home/dev/app"),
            ("LANG", "C.UTF-8"),
            ("NODE_OPTIONS", "--max-old-space-size=4096"),
            ("GPG_KEY", "A035C8C19219BA821ECEA86B64E628F8D684696D"),
            (
                "npm_config_user_agent",
                "npm/10.8.2 node/v20.19.2 linux x64",
            ),
        ];
        let kept = without_secrets(all.iter().map(|(name, value)| (name.into(), value.into())));
        let names: Vec<_> = kept.iter().filter_map(|(name, _)| name.to_str()).collect();
        let wanted: Vec<_> = all.iter().skip(2).map(|(name, _)| *name).collect();
        assert_eq!(names, [wanted, vec!["TMPDIR"]].concat());
    }
}
