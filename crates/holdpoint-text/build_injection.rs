//! Compiles `rules/injection/` into tables without pointers, so that nothing is parsed or built at start.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::injection_format::{
    FAMILIES, LexiconFile, ORIGINS, PLACES, RuleEntry, RulesFile, SEVERITIES,
};
use super::load;
use super::words::{self, Word, hash_of};

/// As many bits as `concepts::may_be_known` looks at.
const BITS: usize = 1 << 18;

/// As many places as `concepts::rows_of` probes.
const SLOTS: usize = 1 << 15;

pub(crate) fn write(root: &Path, target: &Path) {
    println!("cargo::rerun-if-changed={}", root.display());
    let lexicon: LexiconFile = load(&root.join("lexicon.toml"));
    let mut out = String::new();
    write_lexicon(&mut out, &lexicon);
    fs::write(target.join("injection_lexicon.rs"), out).unwrap();
    let mut files: Vec<PathBuf> = fs::read_dir(root)
        .expect("the rules are missing")
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "toml"))
        .filter(|path| !path.ends_with("lexicon.toml") && !path.ends_with("languages.toml"))
        .collect();
    files.sort();
    let mut tables = Rules {
        concepts: lexicon.concept.iter().map(|it| it.name.clone()).collect(),
        ..Rules::default()
    };
    for path in &files {
        let file: RulesFile = load(path);
        let place = path.file_name().unwrap().to_string_lossy().into_owned();
        for rule in &file.rule {
            tables.add(&file.family, rule, &format!("{place}: `{}`", rule.id));
        }
    }
    fs::write(target.join("injection_rules.rs"), tables.source()).unwrap();
}

/// The rules on their way into tables.
#[derive(Default)]
struct Rules {
    concepts: Vec<String>,
    ids: BTreeSet<String>,
    texts: String,
    words: Vec<u32>,
    elements: Vec<String>,
    /// By the concept a pattern begins with: its rule, its elements.
    patterns: BTreeMap<usize, Vec<String>>,
    tokens: Vec<(String, usize)>,
    rows: String,
}

impl Rules {
    fn add(&mut self, family: &str, rule: &RuleEntry, place: &str) {
        assert!(self.ids.insert(rule.id.clone()), "{place} stands twice");
        assert!(
            rule.id.starts_with(&format!("{family}.")),
            "{place} does not begin with its family"
        );
        assert!(
            rule.patterns.is_empty() != rule.tokens.is_empty(),
            "{place} needs `patterns` or `tokens`, not both"
        );
        assert!(
            !rule.matches.is_empty() && !rule.not_matches.is_empty(),
            "{place} has no examples of both kinds"
        );
        let index = self.ids.len() - 1;
        for pattern in &rule.patterns {
            self.pattern(index, pattern, place);
        }
        for token in &rule.tokens {
            let token: String = token.chars().filter(|c| !c.is_whitespace()).collect();
            assert!(
                token.starts_with(['<', '[', '#']) && token.chars().count() >= 3,
                "{place}: `{token}` does not begin with a sign that is looked for"
            );
            self.tokens.push((token, index));
        }
        let bit = |words: &[&str], word: &String| {
            1u32 << words
                .iter()
                .position(|known| known == word)
                .unwrap_or_else(|| panic!("{place}: unknown word `{word}`"))
        };
        let mask = |words: &[&str], list: &[String]| {
            list.iter().fold(0, |mask, word| mask | bit(words, word))
        };
        let origins = match mask(ORIGINS, &rule.origins) {
            0 => (1 << ORIGINS.len()) - 1,
            mask => mask,
        };
        let near = rule
            .near
            .iter()
            .fold(0u128, |mask, name| mask | 1 << self.concept(name, place));
        let (id, reason) = (self.text(&rule.id), self.text(&rule.reason));
        let (not_after, not_before) = (self.hashes(&rule.not_after), self.hashes(&rule.not_before));
        writeln!(
            self.rows,
            "    Rule {{ id: {id}, reason: {reason}, family: {}, severity: {}, origins: {origins}, \
             places: {}, near: {near}, not_after: {not_after}, not_before: {not_before} }},",
            bit(FAMILIES, &family.to_owned()).trailing_zeros(),
            bit(SEVERITIES, &rule.severity).trailing_zeros(),
            mask(PLACES, &rule.place),
        )
        .unwrap();
    }

