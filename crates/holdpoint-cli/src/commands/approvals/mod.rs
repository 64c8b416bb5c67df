//! `holdpoint pending`, `approve`, `deny`, `extend`, `approvals`: what waits for a person, and their
//! answers, for scripts and for people.

mod shown;
mod signing;

use std::io::{self, BufRead, IsTerminal, Write};
use std::path::Path;

use anyhow::bail;
use holdpoint_broker::wire::{self, Places, Reply, Wanted, WireError};
use holdpoint_broker::{Answer, KeptFor, Request, Scope, State, UnixMillis};
use holdpoint_engine::Locations;
use holdpoint_ledger::Timestamp;
use serde_json::{Map, Value, json};

use super::serve::{not_for_agents, places};
use crate::cli::{
    Approvals, ApprovalsAction, Approve, Extend, KeepWord, Pending, Refuse, ScopeWord, Span,
};
use crate::exit::Exit;
use crate::terminal::Terminal;

pub(crate) fn pending(args: &Pending, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    not_for_agents("look at what waits for a person")?;
    let places = places(&Locations::of_this_machine())?;
    match &args.id {
        Some(id) => shown::one(&found(&places, id)?, args.json, terminal)?,
        None => shown::waiting(&requests(&places, Wanted::Pending)?, args.json, terminal)?,
    }
    Ok(Exit::Fine)
}

pub(crate) fn approve(args: &Approve, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    let answer = match (&args.always, args) {
        (Some(scope), Approve { keep, .. }) => {
            let scope = Some((*scope).into());
            match keep {
                None | Some(KeepWord::Session) => Answer::Always { scope },
                Some(KeepWord::Project) => Answer::Keep {
                    scope,
                    place: KeptFor::Project,
                },
                Some(KeepWord::User) => Answer::Keep {
                    scope,
                    place: KeptFor::User,
                },
            }
        }
        (None, Approve { all: true, .. }) => Answer::All,
        (None, Approve { turn: true, .. }) => Answer::Turn,
        (None, Approve { idle: true, .. }) => Answer::Idle,
        (None, _) => Answer::Yes,
    };
    let changes = changes(&args.edit)?;
    answer_all(
        &args.ids,
        args.key.as_deref(),
        args.json,
        terminal,
        |request| {
            let answer = match &changes {
                Some(input) => Answer::Edit {
                    input: input.clone(),
                },
                None => answer.clone(),
            };
            let phrase = match (&args.phrase, &request.terms.phrase) {
                (None, Some(wanted)) if answer.releases() => typed_phrase(wanted)?,
                (given, _) => given.clone(),
            };
            Ok((answer, phrase))
        },
    )
}

pub(crate) fn refuse(args: &Refuse, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    let answer = match (&args.comment, args.never) {
        (Some(comment), _) => Answer::Comment {
            comment: comment.clone(),
        },
        (None, Some(scope)) => Answer::Never {
            scope: Some(scope.into()),
        },
        (None, None) => Answer::No,
    };
    answer_all(&args.ids, None, args.json, terminal, |_| {
        Ok((answer.clone(), None))
    })
}

pub(crate) fn extend(args: &Extend, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    not_for_agents("answer for a person")?;
    let places = places(&Locations::of_this_machine())?;
    let reply = wire::ask(
        &places,
        Wanted::Extend {
            id: args.id.clone(),
            seconds: args.seconds,
        },
    )?;
    told(reply, &args.id, false, terminal)
}

pub(crate) fn approvals(args: &Approvals, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    not_for_agents("look at what people answered")?;
    let places = places(&Locations::of_this_machine())?;
    match &args.action {
        ApprovalsAction::Show { id, json } => shown::one(&found(&places, id)?, *json, terminal)?,
        ApprovalsAction::List {
            session,
            user,
            text,
            span,
            limit,
            json,
        } => {
            let wanted = Wanted::History {
                limit: *limit,
                before: span.until.map(moment_of),
                text: text.clone(),
                approver: user.clone(),
                session: session.clone(),
            };
            let found: Vec<Request> = requests(&places, wanted)?
                .into_iter()
                .filter(|request| is_in(request, *span))
                .collect();
            shown::settled(&found, *json, terminal)?;
        }
    }
    Ok(Exit::Fine)
}

