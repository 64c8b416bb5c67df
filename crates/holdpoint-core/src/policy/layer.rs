//! Policy files in force, from the highest authority to the lowest.
//!
//! Every layer may tighten. None loosens a layer above it: a default of the managed layer holds
//! against allow rules below, and a project file nobody trusts has no allow rules at all.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::document::{
    Approval, Channel, Document, Durability, Files, OnError, ReplyForm, RuleList, ToolRules,
};
use super::external::External;
use super::files::FileGuard;
use super::guards::Guards;
use super::injection::Injection;
use super::mode::Mode;
use super::network::Network;
use super::packs::Owner;
use super::profile::Profile;
use super::redaction::Redaction;
use super::rules::Rules;
use super::sandbox::{OpaqueAnswer, Sandbox};
use super::sanitizer::Sanitizer;
use super::tool_rules::ToolTable;
use crate::call::{digest_of, hex_digest};
use crate::document::{self, DocumentError};
use crate::rules::Pack;
use crate::verdict::{Autonomy, DefaultPolicy, Supervision};

/// Who wrote a layer, from the highest authority down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Authority {
    /// Whoever runs the machine.
    Managed,
    /// The person whose agent it is.
    User,
    /// Whoever wrote the project.
    Project,
}

impl Authority {
    /// The word used in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Authority::Managed => "managed",
            Authority::User => "user",
            Authority::Project => "project",
        }
    }
}

/// Whether a file's owner has vouched for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Trust {
    /// It may allow.
    Trusted,
    /// It may only tighten.
    Untrusted,
}

/// The text of a policy file and where it stands.
#[derive(Clone, Debug)]
pub struct Source {
    /// How messages call it: a path, or `--config`.
    pub name: String,
    /// Whose it is.
    pub authority: Authority,
    /// Whether it may allow.
    pub trust: Trust,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// One policy file, compiled.
#[derive(Clone, Debug)]
pub struct Layer {
    /// How messages call it.
    pub name: String,
    /// Whose it is.
    pub authority: Authority,
    /// Whether it may allow.
    pub trust: Trust,
    /// `sha256:…` of the file.
    pub digest: String,
    /// The profile it extends.
    pub profile: Option<Profile>,
    /// Whether it wants to be held to, if it says.
    pub mode: Option<Mode>,
    /// The default it states.
    pub default: Option<DefaultPolicy>,
    /// The line that states it: of `defaultPolicy`, else of the profile that does.
    pub default_line: Option<usize>,
    /// The autonomy it states.
    pub autonomy: Option<Autonomy>,
    /// What it wants answered when a call cannot be judged.
    pub on_error: Option<OnError>,
    /// How it wants a hook to say no.
    pub reply: Option<ReplyForm>,
    /// Which answers it wants to wait for the disk.
    pub durability: Option<Durability>,
    /// How it wants a person asked.
    pub channel: Option<Channel>,
    /// On which terms it wants a person asked.
    pub approval: Option<Approval>,
    /// What it refuses, as written.
    pub deny_list: RuleList,
    /// What it asks about, as written.
    pub ask_list: RuleList,
    /// What it allows, as written; empty for a file nobody trusts.
    pub allow_list: RuleList,
    pub(crate) deny: Rules,
    pub(crate) ask: Rules,
    pub(crate) allow: Rules,
    pub(crate) tools: ToolTable,
    pub(crate) sanitizer: Option<Sanitizer>,
    pub(crate) files: FileGuard,
    pub(crate) network: Option<Network>,
    pub(crate) guards: Option<Guards>,
    pub(crate) redaction: Option<Redaction>,
    pub(crate) injection: Option<Injection>,
    pub(crate) opaque: Option<OpaqueAnswer>,
    pub(crate) sandbox: Option<Sandbox>,
    /// Deciders outside that are asked.
    pub(crate) external: Vec<External>,
}

impl Layer {
    fn compile(source: &Source) -> Result<Self, DocumentError> {
        let keys = ["defaultPolicy", "profile"];
        let (document, [default_line, profile_line]) =
            document::read_with_lines::<Document, 2>(&source.name, &source.bytes, keys)?;
        let document = document.with_profile()?;
        let trusted = source.trust == Trust::Trusted;
        let deny_list = joined(&document.deny, &document.blacklist);
        let ask_list = document.ask.clone().unwrap_or_default();
        let mut allow_list = RuleList::default();
        let mut files = document.files.clone().unwrap_or_default();
        let mut tools = document.tools;
        let mut network = document.network;
        // What a repository says must not start programs or send anything anywhere.
        let external = match source.authority {
            Authority::Managed | Authority::User => document.external.0,
            Authority::Project => Vec::new(),
        };
        for program in external.iter().filter_map(|one| one.command.first()) {
            // Whoever decides is not for an agent to change.
            files.write.deny.push(program.clone());
            files.delete.deny.push(program.clone());
        }
        if let Some(channel) = document.channel.as_ref().filter(|_| trusted) {
            protect(channel, &mut files);
        }
        if trusted {
            allow_list = joined(&document.allow, &document.whitelist);
        } else {
            tools.values_mut().for_each(only_tighten);
            if let Some(network) = &mut network {
                network.allow.clear();
            }
            for rules in [&mut files.read, &mut files.write, &mut files.delete] {
                rules.allow.clear();
            }
        }
        if source.authority == Authority::Project {
            // What a model reads beside a result is not for a repository to say.
            let rules = tools.values_mut().flat_map(ToolRules::as_mut_slice);
            rules.for_each(|rule| rule.tell = None);
        }
        Ok(Self {
            name: source.name.clone(),
            authority: source.authority,
            trust: source.trust,
            digest: digest_of(&source.bytes),
            profile: document.profile,
            mode: document.mode,
            default: document.default_policy,
            default_line: default_line.or(profile_line),
            autonomy: document.autonomy,
            on_error: document.on_error,
            reply: document.reply,
            durability: document.ledger.and_then(|ledger| ledger.durability),
            // Who is asked is not for somebody else's file to say.
            channel: document.channel.filter(|_| trusted),
            approval: document.approval,
            deny: Rules::new([&deny_list]),
            ask: Rules::new([&ask_list]),
            allow: Rules::new([&allow_list]),
            deny_list,
            ask_list,
            allow_list,
            tools: ToolTable::new(&tools),
            sanitizer: document.sanitization.as_ref().and_then(Sanitizer::new),
            files: FileGuard::new(&files),
            network,
            guards: document.guards,
            redaction: document.redaction,
            injection: document.injection,
            opaque: document.opaque,
            sandbox: document.sandbox,
            external,
        })
    }

