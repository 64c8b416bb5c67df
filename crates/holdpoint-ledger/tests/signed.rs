//! What people signed, as both verifiers hold it against the record: each way in which it proves nothing, found at its record
//! by each of them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    reason = "a test may fail loudly"
)]

#[path = "../../holdpoint-proof/tests/support/mod.rs"]
mod signing;
mod support;

use std::path::Path;
use std::process::Command;

use holdpoint_core::text::redaction::{Redacted, Redactor};
use holdpoint_ledger::{
    AnsweredDetail, Defect, Detail, Durability, Entry, Kind, Ledger, SignedDetail, Verification,
    Verify,
};
use holdpoint_proof::{PinnedKey, Pins, Proof, Statement};
use serde_json::{Value, json};
use signing::{Ceremony, Device, Passkey, Touch};
use support::{named, scratch};

/// A held call on its way into the record: what is said of it, what was signed, and with which key.
struct Release {
    detail: Value,
    approver: &'static str,
    signed: Option<SignedDetail>,
    device: Option<&'static str>,
    /// How often it is let go.
    times: usize,
}

impl Release {
    /// One that holds: ann signed it with her device.
    fn of(ledger: &str, request: &str, device: &Device) -> Self {
        let statement = statement(ledger, request);
        Self {
            detail: json!({
                "request": request,
                "presence": "key",
                "binding": statement.binding,
                "card": statement.card,
                "answer": "yes",
            }),
            approver: "ann",
            signed: Some(by(device, &statement)),
            device: None,
            times: 1,
        }
    }

    fn write(&self, ledger: &Ledger) {
        let said = Redactor::new().json(&self.detail).0;
        let mut answered = Entry::new(Kind::HoldAnswered);
        answered.approver = Some(Redacted::literal(self.approver));
        answered.detail = Some(Detail::Answered(Box::new(AnsweredDetail {
            said,
            route: "terminal",
            device: self.device.map(Redacted::literal),
            signed: self.signed.clone(),
        })));
        ledger.append(&answered, Durability::Written).unwrap();
        let mut released = self.detail.clone();
        released.as_object_mut().unwrap().remove("answer");
        for _ in 0..self.times {
            let mut release = Entry::new(Kind::Release);
            release.detail = Some(Detail::Of(Redactor::new().json(&released).0));
            ledger.append(&release, Durability::Written).unwrap();
        }
    }
}

fn statement(ledger: &str, request: &str) -> Statement {
    Statement {
        request: request.into(),
        ledger: ledger.into(),
        nonce: format!("{:0>32x}", request.len()),
        ..signing::statement()
    }
}

fn by(device: &Device, statement: &Statement) -> SignedDetail {
    let key = PinnedKey::of_ssh(&device.line("ssh:")).unwrap();
    let statement = statement.to_text();
    SignedDetail {
        proof: Proof::Sshsig {
            key: key.id.clone(),
            signature: device.signs(statement.as_bytes(), Touch::default()),
        },
        statement,
        key,
    }
}

/// Both verifiers; they must agree in what they find and where.
#[track_caller]
fn verified(directory: &Path, pins: Option<&Pins>, what: &str) -> Verification {
    let verify = Verify {
        pins: pins.cloned(),
        ..Verify::default()
    };
    let rust = verify.run(directory, &mut |_, _| {}).unwrap();
    let tool = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/verify_ledger.py");
    let mut python = Command::new("python3");
    python.arg(tool).arg(directory).arg("--json");
    let home = scratch();
    let file = home.path().join("approvers.json");
    // Not those of the machine the tests run on.
    let none = Pins::default();
    let text = serde_json::to_vec(pins.unwrap_or(&none)).unwrap();
    std::fs::write(&file, text).unwrap();
    let output = python.arg("--approvers").arg(&file).output().unwrap();
    let told: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{what}: {error}: {output:?}"));
    let first = rust.faults.first().and_then(|fault| fault.record);
    let found: Vec<Option<u64>> = rust.faults.iter().map(|fault| fault.record).collect();
    let other: Vec<Option<u64>> = told["faults"]
        .as_array()
        .unwrap()
        .iter()
        .map(|fault| fault["record"].as_u64())
        .collect();
    assert_eq!(found, other, "{what}: {first:?}: {:?}: {told}", rust.faults);
    assert_eq!(told["proofs"], rust.proofs, "{what}");
    if pins.is_some() {
        assert_eq!(told["unpinned"], json!(rust.unpinned), "{what}");
    }
    rust
}