/// Answers each request, as it is when this looks at it.
fn answer_all(
    ids: &[String],
    key: Option<&Path>,
    json: bool,
    terminal: &mut Terminal,
    mut answer: impl FnMut(&Request) -> anyhow::Result<(Answer, Option<String>)>,
) -> anyhow::Result<Exit> {
    not_for_agents("answer for a person")?;
    let locations = Locations::of_this_machine();
    let places = places(&locations)?;
    let mut exit = Exit::Fine;
    for id in ids {
        let request = found(&places, id)?;
        let (answer, phrase) = answer(&request)?;
        if !goes_along(&places, id, &answer)? {
            exit = Exit::Error;
            continue;
        }
        let signed = signing::signed(&places, &locations, &request, &answer, key)?;
        let releases = answer.releases();
        let reply = wire::ask(
            &places,
            Wanted::Answer {
                id: id.clone(),
                answer,
                binding: Some(request.binding),
                phrase,
                signed,
                watching: false,
            },
        )?;
        // A yes that comes to a refusal (the call has changed, a rule denies it now) is not what was asked for.
        let refused = releases && is_refused(&reply);
        if told(reply, id, json, terminal)? != Exit::Fine || refused {
            exit = Exit::Error;
        }
    }
    Ok(exit)
}

/// What somebody signed to let a request run that they were shown with this binding, where a key must sign it.
pub(crate) fn signed_for(
    id: &str,
    binding: &str,
    answer: &Answer,
) -> anyhow::Result<Option<holdpoint_proof::Signed>> {
    let locations = Locations::of_this_machine();
    let places = places(&locations)?;
    let request = found(&places, id)?;
    if request.binding != binding {
        bail!("it is no longer what you were shown: look at it again");
    }
    signing::signed(&places, &locations, &request, answer, None)
}

/// Lists what else an answer would release, before it is given. Somebody at a terminal is asked about that; a script has
/// asked for it by its flag. False if they do not want it.
fn goes_along(places: &Places, id: &str, answer: &Answer) -> anyhow::Result<bool> {
    let reaches_others = match answer {
        Answer::Always { .. } | Answer::Keep { .. } | Answer::All | Answer::Turn | Answer::Idle => {
            true
        }
        Answer::Yes
        | Answer::Once
        | Answer::No
        | Answer::Never { .. }
        | Answer::Comment { .. }
        | Answer::Edit { .. } => false,
    };
    if !reaches_others {
        return Ok(true);
    }
    let mut stderr = io::stderr();
    let wanted = Wanted::Along {
        id: id.to_owned(),
        answer: answer.clone(),
    };
    let (released, kept) = match wire::ask(places, wanted) {
        Ok(Reply::Along { released, kept }) => (released, kept),
        Ok(_) => bail!("the approval daemon answers another question: restart it"),
        // It says the same of the answer itself.
        Err(WireError::Refused(_)) => return Ok(true),
        Err(error) => return Err(error.into()),
    };
    let mut list = |words: String, requests: &[Request]| -> io::Result<()> {
        if requests.is_empty() {
            return Ok(());
        }
        writeln!(stderr, "{words}")?;
        for request in requests.iter().take(MAX_ALONG) {
            let summary = crate::terminal::escape_for_display(&request.display.summary, 160);
            writeln!(
                stderr,
                "  {}  {:8}  {summary}",
                request.id,
                request.decision.risk.as_str()
            )?;
        }
        match requests.len().saturating_sub(MAX_ALONG) {
            0 => Ok(()),
            more => writeln!(stderr, "  and {more} more"),
        }
    };
    let count = released.len();
    list(
        format!("This answer to {id} also releases, of what waits now ({count}):"),
        &released,
    )?;
    list(
        format!(
            "These wait on, of critical risk or to be signed ({}):",
            kept.len()
        ),
        &kept,
    )?;
    if count == 0 || !io::stdin().is_terminal() {
        return Ok(true);
    }
    write!(stderr, "Release all of that? [y/N] ")?;
    stderr.flush()?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    let yes = matches!(line.trim(), "y" | "yes");
    if !yes {
        writeln!(stderr, "{id}  nothing is released")?;
    }
    Ok(yes)
}

/// The most calls that are listed one by one: what fits on a screen above the question.
const MAX_ALONG: usize = 20;

