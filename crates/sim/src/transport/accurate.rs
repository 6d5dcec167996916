//! Accurate ECN feedback: a receiver counts its marks, each ACK carries the count, and its sender takes the difference.
//!
//! Source: RFC 9768 sections 3.1.2, 3.2.2 and 3.2.3, appendices A.1 and A.2.
//!
//! ```text
//! receiver: a marked packet: r.cep = r.cep + 1, r.ceb = r.ceb + its data bytes
//!           each ACK: ACE = r.cep mod 8 in three flags of the header (AE, CWR, ECE); ECEB = r.ceb mod 2^24 in an option
//!           at once, if a marked segment follows one without a mark, or two are marked since the last ACK
//! sender:   N = newly acknowledged segments; nothing is read where it is 0
//!           d = (ACE - s.cep) mod 8,  D = N - (N - d) mod 8, the most marks that are possible;  d itself if above N
//!           D > d and b = (ECEB - s.ceb) mod 2^24 with b <= MSS d and b / D < MSS / 2:  D = d
//!           s.cep = s.cep + D, s.ceb = s.ceb + b;  D segments were marked
//! ```
//!
//! The counters begin at r.cep = s.cep = 5 and r.ceb = s.ceb = 0. The SYN has all three flags; the SYN-ACK says
//! 010, or 110 if the SYN was marked (which counts). To a SYN-ACK of 001 the sender continues as RFC 3168 has it.
//!
//! The option takes 8 bytes of each ACK, so that there is room for two SACK blocks instead of three.
//!
//! Deviations: one key says for both hosts whether they can do this. The counters of ECT(0) and ECT(1), which tell of
//! broken paths, are left out, and with them what the SYN-ACK says of an ECT SYN. Data flow one way: what the sender's own
//! ACE field would say is not sent.
//!
//! Decision: docs/decisions/046-feedback-of-marks.md

use super::Received;

/// Where both counts of marked packets begin.
const FIRST: u32 = 5;
/// What the ACE field can count to.
const DIV_ACE: u32 = 8;
/// What a counter of the option can count to.
const DIV_OPTION: u32 = 1 << 24;
/// Marked segments that are acknowledged at once, while data wait for their ACK.
const AT_ONCE: u32 = 2;
/// A segment may be so many times smaller than a full one.
const SAFETY_FACTOR: u32 = 2;
/// The SYN-ACK to a SYN without a mark, and with one.
const UNMARKED_SYN: u8 = 0b010;
const MARKED_SYN: u8 = 0b110;

/// A receiver's counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counts {
    packets: u32,
    bytes: u32,
    since_ack: u32,
    last_marked: bool,
    syn_marked: bool,
}

impl Default for Counts {
    fn default() -> Self {
        Self { packets: FIRST, bytes: 0, since_ack: 0, last_marked: false, syn_marked: false }
    }
}

impl Counts {
    /// The SYN has arrived.
    pub(super) fn open(&mut self, marked: bool) {
        self.syn_marked = marked;
        self.packets = FIRST + u32::from(marked);
    }

    /// A segment has arrived; whether it is acknowledged at once.
    pub(super) fn hear(&mut self, segment: &Received) -> bool {
        let begins = segment.ce && !std::mem::replace(&mut self.last_marked, segment.ce);
        if segment.ce {
            self.packets = self.packets.wrapping_add(1);
            self.bytes = (self.bytes + u32::from(segment.payload)) % DIV_OPTION;
            self.since_ack += 1;
        }
        begins || self.since_ack >= AT_ONCE
    }

    /// An ACK was sent.
    pub(super) fn told(&mut self) {
        self.since_ack = 0;
    }

    /// The flags AE, CWR, ECE of an ACK.
    pub(super) fn ace(&self, syn: bool) -> u8 {
        match (syn, self.syn_marked) {
            (false, _) => (self.packets % DIV_ACE) as u8,
            (true, false) => UNMARKED_SYN,
            (true, true) => MARKED_SYN,
        }
    }

    /// ECEB.
    pub(super) fn bytes(&self) -> u32 {
        self.bytes
    }
}

/// What the SYN-ACK has agreed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Agreed {
    Nothing,
    Rfc3168,
    Accurate { marked_syn: bool },
}

impl Agreed {
    /// Of the flags of an answer to a SYN with all three.
    pub(super) fn by(ace: u8) -> Self {
        match ace {
            0b000 | 0b111 => Self::Nothing,
            0b001 | 0b101 => Self::Rfc3168,
            _ => Self::Accurate { marked_syn: ace == MARKED_SYN },
        }
    }
}

/// What an ACK says.
#[derive(Clone, Copy, Debug)]
pub struct AceReport {
    /// The flags AE, CWR, ECE.
    pub ace: u8,
    /// ECEB, if the ACK has the option.
    pub bytes: Option<u32>,
    /// Segments that it newly acknowledges.
    pub newly: u32,
}

/// A sender's counts.
#[derive(Clone, Copy, Debug)]
pub struct Decoder {
    packets: u32,
    bytes: u32,
    mss: u32,
}

impl Decoder {
    /// Of a connection with full segments of `mss` bytes.
    pub fn new(mss: u16, marked_syn: bool) -> Self {
        Self { packets: FIRST + u32::from(marked_syn), bytes: 0, mss: mss.into() }
    }

    /// How many segments were marked, taking the safest likely case.
    pub fn marked(&mut self, told: AceReport) -> u32 {
        if told.newly == 0 {
            return 0;
        }
        let least = (u32::from(told.ace) + DIV_ACE - self.packets % DIV_ACE) % DIV_ACE;
        let most = told.newly.checked_sub(least).map_or(least, |rest| told.newly - rest % DIV_ACE);
        let bytes = told.bytes.map(|bytes| (bytes + DIV_OPTION - self.bytes) % DIV_OPTION);
        let enough = bytes.is_some_and(|bytes| bytes <= self.mss * least && SAFETY_FACTOR * bytes < self.mss * most);
        let marked = if most > least && enough { least } else { most };
        self.packets = self.packets.wrapping_add(marked);
        self.bytes = told.bytes.unwrap_or(self.bytes);
        marked
    }
}
