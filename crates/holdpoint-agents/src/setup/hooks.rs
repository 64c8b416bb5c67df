//! Entries for hooks in settings that are JSON: which commands an agent runs at which moment.
//!
//! Most agents agree on the idea and differ in the words, so the words are data. The text is edited
//! in place: comments, order and spacing are the owner's.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode};
use serde_json::Value;

use super::command_line::{self, Call};
use super::{Entry, Form, FormError};

/// How an agent spells its hooks.
#[derive(Debug)]
pub(crate) struct Hooks {
    /// The name of the agent, as `holdpoint hook` takes it.
    pub(crate) agent: &'static str,
    /// Whether commands stand in groups that say for which tools they are run.
    pub(crate) grouped: bool,
    /// Whether a command says that it is one (`"type": "command"`).
    pub(crate) typed: bool,
    /// The key of the command.
    pub(crate) command: &'static str,
    /// Whether its arguments stand apart, so that no shell reads them.
    pub(crate) args_separate: bool,
    /// What the command is called, where agents let their users name hooks.
    pub(crate) called: Option<&'static str>,
    /// The version of the form, where the file has to say it.
    pub(crate) version: Option<u64>,
    /// The moments at which the agent is to ask.
    pub(crate) events: &'static [Event],
    /// Keys that keep a command from being run at some time, or from being waited for.
    pub(crate) forbidden_keys: &'static [&'static str],
    /// Why the agent runs no hook of such a file, though it holds one.
    pub(crate) disabled_reason: fn(&str) -> Option<String>,
}

impl Hooks {
    /// As Claude Code has it: commands in groups that say for which tools they are run.
    pub(crate) const GROUPED: Self = Self {
        agent: "",
        grouped: true,
        typed: true,
        command: "command",
        args_separate: false,
        called: None,
        version: None,
        events: &[],
        forbidden_keys: &[],
        disabled_reason: |_| None,
    };

    /// As Cursor has it: commands by themselves, which say no more than they must.
    pub(crate) const FLAT: Self = Self {
        grouped: false,
        typed: false,
        ..Self::GROUPED
    };
}

/// A moment at which the agent asks.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) name: &'static str,
    /// The tools it is asked for, where an entry may name them.
    pub(crate) matcher: Option<&'static str>,
    /// How long the agent waits, in its own unit.
    pub(crate) timeout: Option<(&'static str, u64)>,
    /// What becomes of a call if the hook cannot be run or ends without a word.
    pub(crate) on_failure: OnFailure,
}

impl Event {
    pub(crate) const fn new(
        name: &'static str,
        matcher: Option<&'static str>,
        timeout: Option<(&'static str, u64)>,
        on_failure: OnFailure,
    ) -> Self {
        Self {
            name,
            matcher,
            timeout,
            on_failure,
        }
    }
}

/// What becomes of a call if the hook fails.
#[derive(Clone, Copy, Debug)]
pub(crate) enum OnFailure {
    /// The agent goes on. So it should where the user has written something.
    GoOn,
    /// A setting makes the agent stop.
    Set(&'static str, Word),
    /// The line itself refuses, for want of such a setting.
    Close,
    /// Nothing is said, whatever happens: the turn ends, and a word would have the agent go on.
    Silent,
}

/// The value of a setting.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Word {
    Text(&'static str),
    True,
}

/// Seconds an agent waits. A person may take their time: the hook waits for an answer for at most
/// 540 of them, and for anything else for 5.
pub(crate) const TIMEOUT: u64 = 600;

/// Seconds an agent waits where nobody is asked.
pub(crate) const TIMEOUT_OF_TEXT: u64 = 30;

/// How most agents are told to wait for a person.
pub(crate) const ASKING: Option<(&str, u64)> = Some(("timeout", TIMEOUT));

/// How most agents are told to wait where nobody is asked.
pub(crate) const READING: Option<(&str, u64)> = Some(("timeout", TIMEOUT_OF_TEXT));

/// What was set before calls could be held. Nobody has time to answer in it.
const OLD_TIMEOUT: u64 = 10;

/// What some editors write in front of a text.
pub(crate) const BYTE_ORDER_MARK: char = '\u{feff}';

impl Form for Hooks {
    fn registered(&self, text: &str, program: &str) -> Result<(String, bool), FormError> {
        let settings = Settings::read(self, text)?;
        let mut known = false;
        let mut changed = false;
        for event in self.events {
            let handlers = settings.handlers(event.name)?;
            let ours = || {
                handlers
                    .iter()
                    .filter(|handler| handler.is_ours(Some(program)) && handler.sees_all(event))
            };
            known |= ours().next().is_some();
            if ours().any(|handler| handler.is_current(event, program)) {
                continue;
            }
            changed = true;
            match ours().next() {
                Some(stale) => stale.renew(event, program),
                None => settings.add(event, program)?,
            }
        }
        changed |= settings.declare_version()?;
        if changed {
            return Ok((settings.text(), known));
        }
        Ok((text.to_owned(), known))
    }