    /// The files with packs it loads, as written.
    pub fn pack_files(&self) -> &[String] {
        self.guards.as_ref().map_or(&[], |guards| &guards.load)
    }

    /// Whether the layer says what happens when no rule matches.
    pub fn states_default(&self) -> bool {
        self.default.is_some() || self.autonomy.is_some()
    }

    /// Whether it is no file but the profile that holds where nobody wrote one.
    pub fn is_built_in(&self) -> bool {
        self.name == Source::name_of_profile(Profile::Balanced)
    }

    fn wants_supervision(&self) -> bool {
        self.autonomy == Some(Autonomy::Supervised)
    }
}

/// Keeps an agent from answering in the place of a person: what the file channel reads, and whom a
/// webhook believes, is not for it to write.
fn protect(channel: &Channel, files: &mut Files) {
    let settings = &channel.settings;
    for path in [&settings.base_path, &settings.ca_file]
        .into_iter()
        .flatten()
    {
        files.write.deny.push(path.clone());
        files.delete.deny.push(path.clone());
    }
}

fn joined(one: &Option<RuleList>, other: &Option<RuleList>) -> RuleList {
    let mut list = one.clone().unwrap_or_default();
    list.extend(other.clone().unwrap_or_default());
    list
}

/// Takes from a rule what would loosen: an agent's project may ask for more care, never for less.
fn only_tighten(rules: &mut ToolRules) {
    for rule in rules.as_mut_slice() {
        rule.effect = None;
        if matches!(
            rule.supervision,
            Some(Supervision::Automatic | Supervision::Notify)
        ) {
            rule.supervision = None;
        }
    }
}

/// The layers in force, from the highest authority to the lowest.
#[derive(Clone, Debug)]
pub struct Policy {
    pub(super) layers: Vec<Layer>,
    pub(super) digest: String,
    mode: Mode,
    standing: Standing,
    floor: Option<Standing>,
    pub(super) packs: Vec<Pack>,
    pub(super) owners: Vec<Owner>,
}

/// What happens to a call no rule speaks about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The default in force; none where an autonomy alone decides.
    pub default: Option<DefaultPolicy>,
    /// Whether a layer states the default; otherwise it is what a silent policy means (J-02).
    pub stated: bool,
    /// The number of the layer the default comes from: that states it, or that is silent.
    pub layer: Option<usize>,
    /// The tightest autonomy any layer states.
    pub autonomy: Option<Autonomy>,
    /// Whether a layer wants supervision. A tighter autonomy of another does not take its place: what
    /// that one lets run is still to be asked about.
    pub supervised: bool,
}

