//! Trains the classifier of texts and tells what it is worth. `run --help` tells how.

mod card;
mod chance;
mod corpus;
mod data;
mod evaluate;
mod first_stage;
mod learn;
mod ordinary;
mod plan;
mod validate;
mod weights;

use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use holdpoint_text::classify::Model;
use lexopt::prelude::*;

use corpus::{Corpus, Sources};
use data::Labelled;
use evaluate::Tally;
use ordinary::Part;
use plan::Plan;
use validate::Row;
use weights::Weights;

const HELP: &str = "\
Trains the classifier of texts.

  run train    --data FILE --ordinary DIR... --out FILE --card FILE
                                                          weights, and the card that tells what they are worth
  run validate --data FILE --ordinary DIR...              recall on sources held out, only
  run evaluate --data FILE --ordinary DIR... --weights FILE
                                                          the whole inspector with these weights

  --data FILE      labelled texts, one JSON object a line
  --ordinary DIR   ordinary text; each entry of DIR is a package, and in one part of the split only
  --talk DIR       packages about attacks, and prose: talk, not attacks; each in one part of the split only
  --report FILE    labelled texts to report on and not to learn from
  --plan N=V       another number in the plan, for trying things out
  --no-synth       leave the made-up texts out
  --show N         print N of the mistakes of each fold
";

struct Options {
    command: String,
    data: PathBuf,
    ordinary: Vec<PathBuf>,
    talk: Vec<PathBuf>,
    reported: Vec<PathBuf>,
    out: PathBuf,
    card: PathBuf,
    weights: PathBuf,
    plan: Plan,
    made_up: bool,
    shown: usize,
}

fn options() -> Result<Options> {
    let mut options = Options {
        command: String::new(),
        data: PathBuf::new(),
        ordinary: Vec::new(),
        talk: Vec::new(),
        reported: Vec::new(),
        out: PathBuf::new(),
        card: PathBuf::new(),
        weights: PathBuf::new(),
        plan: Plan::default(),
        made_up: true,
        shown: 0,
    };
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            Long("data") => options.data = parser.value()?.into(),
            Long("ordinary") => options.ordinary.extend(parser.values()?.map(PathBuf::from)),
            Long("talk") => options.talk.extend(parser.values()?.map(PathBuf::from)),
            Long("report") => options.reported.push(parser.value()?.into()),
            Long("out") => options.out = parser.value()?.into(),
            Long("card") => options.card = parser.value()?.into(),
            Long("weights") => options.weights = parser.value()?.into(),
            Long("plan") => options.plan.set(&parser.value()?.string()?)?,
            Long("no-synth") => options.made_up = false,
            Long("show") => options.shown = parser.value()?.parse()?,
            Short('h') | Long("help") => print!("{HELP}"),
            Value(command) if options.command.is_empty() => options.command = command.string()?,
            _ => return Err(argument.unexpected().into()),
        }
    }
    Ok(options)
}

fn main() -> Result<()> {
    let options = options()?;
    let start = Instant::now();
    let sources = Sources {
        labelled: &options.data,
        ordinary: &options.ordinary,
        talk: &options.talk,
        reported: &options.reported,
        made_up: options.made_up,
    };
    let corpus = Corpus::read(&sources, &options.plan)?;
    eprintln!(
        "{} labelled texts, {} chunks of ordinary text, {:.0?}",
        corpus.labelled.len(),
        corpus.chunks.len(),
        start.elapsed()
    );
    match options.command.as_str() {
        "validate" => drop(validated(&corpus, &options)),
        "train" => {
            let weights = Weights::learn(&corpus, &[], &options.plan);
            fs::write(&options.out, &weights.bytes)
                .with_context(|| format!("cannot write {}", options.out.display()))?;
            let ordinary = evaluated(&corpus, &weights.bytes)?;
            let rows = validated(&corpus, &options);
            let figures = card::Figures {
                weights: &weights,
                rows: &rows,
                ordinary: &ordinary,
                data: &fs::read(&options.data)?,
            };
            fs::write(&options.card, card::card(&corpus, &figures))
                .with_context(|| format!("cannot write {}", options.card.display()))?;
        }
        "evaluate" => {
            let bytes = fs::read(&options.weights)
                .with_context(|| format!("cannot read {}", options.weights.display()))?;
            evaluated(&corpus, &bytes)?;
        }
        other => bail!("there is no command `{other}`: train, validate or evaluate"),
    }
    eprintln!("{:.0?}", start.elapsed());
    Ok(())
}

fn validated(corpus: &Corpus, options: &Options) -> Vec<Row> {
    let rows = validate::validate(corpus, &options.plan, options.shown);
    for row in &rows {
        let what = if row.attacks { "attacks" } else { "harmless" };
        println!(
            "{:20} {what:8} {:5}  {:.3?} {:.3?}",
            row.source, row.texts, row.found, row.inspected
        );
    }
    println!("macro over attacks {:.4?}", validate::means(&rows));
    rows
}

/// Tells what these weights find, and returns what they raise on ordinary text nobody has learnt from.
fn evaluated(corpus: &Corpus, bytes: &[u8]) -> Result<Vec<(String, Tally)>> {
    let model = Model::read(bytes).context("these are no weights of this version")?;
    println!("{:?}", model.header());
    let test = corpus.part(Part::Test).flat_map(|(chunk, _)| {
        let size = if chunk.short { "short" } else { "pages" };
        [chunk.kind.name(), size].map(|name| (name.to_owned(), chunk.text.as_str()))
    });
    let ordinary = evaluate::tally(&model, test);
    fn of(it: &Labelled) -> (String, &str) {
        let what = if it.label == 1 { "attacks" } else { "harmless" };
        (format!("{what} {}", it.source), it.text.as_str())
    }
    let labelled = evaluate::tally(&model, corpus.labelled.iter().map(of));
    let reported = evaluate::tally(&model, corpus.reported.iter().map(of));
    for (name, tally) in labelled.iter().chain(&ordinary).chain(&reported) {
        let share = |count: usize| count as f32 * 100.0 / tally.texts as f32;
        println!(
            "{name:40} {:6} low {:6.2} % medium {:6.2} % high {:6.2} %",
            tally.texts,
            share(tally.low),
            share(tally.medium),
            share(tally.high)
        );
    }
    Ok(ordinary.into_iter().chain(reported).collect())
}
