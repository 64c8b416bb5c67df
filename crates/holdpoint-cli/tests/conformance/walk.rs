//! A scenario, from its first step to what is left of it.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use holdpoint_broker::Request;
use holdpoint_broker::wire::{self, Reply, Wanted};
use holdpoint_engine::backup::Backups;
use holdpoint_engine::{Locations, SessionId, SessionState, Sessions};
use holdpoint_ledger::Reader;
use serde_json::{Map, Value, json};

use crate::table::{Change, Saying, Scenario, Step, whole_policy};
use crate::test_home::TestHome;

/// How often it is looked whether a call waits.
pub(crate) const GLANCE: Duration = Duration::from_millis(10);

/// How long anything may take on a machine that has much else to do.
const PATIENCE: Duration = Duration::from_secs(60);

/// How calls are made, and what by its nature is otherwise for whoever makes them so.
pub(crate) trait Adapter: Sync {
    /// As the table names it.
    fn name(&self) -> &'static str;

    /// An agent in a session.
    fn open<'a>(&self, run: &'a Run<'a>) -> Box<dyn Calls + 'a>;

    /// Those of the table's records that it leaves.
    fn records(&self, expected: &[String]) -> Vec<String> {
        expected.to_vec()
    }

    /// Whether a scenario ends where somebody would be asked.
    fn ends_at_ask(&self) -> bool {
        false
    }

    /// Whether it runs the tool, and so puts on record how that ended.
    fn runs_the_tool(&self) -> bool {
        false
    }
}

/// An agent that makes calls.
pub(crate) trait Calls: Send {
    /// Makes calls at once, and waits for what comes of each.
    fn call(&mut self, made: &[Made]) -> Vec<Heard>;
}

/// Makes each call in a thread of its own.
pub(crate) fn at_once(made: &[Made], make: impl Fn(&Made) -> Heard + Sync) -> Vec<Heard> {
    thread::scope(|scope| {
        let calls = made.iter().map(|one| scope.spawn(|| make(one)));
        let calls: Vec<_> = calls.collect();
        calls.into_iter().map(|one| one.join().unwrap()).collect()
    })
}

/// A call as it is made.
pub(crate) struct Made {
    pub(crate) tool: String,
    pub(crate) input: Map<String, Value>,
    pub(crate) turn: Option<String>,
    /// Set when the agent gives the call up.
    pub(crate) off: Arc<AtomicBool>,
    /// Whether it is killed then.
    pub(crate) killed: bool,
}

impl Made {
    pub(crate) fn is_off(&self) -> bool {
        self.off.load(Ordering::Relaxed)
    }
}

/// Whether the agent may run a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    Runs,
    /// It runs inside the sandbox.
    Contained,
    /// The agent is to ask.
    Asks,
    Refused,
}

/// What an agent hears.
#[derive(Debug)]
pub(crate) struct Heard {
    pub(crate) word: Word,
    /// The verdict and the method, if it is told them.
    pub(crate) verdict: Option<String>,
    pub(crate) method: Option<String>,
    /// The arguments, if it is handed others.
    pub(crate) edited: Option<Value>,
}

impl Heard {
    pub(crate) fn said(word: Word) -> Self {
        Self {
            word,
            verdict: None,
            method: None,
            edited: None,
        }
    }
}

/// Whether a record says that somebody is to be asked.
pub(crate) fn asks(record: &str) -> bool {
    record.starts_with("decision ask") || record.starts_with("decision review")
}

/// A home in which scenarios are walked.
pub(crate) struct Stage {
    test_home: TestHome,
    walked: AtomicUsize,
    /// The tokens of those who have signed in.
    people: Mutex<HashMap<String, String>>,
}

impl Stage {
    /// One for many scenarios: each has a policy file, a workspace and a session of its own.
    pub(crate) fn shared() -> Self {
        Self::with_home(TestHome::under(json!({})))
    }

    fn with_home(test_home: TestHome) -> Self {
        Self {
            test_home,
            walked: AtomicUsize::new(0),
            people: Mutex::default(),
        }
    }
}

/// One scenario on its way.
pub(crate) struct Run<'a> {
    stage: &'a Stage,
    pub(crate) scenario: &'a Scenario,
    pub(crate) session: String,
    pub(crate) work: PathBuf,
    /// The policy file.
    pub(crate) config: PathBuf,
    /// The request that was last seen waiting.
    latest: Mutex<Option<Request>>,
}

