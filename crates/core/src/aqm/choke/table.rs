//! The flows of the waiting packets, in their order, from which one is drawn.
//!
//! Linux's table keeps the place of a packet that was dropped from its middle: a hole, until it comes to the head. A draw
//! that hits holes three times takes the packet at the head.

use crate::packet::FlowId;
use crate::rng::Rng;
use std::collections::VecDeque;

/// Draws before the packet at the head is taken.
const TRIES: usize = 3;

/// The flows; `None` is a hole, which the first place never is.
#[derive(Clone, Debug)]
pub(super) struct Table {
    places: VecDeque<Option<FlowId>>,
    keeps_holes: bool,
}

impl Table {
    pub(super) fn new(keeps_holes: bool) -> Self {
        Self { places: VecDeque::new(), keeps_holes }
    }

    /// A packet has come.
    pub(super) fn push(&mut self, flow: FlowId) {
        self.places.push_back(Some(flow));
    }

    /// The packet at the head has gone.
    pub(super) fn pop(&mut self) {
        self.places.pop_front();
        while self.places.front() == Some(&None) {
            self.places.pop_front();
        }
    }

    /// A place at random that holds a packet, and whose it is; `None` if nothing waits.
    pub(super) fn draw(&self, rng: &mut Rng) -> Option<(usize, FlowId)> {
        let head = (*self.places.front()?)?;
        let one = |_| (rng.uniform() * self.places.len() as f64) as usize;
        let hit = (0..TRIES).map(one).find_map(|place| Some((place, self.places[place]?)));
        Some(hit.unwrap_or((0, head)))
    }

    /// Takes the packet at this place out; how many wait before it.
    pub(super) fn remove(&mut self, place: usize) -> u32 {
        let before = self.places.iter().take(place).flatten().count() as u32;
        match place {
            0 => self.pop(),
            _ if self.keeps_holes => self.places[place] = None,
            _ => _ = self.places.remove(place),
        }
        before
    }
}
