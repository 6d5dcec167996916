//! Flows: their two ends and their packets.

use super::connection::{Connection, End};
use crate::net::{Record, Stamp};
use crate::plan::Offered;
use crate::record::{Arrivals, FlowCounts, OneWay};
use crate::transport::{AckInfo, Received, Sacks, Segment, stamp};
use perhop_core::conditioner::SenderTruth;
use perhop_core::dscp::Dscp;
use perhop_core::packet::{Colour, Ecn, Packet, flags};
use perhop_core::units::{Span, Time};

/// A flow and its two ends.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Index of its `[traffic]` table.
    pub table: u32,
    /// Class of its packets.
    pub class: u16,
    /// Index of its source.
    pub source: u32,
    /// Which of its table's routes it takes.
    pub way: u32,
    /// Where its routes begin in the table of hops: out and back.
    pub routes: [u32; 2],
    /// Code point of its packets when they leave the host.
    pub dscp: Dscp,
    /// Which the code point implies, as it does to any node that reads it from the wire.
    colour: Colour,
    /// ECN field of its datagrams.
    pub ecn: Ecn,
    /// ECN field of TCP's data where ECN is agreed on.
    ect: Ecn,
    /// TCP's two ends.
    pub tcp: Option<Connection>,
    /// Packets of it in the network, both ways.
    pub in_network: u32,
    /// Counts since the start.
    pub counts: FlowCounts,
    /// One-way delays of its packets since the end of the warm-up, and differences of those of successive packets (RFC 3393).
    pub arrivals: Arrivals,
    last_delay: Option<Span>,
}

/// Where a flow belongs.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Index of its `[traffic]` table.
    pub table: u32,
    /// Index of its source.
    pub source: u32,
    /// Which of its table's routes it takes.
    pub way: u32,
    /// Where its routes begin in the table of hops: out and back.
    pub routes: [u32; 2],
}

impl Flow {
    /// A flow of the table `offered` that has sent nothing.
    pub fn new(offered: &Offered, place: Place) -> Self {
        let ect = if offered.sockets.ecn.l4s { Ecn::Ect1 } else { Ecn::Ect0 };
        Self {
            table: place.table,
            class: offered.class,
            source: place.source,
            way: place.way,
            routes: place.routes,
            dscp: offered.dscp,
            colour: offered.dscp.colour(),
            ecn: if offered.sockets.ecn.datagrams { ect } else { Ecn::NotEct },
            ect,
            tcp: None,
            in_network: 0,
            counts: FlowCounts::default(),
            arrivals: Arrivals::default(),
            last_delay: None,
        }
    }

    /// Its slot is given to another connection.
    pub fn renew(&mut self) {
        self.last_delay = None;
    }

    /// A datagram of `wire` bytes.
    pub fn datagram(&self, now: Time, wire: u32) -> Record {
        let packet = Packet { payload: wire.saturating_sub(28) as u16, ecn: self.ecn, ..self.blank() };
        let wire = u16::try_from(wire).expect("an IP packet is at most 65,535 bytes");
        Record { packet, sent: Stamp::at(now), hop: self.routes[0], wire, ..Record::default() }
    }

    /// A datagram of a transport, in either direction; ECN-capable only where that is asked for.
    pub fn carried(&self, now: Time, end: End, ecn: Ecn) -> Record {
        let ecn = if self.ecn.capable() { ecn } else { Ecn::NotEct };
        Record {
            packet: Packet { ecn, ..self.blank() },
            sent: Stamp::at(now),
            hop: self.routes[end as usize],
            ..Record::default()
        }
    }

    #[inline]
    fn blank(&self) -> Packet {
        Packet { class: self.class, dscp: self.dscp, colour: self.colour, ..Packet::default() }
    }

    /// An outgoing segment.
    #[inline]
    pub fn segment(&self, now: Time, segment: &Segment) -> Record {
        let tcp = self.tcp.as_ref().expect("a segment has a connection");
        let first = segment.number.saturating_sub(1).wrapping_mul(u32::from(tcp.mss));
        let packet = Packet {
            payload: segment.payload,
            seq_end: first.wrapping_add(1 + u32::from(segment.payload)),
            // the receiver has sent its SYN-ACK, and no data
            ack: u32::from(!segment.syn),
            ecn: if segment.ect { self.ect } else { Ecn::NotEct },
            flags: segment_flags(segment) | if segment.syn && tcp.receiver.is_accurate() { flags::AE } else { 0 },
            ..self.blank()
        };
        let wire = tcp.header + segment.payload + if segment.syn { tcp.sender.handshake_options() } else { 0 };
        let sacks = Sacks::echo(tcp.stamp);
        let (sent, hop, number) = (Stamp::at(now), self.routes[0], segment.number);
        Record { packet, sent, hop, number, wire, window: segment.push.into(), sacks }
    }

