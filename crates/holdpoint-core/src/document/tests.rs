//! The reader as a whole: what is accepted, and every message a policy author may meet.

use super::*;
use proptest::prelude::*;
use serde::Deserialize;
use serde::de::{Deserializer, Error as _, IgnoredAny, Visitor};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::fmt;

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Policy {
    #[serde(default)]
    default_policy: Option<Choice>,
    #[serde(default)]
    blacklist: Blacklist,
    #[serde(default, alias = "denied")]
    deny: Vec<String>,
    #[serde(default)]
    enabled: bool,
    #[serde(default)]
    retries: u8,
    #[serde(default)]
    weight: f64,
    #[serde(default)]
    timeout: Option<Timeout>,
    #[serde(default)]
    actions: Vec<Action>,
    #[serde(default)]
    steps: Vec<Run>,
    #[serde(default)]
    pair: Option<(u8, String)>,
    #[serde(default)]
    auth_token: Option<Timeout>,
    #[serde(default)]
    headers: BTreeMap<String, Choice>,
    #[serde(default)]
    by_choice: BTreeMap<Choice, bool>,
    #[serde(default)]
    either: Option<Either>,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Choice {
    Allow,
    Ask,
    Deny,
}

#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Blacklist {
    arguments: BTreeMap<String, BTreeMap<String, Vec<String>>>,
}

/// Written as `30s`, read by a visitor of its own.
#[derive(Debug, PartialEq)]
struct Timeout(u64);

impl<'de> Deserialize<'de> for Timeout {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Seconds;
        impl Visitor<'_> for Seconds {
            type Value = Timeout;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a duration such as 30s")
            }
            fn visit_u64<E: serde::de::Error>(self, seconds: u64) -> Result<Timeout, E> {
                Ok(Timeout(seconds))
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Timeout, E> {
                match text.strip_suffix('s').map(str::parse) {
                    Some(Ok(seconds)) => Ok(Timeout(seconds)),
                    Some(Err(_)) => Err(E::custom(format!("`{text}`: the number is wrong"))),
                    None => Err(E::custom("is not a duration; try: write `30s`")),
                }
            }
        }
        deserializer.deserialize_any(Seconds)
    }
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase", deny_unknown_fields)]
enum Action {
    Run { command: String, times: Option<u8> },
    Stop,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Run {
    Nothing,
    Shell(Name),
    Both(String, u8),
    Exec {
        program: String,
        #[serde(default)]
        args: Vec<String>,
    },
}

#[derive(Debug, PartialEq, Deserialize)]
struct Name(String);

#[derive(Debug, PartialEq, Deserialize)]
#[serde(untagged)]
enum Either {
    Word(Choice),
    Number(u8),
}

fn policy(text: &str) -> Policy {
    read("p.json", text.as_bytes()).unwrap()
}

fn refusal(text: &str) -> DocumentError {
    read::<Policy>("p.json", text.as_bytes()).expect_err(text)
}

fn says(text: &str, message: &str) {
    assert_eq!(refusal(text).to_string(), message, "for {text}");
}

fn json(text: &str) -> Result<Json, DocumentError> {
    read("p.json", text.as_bytes())
}

fn json_says(text: &str, message: &str) {
    assert_eq!(
        json(text).expect_err(text).to_string(),
        message,
        "for {text}"
    );
}

#[test]
fn a_document_with_comments_and_trailing_commas_is_read() {
    let policy = policy(
        "\u{feff}// head\n{ /* a * / b */ \"defaultPolicy\": \"ask\", // tail\r\n  \"deny\": [\"rm\", \"dd\",],\n  \"retries\": 3, \"weight\": 2, \"timeout\": \"30s\", \"pair\": [1, \"x\"], \"enabled\": true,\n} // end",
    );
    assert_eq!(policy.default_policy, Some(Choice::Ask));
    assert_eq!(policy.deny, ["rm", "dd"]);
    assert_eq!(
        (policy.retries, policy.weight, policy.enabled),
        (3, 2.0, true)
    );
    assert_eq!(policy.timeout, Some(Timeout(30)));
    assert_eq!(policy.pair, Some((1, "x".to_owned())));
}

#[test]
fn an_empty_object_takes_all_defaults_and_null_is_no_value() {
    assert_eq!(
        policy("{}"),
        policy("{\"defaultPolicy\": null, \"timeout\": null}")
    );
}

#[test]
fn an_alias_is_read_like_the_key() {
    assert_eq!(policy("{\"denied\": [\"rm\"]}").deny, ["rm"]);
}

#[test]
fn enums_are_read_in_all_their_forms() {
    let policy = policy(
        r#"{
          "actions": [{"type": "run", "command": "ls", "times": 2}, {"type": "stop"}],
          "steps": ["nothing", {"nothing": null}, {"shell": "ls"}, {"both": ["a", 1]}, {"exec": {"program": "ls"}}],
          "either": 4, "byChoice": {"allow": true}
        }"#,
    );
    assert_eq!(policy.actions.len(), 2);
    assert_eq!(policy.steps[2], Run::Shell(Name("ls".to_owned())));
    assert_eq!(policy.steps[3], Run::Both("a".to_owned(), 1));
    assert_eq!(policy.either, Some(Either::Number(4)));
    assert!(policy.by_choice[&Choice::Allow]);
}

