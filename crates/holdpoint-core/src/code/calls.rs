//! What a call does: the table's acts applied to the arguments.

use std::borrow::Cow;
use std::ops::Range;

use super::constants;
use super::tables::{Act, Depth, Place};
use super::values::{Value, text_joined};
use super::walker::Walker;
use super::{DeedKind, Language, Operand, Unfollowed};

/// The arguments of a call.
#[derive(Default)]
pub(super) struct Args {
    pub(super) list: Vec<Value>,
    pub(super) named: Vec<(String, Value)>,
    /// More arguments than are listed may stand here.
    pub(super) open: bool,
    /// The program in front of Perl's `system { … } …`.
    pub(super) indirect: Option<Box<Value>>,
}

static UNKNOWN: Value = Value::Unknown;

impl Args {
    pub(super) fn one(value: Value) -> Self {
        Self {
            list: vec![value],
            ..Self::default()
        }
    }

    /// Arguments of a call that is not seen.
    pub(super) fn unknown() -> Self {
        Self {
            open: true,
            ..Self::default()
        }
    }

    fn at(&self, place: Place) -> Option<&Value> {
        self.list
            .get(place.0)
            .or_else(|| self.named(place.1))
            .or(self.open.then_some(&UNKNOWN))
    }

    fn named(&self, name: &str) -> Option<&Value> {
        self.named
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value)
    }

    /// An option, given by name or in a map among the arguments.
    fn option(&self, name: &str) -> Option<&Value> {
        self.named(name)
            .or_else(|| {
                self.list.iter().find_map(|value| match value {
                    Value::Map(pairs) => pairs
                        .iter()
                        .find(|(key, _)| key == name)
                        .map(|(_, value)| value),
                    Value::Text(_)
                    | Value::Number(_)
                    | Value::Flag(_)
                    | Value::List(_)
                    | Value::Name(_)
                    | Value::Made(..)
                    | Value::Method(..)
                    | Value::Any(_)
                    | Value::Function
                    | Value::Unknown => None,
                })
            })
            .or(self.open.then_some(&UNKNOWN))
    }

    /// Whether an option is on, or could be.
    fn may_be_on(&self, name: &str) -> bool {
        self.option(name)
            .is_some_and(|value| !matches!(value, Value::Flag(false) | Value::Number(0)))
    }

    fn from(&self, start: usize) -> &[Value] {
        self.list.get(start..).unwrap_or(&[])
    }

    /// The operands from one on, all alternatives and lists taken apart.
    fn operands_from(&self, start: usize) -> Vec<Operand> {
        let mut operands: Vec<Operand> = self
            .from(start)
            .iter()
            .filter(|value| !matches!(value, Value::Map(_) | Value::Function))
            .flat_map(Value::operands)
            .collect();
        if operands.is_empty() || (self.open && !operands.contains(&Operand::Unknown)) {
            operands.push(Operand::Unknown);
        }
        operands
    }

    fn operands(&self, place: Place) -> Vec<Operand> {
        self.at(place)
            .map_or_else(|| vec![Operand::Unknown], Value::operands)
    }
}

impl Walker<'_, '_> {
    /// A call of some value.
    pub(super) fn call(&mut self, callee: Value, args: Args, span: &Range<usize>) -> Value {
        match callee {
            Value::Name(name) => self.call_name(&name, args, span),
            Value::Method(receiver, method) => self.call_method(*receiver, &method, args, span),
            // PHP calls functions by strings.
            Value::Text(Operand::Known(name)) if self.is(Language::Php) => {
                self.call_name(&name, args, span)
            }
            Value::Any(values) => {
                for value in values {
                    self.escape(&value, span);
                    if self.is(Language::Php) {
                        self.opaque(Unfollowed::DynamicName);
                    }
                }
                self.unfollowed(&args, span)
            }
            Value::Unknown | Value::Text(_) => {
                if self.is(Language::Php) {
                    self.opaque(Unfollowed::DynamicName);
                }
                self.unfollowed(&args, span)
            }
            Value::Number(_)
            | Value::Flag(_)
            | Value::List(_)
            | Value::Map(_)
            | Value::Made(..)
            | Value::Function => self.unfollowed(&args, span),
        }
    }

