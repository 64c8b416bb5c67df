//! Reports of made-up records: what they say, what they suggest, and that nothing breaks the page.

use std::fs;
use std::path::Path;

use holdpoint_ledger::{Record, Timestamp};
use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use holdpoint_engine::Locations;

/// A day's records, one after another.
#[derive(Default)]
struct Day {
    records: Vec<Record>,
}

impl Day {
    /// A record `second` seconds into the day, with the given keys.
    fn at(&mut self, second: u64, kind: &str, keys: Value) -> &mut Self {
        let time = Timestamp::parse("2026-11-16").unwrap().micros() + second * 1_000_000;
        let mut record = json!({
            "v": 1, "seq": self.records.len(), "prev": "", "kind": kind,
            "time": Timestamp::from_micros(time).to_string(),
        });
        let keys = keys.as_object().unwrap().clone();
        record.as_object_mut().unwrap().extend(keys);
        self.records.push(serde_json::from_value(record).unwrap());
        self
    }

    /// A command that is asked about and answered.
    fn asked(&mut self, command: &str, answer: Option<&str>) -> &mut Self {
        let number = self.records.len() as u64;
        let call = format!("sha256:{number}");
        let keys = json!({
            "tool": "Bash", "verdict": "ask", "risk": "medium", "call": call,
            "input": { "command": command }, "directory": "/nowhere/app",
        });
        self.at(number, "decision", keys);
        if let Some(answer) = answer {
            let keys = json!({ "call": call, "verdict": answer });
            self.at(number + 1, "hold_answered", keys);
        }
        self
    }

    fn gathered(&self, period: Period) -> Gathering {
        let mut gathering = Gathering::new(period);
        self.records.iter().for_each(|one| gathering.record(one));
        gathering
    }

    fn summary(&self) -> Summary {
        let gathered = self.gathered(Period::default());
        gathered.summary(intact(), now(), Err("there is none".into()))
    }

    /// The summary under a policy of the user's.
    fn under(&self, policy: &str) -> Summary {
        self.tried(&Home::with(policy).trial())
    }

    fn tried(&self, trial: &Trial) -> Summary {
        let gathered = self.gathered(Period::default());
        gathered.summary(intact(), now(), Ok(trial))
    }

    fn suggested(&self, policy: &str) -> Vec<(Vec<String>, u64)> {
        suggestions(self.under(policy))
    }
}

fn suggestions(summary: Summary) -> Vec<(Vec<String>, u64)> {
    let allow = summary.advice.allow.into_iter();
    allow.map(|one| (one.patterns, one.saves)).collect()
}

/// A home with a policy.
struct Home(TempDir);

impl Home {
    fn with(policy: &str) -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        if !policy.is_empty() {
            fs::write(home.0.path().join("permissions.json"), policy).unwrap();
        }
        home
    }

    fn trial(&self) -> Trial {
        let home = self.0.path();
        let locations = Locations {
            managed: home.join("managed.json"),
            user: Some(home.join("permissions.json")),
            named: None,
            state: None,
            home: Some(home.to_owned()),
        };
        Trial::new(&locations, home).unwrap()
    }
}

fn now() -> Timestamp {
    Timestamp::parse("2026-11-17").unwrap()
}

fn intact() -> LedgerState {
    LedgerState {
        intact: true,
        records: 7,
        ..LedgerState::default()
    }
}

const ASK: &str = r#"{ "defaultPolicy": "ask" }"#;

#[test]
fn calls_are_counted_by_whatever_they_have() {
    let mut day = Day::default();
    for (second, verdict, agent, session) in [
        (0, "allow", "a", "1"),
        (60, "allow", "a", "1"),
        (120, "deny", "b", "2"),
        (180, "ask", "a", "2"),
        (7200, "notify", "a", "3"),
    ] {
        let keys = json!({
            "verdict": verdict, "agent": agent, "session": session, "tool": "Bash",
            "rule": format!("rule.{verdict}"), "risk": "high", "duration_us": 100,
        });
        day.at(second, "decision", keys);
    }
    day.at(7300, "error", json!({}))
        .at(7301, "text_finding", json!({}));
    day.at(7302, "checkpoint", json!({}));
    let found = day.summary();
    assert_eq!(found.calls, 5);
    let wanted = Verdicts {
        allow: 2,
        notify: 1,
        contain: 0,
        ask: 1,
        review: 0,
        deny: 1,
    };
    assert_eq!(found.verdicts, wanted);
    assert_eq!(found.risks["high"], wanted);
    assert_eq!((found.errors, found.text_findings), (1, 1));
    assert_eq!((found.agents.total, found.sessions.total), (2, 3));
    assert_eq!(found.asks.ask_rate, Some(0.2));
    assert_eq!(found.judged.p50_us, Some(100));
    let sessions: Vec<&str> = found
        .sessions
        .listed
        .iter()
        .map(|one| one.session.as_str())
        .collect();
    assert_eq!(sessions, ["3", "2", "1"], "the latest first");
    let objecting: Vec<&str> = found
        .objecting
        .listed
        .iter()
        .map(|one| one.rule.as_str())
        .collect();
    assert_eq!(objecting, ["rule.ask", "rule.deny"]);
    assert_eq!(found.over_time.step.words(), "10 minutes");
    assert_eq!(
        found.ledger.last_checkpoint.map(|time| time.day()),
        Some(20773)
    );
}

