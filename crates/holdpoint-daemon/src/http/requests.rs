//! What is held, what was held, and the answers.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use holdpoint_broker::answer::{Answer, Evidence, KeptFor, Route, Scope, SignedAnswer};
use holdpoint_broker::host::Problem;
use holdpoint_broker::request::{Request, State as Stands};
use holdpoint_broker::time::UnixMillis;
use holdpoint_proof::Signed as SignedStatement;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::App;
use super::browser::Browser;
use super::reply::{JsonBody, Refusal, blocking};
use super::signed::{Approver, Signed};
use crate::broker::{Answered, Broker, HistoryQuery, Outcome, Somebody};

/// How many settled requests are shown if nobody says how many, and at most.
const USUAL_HISTORY: usize = 50;
const MAX_HISTORY: usize = 500;

/// The most requests that are answered together, since each is judged again; more are refused.
const MAX_TOGETHER: usize = 1000;

/// The longest comment, in bytes: it is read by a model, and kept.
const MAX_COMMENT: usize = 16 << 10;

pub(super) async fn pending(State(app): State<App>, _: Signed) -> Result<Json<Value>, Refusal> {
    let requests = blocking(move || app.broker.pending()).await?;
    Ok(listed(&requests))
}

pub(super) async fn one(
    State(app): State<App>,
    _: Signed,
    Path(id): Path<String>,
) -> Result<Json<Value>, Refusal> {
    let found = blocking(move || app.broker.find(&id)).await?;
    let request = found.ok_or_else(|| Refusal::missing("such request"))?;
    Ok(Json(json!(request.card())))
}

/// Which settled requests to show.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    before: Option<u64>,
    limit: Option<usize>,
    text: Option<String>,
    approver: Option<String>,
    session: Option<String>,
    outcome: Option<Stands>,
    rule: Option<String>,
}

pub(super) async fn history(
    State(app): State<App>,
    _: Signed,
    wanted: Result<Query<Wanted>, QueryRejection>,
) -> Result<Json<Value>, Refusal> {
    let Query(wanted) = wanted.map_err(|error| Refusal::bad(error.body_text()))?;
    let filled = |text: Option<String>| text.filter(|text| !text.is_empty());
    let query = HistoryQuery {
        before: wanted.before.map(UnixMillis),
        limit: wanted.limit.unwrap_or(USUAL_HISTORY).min(MAX_HISTORY),
        text: filled(wanted.text),
        approver: filled(wanted.approver),
        session: filled(wanted.session),
        outcome: wanted.outcome,
        rule: filled(wanted.rule),
    };
    let requests = blocking(move || app.broker.history(&query)).await?;
    Ok(listed(&requests))
}

fn listed(requests: &[Request]) -> Json<Value> {
    let cards: Vec<_> = requests.iter().map(Request::card).collect();
    Json(json!({ "requests": cards }))
}

/// An answer as it is sent. It names what was shown: nobody answers what they have not seen.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AnswerBody {
    binding: String,
    answer: Word,
    scope: Option<Scope>,
    place: Option<KeptFor>,
    comment: Option<String>,
    input: Option<Map<String, Value>>,
    phrase: Option<String>,
    signed: Option<SignedStatement>,
}

/// The same for several requests.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AnswersBody {
    ids: Vec<Named>,
    answer: Word,
    scope: Option<Scope>,
    comment: Option<String>,
    phrase: Option<String>,
}

/// One of several requests, and what was shown of it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    id: String,
    binding: String,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Word {
    Yes,
    Once,
    No,
    Always,
    Keep,
    Never,
    All,
    Turn,
    Idle,
    Comment,
    Edit,
}

/// What comes with the word of an answer.
struct Spoken {
    word: Word,
    scope: Option<Scope>,
    place: Option<KeptFor>,
    comment: Option<String>,
    input: Option<Map<String, Value>>,
}

