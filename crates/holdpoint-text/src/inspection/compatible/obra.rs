//! Obra's nine patterns (O-01), with the ranks they were meant to have (O-02) and without what they
//! wrongly hit or missed (O-07).

use super::phrase::{Behind, Form, Phrase, Step, find as find_phrases};
use crate::Severity;
use crate::inspection::{Family, Finding};
use crate::normal::View;
use crate::words::Word;

/// Adds what the patterns find in a view.
pub(in crate::inspection) fn find(view: &View<'_>, words: &[Word], findings: &mut Vec<Finding>) {
    find_phrases(PATTERNS, view, words, findings);
}

/// What Obra's sanitizer writes in place of a match (O-05); none where it only took out.
pub(crate) fn replacement(rule: &str) -> Option<&'static str> {
    match rule {
        IGNORE => Some("[task refinement]"),
        DISREGARD | FORGET | SYSTEM_MESSAGE | YOU_ARE_NOW => Some("[context note]"),
        NEW_TASK => Some("Updated task:"),
        _ => None,
    }
}

const IGNORE: &str = "obra.ignore";
const DISREGARD: &str = "obra.disregard";
const FORGET: &str = "obra.forget";
const NEW_TASK: &str = "obra.new-task";
const SYSTEM_MESSAGE: &str = "obra.system-message";
const YOU_ARE_NOW: &str = "obra.you-are-now";

/// Words that may stand between the verb and what is to be ignored.
pub(super) const DETERMINERS: &[&str] =
    &["all", "any", "the", "of", "my", "your", "these", "those"];
pub(super) const EARLIER: &[&str] = &["previous", "prior", "earlier", "above", "preceding"];
pub(super) const GUIDANCE: &[&str] = &[
    "instructions",
    "instruction",
    "commands",
    "command",
    "prompts",
    "prompt",
];

const PATTERNS: &[Phrase] = &[
    Phrase {
        rule: "obra.special-token",
        family: Family::Template,
        severity: Severity::Critical,
        reason: "special tokens of a model stand in the text",
        form: Form::Texts(&[
            "<|im_start|>",
            "<|im_end|>",
            "<|system|>",
            "<|user|>",
            "<|assistant|>",
        ]),
    },
    Phrase {
        rule: "obra.instruction-token",
        family: Family::Template,
        severity: Severity::Critical,
        reason: "tokens that mark an instruction stand in the text",
        form: Form::Texts(&["[INST]", "[/INST]"]),
    },
    Phrase {
        rule: IGNORE,
        family: Family::Override,
        severity: Severity::High,
        reason: "earlier instructions are to be ignored",
        form: Form::Words(
            &[
                Step::One(&["ignore"]),
                Step::Some(DETERMINERS),
                Step::One(EARLIER),
                Step::One(GUIDANCE),
            ],
            Behind::Anything,
        ),
    },
    Phrase {
        rule: DISREGARD,
        family: Family::Override,
        severity: Severity::High,
        reason: "what came before is to be disregarded",
        form: Form::Words(
            &[
                Step::One(&["disregard"]),
                Step::Some(DETERMINERS),
                Step::One(EARLIER),
            ],
            Behind::Anything,
        ),
    },
    Phrase {
        rule: FORGET,
        family: Family::Override,
        severity: Severity::High,
        reason: "everything before is to be forgotten",
        form: Form::Words(
            &[Step::One(&["forget"]), Step::One(&["everything", "all"])],
            Behind::Not(&["about"]),
        ),
    },
    Phrase {
        rule: FORGET,
        family: Family::Override,
        severity: Severity::High,
        reason: "instructions are to be forgotten",
        form: Form::Words(
            &[
                Step::One(&["forget"]),
                Step::One(&["your", "the", "previous", "prior", "earlier"]),
                Step::Some(EARLIER),
                Step::One(GUIDANCE),
            ],
            Behind::Anything,
        ),
    },
    Phrase {
        rule: NEW_TASK,
        family: Family::Role,
        severity: Severity::Medium,
        reason: "the text sets another task",
        form: Form::Words(
            &[
                Step::One(&["new", "updated", "different"]),
                Step::One(&["instructions", "task", "objective", "goal"]),
            ],
            Behind::Colon,
        ),
    },
    Phrase {
        rule: SYSTEM_MESSAGE,
        family: Family::Role,
        severity: Severity::Medium,
        reason: "the text poses as a message of the system",
        form: Form::Words(
            &[
                Step::One(&["system"]),
                Step::One(&["prompt", "message", "instruction"]),
            ],
            Behind::Colon,
        ),
    },
    Phrase {
        rule: YOU_ARE_NOW,
        family: Family::Role,
        severity: Severity::Medium,
        reason: "the text gives the model another role",
        form: Form::Words(
            &[
                Step::One(&["you"]),
                Step::One(&["are"]),
                Step::One(&["now"]),
            ],
            Behind::Role,
        ),
    },
    Phrase {
        rule: "obra.script",
        family: Family::Markup,
        severity: Severity::Low,
        reason: "markup that runs stands in the text",
        form: Form::Texts(&["<script>", "</script>", "< script >", "</ script >"]),
    },
];
