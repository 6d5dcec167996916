//! The line behind a port: sends bits at a constant rate.

use perhop_core::port::Transmission;
use perhop_core::units::{BitRate, NS_PER_S, Span, Time};

/// Sends bits at a constant rate; the remainder of each division is carried to the next packet.
#[derive(Clone, Debug)]
pub struct Serialiser {
    rate: u64,
    /// If it is a whole number, so that no division is needed; else 0.
    ns_per_byte: u64,
    remainder: u64,
    busy_until: Time,
}

impl Serialiser {
    /// Idle since the start.
    pub fn new(rate: BitRate) -> Self {
        let rate = rate.bit_s();
        let exact = (8 * NS_PER_S).is_multiple_of(rate);
        let ns_per_byte = if exact { 8 * NS_PER_S / rate } else { 0 };
        Self { rate, ns_per_byte, remainder: 0, busy_until: Time::ZERO }
    }

    /// The rate of what begins now.
    pub fn rate(&self) -> BitRate {
        BitRate::bps(self.rate)
    }

    /// What begins from now on is sent at another rate; what is in transmission ends as it would have.
    pub fn set_rate(&mut self, rate: BitRate) {
        let part = u128::from(self.remainder) * u128::from(rate.bit_s()) / u128::from(self.rate);
        let busy_until = self.busy_until;
        *self = Self { busy_until, ..Self::new(rate) };
        // The rest of a nanosecond still to be waited for, now in work at the new rate.
        self.remainder = if self.ns_per_byte > 0 { 0 } else { part as u64 };
    }

    /// The transmission of `bytes` that could begin at `now`.
    #[inline]
    pub fn send(&mut self, now: Time, bytes: u32) -> Transmission {
        // The previous transmission ends within the nanosecond `busy_until`: one that begins in it follows without a
        // gap.
        let starts = if self.busy_until < now {
            self.remainder = 0;
            now
        } else {
            self.busy_until
        };
        let ns = if self.ns_per_byte > 0 {
            u64::from(bytes) * self.ns_per_byte
        } else {
            let work = u64::from(bytes) * 8 * NS_PER_S + self.remainder;
            self.remainder = work % self.rate;
            work / self.rate
        };
        self.busy_until = starts + Span::from_ns(ns);
        Transmission { starts, ends: self.busy_until }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A million packets back to back at an awkward rate end on the exact nanosecond.
    #[test]
    fn no_rounding_accumulates() {
        let mut line = Serialiser::new(BitRate::bps(7_777_777));
        let mut bits = 0u128;
        for i in 0..1_000_000u32 {
            let bytes = 40 + i % 1461;
            line.send(Time::ZERO, bytes);
            bits += u128::from(bytes) * 8;
        }
        assert_eq!(u128::from(line.busy_until.ns()), bits * 1_000_000_000 / 7_777_777);
    }

    /// Back to back at one awkward rate after another: what a division left is kept over each change, cut to whole units
    /// of work, 1 / rate of a ns each. So the end is the exact one, but for the last division's part of a ns.
    #[test]
    fn a_change_of_rate_keeps_the_part_of_a_nanosecond() {
        let rates = [7_777_777, 3_333_331].repeat(5);
        let (mut line, mut exact) = (Serialiser::new(BitRate::bps(rates[0])), 0.0);
        for rate in rates {
            line.set_rate(BitRate::bps(rate));
            for bytes in (40..1500).step_by(7) {
                line.send(Time::ZERO, bytes);
                exact += f64::from(bytes) * 8e9 / rate as f64;
            }
        }
        let lost = exact - line.busy_until.ns() as f64;
        assert!((-1e-3..1.001).contains(&lost), "{lost} ns");
    }

    #[test]
    fn the_rate_in_force_already_changes_nothing() {
        for rate in [BitRate::bps(7_777_777), BitRate::mbps(5)] {
            let mut line = Serialiser::new(rate);
            line.send(Time::from_ns(10), 1001);
            let before = format!("{line:?}");
            line.set_rate(rate);
            assert_eq!(format!("{line:?}"), before);
        }
    }

    #[test]
    fn an_idle_link_starts_at_once() {
        let mut line = Serialiser::new(BitRate::mbps(5));
        let first = Transmission { starts: Time::ZERO, ends: Time::from_ns(1_600_000) };
        assert_eq!(line.send(Time::ZERO, 1000), first);
        assert_eq!(line.send(Time::from_ns(10), 1000).starts, Time::from_ns(1_600_000));
        assert_eq!(line.send(Time::from_ns(9_000_000), 1000).starts, Time::from_ns(9_000_000));
    }
}
