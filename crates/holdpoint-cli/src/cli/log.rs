//! `holdpoint log` on the command line: which records, and what to do with them.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum};
use holdpoint_engine::{Risk, Verdict};
use holdpoint_ledger::{Filter, Format, Kind, Needle, Pattern};

use super::span::Span;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Log {
    #[command(subcommand)]
    pub(crate) action: Option<LogAction>,
    #[command(flatten)]
    pub(crate) list: List,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LogAction {
    /// Show everything a record says
    Show {
        /// The number of the record
        seq: u64,
        /// Print the record as it is stored
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        place: LedgerPlace,
    },
    /// Count records: verdicts, rules, tools, agents, how often people were asked, how long it took
    #[command(after_help = "Example:\n  holdpoint log stats --since 7d --agent claude-code")]
    Stats {
        #[command(flatten)]
        wanted: Wanted,
        /// How many lines each list has
        #[arg(long, value_name = "N", default_value_t = 10)]
        top: usize,
        /// Print everything as JSON
        #[arg(long)]
        json: bool,
    },
    /// Write records in a form other systems read
    ///
    /// jsonl: as stored. csv: a table; a cell a spreadsheet would take for a formula starts with an
    /// apostrophe. ocsf: OCSF 1.6.0 events in CloudEvents 1.0, one a line. otlp: OpenTelemetry logs
    /// as JSON, one export request a line. jaato: the events of its permission plugin, for calls whose end
    /// is known.
    #[command(after_help = EXPORT_EXAMPLES)]
    Export {
        /// The form
        #[arg(long, value_name = "FORMAT", value_parser = formats())]
        format: Format,
        /// The file, written whole or not at all; without it, standard output
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
        #[command(flatten)]
        wanted: Wanted,
    },
    /// Find whatever was changed, removed or added
    ///
    /// Every record names the hash of the one before it, and checkpoints sign the whole. Exit code
    /// 0 means that all of it is as it was written; 4 that it is not, and the first bad record is
    /// named first.
    #[command(after_help = VERIFY_EXAMPLES)]
    Verify {
        /// The public key checkpoints must be signed with, or a file that holds it (see `log key`)
        #[arg(long, value_name = "KEY|FILE")]
        key: Option<String>,
        /// A signed note kept elsewhere (see `log checkpoint`); may be given more than once
        #[arg(long, value_name = "FILE")]
        checkpoint: Vec<PathBuf>,
        /// The keys that are pinned, as in /etc/holdpoint/approvers.json, which is taken without this
        ///
        /// Signatures of people by keys that are not pinned now are counted; they are no fault, since
        /// a key may have been taken back.
        #[arg(long, value_name = "FILE")]
        approvers: Option<PathBuf>,
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        place: LedgerPlace,
    },
    /// Sign how the ledger stands now, and print the signed note
    ///
    /// Keep the note where nobody who could change the ledger can change it too. `log verify
    /// --checkpoint` then shows whether anything before it was changed or removed since.
    Checkpoint {
        #[command(flatten)]
        place: LedgerPlace,
    },
    /// Print the public key that checks the ledger's checkpoints
    Key {
        #[command(flatten)]
        place: LedgerPlace,
    },
    /// Mend what a crash left, and take note of what is lost; all of it on record
    ///
    /// A torn record is cut off, a loss is acknowledged, a clock that went back is accepted, and a
    /// missing key is made anew. Nothing else in the ledger changes.
    Repair {
        /// Do not ask, even on a terminal
        #[arg(long, short)]
        yes: bool,
        #[command(flatten)]
        place: LedgerPlace,
    },
    /// Make the index of a large ledger anew
    ///
    /// The index makes queries over large ledgers fast. It is made and brought up to date by itself,
    /// holds no arguments, and can be removed at any time.
    Index {
        #[command(flatten)]
        place: LedgerPlace,
    },
    /// Print the JSON Schema of a record
    Schema,
}

const VERIFY_EXAMPLES: &str = "Examples:\n  \
    holdpoint log key > key.pub; holdpoint log checkpoint > monday.note\n  \
    holdpoint log verify --key key.pub --checkpoint monday.note\n\n\
    Exit codes: 0 intact, 4 something was changed, removed or added, 1 error.";

const EXPORT_EXAMPLES: &str = "Examples:\n  \
    holdpoint log export --format csv --since 7d -o week.csv\n  \
    holdpoint log export --format ocsf --verdict deny | your-siem-forwarder\n  \
    holdpoint log export --format otlp -o logs.json";

pub(crate) const LOG_EXAMPLES: &str = "Examples:\n  \
    holdpoint log --since today --verdict deny\n  \
    holdpoint log --rule 'git.*' --text main -n 20\n  \
    holdpoint log -f --agent claude-code\n  \
    holdpoint log show 42\n\n\
    Times are UTC. A filter with several values wants one of them; several filters want all. Exit\n\
    codes: 0 fine, 1 error, or a line that is no record was skipped.";

/// Another ledger than one's own.
#[derive(Debug, Args)]
pub(crate) struct LedgerPlace {
    /// The ledger's directory; without it, your own
    #[arg(long, value_name = "DIR")]
    pub(crate) ledger: Option<PathBuf>,
}

/// What is listed, and how.
#[derive(Debug, Args)]
pub(crate) struct List {
    #[command(flatten)]
    pub(crate) wanted: Wanted,
    /// Only the last N records; 0 means all. Without it 50 on a terminal, else all
    #[arg(long, short = 'n', value_name = "N")]
    pub(crate) last: Option<usize>,
    /// The newest first
    #[arg(long)]
    pub(crate) reverse: bool,
    /// Go on with what is recorded from now on, until Ctrl-C
    #[arg(long, short, conflicts_with = "reverse")]
    pub(crate) follow: bool,
    /// Print records as they are stored, one JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which records of which ledger.
#[derive(Debug, Args)]
pub(crate) struct Wanted {
    #[command(flatten)]
    span: Span,
    /// Only this agent (a glob)
    #[arg(long, value_name = "NAME")]
    agent: Vec<String>,
    /// Only this session (a glob)
    #[arg(long, value_name = "ID")]
    session: Vec<String>,
    /// Only this tool (a glob)
    #[arg(long, value_name = "NAME")]
    tool: Vec<String>,
    /// Only this verdict
    #[arg(long, value_name = "VERDICT", value_parser = verdicts())]
    verdict: Vec<Verdict>,
    /// Only what is of this kind
    #[arg(long, value_name = "KIND", value_parser = kinds())]
    kind: Vec<Kind>,
    /// Only what this rule decided (a glob, such as 'git.*')
    #[arg(long, value_name = "RULE")]
    rule: Vec<String>,
    /// Only what could do this much harm
    #[arg(long, value_name = "RISK", value_parser = risks())]
    risk: Vec<Risk>,
    /// Only records with this text anywhere, in upper or lower case; given twice, with both
    #[arg(long, value_name = "TEXT")]
    text: Vec<String>,
    /// Only these numbers, both ends included: 5, 5..9, 5.. or ..9
    #[arg(long, value_name = "A..B", value_parser = numbers)]
    seq: Option<Numbers>,
    /// Whether an index is used: for ledgers of more than 32 MiB, always, or never
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto")]
    pub(crate) index: IndexWhen,
    #[command(flatten)]
    pub(crate) place: LedgerPlace,
}

/// When an index is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum IndexWhen {
    Auto,
    Always,
    Never,
}

impl IndexWhen {
    /// The same, except that nobody who leaves the choice to us gets an index that does not help.
    pub(crate) fn where_it_helps(self, helps: bool) -> Self {
        if self == IndexWhen::Auto && !helps {
            IndexWhen::Never
        } else {
            self
        }
    }
}

impl Wanted {
    /// The filter these arguments make.
    pub(crate) fn filter(&self) -> Filter {
        let patterns = |words: &[String]| words.iter().map(|word| Pattern::new(word)).collect();
        Filter {
            since: self.span.since,
            until: self.span.until,
            first: self.seq.and_then(|numbers| numbers.first),
            last: self.seq.and_then(|numbers| numbers.last),
            kinds: self.kind.clone(),
            verdicts: self.verdict.clone(),
            risks: self.risk.clone(),
            agents: patterns(&self.agent),
            sessions: patterns(&self.session),
            tools: patterns(&self.tool),
            rules: patterns(&self.rule),
            texts: self.text.iter().map(|text| Needle::new(text)).collect(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Numbers {
    first: Option<u64>,
    last: Option<u64>,
}

fn numbers(text: &str) -> Result<Numbers, String> {
    let wrong = || "write 5, 5..9, 5.. or ..9".to_owned();
    let number = |text: &str| match text {
        "" => Ok(None),
        digits => digits.parse().map(Some).map_err(|_| wrong()),
    };
    let (first, last) = match text.split_once("..") {
        Some(("", "")) => return Err(wrong()),
        Some((first, last)) => (number(first)?, number(last)?),
        None if text.is_empty() => return Err(wrong()),
        None => (number(text)?, number(text)?),
    };
    match (first, last) {
        (Some(a), Some(b)) if a > b => Err(format!("nothing lies from {a} to {b}")),
        (first, last) => Ok(Numbers { first, last }),
    }
}

fn verdicts() -> impl TypedValueParser<Value = Verdict> {
    PossibleValuesParser::new(["allow", "notify", "contain", "ask", "review", "deny"])
        .try_map(|word| Verdict::from_word(&word).ok_or("this is no verdict"))
}

fn risks() -> impl TypedValueParser<Value = Risk> {
    PossibleValuesParser::new(["none", "low", "medium", "high", "critical"])
        .try_map(|word| Risk::from_word(&word).ok_or("this is no risk"))
}

fn formats() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(Format::ALL.map(Format::as_str)).try_map(|word| {
        let format = Format::ALL.into_iter().find(|one| one.as_str() == word);
        format.ok_or("this is no form")
    })
}

fn kinds() -> impl TypedValueParser<Value = Kind> {
    PossibleValuesParser::new(Kind::ALL.map(Kind::as_str)).try_map(|word| {
        let kind = Kind::ALL.into_iter().find(|kind| kind.as_str() == word);
        kind.ok_or("this is no kind")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_people_write() {
        let range = |first, last| Ok(Numbers { first, last });
        assert_eq!(numbers("5"), range(Some(5), Some(5)));
        assert_eq!(numbers("5..9"), range(Some(5), Some(9)));
        assert_eq!(numbers("5.."), range(Some(5), None));
        assert_eq!(numbers("..9"), range(None, Some(9)));
        for wrong in ["", "..", "a", "9..5", "5...9", "-1"] {
            assert!(numbers(wrong).is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_number_or_refused(text in "\\PC{0,12}") {
            let _ = numbers(&text);
        }
    }
}
