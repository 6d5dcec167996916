//! How exactly time and tokens are counted: as they are, or as Linux counts them.
//!
//! Linux turns bytes into nanoseconds at a rate by one multiplication and a shift, rounded down:
//!
//! ```text
//! ns = (bytes x mult) >> shift,   mult = 10^9 x 2^shift / (rate in B/s), shift the largest for which mult has 32 bits
//! ```
//!
//! so a token of its shapers and policers is a nanosecond of the rate, and each packet may cost up to 1 ns less than it
//! should. Source: behaviour of Linux 6.12, `psched_ratecfg_precompute` and `psched_l2t_ns`.
//!
//! Decision: docs/decisions/066-linux-packet-for-packet.md

use crate::params::Choice;
use crate::units::{BitRate, Bytes, NS_PER_S};

/// How a shaper, policer or scheduler counts.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arithmetic {
    /// Exact: tokens in bits x ns.
    #[default]
    Exact,
    /// As Linux does.
    Linux,
}

impl Arithmetic {
    /// What a bucket of `bytes` at `rate` holds, in tokens. `linux`: what tc hands to the kernel, [`tc_ticks`].
    pub fn depth(self, rate: BitRate, bytes: Bytes) -> i64 {
        match self {
            Self::Exact => Tariff::new(rate, self).cost(bytes.get()),
            Self::Linux => i64::from(tc_ticks(rate, bytes.get())) * TICK_NS,
        }
    }
}

/// The price of bytes in tokens, and how many tokens a nanosecond earns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tariff {
    earned_per_ns: u64,
    mult: u64,
    shift: u32,
}

impl Tariff {
    /// Tokens at `rate`, above 0.
    pub fn new(rate: BitRate, arithmetic: Arithmetic) -> Self {
        match arithmetic {
            Arithmetic::Exact => Self { earned_per_ns: rate.bit_s(), mult: 8 * NS_PER_S, shift: 0 },
            Arithmetic::Linux => Self::of_linux((rate.bit_s() / 8).max(1)),
        }
    }

    fn of_linux(bytes_s: u64) -> Self {
        let (mut factor, mut shift) = (NS_PER_S, 0);
        loop {
            let mult = factor / bytes_s;
            if mult >> 31 & 1 == 1 || factor >> 63 == 1 {
                return Self { earned_per_ns: 1, mult: mult & u64::from(u32::MAX), shift };
            }
            (factor, shift) = (factor << 1, shift + 1);
        }
    }

    /// What `bytes` cost, in tokens.
    #[inline]
    pub fn cost(&self, bytes: u64) -> i64 {
        let tokens = match bytes.checked_mul(self.mult) {
            Some(product) => u128::from(product >> self.shift),
            None => (u128::from(bytes) * u128::from(self.mult)) >> self.shift,
        };
        i64::try_from(tokens).unwrap_or(i64::MAX)
    }

    /// What `ns` nanoseconds earn, in tokens.
    #[inline]
    pub fn earned(&self, ns: u64) -> i64 {
        self.earned_per_ns.checked_mul(ns).and_then(|tokens| i64::try_from(tokens).ok()).unwrap_or(i64::MAX)
    }

    /// Nanoseconds until `tokens` are earned, rounded up.
    #[inline]
    pub fn wait(&self, tokens: i64) -> u64 {
        u64::try_from(tokens).unwrap_or(0).div_ceil(self.earned_per_ns)
    }

    /// Bytes that `tokens` pay for, as a real number.
    pub fn bytes(&self, tokens: i64) -> f64 {
        tokens as f64 * (1u64 << self.shift) as f64 / self.mult as f64
    }
}

/// Nanoseconds in a tick of tc.
const TICK_NS: i64 = 64;

/// The time of `bytes` at `rate` in whole microseconds, rounded down.
fn whole_us(rate: BitRate, bytes: u64) -> u64 {
    (1e6 * (bytes as f64 / (rate.bit_s() / 8).max(1) as f64)) as u64
}

/// The time of `bytes` at `rate` as tc (iproute2 6.1) hands it to the kernel: whole microseconds, and those in whole ticks of 64 ns, both
/// rounded down and both in 32 bits, so that what is longer begins again at 0. Source: `lab/records/wire.csv`.
pub fn tc_ticks(rate: BitRate, bytes: u64) -> u32 {
    let us = whole_us(rate, bytes) as u32;
    (u64::from(us) * 1000 / TICK_NS.unsigned_abs()) as u32
}

/// The most bytes whose time at `rate` tc hands over as it is.
pub fn longest_in_ticks(rate: BitRate) -> Bytes {
    let us = u64::from(u32::MAX) * TICK_NS.unsigned_abs() / 1000;
    let bytes = us * (rate.bit_s() / 8).max(1) / 1_000_000;
    Bytes::new(bytes)
}

/// What tc can hand over, in whole seconds of nanoseconds: below 2^32 ticks of 64 ns.
pub const LONGEST_TC_TIME: u64 = 274 * NS_PER_S;

