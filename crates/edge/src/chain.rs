//! What lies between the IP header and the transport header: IPv6's extension headers (RFC 8200 section 4), and the
//! authentication header of both versions (RFC 4302).
//!
//! They are followed as Linux follows them (`ipv6_skip_exthdr`): in any order and number, hop-by-hop options behind another
//! header included, up to the packet's end. What a later fragment carries is no header.

const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const AUTHENTICATION: u8 = 51;
const DESTINATION: u8 = 60;

/// Where a fragment lies in its packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) id: u32,
    /// In units of 8 bytes.
    pub(crate) offset: u16,
}

impl Part {
    /// `field`: the offset and the flag that says whether more follow; `None`: it is a whole packet (RFC 6946).
    pub(crate) fn of(id: u32, offset: u16, more: bool) -> Option<Self> {
        (more || offset > 0).then_some(Self { id, offset })
    }
}

/// Headers that were followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chain {
    /// What comes behind them; the number of the header itself if it is cut off.
    pub(crate) protocol: u8,
    /// Where that begins, from the IP header's first byte.
    pub(crate) end: usize,
    pub(crate) part: Option<Part>,
    /// Whether a header is cut off, or cuts a fragment into fragments.
    pub(crate) is_cut: bool,
}

impl Chain {
    /// Behind the header of IPv4, which ends at `end`.
    #[inline]
    pub(crate) fn version_4(ip: &[u8], protocol: u8, end: usize, part: Option<Part>) -> Self {
        let plain = Self { protocol, end, part, is_cut: false };
        if protocol != AUTHENTICATION || part.is_some_and(|part| part.offset > 0) {
            return plain;
        }
        plain.behind(ip).unwrap_or(Self { is_cut: true, ..plain })
    }

    /// Behind the 40 bytes of IPv6's header, which says that `next` follows.
    #[inline]
    pub(crate) fn version_6(ip: &[u8], next: u8) -> Self {
        let mut chain = Self { protocol: next, end: 40, part: None, is_cut: false };
        while matches!(chain.protocol, HOP_BY_HOP | ROUTING | FRAGMENT | AUTHENTICATION | DESTINATION) {
            match chain.behind(ip) {
                Some(behind) => chain = behind,
                None => return Self { is_cut: true, ..chain },
            }
            if chain.part.is_some_and(|part| part.offset > 0) {
                break;
            }
        }
        chain
    }

    /// The same with one header more; `None`: it is cut off, or cuts a fragment again.
    fn behind(self, ip: &[u8]) -> Option<Self> {
        let header = ip.get(self.end..)?;
        let &[protocol, units, a, b, ..] = header else { return None };
        let length = match self.protocol {
            FRAGMENT => 8,
            AUTHENTICATION => (usize::from(units) + 2) * 4,
            _ => (usize::from(units) + 1) * 8,
        };
        let header = header.get(..length)?;
        let mut part = self.part;
        if self.protocol == FRAGMENT {
            let place = u16::from_be_bytes([a, b]);
            let inner = Part::of(u32::from_be_bytes(*header.last_chunk()?), place >> 3, place & 1 != 0);
            // fragments of fragments end the chain: no sender needs them
            part = if part.is_some() && inner.is_some() { return None } else { part.or(inner) };
        }
        Some(Self { protocol, end: self.end + length, part, is_cut: false })
    }
}