    /// `<concept|concept>`, `word` or `(word|word)`, with `..3` where up to three other words may stand between.
    fn pattern(&mut self, rule: usize, pattern: &str, place: &str) {
        let (mut gap, mut firsts, start) = (0u8, 0u128, self.elements.len());
        for part in pattern.split_whitespace() {
            if let Some(number) = part.strip_prefix("..") {
                gap = number
                    .parse()
                    .unwrap_or_else(|_| panic!("{place}: `{part}` is no gap"));
                continue;
            }
            let (mut concepts, mut words) = (0u128, "Span { at: 0, length: 0 }".to_owned());
            if let Some(names) = part.strip_prefix('<') {
                for name in names.trim_end_matches('>').split('|') {
                    concepts |= 1 << self.concept(name, place);
                }
            } else {
                let list: Vec<String> = part
                    .trim_matches(['(', ')'])
                    .split('|')
                    .map(str::to_owned)
                    .collect();
                words = self.hashes(&list);
            }
            if self.elements.len() == start {
                assert!(concepts != 0, "{place}: `{pattern}` begins with no concept");
                firsts = concepts;
            }
            self.elements.push(format!(
                "    Element {{ concepts: {concepts}, words: {words}, gap: {gap} }},"
            ));
            gap = 0;
        }
        let length = self.elements.len() - start;
        assert!(
            (1..=8).contains(&length),
            "{place}: `{pattern}` is empty or too long"
        );
        let row = format!(
            "    Pattern {{ rule: {rule}, elements: Span {{ at: {start}, length: {length} }} }},"
        );
        for concept in 0..self.concepts.len() {
            if firsts >> concept & 1 != 0 {
                self.patterns.entry(concept).or_default().push(row.clone());
            }
        }
    }

    fn concept(&self, name: &str, place: &str) -> usize {
        self.concepts
            .iter()
            .position(|known| known == name)
            .unwrap_or_else(|| panic!("{place}: unknown concept `{name}`"))
    }

    fn hashes(&mut self, list: &[String]) -> String {
        let at = self.words.len();
        self.words.extend(list.iter().map(|word| hash_of(word)));
        format!("Span {{ at: {at}, length: {} }}", list.len())
    }

    fn text(&mut self, text: &str) -> String {
        let at = self.texts.len();
        self.texts.push_str(text);
        format!("Span {{ at: {at}, length: {} }}", text.len())
    }

    fn source(mut self) -> String {
        let mut heads = vec![0];
        let mut patterns = Vec::new();
        for concept in 0..self.concepts.len() {
            patterns.extend(self.patterns.remove(&concept).unwrap_or_default());
            heads.push(patterns.len());
        }
        // By their first bytes, the longest first: a token may begin like another.
        let key = |token: &str| {
            let bytes = token.as_bytes();
            u32::from(bytes[0]) << 16
                | u32::from(bytes[1].to_ascii_lowercase()) << 8
                | u32::from(bytes[2].to_ascii_lowercase())
        };
        let mut all = std::mem::take(&mut self.tokens);
        all.sort_by_key(|(token, rule)| {
            (key(token), usize::MAX - token.len(), token.clone(), *rule)
        });
        let tokens: Vec<String> = all
            .iter()
            .map(|(token, rule)| {
                let text = self.text(token);
                format!(
                    "    Token {{ key: {}, text: {text}, rule: {rule} }},",
                    key(token)
                )
            })
            .collect();
        let mut out = String::new();
        let mut table = |name: &str, kind: &str, count: usize, rows: &str| {
            writeln!(out, "static {name}: [{kind}; {count}] = [\n{rows}];").unwrap();
        };
        table("RULES", "Rule", self.ids.len(), &self.rows);
        table(
            "ELEMENTS",
            "Element",
            self.elements.len(),
            &self.elements.join("\n"),
        );
        table("PATTERNS", "Pattern", patterns.len(), &patterns.join("\n"));
        let heads_text: Vec<String> = heads.iter().map(usize::to_string).collect();
        table("PATTERN_HEADS", "u16", heads.len(), &heads_text.join(", "));
        table("TOKENS", "Token", tokens.len(), &tokens.join("\n"));
        let words: Vec<String> = self.words.iter().map(u32::to_string).collect();
        table("WORDS", "u32", words.len(), &words.join(", "));
        writeln!(out, "static TEXTS: &str = {:?};", self.texts).unwrap();
        out
    }
}

