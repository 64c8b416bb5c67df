//! One thing found in a text.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use serde::{Serialize, Serializer};

use crate::Severity;
use crate::normal::Disguises;

/// What kind of thing a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// Earlier instructions are to be forgotten.
    Override,
    /// The text poses as the system, the developer or another authority, or gives the model another role.
    Role,
    /// Tokens with which chat templates mark who speaks.
    Template,
    /// An invented turn of the conversation.
    Turn,
    /// An invented result of a tool.
    ToolResult,
    /// It speaks to an AI where nobody speaks to one.
    Addressed,
    /// Data is to leave by a link, an image or a request.
    Exfiltration,
    /// Secrets are to be read or told.
    SecretRequest,
    /// Commands are to be run.
    CommandRequest,
    /// Something is to be kept from the user.
    Concealment,
    /// A tool's description does more than describe.
    ToolDescription,
    /// Rules and refusals are to be dropped.
    Jailbreak,
    /// Characters nobody sees.
    Hidden,
    /// Sequences a terminal would act on.
    Terminal,
    /// Text in an encoding or a disguise.
    Disguised,
    /// Markup that runs.
    Markup,
    /// The words as a whole read like orders to a model.
    Statistical,
    /// A secret.
    Secret,
    /// A policy that lets more happen than the one before it.
    Policy,
    /// A version of a package that is known to be weak.
    Dependency,
}

impl Family {
    /// Every family.
    pub const ALL: [Family; 20] = [
        Family::Override,
        Family::Role,
        Family::Template,
        Family::Turn,
        Family::ToolResult,
        Family::Addressed,
        Family::Exfiltration,
        Family::SecretRequest,
        Family::CommandRequest,
        Family::Concealment,
        Family::ToolDescription,
        Family::Jailbreak,
        Family::Hidden,
        Family::Terminal,
        Family::Disguised,
        Family::Markup,
        Family::Statistical,
        Family::Secret,
        Family::Policy,
        Family::Dependency,
    ];

    /// Whether it is about what a model is told to do, and not about what hides it or marks who speaks.
    pub(crate) fn is_order(self) -> bool {
        matches!(
            self,
            Family::Override
                | Family::Role
                | Family::Addressed
                | Family::Exfiltration
                | Family::SecretRequest
                | Family::CommandRequest
                | Family::Concealment
                | Family::Jailbreak
                | Family::Statistical
        )
    }

    /// The word for it in output.
    pub fn name(self) -> &'static str {
        self.described().0
    }

    /// What a text of this family does, as the end of a sentence that begins with "it".
    pub fn deed(self) -> &'static str {
        self.described().1
    }

    fn described(self) -> (&'static str, &'static str) {
        match self {
            Family::Override => ("override", "asks to drop earlier guidance"),
            Family::Role => ("role", "claims an authority it does not have"),
            Family::Template => ("template", "holds tokens that mark who speaks"),
            Family::Turn => ("turn", "invents a part of the conversation"),
            Family::ToolResult => ("tool-result", "invents the result of a tool"),
            Family::Addressed => ("addressed", "speaks to the model instead of to people"),
            Family::Exfiltration => ("exfiltration", "tries to carry data out"),
            Family::SecretRequest => ("secret-request", "asks for secrets"),
            Family::CommandRequest => ("command-request", "asks for commands to be run"),
            Family::Concealment => ("concealment", "wants something kept from the user"),
            Family::ToolDescription => ("tool-description", "does more than describe a tool"),
            Family::Jailbreak => ("jailbreak", "asks for rules to be dropped"),
            Family::Hidden => ("hidden", "holds characters nobody sees"),
            Family::Terminal => ("terminal", "holds sequences a terminal acts on"),
            Family::Disguised => ("disguised", "hides what it says in an encoding"),
            Family::Markup => ("markup", "holds markup that runs"),
            Family::Statistical => ("statistical", "reads like orders to a model"),
            Family::Secret => ("secret", "holds a secret"),
            Family::Policy => ("policy", "loosens a policy"),
            Family::Dependency => ("dependency", "names a version with a known weakness"),
        }
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Family {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// One thing found in a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// What kind of thing it is.
    pub family: Family,
    /// How bad it is.
    pub severity: Severity,
    /// The rule that found it.
    pub rule: Cow<'static, str>,
    /// What is wrong, in a line that repeats nothing of the text.
    pub reason: Cow<'static, str>,
    /// Where it stands in the text, in bytes.
    pub span: Range<usize>,
    /// The disguises that had to be taken off to see it.
    pub disguises: Disguises,
}

impl Finding {
    /// How sure it makes it by itself that a text gives orders, from 0 to 1.
    pub fn certainty(&self) -> f32 {
        match (self.family, self.severity) {
            (Family::Secret | Family::Policy | Family::Dependency, _)
            | (_, Severity::Info | Severity::Low) => 0.0,
            (_, Severity::Medium) => 0.5,
            (_, Severity::High) => 0.9,
            (_, Severity::Critical) => 0.99,
        }
    }
}
