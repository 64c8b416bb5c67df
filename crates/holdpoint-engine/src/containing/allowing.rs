//! What a policy would have to say for a command to get what the sandbox refused it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use holdpoint_sandbox::network::HostRule;
use serde_json::{Value, json};

use super::Refusal;

/// The fewest names in a path that is advised to be given: below that lies half a system.
const MIN_NAMES: usize = 2;

/// Hidden directories of a home in which programs keep what can be made again. The others hold secrets, and settings that
/// are obeyed outside; so does `.local/share`, where keyrings are.
const ADVISED: [&str; 3] = [".cache", ".local/bin", ".local/lib"];

/// The line of a policy that would allow it, as a person can type it; none if no line does, or only one that gives away far
/// more, or what nobody should give because a command asked for it.
pub fn policy_line(refusal: &Refusal, home: Option<&Path>) -> Option<String> {
    let (key, value): (&str, Value) = match refusal {
        Refusal::Write(path) => ("write", json!([given_for(path, home)?.to_str()?])),
        Refusal::Host { name, port, .. } => {
            let _listed = refusal.allowed_by()?;
            let host = match port {
                0 | 443 => name.clone(),
                port => format!("{name}:{port}"),
            };
            HostRule::parse(&host).ok()?;
            ("hosts", json!([host]))
        }
        Refusal::Call(_) => match refusal.allowed_by()? {
            "calls" => ("calls", json!(["ptrace"])),
            _ => return None,
        },
        Refusal::Protected(_) => return None,
    };
    Some(format!("\"sandbox\": {{\"{key}\": {value}}}"))
}

/// The same for what a command looked for and did not find inside; of these paths, those nobody should give are left out.
pub fn reading_line(hidden: &[PathBuf], home: Option<&Path>) -> Option<String> {
    let given: BTreeSet<PathBuf> = hidden
        .iter()
        .filter_map(|path| given_for(path, home))
        .collect();
    let given: Vec<&str> = given.iter().filter_map(|path| path.to_str()).collect();
    (!given.is_empty()).then(|| format!("\"sandbox\": {{\"read\": {}}}", json!(given)))
}

/// What has to be given for a path to be written: itself, or the directory it would be made in, since nothing is given that is
/// not there.
pub fn given_for(path: &Path, home: Option<&Path>) -> Option<PathBuf> {
    let there = path.ancestors().find(|path| path.exists())?;
    let is_wide =
        there.components().count() <= MIN_NAMES || home.is_some_and(|home| home.starts_with(there));
    (!is_wide && is_advised(there, home)).then(|| there.to_owned())
}

/// Whether a path may be advised to be given: not what is hidden in a home, where keys, tokens and settings lie. Whoever made the
/// command reach for them would be given them by who follows the advice.
pub fn is_advised(path: &Path, home: Option<&Path>) -> bool {
    let below = home.and_then(|home| path.strip_prefix(home).ok());
    below.is_none_or(|below| {
        let is_hidden = below.as_os_str().as_encoded_bytes().starts_with(b".");
        !is_hidden || ADVISED.iter().any(|advised| below.starts_with(advised))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::containing::HostRefusal;

    #[test]
    fn a_line_gives_what_is_there_and_never_half_a_system() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        let line = |path: &Path, home: &Path| policy_line(&Refusal::Write(path.into()), Some(home));
        let home = root.join("home");
        let wanted = format!(r#""sandbox": {{"write": ["{}"]}}"#, root.display());
        assert_eq!(line(&root.join("a/b/c"), Path::new("/h")), Some(wanted));
        assert_eq!(
            line(&root.join("a/b/c"), &home),
            None,
            "it has the home in it"
        );
        assert_eq!(line(Path::new("/no-such-file"), &home), None);
        std::fs::create_dir_all(home.join(".ssh")).unwrap();
        std::fs::create_dir_all(home.join(".cache/x")).unwrap();
        assert_eq!(line(&home.join(".ssh/authorized_keys"), &home), None);
        assert!(line(&home.join(".cache/x/y"), &home).is_some());
        assert!(is_advised(&home.join("data"), Some(&home)));
        assert!(is_advised(&home.join(".local/lib/x"), Some(&home)));
        for secret in [".aws/credentials", ".local/share/keyrings/x", ".cachex"] {
            assert!(!is_advised(&home.join(secret), Some(&home)), "{secret}");
        }
        assert_eq!(line(Path::new("/usr/no-such-file"), &home), None);
    }

    #[test]
    fn a_line_shows_what_was_looked_for_and_no_secrets() {
        let place = tempfile::tempdir().unwrap();
        let home = place.path().canonicalize().unwrap();
        for file in ["data.csv", ".npmrc"] {
            std::fs::write(home.join(file), "").unwrap();
        }
        let line = |names: &[&str]| {
            let paths: Vec<PathBuf> = names.iter().map(|name| home.join(name)).collect();
            reading_line(&paths, Some(&home))
        };
        let wanted = format!(r#""sandbox": {{"read": ["{}/data.csv"]}}"#, home.display());
        assert_eq!(line(&[".npmrc", "data.csv"]), Some(wanted));
        assert_eq!(line(&[".npmrc"]), None);
    }

    #[test]
    fn a_line_lists_a_host_that_can_be_listed() {
        let line = |name: &str, port, reason| {
            let name = name.to_owned();
            policy_line(&Refusal::Host { name, port, reason }, None)
        };
        let listed = HostRefusal::NotListed;
        let is = |text: &str| Some(format!(r#""sandbox": {{"hosts": ["{text}"]}}"#));
        assert_eq!(line("example.com", 0, listed), is("example.com"));
        assert_eq!(line("example.com", 8443, listed), is("example.com:8443"));
        assert_eq!(line("10.0.0.1", 443, listed), None);
        assert_eq!(line("example.com", 443, HostRefusal::NotPublic), None);
        assert_eq!(policy_line(&Refusal::Call("mount"), None), None);
        let tracing = policy_line(&Refusal::Call("process_vm_readv"), None);
        assert_eq!(tracing.unwrap(), r#""sandbox": {"calls": ["ptrace"]}"#);
    }
}
