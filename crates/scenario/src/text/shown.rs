//! Text from a file as a terminal may show it: a character that would steer the terminal stands as its escape.

use std::borrow::Cow;

/// Whether a terminal would obey a character instead of showing it: controls, and what turns the direction of text.
pub fn steers(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// `text` with an escape of TOML, `\u001b`, for each character that [`steers`].
pub fn shown(text: &str) -> Cow<'_, str> {
    if !text.chars().any(steers) {
        return Cow::Borrowed(text);
    }
    let one = |c: char| if steers(c) { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() };
    Cow::Owned(text.chars().map(one).collect())
}

/// A line of a file in as many columns as it has characters: tabs are spaces, what steers is a replacement character.
pub fn line(text: &str) -> String {
    let one = |c: char| match c {
        '\t' => ' ',
        c if steers(c) => char::REPLACEMENT_CHARACTER,
        c => c,
    };
    text.chars().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_a_terminal_is_escaped() {
        assert_eq!(shown("ätsch\u{1b}[2J\u{202e}"), "ätsch\\u001b[2J\\u202e");
        assert!(matches!(shown("a - b"), Cow::Borrowed("a - b")));
        assert_eq!(line("a\t=\u{1b}[1m\u{7f}"), "a =\u{fffd}[1m\u{fffd}");
    }
}
