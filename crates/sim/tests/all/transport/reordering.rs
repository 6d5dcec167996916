//! A window on a path that reorders: RFC 5681 section 3.1 lets it grow by what is acknowledged; Linux, once segments were more than
//! DupThresh out of order, by what is delivered (`tcp_may_raise_cwnd`).

use perhop_core::units::{Span, Time};
use perhop_sim::transport::congestion::reno;
use perhop_sim::transport::{
    AckInfo, Block, Config, LawParams, Reaction, Recovery, RtoConfig, Sacks, Sender, Supply, stamp,
};
use std::collections::BTreeSet;

fn ms(n: u64) -> Time {
    Time::ZERO + Span::from_ms(n)
}

/// A sender in slow start and the slow version of its window: all that the receiver has, by number.
struct Pair {
    sender: Sender,
    got: BTreeSet<u32>,
    /// How far a segment was behind the highest that had arrived: in segments, at most.
    extent: u32,
    window: usize,
}

impl Pair {
    fn new() -> Self {
        let config = Config {
            recovery: Recovery::Rack,
            window: 4000,
            syn: false,
            rto: RtoConfig::MODERN,
            reaction: Reaction { overhead: None, sack: true, ..Reaction::NONE },
            congestion: LawParams::Reno(reno::Params { growth: reno::Growth::Segments, abe: false }),
            initial_window: 10,
            ..Config::default()
        };
        let mut sender = Sender::new(&config, Supply::Unlimited).unwrap();
        sender.start();
        let mut pair = Self { sender, got: BTreeSet::new(), extent: 3, window: 10 };
        assert_eq!(pair.sent(ms(0)), 10);
        pair
    }

    fn sent(&mut self, now: Time) -> usize {
        std::iter::from_fn(|| self.sender.next_segment(now)).count()
    }

    fn missing(&self) -> u32 {
        (1..).find(|number| !self.got.contains(number)).unwrap()
    }

    /// A segment arrives, and its ACK at once; the window is what the slow version says.
    fn arrives(&mut self, now: Time, number: u32) {
        let (missing, highest) = (self.missing(), self.got.last().copied().unwrap_or(0));
        self.got.insert(number);
        let next_expected = self.missing();
        if number < highest {
            self.extent = self.extent.max(highest + 1 - number);
        }
        self.window += usize::from(next_expected > missing || self.extent > 3);
        let ahead = self.got.range(next_expected..).map(|&it| Block::new(it..it + 1, next_expected).unwrap());
        let sacks = Sacks::new(ahead.collect::<Vec<_>>().into_iter().rev().take(3));
        self.sender.on_ack(now, AckInfo { next_expected, sacks, echo: stamp(now) - 40, ..AckInfo::default() });
        self.sent(now);
        assert_eq!(self.sender.cwnd() as usize, self.window, "after {number}");
    }

    fn all(mut self, steps: &[(u64, u32)]) -> Self {
        for &(at, number) in steps {
            self.arrives(ms(at), number);
        }
        self
    }
}

/// The eighth segment overtakes the four before it: from there on what is sacked counts.
#[test]
fn the_window_grows_by_what_is_sacked_where_the_path_reorders() {
    let pair =
        Pair::new().all(&[(41, 1), (41, 2), (41, 3), (42, 8), (43, 4), (43, 5), (43, 6), (43, 7), (43, 9), (43, 10)]);
    assert_eq!(pair.extent, 5);
    pair.all(&[(82, 15), (82, 11), (83, 17), (83, 18), (83, 12)]);
}

/// Two segments overtaken are within DupThresh.
#[test]
fn it_does_not_if_it_does_so_but_little() {
    let pair =
        Pair::new().all(&[(41, 1), (41, 2), (41, 3), (42, 6), (43, 4), (43, 5), (43, 7), (43, 8), (43, 9), (43, 10)]);
    assert_eq!(pair.extent, 3);
    pair.all(&[(82, 13), (82, 11), (83, 12)]);
}
