//! What a rate counts of a packet, written from tc-stab(8), and any frames.

use perhop_core::framing::{Framing, LinkLayer};
use perhop_core::units::{Bytes, SignedBytes};
use proptest::prelude::*;

/// `overhead` first, then `mpu`, then whole cells.
pub fn counted(framing: Framing, size: u32) -> u32 {
    let with = i64::from(size) + framing.overhead.map_or(0, |overhead| i64::from(overhead.get()));
    let with = with.max(framing.mpu.map_or(0, |mpu| mpu.get() as i64)) as u32;
    let mut cells = 0;
    while cells * 48 < with {
        cells += 1;
    }
    if framing.link_layer == Some(LinkLayer::Atm) { cells * 53 } else { with }
}

/// Keys as files have them, each stated or not; with them a packet of 1500 B counts at most 1749 B.
pub fn framing() -> impl Strategy<Value = Framing> {
    let overhead = prop_oneof![Just(None), (-20i32..=40).prop_map(|n| Some(SignedBytes::new(n)))];
    let mpu = prop_oneof![Just(None), (0u64..300).prop_map(|n| Some(Bytes::new(n)))];
    let layer = prop::sample::select(vec![None, Some(LinkLayer::Ethernet), Some(LinkLayer::Atm)]);
    (overhead, mpu, layer).prop_map(|(overhead, mpu, link_layer)| Framing { overhead, mpu, link_layer })
}
