//! `holdpoint check`: a process for each call, which judges it and asks nobody.

use serde_json::Value;

use crate::test_home::ran;
use crate::walk::{Adapter, Calls, Heard, Made, Run, Word, asks, at_once};

pub(crate) struct Check;

impl Adapter for Check {
    fn name(&self) -> &'static str {
        "check"
    }

    fn open<'a>(&self, run: &'a Run<'a>) -> Box<dyn Calls + 'a> {
        Box::new(Caller { run })
    }

    /// It never holds: what would be asked is said to be, and the scenario ends there.
    fn ends_at_ask(&self) -> bool {
        true
    }

    fn records(&self, expected: &[String]) -> Vec<String> {
        let asked = expected.iter().position(|record| asks(record));
        let (before, from) = expected.split_at(asked.unwrap_or(expected.len()));
        // Several that are made at once are all asked about.
        let from = from.iter().take_while(|record| asks(record));
        before.iter().chain(from).cloned().collect()
    }
}

struct Caller<'a> {
    run: &'a Run<'a>,
}

impl Calls for Caller<'_> {
    fn call(&mut self, made: &[Made]) -> Vec<Heard> {
        at_once(made, |one| self.make(one))
    }
}

impl Caller<'_> {
    fn make(&self, made: &Made) -> Heard {
        let input = Value::Object(made.input.clone()).to_string();
        let mut check = self.run.program(&["check", "--json"]);
        check.args(["--session", &self.run.session]);
        check.args(["--tool", &made.tool, "--input", &input]);
        let ran = ran(&mut check);
        let decision: Value = serde_json::from_str(&ran.out).unwrap_or_default();
        let said = |key: &str| decision[key].as_str().map(str::to_owned);
        let word = match ran.code {
            0 => Word::Runs,
            3 => Word::Asks,
            1 | 2 => Word::Refused,
            code => panic!("{code}: {ran:?}"),
        };
        Heard {
            verdict: said("verdict"),
            method: said("method"),
            ..Heard::said(word)
        }
    }
}
