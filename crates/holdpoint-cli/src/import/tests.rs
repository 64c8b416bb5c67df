//! What becomes of settings. That policies mean what they should is tried with the program, in `tests/moving.rs`.

use super::*;

fn policy(from: From, name: &str, text: &str) -> (Value, Vec<String>) {
    let imported = Imported::read(from, &[(name.into(), text.as_bytes().to_vec())]).unwrap();
    let remarks = imported.remarks.iter().map(|it| it.place.clone()).collect();
    (Value::Object(imported.policy), remarks)
}

#[test]
fn every_form_of_a_rule_of_claude_code_has_its_place() {
    let (policy, remarks) = policy(
        From::ClaudeCode,
        "settings.json",
        r#"{"permissions": {
            "allow": ["Bash(npm run *)", "Bash(git diff:*)", "Bash(go*)", "Read(src/**)", "Edit(/src/**)",
                "WebFetch(domain:docs.rs)", "WebFetch(domain:*.x.org)", "mcp__box", "mcp__box__get", "Grep", "Agent(x)", "Bash(rm a)"],
            "ask": ["Bash(git push:*)", "mcp__db__*"],
            "deny": ["Bash(curl:*)", "Bash(yarn*)", "Read(./.env)", "Read(./secrets/**)", "Read(~/.ssh/**)",
                "Edit(//etc/**)", "WebFetch(domain:evil.example)", "Skill(deploy)", "Odd(x y)", "Bash(rm *)"],
            "defaultMode": "acceptEdits", "additionalDirectories": ["../x"]}}"#,
    );
    assert_eq!(
        policy["allow"],
        json!({
            "patterns": ["npm run *", "git diff *", "go *", "mcp__box__*"],
            "arguments": {"WebFetch": {"url": ["https://docs.rs/"]}},
            "tools": ["mcp__box__get", "Grep"],
        })
    );
    assert_eq!(
        policy["ask"],
        json!({"patterns": ["git push *", "mcp__db__*"]})
    );
    assert_eq!(
        policy["deny"],
        json!({
            "patterns": ["curl *", "yarn", "yarn?*", "rm *"],
            "arguments": {"Skill": {"skill": ["deploy"]}},
            "tools": ["Odd"],
        })
    );
    assert_eq!(
        policy["files"],
        json!({
            "read": {"allow": ["src/*"], "deny": [".env", "secrets/", "~/.ssh/"]},
            "write": {"deny": ["/etc/"]}, "delete": {"deny": ["/etc/"]},
        })
    );
    assert_eq!(policy["network"], json!({"deny": ["evil.example"]}));
    for place in [
        "Bash(go*)",
        "Edit(/src/**)",
        "WebFetch(domain:*.x.org)",
        "Agent(x)",
        "Odd(x y)",
        "rm a",
        "permissions.defaultMode",
        "permissions.additionalDirectories",
    ] {
        assert!(remarks.iter().any(|it| it == place), "{place}: {remarks:?}");
    }
}

#[test]
fn a_question_is_not_answered_by_an_allow_of_the_same() {
    let (policy, remarks) = policy(
        From::ClaudeCode,
        "settings.json",
        r#"{"permissions": {
            "allow": ["Bash(git push origin *)", "Bash(ls)", "Edit", "Read(src/**)", "WebFetch(domain:docs.rs)"],
            "ask": ["Bash(git push:*)", "Edit", "Read(src/private/**)", "WebFetch(domain:docs.rs)"]}}"#,
    );
    assert_eq!(policy["allow"], json!({"patterns": ["ls"]}));
    assert_eq!(policy["files"], json!({"read": {"ask": ["src/private/"]}}));
    for place in ["git push origin *", "Edit", "src/*", "https://docs.rs/"] {
        assert!(remarks.iter().any(|it| it == place), "{place}: {remarks:?}");
    }
}

