//! Trains the classifier of texts and tells what it is worth. `run --help` tells how.

mod card;
mod chance;
mod corpus;
mod data;
mod evaluate;
mod first_stage;
mod harmless;
mod learn;
mod ordinary;
mod plan;
mod quarantine;
mod validate;
mod weights;
mod wrappers;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use holdpoint_text::classify::Model;
use holdpoint_text::{Origin, Severity};
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
  run weights  --data FILE --ordinary DIR... --out FILE   weights only
  run validate --data FILE --ordinary DIR...              recall on sources held out, only
  run marks    --data FILE --ordinary DIR... --weights FILE --out FILE
                                                          the same weights, thresholds set anew
  run evaluate --data FILE --ordinary DIR... --weights FILE
                                                          the whole inspector with these weights
  run files    --ordinary DIR... --files DIR... --weights FILE
                                                          whole files, as the inspector sees them
  run rules    --data FILE --harmless FILE --ordinary DIR... --talk DIR... --weights FILE --folds DIR
                                                          what each rule adds and costs, as a table: attacks by weights that have
                                                          not seen their source
  run folds    --data FILE --ordinary DIR... --out DIR    the weights `validate` measures with, one file for each group of sources
                                                          that is held out
  run wrappers --data FILE --weights FILE                 attacks inside wrappers; with `--folds DIR` in place of weights those of
                                                          the sources that were held out, by weights that have not seen them
  run quarantine --data FILE --harmless FILE              what is left of harmless texts and of attacks planted in them

  --data FILE      labelled texts, one JSON object a line
  --harmless FILE  harmless texts of many languages and kinds
  --ordinary DIR   ordinary text; each entry of DIR is a package, and in one part of the split only
  --files DIR      whole files by directory, which is named by their language; thresholds are set on half of them
  --talk DIR       packages about attacks, and prose: talk, not attacks; each in one part of the split only
  --report FILE    labelled texts to report on and not to learn from
  --plan N=V       another number in the plan, for trying things out
  --no-synth       leave the made-up texts out
  --show N         print N of the mistakes of each fold
";

struct Options {
    command: String,
    data: PathBuf,
    harmless: Vec<PathBuf>,
    files: Vec<PathBuf>,
    ordinary: Vec<PathBuf>,
    talk: Vec<PathBuf>,
    reported: Vec<PathBuf>,
    out: PathBuf,
    card: PathBuf,
    weights: PathBuf,
    folds: PathBuf,
    plan: Plan,
    made_up: bool,
    shown: usize,
}

