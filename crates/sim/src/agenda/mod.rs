//! The agenda: components, and events that wait for their time.
//!
//! Components are numbered: ends of transmission of each link, deliveries of each link, timers of each
//! link's AQM, sources, then the engine's own clock (end of warm-up, samples, timed changes, reports of conditioners). So at equal
//! times departures come before arrivals, and a change holds for what comes after it. TCP's timers have a
//! heap of their own; at equal times they come last.

mod heap;

pub use heap::{Heap, Key, MAX_COMPONENTS, MAX_DURATION};

/// Numbers of the components, from the number of links and sources.
#[derive(Clone, Copy)]
pub(crate) struct Numbering {
    pub(crate) links: usize,
    pub(crate) sources: usize,
}

pub(crate) enum Component {
    TransmitDone(usize),
    Delivery(usize),
    AqmTimer(usize),
    Source(usize),
    Clock,
}

impl Numbering {
    pub(crate) fn component(self, index: usize) -> Component {
        let n = self.links;
        match index {
            i if i < n => Component::TransmitDone(i),
            i if i < 2 * n => Component::Delivery(i - n),
            i if i < 3 * n => Component::AqmTimer(i - 2 * n),
            i if i < 3 * n + self.sources => Component::Source(i - 3 * n),
            _ => Component::Clock,
        }
    }

    pub(crate) fn delivery(self, link: usize) -> usize {
        self.links + link
    }

    pub(crate) fn aqm_timer(self, link: usize) -> usize {
        2 * self.links + link
    }

    pub(crate) fn source(self, source: usize) -> usize {
        3 * self.links + source
    }

    pub(crate) fn clock(self) -> usize {
        3 * self.links + self.sources
    }
}
