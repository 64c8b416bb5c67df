//! What becomes of a call that is to run inside the sandbox.
//!
//! A sandbox holds commands, and only for a caller that can have them run there. For every other call what would be
//! contained is asked about: nobody else bounds it. Where the policy lets the sandbox answer for what nobody can know,
//! it does, unless the call needs the outside by its nature: inside that could only fail.

use std::collections::BTreeSet;

use super::Judgement;
use super::findings::{Answerable, Objection};
use super::marked::reaches_network;
use crate::decision::Uncontained;
use crate::effects::places::{HOME, OUTSIDE, ROOT, SYSTEM, TEMPORARY};
use crate::effects::{self, Effect, EffectKind, Subject};
use crate::policy::OpaqueAnswer;
use crate::verdict::Verdict;

impl Judgement<'_> {
    /// Turns questions into containment where the sandbox may answer them, and containment into questions where the call
    /// cannot be contained: why, if so.
    pub(super) fn settle_containment(&self, objections: &mut [Objection]) -> Option<Uncontained> {
        let can = self.around.can_contain && self.view.is_shell();
        let unknown = |objection: &Objection| objection.is_unknown_code;
        let opaque = match objections.iter().any(unknown) {
            true => self.policy.opaque(),
            false => OpaqueAnswer::Ask,
        };
        let may = opaque == OpaqueAnswer::Contain;
        let outside = may && self.needs_outside();
        let answered = can && may && !outside;
        let wanted = |objection: &Objection| objection.found.finding.verdict == Verdict::Contain;
        let uncontained = match can {
            _ if outside => Some(Uncontained::NeedsOutside),
            false if may || objections.iter().any(wanted) => Some(Uncontained::Caller),
            false | true => None,
        };
        for objection in objections {
            // Where certain people must say yes, a sandbox does not say it for them.
            let certain = || self.wants_certain_people(objection);
            // What could be a refused command in hiding is not answered for by anybody but a person.
            let unknown = objection.is_unknown_code && objection.answerable != Answerable::Never;
            let wanted = match objection.found.finding.verdict {
                Verdict::Contain if !can => Verdict::Ask,
                Verdict::Ask if unknown && answered && !certain() => Verdict::Contain,
                Verdict::Ask if unknown && opaque == OpaqueAnswer::Review => Verdict::Review,
                verdict @ (Verdict::Allow
                | Verdict::Notify
                | Verdict::Contain
                | Verdict::Ask
                | Verdict::Review
                | Verdict::Deny) => verdict,
            };
            objection.found.finding.verdict = wanted;
        }
        uncontained
    }

    /// Whether the call could run inside the sandbox.
    pub(super) fn can_contain(&self) -> bool {
        self.around.can_contain && self.view.is_shell() && !self.needs_outside()
    }

    /// Whether the call is known to reach what a sandbox keeps from it.
    fn needs_outside(&self) -> bool {
        let subjects: Vec<Subject<'_>> = effects::subjects(self.view).collect();
        let passing = passing_files(&subjects);
        let mut effects = subjects.iter().flat_map(|subject| subject.effects);
        effects.any(|effect| {
            let path = effect.place.path.as_deref();
            let passes = path.is_some_and(|path| passing.contains(path)) && !effect.glob;
            leads_outside(effect, passes)
        })
    }
}

/// The temporary files that the call writes before it reads or runs them: they are there inside as well, and what is left of them
/// when it ends is of no use to anybody who does not look for them by name.
fn passing_files<'e>(subjects: &'e [Subject<'_>]) -> BTreeSet<&'e str> {
    let (mut written, mut passing) = (BTreeSet::new(), BTreeSet::new());
    for effect in subjects.iter().flat_map(|subject| subject.effects) {
        let path = effect.place.path.as_deref();
        let known = effect.classes & TEMPORARY != 0 && !effect.dynamic && !effect.glob;
        let Some(path) = path.filter(|_| known) else {
            continue;
        };
        match effect.kind {
            EffectKind::Write => _ = written.insert(path),
            EffectKind::Run | EffectKind::Read if written.contains(path) => {
                passing.insert(path);
            }
            EffectKind::Run
            | EffectKind::Read
            | EffectKind::Append
            | EffectKind::Delete
            | EffectKind::Mode
            | EffectKind::Owner
            | EffectKind::Connect
            | EffectKind::Send
            | EffectKind::Listen
            | EffectKind::History
            | EffectKind::Publish
            | EffectKind::Database
            | EffectKind::Infrastructure
            | EffectKind::Privilege
            | EffectKind::Signal
            | EffectKind::Install
            | EffectKind::Persist
            | EffectKind::Opaque
            | EffectKind::List
            | EffectKind::Either
            | EffectKind::Show => {}
        }
    }
    passing
}

/// Whether an effect is about something a contained command does not have; `passes` if it is about a file that only passes.
fn leads_outside(effect: &Effect, passes: bool) -> bool {
    let temporary = match passes {
        true => 0,
        false => TEMPORARY,
    };
    match effect.kind {
        // Inside, temporary directories are the command's own: it finds nothing there and leaves nothing.
        EffectKind::Write
        | EffectKind::Append
        | EffectKind::Delete
        | EffectKind::Mode
        | EffectKind::Owner
        | EffectKind::Either => effect.classes & (ROOT | HOME | SYSTEM | OUTSIDE | temporary) != 0,
        EffectKind::Run | EffectKind::Read | EffectKind::List | EffectKind::Show => {
            effect.classes & (HOME | OUTSIDE | temporary) != 0
        }
        EffectKind::Database | EffectKind::Privilege | EffectKind::Signal | EffectKind::Persist => {
            true
        }
        EffectKind::Connect
        | EffectKind::History
        | EffectKind::Send
        | EffectKind::Publish
        | EffectKind::Infrastructure
        | EffectKind::Install => reaches_network(effect),
        EffectKind::Listen | EffectKind::Opaque => false,
    }
}