#[test]
fn rules_of_adh_add_to_the_profile_and_are_never_looser() {
    let (policy, remarks) = policy(
        From::Adh,
        "policies.yaml",
        "filesystem:\n  write_file:\n    supervision: automatic\n    safety_checks: [unheard_of]\n  all:\n    pattern: \"*\"\n    supervision: deny\n    conditions:\n      - arg_matches: x\n    priority: -1\n  loose:\n    supervision: notify\n    conditions: [{arg_matches: x}]\n",
    );
    let write = policy["tools"]["write_file"].as_array().unwrap();
    assert_eq!(write.len(), 2, "the profile's own rule stays: {write:?}");
    assert_eq!(write[1]["supervision"], "confirm");
    let all = policy["tools"]["*"].as_array().unwrap();
    assert!(
        all.len() > 10 && all.last().unwrap()["supervision"] == "deny",
        "{all:?}"
    );
    assert!(policy["tools"].get("loose").is_none());
    assert_eq!(
        remarks,
        [
            "filesystem.all",
            "filesystem.loose",
            "filesystem.write_file"
        ]
    );
}

#[test]
fn preferences_of_adh_tighten_or_approve() {
    let (policy, _) = policy(
        From::Adh,
        "preferences.yaml",
        "tools:\n  run_shell:\n    supervision: confirm\nauto_approve: [\"read_*\"]\nnever_allow: [\"delete_*\"]\n",
    );
    assert_eq!(policy["ask"]["tools"], json!(["run_shell"]));
    assert_eq!(policy["tools"]["read_*"][0]["supervision"], "automatic");
    let delete = policy["tools"]["delete_*"].as_array().unwrap();
    assert_eq!(delete.last().unwrap()["supervision"], "deny");
}

#[test]
fn a_list_of_hooks_ends_at_its_bracket_alone() {
    let (policy, _) = policy(
        From::Hooks,
        "guard.sh",
        "DENY_PATTERNS=( # first (of two)\n  \"terraform\\s+destroy\"  # all of it (never)\n  'mycloud\\s+wipe' # [x]\n)\n\
         DENY_PATTERNS+=(\"dropall\")\nfor p in \"${DENY_PATTERNS[@]}\"; do echo \"DENY_PATTERNS hit\"; done\n\
         ASK_PATTERNS: list[str] = [r\"a\\.b\", # ]\n]\n",
    );
    assert_eq!(
        policy["deny"]["patterns"],
        json!(["*terraform destroy*", "*mycloud wipe*", "*dropall*"])
    );
    assert_eq!(policy["ask"]["patterns"], json!(["*a.b*"]));
}

#[test]
fn an_expression_of_hooks_is_as_wide_as_it_was() {
    for (expression, glob) in [
        ("--no-verify", "*--no-verify*"),
        ("^git\\s+push", "git push*"),
        ("push\\s*--force$", "*push*--force"),
        ("a.*b.c", "*a*b?c*"),
        ("x[*]", ""),
        ("ab*c", ""),
        (".*", ""),
        ("a|b", ""),
    ] {
        let text = format!("DENY_PATTERNS=('{expression}')\n");
        let (policy, remarks) = policy(From::Hooks, "a.sh", &text);
        if glob.is_empty() {
            assert_eq!(policy["ask"]["patterns"], json!(["*"]), "{expression}");
            assert!(remarks.iter().any(|it| it == expression), "{remarks:?}");
        } else {
            assert_eq!(policy["deny"]["patterns"], json!([glob]), "{expression}");
        }
    }
}

#[test]
fn a_file_of_hooks_is_any_part_of_a_path() {
    let (policy, _) = policy(
        From::Hooks,
        "a.py",
        "BLOCKED_FILES = [\"credentials\", \"prod/\", \"/etc/\"]\n",
    );
    let globs = json!(["*credentials*", "*prod/*", "/*prod/*", "/etc/*", "/*/etc/*"]);
    assert_eq!(policy["files"]["write"]["deny"], globs);
    assert_eq!(policy["files"]["delete"]["deny"], globs);
}

