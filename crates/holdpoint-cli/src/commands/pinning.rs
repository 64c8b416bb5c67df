//! `holdpoint people pin` and `unpin`: whose signatures release calls on this machine. For root alone.

use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::{Context as _, bail};
use holdpoint_engine::{Locations, Pinned, change_pins};
use holdpoint_proof::{PinnedKey, Pins};
use serde_json::json;

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
    only_root()?;
    let key = read_key(file)?;
    let own_check = key.verifying()?.short_check();
    match check {
        Some(given) if given != own_check => bail!(
            "the file holds another key (`{own_check}`) than you were shown (`{given}`): somebody changed it, or it is another file"
        ),
        None if key.public_key.is_empty() || key.rp.is_some() => bail!(
            "compare the key with what the page shows: add --check and the {} characters it shows",
            own_check.len()
        ),
        Some(_) | None => {}
    }
    let locations = Locations::of_this_machine();
    let (id, kind) = (key.id.clone(), key.kind);
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
    only_root()?;
    let mut gone = 0;
    change_pins(&Locations::of_this_machine(), |pins| {
        gone = pins.unpin(name, key);
        Ok(())
    })
    .map_err(anyhow::Error::msg)?;
    if gone == 0 {
        bail!("`{}` has no such key", escape_for_display(name, 80));
    }
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

fn only_root() -> anyhow::Result<()> {
    match holdpoint_sandbox::user::id() {
        0 => Ok(()),
        _ => bail!(
            "only root says whose signatures count, so that nothing of this account can: run it with sudo"
        ),
    }
}
