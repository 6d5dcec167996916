//! What of a foreign text may be printed: the only place that decides it.
//!
//! A configuration has passwords, prompts and the names of customers beside its QoS. A reader says which stretches of a text it has
//! read as statements of QoS, which lines it does not know, and the names that statements give to classes, policies, lists,
//! interfaces and variables. Of all that, a [`Screen`] lets through:
//!
//! - of a statement its words up to the first one that is neither a word of the dialect, nor a value, nor such a name;
//! - of a line that is not known its first word, if that [looks like the name of a command](words::is_first);
//! - of a message what stands between backticks by the same rule: there, messages have what comes from the text. Elsewhere in a
//!   message no word of a statement that is none of these.
//!
//! A reader takes a backtick of the text for an apostrophe ([`unquoted`]), as messages could not be told from what is in them.
//! What steers a terminal is not in a [`Text`] at all: see [`Text::new`].

pub mod words;

use crate::account::Account;
use crate::finding::{Fault, Finding};
use crate::text::Text;
use perhop_core::params::{Place, escaped};
use std::borrow::Cow;
use std::collections::HashSet;

/// Most characters of a part of a text within a message.
const LONGEST: usize = 200;

/// The parts of a text that a reader recognises.
#[derive(Clone, Debug, Default)]
pub struct Recognition {
    /// Stretches that are of statements, none of which goes beyond its line.
    pub statements: Vec<Place>,
    /// First words of lines that are not known.
    pub unknown: Vec<Place>,
    names: HashSet<String>,
}

impl Recognition {
    /// A name that statements use.
    pub fn name(&mut self, name: &str) {
        if !name.is_empty() && !self.names.contains(name) {
            self.names.insert(name.to_owned());
            self.names.extend(name.split_whitespace().map(str::to_owned));
        }
    }
}

/// Lets through what may be printed.
#[derive(Clone, Debug, Default)]
pub struct Screen {
    names: HashSet<String>,
    /// Words of statements that may not be printed.
    strange: HashSet<String>,
}

impl Screen {
    /// Of a text, with what was said of it.
    pub fn new(text: &Text, recognition: &mut Recognition) -> Self {
        let mut names = std::mem::take(&mut recognition.names);
        for place in &recognition.statements {
            names.extend(variables(&text.text[place.start..place.end]).map(str::to_owned));
        }
        let mut screen = Self { names, strange: HashSet::new() };
        for place in &recognition.statements {
            for word in text.text[place.start..place.end].split_whitespace() {
                let strange: Vec<_> = parts(word).filter(|part| !screen.is_known(part)).map(str::to_owned).collect();
                screen.strange.extend(strange);
            }
        }
        screen
    }

    /// A text in which only statements, and the first words of lines that are not known, are left; places are the same.
    pub fn text(&self, text: &Text, recognition: &Recognition) -> Text {
        let all = &text.text;
        let known = |place: &Place| (*place, place.start + self.known(&all[place.start..place.end]));
        let first = |place: &Place| {
            let shows = words::is_first(&all[place.start..place.end]);
            (*place, if shows { place.end } else { place.start })
        };
        let mut stretches: Vec<_> =
            recognition.statements.iter().map(known).chain(recognition.unknown.iter().map(first)).collect();
        stretches.sort_by_key(|(place, end)| (place.start, *end));
        let mut cover = Cover { all, out: String::with_capacity(all.len()), at: 0 };
        // What follows an unknown word on its line is not shown either.
        let mut closed = 0;
        for (place, end) in stretches {
            if place.start < cover.at.max(closed) {
                continue;
            }
            cover.blank(place.start);
            cover.show(end);
            if end < place.end {
                closed = all[end..].find('\n').map_or(all.len(), |length| end + length);
                cover.dots();
            }
        }
        cover.blank(all.len());
        Text::of(cover.out)
    }

    /// A message: between backticks stands only what may be printed.
    pub fn message(&self, message: &str) -> String {
        let parts =
            message.split('`').enumerate().map(|(i, part)| if i % 2 == 0 { self.prose(part) } else { self.part(part) });
        escaped(&parts.collect::<Vec<_>>().join("`")).into_owned()
    }