#[test]
fn ignored_values_are_skipped_but_must_be_json() {
    assert!(read::<IgnoredAny>("p.json", b"{\"a\": [1, {}]}").is_ok());
    assert!(read::<IgnoredAny>("p.json", b"{\"a\": [1, {]}").is_err());
}

#[test]
fn an_unknown_key_is_pointed_at_with_the_key_that_was_meant() {
    says(
        "{\n  // c\n    \"default\": \"ask\"}",
        "p.json:3:5: unknown key `default`: did you mean `defaultPolicy`?",
    );
    let error = refusal("{\"blacklist\": {\"argumnets\": 5}}");
    assert_eq!(
        error.to_string(),
        "p.json:1:16: unknown key `argumnets` in `blacklist`: did you mean `arguments`?"
    );
    assert_eq!(error.path, "blacklist.argumnets");
    assert_eq!(error.found.as_deref(), Some("argumnets"));
}

#[test]
fn an_unknown_key_unlike_all_others_gets_the_closest_five() {
    let message = refusal("{\"zzz\": 1}").to_string();
    assert!(
        message.starts_with("p.json:1:2: unknown key `zzz`: use `"),
        "{message}"
    );
    assert!(message.contains(" or one of "), "{message}");
    says(
        "{\"blacklist\": {\"zzz\": 1}}",
        "p.json:1:16: unknown key `zzz` in `blacklist`: use `arguments`",
    );
}

#[test]
fn an_unknown_word_lists_the_accepted_ones() {
    says(
        "{\n  \"defaultPolicy\": \"maybe\"}",
        "p.json:2:20: `defaultPolicy` cannot be `maybe`: use `allow`, `ask` or `deny`",
    );
    says(
        "{\"defaultPolicy\": \"Deny\"}",
        "p.json:1:19: `defaultPolicy` cannot be `Deny`: did you mean `deny`?",
    );
    says(
        "{\"defaultPolicy\": 5}",
        "p.json:1:19: `defaultPolicy` cannot be `5`: use `allow`, `ask` or `deny`",
    );
    says(
        "{\"defaultPolicy\": {\"a\": 1, \"b\": 2}}",
        "p.json:1:19: `defaultPolicy` cannot be `{ … }`: use `allow`, `ask` or `deny`",
    );
}

#[test]
fn a_key_that_must_be_one_of_some_words_is_an_unknown_key() {
    says(
        "{\"byChoice\": {\"allwo\": true}}",
        "p.json:1:15: unknown key `allwo` in `byChoice`: did you mean `allow`?",
    );
}