    /// A returning ACK.
    #[inline]
    pub fn ack(&self, now: Time, ack: &AckInfo) -> Record {
        let tcp = self.tcp.as_ref().expect("an ACK has a connection");
        let packet = Packet {
            ack: ack.next_expected.saturating_sub(1).wrapping_mul(u32::from(tcp.mss)).wrapping_add(1),
            seq_end: 1,
            ecn: if tcp.receiver.sends_ect() { self.ect } else { Ecn::NotEct },
            flags: flags::ACK | if ack.syn { flags::SYN } else { 0 } | ace_flags(ack.ace | u8::from(ack.ece)),
            ..self.blank()
        };
        let (sent, hop, number) = (Stamp::answering(now, ack), self.routes[1], ack.next_expected);
        let wire = tcp.header + if ack.syn { tcp.sender.handshake_options() } else { ack.sacks.wire() as u16 };
        Record { packet, sent, hop, number, wire, window: ack.window, sacks: ack.sacks }
    }

    /// Counts a packet that has arrived at the destination.
    #[inline]
    pub fn arrived(&mut self, now: Time, record: &Record) {
        self.counts.delivered.add(record.packet.size);
        let delay = now.since(record.sent.time());
        let jitter = self.last_delay.replace(delay).map(|last| Span::from_ns(last.ns().abs_diff(delay.ns())));
        self.arrivals.add(&record.packet, OneWay { delay, jitter });
    }

    /// What the simulator knows of its sender and the wire does not carry.
    pub fn truth(&self) -> Option<SenderTruth> {
        let sender = &self.tcp.as_ref()?.sender;
        Some(SenderTruth { srtt: sender.srtt()?, rto: sender.rto(), cwnd: sender.cwnd() })
    }
}

/// TCP flags of a segment; an ECN-setup SYN has both ECE and CWR (RFC 3168 section 6.1.1).
fn segment_flags(segment: &Segment) -> u8 {
    match (segment.syn, segment.cwr) {
        (true, true) => flags::SYN | flags::ECE | flags::CWR,
        (true, false) => flags::SYN,
        (false, true) => flags::ACK | flags::CWR,
        (false, false) => flags::ACK,
    }
}

/// The flags of an ACK that tell of marks: AE, CWR, ECE from bit 2 down to bit 0.
#[inline]
fn ace_flags(ace: u8) -> u8 {
    if ace == 0 {
        return 0;
    }
    [(4, flags::AE), (2, flags::CWR), (1, flags::ECE)]
        .iter()
        .filter(|(bit, _)| ace & bit > 0)
        .fold(0, |all, it| all | it.1)
}

/// The same back again.
#[inline]
fn ace(packet: &Packet) -> u8 {
    let bit = |flag| u8::from(packet.flags & flag != 0);
    bit(flags::AE) << 2 | bit(flags::CWR) << 1 | bit(flags::ECE)
}

/// A delivered segment as its receiver takes it.
#[inline]
pub fn received(record: &Record) -> Received {
    Received {
        number: record.number,
        payload: record.packet.payload,
        syn: record.packet.flags & flags::SYN != 0,
        cwr: record.packet.flags & flags::CWR != 0,
        push: record.window > 0,
        ce: record.packet.ecn == Ecn::Ce,
        stamp: stamp(record.sent.time()),
    }
}

/// A delivered ACK as its sender takes it.
#[inline]
pub fn acknowledged(record: &Record) -> AckInfo {
    AckInfo {
        next_expected: record.number,
        stamp: 0,
        ece: record.packet.flags & flags::ECE != 0,
        ace: ace(&record.packet),
        syn: record.packet.flags & flags::SYN != 0,
        sacks: record.sacks,
        echo: record.sent.of_ack().1,
        window: record.window,
    }
}
