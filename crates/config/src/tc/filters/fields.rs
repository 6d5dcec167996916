//! Fields of headers by their offset and mask, as keys of perhop's match.

use super::{Protocol, Rule};
use perhop_core::classify::{Match, Prefix, Protocol as Number};
use perhop_core::dscp::Dscp;
use perhop_core::packet::Ecn;
use std::net::{Ipv4Addr, Ipv6Addr};

/// The most ports that one masked field names.
const MOST_PORTS: u32 = 256;
/// Bytes of an IPv4 header without options, and of an IPv6 header.
const HEADERS: [i32; 2] = [20, 40];

/// Bytes of a header with the bits that count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Field {
    value: u32,
    mask: u32,
    /// Of the word of four bytes.
    at: i32,
    /// From the header behind IP's.
    next: bool,
}

impl Field {
    /// `bits` wide, at a byte; `None` if it does not fit.
    pub(super) fn new([value, mask]: [u64; 2], bits: u32, at: i32, next: bool) -> Option<Self> {
        let (within, bytes) = (at.rem_euclid(4), i32::try_from(bits / 8).ok()?);
        let left = 8 * u32::try_from(4 - within - bytes).ok()?;
        if bits < 64 && (value >> bits, mask >> bits) != (0, 0) {
            return None;
        }
        let wide = |number: u64| u32::try_from(number).ok().and_then(|it| it.checked_shl(left)).unwrap_or_default();
        let (value, mask) = (wide(value), wide(mask));
        Some(Self { value: value & mask, mask, at: at - within, next })
    }
}

/// All that a filter asks of headers.
#[derive(Clone, Debug, Default)]
pub(super) struct Fields {
    list: Vec<Field>,
}

impl Fields {
    /// One more, of which all must agree.
    pub(super) fn add(&mut self, field: Field) {
        match self.list.iter_mut().find(|it| (it.at, it.next) == (field.at, field.next)) {
            Some(it) => (it.value, it.mask) = (it.value | field.value, it.mask | field.mask),
            None => self.list.push(field),
        }
    }

    /// One more, if it fits.
    pub(super) fn add_all(&mut self, field: Option<Field>) {
        field.into_iter().for_each(|field| self.add(field));
    }

    /// As perhop's match; what it does not ask is lost.
    pub(super) fn into_rule(self, protocol: Protocol, rule: &mut Rule) {
        let mut out = Out { matches: Match::default(), rule, addresses: [[(0, 0); 4]; 2] };
        let six = protocol == Protocol::Ip6;
        self.list.iter().for_each(|field| out.field(*field, six));
        let addresses = out.addresses;
        let mut matches = out.matches;
        for (words, list) in addresses.iter().zip([&mut matches.source, &mut matches.destination]) {
            match prefix(words, six) {
                Some(Some(prefix)) => list.push(prefix),
                Some(None) => {}
                None => rule.lose("an address mask that is no prefix"),
            }
        }
        rule.any.push(matches);
    }
}

struct Out<'r> {
    matches: Match,
    rule: &'r mut Rule,
    /// Of source and destination: value and mask of each word.
    addresses: [[(u32, u32); 4]; 2],
}

impl Out<'_> {
    fn field(&mut self, field: Field, six: bool) {
        let Field { value, mask, at, next } = field;
        if mask == 0 {
            return;
        }
        let header = HEADERS[usize::from(six)];
        match (at, next, six) {
            (0, true, _) => self.ports(value, mask),
            (at, false, _) if at == header => self.ports(value, mask),
            (0, false, false) => self.bytes(value, mask, 0x00ff_0000, 16),
            (0, false, true) => self.bytes(value, mask, 0x0ff0_0000, 20),
            (8, false, false) => self.protocol(value, mask, 0x00ff_0000, 16),
            (4, false, true) => self.protocol(value, mask, 0x0000_ff00, 8),
            (12, false, false) => self.addresses[0][0] = (value, mask),
            (16, false, false) => self.addresses[1][0] = (value, mask),
            (8..=20, false, true) => self.addresses[0][(at / 4 - 2) as usize] = (value, mask),
            (24..=36, false, true) => self.addresses[1][(at / 4 - 6) as usize] = (value, mask),
            _ => self.rule.lose(format!(
                "{mask:08x} at {}{at}: perhop does not match this field",
                if next { "nexthdr+" } else { "" }
            )),
        }
    }

    /// TOS or traffic class; a version of IP in the same word says nothing more, nor does a header without options.
    fn bytes(&mut self, value: u32, mask: u32, whole: u32, shift: u32) {
        let without_options = shift == 16 && value & mask & 0x0f00_0000 == 0x0500_0000;
        let said = if without_options { 0xff00_0000 } else { 0xf000_0000 };
        if mask & !(whole | said) != 0 {
            self.rule.lose("a length or a flow label: perhop does not match it");
        }
        if mask & whole != 0 {
            traffic_class(&mut self.matches, ((value & whole) >> shift) as u8, ((mask & whole) >> shift) as u8);
        }
    }

    fn protocol(&mut self, value: u32, mask: u32, whole: u32, shift: u32) {
        if mask & whole == whole {
            self.matches.protocol = vec![Number(((value & whole) >> shift) as u8)];
        }
        if mask & !whole != 0 || mask & whole != whole {
            self.rule.lose("TTL, checksum or length: perhop does not match it");
        }
    }

    fn ports(&mut self, value: u32, mask: u32) {
        for (shift, list) in [(16, &mut self.matches.source_port), (0, &mut self.matches.destination_port)] {
            let (value, mask) = ((value >> shift) as u16, (mask >> shift) as u16);
            match masked_ports(value, mask) {
                Some(found) => *list = found,
                None => self.rule.lose(format!("ports under the mask {mask:#06x}: more than {MOST_PORTS}")),
            }
        }
    }
}

/// Ports that agree; none: any.
pub(super) fn masked_ports(value: u16, mask: u16) -> Option<Vec<u16>> {
    if mask == 0 {
        return Some(Vec::new());
    }
    if 1 << mask.count_zeros() > MOST_PORTS {
        return None;
    }
    Some((0..=u16::MAX).filter(|port| port & mask == value & mask).collect())
}

/// The octet of code point and ECN under a mask.
pub(super) fn traffic_class(matches: &mut Match, value: u8, mask: u8) {
    if mask & 0xfc != 0 {
        matches.dscp = (0..64).filter(|code| code << 2 & mask == value & mask & 0xfc).filter_map(Dscp::new).collect();
    }
    if mask & 3 != 0 {
        matches.ecn = Ecn::ALL.into_iter().filter(|ecn| *ecn as u8 & mask & 3 == value & mask & 3).collect();
    }
}

/// `Some(None)`: none is asked for; `None`: the mask has gaps.
fn prefix(words: &[(u32, u32); 4], six: bool) -> Option<Option<Prefix>> {
    let join = |pick: fn(&(u32, u32)) -> u32| words.iter().fold(0u128, |all, word| all << 32 | u128::from(pick(word)));
    let (value, mask) = match six {
        true => (join(|it| it.0), join(|it| it.1)),
        false => (u128::from(words[0].0) << 96, u128::from(words[0].1) << 96),
    };
    let length = mask.leading_ones();
    if mask == 0 {
        return Some(None);
    }
    if mask.count_ones() != length {
        return None;
    }
    let address = match six {
        true => Ipv6Addr::from(value & mask).to_string(),
        false => Ipv4Addr::from(((value & mask) >> 96) as u32).to_string(),
    };
    Some(Some(Prefix(format!("{address}/{length}").parse().ok()?)))
}
