//! What the broker needs of the world: this user's policies, sessions and ledger.

use std::path::Path;
use std::sync::Arc;

use holdpoint_broker::channel::WebhookBuilder;
use holdpoint_broker::{
    BrokerHost, CallContext, CheckResult, Context, Event, Judged, Memory, Prepared, Problem, Warned,
};
use holdpoint_core::{
    Action, Explained, Policy, Session, SessionState, Surroundings, ToolCall, explained, judge,
    named, understand,
};
use holdpoint_ledger::Kind;
use serde_json::json;

use super::{binding, terms};
use crate::backup::{Backups, Wanted};
use crate::disk::Disk;
use crate::excerpt::{text_without_secrets, without_secrets};
use crate::load::load_layers_at;
use crate::locations::Locations;
use crate::recording::{Hold, Recorder};
use crate::sessions::{SessionId, Sessions};
use crate::simulate::simulate;
use crate::{checks, display};

/// This user's policies, sessions and ledger.
#[derive(Clone)]
pub struct House {
    locations: Locations,
    /// A policy in place of the files.
    policy: Option<Arc<Policy>>,
    /// What makes a webhook channel, if the program has them.
    webhooks: Option<WebhookBuilder>,
}

/// The most lines of what a call would do that are shown.
const MOST_FORESEEN: usize = 12;

/// For how long a rule of a session holds, in words.
pub(super) fn lasting() -> String {
    "until the session has been idle for a day, or `holdpoint permissions clear`".into()
}

impl House {
    /// What is kept at these places.
    pub fn at(locations: &Locations) -> Self {
        Self {
            locations: locations.clone(),
            policy: None,
            webhooks: None,
        }
    }

    /// The same, with a policy in place of the files.
    #[must_use]
    pub fn under(mut self, policy: Arc<Policy>) -> Self {
        self.policy = Some(policy);
        self
    }

    /// The same, in a program that asks webhooks.
    #[must_use]
    pub fn with_webhooks(mut self, build: WebhookBuilder) -> Self {
        self.webhooks = Some(build);
        self
    }

    /// What makes a webhook channel, if the program has them.
    pub(super) fn webhooks(&self) -> Option<WebhookBuilder> {
        self.webhooks
    }

    /// Where things are kept.
    pub fn locations(&self) -> &Locations {
        &self.locations
    }

    /// The policy a call comes under.
    pub(crate) fn policy(&self, asked: &CallContext) -> Result<Arc<Policy>, Problem> {
        self.policy_for(&asked.workspace, &asked.directory, asked.config.as_deref())
    }

    /// The policy that holds in a workspace; `config` names a file in place of the search.
    pub(crate) fn policy_for(
        &self,
        workspace: &str,
        directory: &str,
        config: Option<&str>,
    ) -> Result<Arc<Policy>, Problem> {
        if let Some(policy) = &self.policy {
            return Ok(Arc::clone(policy));
        }
        let locations = Locations {
            named: config.map(Into::into),
            ..self.locations.clone()
        };
        load_layers_at(&locations, Path::new(workspace), Path::new(directory))
            .map(Arc::new)
            .map_err(problem)
    }

    /// What a call would do.
    pub(crate) fn explained(
        &self,
        asked: &CallContext,
        call: &ToolCall,
        policy: &Policy,
    ) -> Explained {
        let home = self.home();
        let around = surroundings(asked, home.as_deref());
        explained(&understand(call.clone(), policy, &around), &around)
    }

    /// What a session remembers.
    pub(crate) fn session(&self, asked: &CallContext) -> Result<SessionState, Problem> {
        let sessions = Sessions::at(&self.locations).map_err(problem)?;
        sessions
            .load(&SessionId::new(&asked.session))
            .map_err(problem)
    }

    /// Judges a call as the session stands.
    pub(crate) fn judge_in(
        &self,
        asked: &CallContext,
        policy: &Policy,
        state: &SessionState,
    ) -> Result<Judged, Problem> {
        let call = call_of(asked)?;
        let home = self.home();
        let around = surroundings(asked, home.as_deref());
        let session = Session::new(state.clone());
        let action = understand(call, policy, &around);
        let decision = judge(&action, policy, &session, &around);
        let terms = terms::of(asked, &action, &decision, policy, state, &around);
        let paths = named(&action).paths;
        Ok(Judged {
            binding: binding::of(asked, &decision, &paths, &terms),
            decision: without_secrets(decision),
            terms,
        })
    }

    /// Keeps a copy of what a call would change.
    pub(super) fn back_up(&self, asked: &CallContext, digest: &str) -> Result<(), Problem> {
        let policy = self.policy(asked)?;
        let call = call_of(asked)?;
        let home = self.home();
        let action = understand(call, &policy, &surroundings(asked, home.as_deref()));
        let named = named(&action);
        let backups = Backups::at(&self.locations).map_err(problem)?;
        backups
            .make(&Wanted {
                call: digest,
                about: &text_without_secrets(&action.call().signature()),
                paths: &named.paths,
                unknown: &named.unknown,
            })
            .map(drop)
            .map_err(problem)
    }