    /// A call that means nothing here; what it is given is out of sight.
    fn unfollowed(&mut self, args: &Args, span: &Range<usize>) -> Value {
        for value in args
            .list
            .iter()
            .chain(args.named.iter().map(|(_, value)| value))
        {
            self.escape(value, span);
        }
        Value::Unknown
    }

    /// Functions that call functions by name go one level deeper each.
    fn call_name(&mut self, name: &str, args: Args, span: &Range<usize>) -> Value {
        if !self.descend() {
            return Value::Unknown;
        }
        let value = self.call_function(name, args, span);
        self.ascend();
        value
    }

    fn call_function(&mut self, name: &str, mut args: Args, span: &Range<usize>) -> Value {
        // `f.call(this, x)`, `f.apply(this, [x])`, `f.__call__(x)`
        if let Some((function, how)) = name.rsplit_once('.')
            && self.table.acts(function).is_some()
        {
            match how {
                "call" if self.is(Language::Ruby) => return self.call_name(function, args, span),
                "call" if self.is(Language::JavaScript) => {
                    args.list = args.list.into_iter().skip(1).collect();
                    return self.call_name(function, args, span);
                }
                "apply" if self.is(Language::JavaScript) => {
                    let list = match args.list.into_iter().nth(1) {
                        Some(Value::List(values)) => Args {
                            list: values,
                            ..Args::default()
                        },
                        Some(_) | None => Args::unknown(),
                    };
                    return self.call_name(function, list, span);
                }
                "__call__" => return self.call_name(function, args, span),
                "bind" => {
                    self.escape(&Value::Name(function.to_owned()), span);
                    return Value::Unknown;
                }
                _ => {}
            }
        }
        let table = self.table;
        if let Some(acts) = table.acts(name) {
            return self.perform(acts, &args, span);
        }
        if let Some((object, method)) = name.rsplit_once('.')
            && let Some(acts) = table.acts(&format!("?#{method}"))
        {
            args.list.insert(0, Value::Name(object.to_owned()));
            return self.perform(acts, &args, span);
        }
        self.unfollowed(&args, span)
    }

    fn call_method(
        &mut self,
        receiver: Value,
        method: &str,
        mut args: Args,
        span: &Range<usize>,
    ) -> Value {
        let class = match &receiver {
            Value::Made(class, _) => class,
            Value::Text(_)
            | Value::Number(_)
            | Value::Flag(_)
            | Value::List(_)
            | Value::Map(_)
            | Value::Name(_)
            | Value::Method(..)
            | Value::Any(_)
            | Value::Function
            | Value::Unknown => "?",
        };
        let table = self.table;
        let acts = table
            .acts(&format!("{class}#{method}"))
            .or_else(|| table.acts(&format!("?#{method}")));
        if let Some(acts) = acts {
            args.list.insert(0, receiver);
            return self.perform(acts, &args, span);
        }
        let known = constants::method(&receiver, method, &args.list);
        self.escape(&receiver, span);
        match known {
            Some(value) if self.limits.copies(value.size()) => value,
            Some(_) | None => self.unfollowed(&args, span),
        }
    }

    /// Does what the table says; the value is that of the call.
    pub(super) fn perform(&mut self, acts: &[Act], args: &Args, span: &Range<usize>) -> Value {
        let mut value = Value::Unknown;
        if acts.iter().all(Act::is_deed) {
            // A function among the arguments is called by this one.
            self.unfollowed(args, span);
        }
        for act in acts {
            if let Some(made) = self.act(act, args, span) {
                value = made;
            }
        }
        value
    }

