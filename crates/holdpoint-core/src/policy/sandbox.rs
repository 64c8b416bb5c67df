//! What a contained command is given (`sandbox`), and what answers for what nobody can know before it runs (`opaque`).
//!
//! A lower layer only tightens: it takes away from what a layer above gives, hides and protects more, and allows less
//! time and room. What no trusted layer gives, a file nobody trusts does not give either.

use std::collections::BTreeSet;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::Deserialize;

use super::layer::{Layer, Policy, Trust};

/// What answers where nobody can know before a command runs what it runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum OpaqueAnswer {
    /// The sandbox, where the caller can contain a command and the command needs nothing outside; a person elsewhere.
    Contain,
    /// A person.
    #[default]
    Ask,
    /// A person who has read it.
    Review,
}

/// What a contained command is given.
///
/// Paths are absolute, in the home (`~/…`) or relative to the workspace.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Sandbox {
    /// The least that must bound a command; where less is to be had it does not run. Without it: full.
    pub floor: Option<Floor>,
    /// Trees it may change beside the workspace.
    pub write: Option<BTreeSet<String>>,
    /// Trees of the home it may read beside tools and toolchains.
    pub read: Option<BTreeSet<String>>,
    /// Files and trees it does not find.
    pub hide: BTreeSet<String>,
    /// Paths in the workspace it can neither change nor make.
    pub protect: BTreeSet<String>,
    /// Hosts it reaches: `example.com`, `*.example.com`, `example.com:8443`. Without any it reaches nothing but a loopback of its own.
    pub hosts: Option<BTreeSet<String>>,
    /// Variables it finds although they look like secrets or lead out.
    pub env: Option<BTreeSet<String>>,
    /// System calls it may make although most programs have no use for them.
    pub calls: Option<BTreeSet<Calls>>,
    /// What it may do with the caches of build tools. Without it: shared.
    pub cache: Option<Cache>,
    /// What it may use up.
    pub limits: SandboxLimits,
}

/// The least that must bound a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Floor {
    /// Landlock and a filter of system calls: neither loopback nor protected paths. A command a person runs by `holdpoint run`
    /// then goes on where there is no more; a call that is to be contained needs all of it.
    Landlock,
    /// Namespaces as well.
    #[default]
    Full,
}

/// System calls that are refused unless a policy gives them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Calls {
    /// Looking into its own processes, as debuggers and `strace` do.
    Ptrace,
}

/// What a contained command may do with the caches of build tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Cache {
    /// Use and fill them; what it leaves there the next build finds.
    #[default]
    Shared,
    /// Only use them.
    Readonly,
    /// It does not find them.
    None,
}

/// What a contained command may use up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct SandboxLimits {
    /// Seconds it may run.
    pub time: Option<u64>,
    /// Bytes all its processes may hold together, where the system can bound that.
    pub memory: Option<u64>,
    /// Processes and threads at once.
    pub processes: Option<u64>,
    /// Bytes a file may grow to.
    pub file_size: Option<u64>,
    /// Bytes each of its temporary directories may hold.
    pub temporary: Option<u64>,
    /// Bytes it may write to its standard output and error together.
    pub output: Option<u64>,
}

impl Sandbox {
    /// This section on top of a profile's: lists grow, single values are replaced.
    pub(super) fn joined(mut self, other: Self) -> Self {
        fn grown<T: Ord>(ours: &mut Option<BTreeSet<T>>, theirs: Option<BTreeSet<T>>) {
            if let Some(theirs) = theirs {
                ours.get_or_insert_default().extend(theirs);
            }
        }
        self.floor = other.floor.or(self.floor);
        self.cache = other.cache.or(self.cache);
        grown(&mut self.write, other.write);
        grown(&mut self.read, other.read);
        grown(&mut self.hosts, other.hosts);
        grown(&mut self.env, other.env);
        grown(&mut self.calls, other.calls);
        self.hide.extend(other.hide);
        self.protect.extend(other.protect);
        self.limits = SandboxLimits {
            time: other.limits.time.or(self.limits.time),
            processes: other.limits.processes.or(self.limits.processes),
            file_size: other.limits.file_size.or(self.limits.file_size),
            temporary: other.limits.temporary.or(self.limits.temporary),
            memory: other.limits.memory.or(self.limits.memory),
            output: other.limits.output.or(self.limits.output),
        };
        self
    }
}

