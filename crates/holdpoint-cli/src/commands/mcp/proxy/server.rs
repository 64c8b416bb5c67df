//! What the server says: passed on as it is, but for what a model will read, which is looked at first.

use std::io::{self, Read};

use holdpoint_core::text::Origin;
use holdpoint_engine::StrictValue;
use holdpoint_engine::middleware::{Executed, Permission};
use holdpoint_engine::pipeline::ToolResult;
use holdpoint_mcp::jsonrpc::{Frame, Id, Kind, MAX_LINE, Message, loose_id, one_line, response};
use holdpoint_mcp::{Listing, denial, error, noted, with_permission};
use serde_json::{Value, json};

use super::gate::{Passed, fields};
use super::open::{Answer, Request, Running, Stage};
use super::wires::{Wires, tell};
use crate::lines::{Line, Lines};

/// What JSON-RPC has for a server that fails, and for one that says no.
const INTERNAL_ERROR: i32 = -32603;
const REFUSED: i32 = -32000;

/// Where servers say what their clients' models are to know of them.
const INSTRUCTIONS: &str = "instructions";

/// Relays what the server says, until it says no more or nobody listens.
pub(super) fn relay(wires: &Wires, output: impl Read) -> io::Result<()> {
    let mut lines = Lines::new(output, MAX_LINE);
    loop {
        let came = lines.next()?;
        match came {
            Line::End => return wires.flush_client(),
            Line::TooLong => too_long(wires)?,
            Line::Whole => line(wires, &lines.line)?,
        }
        if !lines.has_whole_line() {
            wires.flush_client()?;
        }
    }
}

fn kept_back(problem: &str) {
    tell(&format!("a line of the server was kept back: {problem}"));
}

/// Nothing of such a line is kept, so whose answer it was is known only where one request is open.
fn too_long(wires: &Wires) -> io::Result<()> {
    let problem = "it is longer than 16 MiB";
    kept_back(problem);
    match wires.open.all().as_slice() {
        [only] => failed(wires, only, &format!("the answer was kept back: {problem}")),
        _ => Ok(()),
    }
}

fn line(wires: &Wires, line: &[u8]) -> io::Result<()> {
    let text = match one_line(line) {
        Ok(text) => text,
        Err(problem) => {
            kept_back(problem);
            return Ok(());
        }
    };
    match Frame::read(&text) {
        Ok(Frame::Nothing) => Ok(()),
        Ok(Frame::Single(text)) => message(wires, text),
        // The batches of clients are taken apart, so nothing waits for one.
        Ok(Frame::Batch(texts)) => texts.into_iter().try_for_each(|text| message(wires, text)),
        Err(problem) => {
            kept_back(problem);
            Ok(())
        }
    }
}

fn message(wires: &Wires, text: &str) -> io::Result<()> {
    let read = Message::read(text).and_then(|it| it.kind().map(|kind| (it, kind)));
    let Some((message, kind)) = read else {
        let problem = "it is no JSON-RPC message, or two readers could read two";
        kept_back(problem);
        return match loose_id(text) {
            Some(id) => failed(wires, &id, &format!("the answer was kept back: {problem}")),
            None => Ok(()),
        };
    };
    match (kind, message.method.as_deref()) {
        (Kind::Request, Some("sampling/createMessage")) => sampling(wires, text, &message),
        (Kind::Request | Kind::Notification, _) => wires.to_client(text.as_bytes()),
        (Kind::Response, _) => match message.id() {
            Some(id) => answer(wires, text, &message, &id),
            // Only an error says that it is of no request: the server could not read one.
            None if message.error.is_some() && !message.has_id() => {
                match refused(wires, &message) {
                    None => wires.to_client(text.as_bytes()),
                    Some(why) => {
                        kept_back(&why);
                        Ok(())
                    }
                }
            }
            None => {
                kept_back("it answers a request that no client would make");
                Ok(())
            }
        },
    }
}

/// Ends a request whose answer cannot be passed on.
fn failed(wires: &Wires, id: &Id, problem: &str) -> io::Result<()> {
    let Some(request) = wires.open.answered(id) else {
        return Ok(());
    };
    if let Stage::Runs(running) = request.stage {
        let Running {
            permit, started, ..
        } = *running;
        let result = ToolResult::Failed(problem.to_owned());
        wires.gate.ran(permit, started, result);
    }
    let answer = error(id, INTERNAL_ERROR, problem);
    wires.answer(request.batch.as_ref(), &answer)
}

