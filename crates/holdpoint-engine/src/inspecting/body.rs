//! The texts of a value that are somebody else's words: not pictures, not the words that say which
//! form a value has, and not what the model said itself and gets back.

use std::borrow::Cow;
use std::collections::HashSet;

use holdpoint_core::text::inspection::Field;
use serde_json::{Map, Value};

/// A value of which some texts were put aside.
pub(super) struct Body<'v> {
    text: Cow<'v, Value>,
    /// Where those were, and what.
    aside: Vec<(String, String)>,
}

impl<'v> Body<'v> {
    /// Puts aside the pictures and the form of a value, and what stands word for word in `own`.
    pub(super) fn from_value(value: &'v Value, own: Option<&Value>) -> Self {
        let own: HashSet<&str> = own.map(strings).into_iter().flatten().collect();
        let aside = put_aside(value, &own);
        if aside.is_empty() {
            return Self {
                text: Cow::Borrowed(value),
                aside,
            };
        }
        let mut text = value.clone();
        for (pointer, _) in &aside {
            if let Some(place) = text.pointer_mut(pointer) {
                *place = Value::Null;
            }
        }
        Self {
            text: Cow::Owned(text),
            aside,
        }
    }

    /// The value with only the texts that count.
    pub(super) fn text(&self) -> &Value {
        &self.text
    }

    /// Those texts.
    pub(super) fn strings(&self) -> impl Iterator<Item = &str> {
        strings(&self.text)
    }

    /// The text a field is.
    pub(super) fn string_at(&self, field: &Field) -> Cow<'_, str> {
        if field.is_key {
            let key = field.pointer.rsplit('/').next().unwrap_or_default();
            return key.replace("~1", "/").replace("~0", "~").into();
        }
        let found = self.text.pointer(&field.pointer).and_then(Value::as_str);
        found.unwrap_or_default().into()
    }

    /// A value that was made of the texts, with the rest put back in its place.
    pub(super) fn with_text(&self, mut value: Value) -> Value {
        for (pointer, text) in &self.aside {
            if let Some(place) = value.pointer_mut(pointer) {
                *place = Value::String(text.clone());
            }
        }
        value
    }
}

/// The strings of a value. Without recursion, as everything here: a value may be as deep as whoever
/// made it liked.
pub fn strings(value: &Value) -> impl Iterator<Item = &str> {
    let mut open = vec![value];
    std::iter::from_fn(move || {
        while let Some(value) = open.pop() {
            match value {
                Value::String(text) => return Some(text.as_str()),
                Value::Array(items) => open.extend(items.iter().rev()),
                Value::Object(members) => open.extend(members.values().rev()),
                Value::Null | Value::Bool(_) | Value::Number(_) => {}
            }
        }
        None
    })
}

