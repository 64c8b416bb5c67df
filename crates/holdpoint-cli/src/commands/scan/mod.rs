//! `holdpoint scan`: orders, hidden characters and secrets in files and texts.
//!
//! Files go one way: `sources` finds them, the library inspects them on all cores, and a report
//! hears of each one in order.

mod batch;
mod document;
mod lines;
mod look;
mod sources;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::bail;
use holdpoint_cli::scan::baseline::Baseline;
use holdpoint_cli::scan::{Binaries, Scanned, Scanner, Secrets, sarif};
use holdpoint_core::Policy;
use holdpoint_core::text::inspection::Terms;
use holdpoint_core::text::{Action, Origin, Severity};
use holdpoint_engine::humanize::{bytes, counted};
use holdpoint_engine::{
    Engine, Locations, PolicySource, escape_for_display, store, working_directory,
};
use holdpoint_sandbox::interrupt;

pub(crate) use self::batch::batch;
use self::document::Document;
use self::lines::Lines;
use self::look::Look;
use self::sources::{Source, Sources};
use crate::cli::{Format, Scan};
use crate::exit::Exit;
use crate::layout::cut;
use crate::pool::Pool;
use crate::progress::Progress;
use crate::terminal::Terminal;

/// The most files that are named because they cannot be read; all are counted.
const MAX_NAMED: usize = 20;

/// How often somebody who waits looks up: often enough that Ctrl-C seems to work at once.
const LOOK: Duration = Duration::from_millis(100);

pub(crate) fn run(args: &Scan, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    let format = match args.json {
        true => Format::Json,
        false => args.format,
    };
    let least = match format {
        Format::Text => Severity::Medium,
        Format::Json | Format::Sarif => Severity::Info,
    };
    let least = match args.update_baseline {
        // What is not shown may be found, too.
        true => Severity::Info,
        false => least,
    };
    let settings = Settings::new(args, least)?;
    let mut look = Look::new(
        args,
        settings.scanner.clone(),
        settings.terms.clone(),
        settings.least,
    )?;
    look.origin = settings.origin;
    let sources = Sources::find(args)?;
    if !sources.waits_for_input() {
        // Without it, Ctrl-C ends the program as it ends any other.
        let _ = interrupt::listen();
    }
    let mut report: Box<dyn Report> = match format {
        _ if args.update_baseline => Box::new(Seen::new(args)),
        _ if args.quiet => Box::new(Silence),
        Format::Text => Box::new(Lines::new(args.explain)),
        Format::Json => Box::new(Document::begin(terminal)?),
        Format::Sarif => Box::new(Sarif::begin(terminal)?),
    };
    let totals = scan(look, sources, report.as_mut(), terminal)?;
    report.end(&totals, terminal)?;
    terminal.out.flush()?;
    name_problems(&totals)?;
    if args.update_baseline && totals.unread == 0 && !totals.interrupted {
        return Ok(Exit::Fine);
    }
    Ok(settings.exit(&totals))
}

/// What holds for every text.
struct Settings {
    scanner: Scanner,
    terms: Terms,
    least: Severity,
    origin: Option<Origin>,
    fails: Fails,
}

/// When the program ends as if something were denied.
#[derive(Clone, Copy, Debug)]
enum Fails {
    /// By what happens to the texts.
    ByAction,
    /// From a severity on.
    At(Severity),
    Never,
}

