//! Which bytes of a packet a rate counts: `overhead`, `mpu`, `link-layer`, as tc has them on a rate.
//!
//! Source: tc-stab(8), and what Linux 6.12 does with the three on the rates of TBF, HTB and policers. From a packet's size
//! as the scenario's `accounting` counts it: first `overhead` is added, then what is below `mpu` counts as `mpu`, and on
//! ATM (AAL5) the result is what its cells take, 53 bytes for every 48 begun.
//!
//! Nothing is rounded to slots as in a size table; Linux's rates do not round either.

use crate::Scope;
use crate::params::{Choice, ParamError, Params};
use crate::units::{Bytes, SignedBytes};
use std::fmt;

/// An IP header without options: no packet is smaller.
const SMALLEST_PACKET: u32 = 20;
/// What tc's 16 bits hold, of `overhead` and of `mpu`.
const MOST_OVERHEAD: i32 = 32_767;
const MOST_MPU: u64 = 65_535;

/// What a scenario states: keys for `#[param(flatten)]`. Without any, a rate counts what `accounting` says.
#[derive(Params, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Framing {
    /// Bytes that a packet counts beyond what `accounting` says, or fewer if negative.
    pub overhead: Option<SignedBytes>,
    /// Least bytes that a packet counts, with `overhead`.
    pub mpu: Option<Bytes>,
    /// What carries the packets: `ethernet` as they are, `atm` in cells of 53 bytes that hold 48 each.
    pub link_layer: Option<LinkLayer>,
}

/// What carries the packets.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkLayer {
    /// As they are.
    #[default]
    Ethernet,
    /// In cells.
    Atm,
}

/// The rule by which a rate counts, ready for packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    overhead: i16,
    mpu: u16,
    layer: LinkLayer,
}

impl Framing {
    /// The first key that is stated.
    pub fn stated(self) -> Option<&'static str> {
        let stated = [("overhead", self.overhead.is_some()), ("mpu", self.mpu.is_some())];
        let all = stated.into_iter().chain([("link-layer", self.link_layer.is_some())]);
        all.filter(|key| key.1).map(|key| key.0).next()
    }

    /// # Errors
    /// E201 when `overhead` would leave nothing of an IP header, or exceeds 32767B; when `mpu` exceeds 65535B.
    pub fn build(self, scope: &Scope) -> Result<Frame, ParamError> {
        let (overhead, mpu) = (self.overhead.unwrap_or_default(), self.mpu.unwrap_or_default());
        let least = (-i64::from(SMALLEST_PACKET + scope.accounting.overhead())).max(i16::MIN.into());
        if !(least..=i64::from(MOST_OVERHEAD)).contains(&i64::from(overhead.get())) {
            let error = ParamError::new("overhead", "E201", format!("`overhead` is {overhead}"));
            let help = format!("must be between {least}B, which leaves nothing of an IP header, and {MOST_OVERHEAD}B");
            return Err(error.help(help));
        }
        if mpu.get() > MOST_MPU {
            return Err(
                ParamError::new("mpu", "E201", format!("`mpu` is {mpu}")).help(format!("must be at most {MOST_MPU}B"))
            );
        }
        let layer = self.link_layer.unwrap_or_default();
        Ok(Frame { overhead: overhead.get() as i16, mpu: mpu.get() as u16, layer })
    }
}

/// `overhead 4B, mpu 64B, atm`; nothing where a rate counts what `accounting` says.
impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            (self.overhead != 0).then_some(("overhead", i32::from(self.overhead))),
            (self.mpu != 0).then_some(("mpu", i32::from(self.mpu))),
        ];
        let mut between = "";
        for (name, bytes) in parts.into_iter().flatten() {
            write!(f, "{between}{name} {bytes}B")?;
            between = ", ";
        }
        if self.layer == LinkLayer::Atm { write!(f, "{between}atm") } else { Ok(()) }
    }
}

impl Frame {
    /// The bytes that a rate counts of a packet of `size` bytes.
    #[inline]
    pub const fn bytes(self, size: u32) -> u32 {
        let with = size.saturating_add_signed(self.overhead as i32);
        let least = if with < self.mpu as u32 { self.mpu as u32 } else { with };
        match self.layer {
            LinkLayer::Ethernet => least,
            LinkLayer::Atm => least.div_ceil(48).saturating_mul(53),
        }
    }

