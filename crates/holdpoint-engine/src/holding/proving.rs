//! Whether it was a person who said yes: by the terminal they sit at, or by what they signed.
//!
//! The daemon asks when somebody answers; the hook asks again before the call runs, against keys only root can change, since
//! whoever has the account could play the daemon to it.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use holdpoint_broker::{
    CallContext, Evidence, Judged, Problem, ProvedBy, Request, Resolution, Route, SignedAnswer,
    UnixMillis, Unsure, Vouched, card_digest, wire,
};
use holdpoint_core::policy::Presence;
use holdpoint_core::{Action, Decision, Method, Verdict};
use holdpoint_proof::{
    Expected, MAX_VALIDITY_MILLIS, Pins, Purpose, Refused, Signed, Statement, Verified, sha256_hex,
};

use crate::engine::Engine;
use crate::excerpt::{showing, whole_arguments};
use crate::locations::Locations;
use crate::pins::{Pinned, not_held};
use crate::store::{make_private_directory, read_bounded};

/// How long a used statement is remembered: longer than any counts.
const REMEMBERED: Duration = Duration::from_millis(MAX_VALIDITY_MILLIS + 5 * 60 * 1000);

/// The most used statements that are looked at when old ones are forgotten: the rest waits for the next time.
const MAX_SWEPT: usize = 1000;

/// The digest of what a person reads of a call that can be made again from the call itself. What checks found, what the
/// agent says of itself and the words of the reason stand outside of it: those name facts that change while somebody thinks (the
/// time), or are an outside decider's, who words them anew. Which rule asks, and how, says what they rest on.
pub(super) fn card_of(asked: &CallContext, action: &Action, decision: &Decision) -> String {
    let arguments = whole_arguments(&showing(), action.call());
    card_digest(asked, &arguments, decision)
}

/// This account on this machine, and its ledger: what a statement is made for.
struct Place {
    node: String,
    ledger: String,
}

impl Place {
    fn of(locations: &Locations) -> Result<Self, Problem> {
        let nowhere = || Problem("the ledger has no key yet, so nothing can be signed".into());
        let ledger = locations.ledger().ok_or_else(nowhere)?;
        let key = read_bounded(&ledger.join("key.pub"), 4096).map_err(|_| nowhere())?;
        let key = String::from_utf8(key).map_err(|_| nowhere())?;
        let (name, _) = key.split_once('+').ok_or_else(nowhere)?;
        Ok(Self {
            node: node_name(),
            ledger: name.to_owned(),
        })
    }
}

/// The name of this account on this machine: the digest of what names the machine, which only root changes, and the account.
fn node_name() -> String {
    let places = ["/etc/machine-id", "/proc/sys/kernel/hostname"];
    let machine = machine_name(&places.map(Path::new));
    #[cfg(unix)]
    let account = holdpoint_sandbox::user::id();
    #[cfg(not(unix))]
    let account = 0;
    let digest = sha256_hex(format!("holdpoint-node\0{}\0{account}", machine.trim()).as_bytes());
    digest.chars().skip("sha256:".len()).take(32).collect()
}

/// What names the machine: the first of these that says anything. In most containers the file is there and empty.
fn machine_name(places: &[&Path]) -> String {
    let said = |path: &&Path| fs::read_to_string(path).ok();
    let mut names = places.iter().filter_map(said);
    names
        .find(|name| !name.trim().is_empty())
        .unwrap_or_default()
}

/// What somebody is to sign to let a request run.
pub(super) fn statement(
    locations: &Locations,
    request: &Request,
    approver: &str,
    now: UnixMillis,
) -> Result<String, Problem> {
    let card = request.card.clone().ok_or_else(|| {
        Problem("it was asked by an earlier version: make the call again to sign for it".into())
    })?;
    let place = Place::of(locations)?;
    let statement = Statement {
        v: 1,
        purpose: Purpose::Release,
        request: request.id.clone(),
        node: place.node,
        ledger: place.ledger,
        binding: request.binding.clone(),
        card,
        answer: "yes".into(),
        approver: approver.to_owned(),
        nonce: wire::unguessable::<16>()?,
        time: now.0,
        // As long as an answer counts that no hook waited for, and as several people may take: the hook verifies it last.
        expires: now.0.saturating_add(MAX_VALIDITY_MILLIS),
    };
    Ok(statement.to_text())
}