fn answer(wires: &Wires, text: &str, message: &Message<'_>, id: &Id) -> io::Result<()> {
    let Some(Request { stage, batch, .. }) = wires.open.answered(id) else {
        // It may be the answer to what was taken back meanwhile; and whoever answers what nobody asked has
        // something to say that nobody would look at.
        kept_back("it answers nothing that is open");
        return Ok(());
    };
    let made = match stage {
        Stage::Runs(running) => Some(returned(wires, text, message, id, *running)),
        Stage::Passed(_) if message.error.is_some() => {
            refused(wires, message).map(|why| error(id, REFUSED, &why))
        }
        Stage::Passed(Answer::Tools) => listed(wires, text, message, id),
        Stage::Passed(Answer::Instructions) => instructed(wires, message, id),
        Stage::Passed(Answer::Text(origin)) => told(wires, message, id, origin),
        Stage::Passed(Answer::Other) | Stage::Held(_) => None,
    };
    wires.answer(batch.as_ref(), made.as_deref().unwrap_or(text.as_bytes()))
}

/// What is said in place of an error of the server, which models read as well; none if it goes on as it
/// came.
fn refused(wires: &Wires, message: &Message<'_>) -> Option<String> {
    let Ok(StrictValue(said)) = serde_json::from_str(message.error?.get()) else {
        return Some("the error was kept back: it names a field twice".to_owned());
    };
    match wires.gate.inspect("error", Origin::Tool, &said) {
        Passed::AsItCame(None) => None,
        Passed::AsItCame(note) => Some(with_note(said, note)),
        Passed::Instead(other, note) => Some(with_note(other, note)),
        Passed::KeptBack(why) => Some(why),
    }
}

/// A text of the server and what is to be told beside it, as one text.
fn with_note(said: Value, note: Option<String>) -> String {
    let said = match said {
        Value::String(text) => text,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            said.to_string()
        }
    };
    match note {
        Some(note) => format!("{said}\n\n{note}"),
        None => said,
    }
}

/// What a client hears of a call that has run.
fn returned(
    wires: &Wires,
    text: &str,
    message: &Message<'_>,
    id: &Id,
    running: Running,
) -> Vec<u8> {
    let Running {
        permit,
        started,
        modern,
    } = running;
    let Some(result) = message.result else {
        let said = message.error.map_or("", |error| error.get()).to_owned();
        return match wires.gate.ran(permit, started, ToolResult::Failed(said)) {
            Passed::AsItCame(None) => text.as_bytes().to_vec(),
            Passed::AsItCame(Some(note)) => {
                let said = message.error.map_or("", |error| error.get());
                error(id, REFUSED, &format!("{said}\n\n{note}"))
            }
            Passed::Instead(other, note) => error(id, REFUSED, &with_note(other, note)),
            Passed::KeptBack(why) => error(id, REFUSED, &why),
        };
    };
    let permission = Permission::from_permit(&permit);
    let said = permission.to_json();
    let read = serde_json::from_str(result.get()).ok();
    let Some(value) = read.and_then(|StrictValue(value)| fields(value)) else {
        let problem =
            "What the tool returned is kept back: it cannot be read, or names a field twice";
        let result = ToolResult::Failed(problem.to_owned());
        wires.gate.ran(permit, started, result);
        return denial(id, problem, Some(&said), modern);
    };
    let call = permit.call().clone();
    let original = permit.was_edited().then(|| permit.made().input().clone());
    let passed = wires
        .gate
        .ran(permit, started, ToolResult::Returned(value.clone().into()));
    let (value, note) = match passed {
        Passed::AsItCame(None) if original.is_none() => {
            if let Some(line) = with_permission(text, result, &value, &said) {
                return line.into_bytes();
            }
            (Value::Object(value), None)
        }
        Passed::AsItCame(note) => (Value::Object(value), note),
        Passed::Instead(instead, note) => (instead, note),
        Passed::KeptBack(note) => return denial(id, &note, Some(&said), modern),
    };
    let executed = Executed::ran_by(call, permission, original, Ok(value), note);
    match (fields(executed.value), executed.notice) {
        (Some(result), Some(notice)) => response(id, &noted(result, &notice).into()),
        (Some(result), None) => response(id, &result.into()),
        (None, _) => denial(
            id,
            "What the tool returned is kept back",
            Some(&said),
            modern,
        ),
    }
}

/// A list of tools without those that are not to be seen; none if it goes on as it came.
fn listed(wires: &Wires, text: &str, message: &Message<'_>, id: &Id) -> Option<Vec<u8>> {
    let listing = match Listing::read(message.result?) {
        Ok(listing) => listing?,
        Err(problem) => {
            kept_back(problem);
            return Some(error(id, INTERNAL_ERROR, problem));
        }
    };
    match wires.gate.hidden(&listing) {
        Ok(hidden) => {
            if listing.unreadable() > 0 {
                tell(&format!(
                    "{} tools are hidden: what the server says of them cannot be read, or it has two of one name",
                    listing.unreadable()
                ));
            }
            let seen = listing.only(text, |one| !hidden.contains(&one.name));
            seen.map(String::into_bytes)
        }
        Err(problem) => {
            let problem = format!("the list of tools is kept back: {problem:#}");
            tell(&problem);
            Some(error(id, INTERNAL_ERROR, &problem))
        }
    }
}

