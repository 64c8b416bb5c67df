//! A rule that matches any part of a line is never answered `No`, and most lines are free.

use std::fs;
use std::path::{Path, PathBuf};

use holdpoint_core::{Surroundings, ToolCall, explained, understand_alone};
use proptest::prelude::*;

use super::{AgentProcess, Circumstances, CommandLine, MayMatch};
use crate::agents::Agent;
use crate::setup::Around;

fn line(text: &str) -> CommandLine {
    let around = Surroundings::nowhere();
    let action = understand_alone(ToolCall::shell(text), &around);
    CommandLine::new(
        text,
        &explained(&action, &around),
        Path::new("/home/dev/app"),
    )
}

/// A machine with these files, and an agent on it that was started so.
struct Machine {
    place: tempfile::TempDir,
    mode: Option<&'static str>,
    processes: Result<Vec<AgentProcess>, String>,
}

impl Machine {
    fn new(command: &[&str], files: &[(&str, &str)]) -> Self {
        let place = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = place.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let shell = AgentProcess::from_text(b"/bin/sh\0-c\0holdpoint hook x\0");
        let text: Vec<u8> = command
            .iter()
            .flat_map(|one| [one.as_bytes(), b"\0"].concat())
            .collect();
        Self {
            place,
            mode: None,
            processes: Ok(vec![
                shell,
                AgentProcess::from_text(&text),
                AgentProcess::from_text(b"bash\0"),
            ]),
        }
    }

    fn ask(&self, agent: Agent, text: &str) -> MayMatch {
        let at = |name: &str| -> PathBuf { self.place.path().join(name) };
        let around = Around {
            directory: at("home/app"),
            home: Some(at("home")),
            machine: at("etc"),
            search: Vec::new(),
            variable: |_| None,
        };
        let circumstances = Circumstances {
            around: &around,
            standing: &around.directory,
            mode: self.mode,
            processes: &self.processes,
        };
        agent.own_rules(&line(text), &circumstances)
    }

    fn stops(&self, agent: Agent, text: &str) {
        let found = self.ask(agent, text);
        assert!(matches!(found, MayMatch::Yes(_)), "{text}: {found:?}");
    }

    fn lets(&self, agent: Agent, text: &str) {
        assert_eq!(self.ask(agent, text), MayMatch::No, "{text}");
    }

    fn is_unknown(&self, agent: Agent, text: &str) {
        let found = self.ask(agent, text);
        assert!(matches!(found, MayMatch::Unknown(_)), "{text}: {found:?}");
    }
}

const CLAUDE: &[&str] = &["/opt/claude", "-p", "go"];
const CODEX: &[&str] = &[
    "/opt/codex",
    "exec",
    "-c",
    "sandbox_mode=\"danger-full-access\"",
    "go",
];
const GEMINI: &[&str] = &[
    "node",
    "/opt/lib/node_modules/.bin/gemini",
    "--approval-mode",
    "yolo",
];
const COPILOT: &[&str] = &[
    "/opt/@github/copilot-linux-x64/copilot",
    "-p",
    "go",
    "--allow-all-tools",
];

/// Spellings of a line that runs `touch x`, among other things.
const TOUCHING: &[&str] = &[
    "touch x",
    "  touch   x ",
    "cd sub && touch x",
    "make; touch x",
    "make | touch x",
    "make &\ntouch x",
    "timeout 5 touch x",
    "env A=1 touch x",
    "A=1 touch x",
    "/usr/bin/touch x",
    "'touch' x",
    "to\"uc\"h x",
    "to\\uch x",
    "to\\\nuch x",
    "\\touch x",
    "$'touch' x",
    "$'\\x74ouch' x",
    "T=touch; $T x",
    "(touch x)",
    "{ touch x; }",
    "if true; then touch x; fi",
    "$(touch x)",
    "echo `touch x`",
    "bash -c 'touch x'",
    "bash -c \"bash -c 'touch x'\"",
    "sh <<'E'\ntouch x\nE",
    "find . -exec touch {} +",
    "echo x | xargs touch",
    "eval touch x",
    "pytest>/dev/null;touch x",
    "TOUCH x",
];

