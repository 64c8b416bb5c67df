//! What a key makes of the calls that wait: an answer, or the question that comes before one.

use holdpoint_broker::{Answer, Request, UnixMillis};
use holdpoint_core::Risk;
use holdpoint_core::policy::Presence;

use super::super::keys::{Action, Command, name_of};
use super::line::TypedLine;
use super::{
    Errand, Given, Link, MIN_TIME_SHOWN, Popup, Purpose, RuleKind, State, Step, Tab, Target, Tone,
};

/// A call in one line.
pub(in super::super) fn one_line(request: &Request) -> String {
    format!(
        "{}  {}  {}",
        request.id,
        request.decision.risk.as_str(),
        request.display.summary
    )
}

/// Why no call can be answered.
#[derive(Debug, thiserror::Error)]
enum Unanswerable {
    #[error(
        "this was answered before: {} goes back to what waits",
        name_of(Action::OtherTab)
    )]
    Settled,
    #[error("nothing can be answered: {0}")]
    NoDaemon(String),
    #[error("nothing is listed that could be answered")]
    NothingListed,
    #[error("another call has come under the cursor: look at it first")]
    NotSeen,
}

impl State {
    /// Something about calls that wait.
    pub(super) fn answer(&mut self, command: Command, now: UnixMillis) -> Step {
        if command == Command::TakeBack {
            return self.take_back_release();
        }
        let request = match self.answerable(now) {
            Ok(request) => request.clone(),
            Err(why) => {
                self.tell(Tone::Bad, why.to_string());
                return Step::Nothing;
            }
        };
        match command {
            Command::Release => self.release(&request, now),
            Command::Refuse => {
                let no = |target| Given {
                    target,
                    answer: Answer::No,
                    phrase: None,
                };
                let given = self.targets(&request).into_iter().map(no).collect();
                self.hold(given, now)
            }
            Command::Comment => {
                self.popup = Some(Popup::Line {
                    purpose: Purpose::Comment(self.targets(&request)),
                    line: TypedLine::default(),
                });
                Step::Nothing
            }
            Command::Edit => Step::Edit(Box::new(request)),
            Command::Always => self.choose_rule(&request, RuleKind::Always),
            Command::Never => self.choose_rule(&request, RuleKind::Never),
            Command::Turn => self.suspend(&request, Answer::Turn, "until its turn ends"),
            Command::Idle => self.suspend(&request, Answer::Idle, "until its session is idle"),
            Command::All => self.suspend(&request, Answer::All, "for the rest of its session"),
            Command::Extend => Step::Ask(Errand::Extend(request.id)),
            // Nothing is asked first: it can be taken back, and who wants it has no time.
            Command::Stop => Step::Ask(Errand::Stop(request.asked.session)),
            // Answered above: it is about no call that waits.
            Command::TakeBack => Step::Nothing,
            Command::Mark => {
                if self.marked.remove(&request.id).is_none() {
                    self.marked
                        .insert(request.id.clone(), Target::from_request(&request));
                }
                self.go(self.row().saturating_add(1))
            }
            Command::MarkAll => {
                self.mark_all();
                Step::Nothing
            }
        }
    }

    /// The call an answer would be about; why none can be answered.
    fn answerable(&self, now: UnixMillis) -> Result<&Request, Unanswerable> {
        if self.tab == Tab::History {
            return Err(Unanswerable::Settled);
        }
        if let Link::Down(why) = &self.link {
            return Err(Unanswerable::NoDaemon(why.clone()));
        }
        let Some((_, request)) = self.current() else {
            return Err(Unanswerable::NothingListed);
        };
        let seen = |at: UnixMillis| now.0.saturating_sub(at.0) >= MIN_TIME_SHOWN;
        if self.moved.is_some_and(|at| !seen(at)) {
            return Err(Unanswerable::NotSeen);
        }
        Ok(request)
    }

    /// What an answer is about: what is selected and listed, or the call under the cursor.
    fn targets(&self, current: &Request) -> Vec<Target> {
        let visible = self.rows();
        let marked: Vec<Target> = visible
            .iter()
            .filter_map(|request| self.marked.get(&request.id))
            .cloned()
            .collect();
        // In full only one call is seen.
        match marked.is_empty() || self.full {
            true => vec![Target::from_request(current)],
            false => marked,
        }
    }

