//! What a call does: the table's acts applied to the arguments.
mod args;
mod canonical;
mod opening;
mod reflection;

use std::ops::Range;

use super::carried::{self, Carried};
use super::constants;
use super::tables::{CallEffect, Depth, Parameter};
use super::values::Value;
use super::walker::Walker;
use super::{CodeEffectKind, Language, Operand, Setting, Unfollowed};
use crate::paths::base_name;
pub(super) use args::Args;
pub(super) use canonical::canonical;
use opening::is_mode_that_writes;

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
            // `sh.Command("rm")("-rf", "/")`
            Value::Made(class, inner) => {
                let table = self.table;
                match table.acts(&format!("{class}#()")) {
                    Some(acts) => {
                        let mut args = args;
                        args.list.insert(0, Value::Made(class, inner));
                        self.perform(acts, &args, span)
                    }
                    None => self.unfollowed(&args, span),
                }
            }
            Value::Number(_)
            | Value::Flag(_)
            | Value::List(_)
            | Value::Map(_)
            | Value::Held(..)
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
            args.called = table.way(name).to_owned();
            return self.perform(acts, &args, span);
        }
        let Some((object, method)) = name.rsplit_once('.') else {
            return self.unfollowed(&args, span);
        };
        // `os.__getattribute__("system")`
        if matches!(method, "__getattribute__" | "__getattr__") {
            args.list.insert(0, Value::Name(object.to_owned()));
            return self.attribute(&args, Parameter(0, ""), Parameter(1, ""), span);
        }
        // All rows of a model: `User.objects.all()`, `User.query`.
        if matches!(method, "all" | "order_by") && object.ends_with(".objects") {
            return Value::Made("Rows", Box::new(Value::Unknown));
        }
        if method == "delete" && object.ends_with(".query") {
            self.performs_as("psql -c DELETE·FROM·t", &args, span);
            return Value::Unknown;
        }
        if let Some(acts) = table.acts(&format!("?#{method}")) {
            args.called = method.to_owned();
            args.list.insert(0, Value::Name(object.to_owned()));
            return self.perform(acts, &args, span);
        }
        // `os.environ["X"].encode()`
        if carried::named(object).is_some() {
            let object = Value::Name(object.to_owned());
            if let Some(value) = constants::method(&object, method, &args.list) {
                return value;
            }
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
            | Value::Held(..)
            | Value::Method(..)
            | Value::Any(_)
            | Value::Function
            | Value::Unknown => "?",
        };
        let table = self.table;
        if let Some(acts) = table.method(class, method) {
            args.called = method.rsplit('.').next().unwrap_or(method).to_owned();
            args.list.insert(0, receiver);
            return self.perform(acts, &args, span);
        }
        let known = match method {
            "format" if matches!(receiver, Value::Text(_)) => {
                Some(constants::filled(&receiver, '{', &args.list, &args.named))
            }
            _ => constants::method(&receiver, method, &args.list),
        };
        self.escape(&receiver, span);
        match known {
            Some(value) if self.limits.copies(value.size()) => value,
            Some(_) | None => self.unfollowed(&args, span),
        }
    }

    /// Does what the table says; the value is that of the call.
    pub(super) fn perform(
        &mut self,
        acts: &[CallEffect],
        args: &Args,
        span: &Range<usize>,
    ) -> Value {
        let mut value = Value::Unknown;
        if acts.iter().all(CallEffect::is_known_effect) {
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

    fn act(&mut self, act: &CallEffect, args: &Args, span: &Range<usize>) -> Option<Value> {
        match act {
            CallEffect::Delete(place, depth) => {
                let recursive = deep(*depth, args);
                for path in args.operands(*place) {
                    self.effect(CodeEffectKind::Delete { path, recursive }, span);
                }
            }
            CallEffect::DeleteAll(start, depth) => {
                let recursive = deep(*depth, args);
                for path in args.operands_from(*start) {
                    self.effect(CodeEffectKind::Delete { path, recursive }, span);
                }
            }
            CallEffect::Write(place) => {
                for path in args.operands(*place) {
                    self.effect(CodeEffectKind::Write { path }, span);
                }
            }
            CallEffect::Append(place) => {
                for path in args.operands(*place) {
                    self.effect(CodeEffectKind::Append { path }, span);
                }
            }
            CallEffect::Read(place) => {
                let mut content = None;
                for path in args.operands(*place) {
                    content = Some(carried::content(path.clone()));
                    self.effect(CodeEffectKind::Read { path }, span);
                }
                return content;
            }
            CallEffect::ChangeMode(place) => {
                for path in args.operands(*place) {
                    self.effect(CodeEffectKind::ChangeMode { path }, span);
                }
            }
            CallEffect::ChangeModeAll(start) => {
                for path in args.operands_from(*start) {
                    self.effect(CodeEffectKind::ChangeMode { path }, span);
                }
            }
            CallEffect::Link(from, to) => {
                let operand = |place| args.at(place).map_or(Operand::Unknown, Value::operand);
                let words = vec![Operand::Known("ln".into()), operand(*from), operand(*to)];
                self.effect(CodeEffectKind::Run(words), span);
            }
            CallEffect::Rename(from, to) => {
                let to = Value::Text(args.at(*to).map_or(Operand::Unknown, Value::operand));
                for from in args.operands(*from) {
                    let to = self.copied(&to).operand();
                    self.effect(CodeEffectKind::Rename { from, to }, span);
                }
            }
            CallEffect::Connect(place) => {
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
                self.sends(&host, args, span);
                self.effect(CodeEffectKind::Connect(host), span);
            }
            CallEffect::Send(place) => {
                let host = args.at(*place).map_or(Operand::Unknown, Value::operand);
                self.sends(&host, args, span);
            }
            CallEffect::Print(start) => {
                for one in args.from(*start).iter().flat_map(carried::held) {
                    if !matches!(one, Carried::File(_)) {
                        self.effect(CodeEffectKind::Print(one), span);
                    }
                }
            }
            CallEffect::ConnectIfAddress(place) => {
                for host in args.operands(*place) {
                    if matches!(&host, Operand::Known(text) | Operand::Starts(text) if is_url(text))
                    {
                        self.sends(&host, args, span);
                        self.effect(CodeEffectKind::Connect(host), span);
                    }
                }
            }
            CallEffect::MakeNamed(class) => {
                let name = args
                    .called
                    .split('.')
                    .next()
                    .unwrap_or("")
                    .to_ascii_lowercase();
                return Some(Value::Made(class, Box::new(Value::known(name))));
            }
            CallEffect::As(form) => self.performs_as(form, args, span),
            CallEffect::Query(form) => self.query(form, args, true, span),
            CallEffect::QueryIfPlain(form) => self.query(form, args, false, span),
            CallEffect::Kubernetes => self.kubernetes(args, span),
            CallEffect::Feed(place) => self.feed(args, *place, span),
            CallEffect::Kill(process, signal) => self.kill(args, *process, *signal, span),
            CallEffect::ChangeDirectory(place) => {
                // Where that is not known, it is most often where the code itself stands.
                if let Some(Operand::Known(to)) = args.at(*place).map(Value::operand) {
                    self.change_directory(Operand::Known(to));
                }
            }
            CallEffect::SetVariable(name, value) => {
                let value = args.at(*value).map_or(Operand::Unknown, Value::operand);
                // PHP's `putenv("NAME=value")`
                if let Some(both) = args.at(*name).and_then(Value::text) {
                    match both.split_once('=') {
                        Some((name, value)) => {
                            self.set_variable(name.to_owned(), Operand::Known(value.to_owned()));
                        }
                        None => self.set_variable(both.to_owned(), value),
                    }
                }
            }
            CallEffect::ConnectIfUrl(place) => {
                let mut content = None;
                for operand in args.operands(*place) {
                    let kind = match &operand {
                        Operand::Known(text) | Operand::Starts(text) if is_url(text) => {
                            self.sends(&operand, args, span);
                            CodeEffectKind::Connect(operand)
                        }
                        Operand::Known(_) | Operand::Starts(_) | Operand::Unknown => {
                            content = Some(carried::content(operand.clone()));
                            CodeEffectKind::Read { path: operand }
                        }
                    };
                    self.effect(kind, span);
                }
                return content;
            }
            CallEffect::Shell(place) => {
                let mut process = None;
                for line in args.operands(*place) {
                    process = Some(self.start_line(line, args, span));
                }
                return process;
            }
            CallEffect::ShellIfKnown(place) => {
                // Whatever else has a method of this name is given no program's name.
                let known = |line: &Operand| match line {
                    Operand::Known(line) => line
                        .split_once(' ')
                        .is_some_and(|(program, _)| crate::shell::is_program(base_name(program))),
                    Operand::Starts(_) | Operand::Unknown => false,
                };
                for line in args.operands(*place).into_iter().filter(known) {
                    self.start_line(line, args, span);
                }
            }
            CallEffect::RunIfKnown(start) => {
                let words = args.operands_from(*start);
                let known = |word: &Operand| matches!(word, Operand::Known(_));
                if let [Operand::Known(line)] = words.as_slice()
                    && line.contains(' ')
                {
                    // `c.run("rm -rf x")` of Invoke and its like.
                    let line = Operand::Known(line.clone());
                    self.effect(CodeEffectKind::Shell(line), span);
                } else if words.len() > 1 && words.iter().all(known) {
                    self.effect(CodeEffectKind::Run(words), span);
                }
            }
            CallEffect::Run(start) => {
                let mut words = args.operands_from(*start);
                words.extend(args.open.then_some(Operand::Unknown));
                // `pexpect.spawn("bash -i")`: a line with its words.
                if let [Operand::Known(line)] = words.as_slice()
                    && line.contains(' ')
                {
                    words = line
                        .split_ascii_whitespace()
                        .map(|word| Operand::Known(word.to_owned()))
                        .collect();
                }
                self.effect(CodeEffectKind::Run(words.clone()), span);
                let words = words.into_iter().map(Value::Text).collect();
                return Some(Value::Made("Process", Box::new(Value::List(words))));
            }
            // The first argument of the program is its own name.
            CallEffect::RunNamed(start) => {
                let mut words = args.operands_from(*start);
                if words.len() > 1 {
                    words.remove(1);
                }
                self.effect(CodeEffectKind::Run(words), span);
            }
            CallEffect::RunVector(program, list) => {
                let mut words = vec![args.at(*program).map_or(Operand::Unknown, Value::operand)];
                match args.at(*list) {
                    Some(Value::List(values)) => {
                        words.extend(values.iter().skip(1).flat_map(Value::operands));
                    }
                    Some(_) | None => words.push(Operand::Unknown),
                }
                self.effect(CodeEffectKind::Run(words), span);
            }
            // A shell that has a terminal and nothing to do waits for whoever types.
            CallEffect::StartOnTerminal(program) => {
                let alone = match args.at(*program) {
                    Some(Value::List(values)) => match values.as_slice() {
                        [only] => only.operand(),
                        _ => Operand::Unknown,
                    },
                    Some(value) => value.operand(),
                    None => Operand::Unknown,
                };
                if let Operand::Known(shell) = &alone
                    && shell.ends_with("sh")
                    && !shell.contains(' ')
                {
                    let words = vec![alone, Operand::Known("-i".to_owned())];
                    self.effect(CodeEffectKind::Run(words), span);
                    return None;
                }
                return Some(self.start(args, span));
            }
            CallEffect::Start => return Some(self.start(args, span)),
            CallEffect::StartList(program, list) => {
                return Some(self.start_list(args, *program, *list, span));
            }
            CallEffect::StartLine => {
                let listed = args
                    .list
                    .iter()
                    .take(2)
                    .any(|value| matches!(value, Value::List(_)));
                return Some(if listed {
                    self.start_list(args, Parameter(0, ""), Parameter(1, ""), span)
                } else {
                    let line = args
                        .at(Parameter(0, ""))
                        .map_or(Operand::Unknown, Value::operand);
                    self.start_line(line, args, span)
                });
            }
            CallEffect::ShellOrList => {
                let what = args
                    .list
                    .iter()
                    .find(|value| !matches!(value, Value::Map(_)));
                return Some(match what {
                    Some(Value::List(_)) => self.start(args, span),
                    Some(line) => self.start_line(line.operand(), args, span),
                    None => self.start_line(Operand::Unknown, args, span),
                });
            }
            CallEffect::System(start) => return self.system(args, *start, span),
            CallEffect::Open(path, mode) => return self.open(args, *path, *mode, span),
            CallEffect::OpenIfWriting(path, mode) => {
                if args
                    .at(*mode)
                    .and_then(Value::text)
                    .is_some_and(is_mode_that_writes)
                {
                    return self.open(args, *path, *mode, span);
                }
            }
            CallEffect::OpenFlags(path, flags) => {
                let reads = match args.at(*flags) {
                    Some(Value::Name(name)) => name.ends_with("O_RDONLY"),
                    Some(_) | None => false,
                };
                for path in args.operands(*path) {
                    self.effect(
                        if reads {
                            CodeEffectKind::Read { path }
                        } else {
                            CodeEffectKind::Write { path }
                        },
                        span,
                    );
                }
            }
            CallEffect::OpenPiped(path, mode) => return self.open_piped(args, *path, *mode, span),
            CallEffect::OpenHandle => self.open_handle(args, span),
            CallEffect::Eval(place) => self.eval(args.at(*place), span),
            CallEffect::EvalAll(start) => {
                for code in args.from(*start) {
                    self.eval(Some(code), span);
                }
                if args.open {
                    self.eval(None, span);
                }
            }
            CallEffect::EvalText(place) => {
                // A block is read where it stands; only a text is code made at run time.
                if let Some(code) = args.at(*place) {
                    self.eval(Some(code), span);
                }
            }
            CallEffect::Import(place) => return Some(self.import(args.at(*place))),
            CallEffect::Attribute(object, name) => {
                return Some(self.attribute(args, *object, *name, span));
            }
            CallEffect::Dispatch(start) => return Some(self.send(args, *start, span)),
            CallEffect::Callback(place) => {
                self.callback(args.list.get(*place), Args::unknown(), span)
            }
            CallEffect::CallWith(place) => {
                let rest = Args {
                    list: args.from(place + 1).to_vec(),
                    open: args.open,
                    ..Args::default()
                };
                self.callback(args.list.get(*place), rest, span);
            }
            CallEffect::Opaque(why) => self.opaque(*why),
            CallEffect::Make(class, place) => {
                let inner = args
                    .at(*place)
                    .map_or(Value::Unknown, |value| self.copied(value));
                return Some(Value::Made(class, Box::new(inner)));
            }
            CallEffect::MakeJoined(class) => {
                let path = constants::path_joined(&args.list);
                return Some(Value::Made(class, Box::new(path)));
            }
            CallEffect::Keep => {
                self.unfollowed(args, span);
                let value = carried::kept(&args.list);
                return Some(self.copied(&value));
            }
            CallEffect::WorkingDirectory(class) => {
                let directory = Value::known(self.limits.place.directory.as_str());
                return Some(match class {
                    Some(class) => Value::Made(class, Box::new(directory)),
                    None => directory,
                });
            }
            CallEffect::Pure(function) => {
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

    /// `system` of Ruby and Perl: one text is a line for the shell, more are arguments.
    fn system(&mut self, args: &Args, start: usize, span: &Range<usize>) -> Option<Value> {
        let mut values: Vec<&Value> = args.from(start).iter().collect();
        // An environment in front and options behind are no words.
        values.retain(|value| !matches!(value, Value::Map(_) | Value::Function));
        if let Some(program) = &args.indirect {
            let mut words = vec![program.operand()];
            words.extend(args.operands_from(start).into_iter().skip(1));
            self.effect(CodeEffectKind::Run(words), span);
            return None;
        }
        let mut setting = Setting {
            input: args.named_option("stdin_data").map(Value::operand),
            directory: args.named_option("chdir").map(Value::operand),
            variables: Vec::new(),
        };
        if let Some(Value::Map(pairs)) = args.from(start).first() {
            setting.variables = pairs
                .iter()
                .map(|(name, value)| (name.clone(), value.operand()))
                .collect();
        }
        let words: Vec<Operand> = match values.as_slice() {
            [] => {
                self.effect(CodeEffectKind::Shell(Operand::Unknown), span);
                return None;
            }
            [Value::List(list)] => list.iter().flat_map(Value::operands).collect(),
            [_] if args.open => vec![Operand::Unknown],
            [line] if setting == Setting::default() => {
                let mut process = None;
                for line in line.operands() {
                    process = Some(self.start_line(line, &Args::default(), span));
                }
                return process;
            }
            [line] => vec![
                Operand::Known("sh".to_owned()),
                Operand::Known("-c".to_owned()),
                line.operand(),
            ],
            // `["rm", "shown name"], "-rf"`: the program is the first of the pair.
            [Value::List(pair), rest @ ..] => pair
                .iter()
                .take(1)
                .chain(rest.iter().copied())
                .flat_map(Value::operands)
                .collect(),
            [_, ..] => values.iter().flat_map(|value| value.operands()).collect(),
        };
        self.deed_under(CodeEffectKind::Run(words.clone()), setting, span);
        let words = words.into_iter().map(Value::Text).collect();
        Some(Value::Made("Process", Box::new(Value::List(words))))
    }

    /// What of this machine's goes to a host with these arguments.
    fn sends(&mut self, host: &Operand, args: &Args, span: &Range<usize>) {
        let named = args
            .named
            .iter()
            .map(|(name, value)| (name.as_str(), value));
        let listed = args.list.iter().map(|value| ("", value));
        let mut found: Vec<Carried> = Vec::new();
        for (name, value) in named.chain(listed) {
            sent(name, value, &mut found);
        }
        for what in found {
            let to = host.clone();
            self.effect(CodeEffectKind::Send { to, what }, span);
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

/// What an argument of a request sends. A variable in a header or a login is how services are used.
fn sent(name: &str, value: &Value, found: &mut Vec<Carried>) {
    if matches!(name, "cert" | "verify" | "timeout") {
        return;
    }
    let login = matches!(name, "headers" | "auth" | "cookies" | "password" | "token");
    if let Value::Map(pairs) = value {
        for (key, value) in pairs {
            sent(if login { name } else { key }, value, found);
        }
        return;
    }
    for one in carried::held(value) {
        let used = login && matches!(one, Carried::Variable(_));
        if !used && !found.contains(&one) {
            found.push(one);
        }
    }
}

fn is_url(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, _)| {
        matches!(scheme, "http" | "https" | "ftp" | "ftps" | "ws" | "wss")
    })
}
