//! How many made-up secrets of each format are found, in which surroundings.
//!
//! The secrets are drawn from the shapes in `rules/redaction/`, so this says that nothing around a
//! secret hides it; that the shapes are those of real secrets is for their authors to know.

use std::path::Path;

use super::format::FormatsFile;
use super::shape::Shape;
use super::*;

/// Ways in which a secret stands in what agents write and read.
const SURROUNDINGS: [&str; 16] = [
    "@",
    "the key is @ and it works",
    "export VALUE=@",
    "run --value @ --verbose",
    "run --value='@'",
    "{\"value\": \"@\", \"other\": 1}",
    "{\\\"value\\\":\\\"@\\\"}",
    "value: @\nother: 1\n",
    "value = \"@\"\n",
    "<value>@</value>",
    "https://example.test/path?value=@&other=1",
    "https://example.test/path%3Fvalue%3D@%26other%3D1",
    "first\\n@\\nlast",
    "(@), [@], @",
    "\u{1b}[31m@\u{1b}[0m",
    "key:@|next",
];

/// A small generator of numbers, the same every time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit.max(1)
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a test reads the formats as written"
)]
fn files() -> Vec<FormatsFile> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rules/redaction");
    let entries = std::fs::read_dir(root).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let formats =
        paths.filter(|path| !path.ends_with("names.toml") && !path.ends_with("programs.toml"));
    formats
        .map(|path| toml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap())
        .collect()
}

/// A text of the shape that passes the format's checks.
fn made_up(
    shape: &Shape,
    checks: &[String],
    numbers: &mut Numbers,
) -> (String, std::ops::Range<usize>) {
    loop {
        let (text, secret) = shape.sample(&mut |limit| numbers.below(limit));
        let bytes = &text.as_bytes()[secret.clone()];
        let has = |test: fn(&u8) -> bool| bytes.iter().any(test);
        let (digits, upper, lower) = (
            has(u8::is_ascii_digit),
            has(u8::is_ascii_uppercase),
            has(u8::is_ascii_lowercase),
        );
        let fine = checks.iter().all(|check| match check.as_str() {
            "mixed" => digits && (upper || lower),
            "upper-and-lower" => upper && lower,
            "varied" => values::entropy(bytes) >= 48,
            _ => true,
        });
        if fine {
            return (text, secret);
        }
    }
}

#[test]
fn distinctive_secrets_are_found_wherever_they_stand() {
    let redactor = Redactor::new();
    let mut numbers = Numbers(4);
    let mut wrong = Vec::new();
    let (mut tried, mut missed) = (0, 0);
    for format in files().iter().flat_map(|file| &file.format) {
        // A token whose first part must decode is made up elsewhere.
        if format.prefix.is_empty() || format.check.iter().any(|check| check == "jwt") {
            continue;
        }
        let shape = Shape::read(&format.shape).unwrap();
        let mut lost = 0;
        for turn in 0..64 {
            let (text, span) = made_up(&shape, &format.check, &mut numbers);
            let around = SURROUNDINGS[turn % SURROUNDINGS.len()].replace('@', &text);
            tried += 1;
            if redactor
                .text(&around)
                .as_str()
                .contains(text.get(span).unwrap())
            {
                lost += 1;
                if lost == 1 {
                    wrong.push(format!("{}: {around}", format.id));
                }
            }
        }
        missed += lost;
        assert!(
            lost <= 1,
            "{} of 64 {} are missed: {:?}",
            lost,
            format.id,
            wrong.last()
        );
    }
    assert!(
        missed * 1000 <= tried,
        "{missed} of {tried} are missed:\n{}",
        wrong.join("\n")
    );
}
