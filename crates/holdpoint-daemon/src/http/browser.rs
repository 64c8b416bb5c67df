//! What an answer came from: the kind of browser and of system, by what it says of itself. It is a word of a list and never the
//! browser's own text, which tells versions, models and whatever else somebody wrote into it.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::header;
use axum::http::request::Parts;

/// Browsers by a mark of theirs. Most say that they are others as well: the first that fits counts.
const BROWSERS: &[(&str, &str)] = &[
    ("Edg/", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
];

/// Systems, in the same way.
const SYSTEMS: &[(&str, &str)] = &[
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows NT", "Windows"),
    ("CrOS", "ChromeOS"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
];

/// The browser a request came from, in words: `Firefox on Linux`.
pub(super) struct Browser(pub(super) String);

impl<S: Send + Sync> FromRequestParts<S> for Browser {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let says = parts.headers.get(header::USER_AGENT);
        let says = says.and_then(|value| value.to_str().ok());
        Ok(Self(in_words(says.unwrap_or_default())))
    }
}

fn in_words(says: &str) -> String {
    let named = |list: &[(&str, &'static str)]| {
        let found = list.iter().find(|(mark, _)| says.contains(mark));
        found.map(|(_, name)| *name)
    };
    match (named(BROWSERS), named(SYSTEMS)) {
        (Some(browser), Some(system)) => format!("{browser} on {system}"),
        (Some(browser), None) => browser.to_owned(),
        // Whoever uses the API with a token.
        (None, _) => "another program".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::in_words;

    #[test]
    fn a_browser_is_a_word_of_a_list() {
        for (says, words) in [
            (
                "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
                "Firefox on Linux",
            ),
            (
                "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/148.0.0.0 Safari/537.36",
                "Chrome on Linux",
            ),
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/148.0.0.0 Safari/537.36 Edg/148.0.0.0",
                "Edge on Windows",
            ),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 26_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Mobile/15E148 Safari/604.1",
                "Safari on iPhone",
            ),
            (
                "Mozilla/5.0 (Linux; Android 16; Pixel of Ann) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/148.0.0.0 Mobile Safari/537.36",
                "Chrome on Android",
            ),
            ("Firefox/140.0", "Firefox"),
            ("curl/8.5.0 (ann@example.com)", "another program"),
            ("", "another program"),
        ] {
            assert_eq!(in_words(says), words, "{says}");
        }
    }
}
