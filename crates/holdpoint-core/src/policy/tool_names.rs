//! Which tools a list names, and how a rule's name is a name of the tool that is called.
//!
//! Agents call the same tool by different names. The name that stands for a tool (`Bash`) means it
//! under every name, in every list. Another agent's name of it (`run_shell_command`) means the tool,
//! too, where a rule tightens, so that nobody gets around it by another name; where a rule allows, it
//! means that name and no other. `=name` is that name to the letter, in every list.

use std::collections::HashSet;

use crate::catalogue::{self, Identity, Tool, ToolSet};

/// How a rule names the tool of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Naming {
    /// By the name it is called by.
    Own,
    /// Not at all, or by a pattern the name is one of many to match.
    Unnamed,
    /// By the name that stands for the tool.
    Standing,
    /// By the name another agent has for it.
    Kin,
}

impl Naming {
    /// Whether a rule that allows may name the tool like this.
    pub(crate) fn may_allow(self) -> bool {
        match self {
            Naming::Own | Naming::Unnamed | Naming::Standing => true,
            Naming::Kin => false,
        }
    }

    /// Whether an allow that names a tool like this answers a question of a rule that names it like
    /// `asked`: whoever asks about one agent's name is not answered by a rule for the tool.
    pub(crate) fn answers(self, asked: Naming) -> bool {
        match self {
            Naming::Own | Naming::Unnamed => true,
            Naming::Standing | Naming::Kin => asked != Naming::Own,
        }
    }
}

/// A tool's name as a rule writes it.
#[derive(Clone, Debug)]
pub(crate) struct WrittenName {
    name: String,
    /// The tool it is a name of, unless it means the name to the letter.
    tool: Option<&'static Tool>,
}

/// What marks a name that is meant to the letter.
pub(crate) const TO_THE_LETTER: char = '=';

impl WrittenName {
    pub(crate) fn new(written: &str) -> Self {
        match written.strip_prefix(TO_THE_LETTER) {
            Some(name) => Self {
                name: name.to_owned(),
                tool: None,
            },
            None => Self {
                name: written.to_owned(),
                // A name in another case is another name.
                tool: catalogue::tool_named(written).filter(|_| catalogue::is_name(written)),
            },
        }
    }

    /// The tool a name means that is not meant to the letter.
    pub(crate) fn tool(&self) -> Option<&'static Tool> {
        self.tool
    }

    /// Whether this is the name `name` of `tool`.
    pub(crate) fn is(&self, tool: &Tool, name: &str) -> bool {
        self.name == name && self.tool.is_some_and(|own| own.name == tool.name)
    }

    /// The name, without what marks it.
    pub(crate) fn text(&self) -> &str {
        &self.name
    }

    /// How this names the tool of a call `own`, for a rule that tightens.
    pub(crate) fn naming(&self, own: &str, identity: Identity) -> Option<Naming> {
        if self.name == own {
            return Some(Naming::Own);
        }
        let tool = self.tool.filter(|tool| identity.touches(tool))?;
        Some(match self.name == tool.name {
            true => Naming::Standing,
            false => Naming::Kin,
        })
    }

    /// How this names the tool of a call `own`, for a rule that allows by itself.
    pub(crate) fn naming_to_allow(&self, own: &str, identity: Identity) -> Option<Naming> {
        if self.name == own {
            return Some(Naming::Own);
        }
        let tool = self.tool.filter(|tool| self.name == tool.name)?;
        identity
            .is_within(ToolSet::from_tool(tool))
            .then_some(Naming::Standing)
    }
}

/// The tools a list names.
#[derive(Clone, Debug, Default)]
pub(crate) struct ToolNames {
    written: HashSet<String>,
    any_exact: bool,
    /// Those that are names of tools agents have.
    known: Vec<WrittenName>,
    standing: ToolSet,
}

