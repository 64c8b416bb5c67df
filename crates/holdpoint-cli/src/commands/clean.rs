//! `holdpoint clean`: a text without what nobody sees, or without what was found in it.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use anyhow::{anyhow, bail};
use holdpoint_cli::scan::json::safe;
use holdpoint_cli::scan::{Written, replace};
use holdpoint_core::document::hint;
use holdpoint_core::text::Origin;
use holdpoint_core::text::clean::{Cleaned, Cleaner, Mode};
use holdpoint_core::text::inspection::Terms;
use holdpoint_core::text::redaction::{Kinds, Marker, Redactor};
use serde_json::{Map, Value, json};

use super::in_words;
use super::scan::{origin, terms};
use crate::cli::Clean;
use crate::exit::Exit;
use crate::terminal::{Terminal, escape_for_display};

/// The longest text that is cleaned: it is held in memory several times over. A longer one is an error that says to
/// split it.
const MAX_TEXT: u64 = 256 << 20;

pub(crate) fn run(args: &Clean, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    let files = args.files.len();
    if files > 1 && !(args.in_place || args.check) {
        bail!("there are {files} files: name one, or change them with --in-place");
    }
    let cleaning = Cleaning::new(args)?;
    let mut changed = false;
    let input = [Path::new("-").to_owned()];
    let paths = match files {
        0 => input.as_slice(),
        _ => &args.files,
    };
    for path in paths {
        let done = cleaning.clean(path)?;
        changed |= done.is_changed();
        if args.report {
            let report = safe(&done.report(cleaning.mode).to_string());
            writeln!(io::stderr(), "{report}")?;
        }
        if args.in_place && !done.is_input() {
            if done.is_changed() {
                replace(path, &done.after).map_err(|error| {
                    anyhow!("{}: it cannot be changed ({})", done.name, error.kind())
                })?;
            }
        } else if !args.check {
            terminal.out.write_all(&done.after)?;
        }
    }
    Ok(if args.check && changed {
        Exit::Denied
    } else {
        Exit::Fine
    })
}

/// What is done to every text.
struct Cleaning {
    terms: Terms,
    mode: Mode,
    origin: Option<Origin>,
    collapse: bool,
    secrets: Option<Redactor>,
}

impl Cleaning {
    fn new(args: &Clean) -> anyhow::Result<Self> {
        let mut random = [0; 16];
        getrandom::fill(&mut random)
            .map_err(|_| anyhow!("the system gives no random numbers, which a fence is made of"))?;
        Ok(Self {
            mode: Mode::named(&args.mode, || random).map_err(|unknown| {
                let hint = hint(&unknown.word, &Mode::WORDS);
                anyhow!(
                    "--mode: unknown mode `{}`: {hint}",
                    escape_for_display(&unknown.word, 40)
                )
            })?,
            terms: terms(args.config.as_deref(), args.profile.as_deref())?,
            origin: args.origin.as_deref().map(origin).transpose()?,
            collapse: args.collapse_whitespace,
            secrets: args.secrets.then(secrets),
        })
    }

    /// Cleans what stands in a file, or on standard input.
    fn clean(&self, path: &Path) -> anyhow::Result<Done> {
        let is_input = path.as_os_str() == "-";
        let name = match is_input {
            true => "stdin".to_owned(),
            false => escape_for_display(&path.display().to_string(), 500),
        };
        let before = match is_input {
            true => bytes(io::stdin().lock()),
            false => File::open(path).and_then(bytes),
        };
        let before = before.map_err(|error| anyhow!("{name}: {}", in_words(&error)))?;
        if u64::try_from(before.len()).unwrap_or(u64::MAX) > MAX_TEXT {
            bail!("{name}: it has more than {MAX_TEXT} bytes: split it");
        }
        let Some(written) = Written::read(&before) else {
            bail!(
                "{name}: what is text in it cannot be told from what is not: convert it to UTF-8"
            );
        };
        let usual = if is_input { Origin::Tool } else { Origin::File };
        let (cleaned, kinds) = self.text(written.text(), self.origin.unwrap_or(usual));
        Ok(Done {
            after: written.bytes(&cleaned.text),
            name,
            is_input,
            before,
            cleaned,
            kinds,
        })
    }

    fn text(&self, text: &str, origin: Origin) -> (Cleaned, Kinds) {
        let mut cleaner = Cleaner::new(&self.terms, self.mode);
        if self.collapse {
            cleaner = cleaner.collapsing_white_space();
        }
        let Some(secrets) = &self.secrets else {
            return (cleaner.text(text, origin), Kinds::default());
        };
        if let Mode::Fence(_) = self.mode {
            // What is between the lines decides what is on them.
            let (text, kinds) = secrets.text_counted(text);
            return (cleaner.text(text.as_str(), origin), kinds);
        }
        let mut cleaned = cleaner.text(text, origin);
        let (text, kinds) = secrets.text_counted(&cleaned.text);
        cleaned.text = text.into_string();
        (cleaned, kinds)
    }
}

/// At most one byte more than a text may have.
fn bytes(reader: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(MAX_TEXT + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Secrets, and not who somebody is.
fn secrets() -> Redactor {
    Marker::ALL
        .into_iter()
        .filter(|marker| marker.is_personal())
        .fold(Redactor::new(), Redactor::keeping)
}

/// A text before and after.
struct Done {
    name: String,
    is_input: bool,
    before: Vec<u8>,
    after: Vec<u8>,
    cleaned: Cleaned,
    kinds: Kinds,
}

impl Done {
    fn is_input(&self) -> bool {
        self.is_input
    }

    fn is_changed(&self) -> bool {
        self.before != self.after
    }

    /// What was taken out: how much of what kind, and nothing of what it was.
    fn report(&self, mode: Mode) -> Value {
        let removed: Map<String, Value> = self
            .cleaned
            .removed
            .iter()
            .map(|(family, count)| (family.name().to_owned(), json!(count)))
            .collect();
        json!({
            "v": 1,
            "path": self.name,
            "mode": mode.name(),
            "changed": self.is_changed(),
            "removed": removed,
            "secrets": self.kinds,
            "before": self.before.len(),
            "after": self.after.len(),
        })
    }
}