    fn act(&mut self, act: &Act, args: &Args, span: &Range<usize>) -> Option<Value> {
        match act {
            Act::Delete(place, depth) => {
                let recursive = deep(*depth, args);
                for path in args.operands(*place) {
                    self.deed(DeedKind::Delete { path, recursive }, span);
                }
            }
            Act::DeleteAll(start, depth) => {
                let recursive = deep(*depth, args);
                for path in args.operands_from(*start) {
                    self.deed(DeedKind::Delete { path, recursive }, span);
                }
            }
            Act::Write(place) => {
                for path in args.operands(*place) {
                    self.deed(DeedKind::Write { path }, span);
                }
            }
            Act::Append(place) => {
                for path in args.operands(*place) {
                    self.deed(DeedKind::Append { path }, span);
                }
            }
            Act::Read(place) => {
                for path in args.operands(*place) {
                    self.deed(DeedKind::Read { path }, span);
                }
            }
            Act::ChangeMode(place) => {
                for path in args.operands(*place) {
                    self.deed(DeedKind::ChangeMode { path }, span);
                }
            }
            Act::ChangeModeAll(start) => {
                for path in args.operands_from(*start) {
                    self.deed(DeedKind::ChangeMode { path }, span);
                }
            }
            Act::Rename(from, to) => {
                let to = Value::Text(args.at(*to).map_or(Operand::Unknown, Value::operand));
                for from in args.operands(*from) {
                    let to = self.copied(&to).operand();
                    self.deed(DeedKind::Rename { from, to }, span);
                }
            }
            Act::Connect(place) => {
                let host = match args.at(*place) {
                    // A host and its port.
                    Some(Value::List(pair)) => {
                        pair.first().map_or(Operand::Unknown, Value::operand)
                    }
                    Some(Value::Map(_)) => ["hostname", "host", "url", "path"]
                        .iter()
                        .find_map(|key| args.option(key))
                        .map_or(Operand::Unknown, Value::operand),
                    Some(value) => value.operand(),
                    None => Operand::Unknown,
                };
                self.deed(DeedKind::Connect(host), span);
            }
            Act::ConnectIfUrl(place) => {
                for operand in args.operands(*place) {
                    let kind = match &operand {
                        Operand::Known(text) | Operand::Starts(text) if is_url(text) => {
                            DeedKind::Connect(operand)
                        }
                        Operand::Known(_) | Operand::Starts(_) | Operand::Unknown => {
                            DeedKind::Read { path: operand }
                        }
                    };
                    self.deed(kind, span);
                }
            }
            Act::Shell(place) => {
                for line in args.operands(*place) {
                    self.deed(DeedKind::Shell(line), span);
                }
            }
            Act::Run(start) => {
                let mut words = args.operands_from(*start);
                words.extend(args.open.then_some(Operand::Unknown));
                self.deed(DeedKind::Run(words), span);
            }
            // The first argument of the program is its own name.
            Act::RunNamed(start) => {
                let mut words = args.operands_from(*start);
                if words.len() > 1 {
                    words.remove(1);
                }
                self.deed(DeedKind::Run(words), span);
            }
            Act::RunVector(program, list) => {
                let mut words = vec![args.at(*program).map_or(Operand::Unknown, Value::operand)];
                match args.at(*list) {
                    Some(Value::List(values)) => {
                        words.extend(values.iter().skip(1).flat_map(Value::operands));
                    }
                    Some(_) | None => words.push(Operand::Unknown),
                }
                self.deed(DeedKind::Run(words), span);
            }
            Act::Start => self.start(args, span),
            Act::StartList(program, list) => self.start_list(args, *program, *list, span),
            Act::ShellOrList => {
                let what = args
                    .list
                    .iter()
                    .find(|value| !matches!(value, Value::Map(_)));
                let kind = match what {
                    Some(Value::List(words)) => {
                        DeedKind::Run(words.iter().flat_map(Value::operands).collect())
                    }
                    Some(line) => DeedKind::Shell(line.operand()),
                    None => DeedKind::Shell(Operand::Unknown),
                };
                self.deed(kind, span);
            }
            Act::System(start) => self.system(args, *start, span),
            Act::Open(path, mode) => self.open(args, *path, *mode, span),
            Act::OpenIfWriting(path, mode) => {
                if args
                    .at(*mode)
                    .and_then(Value::text)
                    .is_some_and(|mode| mode.contains(['w', 'a', 'x', '+']))
                {
                    self.open(args, *path, *mode, span);
                }
            }
            Act::OpenFlags(path, flags) => {
                let reads = match args.at(*flags) {
                    Some(Value::Name(name)) => name.ends_with("O_RDONLY"),
                    Some(_) | None => false,
                };
                for path in args.operands(*path) {
                    self.deed(
                        if reads {
                            DeedKind::Read { path }
                        } else {
                            DeedKind::Write { path }
                        },
                        span,
                    );
                }
            }
            Act::OpenPiped(path, mode) => self.open_piped(args, *path, *mode, span),
            Act::OpenHandle => self.open_handle(args, span),
            Act::Eval(place) => self.eval(args.at(*place), span),
            Act::EvalAll(start) => {
                for code in args.from(*start) {
                    self.eval(Some(code), span);
                }
                if args.open {
                    self.eval(None, span);
                }
            }
            Act::EvalText(place) => {
                // A block is read where it stands; only a text is code made at run time.
                if let Some(code) = args.at(*place) {
                    self.eval(Some(code), span);
                }
            }
            Act::Import(place) => return Some(self.import(args.at(*place))),
            Act::Attribute(object, name) => {
                return Some(self.attribute(args, *object, *name, span));
            }
            Act::Send(start) => return Some(self.send(args, *start, span)),
            Act::Callback(place) => self.callback(args.list.get(*place), Args::unknown(), span),
            Act::CallWith(place) => {
                let rest = Args {
                    list: args.from(place + 1).to_vec(),
                    open: args.open,
                    ..Args::default()
                };
                self.callback(args.list.get(*place), rest, span);
            }
            Act::Opaque(why) => self.opaque(*why),
            Act::Make(class, place) => {
                let inner = args
                    .at(*place)
                    .map_or(Value::Unknown, |value| self.copied(value));
                return Some(Value::Made(class, Box::new(inner)));
            }
            Act::MakeJoined(class) => {
                let path = constants::path_joined(&args.list);
                return Some(Value::Made(class, Box::new(path)));
            }
            Act::Pure(function) => {
                let value = function(&args.list);
                return Some(if self.limits.copies(value.size()) {
                    value
                } else {
                    Value::Unknown
                });
            }
        }
        None
    }

