//! The judge: a call, a policy and a session in, a decision out.
//!
//! Pure: the same inputs give the same decision, and the outside world is an argument. Every
//! matching rule becomes a finding. A refusal by any rule stands (invariant 1). Otherwise each
//! part of the call is answered by itself, the strictest answer is the call's, and a suspension
//! may at the end release what would only have been asked.

mod answers;
mod by_effect;
mod contained;
mod coverage;
mod explained;
mod findings;
mod guards;
mod harmless_settings;
mod helping;
mod marked;
mod network;
mod observed;
mod own_jobs;
mod parts;
mod planned;
mod spelling;
mod stopped;
mod supposed;

use self::answers::Answer;
use self::findings::{PartFinding, Speaker};
use self::guards::Guards;
use self::planned::last_the_plan;
use self::spelling::Spellings;
use crate::call::ToolCall;
use crate::decision::{Decision, Finding, StatedIn};
use crate::facts::Gathered;
use crate::paths::Surroundings;
use crate::plan::{self, PlanRules};
use crate::policy::tool_rules::Opinion;
use crate::policy::{Check, Layer, Mode, Policy};
use crate::session::{SessionRules, SessionState, Stop};
use crate::understand::{Action, understand};
use crate::verdict::{Risk, Verdict};

pub use explained::{Explained, ExplainedCommand, ExplainedEffect, Filled, explained};
pub use guards::matching_rules;
pub use parts::{Part, parts};

/// The most findings a decision lists: the deciding one, refusals, objections, then allows.
const MAX_FINDINGS: usize = 200;

/// A session's state with its rules compiled, so that many calls can be judged under it.
#[derive(Clone, Debug, Default)]
pub struct Session {
    state: SessionState,
    rules: SessionRules,
    plan: Option<PlanRules>,
    stop: Option<Stop>,
}

impl Session {
    /// Compiles the rules of a state.
    pub fn new(state: SessionState) -> Self {
        Self {
            rules: SessionRules::new(&state),
            plan: state.plan.as_ref().map(PlanRules::new),
            state,
            stop: None,
        }
    }

    /// The same session, stopped by a person.
    #[must_use]
    pub fn stopped(self, stop: Stop) -> Self {
        Self {
            stop: Some(stop),
            ..self
        }
    }

    /// Whether calls are judged alike under both.
    pub fn judges_like(&self, other: &Self) -> bool {
        self.state == other.state && self.stop == other.stop
    }

    /// The state it was made from.
    pub fn state(&self) -> &SessionState {
        &self.state
    }
}

/// Judges what a call would do.
///
/// Where the call runs and what was seen on the disk is as it was when it was read; `around` says
/// what the places are that a policy names.
pub fn judge(
    action: &Action,
    policy: &Policy,
    session: &Session,
    around: &Surroundings<'_>,
) -> Decision {
    let lookup = action.remembering(around.lookup);
    let around = Surroundings {
        directory: action.call.cwd().or(around.directory),
        lookup: &lookup,
        ..*around
    };
    let judgement = Judgement {
        view: action,
        policy,
        session,
        around,
        spellings: Spellings::default(),
        facts: Gathered::new(action, around),
    };
    match &session.stop {
        Some(stop) => judgement.stopped(stop),
        None => judgement.decide(),
    }
}

/// Reads a call and judges it, for whoever wants to know nothing else of it.
pub fn judge_call(
    call: &ToolCall,
    policy: &Policy,
    session: &Session,
    around: &Surroundings<'_>,
) -> Decision {
    let action = understand(call.clone(), policy, around);
    judge(&action, policy, session, around)
}

/// One judgement being made.
struct Judgement<'a> {
    view: &'a Action,
    policy: &'a Policy,
    session: &'a Session,
    around: Surroundings<'a>,
    /// What rules were found to say in so many words.
    spellings: Spellings,
    /// What rules have asked about besides the call.
    facts: Gathered<'a>,
}