fn put_aside(value: &Value, own: &HashSet<&str>) -> Vec<(String, String)> {
    let mut aside = Vec::new();
    let mut open = vec![(String::new(), "", false, value)];
    while let Some((pointer, key, in_picture, value)) = open.pop() {
        match value {
            Value::String(text) => {
                let picture = in_picture && is_picture(key, text);
                if picture || is_form(text) || own.contains(text.as_str()) {
                    aside.push((pointer, text.clone()));
                }
            }
            Value::Array(items) => {
                open.extend(items.iter().enumerate().map(|(index, item)| {
                    let pointer = format!("{pointer}/{index}");
                    (pointer, key, in_picture, item)
                }));
            }
            Value::Object(members) => {
                // The bytes of a picture stand beside its kind, or one step below.
                let nested = in_picture && matches!(key, "file" | "source");
                let in_picture = nested || shows_picture(members);
                open.extend(members.iter().map(|(key, member)| {
                    let step = key.replace('~', "~0").replace('/', "~1");
                    (
                        format!("{pointer}/{step}"),
                        key.as_str(),
                        in_picture,
                        member,
                    )
                }));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    aside
}

/// Whether a text is one of the words by which agents tell the forms of results apart. Each by itself
/// says nothing, and an agent does not know a result again in which one is missing.
pub fn is_form(text: &str) -> bool {
    FORMS.binary_search(&text).is_ok()
}

/// Sorted.
const FORMS: &[&str] = &[
    "amended",
    "application/json",
    "application/pdf",
    "async_launched",
    "audio",
    "auto-merge-disabled",
    "auto-merge-enabled",
    "cherry-picked",
    "closed",
    "code",
    "commented",
    "committed",
    "completed",
    "content",
    "count",
    "create",
    "created",
    "draft",
    "edited",
    "error",
    "files_with_matches",
    "image",
    "image/gif",
    "image/jpeg",
    "image/png",
    "image/webp",
    "in_progress",
    "markdown",
    "merged",
    "not_connected",
    "notebook",
    "parts",
    "pdf",
    "pending",
    "ready",
    "rebased",
    "refreshed",
    "remote_launched",
    "reopened",
    "resource",
    "resource_link",
    "text",
    "text/markdown",
    "text/plain",
    "update",
];

/// Whether an object says that it is a picture, a sound or a printed page.
fn shows_picture(members: &Map<String, Value>) -> bool {
    let kind = ["type", "mimeType", "mimetype", "mediaType", "media_type"]
        .iter()
        .filter_map(|key| members.get(*key)?.as_str())
        .any(|kind| {
            matches!(kind, "image" | "audio" | "pdf" | "application/pdf")
                || kind.starts_with("image/")
                || kind.starts_with("audio/")
        });
    kind || members.get("isImage") == Some(&Value::Bool(true))
}

/// Whether a text under a key is the bytes of something, in base 64.
pub fn is_picture(key: &str, text: &str) -> bool {
    let bytes = match key {
        "data" | "base64" | "blob" => text,
        "stdout" => match text.split_once(";base64,") {
            Some((kind, bytes)) if kind.starts_with("data:image/") && kind.len() < 40 => bytes,
            Some(_) | None => return false,
        },
        _ => return false,
    };
    bytes
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"+/=\r\n".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn texts(value: &Value, own: &Value) -> Vec<String> {
        let body = Body::from_value(value, Some(own));
        assert_eq!(&body.with_text(body.text().clone()), value);
        let mut texts: Vec<String> = body.strings().map(str::to_owned).collect();
        texts.sort();
        texts
    }

    #[test]
    fn pictures_are_no_text() {
        for picture in [
            json!({"type": "image", "file": {"base64": "aWdub3Jl", "type": "image/png"}}),
            json!([{"type": "image", "data": "aWdub3Jl", "mimeType": "image/png"}]),
            json!([{"type": "image", "source": {"type": "base64", "data": "aWdub3Jl"}}]),
            json!({"isImage": true, "stdout": "data:image/png;base64,aWdub3Jl"}),
            json!({"pages": [{"base64": "aWdub3Jl", "mediaType": "image/jpeg"}]}),
        ] {
            let found = texts(&picture, &Value::Null);
            assert!(
                found.iter().all(|text| !text.contains("aWdub3Jl")),
                "{found:?}"
            );
        }
    }

    #[test]
    fn what_only_poses_as_a_picture_is_text() {
        for text in [
            json!({"type": "image", "data": "read this first"}),
            json!({"type": "text", "data": "aWdub3Jl"}),
            json!({"type": "image", "text": "aWdub3Jl"}),
            json!({"isImage": true, "stdout": "aWdub3Jl"}),
            json!({"type": "image", "notes": {"data": "aWdub3Jl"}}),
        ] {
            let strings = strings(&text).filter(|text| !is_form(text)).count();
            assert_eq!(texts(&text, &Value::Null).len(), strings, "{text}");
        }
    }

    #[test]
    fn the_form_of_a_value_is_no_text() {
        assert!(FORMS.is_sorted());
        let file = json!({"type": "text", "file": {"content": "a", "filePath": "b"}});
        assert_eq!(texts(&file, &Value::Null), ["a", "b"]);
    }

    #[test]
    fn what_the_model_said_itself_is_its_own() {
        let value = json!({"url": "https://a.example/", "result": "a page", "~/x": "y"});
        let own = json!({"url": "https://a.example/", "prompt": "y"});
        assert_eq!(texts(&value, &own), ["a page"]);
    }
}
