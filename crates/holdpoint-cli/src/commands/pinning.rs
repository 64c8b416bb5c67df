//! `holdpoint people pin` and `unpin`: whose signatures release calls on this machine. For root alone.

use std::fs;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use anyhow::{Context as _, bail};
use holdpoint_engine::{Locations, Pinned, Recorder, change_pins, text_without_secrets};
use holdpoint_ledger::Kind;
use holdpoint_proof::{PinnedKey, Pins};
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::terminal::{Terminal, escape_for_display};

/// The most bytes of a file with a key.
const MAX_FILE: u64 = 64 << 10;

/// Pins a key: the `.pub` file of ssh, or what the page kept of a passkey.
pub(crate) fn pin(
    name: &str,
    file: &Path,
    check: Option<&str>,
    json: bool,
    terminal: &mut Terminal,
) -> anyhow::Result<Exit> {
    // Records hold the name against what was signed.
    if text_without_secrets(name) != name {
        bail!("this name looks like a secret, which would be taken out of the record: use another");
    }
    let key = read_key(file)?;
    let verifying = key.verifying()?;
    let own_check = verifying.short_check();
    match check {
        Some(given) if is_check(given, verifying.fingerprint()) => {}
        Some(given) => bail!(
            "the file holds another key (`{own_check}`) than you were shown (`{}`): somebody changed it, or it is another file",
            escape_for_display(given, 80)
        ),
        // The file is the account's, so any program of it can have put a key of its own there.
        None => bail!(
            "say which key you have seen, so that no other is pinned: add --check and the ten characters the page shows of a passkey, or the \
             fingerprint `ssh-keygen` printed when you made the key (`SHA256:…`)"
        ),
    }
    let locations = Locations::of_this_machine();
    let (id, kind) = (key.id.clone(), key.kind);
    let what = json!({
        "action": "pin key", "person": name, "key": id, "kind": kind, "fingerprint": verifying.fingerprint(),
    });
    record(&locations, &what)?;
    change_pins(&locations, |pins| {
        pins.pin(name, key.clone()).map_err(|bad| bad.to_string())
    })
    .map_err(anyhow::Error::msg)?;
    if json {
        let line = json!({"v": 1, "pinned": name, "key": id, "kind": kind, "check": own_check});
        writeln!(terminal.out, "{line}")?;
        return Ok(Exit::Fine);
    }
    writeln!(
        terminal.out,
        "Pinned for {}: {} ({own_check})\n  From now on calls of high and critical risk are released by a signature alone.",
        escape_for_display(name, 80),
        escape_for_display(&id, 120)
    )?;
    Ok(Exit::Fine)
}

/// Takes one key of somebody back, or all.
pub(crate) fn unpin(
    name: &str,
    key: Option<&str>,
    json: bool,
    terminal: &mut Terminal,
) -> anyhow::Result<Exit> {
    let locations = Locations::of_this_machine();
    let has_key = |one: &PinnedKey| key.is_none_or(|key| key == one.id || one.is_called(key));
    let theirs: Vec<String> = match Pinned::at(&locations) {
        Pinned::Keys(pins) => every_key(&pins)
            .filter(|(person, one)| *person == name && has_key(one))
            .map(|(_, one)| one.id.clone())
            .collect(),
        Pinned::Nobody => Vec::new(),
        Pinned::Unusable(why) => bail!(why),
    };
    if theirs.is_empty() {
        bail!("`{}` has no such key", escape_for_display(name, 80));
    }
    let what = json!({"action": "unpin keys", "person": name, "keys": theirs});
    record(&locations, &what)?;
    let mut gone = 0;
    change_pins(&locations, |pins| {
        gone = pins.unpin(name, key);
        Ok(())
    })
    .map_err(anyhow::Error::msg)?;
    match json {
        true => writeln!(
            terminal.out,
            "{}",
            json!({"v": 1, "unpinned": name, "keys": gone})
        )?,
        false => writeln!(
            terminal.out,
            "Taken back: {gone} of {}",
            escape_for_display(name, 80)
        )?,
    }
    Ok(Exit::Fine)
}

