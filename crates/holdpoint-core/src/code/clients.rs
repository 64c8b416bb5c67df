//! Libraries that do what a program of the command line does, listed as that program.
//!
//! `boto3.client("s3").delete_bucket(Bucket="x")` is `aws s3api delete-bucket --bucket x`, so that
//! one set of rules judges both. A row of the table says how the command is made, in words with
//! holes:
//!
//! - `{0}` `{1}` … an argument, the object of a method being the first; `{name}` one by its name
//! - `{1*}` all arguments from one on, lists taken apart; `{1.}` one taken apart at its blanks
//! - `{of}` what the object was made of; `{method}` how the function is called, `{name}` of a module
//!   by its way: `sh.git.push` is `git push`; `{method-}` with hyphens
//! - `{flags}` arguments by name as `--name value`; `{volumes}` a map of mounts as `-v a:b`
//! - `{file}` the file that is given, open or by its name
//! - `{filter}` whether a query says which: `{}` or `{a:1}`
//!
//! - `{sdk}` a command of Amazon's packages, with its service
//!
//! A word that is one hole is left out where nothing fills it; `·` is a blank inside of a word.

use std::ops::Range;

use super::calls::Args;
use super::tables::Parameter;
use super::values::{Value, text_joined};
use super::walker::Walker;
use super::{CodeEffectKind, Operand};

impl Walker<'_, '_> {
    /// Lists the command of a row.
    pub(super) fn performs_as(&mut self, form: &str, args: &Args, span: &Range<usize>) {
        let mut words: Vec<Operand> = Vec::new();
        for word in form.split_ascii_whitespace() {
            match word
                .strip_prefix('{')
                .and_then(|rest| rest.strip_suffix('}'))
            {
                Some(hole) if !hole.is_empty() && !hole.contains(['{', '}']) => {
                    words.extend(filled(hole, args));
                }
                Some(_) | None => words.push(word_of(word, args)),
            }
        }
        // A program without words is one whose only hole nothing filled.
        if words.len() > 1 {
            self.effect(CodeEffectKind::Run(words), span);
        }
    }

    /// A statement for a database. Only what is known to be one that destroys is listed unless it
    /// is all known: most code puts a name or a number into a query.
    pub(super) fn query(&mut self, form: &str, args: &Args, sure: bool, span: &Range<usize>) {
        // A database that ends with the program.
        if args.list.first().and_then(Value::text) == Some(":memory:") {
            return;
        }
        let statement = args
            .list
            .iter()
            .skip(1)
            .find(|value| !matches!(value, Value::Map(_) | Value::Function | Value::Unknown));
        let listed = match statement.map(Value::operand) {
            Some(Operand::Known(text)) => sure || destroys(&text),
            Some(Operand::Starts(text)) => destroys(&text),
            Some(Operand::Unknown) | None => false,
        };
        if let (true, Some(statement)) = (listed, statement) {
            let args = Args {
                list: vec![
                    args.list.first().cloned().unwrap_or(Value::Unknown),
                    Value::Text(statement.operand()),
                ],
                ..Args::default()
            };
            self.performs_as(form, &args, span);
        }
    }

    /// The Kubernetes client: `delete_namespaced_pod(name, namespace)`.
    pub(super) fn kubernetes(&mut self, args: &Args, span: &Range<usize>) {
        let method = args.called.as_str();
        let (verb, rest) = match method.split_once('_') {
            Some(("delete", rest)) => ("delete", rest),
            Some(("read" | "list", rest)) if rest.contains("secret") => ("get", rest),
            Some(_) | None => return,
        };
        let (all, rest) = match rest.strip_prefix("collection_") {
            Some(rest) => (true, rest),
            None => (false, rest),
        };
        let (inside, kind) = match rest.strip_prefix("namespaced_") {
            Some(kind) => (true, kind),
            None => (false, rest),
        };
        let kind = kind.trim_end_matches("_for_all_namespaces");
        let known = |text: &str| Operand::Known(text.to_owned());
        let mut words = vec![known("kubectl"), known(verb), known(&kind.replace('_', ""))];
        let place = if all {
            words.push(known("--all"));
            Parameter(1, "namespace")
        } else {
            words.push(
                args.at(Parameter(1, "name"))
                    .map_or(Operand::Unknown, Value::operand),
            );
            Parameter(2, "namespace")
        };
        if inside && let Some(namespace) = args.at(place) {
            words.extend([known("-n"), namespace.operand()]);
        }
        if verb == "get" {
            words.extend([known("-o"), known("yaml")]);
        }
        self.effect(CodeEffectKind::Run(words), span);
    }
}

