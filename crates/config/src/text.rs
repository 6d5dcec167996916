//! A text as it is pasted: its characters, its lines, its words, each with its place.

use perhop_core::params::{Place, steers};
use std::fmt::Write as _;
use std::sync::OnceLock;

/// What was read, without what terminals and mails add to it.
#[derive(Clone, Debug, Default)]
pub struct Text {
    /// The characters, with `\n` between lines; places are bytes of this.
    pub text: String,
    /// Where its lines begin, once that was asked.
    starts: OnceLock<Vec<usize>>,
}

/// A line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// Its number, from 1, as in the file.
    pub number: usize,
    /// Where its text starts.
    pub start: usize,
    /// Without its end.
    pub text: &'a str,
}

/// A word of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word<'a> {
    /// Its characters.
    pub text: &'a str,
    /// Its place.
    pub place: Place,
}

impl Text {
    /// Decodes UTF-8, or else Latin-1; takes off the colours of terminals, byte order marks and carriage returns. A character that
    /// [`steers`] a terminal stands as its escape, `\u009b`, so that nothing that is made of a text can hold one.
    pub fn new(bytes: &[u8]) -> Self {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let decoded = match std::str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            Err(_) => bytes.iter().map(|byte| char::from(*byte)).collect(),
        };
        Self::of(plain(&decoded))
    }

    /// A text as it is, which holds no control characters.
    pub const fn of(text: String) -> Self {
        Self { text, starts: OnceLock::new() }
    }

    /// Its lines.
    pub fn lines(&self) -> impl Iterator<Item = Line<'_>> {
        let mut start = 0;
        self.text.split('\n').enumerate().map(move |(i, text)| {
            let line = Line { number: i + 1, start, text };
            start += text.len() + 1;
            line
        })
    }

    /// The number of the line with a place, from 1.
    pub fn line_of(&self, place: Place) -> usize {
        let starts = || [0].into_iter().chain(self.text.match_indices('\n').map(|(end, _)| end + 1)).collect();
        self.starts.get_or_init(starts).partition_point(|start| *start <= place.start)
    }
}

impl<'a> Line<'a> {
    /// Its words, between blanks.
    pub fn words(&self) -> Vec<Word<'a>> {
        let (text, start) = (self.text, self.start);
        let at = |word: &'a str| word.as_ptr() as usize - text.as_ptr() as usize + start;
        let word = |text: &'a str| Word { text, place: Place { start: at(text), end: at(text) + text.len() } };
        text.split_whitespace().map(word).collect()
    }

    /// What stands between two of its bytes, without the blanks around it.
    pub fn part(self, from: usize, to: usize) -> Self {
        let text = self.text[from..to].trim();
        Self { start: self.start + text.as_ptr() as usize - self.text.as_ptr() as usize, text, ..self }
    }

    /// All of it, without the blanks around it.
    pub fn place(&self) -> Place {
        let from = self.start + self.text.len() - self.text.trim_start().len();
        Place { start: from, end: (self.start + self.text.trim_end().len()).max(from) }
    }
}

/// Without escape sequences (ECMA-48 CSI and OSC), without what ends a line but `\n`, and with escapes for what steers.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\r' if chars.peek() == Some(&'\n') => {}
            '\r' | '\u{2028}' | '\u{2029}' => out.push('\n'),
            '\u{b}' | '\u{c}' => out.push(' '),
            '\u{1b}' => skip(&mut chars),
            '\u{8}' => _ = out.pop(),
            '\u{feff}' | '\0' => {}
            '\n' | '\t' => out.push(c),
            c if steers(c) => _ = write!(out, "\\u{:04x}", u32::from(c)),
            c => out.push(c),
        }
    }
    out
}

fn skip(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match chars.next() {
        Some('[') => _ = chars.find(|c| matches!(c, '@'..='~')),
        Some(']') => _ = chars.find(|c| matches!(c, '\u{7}' | '\u{1b}')),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_terminals_add_is_gone() {
        let text = Text::new(b"\xef\xbb\xbf\x1b[1;31mqdisc\x1b[0m htb\r\n\tpolice\r\n");
        assert_eq!(text.text, "qdisc htb\n\tpolice\n");
        assert_eq!(Text::new(b"caf\xe9").text, "café");
        assert_eq!(
            Text::new("a\u{9b}31m\u{7f}\u{202e}\u{2029}b\u{c}c\td".as_bytes()).text,
            "a\\u009b31m\\u007f\\u202e\nb c\td"
        );
    }

    #[test]
    fn words_know_their_place() {
        let text = Text::new(b"a b\n  class GOLD \n");
        let line = text.lines().nth(1).unwrap();
        assert_eq!(line.number, 2);
        let word = line.words()[1];
        assert_eq!(&text.text[word.place.start..word.place.end], "GOLD");
        assert_eq!(text.line_of(word.place), 2);
        assert_eq!(&text.text[line.place().start..line.place().end], "class GOLD");
    }
}