impl Spoken {
    /// The answer. What does not belong to its word is a slip, and no part of an answer is passed
    /// over in silence.
    fn answer(self) -> Result<Answer, Refusal> {
        let wrong = |what: &str| Err(Refusal::bad(what));
        let scoped = matches!(self.word, Word::Always | Word::Keep | Word::Never);
        if self.scope.is_some() && !scoped {
            return wrong("`scope` belongs to `always`, `keep` and `never` alone");
        }
        if self.place.is_some() && !matches!(self.word, Word::Keep) {
            return wrong("`place` belongs to the answer `keep`, and to no other");
        }
        if self.comment.is_some() != matches!(self.word, Word::Comment) {
            return wrong("`comment` belongs to the answer `comment`, and to no other");
        }
        if self.input.is_some() != matches!(self.word, Word::Edit) {
            return wrong("`input` belongs to the answer `edit`, and to no other");
        }
        let comment = self.comment.unwrap_or_default();
        if comment.len() > MAX_COMMENT {
            return wrong("the comment is longer than 16 KiB: make it shorter");
        }
        Ok(match self.word {
            Word::Yes => Answer::Yes,
            Word::Once => Answer::Once,
            Word::No => Answer::No,
            Word::Always => Answer::Always { scope: self.scope },
            Word::Keep => match self.place {
                Some(place) => Answer::Keep {
                    scope: self.scope,
                    place,
                },
                None => return wrong("`keep` needs `place`: `project` or `user`"),
            },
            Word::Never => Answer::Never { scope: self.scope },
            Word::All => Answer::All,
            Word::Turn => Answer::Turn,
            Word::Idle => Answer::Idle,
            Word::Comment => Answer::Comment { comment },
            Word::Edit => Answer::Edit {
                input: self.input.unwrap_or_default(),
            },
        })
    }
}

pub(super) async fn answer(
    State(app): State<App>,
    Approver(approver): Approver,
    Browser(browser): Browser,
    Path(id): Path<String>,
    JsonBody(body): JsonBody<AnswerBody>,
) -> Result<Response, Refusal> {
    let spoken = Spoken {
        word: body.answer,
        scope: body.scope,
        place: body.place,
        comment: body.comment,
        input: body.input,
    };
    let answer = spoken.answer()?;
    let answered = blocking(move || {
        let now = UnixMillis::now();
        let said = SignedAnswer {
            answer,
            on_behalf_of: app.auth.people().stands_in_for(&approver, now)?,
            approver,
            binding: Some(body.binding),
            phrase: body.phrase,
            evidence: Evidence {
                signed: body.signed,
                ..from_page(browser)
            },
        };
        app.broker.answer(&id, &said, now)
    })
    .await?;
    Ok(replied(&answered))
}

pub(super) async fn answer_many(
    State(app): State<App>,
    Approver(approver): Approver,
    Browser(browser): Browser,
    JsonBody(body): JsonBody<AnswersBody>,
) -> Result<Json<Value>, Refusal> {
    if body.ids.len() > MAX_TOGETHER {
        return Err(Refusal::bad(format!(
            "{} requests are more than {MAX_TOGETHER}: answer fewer at once",
            body.ids.len()
        )));
    }
    let spoken = Spoken {
        word: body.answer,
        scope: body.scope,
        // A rule that outlives its session is looked at one by one.
        place: None,
        comment: body.comment,
        input: None,
    };
    let answer = spoken.answer()?;
    let results = blocking(move || {
        let on_behalf_of = app
            .auth
            .people()
            .stands_in_for(&approver, UnixMillis::now())?;
        let mut said = SignedAnswer {
            answer,
            approver,
            on_behalf_of,
            binding: None,
            phrase: body.phrase,
            evidence: from_page(browser),
        };
        let mut results = Vec::with_capacity(body.ids.len());
        for Named { id, binding } in body.ids {
            said.binding = Some(binding);
            results.push(result(&app.broker, &id, &said));
        }
        Ok(results)
    })
    .await?;
    Ok(Json(json!({ "results": results })))
}

