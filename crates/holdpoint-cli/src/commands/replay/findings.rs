//! `--record`: what is not simply allowed, put into the ledger.

use holdpoint_engine::{Answered, Failed, Locations, Outcome, Recorder, Replayed, Verdict};
use holdpoint_ledger::REPLAYED_AGENT;

use super::display::clean;
use super::judging::Judged;

/// How many findings are written in one go.
const TOGETHER: usize = 256;

/// Findings on their way into the ledger.
pub(super) struct Findings {
    recorder: Recorder,
    waiting: Vec<Judged>,
    recorded: u64,
}

impl Findings {
    /// Those that go into the ledger of this user.
    pub(super) fn open() -> anyhow::Result<Self> {
        Ok(Self {
            recorder: Recorder::at(&Locations::of_this_machine())?,
            waiting: Vec::new(),
            recorded: 0,
        })
    }

    /// Records a call that is not simply allowed, soon. One that cannot be read is denied, and so
    /// among them.
    pub(super) fn add(&mut self, judged: Judged) -> anyhow::Result<()> {
        if judged.decision.verdict == Verdict::Allow {
            return Ok(());
        }
        self.waiting.push(judged);
        if self.waiting.len() >= TOGETHER {
            self.write()?;
        }
        Ok(())
    }

    /// Records the rest; how many it were in all.
    pub(super) fn finish(mut self) -> anyhow::Result<u64> {
        self.write()?;
        Ok(self.recorded)
    }

    fn write(&mut self) -> anyhow::Result<()> {
        let words: Vec<Words> = self.waiting.iter().map(Words::from_judged).collect();
        let outcomes: Vec<Outcome<'_>> = self
            .waiting
            .iter()
            .zip(&words)
            .map(|(judged, words)| outcome(judged, words))
            .collect();
        self.recorder.record_together(&outcomes)?;
        self.recorded += u64::try_from(outcomes.len())?;
        self.waiting.clear();
        Ok(())
    }
}

/// What a record says that a judged call does not have in these words.
struct Words {
    agent: String,
    place: String,
    time: Option<String>,
    problem: String,
}

impl Words {
    fn from_judged(judged: &Judged) -> Self {
        let recorded = &judged.recorded;
        Self {
            agent: format!("{REPLAYED_AGENT}{}", recorded.writer.name()),
            place: format!("{}:{}", judged.file, recorded.line),
            time: recorded.time.map(|time| time.to_string()),
            problem: match &recorded.call {
                Ok(_) => String::new(),
                Err(problem) => format!("{}: {problem}", clean(&recorded.tool, 100)),
            },
        }
    }
}

fn outcome<'a>(judged: &'a Judged, words: &'a Words) -> Outcome<'a> {
    let session = judged.recorded.session.as_deref();
    let replayed = Some(Replayed {
        place: &words.place,
        time: words.time.as_deref(),
    });
    match &judged.recorded.call {
        Ok(call) => Outcome::Answered(Answered {
            agent: &words.agent,
            session,
            directory: Some(&judged.directory),
            call,
            decision: &judged.decision,
            policy: None,
            took: None,
            replayed,
        }),
        Err(_) => Outcome::Failed(Failed {
            call: None,
            left_alone: false,
            agent: &words.agent,
            session,
            problem: &words.problem,
            replayed,
        }),
    }
}
