//! `holdpoint policy suggest`: allow lines that would have saved questions.

use std::io::Write;

use anyhow::bail;
use holdpoint_cli::report::{From, Period, Suggestion, Suggestions, suggestions_of};
use holdpoint_engine::humanize::{counted, grouped};
use holdpoint_engine::{Locations, working_directory};

use crate::cli::PolicySuggest;
use crate::exit::Exit;
use crate::layout::hanging;
use crate::terminal::{Terminal, escape_for_display};

pub(super) fn run(args: &PolicySuggest, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    let period = Period {
        since: args.span.since,
        until: args.span.until,
    };
    if let (Some(since), Some(until)) = (period.since, period.until)
        && since >= until
    {
        bail!("--since is not before --until: nothing lies between them");
    }
    let locations = Locations::of_this_machine();
    let here = working_directory(None)?;
    let found = suggestions_of(&locations, period, &here, args.at_least)?;
    if args.json {
        serde_json::to_writer_pretty(&mut terminal.out, &found)?;
        writeln!(terminal.out)?;
        return Ok(Exit::Fine);
    }
    print(&found, args.at_least, terminal)?;
    Ok(Exit::Fine)
}

fn print(found: &Suggestions, at_least: u64, terminal: &mut Terminal) -> anyhow::Result<()> {
    let asked = counted(found.asked, "question");
    writeln!(
        terminal.out,
        "{asked} on record: {} released, {} refused or not answered in time.",
        grouped(found.released),
        grouped(found.refused)
    )?;
    let Some(snippet) = &found.snippet else {
        let text = format!(
            "Nothing to suggest: no command was released {at_least} times, never refused, and is such that one line \
             could allow it without letting through what a rule holds."
        );
        let text = hanging(&text, 0, terminal.width());
        writeln!(terminal.out, "{text}")?;
        return Ok(());
    };
    for one in &found.lines {
        print_line(one, terminal)?;
    }
    let what = match snippet.new {
        true => "Write",
        false => "Add to",
    };
    let file = escape_for_display(&snippet.file, 300);
    writeln!(terminal.out, "\n{what} {file}:\n{}", snippet.text)?;
    if found.more_calls {
        let text = "There are more different calls on record than were tried: give --since.";
        writeln!(terminal.out, "{}", terminal.faint(text))?;
    }
    Ok(())
}

fn print_line(one: &Suggestion, terminal: &mut Terminal) -> anyhow::Result<()> {
    let allowing = &one.allowing;
    let patterns: Vec<String> = allowing
        .patterns
        .iter()
        .map(|pattern| format!("\"{}\"", escape_for_display(pattern, 300)))
        .collect();
    let heading = terminal.heading(&patterns.join(", "));
    writeln!(terminal.out, "\n{heading}")?;
    let mut saves = format!(
        "saves {}, {} of them released",
        counted(allowing.saves, "question"),
        grouped(allowing.approved)
    );
    if !allowing.asked_by.is_empty() {
        saves.push_str(&format!("; asked by {}", allowing.asked_by.join(", ")));
    }
    saves.push_str(&format!(
        "; for example: {}",
        escape_for_display(&allowing.example, 200)
    ));
    let saves = hanging(&saves, 4, terminal.width());
    writeln!(terminal.out, "    {saves}")?;
    if one.lets_through.is_empty() {
        let text = "lets nothing else through that is on record or that a pack has as an example";
        let text = hanging(text, 4, terminal.width());
        writeln!(terminal.out, "    {text}")?;
    } else {
        writeln!(terminal.out, "    also lets through:")?;
    }
    for through in &one.lets_through {
        let rule = through.rule.as_deref().unwrap_or("no rule");
        let rule = escape_for_display(rule, 100);
        let about = match through.from {
            From::Ledger => format!("{rule}; made {}", counted(through.times, "time")),
            From::Example => format!("an example of {rule}"),
        };
        let verdict = terminal.verdict(through.verdict);
        let about = terminal.faint(&format!("({about})"));
        writeln!(
            terminal.out,
            "      {verdict}  {}  {about}",
            escape_for_display(&through.call, 200)
        )?;
    }
    if one.more > 0 {
        writeln!(terminal.out, "      and {} more", grouped(one.more))?;
    }
    if one.answered > 0 {
        let text = format!(
            "answers {} with allow that Holdpoint now leaves to the agent's own permissions",
            counted(one.answered, "other call")
        );
        let text = hanging(&text, 4, terminal.width());
        writeln!(terminal.out, "    {text}")?;
    }
    Ok(())
}
