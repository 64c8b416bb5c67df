//! The cost of a decision no rule speaks about, by the number of rules, beside two peers.
//!
//! Ours is the whole of `judge`: reading the shell line, every rule list, the digest of the call
//! and the decision as a value. The peers only match: `loop` tries every rule's compiled glob on
//! the call's signature (an argument rule only if the tool is its own), `globset` asks one
//! `GlobSet` of the same globs. Usage: `bench decisions [--long] [--check]`.

use anyhow::{Context, Result, ensure};
use globset::{GlobSet, GlobSetBuilder};
use holdpoint_bench::rules::{self, Rule};
use holdpoint_bench::table::{self, Goals, Kind};
use holdpoint_bench::timing::{self, Timed, median, quiet_ns};
use holdpoint_core::{Glob, Policy, Session, Surroundings, ToolCall, judge_call};
use serde_json::{Value, json};

const COUNTS: [usize; 4] = [10, 100, 1_000, 10_000];

pub(crate) fn run() -> Result<()> {
    let (mut batches, mut check) = (81, false);
    for argument in std::env::args().skip(2) {
        match argument.as_str() {
            "--long" => batches = 401,
            "--check" => check = true,
            other => anyhow::bail!("unknown argument `{other}`: use `--long` or `--check`"),
        }
    }
    let calls = calls()?;
    let mut goals = Goals::default();
    let costs = measure(&calls, batches)?;
    print_costs(&costs);
    state_goals(&costs, &mut goals);
    load(batches, &mut goals)?;
    goals.outcome(check)
}

/// Calls that no rule matches. The last one shares words, prefixes and digits with many rules.
fn calls() -> Result<Vec<(&'static str, ToolCall)>> {
    let shell = ToolCall::shell;
    let compound = "cd crates/core && cargo build --release 2>&1 | tail -n 20; git status --short";
    let plain =
        json!({"query": "reader panics on empty input", "limit": 20, "repo": "example/gate"});
    let near =
        "terraform destroy the staging prod-eu sub4242 get release-77 --flags=7 /srv/application";
    Ok(vec![
        (
            "one command",
            shell("cargo test --workspace --no-fail-fast"),
        ),
        ("four commands", shell(compound)),
        ("plain tool", ToolCall::new("search_issues", plain)?),
        ("near miss", shell(near)),
    ])
}

/// Nanoseconds a decision with `count` rules, by call.
struct Costs {
    count: usize,
    rows: Vec<Row>,
}

struct Row {
    call: &'static str,
    ours: f64,
    looped: f64,
    globset: f64,
}

impl Row {
    fn ratio(&self) -> f64 {
        self.looped / self.ours
    }
}

/// A policy of so many rules, and the same rules for the peers.
struct Setup {
    count: usize,
    policy: Policy,
    globs: Vec<(Option<String>, Glob)>,
    set: GlobSet,
}

impl Setup {
    fn new(count: usize) -> Result<Self> {
        let rules = rules::rules(count);
        Ok(Self {
            count,
            policy: Policy::from_text("bench", rules::policy_text(&rules)).context("the policy")?,
            globs: rules
                .iter()
                .map(|rule| (rule.tool().map(str::to_owned), Glob::new(&rule.glob())))
                .collect(),
            set: globset(&rules)?,
        })
    }
}

