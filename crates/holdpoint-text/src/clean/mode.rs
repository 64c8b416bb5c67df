//! The ways to clean a text, by the words people use for them.

use std::fmt;

/// A way to clean a text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// What was found is taken out.
    Remove,
    /// A short note stands in place of what was found.
    Redact,
    /// What was found stays readable, in quotes and with dots in its words, so that nothing takes it for an
    /// order or a token. Tokens of chat templates are taken out.
    Escape,
    /// What nobody sees and what terminals act on is taken out, and nothing else.
    Strip,
    /// The text stands between two lines that nobody can have guessed, made of these bytes.
    Fence([u8; 16]),
}

impl Mode {
    /// The words for them.
    pub const WORDS: [&'static str; 5] = ["remove", "redact", "escape", "strip", "fence"];

    /// The mode somebody means by a word. `random` is asked for bytes nobody can guess if the mode
    /// needs them. An unknown word is an error: a mode that did nothing would pass for one that
    /// cleans (O-05).
    pub fn named(word: &str, random: impl FnOnce() -> [u8; 16]) -> Result<Self, UnknownMode> {
        match word {
            "remove" => Ok(Self::Remove),
            "redact" => Ok(Self::Redact),
            "escape" => Ok(Self::Escape),
            "strip" => Ok(Self::Strip),
            "fence" => Ok(Self::Fence(random())),
            _ => Err(UnknownMode {
                word: word.to_owned(),
            }),
        }
    }

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Remove => "remove",
            Mode::Redact => "redact",
            Mode::Escape => "escape",
            Mode::Strip => "strip",
            Mode::Fence(_) => "fence",
        }
    }
}

impl fmt::Debug for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Whoever can read the bytes of a fence can close it.
        f.write_str(self.name())
    }
}

/// A word that is no mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownMode {
    /// The word.
    pub word: String,
}

impl fmt::Display for UnknownMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = crate::escape_for_display(&self.word, 40);
        write!(f, "unknown mode `{word}`: use one of")?;
        for (place, mode) in Mode::WORDS.iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            write!(f, "{comma} `{mode}`")?;
        }
        Ok(())
    }
}

impl std::error::Error for UnknownMode {}
