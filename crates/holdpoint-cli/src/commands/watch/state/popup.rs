//! What stands over the list until it is answered: a rule to choose, a question, a line to type.

use holdpoint_broker::{Answer, Offer, Request, Scope};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::line::TypedLine;
use super::{Given, Preview, Target};

/// What stands over the list.
#[derive(Clone, Debug, PartialEq)]
pub(in super::super) enum Popup {
    /// The keys; scrolled so far.
    Help(usize),
    /// A line is typed.
    Line { purpose: Purpose, line: TypedLine },
    /// Which rule `always` or `never` leaves.
    Rules {
        target: Target,
        kind: RuleKind,
        offers: Vec<Offer>,
        chosen: usize,
        /// What else the chosen rule would release, as soon as that is known.
        preview: Option<Preview>,
    },
    /// Whether these answers are meant.
    Confirm {
        question: String,
        /// What it means.
        note: String,
        /// What it is about, a line each.
        lines: Vec<String>,
        answers: Vec<Given>,
        /// What else they would release, as soon as that is known.
        preview: Option<Preview>,
    },
}

/// What a line is typed for.
#[derive(Clone, Debug, PartialEq)]
pub(in super::super) enum Purpose {
    /// To see only what has it in it.
    Filter,
    /// To refuse with it.
    Comment(Vec<Target>),
    /// To show that one has looked.
    Phrase {
        target: Target,
        phrase: String,
        answer: Answer,
    },
}

/// What a rule does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum RuleKind {
    Always,
    Never,
}

impl RuleKind {
    fn answer(self, scope: Scope) -> Answer {
        match self {
            RuleKind::Always => Answer::Always { scope: Some(scope) },
            RuleKind::Never => Answer::Never { scope: Some(scope) },
        }
    }
}

/// What comes of a key.
#[derive(Debug, PartialEq)]
pub(super) enum After {
    /// It stays.
    Stay(Popup),
    /// It goes, and nothing comes of it.
    Close,
    /// It goes, with these answers.
    Give(Vec<Given>),
    /// It stays, and what else this answer would release is to be found out.
    Preview(Popup, Box<Given>),
    /// It goes, with a filter.
    Filter(String),
    /// It stays, and says why.
    Say(Popup, String),
    /// The program ends.
    Quit,
}

impl Popup {
    /// The calls it is about.
    pub(super) fn targets(&self) -> Vec<&Target> {
        match self {
            Popup::Help(_)
            | Popup::Line {
                purpose: Purpose::Filter,
                ..
            } => Vec::new(),
            Popup::Line {
                purpose: Purpose::Comment(targets),
                ..
            } => targets.iter().collect(),
            Popup::Line {
                purpose: Purpose::Phrase { target, .. },
                ..
            }
            | Popup::Rules { target, .. } => vec![target],
            Popup::Confirm { answers, .. } => answers.iter().map(|given| &given.target).collect(),
        }
    }

    /// The rules a request offers, narrowest first; none if there are none.
    pub(super) fn rules(request: &Request, kind: RuleKind) -> Option<Self> {
        let mut offers = request.terms.offers.clone();
        offers.sort_by_key(|offer| offer.scope);
        (!offers.is_empty()).then(|| Popup::Rules {
            target: Target::from_request(request),
            kind,
            offers,
            chosen: 0,
            preview: None,
        })
    }

    /// The answer of which is to be found out what else it would release; none if it releases nothing.
    pub(super) fn wants_preview(&self) -> Option<Box<Given>> {
        match self {
            Popup::Rules {
                target,
                kind: kind @ RuleKind::Always,
                offers,
                chosen,
                ..
            } => {
                let offer = offers.get(*chosen)?;
                Some(Box::new(Given {
                    target: target.clone(),
                    answer: kind.answer(offer.scope),
                    phrase: None,
                }))
            }
            Popup::Rules { .. } | Popup::Help(_) | Popup::Line { .. } | Popup::Confirm { .. } => {
                None
            }
        }
    }

    /// Takes what else an answer would release, if it is still about that.
    pub(super) fn previewed(&mut self, given: &Given, found: Preview) {
        let asked = self.wants_preview();
        match self {
            Popup::Rules { preview, .. } if asked.as_deref() == Some(given) => {
                *preview = Some(found);
            }
            Popup::Confirm {
                answers, preview, ..
            } if answers.as_slice() == std::slice::from_ref(given) => *preview = Some(found),
            Popup::Rules { .. } | Popup::Help(_) | Popup::Line { .. } | Popup::Confirm { .. } => {}
        }
    }