    /// Python's `subprocess`: a list is arguments, a text is a program or a line for the shell.
    fn start(&mut self, args: &Args, span: &Range<usize>) {
        let shell = args.may_be_on("shell");
        let what = args.at(Place(0, "args")).or_else(|| args.option("cmd"));
        let kind = match what {
            Some(Value::List(values)) if shell => {
                DeedKind::Shell(values.first().map_or(Operand::Unknown, Value::operand))
            }
            Some(Value::List(values)) => {
                DeedKind::Run(values.iter().flat_map(Value::operands).collect())
            }
            Some(value) if shell => DeedKind::Shell(value.operand()),
            Some(value) => DeedKind::Run(vec![value.operand()]),
            None if shell => DeedKind::Shell(Operand::Unknown),
            None => DeedKind::Run(vec![Operand::Unknown]),
        };
        self.deed(kind, span);
    }

    /// Node's `spawn(program, [arguments], {shell})`.
    fn start_list(&mut self, args: &Args, program: Place, list: Place, span: &Range<usize>) {
        let mut words = match args.at(program) {
            Some(Value::List(values)) => values.iter().flat_map(Value::operands).collect(),
            Some(value) => vec![value.operand()],
            None => vec![Operand::Unknown],
        };
        let given = args.option("args").or(args.at(list));
        match given {
            Some(Value::List(values)) => words.extend(values.iter().flat_map(Value::operands)),
            Some(Value::Map(_) | Value::Function) | None => {}
            Some(_) => words.push(Operand::Unknown),
        }
        let kind = if args.may_be_on("shell") {
            DeedKind::Shell(spaced(&words))
        } else {
            DeedKind::Run(words)
        };
        self.deed(kind, span);
    }

    /// `system` of Ruby and Perl: one text is a line for the shell, more are arguments.
    fn system(&mut self, args: &Args, start: usize, span: &Range<usize>) {
        let mut values: Vec<&Value> = args.from(start).iter().collect();
        // An environment in front and options behind are no words.
        values.retain(|value| !matches!(value, Value::Map(_) | Value::Function));
        if let Some(program) = &args.indirect {
            let mut words = vec![program.operand()];
            words.extend(args.operands_from(start).into_iter().skip(1));
            self.deed(DeedKind::Run(words), span);
            return;
        }
        match values.as_slice() {
            [] => self.deed(DeedKind::Shell(Operand::Unknown), span),
            [Value::List(list)] => {
                let words = list.iter().flat_map(Value::operands).collect();
                self.deed(DeedKind::Run(words), span);
            }
            [_] if args.open => self.deed(DeedKind::Run(vec![Operand::Unknown]), span),
            [line] => {
                for line in line.operands() {
                    self.deed(DeedKind::Shell(line), span);
                }
            }
            [_, ..] => {
                let words = values.iter().flat_map(|value| value.operands()).collect();
                self.deed(DeedKind::Run(words), span);
            }
        }
    }

