//! CoDel's control law: its parameters and the time of the next drop, in the RFC's arithmetic or in Linux's.
//!
//! ```text
//!                   rfc                      linux
//! time              ns                       whole units of 1024 ns, rounded down
//! long enough       now >= first_above       now > first_above
//! 1 / sqrt(count)   double                   16 bits: 65535 at count 1; else one Newton step from the last value
//!                                            x + x (1 - count x^2) / 2, at every drop
//! interval x that   rounded down             rounded down
//! ```

use crate::aqm::arithmetic::Arithmetic;
use crate::params::ParamError;
use crate::units::{Bytes, Span};

/// Longest `interval` of a Linux CoDel: 16 of them are half the range of its 32-bit clock.
const LONGEST: Span = Span::from_s(137);

/// What a scenario states of a CoDel.
#[derive(Clone, Debug, PartialEq)]
pub struct Control {
    /// The wait that is acceptable as a standing delay.
    pub target: Span,
    /// How long the wait may stay above `target`.
    pub interval: Span,
    /// A packet with no more bytes than this behind it is never dropped.
    pub mtu: Bytes,
    /// Whether ECN-capable packets are marked where others are dropped.
    pub ecn: bool,
    /// ECN-capable packets that have waited for longer than this are marked, whatever the state.
    pub ce_threshold: Option<Span>,
    /// Whose numbers.
    pub arithmetic: Arithmetic,
}

/// The same as numbers; times in ticks of the arithmetic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Law {
    pub(super) target: u64,
    pub(super) interval: u64,
    pub(super) mtu: u64,
    pub(super) ecn: bool,
    pub(super) ce_threshold: Option<u64>,
    arithmetic: Arithmetic,
}

impl Control {
    /// # Errors
    /// E201 for a `target` or `mtu` of 0, and for an `interval` that Linux's clock cannot count; E214 unless `target`
    /// is below `interval`.
    pub fn law(&self) -> Result<Law, ParamError> {
        ParamError::above_zero("target", self.target)?;
        ParamError::above_zero("mtu", self.mtu)?;
        if self.target >= self.interval {
            let message = format!("`target` {} is not below `interval` {}", self.target, self.interval);
            return Err(ParamError::new("target", "E214", message)
                .help("RFC 8289 section 4.4: 5 to 10 % of `interval`, which is about the longest round-trip time"));
        }
        if self.arithmetic == Arithmetic::Linux && self.interval > LONGEST {
            let message = format!("`interval` is {}", self.interval);
            return Err(ParamError::new("interval", "E201", message)
                .help(format!("must be at most {LONGEST} with `arithmetic = \"linux\"`, whose clock has 32 bits")));
        }
        let ticks = |span: Span| ticks(self.arithmetic, span.ns());
        Ok(Law {
            target: ticks(self.target),
            interval: ticks(self.interval),
            mtu: self.mtu.get(),
            ecn: self.ecn,
            ce_threshold: self.ce_threshold.map(ticks),
            arithmetic: self.arithmetic,
        })
    }
}

/// Nanoseconds in ticks.
#[inline]
const fn ticks(arithmetic: Arithmetic, ns: u64) -> u64 {
    match arithmetic {
        Arithmetic::Rfc => ns,
        Arithmetic::Linux => ns >> 10,
    }
}

/// Drops since dropping began, and with Linux's arithmetic what it takes for 2^16 / sqrt of it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Drops {
    pub(super) count: u32,
    root: u16,
}

impl Drops {
    /// The first drop.
    pub(super) const FIRST: Self = Self { count: 1, root: u16::MAX };

    /// The same series of drops, counted as `count`: one Newton step, whatever the distance.
    #[inline]
    pub(super) fn counted(self, count: u32) -> Self {
        Self { count, root: newton(self.root, count) }
    }
}

/// x (3 - count x^2) / 2 for x = root / 2^16: products of 64 bits, rounded down, x^2 first.
#[inline]
fn newton(root: u16, count: u32) -> u16 {
    let x = u64::from(root) << 16;
    let rest = (3u64 << 32).wrapping_sub(u64::from(count) * ((x * x) >> 32));
    ((rest >> 2).wrapping_mul(x) >> 47) as u16
}

impl Law {
    /// Whose numbers.
    pub fn arithmetic(&self) -> Arithmetic {
        self.arithmetic
    }

    /// Nanoseconds in ticks.
    #[inline]
    pub(super) const fn ticks(&self, ns: u64) -> u64 {
        ticks(self.arithmetic, ns)
    }

    /// Ticks in microseconds, rounded down.
    pub(super) fn us(&self, ticks: u64) -> f64 {
        match self.arithmetic {
            Arithmetic::Rfc => (ticks / 1000) as f64,
            Arithmetic::Linux => ((ticks << 10) / 1000) as f64,
        }
    }

    /// Whether the wait has been long for an interval, if that was to be at `first_above`.
    #[inline]
    pub(super) fn long_enough(&self, now: u64, first_above: u64) -> bool {
        match self.arithmetic {
            Arithmetic::Rfc => now >= first_above,
            Arithmetic::Linux => now > first_above,
        }
    }

    /// RFC 8289 section 5.6, control law: when to drop after `from`.
    #[inline]
    pub(super) fn next(&self, from: u64, drops: Drops) -> u64 {
        from + match self.arithmetic {
            Arithmetic::Rfc => (self.interval as f64 / f64::from(drops.count).sqrt()) as u64,
            Arithmetic::Linux => (self.interval * u64::from(drops.root)) >> 16,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire;

    /// Times are handed over in microseconds, of which the kernel makes units of 1024 ns.
    #[test]
    fn times_are_those_that_tc_sends() {
        for it in wire::sent("codel").into_iter().filter(wire::Sent::taken) {
            for key in ["target", "interval", "ce_threshold"] {
                let Some(us) = it.us(key) else { continue };
                let kernel = (it.field(key).unwrap() * 1000) >> 10;
                assert_eq!(i128::from(ticks(Arithmetic::Linux, Span::from_us(us).ns())), kernel, "{key} {us}");
            }
        }
    }
}
