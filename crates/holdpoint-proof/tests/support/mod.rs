//! Keys that sign as passkeys and ssh's devices do, for whoever tests what verifies them.

#![allow(dead_code, reason = "each test file uses a part of it")]

use holdpoint_proof::webauthn::Assertion;
use holdpoint_proof::{
    KeyKind, PinnedKey, Pins, Proof, Purpose, Signed, Statement, base64, base64url,
};
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_ASN1_SIGNING, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair,
    KeyPair,
};

pub(crate) const NOW: u64 = 1_795_000_000_000;
pub(crate) const ORIGIN: &str = "http://localhost:4717";
pub(crate) const NAMESPACE: &str = "holdpoint-release-v1";

/// A statement of ann's about one request.
pub(crate) fn statement() -> Statement {
    Statement {
        v: 1,
        purpose: Purpose::Release,
        request: "k3v7m2qa".into(),
        node: "node-1".into(),
        ledger: "holdpoint-ledger-27b72545".into(),
        binding: format!("sha256:{}", "a".repeat(64)),
        card: format!("sha256:{}", "c".repeat(64)),
        answer: "yes".into(),
        approver: "ann".into(),
        nonce: "0123456789abcdef0123456789abcdef".into(),
        time: NOW - 1000,
        expires: NOW + 60_000,
    }
}

pub(crate) fn sha256(bytes: &[u8]) -> Vec<u8> {
    ring::digest::digest(&ring::digest::SHA256, bytes)
        .as_ref()
        .to_vec()
}

/// What a browser is asked for, and by whom.
#[derive(Clone)]
pub(crate) struct Ceremony {
    pub(crate) kind: &'static str,
    pub(crate) origin: String,
    pub(crate) cross_origin: bool,
    pub(crate) rp: &'static str,
    pub(crate) flags: u8,
}

impl Default for Ceremony {
    fn default() -> Self {
        Self {
            kind: "webauthn.get",
            origin: ORIGIN.into(),
            cross_origin: false,
            rp: "localhost",
            flags: 0x05,
        }
    }
}

/// A passkey.
pub(crate) enum Passkey {
    P256(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
}

impl Passkey {
    pub(crate) fn p256() -> Self {
        let random = SystemRandom::new();
        let document =
            EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &random).unwrap();
        let pair =
            EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, document.as_ref(), &random);
        Self::P256(pair.unwrap())
    }

    pub(crate) fn ed25519() -> Self {
        let document = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        Self::Ed25519(Ed25519KeyPair::from_pkcs8(document.as_ref()).unwrap())
    }

    pub(crate) fn spki(&self) -> Vec<u8> {
        let (front, key) = match self {
            Self::P256(pair) => (
                "3059301306072a8648ce3d020106082a8648ce3d030107034200",
                pair.public_key().as_ref(),
            ),
            Self::Ed25519(pair) => ("302a300506032b6570032100", pair.public_key().as_ref()),
        };
        let mut der: Vec<u8> = front
            .as_bytes()
            .chunks(2)
            .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
            .collect();
        der.extend(key);
        der
    }

    pub(crate) fn pinned(&self, id: &str) -> PinnedKey {
        PinnedKey {
            id: id.into(),
            kind: KeyKind::Webauthn,
            public_key: base64(&self.spki()),
            rp: Some("localhost".into()),
            origins: vec![ORIGIN.into()],
            device_bound: true,
        }
    }

    fn sign(&self, message: &[u8]) -> Vec<u8> {
        match self {
            Self::P256(pair) => {
                let signature = pair.sign(&SystemRandom::new(), message).unwrap();
                signature.as_ref().to_vec()
            }
            Self::Ed25519(pair) => pair.sign(message).as_ref().to_vec(),
        }
    }

    /// Signs a statement as a browser has it done.
    pub(crate) fn signs(&self, id: &str, statement: &str, ceremony: &Ceremony) -> Signed {
        let client = format!(
            r#"{{"type":"{}","challenge":"{}","origin":"{}","crossOrigin":{}}}"#,
            ceremony.kind,
            base64url(&Statement::challenge(statement)),
            ceremony.origin,
            ceremony.cross_origin
        );
        let mut authenticator = sha256(ceremony.rp.as_bytes());
        authenticator.push(ceremony.flags);
        authenticator.extend(7_u32.to_be_bytes());
        let mut message = authenticator.clone();
        message.extend(sha256(client.as_bytes()));
        Signed {
            statement: statement.into(),
            proof: Proof::Webauthn {
                key: id.into(),
                assertion: Assertion {
                    authenticator_data: base64url(&authenticator),
                    client_data: base64url(client.as_bytes()),
                    signature: base64url(&self.sign(&message)),
                },
            },
        }
    }
}

