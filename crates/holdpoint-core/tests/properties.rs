//! The invariants of the judge, for any policy, session and call a generator can make up.
//!
//! The generators draw from a small vocabulary on purpose: rules and calls must meet often enough
//! for a broken invariant to show.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test may fail loudly and read how many cases to try"
)]

use holdpoint_core::policy::{Authority, Profile, Source, Trust};
use holdpoint_core::text::{Origin, Severity};
use holdpoint_core::{
    Decision, DefaultPolicy, Mark, Method, Policy, Session, SessionState, StrictValue,
    Surroundings, Suspensions, ToolCall, Verdict, judge_call,
};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

const TOOLS: &[&str] = &[
    "Bash",
    "cli_based_tool",
    "Read",
    "Write",
    "delete_file",
    "mcp__x__run",
    "search",
];
const COMMANDS: &[&str] = &[
    "git status",
    "git push origin main",
    "git push --force",
    "ls",
    "ls -la src",
    "rm -rf build",
    "rm file",
    "sudo ls",
    "curl http://x",
    "echo rm -rf /",
    "cat /etc/passwd",
    "make test",
    "echo 'a; b'",
    "npm test > out.txt",
    "$X y",
    "FOO=1 ls",
    "rm -rf /",
    "git push --force origin main",
];
/// What only a person may do.
const OWN: &[&str] = &[
    "holdpoint approve 1",
    "holdpoint permissions allow '*'",
    "holdpoint trust",
    "holdpoint uninstall claude-code",
    "HOLDPOINT_POLICY=x claude",
    "echo x > .claude/settings.json",
    "pkill holdpoint",
];
const PATTERNS: &[&str] = &[
    "*",
    "git *",
    "git push*",
    "* --force",
    "rm *",
    "rm -rf *",
    "ls",
    "ls *",
    "sudo *",
    "echo *",
    "cat *",
    "Read(*",
    "Write(*",
    "mcp__x__*",
    "search(*",
    "make *",
    "npm test > *",
    "curl *",
];
const VALUES: &[&str] = &["git", "rm -rf", "sudo", "/etc", "--force", "ls", "curl"];

fn command() -> impl Strategy<Value = String> {
    let joined = prop::collection::vec(
        (
            select(COMMANDS),
            select(&[" ; ", " && ", " | ", " || ", "\n"][..]),
        ),
        1..4,
    )
    .prop_map(|parts| {
        let mut line = String::new();
        for (index, (part, joint)) in parts.iter().enumerate() {
            if index > 0 {
                line.push_str(joint);
            }
            line.push_str(part);
        }
        line
    });
    prop_oneof![
        4 => joined.clone(),
        1 => joined.clone().prop_map(|line| format!("bash -c '{}'", line.replace('\'', ""))),
        1 => joined.prop_map(|line| format!("echo $({line})")),
        1 => "[a-z|;&$'\" ()\\\\<>*]{0,20}",
    ]
}

fn call() -> impl Strategy<Value = ToolCall> {
    let shell = (select(&["Bash", "cli_based_tool"][..]), command())
        .prop_map(|(tool, line)| (tool.to_owned(), json!({ "command": line })));
    let file = (
        select(TOOLS),
        select(&["a.txt", "/etc/passwd", "../x", ".env", "src/main.rs"][..]),
    )
        .prop_map(|(tool, path)| (tool.to_owned(), json!({ "file_path": path })));
    let other = (select(TOOLS), select(&["bug", "x, y=1", "rm -rf /"][..]))
        .prop_map(|(tool, text)| (tool.to_owned(), json!({ "query": text, "command": text })));
    prop_oneof![3 => shell, 1 => file, 1 => other]
        .prop_map(|(tool, input)| ToolCall::new(tool, input).unwrap())
}

