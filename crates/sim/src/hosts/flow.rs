//! Hosts: what sends into the network and what receives from it, one entry a flow.
//!
//! A flow's packets carry number `2 k` on the way out and `2 k + 1` on the way back (ACKs), where k is
//! the flow's place in the table.

use super::session::Session;
use crate::net::Record;
use crate::record::{Delays, FlowCounts};
use crate::traffic::Page;
use crate::transport::{AckInfo, Received, Receiver, Segment, Sender};
use perhop_core::conditioner::SenderTruth;
use perhop_core::dscp::Dscp;
use perhop_core::packet::{Ecn, FlowId, Packet, flags};
use perhop_core::units::{Span, Time};

/// Which end of a connection a timer or a packet belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The sender: receives ACKs, sends data.
    Sender = 0,
    /// The receiver: receives data, sends ACKs.
    Receiver = 1,
}

/// A TCP connection.
#[derive(Clone, Debug)]
pub struct Connection {
    /// Sends data.
    pub sender: Sender,
    /// Sends ACKs.
    pub receiver: Receiver,
    /// Earliest wake-up that waits for each end; [`Time::MAX`]: none.
    pub armed: [Time; 2],
    /// When the sender's host has done with the ACKs that came; `None`: it has.
    pub busy: Option<Time>,
    /// Data bytes of a full segment.
    pub mss: u16,
    /// Bytes of IP and TCP header.
    pub header: u16,
    /// What it carries in all, while not all of it has arrived.
    pub transfer: Option<Transit>,
    /// The session that it carries.
    pub session: Option<Box<Session>>,
}

/// A transfer, or the request for one, that is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transit {
    /// Its payload.
    pub bytes: u64,
    /// When it was asked for, or when its connection was opened if nobody asked.
    pub opened: Time,
    /// When its first data packet arrived.
    pub first: Option<Time>,
    /// The page it is on.
    pub page: Option<Page>,
    /// It is a request: for so many bytes.
    pub asks_for: Option<u64>,
}

/// A flow and its two ends.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Index of its `[traffic]` table.
    pub table: u16,
    /// Class of its packets.
    pub class: u16,
    /// Index of its source.
    pub source: u32,
    /// Which of its table's ways it takes.
    pub way: u16,
    /// Where its routes begin in the table of hops: out and back.
    pub routes: [u32; 2],
    /// Code point of its packets when they leave the host.
    pub dscp: Dscp,
    /// ECN field of its datagrams.
    pub ecn: Ecn,
    /// TCP's two ends.
    pub tcp: Option<Connection>,
    /// Packets of it in the network, both ways.
    pub in_network: u32,
    /// Counts since the start.
    pub counts: FlowCounts,
    /// One-way delays of its packets since the end of the warm-up.
    pub delays: Delays,
    /// Differences of the one-way delay of successive packets (RFC 3393).
    pub jitters: Delays,
    last_delay: Option<Span>,
}

impl Flow {
    /// A flow that has sent nothing.
    pub fn new(table: u16, source: u32, routes: [u32; 2]) -> Self {
        Self {
            table,
            class: 0,
            source,
            way: 0,
            routes,
            dscp: Dscp::BE,
            ecn: Ecn::NotEct,
            tcp: None,
            in_network: 0,
            counts: FlowCounts::default(),
            delays: Delays::default(),
            jitters: Delays::default(),
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
        Record { packet, sent: now, hop: self.routes[0], wire, ..Record::default() }
    }

    /// A source's AF code point says its colour, as it does to any node that reads it off the wire.
    fn blank(&self) -> Packet {
        Packet { class: self.class, dscp: self.dscp, colour: self.dscp.colour(), ..Packet::default() }
    }

    /// A segment on its way out.
    #[inline]
    pub fn segment(&self, now: Time, segment: &Segment) -> Record {
        let tcp = self.tcp.as_ref().expect("a segment has a connection");
        let first = segment.number.saturating_sub(1).wrapping_mul(u32::from(tcp.mss));
        let packet = Packet {
            payload: segment.payload,
            seq_end: first.wrapping_add(1 + u32::from(segment.payload)),
            // the receiver has sent its SYN-ACK, and no data
            ack: u32::from(!segment.syn),
            ecn: if segment.ect { Ecn::Ect0 } else { Ecn::NotEct },
            flags: segment_flags(segment),
            ..self.blank()
        };
        let wire = u32::from(tcp.header) + u32::from(segment.payload);
        Record { packet, sent: now, hop: self.routes[0], number: segment.number, wire, ..Record::default() }
    }

    /// An ACK on its way back.
    #[inline]
    pub fn ack(&self, now: Time, ack: &AckInfo) -> Record {
        let tcp = self.tcp.as_ref().expect("an ACK has a connection");
        let packet = Packet {
            ack: ack.next_expected.saturating_sub(1).wrapping_mul(u32::from(tcp.mss)).wrapping_add(1),
            seq_end: 1,
            flags: flags::ACK | if ack.syn { flags::SYN } else { 0 } | if ack.ece { flags::ECE } else { 0 },
            ..self.blank()
        };
        let wire = u32::from(tcp.header);
        Record { packet, sent: now, hop: self.routes[1], number: ack.next_expected, wire, ..Record::default() }
    }

    /// Counts a packet that has arrived at the destination; returns its delay and the change of the delay.
    #[inline]
    pub fn arrived(&mut self, now: Time, record: &Record) -> (Span, Option<Span>) {
        self.counts.delivered.add(record.wire);
        let delay = now.since(record.sent);
        let jitter = self.last_delay.replace(delay).map(|last| Span::from_ns(last.ns().abs_diff(delay.ns())));
        self.delays.observe(delay.ns());
        if let Some(jitter) = jitter {
            self.jitters.observe(jitter.ns());
        }
        (delay, jitter)
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

/// A delivered segment as its receiver takes it.
#[inline]
pub fn received(record: &Record) -> Received {
    Received {
        number: record.number,
        payload: record.packet.payload,
        syn: record.packet.flags & flags::SYN != 0,
        cwr: record.packet.flags & flags::CWR != 0,
        ce: record.packet.ecn == Ecn::Ce,
    }
}

/// A delivered ACK as its sender takes it.
#[inline]
pub fn acknowledged(record: &Record) -> AckInfo {
    AckInfo {
        next_expected: record.number,
        ece: record.packet.flags & flags::ECE != 0,
        syn: record.packet.flags & flags::SYN != 0,
    }
}

/// The packet number of a flow's way out.
pub const fn out(flow: usize) -> FlowId {
    FlowId(flow as u32 * 2)
}

/// The packet number of a flow's way back.
pub const fn back(flow: usize) -> FlowId {
    FlowId(flow as u32 * 2 + 1)
}

/// The number of the other way.
pub const fn mate(flow: FlowId) -> FlowId {
    FlowId(flow.0 ^ 1)
}