#[test]
fn wrong_types_are_said_in_plain_words() {
    for (text, message) in [
        (
            "{\"blacklist\": {\"arguments\": {\"t\": {\"a\": 5}}}}",
            "1:41: `blacklist.arguments.t.a` must be an array, found `5`",
        ),
        (
            "{\"deny\": [1]}",
            "1:11: `deny[0]` must be a string, found `1`: put it in quotes",
        ),
        (
            "{\"deny\": \"rm\"}",
            "1:10: `deny` must be an array, found `\"rm\"`: write `[\"rm\"]`",
        ),
        (
            "{\"enabled\": 1}",
            "1:13: `enabled` must be true or false, found `1`",
        ),
        (
            "{\"enabled\": \"true\"}",
            "1:13: `enabled` must be true or false, found `\"true\"`: remove the quotes",
        ),
        (
            "{\"retries\": 1.5}",
            "1:13: `retries` must be a whole number, found `1.5`",
        ),
        (
            "{\"retries\": 1e1}",
            "1:13: `retries` must be a whole number, found `1e1`",
        ),
        (
            "{\"retries\": \"3\"}",
            "1:13: `retries` must be a whole number, found `\"3\"`: remove the quotes",
        ),
        (
            "{\"retries\": null}",
            "1:13: `retries` must be a whole number, found `null`",
        ),
        (
            "{\"weight\": []}",
            "1:12: `weight` must be a number, found `[]`",
        ),
        (
            "{\"blacklist\": [{}]}",
            "1:15: `blacklist` must be an object, found `[ … ]`",
        ),
        ("{\"headers\": 1}", "1:13: `headers` must be an object"),
        (
            "{\"timeout\": true}",
            "1:13: `timeout` must be a duration such as 30s, found `true`",
        ),
        (
            "{\"pair\": [1]}",
            "1:10: `pair` must be an array of 2 values, found `[ … ]`",
        ),
        ("[]", "1:1: the document must be an object, found `[]`"),
        ("7", "1:1: the document must be an object, found `7`"),
        (
            "{\"steps\": [{\"exec\": 5}]}",
            "1:21: `steps[0].exec` must be an object, found `5`",
        ),
        (
            "{\"steps\": [{\"shell\": 5}]}",
            "1:22: `steps[0].shell` must be a string, found `5`: put it in quotes",
        ),
        (
            "{\"steps\": [{\"both\": [\"a\"]}]}",
            "1:21: `steps[0].both` must be an array of 2 values, found `[ … ]`",
        ),
    ] {
        says(text, &format!("p.json:{message}"));
    }
}

#[test]
fn numbers_out_of_range_name_the_range() {
    says(
        "{\"retries\": 300}",
        "p.json:1:13: `retries` must be a whole number from 0 to 255, found `300`",
    );
    says(
        "{\"retries\": -1}",
        "p.json:1:13: `retries` must be a whole number from 0 to 255, found `-1`",
    );
    says(
        "{\"retries\": 99999999999999999999}",
        "p.json:1:13: `retries` must be a whole number from 0 to 255, found `99999999999999999999`",
    );
    says(
        "{\"weight\": 1e999}",
        "p.json:1:12: `weight` is a number too large to be read, found `1e999`",
    );
    assert_eq!(
        read::<Vec<u128>>("p", b"[340282366920938463463374607431768211455, 1]").unwrap(),
        [u128::MAX, 1]
    );
    assert_eq!(
        read::<Vec<i128>>("p", b"[-170141183460469231731687303715884105728, -1, -0]").unwrap(),
        [i128::MIN, -1, 0]
    );
    assert_eq!(
        read::<(u64, i64)>("p", b"[18446744073709551615, -9223372036854775808]").unwrap(),
        (u64::MAX, i64::MIN)
    );
}

#[test]
fn a_value_too_many_is_pointed_at() {
    says(
        "{\"pair\": [1, \"a\", 3]}",
        "p.json:1:19: this array takes 2 values, not 3: remove the others",
    );
}

#[test]
fn a_missing_key_is_named_with_its_object() {
    says(
        "{\"steps\": [\"nothing\", {\"exec\": {}}]}",
        "p.json:1:32: key `program` is missing in `steps[1].exec`: add it",
    );
    let error = read::<BTreeMap<String, Action>>("p", b"{\"a\": {}}").unwrap_err();
    assert_eq!(
        error.to_string(),
        "p:1:7: key `type` is missing in `a`: add it"
    );
}