fn list() -> impl Strategy<Value = Value> {
    (
        prop::collection::vec(select(TOOLS), 0..2),
        prop::collection::vec(select(PATTERNS), 0..3),
        prop::collection::vec(select(VALUES), 0..2),
    )
        .prop_map(|(tools, patterns, values)| {
            json!({ "tools": tools, "patterns": patterns, "arguments": { "Bash": { "command": values } } })
        })
}

fn policy_text() -> impl Strategy<Value = Value> {
    let default = select(&["allow", "defer", "notify", "ask", "review", "deny", "-"][..]);
    let autonomy = select(&["-", "-", "-", "full", "supervised", "readonly", "locked"][..]);
    let supervision = select(
        &[
            "-",
            "automatic",
            "notify",
            "contain",
            "confirm",
            "manual",
            "deny",
        ][..],
    );
    let profile = select(&["-", "-", "strict", "hooks", "obra", "balanced"][..]);
    let words = (default, autonomy, supervision, profile);
    (words, list(), list(), list(), any::<bool>(), guards()).prop_map(
        |((default, autonomy, supervision, profile), deny, ask, allow, sanitized, guards)| {
            let mut text = json!({
                "deny": deny, "ask": ask, "allow": allow,
                "sanitization": { "enabled": sanitized, "block_shell_metacharacters": false },
                "files": { "write": { "deny": [".env"], "allow": ["src/*"] }, "read": { "ask": ["passwd"] } },
            });
            let map = text.as_object_mut().unwrap();
            for (key, word) in [("defaultPolicy", default), ("autonomy", autonomy), ("profile", profile)] {
                if word != "-" {
                    map.insert(key.into(), json!(word));
                }
            }
            if !guards.is_null() {
                map.insert("guards".into(), guards);
            }
            if supervision != "-" {
                map.insert("tools".into(), json!({ "B*": { "supervision": supervision }, "Read": { "maxCalls": 2 } }));
            }
            text
        },
    )
}

/// What a file says about the rule packs; mostly nothing.
fn guards() -> impl Strategy<Value = Value> {
    prop_oneof![
        6 => Just(Value::Null),
        1 => Just(json!({ "enabled": false })),
        1 => Just(json!({ "enabled": true })),
        1 => Just(json!({ "packs": { "filesystem": "off", "agents": "off" } })),
        1 => Just(json!({ "rules": { "git.push": "deny", "git.force-push-shared": "ask" } })),
        1 => Just(json!({ "generated": ["build", "src"] })),
        1 => Just(json!({ "packs": { "filesystem": "contain" }, "rules": { "git.push": "contain" } })),
    ]
}

/// Whether a file speaks of the rule packs, by itself or by the profile it extends.
fn speaks_of_guards(text: &Value) -> bool {
    text.get("guards").is_some() || text.get("profile").is_some()
}

fn session() -> impl Strategy<Value = SessionState> {
    let word = select(
        &[
            "*", "git *", "rm *", "Bash", "Read", "B*", "sudo *", "mcp__*", "ls",
        ][..],
    );
    let default = prop::option::of(select(
        &[
            DefaultPolicy::Allow,
            DefaultPolicy::Defer,
            DefaultPolicy::Ask,
            DefaultPolicy::Deny,
        ][..],
    ));
    (
        prop::collection::vec(word.clone(), 0..3),
        prop::collection::vec(word, 0..2),
        default,
        any::<(bool, bool, bool)>(),
    )
        .prop_map(|(allow, deny, default, (turn, idle, all))| SessionState {
            allow: allow.into_iter().map(str::to_owned).collect(),
            deny: deny.into_iter().map(str::to_owned).collect(),
            default,
            suspended: Suspensions { turn, idle, all },
            turn: None,
            calls: Default::default(),
            released: Default::default(),
            tests_passed: false,
            testing: Vec::new(),
            mark: None,
            plan: None,
        })
}

