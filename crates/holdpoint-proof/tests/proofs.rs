//! What counts as a person's release, and everything near it that does not.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a test that cannot go on has failed"
)]

mod support;

use std::process::{Command, Stdio};

use holdpoint_proof::key::BadKey;
use holdpoint_proof::pins::BadPins;
use holdpoint_proof::sshsig::SshSignature;
use holdpoint_proof::{
    Expected, PinnedKey, Pins, Proof, Refused, Signed, Statement, VerifyingKey, base64, verify,
};
use proptest::prelude::*;
use support::{Ceremony, Device, NAMESPACE, NOW, ORIGIN, Passkey, Touch, pins, statement};

fn expected<'a>(statement: &'a Statement, approvers: &'a [String]) -> Expected<'a> {
    Expected {
        request: &statement.request,
        node: &statement.node,
        ledger: &statement.ledger,
        binding: &statement.binding,
        card: &statement.card,
        approvers,
        now: NOW,
    }
}

#[test]
fn a_passkey_of_either_kind_releases() {
    for key in [Passkey::p256(), Passkey::ed25519()] {
        let pins = pins("ann", vec![key.pinned("k1")]);
        let statement = statement();
        let signed = key.signs("k1", &statement.to_text(), &Ceremony::default());
        let verified = verify(&signed, &pins, &expected(&statement, &[])).unwrap();
        assert_eq!(verified.statement, statement);
        assert_eq!((verified.counter, verified.device_bound), (7, true));
        let text = serde_json::to_string(&signed).unwrap();
        assert_eq!(serde_json::from_str::<Signed>(&text).unwrap(), signed);
    }
}

#[test]
fn a_key_of_ssh_with_a_device_releases() {
    for device in [Device::p256(), Device::ed25519()] {
        for hash in ["sha256", "sha512"] {
            let pinned = PinnedKey::of_ssh(&device.line("ssh:")).unwrap();
            let statement = statement();
            let touch = Touch {
                hash,
                ..Touch::default()
            };
            let signed = Signed {
                statement: statement.to_text(),
                proof: Proof::Sshsig {
                    key: pinned.id.clone(),
                    signature: device.signs(statement.to_text().as_bytes(), touch),
                },
            };
            let pins = pins("ann", vec![pinned]);
            let verified = verify(&signed, &pins, &expected(&statement, &[])).unwrap();
            assert_eq!(verified.counter, 9);
        }
    }
}

