//! Lines that devices print, as patterns.
//!
//! `#rate` stands for a whole number that is called so, `#sent,dropped` for numbers with a slash between them, `#` for one without
//! a name, `a|b` for either word, `[..]` for what may be missing, `*` for all that follows. Words agree whatever their case.

use crate::ios::tree::Row;
use crate::text::Word;
use perhop_core::params::Place;

/// A number of a line, where its pattern has one.
#[derive(Clone, Copy, Debug)]
pub struct Hole<'a> {
    /// What the pattern calls it.
    pub name: &'static str,
    /// As printed.
    pub text: &'a str,
    /// What it is.
    pub number: u64,
}

/// The numbers of a line that agrees with a pattern.
pub fn holes<'a>(pattern: &'static str, row: &Row<'a>) -> Option<Vec<Hole<'a>>> {
    let (mut holes, mut words) = (Vec::new(), &row.words[..]);
    for (i, part) in pattern.split(['[', ']']).enumerate() {
        let (before, is_optional) = (holes.len(), i % 2 == 1);
        match behind(part, words, &mut holes) {
            Some(rest) => words = rest,
            None if is_optional => holes.truncate(before),
            None => return None,
        }
    }
    words.is_empty().then_some(holes)
}

/// The words behind those that agree with a part of a pattern.
fn behind<'w, 'a>(part: &'static str, mut words: &'w [Word<'a>], holes: &mut Vec<Hole<'a>>) -> Option<&'w [Word<'a>]> {
    for part in part.split(' ').filter(|part| !part.is_empty()) {
        if part == "*" {
            return Some(&[]);
        }
        let (word, rest) = words.split_first()?;
        let bare = part.strip_prefix('(').unwrap_or(part);
        match bare.strip_prefix('#') {
            Some(names) => numbers(names, word.text.strip_prefix(&part[..part.len() - bare.len()])?, holes)?,
            None => part.split('|').find(|part| part.eq_ignore_ascii_case(word.text)).map(|_| ())?,
        }
        words = rest;
    }
    Some(words)
}

/// As many numbers as names.
fn numbers<'a>(names: &'static str, text: &'a str, holes: &mut Vec<Hole<'a>>) -> Option<()> {
    let mut texts = text.trim_end_matches('%').split('/');
    for name in names.split(',') {
        let text = texts.next()?;
        holes.push(Hole { name, text, number: text.parse().ok()? });
    }
    texts.next().is_none().then_some(())
}

/// Words that devices print without a blank behind their colon.
const GLUED: [&str; 7] = ["Match:", "Class-map:", "input:", "output:", "action:", "actions:", "Service-policy:"];

/// A line with its words as they are meant: without commas, glued words apart, and without the numbers in brackets that
/// stand behind names and code points.
pub fn plain<'a>(row: &Row<'a>) -> Row<'a> {
    let mut words = Vec::with_capacity(row.words.len());
    for word in &row.words {
        match GLUED.iter().find(|glued| word.text.len() > glued.len() && word.text.starts_with(**glued)) {
            Some(glued) => words.extend(split(word, glued.len())),
            None => words.push(*word),
        }
    }
    let words = words.into_iter().map(bare).filter(|word| !is_number_in_brackets(word.text)).collect();
    Row { words, ..row.clone() }
}

fn split<'a>(word: &Word<'a>, at: usize) -> [Word<'a>; 2] {
    let Place { start, end } = word.place;
    let (first, rest) = word.text.split_at(at);
    let middle = start + at;
    [
        Word { text: first, place: Place { start, end: middle } },
        Word { text: rest, place: Place { start: middle, end } },
    ]
}

fn bare(word: Word<'_>) -> Word<'_> {
    let text = word.text.trim_end_matches([',', ';']);
    Word { text, place: Place { end: word.place.start + text.len(), ..word.place } }
}

/// `(46)`, `(1178/10)`: what a name stands for, or a handle of the device.
fn is_number_in_brackets(text: &str) -> bool {
    let inner = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    inner.is_some_and(|inner| {
        !inner.is_empty() && inner.bytes().all(|byte| byte.is_ascii_digit() || byte == b'/') && !inner.starts_with("1/")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ios::tree::rows;
    use crate::text::Text;

    fn of(pattern: &'static str, line: &str) -> Option<Vec<u64>> {
        let text = Text::new(line.as_bytes());
        let row = rows(&text).next()?;
        Some(holes(pattern, &plain(&row))?.iter().map(|hole| hole.number).collect())
    }

    #[test]
    fn numbers_are_found_where_the_pattern_has_them() {
        assert_eq!(of("# packets # bytes", " 15 packets, 6210 bytes"), Some(vec![15, 6210]));
        assert_eq!(of("(depth drops) #,", "(depth drops) 98/666"), Some(vec![98, 666]));
        assert_eq!(of("(depth drops) #,", "(depth drops) 98/666/0"), None);
        assert_eq!(of("bandwidth # (# kbps)", "bandwidth 30% (300 kbps)"), Some(vec![30, 300]));
        assert_eq!(of("rate # bps *", "rate 8000 bps, burst 1 bytes"), Some(vec![8000]));
        assert_eq!(of("# packets", "15 packets 2"), None);
    }

    #[test]
    fn what_may_be_missing_is_there_as_a_whole_or_not_at_all() {
        let limit = "queue limit [# us/|ms/] # bytes";
        assert_eq!(of(limit, "queue limit 64 bytes"), Some(vec![64]));
        assert_eq!(of(limit, "Queue limit 5 ms/ 64 bytes"), Some(vec![5, 64]));
        assert_eq!(of(limit, "queue limit 5 64 bytes"), None);
    }

    #[test]
    fn glued_words_come_apart() {
        assert_eq!(of("match: any", "Match:any (1183)"), Some(vec![]));
        assert_eq!(of("exceeded # bytes action: drop", "exceeded 5 bytes; action:drop"), Some(vec![5]));
    }
}