impl Settings {
    fn new(args: &Scan, least: Severity) -> anyhow::Result<Self> {
        let least = match &args.min {
            Some(word) => severity("--min", word, "")?,
            None => least,
        };
        let fails = match args.fail_at.as_deref() {
            None => Fails::ByAction,
            Some("never") => Fails::Never,
            Some(word) => Fails::At(severity("--fail-at", word, ", or never")?),
        };
        let secrets = match args.no_secrets {
            true => Secrets::Pass,
            false => Secrets::Count,
        };
        let binaries = match args.binary {
            true => Binaries::Read,
            false => Binaries::Skip,
        };
        let policy = policy(args.config.as_deref(), args.profile.as_deref())?;
        let terms = policy.inspection_terms();
        let mut scanner = Scanner::new(terms.clone())
            .secrets(secrets)
            .binaries(binaries)
            .telling_from(least);
        if args.explain {
            scanner = scanner.explaining();
        }
        if args.second_opinion {
            if policy.second_opinion().is_none() {
                bail!(
                    "--second-opinion: the policy names no model server: set `injection.secondOpinion` in your own (docs/inspection.md)"
                );
            }
            scanner = scanner.consulting(Locations::of_this_machine(), policy);
        }
        Ok(Self {
            scanner,
            terms,
            least,
            origin: args.origin.as_deref().map(origin).transpose()?,
            fails,
        })
    }

    fn exit(&self, totals: &Totals) -> Exit {
        if totals.interrupted {
            return Exit::Interrupted;
        }
        if totals.unread > 0 {
            return Exit::Error;
        }
        match self.fails {
            Fails::ByAction => totals.action.into(),
            Fails::At(from) if totals.severity >= Some(from) => Exit::Denied,
            Fails::At(_) | Fails::Never => Exit::Fine,
        }
    }
}

/// The terms of the policy in force.
pub(crate) fn terms(config: Option<&Path>, profile: Option<&str>) -> anyhow::Result<Terms> {
    Ok(policy(config, profile)?.inspection_terms())
}

fn policy(config: Option<&Path>, profile: Option<&str>) -> anyhow::Result<Arc<Policy>> {
    let engine = Engine::at(&Locations::of_this_machine());
    let under = match (config, profile) {
        (Some(file), _) => PolicySource::File(file.to_owned()),
        (None, Some(profile)) => PolicySource::Profile(profile.to_owned()),
        (None, None) => engine.layers(&working_directory(None)?),
    };
    Ok(engine.policy(&under)?)
}

/// The origin somebody means.
pub(crate) fn origin(word: &str) -> anyhow::Result<Origin> {
    match Origin::named(word) {
        Some(origin) => Ok(origin),
        None => bail!("--origin: {}", no_origin(word)),
    }
}

/// What to say about a word that is no origin.
fn no_origin(word: &str) -> String {
    let known = Origin::ALL.map(Origin::name).join(", ");
    format!(
        "there is no origin `{}`: use one of {known}",
        escape_for_display(word, 40)
    )
}

fn severity(flag: &str, word: &str, others: &str) -> anyhow::Result<Severity> {
    let known = Severity::ALL.map(Severity::name).join(", ");
    match Severity::named(word) {
        Some(severity) => Ok(severity),
        None => bail!(
            "{flag}: there is no severity `{}`: use one of {known}{others}",
            escape_for_display(word, 40)
        ),
    }
}

/// Whoever tells what is found.
trait Report {
    /// Whether it has something to say about a text.
    fn speaks(&self, scanned: &Scanned) -> bool {
        !scanned.findings.is_empty()
    }
    /// Hears what was found in a text.
    fn hear(&mut self, name: &str, scanned: &Scanned, terminal: &mut Terminal) -> io::Result<()>;
    /// Hears of a text that cannot be read.
    fn problem(&mut self, _name: &str, _problem: &str) {}
    /// Hears that there is nothing more.
    fn end(&mut self, totals: &Totals, terminal: &mut Terminal) -> io::Result<()>;
}

/// Says nothing.
struct Silence;

impl Report for Silence {
    fn hear(&mut self, _: &str, _: &Scanned, _: &mut Terminal) -> io::Result<()> {
        Ok(())
    }

    fn end(&mut self, _: &Totals, _: &mut Terminal) -> io::Result<()> {
        Ok(())
    }
}

/// Writes what is found down as seen, and says how much that is.
struct Seen {
    file: PathBuf,
    baseline: Baseline,
}

