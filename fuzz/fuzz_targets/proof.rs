//! Whatever is handed over as a proof, a statement or a list of keys: nothing panics, and nothing that was not signed
//! by a pinned key is a release.
#![no_main]

use holdpoint_proof::sshsig::SshSignature;
use holdpoint_proof::{
    Expected, KeyKind, PinnedKey, Pins, Signed, Statement, VerifyingKey, base64, verify,
};
use libfuzzer_sys::fuzz_target;

/// A key nobody has the other half of.
const KEY: &str = "MCowBQYDK2VwAyEAAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=";

fuzz_target!(|bytes: &[u8]| {
    let _ = Pins::read(bytes);
    let _ = VerifyingKey::of_passkey(&base64(bytes));
    let framed = |blob: &[u8]| {
        format!(
            "-----BEGIN SSH SIGNATURE-----\n{}\n-----END SSH SIGNATURE-----\n",
            base64(blob)
        )
    };
    let _ = SshSignature::read(&framed(bytes));
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let _ = VerifyingKey::of_ssh(text);
    if let Some(statement) = Statement::read(text) {
        assert_eq!(statement.to_text(), text);
    }
    let Ok(signed) = serde_json::from_slice::<Signed>(bytes) else {
        return;
    };
    let mut pins = Pins::default();
    let key = PinnedKey {
        id: signed.proof.key().to_owned(),
        kind: KeyKind::Webauthn,
        public_key: KEY.into(),
        rp: Some("localhost".into()),
        origins: vec!["http://localhost:4717".into()],
        device_bound: true,
    };
    if pins.pin("ann", key).is_err() {
        return;
    }
    let Some(said) = Statement::read(&signed.statement) else {
        return;
    };
    let expected = Expected {
        request: &said.request,
        node: &said.node,
        ledger: &said.ledger,
        binding: &said.binding,
        card: &said.card,
        approvers: &[],
        now: said.time,
    };
    assert!(verify(&signed, &pins, &expected).is_err());
});
