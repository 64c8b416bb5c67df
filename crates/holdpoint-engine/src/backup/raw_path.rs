//! A path in a manifest: text where it is text, and otherwise its bytes.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A path that comes back as it was, whatever bytes it is made of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RawPath(pub PathBuf);

impl RawPath {
    /// The path.
    pub fn as_path(&self) -> &Path {
        &self.0
    }
}

impl fmt::Display for RawPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.display().fmt(f)
    }
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Form {
    Text(String),
    Bytes { hex: String },
}

impl Serialize for RawPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let form = match self.0.to_str() {
            Some(text) => Form::Text(text.to_owned()),
            None => {
                let bytes = self.0.as_os_str().as_encoded_bytes();
                let hex = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                Form::Bytes { hex }
            }
        };
        form.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RawPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Form::deserialize(deserializer)? {
            Form::Text(text) => Ok(Self(PathBuf::from(text))),
            Form::Bytes { hex } => os_string(&hex)
                .map(|name| Self(PathBuf::from(name)))
                .ok_or_else(|| de::Error::custom("`hex` is not the bytes of a path")),
        }
    }
}

fn os_string(hex: &str) -> Option<OsString> {
    let digits = hex.as_bytes();
    let mut bytes = Vec::with_capacity(digits.len() / 2);
    for pair in digits.chunks(2) {
        let pair = std::str::from_utf8(pair)
            .ok()
            .filter(|pair| pair.len() == 2)?;
        bytes.push(u8::from_str_radix(pair, 16).ok()?);
    }
    from_bytes(bytes)
}

#[cfg(unix)]
fn from_bytes(bytes: Vec<u8>) -> Option<OsString> {
    use std::os::unix::ffi::OsStringExt;
    Some(OsString::from_vec(bytes))
}

#[cfg(not(unix))]
fn from_bytes(bytes: Vec<u8>) -> Option<OsString> {
    String::from_utf8(bytes).ok().map(OsString::from)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    #[test]
    fn a_path_comes_back_as_it_was() {
        for bytes in [b"/a/b c".to_vec(), b"/a/\xff\x00x".to_vec(), "/ä".into()] {
            let path = RawPath(PathBuf::from(from_bytes(bytes).unwrap()));
            let text = serde_json::to_string(&path).unwrap();
            assert_eq!(
                serde_json::from_str::<RawPath>(&text).unwrap(),
                path,
                "{text}"
            );
        }
        assert!(serde_json::from_str::<RawPath>(r#"{"hex":"fg"}"#).is_err());
        assert!(serde_json::from_str::<RawPath>(r#"{"hex":"f"}"#).is_err());
        assert!(serde_json::from_str::<RawPath>(r#"{"hex":"é"}"#).is_err());
    }
}