/// Whether it is sure enough that a person says yes.
pub(super) fn vouch(
    locations: &Locations,
    request: &Request,
    said: &SignedAnswer,
    now: UnixMillis,
) -> Result<Vouched, Unsure> {
    let level = request.terms.presence;
    if let Some(signed) = &said.evidence.signed {
        return signed_by(locations, request, said, signed, now);
    }
    match level {
        Presence::None => Ok(Vouched::default()),
        Presence::Terminal => seated(request, &said.evidence).map(|()| Vouched::default()),
        Presence::Code | Presence::Key | Presence::Elsewhere => {
            match not_held(level, &Pinned::at(locations)) {
                Some(why) => Err(Unsure(format!(
                    "the policy wants the presence `{}`, which cannot be had: {why}",
                    level.as_str()
                ))),
                None => Err(Unsure(
                    "a key must sign this: answer on the page with your passkey, or `holdpoint approve` with a key of ssh \
                     that has a device"
                        .into(),
                )),
            }
        }
    }
}

/// Whether somebody sits where an answer comes from, if it came by a command. Where more is wanted, this is the least of it.
pub(super) fn seated(request: &Request, evidence: &Evidence) -> Result<(), Unsure> {
    let by_command = match evidence.route {
        Route::Terminal | Route::Watch => true,
        Route::Page
        | Route::Console
        | Route::Webhook
        | Route::File
        | Route::Dialog
        | Route::Library => false,
    };
    if request.terms.presence == Presence::None || !by_command || evidence.device.is_some() {
        return Ok(());
    }
    Err(Unsure(
        "nobody sits at a terminal here: answer in a terminal of yours or on the page (`holdpoint open`). A script that \
         should answer is a person of its own, with a token (`holdpoint people add NAME`)"
            .into(),
    ))
}

fn signed_by(
    locations: &Locations,
    request: &Request,
    said: &SignedAnswer,
    signed: &Signed,
    now: UnixMillis,
) -> Result<Vouched, Unsure> {
    let unsure = |why: String| Unsure(format!("this proves nothing: {why}"));
    let pins = Pinned::at(locations).keys().map_err(unsure)?;
    let place = Place::of(locations).map_err(|problem| unsure(problem.0))?;
    let expected = Expected {
        request: &request.id,
        node: &place.node,
        ledger: &place.ledger,
        binding: &request.binding,
        card: request.card.as_deref().unwrap_or_default(),
        approvers: &request.terms.approvers,
        now: now.0,
    };
    let verified = holdpoint_proof::verify(signed, &pins, &expected)
        .map_err(|refused| unsure(refused.to_string()))?;
    if verified.statement.approver != said.approver {
        return Err(unsure(Refused::AnotherPerson.to_string()));
    }
    // What is recorded is what was signed, in the same word.
    if verified.statement.answer != said.answer.as_str() {
        return Err(unsure(Refused::NoYes.to_string()));
    }
    let key = pins.key(&verified.key).map(|(_, key)| key.clone());
    let key = key.ok_or_else(|| unsure(Refused::Unpinned.to_string()))?;
    Ok(Vouched {
        proof: Some(ProvedBy {
            signed: signed.clone(),
            key,
        }),
    })
}

/// What speaks for a call that somebody let run, by its nonces; none where no signature is wanted. The refusal where none does.
pub(super) fn proved(
    engine: &Engine,
    told: &Resolution,
    now: &Judged,
    when: UnixMillis,
) -> Result<Vec<String>, Box<Decision>> {
    if now.terms.presence < Presence::Code {
        return Ok(Vec::new());
    }
    verified(engine.locations(), told, now, when)
        .map_err(|why| Box::new(unproved(&now.decision, &why)))
}

/// Uses what was signed; the refusal if it was used before.
pub(super) fn used(engine: &Engine, nonces: &[String], decision: &Decision) -> Option<Decision> {
    let state = engine.locations().state.as_deref();
    let mut uses = nonces.iter().map(|nonce| match state {
        Some(state) => use_once(state, nonce, SystemTime::now()),
        None => Err("there is no place to note that it is used".into()),
    });
    let why = uses.find_map(Result::err)?;
    Some(unproved(decision, &why))
}

