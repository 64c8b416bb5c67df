//! Publishing a package, which nobody can take back: it waits for a person, and what they say is what
//! happens.

use std::fs;

use anyhow::Context;
use holdpoint_ledger::{Kind, Record};
use serde_json::Value;

use super::promised;
use crate::commands::demo::script::{AFTER, PUBLISH, REGISTRY};
use crate::commands::demo::stage::Stage;
use crate::commands::demo::visitor::Answers;

pub(super) fn play(stage: &mut Stage<'_>) -> anyhow::Result<()> {
    let who = match stage.visitor.answers {
        Answers::Person => {
            "The agent now stands still until you answer: y lets the call run, n does not."
        }
        Answers::ScriptAsTold => {
            "The agent would stand still until you answer. As you said --yes, the script of this \
             tour types y."
        }
        Answers::ScriptAlone => {
            "The agent would stand still until you answer. There is no terminal to ask you on, so \
             the script of this tour types y."
        }
    };
    stage.sheet.say(who)?;
    stage.sheet.space()?;
    let acted = stage.act(&PUBLISH)?;
    stage.sheet.space()?;
    stage.show_verdict(&acted)?;
    promised(
        acted.is_by("packages.publish-npm"),
        "publishing should have been held as such",
    )?;
    let settled = acted
        .first(Kind::HoldAnswered)
        .or_else(|| acted.first(Kind::HoldExpired))
        .context("the answer should be on record")?;
    stage.sheet.field("answer", &answer(settled))?;
    stage.show_result(&acted)?;

    let registry = fs::read_to_string(stage.directory.project().join(REGISTRY))
        .context("the stand-in for the registry cannot be read")?;
    let published = registry == AFTER;
    stage.sheet.field(
        "registry",
        match published {
            true => "has teapot 1.0.0",
            false => "is as it was",
        },
    )?;
    let (ran, permission) = (acted.executed.ran(), &acted.executed.permission);
    promised(
        ran == permission.allowed,
        "the call should run if it was released, and only then",
    )?;
    promised(
        published == (ran && !permission.was_edited),
        "what was released should have happened, and nothing else",
    )?;
    promised(
        ran || stage.visitor.answers == Answers::Person,
        "the call the script released should have run",
    )
}

/// What somebody said, and who.
fn answer(settled: &Record) -> String {
    let answer = settled.detail.as_ref().and_then(|it| it.get("answer"));
    match (answer.and_then(Value::as_str), &settled.approver) {
        (Some(word), Some(approver)) => format!("{word}, by {approver}"),
        (Some(_) | None, _) => settled.reason.clone().unwrap_or_default(),
    }
}
