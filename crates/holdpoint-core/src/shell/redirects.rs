//! What the redirects of a command mean to it.
//!
//! Promises the kind and target of each redirect, with the text of a here-document in place
//! of its delimiter, and what the command reads on its standard input because of them. The
//! code inside targets and bodies is listed by `walk`.

use super::commands::{Redirection, RedirectionKind, Text};
use super::environment::{Origin, Value};
use super::files::Content;
use super::input::Input;
use super::texts::Expander;
use super::tree::{HereDocument, Part, Redirect, RedirectKind, Span};

/// What a command with these redirects reads.
pub(super) fn input(
    redirects: &[Redirect],
    words: &Expander<'_>,
    documents: &[HereDocument],
    inherited: &Input,
) -> Input {
    let mut input = inherited.clone();
    for redirect in redirects {
        if redirect.descriptor.as_deref().is_some_and(|fd| fd != "0") {
            continue;
        }
        // `< <(…)`
        if let (RedirectKind::Read, [Part::Process(code)]) =
            (redirect.kind, redirect.target.parts.as_slice())
        {
            input = words.output(code);
            continue;
        }
        input = match redirect.kind {
            RedirectKind::Read | RedirectKind::ReadWrite | RedirectKind::DuplicateInput => {
                let file = words.argument(&redirect.target, &redirect.span);
                match file.known() {
                    Some("/dev/null") => Input::Empty,
                    Some(path) => content(words, path),
                    None => Input::Unknown(file.origin.unwrap_or(Origin::Elsewhere)),
                }
            }
            RedirectKind::HereString => {
                let word = words.argument(&redirect.target, &redirect.span);
                match word.known() {
                    Some(text) => Input::text(&format!("{text}\n")),
                    None if word.may_fail() => {
                        let origin = word.origin.unwrap_or(Origin::Elsewhere);
                        Input::from_value(&Value::partly(origin, word.unquoted(), None))
                    }
                    None => Input::from_value(&word.value()),
                }
            }
            RedirectKind::HereDocument(number) => match documents.get(number) {
                Some(document) => match words.document(&document.parts) {
                    (text, true) => Input::text(&text),
                    (text, false) => {
                        Input::from_value(&Value::partly(Origin::Elsewhere, &text, None))
                    }
                },
                None => Input::Unknown(Origin::Elsewhere),
            },
            RedirectKind::Write
            | RedirectKind::Append
            | RedirectKind::Clobber
            | RedirectKind::DuplicateOutput
            | RedirectKind::WriteBoth
            | RedirectKind::AppendBoth => continue,
        };
    }
    input
}

/// Whether one of these redirects may be an error, after which the command does not run.
pub(super) fn may_fail(redirects: &[Redirect], words: &Expander<'_>) -> bool {
    redirects.iter().any(|redirect| {
        let target = words.argument(&redirect.target, &redirect.span);
        let missing = match (redirect.kind, target.known()) {
            (RedirectKind::Read, Some("/dev/null")) => false,
            (RedirectKind::Read, Some(path)) => words.environment.content(path).is_none(),
            (RedirectKind::Read, None) => true,
            (_, _) => false,
        };
        missing || target.may_fail()
    })
}

/// What a file holds, if the text wrote it.
pub(super) fn content(words: &Expander<'_>, path: &str) -> Input {
    match words.environment.content(path) {
        Some(Content::Known(text)) => Input::Known(text),
        Some(Content::From(origin)) => Input::Unknown(origin),
        Some(Content::Same(_) | Content::Link(_) | Content::Edited) | None => {
            Input::Unknown(Origin::Elsewhere)
        }
    }
}

/// Whether what a command prints goes elsewhere than to whoever reads it.
pub(super) fn diverts_output(redirects: &[Redirect]) -> bool {
    redirects.iter().any(|redirect| {
        let output = redirect.descriptor.as_deref().is_none_or(|fd| fd == "1");
        match redirect.kind {
            RedirectKind::Write | RedirectKind::Append | RedirectKind::Clobber => output,
            RedirectKind::WriteBoth | RedirectKind::AppendBoth => true,
            RedirectKind::DuplicateOutput => output && redirect.target.plain() != Some("1"),
            RedirectKind::Read
            | RedirectKind::ReadWrite
            | RedirectKind::DuplicateInput
            | RedirectKind::HereString
            | RedirectKind::HereDocument(_) => false,
        }
    })
}

/// The redirects as they are listed.
pub(super) fn redirections(
    redirects: &[Redirect],
    words: &Expander<'_>,
    documents: &[HereDocument],
    held: Option<&Span>,
) -> Vec<Redirection> {
    let place = |span: &Span| held.cloned().unwrap_or_else(|| span.clone());
    redirects
        .iter()
        .map(|redirect| {
            let span = place(&redirect.target.span);
            let braced = redirect
                .target
                .parts
                .iter()
                .any(|part| matches!(part, Part::Brace('{')));
            let expanded = if braced {
                words.arguments(&redirect.target, Some(&span))
            } else {
                Vec::new()
            };
            let mut target = match expanded.as_slice() {
                [only] => only.text.clone(),
                _ => words.argument(&redirect.target, &span).text,
            };
            if let RedirectKind::HereDocument(number) = redirect.kind
                && let Some(document) = documents.get(number)
            {
                let (text, known) = words.document(&document.parts);
                target = Text {
                    text,
                    dynamic: !known,
                    glob: false,
                    pattern: None,
                    span: place(&document.span),
                };
            }
            let kind = match redirect.kind {
                RedirectKind::Read => RedirectionKind::Read,
                RedirectKind::Write | RedirectKind::WriteBoth => RedirectionKind::Write,
                RedirectKind::Append | RedirectKind::AppendBoth => RedirectionKind::Append,
                RedirectKind::ReadWrite => RedirectionKind::ReadWrite,
                RedirectKind::Clobber => RedirectionKind::Clobber,
                RedirectKind::HereString => RedirectionKind::HereString,
                RedirectKind::HereDocument(_) => RedirectionKind::HereDocument,
                RedirectKind::DuplicateInput => RedirectionKind::Duplicate,
                RedirectKind::DuplicateOutput if is_descriptor(&target) => {
                    RedirectionKind::Duplicate
                }
                RedirectKind::DuplicateOutput => RedirectionKind::Write,
            };
            let of_errors = redirect.descriptor.as_deref() == Some("2");
            Redirection {
                kind,
                target,
                of_errors,
            }
        })
        .collect()
}

/// `2`, `-` or `2-`; anything else after `>&` is a file.
fn is_descriptor(target: &Text) -> bool {
    let digits = target.text.strip_suffix('-').unwrap_or(&target.text);
    !target.dynamic && digits.bytes().all(|byte| byte.is_ascii_digit())
}