impl<'a> Run<'a> {
    fn new(stage: &'a Stage, scenario: &'a Scenario, who: &str) -> Self {
        let number = stage.walked.fetch_add(1, Ordering::Relaxed);
        let work = stage.test_home.path(&format!("work-{number}"));
        fs::create_dir(&work).unwrap();
        let run = Self {
            stage,
            scenario,
            session: format!("{who}-{number}"),
            work: fs::canonicalize(work).unwrap(),
            config: stage.test_home.path(&format!("policy-{number}.json")),
            latest: Mutex::default(),
        };
        fs::write(&run.config, scenario.policy_text()).unwrap();
        run
    }
}

impl Run<'_> {
    pub(crate) fn test_home(&self) -> &TestHome {
        &self.stage.test_home
    }

    /// A command of the program, in the workspace and under the policy.
    pub(crate) fn program(&self, arguments: &[&str]) -> Command {
        let mut program = self.test_home().program(arguments);
        self.settle(&mut program);
        program
    }

    /// Any program, there and so.
    pub(crate) fn any_program(&self, name: &str) -> Command {
        let mut program = self.test_home().clean(name);
        self.settle(&mut program);
        program
    }

    fn settle(&self, program: &mut Command) {
        program
            .env("HOLDPOINT_CONFIG", &self.config)
            .current_dir(&self.work);
        if self.scenario.sandbox {
            program.env_remove("HOLDPOINT_SANDBOX");
        }
    }

    /// The places the program finds by itself.
    pub(crate) fn locations(&self) -> Locations {
        let test_home = self.test_home();
        Locations {
            managed: PathBuf::from("/etc/holdpoint/permissions.json"),
            user: Some(test_home.path(".config/holdpoint/permissions.json")),
            named: Some(self.config.clone()),
            state: Some(test_home.path(".local/state/holdpoint")),
            home: Some(test_home.path("")),
        }
    }

    fn state(&self) -> SessionState {
        let sessions = Sessions::at(&self.locations()).unwrap();
        let state = sessions.load(&SessionId::new(&self.session));
        // Where something stands in the way of it there is none.
        state.unwrap_or_default()
    }

    /// What the session remembers, without names and times that are each agent's own.
    fn remembered(&self) -> Value {
        let mut state = serde_json::to_value(self.state()).unwrap();
        let fields = state.as_object_mut().unwrap();
        fields.remove("turn");
        // Which forms of a call people released: what agents make of a call differs. `tests/own.rs` counts them.
        fields.remove("released");
        if fields.remove("mark").is_some() {
            fields.insert("mark".into(), json!(true));
        }
        if let Some(Value::Object(suspended)) = fields.get_mut("suspended") {
            suspended.retain(|_, is| *is == json!(true));
        }
        state
    }

    /// The records of the session, as far as there is a ledger to read.
    fn records(&self) -> Vec<Value> {
        let state = self.test_home().path(".local/state/holdpoint");
        let ledgers = [state.join("ledger"), state.join("ledger.aside")];
        let Some(ledger) = ledgers.iter().find(|ledger| ledger.is_dir()) else {
            return Vec::new();
        };
        let mut reader = Reader::new(ledger);
        let mut found = Vec::new();
        while let Some(line) = reader.next().unwrap() {
            found.push(serde_json::to_value(line.record().unwrap()).unwrap());
        }
        found.retain(|record| record["session"] == json!(self.session));
        found
    }

    /// Copies of what stands in the workspace.
    fn backups(&self) -> usize {
        let backups = Backups::at(&self.locations()).unwrap().list();
        // Where something stands in the way of them there are none.
        let backups = backups.unwrap_or_default();
        let work = self.work.to_str().unwrap();
        let about = backups.into_iter().filter(|backup| {
            let manifest = serde_json::to_string(backup.as_ref().unwrap()).unwrap();
            manifest.contains(work)
        });
        about.count()
    }

    fn happens(&self, change: &Change) {
        if let Some(answer) = &change.answer {
            let waiting = self.waiting().pop().expect("nothing waits");
            self.answer(&waiting, answer);
        }
        if let Some(answer) = &change.late {
            let waiting = self.waiting();
            assert!(waiting.is_empty(), "still waiting: {waiting:?}");
            let latest = self.latest.lock().unwrap().take().unwrap();
            self.answer(&latest, answer);
        }
        for (name, text) in &change.files {
            fs::write(self.work.join(name), text).unwrap();
        }
        if let Some(policy) = &change.policy {
            fs::write(&self.config, whole_policy(policy).to_string()).unwrap();
        }
        if let Some(name) = &change.blocked {
            let path = self.test_home().path(".local/state/holdpoint").join(name);
            if path.exists() {
                fs::rename(&path, path.with_extension("aside")).unwrap();
            }
            fs::write(path, "in the way").unwrap();
        }
    }

    /// The requests of this session that wait.
    fn waiting(&self) -> Vec<Request> {
        let places = self.test_home().places();
        match wire::ask(&places, Wanted::Pending) {
            Ok(Reply::Requests { requests }) => requests
                .into_iter()
                .filter(|request| request.asked.session == self.session)
                .collect(),
            // Without a daemon nothing waits.
            _ => Vec::new(),
        }
    }

    /// Waits until it is seen that nobody waits for a call any more.
    fn is_noticed(&self) {
        let started = Instant::now();
        while !self.waiting().is_empty() {
            assert!(started.elapsed() < PATIENCE, "it waits for nobody");
            sleep(GLANCE);
        }
    }

    /// A person answers what they are shown.
    fn answer(&self, request: &Request, text: &str) {
        let saying = Saying::read(text);
        let Some(name) = saying.who else {
            let wanted = Wanted::Answer {
                id: request.id.clone(),
                answer: saying.answer,
                binding: Some(request.binding.clone()),
                phrase: saying.phrase,
                signed: None,
                watching: false,
            };
            // An answer without effect is seen in what is left.
            let _ = wire::ask(&self.test_home().places(), wanted);
            return;
        };
        let token = {
            let mut people = self.stage.people.lock().unwrap();
            let known = people.entry(name.clone()).or_insert_with(|| {
                let added = self.test_home().says(&["people", "add", &name, "--json"]);
                let added: Value = serde_json::from_str(&added).unwrap();
                added["token"].as_str().unwrap().to_owned()
            });
            known.clone()
        };
        let card = json!({"id": request.id, "binding": request.binding});
        let signed = self.test_home().sign_in(&name, &token);
        signed.answers(&card, saying.answer.as_str());
    }

    /// Plays the people while calls are made.
    fn people(&self, step: &Step, off: &AtomicBool, made: &dyn Fn() -> bool) {
        let mut answers = step.answers.iter();
        let mut happened = step.meanwhile.is_none();
        // Who is to race waits for the others.
        let mut racing = step.race.len();
        let started = Instant::now();
        while !made() {
            assert!(started.elapsed() < PATIENCE, "nothing comes of it");
            sleep(GLANCE);
            let waiting = self.waiting();
            if waiting.len() < racing {
                continue;
            }
            let Some(request) = waiting.into_iter().next() else {
                continue;
            };
            racing = 0;
            *self.latest.lock().unwrap() = Some(request.clone());
            if !std::mem::replace(&mut happened, true) {
                self.happens(&step.meanwhile);
            }
            match answers.next() {
                Some(answer) => self.answer(&request, answer),
                None if step.withdrawn || step.killed => off.store(true, Ordering::Relaxed),
                None if step.unanswered => {}
                // Who is asked about what nobody was to be asked about says no, so that it is soon
                // seen.
                None => self.answer(&request, "no"),
            }
        }
    }
}