fn mark(severity: Severity) -> Mark {
    Mark {
        time: "2026-11-16T10:00:00Z".into(),
        origin: Origin::Web,
        tool: Some("WebFetch".into()),
        severity,
        record: Some(1),
        earlier: Vec::new(),
    }
}

fn source(authority: Authority, trust: Trust, text: &Value) -> Source {
    Source {
        name: authority.as_str().into(),
        authority,
        trust,
        bytes: text.to_string().into_bytes(),
    }
}

fn compile(sources: Vec<Source>) -> Policy {
    Policy::compile(sources).unwrap()
}

fn user(text: &Value) -> Source {
    source(Authority::User, Trust::Trusted, text)
}

fn decide(call: &ToolCall, policy: &Policy, state: &SessionState) -> Decision {
    decide_for(true, call, policy, state)
}

/// What is decided for a caller who can contain a command, or cannot.
fn decide_for(
    can_contain: bool,
    call: &ToolCall,
    policy: &Policy,
    state: &SessionState,
) -> Decision {
    let around = Surroundings {
        workspace: Some("/ws"),
        can_contain,
        ..Surroundings::nowhere()
    };
    judge_call(call, policy, &Session::new(state.clone()), &around)
}

/// Something a program may be given to do something to.
fn an_operand() -> impl Strategy<Value = &'static str> {
    select(
        &[
            "build",
            "src",
            "~",
            "/",
            "/etc",
            "../x",
            "$X",
            "*",
            "node_modules",
            ".env",
            "secrets",
            "secrets/a",
            "config",
            "'a b'",
            "./x",
        ][..],
    )
}

/// A refusal by a rule, as opposed to a default nobody's rule spoke against.
/// Whether a rule of a pack decided, or Holdpoint itself, and no rule of a file.
fn is_packs_own(decision: &Decision) -> bool {
    matches!(decision.method, Method::Guard | Method::FileGuard)
        && decision
            .findings
            .first()
            .is_none_or(|finding| finding.layer.is_none())
}

fn refused_by_rule(decision: &Decision) -> bool {
    decision.verdict == Verdict::Deny && decision.method != Method::Default
}

/// Cases a property is tried on: few in a debug build's everyday run, as many as asked for else.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES")
        .ok()
        .and_then(|cases| cases.parse().ok())
        .unwrap_or(300)
}