/// A ledger with a record, and the name of its key.
fn begun() -> (tempfile::TempDir, Ledger, String) {
    let home = scratch();
    let ledger = Ledger::at(home.path());
    ledger
        .append(&named("first", 300), Durability::Written)
        .unwrap();
    let key = std::fs::read_to_string(home.path().join("key.pub")).unwrap();
    let name = key.split('+').next().unwrap().to_owned();
    (home, ledger, name)
}

#[test]
fn whatever_proves_nothing_is_found_by_both_verifiers() {
    let (ann, other) = (Device::ed25519(), Device::p256());
    type Change = Box<dyn Fn(&mut Release, &str)>;
    /// Changes what is signed, and has it signed again.
    fn saying(device: Device, change: impl Fn(&mut Statement) + 'static) -> Change {
        Box::new(move |release, ledger| {
            let request = release.detail["request"].as_str().unwrap();
            let mut statement = statement(ledger, request);
            change(&mut statement);
            release.signed = Some(by(&device, &statement));
        })
    }
    fn changing(change: impl Fn(&mut Release) + 'static) -> Change {
        Box::new(move |release, _| change(release))
    }
    let digest = |letter: &str| format!("sha256:{}", letter.repeat(64));
    let (wrong, another) = (digest("0"), digest("1"));
    let cases: Vec<(&str, Change, &str)> = vec![
        (
            "a signature by another key",
            changing(move |release| {
                let signed = release.signed.as_mut().unwrap();
                let text = signed.statement.clone();
                if let Proof::Sshsig { signature, .. } = &mut signed.proof {
                    *signature = other.signs(text.as_bytes(), Touch::default());
                }
            }),
            "",
        ),
        (
            "a signature nobody touched the key for",
            changing(move |release| {
                let signed = release.signed.as_mut().unwrap();
                let untouched = Touch {
                    flags: 0,
                    ..Touch::default()
                };
                let device = Device::ed25519();
                signed.key = PinnedKey::of_ssh(&device.line("ssh:")).unwrap();
                signed.proof = Proof::Sshsig {
                    key: signed.key.id.clone(),
                    signature: device.signs(signed.statement.as_bytes(), untouched),
                };
            }),
            "",
        ),
        (
            "a key under another's name",
            changing(|release| {
                let signed = release.signed.as_mut().unwrap();
                signed.key.id = "SHA256:somebody".into();
            }),
            "signed with another key",
        ),
        (
            "a changed statement",
            changing(|release| {
                let signed = release.signed.as_mut().unwrap();
                signed.statement = signed.statement.replace("\"node-1\"", "\"node-2\"");
            }),
            "",
        ),
        (
            "no statement",
            changing(|release| {
                let signed = release.signed.as_mut().unwrap();
                signed.statement.insert(0, ' ');
            }),
            "is no statement",
        ),
        (
            "a nonce of another form",
            saying(Device::ed25519(), |said| said.nonce = "../x".into()),
            "is no statement",
        ),
        (
            "a longer text than any",
            saying(Device::ed25519(), |said| said.node = "n".repeat(257)),
            "is no statement",
        ),
        (
            "a control character",
            saying(Device::ed25519(), |said| said.node = "a\u{85}b".into()),
            "is no statement",
        ),
        (
            "another request",
            saying(Device::ed25519(), |said| said.request = "zz".into()),
            "another request or answer",
        ),
        (
            "another answer",
            changing(|release| release.detail["answer"] = json!("always")),
            "another request or answer",
        ),
        (
            "another approver",
            changing(|release| release.approver = "bob"),
            "somebody else signed",
        ),
        (
            "another ledger",
            saying(Device::ed25519(), |said| {
                said.ledger = "holdpoint-ledger-00000000".into();
            }),
            "for another ledger",
        ),
        (
            "another binding",
            saying(Device::ed25519(), move |said| said.binding = wrong.clone()),
            "another call or card",
        ),
        (
            "another card",
            saying(Device::ed25519(), move |said| said.card = another.clone()),
            "another call or card",
        ),
        (
            "a nonce that was used",
            // The release before it has a name as long.
            saying(Device::ed25519(), |said| {
                said.nonce = format!("{:0>32x}", 5)
            }),
            "used before",
        ),
        (
            "nothing signed",
            changing(|release| release.signed = None),
            "wanted a signature and has none",
        ),
    ];
    for (what, change, why) in cases {
        let (home, ledger, name) = begun();
        let mut first = Release::of(&name, "first", &ann);
        // A daemon that was killed before it knew records it again.
        first.times = 2;
        first.write(&ledger);
        let found = verified(home.path(), None, what);
        assert_eq!((found.proofs, found.faults.len()), (1, 0), "{found:?}");
        let mut release = Release::of(&name, "second", &ann);
        change(&mut release, &name);
        release.write(&ledger);
        let found = verified(home.path(), None, what);
        let unproved = |why: &str| {
            found
                .faults
                .iter()
                .any(|fault| matches!(&fault.found, Defect::Unproved(told) if told.contains(why)))
        };
        assert!(unproved(why), "{what}: {:?}", found.faults);
        // Nothing was signed for it that counts, so the release has none.
        let release = found.faults.last().unwrap();
        let wanted = "wanted a signature and has none";
        assert!(release.to_string().contains(wanted), "{what}: {release}");
    }
}