fn options() -> Result<Options> {
    let mut options = Options {
        command: String::new(),
        data: PathBuf::new(),
        harmless: Vec::new(),
        files: Vec::new(),
        ordinary: Vec::new(),
        talk: Vec::new(),
        reported: Vec::new(),
        out: PathBuf::new(),
        card: PathBuf::new(),
        weights: PathBuf::new(),
        folds: PathBuf::new(),
        plan: Plan::default(),
        made_up: true,
        shown: 0,
    };
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            Long("data") => options.data = parser.value()?.into(),
            Long("ordinary") => options.ordinary.extend(parser.values()?.map(PathBuf::from)),
            Long("harmless") => options.harmless.push(parser.value()?.into()),
            Long("files") => options.files.extend(parser.values()?.map(PathBuf::from)),
            Long("talk") => options.talk.extend(parser.values()?.map(PathBuf::from)),
            Long("report") => options.reported.push(parser.value()?.into()),
            Long("out") => options.out = parser.value()?.into(),
            Long("card") => options.card = parser.value()?.into(),
            Long("weights") => options.weights = parser.value()?.into(),
            Long("folds") => options.folds = parser.value()?.into(),
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
    match options.command.as_str() {
        "wrappers" => return wrapped(&options),
        "files" => return files(&options),
        "quarantine" => return quarantined(&options),
        _ => {}
    }
    let sources = Sources {
        labelled: &options.data,
        harmless: &options.harmless,
        files: &options.files,
        ordinary: &options.ordinary,
        talk: &options.talk,
        reported: &options.reported,
        made_up: options.made_up,
        learns: !matches!(options.command.as_str(), "marks" | "evaluate" | "rules"),
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
            let ordinary = evaluated(&corpus, &weights.bytes, options.shown)?;
            let (rows, wrapped) = validated(&corpus, &options);
            let figures = card::Figures {
                weights: &weights,
                rows: &rows,
                wrapped: &wrapped,
                ordinary: &ordinary,
                data: &fs::read(&options.data)?,
            };
            fs::write(&options.card, card::card(&corpus, &figures))
                .with_context(|| format!("cannot write {}", options.card.display()))?;
        }
        "weights" => {
            let weights = Weights::learn(&corpus, &[], &options.plan);
            fs::write(&options.out, &weights.bytes)
                .with_context(|| format!("cannot write {}", options.out.display()))?;
            evaluated(&corpus, &weights.bytes, options.shown)?;
        }
        "folds" => {
            fs::create_dir_all(&options.out)
                .with_context(|| format!("cannot make {}", options.out.display()))?;
            for (number, held_out) in corpus::FOLDS.iter().enumerate() {
                let weights = Weights::learn(&corpus, held_out, &options.plan);
                let path = fold_path(&options.out, number);
                fs::write(&path, &weights.bytes)
                    .with_context(|| format!("cannot write {}", path.display()))?;
                eprintln!("{held_out:?} {:.0?}", start.elapsed());
            }
        }
        "marks" => {
            let bytes = fs::read(&options.weights)
                .with_context(|| format!("cannot read {}", options.weights.display()))?;
            let model = Model::read(&bytes).context("these are no weights of this version")?;
            let bytes = weights::with_marks(&model, &corpus, &options.plan);
            fs::write(&options.out, &bytes)
                .with_context(|| format!("cannot write {}", options.out.display()))?;
            evaluated(&corpus, &bytes, options.shown)?;
        }
        "rules" => {
            let bytes = fs::read(&options.weights)
                .with_context(|| format!("cannot read {}", options.weights.display()))?;
            let model = Model::read(&bytes).context("these are no weights of this version")?;
            let mut rules = BTreeMap::new();
            let harmless = corpus.harmless.iter().map(|it| it.it.text.as_str());
            let ordinary = corpus.chunks.iter().map(|it| it.text.as_str());
            let talk = corpus.reported.iter().filter(|it| it.label == 0);
            let talk = talk.map(|it| it.text.as_str());
            let harmless: Vec<&str> = harmless.chain(ordinary).chain(talk).collect();
            evaluate::worth(
                &model,
                harmless.iter().map(|text| (false, *text)),
                &mut rules,
            );
            let mut count = 0;
            for_folds(&options, |model, attacks| {
                count += attacks.len();
                let attacks = attacks.iter().map(|it| (true, it.text.as_str()));
                evaluate::worth(model, attacks, &mut rules);
            })?;
            print!("{}", card::rules(&rules, count, harmless.len()));
        }
        "evaluate" => {
            let bytes = fs::read(&options.weights)
                .with_context(|| format!("cannot read {}", options.weights.display()))?;
            evaluated(&corpus, &bytes, options.shown)?;
        }
        other => {
            bail!("there is no command `{other}`: train, weights, marks, validate or evaluate")
        }
    }
    eprintln!("{:.0?}", start.elapsed());
    Ok(())
}

/// Tells how many whole files raise an alarm: of ordinary packages nobody learnt from by kind, and beneath other directories
/// by the first name.
fn files(options: &Options) -> Result<()> {
    let bytes = fs::read(&options.weights)
        .with_context(|| format!("cannot read {}", options.weights.display()))?;
    let model = Model::read(&bytes).context("these are no weights of this version")?;
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    let mut count = |name: String, path: &Path, text: &str| {
        let severity = evaluate::inspect_file(&model, text);
        if severity >= Some(Severity::Medium) && options.shown > 0 {
            eprintln!("{severity:?} {}", path.display());
        }
        tallies.entry(name).or_default().add(severity);
    };
    for (kind, path, text) in ordinary::whole_files(&options.ordinary, options.plan.of_package)? {
        count(kind.name().to_owned(), &path, &text);
    }
    for root in &options.files {
        for entry in fs::read_dir(root)? {
            let directory = entry?.path();
            let name = directory.file_name().unwrap_or_default().to_string_lossy();
            for file in fs::read_dir(&directory)? {
                let path = file?.path();
                if let Ok(text) = fs::read_to_string(&path) {
                    count(format!("files {name}"), &path, &text);
                }
            }
        }
    }
    for (name, tally) in tallies {
        println!("{name:40} {}", card::shares(&tally));
    }
    Ok(())
}

