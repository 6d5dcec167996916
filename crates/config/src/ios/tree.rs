//! The lines of a text as a router would take them: without prompts, numbers of lines and marks of quotation, each with
//! its indentation and the level that its prompt shows.
//!
//! ```text
//! > 12: Router(config-pmap-c)#priority percent 10
//!                              ^^^^^^^^^^^^^^^^^^ words, level `config-pmap-c`
//! ```
//!
//! What is below what follows from indentation, prompts and the words themselves: texts that are typed have no
//! indentation, and in what devices show it is not reliable.

use super::plan::At;
use crate::text::{Line, Text, Word};
use perhop_core::params::Place;

/// A line with words.
#[derive(Clone, Debug)]
pub struct Row<'a> {
    /// Its number, from 1.
    pub number: usize,
    /// Blanks before its words; 0 after a prompt.
    pub indent: usize,
    /// Inside of the brackets of a prompt; empty for a prompt without.
    pub level: Option<&'a str>,
    /// At least one.
    pub words: Vec<Word<'a>>,
}

/// What numbers the lines of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Numbers {
    None,
    /// With what stands behind each.
    Before(char),
}

/// The lines of a text that have words and are no comments.
pub fn rows(text: &Text) -> impl Iterator<Item = Row<'_>> {
    let numbers = numbers(text);
    text.lines().filter_map(move |line| row(line, numbers))
}

fn row(line: Line<'_>, numbers: Numbers) -> Option<Row<'_>> {
    let rest = after_prompt(unnumbered(unquoted(line.text), numbers));
    let words = rest.text.trim_start();
    if words.is_empty() || words.starts_with('!') {
        return None;
    }
    let start = line.start + (rest.text.as_ptr() as usize - line.text.as_ptr() as usize);
    let words = Line { number: line.number, start, text: rest.text }.words();
    let indent = if rest.level.is_some() { 0 } else { columns(rest.text) };
    Some(Row { number: line.number, indent, level: rest.level, words })
}

/// The words at a place, read again.
pub fn row_of(text: &Text, at: At) -> Option<Row<'_>> {
    let Place { start, end } = at.place;
    let words = Line { number: at.line, start, text: text.text.get(start..end)? }.words();
    (!words.is_empty()).then_some(Row { number: at.line, indent: 0, level: None, words })
}

/// Without the `>` of a mail.
fn unquoted(mut text: &str) -> &str {
    while let Some(rest) = text.trim_start().strip_prefix('>') {
        text = rest.strip_prefix(' ').unwrap_or(rest);
    }
    text
}

/// Without its number.
fn unnumbered(text: &str, numbers: Numbers) -> &str {
    match (numbers, numbered(text)) {
        (Numbers::Before(mark), Some((_, rest))) if rest.starts_with(mark) || rest.is_empty() => {
            rest.strip_prefix(mark).unwrap_or(rest)
        }
        _ => text,
    }
}

/// The number at its start and what follows it.
fn numbered(text: &str) -> Option<(u64, &str)> {
    let text = text.trim_start();
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    Some((text[..digits].parse().ok()?, &text[digits..]))
}

/// Whether the first three lines are numbered one after the other; with a colon or a bar, any three below each other.
fn numbers(text: &Text) -> Numbers {
    let mut lines = text.lines().filter(|line| !line.text.trim().is_empty()).map(|line| numbered(unquoted(line.text)));
    let (mut last, mut any) = ([lines.next().flatten(), lines.next().flatten()], &['\t', ' ', '.', ':', '|'][..]);
    for next in lines {
        let Some(found) = row_of_numbers([last[0], last[1], next], any) else {
            (last, any) = ([last[1], next], &[':', '|']);
            continue;
        };
        return Numbers::Before(found);
    }
    Numbers::None
}

