//! Lines of ours in a file of somebody else's, between two marks.

use super::FormError;

const BEGIN: &str = "# holdpoint: begin";
const END: &str = "# holdpoint: end";

/// A text with room for a block.
pub(crate) struct Block<'t> {
    before: &'t str,
    /// What stands between the marks.
    inside: Option<&'t str>,
    after: &'t str,
    end: &'static str,
}

impl<'t> Block<'t> {
    pub(crate) fn in_text(text: &'t str) -> Result<Self, FormError> {
        let end = line_end(text);
        let Some((before, rest)) = text.split_once(BEGIN) else {
            return Ok(Self {
                before: text,
                inside: None,
                after: "",
                end,
            });
        };
        let Some((inside, after)) = rest.split_once(END) else {
            return Err(FormError::Unclosed {
                begin: BEGIN,
                end: END,
            });
        };
        Ok(Self {
            before,
            inside: Some(inside),
            after: after.strip_prefix(end).unwrap_or(after),
            end,
        })
    }

    pub(crate) fn is_there(&self) -> bool {
        self.inside.is_some()
    }

    pub(crate) fn content(&self) -> &'t str {
        self.inside.unwrap_or_default()
    }

    /// The text without the block.
    pub(crate) fn around(&self) -> String {
        let before = match self.inside {
            // With the empty line in front that came with it.
            Some(_) => {
                let twice = format!("{0}{0}", self.end);
                match self.before.strip_suffix(&twice) {
                    Some(before) => format!("{before}{}", self.end),
                    None => self.before.to_owned(),
                }
            }
            None => self.before.to_owned(),
        };
        format!("{before}{}", self.after)
    }

    /// The text with this content in its block.
    pub(crate) fn with(&self, content: &str) -> String {
        let end = self.end;
        let mut text = self.before.to_owned();
        if self.inside.is_none() {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push_str(end);
            }
            if !text.is_empty() {
                text.push_str(end);
            }
        }
        let content = content.replace('\n', end);
        format!("{text}{BEGIN}{end}{content}{END}{end}{}", self.after)
    }
}

/// What ends the lines of a text.
pub(crate) fn line_end(text: &str) -> &'static str {
    match text.contains("\r\n") {
        true => "\r\n",
        false => "\n",
    }
}