impl Judgement<'_> {
    fn decide(self) -> Decision {
        let opinions = self.opinions();
        let Guards {
            rules: guarded,
            doubts,
            only_looks,
        } = self.guarded();
        let refusals = self.refusals(&opinions, &guarded);
        let mut objections = self.objections(&opinions, &guarded);
        objections.extend(doubts);
        objections.extend(self.supposed());
        let uncontained = self.settle_containment(&mut objections);
        let mut covers = self.covers(&opinions);
        self.cover_by_effect(&mut covers);
        objections.extend(self.outside_the_plan(&covers));
        objections.extend(self.opens_a_plan());
        last_the_plan(&mut covers);

        let mut answers: Vec<Answer> = covers
            .iter()
            .enumerate()
            .filter_map(|(part, covers)| {
                let part = self.has_commands().then_some(part);
                let objected = objections.iter().any(|one| one.found.part == part);
                // What stands in a script is answered for with the script, unless a rule objects.
                if self.is_in_file(part) && !objected {
                    return None;
                }
                Some(self.answer(part, &objections, covers))
            })
            .collect();
        let held_by_manager = answers
            .iter()
            .any(|answer| answer.managed && answer.verdict >= Verdict::Ask);
        let strictest = answers
            .iter()
            .enumerate()
            .max_by(|(a, one), (b, other)| one.rank().cmp(&other.rank()).then(b.cmp(a)))
            .map(|(index, _)| index)
            .unwrap_or_default();
        let mut answer = if answers.is_empty() {
            self.standing_answer(self.policy.standing(), false)
        } else {
            answers.swap_remove(strictest)
        };
        let tool = self.view.call.tool();
        if answer.verdict == Verdict::Ask
            && !held_by_manager
            && !self
                .policy
                .wants_certain_people(tool, answer.rule.as_deref())
            && !objections.iter().any(|one| self.wants_certain_people(one))
            && !self.is_doubted(&objections, &covers)
            && tool != plan::TOOL
            // Whoever said "stop asking" has not seen this one, and what it does cannot be mended.
            && objections
                .iter()
                .map(|one| one.found.finding.risk)
                .chain(opinions.iter().flatten().map(|opinion| opinion.risk))
                .all(|risk| risk < Risk::Critical)
            && let Some((method, reason)) = self.session.state.suspended.in_force()
        {
            // What is suspended is the question. What stood below it stays: what is to be contained, and what is told, of
            // another part or of this one.
            let below = answers
                .into_iter()
                .chain(self.below_the_question(&objections, &covers))
                .filter(|one| matches!(one.verdict, Verdict::Contain | Verdict::Notify))
                .reduce(|strictest, one| match one.verdict > strictest.verdict {
                    true => one,
                    false => strictest,
                });
            answer = match below {
                Some(contained) if contained.verdict == Verdict::Contain => contained,
                // The person has said that nobody is to be asked, so the agent is answered as without the notice.
                told => Answer {
                    verdict: told.as_ref().map_or(Verdict::Allow, |one| one.verdict),
                    method,
                    reason: match &told {
                        Some(one) => format!("{reason}. {}", one.reason),
                        None => reason.into(),
                    },
                    rule: told.and_then(|one| one.rule),
                    default_of: None,
                    managed: false,
                },
            };
        }
        if let Some(first) = refusals.first() {
            answer = Answer {
                verdict: Verdict::Deny,
                method: first.finding.method,
                rule: Some(first.finding.rule.clone()),
                reason: first.finding.reason.clone(),
                default_of: None,
                managed: false,
            };
        }
        let mut enforced = self.policy.mode() == Mode::Enforce;
        if !enforced && let Some(own) = self.protecting(&answer, &refusals, &objections, &covers) {
            answer = own;
            enforced = true;
        }

        let covering = covers.into_iter().flatten().map(|cover| cover.found);
        let findings = refusals
            .into_iter()
            .chain(objections.into_iter().map(|objection| objection.found))
            .chain(covering);
        let instead = guarded
            .iter()
            .find(|one| {
                let finding = &one.found.finding;
                Some(&finding.rule) == answer.rule.as_ref() && finding.verdict == answer.verdict
            })
            .map(|one| one.instead.clone());
        let asks = answer.verdict == Verdict::Ask;
        let tell = match answer.verdict.runs() {
            true => self.told(&guarded, &opinions),
            false => Vec::new(),
        };
        // What is refused stays so in every form: nobody has asked for another.
        let rewrite = match answer.verdict {
            Verdict::Deny => None,
            Verdict::Allow
            | Verdict::Notify
            | Verdict::Contain
            | Verdict::Ask
            | Verdict::Review => self.rewritten(&guarded),
        };
        let decision = Decision {
            tell,
            rewrite,
            only_looks,
            uncontained: uncontained.filter(|_| asks),
            ..self.written(answer, instead, findings, &opinions)
        };
        match enforced {
            true => decision,
            false => decision.not_enforced(),
        }
        .resting_on(self.facts)
    }

    fn written(
        &self,
        answer: Answer,
        instead: Option<String>,
        found: impl Iterator<Item = PartFinding>,
        opinions: &[Vec<Opinion>],
    ) -> Decision {
        let decides = |finding: &Finding| {
            finding.verdict == answer.verdict && Some(&finding.rule) == answer.rule.as_ref()
        };
        let mut findings: Vec<Finding> = Vec::new();
        // The piece of the line each of them is about.
        let mut pieces: Vec<Option<&str>> = Vec::new();
        for PartFinding { finding, piece, .. } in found {
            // Every rule that asks is there once, however many findings there are: who must be asked
            // depends on it.
            let same = |one: &Finding| one.rule == finding.rule && one.verdict == finding.verdict;
            let told = decides(&finding) || finding.verdict >= Verdict::Contain;
            let room = findings.len() < MAX_FINDINGS || (told && !findings.iter().any(same));
            let piece = piece.filter(|_| finding.part.is_none());
            let piece = piece.and_then(|piece| self.piece(&piece));
            let listed = || findings.iter().zip(&pieces);
            if room && !listed().any(|(one, of)| *one == finding && *of == piece) {
                findings.push(finding);
                pieces.push(piece);
            }
        }
        for (finding, piece) in findings.iter_mut().zip(pieces) {
            finding.part = finding.part.take().or(piece.map(str::to_owned));
        }
        if let Some(at) = findings.iter().position(decides) {
            findings
                .get_mut(..=at)
                .into_iter()
                .for_each(|head| head.rotate_right(1));
        }
        let opinions = || opinions.iter().flatten();
        let mut checks: Vec<Check> = opinions()
            .flat_map(|opinion| opinion.checks.clone())
            .collect();
        checks.sort_unstable();
        checks.dedup();
        let risk = opinions()
            .map(|opinion| opinion.risk)
            .chain(findings.iter().map(|finding| finding.risk))
            .fold(self.view.effect.risk(), Risk::max);
        Decision {
            v: 1,
            verdict: answer.verdict,
            observed: None,
            risk,
            method: answer.method,
            rule: answer.rule,
            reason: answer.reason,
            stated_in: answer.default_of.and_then(|layer| self.stated_in(layer)),
            instead,
            findings,
            checks,
            files: self.view.files.clone(),
            facts: Vec::new(),
            tell: Vec::new(),
            rewrite: None,
            external: Vec::new(),
            call: self.view.call.digest(),
            policy: self.policy.digest().to_owned(),
            only_looks: false,
            uncontained: None,
            observed_method: None,
        }
    }

    /// Where a layer states its default.
    fn stated_in(&self, layer: usize) -> Option<StatedIn> {
        let layer = self.policy.layers().get(layer)?;
        Some(StatedIn {
            file: layer.name.clone(),
            line: layer.default_line.filter(|_| layer.default.is_some()),
        })
    }

    /// The layers, each with who speaks in it.
    fn speakers(&self) -> impl Iterator<Item = (Speaker, &Layer)> {
        self.policy
            .layers()
            .iter()
            .enumerate()
            .map(|(index, layer)| {
                let speaker = Speaker {
                    layer: index,
                    authority: layer.authority,
                    trust: layer.trust,
                };
                (speaker, layer)
            })
    }

    /// Whether a part is a command of a script that was followed.
    fn is_in_file(&self, part: Option<usize>) -> bool {
        part.and_then(|index| self.view.commands.get(index))
            .is_some_and(|view| view.command.file.is_some())
    }

    /// Whether the parts of the call are commands.
    fn has_commands(&self) -> bool {
        !self.view.commands.is_empty()
    }

    /// What the tool rules say, by part and layer; nothing where there are none.
    fn opinions(&self) -> Vec<Vec<Opinion>> {
        if (self.policy.layers().iter()).all(|layer| layer.tools.is_empty()) {
            return Vec::new();
        }
        let parts: Vec<Option<usize>> = if self.has_commands() {
            (0..self.view.commands.len()).map(Some).collect()
        } else {
            vec![None]
        };
        parts
            .into_iter()
            .map(|part| {
                self.policy
                    .layers()
                    .iter()
                    .map(|layer| {
                        layer
                            .tools
                            .opinion(self.view, part, &self.around, &self.facts)
                    })
                    .collect()
            })
            .collect()
    }
}
