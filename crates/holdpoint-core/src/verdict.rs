//! The words of a judgement: verdict, risk, method, and the names policies use for them.
//!
//! There is one lattice, `allow < notify < contain < ask < review < deny`, and the strictest
//! word wins by `max`. The seed systems' own words (automatic, restricted, forbidden …) are spellings of it.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What may happen to a call, from the most permissive to the strictest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
#[must_use]
pub enum Verdict {
    /// Run it.
    Allow,
    /// Run it and tell the person.
    Notify,
    /// Run it inside the sandbox, and nowhere else.
    Contain,
    /// Hold it until a person says yes.
    Ask,
    /// Hold it until a person has read it and says so in words.
    Review,
    /// Never run it.
    Deny,
}

impl Verdict {
    /// The verdict of a word.
    pub fn from_word(word: &str) -> Option<Self> {
        [
            Verdict::Allow,
            Verdict::Notify,
            Verdict::Contain,
            Verdict::Ask,
            Verdict::Review,
            Verdict::Deny,
        ]
        .into_iter()
        .find(|verdict| verdict.as_str() == word)
    }

    /// The word used in output and in policies.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Allow => "allow",
            Verdict::Notify => "notify",
            Verdict::Contain => "contain",
            Verdict::Ask => "ask",
            Verdict::Review => "review",
            Verdict::Deny => "deny",
        }
    }

    /// Whether the call may run as it is without anybody answering. One that is contained may not: whoever takes it for
    /// allowed would run it outside the sandbox.
    pub fn runs(self) -> bool {
        self <= Verdict::Notify
    }
}

/// How much harm a call could do; the highest of its parts counts.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Risk {
    /// Nothing outside the conversation changes.
    #[default]
    None,
    /// Looks at things.
    Low,
    /// Changes things that can be changed back.
    Medium,
    /// May lose work or reach outside.
    High,
    /// May do harm that cannot be undone.
    Critical,
}

impl Risk {
    /// The risk of a word.
    pub fn from_word(word: &str) -> Option<Self> {
        [
            Risk::None,
            Risk::Low,
            Risk::Medium,
            Risk::High,
            Risk::Critical,
        ]
        .into_iter()
        .find(|risk| risk.as_str() == word)
    }

    /// The word used in output and in policies.
    pub fn as_str(self) -> &'static str {
        match self {
            Risk::None => "none",
            Risk::Low => "low",
            Risk::Medium => "medium",
            Risk::High => "high",
            Risk::Critical => "critical",
        }
    }
}

/// How a decision came about (J-57 and `design.md`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// A rule of an allow list.
    Whitelist,
    /// A rule of a deny list.
    Blacklist,
    /// A session allow rule.
    SessionWhitelist,
    /// A session deny rule.
    SessionBlacklist,
    /// Prompts are off for the whole session.
    AllowAll,
    /// Prompts are off until the turn ends.
    TurnSuspension,
    /// Prompts are off until the session is idle.
    IdleSuspension,
    /// No rule matched; the default policy spoke.
    Default,
    /// The sanitizer refused the text of a command or path.
    Sanitization,
    /// What the command would run cannot be known.
    Guard,
    /// A rule about files and directories.
    FileGuard,
    /// Holdpoint's own files, settings and processes.
    SelfProtection,
    /// The autonomy level.
    Autonomy,
    /// An ask rule or a per-tool rule: supervision, argument schema, call limit, restriction.
    ToolPolicy,
    /// A text the session was shown gave orders.
    Injection,
    /// A person has stopped the session, the agent or everything.
    Stopped,
    /// Nothing matched and the default is to stay out of the way.
    NoObjection,
    /// A person said yes.
    UserApproved,
    /// A person said no.
    UserDenied,
    /// A person said no and told the model why.
    UserComment,
    /// Nobody answered in time.
    Timeout,
    /// Nobody can be asked.
    NoChannel,
    /// The call is known to fail, so nobody was asked.
    PreValidation,
    /// The call or the policy could not be read.
    Error,
}

