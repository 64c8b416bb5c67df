//! The answer while a person has stopped the session, the agent or everything: no, whatever the policy says, also where it
//! only observes.

use std::iter;

use super::Judgement;
use super::answers::Answer;
use crate::decision::Decision;
use crate::session::Stop;
use crate::verdict::{Method, Verdict};

impl Judgement<'_> {
    pub(super) fn stopped(&self, stop: &Stop) -> Decision {
        let answer = Answer {
            verdict: Verdict::Deny,
            method: Method::Stopped,
            rule: None,
            reason: format!("A person has stopped {} {}", stop.what, stop.told),
            default_of: None,
            managed: false,
        };
        let instead = format!(
            "Make no further calls: tell your user that `{}` lets you go on",
            stop.resume
        );
        self.written(answer, Some(instead), iter::empty(), &[])
    }
}