impl Policy {
    /// What answers for what nobody can know: the first layer that says so decides, and those below only tighten.
    pub fn opaque(&self) -> OpaqueAnswer {
        let mut answer = OpaqueAnswer::default();
        let mut stated = false;
        for layer in self.layers() {
            let Some(wanted) = layer.opaque else { continue };
            answer = match stated || layer.trust == Trust::Untrusted {
                true => answer.max(wanted),
                false => wanted,
            };
            stated |= layer.trust == Trust::Trusted;
        }
        answer
    }

    /// Whether some layer that may speak wants the sandbox to answer for what nobody can know. Where none may, that is as
    /// without any file: `balanced` wants it, and a file nobody vouches for does not take it away.
    pub(crate) fn wants_unknown_contained(&self) -> bool {
        let trusted = |layer: &&Layer| layer.trust == Trust::Trusted;
        let mut layers = self.layers().iter().filter(trusted).peekable();
        layers.peek().is_none() || layers.any(|layer| layer.opaque == Some(OpaqueAnswer::Contain))
    }

    /// A list that gives: that of the highest layer that states one, and of it what everybody below states too.
    fn given<T: Ord + Clone>(
        &self,
        list: fn(&Sandbox) -> &Option<BTreeSet<T>>,
    ) -> Option<BTreeSet<T>> {
        let mut given: Option<BTreeSet<T>> = None;
        for layer in self.layers() {
            let Some(stated) = layer
                .sandbox
                .as_ref()
                .and_then(|section| list(section).as_ref())
            else {
                continue;
            };
            given = Some(match given {
                Some(above) => above.intersection(stated).cloned().collect(),
                None if layer.trust == Trust::Trusted => stated.clone(),
                None => BTreeSet::new(),
            });
        }
        given
    }

