//! The policy file as people write it: every key, its type, and nothing else.
//!
//! A superset of jaato's `permissions.json` (J-01). The JSON Schema that `holdpoint schema` prints
//! is derived from these types, so the file, its documentation and its reader cannot drift apart.
//! What a document *means* is worked out by `layer`.

use std::collections::BTreeMap;
use std::fmt;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};

use super::clauses::Clause;
use super::external::Externals;
use super::guards::Guards;
use super::injection::Injection;
use super::mode::Mode;
use super::network::Network;
use super::presence::PresenceByRisk;
use super::profile::Profile;
use super::redaction::Redaction;
use super::sandbox::{OpaqueAnswer, Sandbox};
use crate::catalogue::Effect;
use crate::facts::FactConditions;
use crate::rules::helping::check_tell;
use crate::verdict::{Autonomy, DefaultPolicy, Risk, Supervision};

/// A Holdpoint policy file.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Document {
    /// Where editors find the schema of this file.
    #[serde(rename = "$schema")]
    pub schema: Option<String>,
    /// The version of the format.
    pub version: Option<Version>,
    /// A ready-made policy this file adds to.
    pub profile: Option<Profile>,
    /// Whether calls are held to this policy. `observe` stops nothing but what would harm Holdpoint itself, and puts on
    /// record what would have been said. Counts only in the machine's file and in yours. Without it: enforce.
    pub mode: Option<Mode>,
    /// What happens to a call no rule speaks about. Without it, and without a profile: deny.
    pub default_policy: Option<DefaultPolicy>,
    /// Calls that never run.
    pub deny: Option<RuleList>,
    /// The same as `deny`.
    pub blacklist: Option<RuleList>,
    /// Calls a person is asked about.
    pub ask: Option<RuleList>,
    /// Calls that run without asking.
    pub allow: Option<RuleList>,
    /// The same as `allow`.
    pub whitelist: Option<RuleList>,
    /// Blunt checks on the text of commands and paths, before any rule.
    pub sanitization: Option<Sanitization>,
    /// How a person is asked.
    pub channel: Option<Channel>,
    /// On which terms a person is asked.
    pub approval: Option<Approval>,
    /// How far the agent may go by itself.
    pub autonomy: Option<Autonomy>,
    /// Rules for single tools, by name or glob (upper and lower case are the same here).
    #[serde(default)]
    pub tools: BTreeMap<String, ToolRules>,
    /// Rules for files and directories.
    pub files: Option<Files>,
    /// Rules for addresses on networks.
    pub network: Option<Network>,
    /// Rule packs.
    pub guards: Option<Guards>,
    /// What is taken out of everything that is written down or shown.
    pub redaction: Option<Redaction>,
    /// What is done about text that gives orders, hides something or holds secrets.
    pub injection: Option<Injection>,
    /// What a hook answers when it cannot judge a call. Without it: deny.
    #[serde(alias = "on_error")]
    pub on_error: Option<OnError>,
    /// How a hook says no, where the agent understands both. Without it: json. Counts only in the machine's file and in yours.
    pub reply: Option<ReplyForm>,
    /// The record of what was answered.
    pub ledger: Option<LedgerRules>,
    /// What answers where nobody can know before a command runs what it runs. Without it: ask.
    pub opaque: Option<OpaqueAnswer>,
    /// What a contained command is given.
    pub sandbox: Option<Sandbox>,
    /// Deciders outside of Holdpoint that are asked about calls and can only tighten. Count only in the machine's file and in
    /// yours.
    #[serde(default)]
    pub external: Externals,
}

/// The record of what was answered.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct LedgerRules {
    /// Which answers wait until their record is on the disk. Without it: risk.
    pub durability: Option<Durability>,
}

/// Which answers wait until their record is on the disk, so that even a loss of power leaves it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Durability {
    /// None: a record survives the end of a process, but perhaps not of power. Counts only in the
    /// machine's file and in yours.
    Never,
    /// Those that let a call run which may change something.
    #[default]
    Risk,
    /// All.
    Always,
}

/// The other spellings of the document's own keys, for the schema; the reader has them as aliases.
#[cfg(feature = "schema")]
pub(super) const DOCUMENT_ALIASES: &[(&str, &[&str])] = &[("onError", &["on_error"])];

/// What a hook answers when it cannot judge a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum OnError {
    /// Say nothing and write down why, so that the agent's own permission system decides. Counts
    /// only in the machine's file and in yours.
    Defer,
    /// Refuse it.
    Deny,
}