/// A word with text and holes.
fn word_of(word: &str, args: &Args) -> Operand {
    let mut text = Operand::Known(String::new());
    let mut rest = word;
    while let Some((before, after)) = rest.split_once('{') {
        text = text_joined(text, Operand::Known(before.replace('·', " ")));
        let Some((hole, tail)) = after.split_once('}') else {
            return text_joined(text, Operand::Known(format!("{{{after}")));
        };
        let value = if hole.is_empty() {
            Operand::Known("{}".to_owned())
        } else {
            filled(hole, args)
                .into_iter()
                .next()
                .unwrap_or(Operand::Unknown)
        };
        text = text_joined(text, value);
        rest = tail;
    }
    text_joined(text, Operand::Known(rest.replace('·', " ")))
}

/// The file that is given first, open or by its name; nothing where nobody knows which.
fn file(args: &Args) -> Vec<Operand> {
    let opened = args.list.first().map(super::carried::held);
    let opened = opened.into_iter().flatten().find_map(|one| match one {
        super::Carried::File(path) => Some(path),
        super::Carried::Variable(_) | super::Carried::Environment => None,
    });
    let named = || args.list.first().map(Value::operand);
    let found = opened.or_else(named);
    let found = found.filter(|file| *file != Operand::Unknown);
    found.into_iter().collect()
}

/// What fills a hole.
fn filled(hole: &str, args: &Args) -> Vec<Operand> {
    let known = |text: String| Operand::Known(text);
    match hole {
        "of" => match args.list.first() {
            Some(Value::Made(_, inner)) if matches!(**inner, Value::List(_)) => inner.operands(),
            Some(Value::Made(_, inner)) => match inner.operand() {
                // An object made of nothing, or of what nobody knows.
                Operand::Unknown => Vec::new(),
                text @ (Operand::Known(_) | Operand::Starts(_)) => vec![text],
            },
            Some(_) | None => Vec::new(),
        },
        // What the command line calls the service whose client is `s3`.
        "service" => match filled("of", args).pop() {
            Some(Operand::Known(name)) if name == "s3" => vec![known("s3api".to_owned())],
            Some(name) => vec![name],
            None => vec![Operand::Unknown],
        },
        "sdk" => match args.called.split_once('.') {
            Some((service, command)) if command.ends_with("Command") => {
                let service = if service == "s3" { "s3api" } else { service };
                let mut words = vec![known(service.to_owned()), known(hyphened(command))];
                words.extend(options_of(&args.list));
                words
            }
            Some(_) | None => Vec::new(),
        },
        "method" => vec![known(args.called.to_ascii_lowercase())],
        "method-" => vec![known(hyphened(&args.called))],
        "way" => args
            .called
            .split('.')
            .map(|step| known(step.replace('_', "-")))
            .collect(),
        // Making the tables anew takes the old ones away.
        "sync" if args.may_be_on("force") => {
            vec![known("-c".to_owned()), known("DROP TABLE t".to_owned())]
        }
        "sync" => Vec::new(),
        "file" => file(args),
        "flags" => flags(args),
        "volumes" => volumes(args),
        "filter" => {
            let every = match args.list.get(1) {
                Some(Value::Map(pairs)) => pairs.is_empty(),
                Some(_) => false,
                None => true,
            };
            vec![known(if every { "{}" } else { "{a:1}" }.to_owned())]
        }
        _ => positional(hole, args),
    }
}

