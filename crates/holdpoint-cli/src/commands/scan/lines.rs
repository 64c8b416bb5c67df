//! Findings as lines for people.

use std::io::{self, Write};

use holdpoint_broker::wire::Opinion;
use holdpoint_cli::scan::{
    Decided, DecidedBy, Explained, LocatedFinding, PolicyThreshold, Scanned, ScoreThreshold,
};
use holdpoint_core::text::Severity;
use holdpoint_engine::humanize::{bytes, counted, duration, grouped};
use holdpoint_engine::inspecting::{Consultation, Effect};

use super::{Report, Totals};
use crate::terminal::{Terminal, escape_for_display};

/// Prints a finding a line, with its words below it.
pub(super) struct Lines {
    explain: bool,
}

impl Lines {
    pub(super) fn new(explain: bool) -> Self {
        Self { explain }
    }

    fn finding(
        &self,
        name: &str,
        found: &LocatedFinding,
        terminal: &mut Terminal,
    ) -> io::Result<()> {
        let finding = &found.finding;
        let place = format!("{name}:{}:{}:", found.start.line, found.start.column);
        writeln!(
            terminal.out,
            "{} {} {} {}",
            terminal.heading(&place),
            terminal.severity(finding.severity),
            escape_for_display(&finding.rule, 100),
            escape_for_display(&finding.reason, 300),
        )?;
        if !found.preview.is_empty() {
            writeln!(terminal.out, "    {}", terminal.faint(&found.preview))?;
        }
        if self.explain && !finding.disguises.is_empty() {
            let names: Vec<&str> = finding.disguise_names().collect();
            writeln!(terminal.out, "    disguised by {}", names.join(", "))?;
        }
        if let Some(explained) = &found.explained {
            for line in lines_of(explained) {
                writeln!(terminal.out, "    {line}")?;
            }
        }
        if !found.weights.is_empty() {
            let words: Vec<String> = found
                .weights
                .iter()
                .map(|it| format!("{} {:+.2}", it.word, it.weight))
                .collect();
            writeln!(terminal.out, "    weighed: {}", words.join(", "))?;
        }
        Ok(())
    }
}

/// What a finding rests on: a line for what it is, one for what the classifier made of it, one for what decided.
fn lines_of(explained: &Explained) -> Vec<String> {
    let mut what = format!("language {}", explained.language);
    if !explained.wrappers.is_empty() {
        what.push_str(&format!("; inside: {}", explained.wrappers.join(", ")));
    }
    if !explained.ideas.is_empty() {
        what.push_str(&format!("; ideas: {}", explained.ideas.join(", ")));
    }
    let mut lines = vec![what];
    if let Some(score) = explained.score {
        lines.push(format!(
            "score {:.2}, less {:.2} for talk; mentioned from {:.2}, annotated from {:.2}, withheld from {:.2}, of that {:.2} for the language",
            score.found,
            score.talk,
            score.mention_from,
            score.annotate_from,
            score.withhold_from,
            score.margin
        ));
    }
    lines.push(line_of(&explained.decided));
    lines
}

/// What decided: who found it, how bad that is there, and what the policy has done about it.
fn line_of(decided: &Decided) -> String {
    let mut line = match decided.by {
        DecidedBy::Rule => "decided by the rule: ".to_owned(),
        DecidedBy::Score => "decided by the score: ".to_owned(),
    };
    if let Some(reached) = decided.reached {
        line.push_str(match reached {
            ScoreThreshold::WithholdFrom => "as high as what is withheld, ",
            ScoreThreshold::AnnotateFrom => "as high as what is annotated, ",
            ScoreThreshold::MentionFrom => "as high as what is mentioned, ",
        });
    }
    line.push_str(decided.severity.name());
    match decided.before {
        Some(before) if before > decided.severity => {
            line.push_str(&format!(" in place of {before} because it is talk"));
        }
        Some(before) => line.push_str(&format!(" in place of {before} because it is disguised")),
        None => {}
    }
    match decided.policy {
        Some(PolicyThreshold { key, from }) => {
            line.push_str(&format!("; {} by {key}: {}", decided.action, from.name()));
        }
        None => line.push_str(&format!("; {}", decided.action)),
    }
    line
}

/// What others made of a text, and what comes of it.
fn line_of_opinion(opinion: &Consultation) -> String {
    let server = opinion.answer.server.as_deref().unwrap_or("nobody");
    let comes_of_it = match opinion.effect {
        Effect::None => "which changes nothing",
        Effect::Raised => "so it should be quarantined",
        Effect::Lowered => "so it should only be annotated",
    };
    let said = match &opinion.answer.opinion {
        Opinion::Attack => "an attack".to_owned(),
        Opinion::Harmless => "harmless".to_owned(),
        Opinion::None(why) => format!("none ({why})"),
    };
    let micros = u64::try_from(opinion.took.as_micros()).unwrap_or(u64::MAX);
    let line = format!(
        "second opinion: {said}, {comes_of_it} ({server}, {})",
        duration(micros)
    );
    escape_for_display(&line, 500)
}

impl Report for Lines {
    fn hear(&mut self, name: &str, scanned: &Scanned, terminal: &mut Terminal) -> io::Result<()> {
        let name = escape_for_display(name, 500);
        for found in &scanned.findings {
            self.finding(&name, found, terminal)?;
        }
        for opinion in &scanned.opinions {
            writeln!(terminal.out, "{name}: {}", line_of_opinion(opinion))?;
        }
        let told = u64::try_from(scanned.findings.len()).unwrap_or(u64::MAX);
        let more = scanned.count.saturating_sub(told);
        if more > 0 {
            writeln!(terminal.out, "{name}: and {} more", grouped(more))?;
        }
        Ok(())
    }

    fn end(&mut self, totals: &Totals, terminal: &mut Terminal) -> io::Result<()> {
        if totals.texts == 0 && totals.unread > 0 {
            // What could not be read says it all.
            return Ok(());
        }
        let mut line = if totals.interrupted {
            "interrupted: ".to_owned()
        } else {
            String::new()
        };
        let told: u64 = totals.findings.iter().sum();
        if told == 0 {
            line.push_str("nothing found in ");
        } else {
            let each: Vec<String> = Severity::ALL
                .iter()
                .zip(totals.findings)
                .rev()
                .filter(|(_, count)| *count > 0)
                .map(|(severity, count)| format!("{} {severity}", grouped(count)))
                .collect();
            line.push_str(&format!(
                "{} ({}) in {} of ",
                counted(told + totals.untold, "finding"),
                each.join(", "),
                grouped(totals.flagged),
            ));
        }
        line.push_str(&counted(totals.texts, "text"));
        if totals.binary > 0 {
            line.push_str(&format!(
                ", {} passed over",
                counted(totals.binary, "binary file")
            ));
        }
        let micros = u64::try_from(totals.started.elapsed().as_micros()).unwrap_or(u64::MAX);
        line.push_str(&format!(
            ", {} in {}",
            bytes(totals.bytes),
            duration(micros)
        ));
        writeln!(terminal.out, "{}", terminal.faint(&line))
    }
}