/// How a hook says no (H-01).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ReplyForm {
    /// In the agent's own JSON.
    #[default]
    Json,
    /// By exit code 2, with the reason on standard error.
    ExitCode,
}

/// The versions of the format this program reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub enum Version {
    /// The first version.
    #[serde(rename = "1.0")]
    One,
    /// Another spelling of the first version.
    #[serde(rename = "1")]
    OneShort,
}

/// A list of rules; a call matches the list if any rule of it matches.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(
    deny_unknown_fields,
    expecting = "an object; try: write {\"patterns\": [ … ]}"
)]
pub struct RuleList {
    /// Exact tool names.
    #[serde(default)]
    pub tools: Vec<String>,
    /// Globs over a command line, or over `tool(key=value, …)`.
    #[serde(default)]
    pub patterns: Vec<String>,
    /// For a tool and one of its arguments, values it starts with (and, in a deny list, contains).
    #[serde(default)]
    pub arguments: BTreeMap<String, BTreeMap<String, Vec<String>>>,
    /// What a call does. In `allow` all that it does must be named; in `ask` and `deny` one thing is enough.
    #[serde(default)]
    pub effects: Vec<Clause>,
}

/// Blunt checks on the text of commands and paths.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Sanitization {
    /// Whether any of this is done.
    pub enabled: bool,
    /// Refuse ``; | & ` $ ( ) { } < >`` and line breaks anywhere in a command.
    pub block_shell_metacharacters: bool,
    /// Refuse programs such as `sudo`, `rm`, `curl`, `kill`, `chmod`, `mount`.
    pub block_dangerous_commands: bool,
    /// Programs of that list that may run after all.
    pub allowed_dangerous_commands: Vec<String>,
    /// Further programs to refuse.
    pub custom_blocked_commands: Vec<String>,
    /// Keep paths inside some directories.
    pub path_scope: Option<PathScope>,
}

impl Default for Sanitization {
    fn default() -> Self {
        Self {
            enabled: false,
            block_shell_metacharacters: true,
            block_dangerous_commands: true,
            allowed_dangerous_commands: Vec::new(),
            custom_blocked_commands: Vec::new(),
            path_scope: None,
        }
    }
}

/// Keeps the paths of commands and file tools inside some directories.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct PathScope {
    /// Whether paths are checked at all.
    pub enabled: bool,
    /// The directories paths must lead into; relative ones start in the workspace.
    pub allowed_roots: Vec<String>,
    /// Refuse every absolute path.
    pub block_absolute: bool,
    /// Refuse every path with a `..` component.
    pub block_parent_traversal: bool,
    /// Accept `~`; the place it leads to must still be inside a root.
    pub allow_home: bool,
    /// Accept paths that lead into the temporary directory.
    pub allow_tmp: bool,
}

impl Default for PathScope {
    fn default() -> Self {
        Self {
            enabled: false,
            allowed_roots: vec![".".into()],
            block_absolute: true,
            block_parent_traversal: true,
            allow_home: false,
            allow_tmp: false,
        }
    }
}

/// How a person is asked.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(try_from = "ChannelText")]
pub struct Channel {
    /// Which channel.
    pub kind: ChannelKind,
    /// Its settings as written.
    pub settings: ChannelText,
}

/// The channels that can be named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ChannelKind {
    /// The terminal.
    Console,
    /// An HTTP endpoint.
    Webhook,
    /// Files in a directory.
    File,
    /// The approval daemon of this user (`holdpoint serve`).
    Daemon,
    /// The agent's own dialog.
    Agent,
}

/// What the endpoint of a webhook reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ChannelFormat {
    /// The question, which it answers.
    Holdpoint,
    /// A message of ntfy.
    Ntfy,
    /// A message of Slack.
    Slack,
    /// A card of Microsoft Teams.
    Teams,
}

