//! Functions of make. Those whose result is known from the text are worked out; the arguments of
//! the others are expanded for what they run, and their result is unknown.

use super::variables::{Expanded, Variables};
use super::words;

/// What a function does.
#[derive(Clone, Copy)]
enum Function {
    /// Runs a command; its output is not known.
    Shell,
    /// Joined words of the last argument, each changed by the others.
    Words(fn(&[&str], &str) -> String),
    /// Either of the last arguments.
    Either,
    /// A variable with arguments.
    Call,
    /// A text for each word.
    Foreach,
    /// The files a pattern matches: left to the shell, which matches alike.
    Wildcard,
    /// Comes to nothing.
    Nothing,
    /// May define anything.
    Defines,
    /// Not worked out.
    Unknown,
}

const FUNCTIONS: &[(&str, Function)] = &[
    ("shell", Function::Shell),
    (
        "subst",
        Function::Words(|arguments, text| match arguments {
            [from, to] if !from.is_empty() => text.replace(from, to),
            _ => text.to_owned(),
        }),
    ),
    (
        "patsubst",
        Function::Words(|arguments, text| match arguments {
            [pattern, replacement] => words::replaced(text, pattern.trim(), replacement.trim()),
            _ => text.to_owned(),
        }),
    ),
    (
        "strip",
        Function::Words(|_, text| words::list(text).join(" ")),
    ),
    (
        "sort",
        Function::Words(|_, text| {
            let mut list = words::list(text);
            list.sort();
            list.dedup();
            list.join(" ")
        }),
    ),
    (
        "addprefix",
        Function::Words(|arguments, text| {
            each(text, |word| {
                format!("{}{word}", arguments.first().unwrap_or(&"").trim())
            })
        }),
    ),
    (
        "addsuffix",
        Function::Words(|arguments, text| {
            each(text, |word| {
                format!("{word}{}", arguments.first().unwrap_or(&"").trim())
            })
        }),
    ),
    (
        "notdir",
        Function::Words(|_, text| {
            each(text, |word| {
                word.rsplit('/').next().unwrap_or_default().to_owned()
            })
        }),
    ),
    (
        "dir",
        Function::Words(|_, text| {
            each(text, |word| {
                word.rsplit_once('/')
                    .map_or("./".to_owned(), |(before, _)| format!("{before}/"))
            })
        }),
    ),
    (
        "firstword",
        Function::Words(|_, text| words::list(text).into_iter().next().unwrap_or_default()),
    ),
    (
        "lastword",
        Function::Words(|_, text| words::list(text).pop().unwrap_or_default()),
    ),
    ("if", Function::Either),
    ("or", Function::Either),
    ("and", Function::Either),
    ("call", Function::Call),
    ("foreach", Function::Foreach),
    ("wildcard", Function::Wildcard),
    ("info", Function::Nothing),
    ("warning", Function::Nothing),
    ("error", Function::Nothing),
    ("eval", Function::Defines),
    ("guile", Function::Defines),
    ("file", Function::Defines),
    ("value", Function::Unknown),
    ("origin", Function::Unknown),
    ("flavor", Function::Unknown),
    ("filter", Function::Unknown),
    ("filter-out", Function::Unknown),
    ("findstring", Function::Unknown),
    ("word", Function::Unknown),
    ("wordlist", Function::Unknown),
    ("words", Function::Unknown),
    ("join", Function::Unknown),
    ("suffix", Function::Unknown),
    ("basename", Function::Unknown),
    ("abspath", Function::Unknown),
    ("realpath", Function::Unknown),
    ("let", Function::Unknown),
    ("intcmp", Function::Unknown),
];

/// Words of a `foreach` followed; with more the recipe is cut.
const MAX_WORDS: usize = 64;

/// The function called between `$(` and `)`, and its arguments as written.
pub(super) fn called(inside: &str) -> Option<(&'static str, &str)> {
    let (name, arguments) = inside.split_once([' ', '\t', '\n'])?;
    let (name, _) = FUNCTIONS.iter().find(|(known, _)| *known == name)?;
    Some((name, arguments.trim_start()))
}

