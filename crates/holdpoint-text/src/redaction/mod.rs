//! Redaction: nothing that is written down or shown holds a secret.
//!
//! A [`Redactor`] turns text and JSON into [`Redacted`] and [`RedactedJson`], the only kinds a
//! writer takes. Secrets are known by their form (the formats under `rules/redaction/`), by what
//! they are given to (`DB_PASSWORD=…`, `mysql -p…`, `Authorization: …`) or by where they stand
//! (`https://user:…@host`). In their place stands a marker (O-22); how many of which kind there
//! were is told, what they were never (O-14).
//!
//! References (`$TOKEN`) stay, since they say where a secret is kept and not what it is. Guesses by
//! randomness are reported by [`Redactor::find`] and never acted on. Redacting is idempotent, never
//! fails, and takes time linear in the text.

mod addresses;
mod assignments;
mod borders;
mod finding;
#[allow(dead_code, reason = "the build script reads what these describe")]
mod format;
mod guesses;
mod headers;
mod home;
mod json;
mod key_files;
mod manifest;
mod marker;
mod matcher;
mod names;
mod own;
mod personal;
mod programs;
mod redacted;
mod rest;
mod scan;
#[allow(dead_code, reason = "the build script uses more of it")]
mod shape;
mod stdin;
mod tables;
mod tag;
mod values;

#[cfg(test)]
mod recall;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ops::Range;

use serde_json::{Map, Value};

pub use finding::{Certainty, Finding};
pub use marker::{Kinds, Marker};
pub use own::{MAX_OWN, OwnFormat};
pub use redacted::{Redacted, RedactedJson};

use finding::{Raw, Source, settle};
use home::Home;
use scan::Wanted;

/// How often a text is gone over at most until nothing more is found in it.
const PASSES: usize = 4;

/// How many secrets are looked for a second time, wherever else they stand.
const MAX_AGAIN: usize = 16;

/// Whether a secret is one that nothing else in a text looks like by chance.
fn is_telling(secret: &str) -> bool {
    let make = values::Make::from_bytes(secret.as_bytes());
    (8..=4096).contains(&secret.len()) && make.is_mixed() && make.digits > 0
}

/// The lines around a part of a text, and as far as any reader looks to either side.
fn surroundings(text: &str, part: &Range<usize>) -> Range<usize> {
    const MAX_REACH: usize = 256;
    let before = text.floor_char_boundary(part.start.saturating_sub(MAX_REACH));
    let start = text.get(..before).and_then(|head| head.rfind('\n'));
    let behind = text.floor_char_boundary(text.len().min(part.end + MAX_REACH));
    let end = text.get(behind..).and_then(|tail| tail.find('\n'));
    start.map_or(0, |line| line + 1)..end.map_or(text.len(), |line| behind + line)
}

/// What is redacted, and how it is marked.
#[derive(Clone, Debug)]
pub struct Redactor {
    home: Option<Home>,
    salt: Option<[u8; 32]>,
    wanted: Wanted,
    own: Vec<OwnFormat>,
}

impl Default for Redactor {
    fn default() -> Self {
        Self::new()
    }
}

impl Redactor {
    /// Redacts every kind of secret and personal data but IP addresses.
    pub fn new() -> Self {
        let all = Marker::ALL
            .iter()
            .fold(0, |bits, marker| bits | 1 << marker.index());
        Self {
            home: None,
            salt: None,
            wanted: Wanted { markers: all },
            own: Vec::new(),
        }
        .keeping(Marker::Ip)
    }

    /// Leaves one kind as it is.
    #[must_use]
    pub fn keeping(mut self, marker: Marker) -> Self {
        self.wanted.markers &= !(1 << marker.index());
        self
    }

    /// Redacts one kind after all, such as IP addresses.
    #[must_use]
    pub fn redacting(mut self, marker: Marker) -> Self {
        self.wanted.markers |= 1 << marker.index();
        self
    }

    /// Shortens this directory to `~`. A path that is not absolute changes nothing.
    #[must_use]
    pub fn shortening_home(mut self, home: &str) -> Self {
        self.home = Home::new(home);
        self
    }

    /// Adds a short keyed tag to markers (`[TOKEN:9f3ac2d1]`), so that equal secrets can be
    /// recognised by whoever reads them, and by nobody without the salt guessed.
    #[must_use]
    pub fn salted(mut self, salt: [u8; 32]) -> Self {
        self.salt = Some(salt);
        self
    }

    /// Looks for formats of a user's own, too; the first [`MAX_OWN`] of them.
    #[must_use]
    pub fn with_formats(mut self, formats: impl IntoIterator<Item = OwnFormat>) -> Self {
        self.own.extend(formats);
        self.own.truncate(MAX_OWN);
        self
    }

    /// The text without secrets.
    pub fn text(&self, text: &str) -> Redacted {
        self.text_counted(text).0
    }

