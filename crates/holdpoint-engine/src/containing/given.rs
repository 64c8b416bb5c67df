//! A plan under a policy: what its section `sandbox` gives beside what every command is given, and what it takes away.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use holdpoint_core::policy::{Cache, Calls, Floor, Sandbox};
use holdpoint_sandbox::network::HostRule;

use super::{Plan, PlanError, Tier, trees, workspace};
use crate::Locations;

/// The plan as a policy wants it. What `outside` names of the variables the policy gives comes in again.
pub fn under(
    mut plan: Plan,
    given: &Sandbox,
    outside: impl Iterator<Item = (OsString, OsString)>,
    locations: &Locations,
) -> Result<Plan, PlanError> {
    let workspace = workspace(&plan.directory, locations)?;
    let home = locations.home.as_deref();
    let paths = |list: &BTreeSet<String>| -> Vec<PathBuf> {
        list.iter()
            .map(|text| resolved(text, &workspace, home))
            .collect()
    };
    let write = writable(given, &workspace, home);
    let has_home = |path: &&PathBuf| home.is_some_and(|home| home.starts_with(path));
    if let Some(path) = write.iter().find(has_home) {
        return Err(PlanError::GivesHome(path.clone()));
    }
    match given.cache.unwrap_or_default() {
        Cache::Shared => {}
        word @ (Cache::Readonly | Cache::None) => {
            let caches: Vec<PathBuf> = home
                .map(|home| trees::below(home, trees::CACHES).collect())
                .unwrap_or_default();
            plan.writable.retain(|path| !caches.contains(path));
            if word == Cache::Readonly {
                plan.readable.extend(caches);
            }
        }
    }
    plan.writable.extend(write);
    plan.readable
        .extend(given.read.as_ref().map(paths).unwrap_or_default());
    plan.hidden.extend(paths(&given.hide));
    plan.protected.extend(paths(&given.protect));
    plan.hosts = given
        .hosts
        .iter()
        .flatten()
        .map(|text| {
            HostRule::parse(text).map_err(|error| PlanError::Host {
                host: text.clone(),
                reason: error.to_string(),
            })
        })
        .collect::<Result<_, _>>()?;
    if let Some(names) = &given.env {
        let known: BTreeSet<OsString> = plan
            .environment
            .iter()
            .map(|(name, _)| name.clone())
            .collect();
        plan.environment.extend(outside.filter(|(name, _)| {
            !known.contains(name) && name.to_str().is_some_and(|name| names.contains(name))
        }));
    }
    let calls = given.calls.iter().flatten();
    for call in calls {
        match call {
            Calls::Ptrace => plan.tracing = true,
        }
    }
    let limits = &given.limits;
    let least = |ours: u64, theirs: Option<u64>| theirs.map_or(ours, |theirs| theirs.min(ours));
    let time = limits.time.map(Duration::from_secs);
    plan.limits.time = match (plan.limits.time, time) {
        (Some(ours), Some(theirs)) => Some(ours.min(theirs)),
        (ours, theirs) => ours.or(theirs),
    };
    plan.limits.processes = least(plan.limits.processes, limits.processes);
    plan.limits.file_size = least(plan.limits.file_size, limits.file_size);
    plan.limits.temporary = least(plan.limits.temporary, limits.temporary);
    plan.limits.memory = limits.memory.or(plan.limits.memory);
    plan.limits.output = limits.output.or(plan.limits.output);
    if let Some(floor) = given.floor {
        plan.floor = plan.floor.max(tier(floor));
    }
    Ok(plan)
}

/// Trees a policy gives a command to change, beside its workspace.
pub fn writable(given: &Sandbox, workspace: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let all = given.write.iter().flatten();
    all.map(|text| resolved(text, workspace, home)).collect()
}

/// The floor of a command a person runs: as they say, or else as the policy does. Where both speak the higher one holds, by
/// [`under`].
pub fn floor(asked: Option<Tier>, given: &Sandbox) -> Tier {
    asked
        .or(given.floor.map(tier))
        .unwrap_or(tier(Floor::default()))
}

fn tier(floor: Floor) -> Tier {
    match floor {
        Floor::Landlock => Tier::Landlock,
        Floor::Full => Tier::Full,
    }
}