#[test]
fn variants_with_and_without_values_are_told_apart() {
    says(
        "{\"steps\": [\"exec\"]}",
        "p.json:1:12: `exec` needs a value: write `{\"exec\": { … }}`",
    );
    says(
        "{\"steps\": [{\"nothing\": 1}]}",
        "p.json:1:24: `nothing` takes no value: write `\"nothing\"` alone",
    );
    says(
        "{\"steps\": [{\"sell\": 1}]}",
        "p.json:1:13: unknown key `sell` in `steps[0]`: did you mean `shell`?",
    );
}

#[test]
fn a_key_written_twice_is_refused_anywhere_and_in_any_spelling() {
    says(
        "{\"deny\": [],\n  \"deny\": []}",
        "p.json:2:3: key `deny` is written twice: keep one",
    );
    json_says(
        "[{\"a\": {\"x\": 1, \"\\u0078\": 2}}]",
        "p.json:1:17: key `x` is written twice: keep one",
    );
    let error = json("{\"a\": {\"x\": 1, \"b\": 1, \"b\": 2, \"x\": 2}}").unwrap_err();
    assert_eq!((error.column, error.path.as_str()), (24, "a.b"));
    assert_eq!(error.found.as_deref(), Some("b"));
    let error = read::<IgnoredAny>("p.json", b"{\"a\": 1, \"a\": 1}").unwrap_err();
    assert_eq!(error.column, 10);
}

#[test]
fn a_key_and_its_alias_cannot_stand_together() {
    says(
        "{\"deny\": [], \"denied\": []}",
        "p.json:1:14: key `denied` means `deny`, which is already written: keep one",
    );
    says(
        "{\"denied\": [], \"deny\": []}",
        "p.json:1:16: key `deny` is already written under another name: keep one",
    );
}

#[test]
fn a_message_of_a_type_is_split_into_problem_and_hint() {
    let error = refusal("{\"timeout\": \"soon\"}");
    assert_eq!(error.problem, "`timeout` is not a duration");
    assert_eq!(error.hint.as_deref(), Some("write `30s`"));
    assert_eq!(
        error.to_string(),
        "p.json:1:13: `timeout` is not a duration, found `\"soon\"`: write `30s`"
    );
    says(
        "{\"timeout\": \"5xs\"}",
        "p.json:1:13: `timeout`: `5xs`: the number is wrong",
    );
}

#[test]
fn a_converted_value_or_key_is_refused_in_its_place() {
    #[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
    #[serde(try_from = "String")]
    struct Tool(String);
    impl TryFrom<String> for Tool {
        type Error = &'static str;
        fn try_from(name: String) -> Result<Tool, Self::Error> {
            if name.contains(' ') {
                return Err("is not a tool name; try: remove the space");
            }
            Ok(Tool(name))
        }
    }
    let tools = |text: &str| read::<BTreeMap<Tool, Vec<Tool>>>("p", text.as_bytes());
    assert_eq!(tools("{\"a\": [\"b\"]}").unwrap().len(), 1);
    assert_eq!(
        tools("{\"a\": [\"b\", \"c d\"]}").unwrap_err().to_string(),
        "p:1:13: `a[1]` is not a tool name, found `\"c d\"`: remove the space"
    );
    assert_eq!(
        tools("{\"c d\": []}").unwrap_err().to_string(),
        "p:1:2: key `c d` is not a tool name: remove the space"
    );
}

#[test]
fn an_untagged_enum_is_refused_without_its_type_name() {
    says(
        "{\"either\": \"x\"}",
        "p.json:1:12: `either` has none of the accepted forms, found `\"x\"`",
    );
}

#[test]
fn fields_of_a_tagged_enum_are_found_again() {
    says(
        "{\"actions\": [{\"type\": \"run\", \"command\": 5}]}",
        "p.json:1:41: `actions[0].command` must be a string, found `5`: put it in quotes",
    );
    says(
        "{\"actions\": [{\"type\": \"run\", \"command\": \"a\", \"time\": 5}]}",
        "p.json:1:46: unknown key `time` in `actions[0]`: did you mean `times`?",
    );
    says(
        "{\"actions\": [{\"type\": \"runs\"}]}",
        "p.json:1:23: `actions[0].type` cannot be `runs`: did you mean `run`?",
    );
    says(
        "{\"actions\": [{\"type\": \"run\"}]}",
        "p.json:1:14: key `command` is missing in `actions[0]`: add it",
    );
    says(
        "{\"actions\": [{\"type\": \"run\", \"command\": \"a\", \"times\": 256}]}",
        "p.json:1:55: `actions[0].times` must be a whole number from 0 to 255, found `256`",
    );
}

