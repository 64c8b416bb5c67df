//! Asks on the terminal the process was started from.
//!
//! The question stands there with everything a person needs to answer it; a word and Enter answer.
//! Whatever is no answer refuses (J-36). Standard input and output are not touched: they belong to
//! the agent.

pub mod editor;
mod ink;
mod page;
mod screen;

use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use holdpoint_core::text::escape_for_display;
use holdpoint_sandbox::children;
use serde_json::Map;

use self::editor::Editable;
use self::ink::{Ink, Sheet};
use self::screen::{Controlling, Heard, Plain, Screen};
use super::patience::Patience;
use super::queue::QueueLock;
use super::{Channel, ChannelError, Turn, Waiting};
use crate::answer::{Answer, Evidence, KeptFor, Route, Scope, SignedAnswer, Typed};
use crate::request::{Offer, Request};

/// Why there is no answer when somebody turned away: Ctrl-C, or the end of input (J-36).
pub const CANCELLED: &str = "User cancelled input";

/// How the console asks.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Who sits there: the user of the operating system.
    pub approver: String,
    /// Whether to use colour.
    pub colours: bool,
    /// A file that is locked while a question stands, so that there is one at a time.
    pub lock: Option<PathBuf>,
    /// The editor, word by word.
    pub editor: Vec<String>,
}

/// The console channel.
pub struct Console {
    screen: Box<dyn Screen>,
    settings: Settings,
    /// Held until what came of the question is remembered.
    queue_lock: Option<QueueLock>,
}

/// For how long a rule lasts that is kept for a project.
const PROJECT_LASTS: &str = "in a file of your own, until `holdpoint permissions forget`";

/// For how long a rule lasts that is kept for its user.
const USER_LASTS: &str = "in your policy, until `holdpoint permissions forget`";

impl Console {
    /// Asks on the controlling terminal.
    pub fn on_terminal(settings: Settings) -> Self {
        Self {
            screen: Box::new(Controlling::default()),
            settings,
            queue_lock: None,
        }
    }

    /// Asks on a reader and a writer. The deadline is looked at between lines.
    pub fn over(
        reader: impl BufRead + 'static,
        writer: impl Write + 'static,
        settings: Settings,
    ) -> Self {
        Self {
            screen: Box::new(Plain { reader, writer }),
            settings,
            queue_lock: None,
        }
    }
}

impl Console {
    fn converse(
        &mut self,
        request: &Request,
        patience: &Patience<'_>,
    ) -> Result<SignedAnswer, ChannelError> {
        self.screen.begin()?;
        let said = Conversation {
            screen: self.screen.as_mut(),
            settings: &self.settings,
            request,
            patience,
        }
        .hold();
        self.screen.end();
        said
    }

    fn take_lock(&mut self, patience: &Patience<'_>) -> Result<Turn, ChannelError> {
        if let (None, Some(lock)) = (&self.queue_lock, &self.settings.lock) {
            let (queue_lock, turn) = QueueLock::take(lock, patience)?;
            self.queue_lock = Some(queue_lock);
            return Ok(turn);
        }
        Ok(Turn::AtOnce)
    }
}

impl Channel for Console {
    fn take_turn(&mut self, waiting: &Waiting<'_>) -> Result<Turn, ChannelError> {
        self.take_lock(&Patience::begin(waiting))
    }

    fn end_turn(&mut self) {
        self.queue_lock = None;
    }

    fn ask(
        &mut self,
        request: &Request,
        waiting: &Waiting<'_>,
    ) -> Result<SignedAnswer, ChannelError> {
        let patience = Patience::begin(waiting);
        self.take_lock(&patience)?;
        self.converse(request, &patience)
    }

    fn told(&mut self, _request: &Request, message: &str) {
        let mut sheet = Sheet::new(self.settings.colours, self.screen.width());
        sheet.field("Holdpoint", Ink::Notable, message);
        // Whoever is not there any more needs no word.
        let _ = self.screen.show(&sheet.finish());
    }
}

/// One question on the screen.
struct Conversation<'a> {
    screen: &'a mut dyn Screen,
    settings: &'a Settings,
    request: &'a Request,
    patience: &'a Patience<'a>,
}

