//! A made-up policy of any size, the same every time, and the same rules as plain globs.
//!
//! Half of the rules are patterns, a quarter are values of a shell tool's `command`, a quarter
//! values of other tools' arguments; allow and deny take turns within each kind.

use serde_json::{Map, Value, json};

/// One rule.
#[derive(Clone, Debug)]
pub struct Rule {
    allows: bool,
    body: Body,
}

#[derive(Clone, Debug)]
enum Body {
    Pattern(String),
    Argument {
        tool: &'static str,
        argument: &'static str,
        value: String,
    },
}

/// The first `count` rules of the one endless list.
pub fn rules(count: usize) -> Vec<Rule> {
    (0..count).map(rule).collect()
}

fn rule(number: usize) -> Rule {
    // Each kind has a cycle of forms; a form that allows in one round denies in the next.
    let (form, cycle, body) = match number % 4 {
        0 | 2 => (number / 2, 9, pattern(number / 2, number)),
        1 => (number / 4, 10, shell_argument(number / 4, number)),
        _ => (number / 4, 5, plain_argument(number / 4, number)),
    };
    Rule {
        allows: (form / cycle + form % cycle).is_multiple_of(2),
        body,
    }
}

fn pattern(form: usize, n: usize) -> Body {
    Body::Pattern(match form % 9 {
        0 => format!("cmd{n} *"),
        1 => format!("git sub{n} *"),
        2 => format!("* --flag{n}*"),
        3 => format!("tool{n}(key=*"),
        4 => format!("make target{n}"),
        5 => format!("*mid{n}*"),
        6 => format!("kubectl --context prod-{n} get *"),
        7 => format!("npm run build:{n} -- *"),
        // Rules that have nothing of their own, only words they share with others.
        _ => {
            let word = |words: [&'static str; 9], divisor: usize| words[form / 9 / divisor % 9];
            format!(
                "{} {} {} *",
                word(PROGRAMS, 1),
                word(VERBS, 9),
                word(PLACES, 81)
            )
        }
    })
}

const PROGRAMS: [&str; 9] = [
    "terraform",
    "helm",
    "aws",
    "gcloud",
    "ansible",
    "vault",
    "consul",
    "nomad",
    "flyctl",
];
const VERBS: [&str; 9] = [
    "apply", "destroy", "import", "delete", "upgrade", "rollback", "scale", "drain", "taint",
];
const PLACES: [&str; 9] = [
    "staging", "canary", "prod-eu", "prod-us", "billing", "search", "ledger", "mobile", "edge",
];

fn shell_argument(form: usize, n: usize) -> Body {
    Body::Argument {
        tool: if form.is_multiple_of(2) {
            "Bash"
        } else {
            "cli_based_tool"
        },
        argument: "command",
        value: match form / 2 % 5 {
            0 => format!("prog{n}"),
            1 => format!("git checkout release-{n}"),
            2 => format!("--unsafe{n}"),
            3 => format!("/srv/app{n}"),
            _ => format!("docker run -it image{n}"),
        },
    }
}

fn plain_argument(form: usize, n: usize) -> Body {
    let (tool, argument, value) = match form % 5 {
        0 => ("Read", "file_path", format!("/srv/data{n}")),
        1 => ("WebFetch", "url", format!("https://host{n}.example.com")),
        2 => ("search_issues", "query", format!("label:area{n}")),
        3 => ("mcp__db__query", "sql", format!("DROP TABLE t{n}")),
        _ => ("search_issues", "repo", format!("example/project{n}")),
    };
    Body::Argument {
        tool,
        argument,
        value,
    }
}

/// The rules as a policy file.
pub fn policy_text(rules: &[Rule]) -> String {
    let list = |allows: bool| {
        let mut patterns: Vec<&str> = Vec::new();
        let mut arguments: Map<String, Value> = Map::new();
        for rule in rules.iter().filter(|rule| rule.allows == allows) {
            match &rule.body {
                Body::Pattern(text) => patterns.push(text),
                Body::Argument {
                    tool,
                    argument,
                    value,
                } => {
                    let named = arguments.entry(*tool).or_insert_with(|| json!({}));
                    match &mut named[*argument] {
                        Value::Array(values) => values.push(json!(value)),
                        empty => *empty = json!([value]),
                    }
                }
            }
        }
        json!({"patterns": patterns, "arguments": arguments})
    };
    let document = json!({
        "defaultPolicy": "ask",
        // The packs are measured elsewhere; here it is rules of a policy against rules of a policy.
        "guards": {"enabled": false},
        "allow": list(true),
        "deny": list(false),
    });
    format!("{document:#}")
}

impl Rule {
    /// The tool the rule is about, where it is about one.
    pub fn tool(&self) -> Option<&'static str> {
        match &self.body {
            Body::Pattern(_) => None,
            Body::Argument { tool, .. } => Some(tool),
        }
    }

    /// The rule as a glob over a call's signature: an argument starts with an allowed value and
    /// contains a denied one.
    pub fn glob(&self) -> String {
        let (tool, argument, value) = match &self.body {
            Body::Pattern(text) => return text.clone(),
            Body::Argument {
                tool,
                argument,
                value,
            } => (tool, argument, value),
        };
        match (*argument == "command", self.allows) {
            (true, true) => format!("{value}*"),
            (true, false) => format!("*{value}*"),
            (false, true) => format!("{tool}(*{argument}={value}*"),
            (false, false) => format!("{tool}(*{argument}=*{value}*"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kinds_have_their_shares() {
        let rules = rules(10_000);
        let share = |wanted: fn(&Rule) -> bool| rules.iter().filter(|rule| wanted(rule)).count();
        assert_eq!(share(|rule| rule.tool().is_none()), 5_000);
        let shell = |rule: &Rule| matches!(rule.tool(), Some("Bash" | "cli_based_tool"));
        assert_eq!(share(shell), 2_500);
        assert!((4_500..5_500).contains(&share(|rule| rule.allows)));
    }

    #[test]
    fn no_rule_is_written_twice() {
        let mut globs: Vec<String> = rules(10_000).iter().map(Rule::glob).collect();
        globs.sort_unstable();
        assert!(globs.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