    fn open(&mut self, args: &Args, path: Place, mode: Place, span: &Range<usize>) {
        let how = match args.at(mode) {
            None | Some(Value::Map(_) | Value::Function) => Opening::Read,
            Some(value) => match value.text() {
                Some(mode) => Opening::of(mode),
                None => Opening::Write,
            },
        };
        for path in args.operands(path) {
            self.opened(how, path, span);
        }
    }

    fn opened(&mut self, how: Opening, path: Operand, span: &Range<usize>) {
        let kind = match how {
            Opening::Read => DeedKind::Read { path },
            Opening::Write => DeedKind::Write { path },
            Opening::Append => DeedKind::Append { path },
        };
        self.deed(kind, span);
    }

    /// Ruby's `open`: a bar in front makes it a command.
    fn open_piped(&mut self, args: &Args, path: Place, mode: Place, span: &Range<usize>) {
        match args.at(path).map(Value::operand) {
            Some(Operand::Known(text)) if text.starts_with('|') => {
                let line = text.trim_start_matches('|').trim_start().to_owned();
                self.deed(DeedKind::Shell(Operand::Known(line)), span);
            }
            Some(Operand::Starts(text)) if text.starts_with('|') => {
                let line = text.trim_start_matches('|').trim_start().to_owned();
                self.deed(DeedKind::Shell(Operand::Starts(line)), span);
            }
            Some(Operand::Known(text)) if is_url(&text) => {
                self.deed(DeedKind::Connect(Operand::Known(text)), span);
            }
            Some(Operand::Starts(text)) if is_url(&text) => {
                self.deed(DeedKind::Connect(Operand::Starts(text)), span);
            }
            Some(Operand::Known(_) | Operand::Starts(_) | Operand::Unknown) | None => {
                self.open(args, path, mode, span);
            }
        }
    }

    /// Perl's `open(HANDLE, MODE, PATH)` and `open(HANDLE, "mode and path")`.
    fn open_handle(&mut self, args: &Args, span: &Range<usize>) {
        let Some(second) = args.list.get(1) else {
            if args.open {
                self.deed(DeedKind::Shell(Operand::Unknown), span);
            }
            return;
        };
        if args.list.len() > 2 {
            let path = args.list.get(2).map_or(Operand::Unknown, Value::operand);
            let mode = second.text().map(|mode| mode.trim().to_owned());
            match mode.as_deref() {
                Some("-|" | "|-") if args.list.len() > 3 => {
                    let words = args.operands_from(2);
                    self.deed(DeedKind::Run(words), span);
                }
                Some("-|" | "|-") => self.deed(DeedKind::Shell(path), span),
                Some(mode) => self.opened(Opening::of_signs(mode), path, span),
                None => match second.operand() {
                    Operand::Starts(mode) => self.opened(Opening::of_signs(&mode), path, span),
                    Operand::Known(_) | Operand::Unknown => self.opened(Opening::Write, path, span),
                },
            }
            return;
        }
        let operand = second.operand();
        let (Operand::Known(text) | Operand::Starts(text)) = &operand else {
            self.deed(DeedKind::Shell(Operand::Unknown), span);
            return;
        };
        let trimmed = text.trim();
        let rebuilt = |rest: &str| match &operand {
            Operand::Known(_) => Operand::Known(rest.trim().to_owned()),
            Operand::Starts(_) | Operand::Unknown if rest.trim().is_empty() => Operand::Unknown,
            Operand::Starts(_) | Operand::Unknown => Operand::Starts(rest.trim_start().to_owned()),
        };
        if let Some(line) = trimmed.strip_prefix('|') {
            self.deed(DeedKind::Shell(rebuilt(line)), span);
        } else if let (Some(line), Operand::Known(_)) = (trimmed.strip_suffix('|'), &operand) {
            self.deed(DeedKind::Shell(rebuilt(line)), span);
        } else {
            let rest = trimmed.trim_start_matches(['<', '>', '+']);
            let signs = trimmed.strip_suffix(rest).unwrap_or("");
            // `open(F, $x)` could still end in a bar.
            if signs.is_empty() && !matches!(operand, Operand::Known(_)) {
                self.deed(DeedKind::Shell(rebuilt(rest)), span);
            } else {
                let path = rebuilt(rest);
                self.opened(Opening::of_signs(signs), path, span);
            }
        }
    }

