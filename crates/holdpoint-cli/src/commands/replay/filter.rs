//! Which calls are judged.

use holdpoint_agents::replay::Recorded;

use crate::cli::{Replay, Span};

/// The calls that are wanted.
#[derive(Debug, Default)]
pub(in crate::commands) struct Filter {
    span: Span,
    tools: Vec<String>,
    session: Option<String>,
}

impl Filter {
    pub(super) fn new(args: &Replay) -> Self {
        Self {
            span: args.span,
            tools: args.tool.clone(),
            session: args.session.clone(),
        }
    }

    /// All calls of a span of time.
    pub(in crate::commands) fn of_span(span: Span) -> Self {
        Self {
            span,
            ..Self::default()
        }
    }

    /// Whether a call is wanted.
    pub(super) fn wants(&self, call: &Recorded) -> bool {
        self.span.holds(call.time)
            && (self.tools.is_empty() || self.tools.contains(&call.tool))
            && self.session.as_deref().is_none_or(|wanted| {
                let session = call.session.as_deref();
                session.is_some_and(|session| session.starts_with(wanted))
            })
    }
}
