//! Suggestions, tried on the policy in force before anybody is told of them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use holdpoint_core::paths::NoLinks;
use holdpoint_core::policy::{Authority, Layer, Source, Trust};
use holdpoint_core::{
    Decision, Pack, Policy, Profile, Session, Surroundings, ToolCall, Verdict, judge_call,
};

use super::candidates::allowing_text;
use super::short;
use super::summary::Snippet;
use holdpoint_engine::Disk;
use holdpoint_engine::Locations;
use holdpoint_engine::{LoadError, load_layers, load_layers_with};

/// A call that was asked about, as far as it is on record.
#[derive(Clone, Debug)]
pub(super) struct Example {
    pub(super) call: ToolCall,
    pub(super) directory: Option<String>,
}

/// The policy in force, and what it would say with a few more rules.
#[derive(Debug)]
pub struct Trial {
    locations: Locations,
    directory: PathBuf,
    policy: Policy,
    /// What rules of packs hold: each with its rule and its call.
    held: Vec<(String, String, ToolCall)>,
}

impl Trial {
    /// The policy in force in a directory.
    pub fn new(locations: &Locations, directory: &Path) -> Result<Self, LoadError> {
        // Advice is about what the policy says, whether or not anybody is held to it yet.
        let policy = load_layers(locations, directory)?.enforced();
        let shipped = Pack::shipped().unwrap_or_default();
        let held = shipped
            .iter()
            .chain(policy.packs())
            .flat_map(Pack::descriptions)
            .filter(|rule| rule.verdict >= Verdict::Ask)
            .flat_map(|rule| {
                let id = rule.id.to_owned();
                let examples = rule.matches.iter();
                examples.map(move |one| (id.clone(), one.text.clone(), one.call.clone()))
            })
            .collect();
        Ok(Self {
            locations: locations.clone(),
            directory: directory.to_owned(),
            policy,
            held,
        })
    }

    /// The policy in force.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The file a user's rules belong in, and whether it is still to be made.
    pub(super) fn file(&self) -> (String, bool) {
        let layers = self.policy.layers().iter();
        let mut users =
            layers.filter(|layer| layer.authority == Authority::User && !layer.is_built_in());
        match users.next() {
            Some(layer) => (self.shortened(&layer.name), false),
            None => {
                let file = self
                    .locations
                    .named
                    .as_ref()
                    .or(self.locations.user.as_ref());
                let name =
                    file.map_or("permissions.json".into(), |file| file.display().to_string());
                (self.shortened(&name), true)
            }
        }
    }

    /// A path with `~` for the home.
    pub(super) fn shortened(&self, path: &str) -> String {
        short(path, self.locations.home.as_deref())
    }

    /// Rules, as they are to be added.
    pub(super) fn snippet(&self, patterns: &[&String]) -> Snippet {
        let (file, new) = self.file();
        Snippet {
            file,
            new,
            text: self.policy_text(patterns),
        }
    }

    /// The rules as they are written into that file. A new one must say what else holds.
    pub(super) fn policy_text(&self, patterns: &[&String]) -> String {
        let profile = self.is_built_in().then(|| Profile::Balanced.name());
        allowing_text(profile, patterns)
    }

    /// Whether nobody wrote what holds for calls no rule speaks about.
    fn is_built_in(&self) -> bool {
        self.policy.layers().iter().any(Layer::is_built_in)
    }

    /// The policy with a further file of the user's that allows patterns. What a rule the user wrote
    /// asks about stays asked about: it is not for a report to talk them out of it.
    pub(super) fn allowing(&self, patterns: &[String]) -> Option<Policy> {
        let patterns: Vec<&String> = patterns.iter().collect();
        let further = Source {
            name: "suggestion".into(),
            authority: Authority::User,
            trust: Trust::Trusted,
            bytes: self.policy_text(&patterns).into_bytes(),
        };
        load_layers_with(
            &self.locations,
            &self.directory,
            &self.directory,
            Some(further),
        )
        .ok()
        .map(Policy::enforced)
    }

    /// What the policy in force says of a call.
    pub(super) fn verdict(&self, example: &Example) -> Verdict {
        self.verdict_under(&self.policy, example)
    }

    /// What another policy says of it.
    pub(super) fn verdict_under(&self, policy: &Policy, example: &Example) -> Verdict {
        self.decision_under(policy, example).verdict
    }

    /// The same, and why.
    pub(super) fn decision_under(&self, policy: &Policy, example: &Example) -> Decision {
        let home = self.locations.home.as_ref().and_then(|home| home.to_str());
        let recorded = example.directory.as_deref().map(|directory| {
            match (directory.strip_prefix('~'), home) {
                (Some(rest), Some(home)) => format!("{home}{rest}"),
                _ => directory.to_owned(),
            }
        });
        let workspace = recorded.filter(|directory| directory.starts_with('/'));
        let around = Surroundings {
            workspace: workspace.as_deref().or(self.directory.to_str()),
            directory: None,
            home,
            lookup: &Disk,
            can_contain: false,
        };
        judge_call(&example.call, policy, &Session::default(), &around)
    }

    /// Whether a policy lets a command of `program` run that a rule of a pack holds for another
    /// reason than `known`; the packs' own examples are tried.
    pub(super) fn widens(&self, policy: &Policy, program: &str, known: &BTreeSet<String>) -> bool {
        let mut widened = self.widened(policy, program);
        widened.any(|(rule, _, _)| !known.contains(rule))
    }

    /// The examples of packs that name a program, are held today and would run under a policy: the rule, the
    /// example and what is said of it today.
    pub(super) fn widened(
        &self,
        policy: &Policy,
        program: &str,
    ) -> impl Iterator<Item = (&str, &str, Verdict)> {
        let around = Surroundings {
            workspace: Some("/work/app"),
            directory: None,
            home: Some("/home/dev"),
            lookup: &NoLinks,
            can_contain: false,
        };
        let verdict = move |policy: &Policy, call: &ToolCall| {
            judge_call(call, policy, &Session::default(), &around).verdict
        };
        self.held.iter().filter_map(move |(rule, text, call)| {
            if !text.contains(program) || !verdict(policy, call).runs() {
                return None;
            }
            let today = verdict(&self.policy, call);
            (!today.runs()).then_some((rule.as_str(), text.as_str(), today))
        })
    }
}
