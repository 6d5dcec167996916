//! Lines that devices print, as patterns.
//!
//! `#` stands for a whole number, `#/#` for numbers with a slash between them, `*` for all that follows. Words agree
//! whatever their case.

use crate::ios::tree::Row;
use crate::text::Word;
use perhop_core::params::Place;

/// The numbers of a line that agrees with a pattern.
pub fn numbers(pattern: &str, row: &Row<'_>) -> Option<Vec<u64>> {
    let mut numbers = Vec::new();
    let mut words = row.words.iter();
    for part in pattern.split(' ') {
        if part == "*" {
            return Some(numbers);
        }
        let word = words.next()?.text;
        if part.starts_with(['#', '(']) && part.contains('#') {
            let before = numbers.len();
            let word = if part.starts_with('(') { word.strip_prefix('(')? } else { word };
            for piece in word.trim_end_matches('%').split('/') {
                numbers.push(piece.parse().ok()?);
            }
            if numbers.len() - before != part.split('/').count() {
                return None;
            }
        } else if !part.eq_ignore_ascii_case(word) {
            return None;
        }
    }
    words.next().is_none().then_some(numbers)
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

    fn of(pattern: &str, line: &str) -> Option<Vec<u64>> {
        let text = Text::new(line.as_bytes());
        let row = rows(&text).next()?;
        numbers(pattern, &plain(&row))
    }

    #[test]
    fn numbers_are_found_where_the_pattern_has_them() {
        assert_eq!(of("# packets # bytes", " 15 packets, 6210 bytes"), Some(vec![15, 6210]));
        assert_eq!(of("(depth drops) #/#", "(depth drops) 98/666"), Some(vec![98, 666]));
        assert_eq!(of("(depth drops) #/#", "(depth drops) 98/666/0"), None);
        assert_eq!(of("rate # bps *", "rate 8000 bps, burst 1 bytes"), Some(vec![8000]));
        assert_eq!(of("# packets", "15 packets 2"), None);
    }

    #[test]
    fn glued_words_come_apart() {
        assert_eq!(of("match: any", "Match:any (1183)"), Some(vec![]));
        assert_eq!(of("exceeded # bytes action: drop", "exceeded 5 bytes; action:drop"), Some(vec![5]));
    }
}
