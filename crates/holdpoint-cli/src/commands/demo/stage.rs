//! Where the agent acts: every call goes the whole way, through the gatekeeper an agent built on the
//! library would have, and what is shown of it is what the ledger says.

use std::io::Write;

use anyhow::Context as _;
use holdpoint_engine::ToolCall;
use holdpoint_engine::middleware::{Context, Executed, Gatekeeper};
use holdpoint_ledger::{Kind, Reader, Record};
use serde_json::Value;

use super::directory::TourDirectory;
use super::script::Step;
use super::sheet::Sheet;
use super::stand_ins;
use super::visitor::Visitor;
use crate::terminal::Terminal;

/// The agent's name, as people are shown it.
const AGENT: &str = "demo-agent";

pub(super) struct Stage<'t> {
    pub(super) sheet: Sheet<'t>,
    pub(super) directory: TourDirectory,
    pub(super) visitor: Visitor,
    pub(super) keeper: Gatekeeper,
    records: Reader,
}

/// What came of a call.
pub(super) struct Acted {
    pub(super) executed: Executed,
    /// What was put on record about it.
    pub(super) records: Vec<Record>,
}

impl<'t> Stage<'t> {
    pub(super) fn new(
        directory: TourDirectory,
        visitor: Visitor,
        terminal: &'t mut Terminal,
    ) -> anyhow::Result<Self> {
        let keeper = Gatekeeper::builder()
            .locations(directory.locations())
            .workspace(directory.project())
            .agent(AGENT)
            .session("demo")
            .channel_for_each(visitor.channel())
            .build()?;
        Ok(Self {
            sheet: Sheet { terminal },
            records: Reader::new(directory.ledger()),
            keeper,
            directory,
            visitor,
        })
    }

    /// Lets the agent make a call, and shows it and the verdict on it.
    pub(super) fn act(&mut self, step: &Step) -> anyhow::Result<Acted> {
        self.visitor.stays()?;
        let call = ToolCall::new(step.tool, step.input())?;
        self.keeper.set_context(Context {
            intent: Some(step.wants.to_owned()),
            ..Context::default()
        });
        self.sheet
            .field("agent", &format!("wants to {}", step.wants))?;
        self.sheet.painted(
            "call",
            &format!("{}: {}", step.tool, step.argument),
            Terminal::heading,
        )?;
        self.sheet.terminal.out.flush()?;
        let project = self.directory.project();
        let executed = self.keeper.execute(&call, |call: &ToolCall| {
            stand_ins::run(step, call, &project)
        });
        self.visitor.stays()?;
        Ok(Acted {
            executed,
            records: self.recorded()?,
        })
    }

    /// Shows the verdict on a call, as it is on record.
    pub(super) fn show_verdict(&mut self, acted: &Acted) -> anyhow::Result<()> {
        let record = acted
            .first(Kind::Decision)
            .context("the decision is not on record")?;
        let verdict = record.verdict.context("the record has no verdict")?;
        let reason = record.reason.as_deref().unwrap_or_default();
        let word = verdict.as_str();
        self.sheet.painted("verdict", word, |terminal, word| {
            terminal.like(verdict, word)
        })?;
        self.sheet.field("reason", reason)?;
        let rule = record.rule.as_deref();
        self.sheet.field("rule", rule.unwrap_or("none"))?;
        Ok(())
    }

    /// Shows whether the tool was started, and what the model reads.
    pub(super) fn show_result(&mut self, acted: &Acted) -> anyhow::Result<()> {
        let ran = match acted.executed.ran() {
            true => "yes",
            false => "no",
        };
        self.sheet.field("ran", ran)?;
        self.sheet.quote("model reads", acted.read())?;
        Ok(())
    }

    /// What was put on record since the last time.
    fn recorded(&mut self) -> anyhow::Result<Vec<Record>> {
        let mut found = Vec::new();
        while let Some(line) = self.records.next()? {
            found.push(line.record().map_err(anyhow::Error::msg)?);
        }
        Ok(found)
    }
}

impl Acted {
    /// The first record of a kind.
    pub(super) fn first(&self, kind: Kind) -> Option<&Record> {
        self.records.iter().find(|record| record.kind == kind)
    }

    /// Whether the decision was made by this rule.
    pub(super) fn is_by(&self, rule: &str) -> bool {
        self.first(Kind::Decision)
            .is_some_and(|record| record.rule.as_deref() == Some(rule))
    }

    /// What the model reads: the tool's text, or why there is none.
    pub(super) fn read(&self) -> &str {
        let value = &self.executed.value;
        let text = value.get("content").or_else(|| value.get("error"));
        text.and_then(Value::as_str).unwrap_or_default()
    }
}