fn is_refused(reply: &Reply) -> bool {
    if let Reply::Answered {
        request: Some(request),
        ..
    } = reply
    {
        return !matches!(request.state, State::Released | State::Pending);
    }
    false
}

fn told(reply: Reply, id: &str, json: bool, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    let Reply::Answered {
        outcome,
        message,
        request,
    } = reply
    else {
        bail!("the approval daemon answers another question: restart it");
    };
    let exit = match outcome == "no_effect" {
        true => Exit::Error,
        false => Exit::Fine,
    };
    if json {
        let card = request.as_ref().map(|request| request.card());
        let line = json!({"id": id, "outcome": outcome, "message": message, "request": card});
        writeln!(terminal.out, "{line}")?;
        return Ok(exit);
    }
    let words = words_of(&outcome, message.as_deref(), request.as_deref());
    writeln!(
        terminal.out,
        "{id}  {}",
        crate::terminal::escape_for_display(&words, 1000)
    )?;
    Ok(exit)
}

/// What came of an answer, in words.
pub(crate) fn words_of(outcome: &str, message: Option<&str>, request: Option<&Request>) -> String {
    match (outcome, request) {
        ("no_effect", _) => format!("no effect: {}", message.unwrap_or("nobody says why")),
        ("settled", Some(request)) => {
            let reason = request
                .settled
                .as_ref()
                .map(|settled| settled.reason.as_str());
            match request.state {
                State::Released => "released".into(),
                state @ (State::Pending | State::Refused | State::Expired | State::Withdrawn) => {
                    format!("{}: {}", state.as_str(), reason.unwrap_or_default())
                }
            }
        }
        ("counted", Some(request)) => format!(
            "{} of {} people have said yes",
            request.approvals.len(),
            request.terms.required
        ),
        ("again", Some(request)) if request.was_edited() => format!(
            "judged again: {} ({}); approve it to let it run",
            request.decision.verdict.as_str(),
            request.decision.reason
        ),
        (_, _) => "it has more time".into(),
    }
}

fn requests(places: &Places, wanted: Wanted) -> anyhow::Result<Vec<Request>> {
    let Reply::Requests { requests } = wire::ask(places, wanted)? else {
        bail!(WireError::Untrusted("it answers another question".into()));
    };
    Ok(requests)
}

fn found(places: &Places, id: &str) -> anyhow::Result<Request> {
    let found = requests(places, Wanted::Find { id: id.to_owned() })?;
    match found.into_iter().next() {
        Some(request) => Ok(request),
        None => bail!("there is no request `{id}`: `holdpoint pending` lists what waits"),
    }
}

/// The arguments that `--edit` changes.
fn changes(edits: &[String]) -> anyhow::Result<Option<Map<String, Value>>> {
    let mut input = Map::new();
    for edit in edits {
        let Some((name, value)) = edit.split_once('=') else {
            bail!("`--edit {edit}` changes nothing: write NAME=VALUE");
        };
        input.insert(name.to_owned(), Value::String(value.to_owned()));
    }
    Ok((!input.is_empty()).then_some(input))
}

/// Asks for the phrase on a terminal; a script must give it.
fn typed_phrase(wanted: &str) -> anyhow::Result<Option<String>> {
    let stdin = io::stdin();
    if !stdin.is_terminal() {
        bail!("this call is to be reviewed: read it, and add --phrase '{wanted}'");
    }
    let mut stderr = io::stderr();
    write!(
        stderr,
        "This call is to be reviewed. Type `{wanted}` to release it: "
    )?;
    stderr.flush()?;
    let mut line = String::new();
    stdin.lock().read_line(&mut line)?;
    Ok(Some(line.trim().to_owned()))
}

fn is_in(request: &Request, span: Span) -> bool {
    let at = request.settled.as_ref().map(|settled| settled.at.0);
    let since = span.since.map(|since| moment_of(since).0);
    since.is_none_or(|since| at.is_some_and(|at| at >= since))
}

fn moment_of(time: Timestamp) -> UnixMillis {
    UnixMillis(time.micros() / 1000)
}

impl From<ScopeWord> for Scope {
    fn from(word: ScopeWord) -> Self {
        match word {
            ScopeWord::Exact => Scope::Exact,
            ScopeWord::Prefix => Scope::Prefix,
            ScopeWord::Tool => Scope::Tool,
        }
    }
}
