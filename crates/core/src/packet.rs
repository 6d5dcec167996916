//! The packet as algorithms see it: 32 bytes, the same in every host.

pub use crate::colour::Colour;
use crate::dscp::Dscp;
use crate::params::Choice;

/// Dense number of a flow (a 5-tuple), given by the host in order of first appearance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId(pub u32);

/// ECN field of the IP header (RFC 3168 section 5).
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Ecn {
    /// Not ECN-capable.
    #[default]
    NotEct = 0,
    /// ECN-capable, ECT(1).
    Ect1 = 1,
    /// ECN-capable, ECT(0).
    Ect0 = 2,
    /// Congestion experienced.
    Ce = 3,
}

impl Ecn {
    /// All values, by their two bits.
    pub const ALL: [Self; 4] = [Self::NotEct, Self::Ect1, Self::Ect0, Self::Ce];

    /// From the two low bits of the TOS octet.
    pub const fn from_bits(bits: u8) -> Self {
        match bits & 3 {
            0 => Self::NotEct,
            1 => Self::Ect1,
            2 => Self::Ect0,
            _ => Self::Ce,
        }
    }

    /// Whether a router may mark instead of drop.
    pub const fn capable(self) -> bool {
        !matches!(self, Self::NotEct)
    }
}

/// Bits of [`Packet::flags`].
pub mod flags {
    /// A TCP segment with SYN.
    pub const SYN: u8 = 1;
    /// A TCP segment with ACK.
    pub const ACK: u8 = 2;
    /// ECN-echo (RFC 3168).
    pub const ECE: u8 = 4;
    /// Congestion window reduced (RFC 3168).
    pub const CWR: u8 = 8;
    /// A TCP segment with FIN.
    pub const FIN: u8 = 16;
    /// `label` holds a value.
    pub const LABELLED: u8 = 32;
    /// `ack_label` holds a value.
    pub const ACK_LABELLED: u8 = 64;
    /// Accurate ECN (RFC 9768).
    pub const AE: u8 = 128;
}

/// What a conditioner or an AQM may read and write of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Packet {
    /// Bytes that meters count, as the scenario's `accounting` says (IP length by default).
    pub size: u32,
    /// Flow. Aggregate conditioners must not read it.
    pub flow: FlowId,
    /// Label written at the ingress: arrival rate of the flow in bytes/s, or tickets. One writer on a path.
    pub label: f32,
    /// Label of an ACK: tickets of the receiver-based scheme of PPS.
    pub ack_label: f32,
    /// TCP sequence number after this segment's last byte, modulo 2^32.
    pub seq_end: u32,
    /// TCP acknowledgement number, modulo 2^32.
    pub ack: u32,
    /// Bytes of transport payload.
    pub payload: u16,
    /// Class (traffic aggregate) given by the host's classifier.
    pub class: u16,
    /// Drop precedence.
    pub colour: Colour,
    /// DiffServ code point.
    pub dscp: Dscp,
    /// ECN field.
    pub ecn: Ecn,
    /// TCP flags and marks, see [`flags`].
    pub flags: u8,
}

/// What the options of a TCP segment say, for a queue that drops redundant ACKs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The number expected next, in the unit of the blocks.
    pub expected: u32,
    /// Start and end of each SACK block (RFC 2018 section 3); those not used are empty.
    pub sacks: [[u32; 2]; 4],
    /// Time stamp and the one that it echoes (RFC 7323 section 3).
    pub stamps: Option<[u32; 2]>,
    /// Whether there are other options than these.
    pub others: bool,
}

impl Options {
    /// The SACK blocks that are used.
    pub fn blocks(&self) -> impl Iterator<Item = [u32; 2]> {
        self.sacks.into_iter().filter(|[start, end]| start != end)
    }
}

impl Packet {
    /// The label, if one was written.
    pub fn label(&self) -> Option<f32> {
        (self.flags & flags::LABELLED != 0).then_some(self.label)
    }

    /// Writes the label.
    pub fn set_label(&mut self, label: f32) {
        self.label = label;
        self.flags |= flags::LABELLED;
    }

    /// The label of an ACK, if one was written.
    pub fn ack_label(&self) -> Option<f32> {
        (self.flags & flags::ACK_LABELLED != 0).then_some(self.ack_label)
    }

    /// Writes the label of an ACK.
    pub fn set_ack_label(&mut self, label: f32) {
        self.ack_label = label;
        self.flags |= flags::ACK_LABELLED;
    }

    /// TCP sequence number of its first byte; SYN and FIN take a number each, as a byte does.
    pub const fn seq_start(&self) -> u32 {
        self.seq_end.wrapping_sub(self.payload as u32 + (self.flags & (flags::SYN | flags::FIN)).count_ones())
    }

    /// Whether it is a TCP segment that will be acknowledged: data, a SYN or a FIN.
    pub const fn is_segment(&self) -> bool {
        self.flags & (flags::SYN | flags::FIN) != 0 || self.payload > 0 && self.flags & flags::ACK != 0
    }

    /// Whether it is a pure ACK: no data, not a datagram.
    pub const fn pure_ack(&self) -> bool {
        self.payload == 0 && self.flags & flags::ACK != 0
    }
}

/// Whether TCP sequence number `a` lies after `b`, modulo 2^32 (RFC 9293 section 3.4).
#[inline]
pub const fn after(a: u32, b: u32) -> bool {
    a != b && a.wrapping_sub(b) < 1 << 31
}

const _: () = assert!(size_of::<Packet>() == 32);
