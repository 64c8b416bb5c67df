//! What a person says: one of a few words, read the same way from every channel (J-36).

use holdpoint_proof::Signed;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// How far a rule that an answer leaves reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// This call and no other.
    Exact,
    /// Calls of the same program and subcommand.
    Prefix,
    /// Every call of the tool.
    Tool,
}

impl Scope {
    /// The word.
    pub fn as_str(self) -> &'static str {
        match self {
            Scope::Exact => "exact",
            Scope::Prefix => "prefix",
            Scope::Tool => "tool",
        }
    }

    /// The scope of a word.
    pub fn from_name(word: &str) -> Option<Self> {
        [Scope::Exact, Scope::Prefix, Scope::Tool]
            .into_iter()
            .find(|scope| scope.as_str() == word)
    }
}

/// Whom a rule is kept for that outlives its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeptFor {
    /// For this project, in a file of the user's own.
    Project,
    /// For the user, in their policy.
    User,
}

impl KeptFor {
    /// The one of a word.
    fn from_name(word: &str) -> Option<Self> {
        match word {
            "project" => Some(KeptFor::Project),
            "user" | "me" => Some(KeptFor::User),
            _ => None,
        }
    }

    /// The word.
    pub fn as_str(self) -> &'static str {
        match self {
            KeptFor::Project => "project",
            KeptFor::User => "user",
        }
    }
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "lowercase")]
pub enum Answer {
    /// Run it.
    Yes,
    /// Run it, and remember nothing; the same as yes.
    Once,
    /// Do not run it.
    No,
    /// Run it, and calls like it from now on.
    Always {
        /// How far that reaches; the narrowest that is offered if it is not said.
        #[serde(default)]
        scope: Option<Scope>,
    },
    /// Run it, and calls like it from now on, beyond the session.
    Keep {
        /// How far that reaches; the narrowest that is offered if it is not said.
        #[serde(default)]
        scope: Option<Scope>,
        /// Where the rule is kept.
        place: KeptFor,
    },
    /// Do not run it, nor calls like it from now on.
    Never {
        /// How far that reaches; the narrowest that is offered if it is not said.
        #[serde(default)]
        scope: Option<Scope>,
    },
    /// Run it, and ask about nothing for the rest of the session.
    All,
    /// Run it, and ask about nothing until the turn ends.
    Turn,
    /// Run it, and ask about nothing until the session is idle.
    Idle,
    /// Do not run it, and tell the model why.
    Comment {
        /// What to tell.
        comment: String,
    },
    /// Other arguments; the call is judged again and the person asked about that.
    Edit {
        /// The arguments that change. The others stay.
        input: Map<String, Value>,
    },
}

impl Answer {
    /// Its word.
    pub fn as_str(&self) -> &'static str {
        match self {
            Answer::Yes => "yes",
            Answer::Once => "once",
            Answer::No => "no",
            Answer::Always { .. } => "always",
            Answer::Keep { .. } => "keep",
            Answer::Never { .. } => "never",
            Answer::All => "all",
            Answer::Turn => "turn",
            Answer::Idle => "idle",
            Answer::Comment { .. } => "comment",
            Answer::Edit { .. } => "edit",
        }
    }

    /// Whether the call may run by it.
    pub fn releases(&self) -> bool {
        match self {
            Answer::Yes
            | Answer::Once
            | Answer::Always { .. }
            | Answer::Keep { .. }
            | Answer::All
            | Answer::Turn
            | Answer::Idle => true,
            Answer::No | Answer::Never { .. } | Answer::Comment { .. } | Answer::Edit { .. } => {
                false
            }
        }
    }

    /// Reads what somebody typed, in any case and with space around it. `always prefix` names a
    /// scope, `always project` or `always exact me` where it is kept, `c:text` or `comment text` a comment. None for anything else: that is no yes.
    pub fn typed(line: &str) -> Option<Typed> {
        let line = line.trim();
        let lower = line.to_lowercase();
        if let Some(comment) = comment_in(line, &lower) {
            return Some(match comment.is_empty() {
                true => Typed::WantsComment,
                false => Typed::Answer(Answer::Comment {
                    comment: comment.to_owned(),
                }),
            });
        }
        let mut words = lower.split_whitespace();
        let word = words.next()?;
        let mut words = words.peekable();
        let scope = words.peek().and_then(|word| Scope::from_name(word));
        if scope.is_some() {
            words.next();
        }
        let place = match words.next() {
            None => None,
            Some(place) => Some(KeptFor::from_name(place)?),
        };
        if words.next().is_some() || (place.is_some() && !matches!(word, "a" | "always")) {
            return None;
        }
        let answer = match (word, scope) {
            ("a" | "always", scope) => match place {
                Some(place) => Answer::Keep { scope, place },
                None => Answer::Always { scope },
            },
            ("never", scope) => Answer::Never { scope },
            (_, Some(_)) => return None,
            ("y" | "yes", None) => Answer::Yes,
            ("n" | "no", None) => Answer::No,
            ("once", None) => Answer::Once,
            ("all", None) => Answer::All,
            ("t" | "turn", None) => Answer::Turn,
            ("i" | "idle", None) => Answer::Idle,
            ("e" | "edit", None) => return Some(Typed::WantsEdit),
            (_, None) => return None,
        };
        Some(Typed::Answer(answer))
    }
}

