//! What became of lines, and what was met.

use super::options::{Does, Options};
use super::words::Refusal;
use crate::account::{Account, Reason};
use crate::evidence::Counters;
use crate::finding::Finding;
use perhop_core::params::Place;
use std::collections::HashSet;

/// The account of a text while it is read.
#[derive(Debug, Default)]
pub(super) struct Log {
    pub(super) account: Account,
    /// Each once, however often a loop runs its line.
    pub(super) findings: Vec<Finding>,
    pub(super) evidence: Vec<Counters>,
    found: HashSet<(&'static str, usize, String)>,
}

/// tc or the kernel refuses a line.
const REFUSED: &str = "W400";

impl Log {
    /// With all of another.
    pub(super) fn extend(&mut self, other: Self) {
        self.account.extend(other.account);
        self.evidence.extend(other.evidence);
        other.findings.into_iter().for_each(|it| self.found(it.code, it.place, it.message, &it.instead));
    }

    /// The lines of a statement say something of QoS.
    pub(super) fn spoken(&mut self, lines: &[usize]) {
        lines.iter().for_each(|line| self.account.taken(*line));
    }

    /// Lines are approximated.
    pub(super) fn nearly(&mut self, lines: &[usize], how: &str) {
        lines.iter().for_each(|line| self.account.approximated(*line, how));
    }

    /// Lines are approximated for a reason that a rule looks for.
    pub(super) fn nearly_for(&mut self, lines: &[usize], reason: Reason) {
        lines.iter().for_each(|line| self.account.approximated_for(*line, reason));
    }

    /// Lines are modelled as they are, and something of them is worth a word.
    pub(super) fn noted(&mut self, lines: &[usize], what: &str) {
        lines.iter().for_each(|line| self.account.noted(*line, what));
    }

    /// Lines are not modelled.
    pub(super) fn lost(&mut self, lines: &[usize], why: &str) {
        lines.iter().for_each(|line| self.account.not_modelled(*line, why));
    }

    /// There was nothing to be removed, which alters nothing.
    pub(super) fn idle(&mut self, lines: &[usize], message: &str) {
        lines.iter().for_each(|line| self.account.noted(*line, format!("no effect: {message}")));
    }

    /// A statement with these lines, at this place, would be refused: it has no effect.
    pub(super) fn refused(&mut self, lines: &[usize], all: Place, refusal: &Refusal) {
        let Refusal { message, place, instead } = refusal;
        self.lost(lines, &format!("refused: {message}"));
        self.found(REFUSED, place.unwrap_or(all), format!("this line has no effect: {message}"), instead);
    }

    /// Something to be looked at.
    pub(super) fn found(&mut self, code: &'static str, place: Place, message: String, instead: &str) {
        if self.found.insert((code, place.start, message.clone())) {
            self.findings.push(Finding { code, place, message, instead: instead.to_owned(), instead_of: &[] });
        }
    }

    /// What single words say otherwise than perhop, or not at all.
    pub(super) fn options(&mut self, options: &Options<'_>) {
        for it in &options.list {
            match it.row.does {
                Does::Nearly(how) => self.nearly(&[it.line], &format!("`{}`: {how}", it.row.word)),
                Does::Lost(why) => self.lost(&[it.line], &format!("`{}`: {why}", it.row.word)),
                _ => {}
            }
        }
        // What JSON leaves out has no line.
        for it in options.unknown.iter().filter(|it| it.line > 0) {
            self.lost(&[it.line], &format!("`{}`: perhop does not know this word of a print", it.text));
        }
    }
}
