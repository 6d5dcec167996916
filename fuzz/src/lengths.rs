//! What is charged for a frame, beside a reading of its bytes that shares no code with the edge: IEEE 802.3, 802.1Q, RFC 791 and
//! RFC 8200 by hand.

use perhop_core::accounting::Accounting;
use perhop_core::units::Span;
use perhop_edge::{Arriving, Clock, Direction, FlowTable, Host, LinkType, Observer, Passed, Policy, Unread, locate};

/// Bytes that `l3`, `l2`, `l2+fcs` and `l1` add to an IP packet in an Ethernet frame without tags.
const OVERHEADS: [u32; 4] = [0, 14, 18, 38];

/// Between two frames.
const STEP_NS: u64 = 10_000;

/// A frame as a capture or an interface hands it over.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// What it begins with: 1, 101, 113 or 276.
    pub link: u16,
    /// Those of its bytes that are here.
    pub bytes: &'a [u8],
    /// Bytes that it had.
    pub original: u32,
}

/// Why a frame is not charged, or how what is charged comes about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// No IP header that can be read.
    Unread,
    /// Its IP header states more than it has.
    Truncated,
    /// Stated and there.
    Exact,
    /// Less is stated, for the frame is padded.
    Padded,
    /// Less is stated, for a trailer of at most 4 bytes is behind the packet.
    Trailer,
    /// Less is stated, for no good reason: the frame is charged.
    Frame,
    /// Nothing is stated.
    Zero,
}

/// A frame read by hand.
#[derive(Clone, Copy, Debug)]
struct Reading {
    kind: Kind,
    /// Bytes of the link header, of the frame behind it, and of it what is not charged.
    link: u32,
    behind: u32,
    allowed: u32,
    /// Bytes of the stated packet.
    stated: u32,
}

const UNREAD: Reading = Reading { kind: Kind::Unread, link: 0, behind: 0, allowed: 0, stated: 0 };

fn short(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from(*bytes.get(at)?) << 8 | u16::from(*bytes.get(at + 1)?))
}

/// Where IP begins and its version, if the link header tells: the type at `at` and what is behind it, through at most 8 tags, and
/// the one in a cooked header.
fn behind_types(bytes: &[u8], mut at: usize, mut next: usize) -> Option<(usize, u8)> {
    let most = if at + 2 == next && at == 12 { 8 } else { 9 };
    for tags in 0.. {
        match short(bytes, at)? {
            0x8100 | 0x88a8 | 0x9100 if tags < most => (at, next) = (next + 2, next + 4),
            0x0800 => return Some((next, 4)),
            0x86dd => return Some((next, 6)),
            _ => return None,
        }
    }
    None
}

/// Whether the frame may be padded: an Ethernet frame of at most 60 bytes, 4 more for each tag; other links had its payload.
fn is_least(link: u16, start: u32, behind: u32) -> bool {
    let tags = (start.saturating_sub(14)) / 4;
    if link == 1 { start + behind <= 60 + 4 * tags } else { behind <= 46 }
}

fn reading(frame: &Frame<'_>) -> Reading {
    let Frame { link, bytes, original } = *frame;
    // of cooked frames these are hardware types without EtherTypes
    let plain = |at| short(bytes, at).is_some_and(|kind| ![770, 801, 802, 803, 824].contains(&kind));
    let found = match link {
        1 => behind_types(bytes, 12, 14),
        113 if plain(2) => behind_types(bytes, 14, 16),
        276 if plain(8) => behind_types(bytes, 0, 20),
        101 => bytes.first().map(|first| (0, first >> 4)),
        _ => None,
    };
    let Some((start, version)) = found else { return UNREAD };
    let ip = &bytes[start.min(bytes.len())..];
    if ip.first().is_none_or(|first| first >> 4 != version) {
        return UNREAD;
    }
    let behind = original.max(bytes.len() as u32) - start as u32;
    let (header, stated) = match version {
        4 => (u32::from(ip[0] & 15) * 4, short(ip, 2).map(u32::from)),
        6 => (
            40,
            short(ip, 4)
                .map(|payload| if payload == 0 && ip.get(6) != Some(&59) { 0 } else { 40 + u32::from(payload) }),
        ),
        _ => return UNREAD,
    };
    let (Some(stated), true) = (stated, header >= 20 && ip.len() >= header as usize) else { return UNREAD };
    let of = |kind, allowed, stated| Reading { kind, link: start as u32, behind, allowed, stated };
    match stated {
        0 => of(Kind::Zero, 0, behind),
        _ if stated > behind => of(Kind::Truncated, 0, stated),
        _ if stated < header => UNREAD,
        _ if stated == behind => of(Kind::Exact, 0, stated),
        _ if is_least(link, start as u32, behind) => of(Kind::Padded, behind - stated, stated),
        // raw IP cut out of Ethernet, whose lengths are those of before
        _ if link == 101 && behind - stated == 14 => of(Kind::Trailer, 14, stated),
        _ if behind - stated <= 4 => of(Kind::Trailer, behind - stated, stated),
        _ => of(Kind::Frame, 0, stated),
    }
}

