//! One table of scenarios, walked by every adapter: the same calls under the same policies come to the
//! same end, leave the same counts in the session and the same records in the ledger, whether they
//! come by a hook, `check`, the library, an editor or the daemon's socket.
//!
//! `scenarios.toml` is the table and says how to read it; `table` its types; `walk` takes a scenario
//! from its first step to what is left of it; one file for each adapter says how it makes a call and
//! what it by its nature does otherwise. A new scenario is a few lines in the table, and no Rust.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod acp;
mod check;
mod daemon;
mod hook;
mod middleware;
mod table;
#[path = "../approvals/test_home.rs"]
#[allow(dead_code, reason = "the other tests that share it need more of it")]
mod test_home;
mod walk;

use std::sync::Mutex;
use std::thread;

use serde_json::json;

use crate::table::Table;
use crate::walk::{Adapter, Stage};

/// How many scenarios are walked at once: most of one is waiting.
const AT_ONCE: usize = 4;

/// The fewest scenarios there may be.
const MIN_SCENARIOS: usize = 40;

#[test]
fn every_adapter_is_told_of_in_a_table_of_forty_scenarios_or_more() {
    let table = Table::read();
    assert!(table.scenarios.len() >= MIN_SCENARIOS);
    table.check();
}

#[test]
fn a_hook_goes_the_way_of_the_table() {
    walk_all(&hook::Hook);
}

#[test]
fn check_goes_the_way_of_the_table() {
    walk_all(&check::Check);
}

#[test]
fn the_library_goes_the_way_of_the_table() {
    walk_all(&middleware::Library);
}

#[test]
fn an_editor_goes_the_way_of_the_table() {
    walk_all(&acp::Editor);
}

#[test]
fn the_daemon_goes_the_way_of_the_table() {
    walk_all(&daemon::Socket);
}

#[test]
fn one_call_is_the_last_whoever_makes_it() {
    let held = json!({"tools": {"Bash": {"supervision": "confirm", "maxCallsPerSession": 1}}});
    walk::race(&[&hook::Hook, &middleware::Library, &acp::Editor], &held);
    let allowed = json!({"defaultPolicy": "allow", "tools": {"Bash": {"maxCallsPerSession": 1}}});
    let all: [&dyn Adapter; 4] = [
        &hook::Hook,
        &check::Check,
        &middleware::Library,
        &acp::Editor,
    ];
    walk::race(&all, &allowed);
}

/// Walks every scenario, and says in the end which did not come to what the table says.
fn walk_all(adapter: &dyn Adapter) {
    let table = Table::read();
    let stage = Stage::shared();
    let scenarios = Mutex::new(table.scenarios.iter());
    let wrong = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let Some(scenario) = scenarios.lock().unwrap().next() else {
                        return;
                    };
                    if let Err(text) = walk::walk(adapter, &stage, scenario) {
                        wrong.lock().unwrap().push(text);
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(
        wrong.is_empty(),
        "{} of {} scenarios end otherwise for {}:\n\n{}",
        wrong.len(),
        table.scenarios.len(),
        adapter.name(),
        wrong.join("\n\n")
    );
}