/// The keys of `channel`; which of them are needed depends on `type`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ChannelText {
    /// `console`, `webhook`, `file`, `daemon` or `agent`; without it, `console`.
    #[serde(rename = "type")]
    pub kind: Option<ChannelKind>,
    /// Seconds to wait for an answer; 0 waits until there is one.
    pub timeout: Option<i64>,
    /// Where a webhook request is sent.
    pub endpoint: Option<String>,
    /// What a webhook's endpoint reads: `holdpoint` (without it), which answers, or `ntfy`, `slack` or `teams`, which are told
    /// that a call waits and where its page is: the daemon holds it.
    pub format: Option<ChannelFormat>,
    /// Whether such a message says what the call is: its tool, its first words and its directory. Without it: yes.
    pub details: Option<bool>,
    /// Further headers of a webhook request.
    pub headers: BTreeMap<String, Secret>,
    /// The bearer token of a webhook request. Without it: the variable `PERMISSION_WEBHOOK_TOKEN`.
    pub auth_token: Option<Secret>,
    /// A program that prints the bearer token: a secret store's own command, word by word.
    pub auth_token_command: Vec<String>,
    /// The key that signs the body of a webhook request. Without it: the variable
    /// `PERMISSION_WEBHOOK_SIGNING_KEY`, or no signature.
    pub signing_key: Option<Secret>,
    /// A file with the certificates (PEM) a webhook's server may show, in place of the public ones.
    pub ca_file: Option<String>,
    /// The directory of the file channel.
    pub base_path: Option<String>,
    /// Seconds between two looks at that directory.
    pub poll_interval: Option<f64>,
    /// Whether the console uses colour.
    pub use_colors: Option<bool>,
    /// Whether answers stay out of the terminal's history.
    pub skip_readline_history: Option<bool>,
}

impl Channel {
    /// The terminal, as it is without settings.
    pub fn console() -> Self {
        Self {
            kind: ChannelKind::Console,
            settings: ChannelText::default(),
        }
    }

    /// The service that is told of a call and cannot answer: what comes back from it proves nobody.
    pub fn only_tells(&self) -> Option<ChannelFormat> {
        let format = self
            .settings
            .format
            .filter(|format| *format != ChannelFormat::Holdpoint);
        format.filter(|_| self.kind == ChannelKind::Webhook)
    }
}

impl TryFrom<ChannelText> for Channel {
    type Error = &'static str;

    fn try_from(text: ChannelText) -> Result<Self, Self::Error> {
        let kind = text.kind.unwrap_or(ChannelKind::Console);
        match kind {
            ChannelKind::Console | ChannelKind::File | ChannelKind::Daemon | ChannelKind::Agent
                if text.format.is_some() || text.details.is_some() =>
            {
                Err("`format` and `details` belong to a webhook; try: \"type\": \"webhook\"")
            }
            ChannelKind::Webhook if text.endpoint.is_none() => {
                Err("a webhook channel needs `endpoint`; try: add the address requests are sent to")
            }
            ChannelKind::File if text.base_path.is_none() => {
                Err("a file channel needs `base_path`; try: add the directory for its files")
            }
            ChannelKind::Console
            | ChannelKind::Webhook
            | ChannelKind::File
            | ChannelKind::Daemon
            | ChannelKind::Agent => Ok(Self {
                kind,
                settings: text,
            }),
        }
    }
}

/// On which terms a person is asked.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct Approval {
    /// Seconds until a request that nobody answered is refused; 0 waits until somebody does.
    /// Without it: 300.
    pub deadline: Option<i64>,
    /// Seconds a hook waits for the answer before it tells the agent to come back. Without it: 300.
    /// The request stays open.
    pub wait: Option<u64>,
    /// What happens when the channel is the daemon and it does not run. Without it: deny.
    pub fallback: Option<Fallback>,
    /// Who may answer. Without it: whoever is signed in.
    pub approvers: Vec<String>,
    /// How many people must say yes. Without it: 1.
    pub required: Option<u32>,
    /// How sure it must be that a person was there who said yes: one level, or levels by risk. Without it: `terminal`, and
    /// `key` for high and critical risk as soon as somebody's key is pinned.
    pub presence: PresenceByRisk,
    /// Other terms for what single rules ask about, by the id of the rule or a glob.
    pub rules: BTreeMap<String, RuleTerms>,
}

/// The terms of one rule or one tool.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct RuleTerms {
    /// Seconds until a request that nobody answered is refused; 0 waits until somebody does.
    pub deadline: Option<i64>,
    /// Who may answer.
    pub approvers: Vec<String>,
    /// How many people must say yes.
    pub required: Option<u32>,
    /// How sure it must be that a person was there who said yes.
    pub presence: PresenceByRisk,
}

/// What happens when the daemon does not run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Fallback {
    /// The agent's own dialog asks.
    Agent,
    /// The terminal asks.
    Console,
    /// The call is refused.
    #[default]
    Deny,
}

/// A value that is never shown.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// The value, for the one place that needs it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[hidden]")
    }
}

/// One rule for a tool, or several with different conditions.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(untagged))]
pub enum ToolRules {
    /// No rule.
    #[default]
    #[cfg_attr(feature = "schema", schemars(skip))]
    None,
    /// One rule.
    One(Box<ToolRule>),
    /// Several; of those that apply, the highest priority speaks, the strictest among equals.
    Many(Vec<ToolRule>),
}

