//! `holdpoint run`: a command where it can do no harm.

use std::io::{self, Write};
use std::time::Duration;

use anyhow::anyhow;
use holdpoint_engine::containing::{self, ContainError, Ended, Plan, Tier, Wanted};
use holdpoint_engine::{Locations, plain_words, real_directory};

use crate::cli::{Floor, Run};
use crate::terminal::escape_for_display;

/// The sandbox cannot be made. One that other runners of contained commands use too.
const NOT_MADE: u8 = 125;
/// The command is there and cannot be run.
const NOT_RUN: u8 = 126;
/// There is no such command.
const NOT_FOUND: u8 = 127;

/// The most characters of a path or name that are shown: as long as a path can be.
const MAX_SHOWN: usize = 4096;

/// Runs the command; its exit code is ours.
pub(crate) fn run(args: &Run) -> u8 {
    let plan = match plan(args) {
        Ok(plan) => plan,
        Err(error) => {
            tell(&format!("{error:#}"));
            return NOT_MADE;
        }
    };
    if args.plan {
        // Whoever read it has gone, or has it.
        return match describe(&plan, &mut io::stdout().lock()) {
            Ok(()) => 0,
            Err(_) => NOT_MADE,
        };
    }
    match containing::run(&plan) {
        Ok(ran) => {
            if let Some(below) = &ran.below {
                tell(&format!("contained by {} only: {below}", ran.tier));
            }
            if ran.ended == Ended::OutOfTime {
                let seconds = args.time.unwrap_or_default();
                tell(&format!(
                    "it was ended after {seconds} s: --time allows no more"
                ));
            }
            ran.ended.code()
        }
        Err(error) => {
            let name = args.command.first().map(|name| name.to_string_lossy());
            match &error {
                ContainError::NotStarted { source } => {
                    let name = escape_for_display(&name.unwrap_or_default(), MAX_SHOWN);
                    tell(&format!("`{name}` cannot be run: {}", plain_words(source)));
                    if source.kind() == io::ErrorKind::NotFound {
                        NOT_FOUND
                    } else {
                        NOT_RUN
                    }
                }
                ContainError::NoCommand
                | ContainError::ZeroByte
                | ContainError::Threads
                | ContainError::Path { .. }
                | ContainError::BelowFloor { .. }
                | ContainError::Io(_) => {
                    tell(&format!("{error}; nothing ran"));
                    NOT_MADE
                }
            }
        }
    }
}

fn plan(args: &Run) -> anyhow::Result<Plan> {
    let directory = real_directory(None).map_err(|error| {
        anyhow!(
            "the present directory cannot be found: {}",
            plain_words(&error)
        )
    })?;
    let writable = args
        .write
        .iter()
        .map(|path| {
            path.canonicalize().map_err(|error| {
                let shown = escape_for_display(&path.to_string_lossy(), MAX_SHOWN);
                anyhow!("--write `{shown}`: {}", plain_words(&error))
            })
        })
        .collect::<anyhow::Result<_>>()?;
    let wanted = Wanted {
        command: args.command.clone(),
        directory,
        writable,
        time: args.time.map(Duration::from_secs),
        floor: match args.floor {
            Floor::Full => Tier::Full,
            Floor::Landlock => Tier::Landlock,
        },
    };
    Ok(containing::plan(&wanted, &Locations::of_this_machine())?)
}

/// What the command would be given, a line each.
fn describe(plan: &Plan, out: &mut impl Write) -> io::Result<()> {
    let lists = [
        ("may change", &plan.writable),
        ("reads in the home", &plan.readable),
        ("does not find", &plan.hidden),
        ("cannot change", &plan.protected),
    ];
    for (what, paths) in lists {
        // What is protected is protected before it exists.
        let all = what == "cannot change";
        for path in paths.iter().filter(|path| all || path.exists()) {
            let path = path.to_string_lossy();
            writeln!(out, "{what:<18} {}", escape_for_display(&path, MAX_SHOWN))?;
        }
    }
    if let Some(home) = &plan.home {
        let home = home.to_string_lossy();
        writeln!(
            out,
            "{:<18} {}",
            "finds empty",
            escape_for_display(&home, MAX_SHOWN)
        )?;
    }
    writeln!(out, "{:<18} none; a loopback of its own", "network")?;
    let (tier, below) = containing::reachable();
    writeln!(
        out,
        "{:<18} {tier}{}",
        "sandbox here",
        below.map(|why| format!(" ({why})")).unwrap_or_default()
    )
}

fn tell(text: &str) {
    // Without a standard error there is nobody to be told.
    let _ = writeln!(io::stderr(), "holdpoint: {text}");
}
