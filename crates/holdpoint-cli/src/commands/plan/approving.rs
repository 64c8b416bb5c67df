//! Putting a plan before a person, by the way of every held call, and opening what they release.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use anyhow::bail;
use holdpoint_broker::Context;
use holdpoint_broker::channel::{self, Setting};
use holdpoint_core::Timestamp;
use holdpoint_core::plan::{OpenPlan, SHOWN, TOOL};
use holdpoint_core::policy::{Channel, ChannelKind, Fallback, channel_of};
use holdpoint_daemon::webhook;
use holdpoint_engine::holding::{Approvers, Asking, Dialog};
use holdpoint_engine::pipeline::{Outcome, Permit};
use holdpoint_engine::{Caller, Engine, Locations, SessionSource, ToolCall, account_name};
use serde_json::{Value, json};

use super::checking::Checked;
use super::{Read, change, plain};
use crate::cli::Lasting;
use crate::commands::serve::may_loosen;
use crate::exit::Exit;
use crate::terminal::Terminal;

/// For whom and how long.
pub(super) struct Asked<'a> {
    pub(super) directory: &'a Path,
    pub(super) session: &'a str,
    pub(super) lasts: &'a Lasting,
    pub(super) json: bool,
}

pub(super) fn approve(
    asked: &Asked<'_>,
    read: Read,
    checked: &Checked,
    terminal: &mut Terminal,
) -> anyhow::Result<Exit> {
    let engine = Engine::at(&Locations::of_this_machine()).with_webhooks(webhook::build);
    let source = engine.layers(asked.directory);
    let policy = engine.policy(&source)?;
    // On a terminal of its own an agent could answer itself.
    let here = may_loosen("release a plan", engine.locations());
    let on_console = channel_of(&policy).is_some_and(|one| one.kind == ChannelKind::Console)
        || policy.fallback() == Fallback::Console;
    if on_console {
        here.as_ref()
            .map_err(|error| anyhow::anyhow!("{error:#}"))?;
    }
    let shown = read.plan.shown(&asked.lasts.text);
    let call = ToolCall::new(TOOL, json!({ SHOWN: shown.as_str() }))?;
    let call = call.in_directory(read.plan.workspace.as_str());
    let caller = Arc::new(Caller {
        agent: "plan".into(),
        session_name: Some(asked.session.to_owned()),
        policy: source,
        session: SessionSource::Kept(asked.session.to_owned()),
        workspace: asked.directory.to_owned(),
        can_contain: false,
        circumstances: Context::default(),
    });
    if !asked.json {
        writeln!(
            terminal.out,
            "{}: {}",
            plain(&read.plan.name),
            checked.summary()
        )?;
        writeln!(
            terminal.out,
            "It waits for a person: on the page, in `holdpoint watch`, or by `holdpoint approve`"
        )?;
        terminal.out.flush()?;
    }
    let asking = || Asking {
        takes_edits: false,
        ..Asking::by(Approvers::AsPolicySays(Dialog::None))
    };
    let held = engine
        .judge(call.clone(), Arc::clone(&caller))?
        .hold(asking())?;
    let mut outcome = held.release()?;
    // Where nobody else can be asked, the person who typed this can, if it was one.
    if let Outcome::Refused(refusal) = &outcome
        && refusal.unasked.is_some()
        && here.is_ok()
    {
        let environment = |name: &str| std::env::var(name).ok();
        let setting = Setting {
            approver: account_name(),
            prompt_lock: None::<PathBuf>,
            environment: &environment,
            webhooks: None,
        };
        let mut console = channel::build(&Channel::console(), &setting)?;
        let asking = Asking {
            takes_edits: false,
            ..Asking::by(Approvers::Through(console.as_mut()))
        };
        outcome = engine.judge(call, caller)?.hold(asking)?.release()?;
    }
    let permit = match outcome {
        Outcome::Runs(permit) => *permit,
        Outcome::HandedOn(decision) => bail!(
            "nobody was asked ({}): start the approval daemon with `holdpoint serve`",
            plain(&decision.reason)
        ),
        Outcome::Refused(refusal) => {
            return refused(asked, &refusal.decision.reason, refusal.request, terminal);
        }
    };
    opened(asked, &engine, read.plan, &shown, permit, terminal)
}

/// Opens what was released, which is what was shown.
fn opened(
    asked: &Asked<'_>,
    engine: &Engine,
    plan: OpenPlan,
    shown: &str,
    permit: Permit,
    terminal: &mut Terminal,
) -> anyhow::Result<Exit> {
    // A policy that only observes lets every call run: that is nobody's yes.
    let Some(request) = permit.request().map(str::to_owned) else {
        bail!(
            "nobody was asked: the policy lets this run by itself, and a plan is opened by a person alone"
        );
    };
    let is_shown = permit.call().input().get(SHOWN).and_then(Value::as_str) == Some(shown);
    if !is_shown || permit.was_edited() {
        bail!("what was released is not what was shown: put the plan before a person again");
    }
    let _ = permit.hand_over();
    let until = Timestamp::from_clock(SystemTime::now() + asked.lasts.time);
    let plan = OpenPlan {
        until: until.to_string(),
        ..plan
    };
    let what = json!({
        "action": "plan_open", "plan": plan.name, "digest": plan.digest,
        "workspace": plan.workspace, "until": plan.until, "request": request,
        "phases": plan.phases,
    });
    change(engine, asked.session, &what, Some(plan.clone()))?;
    if asked.json {
        let whole = json!({"v": 1, "session": asked.session, "opened": plan, "request": request});
        writeln!(terminal.out, "{whole}")?;
    } else {
        writeln!(
            terminal.out,
            "Open until {}: what it covers is not asked again, what is outside is held. `holdpoint plan status` says how far it is",
            plan.until
        )?;
    }
    Ok(Exit::Fine)
}

fn refused(
    asked: &Asked<'_>,
    reason: &str,
    request: Option<String>,
    terminal: &mut Terminal,
) -> anyhow::Result<Exit> {
    if asked.json {
        let whole =
            json!({"v": 1, "session": asked.session, "refused": reason, "request": request});
        writeln!(terminal.out, "{whole}")?;
    } else {
        writeln!(terminal.out, "Not opened: {}", plain(reason))?;
    }
    Ok(Exit::Denied)
}