impl Policy {
    /// Compiles the given files. Without one of the machine's or the user's, the `balanced` profile stands in
    /// its place, unless a trusted project says itself what happens to calls no rule speaks about: a
    /// project's file adds to what holds without it.
    pub fn compile(mut sources: Vec<Source>) -> Result<Self, DocumentError> {
        sources.sort_by_key(|source| source.authority);
        let mut layers = Vec::with_capacity(sources.len().max(1));
        for source in &sources {
            layers.push(Layer::compile(source)?);
        }
        let speaks = |layer: &Layer| match layer.authority {
            Authority::Managed | Authority::User => true,
            Authority::Project => layer.trust == Trust::Trusted && layer.states_default(),
        };
        if !layers.iter().any(speaks) {
            layers.insert(0, Layer::compile(&Source::profile(Profile::Balanced))?);
        }
        Ok(Self::of_layers(layers))
    }

    fn of_layers(layers: Vec<Layer>) -> Self {
        Self {
            digest: digest(&layers),
            mode: Mode::of_layers(&layers),
            standing: Standing::from_layers(&layers),
            floor: Standing::managed(&layers),
            layers,
            packs: Vec::new(),
            owners: Vec::new(),
        }
    }

    /// The same policy with one more file, to see what it would change. A file that speaks first among those of its
    /// authority, as if its owner had written it into theirs.
    pub fn with_further(&self, source: &Source) -> Result<Self, DocumentError> {
        let mut layers = vec![Layer::compile(source)?];
        layers.extend(self.layers.iter().cloned());
        layers.sort_by_key(|layer| layer.authority);
        Ok(Self {
            packs: self.packs.clone(),
            owners: self.owners.clone(),
            ..Self::of_layers(layers)
        })
    }

    /// Further directories of generated files, of layers that may say so.
    pub(crate) fn generated(&self) -> Vec<String> {
        let trusted = self
            .layers
            .iter()
            .filter(|layer| layer.trust == Trust::Trusted);
        trusted
            .filter_map(|layer| layer.guards.as_ref())
            .flat_map(|guards| guards.generated.iter().cloned())
            .collect()
    }

    /// One file and nothing else, as if its owner had named it.
    pub fn from_text(name: &str, text: impl Into<Vec<u8>>) -> Result<Self, DocumentError> {
        Self::compile(vec![Source {
            name: name.into(),
            authority: Authority::User,
            trust: Trust::Trusted,
            bytes: text.into(),
        }])
    }

    /// A ready-made policy.
    pub fn profile(profile: Profile) -> Result<Self, DocumentError> {
        Self::compile(vec![Source::profile(profile)])
    }

    /// The layers, from the highest authority to the lowest.
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// `sha256:…` over everything that can change a decision: the policy's version.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// Whether calls are held to it.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The same policy, held to.
    #[must_use]
    pub fn enforced(self) -> Self {
        Self {
            mode: Mode::Enforce,
            ..self
        }
    }

    /// What happens to a call no rule speaks about.
    pub fn standing(&self) -> &Standing {
        &self.standing
    }

    /// What the managed layer says of such a call, which no rule below it loosens.
    pub fn floor(&self) -> Option<&Standing> {
        self.floor.as_ref()
    }

