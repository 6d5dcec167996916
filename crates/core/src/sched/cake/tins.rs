//! Tins: which code points go to which, and what rate and weight each has.

use crate::aqm::cobalt::Law;
use crate::dscp::Dscp;
use crate::params::Choice;
use crate::units::{NS_PER_S, Span, Time};

/// How packets are sorted into tins.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tins {
    /// One tin.
    Besteffort,
    /// Eight, by the first three bits of the code point.
    Precedence,
    /// Bulk, best effort, voice.
    Diffserv3,
    /// Bulk, best effort, video, voice.
    Diffserv4,
    /// Eight, by what the code points are for.
    Diffserv8,
}

/// What tc calls a tin, of so many; tins are in its order.
pub fn tin_name(tins: usize, tin: usize) -> String {
    let names: &[&str] = match tins {
        3 => &["Bulk", "Best Effort", "Voice"],
        4 => &["Bulk", "Best Effort", "Video", "Voice"],
        _ => &[],
    };
    names.get(tin).map_or_else(|| format!("Tin {tin}"), |name| (*name).to_owned())
}

/// What a tin is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct Outline {
    /// tc's name of it.
    pub name: String,
    /// Code points of its packets; none for the tin of all others.
    pub codes: Vec<Dscp>,
    /// Rate above which its priority ends, B/s; `None` without a rate.
    pub threshold: Option<u64>,
    /// COBALT's.
    pub target: Span,
    /// COBALT's.
    pub interval: Span,
    /// Bytes in a turn of one of its queues.
    pub quantum: u64,
}

/// What a tin may count on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Share {
    /// Rate above which its priority ends, B/s; `None` without a rate.
    pub(super) rate: Option<u64>,
    /// Bytes in its turn where there is no rate.
    pub(super) quantum: i64,
}

/// Code points by tin; all others go to the tin of best effort.
type Sorting = &'static [(usize, &'static [u8])];

const BULK: &[u8] = &[1, 8];
/// CS4, CS5, VA, EF, CS6, CS7.
const VOICE: &[u8] = &[32, 40, 44, 46, 48, 56];
/// TOS 4, CS2, AF2, CS3, AF3, AF4.
const VIDEO: &[u8] = &[4, 16, 18, 20, 22, 24, 26, 28, 30, 34, 36, 38];

const THREE: Sorting = &[(1, BULK), (2, &[4, 44, 46, 48, 56])];
const FOUR: Sorting = &[(1, BULK), (2, VIDEO), (3, VOICE)];
const EIGHT: Sorting = &[
    // LE
    (0, &[1]),
    // TOS 2, CS1, AF1
    (1, &[2, 8, 10, 12, 14]),
    // CS3, AF3, AF4
    (3, &[24, 26, 28, 30, 34, 36, 38]),
    // TOS 4, AF2
    (4, &[4, 18, 20, 22]),
    // CS2
    (5, &[16]),
    // CS4, CS5, VA, EF
    (6, &[32, 40, 44, 46]),
    // CS6, CS7
    (7, &[48, 56]),
];

fn sorted(sorting: Sorting, others: usize, code: u8) -> usize {
    sorting.iter().find(|(_, codes)| codes.contains(&code)).map_or(others, |it| it.0)
}

impl Tins {
    /// The tin of a code point. The higher its number, the sooner it is served within its rate.
    pub(super) fn of(self, dscp: Dscp) -> usize {
        let code = dscp.get();
        match self {
            Self::Besteffort => 0,
            Self::Precedence => usize::from(code >> 3),
            Self::Diffserv3 => sorted(THREE, 0, code),
            Self::Diffserv4 => sorted(FOUR, 0, code),
            Self::Diffserv8 => sorted(EIGHT, 2, code),
        }
    }

    /// Its tins in the order in which tc shows them.
    pub(super) fn shown(self) -> &'static [usize] {
        match self {
            Self::Besteffort => &[0],
            Self::Diffserv3 => &[1, 0, 2],
            Self::Diffserv4 => &[1, 0, 2, 3],
            Self::Precedence | Self::Diffserv8 => &[0, 1, 2, 3, 4, 5, 6, 7],
        }
    }

    /// Of each tin, at a rate of all in B/s.
    pub(super) fn shares(self, rate: Option<u64>) -> Vec<Share> {
        let parts = |quantum: i64, shifts: &[u32]| {
            let share = |&by: &u32| Share { rate: rate.map(|rate| rate >> by), quantum: quantum >> by };
            shifts.iter().map(share).collect()
        };
        match self {
            Self::Besteffort => parts(65_535, &[0]),
            Self::Diffserv3 => parts(1024, &[0, 4, 2]),
            Self::Diffserv4 => parts(1024, &[0, 4, 1, 2]),
            Self::Precedence | Self::Diffserv8 => {
                let next = |it: &Share| Share { rate: it.rate.map(|r| r * 7 / 8), quantum: it.quantum * 7 / 8 };
                std::iter::successors(Some(Share { rate, quantum: 256 }), |it| Some(next(it))).take(8).collect()
            }
        }
    }
}

/// The time that bytes take, as Linux counts it: 34 bits of ns by byte, rounded down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Pace {
    ns: u64,
    shift: u32,
}

impl Pace {
    /// At a rate above 0, in B/s.
    pub(super) fn of(rate: u64) -> Self {
        let (mut ns, mut shift) = ((NS_PER_S << 34) / rate, 34);
        while ns >> 34 != 0 {
            (ns, shift) = (ns >> 1, shift - 1);
        }
        Self { ns, shift }
    }

    pub(super) fn takes(self, bytes: u32) -> Span {
        Span::from_ns(((u128::from(bytes) * u128::from(self.ns)) >> self.shift) as u64)
    }
}

/// A shaper without a burst: the time at which what has been sent has been paid for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Clock {
    pub(super) pace: Pace,
    pub(super) next: Time,
}

impl Clock {
    pub(super) fn of(pace: Pace) -> Self {
        Self { pace, next: Time::ZERO }
    }

    /// Nothing waits for it: what was not used is lost.
    pub(super) fn rested(&mut self, now: Time) {
        self.next = self.next.max(now);
    }

    /// A packet goes now. One that is late keeps what it was due; one that is ahead of its rate by more than a packet, as
    /// only others' leavings let it be, is not held to it later.
    pub(super) fn charge(&mut self, bytes: u32, now: Time) {
        let takes = self.pace.takes(bytes);
        self.next = if self.next < now { self.next + takes } else { self.next.max(now + takes) };
    }
}

/// COBALT in a tin of this rate: its target is in whole microseconds, as tc makes it of `rtt`; neither target nor interval is below what a few packets take.
pub(super) fn law(rtt: Span, mtu: u32, pace: Pace) -> Law {
    let (base, packet) = (Span::from_us((rtt.ns() / 20_000).max(1)), pace.takes(mtu));
    let target = base.max(packet * 3 / 2);
    Law { target, interval: (rtt + (target - base)).max(target * 2), spared: packet * 4 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire;

    /// tc makes the target of the round-trip time, in whole microseconds.
    #[test]
    fn the_target_is_the_one_that_tc_sends() {
        for it in wire::sent("cake") {
            let law = law(Span::from_us(it.us("rtt").unwrap()), 0, Pace::of(1_000_000));
            assert_eq!(Some(law.target.ns().into()), it.field("target").map(|us| us * 1000));
        }
    }
}
