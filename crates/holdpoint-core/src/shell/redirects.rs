//! What the redirects of a command mean to it.
//!
//! Promises the kind and target of each redirect, with the text of a here-document in place
//! of its delimiter, and what the command reads on its standard input because of them. The
//! code inside targets and bodies is listed by `walk`.

use std::rc::Rc;

use super::commands::{Redirection, RedirectionKind, Text};
use super::input::Input;
use super::texts;
use super::tree::{Redirect, RedirectKind};
use super::walk::Scope;

/// What a command with these redirects reads.
pub(super) fn input(redirects: &[Redirect], scope: &Scope<'_>, inherited: &Input) -> Input {
    let mut input = inherited.clone();
    for redirect in redirects {
        if redirect.descriptor.as_deref().is_some_and(|fd| fd != "0") {
            continue;
        }
        input = match redirect.kind {
            RedirectKind::Read | RedirectKind::ReadWrite | RedirectKind::DuplicateInput => {
                if redirect.target.plain() == Some("/dev/null") {
                    Input::Empty
                } else {
                    Input::Unknown
                }
            }
            RedirectKind::HereString => {
                let word = texts::argument(&redirect.target, scope.source, &redirect.span);
                match word.known() {
                    Some(text) => Input::Known(Rc::from(text)),
                    None => Input::Unknown,
                }
            }
            RedirectKind::HereDocument(_) => match scope.document(redirect) {
                Some(document) => match texts::document(&document.parts, scope.source) {
                    (text, true) => Input::Known(Rc::from(text.as_str())),
                    (_, false) => Input::Unknown,
                },
                None => Input::Unknown,
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

/// The redirects as they are listed.
pub(super) fn redirections(redirects: &[Redirect], scope: &Scope<'_>) -> Vec<Redirection> {
    redirects
        .iter()
        .map(|redirect| {
            let span = scope.place(&redirect.target.span);
            let mut target = texts::argument(&redirect.target, scope.source, &span).text;
            if let Some(document) = scope.document(redirect) {
                let (text, known) = texts::document(&document.parts, scope.source);
                target = Text {
                    text,
                    dynamic: !known,
                    glob: false,
                    span: scope.place(&document.span),
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
            Redirection { kind, target }
        })
        .collect()
}

/// `2`, `-` or `2-`; anything else after `>&` is a file.
fn is_descriptor(target: &Text) -> bool {
    let digits = target.text.strip_suffix('-').unwrap_or(&target.text);
    !target.dynamic && digits.bytes().all(|byte| byte.is_ascii_digit())
}