/// Lines that do not.
const OTHERS: &[&str] = &[
    "pytest -q",
    "cargo test --workspace -- untouched",
    "npm run retouch",
];

#[test]
fn claude_code_holds_to_its_rules_of_every_layer_and_flag() {
    let deny = r#"{"permissions":{"deny":["Bash(touch:*)"]}}"#;
    let ask = r#"{"permissions":{"ask":["Bash(touch *)"]}, // why
        }"#;
    let layers = [
        ("etc/claude-code/managed-settings.json", deny),
        ("etc/claude-code/managed-settings.d/10-team.json", ask),
        ("home/.claude/settings.json", deny),
        ("home/.claude/remote-settings.json", deny),
        ("home/app/.claude/settings.json", ask),
        ("home/app/.claude/settings.local.json", deny),
    ];
    let mut machines: Vec<Machine> = layers
        .iter()
        .map(|one| Machine::new(CLAUDE, &[*one]))
        .collect();
    for flags in [
        &["--disallowedTools", "Bash(touch:*)"][..],
        &[
            "--disallowed-tools",
            "Edit(/x)",
            "Bash(touch *)",
            "--verbose",
        ],
        &["--disallowedTools=WebFetch,Bash(touch:*)"],
        &["--disallowedTools", "WebFetch Bash(touch*),Agent"],
        &["--settings", deny],
        &["--settings", "given.json"],
    ] {
        let command = [CLAUDE, flags].concat();
        machines.push(Machine::new(&command, &[("home/app/given.json", deny)]));
    }
    for machine in &machines {
        for text in TOUCHING {
            machine.stops(Agent::ClaudeCode, text);
        }
        for text in OTHERS {
            machine.lets(Agent::ClaudeCode, text);
        }
    }
}

#[test]
fn claude_codes_rules_about_files_hold_commands_too() {
    let rules = r#"{"permissions":{"deny":["Read(./.env)","Edit(~/notes/**)","Read(//srv/**/*.pem)","WebFetch(domain:x.org)","mcp__shop"]}}"#;
    let machine = Machine::new(CLAUDE, &[("home/.claude/settings.json", rules)]);
    for text in [
        "cat .env",
        "cd notes && make",
        "openssl x509 -in a.pem",
        "source ./.env; pytest",
    ] {
        machine.stops(Agent::ClaudeCode, text);
    }
    machine.lets(Agent::ClaudeCode, "pytest -q");
    let all = Machine::new(
        CLAUDE,
        &[(
            "home/.claude/settings.json",
            r#"{"permissions":{"ask":["Bash"]}}"#,
        )],
    );
    all.stops(Agent::ClaudeCode, "pytest -q");
}

#[test]
fn what_cannot_be_read_is_never_a_no() {
    for files in [
        &[("home/.claude/settings.json", "{")][..],
        &[(
            "home/.claude/settings.json",
            r#"{"permissions":{"deny":"Bash(x)","ask":[1]}}"#,
        )],
        &[(
            "home/.claude/settings.json",
            r#"{"permissions":{"deny":["Bash(touch"]}}"#,
        )],
        &[("home/app/.claude/settings.json/x", "a directory")],
        &[(
            "home/.claude/settings.json",
            r#"{"sandbox":{"enabled":true}}"#,
        )],
        &[(
            "home/.claude/settings.json",
            r#"{"permissions":{"defaultMode":"plan"}}"#,
        )],
    ] {
        Machine::new(CLAUDE, files).is_unknown(Agent::ClaudeCode, "pytest");
    }
    let hidden = Machine {
        processes: Err("hidden".into()),
        ..Machine::new(CLAUDE, &[])
    };
    hidden.is_unknown(Agent::ClaudeCode, "pytest");
    Machine::new(&["/opt/other"], &[]).is_unknown(Agent::ClaudeCode, "pytest");
    Machine::new(&["claude", "", "", ""], &[]).is_unknown(Agent::ClaudeCode, "pytest");
    for mode in ["plan", "dontAsk"] {
        let closed = Machine {
            mode: Some(mode),
            ..Machine::new(CLAUDE, &[])
        };
        closed.is_unknown(Agent::ClaudeCode, "pytest");
    }
    // No rules read, none there: even what cannot be taken apart is free of them.
    Machine::new(CLAUDE, &[]).lets(Agent::ClaudeCode, "$CMD x");
    let some = Machine::new(
        CLAUDE,
        &[(
            "home/.claude/settings.json",
            r#"{"permissions":{"deny":["Bash(touch:*)"]}}"#,
        )],
    );
    some.is_unknown(Agent::ClaudeCode, "$(cat name) x");
    for agent in Agent::ALL.into_iter().filter(|agent| !agent.can_contain()) {
        Machine::new(CLAUDE, &[]).is_unknown(agent, "pytest");
    }
}

