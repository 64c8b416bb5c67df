//! The one entry of the library: a gate that judges calls.

use std::path::{Path, PathBuf};

use holdpoint_core::paths::Lookup;
use holdpoint_core::policy::{ExternalAnswer, ask_outside};
use holdpoint_core::{
    Decision, Policy, Profile, Session, SessionState, Surroundings, ToolCall, judge, understand,
};

use crate::disk::Disk;
use crate::load::{LoadError, load_layers, load_text};
use crate::locations::Locations;
use crate::workplace::real_directory;

/// Judges tool calls under one policy, for one workspace and one session.
///
/// A gate never changes: the same call gets the same decision from it, unless the files the call
/// names change. It is cheap to build again when the policy or the session changes.
pub struct Gate {
    policy: Result<Policy, String>,
    session: Session,
    workspace: Option<String>,
    home: Option<String>,
    files: Box<dyn Lookup + Send + Sync>,
}

impl Gate {
    /// A gate for the policy in `text` (the content of a `permissions.json`), in the directory
    /// this process runs in.
    pub fn from_policy(text: &str) -> Result<Self, LoadError> {
        Ok(Self::new(load_text("policy", text)?))
    }

    /// A gate for one of the policies shipped with Holdpoint.
    pub fn from_profile(profile: Profile) -> Result<Self, LoadError> {
        Ok(Self::new(Policy::profile(profile)?))
    }

    /// A gate for a compiled policy.
    pub fn new(policy: Policy) -> Self {
        Self::with(Ok(policy))
    }

    /// A gate for the policy files in force for work in `directory`: the managed one, the user's
    /// and the project's. If one of them cannot be read the gate is closed: it denies every call
    /// and says why.
    pub fn open(directory: &Path) -> Self {
        Self::open_at(&Locations::of_this_machine(), directory)
    }

    /// The same, with the places to look at given.
    pub fn open_at(locations: &Locations, directory: &Path) -> Self {
        let real = real_directory(Some(directory))
            .ok()
            .filter(|real| real.to_str().is_some());
        match real {
            Some(real) => {
                let policy = load_layers(locations, &real).map_err(|error| error.to_string());
                Self::with(policy).in_workspace(&real)
            }
            None => Self::with(Err(format!(
                "{}: the directory cannot be looked at, or its name is not text",
                directory.display()
            ))),
        }
    }

    fn with(policy: Result<Policy, String>) -> Self {
        Self {
            policy,
            session: Session::default(),
            workspace: std::env::current_dir().ok().and_then(text),
            home: Locations::of_this_machine().home.and_then(text),
            files: Box::new(Disk),
        }
    }

    /// The same gate, for work in another directory.
    #[must_use]
    pub fn in_workspace(mut self, directory: &Path) -> Self {
        self.workspace = real_directory(Some(directory)).ok().and_then(text);
        self
    }

    /// The same gate, with what a session remembers. A gate reads no session from disk and counts
    /// no calls: whoever makes the calls keeps the state.
    #[must_use]
    pub fn in_session(mut self, state: SessionState) -> Self {
        self.session = Session::new(state);
        self
    }

    /// The same gate, looking files up elsewhere than on the disk.
    #[must_use]
    pub fn looking_up(mut self, files: impl Lookup + Send + Sync + 'static) -> Self {
        self.files = Box::new(files);
        self
    }

    /// Judges a call.
    pub fn judge(&self, call: &ToolCall) -> Decision {
        match &self.policy {
            Ok(policy) => {
                let around = Surroundings {
                    workspace: self.workspace.as_deref(),
                    directory: None,
                    home: self.home.as_deref(),
                    lookup: self.files.as_ref(),
                    can_contain: false,
                };
                let action = understand(call.clone(), policy, &around);
                let decision = judge(&action, policy, &self.session, &around);
                // A gate starts no programs and talks to nobody.
                let unasked =
                    || ExternalAnswer::Failed("a gate that only judges asks nobody".into());
                ask_outside(decision, &action, policy, &around, |_, _| unasked())
            }
            Err(problem) => Decision {
                call: call.digest(),
                ..Decision::error(problem.clone())
            },
        }
    }

    /// The policy in force, or why there is none.
    pub fn policy(&self) -> Result<&Policy, &str> {
        self.policy.as_ref().map_err(String::as_str)
    }

    /// What the session remembers.
    pub fn session(&self) -> &SessionState {
        self.session.state()
    }
}

impl std::fmt::Debug for Gate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gate")
            .field("policy", &self.policy.as_ref().map(Policy::digest))
            .field("workspace", &self.workspace)
            .finish_non_exhaustive()
    }
}

fn text(path: PathBuf) -> Option<String> {
    path.into_os_string().into_string().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use holdpoint_core::{Method, Verdict};
    use std::fs;

    fn locations(home: &Path) -> Locations {
        Locations {
            managed: home.join("managed.json"),
            user: Some(home.join("user.json")),
            named: None,
            state: Some(home.join("state")),
            home: Some(home.to_owned()),
        }
    }

    #[test]
    fn a_gate_is_opened_for_the_place_a_path_leads_to() {
        let home = tempfile::tempdir().unwrap();
        let project = home.path().join("project");
        fs::create_dir_all(project.join(".git")).unwrap();
        fs::create_dir_all(project.join("src")).unwrap();
        fs::write(
            project.join("permissions.json"),
            r#"{"defaultPolicy":"defer","deny":{"patterns":["make *"]}}"#,
        )
        .unwrap();
        for way in ["src", "src/../src", "src/not/yet"] {
            let gate = Gate::open_at(&locations(home.path()), &project.join(way));
            let verdict = gate.judge(&ToolCall::shell("make all")).verdict;
            assert_eq!(verdict, Verdict::Deny, "{way}");
        }
    }

    #[test]
    fn a_gate_with_a_broken_policy_is_closed_and_says_why() {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("user.json"), "{").unwrap();
        let gate = Gate::open_at(&locations(home.path()), home.path());
        let decision = gate.judge(&ToolCall::shell("ls"));
        assert_eq!(
            (decision.verdict, decision.method),
            (Verdict::Deny, Method::Error)
        );
        assert!(
            decision.reason.contains("user.json:1:2"),
            "{}",
            decision.reason
        );
        assert!(gate.policy().is_err());
    }

    #[test]
    fn layers_are_read_from_the_highest_authority_down() {
        let home = tempfile::tempdir().unwrap();
        fs::write(
            home.path().join("managed.json"),
            r#"{"defaultPolicy":"ask"}"#,
        )
        .unwrap();
        fs::write(
            home.path().join("user.json"),
            r#"{"defaultPolicy":"allow","allow":{"patterns":["ls"]}}"#,
        )
        .unwrap();
        let gate = Gate::open_at(&locations(home.path()), home.path());
        // What the managed layer asks about stays asked.
        assert_eq!(gate.judge(&ToolCall::shell("ls")).verdict, Verdict::Ask);
        assert_eq!(gate.policy().unwrap().layers().len(), 2);
    }
}
