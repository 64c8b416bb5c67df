//! Every format of `rules/redaction/` against its examples in `corpus/redaction/`.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    reason = "a test reads its cases and fails loudly"
)]

use std::collections::BTreeMap;
use std::path::Path;

use holdpoint_text::redaction::{Certainty, Marker, Redactor};
use proptest::prelude::*;
use proptest::sample::select;
use serde::Deserialize;
use serde_json::json;

/// Examples are written with this in the middle of each secret, so that nothing that looks for live
/// secrets in this repository finds any.
const CUT: char = '·';

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExamplesFile {
    example: Vec<Example>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Example {
    format: String,
    matches: Vec<String>,
    not_matches: Vec<String>,
}

fn examples() -> BTreeMap<String, Example> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/redaction");
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir(root).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let file: ExamplesFile =
            toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for example in file.example {
            let before = all.insert(example.format.clone(), example);
            assert!(
                before.is_none(),
                "{}: a format stands twice",
                path.display()
            );
        }
    }
    all
}

#[test]
fn there_are_enough_formats() {
    let distinctive = Redactor::formats()
        .filter(|(.., certainty)| *certainty == Certainty::Certain)
        .count();
    assert!(distinctive >= 260, "{distinctive}");
}

#[test]
fn every_format_matches_its_examples_and_nothing_else() {
    let examples = examples();
    let redactor = Redactor::new();
    let mut wrong = Vec::new();
    for (id, ..) in Redactor::formats() {
        let Some(example) = examples.get(id) else {
            wrong.push(format!("{id}: no examples"));
            continue;
        };
        if example.matches.len() < 2 || example.not_matches.len() < 2 {
            wrong.push(format!("{id}: fewer than two examples of a kind"));
        }
        for text in &example.matches {
            let whole = text.replace(CUT, "");
            let found = redactor.find(&whole);
            let Some(finding) = found.iter().find(|finding| finding.format == id) else {
                wrong.push(format!("{id}: not found in {text:?}: {found:?}"));
                continue;
            };
            let secret = &whole[finding.span.clone()];
            if redactor.text(&whole).as_str().contains(secret) {
                wrong.push(format!("{id}: still there in {text:?}"));
            }
        }
        for text in &example.not_matches {
            let whole = text.replace(CUT, "");
            if redactor
                .find(&whole)
                .iter()
                .any(|finding| finding.format == id)
            {
                wrong.push(format!("{id}: found in {text:?}"));
            }
        }
    }
    let known: Vec<&str> = Redactor::formats().map(|(id, ..)| id).collect();
    wrong.extend(
        examples
            .keys()
            .filter(|id| !known.contains(&id.as_str()))
            .map(|id| format!("{id}: no such format")),
    );
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// Secrets that nothing but their surroundings gives away.
fn secret() -> impl Strategy<Value = String> {
    "[A-Za-z][A-Za-z0-9!^~+/-]{6,20}[0-9][a-z]"
}

/// Ways to hand a secret to something; `@` is where it stands.
const GIVEN: [&str; 32] = [
    "mysql -uroot -p@ shop",
    "mysql -uroot -p'@' shop",
    "mysqldump --password=@ shop > x.sql",
    "app --password @ --verbose",
    "app --token=@",
    "sshpass -p @ ssh host",
    "curl -u me:@ https://example.test/",
    "curl -H 'Authorization: Bearer @' https://example.test/",
    "curl -H \"X-Api-Key: @\" https://example.test/",
    "PGPASSWORD=@ psql -h db",
    "export API_TOKEN=@",
    "export API_TOKEN='@'",
    "docker login -u me -p @ example.test",
    "redis-cli -a @ ping",
    "git clone https://me:@@example.test/x.git",
    "https://example.test/?access_token=@&x=1",
    "DB_PASSWORD=@\nX=1\n",
    "password: @\nuser: me\n",
    "password: \"@\"\n",
    "password = '@'\n",
    "{\"password\": \"@\"}",
    "{\\\"client_secret\\\": \\\"@\\\"}",
    "<password>@</password>",
    "Server=db;Password=@;Encrypt=yes",
    "machine h login me password @\n",
    "CREATE USER me IDENTIFIED BY '@';",
    "- name: DB_PASSWORD\n  value: \"@\"\n",
    "kubectl create secret generic x --from-literal=a=@",
    "Set-Cookie: sid=@; Path=/",
    "postgres://me:@@db:5432/shop",
    "echo '@' | docker login --password @ -u me x",
    "openssl enc -pass pass:@ -in x",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(256)))]

    #[test]
    fn no_secret_survives_where_one_is_given(secret in secret(), way in select(&GIVEN[..])) {
        let text = way.replace("@@", "@\u{0}").replace('@', &secret).replace('\u{0}', "@");
        let redacted = Redactor::new().text(&text);
        prop_assert!(!redacted.as_str().contains(&secret), "{text} became {redacted}");
    }

    #[test]
    fn no_secret_survives_in_arguments(secret in secret(), way in select(&GIVEN[..]), deep in 0usize..4) {
        let text = way.replace("@@", "@\u{0}").replace('@', &secret).replace('\u{0}', "@");
        let mut value = json!({
            "command": text,
            "env": {"SERVICE_PASSWORD": secret, "api_key": [secret]},
            "args": ["mysql", format!("-p{secret}"), "--token", secret],
            "headers": {"Authorization": format!("Bearer {secret}")},
            "list": [{"name": "APP_SECRET", "value": secret}],
        });
        for _ in 0..deep {
            // As a value in a value, and as text in a text.
            value = json!({"nested": [value.clone()], "text": value.to_string()});
        }
        let (redacted, kinds) = Redactor::new().json(&value);
        prop_assert!(!redacted.to_string().contains(&secret), "{redacted}");
        prop_assert!(kinds.total() >= 6);
    }

    #[test]
    fn redacting_twice_is_redacting_once(text in any_text(), salted in any::<bool>()) {
        let mut redactor = Redactor::new().redacting(Marker::Ip).shortening_home("/home/me");
        if salted {
            redactor = redactor.salted([3; 32]);
        }
        let (once, _) = redactor.text_counted(&text);
        let (twice, kinds) = redactor.text_counted(once.as_str());
        prop_assert_eq!(&once, &twice);
        prop_assert!(kinds.is_empty(), "{:?} in {}", kinds, once);
    }

    #[test]
    fn findings_lie_in_the_text_in_order(text in any_text()) {
        let mut end = 0;
        for finding in Redactor::new().redacting(Marker::Ip).find(&text) {
            prop_assert!(finding.span.start >= end && finding.span.start < finding.span.end);
            prop_assert!(text.get(finding.span.clone()).is_some());
            end = finding.span.end;
        }
    }
}

