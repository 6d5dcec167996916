//! Labels in the IPv6 flow label (RFC 8200 section 3): 20 bits, 0 = no label (RFC 6437 section 2).
//!
//! Tickets are carried as the code of their tag ([`crate::conditioner::pps::tags`]), in the low bits.
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
//! It rounds to the nearest, half up. The relative error is at most 2^-16 from 64 B/s upwards; below, the error is at most u/2.
//! A larger code is a larger rate, and a rate read from a code gives the same code again, so a label loses nothing at
//! further hops.
//!
//! Decision: docs/decisions/082-labels-in-flow-labels.md

use crate::conditioner::Writes;
use crate::conditioner::pps::Tags;
use crate::packet::Packet;
use crate::params::Choice;

/// Bits of a flow label.
pub const BITS: u32 = 20;
/// The largest flow label.
pub const MAX: u32 = (1 << BITS) - 1;

/// What the flow labels of a domain carry, as a policy states it.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carried {
    /// Tickets: on a pure TCP ACK those of the ACK, on other packets those of the data.
    Tickets,
    /// The rate of the packet's flow.
    Rate,
}

impl Carried {
    /// Whether a label of this kind is carried.
    pub const fn holds(self, label: Writes) -> bool {
        match self {
            Self::Tickets => matches!(label, Writes::Tickets | Writes::AckTickets),
            Self::Rate => matches!(label, Writes::Rate),
        }
    }
}

/// How they carry it.
#[derive(Clone, Debug, PartialEq)]
pub enum Encoding {
    /// The code of these tags.
    Tickets(Tags),
    /// A rate in bytes/s, as a floating-point code.
    Rate,
}

/// A label as a flow label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coded {
    /// 1 to [`MAX`].
    pub code: u32,
    /// The label is beyond the codes, above or below: the nearest is used.
    pub saturated: bool,
}

/// Units of a rate code in a byte/s.
const UNITS: f64 = 512.0;
/// Bits of a rate code's m.
const MANTISSA: u32 = 15;

impl Encoding {
    /// What is carried.
    pub const fn carried(&self) -> Carried {
        match self {
            Self::Tickets(_) => Carried::Tickets,
            Self::Rate => Carried::Rate,
        }
    }

    /// The code of a label.
    pub fn code(&self, label: f32) -> Coded {
        match self {
            Self::Tickets(tags) => {
                let tickets = f64::from(label);
                Coded { code: tags.code(tickets).max(1), saturated: !(1.0..=tags.top()).contains(&tickets) }
            }
            Self::Rate => {
                let code = rate_code(doubled(f64::from(label) * UNITS));
                let nearest = code.clamp(1, MAX.into());
                Coded { code: nearest as u32, saturated: nearest != code }
            }
        }
    }

    /// The label of a code (0 to [`MAX`]); `None` for 0, and for codes that are not a tag's.
    pub fn value(&self, code: u32) -> Option<f32> {
        match self {
            Self::Tickets(tags) => (1..=tags.codes()).contains(&code).then(|| tags.value(code) as f32),
            Self::Rate => (code > 0).then(|| rate_value(code) as f32),
        }
    }

    /// The label of a packet that its flow label would carry.
    pub fn label(&self, packet: &Packet) -> Option<f32> {
        if self.of_ack(packet) { packet.ack_label() } else { packet.label() }
    }

    /// Makes `label` the packet's, as [`Encoding::label`] finds it.
    pub fn set_label(&self, packet: &mut Packet, label: f32) {
        if self.of_ack(packet) { packet.set_ack_label(label) } else { packet.set_label(label) }
    }