/// What a call comes to.
pub(super) fn call(variables: &mut Variables, name: &str, source: &str) -> Vec<Expanded> {
    let found = FUNCTIONS.iter().find(|(known, _)| *known == name);
    let function = found.map_or(Function::Unknown, |(_, function)| *function);
    let arguments = split(source);
    match function {
        Function::Shell => {
            for command in variables.expand(source) {
                variables.run(&command);
            }
            vec![Expanded::unknown("MAKE_SHELL")]
        }
        Function::Words(work) => {
            let whole = arguments
                .iter()
                .map(|argument| variables.expand(argument))
                .collect::<Vec<_>>();
            let [others @ .., texts] = whole.as_slice() else {
                return vec![Expanded::default()];
            };
            let others: Vec<&Expanded> = others.iter().filter_map(|texts| texts.first()).collect();
            let plain: Vec<&str> = others.iter().map(|text| text.text.as_str()).collect();
            let unknown = others.iter().any(|text| text.unknown);
            texts
                .iter()
                .map(|text| Expanded {
                    text: work(&plain, &text.text),
                    unknown: unknown || text.unknown,
                })
                .collect()
        }
        Function::Either => {
            let skipped = usize::from(name == "if");
            let mut texts = Vec::new();
            for (index, argument) in arguments.iter().enumerate() {
                let expanded = variables.expand(argument.trim());
                if index >= skipped {
                    texts.extend(expanded);
                }
            }
            if name == "if" && arguments.len() < 3 {
                texts.push(Expanded::default());
            }
            texts
        }
        Function::Call => {
            let expanded: Vec<Expanded> = arguments
                .iter()
                .map(|argument| {
                    variables
                        .expand(argument)
                        .into_iter()
                        .next()
                        .unwrap_or_default()
                })
                .collect();
            let name = expanded
                .first()
                .map(|first| first.text.trim().to_owned())
                .unwrap_or_default();
            variables.enter_call(&expanded);
            let texts = if FUNCTIONS.iter().any(|(known, _)| *known == name) {
                variables.mark_unknown();
                vec![Expanded::unknown("MAKE_UNKNOWN")]
            } else {
                variables.reference(&name)
            };
            variables.leave();
            texts
        }
        Function::Foreach => foreach(variables, &arguments),
        Function::Wildcard => variables.expand(source),
        Function::Nothing => {
            variables.expand(source);
            vec![Expanded::default()]
        }
        Function::Defines => {
            variables.expand(source);
            variables.mark_unknown();
            vec![Expanded::default()]
        }
        Function::Unknown => {
            variables.expand(source);
            vec![Expanded::unknown("MAKE_UNKNOWN")]
        }
    }
}

fn foreach(variables: &mut Variables, arguments: &[&str]) -> Vec<Expanded> {
    let [name, list, text] = arguments else {
        return vec![Expanded::unknown("MAKE_UNKNOWN")];
    };
    let name = variables.first(name).trim().to_owned();
    let list = variables
        .expand(list)
        .into_iter()
        .next()
        .unwrap_or_default();
    let mut whole = Expanded {
        text: String::new(),
        unknown: list.unknown,
    };
    for word in list.text.split_ascii_whitespace().take(MAX_WORDS) {
        variables.enter_call(&[]);
        variables.set_local(&name, &word.replace('$', "$$"));
        let texts = variables.expand(text);
        variables.leave();
        if texts.len() > 1 {
            return vec![Expanded::unknown("MAKE_UNKNOWN")];
        }
        for one in texts {
            if !whole.text.is_empty() {
                whole.text.push(' ');
            }
            whole.text.push_str(&one.text);
            whole.unknown |= one.unknown;
        }
    }
    if list.text.split_ascii_whitespace().nth(MAX_WORDS).is_some() {
        whole.unknown = true;
        variables.mark_cut();
    }
    vec![whole]
}

/// Arguments at the commas outside parentheses and braces.
fn split(source: &str) -> Vec<&str> {
    let mut arguments = Vec::new();
    let mut depth = 0usize;
    let mut start = 0;
    for (at, char) in source.char_indices() {
        match char {
            '(' | '{' => depth += 1,
            ')' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                arguments.push(source.get(start..at).unwrap_or_default());
                start = at + 1;
            }
            _ => {}
        }
    }
    arguments.push(source.get(start..).unwrap_or_default());
    arguments
}

fn each(text: &str, change: impl Fn(&str) -> String) -> String {
    let words: Vec<String> = text.split_ascii_whitespace().map(change).collect();
    words.join(" ")
}