    /// A part of a text: up to its first unknown word.
    fn part(&self, part: &str) -> String {
        let known = part[..self.known(part)].trim_end();
        let short: String = known.chars().take(LONGEST).collect();
        if short.len() == part.len() { short } else { format!("{short}…") }
    }

    /// Words of perhop's own, without those of the text among them that may not be printed.
    fn prose(&self, words: &str) -> String {
        let is_strange = |word: &&str| parts(word).any(|part| self.strange.contains(part));
        let found: Vec<_> = words.split(' ').filter(is_strange).collect();
        match found.is_empty() {
            true => words.to_owned(),
            false => {
                words.split(' ').map(|word| if is_strange(&word) { "…" } else { word }).collect::<Vec<_>>().join(" ")
            }
        }
    }

    /// Up to which byte its words are known.
    fn known(&self, text: &str) -> usize {
        let mut end = 0;
        for word in text.split_whitespace() {
            let at = word.as_ptr() as usize - text.as_ptr() as usize;
            match self.unknown(word) {
                None => end = at + word.len(),
                Some(0) => break,
                Some(part) => return at + part,
            }
        }
        end
    }

    /// Where in a word that is not known its first unknown part begins.
    fn unknown(&self, word: &str) -> Option<usize> {
        if self.names.contains(word) {
            return None;
        }
        let strange = parts(word).find(|part| !self.is_known(part))?;
        Some(strange.as_ptr() as usize - word.as_ptr() as usize)
    }

    fn is_known(&self, part: &str) -> bool {
        let one = |part: &str| self.names.contains(part) || words::is_known(part);
        // Paths of classes: `WAN/VOICE`, `WAN+VOICE`.
        one(part) || part.split(['/', '+']).all(|part| part.is_empty() || one(part))
    }

    /// An account whose notes may be printed.
    pub fn account(&self, account: &mut Account) {
        for entry in account.lines.values_mut() {
            entry.notes.iter_mut().for_each(|note| *note = self.message(note));
            entry.notes.dedup();
        }
    }

    /// A finding that may be printed.
    pub fn finding(&self, finding: Finding) -> Finding {
        Finding { message: self.message(&finding.message), instead: self.message(&finding.instead), ..finding }
    }

    /// A fault that may be printed.
    pub fn fault(&self, fault: Fault) -> Fault {
        Fault { message: self.message(&fault.message), help: self.message(&fault.help), ..fault }
    }
}

/// The parts of a word between signs.
fn parts(word: &str) -> impl Iterator<Item = &str> {
    word.split(words::SIGNS).filter(|part| !part.is_empty())
}

/// A word of a text without backticks.
pub fn unquoted(word: &str) -> Cow<'_, str> {
    if word.contains('`') { Cow::Owned(word.replace('`', "'")) } else { Cow::Borrowed(word) }
}

/// Names of shell variables: `DEV` of `$DEV` and of `${DEV}`.
fn variables(text: &str) -> impl Iterator<Item = &str> {
    let name =
        |rest: &'_ str| rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_').len();
    text.split('$').skip(1).map(move |rest| {
        let rest = rest.strip_prefix('{').unwrap_or(rest);
        &rest[..name(rest)]
    })
}

/// A text that is copied from its start to its end, shown or blank.
struct Cover<'a> {
    all: &'a str,
    out: String,
    at: usize,
}

impl Cover<'_> {
    fn show(&mut self, end: usize) {
        self.out.push_str(&self.all[self.at..end.max(self.at)]);
        self.at = end.max(self.at);
    }

    /// Blanks of as many bytes, and as many characters, up to a place.
    fn blank(&mut self, end: usize) {
        for c in self.all[self.at..end.max(self.at)].chars() {
            self.out.push_str(match (c, c.len_utf8()) {
                ('\n', _) => "\n",
                (_, 1) => " ",
                (_, 2) => "\u{a0}",
                (_, 3) => "\u{2003}",
                _ => "\u{2003} ",
            });
        }
        self.at = end.max(self.at);
    }

    /// Three dots in place of what follows on the line, as far as it goes.
    fn dots(&mut self) {
        if self.all[self.at..].starts_with(' ') {
            self.show(self.at + 1);
        }
        let dots = self.all[self.at..].bytes().take(3).take_while(|byte| byte.is_ascii() && *byte != b'\n').count();
        self.out.push_str(&"..."[..dots]);
        self.at += dots;
    }
}
