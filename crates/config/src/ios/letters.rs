//! Words of IOS in small letters: a device takes `Policy-Map` for `policy-map`, but keeps the letters of names.

use super::tree::Row;
use crate::text::Word;
use std::ops::Range;

/// The words of a line, in small letters where they are not names.
#[derive(Debug)]
pub struct Small {
    text: String,
    words: Vec<Range<usize>>,
}

/// Words behind which a name stands, within a line.
const BEFORE_NAMES: [&str; 9] = [
    "access-list",
    "access-group",
    "name",
    "table",
    "object-group",
    "time-range",
    "class-map",
    "group",
    "input-interface",
];

/// Words between the first word of a line and a name.
const BETWEEN: [&str; 11] = [
    "match-any",
    "match-all",
    "input",
    "output",
    "in",
    "out",
    "extended",
    "standard",
    "preconfigure",
    "name",
    "frame-relay",
];

impl Small {
    /// `None` where nothing has capitals but names.
    pub fn of(row: &Row<'_>) -> Option<Self> {
        let has_capitals = |text: &str| text.bytes().any(|byte| byte.is_ascii_uppercase());
        if !row.words.iter().any(|word| has_capitals(word.text)) {
            return None;
        }
        let (mut small, mut is_new, mut names) =
            (Self { text: String::new(), words: Vec::new() }, false, Names::of(row));
        for word in &row.words {
            let start = small.text.len();
            let lower = word.text.to_ascii_lowercase();
            let kept = names.has(&lower);
            is_new |= !kept && lower != word.text;
            small.text.push_str(if kept { word.text } else { &lower });
            small.words.push(start..small.text.len());
        }
        is_new.then_some(small)
    }

    /// The line with these words at the places of its words.
    pub fn row<'a>(&'a self, of: &Row<'a>) -> Row<'a> {
        let word =
            |(range, word): (&Range<usize>, &Word<'a>)| Word { text: &self.text[range.clone()], place: word.place };
        Row { words: self.words.iter().zip(&of.words).map(word).collect(), ..*of }
    }
}

/// Which of the words of a line are names, asked one after the other.
#[derive(Debug)]
struct Names {
    /// Words so far.
    count: usize,
    /// What comes next.
    next: Next,
    /// `type` was the word before.
    is_type: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// Words.
    Words,
    /// A name, once what may stand before it is over.
    Name,
    /// Names, or what a user wrote.
    Prose,
}

impl Names {
    fn of(row: &Row<'_>) -> Self {
        // Without `no`, which takes a line back.
        let count = if row.word(0).eq_ignore_ascii_case("no") { usize::MAX } else { 0 };
        Self { count, next: Next::Words, is_type: false }
    }

    /// Whether the next word, in small letters, is one.
    fn has(&mut self, word: &str) -> bool {
        let place = self.count;
        self.count = self.count.wrapping_add(1);
        if place == 0 {
            self.next = behind(word);
            return false;
        }
        if std::mem::take(&mut self.is_type) {
            return false;
        }
        match self.next {
            Next::Prose => true,
            Next::Name if word == "type" => {
                self.is_type = true;
                false
            }
            Next::Name if BETWEEN.contains(&word) => false,
            Next::Name => {
                self.next = Next::Words;
                word != "class-default"
            }
            Next::Words if matches!(word, "description" | "remark") => {
                self.next = Next::Prose;
                false
            }
            Next::Words => {
                self.next = if BEFORE_NAMES.contains(&word) { Next::Name } else { Next::Words };
                false
            }
        }
    }
}

/// What stands behind the first word of a line, which may be cut short.
fn behind(word: &str) -> Next {
    let is = |whole: &str, least: usize| word.len() >= least && whole.starts_with(word);
    match word {
        "description" | "remark" | "hostname" | "banner" => Next::Prose,
        "access-list" | "table-map" | "interface" | "int" | "map-class" => Next::Name,
        _ if is("class", 2) || is("class-map", 6) || is("policy-map", 6) || is("service-policy", 4) => Next::Name,
        _ => Next::Words,
    }
}