#[test]
fn only_the_period_counts() {
    let mut day = Day::default();
    for second in [0, 10, 20, 30] {
        day.at(second, "decision", json!({ "verdict": "allow" }));
    }
    let at = |text: &str| Timestamp::parse(text);
    let period = Period {
        since: at("2026-11-16T00:00:10"),
        until: at("2026-11-16T00:00:30"),
    };
    let found = day
        .gathered(period)
        .summary(intact(), now(), Err(String::new()));
    assert_eq!(found.calls, 2);
    assert_eq!(found.period.first, at("2026-11-16T00:00:10"));
}

#[test]
fn questions_meet_their_answers() {
    let mut day = Day::default();
    let key = |call: &str, session: &str| json!({ "call": call, "session": session });
    let with = |mut keys: Value, verdict: &str| {
        keys["verdict"] = verdict.into();
        keys
    };
    // Approved after eight seconds; the release that follows is not a second answer.
    day.at(0, "decision", with(key("c1", "s"), "ask"));
    day.at(1, "hold_opened", key("c1", "s"));
    day.at(9, "hold_answered", with(key("c1", "s"), "allow"));
    day.at(10, "release", with(key("c1", "s"), "allow"));
    // The same call in another session is another question: refused.
    day.at(20, "decision", with(key("c1", "t"), "review"));
    day.at(21, "hold_opened", key("c1", "t"));
    day.at(25, "hold_answered", with(key("c1", "t"), "deny"));
    // The agent's own dialog asked, and the call has run: approved, by nobody knows whom how fast.
    day.at(30, "decision", with(key("c2", "s"), "ask"));
    day.at(90, "result", key("c2", "s"));
    // Nobody came.
    day.at(100, "decision", with(key("c3", "s"), "ask"));
    day.at(101, "hold_opened", key("c3", "s"));
    day.at(700, "hold_expired", key("c3", "s"));
    // Asked twice, answered once.
    day.at(800, "decision", with(key("c4", "s"), "ask"));
    day.at(801, "decision", with(key("c4", "s"), "ask"));
    day.at(802, "release", key("c4", "s"));
    // An answer nobody asked for, and a result of a call that was allowed, count nothing.
    day.at(900, "hold_answered", with(key("c9", "s"), "allow"));
    day.at(901, "decision", with(key("c8", "s"), "allow"));
    day.at(902, "result", key("c8", "s"));
    let found = day.summary();
    let asks = found.asks;
    assert_eq!(
        (asks.asked, asks.approved, asks.refused, asks.expired),
        (6, 3, 1, 1)
    );
    assert_eq!(asks.unanswered, 1);
    assert_eq!(asks.approval_rate, Some(0.6));
    assert_eq!(found.answered.count, 2, "only holds are timed");
    assert_eq!(found.answered.longest_us, Some(8_000_000));
}

#[test]
fn what_is_always_approved_is_suggested() {
    let mut day = Day::default();
    for command in ["gh pr view 1", "gh pr view 1", "gh pr view 1"] {
        day.asked(command, Some("allow"));
    }
    for branch in ["a", "b", "c", "d"] {
        day.asked(&format!("tig show {branch}"), Some("allow"));
    }
    let found = day.under(ASK);
    let suggested = day.suggested(ASK);
    let wanted = |patterns: &[&str], saves| {
        let patterns = patterns
            .iter()
            .map(|one| (*one).to_owned())
            .collect::<Vec<_>>();
        (patterns, saves)
    };
    assert_eq!(
        suggested,
        [wanted(&["tig show *"], 4), wanted(&["gh pr view 1"], 3)]
    );
    let snippet = found.advice.snippet.unwrap();
    assert_eq!(
        (snippet.file.as_str(), snippet.new),
        ("~/permissions.json", false)
    );
    let policy: Value = serde_json::from_str(&snippet.text).unwrap();
    assert_eq!(
        policy,
        json!({ "allow": { "patterns": ["tig show *", "gh pr view 1"] } })
    );
}

