//! Packs of one's own and `guards`: a loaded rule fires, layers switch rules, and none loosens one
//! above it.

#![expect(clippy::unwrap_used, reason = "a test may fail loudly")]

use holdpoint_core::policy::{Authority, LoadedPack, Source, Trust};
use holdpoint_core::{Pack, Policy, Session, Surroundings, ToolCall, Verdict, judge_call};
use proptest::prelude::*;

fn pack(name: &str, program: &str, verdict: &str) -> Pack {
    let text = format!(
        "pack = \"{name}\"\ntitle = \"Ours\"\n[[rule]]\nid = \"{name}.{program}\"\n\
         verdict = \"{verdict}\"\nrisk = \"high\"\nreason = \"Ours\"\ninstead = \"Wait\"\n\
         matches = [\"{program} now\"]\nnot_matches = [\"echo {program}\"]\n\
         [[rule.when]]\nprogram = \"{program}\"\n"
    );
    Pack::own("team.toml", &text).unwrap()
}

fn loaded(authority: Authority, pack: Pack) -> LoadedPack {
    LoadedPack {
        pack,
        authority,
        place: "team.toml".into(),
    }
}

fn layer(authority: Authority, trust: Trust, text: &str) -> Source {
    Source {
        name: authority.as_str().into(),
        authority,
        trust,
        bytes: text.into(),
    }
}

