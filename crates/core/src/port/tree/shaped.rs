//! What the shapers of a tree did.

use super::{Kind, Node, Offer, Tree};
use crate::port::shaper::{LetGo, Shaper};
use crate::units::{Span, Time};

impl<H: Copy> Tree<H> {
    /// A packet has come to wait in a node, right below a shaper.
    pub(super) fn comes_below(&mut self, now: Time, node: usize, above: usize) {
        if self.waiting(node).packets == 1
            && let Some(shaper) = self.shaper_mut(above)
        {
            shaper.comes_first(now);
        }
    }

    /// For how long a shaper has held back the packet that waits, as far as it has been looked at since the one before
    /// it went.
    pub(super) fn holds(&self, now: Time, node: usize) -> Span {
        let Kind::Shaper(shaper, child) = &self.nodes[node].kind else { return Span::ZERO };
        self.nodes[*child].shows().map_or(Span::ZERO, |bytes| shaper.holds(now, bytes))
    }

    /// What each shaper did, by its node in the specification.
    pub(in crate::port) fn let_go(&self, now: Time) -> impl Iterator<Item = (usize, LetGo)> {
        let of = move |(spec, node): (usize, usize)| {
            let Kind::Shaper(shaper, _) = &self.nodes[node].kind else { return None };
            let done = shaper.let_go();
            Some((spec, LetGo { held: done.held + self.holds(now, node), ..done }))
        };
        let shapers = self.numbers.iter().enumerate().filter_map(|(spec, numbers)| Some((spec, numbers.shaper?)));
        shapers.filter_map(of)
    }

    /// Counts what shapers do from now on.
    pub(in crate::port) fn begin_count(&mut self, now: Time) {
        for node in 0..self.nodes.len() {
            self.shaper_mut(node).into_iter().for_each(|shaper| shaper.begin_count(now));
        }
    }

    fn shaper_mut(&mut self, node: usize) -> Option<&mut Shaper> {
        if let Kind::Shaper(shaper, _) = &mut self.nodes[node].kind { Some(shaper) } else { None }
    }
}

impl<H> Node<H> {
    /// The bytes of the packet that it was last seen to offer, if nothing has changed since.
    fn shows(&self) -> Option<u32> {
        match (&self.kept, self.offer) {
            (Some(kept), _) => Some(kept.size),
            (None, Offer::Ready(bytes)) if !self.stale => Some(bytes),
            _ => None,
        }
    }
}