/// Tells what is found inside wrappers.
fn wrapped(options: &Options) -> Result<()> {
    if options.folds.as_os_str().is_empty() {
        let bytes = fs::read(&options.weights)
            .with_context(|| format!("cannot read {}", options.weights.display()))?;
        let model = Model::read(&bytes).context("these are no weights of this version")?;
        let texts = data::read(&options.data)?;
        print_wrapped(&wrappers::measure(&model, texts.iter(), 600, options.shown));
        return Ok(());
    }
    let mut all: Vec<wrappers::Found> = Vec::new();
    for_folds(options, |model, texts| {
        let found = wrappers::measure(model, texts.iter(), validate::OF_FOLD, options.shown);
        validate::add_up(&mut all, found);
    })?;
    print_wrapped(&all);
    Ok(())
}

/// Calls `each` with the weights of every fold and the attacks of the sources they have not seen.
fn for_folds(options: &Options, mut each: impl FnMut(&Model<'_>, &[Labelled])) -> Result<()> {
    for (number, held_out) in corpus::FOLDS.iter().enumerate() {
        let path = fold_path(&options.folds, number);
        let bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let model = Model::read(&bytes).context("these are no weights of this version")?;
        let mut attacks = data::read(&options.data)?;
        attacks.retain(|it| it.label == 1 && held_out.contains(&it.source.as_str()));
        each(&model, &attacks);
    }
    Ok(())
}

/// Where the weights of a fold are.
fn fold_path(directory: &Path, number: usize) -> PathBuf {
    directory.join(format!("fold-{number}.bin"))
}

fn print_wrapped(found: &[wrappers::Found]) {
    for (name, [texts, medium, high, marked]) in found {
        let share = |count: &usize| *count as f32 / (*texts).max(1) as f32;
        println!(
            "{name:22} {texts:5} {:.3} {:.3} {:.3}",
            share(medium),
            share(high),
            share(marked)
        );
    }
}

/// Tells what quarantine leaves.
fn quarantined(options: &Options) -> Result<()> {
    let attacks = data::read(&options.data)?;
    let mut harmless = Vec::new();
    for file in &options.harmless {
        harmless.extend(harmless::read(file)?);
    }
    for (name, left) in quarantine::measure(&attacks, &harmless, options.shown) {
        println!("{name:20} {left}");
    }
    Ok(())
}

fn validated(corpus: &Corpus, options: &Options) -> (Vec<Row>, Vec<wrappers::Found>) {
    let (rows, wrapped) = validate::validate(corpus, &options.plan, options.shown);
    for row in &rows {
        let what = if row.attacks { "attacks" } else { "harmless" };
        println!(
            "{:20} {what:8} {:5}  {:.3?} {:.3?} {:.3?}",
            row.source, row.texts, row.found, row.told, row.inspected
        );
    }
    print_wrapped(&wrapped);
    println!("macro over attacks {:.4?}", validate::means(&rows));
    (rows, wrapped)
}

/// Tells what these weights find, and returns what they raise on ordinary text nobody has learnt from.
fn evaluated(corpus: &Corpus, bytes: &[u8], shown: usize) -> Result<Vec<(String, Tally)>> {
    let model = Model::read(bytes).context("these are no weights of this version")?;
    let wrong = corpus.harmless(Part::Test).filter(|(it, _)| {
        shown > 0
            && evaluate::inspect(&model, &it.text, Origin::Tool).severity >= Some(Severity::Medium)
    });
    for (it, doc) in wrong.take(shown) {
        let (score, window) = weights::best(&model, doc);
        let part = doc.text_of(&it.text, window);
        eprintln!("{} {} {score:.2} {part:?}", it.class, it.lang);
    }
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
    let harmless = corpus.harmless(Part::Test).flat_map(|(it, _)| {
        let by_lang = format!("lang {}", it.lang);
        let names = [format!("class {}", it.class), by_lang];
        names.map(|name| (name, it.text.as_str()))
    });
    let harmless = evaluate::tally(&model, harmless);
    for (name, tally) in labelled
        .iter()
        .chain(&ordinary)
        .chain(&reported)
        .chain(&harmless)
    {
        println!("{name:40} {}", card::shares(tally));
    }
    Ok(ordinary
        .into_iter()
        .chain(reported)
        .chain(harmless)
        .collect())
}