    /// A function that PHP is given by name.
    fn callback(&mut self, function: Option<&Value>, args: Args, span: &Range<usize>) {
        match function {
            Some(Value::Text(Operand::Known(name))) => {
                self.call_name(name, args, span);
            }
            Some(Value::Text(_) | Value::Unknown) => self.opaque(Unfollowed::DynamicName),
            Some(_) | None => {}
        }
    }

    /// What Perl's `<>` opens: a name with a bar is a command.
    pub(super) fn opened_by_diamond(&mut self, names: &Value, span: &Range<usize>) {
        for name in names.operands() {
            let args = Args {
                list: vec![Value::Unknown, Value::Text(name)],
                ..Args::default()
            };
            self.open_handle(&args, span);
        }
    }

    fn eval(&mut self, code: Option<&Value>, span: &Range<usize>) {
        match code {
            Some(Value::Function | Value::Map(_) | Value::Number(_) | Value::Flag(_)) => {}
            Some(Value::Text(Operand::Known(text))) => {
                let text = text.clone();
                self.run_code(self.syntax.language, &text, span);
            }
            Some(_) | None => {
                self.deed(DeedKind::Eval, span);
                self.opaque(Unfollowed::Evaluates);
            }
        }
    }

    /// A module by its name.
    pub(super) fn import(&mut self, name: Option<&Value>) -> Value {
        // `require Foo::Bar`: a word of Perl without a sigil is itself.
        if let Some(Value::Name(name)) = name
            && self.is(Language::Perl)
        {
            return Value::Name(name.clone());
        }
        match name.map(Value::operand) {
            Some(Operand::Known(name)) => Value::Name(name),
            // `require("./" + name)` is a file and no module with powers of its own.
            Some(Operand::Starts(start)) if start.starts_with(['.', '/']) => Value::Unknown,
            Some(Operand::Starts(_) | Operand::Unknown) | None => {
                self.opaque(Unfollowed::DynamicName);
                Value::Unknown
            }
        }
    }

    /// `getattr(object, name)`.
    fn attribute(&mut self, args: &Args, object: Place, name: Place, span: &Range<usize>) -> Value {
        let receiver = args
            .at(object)
            .map_or(Value::Unknown, |value| self.copied(value));
        match args.at(name).and_then(Value::text) {
            Some(name) => receiver.member(name),
            None => {
                let followed = match &receiver {
                    Value::Name(name) => !self.table.has_members(name),
                    Value::Text(_)
                    | Value::Number(_)
                    | Value::Flag(_)
                    | Value::List(_)
                    | Value::Map(_)
                    | Value::Made(..)
                    | Value::Method(..)
                    | Value::Any(_)
                    | Value::Function
                    | Value::Unknown => true,
                };
                if !followed {
                    self.opaque(Unfollowed::DynamicName);
                }
                self.escape(&receiver, span);
                Value::Unknown
            }
        }
    }

    /// Ruby's `send(:name, …)`, with or without a receiver in front.
    fn send(&mut self, args: &Args, start: usize, span: &Range<usize>) -> Value {
        let Some(name) = args.list.get(start).and_then(Value::text) else {
            self.opaque(Unfollowed::DynamicName);
            return Value::Unknown;
        };
        let rest = Args {
            list: args.from(start + 1).to_vec(),
            open: args.open,
            ..Args::default()
        };
        let callee = match start.checked_sub(1).and_then(|near| args.list.get(near)) {
            Some(Value::Name(receiver)) => {
                let full = format!("{receiver}.{name}");
                let known = self.table.acts(&full).is_some();
                Value::Name(if known { full } else { name.to_owned() })
            }
            Some(_) | None => Value::Name(name.to_owned()),
        };
        self.call(callee, rest, span)
    }
}