impl Method {
    /// The word used in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Method::Whitelist => "whitelist",
            Method::Blacklist => "blacklist",
            Method::SessionWhitelist => "session_whitelist",
            Method::SessionBlacklist => "session_blacklist",
            Method::AllowAll => "allow_all",
            Method::TurnSuspension => "turn_suspension",
            Method::IdleSuspension => "idle_suspension",
            Method::Default => "default",
            Method::Sanitization => "sanitization",
            Method::Guard => "guard",
            Method::FileGuard => "file_guard",
            Method::SelfProtection => "self_protection",
            Method::Autonomy => "autonomy",
            Method::ToolPolicy => "tool_policy",
            Method::Injection => "injection",
            Method::Stopped => "stopped",
            Method::NoObjection => "no_objection",
            Method::UserApproved => "user_approved",
            Method::UserDenied => "user_denied",
            Method::UserComment => "user_comment",
            Method::Timeout => "timeout",
            Method::NoChannel => "no_channel",
            Method::PreValidation => "pre_validation",
            Method::Error => "error",
        }
    }
}

/// What happens to a call no rule speaks about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum DefaultPolicy {
    /// Allow it.
    Allow,
    /// Say nothing, so that the agent's own permission system decides.
    Defer,
    /// Allow it and tell the person.
    Notify,
    /// Ask a person.
    Ask,
    /// Ask a person to review it.
    Review,
    /// Refuse it.
    Deny,
}

impl DefaultPolicy {
    /// The word used in output and in policies.
    pub fn as_str(self) -> &'static str {
        match self {
            DefaultPolicy::Allow => "allow",
            DefaultPolicy::Defer => "defer",
            DefaultPolicy::Notify => "notify",
            DefaultPolicy::Ask => "ask",
            DefaultPolicy::Review => "review",
            DefaultPolicy::Deny => "deny",
        }
    }

    /// The verdict this default stands for.
    pub fn verdict(self) -> Verdict {
        match self {
            DefaultPolicy::Allow | DefaultPolicy::Defer => Verdict::Allow,
            DefaultPolicy::Notify => Verdict::Notify,
            DefaultPolicy::Ask => Verdict::Ask,
            DefaultPolicy::Review => Verdict::Review,
            DefaultPolicy::Deny => Verdict::Deny,
        }
    }
}

/// How closely a person watches a tool; adh-cli's and Obra's words for the same lattice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Supervision {
    /// Runs by itself.
    #[serde(alias = "allowed", alias = "allow")]
    Automatic,
    /// Runs, and the person is told.
    Notify,
    /// Runs inside the sandbox.
    Contain,
    /// A person confirms.
    #[serde(alias = "restricted", alias = "ask")]
    Confirm,
    /// A person reviews.
    #[serde(alias = "review")]
    Manual,
    /// Never runs.
    #[serde(alias = "forbidden")]
    Deny,
}

impl Supervision {
    /// The verdict this level stands for.
    pub fn verdict(self) -> Verdict {
        match self {
            Supervision::Automatic => Verdict::Allow,
            Supervision::Notify => Verdict::Notify,
            Supervision::Contain => Verdict::Contain,
            Supervision::Confirm => Verdict::Ask,
            Supervision::Manual => Verdict::Review,
            Supervision::Deny => Verdict::Deny,
        }
    }
}

/// How far an agent may go by itself, from the freest to the tightest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Autonomy {
    /// Whatever no rule forbids runs.
    Full,
    /// Whatever no rule allows is asked about.
    Supervised,
    /// Only tools that look, never those that change.
    Readonly,
    /// Nothing runs.
    Locked,
}

impl Autonomy {
    /// The word used in output and in policies.
    pub fn as_str(self) -> &'static str {
        match self {
            Autonomy::Full => "full",
            Autonomy::Supervised => "supervised",
            Autonomy::Readonly => "readonly",
            Autonomy::Locked => "locked",
        }
    }
}