fn positional(hole: &str, args: &Args) -> Vec<Operand> {
    if let Some(start) = hole.strip_suffix('*').and_then(|text| text.parse().ok()) {
        let mut words: Vec<Operand> = args
            .list
            .iter()
            .skip(start)
            .filter(|value| !matches!(value, Value::Map(_) | Value::Function))
            .flat_map(Value::operands)
            .collect();
        if args.open {
            words.push(Operand::Unknown);
        }
        return words;
    }
    if let Some(place) = hole.strip_suffix('.').and_then(|text| text.parse().ok()) {
        return match args.at(Parameter(place, "command")) {
            Some(Value::Text(Operand::Known(line))) => line
                .split_ascii_whitespace()
                .map(|word| Operand::Known(word.to_owned()))
                .collect(),
            Some(value) => value.operands(),
            None => Vec::new(),
        };
    }
    let value = match hole.parse() {
        Ok(place) => args.at(Parameter(place, "")),
        Err(_) => args.option(hole),
    };
    value.map(Value::operand).into_iter().collect()
}

/// Arguments by name, as a program takes them.
fn flags(args: &Args) -> Vec<Operand> {
    let mut words = written(args.named.iter());
    words.extend(options_of(args.list.get(1..).unwrap_or(&[])));
    words
}

/// The options in maps among the arguments.
fn options_of(list: &[Value]) -> Vec<Operand> {
    let maps = list.iter().filter_map(|value| match value {
        Value::Map(pairs) => Some(pairs.as_slice()),
        Value::Text(_)
        | Value::Number(_)
        | Value::Flag(_)
        | Value::List(_)
        | Value::Name(_)
        | Value::Made(..)
        | Value::Held(..)
        | Value::Method(..)
        | Value::Any(_)
        | Value::Function
        | Value::Unknown => None,
    });
    written(maps.flatten())
}

fn written<'v>(pairs: impl Iterator<Item = &'v (String, Value)>) -> Vec<Operand> {
    let mut words = Vec::new();
    for (name, value) in pairs {
        // One letter is a short flag: `git.clean(f=True)`.
        let flag = if name.chars().count() == 1 {
            format!("-{name}")
        } else {
            format!("--{}", hyphened(name))
        };
        match value {
            Value::Flag(false) => {}
            Value::Flag(true) => words.push(Operand::Known(flag)),
            Value::Map(_) | Value::Function => {
                words.extend([Operand::Known(flag), Operand::Unknown]);
            }
            Value::Text(_)
            | Value::Number(_)
            | Value::List(_)
            | Value::Name(_)
            | Value::Made(..)
            | Value::Method(..)
            | Value::Held(..)
            | Value::Any(_)
            | Value::Unknown => {
                words.push(Operand::Known(flag));
                words.extend(value.operands());
            }
        }
    }
    words
}

fn volumes(args: &Args) -> Vec<Operand> {
    let known = |text: &str| Operand::Known(text.to_owned());
    match args.option("volumes") {
        Some(Value::Map(pairs)) => pairs
            .iter()
            .flat_map(|(from, _)| [known("-v"), known(&format!("{from}:/mounted"))])
            .collect(),
        Some(Value::List(values)) => values
            .iter()
            .flat_map(|value| [known("-v"), value.operand()])
            .collect(),
        Some(_) | None => Vec::new(),
    }
}

/// `delete_bucket` and `deleteBucket` as `delete-bucket`, and `DeleteBucketCommand` too.
fn hyphened(name: &str) -> String {
    let name = name.strip_suffix("Command").unwrap_or(name);
    let mut out = String::with_capacity(name.len() + 4);
    for letter in name.chars() {
        if letter == '_' {
            out.push('-');
        } else if letter.is_ascii_uppercase() {
            if !out.is_empty() && !out.ends_with('-') {
                out.push('-');
            }
            out.push(letter.to_ascii_lowercase());
        } else {
            out.push(letter);
        }
    }
    out
}

/// Whether a statement begins like one that takes something away.
fn destroys(statement: &str) -> bool {
    let mut words = statement
        .split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase);
    match (words.next().as_deref(), words.next().as_deref()) {
        (Some("drop" | "truncate"), Some(_)) => true,
        (Some("delete"), Some("from")) => true,
        (Some("alter"), Some("table" | "database" | "user" | "role")) => true,
        (Some("with" | "begin" | "set" | "update" | "grant" | "revoke"), Some(_)) => {
            let lower = statement.to_ascii_lowercase();
            [
                "drop ",
                "truncate ",
                "delete from",
                "update ",
                "grant ",
                "revoke ",
            ]
            .iter()
            .any(|word| lower.contains(word))
        }
        (_, _) => false,
    }
}
