//! The TCP flows of an aggregate as its edge sees them: round-trip times and windows from passing data and returning
//! ACKs, and the near side's part from handshakes.
//!
//! Source: Habib, Bhargava and Fahmy (2001); the parts are [`crate::estimate::rtt`] and [`crate::estimate::window`], the
//! bound is [`crate::estimate::flow_table`].
//!
//! Both directions of a flow must pass the edge. A flow whose ACKs are not seen gives no sample, and its window grows
//! without bound.

use super::flow_table::FlowTable;
use super::near_side::NearSide;
use super::rtt::{Evidence, RoundTrip, RttSampler, Timestamps};
use super::window::Outstanding;
use crate::packet::{FlowId, Packet, flags};
use crate::units::{Span, Time};

/// What is known about one flow.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MicroFlow {
    sampler: RttSampler,
    window: Outstanding,
    near: NearSide,
}

/// Bytes an edge spends on a flow, in addition to 4 for each flow number of its host.
pub const BYTES_A_FLOW: usize = size_of::<MicroFlow>() + 24;

const _: () = assert!(BYTES_A_FLOW <= 128);

impl MicroFlow {
    /// A segment on its way to the receiver.
    pub fn on_segment(&mut self, now: Time, segment: &Packet, stamps: Option<Timestamps>) {
        self.window.on_segment(segment);
        self.sampler.on_segment(now, segment, stamps);
    }

    /// A segment that comes back, with an ACK.
    pub fn on_ack(&mut self, now: Time, back: &Packet, stamps: Option<Timestamps>) -> Option<(Span, Evidence)> {
        self.near.on_back(now, back);
        self.window.on_ack(back.ack, back.payload == 0);
        self.sampler.on_ack(now, back.ack, stamps)
    }

    /// Its window.
    pub const fn window(&self) -> &Outstanding {
        &self.window
    }
}

/// The flows of an aggregate.
#[derive(Clone, Debug)]
pub struct MicroFlows {
    table: FlowTable<MicroFlow>,
    near: RoundTrip,
}

/// Weight of a handshake in the near side's mean.
const NEAR: f64 = 0.125;

impl MicroFlows {
    /// None yet; at most `most`, forgotten after `expiry` without a packet.
    pub const fn new(most: u32, expiry: Span) -> Self {
        Self { table: FlowTable::new(most, expiry), near: RoundTrip::NONE }
    }

    /// Other bounds from now on.
    pub fn rebound(&mut self, most: u32, expiry: Span) {
        self.table.rebound(most, expiry);
    }

    /// A packet on its way to the receiver; without data only its timestamp matters. Returns the flow with this segment, if it
    /// is one and the table has room for it.
    pub fn on_forward(&mut self, now: Time, packet: &Packet, stamps: Option<Timestamps>) -> Option<&MicroFlow> {
        if !packet.is_segment() {
            let flow = self.table.seen(now, packet.flow)?;
            flow.sampler.on_stamp(stamps);
            let near = flow.near.on_forward(now, packet);
            near.into_iter().for_each(|near| self.near.sample(near, NEAR));
            return None;
        }
        if self.table.get(now, packet.flow).is_none() {
            self.table.forget(packet.flow);
            self.table.remember(now, packet.flow, MicroFlow::default());
        }
        let flow = self.table.seen(now, packet.flow)?;
        flow.on_segment(now, packet, stamps);
        if let Some(near) = flow.near.on_forward(now, packet) {
            self.near.sample(near, NEAR);
        }
        Some(flow)
    }

    /// A packet that comes back for `flow`: the round-trip time, if it makes one known.
    pub fn on_reverse(
        &mut self,
        now: Time,
        flow: FlowId,
        packet: &Packet,
        stamps: Option<Timestamps>,
    ) -> Option<(Span, Evidence)> {
        match packet.flags & (flags::SYN | flags::ACK) {
            0 => None,
            flags::SYN => {
                self.asked(now, flow, packet);
                None
            }
            _ => self.table.seen(now, flow)?.on_ack(now, packet, stamps),
        }
    }

    /// A host beyond the edge opens a connection to one behind it, which will send.
    fn asked(&mut self, now: Time, flow: FlowId, syn: &Packet) {
        if self.table.get(now, flow).is_none() {
            self.table.forget(flow);
            self.table.remember(now, flow, MicroFlow::default());
        }
        self.table.seen(now, flow).into_iter().for_each(|it| it.near.on_back(now, syn));
    }

    /// The mean round trip between the edge and the hosts behind it, s, from handshakes; `None`: none was seen.
    pub fn near(&self) -> Option<f64> {
        self.near.smoothed()
    }

    /// What is known about a flow.
    pub fn get(&self, now: Time, flow: FlowId) -> Option<&MicroFlow> {
        self.table.get(now, flow)
    }

    /// Forgets a flow.
    pub fn forget(&mut self, flow: FlowId) {
        self.table.forget(flow);
    }

    /// Packets of flows for which the table had no room.
    pub const fn refused(&self) -> u64 {
        self.table.refused()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    fn packet(flags: u8, ack: u32, seq_end: u32) -> Packet {
        Packet { flags, ack, seq_end, ..Packet::default() }
    }

    const FLOW: FlowId = FlowId(0);

    /// Whoever opens the connection: the path to the host behind the edge takes 4 ms, the path beyond the edge 50 ms. A server
    /// there is asked, a client there asks; both then send.
    #[test]
    fn both_kinds_of_handshake_tell_the_near_side() {
        let mut served = MicroFlows::new(10, Span::from_s(60));
        served.on_reverse(at(0), FLOW, &packet(flags::SYN, 0, 100), None);
        assert_eq!(served.near(), None);
        served.on_forward(at(4), &packet(flags::SYN | flags::ACK, 100, 7), None);
        assert_eq!(served.near(), Some(0.004));
        let sample = served.on_reverse(at(54), FLOW, &packet(flags::ACK, 7, 100), None);
        assert_eq!(sample.map(|(rtt, _)| rtt), Some(Span::from_ms(50)));
        let data = Packet { payload: 1000, ..packet(flags::ACK, 100, 1007) };
        assert_eq!(served.on_forward(at(58), &data, None).map(|it| it.window().segments()), Some(1));

        let mut asking = MicroFlows::new(10, Span::from_s(60));
        asking.on_forward(at(0), &packet(flags::SYN, 0, 7), None);
        asking.on_reverse(at(50), FLOW, &packet(flags::SYN | flags::ACK, 7, 100), None);
        asking.on_forward(at(54), &packet(flags::ACK, 100, 7), None);
        assert_eq!(asking.near(), Some(0.004));
    }
}