/// A result whose words for models were looked at; none if it goes on as it came.
fn instructed(wires: &Wires, message: &Message<'_>, id: &Id) -> Option<Vec<u8>> {
    let result = match strictly(message, id)? {
        Ok(result) => result,
        Err(refusal) => return Some(refusal),
    };
    let words = result.get(INSTRUCTIONS)?;
    let passed = wires.gate.inspect(INSTRUCTIONS, Origin::Description, words);
    let mut result = fields(result.clone())?;
    match passed {
        Passed::AsItCame(None) => return None,
        Passed::AsItCame(note) => {
            let words = with_note(words.clone(), note);
            result.insert(INSTRUCTIONS.into(), words.into())
        }
        Passed::Instead(other, note) => {
            result.insert(INSTRUCTIONS.into(), with_note(other, note).into())
        }
        Passed::KeptBack(why) => {
            tell(&format!(
                "what the server wants models to know is left out: {why}"
            ));
            result.remove(INSTRUCTIONS)
        }
    };
    Some(response(id, &result.into()))
}

/// A result that is text for a model and was looked at; none if it goes on as it came.
fn told(wires: &Wires, message: &Message<'_>, id: &Id, origin: Origin) -> Option<Vec<u8>> {
    let result = match strictly(message, id)? {
        Ok(result) => result,
        Err(refusal) => return Some(refusal),
    };
    match wires.gate.inspect("text", origin, &result) {
        Passed::AsItCame(None) => None,
        Passed::AsItCame(Some(note)) => Some(match beside(result, &note) {
            Ok(told) => response(id, &told),
            Err(_) => error(id, REFUSED, &note),
        }),
        Passed::Instead(other, None) => Some(response(id, &other)),
        Passed::Instead(other, Some(note)) => {
            let told = beside(other, &note).unwrap_or_else(|other| {
                // A list has no place for words to a model, and what was left out of it is gone.
                tell(&note);
                other
            });
            Some(response(id, &told))
        }
        Passed::KeptBack(why) => Some(error(id, REFUSED, &why)),
    }
}

/// A result with a word to the model after its texts, wherever that kind of result has them; the result
/// itself if it has no such place.
fn beside(mut result: Value, note: &str) -> Result<Value, Value> {
    let text = json!({"type": "text", "text": note});
    let places = [
        (
            "contents",
            json!({"uri": "holdpoint:note", "mimeType": "text/plain", "text": note}),
        ),
        ("messages", json!({"role": "user", "content": text})),
        ("content", text),
    ];
    for (place, word) in places {
        if let Some(Value::Array(texts)) = result.get_mut(place) {
            texts.push(word);
            return Ok(result);
        }
    }
    Err(result)
}

/// A result as every reader reads it, or the answer where there is no such reading. None for an error.
fn strictly(message: &Message<'_>, id: &Id) -> Option<Result<Value, Vec<u8>>> {
    let read = serde_json::from_str(message.result?.get());
    Some(match read {
        Ok(StrictValue(value)) => Ok(value),
        Err(_) => {
            let problem = "the answer was kept back: it cannot be read, or names a field twice";
            kept_back(problem);
            Err(error(id, INTERNAL_ERROR, problem))
        }
    })
}

/// A server that wants to speak to the client's model: what it would say is looked at.
fn sampling(wires: &Wires, text: &str, message: &Message<'_>) -> io::Result<()> {
    let words = match message
        .params
        .map(|params| serde_json::from_str(params.get()))
    {
        Some(Ok(StrictValue(words))) => words,
        Some(Err(_)) => {
            kept_back("what it wants to say to the model cannot be read, or names a field twice");
            return refuse_server(wires, message, "the request cannot be read");
        }
        None => json!({}),
    };
    match wires.gate.inspect("sampling", Origin::Tool, &words) {
        Passed::AsItCame(_) => wires.to_client(text.as_bytes()),
        // Which of its words were left out nobody could tell it.
        Passed::Instead(_, Some(why)) | Passed::KeptBack(why) => {
            refuse_server(wires, message, &why)
        }
        Passed::Instead(_, None) => wires.to_client(text.as_bytes()),
    }
}

fn refuse_server(wires: &Wires, message: &Message<'_>, why: &str) -> io::Result<()> {
    tell(&format!("the server may not speak to the model: {why}"));
    if let Some(id) = message.id() {
        wires.tell_server(error(&id, REFUSED, why));
    }
    Ok(())
}
