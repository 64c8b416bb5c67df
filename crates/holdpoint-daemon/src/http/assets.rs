//! The page and its files, built into the binary. They hold no data and are the same for everybody.

use std::sync::LazyLock;

use axum::body::Bytes;
use axum::extract::Path;
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use base64ct::{Base64UrlUnpadded, Encoding};
use sha2::{Digest, Sha256};

use super::guard::only;
use super::reply::Refusal;

/// The page.
pub(super) async fn page(headers: HeaderMap) -> Result<Response, Refusal> {
    serve("index.html", &headers)
}

/// One of its files.
pub(super) async fn file(
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    serve(&name, &headers)
}

/// What the page may do: run and show what comes from here, and talk to nobody else.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
     img-src 'self' data:; connect-src 'self'; frame-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; \
     form-action 'none'; frame-ancestors 'none'";

struct Asset {
    name: &'static str,
    bytes: &'static [u8],
    kind: &'static str,
    tag: String,
}

/// Name and content of every file in `page/`.
const FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/page.rs"));

static ASSETS: LazyLock<Vec<Asset>> = LazyLock::new(|| {
    let assets = FILES.iter().filter_map(|(name, bytes)| {
        Some(Asset {
            name,
            bytes,
            kind: kind_of(name)?,
            tag: format!(
                "\"{}\"",
                Base64UrlUnpadded::encode_string(&Sha256::digest(bytes))
            ),
        })
    });
    assets.collect()
});

fn serve(name: &str, headers: &HeaderMap) -> Result<Response, Refusal> {
    let asset = ASSETS
        .iter()
        .find(|asset| asset.name == name)
        .ok_or_else(|| Refusal::missing("such file"))?;
    let known = only(headers, &header::IF_NONE_MATCH)
        .is_some_and(|tags| tags.split(',').any(|tag| tag.trim() == asset.tag));
    let about = [
        (header::CONTENT_TYPE, asset.kind),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::ETAG, asset.tag.as_str()),
        // Kept, and asked about each time: a new version of the daemon has a new page.
        (header::CACHE_CONTROL, "no-cache"),
        // The worker that shows notifications is one of the page, not of its files alone.
        (HeaderName::from_static("service-worker-allowed"), "/"),
    ];
    Ok(if known {
        (StatusCode::NOT_MODIFIED, about).into_response()
    } else {
        (about, Bytes::from_static(asset.bytes)).into_response()
    })
}

fn kind_of(name: &str) -> Option<&'static str> {
    let (_, end) = name.rsplit_once('.')?;
    Some(match end {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "json" | "webmanifest" => "application/manifest+json",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_page_is_served() {
        assert!(FILES.iter().any(|(name, _)| *name == "index.html"));
        assert_eq!(ASSETS.len(), FILES.len(), "a file of unknown kind in page/");
    }
}