#[test]
fn a_tagged_field_that_cannot_be_found_again_points_at_the_object() {
    let error = refusal("{\"actions\": [{\"type\": \"run\", \"command\": 5, \"times\": 5}]}");
    assert_eq!((error.column, error.path.as_str()), (14, "actions[0]"));
}

#[test]
fn odd_keys_are_quoted_in_the_path() {
    let text = r#"{"blacklist": {"arguments": {"git.push": {"": 5}}}}"#;
    assert_eq!(refusal(text).path, r#"blacklist.arguments["git.push"][""]"#);
}

#[test]
fn what_is_not_json_is_refused() {
    for (text, message) in [
        (
            "{'a': 1}",
            "1:2: a key is written in double quotes: replace `'` with `\"`",
        ),
        (
            "{\"a\": 'x'}",
            "1:7: a string is written in double quotes: replace `'` with `\"`",
        ),
        (
            "{a: 1}",
            "1:2: a key is written in double quotes, found `a`: write `\"a\"`",
        ),
        (
            "{\"a\": True}",
            "1:7: expected a value, found `True`: did you mean `true`?",
        ),
        (
            "{\"a\": ask}",
            "1:7: expected a value, found `ask`: write text in double quotes",
        ),
        (
            "[01]",
            "1:2: this is not a number, found `01`: remove the leading zero",
        ),
        (
            "[+1]",
            "1:2: this is not a number, found `+1`: remove the `+`",
        ),
        (
            "[.5]",
            "1:2: this is not a number, found `.5`: write a digit before the `.`",
        ),
        (
            "[5.]",
            "1:2: this is not a number, found `5.`: write a digit after the `.`",
        ),
        (
            "[0xF]",
            "1:2: this is not a number, found `0xF`: write it in decimal digits",
        ),
        (
            "[NaN]",
            "1:2: expected a value, found `NaN`: write text in double quotes",
        ),
        (
            "[1 2]",
            "1:4: expected `,` or `]`, found `2`: put a `,` between two entries",
        ),
        (
            "{\"a\": 1 \"b\": 2}",
            "1:9: expected `,` or `}`, found `\"b\"`: put a `,` between two entries",
        ),
        (
            "{\"a\" 1}",
            "1:6: key `a` needs a `:` and a value, found `1`",
        ),
        (
            "{\"a\": }",
            "1:7: expected a value, found `}`: the `{` opened at line 1, column 1 is not closed yet",
        ),
        (
            "[1}",
            "1:3: expected `,` or `]`, found `}`: the `[` opened at line 1, column 1 is not closed yet",
        ),
        (
            "[,]",
            "1:2: expected a value, found `,`: remove the `,` or write a value before it",
        ),
        ("{,}", "1:2: expected a key, found `,`: remove the `,`"),
        (
            "[1,,]",
            "1:4: expected a value, found `,`: remove the `,` or write a value before it",
        ),
        (
            "{} {}",
            "1:4: there is text after the end of the document: remove it, or check for a bracket closed too early",
        ),
        (
            "[1]]",
            "1:4: there is text after the end of the document: remove it, or check for a bracket closed too early",
        ),
        (
            "[\u{a0}1]",
            "1:2: expected a value, found `\\u{a0}`: replace this character with a plain space",
        ),
        (
            "[\u{c}1]",
            "1:2: expected a value, found `\\u{c}`: replace this character with a plain space",
        ),
        (
            "[“a”]",
            "1:2: expected a value, found `“`: replace the curly quotes with `\"`",
        ),
        (
            "# x",
            "1:1: expected a value, found `#`: write text in double quotes",
        ),
        (
            "[/ x]",
            "1:2: expected a value, found `/`: a comment starts with `//` or `/*`",
        ),
    ] {
        json_says(text, &format!("p.json:{message}"));
    }
}

#[test]
fn strings_are_those_of_json() {
    assert_eq!(
        json(r#"["\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00é"]"#).unwrap()[0],
        "\"\\/\u{8}\u{c}\n\r\té😀é"
    );
    for (text, message) in [
        (
            "[\"a\nb\"]",
            "1:4: a string cannot run over the end of its line: close it with `\"`, or write `\\n` for a line break",
        ),
        (
            "[\"a\tb\"]",
            "1:4: a string cannot hold a bare control character: write it as `\\u0009`",
        ),
        (
            "[\"a\u{1b}b\"]",
            "1:4: a string cannot hold a bare control character: write it as `\\u001b`",
        ),
        (
            r#"["C:\x"]"#,
            r"1:5: this escape does not exist in JSON, found `\x`: write `\\` for a backslash",
        ),
        (
            r#"["\u12g4"]"#,
            r"1:3: `\u` needs four hexadecimal digits, found `\u1`: write it as in `\u00e9`",
        ),
        (
            r#"["\u+123"]"#,
            r"1:3: `\u` needs four hexadecimal digits, found `\u+`: write it as in `\u00e9`",
        ),
    ] {
        json_says(text, &format!("p.json:{message}"));
    }
    for text in [
        r#"["\ud800"]"#,
        r#"["\ud800\u0041"]"#,
        r#"["\udc00"]"#,
        r#"["\ud800\n"]"#,
    ] {
        let error = json(text).unwrap_err();
        assert_eq!(error.problem, "this escape is half of a pair", "{text}");
        assert_eq!(error.column, 3);
    }
}

#[test]
fn a_document_without_content_says_what_to_write() {
    for text in ["", " \n", "// nothing\n", "/* */", "\u{feff}"] {
        json_says(
            text,
            "p.json:1:1: the document is empty: write `{}` for a document without settings",
        );
    }
}

#[test]
fn a_truncated_document_says_what_was_left_open_and_where() {
    for (text, message) in [
        (
            "{\n  \"a\": [1,",
            "2:11: the document ends inside the array opened at line 2, column 8: add `]}`",
        ),
        (
            "{\"a\"",
            "1:5: the document ends inside the object opened at line 1, column 1: add `}`",
        ),
        (
            "{\"a\":",
            "1:6: the document ends inside the object opened at line 1, column 1: add `}`",
        ),
        (
            "{\"a\": 1",
            "1:8: the document ends inside the object opened at line 1, column 1: add `}`",
        ),
        (
            "[\"abc",
            "1:6: the document ends inside the string opened at line 1, column 2: add `\"]`",
        ),
        (
            "[1] /* x",
            "1:9: the document ends inside the comment opened at line 1, column 5: add `*/`",
        ),
    ] {
        json_says(text, &format!("p.json:{message}"));
    }
}

#[test]
fn every_prefix_of_a_document_is_refused() {
    let text = r#"{"a": [1, "é\u00e9\n", {"b": null}], /* c */ "d": -1.5e3} "#;
    assert!(json(text).is_ok());
    for end in 0..text.len() - 1 {
        assert!(read::<Json>("p", &text.as_bytes()[..end]).is_err(), "{end}");
    }
}

#[test]
fn nesting_is_bounded() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert!(json(&nested(MAX_DEPTH)).is_ok());
    let error = json(&nested(MAX_DEPTH + 1)).unwrap_err();
    assert_eq!(
        error.problem,
        "the document is nested deeper than 64 levels"
    );
    assert_eq!(error.column, 65);
    assert!(json(&"[".repeat(1 << 20)).is_err());
    assert!(json(&"{\"a\":".repeat(1 << 18)).is_err());
}

#[test]
fn bytes_that_are_not_text_are_pointed_at() {
    let error = read::<Json>("p", b"{\n \"\xc3\xa9\": \"\xff\"}").unwrap_err();
    assert_eq!(
        error.to_string(),
        "p:2:8: the document is not UTF-8 text here: save the file as UTF-8"
    );
    let error = read::<Json>("p", b"{} // \0").unwrap_err();
    assert_eq!(
        error.to_string(),
        "p:1:7: the document holds a NUL byte: save the file as UTF-8 text"
    );
    assert!(read::<Json>("p", b"\xff\xfe{\0}\0").is_err());
}

#[test]
fn a_byte_order_mark_counts_only_at_the_start() {
    assert_eq!(json("\u{feff}[1 2]").unwrap_err().column, 4);
    assert!(json("\u{feff}\u{feff}{}").is_err());
    assert!(json("{}\u{feff}").is_err());
}

#[test]
fn a_carriage_return_ends_a_line_comment() {
    assert_eq!(json("[1, // x\r2]").unwrap(), serde_json::json!([1, 2]));
}

#[test]
fn secrets_are_not_shown() {
    for text in [
        "{\"auth_token\": \"hunter2\"}",
        "{\"authToken\": \"hunter2\"}",
        "{\"authToken\": \"hunter2s\"}",
        "{\"authToken\": [\"hunter2\"]}",
        "{\"headers\": {\"X-Key\": \"hunter2\"}}",
        "{\"headers\": \"hunter2\"}",
        "{\"enabled\": {\"token\": \"hunter2\"}}",
        "{\"authToken\": hunter2}",
        "{\"Authorization\" \"hunter2\"}",
        "{\"PASSWORD\": \"a\"hunter2\"}",
        "{\"password\": \"a\", \"secret\": [1, [2] hunter2]}",
        "{\"token: \"hunter2\"}",
        "{\"token\": \"hunter2",
        "{\"password\": \"a\", hunter2\"}",
        "{\"password\": \"a\"} hunter2\"}",
    ] {
        let error = refusal(text);
        assert!(!error.to_string().contains("hunter"), "{error}");
        assert!(!format!("{error:?}").contains("hunter"), "{error:?}");
    }
    says(
        "{\"authToken\": \"hunter2s\"}",
        "p.json:1:15: `authToken` is not accepted",
    );
    says(
        "{\"headers\": {\"X-Key\": \"hunter2\"}}",
        "p.json:1:23: `headers.X-Key` cannot have this value: use `allow`, `ask` or `deny`",
    );
}

#[test]
fn a_type_that_repeats_a_secret_inside_it_is_not_quoted() {
    #[derive(Debug)]
    struct Loud;
    impl<'de> Deserialize<'de> for Loud {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            let map = BTreeMap::<String, String>::deserialize(deserializer)?;
            Err(D::Error::custom(format!(
                "bad map {map:?}; try: not {map:?}"
            )))
        }
    }
    let error = read::<Loud>("p", br#"{"a": "b", "token": "hunter2"}"#).unwrap_err();
    assert_eq!(error.to_string(), "p:1:1: the document is not accepted");
    let long = format!("{{\"token\": \"{}\"}}", "hunter2".repeat(5000));
    let error = read::<Loud>("p", long.as_bytes()).unwrap_err();
    assert_eq!(error.to_string(), "p:1:1: the document is not accepted");
    let error = read::<Loud>("p", br#"{"a": "b"}"#).unwrap_err();
    assert_eq!(error.problem, r#"the document: bad map {"a": "b"}"#);
}

#[test]
fn a_secret_word_without_a_place_is_not_shown() {
    #[derive(Debug, Deserialize)]
    #[serde(tag = "type")]
    #[expect(dead_code, reason = "only read")]
    enum Tagged {
        One { token: Choice, secret: Choice },
    }
    let text = br#"{"type": "One", "token": "hunter2", "secret": "hunter2"}"#;
    let error = read::<Tagged>("p", text).unwrap_err();
    assert!(!format!("{error} {error:?}").contains("hunter2"), "{error}");
}

#[test]
fn control_characters_are_escaped_wherever_text_is_repeated() {
    for text in [
        "{\"\\u001b[31m\\u202e`\": 1}",
        "{\"defaultPolicy\": \"\\u001b[31m\u{202e}\"}",
        "{\"deny\": \"\u{9b}\u{202e}\"}",
        "{\"timeout\": \"\\u001b\\ns\"}",
        "{\u{1b}}",
    ] {
        let error = read::<Policy>("p\u{1b}[2J\n.json", text.as_bytes()).unwrap_err();
        let message = error.to_string();
        assert!(
            message.starts_with("p\\u{1b}[2J\\u{a}.json:1:"),
            "{message}"
        );
        assert!(
            !message.contains(|c: char| c.is_control() || c == '\u{202e}'),
            "{message:?}"
        );
    }
    let error = refusal("{\"a`: fine\": 1}");
    assert!(error.problem.contains("`a\\u{60}: fine`"), "{error}");
}

#[test]
fn long_text_is_cut() {
    let long = "x".repeat(5000);
    for text in [
        format!("{{\"{long}\": 1}}"),
        format!("{{\"defaultPolicy\": \"{long}\"}}"),
        format!("{{\"deny\": \"{long}\"}}"),
        format!("{{\"deny\": {long}}}"),
    ] {
        let error = refusal(&text);
        assert!(
            error.found.as_ref().unwrap().chars().count() <= 60,
            "{error}"
        );
        assert!(error.to_string().chars().count() < 400, "{error}");
    }
}

#[test]
fn an_own_visitor_that_stops_early_is_not_trusted() {
    struct First;
    impl<'de> Visitor<'de> for First {
        type Value = ();
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }
        fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
            map.next_entry::<String, IgnoredAny>().map(|_| ())
        }
    }
    #[derive(Debug)]
    struct Stops;
    impl<'de> Deserialize<'de> for Stops {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            deserializer.deserialize_any(First).map(|()| Stops)
        }
    }
    let error = read::<Stops>("p", br#"{"a": 1, "b": 2}"#).unwrap_err();
    assert_eq!(
        error.to_string(),
        "p:1:10: key `b` has no place here: remove it"
    );
}

#[test]
fn a_large_document_is_read_in_linear_work() {
    // Wide objects, long strings, many comments: each would show a square.
    let keys: String = (0..100_000)
        .map(|n| format!("\"k{n}\": \"{n}\", // c\n"))
        .collect();
    assert_eq!(
        json(&format!("{{{keys}}}"))
            .unwrap()
            .as_object()
            .unwrap()
            .len(),
        100_000
    );
    let escapes = "\\n".repeat(1 << 20);
    assert_eq!(
        json(&format!("[\"{escapes}\"]")).unwrap()[0]
            .as_str()
            .unwrap()
            .len(),
        1 << 20
    );
    assert!(json(&"/**/".repeat(1 << 18)).is_err());
}

fn any_json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<u64>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<f64>().prop_map(Json::from),
        any::<String>().prop_map(Json::from),
    ];
    leaf.prop_recursive(6, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Json::from),
            prop::collection::btree_map(any::<String>(), inner, 0..8)
                .prop_map(|map| Json::Object(map.into_iter().collect())),
        ]
    })
}