    pub(super) fn press(self, key: &KeyEvent) -> After {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        if control && key.code == KeyCode::Char('c') {
            return match self {
                // As in a shell: what was begun is dropped.
                Popup::Line { .. } => After::Close,
                Popup::Help(_) | Popup::Rules { .. } | Popup::Confirm { .. } => After::Quit,
            };
        }
        if key.code == KeyCode::Esc {
            return After::Close;
        }
        match self {
            Popup::Help(scroll) => help(scroll, key.code),
            Popup::Line { purpose, mut line } => {
                if key.code == KeyCode::Enter {
                    return typed(purpose, line);
                }
                line.press(key);
                After::Stay(Popup::Line { purpose, line })
            }
            Popup::Rules {
                target,
                kind,
                offers,
                chosen,
                preview,
            } => rules(target, kind, offers, (chosen, preview), key.code),
            Popup::Confirm { .. } if key.code == KeyCode::Char('n') => After::Close,
            Popup::Confirm { answers, .. } if key.code == KeyCode::Char('y') => {
                After::Give(answers)
            }
            other @ Popup::Confirm { .. } => After::Stay(other),
        }
    }

    pub(super) fn paste(&mut self, text: &str) {
        if let Popup::Line { line, .. } = self {
            line.paste(text);
        }
    }
}

fn help(scroll: usize, code: KeyCode) -> After {
    let scroll = if matches!(code, KeyCode::Char('j') | KeyCode::Down | KeyCode::PageDown) {
        scroll + 1
    } else if matches!(code, KeyCode::Char('k') | KeyCode::Up | KeyCode::PageUp) {
        scroll.saturating_sub(1)
    } else {
        return After::Close;
    };
    After::Stay(Popup::Help(scroll))
}

fn typed(purpose: Purpose, line: TypedLine) -> After {
    let text = line.text();
    let stay = |purpose, why: String| After::Say(Popup::Line { purpose, line }, why);
    match purpose {
        Purpose::Filter => After::Filter(text.trim().to_owned()),
        Purpose::Comment(targets) => {
            let comment = text.trim();
            if comment.is_empty() {
                let why = "the comment is empty: write one, or press Esc and n".into();
                return stay(Purpose::Comment(targets), why);
            }
            let answer = Answer::Comment {
                comment: comment.to_owned(),
            };
            let give = |target| Given {
                target,
                answer: answer.clone(),
                phrase: None,
            };
            After::Give(targets.into_iter().map(give).collect())
        }
        Purpose::Phrase {
            target,
            phrase,
            answer,
        } => {
            if text.trim() != phrase {
                let why = format!("this is not `{phrase}`: type it to release the call");
                let purpose = Purpose::Phrase {
                    target,
                    phrase,
                    answer,
                };
                return stay(purpose, why);
            }
            After::Give(vec![Given {
                target,
                answer,
                phrase: Some(phrase),
            }])
        }
    }
}

fn rules(
    target: Target,
    kind: RuleKind,
    offers: Vec<Offer>,
    (chosen, preview): (usize, Option<Preview>),
    code: KeyCode,
) -> After {
    let last = offers.len().saturating_sub(1);
    let now = if matches!(code, KeyCode::Char('j') | KeyCode::Down | KeyCode::Tab) {
        (chosen + 1).min(last)
    } else if matches!(code, KeyCode::Char('k') | KeyCode::Up | KeyCode::BackTab) {
        chosen.saturating_sub(1)
    } else if matches!(code, KeyCode::Char('n' | 'q')) {
        return After::Close;
    } else if (code == KeyCode::Char('y') || (code == KeyCode::Enter && kind == RuleKind::Never))
        && let Some(offer) = offers.get(chosen)
    {
        return After::Give(vec![Given {
            answer: kind.answer(offer.scope),
            target,
            phrase: None,
        }]);
    } else {
        chosen
    };
    let popup = Popup::Rules {
        target,
        kind,
        offers,
        chosen: now,
        preview: preview.filter(|_| now == chosen),
    };
    // What lets calls run is no key that ends other questions, too.
    if code == KeyCode::Enter {
        return After::Say(
            popup,
            "y releases it and stores the rule; Esc closes".into(),
        );
    }
    match popup.wants_preview().filter(|_| now != chosen) {
        Some(given) => After::Preview(popup, given),
        None => After::Stay(popup),
    }
}