    fn release(&mut self, current: &Request, now: UnixMillis) -> Step {
        let targets = self.targets(current);
        if let [target] = targets.as_slice()
            && let Some(request) = self.waiting.find(&target.id).cloned()
        {
            return self.release_by(&request, Answer::Yes, now);
        }
        let wants_phrase = |target: &Target| {
            self.waiting
                .find(&target.id)
                .is_some_and(|request| request.terms.phrase.is_some())
        };
        let (left, released): (Vec<Target>, Vec<Target>) =
            targets.into_iter().partition(wants_phrase);
        let left: Vec<&str> = left.iter().map(|target| target.id.as_str()).collect();
        let note = format!("left out, their phrase must be typed: {}", left.join(", "));
        if released.is_empty() {
            self.tell(Tone::Bad, note);
            return Step::Nothing;
        }
        let named = released
            .iter()
            .filter_map(|target| self.waiting.find(&target.id).map(one_line));
        self.popup = Some(Popup::Confirm {
            question: format!("Release these {} calls?", released.len()),
            lines: named.collect(),
            note: match left.is_empty() {
                true => String::new(),
                false => note,
            },
            answers: released
                .into_iter()
                .map(|target| Given {
                    target,
                    answer: Answer::Yes,
                    phrase: None,
                })
                .collect(),
            preview: None,
        });
        Step::Nothing
    }

    /// Releases one call, with its phrase if it wants one, and after a second key if it can do much harm.
    fn release_by(&mut self, request: &Request, answer: Answer, now: UnixMillis) -> Step {
        let target = Target::from_request(request);
        let Some(phrase) = request.terms.phrase.clone() else {
            let answers = vec![Given {
                target,
                answer,
                phrase: None,
            }];
            let risk = request.decision.risk;
            if risk < Risk::High {
                return self.hold(answers, now);
            }
            self.popup = Some(Popup::Confirm {
                question: format!("Release {}, of {} risk?", request.id, risk.as_str()),
                note: request.decision.reason.clone(),
                lines: vec![request.display.summary.clone()],
                answers,
                preview: None,
            });
            return Step::Nothing;
        };
        self.popup = Some(Popup::Line {
            purpose: Purpose::Phrase {
                target,
                phrase,
                answer,
            },
            line: TypedLine::default(),
        });
        Step::Nothing
    }

    fn choose_rule(&mut self, request: &Request, kind: RuleKind) -> Step {
        self.popup = Popup::rules(request, kind);
        match &self.popup {
            Some(popup) => match popup.wants_preview() {
                Some(given) => Step::Ask(Errand::Preview(given)),
                None => Step::Nothing,
            },
            None => {
                let why = "no rule is offered for a call like this: release it or refuse it";
                self.tell(Tone::Bad, why);
                Step::Nothing
            }
        }
    }

    fn suspend(&mut self, request: &Request, answer: Answer, how_long: &str) -> Step {
        if !request.terms.suspendable {
            self.tell(
                Tone::Bad,
                "questions cannot be suspended by this call: release it or refuse it",
            );
            return Step::Nothing;
        }
        let given = Given {
            target: Target::from_request(request),
            answer,
            phrase: None,
        };
        self.popup = Some(Popup::Confirm {
            question: format!("Release {} and ask nothing more {how_long}?", request.id),
            note: "Calls of this session that would be asked about then run without you, but for those of \
                   critical risk; what is denied stays denied."
                .into(),
            lines: vec![
                format!("agent    {}", request.asked.agent),
                format!("session  {}", request.asked.session),
            ],
            answers: vec![given.clone()],
            preview: None,
        });
        Step::Ask(Errand::Preview(Box::new(given)))
    }

    /// Whether a key must sign this answer.
    pub(in super::super) fn wants_key(&self, given: &Given) -> bool {
        let request = self.waiting.find(&given.target.id);
        given.answer.releases()
            && request.is_some_and(|request| request.terms.presence == Presence::Key)
    }

    pub(super) fn give(&mut self, answers: Vec<Given>) -> Step {
        for given in &answers {
            self.marked.remove(&given.target.id);
        }
        self.tell(Tone::Plain, "the daemon is told …");
        Step::Ask(Errand::Answer(answers))
    }
}