#[test]
fn the_device_on_record_is_what_the_passkey_said_of_itself() {
    let key = Passkey::p256();
    let bound = "Firefox on Linux, passkey of one device";
    let synced = "Firefox on Linux, synced passkey";
    // Eligible for backup: it may be on other devices.
    for (flags, device, holds) in [
        (0x05, Some(bound), true),
        (0x05, Some(synced), false),
        (0x0d, Some(synced), true),
        (0x0d, Some(bound), false),
        (0x0d, Some("Firefox on Linux"), false),
        (0x0d, None, true),
    ] {
        let (home, ledger, name) = begun();
        let mut release = Release::of(&name, "first", &Device::ed25519());
        let ceremony = Ceremony {
            flags,
            ..Ceremony::default()
        };
        let text = release.signed.as_ref().unwrap().statement.clone();
        let signed = key.signs("k1", &text, &ceremony);
        release.signed = Some(SignedDetail {
            statement: signed.statement,
            proof: signed.proof,
            key: key.pinned("k1"),
        });
        release.device = device;
        release.write(&ledger);
        let found = verified(home.path(), None, "a device");
        assert_eq!(
            found.is_intact(),
            holds,
            "{flags:x} {device:?}: {:?}",
            found.faults
        );
    }
}

#[test]
fn only_a_level_that_wants_a_signature_is_missed_one() {
    for (presence, wanted) in [
        (json!("none"), false),
        (json!("terminal"), false),
        (json!("code"), false),
        (json!("key"), true),
        (json!("elsewhere"), true),
        // Older versions did not say.
        (json!(null), false),
        (json!(["key"]), false),
    ] {
        let (home, ledger, name) = begun();
        let mut release = Release::of(&name, "first", &Device::ed25519());
        release.signed = None;
        release.detail["presence"] = presence.clone();
        release.write(&ledger);
        let found = verified(home.path(), None, "unsigned");
        assert_eq!(found.faults.len(), usize::from(wanted), "{presence}");
    }
}

#[test]
fn keys_that_are_not_pinned_now_are_counted_and_no_fault() {
    let (home, ledger, name) = begun();
    let (ann, passkey) = (Device::ed25519(), Passkey::p256());
    Release::of(&name, "first", &ann).write(&ledger);
    let mut release = Release::of(&name, "second", &ann);
    let text = statement(&name, "second").to_text();
    release.signed = Some(SignedDetail {
        proof: passkey.signs("k1", &text, &Ceremony::default()).proof,
        statement: text,
        key: passkey.pinned("k1"),
    });
    release.write(&ledger);
    let ssh = PinnedKey::of_ssh(&ann.line("ssh:")).unwrap();
    let both = signing::pins("ann", vec![ssh.clone(), passkey.pinned("k1")]);
    let mut other = passkey.pinned("k1");
    other.public_key = Passkey::p256().pinned("k1").public_key;
    for (pins, unpinned, what) in [
        (both.clone(), 0, "both"),
        (
            signing::pins("ann", vec![ssh.clone()]),
            1,
            "one was taken back",
        ),
        (
            signing::pins("bob", vec![ssh.clone(), passkey.pinned("k1")]),
            2,
            "bob's",
        ),
        (
            signing::pins("ann", vec![ssh, other]),
            1,
            "another key of the name",
        ),
        (Pins::default(), 2, "nobody's"),
    ] {
        let found = verified(home.path(), Some(&pins), what);
        assert_eq!(
            (found.proofs, found.faults.len()),
            (2, 0),
            "{what}: {found:?}"
        );
        assert_eq!(found.unpinned, Some(unpinned), "{what}");
    }
    assert_eq!(verified(home.path(), None, "not asked").unpinned, None);
}