/// Has several adapters make calls of one session at once, under a policy that lets one of them run.
pub(crate) fn race(adapters: &[&dyn Adapter], policy: &Value) {
    let scenario = Scenario::under(policy);
    let stage = Stage::shared();
    let run = Run::new(&stage, &scenario, "race");
    let racing = AtomicUsize::new(adapters.len());
    let ran = thread::scope(|scope| {
        let calls = adapters.iter().map(|adapter| {
            let (run, racing) = (&run, &racing);
            scope.spawn(move || {
                let command = json!(format!("make {}", adapter.name()));
                let made = Made {
                    tool: "Bash".into(),
                    input: Map::from_iter([("command".to_owned(), command)]),
                    turn: None,
                    off: Arc::default(),
                    killed: false,
                };
                let mut agent = adapter.open(run);
                let heard = agent.call(&[made]);
                racing.fetch_sub(1, Ordering::Relaxed);
                heard[0].word == Word::Runs
            })
        });
        let calls: Vec<_> = calls.collect();
        let (started, mut all_wait) = (Instant::now(), false);
        while racing.load(Ordering::Relaxed) > 0 {
            assert!(started.elapsed() < PATIENCE, "nothing comes of it");
            let waiting = run.waiting();
            all_wait |= waiting.len() == adapters.len();
            for request in waiting.iter().filter(|_| all_wait) {
                run.answer(request, "yes");
            }
            sleep(GLANCE);
        }
        let ran = calls.into_iter().map(|call| call.join().unwrap());
        ran.filter(|ran| *ran).count()
    });
    assert_eq!((ran, run.state().calls.get("Bash")), (1, Some(&1)));
}