#[test]
fn codex_holds_to_its_rules() {
    let plain = "# none\nprefix_rule(pattern=[\"touch\"], decision='forbidden', justification=\"no, (never)\", match=[\"touch x\"])\n";
    let several = "prefix_rule(\n  pattern = [[\"rsync\", \"touch\"], ],\n  decision = \"prompt\",\n)\nhost_executable(name=\"git\", paths=[\"/usr/bin/git\"])\n";
    let required = "[rules]\nprefix_rules = [{ pattern = [{ any_of = [\"touch\", \"x\"] }], decision = \"forbidden\" }]\n";
    for file in [
        ("home/.codex/rules/default.rules", plain),
        ("etc/codex/rules/a.rules", several),
        ("home/app/.codex/rules/a.rules", plain),
        ("etc/codex/requirements.toml", required),
    ] {
        let machine = Machine::new(CODEX, &[file]);
        for text in TOUCHING {
            machine.stops(Agent::Codex, text);
        }
        for text in OTHERS {
            machine.lets(Agent::Codex, text);
        }
    }
    let machine = Machine::new(
        CODEX,
        &[(
            "home/.codex/rules/a.rules",
            "prefix_rule(pattern=[\"git\",\"push\",[\"--force\",\"-f\"]], decision=\"forbidden\")\nprefix_rule(pattern=[\"make\"])",
        )],
    );
    machine.lets(Agent::Codex, "make touchpad");
    machine.stops(Agent::Codex, "git push -f origin main");
    machine.lets(Agent::Codex, "git push origin main");
    machine.lets(Agent::Codex, "make all");
    machine.stops(Agent::Codex, "make && rm -rf build");
    for text in [
        "x = 'touch'\nprefix_rule(pattern=[x], decision='forbidden')",
        "def f():\n  pass",
        "prefix_rule(pattern=['a' + 'b'], decision='forbidden')",
        "prefix_rule(pattern=['a'], decision='forbidden'",
        "load('x', 'y')",
        "prefix_rule(pattern=['''a'''])",
    ] {
        Machine::new(CODEX, &[("home/.codex/rules/a.rules", text)])
            .is_unknown(Agent::Codex, "pytest");
    }
    // It makes a sandbox of its own unless it is told not to.
    Machine::new(&["codex", "exec", "go"], &[]).is_unknown(Agent::Codex, "pytest");
    Machine::new(&["codex", "-s", "workspace-write"], &[]).is_unknown(Agent::Codex, "pytest");
    let config = [(
        "home/.codex/config.toml",
        "sandbox_mode = \"danger-full-access\"",
    )];
    Machine::new(&["codex"], &config).lets(Agent::Codex, "pytest");
    Machine::new(&["codex", "--sandbox=read-only"], &config).is_unknown(Agent::Codex, "pytest");
}

