//! Which records are wanted.

use holdpoint_core::{Glob, Risk, Verdict};
use serde_json::Value;

use crate::Timestamp;
use crate::record::{Kind, Record};

/// What a record must be to be wanted. What stays empty asks for nothing; of several values in one
/// list, one is enough.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Not written before this.
    pub since: Option<Timestamp>,
    /// Written before this.
    pub until: Option<Timestamp>,
    /// The lowest number.
    pub first: Option<u64>,
    /// The highest number.
    pub last: Option<u64>,
    /// What happened.
    pub kinds: Vec<Kind>,
    /// What may happen.
    pub verdicts: Vec<Verdict>,
    /// How much harm it could do.
    pub risks: Vec<Risk>,
    /// Who asked.
    pub agents: Vec<Pattern>,
    /// In which session.
    pub sessions: Vec<Pattern>,
    /// Which tool.
    pub tools: Vec<Pattern>,
    /// Which rule decided.
    pub rules: Vec<Pattern>,
    /// Texts that all stand somewhere in the record.
    pub texts: Vec<Needle>,
}

/// A glob over one field.
#[derive(Clone, Debug)]
pub struct Pattern(Glob);

impl Pattern {
    /// `*` stands for any text and `?` for one character.
    pub fn new(pattern: &str) -> Self {
        Self(Glob::new(pattern))
    }

    /// The only text it matches, if there is only one.
    pub fn literal(&self) -> Option<&str> {
        self.0.literal()
    }

    fn matches(&self, text: &str) -> bool {
        self.0.matches(text)
    }
}

/// A text that is looked for, in upper or lower case.
#[derive(Clone, Debug)]
pub struct Needle(String);

impl Needle {
    /// Looks for `text`.
    pub fn new(text: &str) -> Self {
        Self(text.to_lowercase())
    }

    fn is_in(&self, text: &str) -> bool {
        text.to_lowercase().contains(&self.0)
    }

    /// JSON is as deep as its reader lets it be, so this ends.
    fn is_in_value(&self, value: &Value) -> bool {
        match value {
            Value::String(text) => self.is_in(text),
            Value::Array(values) => values.iter().any(|value| self.is_in_value(value)),
            Value::Object(members) => members
                .iter()
                .any(|(name, value)| self.is_in(name) || self.is_in_value(value)),
            Value::Number(number) => self.is_in(&number.to_string()),
            Value::Null | Value::Bool(_) => false,
        }
    }

    fn is_in_record(&self, record: &Record) -> bool {
        let words = [
            Some(record.kind.as_str()),
            record.verdict.map(Verdict::as_str),
            record.risk.map(Risk::as_str),
        ];
        let texts = [
            &record.agent,
            &record.session,
            &record.directory,
            &record.tool,
            &record.method,
            &record.rule,
            &record.reason,
            &record.part,
            &record.call,
            &record.policy,
            &record.approver,
            &record.sandbox,
        ];
        let values = [&record.input, &record.detail];
        words.iter().flatten().any(|word| self.is_in(word))
            || texts.iter().copied().flatten().any(|text| self.is_in(text))
            || values
                .iter()
                .copied()
                .flatten()
                .any(|value| self.is_in_value(value))
    }
}

impl Filter {
    /// Whether the record is wanted.
    pub fn matches(&self, record: &Record) -> bool {
        self.in_time(record)
            && self.first.is_none_or(|first| record.seq >= first)
            && self.last.is_none_or(|last| record.seq <= last)
            && one_of(&self.kinds, Some(&record.kind))
            && one_of(&self.verdicts, record.verdict.as_ref())
            && one_of(&self.risks, record.risk.as_ref())
            && one_like(&self.agents, record.agent.as_deref())
            && one_like(&self.sessions, record.session.as_deref())
            && one_like(&self.tools, record.tool.as_deref())
            && one_like(&self.rules, record.rule.as_deref())
            && self.texts.iter().all(|text| text.is_in_record(record))
    }

    /// A record whose time cannot be read is at no time.
    fn in_time(&self, record: &Record) -> bool {
        if self.since.is_none() && self.until.is_none() {
            return true;
        }
        record.timestamp().is_some_and(|time| {
            self.since.is_none_or(|since| time >= since)
                && self.until.is_none_or(|until| time < until)
        })
    }
}

fn one_of<T: PartialEq>(wanted: &[T], found: Option<&T>) -> bool {
    wanted.is_empty() || found.is_some_and(|found| wanted.contains(found))
}

fn one_like(wanted: &[Pattern], found: Option<&str>) -> bool {
    wanted.is_empty()
        || found.is_some_and(|found| wanted.iter().any(|pattern| pattern.matches(found)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn record() -> Record {
        serde_json::from_value(json!({
            "v": 1, "seq": 7, "prev": "", "time": "2026-11-16T03:40:12.000000Z",
            "kind": "decision", "agent": "claude-code", "session": "s-1", "tool": "Bash",
            "verdict": "deny", "risk": "high", "rule": "git.force-push-shared",
            "reason": "It rewrites history", "input": {"command": "git push -F Größe", "n": 42},
        }))
        .unwrap()
    }

    fn matches(set: impl FnOnce(&mut Filter)) -> bool {
        let mut filter = Filter::default();
        set(&mut filter);
        filter.matches(&record())
    }

    #[test]
    fn nothing_asked_wants_everything() {
        assert!(matches(|_| {}));
    }

    #[test]
    fn each_field_is_asked_for_by_itself() {
        let at = |text: &str| Timestamp::parse(text);
        assert!(matches(|f| f.since = at("2026-11-16T03:40:12Z")));
        assert!(!matches(|f| f.since = at("2026-11-16T03:40:13Z")));
        assert!(!matches(|f| f.until = at("2026-11-16T03:40:12Z")));
        assert!(matches(|f| f.until = at("2026-11-17")));
        assert!(matches(|f| (f.first, f.last) = (Some(7), Some(7))));
        assert!(!matches(|f| f.first = Some(8)));
        assert!(!matches(|f| f.last = Some(6)));
        assert!(matches(|f| f.kinds = vec![Kind::Error, Kind::Decision]));
        assert!(!matches(|f| f.kinds = vec![Kind::Error]));
        assert!(!matches(|f| f.verdicts = vec![Verdict::Allow]));
        assert!(matches(|f| f.risks = vec![Risk::High]));
        assert!(matches(|f| f.rules = vec![Pattern::new("git.*")]));
        assert!(!matches(|f| f.rules = vec![Pattern::new("git")]));
        assert!(matches(
            |f| f.tools = vec![Pattern::new("Read"), Pattern::new("B?sh")]
        ));
        assert!(!matches(|f| f.sessions = vec![Pattern::new("s-2")]));
    }

    #[test]
    fn a_text_is_found_wherever_it_stands_in_either_case() {
        for text in [
            "REWRITES", "push -f", "GRÖSSE", "größe", "command", "42", "deny",
        ] {
            let found = matches(|f| f.texts = vec![Needle::new(text)]);
            assert_eq!(found, text != "GRÖSSE", "{text}");
        }
        assert!(!matches(
            |f| f.texts = vec![Needle::new("push"), Needle::new("pull")]
        ));
    }

    #[test]
    fn a_record_without_a_field_is_not_one_with_it() {
        let mut record = record();
        record.rule = None;
        record.time = "noon".into();
        let rules = Filter {
            rules: vec![Pattern::new("*")],
            ..Filter::default()
        };
        assert!(!rules.matches(&record));
        let since = Filter {
            since: Some(Timestamp::default()),
            ..Filter::default()
        };
        assert!(!since.matches(&record));
    }
}