/// `ssh-keygen` makes of our test signatures what we do.
#[test]
fn openssh_agrees_about_signatures() {
    let directory = tempfile::tempdir().unwrap();
    let device = Device::ed25519();
    let other = Device::p256();
    for device in [&device, &other] {
        let text = statement().to_text();
        let write = |name: &str, text: &str| {
            let path = directory.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let good = device.signs(text.as_bytes(), Touch::default());
        let elsewhere = Touch {
            namespace: "git",
            ..Touch::default()
        };
        for (signature, message, holds) in [
            (good.clone(), text.clone(), true),
            (good.clone(), text.replace("yes", "no!"), false),
            (
                device.signs(text.as_bytes(), elsewhere),
                text.clone(),
                false,
            ),
        ] {
            let allowed = write("allowed", &format!("ann {}\n", device.line("ssh:")));
            let file = write("signature", &signature);
            let verifies = Command::new("ssh-keygen")
                .args(["-Y", "verify", "-I", "ann", "-n", NAMESPACE, "-f"])
                .arg(&allowed)
                .arg("-s")
                .arg(&file)
                .stdin(Stdio::from(
                    std::fs::File::open(write("message", &message)).unwrap(),
                ))
                .output();
            let Ok(verifies) = verifies else {
                eprintln!("ssh-keygen is not here: nothing to compare with");
                return;
            };
            assert_eq!(verifies.status.success(), holds, "{verifies:?}");
            let key = VerifyingKey::of_ssh(&device.line("ssh:")).unwrap();
            let ours = SshSignature::read(&signature)
                .and_then(|read| read.verify(message.as_bytes(), NAMESPACE, &key));
            assert_eq!(ours.is_ok(), holds, "{ours:?}");
        }
    }
}

#[test]
fn a_key_in_a_file_is_no_key() {
    let directory = tempfile::tempdir().unwrap();
    for (kind, name) in [
        ("ed25519", "ssh-ed25519"),
        ("ecdsa", "ecdsa-sha2-nistp256"),
        ("rsa", "ssh-rsa"),
    ] {
        let file = directory.path().join(kind);
        let made = Command::new("ssh-keygen")
            .args(["-q", "-t", kind, "-N", "", "-f"])
            .arg(&file)
            .status();
        let Ok(made) = made else { return };
        assert!(made.success());
        let line = std::fs::read_to_string(file.with_extension("pub")).unwrap();
        assert_eq!(PinnedKey::of_ssh(&line), Err(BadKey::NoDevice(name.into())));
        let message = directory.path().join("message");
        std::fs::write(&message, statement().to_text()).unwrap();
        let signs = Command::new("ssh-keygen")
            .args(["-q", "-Y", "sign", "-n", NAMESPACE, "-f"])
            .arg(&file)
            .arg(&message)
            .status()
            .unwrap();
        assert!(signs.success());
        let signature = directory.path().join("message.sig");
        let text = std::fs::read_to_string(&signature).unwrap();
        std::fs::remove_file(signature).unwrap();
        let refused = SshSignature::read(&text).unwrap_err();
        assert_eq!(refused, Refused::NoDevice(name.into()));
    }
}

#[test]
fn what_a_browser_says_is_held_against_what_is_pinned() {
    let key = Passkey::p256();
    let pins = pins("ann", vec![key.pinned("k1")]);
    let statement = statement();
    let usual = Ceremony::default();
    let refused = |ceremony: Ceremony| {
        let signed = key.signs("k1", &statement.to_text(), &ceremony);
        verify(&signed, &pins, &expected(&statement, &[])).unwrap_err()
    };
    let cases = [
        (
            Ceremony {
                kind: "webauthn.create",
                ..usual.clone()
            },
            Refused::NotAnAssertion,
        ),
        (
            Ceremony {
                rp: "hp.localhost",
                ..usual.clone()
            },
            Refused::RelyingParty,
        ),
        (
            Ceremony {
                flags: 0x04,
                ..usual.clone()
            },
            Refused::NotTouched,
        ),
        (
            Ceremony {
                flags: 0x01,
                ..usual.clone()
            },
            Refused::NotVerified,
        ),
        (
            Ceremony {
                flags: 0x00,
                ..usual.clone()
            },
            Refused::NotTouched,
        ),
    ];
    for (ceremony, wanted) in cases {
        assert_eq!(refused(ceremony), wanted);
    }
    for origin in [
        "http://localhost:4718",
        "http://127.0.0.1:4717",
        "https://localhost:4717",
        "http://localhost:4717.evil.example",
        "http://localhost",
        "",
    ] {
        let ceremony = Ceremony {
            origin: origin.into(),
            ..usual.clone()
        };
        assert_eq!(refused(ceremony), Refused::Origin(origin.into()));
    }
    let framed = Ceremony {
        cross_origin: true,
        ..usual
    };
    assert_eq!(refused(framed), Refused::Origin(ORIGIN.into()));
}

#[test]
fn what_a_device_of_ssh_says_is_held_against_what_is_wanted() {
    let device = Device::ed25519();
    let text = statement().to_text();
    let key = VerifyingKey::of_ssh(&device.line("ssh:")).unwrap();
    let usual = Touch::default();
    for (touch, wanted) in [
        (
            Touch {
                namespace: "git",
                ..usual
            },
            Refused::Namespace,
        ),
        (
            Touch {
                flags: 0x00,
                ..usual
            },
            Refused::NotTouched,
        ),
        (
            Touch {
                flags: 0x01,
                ..usual
            },
            Refused::NotVerified,
        ),
        (
            Touch {
                application: "ssh:other",
                ..usual
            },
            Refused::AnotherKey,
        ),
    ] {
        let read = SshSignature::read(&device.signs(text.as_bytes(), touch)).unwrap();
        let refused = read.verify(text.as_bytes(), NAMESPACE, &key).unwrap_err();
        assert_eq!(refused, wanted);
    }
    // A key that was made for a web page signs what looks like ours, and is not asked.
    let web = VerifyingKey::of_ssh(&device.line("localhost")).unwrap();
    let touch = Touch {
        application: "localhost",
        ..usual
    };
    let read = SshSignature::read(&device.signs(text.as_bytes(), touch)).unwrap();
    assert_eq!(
        read.verify(text.as_bytes(), NAMESPACE, &web),
        Err(Refused::Application)
    );
    // Flags are signed: they cannot be set afterwards.
    let untouched = device.signs(
        text.as_bytes(),
        Touch {
            flags: 0x00,
            ..usual
        },
    );
    let touched = device.signs(text.as_bytes(), usual);
    assert_ne!(untouched, touched);
}

#[test]
fn a_statement_is_about_one_thing_and_one_time() {
    let key = Passkey::p256();
    let pins = pins("ann", vec![key.pinned("k1")]);
    let wanted = statement();
    let refused = |change: &dyn Fn(&mut Statement)| {
        let mut said = wanted.clone();
        change(&mut said);
        let signed = key.signs("k1", &said.to_text(), &Ceremony::default());
        verify(&signed, &pins, &expected(&wanted, &[])).unwrap_err()
    };
    assert_eq!(
        refused(&|one| one.request = "other".into()),
        Refused::About("request")
    );
    assert_eq!(
        refused(&|one| one.node = "other".into()),
        Refused::About("machine or account")
    );
    assert_eq!(
        refused(&|one| one.ledger = "other".into()),
        Refused::About("ledger")
    );
    assert_eq!(
        refused(&|one| one.binding = "other".into()),
        Refused::About("version of this call")
    );
    assert_eq!(
        refused(&|one| one.card = "other".into()),
        Refused::About("card than this call has")
    );
    for answer in ["no", "always", "all", "edit"] {
        assert_eq!(refused(&|one| one.answer = answer.into()), Refused::NoYes);
    }
    assert_eq!(
        refused(&|one| one.approver = "bob".into()),
        Refused::AnotherPerson
    );
    assert_eq!(refused(&|one| one.v = 2), Refused::NoStatement);
    assert_eq!(
        refused(&|one| one.nonce = "../../etc/passwd".into()),
        Refused::NoStatement
    );
    assert_eq!(
        refused(&|one| one.nonce = String::new()),
        Refused::NoStatement
    );
    for (time, expires) in [
        (NOW - 60_000, NOW),
        (NOW - 60_000, NOW - 1),
        (NOW - 1000, NOW + 20 * 60_000),
        (NOW + 120_000, NOW + 180_000),
        (NOW + 10, NOW),
    ] {
        let refused = refused(&|one| (one.time, one.expires) = (time, expires));
        assert_eq!(refused, Refused::Expired, "{time} {expires}");
    }
    let signed = key.signs("k1", &wanted.to_text(), &Ceremony::default());
    let others = ["bob".to_owned()];
    let asked = verify(&signed, &pins, &expected(&wanted, &others));
    assert_eq!(asked, Err(Refused::NotAsked));
}

#[test]
fn a_forgers_key_and_a_proof_of_another_statement_release_nothing() {
    let (key, forger) = (Passkey::p256(), Passkey::p256());
    let pins = pins("ann", vec![key.pinned("k1")]);
    let wanted = statement();
    let expected = expected(&wanted, &[]);
    let usual = Ceremony::default();
    let forged = forger.signs("k1", &wanted.to_text(), &usual);
    assert_eq!(verify(&forged, &pins, &expected), Err(Refused::Signature));
    let unknown = forger.signs("k2", &wanted.to_text(), &usual);
    assert_eq!(verify(&unknown, &pins, &expected), Err(Refused::Unpinned));
    let mut earlier = wanted.clone();
    earlier.request = "earlier".into();
    let mut replayed = key.signs("k1", &earlier.to_text(), &usual);
    replayed.statement = wanted.to_text();
    assert_eq!(
        verify(&replayed, &pins, &expected),
        Err(Refused::AnotherStatement)
    );
    let empty = Pins::default();
    let signed = key.signs("k1", &wanted.to_text(), &usual);
    assert_eq!(verify(&signed, &empty, &expected), Err(Refused::Unpinned));
    let crossed = Signed {
        proof: Proof::Sshsig {
            key: "k1".into(),
            signature: String::new(),
        },
        ..signed
    };
    assert_eq!(verify(&crossed, &pins, &expected), Err(Refused::Kind));
}

#[test]
fn a_statement_has_one_spelling() {
    let text = statement().to_text();
    assert_eq!(Statement::read(&text), Some(statement()));
    for other in [
        format!(" {text}"),
        format!("{text}\n"),
        text.replace("\"v\":1", "\"v\": 1"),
        text.replace("\"v\":1", "\"v\":1,\"more\":2"),
        text.replace("{\"v\":1,", "{"),
        text.replace("yes", "y\\u0065s"),
        text.replace("ann", "an\\nn"),
        text.replace("\"yes\"", "\"yes\",\"answer\":\"yes\""),
        "x".repeat(5000),
    ] {
        assert_eq!(Statement::read(&other), None, "{other}");
    }
}

#[test]
fn pins_with_a_slip_pin_nobody() {
    let key = Passkey::p256().pinned("k1");
    let text = |pins: &Pins| serde_json::to_vec(pins).unwrap();
    let good = pins("ann", vec![key.clone()]);
    assert_eq!(Pins::read(&text(&good)), Ok(good.clone()));
    let mut twice = good.clone();
    twice.people.push(twice.people[0].clone());
    assert_eq!(Pins::read(&text(&twice)), Err(BadPins::Twice("ann".into())));
    twice.people[1].name = "bob".into();
    assert_eq!(Pins::read(&text(&twice)), Err(BadPins::Twice("k1".into())));
    let mut homeless = good.clone();
    homeless.people[0].keys[0].origins.clear();
    assert!(matches!(
        Pins::read(&text(&homeless)),
        Err(BadPins::NoOrigin(_))
    ));
    let mut broken = good.clone();
    broken.people[0].keys[0].public_key = base64(b"no key");
    assert!(matches!(Pins::read(&text(&broken)), Err(BadPins::Key(..))));
    assert!(matches!(
        Pins::read(b"{\"peeple\":[]}"),
        Err(BadPins::Form(1, _))
    ));
    assert!(Pins::read(&vec![b' '; 2 << 20]).is_err());
    let mut left = good;
    assert_eq!(left.unpin("ann", Some("other")), 0);
    let check = key.verifying().unwrap().short_check();
    assert_eq!(check.len(), 10);
    assert_eq!(left.unpin("ann", Some(&check)), 1);
    assert!(left.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// One flipped bit anywhere in a proof or statement, and it is none.
    #[test]
    fn a_changed_byte_releases_nothing(at in 0_usize..2000, bit in 0_u8..8, ssh: bool) {
        let statement = statement();
        let text = statement.to_text();
        let (signed, pins) = if ssh {
            let device = Device::ed25519();
            let pinned = PinnedKey::of_ssh(&device.line("ssh:")).unwrap();
            let proof = Proof::Sshsig {
                key: pinned.id.clone(),
                signature: device.signs(text.as_bytes(), Touch::default()),
            };
            (Signed { statement: text, proof }, pins("ann", vec![pinned]))
        } else {
            let key = Passkey::p256();
            (key.signs("k1", &text, &Ceremony::default()), pins("ann", vec![key.pinned("k1")]))
        };
        let whole = serde_json::to_string(&signed).unwrap();
        let mut bytes = whole.clone().into_bytes();
        let at = at % bytes.len();
        bytes[at] ^= 1 << bit;
        if let Ok(changed) = serde_json::from_slice::<Signed>(&bytes) {
            let verified = verify(&changed, &pins, &expected(&statement, &[]));
            prop_assert!(changed == signed || verified.is_err(), "{}", String::from_utf8_lossy(&bytes));
        }
    }

    /// Whatever stands there is answered.
    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..600), text: String) {
        let _ = Pins::read(&bytes);
        let _ = Statement::read(&text);
        let _ = VerifyingKey::of_passkey(&base64(&bytes));
        let framed = format!("-----BEGIN SSH SIGNATURE-----\n{}\n-----END SSH SIGNATURE-----", base64(&bytes));
        let _ = SshSignature::read(&framed);
        let mut begun = b"SSHSIG\0\0\0\x01".to_vec();
        begun.extend(&bytes);
        let framed = format!("-----BEGIN SSH SIGNATURE-----\n{}\n-----END SSH SIGNATURE-----", base64(&begun));
        let _ = SshSignature::read(&framed);
        let _ = VerifyingKey::of_ssh(&format!("sk-ssh-ed25519@openssh.com {}", base64(&bytes)));
    }
}