/// What came of the answer to one of several; one that fails keeps no other from being answered.
fn result(broker: &Broker, id: &str, said: &SignedAnswer) -> Value {
    let mut result = match broker.answer(id, said, UnixMillis::now()) {
        Ok(answered) => told(&answered),
        Err(Problem(message)) => Map::from_iter([
            ("outcome".into(), json!("error")),
            ("message".into(), json!(message)),
        ]),
    };
    result.insert("id".into(), json!(id));
    Value::Object(result)
}

/// An answer that is not given yet.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Considered {
    answer: Word,
    scope: Option<Scope>,
    place: Option<KeptFor>,
}

/// What an answer would release besides its request, said before it is given.
pub(super) async fn along(
    State(app): State<App>,
    Approver(_): Approver,
    Path(id): Path<String>,
    JsonBody(body): JsonBody<Considered>,
) -> Result<Json<Value>, Refusal> {
    let spoken = Spoken {
        word: body.answer,
        scope: body.scope,
        place: body.place,
        comment: None,
        input: None,
    };
    let answer = spoken.answer()?;
    let along = blocking(move || app.broker.along(&id, &answer)).await?;
    let released: Vec<_> = along.released.iter().map(Request::card).collect();
    let kept: Vec<_> = along.kept.iter().map(Request::card).collect();
    Ok(Json(json!({ "released": released, "kept": kept })))
}

/// Nothing has to be said.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Empty {}

pub(super) async fn undo(
    State(app): State<App>,
    Approver(approver): Approver,
    Browser(browser): Browser,
    Path(id): Path<String>,
    JsonBody(Empty {}): JsonBody<Empty>,
) -> Result<Response, Refusal> {
    let taken = blocking(move || {
        let now = UnixMillis::now();
        let person = Somebody {
            name: &approver,
            on_behalf_of: &app.auth.people().stands_in_for(&approver, now)?,
        };
        app.broker.take_back(&id, &person, &from_page(browser), now)
    })
    .await?;
    Ok(replied(&taken))
}

/// How much more time.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct More {
    seconds: u64,
}

pub(super) async fn extend(
    State(app): State<App>,
    Approver(approver): Approver,
    Browser(browser): Browser,
    Path(id): Path<String>,
    JsonBody(More { seconds }): JsonBody<More>,
) -> Result<Response, Refusal> {
    let extended = blocking(move || {
        let now = UnixMillis::now();
        let person = Somebody {
            name: &approver,
            on_behalf_of: &app.auth.people().stands_in_for(&approver, now)?,
        };
        let evidence = from_page(browser);
        app.broker.extend(&id, seconds, &person, &evidence, now)
    })
    .await?;
    Ok(replied(&extended))
}

/// That it came from the page, and from what.
fn from_page(browser: String) -> Evidence {
    Evidence {
        device: Some(browser),
        ..Evidence::by(Route::Page)
    }
}

fn replied(answered: &Answered) -> Response {
    let status = match (&answered.outcome, &answered.request) {
        (_, None) => StatusCode::NOT_FOUND,
        (Outcome::NoEffect(_), Some(_)) => StatusCode::CONFLICT,
        (Outcome::Settled | Outcome::Counted | Outcome::Again, Some(_)) => StatusCode::OK,
    };
    (status, Json(Value::Object(told(answered)))).into_response()
}

fn told(answered: &Answered) -> Map<String, Value> {
    let (outcome, message) = match &answered.outcome {
        Outcome::Settled => ("settled", None),
        Outcome::Counted => ("counted", None),
        Outcome::Again => ("again", None),
        Outcome::NoEffect(reason) => ("no_effect", Some(reason)),
    };
    let mut told = Map::new();
    told.insert("outcome".into(), json!(outcome));
    if let Some(message) = message {
        told.insert("message".into(), json!(message));
    }
    if let Some(request) = &answered.request {
        told.insert("request".into(), json!(request.card()));
    }
    told
}
