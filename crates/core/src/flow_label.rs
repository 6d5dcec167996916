//! Labels in the IPv6 flow label (RFC 8200 section 3): 20 bits, 0 = no label (RFC 6437 section 2).
//!
//! A rate in bytes/s does not fit into 20 bits as an integer. Its code is a small floating-point number without a sign,
//! e (5 bits) and m (15 bits), in units of u = 2^-9 B/s:
//!
//! ```text
//! e = 0:   m u                        exact steps of u, up to 64 B/s
//! e >= 1:  (2^15 + m) 2^(e-1) u       from 64 B/s to (2^16 - 1) 2^21 B/s = 1.1 Tbit/s
//! code:    s = max(0, floor(log2(label / u)) - 15);  2^15 s + floor(label / (2^s u) + 1/2)
//! ```
//!
//! It rounds to the nearest, half up. The relative error is at most 2^-16 from 64 B/s on; below, the error is at most u/2.
//! A larger code is a larger rate, and a rate that came from a code gives the same code again, so a label loses nothing
//! at further hops.

use crate::params::Choice;

/// Bits of a flow label.
pub const BITS: u32 = 20;
/// The largest flow label.
pub const MAX: u32 = (1 << BITS) - 1;

/// What the flow labels of a domain carry.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowLabel {
    /// The tag as an integer.
    Tickets,
    /// A rate in bytes/s, as a floating-point code.
    Rate,
}

/// A label as a flow label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coded {
    /// 1 to [`MAX`].
    pub code: u32,
    /// The label is beyond the codes, above or below: the nearest stands for it.
    pub saturated: bool,
}

/// Units of a rate code in a byte/s.
const UNITS: f64 = 512.0;
/// Bits of a rate code's m.
const MANTISSA: u32 = 15;

impl FlowLabel {
    /// The code of a label.
    pub fn code(self, label: f32) -> Coded {
        let code = match self {
            Self::Tickets => doubled(label.into()).div_ceil(2),
            Self::Rate => rate_code(doubled(f64::from(label) * UNITS)),
        };
        let nearest = code.clamp(1, MAX.into());
        Coded { code: nearest as u32, saturated: nearest != code }
    }

    /// The label that a code (0 to [`MAX`]) stands for; `None` for 0.
    pub fn value(self, code: u32) -> Option<f32> {
        let label = match self {
            Self::Tickets => f64::from(code),
            Self::Rate => rate_value(code),
        };
        (code > 0).then_some(label as f32)
    }
}

/// Twice a number, rounded down: one bit more than is kept, which says whether to round up. No number is 0.
fn doubled(x: f64) -> u64 {
    (2.0 * x) as u64
}

/// The code of a rate of `doubled` half units.
fn rate_code(doubled: u64) -> u64 {
    let s = doubled.checked_ilog2().unwrap_or(0).saturating_sub(MANTISSA + 1);
    (u64::from(s) << MANTISSA) + (doubled >> s).div_ceil(2)
}

fn rate_value(code: u32) -> f64 {
    let s = (code >> MANTISSA).saturating_sub(1);
    ((u64::from(code) - (u64::from(s) << MANTISSA)) << s) as f64 / UNITS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(kind: FlowLabel, label: f32) -> (u32, bool) {
        let Coded { code, saturated } = kind.code(label);
        (code, saturated)
    }

    #[test]
    fn every_code_is_read_back() {
        for kind in [FlowLabel::Tickets, FlowLabel::Rate] {
            assert_eq!(kind.value(0), None);
            let mut last = 0.0;
            for code in 1..=MAX {
                let label = kind.value(code).unwrap();
                assert!(label > last, "{kind:?} {code}: {label} is not above {last}");
                assert_eq!(codes(kind, label), (code, false), "{kind:?} {label}");
                last = label;
            }
        }
    }

    /// Between any two neighbours the upper one's codes begin half way, which is as far as a label and its code ever are
    /// apart: 2^-16 of it from 64 B/s on, half a unit below.
    #[test]
    fn a_rate_has_the_nearest_code() {
        let value = |code| FlowLabel::Rate.value(code).unwrap();
        for code in 1..MAX {
            let (below, above) = (value(code), value(code + 1));
            // 17 bits: exact
            let midway = (below + above) / 2.0;
            assert_eq!(codes(FlowLabel::Rate, midway), (code + 1, false), "{midway}");
            assert_eq!(codes(FlowLabel::Rate, midway.next_down()), (code, false), "{midway}");
            let error = midway - below;
            let bound = if below < 64.0 { 1.0 / 1024.0 } else { midway / 65536.0 };
            assert!(error <= bound, "{error} at {midway}");
        }
    }

    #[test]
    fn codes_by_hand() {
        let rate = |code| f64::from(FlowLabel::Rate.value(code).unwrap());
        assert_eq!([rate(1), rate(512), rate(1 << 15)], [1.0 / 512.0, 1.0, 64.0]);
        // e = 3, m = 5: (2^15 + 5) 2^2 / 2^9
        assert_eq!(rate(3 << 15 | 5), 32773.0 / 128.0);
        assert_eq!(rate(MAX), 65535.0 * 2f64.powi(21));
        assert_eq!(FlowLabel::Tickets.value(255), Some(255.0));
    }

    #[test]
    fn what_is_beyond_the_codes_is_said() {
        let largest = FlowLabel::Rate.value(MAX).unwrap();
        for label in [largest * 1.001, 1e30, f32::INFINITY] {
            assert_eq!(codes(FlowLabel::Rate, label), (MAX, true), "{label}");
            assert_eq!(codes(FlowLabel::Tickets, label), (MAX, true), "{label}");
        }
        for label in [0.0009, 0.0, -1.0, f32::NAN] {
            assert_eq!(codes(FlowLabel::Rate, label), (1, true), "{label}");
            assert_eq!(codes(FlowLabel::Tickets, label), (1, true), "{label}");
        }
    }
}