impl Conversation<'_> {
    fn hold(&mut self) -> Result<SignedAnswer, ChannelError> {
        let said = self.converse();
        if let Err(error) = &said {
            let mut sheet = self.sheet();
            let text = format!("{error}: the call is refused");
            sheet.end().field("Holdpoint", Ink::Notable, &text);
            // The answer stands, whether they still read this or not.
            let _ = self.screen.show(&sheet.finish());
        }
        said
    }

    fn converse(&mut self) -> Result<SignedAnswer, ChannelError> {
        let mut sheet = self.sheet();
        page::question(&mut sheet, self.request, self.patience.left()?);
        self.screen.show(&sheet.finish())?;
        loop {
            let line = self.line(&format!("Options: {}", self.options()))?;
            let word = line.trim();
            if self.request.terms.phrase.as_deref() == Some(word) {
                return Ok(self.said(Answer::Yes, Some(word.to_owned())));
            }
            if ["d", "details"]
                .iter()
                .any(|known| known.eq_ignore_ascii_case(word))
            {
                let mut sheet = self.sheet();
                page::arguments(&mut sheet, self.request);
                self.screen.show(&sheet.finish())?;
                continue;
            }
            let answer = match Answer::typed(word) {
                None => return Err(unknown(word)),
                Some(Typed::WantsComment) => Some(self.comment()?),
                Some(Typed::WantsEdit) => self.edit()?,
                Some(Typed::Answer(answer)) => self.settled(answer)?,
            };
            if let Some(answer) = answer {
                let phrase = self.phrase(&answer)?;
                return Ok(self.said(answer, phrase));
            }
        }
    }

    /// The answer with its scope, if it can be given to this request and is still wanted.
    fn settled(&mut self, answer: Answer) -> Result<Option<Answer>, ChannelError> {
        if !self.is_possible(&answer) {
            self.say(&format!(
                "`{}` is not possible for this call",
                answer.as_str()
            ))?;
            return Ok(None);
        }
        Ok(match answer {
            Answer::Always { scope } => {
                let scope = self.scope("runs without asking", scope, None)?;
                scope.map(|scope| Answer::Always { scope: Some(scope) })
            }
            Answer::Keep { scope, place } => {
                let (what, lasts) = match place {
                    KeptFor::Project => ("runs without asking in this project", PROJECT_LASTS),
                    KeptFor::User => ("runs without asking, wherever you work", USER_LASTS),
                };
                let scope = self.scope(what, scope, Some(lasts))?;
                scope.map(|scope| Answer::Keep {
                    scope: Some(scope),
                    place,
                })
            }
            Answer::Never { scope } => {
                let scope = self.scope("is refused without asking", scope, None)?;
                scope.map(|scope| Answer::Never { scope: Some(scope) })
            }
            Answer::Yes
            | Answer::Once
            | Answer::No
            | Answer::All
            | Answer::Turn
            | Answer::Idle
            | Answer::Comment { .. }
            | Answer::Edit { .. } => Some(answer),
        })
    }

    /// Whether the terms leave room for an answer.
    fn is_possible(&self, answer: &Answer) -> bool {
        let terms = &self.request.terms;
        let alone = terms.required <= 1;
        match answer {
            Answer::Yes | Answer::Once | Answer::No | Answer::Comment { .. } => true,
            Answer::Always { .. } | Answer::Keep { .. } => alone && !terms.offers.is_empty(),
            Answer::Never { .. } => !terms.offers.is_empty(),
            Answer::All | Answer::Turn | Answer::Idle => alone && terms.suspendable,
            Answer::Edit { .. } => Editable::from_request(self.request).is_some(),
        }
    }

    fn options(&self) -> String {
        let phrase = self.request.terms.phrase.as_ref();
        let release =
            phrase.map(|phrase| format!("type `{}` to release", escape_for_display(phrase, 100)));
        let always = Answer::Always { scope: None };
        let never = Answer::Never { scope: None };
        let edit = Answer::Edit { input: Map::new() };
        let all = [
            (phrase.is_none(), "[y]es"),
            (true, "[n]o"),
            (self.is_possible(&always), "[a]lways"),
            (self.is_possible(&never), "[never]"),
            (phrase.is_none(), "[once]"),
            (self.is_possible(&Answer::All), "[all]"),
            (self.is_possible(&Answer::Turn), "[t]urn"),
            (self.is_possible(&Answer::Idle), "[i]dle"),
            (true, "[c]omment"),
            (self.is_possible(&edit), "[e]dit"),
            (true, "[d]etails"),
        ];
        let possible = all.iter().filter(|(possible, _)| *possible);
        let words = possible.map(|(_, word)| (*word).to_owned());
        release
            .into_iter()
            .chain(words)
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// Shows the rules that could be stored, for how long, and has one chosen; none if they think better of it.
    fn scope(
        &mut self,
        what: &str,
        named: Option<Scope>,
        lasts: Option<&str>,
    ) -> Result<Option<Scope>, ChannelError> {
        let offers = &self.request.terms.offers;
        let offers: Vec<&Offer> = offers
            .iter()
            .filter(|offer| named.is_none_or(|scope| offer.scope == scope))
            .collect();
        if let (Some(scope), true) = (named, offers.is_empty()) {
            self.say(&format!(
                "no rule of the scope `{}` is offered",
                scope.as_str()
            ))?;
            return Ok(None);
        }
        let mut sheet = self.sheet();
        sheet.line(Ink::Bold, &format!("From now on, what matches {what}:"));
        for offer in &offers {
            let lasts = lasts.unwrap_or(&offer.lasts);
            let rule = format!("{} ({lasts})", offer.patterns.join("  and  "));
            sheet.field(offer.scope.as_str(), Ink::Notable, &rule);
        }
        self.screen.show(&sheet.finish())?;
        if named.is_some() {
            return Ok(named);
        }
        let words: Vec<String> = offers
            .iter()
            .map(|offer| format!("[{}]", offer.scope.as_str()))
            .collect();
        let line = self.line(&format!("Store which rule? {}, [b]ack", words.join(", ")))?;
        let word = line.trim().to_lowercase();
        if matches!(word.as_str(), "b" | "back") {
            return Ok(None);
        }
        let chosen = Scope::from_name(&word);
        let chosen = chosen.filter(|scope| offers.iter().any(|offer| offer.scope == *scope));
        chosen.map(Some).ok_or_else(|| unknown(&word))
    }

    fn comment(&mut self) -> Result<Answer, ChannelError> {
        let line = self.line("The call is refused. What shall the model read?")?;
        match line.trim() {
            "" => Err(unknown("")),
            comment => Ok(Answer::Comment {
                comment: comment.to_owned(),
            }),
        }
    }

    /// Other arguments; none if nothing was changed, which has been said then.
    fn edit(&mut self) -> Result<Option<Answer>, ChannelError> {
        let Some(editable) = Editable::from_request(self.request) else {
            self.say("nothing of this call can be changed here")?;
            return Ok(None);
        };
        let (screen, words) = (&mut *self.screen, &self.settings.editor);
        let edited = editable.edit(|file| run_editor(screen, words, file, self.patience))?;
        match edited {
            Ok(input) if input.is_empty() => self.say("nothing was changed")?,
            Ok(input) => return Ok(Some(Answer::Edit { input })),
            Err(problem) => self.say(&format!("{problem}; nothing was changed"))?,
        }
        Ok(None)
    }

    /// What must be typed to release, where something must.
    fn phrase(&mut self, answer: &Answer) -> Result<Option<String>, ChannelError> {
        let Some(phrase) = self
            .request
            .terms
            .phrase
            .as_deref()
            .filter(|_| answer.releases())
        else {
            return Ok(None);
        };
        let line = self.line(&format!(
            "Type `{}` to release",
            escape_for_display(phrase, 100)
        ))?;
        match line.trim() == phrase {
            true => Ok(Some(phrase.to_owned())),
            false => Err(unknown(line.trim())),
        }
    }

    /// Asks for a line.
    fn line(&mut self, prompt: &str) -> Result<String, ChannelError> {
        let left = self.patience.left()?;
        let mut sheet = self.sheet();
        sheet.line(Ink::Bold, prompt);
        if let Some(left) = left {
            sheet.piece(Ink::Faint, &format!("[{}] ", page::words_for(left)));
        }
        sheet.piece(Ink::Plain, "> ");
        self.screen.show(&sheet.finish())?;
        match self.screen.line(self.patience)? {
            Heard::Line(line) => Ok(line),
            Heard::Turned => Err(ChannelError::Refused(CANCELLED.into())),
        }
    }

    fn say(&mut self, text: &str) -> Result<(), ChannelError> {
        let mut sheet = self.sheet();
        sheet.line(Ink::Notable, text);
        self.screen.show(&sheet.finish())
    }

    fn sheet(&self) -> Sheet {
        Sheet::new(self.settings.colours, self.screen.width())
    }

    fn said(&self, answer: Answer, phrase: Option<String>) -> SignedAnswer {
        SignedAnswer {
            answer,
            approver: self.settings.approver.clone(),
            on_behalf_of: Vec::new(),
            binding: Some(self.request.binding.clone()),
            phrase,
            evidence: Evidence::by(Route::Console),
        }
    }
}