    /// What a hook answers when it cannot judge a call: the strictest word of any layer. A project
    /// never says `defer`, whoever trusts it: its agent could then break what it does not like. Where calls are only
    /// observed, one that cannot be is let go.
    pub fn on_error(&self) -> OnError {
        if self.mode == Mode::Observe {
            return OnError::Defer;
        }
        self.layers
            .iter()
            .filter_map(|layer| match (layer.on_error?, layer.authority) {
                (OnError::Defer, Authority::Project) => None,
                (stated, _) => Some(stated),
            })
            .max()
            .unwrap_or(OnError::Deny)
    }

    /// How a hook says no, where its agent understands both: the word of the machine's file, else of the user's. Both are a no.
    pub fn reply(&self) -> ReplyForm {
        let mut layers = self.layers.iter();
        let stated = layers.find_map(|layer| match layer.authority {
            Authority::Project => None,
            Authority::Managed | Authority::User => layer.reply,
        });
        stated.unwrap_or_default()
    }

    /// Which answers wait for the disk: the strictest word of any layer. A project never says
    /// `never`.
    pub fn durability(&self) -> Durability {
        self.layers
            .iter()
            .filter_map(|layer| match (layer.durability?, layer.authority) {
                (Durability::Never, Authority::Project) => None,
                (stated, _) => Some(stated),
            })
            .max()
            .unwrap_or_default()
    }

    /// Whether any layer limits how often `tool` is called, so that calls must be counted.
    pub fn limits_calls(&self, tool: &str) -> bool {
        self.layers
            .iter()
            .any(|layer| layer.tools.limits_calls(tool))
    }
}

impl Source {
    fn name_of_profile(profile: Profile) -> String {
        format!("profile `{}`", profile.name())
    }

    fn profile(profile: Profile) -> Self {
        Self {
            name: Self::name_of_profile(profile),
            authority: Authority::User,
            trust: Trust::Trusted,
            bytes: profile.text().into(),
        }
    }
}

fn digest(layers: &[Layer]) -> String {
    let mut hasher = Sha256::new();
    for layer in layers {
        hasher.update(layer.authority.as_str());
        hasher.update(match layer.trust {
            Trust::Trusted => " trusted ",
            Trust::Untrusted => " untrusted ",
        });
        hasher.update(&layer.digest);
        if let Some(profile) = layer.profile {
            hasher.update(" on ");
            hasher.update(digest_of(profile.text().as_bytes()));
        }
        hasher.update("\n");
    }
    hex_digest(hasher)
}

impl Standing {
    fn from_layers(layers: &[Layer]) -> Self {
        let (trusted, untrusted): (Vec<&Layer>, Vec<&Layer>) = layers
            .iter()
            .partition(|layer| layer.trust == Trust::Trusted);
        let strictest = |layers: &[&Layer]| layers.iter().filter_map(|layer| layer.default).max();
        let base = strictest(&trusted);
        let claimed = strictest(&untrusted);
        let autonomy_decides = trusted.iter().any(|layer| layer.autonomy.is_some());
        let stated = base.is_some() || autonomy_decides;
        // A claim nobody vouches for tightens what stands; `Allow` is below every default.
        let default = match (base, claimed) {
            (Some(base), claimed) => Some(claimed.map_or(base, |claimed| claimed.max(base))),
            (None, claimed) if autonomy_decides => claimed,
            (None, _) => Some(DefaultPolicy::Deny),
        };
        // A project's silence says nothing, so it is never what denies.
        let silent = |layer: &Layer| layer.authority != Authority::Project;
        Self {
            default,
            stated,
            layer: match stated || claimed == default {
                true => layers
                    .iter()
                    .position(|layer| layer.default.is_some() && layer.default == default),
                false => layers.iter().position(silent),
            },
            autonomy: layers.iter().filter_map(|layer| layer.autonomy).max(),
            supervised: layers.iter().any(Layer::wants_supervision),
        }
    }