impl ToolNames {
    pub(crate) fn extend<'n>(&mut self, names: impl IntoIterator<Item = &'n String>) {
        for written in names {
            if !self.written.insert(written.clone()) {
                continue;
            }
            self.any_exact |= written.starts_with(TO_THE_LETTER);
            let name = WrittenName::new(written);
            if let Some(tool) = name.tool {
                if tool.name == name.name {
                    self.standing = self.standing.and(ToolSet::from_tool(tool));
                }
                self.known.push(name);
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.written.is_empty()
    }

    fn own(&self, own: &str) -> Option<(String, Naming)> {
        if self.written.contains(own) {
            return Some((own.to_owned(), Naming::Own));
        }
        let exact = self.any_exact.then(|| format!("{TO_THE_LETTER}{own}"))?;
        let named = self.written.contains(&exact);
        named.then_some((exact, Naming::Own))
    }

    /// The entry that names the tool of a call, for a list that tightens.
    pub(crate) fn touching(&self, own: &str, identity: Identity) -> Option<(String, Naming)> {
        self.own(own).or_else(|| {
            let mut named = self.known.iter().filter_map(|name| {
                let naming = name.naming(own, identity)?;
                Some((name.name.clone(), naming))
            });
            named
                .clone()
                .find(|(_, naming)| *naming == Naming::Standing)
                .or_else(|| named.next())
        })
    }

    /// The entry that names the tool of a call, for a list that allows.
    pub(crate) fn covering(&self, own: &str, identity: Identity) -> Option<(String, Naming)> {
        self.own(own).or_else(|| {
            if !identity.is_within(self.standing) {
                return None;
            }
            let mut names = self.known.iter();
            let named = names.find(|name| name.naming(own, identity) == Some(Naming::Standing))?;
            Some((named.name.clone(), Naming::Standing))
        })
    }
}

/// The name in front of the arguments in a pattern such as `Write(*path=/etc*`, and whether it is
/// meant to the letter.
pub(crate) fn head(pattern: &str) -> Option<(&str, bool)> {
    let (name, _) = pattern.split_once('(')?;
    let (name, exact) = match name.strip_prefix(TO_THE_LETTER) {
        Some(name) => (name, true),
        None => (name, false),
    };
    let plain = !name.is_empty() && !name.contains(['*', '?', '[', ' ']);
    plain.then_some((name, exact))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{all_names, arguments_of};
    use crate::paths::{NoLinks, Surroundings};
    use crate::{Decision, Policy, Session, SessionState, ToolCall, judge, understand};
    use serde_json::{Map, Value, json};

    fn decided(call: &ToolCall, policy: &Value, session: &Value) -> Decision {
        let around = Surroundings {
            workspace: Some("/ws"),
            directory: None,
            home: None,
            lookup: &NoLinks,
            can_contain: false,
        };
        let policy = Policy::from_text("p", policy.to_string()).unwrap();
        let state: SessionState = serde_json::from_value(session.clone()).unwrap();
        let action = understand(call.clone(), &policy, &around);
        judge(&action, &policy, &Session::new(state), &around)
    }

    /// A call of a tool under one of its names, with its arguments as that agent spells them.
    fn call(name: &str, tool: &Tool, value: &str) -> ToolCall {
        let mut input = Map::new();
        for argument in arguments_of(tool) {
            let key = catalogue::rename(catalogue::find_name(name).unwrap(), argument);
            input.insert(key.into_owned(), Value::from(value));
        }
        ToolCall::new(name, Value::Object(input)).unwrap()
    }

    /// Policies and sessions that speak of a tool by one name, and of one of its arguments.
    fn rules(tool: &str, argument: &str, value: &str) -> Vec<(Value, Value)> {
        let quiet = |mut policy: Value| {
            policy["guards"] = json!({"enabled": false});
            policy
        };
        let form = format!("{tool}(*");
        let with_value = format!("{tool}(*{argument}={value}*");
        let no_session = || json!({});
        let list = |list: &str, rule: Value| json!({"defaultPolicy": "notify", list: rule});
        let mut found = Vec::new();
        for kind in ["deny", "ask", "allow"] {
            for rule in [
                json!({"tools": [tool]}),
                json!({"patterns": [form]}),
                json!({"patterns": [with_value]}),
                json!({"arguments": {tool: {argument: [value]}}}),
            ] {
                found.push((quiet(list(kind, rule)), no_session()));
            }
        }
        for rule in [
            json!({"supervision": "deny"}),
            json!({"supervision": "confirm", "risk": "critical"}),
            json!({"supervision": "automatic"}),
            json!({"parameters": {argument: {"pattern": "^other"}}}),
            json!({"parameters": {argument: {"required": true}}}),
        ] {
            found.push((quiet(list("tools", json!({tool: rule}))), no_session()));
        }
        let limited = list("tools", json!({tool: {"maxCallsPerSession": 2}}));
        found.push((quiet(limited), json!({"calls": {tool: 2}})));
        for kind in ["deny", "allow"] {
            for entry in [tool, &form] {
                let asking = quiet(json!({"defaultPolicy": "ask"}));
                found.push((asking, json!({kind: [entry]})));
            }
        }
        found
    }

    #[test]
    fn every_name_of_a_tool_is_judged_alike_under_rules_for_the_name_that_stands_for_it() {
        let mut compared = 0;
        for (name, tool) in all_names() {
            // What a patch or an editor does depends on more than its arguments' names.
            if tool.has_several_operations() {
                continue;
            }
            for argument in arguments_of(tool) {
                for (policy, session) in rules(tool.name, argument, "make") {
                    let standing = decided(&call(tool.name, tool, "make"), &policy, &session);
                    let other = decided(&call(name, tool, "make"), &policy, &session);
                    assert_eq!(
                        (standing.verdict, standing.method, &standing.rule),
                        (other.verdict, other.method, &other.rule),
                        "{name} is not judged like {} under {policy} {session}",
                        tool.name
                    );
                    compared += 1;
                }
            }
        }
        assert!(compared > 3000, "{compared}");
    }

    #[test]
    fn a_rule_that_tightens_does_so_whichever_of_the_names_it_is_written_for() {
        for (written, tool) in all_names() {
            for (name, other) in all_names() {
                if tool.name != other.name {
                    continue;
                }
                let call = call(name, tool, "make");
                let quiet = json!({"enabled": false});
                let deny = json!({"defaultPolicy": "allow", "guards": quiet, "deny": {"tools": [written]}});
                let verdict = decided(&call, &deny, &json!({})).verdict;
                assert_eq!(verdict, crate::Verdict::Deny, "{written} {name}");
                let deny = json!({"defaultPolicy": "allow", "guards": quiet});
                let verdict = decided(&call, &deny, &json!({"deny": [written]})).verdict;
                assert_eq!(verdict, crate::Verdict::Deny, "{written} {name}");
            }
        }
    }
}
