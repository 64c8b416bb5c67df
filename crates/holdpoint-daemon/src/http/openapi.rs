//! The description of the API, for programs that build on it.

use axum::http::header;
use axum::response::IntoResponse;

const DOCUMENT: &str = include_str!("openapi.json");

pub(super) async fn document() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], DOCUMENT)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;

    #[test]
    fn every_route_is_described_and_every_description_is_a_route() {
        let document: Value = serde_json::from_str(DOCUMENT).unwrap();
        let paths = document["paths"].as_object().unwrap();
        let described: BTreeSet<(&str, &str)> = paths
            .iter()
            .flat_map(|(path, methods)| {
                let methods = methods.as_object().unwrap().keys();
                methods.map(|method| (method.as_str(), path.as_str()))
            })
            .collect();
        let served: BTreeSet<(&str, &str)> =
            super::super::routes().listed.iter().copied().collect();
        assert_eq!(described, served);
    }

    #[test]
    fn every_reference_leads_somewhere() {
        let document: Value = serde_json::from_str(DOCUMENT).unwrap();
        let mut left = vec![&document];
        while let Some(value) = left.pop() {
            if let Some(name) = value.get("$ref").and_then(Value::as_str) {
                let pointer = name.strip_prefix('#').unwrap();
                assert!(document.pointer(pointer).is_some(), "{name}");
            }
            match value {
                Value::Array(items) => left.extend(items),
                Value::Object(fields) => left.extend(fields.values()),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
            }
        }
    }
}