/// Pieces of documents in any order, which reach further than arbitrary bytes.
fn almost_json() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "\\",
        "\\u",
        "\\ud83d",
        "00",
        "\"a\"",
        "\"deny\":",
        "\"type\":",
        "\"run\"",
        "\"steps\":",
        "\"actions\":",
        "\"token\":",
        "1",
        "-",
        "0.5",
        "e9",
        "true",
        "null",
        "//",
        "/*",
        "*/",
        "\n",
        " ",
        "é",
        "\u{feff}",
        "\0",
    ]);
    prop::collection::vec(pieces, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn arbitrary_bytes_end_in_a_value_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Err(error) = read::<Policy>("p", &bytes) {
            prop_assert!(!error.to_string().contains(char::is_control));
        }
    }

    #[test]
    fn pieces_of_json_end_in_a_value_or_an_error(text in almost_json()) {
        if let Err(error) = read::<Policy>("p", text.as_bytes()) {
            prop_assert!(error.line >= 1 && error.column >= 1);
            prop_assert!(!error.to_string().contains(char::is_control));
        }
        // Without comments and trailing commas, what is accepted is JSON.
        if json(&text).is_ok() && !text.contains('/') && !text.contains(',') && !text.starts_with('\u{feff}') {
            prop_assert!(serde_json::from_str::<Json>(&text).is_ok(), "{text}");
        }
    }

    #[test]
    fn printed_json_is_read_back_as_it_was(value in any_json()) {
        let compact = serde_json::to_string(&value).unwrap();
        prop_assert_eq!(&json(&compact).unwrap(), &value);
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        prop_assert_eq!(&json(&pretty).unwrap(), &value);
    }
}