/// A word or phrase as the tables hold it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Phrase {
    words: Vec<String>,
    concept: usize,
}

fn write_lexicon(out: &mut String, lexicon: &LexiconFile) {
    let names: Vec<&str> = lexicon.concept.iter().map(|it| it.name.as_str()).collect();
    let distinct: BTreeSet<&&str> = names.iter().collect();
    assert_eq!(distinct.len(), names.len(), "a concept stands twice");
    assert!(names.len() <= 128, "more than 128 concepts");
    let mut phrases: BTreeMap<String, BTreeSet<Phrase>> = BTreeMap::new();
    for (concept, entry) in lexicon.concept.iter().enumerate() {
        for (language, list) in &entry.languages {
            for text in list.split(',').map(str::trim) {
                assert!(
                    !text.is_empty(),
                    "{}: an empty word in {language}",
                    entry.name
                );
                for spelling in spellings(text, language, lexicon) {
                    let words = words_of(&spelling);
                    assert!(
                        (1..=40).contains(&words.len()),
                        "{}: `{text}` has no words, or too many",
                        entry.name
                    );
                    phrases
                        .entry(words[0].to_lowercase())
                        .or_default()
                        .insert(Phrase { words, concept });
                }
            }
        }
    }
    let (mut bits, mut pairs) = (vec![0u64; BITS / 64], vec![0u64; BITS / 64]);
    let mut slots = vec![0u16; SLOTS];
    let (mut firsts, mut heads, mut rows) = (Vec::new(), vec![0], String::new());
    let (mut texts, mut count) = (String::new(), 0);
    for (first, phrases) in &phrases {
        let hash = hash_of(first);
        for phrase in phrases {
            match phrase.words.get(1) {
                Some(second) => set(&mut pairs, concepts_pair(hash, hash_of(second))),
                None => set(&mut bits, hash),
            }
        }
        let mut slot = (hash.wrapping_mul(0x85eb_ca6b) >> 17) as usize;
        while slots[slot] != 0 {
            slot = (slot + 1) % SLOTS;
        }
        firsts.push(hash);
        slots[slot] = u16::try_from(firsts.len()).expect("too many first words");
        for phrase in phrases {
            let text = phrase.words.join(" ");
            writeln!(
                rows,
                "Row {{ second: {}, text: {}, length: {}, words: {}, concept: {}, exact: {} }},",
                phrase.words.get(1).map_or(0, |word| hash_of(word)),
                texts.len(),
                u8::try_from(text.len()).unwrap_or_else(|_| panic!("`{text}` is too long")),
                phrase.words.len(),
                phrase.concept,
                text.contains(|c: char| c.is_ascii_uppercase()),
            )
            .unwrap();
            texts.push_str(&text);
            count += 1;
        }
        heads.push(count);
    }
    let distinct: BTreeSet<u32> = firsts.iter().copied().collect();
    assert_eq!(distinct.len(), firsts.len(), "two words share a hash");
    assert!(firsts.len() * 4 < SLOTS * 3, "the places are too few");
    writeln!(
        out,
        "static NAMES: [&str; {}] = {names:?};\n\
         static BITS: [u64; {}] = {bits:?};\n\
         static PAIRS: [u64; {}] = {pairs:?};\n\
         static SLOTS: [u16; {SLOTS}] = {slots:?};\n\
         static FIRSTS: [u32; {}] = {firsts:?};\n\
         static HEADS: [u16; {}] = {heads:?};\n\
         static ROWS: [Row; {count}] = [\n{rows}];\n\
         static TEXTS: &str = {texts:?};",
        names.len(),
        bits.len(),
        pairs.len(),
        firsts.len(),
        heads.len(),
    )
    .unwrap();
}

