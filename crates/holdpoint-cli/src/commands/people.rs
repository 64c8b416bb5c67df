//! `holdpoint people`: who may answer.

use std::io::Write;

use holdpoint_broker::{Delegation, People, Role, UnixMillis};
use holdpoint_engine::{Locations, people_at};
use holdpoint_ledger::Timestamp;
use serde_json::json;

use super::pinning;
use super::serve::{not_for_agents, somebody_at_a_terminal};
use crate::cli::{self, PeopleAction};
use crate::exit::Exit;
use crate::terminal::{Terminal, escape_for_display};

pub(crate) fn run(args: &cli::People, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    let people = people_at(&Locations::of_this_machine())?;
    let me = people.owner().to_owned();
    if !matches!(args.action, PeopleAction::List) {
        not_for_agents("change who answers")?;
    }
    // Whoever is added has a token to answer with.
    if matches!(
        args.action,
        PeopleAction::Add { .. } | PeopleAction::Delegate { .. }
    ) {
        somebody_at_a_terminal(&Locations::of_this_machine())?;
    }
    // What counts for the machine does not rest on what the policy of an account says.
    if matches!(
        args.action,
        PeopleAction::Pin { .. } | PeopleAction::Unpin { .. }
    ) {
        pinning::only_root()?;
        somebody_at_a_terminal(&Locations {
            user: None,
            named: None,
            ..Locations::of_this_machine()
        })?;
    }
    match &args.action {
        PeopleAction::List => list(&people, args.json, terminal)?,
        PeopleAction::Add { name, role } => {
            let role = Role::from(*role);
            let token = people.add(&me, name, role)?;
            if args.json {
                let row = json!({"v": 1, "name": name, "role": role, "token": token});
                writeln!(terminal.out, "{row}")?;
            } else {
                writeln!(terminal.out, "Added: {name} ({})", role.as_str())?;
                writeln!(
                    terminal.out,
                    "  They sign in with this token; it is shown once:"
                )?;
                writeln!(terminal.out, "  {token}")?;
            }
        }
        PeopleAction::Remove { name } => {
            people.remove(&me, name)?;
            done(args, terminal, &format!("Removed: {name}"))?;
        }
        PeopleAction::Pin { name, key, check } => {
            return pinning::pin(name, key, check.as_deref(), args.json, terminal);
        }
        PeopleAction::Unpin { name, key } => {
            return pinning::unpin(name, key.as_deref(), args.json, terminal);
        }
        PeopleAction::Delegate { to, from, time } => {
            let now = UnixMillis::now();
            let delegation = Delegation {
                from: from.clone().unwrap_or_else(|| me.clone()),
                to: to.clone(),
                until: now.after(*time),
            };
            people.delegate(&me, &delegation, now)?;
            done(args, terminal, &in_words(&delegation))?;
        }
        PeopleAction::Undelegate { to, from } => {
            let from = from.as_deref().unwrap_or(&me);
            let text = match people.undelegate(&me, from, to)? {
                true => format!("{to} no longer answers in the place of {from}"),
                false => format!("{to} did not answer in the place of {from}"),
            };
            done(args, terminal, &text)?;
        }
    }
    Ok(Exit::Fine)
}

fn list(people: &People, json: bool, terminal: &mut Terminal) -> Result<(), anyhow::Error> {
    let roster = people.roster()?;
    let now = UnixMillis::now();
    let lasting = roster.delegations.iter().filter(|one| one.until > now);
    let delegations: Vec<&Delegation> = lasting.collect();
    let owner = [(people.owner(), Role::Admin)];
    let others = roster
        .people
        .iter()
        .filter(|person| person.name != people.owner())
        .map(|person| (person.name.as_str(), person.role));
    let everybody: Vec<(&str, Role)> = owner.into_iter().chain(others).collect();
    if json {
        let rows: Vec<_> = everybody
            .iter()
            .map(|(name, role)| json!({"name": name, "role": role}))
            .collect();
        let listed = json!({"v": 1, "people": rows, "delegations": delegations});
        writeln!(terminal.out, "{listed}")?;
        return Ok(());
    }
    for (name, role) in everybody {
        let note = match name == people.owner() {
            true => "  (this account)",
            false => "",
        };
        writeln!(
            terminal.out,
            "{:<9} {}{note}",
            role.as_str(),
            escape_for_display(name, 100)
        )?;
    }
    for delegation in delegations {
        writeln!(terminal.out, "{}", in_words(delegation))?;
    }
    for line in pinning::lines(&Locations::of_this_machine()) {
        writeln!(terminal.out, "{line}")?;
    }
    Ok(())
}

fn in_words(delegation: &Delegation) -> String {
    let Delegation { from, to, until } = delegation;
    let until = Timestamp::from_micros(until.0.saturating_mul(1000));
    let text = format!("{to} answers in the place of {from} until {until}");
    escape_for_display(&text, 500)
}

fn done(args: &cli::People, terminal: &mut Terminal, text: &str) -> Result<(), anyhow::Error> {
    if args.json {
        writeln!(terminal.out, "{}", json!({"v": 1, "done": text}))?;
    } else {
        writeln!(terminal.out, "{text}")?;
    }
    Ok(())
}
