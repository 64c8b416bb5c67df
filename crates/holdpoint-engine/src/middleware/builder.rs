//! Where a gatekeeper stands: the policy, the workspace, the session, how people are asked.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use holdpoint_broker::channel::WebhookBuilder;
use holdpoint_broker::{Channel, ChannelError, Context, Display};
use holdpoint_core::{Policy, ToolCall};
use holdpoint_ledger::unguessable;

use super::keeper::{Asking, Gatekeeper, Inner};
use super::previews::Previews;
use super::turns::Turns;
use crate::context::GivenPolicy;
use crate::engine::Engine;
use crate::load::{LoadError, load_text};
use crate::locations::Locations;
use crate::workplace::real_directory;

/// What a gatekeeper is built from. Whatever is not said is what the `holdpoint` program would use:
/// the policy files in force for the workspace, and this user's sessions and ledger.
#[must_use]
pub struct Builder {
    policy: Given,
    locations: Option<Locations>,
    workspace: Option<PathBuf>,
    agent: String,
    session: Option<String>,
    context: Context,
    asking: Asking,
    webhooks: Option<WebhookBuilder>,
    previews: Previews,
}

enum Given {
    Files,
    Text(String),
    Compiled(Box<Policy>),
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            policy: Given::Files,
            locations: None,
            workspace: None,
            agent: "library".into(),
            session: None,
            context: Context::default(),
            asking: Asking::Nobody,
            webhooks: None,
            previews: Previews::new(),
        }
    }
}

/// Why there is no gatekeeper.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The policy cannot be read.
    #[error(transparent)]
    Policy(#[from] LoadError),
    /// The workspace cannot be looked at.
    #[error("{0}: the workspace cannot be looked at, or its name is not text")]
    Workspace(String),
    /// There is no place for sessions and the ledger.
    #[error("no home directory is known, so nothing can be recorded: name the places to use")]
    NoPlace,
    /// No name for a session of its own can be made.
    #[error("no session can be named ({0}): give it a name")]
    Session(std::io::ErrorKind),
}

impl Builder {
    /// The policy in a text (the content of a `permissions.json`), in place of the policy files.
    pub fn policy_text(mut self, text: impl Into<String>) -> Self {
        self.policy = Given::Text(text.into());
        self
    }

    /// A compiled policy in place of the policy files.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = Given::Compiled(Box::new(policy));
        self
    }

    /// Where policies are looked for, and sessions and the ledger kept.
    pub fn locations(mut self, locations: Locations) -> Self {
        self.locations = Some(locations);
        self
    }

    /// The directory the agent works in; this process's, if nobody says.
    pub fn workspace(mut self, directory: impl AsRef<Path>) -> Self {
        self.workspace = Some(directory.as_ref().to_owned());
        self
    }

    /// The agent's name, as people are shown it.
    pub fn agent(mut self, name: impl Into<String>) -> Self {
        self.agent = name.into();
        self
    }

    /// The session whose rules count, and that answers are remembered in. Without a name it is one of
    /// its own, which nobody else has.
    pub fn session(mut self, name: impl Into<String>) -> Self {
        self.session = Some(name.into());
        self
    }

    /// What is known about the circumstances; shown with every question (J-54).
    pub fn context(mut self, context: Context) -> Self {
        self.context = context;
        self
    }

    /// How people are asked. Without it nobody is, and what would be asked is refused (J-47).
    pub fn channel(mut self, channel: Box<dyn Channel + Send>) -> Self {
        self.asking = Asking::Through(Turns::through(channel));
        self
    }

    /// How people are asked, with a channel made for each question, on the thread that asks. One that
    /// cannot be made refuses the call.
    pub fn channel_for_each(
        mut self,
        make: impl Fn() -> Result<Box<dyn Channel>, ChannelError> + Send + Sync + 'static,
    ) -> Self {
        self.asking = Asking::Through(Turns::through_each(Box::new(make)));
        self
    }

    /// People are asked as the policy says: by the daemon, files, on the terminal, or a webhook if
    /// [`Builder::webhooks`] says how. The daemon judges by the policy files, so it is not asked about
    /// a policy that was given here.
    pub fn channel_of_policy(mut self) -> Self {
        self.asking = Asking::AsPolicySays;
        self
    }

    /// What makes the webhook channel a policy names: `holdpoint_daemon::webhook::build`, or a client
    /// of HTTP of your own. Without it a call that is to be asked about there is refused (J-47).
    pub fn webhooks(mut self, build: WebhookBuilder) -> Self {
        self.webhooks = Some(build);
        self
    }

    /// What a tool says of its calls before anybody is asked: words for people, or why the call must
    /// fail, in which case nobody is (J-46).
    pub fn preview(
        mut self,
        tool: impl Into<String>,
        preview: impl Fn(&ToolCall) -> Display + Send + Sync + 'static,
    ) -> Self {
        self.previews.insert(tool.into(), Arc::new(preview));
        self
    }

    /// The gatekeeper.
    pub fn build(self) -> Result<Gatekeeper, BuildError> {
        let locations = self.locations.unwrap_or_else(Locations::of_this_machine);
        if locations.state.is_none() {
            return Err(BuildError::NoPlace);
        }
        let workspace = real_directory(self.workspace.as_deref())
            .ok()
            .and_then(|real| real.into_os_string().into_string().ok())
            .ok_or_else(|| {
                let named = self.workspace.unwrap_or_else(|| PathBuf::from("."));
                BuildError::Workspace(named.display().to_string())
            })?;
        let session = match self.session {
            Some(name) => name,
            None => session_of_its_own().map_err(|error| BuildError::Session(error.kind()))?,
        };
        let engine = Engine::at(&locations);
        let engine = match self.webhooks {
            Some(build) => engine.with_webhooks(build),
            None => engine,
        };
        let policy = match self.policy {
            Given::Files => None,
            Given::Text(text) => Some(load_text("policy", &text)?),
            Given::Compiled(policy) => Some(*policy),
        };
        Ok(Gatekeeper {
            inner: Arc::new(Inner {
                engine,
                agent: self.agent,
                session,
                workspace,
                policy: policy.map(|policy| GivenPolicy(Arc::new(policy))),
                context: Mutex::new(self.context),
                asking: self.asking,
                previews: self.previews,
            }),
        })
    }
}

fn session_of_its_own() -> std::io::Result<String> {
    let bytes = unguessable()?;
    let name: String = bytes
        .iter()
        .take(12)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    Ok(format!("library-{name}"))
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("agent", &self.agent)
            .field("session", &self.session)
            .field("workspace", &self.workspace)
            .finish_non_exhaustive()
    }
}