#[test]
fn a_rule_of_adh_has_every_pattern_of_its_list() {
    let (policy, _) = policy(
        From::Adh,
        "a.yaml",
        "shell:\n  gone:\n    pattern: [wipe_a, wipe_b]\n    supervision: deny\n",
    );
    for tool in ["wipe_a", "wipe_b"] {
        assert_eq!(policy["tools"][tool][0]["supervision"], "deny", "{tool}");
    }
    assert!(policy["tools"].get("gone").is_none());
}

#[test]
fn a_word_of_codex_is_itself() {
    let (policy, _) = policy(
        From::Codex,
        "a.rules",
        "prefix_rule(pattern=[\"rm\", \"[ab]\", \"*\"], decision=\"forbidden\")\n",
    );
    assert_eq!(policy["deny"]["patterns"], json!(["rm [[]ab] [*] *"]));
}

#[test]
fn hosts_of_rrclaw_are_all_there_are() {
    let text = "[security]\nhttp_allowed_hosts = [\"docs.rs\"]\n";
    let (listed, remarks) = policy(From::Rrclaw, "a.toml", text);
    assert_eq!(
        listed["network"],
        json!({"private": "deny", "allow": ["docs.rs"], "others": "deny"})
    );
    assert_eq!(remarks, ["security.http_allowed_hosts"]);
    let text = "[security]\nhttp_allowed_hosts = []\n";
    let (_, remarks) = policy(From::Rrclaw, "a.toml", text);
    assert_eq!(remarks, ["security.http_allowed_hosts"]);
}

#[test]
fn what_is_wrong_is_an_error_and_no_policy() {
    for (from, name, text) in [
        (From::ClaudeCode, "a.json", "{}"),
        (
            From::ClaudeCode,
            "a.json",
            r#"{"permissions": {"deny": "Bash"}}"#,
        ),
        (From::Jaato, "a.json", r#"{"defaultPolicy": "maybe"}"#),
        (
            From::Jaato,
            "a.json",
            r#"{"blacklist": {"arguments": {"t": {"a": "x"}}}}"#,
        ),
        (From::Rrclaw, "a.toml", "[security]\nautonomy = \"wild\"\n"),
        (From::Rrclaw, "a.toml", "x = 1\n"),
        (From::Adh, "a.yaml", "a:\n  b:\n    supervision: maybe\n"),
        (From::Adh, "a.yaml", "a: &x {}\nb: *x\n"),
        (From::Adh, "a.yaml", "a:\n  b:\n    pattern: 5\n"),
        (From::Adh, "a.yaml", "a:\n  b:\n    pattern: []\n"),
        (From::Adh, "a.yaml", "a:\n  b:\n    pattern: [x, 5]\n"),
        (From::Hooks, "a.sh", "echo\n"),
        (From::Hooks, "a.sh", "DENY_PATTERNS=(wipe)\n"),
        (From::Hooks, "a.sh", "DENY_PATTERNS=(\"a\"b)\n"),
        (From::Hooks, "a.sh", "DENY_PATTERNS=(\"a\"\n"),
        (From::Hooks, "a.sh", "DENY_PATTERNS=(\"a\n\")\n"),
        (
            From::Hooks,
            "a.sh",
            "ASK_PATTERNS=(\"a\")\nmapfile -t DENY_PATTERNS < x\n",
        ),
        (
            From::Hooks,
            "a.py",
            "DENY_PATTERNS = [\"a\"]\nDENY_PATTERNS.append(\"b\")\n",
        ),
        (From::Hooks, "a.py", "DENY_PATTERNS = [\"a\"] + MORE\n"),
        (From::Hooks, "a.py", "DENY_PATTERNS = [\"a\" \"b\"]\n"),
        (From::Hooks, "a.py", "BLOCKED_FILES = [\"\"]\n"),
        (From::Codex, "a.toml", "approval_policy = \n"),
        (From::Codex, "a.rules", "x = 1\n"),
    ] {
        let read = Imported::read(from, &[(name.into(), text.as_bytes().to_vec())]);
        assert!(
            matches!(read, Err(ImportError::Unread(..))),
            "{text}: {read:?}"
        );
    }
}