/// The time of `bytes` at `rate` as tc hands a burst over to Linux: whole microseconds, then whole ticks of 64 ns, both
/// rounded down. In ns, below [`LONGEST_TC_TIME`]; `None` if it is longer. Source: messages of tc (iproute2 6.1.0) to the
/// kernel.
pub fn tc_time(rate: BitRate, bytes: u64) -> Option<u64> {
    let ns = whole_us(rate, bytes).saturating_mul(1000) / 64 * 64;
    (ns < LONGEST_TC_TIME).then_some(ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire;
    use proptest::prelude::*;

    proptest! {
        /// The price is the exact time, rounded down, and short of it by no more than the multiplier's last bit allows.
        #[test]
        fn a_packet_costs_its_time(hundreds in 1u64..400_000, bytes in 1u64..65_536) {
            let rate = BitRate::kbps(hundreds * 100);
            let exact = bytes as f64 * 8e9 / rate.bit_s() as f64;
            let linux = Tariff::new(rate, Arithmetic::Linux).cost(bytes) as f64;
            prop_assert!(linux <= exact && linux > exact - 1.0 - exact / f64::from(1u32 << 31), "{} {}", linux, exact);
            let tariff = Tariff::new(rate, Arithmetic::Exact);
            prop_assert_eq!(tariff.wait(tariff.cost(bytes)), (bytes * 8 * NS_PER_S).div_ceil(rate.bit_s()));
        }
    }

    /// What tc 6.1.0 sent: 10001 bytes at 3 Mbit/s are 416,703 ticks, where 26,669.33 us would be 416,708.
    #[test]
    fn tc_rounds_to_microseconds_and_ticks() {
        assert_eq!(tc_time(BitRate::mbps(3), 10_001), Some(416_703 * 64));
        assert_eq!(tc_time(BitRate::mbps(1), 10_000), Some(80_000_000));
        assert_eq!(tc_time(BitRate::bps(8), 273), Some(273_000_000_000));
        assert_eq!(tc_time(BitRate::bps(8), 274), None);
    }

    /// Rates are whole bytes/s; bursts of classes, tc's own as well, are ticks in 32 bits.
    #[test]
    fn classes_have_what_tc_sends() {
        for it in wire::sent("htb").iter().filter(|it| it.taken()) {
            let rate = it.rate("rate").unwrap();
            let ceil = it.rate("ceil").unwrap_or(rate);
            for (key, rate, [narrow, wide, ticks]) in [
                ("burst", rate, ["rate.rate", "rate64", "buffer"]),
                ("cburst", ceil, ["ceil.rate", "ceil64", "cbuffer"]),
            ] {
                let bytes_s = it.field(wide).or(it.field(narrow));
                assert_eq!(bytes_s, Some((rate.bit_s() / 8).into()), "{key}");
                let burst = it.bytes(key).unwrap_or(Bytes::new(1600 + rate.bit_s() / 8 / NS_PER_S));
                let depth = Arithmetic::Linux.depth(rate, burst);
                assert_eq!(Some(i128::from(depth / 64)), it.field(ticks), "{rate} {burst}");
                let whole = burst <= longest_in_ticks(rate);
                assert_eq!(whole, i128::from(depth / 64) == i128::from(whole_us(rate, burst.get()) * 1000 / 64));
            }
        }
    }

    /// A policer's burst is the same; what does not fit is refused here.
    #[test]
    fn policers_have_what_tc_sends() {
        for it in wire::sent("police").iter().filter(|it| it.taken()) {
            let Some(rate) = it.rate("rate") else { continue };
            let burst = it.bytes("burst").unwrap().get();
            assert_eq!(Some(tc_ticks(rate, burst).into()), it.field("burst"), "{rate} {burst}");
            let time = tc_time(rate, burst).map(|ns| i128::from(ns / 64));
            assert!(time.is_none() || time == it.field("burst"), "{rate} {burst}");
        }
    }

    /// A shaper's buckets are bytes.
    #[test]
    fn shapers_have_what_tc_sends() {
        for it in wire::sent("tbf").iter().filter(|it| it.taken()) {
            assert_eq!(it.bytes("burst").map(|bytes| bytes.get().into()), it.field("burst"));
            assert_eq!(it.bytes("mtu").map(|bytes| bytes.get().into()), it.field("pburst"));
        }
    }

    /// 10 Mbit/s are 1,250,000 B/s: 800 ns a byte, to the nanosecond.
    #[test]
    fn at_ten_megabits_a_byte_is_800_ns() {
        let tariff = Tariff::new(BitRate::mbps(10), Arithmetic::Linux);
        assert_eq!([1, 1214, 1514].map(|bytes| tariff.cost(bytes)), [800, 971_200, 1_211_200]);
        assert_eq!((tariff.wait(971_200), tariff.wait(-5)), (971_200, 0));
    }

    /// As seen in what tc sends for `htb rate 7mbit burst 1501`: 26796 ticks, and 28562 for its default of 1600 B.
    #[test]
    fn tc_rounds_bursts_down() {
        let ticks = |bytes| Arithmetic::Linux.depth(BitRate::mbps(7), Bytes::new(bytes)) / 64;
        assert_eq!([1501, 1600].map(ticks), [26_796, 28_562]);
        // 65088 us, were it not for floating point.
        assert_eq!(Arithmetic::Linux.depth(BitRate::kbps(1500), Bytes::new(12_204)) / 64, 1_016_984);
        let exact = Arithmetic::Exact.depth(BitRate::mbps(7), Bytes::new(1501));
        assert_eq!(exact, 1501 * 8 * 1_000_000_000);
    }
}
