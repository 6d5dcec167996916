//! Characters that steer what shows them, a terminal or a page, in place of being seen.

use std::borrow::Cow;

/// Whether a terminal obeys a character and does not show it: controls (C0, DEL, C1), what turns the direction of text or parts
/// it into lines and paragraphs, and marks without width that annotate it.
pub fn steers(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
        )
}

/// A text with an escape of TOML and JSON, `\u001b`, for each character that [`steers`].
pub fn escaped(text: &str) -> Cow<'_, str> {
    escaped_but(text, |_| false)
}

/// As [`escaped`], without those that `stay`.
pub fn escaped_but(text: &str, stays: impl Fn(char) -> bool) -> Cow<'_, str> {
    let obeyed = |c: char| steers(c) && !stays(c);
    if !text.chars().any(obeyed) {
        return Cow::Borrowed(text);
    }
    let one = |c: char| if obeyed(c) { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() };
    Cow::Owned(text.chars().map(one).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_a_terminal_is_escaped() {
        assert_eq!(escaped("ätsch\u{1b}[2J\u{202e}\u{9b}\u{7f}\u{61c}"), "ätsch\\u001b[2J\\u202e\\u009b\\u007f\\u061c");
        assert!(matches!(escaped("a - b"), Cow::Borrowed("a - b")));
        assert_eq!(escaped_but("a\tb\n\u{2029}", |c| c == '\n'), "a\\u0009b\n\\u2029");
    }
}