/// A key of ssh with a device.
pub(crate) enum Device {
    P256(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
}

fn put(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend(u32::try_from(bytes.len()).unwrap().to_be_bytes());
    out.extend(bytes);
}

/// What a device is asked to sign, and what it says of it.
#[derive(Clone, Copy)]
pub(crate) struct Touch {
    pub(crate) namespace: &'static str,
    pub(crate) application: &'static str,
    pub(crate) flags: u8,
    pub(crate) hash: &'static str,
}

impl Default for Touch {
    fn default() -> Self {
        Self {
            namespace: NAMESPACE,
            application: "ssh:",
            flags: 0x05,
            hash: "sha512",
        }
    }
}

impl Device {
    pub(crate) fn p256() -> Self {
        let random = SystemRandom::new();
        let document =
            EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
        let pair =
            EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, document.as_ref(), &random);
        Self::P256(pair.unwrap())
    }

    pub(crate) fn ed25519() -> Self {
        let document = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        Self::Ed25519(Ed25519KeyPair::from_pkcs8(document.as_ref()).unwrap())
    }

    /// The one whose private half is kept in these bytes.
    pub(crate) fn ed25519_of(pkcs8: &[u8]) -> Self {
        Self::Ed25519(Ed25519KeyPair::from_pkcs8(pkcs8).unwrap())
    }

    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::P256(_) => "sk-ecdsa-sha2-nistp256@openssh.com",
            Self::Ed25519(_) => "sk-ssh-ed25519@openssh.com",
        }
    }

    pub(crate) fn blob(&self, application: &str) -> Vec<u8> {
        let mut blob = Vec::new();
        put(&mut blob, self.name().as_bytes());
        match self {
            Self::P256(pair) => {
                put(&mut blob, b"nistp256");
                put(&mut blob, pair.public_key().as_ref());
            }
            Self::Ed25519(pair) => put(&mut blob, pair.public_key().as_ref()),
        }
        put(&mut blob, application.as_bytes());
        blob
    }

    /// The line of its `.pub` file.
    pub(crate) fn line(&self, application: &str) -> String {
        format!(
            "{} {} ann@desk",
            self.name(),
            base64(&self.blob(application))
        )
    }

    /// The signature over a message, in its frame.
    pub(crate) fn signs(&self, message: &[u8], touch: Touch) -> String {
        let mut inner = b"SSHSIG".to_vec();
        put(&mut inner, touch.namespace.as_bytes());
        put(&mut inner, b"");
        put(&mut inner, touch.hash.as_bytes());
        match touch.hash {
            "sha512" => {
                let digest = ring::digest::digest(&ring::digest::SHA512, message);
                put(&mut inner, digest.as_ref());
            }
            _ => put(&mut inner, &sha256(message)),
        }
        let counter = 9_u32;
        let mut signed = sha256(touch.application.as_bytes());
        signed.push(touch.flags);
        signed.extend(counter.to_be_bytes());
        signed.extend(sha256(&inner));
        let mut raw = Vec::new();
        put(&mut raw, self.name().as_bytes());
        match self {
            Self::P256(pair) => {
                let signature = pair.sign(&SystemRandom::new(), &signed).unwrap();
                let mut numbers = Vec::new();
                for half in signature.as_ref().chunks(32) {
                    let start = half.iter().position(|byte| *byte != 0).unwrap();
                    let mut number = half[start..].to_vec();
                    if number[0] >= 0x80 {
                        number.insert(0, 0);
                    }
                    put(&mut numbers, &number);
                }
                put(&mut raw, &numbers);
            }
            Self::Ed25519(pair) => put(&mut raw, pair.sign(&signed).as_ref()),
        }
        raw.push(touch.flags);
        raw.extend(counter.to_be_bytes());
        let mut blob = b"SSHSIG".to_vec();
        blob.extend(1_u32.to_be_bytes());
        put(&mut blob, &self.blob(touch.application));
        put(&mut blob, touch.namespace.as_bytes());
        put(&mut blob, b"");
        put(&mut blob, touch.hash.as_bytes());
        put(&mut blob, &raw);
        let text = base64(&blob);
        let lines: Vec<&str> = text
            .as_bytes()
            .chunks(70)
            .map(|line| std::str::from_utf8(line).unwrap())
            .collect();
        format!(
            "-----BEGIN SSH SIGNATURE-----\n{}\n-----END SSH SIGNATURE-----\n",
            lines.join("\n")
        )
    }
}

/// The pins of one person with these keys.
pub(crate) fn pins(name: &str, keys: Vec<PinnedKey>) -> Pins {
    let mut pins = Pins::default();
    for key in keys {
        pins.pin(name, key).unwrap();
    }
    pins
}