    fn home(&self) -> Option<String> {
        let home = self.locations.home.as_ref()?;
        home.to_str().map(str::to_owned)
    }

    fn recorder(&self) -> Result<Recorder, Problem> {
        Recorder::at(&self.locations).map_err(problem)
    }
}

impl BrokerHost for House {
    fn judge(&self, asked: &CallContext) -> Result<Judged, Problem> {
        let policy = self.policy(asked)?;
        self.judge_in(asked, &policy, &self.session(asked)?)
    }

    fn prepare(&self, asked: &CallContext, judged: &Judged) -> Result<Prepared, Problem> {
        let policy = self.policy(asked)?;
        let call = call_of(asked)?;
        let home = self.home();
        let around = surroundings(asked, home.as_deref());
        let action = understand(call, &policy, &around);
        let paths = named(&action).paths;
        let found: Vec<CheckResult> = checks::run(
            &judged.decision.checks,
            &action,
            &paths,
            Path::new(&asked.workspace),
            self.locations.home.as_deref(),
        );
        let workspace = Path::new(&asked.workspace);
        let mut display = display::display(&action, &judged.decision, &paths, workspace);
        display.warnings.extend(foreseen(&action, &around));
        Ok(Prepared {
            display,
            context: shown_context(&asked.context),
            checks: found,
        })
    }

    fn difference(&self, before: &CallContext, after: &CallContext) -> String {
        display::diff_of_arguments(&before.input, &after.input)
    }

    fn record(&self, event: Event<'_>) -> Result<(), Problem> {
        let asked = match event {
            Event::Judged { asked, .. } => asked,
            Event::Opened(request)
            | Event::Answered { request, .. }
            | Event::Expired(request)
            | Event::Withdrawn(request)
            | Event::Used(request) => &request.asked,
        };
        // What is redacted depends on the policy. If that cannot be read any more, what is redacted
        // always still is.
        let policy = self.policy(asked).ok();
        self.recorder()?
            .hold(&Hold {
                event,
                policy: policy.as_deref(),
            })
            .map_err(problem)
    }

    fn remember(
        &self,
        asked: &CallContext,
        memory: &Memory,
        approver: &str,
    ) -> Result<(), Problem> {
        let what = json!({"action": "answer", "change": memory});
        self.recorder()?
            .changes_by(approver, Kind::SessionRule, Some(&asked.session), &what)
            .map_err(problem)?;
        let sessions = Sessions::at(&self.locations).map_err(problem)?;
        sessions
            .change(&SessionId::new(&asked.session), |state| {
                remembered(state, memory);
                if matches!(memory, Memory::Turn | Memory::Idle) {
                    state.turn = asked.context.turn().map(str::to_owned);
                }
            })
            .map_err(problem)
    }
}

/// What the call would do, as far as that is known without doing it (O-18): what it would remove or
/// overwrite, what git would lose. Nothing where nothing is.
fn foreseen(action: &Action, around: &Surroundings<'_>) -> Vec<Warned> {
    let told = simulate(action, around).told();
    told.into_iter()
        .take(MOST_FORESEEN)
        .map(|text| Warned {
            level: "info".into(),
            text,
        })
        .collect()
}

fn remembered(state: &mut SessionState, memory: &Memory) {
    match memory {
        Memory::Allow { patterns, .. } => {
            for pattern in patterns {
                state.allow_pattern(pattern);
            }
        }
        Memory::Deny { patterns, .. } => {
            for pattern in patterns {
                if !state.deny.contains(pattern) {
                    state.deny.push(pattern.clone());
                }
            }
        }
        Memory::All => state.suspended.all = true,
        Memory::Turn => state.suspended.turn = true,
        Memory::Idle => state.suspended.idle = true,
    }
}

fn call_of(asked: &CallContext) -> Result<ToolCall, Problem> {
    asked.call().map_err(problem)
}

fn surroundings<'a>(asked: &'a CallContext, home: Option<&'a str>) -> Surroundings<'a> {
    Surroundings {
        workspace: Some(&asked.workspace),
        directory: None,
        home,
        lookup: &Disk,
    }
}

fn problem(error: impl std::fmt::Display) -> Problem {
    Problem(text_without_secrets(&error.to_string()))
}

/// The circumstances without secrets: what an agent says of itself is its text like any other.
fn shown_context(context: &Context) -> Context {
    let clean = |text: &Option<String>| text.as_deref().map(text_without_secrets);
    let values = serde_json::Value::Object(context.more.clone().into_iter().collect());
    let more = crate::excerpt::value_without_secrets(&values);
    Context {
        session_id: clean(&context.session_id),
        user_id: clean(&context.user_id),
        turn_number: context.turn_number,
        previous_tools: context
            .previous_tools
            .iter()
            .take(50)
            .map(|tool| text_without_secrets(tool))
            .collect(),
        project: clean(&context.project),
        environment: clean(&context.environment),
        request_source: clean(&context.request_source),
        intent: clean(&context.intent),
        agent_type: clean(&context.agent_type),
        agent_name: clean(&context.agent_name),
        more: more.into_iter().collect(),
    }
}