/// What somebody typed.
#[derive(Clone, Debug, PartialEq)]
pub enum Typed {
    /// An answer.
    Answer(Answer),
    /// `comment`, without the text.
    WantsComment,
    /// `edit`.
    WantsEdit,
}

/// The text behind `c:`, `comment:`, `c ` or `comment `, in the case it was typed in.
fn comment_in<'a>(line: &'a str, lower: &str) -> Option<&'a str> {
    if matches!(lower, "c" | "comment") {
        return Some("");
    }
    ["comment:", "comment ", "c:", "c "]
        .iter()
        .find(|start| lower.starts_with(*start))
        .and_then(|start| line.get(start.len()..))
        .map(str::trim)
}

/// An answer, and who gives it about what.
#[derive(Clone, Debug, PartialEq)]
pub struct SignedAnswer {
    /// The answer.
    pub answer: Answer,
    /// Who, by the channel's authentication and never by what the answer says.
    pub approver: String,
    /// Who asked them to stand in for them.
    pub on_behalf_of: Vec<String>,
    /// What they saw; none where nobody can have seen anything else.
    pub binding: Option<String>,
    /// What they typed where a phrase is wanted.
    pub phrase: Option<String>,
    /// What speaks for it that it was a person.
    pub evidence: Evidence,
}

/// What speaks for it that an answer is a person's, and how it came.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// By which way.
    pub route: Route,
    /// From where: the terminal of whoever answers by a command, none if no login leads to one; the kind of browser of whoever
    /// answers on the page.
    pub device: Option<String>,
    /// Their signature.
    pub signed: Option<Signed>,
}

impl Evidence {
    /// That it came by this way, and nothing else.
    pub fn by(route: Route) -> Self {
        Self {
            route,
            device: None,
            signed: None,
        }
    }
}

/// The way an answer came by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Route {
    /// The page, or whoever uses its API with a token.
    Page,
    /// A command: `holdpoint approve`.
    Terminal,
    /// `holdpoint watch`.
    Watch,
    /// The terminal the agent runs in.
    Console,
    /// An HTTP endpoint.
    Webhook,
    /// Files in a directory.
    File,
    /// The dialog of the agent or its editor.
    Dialog,
    /// A program that uses the library.
    Library,
}

impl Route {
    /// The word in the record.
    pub fn as_str(self) -> &'static str {
        match self {
            Route::Page => "page",
            Route::Terminal => "terminal",
            Route::Watch => "watch",
            Route::Console => "console",
            Route::Webhook => "webhook",
            Route::File => "file",
            Route::Dialog => "dialog",
            Route::Library => "library",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // J-36
    #[test]
    fn words_are_read_in_any_case_with_space_around() {
        let read = |line: &str| match Answer::typed(line) {
            Some(Typed::Answer(answer)) => answer.as_str(),
            Some(Typed::WantsComment) => "comment?",
            Some(Typed::WantsEdit) => "edit?",
            None => "unknown",
        };
        for (line, word) in [
            ("y", "yes"),
            (" YES \n", "yes"),
            ("n", "no"),
            ("No", "no"),
            ("a", "always"),
            ("Always", "always"),
            ("never", "never"),
            ("once", "once"),
            ("ALL", "all"),
            ("t", "turn"),
            ("idle", "idle"),
            ("c", "comment?"),
            ("e", "edit?"),
            ("", "unknown"),
            ("yess", "unknown"),
            ("y y", "unknown"),
            ("yes prefix", "unknown"),
            ("always everything", "unknown"),
            ("always project", "keep"),
            ("always exact me", "keep"),
            ("always me exact", "unknown"),
            ("never project", "unknown"),
            ("ja", "unknown"),
        ] {
            assert_eq!(read(line), word, "{line:?}");
        }
    }

    #[test]
    fn a_comment_keeps_its_case_and_a_scope_its_word() {
        assert_eq!(
            Answer::typed("C: Use a Branch"),
            Some(Typed::Answer(Answer::Comment {
                comment: "Use a Branch".into()
            }))
        );
        assert_eq!(
            Answer::typed("always TOOL"),
            Some(Typed::Answer(Answer::Always {
                scope: Some(Scope::Tool)
            }))
        );
    }
}