    fn unregistered(&self, text: &str) -> Result<Option<String>, FormError> {
        if text.trim().is_empty() {
            return Ok(Some(text.to_owned()));
        }
        let settings = Settings::read(self, text)?;
        for event in self.events {
            for handler in settings.handlers(event.name)? {
                if handler.is_ours(None) {
                    handler.take_out();
                }
            }
        }
        Ok(Some(settings.text()))
    }

    fn entries(&self, text: &str) -> Result<Vec<Entry>, FormError> {
        let settings = Settings::read(self, text)?;
        let mut entries = Vec::new();
        for event in self.events {
            for handler in settings.handlers(event.name)? {
                let Some(call) = handler.call().filter(|call| call.is_hook_of(self.agent)) else {
                    continue;
                };
                let fails_closed = match event.on_failure {
                    OnFailure::GoOn | OnFailure::Silent => None,
                    OnFailure::Set(key, word) => Some(handler.value(key) == word.value()),
                    OnFailure::Close => Some(call.closes()),
                };
                entries.push(Entry {
                    event: event.name,
                    call,
                    sees_all: handler.sees_all(event),
                    fails_closed,
                });
            }
        }
        Ok(entries)
    }

    fn events(&self) -> Vec<&'static str> {
        self.events.iter().map(|event| event.name).collect()
    }

    fn disabled_reason(&self, text: &str) -> Option<String> {
        (self.disabled_reason)(text)
    }

    fn is_json(&self) -> bool {
        true
    }
}

impl Hooks {
    /// Where the entries for `program` stand, for agents that keep account of each.
    pub(crate) fn positions(
        &self,
        text: &str,
        program: &str,
    ) -> Result<Vec<EntryPosition>, FormError> {
        let settings = Settings::read(self, text)?;
        let mut positions = Vec::new();
        for event in self.events {
            for handler in settings.handlers(event.name)? {
                if handler.is_current(event, program) && handler.sees_all(event) {
                    positions.push(EntryPosition {
                        event: event.name,
                        group: handler.group_at,
                        handler: handler.at,
                        matcher: handler.matcher().as_str().map(str::to_owned),
                        timeout: event
                            .timeout
                            .and_then(|(key, _)| handler.value(key).as_u64()),
                        command: self.call_of(event, program).text().to_owned(),
                        extras: handler.has_more_than(event),
                    });
                }
            }
        }
        Ok(positions)
    }
}

impl Word {
    fn value(self) -> Value {
        match self {
            Word::Text(text) => text.into(),
            Word::True => true.into(),
        }
    }

    fn input(self) -> CstInputValue {
        match self {
            Word::Text(text) => text.into(),
            Word::True => true.into(),
        }
    }
}

/// Where an entry of ours stands among the others of its event.
pub(crate) struct EntryPosition {
    pub(crate) event: &'static str,
    pub(crate) group: usize,
    pub(crate) handler: usize,
    pub(crate) matcher: Option<String>,
    pub(crate) timeout: Option<u64>,
    pub(crate) command: String,
    /// Whether its owner has added something to it.
    pub(crate) extras: bool,
}

struct Settings<'f> {
    form: &'f Hooks,
    root: CstRootNode,
    marked: bool,
}

impl<'f> Settings<'f> {
    fn read(form: &'f Hooks, text: &str) -> Result<Self, FormError> {
        let plain = text.strip_prefix(BYTE_ORDER_MARK);
        let root = CstRootNode::parse(plain.unwrap_or(text), &ParseOptions::default())
            .map_err(|error| FormError::Syntax(error.to_string()))?;
        Ok(Self {
            form,
            root,
            marked: plain.is_some(),
        })
    }

    fn text(&self) -> String {
        let mark = if self.marked { "\u{feff}" } else { "" };
        format!("{mark}{}", self.root)
    }

