//! The agenda: who acts next, and when.
//!
//! Components are numbered: ends of transmission of each link, deliveries of each link, timers of each
//! link's AQM, sources, a pause in a user's hands, then the engine's own clock (end of warm-up, samples, timed changes, reports
//! of conditioners), and arrivals over links on which each packet takes its own time, if there are any. So at equal
//! times departures come before arrivals, and a change holds for what comes after it, whether the file states it or a user who
//! has paused there. TCP's timers have a separate heap; at equal times they come last.
//!
//! Decision: docs/decisions/024-one-word-events.md

mod heap;

use heap::Heap;
use perhop_core::units::{Span, Time};

pub use heap::{MAX_DURATION, most_components};

/// Who acts: each has at most one event waiting, except the clock, whose earliest counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Component {
    /// The end of a transmission on a link.
    TransmitDone(usize),
    /// What a link delivers.
    Delivery(usize),
    /// The timers of a link's AQMs.
    AqmTimer(usize),
    /// A traffic source.
    Source(usize),
    /// The user, who goes on later.
    Pause,
    /// The engine's own clock.
    Clock,
    /// A packet on a link with jitter.
    Wire(usize),
    /// One end of a TCP connection.
    Timer(usize),
}

/// The number of the first component of each kind; ends of transmission begin at 0.
#[derive(Clone, Copy, Debug)]
struct First {
    delivery: usize,
    aqm_timer: usize,
    source: usize,
    pause: usize,
    clock: usize,
}

/// Events by time, and the time.
#[derive(Clone, Debug)]
pub struct Agenda {
    now: Time,
    events: Heap,
    timers: Heap,
    first: First,
    /// When the first timer is due, or any time before that.
    timer_at: Time,
    /// When the clock's next event is due.
    clock_at: Time,
    done: u64,
    wires: bool,
}

impl Agenda {
    /// Nothing to do, at time zero, in a run of this length.
    pub fn new(links: usize, sources: usize, duration: Span) -> Self {
        let (source, pause) = (3 * links, 3 * links + sources);
        let first = First { delivery: links, aqm_timer: 2 * links, source, pause, clock: pause + 1 };
        let (events, timers) = (Heap::new(duration), Heap::new(duration));
        let (now, never) = (Time::ZERO, Time::MAX);
        Self { now, events, timers, first, timer_at: never, clock_at: never, done: 0, wires: false }
    }

    /// Components that events of links, sources, the pause and the clock name.
    pub fn components(&self) -> usize {
        self.first.clock + 1 + if self.wires { self.first.delivery } else { 0 }
    }

    /// There are links on which each packet takes its own time.
    pub fn with_wires(self, wires: bool) -> Self {
        Self { wires, ..self }
    }

    /// The time reached.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Events so far.
    pub fn done(&self) -> u64 {
        self.done
    }

    /// Has `component` act at `at`.
    // The component is known at each call: once inlined, no branch remains.
    #[inline(always)]
    pub fn add(&mut self, at: Time, component: Component) {
        let first = &self.first;
        let index = match component {
            Component::TransmitDone(link) => link,
            Component::Delivery(link) => first.delivery + link,
            Component::AqmTimer(link) => first.aqm_timer + link,
            Component::Source(source) => first.source + source,
            Component::Pause => first.pause,
            Component::Clock => first.clock,
            Component::Wire(link) => first.clock + 1 + link,
            Component::Timer(end) => {
                self.timer_at = self.timer_at.min(at);
                return self.timers.push(at, end);
            }
        };
        self.events.push(at, index);
    }

    /// Takes the next event, if it is due by `stop`, and advances to its time. A delivery has to be taken by the caller, see
    /// [`Agenda::deliver_again`].
    #[inline(always)]
    pub fn next(&mut self, stop: Time) -> Option<(Time, Component)> {
        let event = self.events.first();
        let at = self.events.time(event);
        if at > self.timer_at || at > stop {
            return self.next_timer(at, stop);
        }
        self.reach(at);
        let index = self.events.index(event);
        // Most events are: they are told first.
        if (self.first.delivery..self.first.aqm_timer).contains(&index) {
            return Some((at, Component::Delivery(index - self.first.delivery)));
        }
        self.events.take();
        Some((at, self.component(index)))
    }

