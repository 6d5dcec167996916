//! Sessions: the delays of a user who writes packets into a connection and waits until they have arrived.
//!
//! Decision: docs/decisions/034-a-wait-begins-with-the-user.md

use crate::record::Delays;
use perhop_core::units::Time;
use std::collections::VecDeque;

/// One session: packets written at known times, delivered in order.
#[derive(Clone, Debug)]
pub struct Session {
    /// When its first packet was written.
    pub opened: Time,
    /// When its last one was delivered.
    pub complete: Option<Time>,
    /// Packets written.
    pub written: u32,
    /// Packets delivered.
    pub delivered: u32,
    /// From a packet's write to its delivery to the application in order.
    pub delays: Delays,
    /// Writes not yet delivered.
    waiting: VecDeque<Time>,
    /// Nothing more will be written.
    ended: bool,
}

impl Session {
    /// One that begins.
    pub fn new(opened: Time) -> Self {
        let (delays, waiting) = (Delays::default(), VecDeque::new());
        Self { opened, complete: None, written: 0, delivered: 0, delays, waiting, ended: false }
    }

    /// The application writes a packet, its last one or not.
    pub fn write(&mut self, now: Time, last: bool) {
        self.waiting.push_back(now);
        self.written += 1;
        self.ended = last;
    }

    /// This many packets have been delivered in total.
    pub fn deliver(&mut self, now: Time, all: u64) {
        while u64::from(self.delivered) < all {
            let Some(written) = self.waiting.pop_front() else { return };
            self.delays.observe(now.since(written).ns());
            self.delivered += 1;
        }
        if self.ended && self.waiting.is_empty() {
            self.complete.get_or_insert(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use perhop_core::units::Span;

    #[test]
    fn packets_are_paired_with_their_writes_in_order() {
        let at = |ms| Time::ZERO + Span::from_ms(ms);
        let mut session = Session::new(at(10));
        [10, 20, 40].into_iter().for_each(|ms| session.write(at(ms), ms == 40));
        session.deliver(at(50), 0);
        assert_eq!((session.delivered, session.delays.quantiles()), (0, None));
        // A hole is filled: two at once, 90 and 80 ms after their writes; then the last one, 160 ms after its own.
        session.deliver(at(100), 2);
        assert_eq!((session.delivered, session.complete), (2, None));
        session.deliver(at(200), 3);
        session.deliver(at(300), 3);
        let delays = session.delays.quantiles().unwrap();
        assert_eq!((session.written, session.delivered, session.complete), (3, 3, Some(at(200))));
        // Mean and deviation of 90, 80 and 160 ms.
        assert_eq!((delays.mean, delays.sd.round()), (110e6, (3_800e12_f64 / 3.0).sqrt().round()));
    }
}
