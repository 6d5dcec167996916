//! How much of a connection its own host's queue may hold: Linux's small queues.
//!
//! Source: the behaviour of Linux 6.12 (`tcp_output.c`, `tcp_input.c`).
//!
//! ```text
//! a new packet waits while those in the queue take >= limit, a repeat while they take >= 2 limit; neither if one segment is out
//! limit = max(2 m(n), rate * 2^-10 s), at most 4 MiB unless the sender is paced; the packet has n segments
//! rate  = the law's; of laws that do not pace: factor * mss * max(cwnd, segments out) / SRTT, by the latest ACK; at most
//!         the socket's (`pace.rs`)
//!         factor = 2 while cwnd < ssthresh / 2, else 1.2
//! m(n)  = n mss + 960 B: the memory that a packet of n segments takes
//! ```
//! With segmentation offload a burst is a packet, and so are segments of a burst that were lost together; else each segment is one.
//! What waits is looked at again when a packet that is in the queue begins to be sent, or is dropped there.
//!
//! Decision: docs/decisions/049-small-queues.md

use super::super::Config;
use perhop_core::units::Time;
use std::collections::VecDeque;

/// What the kernel needs for a packet beside its data, bytes.
const OVERHEAD: u64 = 960;
/// `net.ipv4.tcp_limit_output_bytes`.
const MOST: u64 = 4 << 20;

/// A connection's part of its host's queue.
#[derive(Clone, Debug, Default)]
pub(super) struct HostQueue {
    /// Nothing ever waits if not.
    small: bool,
    mss: u64,
    /// Packets that it holds, and of how many segments; the first may have begun to be sent.
    packets: VecDeque<Entered>,
    /// Bytes of memory that they take, and may take.
    memory: u64,
    limit: u64,
    /// Something waits for a segment to leave.
    holds: bool,
    /// It has left.
    wake: Option<Time>,
}

/// A packet's segments.
#[derive(Clone, Copy, Debug)]
struct Entered {
    /// All of them.
    segments: u32,
    /// Those not yet sent.
    left: u32,
}

/// What the latest ACK says of a sender's rate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pacing {
    /// The law's, bytes per second.
    pub(super) rate: Option<u64>,
    /// Segments.
    pub(super) cwnd: u32,
    pub(super) ssthresh: u32,
    pub(super) out: u32,
    /// Microseconds / 8; 0: unknown.
    pub(super) srtt8: u64,
}

impl HostQueue {
    pub(super) fn new(config: &Config) -> Self {
        Self { small: config.reaction.small_queues, mss: config.mss.into(), limit: MOST, ..Self::default() }
    }

    /// A segment of data enters the queue: as part of the packet of the one before, or as the first of another.
    #[inline]
    pub(super) fn enter(&mut self, joins: bool) {
        if !self.small {
            return;
        }
        self.memory += self.mss;
        match self.packets.back_mut().filter(|_| joins) {
            Some(packet) => (packet.segments, packet.left) = (packet.segments + 1, packet.left + 1),
            None => {
                self.packets.push_back(Entered { segments: 1, left: 1 });
                self.memory += OVERHEAD;
            }
        }
    }

    /// A segment of data leaves it. The memory of a packet is free once its first segment leaves.
    pub(super) fn leave(&mut self, now: Time) {
        let packet = self.packets.front_mut().expect("it has entered");
        if packet.left == packet.segments {
            self.memory -= u64::from(packet.segments) * self.mss + OVERHEAD;
            if std::mem::take(&mut self.holds) {
                self.wake = Some(now);
            }
        }
        packet.left -= 1;
        if packet.left == 0 {
            self.packets.pop_front();
        }
    }

    /// Whether anything ever waits.
    #[inline]
    pub(super) fn is_small(&self) -> bool {
        self.small
    }

    /// An ACK has come: bytes a second, and whether the sender is paced.
    #[inline]
    pub(super) fn learn(&mut self, rate: u64, paces: bool) {
        self.limit = if paces { rate >> 10 } else { (rate >> 10).min(MOST) };
    }

