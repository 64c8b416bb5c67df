//! What the page shows beside the requests. The program implements it with its state directory,
//! its policies and its ledger.

use holdpoint_broker::StopScope;
use holdpoint_broker::host::Problem;
use serde::Deserialize;
use serde_json::Value;

/// What a person changes of what a session remembers.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionChange {
    /// Questions are asked again.
    Resume,
    /// The mark of a text that gave orders is taken away.
    Unmark,
    /// A rule that allows is taken back.
    ForgetAllow(String),
    /// A rule that denies is taken back.
    ForgetDeny(String),
}

/// What the page shows beside the requests. Everything is redacted before it comes here. Each of
/// these may take seconds.
pub trait Views: Send + Sync {
    /// The sessions, what waits in each, and what is stopped: `{"sessions": […], "stopped": […]}`.
    fn sessions(&self) -> Result<Value, Problem>;

    /// A person changes what a session remembers, which is named by its `key` in [`Views::sessions`]: `{"changed": …}`,
    /// whether there was such a thing.
    fn change_session(&self, key: &str, change: &SessionChange, by: &str)
    -> Result<Value, Problem>;

    /// A person presses the stop button: `{"refused": […]}`, the calls that waited.
    fn stop(&self, scope: &StopScope, by: &str, reason: Option<&str>) -> Result<Value, Problem>;

    /// A person lets something go on: `{"was_stopped": …}`.
    fn resume(&self, scope: &StopScope, by: &str) -> Result<Value, Problem>;

    /// The policy in force for a workspace, or for nowhere in particular.
    fn policy(&self, workspace: Option<&str>) -> Result<Value, Problem>;

    /// The report on the last days, as one page of HTML that runs no script.
    fn report(&self) -> Result<String, Problem>;
}