#[test]
fn odd_spellings_of_rules_are_never_a_no() {
    let claude = |rule: &str| {
        format!(
            r#"{{"permissions":{{"deny":[{}]}}}}"#,
            serde_json::json!(rule)
        )
    };
    for (rule, text) in [
        ("bash(touch:*)", "touch x"),
        ("BASH", "ls"),
        ("*", "ls"),
        ("B*(touch x)", "touch x"),
        ("Bash( touch x )", "touch x"),
        ("Bash(touch\tx)", "touch x"),
        ("Bash(touch*)", "sudo -u me touch x"),
        ("Bash(touch:*)", "env A=1 nice -n 5 touch x"),
        ("Bash(touch:*)", "t''ou\"c\"h x"),
        ("Bash(touch:*)", "true && { touch x; }"),
        ("Bash(touch:*)", "echo $(touch x)"),
        ("Bash(touch:*)", "cat <(touch x)"),
        ("Bash(touch:*)", "echo a | xargs touch"),
        ("Bash(touch:*)", "find . -exec touch {} +"),
        ("Bash(touch:*)", "bash -c 'touch x'"),
        ("Bash(touch:*)", "$'\\x74ouch' x"),
        ("Bash(touch:*)", "t=touch; $t x"),
        ("Bash(touch:*)", "if true; then\n  touch x\nfi"),
        ("Bash(git push:*)", "git -C . push origin"),
        ("Bash(git push:*)", "git    push"),
        ("Bash(npm run \"x y\":*)", "npm run 'x y'"),
        ("Read(./secrets/**)", "cat secrets/a"),
        ("Edit(.env)", "echo x > .env"),
    ] {
        let machine = Machine::new(
            &["claude"],
            &[("home/.claude/settings.json", &claude(rule))],
        );
        let found = machine.ask(Agent::ClaudeCode, text);
        assert_ne!(found, MayMatch::No, "claude: {rule}: {text}");
    }
    for flags in [
        &["--disallowedTools", "Bash(rm:*),Bash(touch:*)"][..],
        &["--disallowedTools=Bash(touch:*)"],
        &["--disallowed-tools", "Read", "Bash(touch *)"],
        &[
            "-p",
            "x",
            "--disallowedTools",
            "Bash(rm:*) Bash(touch:*)",
            "--verbose",
        ],
        &["--settings", r#"{"permissions":{"ask":["Bash(touch:*)"]}}"#],
        &["--settings", "/nowhere.json"],
        &["--permission-prompts", "none"],
    ] {
        let command = [&["claude"], flags].concat();
        let found = Machine::new(&command, &[]).ask(Agent::ClaudeCode, "touch x");
        assert_ne!(found, MayMatch::No, "claude: {flags:?}");
    }
    let subagent = [(
        "home/app/.claude/agents/a.md",
        "---\nname: a\ndisallowedTools: Bash(touch:*)\n---\n",
    )];
    let machine = Machine::new(&["claude"], &subagent);
    assert_ne!(machine.ask(Agent::ClaudeCode, "touch x"), MayMatch::No);
    for flags in [
        &["--deny-tool", "shell(touch)"][..],
        &["--deny-tool=Shell(touch:*)"],
        &["--deny-tool", "write", "--allow-all-paths"],
        &["--allow-all-paths", "--deny-tool", "shell"],
    ] {
        let command = [&["copilot"], flags].concat();
        let found = Machine::new(&command, &[]).ask(Agent::Copilot, "touch x");
        assert_ne!(found, MayMatch::No, "copilot: {flags:?}");
    }
    for policy in [
        "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"touch\"\ndecision = \"deny\"\n",
        "[[rule]]\ntoolName = [\"x\", \"run_*\"]\ncommandPrefix = [\"rm\", \"touch\"]\ndecision = \"ask_user\"\n",
        "[[rule]]\ndecision = \"deny\"\n",
        "[[rule]]\ntoolName = \"*\"\nargsPattern = \"touch\"\ndecision = \"deny\"\n",
        "rule = 3\n",
        "[[rule]\n",
    ] {
        let machine = Machine::new(&["gemini"], &[("home/.gemini/policies/a.toml", policy)]);
        let found = machine.ask(Agent::Gemini, "touch x");
        assert_ne!(found, MayMatch::No, "gemini: {policy}");
    }
    for rules in [
        "prefix_rule(pattern=[\"touch\"], decision=\"forbidden\")",
        "prefix_rule(\n  pattern = [[\"rm\", \"touch\"]],\n  decision = \"prompt\",\n)",
        "x = \"touch\"\nprefix_rule(pattern=[x], decision=\"forbidden\")",
        "prefix_rule(pattern=[\"/usr/bin/touch\"], decision=\"forbidden\")",
    ] {
        let machine = Machine::new(
            &["codex", "--yolo"],
            &[("home/.codex/rules/default.rules", rules)],
        );
        let found = machine.ask(Agent::Codex, "touch x");
        assert_ne!(found, MayMatch::No, "codex: {rules}");
    }
}

#[test]
fn gemini_holds_to_its_policies_and_settings() {
    let policy = "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"touch\"\ndecision = \"deny\"\npriority = 900\n";
    let list = "[[rule]]\ntoolName = [\"write_file\", \"run_*\"]\ncommandPrefix = [\"rsync\", \"touch x\", \"touch\"]\ndecision = \"ask_user\"\n";
    for file in [
        ("home/.gemini/policies/a.toml", policy),
        ("etc/gemini-cli/policies/a.toml", list),
        ("home/.gemini/extensions/one/policies/a.toml", policy),
        (
            "home/.gemini/settings.json",
            r#"{"tools":{"exclude":["run_shell_command(touch)"]}}"#,
        ),
        (
            "home/app/.gemini/settings.json",
            r#"{"excludeTools":["ShellTool(touch)"]}"#,
        ),
        (
            "home/.gemini/extensions/one/gemini-extension.json",
            r#"{"excludeTools":["run_shell_command(touch)"]}"#,
        ),
    ] {
        let machine = Machine::new(GEMINI, &[file]);
        for text in TOUCHING {
            machine.stops(Agent::Gemini, text);
        }
        // A prefix of letters: `touchpad` begins with it.
        for text in ["pytest -q", "npm run retouch"] {
            machine.lets(Agent::Gemini, text);
        }
    }
    for text in [
        "[[rule]]\ncommandRegex = \"t.*h\"\ndecision = \"deny\"\ntoolName = \"run_shell_command\"",
        "[[rule]]\ntoolName = \"*\"\nargsPattern = \"x\"\ndecision = \"ask_user\"",
        "[[rule]]\ndecision = \"deny\"",
    ] {
        Machine::new(GEMINI, &[("home/.gemini/policies/a.toml", text)])
            .stops(Agent::Gemini, "pytest");
    }
    let other = "[[rule]]\ntoolName = \"write_file\"\ndecision = \"deny\"\n[[rule]]\ntoolName = \"run_shell_command\"\ndecision = \"allow\"\n";
    Machine::new(GEMINI, &[("home/.gemini/policies/a.toml", other)]).lets(Agent::Gemini, "pytest");
    Machine::new(GEMINI, &[("home/.gemini/policies/a.toml", "[[rule")])
        .is_unknown(Agent::Gemini, "pytest");
    let only = r#"{"tools":{"core":["read_file","run_shell_command(git)"]}}"#;
    Machine::new(GEMINI, &[("home/.gemini/settings.json", only)]).stops(Agent::Gemini, "pytest");
    let flags = [GEMINI, &["--policy", "rules/p.toml"]].concat();
    Machine::new(&flags, &[("home/app/rules/p.toml", policy)]).stops(Agent::Gemini, "touch x");
}

#[test]
fn copilot_holds_to_its_flags() {
    for flags in [
        &["--deny-tool", "shell(touch)"][..],
        &["--deny-tool=shell(touch:*)"],
        &["--deny-tool", "shop(buy)", "shell(touch)", "--model", "x"],
        &["--deny-tool", "shell(rm), shell(touch)"],
    ] {
        let machine = Machine::new(&[COPILOT, flags, &["--allow-all-paths"]].concat(), &[]);
        for text in TOUCHING {
            machine.stops(Agent::Copilot, text);
        }
        machine.lets(Agent::Copilot, "pytest -q");
    }
    let plain = Machine::new(
        COPILOT,
        &[(
            "home/.copilot/settings.json",
            r#"{"deniedUrls":["https://*.evil.example/x"],"theme":"a"}"#,
        )],
    );
    plain.lets(Agent::Copilot, "pytest -q > /dev/null");
    plain.stops(Agent::Copilot, "curl https://a.evil.example");
    plain.stops(Agent::Copilot, "pytest ../other");
    plain.stops(Agent::Copilot, "python3 /srv/x.py");
    Machine::new(&[COPILOT, &["--deny-tool", "shell"]].concat(), &[])
        .stops(Agent::Copilot, "pytest");
    let newer = r#"{"permissions":{"denyTools":["shell(x)"]}}"#;
    Machine::new(
        COPILOT,
        &[("home/app/.github/copilot/settings.json", newer)],
    )
    .is_unknown(Agent::Copilot, "pytest");
}

fn spelt() -> impl Strategy<Value = (String, String)> {
    // A word, and a way to write it.
    ("[a-z]{2,7}", 0..6_u8).prop_map(|(word, way)| {
        let (head, tail) = word.split_at(1);
        let written = match way {
            0 => format!("'{word}'"),
            1 => format!("\"{word}\""),
            2 => format!("{head}''{tail}"),
            3 => format!("\\{head}{tail}"),
            4 => format!("{head}\"{tail}\""),
            _ => word.clone(),
        };
        (word, written)
    })
}

fn command() -> impl Strategy<Value = (Vec<String>, String)> {
    prop::collection::vec(spelt(), 1..4).prop_map(|words| {
        let (plain, written): (Vec<String>, Vec<String>) = words.into_iter().unzip();
        (plain, written.join(" "))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_rule_that_matches_any_part_is_never_answered_no(
        commands in prop::collection::vec(command(), 1..4),
        joins in prop::collection::vec(0..6_usize, 4),
        chosen in any::<prop::sample::Index>(),
        length in any::<prop::sample::Index>(),
        form in 0..3_u8,
    ) {
        let separators = [" && ", ";", " | ", " || ", "\n", " & "];
        let mut text = String::new();
        for (index, (_, written)) in commands.iter().enumerate() {
            if index > 0 {
                text.push_str(separators[joins[index]]);
            }
            text.push_str(written);
        }
        let words = &commands[chosen.index(commands.len())].0;
        let words = &words[..=length.index(words.len())];
        let prefix = words.join(" ");
        let rule = match form {
            0 => format!("Bash({prefix}:*)"),
            1 => format!("Bash({prefix} *)"),
            _ => format!("Bash({prefix}*)"),
        };
        let settings = serde_json::json!({"permissions": {"deny": [rule]}}).to_string();
        let machine = Machine::new(CLAUDE, &[("home/.claude/settings.json", settings.as_str())]);
        prop_assert_ne!(machine.ask(Agent::ClaudeCode, &text), MayMatch::No, "{}", text);
        let listed: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
        let rules = format!("prefix_rule(pattern=[{}], decision=\"forbidden\")", listed.join(","));
        let machine = Machine::new(CODEX, &[("home/.codex/rules/a.rules", rules.as_str())]);
        prop_assert_ne!(machine.ask(Agent::Codex, &text), MayMatch::No, "{}", text);
        let policy = format!("[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = {prefix:?}\ndecision = \"deny\"\n");
        let machine = Machine::new(GEMINI, &[("home/.gemini/policies/a.toml", policy.as_str())]);
        prop_assert_ne!(machine.ask(Agent::Gemini, &text), MayMatch::No, "{}", text);
        let denied = format!("shell({prefix}:*)");
        let machine = Machine::new(&[COPILOT, &["--deny-tool", &denied]].concat(), &[]);
        prop_assert_ne!(machine.ask(Agent::Copilot, &text), MayMatch::No, "{}", text);
    }
}