/// How strict a decision is. A person who suspends questions has said that notices may go too.
fn strictness(decision: &Decision) -> Verdict {
    let suspended = matches!(
        decision.method,
        Method::AllowAll | Method::TurnSuspension | Method::IdleSuspension
    );
    if suspended {
        Verdict::Notify
    } else {
        decision.verdict
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn deny_is_absolute_under_any_session(text in policy_text(), call in call(), state in session()) {
        let policy = compile(vec![user(&text)]);
        if refused_by_rule(&decide(&call, &policy, &SessionState::default())) {
            prop_assert_eq!(decide(&call, &policy, &state).verdict, Verdict::Deny);
        }
    }

    #[test]
    fn the_sandbox_answers_questions_and_nothing_else(
        text in policy_text(),
        above in policy_text(),
        managed in any::<bool>(),
        call in call(),
        state in session(),
    ) {
        let mut sources = vec![user(&text)];
        sources.extend(managed.then(|| source(Authority::Managed, Trust::Trusted, &above)));
        let policy = compile(sources);
        let asked = decide_for(false, &call, &policy, &state);
        let contained = decide_for(true, &call, &policy, &state);
        prop_assert_ne!(asked.verdict, Verdict::Contain);
        // Whoever suspends questions has not said that what can be contained may run as it is.
        let is_question = asked.verdict == Verdict::Ask || strictness(&asked) != asked.verdict;
        prop_assert!(
            contained.verdict == asked.verdict
                || (contained.verdict == Verdict::Contain && is_question),
            "{} became {}", asked.verdict.as_str(), contained.verdict.as_str()
        );
        let is_command = matches!(call.tool(), "Bash" | "cli_based_tool");
        prop_assert!(is_command || contained.verdict != Verdict::Contain);
    }

    #[test]
    fn deny_is_absolute_under_any_other_layer(
        text in policy_text(),
        other in policy_text(),
        call in call(),
        state in session(),
        above in any::<bool>(),
        trusted in any::<bool>(),
    ) {
        let alone = compile(vec![user(&text)]);
        let before = decide(&call, &alone, &SessionState::default());
        // A pack's own refusal is no rule of a file: a trusted file may switch the pack, unless a
        // layer above says that the packs are in force.
        let switched = is_packs_own(&before)
            && (above || trusted)
            && speaks_of_guards(&other)
            && text["guards"]["enabled"] != json!(true);
        if refused_by_rule(&before) && !switched {
            let trust = if trusted { Trust::Trusted } else { Trust::Untrusted };
            let extra = if above {
                source(Authority::Managed, Trust::Trusted, &other)
            } else {
                source(Authority::Project, trust, &other)
            };
            let both = compile(vec![user(&text), extra]);
            prop_assert_eq!(decide(&call, &both, &state).verdict, Verdict::Deny);
        }
    }

    #[test]
    fn no_policy_and_no_session_lets_an_agent_change_the_gate(
        managed in prop::option::of(policy_text()),
        own in policy_text(),
        line in select(OWN),
        state in session(),
    ) {
        let mut sources = vec![user(&own)];
        sources.extend(managed.map(|text| source(Authority::Managed, Trust::Trusted, &text)));
        let decision = decide(&ToolCall::shell(line), &compile(sources), &state);
        prop_assert_eq!(decision.verdict, Verdict::Deny, "{}: {:?}", line, decision);
    }

    #[test]
    fn deny_is_absolute_whatever_profile_the_file_extends(
        text in policy_text(),
        call in call(),
        profile in select(Profile::ALL.to_vec()),
    ) {
        let mut plain = text.clone();
        plain.as_object_mut().unwrap().remove("profile");
        let alone = compile(vec![user(&plain)]);
        let decision = decide(&call, &alone, &SessionState::default());
        if decision.verdict == Verdict::Deny && decision.method == Method::Blacklist {
            let mut extended = plain.clone();
            extended["profile"] = json!(profile.name());
            let policy = compile(vec![user(&extended)]);
            prop_assert_eq!(decide(&call, &policy, &SessionState::default()).verdict, Verdict::Deny);
        }
    }

    #[test]
    fn no_suspension_releases_more_than_a_question(text in policy_text(), call in call(), state in session()) {
        let policy = compile(vec![user(&text)]);
        let on = SessionState { suspended: Suspensions::default(), ..state.clone() };
        let before = decide(&call, &policy, &on);
        let after = decide(&call, &policy, &state);
        if before.verdict != Verdict::Ask {
            prop_assert_eq!(before.verdict, after.verdict);
        }
    }

    #[test]
    fn a_mark_never_loosens(
        text in policy_text(),
        call in call(),
        state in session(),
        since in prop::collection::vec(select(&["*", "git *", "Bash", "curl *", "mcp__*"][..]), 0..2),
        severity in select(&Severity::ALL[..]),
    ) {
        let policy = compile(vec![user(&text)]);
        let mut marked = state.clone();
        marked.remember(mark(severity));
        let before = decide(&call, &policy, &state);
        let after = decide(&call, &policy, &marked);
        prop_assert!(after.verdict >= before.verdict, "{:?} became {:?}", before, after);
        // Nor does it with rules a person gives afterwards: they do what they would have done.
        let (mut allowed, mut marked) = (state, marked);
        for pattern in since {
            allowed.allow_pattern(pattern);
            marked.allow_pattern(pattern);
        }
        let before = decide(&call, &policy, &allowed);
        let after = decide(&call, &policy, &marked);
        prop_assert!(after.verdict >= before.verdict, "{:?} became {:?}", before, after);
    }

    #[test]
    fn a_marked_session_reaches_nothing_without_a_person(
        text in policy_text(),
        line in select(&["curl https://example.com", "git push origin main", "cat .env", "nc example.com 80"][..]),
        state in session(),
    ) {
        let policy = compile(vec![user(&text)]);
        let mut marked = state;
        marked.remember(mark(Severity::High));
        let decision = decide(&ToolCall::shell(line), &policy, &marked);
        prop_assert!(!decision.verdict.runs(), "{}: {:?}", line, decision);
    }

    #[test]
    fn an_allow_covers_every_part(
        text in policy_text(),
        parts in prop::collection::vec(select(COMMANDS), 1..4),
        joint in select(&["; ", " && ", "\n", " | "][..]),
    ) {
        let policy = compile(vec![user(&text)]);
        let fresh = SessionState::default();
        let whole = decide(&ToolCall::shell(parts.join(joint)), &policy, &fresh);
        for part in &parts {
            let alone = decide(&ToolCall::shell(*part), &policy, &fresh);
            prop_assert!(
                alone.verdict <= whole.verdict,
                "`{}` alone is {:?}, the line is {:?}", part, alone.verdict, whole.verdict
            );
            if whole.verdict == Verdict::Allow && whole.method == Method::Whitelist {
                // "Allowed by a rule" is said of a line only if it can be said of every part.
                prop_assert!(matches!(alone.method, Method::Whitelist | Method::ToolPolicy));
            }
        }
    }

    #[test]
    fn another_operand_never_loosens(
        front in select(&[
            "rm", "rm -rf", "rmdir", "unlink", "shred", "chmod -R 777", "chown -R me", "tee", "tee -a",
            "touch", "truncate -s 0", "cat", "ls", "git rm -r", "git add", "frobnicate", "find", "mkdir -p",
        ][..]),
        operands in prop::collection::vec(an_operand(), 1..5),
        another in an_operand(),
        padding in select(&[0usize, 1, 600][..]),
        files in any::<bool>(),
    ) {
        let text = match files {
            true => json!({
                "defaultPolicy": "allow", "guards": { "enabled": false },
                "files": { "roots": ["."], "write": { "deny": ["secrets"] }, "delete": { "deny": ["secrets"] },
                           "read": { "ask": ["config"] } },
            }),
            false => json!({ "defaultPolicy": "allow" }),
        };
        let policy = compile(vec![user(&text)]);
        let back = if front == "find" { " -exec rm -rf {} +" } else { "" };
        let verdict = |operands: &[&str]| {
            let line = format!("{front} {}{back}", operands.join(" "));
            decide(&ToolCall::shell(line), &policy, &SessionState::default()).verdict
        };
        let before = verdict(&operands);
        for at in [0, operands.len()] {
            let mut more = operands.clone();
            more.splice(at..at, std::iter::once(another).chain(std::iter::repeat_n("build/x", padding)));
            let after = verdict(&more);
            prop_assert!(after >= before, "{} {:?}: {:?}, {:?}: {:?}", front, operands, before, more, after);
        }
    }

    #[test]
    fn adding_a_deny_rule_never_loosens(
        text in policy_text(),
        rule in select(PATTERNS),
        call in call(),
        state in session(),
    ) {
        let before = decide(&call, &compile(vec![user(&text)]), &state);
        let mut more = text.clone();
        more["deny"]["patterns"].as_array_mut().unwrap().push(json!(rule));
        let after = decide(&call, &compile(vec![user(&more)]), &state);
        prop_assert!(after.verdict >= before.verdict, "{:?} became {:?}", before, after);
    }

    #[test]
    fn an_untrusted_project_file_never_loosens(
        managed in prop::option::of(policy_text()),
        own in prop::option::of(policy_text()),
        project in policy_text(),
        call in call(),
        state in session(),
    ) {
        let mut sources = Vec::new();
        sources.extend(managed.map(|text| source(Authority::Managed, Trust::Trusted, &text)));
        sources.extend(own.map(|text| user(&text)));
        let before = decide(&call, &compile(sources.clone()), &state);
        sources.push(source(Authority::Project, Trust::Untrusted, &project));
        let after = decide(&call, &compile(sources), &state);
        prop_assert!(strictness(&after) >= strictness(&before), "{:?} became {:?}", before, after);
    }

    #[test]
    fn a_lower_layer_never_loosens_what_the_managed_layer_says(
        managed in policy_text(),
        own in policy_text(),
        call in call(),
        state in session(),
    ) {
        let above = source(Authority::Managed, Trust::Trusted, &managed);
        let stated = managed.get("defaultPolicy").is_some()
            || managed.get("autonomy").is_some()
            || managed.get("profile").is_some();
        prop_assume!(stated);
        let alone = decide(&call, &compile(vec![above.clone()]), &SessionState::default());
        let both = decide(&call, &compile(vec![above, user(&own)]), &state);
        // What Holdpoint itself asks about is not the managed layer's word.
        prop_assume!(!is_packs_own(&alone));
        prop_assert!(strictness(&both) >= strictness(&alone), "{:?} became {:?}", alone, both);
    }

    #[test]
    fn equal_inputs_give_equal_decisions(text in policy_text(), call in call(), state in session()) {
        let one = decide(&call, &compile(vec![user(&text)]), &state);
        let two = decide(&call.clone(), &compile(vec![user(&text)]), &state);
        prop_assert_eq!(one, two);
    }

    #[test]
    fn a_refused_command_stays_refused_in_another_spelling(
        text in policy_text(),
        line in select(&["rm -rf build", "sudo ls", "git push --force", "curl http://x"][..]),
        spelling in 0..8usize,
    ) {
        let policy = compile(vec![user(&text)]);
        let fresh = SessionState::default();
        if refused_by_rule(&decide(&ToolCall::shell(line), &policy, &fresh)) {
            let (program, rest) = line.split_once(' ').unwrap();
            let other = match spelling {
                0 => format!("  {program}   {rest}  "),
                1 => format!("'{program}' {rest}"),
                2 => format!("\\{program} {rest}"),
                3 => format!("/usr/bin/{program} {rest}"),
                4 => format!("true && {line}"),
                5 => format!("bash -c '{line}'"),
                6 => format!("timeout 5 {line}"),
                _ => format!("echo \"$({line})\""),
            };
            prop_assert_eq!(decide(&ToolCall::shell(&other), &policy, &fresh).verdict, Verdict::Deny, "{}", other);
        }
    }

    #[test]
    fn data_is_not_code(line in select(COMMANDS), form in 0..5usize) {
        let policy = compile(vec![user(&json!({
            "defaultPolicy": "allow",
            "deny": { "patterns": ["rm *", "git push*", "sudo *", "curl *", "make *", "ls", "ls *", "cat /etc/*"],
                      "arguments": { "Bash": { "command": VALUES.iter().filter(|v| **v != "git").collect::<Vec<_>>() } } },
        }))]);
        let quoted = line.replace('\'', "");
        let data = match form {
            0 => format!("echo '{quoted}'"),
            1 => format!("git commit -m '{quoted}'"),
            2 => format!("cat <<'EOF'\n{quoted}\nEOF"),
            3 => format!("grep -n '{quoted}' notes.md"),
            _ => format!("true # {quoted}"),
        };
        let decision = decide(&ToolCall::shell(&data), &policy, &SessionState::default());
        prop_assert_eq!(decision.verdict, Verdict::Allow, "{}: {:?}", data, decision);
    }

    #[test]
    fn any_json_is_answered(text in "\\PC{0,80}", tool in "\\PC{1,12}", json in arbitrary_json()) {
        let _ = Policy::from_text("any", text.as_bytes());
        let _ = Policy::from_text("any", json.to_string());
        let _ = serde_json::from_str::<StrictValue>(&text);
        let policy = compile(vec![user(&json!({ "profile": "adh", "sanitization": { "enabled": true, "path_scope": { "enabled": true } } }))]);
        if let Ok(call) = ToolCall::new(tool, json) {
            let _ = decide(&call, &policy, &SessionState::default());
        }
    }
}

fn arbitrary_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,20}".prop_map(Value::from),
        select(COMMANDS).prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        let key = prop_oneof![
            select(
                &[
                    "command",
                    "args",
                    "path",
                    "deny",
                    "patterns",
                    "tools",
                    "arguments",
                    "files"
                ][..]
            )
            .prop_map(str::to_owned),
            "\\PC{0,6}",
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(key, inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// A disk with links in and out of the directory that is allowed.
struct Linked;

impl holdpoint_core::paths::Lookup for Linked {
    fn entry(&self, path: &str) -> holdpoint_core::paths::Entry {
        use holdpoint_core::paths::Entry;
        match path {
            "/ws/app/src/out" => Entry::Link("../..".into()),
            "/ws/app/src/etc" => Entry::Link("/etc".into()),
            "/ws/app/src/in" => Entry::Link("sub/deep".into()),
            "/ws/app/src/back" => Entry::Link("sub/../out".into()),
            _ => Entry::Missing,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    /// However a path is spelled, a pattern with a wildcard in a path covers what resolves below its
    /// directory and nothing else.
    #[test]
    fn a_wildcard_in_a_path_stays_in_its_directory(
        components in prop::collection::vec(
            select(&["..", ".", "", "a", "b.rs", "out", "etc", "in", "back", "{a,..}", "{..,in}", "'..'", "\\.."][..]),
            1..6,
        ),
        more in select(&["", " src/a", " ../x", " /etc/hostname", " -n", " < src/a", " < ../x"][..]),
        pattern in select(&["cat src/*", "cat ./src/*", "cat /ws/app/src/*", "cat src/*.rs", "cat src/a*"][..]),
    ) {
        let around = Surroundings {
            workspace: Some("/ws/app"),
            directory: Some("/ws/app"),
            home: Some("/home/dev"),
            lookup: &Linked, can_contain: false };
        let directory = pattern.trim_start_matches("cat ").trim_end_matches(['*', '.', 'r', 's', 'a']);
        let directory = if directory.ends_with('/') { directory } else { "src/" };
        let written = format!("cat {directory}{}{more}", components.join("/"));
        let text = json!({"guards": {"enabled": false}, "defaultPolicy": "ask", "allow": {"patterns": [pattern]}});
        let policy = Policy::from_text("test", text.to_string()).unwrap();
        let decision = judge_call(&ToolCall::shell(&written), &policy, &Session::default(), &around);
        // What the shell would hand on, by hand: braces apart, quotes gone.
        let mut paths = vec![format!("{directory}{}", components.join("/")).replace(['\'', '\\'], "")];
        while let Some(at) = paths.iter().position(|path| path.contains('{')) {
            let path = paths.swap_remove(at);
            let (before, rest) = path.split_once('{').unwrap();
            let (choices, after) = rest.split_once('}').unwrap();
            paths.extend(choices.split(',').map(|one| format!("{before}{one}{after}")));
        }
        paths.extend(more.trim_matches([' ', '<']).split(' ').filter(|one| one.contains('/')).map(str::to_owned));
        let leaves = paths.iter().any(|path| {
            !around.resolve(path).is_ok_and(|place| holdpoint_core::paths::is_within(&place, "/ws/app/src"))
        });
        if leaves {
            prop_assert_ne!(decision.verdict, Verdict::Allow, "{} by {}", written, pattern);
        }
    }
}