fn cases(usual: u32) -> u32 {
    std::env::var("PROPTEST_CASES")
        .ok()
        .and_then(|count| count.parse().ok())
        .unwrap_or(usual)
}

/// Pieces of which texts are made that come close to everything that is looked for.
fn any_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => select(PIECES).prop_map(str::to_owned),
        2 => "[a-zA-Z0-9_-]{1,40}",
        1 => "[ -~]{0,12}",
        1 => "\\PC{0,6}",
    ];
    prop::collection::vec(piece, 0..14).prop_map(|pieces| pieces.concat())
}

const PIECES: &[&str] = &[
    "password",
    "token",
    "=",
    ": ",
    "\"",
    "'",
    "\\\"",
    "\\n",
    "\n",
    " ",
    "--",
    "-p",
    "mysql ",
    "curl ",
    " -u ",
    "a:b",
    "https://",
    "@",
    "example.com",
    "[TOKEN]",
    "[PASSWORD:0123abcd]",
    "[",
    "]",
    "ghp_",
    "sk-",
    "AKIA",
    "eyJ",
    ".",
    "-----BEGIN ",
    "PRIVATE KEY",
    "-----",
    "-----END ",
    "Authorization",
    "Bearer ",
    "/home/me",
    "/",
    "~",
    "4111",
    "1111",
    "555",
    "+1",
    "%22",
    "%3D",
    "&",
    "?",
    ";",
    ",",
    "<password>",
    "</",
    "$",
    "${X}",
    "$(x)",
    "é",
    "·",
    "0123456789abcdef",
    "datadog",
    "Cookie",
    "IDENTIFIED BY ",
    "value",
    "API_KEY",
    "10.1.2.3",
    "2001:db8::1",
    "machine h login me ",
];

#[test]
fn hostile_texts_take_linear_time() {
    // The benchmark does the same with a mebibyte, in a build that is made for it.
    let size = 1 << 17;
    let redactor = Redactor::new()
        .redacting(Marker::Ip)
        .shortening_home("/home/me");
    for piece in [
        "sk-",
        "AKIA",
        "-eyJ",
        "eyJa.",
        "password=\"",
        "'\"",
        "\\\"",
        "curl ",
        "curl docker mysql ",
        "datadog ",
        "@a.",
        "a@a.a@",
        "1-",
        "1.",
        "-----BEGIN PRIVATE KEY-----",
        "https://a:",
        "://",
        "/home/me",
        "[TOKEN]",
        "password: ",
        "Authorization: ",
        "cookie: a=",
        "bearer ",
        "1:",
        "--from-literal=",
        "mnemonic ",
        "00D",
        ":AA",
        "-us",
        "key-",
        "token=",
        "%22",
        "vault s.",
        "$2a$10$",
        "((((",
        "-p ",
    ] {
        let text = piece.repeat(size / piece.len());
        let start = std::time::Instant::now();
        let redacted = redactor.text(&text);
        let spent = start.elapsed();
        assert!(redacted.as_str().len() <= text.len() * 4 + 64, "{piece}");
        // A debug build of a quadratic walk would take hours.
        assert!(spent.as_secs() < 20, "{piece:?} took {spent:?}");
    }
}