/// What stands behind three numbers that follow each other, if it is one of these.
fn row_of_numbers(lines: [Option<(u64, &str)>; 3], marks: &[char]) -> Option<char> {
    let [a, b, c] = [lines[0]?, lines[1]?, lines[2]?];
    let mark = |rest: &str| rest.chars().next().filter(|c| marks.contains(c));
    let found = [a.1, b.1, c.1].into_iter().find_map(mark)?;
    (a.0.checked_add(1) == Some(b.0) && b.0.checked_add(1) == Some(c.0)).then_some(found)
}

struct Prompted<'a> {
    level: Option<&'a str>,
    text: &'a str,
}

/// Without `Router(config-pmap)#`.
fn after_prompt(text: &str) -> Prompted<'_> {
    let none = Prompted { level: None, text };
    let first = text.trim_start();
    let word = first.split_whitespace().next().unwrap_or_default();
    let Some(end) = word.find(['#', '>']) else { return none };
    let (host, rest) = (&word[..end], &first[end + 1..]);
    let (name, level) = match host.split_once('(') {
        Some((name, level)) => (name, level.strip_suffix(')')),
        None => (host, Some("")),
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | ':' | '/' | '@');
    match level {
        Some(level) if !name.is_empty() && name.chars().all(plain) => Prompted { level: Some(level), text: rest },
        _ => none,
    }
}

/// Columns of the blanks at its start; a tab goes to the next multiple of 8.
fn columns(text: &str) -> usize {
    text.chars().take_while(|c| c.is_whitespace()).fold(0, |n, c| if c == '\t' { (n / 8 + 1) * 8 } else { n + 1 })
}

impl<'a> Row<'a> {
    /// The word at a place, or nothing.
    pub fn word(&self, i: usize) -> &'a str {
        self.words.get(i).map_or("", |word| word.text)
    }

    /// Whether it starts with these words.
    pub fn starts(&self, words: &[&str]) -> bool {
        words.iter().enumerate().all(|(i, word)| self.word(i) == *word)
    }

    /// Its words.
    pub fn at(&self) -> At {
        self.at_from(0)
    }

    /// Its words from this one on.
    pub fn at_from(&self, first: usize) -> At {
        let last = self.words.last().map_or(0, |word| word.place.end);
        let start = self.words.get(first).map_or(last, |word| word.place.start);
        At { line: self.number, place: Place { start, end: last } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(usize, usize, Option<String>, String)> {
        let text = Text::new(text.as_bytes());
        let words = |row: &Row<'_>| row.words.iter().map(|word| word.text).collect::<Vec<_>>().join(" ");
        rows(&text).map(|row| (row.number, row.indent, row.level.map(str::to_owned), words(&row))).collect()
    }

    #[test]
    fn prompts_numbers_and_quotations_are_taken_off() {
        let plain = |number, indent, text: &str| (number, indent, None, text.to_owned());
        assert_eq!(read("!\n class A\n\n! x\n\tpolice 8000"), [plain(2, 1, "class A"), plain(5, 8, "police 8000")]);
        assert_eq!(read("> > policy-map P\n>  class A"), [plain(1, 0, "policy-map P"), plain(2, 1, "class A")]);
        assert_eq!(read("7: a\n8:  b\n9: c")[1], plain(2, 2, "b"));
        assert_eq!(read("10 permit a\n20 permit b\n30 permit c")[1], plain(2, 0, "20 permit b"));
        let typed = read("R1(config)# policy-map P\nR1(config-pmap)#class A\nR1#show");
        assert_eq!(typed[0], (1, 0, Some("config".into()), "policy-map P".into()));
        assert_eq!(typed[1], (2, 0, Some("config-pmap".into()), "class A".into()));
        assert_eq!(typed[2], (3, 0, Some(String::new()), "show".into()));
    }

    #[test]
    fn words_keep_their_place() {
        let text = Text::new(b"> R(config-pmap-c)#police 8000 1500");
        let row = rows(&text).next().unwrap();
        let Place { start, end } = row.at_from(1).place;
        assert_eq!(&text.text[start..end], "8000 1500");
    }
}
