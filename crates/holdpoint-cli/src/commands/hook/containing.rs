//! Having an agent's command run inside the sandbox: whether it can be, and the line by which it is.

use std::env;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use holdpoint_agents::hook::HookCall;
use holdpoint_agents::own_rules::{Circumstances, CommandLine, MayMatch, ancestors};
use holdpoint_agents::setup::Around;
use holdpoint_core::Explained;
use holdpoint_engine::containing::{
    self, NotContained, Plan, PlanError, Ticket, Tickets, Tier, Wanted, Wrapped,
};
use holdpoint_engine::pipeline::{Decided, Permit};
use holdpoint_engine::{Caller, Engine, EngineError, Locations, ToolCall, real_directory};
use serde_json::{Map, Value};

/// The argument with a command in it, of every agent's shell.
const COMMAND: &str = "command";

/// The arguments by which a call says where it runs, of one agent or another.
const DIRECTORIES: [&str; 3] = ["dir_path", "workdir", "directory"];

/// The commands by which a shell goes elsewhere.
const LEAVING: [&str; 4] = ["cd", "chdir", "pushd", "popd"];

/// An error if a call that is to be contained cannot be.
pub(super) fn can_be_wrapped(
    asked: &HookCall,
    caller: &Caller,
    decided: &Decided,
    locations: &Locations,
) -> Result<(), NotContained> {
    let call = decided.action().call();
    let (Some(line), Ok(explained)) = (line(call), decided.explained()) else {
        return Err(NotContained::Line);
    };
    let standing = Path::new(call.cwd().unwrap_or("/"));
    let directory = directory(call).ok_or(NotContained::Directory)?;
    if !containing::stays_in(&caller.workspace, &directory, locations) {
        return Err(NotContained::Elsewhere);
    }
    plan(&directory, locations)?;
    program().ok_or(NotContained::Program)?;
    match own_rules(asked, caller, line, &explained, standing) {
        MayMatch::No => Ok(()),
        MayMatch::Yes(rule) => Err(NotContained::OwnRule(rule)),
        MayMatch::Unknown(reason) => Err(NotContained::OwnRulesUnknown(reason)),
    }
}

/// Whether another line may take the place of the agent's: it is a command, and no rule of the agent's own may be about it. The
/// agent would ask nobody, and its user's rules must not be got around by a form of the command they do not name.
pub(super) fn can_be_rewritten(asked: &HookCall, caller: &Caller, decided: &Decided) -> bool {
    let call = decided.action().call();
    let (Some(line), Ok(explained)) = (line(call), decided.explained()) else {
        return false;
    };
    let standing = Path::new(call.cwd().unwrap_or("/"));
    asked.can_be_contained()
        && matches!(
            own_rules(asked, caller, line, &explained, standing),
            MayMatch::No
        )
}

/// Whether a rule of the agent's own may be about a line.
fn own_rules(
    asked: &HookCall,
    caller: &Caller,
    line: &str,
    explained: &Explained,
    standing: &Path,
) -> MayMatch {
    let mode = caller.circumstances.more.get("permission_mode");
    let circumstances = Circumstances {
        around: &Around::of_this_machine(&caller.workspace),
        standing,
        mode: mode.and_then(Value::as_str),
        processes: &ancestors(),
    };
    let line = CommandLine::new(line, explained, standing);
    asked.own_rules(&line, &circumstances)
}

/// What a command would be given there: there are directories in which none can be contained.
fn plan(directory: &Path, locations: &Locations) -> Result<Plan, PlanError> {
    let wanted = Wanted {
        command: Vec::new(),
        directory: directory.to_owned(),
        writable: Vec::new(),
        time: None,
        floor: Tier::Full,
    };
    containing::plan(&wanted, locations)
}

/// The arguments with which the call runs inside the sandbox; a ticket is kept for them.
pub(super) fn wrapped(
    engine: &Engine,
    asked: &HookCall,
    caller: &Caller,
    permit: &Permit,
) -> Result<Map<String, Value>, EngineError> {
    let not_contained = |why: NotContained| EngineError::NotContained(Arc::new(why));
    let call = permit.call();
    let line = line(call).ok_or_else(|| not_contained(NotContained::Line))?;
    let program = program().ok_or_else(|| not_contained(NotContained::Program))?;
    let in_background = ["run_in_background", "is_background", "detach"]
        .iter()
        .any(|key| call.input().get(*key) == Some(&Value::Bool(true)));
    let leaves = permit.explained()?.commands.iter().any(|command| {
        let name = command.words.first();
        command.within.is_empty() && name.is_some_and(|name| LEAVING.contains(&name.as_str()))
    });
    let keeps_directory = asked.keeps_directory() && leaves && !in_background;
    let ticket = Ticket {
        agent: caller.agent.clone(),
        session: caller.session_name.clone(),
        call: call.digest(),
        tool: call.tool().to_owned(),
        directory: directory(call).ok_or_else(|| not_contained(NotContained::Directory))?,
        workspace: caller.workspace.clone(),
        policy: permit.decision().policy.clone(),
        made: (line.len() <= containing::MAX_REPEATED)
            .then(|| permit.calling())
            .transpose()?,
        keeps_directory,
        ..Ticket::for_line(line)
    };
    let name = Tickets::at(engine.locations())
        .and_then(|tickets| tickets.issue(&ticket))
        .map_err(|error| not_contained(error.into()))?;
    let wrapped = Wrapped::new(&program, &name, line, keeps_directory);
    // Whatever else the call says stays as it is: how long it may take, what it is for, whether it is waited for.
    let mut input = call.input().clone();
    input.insert(COMMAND.into(), Value::String(wrapped.to_line()));
    Ok(input)
}

/// The call as it was made, if its line is one that was wrapped: by this program, and so run by it.
pub(super) fn unwrapped(call: ToolCall) -> ToolCall {
    let wrapped = line(&call).and_then(Wrapped::from_line);
    // Another program of that form may do whatever it likes with the line.
    let ours = wrapped.filter(|wrapped| Some(&wrapped.program) == program().as_ref());
    let Some(original) = ours.and_then(|wrapped| wrapped.line) else {
        return call;
    };
    let mut input = call.input().clone();
    input.insert(COMMAND.into(), Value::String(original));
    ToolCall::new(call.tool(), Value::Object(input)).unwrap_or(call)
}

fn line(call: &ToolCall) -> Option<&str> {
    call.input().get(COMMAND)?.as_str()
}

/// Where the call runs.
fn directory(call: &ToolCall) -> Option<PathBuf> {
    let mut standing = PathBuf::from(call.cwd()?);
    for key in DIRECTORIES {
        if let Some(given) = call.input().get(key).and_then(Value::as_str) {
            standing.push(given);
        }
    }
    real_directory(Some(&standing)).ok()
}

/// The path of this program, by the name it was called if that is one: a link that is kept up to date outlives what
/// it points to.
fn program() -> Option<String> {
    let real = env::current_exe().ok()?;
    let called = env::args_os().next().map(PathBuf::from);
    let called = called.filter(|path| {
        path.is_absolute() && path.canonicalize().is_ok_and(|followed| followed == real)
    });
    let path = called.unwrap_or(real);
    path.is_file().then(|| path.to_str().map(str::to_owned))?
}
