//! The `holdpoint` program: reads the command line and hands over.

#![cfg_attr(all(target_os = "linux", target_env = "gnu", not(test)), no_main)]

mod cli;
mod commands;
mod exit;
mod json_line;
mod layout;
mod lines;
mod pool;
mod progress;
mod terminal;

use std::io::{self, Write};

use clap::Parser;

use crate::cli::{Cli, Command, Mcp, McpAction};
use crate::exit::Exit;
use crate::terminal::Terminal;

holdpoint_sandbox::program!(answer);

/// Does what the command line says; the exit code.
fn answer() -> u8 {
    holdpoint_sandbox::file_sizes::refuse_quietly();
    holdpoint_sandbox::contain::has_inside();
    // The hot path: every call of an agent comes this way, so nothing else is touched before it.
    if let Some(exit) = commands::hook::called(std::env::args_os()) {
        return exit;
    }
    if let Some(exit) = holdpoint_sandbox::contain::inside(std::env::args_os()) {
        return exit;
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // clap would end with 2, which here means deny.
            let _ = error.print();
            return if error.use_stderr() {
                Exit::Error
            } else {
                Exit::Fine
            }
            .into();
        }
    };
    if let Command::Acp { agent } = &cli.command {
        return commands::acp::run(agent);
    }
    if let Command::Mcp(Mcp {
        action: McpAction::Proxy(args),
    }) = &cli.command
    {
        return commands::mcp::proxy::run(args);
    }
    if let Command::Run(args) = &cli.command {
        return commands::run::run(args);
    }
    let failure = match matches!(cli.command, Command::Policy(_)) {
        true => Exit::Unusable,
        false => Exit::Error,
    };
    let mut terminal = Terminal::standard();
    let ended = run(cli.command, &mut terminal).and_then(|exit| {
        terminal.out.flush()?;
        Ok(exit)
    });
    match ended {
        Ok(exit) => exit.into(),
        // Whoever read our output has gone; there is nobody left to tell.
        Err(error) if is_broken_pipe(&error) => Exit::Error.into(),
        Err(error) => {
            let _ = terminal.out.flush();
            let _ = writeln!(io::stderr(), "holdpoint: {error:#}");
            failure.into()
        }
    }
}

fn run(command: Command, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    match command {
        Command::Check(args) if args.batch => commands::batch::run(&args, terminal),
        Command::Check(args) => commands::check::run(&args, terminal),
        // Only a question for help gets this far.
        Command::Hook { .. } => Ok(Exit::Denied),
        // They end as what they run does, so they have been run by now.
        Command::Acp { .. } | Command::Run(_) => Ok(Exit::Error),
        Command::Mcp(args) => commands::mcp::run(&args, terminal),
        Command::Init(args) => commands::init::run(&args, terminal),
        Command::Uninstall(args) => commands::init::unregister(&args, terminal),
        Command::Demo(args) => commands::demo::run(&args, terminal),
        Command::Doctor(args) => commands::doctor::run(&args, terminal),
        Command::Explain(args) => commands::explain::run(&args, terminal),
        Command::Simulate(args) => commands::simulate::run(&args, terminal),
        Command::Undo(args) => commands::undo::run(&args, terminal),
        Command::Scan(args) if args.batch => commands::scan::batch(&args, terminal),
        Command::Scan(args) => commands::scan::run(&args, terminal),
        Command::Clean(args) => commands::clean::run(&args, terminal),
        Command::Replay(args) => commands::replay::run(&args, terminal),
        Command::Log(args) => commands::log::run(&args, terminal),
        Command::Report(args) => commands::report::run(&args, terminal),
        Command::Rules(args) => commands::rules::run(&args.action, terminal),
        Command::Policy(args) => commands::policy::run(&args.action, terminal),
        Command::Import(args) => commands::import::run(&args, terminal),
        Command::Permissions(args) => commands::permissions::run(&args, terminal),
        Command::Plan(args) => commands::plan::run(&args, terminal),
        Command::Prompt(args) => commands::prompt::run(&args, terminal),
        Command::Trust(args) => commands::trust::run(&args, terminal),
        Command::Serve(args) => commands::serve::serve(&args, terminal),
        Command::Open(args) => commands::serve::open(&args, terminal),
        Command::Watch => commands::watch::run(),
        Command::Pending(args) => commands::approvals::pending(&args, terminal),
        Command::Approve(args) => commands::approvals::approve(&args, terminal),
        Command::Deny(args) => commands::approvals::refuse(&args, terminal),
        Command::Stop(args) => commands::stop::stop(&args, terminal),
        Command::Resume(args) => commands::stop::resume(&args, terminal),
        Command::Extend(args) => commands::approvals::extend(&args, terminal),
        Command::Approvals(args) => commands::approvals::approvals(&args, terminal),
        Command::People(args) => commands::people::run(&args, terminal),
        Command::Schema => commands::reference::schema(terminal),
        Command::Profiles {
            name: Some(name), ..
        } => commands::reference::profile(&name, terminal),
        Command::Profiles { name: None, json } => commands::reference::profiles(json, terminal),
        Command::Completions { shell } => commands::reference::completions(shell, terminal),
        Command::Man { dir } => commands::reference::man(dir.as_deref(), terminal),
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let kind = cause
            .downcast_ref::<io::Error>()
            .map(io::Error::kind)
            .or_else(|| cause.downcast_ref::<serde_json::Error>()?.io_error_kind());
        kind == Some(io::ErrorKind::BrokenPipe)
    })
}
