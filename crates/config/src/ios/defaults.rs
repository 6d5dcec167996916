//! What a device assumes where a text says nothing: one function for each value, each with its source.

use crate::import_options::Platform;
use perhop_core::units::{BitRate, Bytes, Packets, Span};

/// The packet in which limits are counted, in bytes.
pub const PACKET: u64 = 1_500;

/// The limit of IOS, in packets.
pub const LIMIT: u64 = 64;

/// What a queue may hold.
pub const LIMIT_TIME: Span = Span::from_ms(50);

/// A value and where it is said that the device assumes it.
pub type Assumed<T> = (T, &'static str);

/// Bytes that a rate sends in a time, as 1/N of a second.
const fn bytes(rate: BitRate, per_second: u64) -> u64 {
    rate.bit_s() / 8 / per_second
}

/// `bc`, and `be` beside `pir`, of a policer. Outputs of IOS and IOS XE agree: 10 Mbit/s have 312500 bytes, 8 kbit/s 1500.
pub fn police_burst(platform: Platform, rate: BitRate) -> Assumed<Bytes> {
    match platform {
        Platform::Ios => (Bytes::new(bytes(rate, 4).max(1_500)), "IOS: 250 ms of the rate, at least 1500 bytes"),
        Platform::IosXe => (Bytes::new(bytes(rate, 4).max(1_500)), "IOS XE: 250 ms of the rate, at least 1500 bytes"),
        Platform::Ncs => (Bytes::new(bytes(rate, 100).max(1_500)), "NCS: 10 ms of the rate"),
    }
}

/// The burst of a policer in packets. Outputs of Catalyst 9000: 1000 packets/s have 244, 3000 have 732.
pub fn police_packets(rate: u64) -> Assumed<Packets> {
    let packets = u128::from(rate) * 244 / 1_000;
    (Packets::new(u32::try_from(packets).unwrap_or(u32::MAX).max(1)), "IOS XE: 244 ms of the rate")
}

/// `be` of a policer with one rate.
pub fn excess_burst(bc: Bytes) -> Assumed<Bytes> {
    (bc, "IOS: as large as bc")
}

/// The interval of a shaper, Bc / rate. Releases that print `Byte Limit`, `Sustain` and `Excess` of a shaper have 25 ms.
pub const fn interval(platform: Platform) -> Assumed<Span> {
    match platform {
        Platform::Ios => (Span::from_ms(4), "IOS 15: 4 ms of the rate"),
        Platform::IosXe => (Span::from_ms(4), "IOS XE: 4 ms of the rate"),
        Platform::Ncs => (Span::from_ms(10), "NCS: 10 ms of the rate"),
    }
}

/// Bc of a shaper, in bits.
pub const fn shape_bits(platform: Platform, rate: BitRate) -> Assumed<u64> {
    let (interval, source) = interval(platform);
    ((rate.bit_s() as u128 * interval.ns() as u128 / 1_000_000_000) as u64, source)
}

/// Be of a shaper, in bits.
pub const fn shape_excess(platform: Platform, bc: u64) -> Assumed<u64> {
    match platform {
        Platform::Ios => (bc, "IOS 15: as large as Bc"),
        Platform::IosXe => (bc, "IOS XE: as large as Bc"),
        Platform::Ncs => (0, "NCS: none"),
    }
}

/// The limit of a queue at a link or below a shaper of this rate.
pub fn limit(platform: Platform, rate: Option<BitRate>) -> Assumed<Packets> {
    match platform {
        Platform::Ios => (Packets::new(64), "IOS: 64 packets"),
        Platform::IosXe | Platform::Ncs => {
            let packets = rate.map_or(0, |rate| bytes(rate, 20) / PACKET);
            let packets = Packets::new(u32::try_from(packets).unwrap_or(u32::MAX).max(64));
            (packets, "IOS XE: 50 ms of 1500-byte packets, at least 64")
        }
    }
}

/// The limit of the queue of a priority class.
pub const fn priority_limit(platform: Platform) -> Assumed<Packets> {
    match platform {
        Platform::Ios => (Packets::new(64), "IOS: 64 packets"),
        Platform::IosXe | Platform::Ncs => (Packets::new(512), "IOS XE: 512 packets for priority"),
    }
}

/// The burst of `priority` with a rate.
pub const fn priority_burst(rate: BitRate) -> Assumed<Bytes> {
    (Bytes::new(bytes(rate, 5)), "IOS: 200 ms of the rate")
}

/// The exponent of WRED's average.
pub const WRED_WEIGHT: Assumed<u64> = (9, "IOS: exponent 9");

/// Thresholds of WRED for a precedence, in packets, of IOS: minimum and maximum, as its outputs have them.
pub const fn wred_by_precedence(precedence: u64) -> Assumed<(u64, u64)> {
    ((20 + 2 * precedence, 40), "IOS 15: thresholds by precedence")
}

/// Thresholds of WRED for a precedence, of a limit in any unit: minimum and maximum.
pub const fn wred(precedence: u64, limit: u64) -> Assumed<(u64, u64)> {
    let max = limit / 2;
    ((max * (8 + precedence) / 16, max), "IOS XE: thresholds by precedence, half the limit at most")
}

/// Thresholds of WRED for a code point in packets, of IOS: the table of its command reference.
pub const fn wred_by_dscp(dscp: u8) -> Assumed<(u64, u64)> {
    let min = match (dscp >> 3, dscp & 7) {
        (1..=4, 2) => 32,
        (1..=4, 4) => 28,
        (1..=4, 6) => 24,
        (5, 6) => 36,
        (class @ 1..=7, 0) => 20 + 2 * class as u64,
        _ => 20,
    };
    ((min, 40), "IOS 15: thresholds by code point")
}
