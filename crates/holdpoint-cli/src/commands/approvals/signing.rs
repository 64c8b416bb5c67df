//! Signing a release with a key of ssh that has a device: `ssh-keygen` asks it, and a person touches it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};
use holdpoint_broker::wire::{self, Places, Reply, Wanted};
use holdpoint_broker::{Answer, Request, card_digest};
use holdpoint_core::policy::Presence;
use holdpoint_engine::{Locations, Pinned};
use holdpoint_proof::statement::NAMESPACE;
use holdpoint_proof::{Pins, Proof, Signed, Statement, VerifyingKey};

use crate::terminal::escape_for_display;

/// The keys `ssh-keygen -t ed25519-sk` and `ecdsa-sk` make where nobody says otherwise.
const USUAL_KEYS: &[&str] = &["id_ed25519_sk", "id_ecdsa_sk"];

/// What somebody signed to let a request run, where the policy wants that; nothing where it does not. A refusal needs no proof.
pub(super) fn signed(
    places: &Places,
    locations: &Locations,
    request: &Request,
    answer: &Answer,
    key: Option<&Path>,
) -> anyhow::Result<Option<Signed>> {
    if !answer.releases() || request.terms.presence != Presence::Key {
        return Ok(None);
    }
    if !matches!(answer, Answer::Yes | Answer::Once) {
        bail!("a key must sign this, and a signature is for one call: answer without a rule");
    }
    let pins = Pinned::at(locations).keys().map_err(anyhow::Error::msg)?;
    let (file, id, name) = signing_key(locations, &pins, key)?;
    let wanted = Wanted::Statement {
        id: request.id.clone(),
        approver: name.clone(),
    };
    let Reply::Statement { statement } = wire::ask(places, wanted)? else {
        bail!("the approval daemon answers another question: restart it");
    };
    // A statement about something else than was looked at here is not signed, whoever wrote it.
    let said = Statement::read(&statement).context("the approval daemon gave no statement")?;
    if said.request != request.id
        || said.binding != request.binding
        || Some(&said.card) != request.card.as_ref()
        || said.approver != name
    {
        bail!("the approval daemon's statement is about another call: look at it again");
    }
    // Nor one about another card than is printed here, whatever the daemon calls it.
    let arguments = &request.display.arguments;
    if card_digest(&request.asked, arguments, &request.decision) != said.card {
        bail!(
            "what the approval daemon shows of it is not what it wants signed: nothing is released"
        );
    }
    let mut stderr = std::io::stderr();
    write_card(&mut stderr, request)?;
    let name = escape_for_display(&name, 80);
    writeln!(stderr, "Touch your key to release it as {name}.")?;
    let signature = sign(&file, &statement)?;
    Ok(Some(Signed {
        statement,
        proof: Proof::Sshsig { key: id, signature },
    }))
}

/// Everything of a card that is signed, uncut, and behind it the reason, which is not: each of its lines, with what could drive a
/// terminal escaped.
fn write_card(out: &mut dyn Write, request: &Request) -> std::io::Result<()> {
    let mut field = |name: &str, text: &str| -> std::io::Result<()> {
        let mut name = format!("{name}:");
        for line in text.split('\n') {
            writeln!(out, "  {name:12} {}", escape_for_display(line, usize::MAX))?;
            name.clear();
        }
        Ok(())
    };
    let (asked, decision) = (&request.asked, &request.decision);
    field("risk", decision.risk.as_str())?;
    field("rule", decision.rule.as_deref().unwrap_or("none"))?;
    field("wants", decision.verdict.as_str())?;
    field(
        "agent",
        &format!("{}, session {}", asked.agent, asked.session),
    )?;
    field("directory", &asked.directory)?;
    if asked.workspace != asked.directory {
        field("workspace", &asked.workspace)?;
    }
    field("tool", &asked.tool)?;
    for (name, value) in &request.display.arguments {
        let name = escape_for_display(name, usize::MAX);
        match value.as_str() {
            Some(text) => field(&name, text)?,
            None => field(&name, &value.to_string())?,
        }
    }
    // It may name the time, or be an outside decider's, so it is no part of the card: the daemon's words alone.
    field("not signed", &format!("why: {}", decision.reason))
}

/// The file of a key that is pinned, its id, and whose it is.
fn signing_key(
    locations: &Locations,
    pins: &Pins,
    key: Option<&Path>,
) -> anyhow::Result<(PathBuf, String, String)> {
    if let Some(file) = key {
        return match pinned(pins, file)? {
            Some(found) => Ok(found),
            None => bail!(
                "{}: this key is nobody's here: sudo holdpoint people pin NAME --key FILE",
                file.display()
            ),
        };
    }
    let ssh = locations.home.as_ref().map(|home| home.join(".ssh"));
    let usual = ssh
        .iter()
        .flat_map(|ssh| USUAL_KEYS.iter().map(|name| ssh.join(name)));
    for file in usual {
        if let Ok(Some(found)) = pinned(pins, &file) {
            return Ok(found);
        }
    }
    bail!(
        "a key must sign this, and none of yours is pinned: name one with --key FILE, or answer on the page with a passkey"
    )
}

fn pinned(pins: &Pins, file: &Path) -> anyhow::Result<Option<(PathBuf, String, String)>> {
    let file = match file.extension().is_some_and(|extension| extension == "pub") {
        true => file.with_extension(""),
        false => file.to_owned(),
    };
    let public = file.with_added_extension("pub");
    let line = std::fs::read_to_string(&public)
        .with_context(|| format!("{}: cannot be read", public.display()))?;
    let key = VerifyingKey::of_ssh(&line)?;
    let found = pins.key(key.fingerprint());
    Ok(found.map(|(person, key)| (file, key.id.clone(), person.name.clone())))
}

/// Has `ssh-keygen` sign; it asks for the PIN at the terminal, and for a touch.
fn sign(key: &Path, statement: &str) -> anyhow::Result<String> {
    let mut child = Command::new("ssh-keygen")
        .args(["-q", "-Y", "sign", "-n", NAMESPACE, "-f"])
        .arg(key)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context(
            "ssh-keygen cannot be started: install OpenSSH, or answer on the page with a passkey",
        )?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(statement.as_bytes())?;
    }
    let output = child.wait_with_output()?;
    if !output.status.success() {
        bail!("ssh-keygen did not sign: nothing is released");
    }
    String::from_utf8(output.stdout).context("ssh-keygen gave no signature")
}