/// Measures every call under every number of rules, all of them and the peers in turns.
fn measure(calls: &[(&'static str, ToolCall)], batches: usize) -> Result<Vec<Costs>> {
    let setups = COUNTS
        .into_iter()
        .map(Setup::new)
        .collect::<Result<Vec<_>>>()?;
    let session = Session::default();
    let around = Surroundings::nowhere();
    let mut works: Vec<Timed<'_>> = Vec::new();
    for Setup {
        policy, globs, set, ..
    } in &setups
    {
        for (name, call) in calls {
            let decision = judge_call(call, policy, &session, &around);
            ensure!(
                decision.findings.is_empty() && loop_matches(globs, call) == 0,
                "`{name}` is meant to match no rule, but: {:?}",
                decision.findings
            );
            ensure!(!set.is_match(call.signature()), "globset matches `{name}`");
            works.push(Timed::new(|| judge_call(call, policy, &session, &around)));
            works.push(Timed::new(|| loop_matches(globs, call)));
            works.push(Timed::new(|| set.is_match(call.signature())));
        }
    }
    timing::in_turns(batches, &mut works);
    let mut quiet = works.iter().map(Timed::quiet);
    let mut next = || quiet.next().unwrap_or_default();
    let mut costs = Vec::new();
    for setup in &setups {
        let row = |(call, _): &(&'static str, ToolCall)| Row {
            call,
            ours: next(),
            looped: next(),
            globset: next(),
        };
        costs.push(Costs {
            count: setup.count,
            rows: calls.iter().map(row).collect(),
        });
    }
    Ok(costs)
}

impl Costs {
    fn mean(&self, cost: impl Fn(&Row) -> f64) -> f64 {
        let count = u32::try_from(self.rows.len()).unwrap_or(u32::MAX);
        self.rows.iter().map(cost).sum::<f64>() / f64::from(count.max(1))
    }

    fn all_rows(&self) -> impl Iterator<Item = Row> {
        let rows = self.rows.iter().map(|row| Row { ..*row });
        rows.chain(std::iter::once(Row {
            call: "mean",
            ours: self.mean(|row| row.ours),
            looped: self.mean(|row| row.looped),
            globset: self.mean(|row| row.globset),
        }))
    }
}

/// The peer everybody would write first.
fn loop_matches(rules: &[(Option<String>, Glob)], call: &ToolCall) -> usize {
    let signature = call.signature();
    rules
        .iter()
        .filter(|(tool, _)| tool.as_ref().is_none_or(|tool| tool == call.tool()))
        .filter(|(_, glob)| glob.matches(&signature))
        .count()
}

fn globset(rules: &[Rule]) -> Result<GlobSet> {
    let mut builder = GlobSetBuilder::new();
    for rule in rules {
        builder.add(globset::Glob::new(&rule.glob())?);
    }
    Ok(builder.build()?)
}

fn print_costs(costs: &[Costs]) {
    println!("ns per decision that no rule matches");
    let mut rows = Vec::new();
    for costs in costs {
        for row in costs.all_rows() {
            rows.push(vec![
                row.call.to_owned(),
                costs.count.to_string(),
                format!("{:.0}", row.ours),
                format!("{:.0}", row.looped),
                format!("{:.0}", row.globset),
                format!("{:.2}x", row.ratio()),
            ]);
        }
    }
    table::print(
        &["call", "rules", "ours", "loop", "globset", "loop/ours"],
        &rows,
    );
}

fn state_goals(costs: &[Costs], goals: &mut Goals) {
    let of = |count| costs.iter().find(|costs| costs.count == count);
    let (Some(few), Some(most)) = (of(100), of(10_000)) else {
        return;
    };
    for (few, most) in few.all_rows().zip(most.all_rows()) {
        // The mean is what is promised; the single calls show where it comes from.
        let growth = most.ours / few.ours;
        println!(
            "{}: {:.1}x the loop's speed at 10,000 rules, {growth:.2}x the cost at 100 rules",
            most.call,
            most.ratio()
        );
        if most.call == "mean" {
            let text = format!(
                "at 10,000 rules {:.1}x as fast as the loop (goal 20x)",
                most.ratio()
            );
            goals.state(
                Kind::Ratio,
                most.ratio() >= 20.0,
                most.ratio() < 10.0,
                &text,
            );
            let text = format!("10,000 rules cost {growth:.2}x what 100 cost (goal 3x)");
            goals.state(Kind::Ratio, growth <= 3.0, growth > 5.0, &text);
            let text = format!(
                "{:.2} µs a decision at 10,000 rules (goal 10 µs)",
                most.ours / 1e3
            );
            goals.state(Kind::Absolute, most.ours <= 10_000.0, false, &text);
        }
    }
}

/// The cost of loading the largest policy.
fn load(batches: usize, goals: &mut Goals) -> Result<()> {
    let rules = rules::rules(10_000);
    let text = rules::policy_text(&rules);
    let rounds = batches.div_ceil(4);
    let ours = quiet_ns(rounds, || Policy::from_text("bench", text.as_str())) / 1e6;
    let json = quiet_ns(rounds, || serde_json::from_str::<Value>(&text)) / 1e6;
    let set = median((0..3).map(|_| quiet_ns(1, || globset(&rules)))) / 1e6;
    println!(
        "\nms to load a policy of 10,000 rules ({} KB)",
        text.len() / 1024
    );
    let row = |name: &str, ms: f64| {
        vec![
            name.to_owned(),
            format!("{ms:.2}"),
            format!("{:.1}x", ms / json),
        ]
    };
    let rows = [
        row("Policy::from_text", ours),
        row("serde_json into Value", json),
        row("GlobSet build", set),
    ];
    table::print(&["what", "ms", "of serde_json"], &rows);
    let text = format!("{ours:.1} ms to load 10,000 rules (goal 50 ms)");
    goals.state(Kind::Absolute, ours <= 50.0, false, &text);
    Ok(())
}