    /// Every command that is run at an event.
    fn handlers(&self, event: &str) -> Result<Vec<Handler<'f>>, FormError> {
        let object = match self.root.value() {
            Some(value) => value.as_object().ok_or(FormError::NotAnObject)?,
            None => return Ok(Vec::new()),
        };
        let Some(hooks) = object.get("hooks").and_then(|hooks| hooks.value()) else {
            return Ok(Vec::new());
        };
        let hooks = hooks.as_object().ok_or(FormError::HooksNotAnObject)?;
        let Some(listed) = hooks.get(event).and_then(|listed| listed.value()) else {
            return Ok(Vec::new());
        };
        let listed = listed
            .as_array()
            .ok_or_else(|| FormError::EventNotAnArray(event.to_owned()))?;
        let mut handlers = Vec::new();
        for (group_at, entry) in listed.elements().into_iter().enumerate() {
            let Some(entry) = entry.as_object() else {
                continue;
            };
            if !self.form.grouped {
                handlers.push(Handler {
                    form: self.form,
                    group: None,
                    handler: entry,
                    group_at,
                    at: 0,
                });
                continue;
            }
            let list = entry.array_value("hooks");
            let commands = list.iter().flat_map(CstArray::elements).enumerate();
            for (at, command) in commands {
                let Some(handler) = command.as_object() else {
                    continue;
                };
                handlers.push(Handler {
                    form: self.form,
                    group: Some(entry.clone()),
                    handler,
                    group_at,
                    at,
                });
            }
        }
        Ok(handlers)
    }

    fn add(&self, event: &Event, program: &str) -> Result<(), FormError> {
        let object = self.root.object_value_or_create();
        // Some agents want the version, and people expect it at the top.
        self.declare_version()?;
        let listed = object
            .and_then(|object| object.object_value_or_create("hooks"))
            .and_then(|hooks| hooks.array_value_or_create(event.name))
            .ok_or(FormError::NoRoom)?;
        let form = self.form;
        let mut handler: Vec<(String, CstInputValue)> = Vec::new();
        if form.typed {
            handler.push(("type".into(), "command".into()));
        }
        if let Some(name) = form.called {
            handler.push(("name".into(), name.into()));
        }
        let call = form.call_of(event, program);
        handler.push((form.command.into(), call.text().into()));
        if let Call::Direct { arguments, .. } = &call {
            handler.push(("args".into(), array(arguments)));
        }
        if !form.grouped
            && let Some(matcher) = event.matcher
        {
            handler.push(("matcher".into(), matcher.into()));
        }
        if let Some((key, time)) = event.timeout {
            handler.push((key.into(), time.into()));
        }
        if let OnFailure::Set(key, word) = event.on_failure {
            handler.push((key.into(), word.input()));
        }
        if !form.grouped {
            listed.append(CstInputValue::Object(handler));
            return Ok(());
        }
        let mut group: Vec<(String, CstInputValue)> = Vec::new();
        if let Some(matcher) = event.matcher {
            group.push(("matcher".into(), matcher.into()));
        }
        let handlers = vec![CstInputValue::Object(handler)];
        group.push(("hooks".into(), CstInputValue::Array(handlers)));
        listed.append(CstInputValue::Object(group));
        Ok(())
    }

    /// Says the version of the form, where that is needed and nobody has; tells whether it did.
    fn declare_version(&self) -> Result<bool, FormError> {
        let Some(version) = self.form.version else {
            return Ok(false);
        };
        let object = self
            .root
            .object_value_or_create()
            .ok_or(FormError::NotAnObject)?;
        if object.get("version").is_some() {
            return Ok(false);
        }
        object.insert(0, "version", version.into());
        Ok(true)
    }
}

impl Hooks {
    /// What is run for `program`.
    pub(crate) fn call_of(&self, event: &Event, program: &str) -> Call {
        let arguments = vec!["hook".to_owned(), self.agent.to_owned()];
        match self.args_separate {
            true => Call::Direct {
                program: program.to_owned(),
                arguments,
            },
            false => Call::Line(match event.on_failure {
                OnFailure::Close => command_line::closing(program, self.agent),
                OnFailure::Silent => command_line::silent(program, self.agent),
                OnFailure::GoOn | OnFailure::Set(..) => {
                    command_line::for_agent(program, self.agent)
                }
            }),
        }
    }
}

fn array(words: &[String]) -> CstInputValue {
    CstInputValue::Array(
        words
            .iter()
            .map(|word| CstInputValue::from(word.as_str()))
            .collect(),
    )
}

/// One command, perhaps in a group that says for which tools it is run.
struct Handler<'f> {
    form: &'f Hooks,
    group: Option<CstObject>,
    handler: CstObject,
    group_at: usize,
    at: usize,
}