impl ToolRules {
    /// The rules as a slice.
    pub fn as_slice(&self) -> &[ToolRule] {
        match self {
            ToolRules::None => &[],
            ToolRules::One(rule) => std::slice::from_ref(rule),
            ToolRules::Many(rules) => rules,
        }
    }

    pub(super) fn as_mut_slice(&mut self) -> &mut [ToolRule] {
        match self {
            ToolRules::None => &mut [],
            ToolRules::One(rule) => std::slice::from_mut(rule.as_mut()),
            ToolRules::Many(rules) => rules,
        }
    }
}

impl<'de> Deserialize<'de> for ToolRules {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMany;
        impl<'de> Visitor<'de> for OneOrMany {
            type Value = ToolRules;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object (one rule) or an array of them")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ToolRules, A::Error> {
                ToolRule::deserialize(de::value::MapAccessDeserializer::new(map))
                    .map(|rule| ToolRules::One(Box::new(rule)))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<ToolRules, A::Error> {
                Vec::deserialize(de::value::SeqAccessDeserializer::new(seq)).map(ToolRules::Many)
            }
        }
        deserializer.deserialize_any(OneOrMany)
    }
}

/// A rule for one tool.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct ToolRule {
    /// How closely a person watches.
    #[serde(alias = "permission")]
    pub supervision: Option<Supervision>,
    /// How much harm a call could do.
    pub risk: Option<Risk>,
    /// Why; shown with the decision.
    pub reason: Option<String>,
    /// What the person reads, with `{argument}` in place of arguments.
    #[serde(alias = "confirmation_message", alias = "message")]
    pub confirmation_message: Option<String>,
    /// When the rule applies; without conditions, always. All of them must hold.
    pub conditions: Conditions,
    /// Limits on what the arguments may be; a call outside them is refused.
    pub restrictions: Vec<Restriction>,
    /// Checks to run before the call is released.
    #[serde(alias = "safety_checks", alias = "safetyChecks")]
    pub checks: Vec<Check>,
    /// What each argument must look like.
    #[serde(alias = "schema")]
    pub parameters: BTreeMap<String, Parameter>,
    /// Whether arguments that `parameters` does not name are accepted.
    #[serde(alias = "additional_parameters")]
    pub additional_parameters: Option<bool>,
    /// How many calls one session may make.
    #[serde(
        alias = "max_calls_per_session",
        alias = "maxCalls",
        alias = "max_calls"
    )]
    pub max_calls_per_session: Option<u64>,
    /// Among rules that apply, only those of the highest priority speak; a deny always does.
    pub priority: i64,
    /// Whether the rule is in force; without it, yes.
    pub enabled: Option<bool>,
    /// What the tool does, for a tool Holdpoint does not know.
    pub effect: Option<Effect>,
    /// What the model is told of a call that runs, with `{branch}`, `{worktree}`, `{ci}`, `{hostname}`, `{user}` and `{time}` filled
    /// in. Counts only in the machine's file and in yours.
    pub tell: Option<Tell>,
    /// The terms on which a person is asked about it.
    pub approval: Option<RuleTerms>,
    /// The arguments a person may change before they say yes. Without it: the command, the path
    /// and the text of tools Holdpoint knows.
    pub editable: Option<Vec<String>>,
}

/// What a model is told: one line.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(try_from = "String")]
pub struct Tell(pub(super) String);

impl TryFrom<String> for Tell {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match check_tell(&text) {
            Ok(()) => Ok(Self(text)),
            Err(problem) => Err(format!("{problem}; try: write \"You are on {{branch}}\"")),
        }
    }
}

/// The other spellings of a rule's keys, for the schema; the reader has them as aliases.
#[cfg(feature = "schema")]
pub(super) const TOOL_RULE_ALIASES: &[(&str, &[&str])] = &[
    ("supervision", &["permission"]),
    ("confirmationMessage", &["confirmation_message", "message"]),
    ("checks", &["safety_checks", "safetyChecks"]),
    ("parameters", &["schema"]),
    ("additionalParameters", &["additional_parameters"]),
    (
        "maxCallsPerSession",
        &["max_calls_per_session", "maxCalls", "max_calls"],
    ),
];

/// Conditions that must all hold: one object, or an array of them.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Conditions(pub Vec<Condition>);