/// The keys that count, a line each.
pub(crate) fn lines(locations: &Locations) -> Vec<String> {
    match Pinned::at(locations) {
        Pinned::Nobody => Vec::new(),
        Pinned::Unusable(why) => vec![format!("no pinned key counts: {why}")],
        Pinned::Keys(pins) => every_key(&pins)
            .map(|(name, key)| {
                let check = key.verifying().map(|key| key.short_check());
                format!(
                    "{} signs with {} ({})",
                    escape_for_display(name, 80),
                    escape_for_display(&key.id, 120),
                    check.unwrap_or_default()
                )
            })
            .collect(),
    }
}

/// Whether somebody has seen the key with this fingerprint: all of it, or as many of its letters and digits as a passkey is compared
/// by ([`holdpoint_proof::VerifyingKey::short_check`]) from its beginning on.
fn is_check(given: &str, fingerprint: &str) -> bool {
    let plain = |text: &str| -> String {
        let text = text.strip_prefix("SHA256:").unwrap_or(text);
        text.chars().filter(char::is_ascii_alphanumeric).collect()
    };
    let given = plain(given.trim());
    given.len() >= MIN_CHECK && plain(fingerprint).starts_with(&given)
}

/// The fewest characters somebody compares: what the page shows.
const MIN_CHECK: usize = 10;

fn every_key(pins: &Pins) -> impl Iterator<Item = (&str, &PinnedKey)> {
    let people = pins.people.iter();
    people.flat_map(|person| person.keys.iter().map(|key| (person.name.as_str(), key)))
}

fn read_key(file: &Path) -> anyhow::Result<PinnedKey> {
    let unreadable = || format!("{}: cannot be read", file.display());
    if fs::metadata(file).with_context(unreadable)?.len() > MAX_FILE {
        bail!("{}: this is no key", file.display());
    }
    let text = fs::read_to_string(file).with_context(unreadable)?;
    if text.trim_start().starts_with('{') {
        let key: PinnedKey = serde_json::from_str(&text)
            .with_context(|| format!("{}: this is no passkey of the page", file.display()))?;
        return Ok(key);
    }
    PinnedKey::of_ssh(&text).with_context(|| format!("{}", file.display()))
}

/// Puts on record whose signatures count from now on, before they do: in root's ledger. Where the command was given the home of
/// somebody else, as some systems' sudo does, that is in root's own home: what root wrote into theirs, they could no longer.
fn record(locations: &Locations, what: &Value) -> anyhow::Result<()> {
    let theirs = locations
        .home
        .as_deref()
        .is_some_and(|home| fs::metadata(home).is_ok_and(|home| home.uid() != 0));
    let own = match theirs {
        false => locations.clone(),
        true => Locations {
            state: Some(Path::new(ROOTS_HOME).join(".local/state/holdpoint")),
            ..locations.clone()
        },
    };
    Recorder::at(&own)?.changes(Kind::PolicyChange, None, what)?;
    Ok(())
}

const ROOTS_HOME: &str = match cfg!(target_os = "macos") {
    true => "/var/root",
    false => "/root",
};

pub(super) fn only_root() -> anyhow::Result<()> {
    match holdpoint_sandbox::user::id() {
        0 => Ok(()),
        _ => bail!(
            "only root says whose signatures count, so that nothing of this account can: run it with sudo"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::is_check;

    #[test]
    fn a_key_is_known_by_ten_characters_at_least() {
        let key = "SHA256:AbC+d/efGhIjKlMnOp";
        for seen in [key, "AbC+d/efGhIjKlMnOp", "AbCdefGhIj", " AbCdefGhIjK "] {
            assert!(is_check(seen, key), "{seen}");
        }
        for other in ["", "SHA256:", "AbCdefGhI", "bCdefGhIjK", "AbCdefGhIjX"] {
            assert!(!is_check(other, key), "{other}");
        }
    }
}
