//! What runs a call.

use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::panic::{AssertUnwindSafe, catch_unwind};

use holdpoint_core::ToolCall;
use serde_json::Value;

/// Runs one call. A function that takes the call and gives a value or says what went wrong is one.
pub trait Tool {
    /// Runs it, with the arguments as they are now.
    fn run(self, call: &ToolCall) -> Result<Value, String>;
}

impl<F, E> Tool for F
where
    F: FnOnce(&ToolCall) -> Result<Value, E>,
    E: Display,
{
    fn run(self, call: &ToolCall) -> Result<Value, String> {
        self(call).map_err(|error| error.to_string())
    }
}

/// Runs a tool; one that breaks down has failed, and takes nobody with it.
pub(super) fn run_safely(tool: impl Tool, call: &ToolCall) -> Result<Value, String> {
    catch_unwind(AssertUnwindSafe(|| tool.run(call))).unwrap_or_else(|panic| Err(broken(&*panic)))
}

/// What a breakdown says.
pub(super) fn broken(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    match text {
        Some(text) => format!("the tool broke down: {text}"),
        None => "the tool broke down".into(),
    }
}

type Function = Box<dyn Fn(&ToolCall) -> Result<Value, String> + Send + Sync>;

/// The tools of an agent, by their names.
#[derive(Default)]
pub struct Toolbox {
    tools: BTreeMap<String, Function>,
}

impl Toolbox {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same with one more tool.
    #[must_use]
    pub fn with<E: Display>(
        mut self,
        name: impl Into<String>,
        tool: impl Fn(&ToolCall) -> Result<Value, E> + Send + Sync + 'static,
    ) -> Self {
        let tool: Function = Box::new(move |call| tool(call).map_err(|error| error.to_string()));
        self.tools.insert(name.into(), tool);
        self
    }

    /// The tool of this name.
    pub(super) fn find(&self, name: &str) -> Option<&Function> {
        self.tools.get(name)
    }
}

impl fmt::Debug for Toolbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.tools.keys()).finish()
    }
}