impl<'de> Deserialize<'de> for Conditions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMany;
        impl<'de> Visitor<'de> for OneOrMany {
            type Value = Conditions;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object or an array of them")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Conditions, A::Error> {
                Condition::deserialize(de::value::MapAccessDeserializer::new(map))
                    .map(|condition| Conditions(vec![condition]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Conditions, A::Error> {
                Vec::deserialize(de::value::SeqAccessDeserializer::new(seq)).map(Conditions)
            }
        }
        deserializer.deserialize_any(OneOrMany)
    }
}

/// A condition on a call; every key given must hold.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Condition {
    /// A glob over one command of the line.
    pub command_matches: Option<String>,
    /// Words one command of the line starts with.
    pub command_starts_with: Option<String>,
    /// A glob over a path argument, as written or as resolved.
    pub path_matches: Option<String>,
    /// What must be so besides: branch, worktree, build server, machine, user, time, files.
    pub facts: Option<FactConditions>,
}

/// A limit on arguments.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Restriction {
    /// Paths that must not be named; see `files` for the pattern language.
    PathPattern {
        /// The patterns.
        deny: Vec<String>,
    },
    /// The most bytes any one text argument may have.
    SizeLimit {
        /// The limit.
        max_bytes: u64,
    },
    /// The schemes an address may have.
    UrlScheme {
        /// The schemes, such as `https`.
        allow: Vec<String>,
    },
}

/// The checks a rule may ask for. They run when a call is released, not when it is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Check {
    /// Keep a copy of what would change.
    Backup,
    /// Enough room on the disk.
    DiskSpace,
    /// The target can be written.
    Permission,
    /// The content is not too large.
    SizeLimit,
    /// No secrets in the content.
    SensitiveData,
    /// The command can be read and is not destructive.
    CommandValidator,
    /// A sandbox is available.
    SandboxCheck,
}

/// What one argument must look like (O-25).
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, default, rename_all = "snake_case")]
pub struct Parameter {
    /// Its type.
    #[serde(rename = "type")]
    pub kind: Option<ParameterType>,
    /// The fewest characters a text may have.
    #[serde(alias = "minLength")]
    pub min_length: Option<u64>,
    /// The most characters a text may have.
    #[serde(alias = "maxLength")]
    pub max_length: Option<u64>,
    /// A regular expression found in the text; anchor it with `^` and `$`.
    pub pattern: Option<Pattern>,
    /// The only values accepted.
    #[serde(rename = "enum")]
    pub one_of: Option<Vec<serde_json::Value>>,
    /// The smallest number accepted.
    pub minimum: Option<f64>,
    /// The largest number accepted.
    pub maximum: Option<f64>,
    /// Whether the argument must be given.
    pub required: bool,
}

/// The other spellings of a parameter's keys, for the schema.
#[cfg(feature = "schema")]
pub(super) const PARAMETER_ALIASES: &[(&str, &[&str])] = &[
    ("min_length", &["minLength"]),
    ("max_length", &["maxLength"]),
];

/// The types an argument may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ParameterType {
    /// Text.
    String,
    /// A number.
    Number,
    /// A number without a fraction.
    Integer,
    /// True or false.
    Boolean,
    /// A list.
    Array,
    /// An object.
    Object,
}

/// A regular expression that compiles.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(with = "String"))]
pub struct Pattern(pub regex_lite::Regex);

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_str() == other.0.as_str()
    }
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        regex_lite::RegexBuilder::new(&text)
            .size_limit(1 << 20)
            .build()
            .map(Pattern)
            .map_err(|error| {
                let error = error.to_string();
                let problem = error.strip_prefix("found ").unwrap_or(&error);
                de::Error::custom(format_args!(
                    "is not a regular expression ({problem}); try: escape special characters with `\\\\`"
                ))
            })
    }
}

/// Rules for files and directories, for every tool that names one.
///
/// A pattern without `/` matches any component of a path; one with `/` matches the whole resolved
/// path. A pattern starting with `!` makes an exception to those before it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Files {
    /// The only directories paths may lead into; relative ones start in the workspace.
    pub roots: Vec<String>,
    /// Directories nothing may touch. One that contains the workspace does not apply inside it.
    pub blocked: Vec<String>,
    /// Rules for reading.
    pub read: FileRules,
    /// Rules for creating and changing.
    pub write: FileRules,
    /// Rules for removing.
    pub delete: FileRules,
}

/// Patterns by verdict.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct FileRules {
    /// Never.
    pub deny: Vec<String>,
    /// Ask a person.
    pub ask: Vec<String>,
    /// Without asking, where nothing else objects.
    pub allow: Vec<String>,
}