    /// The text without secrets, and how many of which kind there were.
    pub fn text_counted(&self, text: &str) -> (Redacted, Kinds) {
        let mut kinds = Kinds::default();
        let short = self.home.as_ref().and_then(|home| home.shortened(text));
        let mut now = short.map_or(Cow::Borrowed(text), Cow::Owned);
        // What is taken out may bring together what was apart: where something was, a second look
        // is taken, which finds nothing new but in the strangest of texts.
        for _ in 0..PASSES {
            let Some((next, changed)) = self.replaced(&now, &mut kinds) else {
                break;
            };
            let settled = next
                .get(changed)
                .is_some_and(|part| scan::scan(part, self.wanted, &self.own).is_empty());
            now = Cow::Owned(next);
            if settled {
                break;
            }
        }
        (Redacted::new(now.into_owned()), kinds)
    }

    /// The value without secrets, and how many of which kind there were. Keys say what their
    /// values are: `{"password": "x"}` holds a secret however `x` looks.
    pub fn json(&self, value: &Value) -> (RedactedJson, Kinds) {
        let mut kinds = Kinds::default();
        let redacted = self.value(value, None, 0, &mut kinds);
        (RedactedJson::new(redacted), kinds)
    }

    /// The same for the fields of an object.
    pub fn fields(&self, fields: &Map<String, Value>) -> (RedactedJson, Kinds) {
        let mut kinds = Kinds::default();
        let redacted = self.object(fields, None, 0, &mut kinds);
        (RedactedJson::new(Value::Object(redacted)), kinds)
    }

    /// What is in a text that should not be kept, guesses included, in order.
    pub fn find(&self, text: &str) -> Vec<Finding> {
        let mut found = scan::scan(text, self.wanted, &self.own);
        guesses::find(text.as_bytes(), &mut found);
        let finding = |raw: Raw| {
            let (format, what) = raw.source.id_and_label();
            let own = match raw.source {
                Source::Own(number) => self.own.get(usize::from(number)),
                Source::Format(_)
                | Source::Assignment
                | Source::Flag
                | Source::Header
                | Source::Address
                | Source::KeyFile
                | Source::Personal
                | Source::Random => None,
            };
            let format = own.map_or(Cow::Borrowed(format), |own| Cow::Owned(own.id.clone()));
            Finding {
                format,
                what: Cow::Borrowed(what),
                marker: raw.marker,
                span: raw.start..raw.end,
                certainty: raw.certainty,
            }
        };
        settle(found).into_iter().map(finding).collect()
    }

    /// The formats that are known: id, what it is, marker, and whether its form alone says so or a
    /// word shortly before it must, too.
    pub fn formats() -> impl Iterator<Item = (&'static str, &'static str, Marker, Certainty)> {
        tables::FORMATS.iter().map(|row| {
            let certainty = if row.near {
                Certainty::Likely
            } else {
                Certainty::Certain
            };
            (
                row.id.get(),
                row.what.get(),
                Marker::from_number(row.marker),
                certainty,
            )
        })
    }

    fn wants(&self, marker: Marker) -> bool {
        self.wanted.has(marker)
    }

    /// The text with markers, and the part of it that another look could see differently; none if
    /// there is nothing to mark.
    fn replaced(&self, text: &str, kinds: &mut Kinds) -> Option<(String, Range<usize>)> {
        let found = settle(scan::scan(text, self.wanted, &self.own));
        if found.is_empty() {
            return None;
        }
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        let mut known: Vec<(&str, Marker)> = Vec::new();
        let mut changed: Option<Range<usize>> = None;
        for raw in found {
            let (Some(between), Some(secret)) =
                (text.get(at..raw.start), text.get(raw.start..raw.end))
            else {
                continue;
            };
            out.push_str(between);
            let start = changed.map_or(out.len(), |changed| changed.start);
            out.push_str(&self.mark(raw.marker, secret));
            changed = Some(start..out.len());
            kinds.note(raw.marker);
            at = raw.end;
            let again = known.len() < MAX_AGAIN && is_telling(secret) && !raw.marker.is_personal();
            if again && !known.contains(&(secret, raw.marker)) {
                known.push((secret, raw.marker));
            }
        }
        out.push_str(text.get(at..).unwrap_or(""));
        // What is a secret in one place is one wherever else it stands in the text.
        for (secret, marker) in known {
            if out.contains(secret) {
                out = out.replace(secret, &self.mark(marker, secret));
                kinds.note(marker);
                changed = None;
            }
        }
        let changed = changed.map_or(0..out.len(), |changed| surroundings(&out, &changed));
        Some((out, changed))
    }

    fn mark(&self, marker: Marker, secret: &str) -> String {
        match &self.salt {
            Some(salt) => format!("[{}:{}]", marker.name(), tag::tag(salt, secret.as_bytes())),
            None => marker.to_string(),
        }
    }
}
