//! A page with orders to the model in a comment: they are taken out before it reads the page.

use anyhow::Context;
use holdpoint_ledger::{Kind, Record};
use serde::Deserialize;

use super::promised;
use crate::commands::demo::script::{Does, FETCH, ORDERS, USEFUL};
use crate::commands::demo::stage::Stage;

pub(super) fn play(stage: &mut Stage<'_>) -> anyhow::Result<()> {
    let acted = stage.act(&FETCH)?;
    stage.show_verdict(&acted)?;
    if let Does::Return(page) = FETCH.does {
        stage.sheet.quote("page", page)?;
    }
    let found = acted
        .first(Kind::TextFinding)
        .context("the finding should be on record")?;
    stage.sheet.space()?;
    let findings = findings(found)?;
    let mut name = "found";
    for finding in &findings {
        let text = format!("{}: {}", finding.rule, finding.reason);
        stage.sheet.field(name, &text)?;
        name = "";
    }
    promised(!findings.is_empty(), "the finding should name its rule")?;
    stage.sheet.quote("model reads", acted.read())?;
    stage.sheet.field(
        "is told",
        acted.executed.notice.as_deref().unwrap_or_default(),
    )?;

    let read = acted.read().to_lowercase();
    promised(
        ORDERS.iter().all(|order| !read.contains(order)),
        "the orders should not have reached the model",
    )?;
    promised(
        USEFUL.iter().all(|text| acted.read().contains(text)),
        "the rest of the page should have reached the model",
    )?;
    // What the orders were after may still be in the model's mind.
    let again = stage
        .keeper
        .ask_permission(FETCH.tool, FETCH.wants, FETCH.input())?;
    stage.sheet.space()?;
    stage.sheet.say(
        "The session remembers that it was given orders. What would become of the same call now:",
    )?;
    stage.sheet.space()?;
    stage.sheet.field("once more", &again.reason)?;
    promised(
        !again.allowed,
        "a session that was given orders should be asked about the network",
    )
}

/// What is on record of a finding.
#[derive(Deserialize)]
struct Finding {
    family: String,
    rule: String,
    reason: String,
}

/// The most findings that are shown: one each of the gravest kinds.
const MAX_FINDINGS: usize = 3;

/// The first finding of each family, the gravest families first. What is judged by its words as a
/// whole has no rule to name.
fn findings(found: &Record) -> anyhow::Result<Vec<Finding>> {
    let all = found.detail.as_ref().and_then(|it| it.get("findings"));
    let all = all.context("the record should list what was found")?;
    let mut shown: Vec<Finding> = Vec::new();
    for finding in Vec::<Finding>::deserialize(all)? {
        let known = shown.iter().any(|other| other.family == finding.family);
        if !known && finding.family != "statistical" {
            shown.push(finding);
        }
    }
    shown.truncate(MAX_FINDINGS);
    Ok(shown)
}