#[test]
fn a_rule_is_as_wide_as_it_may_be() {
    let mut day = Day::default();
    for command in [
        "view 1",
        "view 2",
        "view 3",
        "list",
        "list -L 9",
        "list",
        "merge 7",
        "merge 8",
    ] {
        day.asked(&format!("gh pr {command}"), Some("allow"));
    }
    let patterns = |list: &[&str]| list.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>();
    assert_eq!(
        day.suggested(ASK),
        [
            (patterns(&["gh pr list", "gh pr list *"]), 3),
            (patterns(&["gh pr view *"]), 3),
        ]
    );
}

#[test]
fn a_command_in_a_longer_line_is_suggested_only_if_that_releases_the_line() {
    let mut day = Day::default();
    for _ in 0..3 {
        let number = day.records.len() as u64;
        let keys = json!({
            "tool": "Bash", "verdict": "ask", "risk": "medium", "call": format!("c{number}"),
            "input": { "command": "git status && tig log" }, "part": "tig log",
        });
        day.at(number, "decision", keys);
        day.at(number, "release", json!({ "call": format!("c{number}") }));
    }
    assert_eq!(day.suggested(ASK), [], "git status is asked about, too");
    let policy = r#"{ "defaultPolicy": "ask", "allow": { "patterns": ["git status"] } }"#;
    assert_eq!(day.suggested(policy), [(vec!["tig log".to_owned()], 3)]);
}

#[test]
fn nothing_that_runs_other_programs_is_suggested() {
    let trial = Home::with(ASK).trial();
    for command in [
        "bash -c 'make'",
        "/bin/sh build.sh",
        "python3.12 -c 'print(1)'",
        "python manage.py migrate",
        "node -e 1",
        "sudo make install",
        "env A=1 make",
        "xargs rm",
        "timeout 5 make",
        "nice make",
        "find . -name x",
        "ssh host uptime",
        "docker run alpine ls",
        "npx cowsay",
        "eval ls",
        "$CMD now",
        "make $TARGET",
        "tool > out.txt",
        "tool --token [TOKEN]",
        "tool --token [API_KEY:9f3ac2d1]",
        "tool a\u{202e}b",
        "BASH -c ls",
    ] {
        let mut day = Day::default();
        for _ in 0..9 {
            day.asked(command, Some("allow"));
        }
        assert_eq!(suggestions(day.tried(&trial)), [], "{command}");
    }
}

#[test]
fn nothing_doubtful_is_suggested() {
    let approved = |count: usize, command: &str| {
        let mut day = Day::default();
        for _ in 0..count {
            day.asked(command, Some("allow"));
        }
        day
    };
    assert_eq!(approved(2, "gh pr view 1").suggested(ASK), [], "too few");
    assert_eq!(approved(3, "gh pr view 1").suggested(ASK).len(), 1);
    let mut once_refused = approved(9, "gh pr view 1");
    once_refused.asked("gh pr view 1", Some("deny"));
    assert_eq!(once_refused.suggested(ASK), []);
    let mut hardly_answered = approved(3, "gh pr view 1");
    for _ in 0..4 {
        hardly_answered.asked("gh pr view 1", None);
    }
    assert_eq!(hardly_answered.suggested(ASK), []);
    let mut risky = approved(9, "gh pr view 1");
    for record in &mut risky.records {
        record.risk = record.risk.map(|_| holdpoint_core::Risk::High);
    }
    assert_eq!(risky.suggested(ASK), []);
    let mut reviewed = approved(9, "gh pr view 1");
    for record in &mut reviewed.records {
        record.verdict = record
            .verdict
            .map(|verdict| verdict.max(holdpoint_core::Verdict::Review));
    }
    assert_eq!(reviewed.suggested(ASK), []);
}

#[test]
fn a_rule_never_answers_a_denial_or_a_question_somebody_wrote() {
    let mut day = Day::default();
    for _ in 0..5 {
        day.asked("gh pr view 1", Some("allow"));
    }
    let denied = r#"{ "defaultPolicy": "ask", "deny": { "patterns": ["gh *"] } }"#;
    assert_eq!(day.suggested(denied), []);
    let wanted = r#"{ "defaultPolicy": "ask", "ask": { "patterns": ["gh *"] } }"#;
    assert_eq!(day.suggested(wanted), []);
    let allowed = r#"{ "defaultPolicy": "ask", "allow": { "patterns": ["gh *"] } }"#;
    assert_eq!(day.suggested(allowed), [], "it is there already");
}

