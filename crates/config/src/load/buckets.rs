//! Packets that buckets hold.

use super::SEGMENT;
use crate::model::{Class, Conditioner, Queue};
use perhop_core::units::Bytes;

/// Bytes that a burst must hold beyond an IP packet, whatever `accounting` says.
const FRAME: u64 = 38;
/// The headers of a datagram.
const HEADERS: u64 = 28;

/// The largest IP packet that the buckets of a conditioner hold, if that is less than any.
pub(super) fn bucket(conditioner: &Conditioner) -> Option<Bytes> {
    let bursts = ["cbs", "pbs", "mtu"].into_iter().filter_map(|key| conditioner.settings.bytes(key));
    bursts.min().and_then(small)
}

/// The same of the limit of a strict class.
pub(super) fn limit(class: &Class) -> Option<Bytes> {
    let is_strict = class.parent.is_none() && class.settings.get("ceil").is_none();
    class.settings.bytes("burst").filter(|_| is_strict).and_then(small)
}

/// The same of the shaper of a queue.
pub(super) fn shaped(queue: &Queue) -> Option<Bytes> {
    queue.shape.bytes("burst").and_then(small)
}

fn small(burst: Bytes) -> Option<Bytes> {
    let packet = burst.get().saturating_sub(FRAME);
    (packet < SEGMENT).then(|| Bytes::new(packet.max(HEADERS)))
}