    /// Takes the delivery that [`Agenda::next`] has just given, on this link, and has the next one there be at `next`.
    #[inline(always)]
    pub fn deliver_again(&mut self, next: Option<Time>, link: usize) {
        match next {
            Some(at) => self.events.replace(at, self.first.delivery + link),
            None => self.events.take(),
        }
    }

    /// As [`Agenda::next`], where a timer may be due before the first event, which is at `of_event`.
    #[inline(never)]
    fn next_timer(&mut self, of_event: Time, stop: Time) -> Option<(Time, Component)> {
        let timer = self.timers.first();
        self.timer_at = self.timers.time(timer);
        let at = self.timer_at.min(of_event);
        if at > stop {
            return None;
        }
        if of_event <= self.timer_at {
            return self.next(stop);
        }
        self.reach(at);
        self.timers.take();
        // Which is the first one now is not known.
        self.timer_at = Time::ZERO;
        Some((at, Component::Timer(self.timers.index(timer))))
    }

    #[inline(always)]
    fn reach(&mut self, at: Time) {
        debug_assert!(at >= self.now, "time went backwards");
        self.now = at;
        self.done += 1;
    }

    fn component(&self, index: usize) -> Component {
        let first = &self.first;
        match index {
            i if i < first.delivery => Component::TransmitDone(i),
            i if i < first.aqm_timer => Component::Delivery(i - first.delivery),
            i if i < first.source => Component::AqmTimer(i - first.aqm_timer),
            i if i < first.pause => Component::Source(i - first.source),
            i if i == first.pause => Component::Pause,
            i if i == first.clock => Component::Clock,
            i => Component::Wire(i - first.clock - 1),
        }
    }

    /// Nothing more happens until `at`.
    pub fn rest_until(&mut self, at: Time) {
        self.now = at;
    }

    /// Has the clock act at `at`, unless it does so earlier.
    pub fn wake_clock(&mut self, at: Time) {
        if at < self.clock_at {
            self.clock_at = at;
            self.add(at, Component::Clock);
        }
    }

    /// Whether the clock's event of `now` is the one that counts: an earlier one may have been asked for since.
    pub fn clock_is_due(&mut self, now: Time) -> bool {
        let due = now == self.clock_at;
        if due {
            self.clock_at = Time::MAX;
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ns: u64) -> Time {
        Time::from_ns(ns)
    }

    fn take(agenda: &mut Agenda, stop: Time) -> Option<(Time, Component)> {
        let next = agenda.next(stop);
        if let Some((_, Component::Delivery(link))) = next {
            agenda.deliver_again(None, link);
        }
        next
    }

    /// At equal times: ends of transmission, deliveries, AQMs, sources, a pause, the clock, timers of connections.
    #[test]
    fn components_act_in_their_order() {
        let order = [
            Component::TransmitDone(1),
            Component::Delivery(0),
            Component::AqmTimer(1),
            Component::Source(2),
            Component::Pause,
            Component::Clock,
            Component::Timer(0),
        ];
        let mut agenda = Agenda::new(2, 3, Span::from_ns(6));
        order.iter().rev().for_each(|&component| agenda.add(at(5), component));
        agenda.add(at(6), Component::Delivery(1));
        let found: Vec<_> = std::iter::from_fn(|| take(&mut agenda, at(5))).collect();
        assert_eq!(found, order.map(|component| (at(5), component)));
        assert_eq!((agenda.now(), agenda.done(), agenda.components()), (at(5), 7, 11));
    }

    #[test]
    fn the_earliest_event_of_the_clock_counts() {
        let mut agenda = Agenda::new(1, 1, Span::from_ns(10));
        [9, 4, 7].into_iter().for_each(|ns| agenda.wake_clock(at(ns)));
        let due = [4, 9].map(|ns| (take(&mut agenda, at(10)), agenda.clock_is_due(at(ns))));
        assert_eq!(due, [(Some((at(4), Component::Clock)), true), (Some((at(9), Component::Clock)), false)]);
        assert_eq!(take(&mut agenda, at(10)), None);
    }
}