/// The size of the packet that came last.
#[derive(Debug, Default)]
struct Charged(u32);

impl Observer for Charged {
    fn passed(&mut self, it: &Passed<'_>, _: &mut FlowTable) {
        self.0 = it.came.size;
    }
}

/// A host for each accounting.
#[derive(Debug)]
pub struct Charging {
    hosts: [Host; 4],
    clock: Clock,
    frames: u64,
}

impl Default for Charging {
    fn default() -> Self {
        let policy = |accounting| Policy {
            accounting,
            flow_timeout: Some(Span::from_s(1)),
            most_flows: Some(64),
            ..Policy::default()
        };
        let accountings = [Accounting::L3, Accounting::L2, Accounting::L2Fcs, Accounting::L1];
        let hosts = accountings.map(|accounting| Host::new(policy(accounting)).expect("no conditioners"));
        Self { hosts, clock: Clock::new(0), frames: 0 }
    }
}

impl Charging {
    /// Four bytes choose link type and length on the wire; then the frame.
    pub fn input(&mut self, data: &[u8]) {
        let Some((&[link, a, b, c], bytes)) = data.split_first_chunk() else { return };
        let link = [1, 101, 113, 276][usize::from(link % 4)];
        let original = bytes.len() as u32 + u32::from_le_bytes([a, b, c, 0]).saturating_sub(1 << 23);
        self.charge(&Frame { link, bytes, original });
    }

    /// What is charged for a frame is what the rule says; how that comes about.
    pub fn charge(&mut self, frame: &Frame<'_>) -> Kind {
        let Frame { link, bytes, original } = *frame;
        let (wanted, found) = (reading(frame), locate(LinkType(link), bytes, original));
        let headers = match (wanted.kind, found) {
            (Kind::Truncated, found) => {
                assert_eq!(found, Err(Unread::Truncated), "{frame:02x?}");
                return wanted.kind;
            }
            (Kind::Unread, found) => {
                assert!(!matches!(found, Ok(_) | Err(Unread::Truncated)), "{frame:02x?}: {found:?}");
                return wanted.kind;
            }
            (_, found) => found.unwrap_or_else(|why| panic!("{frame:02x?}: {why}")),
        };
        let least = wanted.behind - wanted.allowed;
        let lengths = headers.lengths;
        assert_eq!(headers.ip_offset as u32, wanted.link, "{frame:02x?}");
        assert!((least..=wanted.behind).contains(&lengths.l3), "{frame:02x?}: {lengths:?}");
        assert_eq!((lengths.l3, lengths.stated), (least, wanted.stated), "{frame:02x?}");
        assert!(lengths.l4 < lengths.stated, "{frame:02x?}: {lengths:?}");
        if let Some(tcp) = headers.tcp {
            assert!(u32::from(tcp.header_length) + tcp.payload <= lengths.l4, "{frame:02x?}: {tcp:?}");
        }
        self.frames += 1;
        let (at, mut charged) = (self.clock.at(self.frames * STEP_NS), Charged::default());
        let (number, link, direction) = (self.frames, LinkType(link), Direction::Forward);
        let which = (self.frames % 4) as usize;
        let arriving = Arriving { number, at, direction, link, headers: &headers };
        self.hosts[which].arrive(&arriving, &mut charged).expect("nothing drops it");
        let tags = if which > 0 && link == LinkType::ETHERNET { wanted.link - 14 } else { 0 };
        assert_eq!(charged.0, least + OVERHEADS[which] + tags, "{frame:02x?}");
        wanted.kind
    }
}
