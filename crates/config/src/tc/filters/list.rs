//! All filters of a place, in the order in which they are asked.

use super::{Head, Sorter, beside, made};
use crate::tc::words::{Form, Refusal, Statement, Taken, Verb};
use std::collections::BTreeMap;

/// The prio of the first filter to which none is given; the next ones have the numbers below it.
const LAST_PRIO: u32 = 49_152;

/// Filters by their prio, and of one prio in the order in which they were added.
#[derive(Debug, Default)]
pub(in crate::tc) struct Filters<'a> {
    list: BTreeMap<(u32, usize), Sorter<'a>>,
    /// How many have been added.
    added: usize,
    /// How many have been given a prio.
    given: u32,
    /// They are those that tc prints.
    shown: bool,
}

impl<'a> Filters<'a> {
    /// In the order in which they are asked.
    pub(in crate::tc) fn iter(&self) -> impl Iterator<Item = &Sorter<'a>> {
        self.list.values()
    }

    /// Whether there is none.
    pub(in crate::tc) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Adds what a statement says; what tc prints is all that is there.
    ///
    /// # Errors
    /// What tc or the kernel would refuse.
    pub(in crate::tc) fn put(&mut self, head: Head<'a>, statement: &Statement<'a>) -> Taken<()> {
        if statement.form() == Form::Shown && !self.shown {
            self.list.clear();
            self.shown = true;
        }
        let prio = head.prio.filter(|prio| *prio > 0);
        let own = prio.unwrap_or(LAST_PRIO.saturating_sub(self.given));
        let it = made(head, own, statement)?;
        self.given += u32::from(prio.is_none());
        let beside_it = (own, 0)..=(own, usize::MAX);
        if let Some((_, old)) = self.list.range(beside_it.clone()).next().filter(|_| statement.form() == Form::Typed) {
            beside(&it, old, statement.verb)?;
        }
        if statement.verb != Verb::Add && it.handle.is_some() {
            let same = self.list.range(beside_it).find(|(_, old)| old.handle == it.handle).map(|it| *it.0);
            same.into_iter().for_each(|place| _ = self.list.remove(&place));
        }
        self.added += 1;
        self.list.insert((own, self.added), it);
        Ok(())
    }

    /// Removes those that a command means.
    ///
    /// # Errors
    /// There is none, or the command says too little.
    pub(in crate::tc) fn remove(&mut self, head: &Head<'a>) -> Taken<()> {
        if !head.is_whole() {
            return Err(Refusal::of("filters are removed by their prio, or all together"));
        }
        let before = self.list.len();
        self.list.retain(|_, it| !head.names(it));
        if self.list.len() < before { Ok(()) } else { Err(Refusal::of("there is no such filter")) }
    }
}