/// Walks a scenario; what is otherwise than the table says, if anything is.
pub(crate) fn walk(
    adapter: &dyn Adapter,
    shared: &Stage,
    scenario: &Scenario,
) -> Result<(), String> {
    let who = adapter.name();
    let ends_at_ask = adapter.ends_at_ask() && scenario.cannot.contains_key(who);
    if scenario.cannot.contains_key(who) && !ends_at_ask {
        return Ok(());
    }
    // Elsewhere there is none.
    if scenario.sandbox && !cfg!(target_os = "linux") {
        return Ok(());
    }
    let own = scenario.alone.then(|| {
        Stage::with_home(match scenario.daemon {
            true => TestHome::under(json!({})),
            false => TestHome::alone(json!({})),
        })
    });
    let stage = own.as_ref().unwrap_or(shared);
    let run = Run::new(stage, scenario, who);
    for (name, text) in &scenario.files {
        fs::write(run.work.join(name), text).unwrap();
    }
    if let Some(remembered) = &scenario.remembered {
        let state: SessionState = serde_json::from_value(remembered.clone()).unwrap();
        let sessions = Sessions::at(&run.locations()).unwrap();
        let id = SessionId::new(&run.session);
        sessions.change(&id, |kept| *kept = state).unwrap();
    }
    let mut ends = Vec::new();
    let mut ran = 0;
    let mut agent = adapter.open(&run);
    for step in &scenario.steps {
        run.happens(&step.before);
        let before = run.records().len();
        let heard = made(agent.as_mut(), &run, step);
        ran += heard.iter().filter(|one| one.word == Word::Runs).count();
        let records = run.records();
        ends.push(match heard.as_slice() {
            [heard] => told(heard, &records, before),
            racers => told_of_race(racers, step, &records),
        });
        if ends_at_ask && heard.iter().any(|one| one.word == Word::Asks) {
            break;
        }
    }
    drop(agent);
    compare(adapter, &run, &ends, ran, ends_at_ask)
}

/// Makes the calls of a step, while people answer.
fn made(agent: &mut dyn Calls, run: &Run<'_>, step: &Step) -> Vec<Heard> {
    let off = Arc::new(AtomicBool::new(false));
    let calls = step.calls(run.work.to_str().unwrap()).into_iter();
    let calls: Vec<Made> = calls
        .map(|(tool, input)| Made {
            tool,
            input,
            turn: step.turn.clone(),
            off: Arc::clone(&off),
            killed: step.killed,
        })
        .collect();
    thread::scope(|scope| {
        let caller = scope.spawn(|| agent.call(&calls));
        run.people(step, &off, &|| caller.is_finished());
        let heard = caller.join().unwrap();
        if step.killed {
            run.is_noticed();
        }
        heard
    })
}

/// How each call of a race ended, in the order of the alphabet: who is first is nobody's to say. The
/// rule is left out, since it is another for whoever is let run first and refused then.
fn told_of_race(heard: &[Heard], step: &Step, records: &[Value]) -> String {
    let of_each = step.race.iter().zip(heard).map(|(command, heard)| {
        let own = of_command(records, command).cloned().collect::<Vec<_>>();
        let told = told(heard, &own, 0);
        told.split(' ').take(3).collect::<Vec<_>>().join(" ")
    });
    let mut ends: Vec<String> = of_each.collect();
    ends.sort();
    ends.join(" | ")
}

/// The records of the calls of a command.
fn of_command<'r>(records: &'r [Value], command: &str) -> impl Iterator<Item = &'r Value> {
    let of_it = |record: &&Value| record["input"]["command"] == json!(command);
    let digest = records.iter().find(of_it).map(|one| one["call"].clone());
    let of_it = move |record: &&Value| digest.as_ref() == Some(&record["call"]);
    records.iter().filter(of_it)
}

/// The records of a race. Whether one too many is refused before it is let run, when somebody answers
/// or when it is counted is a matter of moments: what let it run is left out, and the refusal is one.
fn without_moments(records: &mut Vec<Value>, races: &[&Step]) {
    for command in races.iter().flat_map(|step| &step.race) {
        let own: Vec<Value> = of_command(records, command).cloned().collect();
        let Some(last) = own.last().filter(|last| last["verdict"] == json!("deny")) else {
            continue;
        };
        records.retain(|one| !own.contains(one) || one["verdict"] != json!("allow"));
        for record in records.iter_mut().filter(|record| *record == last) {
            record["kind"] = json!("decision");
        }
    }
}