impl Seen {
    fn new(args: &Scan) -> Self {
        Self {
            file: args.baseline.clone().unwrap_or_default(),
            baseline: Baseline::default(),
        }
    }
}

impl Report for Seen {
    fn hear(&mut self, name: &str, scanned: &Scanned, _: &mut Terminal) -> io::Result<()> {
        // The findings in the baseline itself come and go with it.
        if Path::new(name) != self.file.strip_prefix(".").unwrap_or(&self.file) {
            self.baseline.add(name, &scanned.findings);
        }
        Ok(())
    }

    fn end(&mut self, totals: &Totals, terminal: &mut Terminal) -> io::Result<()> {
        if totals.interrupted || totals.unread > 0 {
            return writeln!(
                terminal.out,
                "Nothing was written: not every text could be looked at."
            );
        }
        let mut bytes = Vec::new();
        self.baseline.write(&mut bytes)?;
        if let Some(parent) = self.file.parent() {
            std::fs::create_dir_all(parent)?;
        }
        store::rewrite(
            &self.file,
            &bytes,
            std::fs::metadata(&self.file).ok().as_ref(),
        )?;
        let count = u64::try_from(self.baseline.len()).unwrap_or(u64::MAX);
        writeln!(
            terminal.out,
            "{}: {} in {} from now on left out.",
            escape_for_display(&self.file.display().to_string(), 300),
            counted(count, "finding"),
            counted(totals.flagged, "text"),
        )
    }
}

/// SARIF, until it is ended.
struct Sarif {
    report: Option<sarif::Report>,
    /// Where relative paths start.
    here: PathBuf,
}

impl Sarif {
    fn begin(terminal: &mut Terminal) -> io::Result<Self> {
        Ok(Self {
            report: Some(sarif::Report::begin(&mut terminal.out)?),
            here: std::env::current_dir().unwrap_or_default(),
        })
    }

    /// A path as code hosts know it, if it leads to somewhere below here.
    fn relative<'n>(&self, name: &'n str) -> &'n str {
        let below = Path::new(name).strip_prefix(&self.here).ok();
        below.and_then(Path::to_str).unwrap_or(name)
    }
}

impl Report for Sarif {
    fn hear(&mut self, name: &str, scanned: &Scanned, terminal: &mut Terminal) -> io::Result<()> {
        let name = self.relative(name);
        match &mut self.report {
            Some(report) => report.add(name, &scanned.findings, &mut terminal.out),
            None => Ok(()),
        }
    }

    fn problem(&mut self, name: &str, problem: &str) {
        let name = self.relative(name);
        if let Some(report) = &mut self.report {
            report.note(name, problem);
        }
    }

    fn end(&mut self, _: &Totals, terminal: &mut Terminal) -> io::Result<()> {
        match self.report.take() {
            Some(report) => report.end(&mut terminal.out),
            None => Ok(()),
        }
    }
}

/// What came of all texts together.
struct Totals {
    started: Instant,
    /// How many texts were inspected, and in how many of them something is told.
    texts: u64,
    flagged: u64,
    bytes: u64,
    /// How many files were passed over because they are no texts.
    binary: u64,
    /// How many findings there are of each severity, as far as they are told.
    findings: [u64; Severity::ALL.len()],
    /// How many findings there are that are not told one by one.
    untold: u64,
    action: Action,
    severity: Option<Severity>,
    score: f32,
    unread: u64,
    problems: Vec<(String, String)>,
    interrupted: bool,
}

impl Totals {
    fn new() -> Self {
        Self {
            started: Instant::now(),
            texts: 0,
            flagged: 0,
            bytes: 0,
            binary: 0,
            findings: [0; Severity::ALL.len()],
            untold: 0,
            action: Action::Pass,
            severity: None,
            score: 0.0,
            unread: 0,
            problems: Vec::new(),
            interrupted: false,
        }
    }

