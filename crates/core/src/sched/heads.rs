//! What every child of a scheduler could send now, and which of them are ready.

use super::Head;
use super::places::Places;
use std::ops::Deref;

/// The [`Head`] of every child, in their order.
#[derive(Clone, Debug, Default)]
pub struct Heads {
    all: Vec<Head>,
    ready: Places,
}

impl Heads {
    /// Nothing waits in any of so many.
    pub fn new(children: usize) -> Self {
        Self { all: vec![Head::Nothing; children], ready: Places::new(children) }
    }

    /// A child has another.
    // Called for every offer, from two places.
    #[inline(always)]
    pub fn set(&mut self, child: usize, head: Head) {
        let before = std::mem::replace(&mut self.all[child], head);
        match (before.is_ready(), head.is_ready()) {
            (false, true) => self.ready.insert(child),
            (true, false) => self.ready.remove(child),
            _ => {}
        }
    }

    /// Whether any child could send.
    #[inline]
    pub fn any_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// The first child, from this one on, that could send.
    #[inline]
    pub fn first_ready(&self, from: usize) -> Option<usize> {
        self.ready.first_from(from)
    }
}

impl Deref for Heads {
    type Target = [Head];
    #[inline]
    fn deref(&self) -> &[Head] {
        &self.all
    }
}

impl FromIterator<Head> for Heads {
    fn from_iter<I: IntoIterator<Item = Head>>(all: I) -> Self {
        let all: Vec<_> = all.into_iter().collect();
        let mut heads = Self::new(all.len());
        all.into_iter().enumerate().for_each(|(child, head)| heads.set(child, head));
        heads
    }
}