/// How a call ended: what the agent heard, and verdict, method and rule on record. What it is told
/// itself must be the same.
fn told(heard: &Heard, records: &[Value], before: usize) -> String {
    let mut text = match heard.word {
        Word::Runs => "runs",
        Word::Contained => "contained",
        Word::Asks => "asks",
        Word::Refused => "refused",
    }
    .to_owned();
    let asks = |record: &Value| record["verdict"] == "ask" || record["verdict"] == "review";
    // What an answer came to that nobody was there to hear is on record before the call that finds it.
    let mut decided = records.iter().enumerate().rev().filter(|(at, record)| {
        let decided = record["verdict"].is_string() || record["kind"] == "error";
        let heard_of = records.len() > before || heard.method.is_some();
        let of_answer = record["kind"] == "hold_answered" && heard_of;
        decided && (*at >= before || of_answer) && asks(record) == (heard.word == Word::Asks)
    });
    let Some((_, last)) = decided.next() else {
        return text;
    };
    for key in ["verdict", "method", "rule"] {
        if let Some(word) = last[key].as_str() {
            write!(text, " {word}").unwrap();
        }
    }
    for (key, said) in [("verdict", &heard.verdict), ("method", &heard.method)] {
        if let (Some(said), Some(word)) = (said, last[key].as_str())
            && said != word
        {
            write!(text, " (but it is told {key} {said})").unwrap();
        }
    }
    if let Some(edited) = &heard.edited {
        write!(text, " with {edited}").unwrap();
    }
    text
}

/// A record in a few words.
fn brief(record: &Value) -> String {
    let mut text = record["kind"].as_str().unwrap_or_default().to_owned();
    for key in ["verdict", "method"] {
        if let Some(word) = record[key].as_str() {
            write!(text, " {word}").unwrap();
        }
    }
    if let Some(word) = record["observed"].as_str() {
        write!(text, " observed {word}").unwrap();
    }
    text
}

fn compare(
    adapter: &dyn Adapter,
    run: &Run<'_>,
    ends: &[String],
    ran: usize,
    ends_at_ask: bool,
) -> Result<(), String> {
    let scenario = run.scenario;
    let but = scenario.but.get(adapter.name());
    let mut wanted: Vec<String> = match but.and_then(|but| but.ends.clone()) {
        Some(ends) => ends,
        None => scenario
            .steps
            .iter()
            .map(|step| step.ends.clone())
            .collect(),
    };
    let mut wanted_records = match but.and_then(|but| but.records.clone()) {
        Some(records) => records,
        None => adapter.records(&scenario.records),
    };
    let races: Vec<&Step> = scenario
        .steps
        .iter()
        .filter(|step| !step.race.is_empty())
        .collect();
    let mut records = run.records();
    without_moments(&mut records, &races);
    let mut found_records: Vec<String> = records.iter().map(brief).collect();
    if !races.is_empty() {
        wanted_records.sort();
        found_records.sort();
    }
    if adapter.runs_the_tool() {
        let (results, others): (Vec<_>, Vec<_>) =
            found_records.into_iter().partition(|one| one == "result");
        found_records = others;
        wanted_records.extend(vec!["result".to_owned(); ran]);
        found_records.extend(results);
    }
    let wanted_session = but.and_then(|but| but.session.clone());
    let mut wanted_session = wanted_session.unwrap_or_else(|| scenario.session.clone());
    let wanted_backups = but.and_then(|but| but.backups).unwrap_or(scenario.backups);
    let (found_session, mut found_backups) = (run.remembered(), run.backups());
    let mut found_ends = ends.to_vec();
    if ends_at_ask {
        // What is said of the calls before holds; of the one that would be held it is said that it
        // would.
        wanted.truncate(ends.len().saturating_sub(1));
        let last = found_ends.pop().unwrap_or_default();
        if !last.starts_with("asks ") {
            wanted.push("asks".to_owned());
            found_ends.push(last);
        }
        wanted_session = found_session.clone();
        found_backups = wanted_backups;
    }
    let mut wrong = String::new();
    let mut differs = |what: &str, wanted: &dyn std::fmt::Debug, found: &dyn std::fmt::Debug| {
        write!(
            wrong,
            "\n  {what}:\n    wanted {wanted:?}\n    found  {found:?}"
        )
        .unwrap();
    };
    if wanted != found_ends {
        differs("ends", &wanted, &found_ends);
    }
    if wanted_records != found_records {
        differs("records", &wanted_records, &found_records);
    }
    if wanted_session != found_session {
        differs(
            "session",
            &wanted_session.to_string(),
            &found_session.to_string(),
        );
    }
    if wanted_backups != found_backups {
        differs("backups", &wanted_backups, &found_backups);
    }
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(format!("{}{wrong}", scenario.name)),
    }
}
