//! A line of a stream of requests: one JSON object, or what is wrong with it.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::commands::check::json_problem;

/// What the lines of a stream hold, for whoever has sent another.
pub(crate) struct Wanted {
    /// One of them: `call`.
    pub(crate) noun: &'static str,
    /// What is said of JSON that is no object.
    pub(crate) no_object: &'static str,
}

/// The request on a line, or what is wrong with it, starting with the place. `O` is the same as `R` with
/// everything owned, and only read for the sake of its errors.
pub(crate) fn request<'l, R: Deserialize<'l>, O: DeserializeOwned>(
    line: &'l [u8],
    wanted: &Wanted,
) -> Result<R, String> {
    if line.iter().all(u8::is_ascii_whitespace) {
        return Err(format!(": it is empty: send one {} a line", wanted.noun));
    }
    let text = std::str::from_utf8(line).map_err(|error| {
        format!(
            ":{}: it is not UTF-8 text: send text",
            error.valid_up_to() + 1
        )
    })?;
    match serde_json::from_str(text) {
        // The reader would also take an array for an object.
        Ok(request) if text.trim_start().starts_with('{') => Ok(request),
        Ok(_) => Err(format!(":1: {}", wanted.no_object)),
        Err(error) => {
            let (_, column, message) = json_problem::<O>(&error, line);
            Err(format!(":{column}: {message}"))
        }
    }
}