    /// What a contained command is given under all layers.
    pub fn sandbox(&self) -> Sandbox {
        let all = || {
            let layers = self.layers().iter();
            layers.filter_map(|layer| Some((layer, layer.sandbox.as_ref()?)))
        };
        let trusted = |layer: &Layer| layer.trust == Trust::Trusted;
        let every = |list: fn(&Sandbox) -> &BTreeSet<String>| {
            all()
                .flat_map(|(_, section)| list(section).iter().cloned())
                .collect()
        };
        let least = |limit: fn(&SandboxLimits) -> Option<u64>| {
            all()
                .filter_map(|(_, section)| limit(&section.limits))
                .min()
        };
        let floors = |by: bool| {
            let of = all().filter(move |(layer, _)| trusted(layer) == by);
            of.filter_map(|(_, section)| section.floor).max()
        };
        let floor = match (floors(true), floors(false)) {
            (Some(stated), other) => Some(other.map_or(stated, |other| other.max(stated))),
            (None, Some(other)) => Some(other.max(Floor::default())),
            (None, None) => None,
        };
        Sandbox {
            floor,
            write: self.given(|section| &section.write),
            read: self.given(|section| &section.read),
            hide: every(|section| &section.hide),
            protect: every(|section| &section.protect),
            hosts: self.given(|section| &section.hosts),
            env: self.given(|section| &section.env),
            calls: self.given(|section| &section.calls),
            cache: all().filter_map(|(_, section)| section.cache).max(),
            limits: SandboxLimits {
                time: least(|limits| limits.time),
                processes: least(|limits| limits.processes),
                file_size: least(|limits| limits.file_size),
                temporary: least(|limits| limits.temporary),
                memory: least(|limits| limits.memory),
                output: least(|limits| limits.output),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{Authority, Source};

    fn policy(layers: &[(Authority, Trust, &str)]) -> Policy {
        let sources = layers.iter().map(|(authority, trust, text)| Source {
            name: authority.as_str().into(),
            authority: *authority,
            trust: *trust,
            bytes: text.as_bytes().to_vec(),
        });
        Policy::compile(sources.collect()).unwrap()
    }

    fn names(list: Option<BTreeSet<String>>) -> Vec<String> {
        list.unwrap_or_default().into_iter().collect()
    }

    #[test]
    fn a_lower_layer_only_takes_away() {
        use Authority::{Managed, Project, User};
        let user = r#"{"sandbox":{"hosts":["a.example","b.example"],"write":["~/data"],"limits":{"time":60},"hide":["/a"]}}"#;
        let project = r#"{"sandbox":{"hosts":["b.example","c.example"],"floor":"landlock","cache":"none","limits":{"time":90,"processes":9},"hide":["/b"],"env":["TOKEN"],"calls":["ptrace"]}}"#;
        for trust in [Trust::Trusted, Trust::Untrusted] {
            let sandbox =
                policy(&[(User, Trust::Trusted, user), (Project, trust, project)]).sandbox();
            assert_eq!(names(sandbox.hosts), ["b.example"]);
            assert_eq!(names(sandbox.write), ["~/data"]);
            assert_eq!(sandbox.hide.len(), 2);
            assert_eq!(
                (sandbox.limits.time, sandbox.limits.processes),
                (Some(60), Some(9))
            );
            assert_eq!(sandbox.cache, Some(Cache::None));
            let untrusted = trust == Trust::Untrusted;
            assert_eq!(names(sandbox.env).is_empty(), untrusted);
            assert_eq!(sandbox.calls.is_some_and(|all| all.is_empty()), untrusted);
            assert_eq!(sandbox.floor == Some(Floor::Full), untrusted);
        }
        let managed = r#"{"sandbox":{"floor":"full","hosts":[]}}"#;
        let sandbox = policy(&[
            (Managed, Trust::Trusted, managed),
            (
                User,
                Trust::Trusted,
                r#"{"sandbox":{"floor":"landlock","hosts":["a.example"]}}"#,
            ),
        ])
        .sandbox();
        assert_eq!(sandbox.floor, Some(Floor::Full));
        assert!(names(sandbox.hosts).is_empty());
    }

    #[test]
    fn what_answers_for_the_unknown_is_the_first_word_and_then_the_strictest() {
        use Authority::{Managed, Project, User};
        let (contain, ask) = (r#"{"opaque":"contain"}"#, r#"{"opaque":"ask"}"#);
        let of = |layers: &[(Authority, Trust, &str)]| policy(layers).opaque();
        let plain = (User, Trust::Trusted, "{}");
        assert_eq!(of(&[]), OpaqueAnswer::Contain, "profile balanced");
        assert_eq!(of(&[plain]), OpaqueAnswer::Ask);
        assert_eq!(
            of(&[(User, Trust::Trusted, contain)]),
            OpaqueAnswer::Contain
        );
        assert_eq!(
            of(&[plain, (Project, Trust::Untrusted, contain)]),
            OpaqueAnswer::Ask
        );
        assert_eq!(
            of(&[
                (Managed, Trust::Trusted, ask),
                (User, Trust::Trusted, contain)
            ]),
            OpaqueAnswer::Ask
        );
        assert_eq!(
            of(&[
                (User, Trust::Trusted, contain),
                (Project, Trust::Untrusted, ask)
            ]),
            OpaqueAnswer::Ask
        );
    }

    #[test]
    fn nothing_at_all_is_no_floor() {
        let text = r#"{"sandbox":{"floor":"none"}}"#;
        let wrong = Policy::from_text("p", text).unwrap_err().to_string();
        assert!(wrong.contains("`landlock` or `full`"), "{wrong}");
    }

    #[test]
    fn an_unknown_key_is_told_with_the_nearest() {
        let wrong = Policy::from_text("p", "{\n  \"sandbox\": { \"host\": [] }\n}").unwrap_err();
        let text = wrong.to_string();
        assert!(text.contains("hosts") && text.contains('2'), "{text}");
    }
}
