//! What the policy's layers say about the addresses of a call.

use super::Judgement;
use super::findings::{PartFinding, Speaker};
use crate::catalogue::{self, Fetching};
use crate::decision::span_of;
use crate::effects;
use crate::verdict::{Method, Verdict};

impl Judgement<'_> {
    /// What the rules about addresses say, of one verdict.
    pub(super) fn address_findings(&self, verdict: Verdict) -> Vec<(Speaker, PartFinding)> {
        let mut found = Vec::new();
        for (speaker, layer) in self.speakers() {
            let Some(network) = &layer.network else {
                continue;
            };
            for (command, effects) in effects::effects_by_command(self.view) {
                let fetching = match command {
                    Some(_) => Fetching::Never,
                    None => catalogue::fetching(self.view.call.tool()),
                };
                for effect in effects {
                    let Some(finding) = network.finding(effect, fetching) else {
                        continue;
                    };
                    if finding.verdict != verdict {
                        continue;
                    }
                    let mut one = self
                        .found(
                            Method::ToolPolicy,
                            verdict,
                            finding.rule,
                            finding.reason,
                            command,
                        )
                        .of_layer(layer.authority);
                    if command.is_none() {
                        one.finding.part = Some(effect.text.clone());
                    } else if self.view.is_shell() {
                        one.finding.span = Some(span_of(&effect.span));
                    }
                    found.push((speaker, one));
                }
            }
        }
        found
    }
}
