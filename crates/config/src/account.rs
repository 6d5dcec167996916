//! What became of each line that speaks of QoS.

use crate::text::Text;
use perhop_core::params::Place;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// What became of a line. The worse one counts where a line has several.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// The model says the same.
    #[default]
    Taken,
    /// The model says nearly the same.
    Approximated,
    /// The model says nothing of it.
    NotModelled,
}

impl Verdict {
    /// In accounts.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Taken => "taken",
            Self::Approximated => "approximated",
            Self::NotModelled => "not modelled",
        }
    }
}

/// A reason why a line is approximated that more than its reader knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// What the default action of a policer of tc does.
    Reclassify,
}

impl Reason {
    /// In words.
    pub const fn note(self) -> &'static str {
        match self {
            Self::Reclassify => "`reclassify`: the packet meets this policer again and again until the kernel drops it",
        }
    }
}

/// A line of the account.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// What became of it.
    pub verdict: Verdict,
    /// How it is approximated, or why it is not modelled; each reason once.
    pub notes: Vec<String>,
    /// Those of the notes that are of these reasons.
    pub reasons: BTreeSet<Reason>,
}

/// Every line that speaks of QoS, by its number. Lines that do not are not in it, and nothing of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// By the number of the line, from 1.
    pub lines: BTreeMap<usize, Entry>,
    many: Many,
}

/// The notes of lines that have many.
#[derive(Clone, Debug, Default)]
struct Many(BTreeMap<usize, HashSet<String>>);

/// They are those of the entries.
impl PartialEq for Many {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Many {}

/// How many notes of a line are looked through for another.
const FEW: usize = 16;

impl Account {
    /// The model says the same.
    pub fn taken(&mut self, line: usize) {
        self.lines.entry(line).or_default();
    }

    /// The model says nearly the same: `how`.
    pub fn approximated(&mut self, line: usize, how: impl Into<String>) {
        self.note(line, Verdict::Approximated, how.into());
    }

    /// The same, for a reason that a rule looks for.
    pub fn approximated_for(&mut self, line: usize, reason: Reason) {
        self.approximated(line, reason.note());
        self.lines.entry(line).or_default().reasons.insert(reason);
    }

    /// The model does not say it: `why`.
    pub fn not_modelled(&mut self, line: usize, why: impl Into<String>) {
        self.note(line, Verdict::NotModelled, why.into());
    }

    fn note(&mut self, line: usize, verdict: Verdict, note: String) {
        let entry = self.lines.entry(line).or_default();
        entry.verdict = entry.verdict.clone().max(verdict);
        let is_new = if entry.notes.len() < FEW {
            !entry.notes.contains(&note)
        } else {
            let known = self.many.0.entry(line).or_insert_with(|| entry.notes.iter().cloned().collect());
            known.insert(note.clone())
        };
        if is_new {
            entry.notes.push(note);
        }
    }

    /// Something about a line that leaves its verdict.
    pub fn noted(&mut self, line: usize, note: impl Into<String>) {
        self.note(line, Verdict::Taken, note.into());
    }

    /// With what another says of these lines and of others.
    pub fn extend(&mut self, other: Self) {
        for (line, entry) in other.lines {
            self.lines.entry(line).or_default().reasons.extend(entry.reasons);
            entry.notes.into_iter().for_each(|note| self.note(line, entry.verdict.clone(), note));
        }
    }

    /// How many lines have a verdict.
    pub fn count(&self, verdict: &Verdict) -> usize {
        self.lines.values().filter(|entry| entry.verdict == *verdict).count()
    }

    /// The first line that is not modelled, of those with such a number, and why: `line 5: ..`.
    pub fn lost(&self, of: impl Fn(usize) -> bool) -> Option<String> {
        let lost = |it: &(&usize, &Entry)| it.1.verdict == Verdict::NotModelled && of(*it.0);
        let (line, entry) = self.lines.iter().find(lost)?;
        Some(format!("line {line}: {}", entry.notes.first()?))
    }
}

/// The lines of places.
pub fn lines_of(text: &Text, place: Place) -> std::ops::RangeInclusive<usize> {
    let first = text.line_of(place);
    first..=text.line_of(Place { start: place.end.max(place.start), end: place.end })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever the words of the note, a rule finds the reason, in an account that was put together as well.
    #[test]
    fn a_reason_goes_with_its_note() {
        let (mut part, mut all) = (Account::default(), Account::default());
        part.approximated_for(3, Reason::Reclassify);
        all.extend(part);
        let entry = &all.lines[&3];
        assert_eq!(entry.verdict, Verdict::Approximated);
        assert_eq!(entry.notes, [Reason::Reclassify.note()]);
        assert!(entry.reasons.contains(&Reason::Reclassify));
    }
}