    /// The surroundings with packets as large as the rate counts them: what a bucket must hold.
    pub fn scope(self, scope: &Scope) -> Scope {
        let largest = u32::try_from(scope.largest_packet.get()).unwrap_or(u32::MAX);
        Scope { largest_packet: Bytes::new(self.bytes(largest).into()), ..scope.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::Accounting;
    use proptest::prelude::*;

    fn frame(overhead: i32, mpu: u64, layer: LinkLayer) -> Frame {
        let (overhead, mpu) = (Some(SignedBytes::new(overhead)), Some(Bytes::new(mpu)));
        Framing { overhead, mpu, link_layer: Some(layer) }.build(&Scope::default()).unwrap()
    }

    #[test]
    fn nothing_stated_counts_the_size() {
        let none = Framing::default().build(&Scope::default()).unwrap();
        for size in [0, 1, 40, 1500, u32::MAX] {
            assert_eq!(none.bytes(size), size);
        }
    }

    /// tc-stab(8): "a 100 byte long packet requires three 48-byte payloads, so the final size would require 3 ATM cells -
    /// 159 bytes"; and the edges of each number of cells.
    #[test]
    fn atm_counts_whole_cells() {
        let cells =
            [(1, 53), (48, 53), (49, 106), (96, 106), (97, 159), (100, 159), (144, 159), (145, 212), (1500, 1696)];
        for (size, counted) in cells {
            assert_eq!(frame(0, 0, LinkLayer::Atm).bytes(size), counted, "{size}");
        }
    }

    /// tc-stab(8), "Typical overheads": what a TCP acknowledgement of 40 bytes and a packet of 1500 count on each.
    #[test]
    fn adsl_overheads() {
        let carriers = [("PPPoA LLC", 14, 106, 1696), ("PPPoE LLC", 40, 106, 1749), ("bridged LLC", 32, 106, 1696)];
        let others = [("IPoA LLC", 16, 106, 1696), ("PPPoA VC", 10, 106, 1696), ("PPPoE VC", 32, 106, 1696)];
        for (name, overhead, ack, full) in carriers.into_iter().chain(others).chain([("IPoA VC", 8, 53, 1696)]) {
            let frame = frame(overhead, 0, LinkLayer::Atm);
            assert_eq!([frame.bytes(40), frame.bytes(1500)], [ack, full], "{name}");
        }
    }

    #[test]
    fn mpu_comes_after_overhead_and_before_cells() {
        assert_eq!(
            [1, 45, 46, 47, 100].map(|size| frame(18, 64, LinkLayer::Ethernet).bytes(size)),
            [64, 64, 64, 65, 118]
        );
        assert_eq!([40, 46, 79].map(|size| frame(18, 64, LinkLayer::Atm).bytes(size)), [106, 106, 159]);
        assert_eq!([20, 34, 1514].map(|size| frame(-14, 0, LinkLayer::Ethernet).bytes(size)), [6, 20, 1500]);
    }

    /// Linux's arithmetic on a rate, with wide integers.
    fn oracle(size: u32, overhead: i32, mpu: u64, atm: bool) -> i128 {
        let least = i128::from(size) + i128::from(overhead);
        let least = if least < i128::from(mpu) { i128::from(mpu) } else { least };
        if !atm {
            return least;
        }
        let (mut cells, mut left) = (0, least);
        while left > 0 {
            cells += 1;
            left -= 48;
        }
        cells * 53
    }

    proptest! {
        #[test]
        fn agrees_with_wide_integers(size in 20u32..70_000, overhead in -20i32..=32_767, mpu in 0u64..=65_535, atm: bool) {
            let layer = if atm { LinkLayer::Atm } else { LinkLayer::Ethernet };
            prop_assert_eq!(i128::from(frame(overhead, mpu, layer).bytes(size)), oracle(size, overhead, mpu, atm));
        }
    }

    #[test]
    fn bounds_are_named() {
        let l2 = Scope { accounting: Accounting::L2, ..Scope::default() };
        let fault = |overhead: i32, scope: &Scope| {
            let framing = Framing { overhead: Some(SignedBytes::new(overhead)), ..Framing::default() };
            framing.build(scope).map_err(|e| e.help).err()
        };
        assert_eq!(fault(-20, &Scope::default()), None);
        let help = "must be between -20B, which leaves nothing of an IP header, and 32767B";
        assert_eq!(fault(-21, &Scope::default()).as_deref(), Some(help));
        assert_eq!(fault(-34, &l2), None);
        assert!(fault(-35, &l2).is_some() && fault(32_768, &l2).is_some());
        let mpu = Framing { mpu: Some(Bytes::new(65_536)), ..Framing::default() };
        assert_eq!(mpu.build(&l2).unwrap_err().help, "must be at most 65535B");
    }

    #[test]
    fn the_largest_packet_is_counted_as_the_rate_counts_it() {
        let scope = frame(18, 0, LinkLayer::Ethernet).scope(&Scope::default());
        assert_eq!(scope.largest_packet, Bytes::new(1518));
    }
}