    fn managed(layers: &[Layer]) -> Option<Self> {
        let managed = || {
            layers
                .iter()
                .filter(|layer| layer.authority == Authority::Managed)
        };
        let default = managed().filter_map(|layer| layer.default).max();
        managed().any(Layer::states_default).then(|| Self {
            default,
            stated: true,
            // Those of the managed layer come first.
            layer: managed().position(|layer| layer.default.is_some() && layer.default == default),
            autonomy: managed().filter_map(|layer| layer.autonomy).max(),
            supervised: managed().any(Layer::wants_supervision),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(authority: Authority, trust: Trust, text: &str) -> Source {
        Source {
            name: "test".into(),
            authority,
            trust,
            bytes: text.into(),
        }
    }

    fn default_of(sources: Vec<Source>) -> DefaultPolicy {
        Policy::compile(sources)
            .unwrap()
            .standing()
            .default
            .unwrap()
    }

    #[test]
    fn without_any_file_nothing_is_objected_to() {
        assert_eq!(default_of(vec![]), DefaultPolicy::Defer);
    }

    #[test]
    fn a_policy_that_states_no_default_denies() {
        let silent = || source(Authority::User, Trust::Trusted, "{}");
        assert_eq!(default_of(vec![silent()]), DefaultPolicy::Deny);
        let asks = source(
            Authority::Managed,
            Trust::Trusted,
            r#"{"defaultPolicy":"ask"}"#,
        );
        assert_eq!(default_of(vec![silent(), asks]), DefaultPolicy::Ask);
    }

    #[test]
    fn a_projects_file_that_states_no_default_says_nothing_about_it() {
        let project = |trust| source(Authority::Project, trust, r#"{"deny":{"tools":["T"]}}"#);
        for trust in [Trust::Trusted, Trust::Untrusted] {
            assert_eq!(default_of(vec![project(trust)]), DefaultPolicy::Defer);
            let policy = Policy::compile(vec![project(trust)]).unwrap();
            let names: Vec<&str> = policy
                .layers()
                .iter()
                .map(|one| one.name.as_str())
                .collect();
            assert_eq!(names, ["profile `balanced`", "test"]);
            let silent = source(Authority::User, Trust::Trusted, "{}");
            assert_eq!(
                default_of(vec![silent, project(trust)]),
                DefaultPolicy::Deny
            );
            let asks = source(
                Authority::User,
                Trust::Trusted,
                r#"{"defaultPolicy":"ask"}"#,
            );
            assert_eq!(default_of(vec![asks, project(trust)]), DefaultPolicy::Ask);
        }
        // One that does, and is trusted, speaks for itself.
        let allows = source(
            Authority::Project,
            Trust::Trusted,
            r#"{"defaultPolicy":"allow"}"#,
        );
        assert_eq!(default_of(vec![allows]), DefaultPolicy::Allow);
    }

    #[test]
    fn it_is_known_which_line_states_the_default() {
        let place = |sources: Vec<Source>| {
            let policy = Policy::compile(sources).unwrap();
            let layer = policy.standing().layer.map(|at| &policy.layers()[at]);
            layer.map(|layer| (layer.authority, layer.default_line))
        };
        let user = |text| source(Authority::User, Trust::Trusted, text);
        let project = |text| source(Authority::Project, Trust::Untrusted, text);
        let asks = "{\n  // \"defaultPolicy\"\n  \"defaultPolicy\": \"ask\"\n}";
        assert_eq!(place(vec![user(asks)]), Some((Authority::User, Some(3))));
        let strict = "{\n\"profile\": \"strict\"}";
        assert_eq!(place(vec![user(strict)]), Some((Authority::User, Some(2))));
        assert_eq!(place(vec![user("{}")]), Some((Authority::User, None)));
        assert_eq!(
            place(vec![user(asks), project(r#"{"defaultPolicy":"deny"}"#)]),
            Some((Authority::Project, Some(1)))
        );
    }

    #[test]
    fn an_untrusted_default_only_tightens() {
        let untrusted = |text| source(Authority::Project, Trust::Untrusted, text);
        assert_eq!(
            default_of(vec![untrusted(r#"{"defaultPolicy":"allow"}"#)]),
            DefaultPolicy::Defer
        );
        assert_eq!(
            default_of(vec![untrusted(r#"{"defaultPolicy":"deny"}"#)]),
            DefaultPolicy::Deny
        );
        assert_eq!(
            default_of(vec![
                source(Authority::User, Trust::Trusted, "{}"),
                untrusted(r#"{"defaultPolicy":"allow"}"#)
            ]),
            DefaultPolicy::Deny
        );
    }

    #[test]
    fn a_project_may_want_records_kept_more_surely_but_not_less() {
        let of = |layers: &[(Authority, &str)]| {
            let sources = layers
                .iter()
                .map(|(authority, word)| {
                    let text = format!(r#"{{"ledger":{{"durability":"{word}"}}}}"#);
                    source(*authority, Trust::Trusted, &text)
                })
                .collect();
            Policy::compile(sources).unwrap().durability()
        };
        use Authority::{Managed, Project, User};
        assert_eq!(of(&[]), Durability::Risk);
        assert_eq!(of(&[(User, "never")]), Durability::Never);
        assert_eq!(of(&[(Project, "never")]), Durability::Risk);
        assert_eq!(
            of(&[(User, "never"), (Project, "always")]),
            Durability::Always
        );
        assert_eq!(of(&[(Managed, "risk"), (User, "never")]), Durability::Risk);
    }

    #[test]
    fn an_error_is_deferred_only_if_the_machine_or_its_user_says_so() {
        let defers = r#"{"onError":"defer"}"#;
        let denies = r#"{"on_error":"deny"}"#;
        let of = |layers: &[(Authority, &str)]| {
            let sources = layers
                .iter()
                .map(|(authority, text)| source(*authority, Trust::Trusted, text))
                .collect();
            Policy::compile(sources).unwrap().on_error()
        };
        use Authority::{Managed, Project, User};
        assert_eq!(of(&[]), OnError::Deny);
        assert_eq!(of(&[(User, "{}")]), OnError::Deny);
        assert_eq!(of(&[(User, defers)]), OnError::Defer);
        assert_eq!(of(&[(Managed, defers), (User, "{}")]), OnError::Defer);
        assert_eq!(of(&[(Project, defers)]), OnError::Deny);
        assert_eq!(of(&[(Managed, denies), (User, defers)]), OnError::Deny);
        assert_eq!(of(&[(User, defers), (Project, denies)]), OnError::Deny);
    }

    #[test]
    fn the_directory_in_which_people_answer_is_not_for_an_agent_to_write() {
        use crate::paths::{NoLinks, Surroundings};
        use crate::{Session, ToolCall, Verdict, judge_call};
        let policy = Policy::from_text(
            "p",
            r#"{"defaultPolicy":"allow","channel":{"type":"file","base_path":"/srv/approvals"}}"#,
        )
        .unwrap();
        let around = Surroundings {
            workspace: Some("/ws"),
            directory: None,
            home: None,
            lookup: &NoLinks,
            can_contain: false,
        };
        let of = |call: &ToolCall| judge_call(call, &policy, &Session::default(), &around).verdict;
        let shell = |line: &str| of(&ToolCall::shell(line));
        let deny = Verdict::Deny;
        assert_eq!(shell("echo '{}' > /srv/approvals/responses/x.json"), deny);
        assert_eq!(shell("mv x /srv/approvals/responses/x.json"), deny);
        assert_eq!(shell("rm -r /srv/approvals"), deny);
        assert_eq!(shell("ls /srv/approvals/requests"), Verdict::Allow);
        let write = ToolCall::new(
            "Write",
            serde_json::json!({"file_path": "/srv/approvals/responses/x.json", "content": "{}"}),
        );
        assert_eq!(of(&write.unwrap()), deny);
    }

    #[test]
    fn the_policys_version_changes_with_any_layer() {
        let one = Policy::from_text("a", r#"{"defaultPolicy":"ask"}"#).unwrap();
        let two = Policy::from_text("b", r#"{"defaultPolicy":"ask"}"#).unwrap();
        let three = Policy::from_text("a", r#"{"defaultPolicy":"deny"}"#).unwrap();
        assert_eq!(one.digest(), two.digest());
        assert_ne!(one.digest(), three.digest());
    }
}