#[test]
fn a_wide_rule_never_releases_what_a_pack_holds_for_another_reason() {
    let mut day = Day::default();
    for branch in ["a", "a", "a", "b", "c"] {
        day.asked(&format!("git push origin {branch}"), Some("allow"));
    }
    let suggested = day.suggested(ASK);
    assert_eq!(suggested, [(vec!["git push origin a".to_owned()], 3)]);
}

#[test]
fn a_denial_among_them_keeps_a_rule_narrow() {
    let mut day = Day::default();
    for branch in ["a", "a", "a", "b", "c"] {
        day.asked(&format!("tig show {branch}"), Some("allow"));
    }
    let keys = json!({ "tool": "Bash", "verdict": "deny", "input": { "command": "tig show x" } });
    day.at(50, "decision", keys);
    assert_eq!(day.suggested(ASK), [(vec!["tig show a".to_owned()], 3)]);
}

#[test]
fn without_a_policy_file_the_snippet_is_a_whole_one() {
    let home = Home::with("");
    let trial = home.trial();
    let pattern = "gh pr view 1".to_owned();
    let text = trial.policy_text(&[&pattern]);
    let policy = holdpoint_core::Policy::from_text("x", text.clone()).unwrap();
    assert!(
        policy.standing().stated,
        "a file that says nothing else would deny: {text}"
    );
    assert_eq!(trial.file(), ("~/permissions.json".to_owned(), true));
}

#[test]
fn rules_that_never_fire() {
    let policy = r#"{ "profile": "paranoid", "deny": { "tools": ["Foo"], "patterns": ["tig *"],
        "arguments": { "Bash": { "command": ["halt"] } } }, "allow": { "patterns": ["ls"] } }"#;
    let mut day = Day::default();
    day.at(0, "decision", json!({ "verdict": "allow", "rule": "ls" }));
    let findings = json!({ "findings": [{ "rule": "tig *" }, { "rule": "git.push" }] });
    let keys = json!({ "verdict": "deny", "rule": "Foo", "detail": findings });
    day.at(1, "decision", keys);
    let unused = day.under(policy).advice.unused;
    let own: Vec<(&str, &str)> = unused
        .own
        .listed
        .iter()
        .map(|one| (one.rule.as_str(), one.list.as_str()))
        .collect();
    assert_eq!(
        own,
        [("command=halt", "deny.arguments")],
        "none of the profile's"
    );
    let git = unused.packs.iter().find(|pack| pack.pack == "git").unwrap();
    assert_eq!(git.fired, 1);
    assert!(git.rules > 5);
}

#[test]
fn recurring_denials_say_what_to_do_instead() {
    let mut day = Day::default();
    for second in 0..4 {
        let keys = json!({
            "verdict": "deny", "rule": "filesystem.delete-root", "reason": "Deletes everything",
            "session": format!("s{}", second % 2),
        });
        day.at(second, "decision", keys);
    }
    day.at(9, "decision", json!({ "verdict": "deny", "rule": "once" }));
    let denials = day.under(ASK).advice.denials;
    assert_eq!(denials.total, 1);
    let denial = denials.listed.first().unwrap();
    assert_eq!((denial.count, denial.sessions), (4, 2));
    assert!(denial.instead.as_ref().is_some_and(|text| !text.is_empty()));
}

#[test]
fn lists_are_cut_and_say_so() {
    let mut gathering = Gathering::new(Period::default());
    for number in 0..2000 {
        let long = format!("{number} {}", "long ".repeat(500));
        let mut day = Day::default();
        let keys = json!({
            "verdict": if number % 2 == 0 { "allow" } else { "deny" }, "rule": long, "tool": long,
            "agent": long, "session": long, "reason": long,
        });
        day.at(number, "decision", keys);
        gathering.record(day.records.first().unwrap());
    }
    let summary = gathering.summary(intact(), now(), Err("x".repeat(100_000)));
    let page = page(&summary);
    assert!(page.len() < 300_000, "{}", page.len());
    assert!(page.contains("… and 1,960 more"), "sessions");
}

#[test]
fn a_damaged_ledger_is_not_called_verified() {
    let mut day = Day::default();
    day.at(0, "decision", json!({ "verdict": "allow" }));
    let state = LedgerState {
        records: 1,
        faults: vec!["00000001.jsonl:1: record 0: <b>changed</b>".into()],
        more_faults: 3,
        ..LedgerState::default()
    };
    let gathered = day.gathered(Period::default());
    let page = page(&gathered.summary(state, now(), Err(String::new())));
    for text in [
        "Ledger does not verify",
        "Verification failed.",
        "record 0: &lt;b&gt;changed&lt;/b&gt;",
        "… and 3 more",
    ] {
        assert!(page.contains(text), "{text}");
    }
    assert!(!page.contains("Chain verified"));
}