    fn add(&mut self, scanned: &Scanned) {
        if scanned.binary {
            self.binary += 1;
            return;
        }
        self.texts += 1;
        self.bytes += scanned.bytes;
        self.flagged += u64::from(scanned.count > 0);
        let told = u64::try_from(scanned.findings.len()).unwrap_or(u64::MAX);
        self.untold += scanned.count.saturating_sub(told);
        for found in &scanned.findings {
            let rank = found.finding.severity as usize;
            if let Some(count) = self.findings.get_mut(rank) {
                *count += 1;
            }
        }
        self.action = self.action.max(scanned.action);
        self.severity = self.severity.max(scanned.severity);
        self.score = self.score.max(scanned.score);
    }

    fn problem(&mut self, name: &str, problem: String) {
        self.unread += 1;
        if self.problems.len() < MAX_NAMED {
            self.problems.push((name.to_owned(), problem));
        }
    }
}

/// One text on its way through the threads.
struct Task {
    source: Source,
    result: Option<Result<Scanned, String>>,
}

fn scan(
    look: Look,
    sources: Sources,
    report: &mut dyn Report,
    terminal: &mut Terminal,
) -> anyhow::Result<Totals> {
    let look = Arc::new(look);
    let mut pool = Pool::start(move |task: &mut Task| {
        task.result = Some(task.source.scan(&look));
    });
    let mut hearing = Hearing {
        totals: Totals::new(),
        progress: Progress::new(),
        report,
        terminal,
    };
    for source in sources {
        pool.hand_in(Task {
            source,
            result: None,
        })?;
        while let Some(task) = pool.ready() {
            hearing.hear(task)?;
        }
        while pool.is_full() && !interrupt::was_told() {
            hearing.wait(&mut pool)?;
        }
        if interrupt::was_told() {
            break;
        }
    }
    // Whoever wants to stop does not wait for what is under way.
    while !pool.is_idle() && !interrupt::was_told() {
        hearing.wait(&mut pool)?;
    }
    hearing.totals.interrupted = interrupt::was_told();
    Ok(hearing.totals)
}

/// Where results come in.
struct Hearing<'a> {
    totals: Totals,
    progress: Progress,
    report: &'a mut dyn Report,
    terminal: &'a mut Terminal,
}

impl Hearing<'_> {
    /// Hears the next result, or after a moment nothing.
    fn wait(&mut self, pool: &mut Pool<Task>) -> anyhow::Result<()> {
        match pool.wait_for(LOOK)? {
            Some(task) => self.hear(task),
            None => Ok(()),
        }
    }

    fn hear(&mut self, task: Task) -> anyhow::Result<()> {
        let name = task.source.name();
        match task.result {
            Some(Ok(scanned)) => {
                self.totals.add(&scanned);
                if self.report.speaks(&scanned) {
                    self.progress.clear();
                    self.report.hear(&name, &scanned, self.terminal)?;
                    if self.progress.is_on() {
                        // Before the progress is drawn again: both may be on one terminal.
                        self.terminal.out.flush()?;
                    }
                }
            }
            Some(Err(problem)) => {
                self.report.problem(&name, &problem);
                self.totals.problem(&name, problem);
            }
            None => {}
        }
        let totals = &self.totals;
        self.progress.tell(|| {
            let so_far = format!(
                "{}, {}: {}",
                counted(totals.texts, "file"),
                bytes(totals.bytes),
                escape_for_display(&name, 500)
            );
            cut(&so_far, Progress::room())
        });
        Ok(())
    }
}

fn name_problems(totals: &Totals) -> anyhow::Result<()> {
    let mut err = io::stderr().lock();
    for (name, problem) in &totals.problems {
        writeln!(
            err,
            "holdpoint: {}: {problem}",
            escape_for_display(name, 500)
        )?;
    }
    let more = totals.unread - u64::try_from(totals.problems.len())?;
    if more > 0 {
        writeln!(err, "holdpoint: and {more} more that cannot be read")?;
    }
    Ok(())
}