/// What is no answer is no yes (J-36).
fn unknown(word: &str) -> ChannelError {
    let word = match word {
        "" => "an empty line".to_owned(),
        word => escape_for_display(word, 60),
    };
    ChannelError::Refused(format!("Unknown response: {word}"))
}

/// Has the editor write into `file`. The inner error is for the person.
fn run_editor(
    screen: &mut dyn Screen,
    words: &[String],
    file: &Path,
    patience: &Patience<'_>,
) -> Result<Result<(), String>, ChannelError> {
    let Some((program, words)) = words.split_first() else {
        return Ok(Err("no editor is set: set VISUAL or EDITOR".into()));
    };
    let mut command = Command::new(program);
    command.args(words).arg(file);
    children::with_own_memory(&mut command);
    let program = escape_for_display(program, 100);
    Ok(match screen.run(&mut command, patience)? {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{program}` failed ({status})")),
        Err(error) => Err(format!(
            "`{program}` cannot be started: {error}; set VISUAL or EDITOR"
        )),
    })
}

/// The editor of an environment, word by word.
pub fn editor_of(environment: &dyn Fn(&str) -> Option<String>) -> Vec<String> {
    let set = |name: &str| environment(name).filter(|editor| !editor.trim().is_empty());
    let editor = set("VISUAL").or_else(|| set("EDITOR"));
    let editor = editor.unwrap_or_else(|| "vi".into());
    editor.split_whitespace().map(str::to_owned).collect()
}

/// Whether an environment wants no colour.
pub fn wants_no_colour(environment: &dyn Fn(&str) -> Option<String>) -> bool {
    environment("NO_COLOR").is_some_and(|value| !value.is_empty())
        || environment("TERM").is_some_and(|term| term == "dumb")
}

#[cfg(test)]
mod tests;
