//! A `session/request_permission`: what it offers, the answers to it, and how it is passed on.
//!
//! Options are chosen by their `kind`; what an `optionId` looks like means nothing.

use std::collections::{BTreeMap, HashSet};

use holdpoint_engine::{StrictValue, escape_for_display};
use holdpoint_mcp::jsonrpc::Id;
use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use super::described::Described;

/// The request an agent asks its user by.
pub(super) const METHOD: &str = "session/request_permission";

/// The notification by which an agent takes a request back.
pub(super) const TAKES_BACK: &str = "$/cancel_request";

/// The request that is taken back.
pub(super) fn taken_back(params: Option<&RawValue>) -> Option<Id> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Params<'a> {
        #[serde(borrow)]
        request_id: &'a RawValue,
    }
    let params: Params<'_> = serde_json::from_str(params?.get()).ok()?;
    Id::read(params.request_id)
}

/// The most characters of a reason that stand in a title, which editors show in a line or two.
const MAX_REASON: usize = 300;

/// What an option stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    AllowOnce,
    AllowAlways,
    RejectOnce,
    RejectAlways,
    Unknown,
}

impl Kind {
    fn from_name(word: &str) -> Self {
        match word {
            "allow_once" => Kind::AllowOnce,
            "allow_always" => Kind::AllowAlways,
            "reject_once" => Kind::RejectOnce,
            "reject_always" => Kind::RejectAlways,
            _ => Kind::Unknown,
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Choice {
    option_id: String,
    kind: String,
}

/// What can be answered.
#[derive(Clone, Debug, Default)]
pub(super) struct Options(Vec<(String, Kind)>);

impl Options {
    /// What an option stands for.
    pub(super) fn kind(&self, id: &str) -> Kind {
        let found = self.0.iter().find(|(option, _)| option == id);
        found.map_or(Kind::Unknown, |(_, kind)| *kind)
    }

    /// The outcome that lets the call run this once, if that is offered.
    pub(super) fn allow_once(&self) -> Option<Value> {
        self.first(Kind::AllowOnce)
    }

    /// The outcome that refuses.
    pub(super) fn refusal(&self) -> Value {
        self.first(Kind::RejectOnce)
            .or_else(|| self.first(Kind::RejectAlways))
            .unwrap_or_else(cancelled)
    }

    fn first(&self, wanted: Kind) -> Option<Value> {
        let found = self.0.iter().find(|(_, kind)| *kind == wanted);
        found.map(|(id, _)| json!({"outcome": {"outcome": "selected", "optionId": id}}))
    }
}

/// The outcome without a choice.
pub(super) fn cancelled() -> Value {
    json!({"outcome": {"outcome": "cancelled"}})
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params {
    session_id: String,
    tool_call: Described,
}

/// A request that could be read.
#[derive(Debug)]
pub(super) struct Permission {
    pub(super) session: String,
    pub(super) described: Described,
}

/// Reads the parameters. What is offered is read even where the rest cannot be, so that the agent is
/// refused in its own words.
pub(super) fn read(params: Option<&RawValue>) -> (Options, Result<Permission, String>) {
    let unread = |text: &str| (Options::default(), Err(text.to_owned()));
    let Some(params) = params else {
        return unread("a permission was asked for without parameters");
    };
    let Ok(StrictValue(value)) = serde_json::from_str(params.get()) else {
        return unread("a request for permission names a field twice or is no plain JSON");
    };
    let options = match options_in(&value) {
        Ok(options) => options,
        Err(text) => return unread(text),
    };
    match serde_json::from_value::<Params>(value) {
        Ok(read) => {
            let permission = Permission {
                session: read.session_id,
                described: read.tool_call,
            };
            (options, Ok(permission))
        }
        Err(_) => {
            let text =
                "a request for permission has no `sessionId` or no `toolCall` as ACP 1 has them";
            (options, Err(text.into()))
        }
    }
}

fn options_in(params: &Value) -> Result<Options, &'static str> {
    let options = params.get("options").cloned().unwrap_or_default();
    let Ok(choices) = serde_json::from_value::<Vec<Choice>>(options) else {
        return Err("a request for permission has no readable options");
    };
    let names: HashSet<&str> = choices.iter().map(|one| one.option_id.as_str()).collect();
    if names.len() != choices.len() {
        return Err("a request for permission has two options of one name");
    }
    let kinds = choices.into_iter().map(|one| {
        let kind = Kind::from_name(&one.kind);
        (one.option_id, kind)
    });
    Ok(Options(kinds.collect()))
}

type Fields = BTreeMap<String, Box<RawValue>>;

/// The request as the editor gets it: the reason in its title, and no option that would hold for
/// longer than this call. Every other value is the agent's to the byte.
pub(super) fn with_reason(
    line: &str,
    reason: &str,
    otherwise: &str,
) -> Result<Vec<u8>, serde_json::Error> {
    let mut message: Fields = serde_json::from_str(line)?;
    let mut params: Fields = part(&message, "params")?;
    let mut call: Fields = part(&params, "toolCall")?;
    let title: Option<String> = part(&call, "title").unwrap_or_default();
    let title = title.unwrap_or_else(|| escape_for_display(otherwise, MAX_REASON));
    let reason = escape_for_display(reason, MAX_REASON);
    // In front, since a long title may be cut where it is shown.
    let title = format!("Holdpoint: {reason} · {title}");
    call.insert("title".into(), to_raw_value(&title)?);
    let options: Vec<Box<RawValue>> = part(&params, "options")?;
    let mut kept = Vec::with_capacity(options.len());
    for option in options {
        let choice: Choice = serde_json::from_str(option.get())?;
        if Kind::from_name(&choice.kind) != Kind::AllowAlways {
            kept.push(option);
        }
    }
    params.insert("options".into(), to_raw_value(&kept)?);
    params.insert("toolCall".into(), to_raw_value(&call)?);
    message.insert("params".into(), to_raw_value(&params)?);
    let mut written = serde_json::to_vec(&message)?;
    written.push(b'\n');
    Ok(written)
}

fn part<T: for<'a> Deserialize<'a> + Default>(
    fields: &Fields,
    name: &str,
) -> Result<T, serde_json::Error> {
    match fields.get(name) {
        Some(value) => serde_json::from_str(value.get()),
        None => Ok(T::default()),
    }
}

/// What an editor answered.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Heard {
    Selected(String),
    Cancelled,
    /// An error, or an outcome this program does not know.
    Strange,
}

impl Heard {
    /// Reads the result of a response; there is none in an error.
    pub(super) fn read(result: Option<&RawValue>) -> Self {
        let read = result.map(|result| serde_json::from_str(result.get()));
        let Some(Ok(StrictValue(value))) = read else {
            return Heard::Strange;
        };
        let outcome = value.get("outcome");
        let text = |key: &str| outcome.and_then(|outcome| outcome.get(key)?.as_str());
        match (text("outcome"), text("optionId")) {
            (Some("selected"), Some(option)) => Heard::Selected(option.to_owned()),
            (Some("cancelled"), _) => Heard::Cancelled,
            (Some(_) | None, _) => Heard::Strange,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    fn options(text: &str) -> Options {
        read(Some(&raw(&format!(r#"{{"options":{text}}}"#)))).0
    }

    #[test]
    fn an_option_is_chosen_by_its_kind() {
        let offered = options(
            r#"[{"optionId":"reject_once","kind":"allow_once","name":"a"},
                {"optionId":"cancel","kind":"reject_once","name":"b"}]"#,
        );
        let chosen = |value: Value| value["outcome"]["optionId"].as_str().unwrap().to_owned();
        assert_eq!(chosen(offered.refusal()), "cancel");
        assert_eq!(chosen(offered.allow_once().unwrap()), "reject_once");
        let always = options(r#"[{"optionId":"n","kind":"reject_always","name":""}]"#);
        assert_eq!(chosen(always.refusal()), "n");
        assert_eq!(options("[]").refusal(), cancelled());
        assert_eq!(options(r#"[{"optionId":1}]"#).refusal(), cancelled());
    }

    #[test]
    fn a_name_that_stands_for_two_options_cannot_be_answered() {
        let twice = r#"{"options":[{"optionId":"x","kind":"allow_once"},{"optionId":"x","kind":"reject_once"}]}"#;
        let (offered, read) = read(Some(&raw(twice)));
        assert_eq!(offered.refusal(), cancelled());
        assert!(read.is_err());
    }

    #[test]
    fn only_the_title_and_the_options_change() {
        let line = r#"{"jsonrpc":"2.0","id":7,"method":"m","more":1.50,"params":{"sessionId":"s","_meta":{"a": 1e2},"toolCall":{"toolCallId":"c","title":"make","rawInput":{"b":2.00,"a":  "x"}},"options":[{"optionId":"y","kind":"allow_once"},{"optionId":"z","kind":"allow_always"}]}}"#;
        let text = String::from_utf8(with_reason(line, "why\nnot", "").unwrap()).unwrap();
        for kept in [
            r#""rawInput":{"b":2.00,"a":  "x"}"#,
            r#""_meta":{"a": 1e2}"#,
            r#""more":1.50"#,
            r#""options":[{"optionId":"y","kind":"allow_once"}]"#,
        ] {
            assert!(text.contains(kept), "{kept}: {text}");
        }
        assert!(
            text.contains("Holdpoint: why") && text.contains("· make"),
            "{text}"
        );
        assert_eq!(text.matches('\n').count(), 1);
    }

    #[test]
    fn whatever_is_no_known_outcome_is_strange() {
        for (result, heard) in [
            (
                r#"{"outcome":{"outcome":"selected","optionId":"a"}}"#,
                Heard::Selected("a".into()),
            ),
            (r#"{"outcome":{"outcome":"cancelled"}}"#, Heard::Cancelled),
            (
                r#"{"outcome":{"outcome":"approved","optionId":"a"}}"#,
                Heard::Strange,
            ),
            (r#"{"outcome":{"outcome":"selected"}}"#, Heard::Strange),
            (
                r#"{"outcome":{"outcome":"cancelled","outcome":"selected","optionId":"a"}}"#,
                Heard::Strange,
            ),
            (r#"{"outcome":"selected"}"#, Heard::Strange),
            ("true", Heard::Strange),
        ] {
            assert_eq!(Heard::read(Some(&raw(result))), heard, "{result}");
        }
        assert_eq!(Heard::read(None), Heard::Strange);
    }
}