    fn of_ack(&self, packet: &Packet) -> bool {
        matches!(self, Self::Tickets(_)) && packet.pure_ack()
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
    use crate::conditioner::pps::tags::{LeastTag, Rounding, Scale};
    use crate::packet::flags;

    fn codes(encoding: &Encoding, label: f32) -> (u32, bool) {
        let Coded { code, saturated } = encoding.code(label);
        (code, saturated)
    }

    fn tags(scale: Scale, bits: u32) -> Encoding {
        Encoding::Tickets(Tags { bits, tags: scale, rounding: Rounding::Nearest, least_tag: LeastTag::One })
    }

    /// 20 bits (RFC 8200 section 3), of which 0 is no label (RFC 6437 section 2).
    #[test]
    fn every_code_is_read_back() {
        let tickets = [Scale::Linear, Scale::Log].into_iter().flat_map(|scale| (4..=17).map(move |bits| (scale, bits)));
        let tickets = tickets.map(|(scale, bits)| (tags(scale, bits), (1 << bits) - 1));
        for (encoding, codes_of) in tickets.chain([(Encoding::Rate, MAX)]) {
            let mut last = 0.0;
            for code in 1..=codes_of {
                let label = encoding.value(code).unwrap();
                assert!(label > last, "{encoding:?} {code}: {label} is not above {last}");
                assert_eq!(codes(&encoding, label), (code, false), "{encoding:?} {label}");
                last = label;
            }
            assert_eq!(encoding.value(0), None);
            assert!((codes_of + 1..=MAX).all(|code| encoding.value(code).is_none()), "{encoding:?}");
        }
    }

    /// Between any two neighbours the upper one's codes begin half way, which is the furthest that a label and its code
    /// ever differ: by 2^-16 of it from 64 B/s upwards, by half a unit below.
    #[test]
    fn a_rate_has_the_nearest_code() {
        let value = |code| Encoding::Rate.value(code).unwrap();
        for code in 1..MAX {
            let (below, above) = (value(code), value(code + 1));
            // 17 bits: exact
            let midway = (below + above) / 2.0;
            assert_eq!(codes(&Encoding::Rate, midway), (code + 1, false), "{midway}");
            assert_eq!(codes(&Encoding::Rate, midway.next_down()), (code, false), "{midway}");
            let error = midway - below;
            let bound = if below < 64.0 { 1.0 / 1024.0 } else { midway / 65536.0 };
            assert!(error <= bound, "{error} at {midway}");
        }
    }

    #[test]
    fn codes_by_hand() {
        let rate = |code| f64::from(Encoding::Rate.value(code).unwrap());
        assert_eq!([rate(1), rate(512), rate(1 << 15)], [1.0 / 512.0, 1.0, 64.0]);
        // e = 3, m = 5: (2^15 + 5) 2^2 / 2^9
        assert_eq!(rate(3 << 15 | 5), 32773.0 / 128.0);
        assert_eq!(rate(MAX), 65535.0 * f64::from(1 << 21));
        assert_eq!([255, 256].map(|code| tags(Scale::Linear, 8).value(code)), [Some(255.0), None]);
        assert_eq!([1, 255].map(|code| tags(Scale::Log, 8).value(code)), [Some(1.0), Some(1e6)]);
    }

    #[test]
    fn what_is_beyond_the_codes_is_said() {
        let largest = Encoding::Rate.value(MAX).unwrap();
        for label in [largest * 1.001, 1e30, f32::INFINITY] {
            assert_eq!(codes(&Encoding::Rate, label), (MAX, true), "{label}");
            assert_eq!(codes(&tags(Scale::Linear, 17), label), (131_071, true), "{label}");
            assert_eq!(codes(&tags(Scale::Log, 8), label), (255, true), "{label}");
        }
        for label in [0.0009, 0.0, -1.0, f32::NAN] {
            assert_eq!(codes(&Encoding::Rate, label), (1, true), "{label}");
            assert_eq!(codes(&tags(Scale::Linear, 8), label), (1, true), "{label}");
            assert_eq!(codes(&tags(Scale::Log, 8), label), (1, true), "{label}");
        }
    }

    /// Tickets of an ACK and of data do not mix; a rate is carried on both.
    #[test]
    fn acks_have_tickets_of_their_own() {
        let mut packets = [
            Packet { flags: flags::ACK, ..Packet::default() },
            Packet { flags: flags::ACK, payload: 1, ..Packet::default() },
            Packet { payload: 1, ..Packet::default() },
        ];
        for packet in &mut packets {
            packet.set_label(1.0);
            packet.set_ack_label(2.0);
        }
        let tickets = tags(Scale::Linear, 8);
        assert_eq!(packets.map(|packet| tickets.label(&packet)), [Some(2.0), Some(1.0), Some(1.0)]);
        assert_eq!(packets.map(|packet| Encoding::Rate.label(&packet)), [Some(1.0); 3]);
        packets.iter_mut().for_each(|packet| tickets.set_label(packet, 9.0));
        assert_eq!(packets.map(|packet| (packet.label, packet.ack_label)), [(1.0, 9.0), (9.0, 2.0), (9.0, 2.0)]);
    }
}