#[test]
fn the_seal_is_green_for_what_is_signed_alone() {
    let sealed = |records, signed| {
        let state = LedgerState {
            records,
            signed,
            intact: true,
            ..LedgerState::default()
        };
        let mut day = Day::default();
        day.at(0, "decision", json!({ "verdict": "allow" }));
        let gathered = day.gathered(Period::default());
        page(&gathered.summary(state, now(), Err(String::new())))
    };
    for (records, signed, class, text) in [
        // The checkpoint itself stands behind what it signs.
        (14, 13, "seal good", "Signed up to record 13 of 14"),
        (1_400, 13, "seal quiet", "Signed up to record 13 of 1,400"),
        (14, 0, "seal quiet", "14 records, none signed"),
    ] {
        let page = sealed(records, signed);
        assert!(
            page.contains("Chain verified") && page.contains(text),
            "{text}"
        );
        assert!(page.contains(&format!("class=\"{class}\"")), "{text}");
    }
}

#[test]
fn an_empty_ledger_is_told_kindly() {
    let gathering = Gathering::new(Period::default());
    let empty = LedgerState {
        intact: true,
        ..LedgerState::default()
    };
    let page = page(&gathering.summary(empty, now(), Err(String::new())));
    assert!(page.contains("Nothing is on record yet"));
    assert!(!page.contains("NaN") && !page.contains("–%"));
}

#[test]
fn only_a_report_is_replaced() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("page.html");
    let page = page(&Day::default().summary());
    save(&file, &page, false).unwrap();
    save(&file, &page, false).unwrap();
    fs::write(&file, "mine").unwrap();
    let refused = save(&file, &page, false).unwrap_err().to_string();
    assert!(refused.contains("no report of holdpoint's"), "{refused}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    save(&file, &page, true).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), page);
    assert!(save(home.path(), &page, true).is_err(), "a directory");
    assert!(save(Path::new("/nowhere/at/all.html"), &page, true).is_err());
    assert_eq!(
        fs::read_dir(home.path()).unwrap().count(),
        1,
        "no drafts stay"
    );
}

/// The markup of a page without its text.
fn skeleton(page: &str) -> String {
    let mut markup = String::new();
    let mut inside = false;
    for sign in page.chars() {
        inside |= sign == '<';
        if inside {
            markup.push(sign);
        }
        inside &= sign != '>';
    }
    markup
}

/// A page whose every free text is the given one.
fn page_of(text: &str) -> String {
    let mut day = Day::default();
    for (second, verdict) in [
        (0, "allow"),
        (1, "ask"),
        (2, "deny"),
        (3, "deny"),
        (4, "deny"),
    ] {
        let keys = json!({
            "verdict": verdict, "agent": text, "session": format!("s{text}"), "tool": text,
            "rule": format!("r{text}"), "reason": format!("y{text}"), "part": text,
            "call": text, "detail": { "instead": format!("i{text}") }, "duration_us": 5,
            "input": { "command": text },
        });
        day.at(second, "decision", keys);
    }
    let state = LedgerState {
        directory: text.to_owned(),
        records: 5,
        faults: vec![text.to_owned()],
        notes: vec![text.to_owned()],
        ..LedgerState::default()
    };
    let gathered = day.gathered(Period::default());
    page(&gathered.summary(state, now(), Err(text.to_owned())))
}

/// Without the one attribute that repeats a text.
fn without_titles(markup: &str) -> String {
    let mut rest = markup;
    let mut kept = String::new();
    while let Some((before, after)) = rest.split_once(" title=\"") {
        kept.push_str(before);
        rest = after.split_once('"').map_or("", |(_, after)| after);
    }
    kept + rest
}

proptest! {
    #[test]
    fn no_text_of_a_record_becomes_markup(
        text in prop_oneof![
            "\\PC{0,60}",
            "[<>\"'&/=a-z !-]{0,80}",
            any::<String>(),
            Just("</title></style><script>alert(1)</script>".to_owned()),
            Just("--><img src=x onerror=alert(1)>".to_owned()),
        ],
    ) {
        let page = page_of(&text);
        let plain = page_of("x");
        prop_assert_eq!(without_titles(&skeleton(&page)), without_titles(&skeleton(&plain)));
        let hidden = |sign: char| sign.is_control() && sign != '\n'
            || matches!(sign, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}');
        prop_assert!(!page.chars().any(hidden));
    }
}
