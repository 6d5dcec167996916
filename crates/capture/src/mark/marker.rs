//! A capture at the edge: its packets in their order, and what is counted of them.

use perhop_edge::{Arriving, Host, IpHeaders, Moment, locate};

use super::clock::Clock;
use super::error::MarkError;
use super::marking::Marking;
use super::statistics::Statistics;
use super::twice::{Twice, is_due};
use crate::file::Record;
use crate::pump::Fate;

/// An edge at work on a capture.
pub(crate) struct Marker {
    pub(crate) host: Host,
    pub(crate) statistics: Statistics,
    pub(crate) marking: Marking,
    pub(crate) clock: Clock,
    /// Packets that were compared with others, and were copies.
    pub(crate) twice: Twice,
    /// Packets seen.
    packets: u64,
}

impl Marker {
    pub(crate) fn new(marking: Marking) -> Result<Self, MarkError> {
        Ok(Self {
            host: Host::new(marking.policy())?,
            statistics: Statistics::new(&marking),
            clock: Clock::new(marking.origin),
            twice: Twice::default(),
            packets: 0,
            marking,
        })
    }

    /// Meters a packet, writes its new code point and label into its bytes, says whether it stays.
    pub(crate) fn visit(&mut self, record: Record<'_>) -> Fate {
        self.packets += 1;
        let at = record.time_ns.map(|stamp| self.clock.at(stamp));
        match (&locate(record.link, record.data, record.original), at) {
            (Ok(headers), Some(at)) => {
                let once = self.marking.once;
                let is_copy = (once || is_due(self.packets)) && self.twice.is_copy(at.now, record.data, headers);
                return if is_copy && once { Fate::Drop } else { self.meter(at, record, headers) };
            }
            (Ok(_), None) => self.statistics.ledger.untimed += 1,
            (Err(reason), _) => *self.statistics.ledger.unread.entry(*reason).or_insert(0) += 1,
        }
        Fate::Keep
    }

    fn meter(&mut self, at: Moment, record: Record<'_>, headers: &IpHeaders) -> Fate {
        let direction = self.marking.direction(headers);
        let it = Arriving { number: self.packets, at, direction, link: record.link, headers };
        let Some(packet) = self.host.arrive(&it, &mut self.statistics) else { return Fate::Drop };
        self.host.rewrite(record.data, headers, &packet);
        Fate::Keep
    }

    /// Empties the queue after the last packet.
    pub(crate) fn finish(&mut self) {
        self.host.finish(&mut self.statistics);
    }
}

#[cfg(test)]
mod tests {
    use crate::export::{Exporter, SimulatedPacket};
    use crate::file::Capture;
    use perhop_core::classify::FlowHeaders;
    use perhop_core::dscp::Dscp;
    use perhop_core::packet::{Ecn, Packet, flags};
    use perhop_core::units::Time;
    use perhop_edge::{locate, view};
    use proptest::prelude::*;

    /// What an algorithm sees of `packet` after it went through a capture.
    fn through_a_capture(wire: u32, packet: &Packet, protocol: u8) -> Packet {
        let headers = FlowHeaders {
            protocol,
            source: [10, 0, 0, 1].into(),
            destination: [10, 0, 0, 2].into(),
            source_port: 1,
            destination_port: 2,
            traffic: String::new(),
            class: String::new(),
            rtt: None,
        };
        let mut exporter = Exporter::new(Vec::new()).unwrap();
        exporter.write(&SimulatedPacket::new(Time::ZERO, wire, packet, &headers).unwrap()).unwrap();
        let file = exporter.into_inner();
        let mut capture = Capture::new(&file[..]).unwrap();
        capture.next_chunk().unwrap();
        let mut chunk = capture.next_chunk().unwrap().unwrap();
        let record = chunk.record().unwrap();
        view(&locate(record.link, record.data, record.original).unwrap())
    }

    fn any_packet() -> impl Strategy<Value = Packet> {
        let flags = (0u8..32).prop_map(|bits| bits & !flags::LABELLED);
        (0u8..64, 0u8..4, any::<u32>(), any::<u32>(), flags, 0u16..9_000).prop_map(
            |(dscp, ecn, seq_end, ack, flags, payload)| {
                let dscp = Dscp::new(dscp).unwrap();
                let ecn = Ecn::from_bits(ecn);
                Packet { dscp, colour: dscp.colour(), ecn, seq_end, ack, flags, payload, ..Packet::default() }
            },
        )
    }

    proptest! {
        /// A simulated packet looks the same to an algorithm when it is read from a capture.
        #[test]
        fn a_segment_keeps_its_looks(packet in any_packet()) {
            prop_assert_eq!(through_a_capture(40 + u32::from(packet.payload), &packet, 6), packet);
        }

        #[test]
        fn a_datagram_keeps_its_looks(packet in any_packet()) {
            let datagram = Packet { seq_end: 0, ack: 0, flags: 0, ..packet };
            prop_assert_eq!(through_a_capture(28 + u32::from(packet.payload), &datagram, 17), datagram);
        }
    }
}