fn guards(authority: Authority, trust: Trust, guards: &str) -> Source {
    let text = format!(r#"{{"defaultPolicy": "defer", "guards": {guards}}}"#);
    layer(authority, trust, &text)
}

fn verdict(policy: &Policy, line: &str) -> Verdict {
    let around = Surroundings {
        workspace: Some("/work/app"),
        home: Some("/home/dev"),
        ..Surroundings::nowhere()
    };
    judge_call(&ToolCall::shell(line), policy, &Session::default(), &around).verdict
}

fn policy(sources: Vec<Source>, packs: Vec<LoadedPack>) -> Policy {
    let policy = Policy::compile(sources).unwrap().with_packs(packs);
    assert_eq!(policy.unknown_guard(), None);
    policy
}

use Authority::{Managed, Project, User};
use Trust::{Trusted, Untrusted};

#[test]
fn a_rule_of_ones_own_fires_and_data_is_still_no_code() {
    let policy = policy(vec![], vec![loaded(User, pack("team", "deploy", "deny"))]);
    for line in [
        "deploy now",
        "sudo dep''loy",
        "bash -c 'deploy x'",
        "D=deploy; $D",
    ] {
        assert_eq!(verdict(&policy, line), Verdict::Deny, "{line}");
    }
    for line in ["echo deploy now", "git commit -m deploy", "ls # deploy"] {
        assert_eq!(verdict(&policy, line), Verdict::Allow, "{line}");
    }
}

#[test]
fn a_policys_version_changes_with_its_packs_and_with_who_loads_them() {
    let with = |packs| Policy::compile(vec![]).unwrap().with_packs(packs);
    let of = |authority, verdict| {
        let digest = with(vec![loaded(authority, pack("team", "deploy", verdict))]);
        digest.digest().to_owned()
    };
    let none = with(vec![]);
    assert_eq!(none.digest(), Policy::compile(vec![]).unwrap().digest());
    assert_eq!(of(User, "ask"), of(User, "ask"));
    assert_ne!(of(User, "ask"), none.digest());
    assert_ne!(of(User, "ask"), of(User, "deny"));
    assert_ne!(of(User, "ask"), of(Managed, "ask"));
}

#[test]
fn guards_switch_packs_rules_and_verdicts() {
    let under = |text: &str| {
        policy(
            vec![guards(User, Trusted, text)],
            vec![loaded(User, pack("team", "deploy", "ask"))],
        )
    };
    for (text, expected) in [
        ("{}", Verdict::Ask),
        (r#"{"packs": {"team": "off"}}"#, Verdict::Allow),
        (r#"{"packs": {"team": "deny"}}"#, Verdict::Deny),
        (r#"{"rules": {"team.deploy": "notify"}}"#, Verdict::Notify),
        (
            r#"{"packs": {"team": "off"}, "rules": {"team.deploy": "on"}}"#,
            Verdict::Ask,
        ),
        (r#"{"enabled": false}"#, Verdict::Allow),
        (
            r#"{"enabled": false, "packs": {"team": "review"}}"#,
            Verdict::Review,
        ),
    ] {
        assert_eq!(verdict(&under(text), "deploy"), expected, "{text}");
    }
}

#[test]
fn the_highest_layer_that_speaks_of_a_rule_decides_and_others_tighten() {
    let of = |layers: &[(Authority, Trust, &str)]| {
        let sources = layers
            .iter()
            .map(|(authority, trust, switch)| {
                let text = format!(r#"{{"rules": {{"git.push": "{switch}"}}}}"#);
                guards(*authority, *trust, &text)
            })
            .collect();
        verdict(&policy(sources, vec![]), "git push -u origin")
    };
    for (layers, expected) in [
        (
            vec![(Managed, Trusted, "deny"), (User, Trusted, "off")],
            Verdict::Deny,
        ),
        (
            vec![(Managed, Trusted, "off"), (User, Trusted, "review")],
            Verdict::Review,
        ),
        (
            vec![(User, Trusted, "ask"), (Project, Trusted, "off")],
            Verdict::Ask,
        ),
        (
            vec![(User, Trusted, "notify"), (Project, Trusted, "deny")],
            Verdict::Deny,
        ),
        (vec![(Project, Trusted, "off")], Verdict::Allow),
        (vec![(Project, Untrusted, "off")], Verdict::Ask),
        (vec![(Project, Untrusted, "deny")], Verdict::Deny),
    ] {
        assert_eq!(of(&layers), expected, "{layers:?}");
    }
}

#[test]
fn nobody_below_the_one_who_loads_a_pack_loosens_it() {
    let off = r#"{"packs": {"team": "off"}}"#;
    let of = |owner, by, trust| {
        let packs = vec![loaded(owner, pack("team", "deploy", "deny"))];
        verdict(&policy(vec![guards(by, trust, off)], packs), "deploy")
    };
    assert_eq!(of(Managed, User, Trusted), Verdict::Deny);
    assert_eq!(of(User, Project, Trusted), Verdict::Deny);
    assert_eq!(of(Project, Project, Untrusted), Verdict::Deny);
    assert_eq!(of(Project, Project, Trusted), Verdict::Allow);
    assert_eq!(of(Project, User, Trusted), Verdict::Allow);
    assert_eq!(of(User, Managed, Trusted), Verdict::Allow);
}

#[test]
fn an_allow_list_answers_what_is_only_shipped_and_not_what_a_layer_above_insists_on() {
    let allows = |authority| {
        let text =
            r#"{"defaultPolicy": "defer", "allow": {"patterns": ["git push *", "deploy *"]}}"#;
        layer(authority, Trusted, text)
    };
    let push = |sources| verdict(&policy(sources, vec![]), "git push -u origin");
    let wants = |authority, word: &str| {
        guards(
            authority,
            Trusted,
            &format!(r#"{{"rules": {{"git.push": "{word}"}}}}"#),
        )
    };
    assert_eq!(push(vec![allows(User)]), Verdict::Allow);
    for word in ["ask", "review", "on"] {
        let least = Verdict::from_word(word).unwrap_or(Verdict::Ask);
        assert_eq!(push(vec![wants(Managed, word), allows(User)]), least);
        assert_eq!(push(vec![wants(User, word), allows(Project)]), least);
    }
    // The same layer may want a rule in general and make an exception.
    let both = r#"{"defaultPolicy": "defer", "allow": {"patterns": ["git push *"]}, "guards": {"rules": {"git.push": "ask"}}}"#;
    assert_eq!(push(vec![layer(User, Trusted, both)]), Verdict::Allow);
    let deploy = |owner, by| {
        let packs = vec![loaded(owner, pack("team", "deploy", "ask"))];
        verdict(&policy(vec![allows(by)], packs), "deploy now")
    };
    assert_eq!(deploy(Managed, User), Verdict::Ask);
    assert_eq!(deploy(User, Project), Verdict::Ask);
    assert_eq!(deploy(User, User), Verdict::Allow);
}

#[test]
fn self_protection_cannot_be_switched_off() {
    for text in [
        r#"{"enabled": false}"#,
        r#"{"packs": {"agents": "off"}}"#,
        r#"{"rules": {"agents.answer-hold": "notify"}}"#,
    ] {
        let policy = policy(vec![guards(Managed, Trusted, text)], vec![]);
        assert_eq!(
            verdict(&policy, "holdpoint approve 1"),
            Verdict::Deny,
            "{text}"
        );
    }
}

#[test]
fn a_name_that_is_none_is_found_once_all_packs_are_loaded() {
    let of = |text: &str, packs| {
        let source = guards(User, Trusted, text);
        let policy = Policy::compile(vec![source]).unwrap().with_packs(packs);
        policy.unknown_guard()
    };
    let team = || vec![loaded(User, pack("team", "deploy", "ask"))];
    let names = r#"{"packs": {"team": "off"}, "rules": {"team.deploy": "ask"}, "load": ["x"]}"#;
    assert_eq!(of(names, team()), None);
    assert!(of(names, vec![]).unwrap().contains("unknown pack `team`"));
    let wrong = of(r#"{"rules": {"team.deplyo": "ask"}}"#, team()).unwrap();
    assert!(wrong.contains("did you mean `team.deploy`?"), "{wrong}");
}

#[test]
fn what_the_layers_make_of_a_rule_is_told() {
    let policy = policy(
        vec![
            guards(User, Trusted, r#"{"packs": {"git": "ask"}}"#),
            guards(Project, Untrusted, r#"{"rules": {"git.push": "off"}}"#),
        ],
        vec![],
    );
    let guard = policy.guard("git.push").unwrap();
    let said: Vec<(&str, &str, bool)> = guard
        .switches
        .iter()
        .map(|switch| (switch.key, switch.value, switch.counts))
        .collect();
    assert_eq!(
        said,
        [
            ("guards.packs", "ask", true),
            ("guards.rules", "off", false)
        ]
    );
    assert_eq!(guard.in_force, Some(Verdict::Ask));
    assert!(!guard.cases().is_empty());
}

fn switch() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["off", "on", "notify", "ask", "review", "deny"])
}

fn lines() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "git push -u origin",
        "git push --force origin main",
        "rm -rf /",
        "sudo deploy now",
        "deploy now; ls",
        "echo deploy",
        "cat .env",
        "holdpoint approve 1",
    ])
}

proptest! {
    /// Whatever a project nobody trusts says of packs and rules, and whatever packs it loads, no
    /// call is judged more mildly than without it.
    #[test]
    fn an_untrusted_project_only_tightens(
        users in switch(),
        by_pack in switch(),
        by_rule in switch(),
        enabled in any::<bool>(),
        verdicts in prop::sample::select(vec!["notify", "ask", "review", "deny"]),
        line in lines(),
    ) {
        let user = || guards(User, Trusted, &format!(r#"{{"packs": {{"filesystem": "{users}"}}}}"#));
        let ours = || loaded(User, pack("ours", "deploy", "ask"));
        let before = policy(vec![user()], vec![ours()]);
        let text = format!(
            r#"{{"enabled": {enabled}, "packs": {{"git": "{by_pack}", "filesystem": "{by_pack}", "ours": "{by_pack}", "agents": "{by_pack}"}},
                 "rules": {{"git.push": "{by_rule}", "ours.deploy": "{by_rule}", "theirs.cat": "{by_rule}"}}, "generated": ["/"]}}"#
        );
        let project = guards(Project, Untrusted, &text);
        let theirs = loaded(Project, pack("theirs", "cat", verdicts));
        let after = policy(vec![user(), project], vec![ours(), theirs]);
        prop_assert!(verdict(&after, line) >= verdict(&before, line));
    }

    /// A managed word holds against every word below it.
    #[test]
    fn nobody_loosens_what_the_managed_layer_says(
        managed in switch(),
        users in switch(),
        projects in switch(),
        line in lines(),
    ) {
        let all = |word: &str| format!(r#"{{"packs": {{"git": "{word}", "filesystem": "{word}"}}}}"#);
        let top = || guards(Managed, Trusted, &all(managed));
        let alone = policy(vec![top()], vec![]);
        let below = policy(
            vec![
                top(),
                guards(User, Trusted, &all(users)),
                guards(Project, Trusted, &all(projects)),
            ],
            vec![],
        );
        prop_assert!(verdict(&below, line) >= verdict(&alone, line));
    }
}
