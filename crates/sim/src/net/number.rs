//! Numbers of flows' packets: `2 k` in the forward direction and `2 k + 1` in the return direction (ACKs), where k is
//! the flow's place in the table.

use perhop_core::packet::FlowId;

/// The packet number of a flow's forward direction.
pub const fn out(flow: usize) -> FlowId {
    FlowId(flow as u32 * 2)
}

/// The packet number of a flow's return direction.
pub const fn back(flow: usize) -> FlowId {
    FlowId(flow as u32 * 2 + 1)
}

/// The number of the other direction.
pub const fn mate(number: FlowId) -> FlowId {
    FlowId(number.0 ^ 1)
}

/// The flow's place in the table.
pub const fn flow(number: FlowId) -> usize {
    (number.0 / 2) as usize
}

/// Whether the packet is in the forward direction.
pub const fn is_out(number: FlowId) -> bool {
    number.0.is_multiple_of(2)
}