#[derive(Clone, Copy)]
enum Opening {
    Read,
    Write,
    Append,
}

impl Opening {
    /// `"w"`, `"r+"`, `"ab"`
    fn of(mode: &str) -> Self {
        if mode.contains(['w', 'x', '+', 'c']) {
            Opening::Write
        } else if mode.contains('a') {
            Opening::Append
        } else {
            Opening::Read
        }
    }

    /// `">"`, `">>"`, `"+<"`
    fn of_signs(mode: &str) -> Self {
        if mode.contains(">>") {
            Opening::Append
        } else if mode.contains(['>', '+']) {
            Opening::Write
        } else {
            Opening::Read
        }
    }
}

fn deep(depth: Depth, args: &Args) -> bool {
    match depth {
        Depth::One => false,
        Depth::Tree => true,
        Depth::If(option) => args.may_be_on(option),
    }
}

fn is_url(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, _)| {
        matches!(scheme, "http" | "https" | "ftp" | "ftps" | "ws" | "wss")
    })
}

/// Words as a shell would be given them.
fn spaced(words: &[Operand]) -> Operand {
    let mut line = Operand::Known(String::new());
    for (at, word) in words.iter().enumerate() {
        if at > 0 {
            line = text_joined(line, Operand::Known(" ".to_owned()));
        }
        line = text_joined(line, word.clone());
    }
    line
}

/// A name as the table spells it.
pub(super) fn canonical(language: Language, name: &str) -> Cow<'_, str> {
    match language {
        Language::Python => {
            for (from, to) in [
                ("builtins.", ""),
                ("__builtins__.", ""),
                ("posix.", "os."),
                ("nt.", "os."),
            ] {
                if let Some(rest) = name.strip_prefix(from) {
                    return Cow::Owned(format!("{to}{rest}"));
                }
            }
            Cow::Borrowed(name)
        }
        Language::JavaScript => javascript_name(name),
        Language::Ruby => Cow::Borrowed(
            ["Kernel.", "Object.", "self.", "Process."]
                .iter()
                .find_map(|prefix| name.strip_prefix(prefix))
                .filter(|rest| {
                    matches!(
                        *rest,
                        "system"
                            | "exec"
                            | "spawn"
                            | "eval"
                            | "open"
                            | "load"
                            | "send"
                            | "require"
                            | "const_get"
                            | "instance_eval"
                            | "class_eval"
                            | "`"
                    )
                })
                .unwrap_or(name),
        ),
        Language::Perl => Cow::Borrowed(
            ["CORE.GLOBAL.", "CORE."]
                .iter()
                .find_map(|prefix| name.strip_prefix(prefix))
                .unwrap_or(name),
        ),
        Language::Php => Cow::Owned(name.trim_start_matches('\\').to_ascii_lowercase()),
        Language::Lua => Cow::Borrowed(name.strip_prefix("_G.").unwrap_or(name)),
        Language::Awk | Language::Vim => Cow::Borrowed(name),
    }
}

fn javascript_name(name: &str) -> Cow<'_, str> {
    let mut name = name;
    while let Some(rest) = ["globalThis.", "global.", "window.", "self.", "node:"]
        .iter()
        .find_map(|prefix| name.strip_prefix(prefix))
    {
        name = rest;
    }
    for (module, known) in [
        ("fs/promises", "fs"),
        ("fs-extra", "fs"),
        ("graceful-fs", "fs"),
        ("fs.promises", "fs"),
        ("fs.default", "fs"),
        ("child_process.default", "child_process"),
        ("process.mainModule.require", "require"),
        ("module.require", "require"),
        ("process.getBuiltinModule", "require"),
        ("module.constructor._load", "require"),
    ] {
        if let Some(rest) = name.strip_prefix(module)
            && (rest.is_empty() || rest.starts_with('.'))
        {
            return Cow::Owned(format!(
                "{known}{}",
                rest.strip_suffix("Sync").unwrap_or(rest)
            ));
        }
    }
    if name.starts_with('?') {
        // `execSync` says more about an unknown object than `exec`.
        return Cow::Borrowed(name);
    }
    Cow::Borrowed(name.strip_suffix("Sync").unwrap_or(name))
}