/// A path of a policy: absolute, in the home, or in the workspace.
fn resolved(text: &str, workspace: &Path, home: Option<&Path>) -> PathBuf {
    match (text.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        (Some(_), None) | (None, _) => workspace.join(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::containing::{Wanted, plan};
    use holdpoint_core::Policy;

    fn planned(text: &str) -> Result<Plan, PlanError> {
        let home = Path::new("/home/dev");
        let locations = Locations {
            managed: "/nowhere/permissions.json".into(),
            user: None,
            named: None,
            state: Some(home.join(".local/state/holdpoint")),
            home: Some(home.to_owned()),
        };
        let wanted = Wanted {
            command: vec!["true".into()],
            directory: home.join("app"),
            writable: Vec::new(),
            time: Some(Duration::from_secs(90)),
            floor: Tier::Landlock,
        };
        let plain = Plan {
            environment: vec![("PATH".into(), "/bin".into())],
            ..plan(&wanted, &locations)?
        };
        let policy = Policy::from_text("p", text).unwrap();
        let outside = [("PATH", "/x"), ("API_TOKEN", "t"), ("OTHER_TOKEN", "o")];
        let outside = outside.map(|(name, value)| (name.into(), value.into()));
        under(plain, &policy.sandbox(), outside.into_iter(), &locations)
    }

    #[test]
    fn a_policy_gives_and_takes_away() {
        let text = r#"{"sandbox":{
            "write": ["~/data", "/srv/x"], "read": ["~/.config/tool"], "hide": ["secret"], "protect": ["Makefile"],
            "hosts": ["example.com"], "env": ["API_TOKEN"], "calls": ["ptrace"], "cache": "readonly", "limits": {"time": 60, "processes": 10}}}"#;
        let plan = planned(text).unwrap();
        let has = |list: &[PathBuf], path: &str| list.contains(&PathBuf::from(path));
        assert!(has(&plan.writable, "/home/dev/data") && has(&plan.writable, "/srv/x"));
        assert!(has(&plan.readable, "/home/dev/.config/tool"));
        assert!(has(&plan.hidden, "/home/dev/app/secret"));
        assert!(has(&plan.protected, "/home/dev/app/Makefile"));
        assert!(!has(&plan.writable, "/home/dev/.cache/pip"));
        assert!(has(&plan.readable, "/home/dev/.cache/pip"));
        assert!(plan.tracing && !planned("{}").unwrap().tracing);
        assert_eq!(plan.hosts.len(), 1);
        let names: Vec<_> = plan
            .environment
            .iter()
            .filter_map(|(name, _)| name.to_str())
            .collect();
        assert_eq!(names, ["PATH", "API_TOKEN"]);
        assert_eq!(plan.limits.time, Some(Duration::from_secs(60)));
        assert_eq!(plan.limits.processes, 10);
        assert_eq!(plan.floor, Tier::Landlock, "without a word");
        let full = planned(r#"{"sandbox":{"floor":"full"}}"#).unwrap();
        assert_eq!(full.floor, Tier::Full);
    }

    #[test]
    fn the_floor_is_the_persons_word_or_the_policys_and_never_below_it() {
        let given = |text| Policy::from_text("p", text).unwrap().sandbox();
        let landlock = r#"{"sandbox":{"floor":"landlock"}}"#;
        assert_eq!(floor(None, &given("{}")), Tier::Full);
        assert_eq!(floor(None, &given(landlock)), Tier::Landlock);
        assert_eq!(floor(Some(Tier::Full), &given(landlock)), Tier::Full);
        assert_eq!(floor(Some(Tier::Landlock), &given("{}")), Tier::Landlock);
        // What is asked for here is `landlock`.
        let plan = planned(r#"{"sandbox":{"floor":"full"}}"#).unwrap();
        assert_eq!(plan.floor, Tier::Full);
    }

    #[test]
    fn what_is_no_host_and_the_home_are_told() {
        let error = |text| planned(text).unwrap_err().to_string();
        assert!(error(r#"{"sandbox":{"hosts":["127.0.0.1"]}}"#).contains("127.0.0.1"));
        assert!(error(r#"{"sandbox":{"write":["/home"]}}"#).contains("home"));
    }
}