/// Makes what was signed for a request useless that is settled otherwise: somebody who keeps the proof could hand it to a hook as
/// long as it counts. One that is used already, or whose use cannot be noted, is no worse than before.
pub(super) fn burn(locations: &Locations, nonces: &[String]) {
    if let Some(state) = locations.state.as_deref() {
        for nonce in nonces {
            let _ = use_once(state, nonce, SystemTime::now());
        }
    }
}

fn unproved(decision: &Decision, why: &str) -> Decision {
    Decision {
        verdict: Verdict::Deny,
        method: Method::Error,
        reason: format!("Nobody is proved to have released it: {why}"),
        ..decision.clone()
    }
}

fn verified(
    locations: &Locations,
    told: &Resolution,
    now: &Judged,
    when: UnixMillis,
) -> Result<Vec<String>, String> {
    let pinned = Pinned::at(locations);
    let level = now.terms.presence;
    if let Some(why) = not_held(level, &pinned) {
        return Err(why);
    }
    let pins = pinned.keys()?;
    let place = Place::of(locations).map_err(|problem| problem.0)?;
    let expected = Expected {
        request: told.id.as_deref().unwrap_or_default(),
        node: &place.node,
        ledger: &place.ledger,
        binding: &now.binding,
        card: &now.card,
        approvers: &now.terms.approvers,
        now: when.0,
    };
    let verified = all_verified(&told.proofs, &pins, &expected)?;
    let people: BTreeSet<&str> = verified
        .iter()
        .map(|one| one.statement.approver.as_str())
        .collect();
    let wanted = usize::try_from(now.terms.required.max(1)).unwrap_or(usize::MAX);
    if people.len() < wanted {
        return Err(format!("{} of {wanted} people have signed", people.len()));
    }
    Ok(verified
        .into_iter()
        .map(|one| one.statement.nonce)
        .collect())
}

fn all_verified(
    proofs: &[Signed],
    pins: &Pins,
    expected: &Expected<'_>,
) -> Result<Vec<Verified>, String> {
    let verified = proofs
        .iter()
        .map(|signed| holdpoint_proof::verify(signed, pins, expected));
    verified
        .collect::<Result<_, _>>()
        .map_err(|refused| refused.to_string())
}

/// Notes that a statement is used; why it cannot be, if it was before.
fn use_once(state: &Path, nonce: &str, now: SystemTime) -> Result<(), String> {
    let directory = state.join("approvals").join("used");
    let failed = |error: io::Error| format!("that it is used cannot be noted ({})", error.kind());
    make_private_directory(&directory).map_err(failed)?;
    forget_old(&directory, now);
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    match options.open(directory.join(nonce)) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Err("what was signed has been used before".into())
        }
        Err(error) => Err(failed(error)),
    }
}

/// Forgets what has expired anyway.
fn forget_old(directory: &Path, now: SystemTime) {
    let Ok(entries) = fs::read_dir(directory) else {
        return;
    };
    for entry in entries.flatten().take(MAX_SWEPT) {
        let age = entry
            .metadata()
            .and_then(|found| found.modified())
            .ok()
            .and_then(|made| now.duration_since(made).ok());
        if age.is_some_and(|age| age > REMEMBERED) {
            // One that stays is forgotten the next time.
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_signed_counts_once() {
        let home = tempfile::tempdir().unwrap();
        let now = SystemTime::now();
        assert_eq!(use_once(home.path(), "ab", now), Ok(()));
        assert!(use_once(home.path(), "ab", now).is_err());
        assert_eq!(use_once(home.path(), "cd", now), Ok(()));
        let later = now + REMEMBERED + Duration::from_secs(60);
        assert_eq!(use_once(home.path(), "ef", later), Ok(()));
        let left = fs::read_dir(home.path().join("approvals/used")).unwrap();
        assert_eq!(left.count(), 1);
    }

    #[test]
    fn an_account_of_a_machine_has_one_name() {
        assert_eq!(node_name().len(), 32);
        let home = tempfile::tempdir().unwrap();
        let (id, host) = (home.path().join("id"), home.path().join("host"));
        let name = || machine_name(&[&id, &host]);
        assert_eq!(name(), "");
        fs::write(&host, "box-1\n").unwrap();
        assert_eq!(name(), "box-1\n");
        fs::write(&id, "\n").unwrap();
        assert_eq!(name(), "box-1\n", "a file without a name names nobody");
        fs::write(&id, "0123\n").unwrap();
        assert_eq!(name(), "0123\n");
    }
}