/// Sets the two bits of one number that `concepts::has` looks at.
fn set(bits: &mut [u64], hash: u32) {
    let mixed = hash.wrapping_mul(0x9e37_79b1);
    bits[(mixed >> 20) as usize] |= 1 << (mixed >> 14 & 63) | 1 << (mixed >> 8 & 63);
}

/// The hash of two words; `concepts::pair` computes the same.
fn concepts_pair(first: u32, second: u32) -> u32 {
    first.rotate_left(7) ^ second
}

/// The words of a text as they are compared: without apostrophes, in the case they are written.
fn words_of(text: &str) -> Vec<String> {
    let mut words: Vec<Word> = Vec::new();
    words::split(text, &mut words);
    words
        .iter()
        .filter_map(|word| text.get(word.start as usize..word.end as usize))
        .map(|word| word.replace(['\'', '\u{2019}', '\u{2bc}'], ""))
        .collect()
}

/// A word or phrase in every way people write it.
fn spellings(text: &str, language: &str, lexicon: &LexiconFile) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    if let Some(stem) = text.strip_suffix('~') {
        let endings = lexicon
            .endings
            .get(language)
            .unwrap_or_else(|| panic!("`{text}`: no endings of {language} are listed"));
        for ending in endings.split(',').map(str::trim) {
            all.insert(format!("{stem}{ending}"));
        }
    } else {
        all.insert(text.to_owned());
    }
    assert!(
        all.iter().all(|text| !text.contains('~')),
        "`{text}`: only the end of an entry varies"
    );
    let mut more = |change: &dyn Fn(&str) -> Option<String>| {
        let changed: Vec<String> = all.iter().filter_map(|it| change(it)).collect();
        all.extend(changed);
    };
    more(&|it| Some(it.nfkc().collect()));
    // A joiner that is not printed parts words for some readers and not for others.
    more(&|it| Some(it.replace('\u{200c}', "")));
    if language == "de" {
        more(&|it| Some(it.replace('ä', "ae").replace('ö', "oe").replace('ü', "ue")));
    }
    if matches!(language, "fr" | "it") {
        for article in ["l", "d"] {
            more(&|it| {
                let vowel = it.starts_with(['a', 'e', 'é', 'i', 'o', 'u', 'h']);
                (vowel && !it.contains(' ')).then(|| format!("{article}'{it}"))
            });
        }
    }
    more(&|it| plain(it));
    all
}

/// A text without accents, unless too little would be left to know it by.
fn plain(text: &str) -> Option<String> {
    let plain: String = text
        .nfd()
        .filter(|c| !is_combining_mark(*c) || !is_dropped_accent(*c))
        .map(|c| match c {
            'ı' => 'i',
            'ł' => 'l',
            'ø' => 'o',
            'đ' => 'd',
            other => other,
        })
        .collect::<String>()
        .replace('ß', "ss")
        .nfc()
        .collect();
    (plain.chars().count() >= 4).then_some(plain)
}

/// Accents people leave out: those of Latin, Greek and Cyrillic letters and the hamza of Arabic ones.
fn is_dropped_accent(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{653}'..='\u{655}')
}
