//! HTML that nothing from a record can break out of.
//!
//! Markup is only ever a text of this program, known when it is compiled; everything else is
//! escaped on its way in, and characters nobody would see are written out.

use std::fmt::{Display, Write as _};

use holdpoint_core::text::escape_for_display;

/// The most characters of a text of a record that are shown: some lines of a table. The record has the rest.
const MAX_TEXT: usize = 400;

/// A page being written.
#[derive(Debug, Default)]
pub(super) struct Html(String);

impl Html {
    /// Markup of this program.
    pub(super) fn raw(&mut self, markup: &'static str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    /// Text from anywhere.
    pub(super) fn text(&mut self, text: &str) -> &mut Self {
        self.escaped(&escape_for_display(text, MAX_TEXT))
    }

    /// Text of several lines that was made here, such as a policy.
    pub(super) fn lines(&mut self, text: &str) -> &mut Self {
        for line in text.lines() {
            self.escaped(&escape_for_display(line, MAX_TEXT)).raw("\n");
        }
        self
    }

    /// An element around a text.
    pub(super) fn around(
        &mut self,
        open: &'static str,
        text: &str,
        close: &'static str,
    ) -> &mut Self {
        self.raw(open).text(text).raw(close)
    }

    /// An attribute. The value is quoted and cannot end early.
    pub(super) fn attribute(&mut self, name: &'static str, value: impl Display) -> &mut Self {
        self.raw(" ").raw(name).raw("=\"");
        self.text(&value.to_string()).raw("\"")
    }

    /// An attribute that is a length, in hundredths.
    pub(super) fn length(
        &mut self,
        name: &'static str,
        value: f64,
        unit: &'static str,
    ) -> &mut Self {
        let value = if value.is_finite() { value } else { 0.0 };
        self.raw(" ").raw(name).raw("=\"");
        let mut number = format!("{value:.2}");
        while number.contains('.') && number.ends_with(['0', '.']) {
            if number.pop() == Some('.') {
                break;
            }
        }
        // Writing to a string cannot fail.
        let _ = write!(self.0, "{number}");
        self.raw(unit).raw("\"")
    }

    /// The page.
    pub(super) fn finish(self) -> String {
        self.0
    }

    fn escaped(&mut self, text: &str) -> &mut Self {
        for sign in text.chars() {
            match sign {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                other => self.0.push(other),
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_become_markup() {
        let mut html = Html::default();
        html.text("</script><img src=x onerror='a(\"b\")'>&amp;\u{2028}\u{202e}\0");
        assert_eq!(
            html.finish(),
            "&lt;/script&gt;&lt;img src=x onerror=&#39;a(&quot;b&quot;)&#39;&gt;&amp;amp;\
             \\u{2028}\\u{202e}\\u{0}"
        );
    }

    #[test]
    fn lengths_are_short_and_always_numbers() {
        let mut html = Html::default();
        html.length("x", 12.5, "%")
            .length("y", 100.0, "")
            .length("z", f64::NAN, "%");
        assert_eq!(html.finish(), r#" x="12.5%" y="100" z="0%""#);
    }
}