impl Handler<'_> {
    fn value(&self, key: &str) -> Value {
        value_of(&self.handler, key)
    }

    /// What is run.
    fn call(&self) -> Option<Call> {
        let command = self.value(self.form.command);
        let command = command.as_str()?;
        match self.value("args") {
            Value::Array(words) if self.form.args_separate => Some(Call::Direct {
                program: command.to_owned(),
                arguments: words
                    .iter()
                    .map(|word| word.as_str().map(str::to_owned))
                    .collect::<Option<_>>()?,
            }),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_)
            | Value::Object(_) => Some(Call::Line(command.to_owned())),
        }
    }

    /// Whether it runs Holdpoint's hook, with its arguments apart or in a line for the shell.
    fn is_ours(&self, program: Option<&str>) -> bool {
        self.call().is_some_and(|call| {
            call.is_hook_of(self.form.agent)
                && (call.is_named_holdpoint()
                    || program.is_some_and(|program| call.program().as_deref() == Some(program)))
        })
    }

    fn matcher(&self) -> Value {
        value_of(self.group.as_ref().unwrap_or(&self.handler), "matcher")
    }

    /// Whether nothing keeps it from being asked at some time, or from being waited for.
    fn sees_all(&self, event: &Event) -> bool {
        let everything = match self.matcher() {
            Value::Null => true,
            Value::String(matcher) => {
                matches!(matcher.as_str(), "" | "*" | ".*")
                    || event.matcher == Some(matcher.as_str())
            }
            Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => false,
        };
        let unconditional = self
            .form
            .forbidden_keys
            .iter()
            .all(|key| matches!(self.value(key), Value::Null | Value::Bool(false)));
        everything && unconditional
    }

    fn is_current(&self, event: &Event, program: &str) -> bool {
        (!self.form.typed || self.value("type") == "command")
            && self.call() == Some(self.form.call_of(event, program))
            && self.has_time(event)
            && match event.on_failure {
                OnFailure::Set(key, word) => self.value(key) == word.value(),
                OnFailure::GoOn | OnFailure::Close | OnFailure::Silent => true,
            }
    }

    /// Whether its owner, or a recent version, has said how long the agent waits.
    fn has_time(&self, event: &Event) -> bool {
        event.timeout.is_none_or(|(key, _)| {
            self.value(key)
                .as_u64()
                .is_some_and(|time| time != OLD_TIMEOUT)
        })
    }

    /// Sets what must be so, and leaves what its owner added.
    fn renew(&self, event: &Event, program: &str) {
        if self.form.typed {
            self.set("type", "command".into());
        }
        let call = self.form.call_of(event, program);
        self.set(self.form.command, call.text().into());
        if let Call::Direct { arguments, .. } = &call {
            self.set("args", array(arguments));
        }
        if let Some((key, time)) = event.timeout
            && !self.has_time(event)
        {
            self.set(key, time.into());
        }
        if let OnFailure::Set(key, word) = event.on_failure {
            self.set(key, word.input());
        }
    }

    fn set(&self, key: &str, value: CstInputValue) {
        match self.handler.get(key) {
            Some(property) => property.set_value(value),
            None => {
                self.handler.append(key, value);
            }
        }
    }

    fn has_more_than(&self, event: &Event) -> bool {
        let known = ["type", "name", self.form.command, "args", "matcher"];
        self.handler.properties().iter().any(|property| {
            let name = property.name().and_then(|name| name.decoded_value().ok());
            let name = name.as_deref().unwrap_or_default();
            !known.contains(&name)
                && event.timeout.is_none_or(|(key, _)| key != name)
                && !matches!(event.on_failure, OnFailure::Set(key, _) if key == name)
        })
    }

    /// Removes it, and whatever is empty without it.
    fn take_out(self) {
        let listed = match self.group {
            Some(group) => {
                let list = group.array_value("hooks");
                self.handler.remove();
                if !list.is_some_and(|list| is_empty(list.children())) {
                    return;
                }
                let listed = group.parent();
                group.remove();
                listed
            }
            None => {
                let listed = self.handler.parent();
                self.handler.remove();
                listed
            }
        };
        let Some(listed) = listed
            .and_then(|listed| listed.as_array())
            .filter(|listed| is_empty(listed.children()))
        else {
            return;
        };
        let event = listed.parent().and_then(|parent| parent.as_object_prop());
        let hooks = event
            .as_ref()
            .and_then(|event| event.parent())
            .and_then(|parent| parent.as_object());
        if let Some(event) = event {
            event.remove();
        }
        let Some(hooks) = hooks.filter(|hooks| is_empty(hooks.children())) else {
            return;
        };
        if let Some(hooks) = hooks.parent().and_then(|parent| parent.as_object_prop()) {
            hooks.remove();
        }
    }
}

/// Whether nothing is left between the brackets, not even a comment.
fn is_empty(children: Vec<CstNode>) -> bool {
    children
        .iter()
        .all(|child| !child.is_comment() && (child.is_trivia() || child.is_token()))
}

fn value_of(object: &CstObject, key: &str) -> Value {
    object
        .get(key)
        .and_then(|property| property.value())
        .and_then(|value| value.to_serde_value())
        .unwrap_or(Value::Null)
}

/// The settings as a value, comments left out.
pub(crate) fn plain_json(text: &str) -> Option<Value> {
    let plain = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let root = CstRootNode::parse(plain, &ParseOptions::default()).ok()?;
    root.to_serde_value()
}
