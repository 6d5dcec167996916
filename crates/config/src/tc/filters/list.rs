//! All filters of a place, in the order in which they are asked.

use super::{Head, Sorter, beside, made};
use crate::tc::words::{Form, Refusal, Statement, Taken, Verb};
use std::collections::{BTreeMap, BTreeSet};

/// The prio of the first filter to which none is given; the next ones have the numbers below it.
const LAST_PRIO: u32 = 49_152;

/// Filters by their prio, and of one prio in the order in which they were added.
#[derive(Debug, Default)]
pub(in crate::tc) struct Filters<'a> {
    list: BTreeMap<Key, Sorter<'a>>,
    /// The same by prio and number.
    handles: BTreeMap<(u32, Option<String>), BTreeSet<usize>>,
    /// How many lead to a class.
    targets: BTreeMap<u32, usize>,
    /// Classes of which that may have changed.
    pub(in crate::tc) altered: Vec<u32>,
    /// How many have been added.
    added: usize,
    /// How many have been given a prio.
    given: u32,
    /// They are those that tc prints.
    shown: bool,
}

/// The prio of a filter, and how many were added before it.
type Key = (u32, usize);

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
            self.altered.extend(self.targets.keys());
            (self.list, self.handles, self.targets) = Default::default();
            self.shown = true;
        }
        let prio = head.prio.filter(|prio| *prio > 0);
        let own = prio.unwrap_or(LAST_PRIO.saturating_sub(self.given));
        let it = made(head, own, statement)?;
        self.given += u32::from(prio.is_none());
        let mut beside_it = self.list.range((own, 0)..=(own, usize::MAX));
        if let Some((_, old)) = beside_it.next().filter(|_| statement.form() == Form::Typed) {
            beside(&it, old, statement.verb)?;
        }
        if statement.verb != Verb::Add && it.handle.is_some() {
            let same = self.handles.get(&(own, it.handle.clone())).and_then(BTreeSet::first).copied();
            same.into_iter().for_each(|added| self.take((own, added)));
        }
        self.by_mark_itself(own, &it)?;
        self.added += 1;
        self.handles.entry((own, it.handle.clone())).or_default().insert(self.added);
        if let Some((target, _)) = it.target {
            *self.targets.entry(target).or_default() += 1;
            self.altered.push(target);
        }
        self.list.insert((own, self.added), it);
        Ok(())
    }

    /// A `fw` without a mark, for which the mark is the class, gives way to those with marks of its prio (Linux `cls_fw.c`: the old
    /// method is for an empty table).
    ///
    /// # Errors
    /// It would have no effect itself.
    fn by_mark_itself(&mut self, prio: u32, it: &Sorter<'a>) -> Taken<()> {
        if it.kind != "fw" {
            return Ok(());
        }
        let own = || self.list.range((prio, 0)..=(prio, usize::MAX)).filter(|known| known.1.kind == "fw");
        if it.is_by_mark_itself() && own().any(|known| !known.1.is_by_mark_itself()) {
            return Err(Refusal::of("beside `fw` filters with marks one without has no effect").instead("another prio"));
        }
        let old: Vec<_> = own().filter(|known| known.1.is_by_mark_itself()).map(|known| *known.0).collect();
        old.into_iter().filter(|_| !it.is_by_mark_itself()).for_each(|key| self.take(key));
        Ok(())
    }

    /// The classes that they lead to.
    pub(in crate::tc) fn targets(&self) -> impl Iterator<Item = u32> {
        self.targets.keys().copied()
    }

    /// Whether one leads to a class.
    pub(in crate::tc) fn aims_at(&self, class: u32) -> bool {
        self.targets.contains_key(&class)
    }

    fn take(&mut self, key: Key) {
        let Some(it) = self.list.remove(&key) else { return };
        self.handles.entry((key.0, it.handle)).or_default().remove(&key.1);
        if let Some((target, _)) = it.target {
            let many = self.targets.entry(target).or_default();
            *many -= 1;
            self.altered.push(target);
            if *many == 0 {
                self.targets.remove(&target);
            }
        }
    }

    /// Those that a command may mean.
    fn meant(&self, head: &Head<'a>) -> Vec<Key> {
        match (head.prio, &head.handle) {
            (Some(prio), Some(handle)) => {
                let named = [None, Some(handle.text.to_string())].map(|handle| self.handles.get(&(prio, handle)));
                named.into_iter().flatten().flatten().map(|added| (prio, *added)).collect()
            }
            (Some(prio), None) => self.list.range((prio, 0)..=(prio, usize::MAX)).map(|it| *it.0).collect(),
            (None, _) => self.list.keys().copied().collect(),
        }
    }

    /// Removes those that a command means.
    ///
    /// # Errors
    /// There is none, or the command says too little.
    pub(in crate::tc) fn remove(&mut self, head: &Head<'a>) -> Taken<()> {
        if !head.is_whole() {
            return Err(Refusal::of("filters are removed by their prio, or all together"));
        }
        let mut meant = self.meant(head);
        meant.retain(|key| head.names(&self.list[key]));
        meant.iter().for_each(|key| self.take(*key));
        if meant.is_empty() { Err(Refusal::of("there is no such filter")) } else { Ok(()) }
    }
}