    /// Whether a packet of this many segments, new or not, has to wait while this many segments are out.
    #[inline]
    pub(super) fn holds(&mut self, repeat: bool, segments: u32, out: u32) -> bool {
        let limit = self.limit.max(2 * (u64::from(segments) * self.mss + OVERHEAD)) << u32::from(repeat);
        let holds = out > 1 && self.memory >= limit;
        self.holds |= holds;
        holds
    }

    /// When what waits may be looked at again.
    #[inline]
    pub(super) fn wake(&self) -> Option<Time> {
        self.wake
    }

    /// It is looked at.
    #[inline]
    pub(super) fn forget(&mut self) {
        self.wake = None;
    }
}

impl Pacing {
    /// Bytes per second; of a law that does not pace, by its window and a segment's bytes.
    pub(super) fn bytes_s(self, mss: u16) -> u64 {
        let percent = if self.cwnd < self.ssthresh / 2 { 200 } else { 120 };
        let segments = u64::from(self.cwnd.max(self.out));
        self.rate.unwrap_or_else(|| u64::from(mss) * 80_000 * percent * segments / self.srtt8.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::Reaction;

    const PLAIN: Pacing = Pacing { rate: None, cwnd: 80, ssthresh: 80, out: 80, srtt8: 80_000 };

    /// It holds packets of so many segments each.
    fn queue(packets: &[u32]) -> HostQueue {
        let reaction = Reaction { small_queues: true, ..Reaction::NONE };
        let mut queue = HostQueue::new(&Config { reaction, mss: 1448, ..Config::default() });
        packets.iter().for_each(|&segments| (0..segments).for_each(|i| queue.enter(i > 0)));
        queue
    }

    /// 80 segments a round trip of 10 ms are 11.584 MB/s, of which 1.2 / 1024 s are 13,575 B: of 2408 B each, five are less and
    /// the sixth goes, the seventh waits; repeats have twice as much. In slow start 22,625 B.
    #[test]
    fn the_limit_is_a_millisecond_of_the_rate() {
        for (pacing, repeat, most) in [
            (PLAIN, false, 5),
            (PLAIN, true, 11),
            (Pacing { ssthresh: 1000, ..PLAIN }, false, 9),
            (Pacing { out: 160, ..PLAIN }, false, 11),
            (Pacing { rate: Some(1024 * 2408 * 3), ..PLAIN }, false, 2),
            (Pacing { cwnd: 1, out: 1, ..PLAIN }, false, 1),
        ] {
            let waits = |held| {
                let mut queue = queue(&vec![1; held]);
                queue.learn(pacing.bytes_s(1448), pacing.rate.is_some());
                queue.holds(repeat, 1, held as u32)
            };
            assert!(!waits(most) && waits(most + 1), "{pacing:?}");
        }
    }

    /// Ten segments of one packet take 960 B once: 15,440 B, and 2408 B one alone. A packet may wait for twice its own memory, a
    /// repeat for four times.
    #[test]
    fn a_packet_has_a_limit_of_its_own() {
        for (held, repeat, segments, waits) in [
            (&[10][..], false, 10, false),
            (&[10, 10], false, 10, true),
            (&[10, 1], false, 10, false),
            (&[10], false, 1, true),
            (&[1, 1, 1], true, 1, false),
            (&[1, 1, 1, 1], true, 1, true),
            (&[1, 1, 1, 1], false, 6, false),
            (&[10, 10, 10], true, 10, false),
        ] {
            let mut queue = queue(held);
            queue.learn(0, true);
            assert_eq!(queue.holds(repeat, segments, 30), waits, "{held:?} {repeat} {segments}");
        }
    }

    #[test]
    fn what_waits_is_woken_once_by_a_packet_that_leaves() {
        let mut queue = queue(&[1, 3]);
        queue.learn(0, true);
        queue.leave(Time::from_ns(1));
        assert_eq!(queue.wake(), None);
        queue.enter(false);
        assert!(!queue.holds(false, 1, 1) && queue.holds(false, 1, 2));
        for (ns, woken) in [(2, true), (3, false), (4, false), (5, false)] {
            queue.leave(Time::from_ns(ns));
            assert_eq!(queue.wake(), woken.then_some(Time::from_ns(ns)), "{ns}");
            queue.forget();
        }
        assert_eq!(queue.memory, 0);
    }
}
