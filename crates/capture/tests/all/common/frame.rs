//! Random packets of every link type, IP version and snap length.

use etherparse::{IpDscp, IpEcn, IpNumber, Ipv4Header, Ipv4Options, Ipv6FlowLabel, Ipv6Header, TcpHeader, UdpHeader};
use proptest::prelude::*;

#[derive(Debug, Clone)]
pub(crate) enum Frame {
    Ip(IpFrame),
    /// Something else: an ARP packet, or IP version 0 where there is no EtherType.
    Junk(Vec<u8>),
}

#[derive(Debug, Clone)]
pub(crate) struct IpFrame {
    six: bool,
    vlans: Vec<u16>,
    /// IPv4: options in 4-byte words. IPv6: number of destination option headers.
    extra: usize,
    dscp: u8,
    ecn: u8,
    random: u32,
    tcp: bool,
    payload: usize,
    snap: usize,
}

pub(crate) fn frame() -> impl Strategy<Value = Frame> {
    let vlan = prop::sample::select(vec![0x8100u16, 0x88a8, 0x9100]);
    let shape = (any::<bool>(), prop::collection::vec(vlan, 0..4), 0usize..4, any::<bool>());
    let values = (0u8..64, 0u8..4, any::<u32>());
    let lengths = (0usize..40, prop_oneof![Just(10_000usize), 0usize..120]);
    let ip = (shape, values, lengths).prop_map(|((six, vlans, extra, tcp), (dscp, ecn, random), (payload, snap))| {
        Frame::Ip(IpFrame { six, vlans, extra, dscp, ecn, random, tcp, payload, snap })
    });
    prop_oneof![8 => ip, 1 => prop::collection::vec(any::<u8>(), 0..60).prop_map(Frame::Junk)]
}

impl Frame {
    /// The same, captured to its end.
    pub(crate) fn uncut(&self) -> Self {
        match self {
            Frame::Ip(frame) => Frame::Ip(IpFrame { snap: usize::MAX, ..frame.clone() }),
            Frame::Junk(bytes) => Frame::Junk(bytes.clone()),
        }
    }

    /// Captured bytes and original length on a link of type `link`, the DSCP moved by `shift` if the IP header is whole.
    pub(crate) fn build(&self, link: u16, shift: u8) -> (Vec<u8>, u32) {
        match self {
            Frame::Junk(bytes) => {
                let mut data = link_header(link, 0x0806, &[]);
                data.extend([0]);
                data.extend(bytes);
                (data.clone(), data.len() as u32)
            }
            Frame::Ip(frame) => frame.build(link, shift),
        }
    }
}

impl IpFrame {
    fn build(&self, link: u16, shift: u8) -> (Vec<u8>, u32) {
        let six = match link {
            228 => false,
            229 => true,
            _ => self.six,
        };
        let start = link_header(link, if six { 0x86dd } else { 0x0800 }, &self.vlans);
        let header_end = start.len() + if six { 40 } else { 20 + 4 * self.extra };
        let dscp = if self.snap >= header_end { (self.dscp + shift) % 64 } else { self.dscp };
        let mut data = start;
        data.extend(if six { self.ipv6(dscp) } else { self.ipv4(dscp) });
        let original = data.len() as u32;
        data.truncate(self.snap);
        (data, original)
    }

    fn ipv4(&self, dscp: u8) -> Vec<u8> {
        let rest = self.transport();
        let mut header = Ipv4Header::new(rest.len() as u16, 64, self.protocol(), [10, 0, 0, 1], [10, 0, 0, 2]).unwrap();
        header.options = Ipv4Options::try_from(&vec![1u8; 4 * self.extra][..]).unwrap();
        header.total_len += 4 * self.extra as u16;
        header.identification = self.random as u16;
        header.dscp = IpDscp::try_new(dscp).unwrap();
        header.ecn = IpEcn::try_new(self.ecn).unwrap();
        header.header_checksum = header.calc_header_checksum();
        [&header.to_bytes()[..], &rest].concat()
    }

    fn ipv6(&self, dscp: u8) -> Vec<u8> {
        const DESTINATION_OPTIONS: u8 = 60;
        let mut rest = Vec::new();
        for left in (0..self.extra).rev() {
            let next = if left == 0 { self.protocol().0 } else { DESTINATION_OPTIONS };
            rest.extend([next, 0, 1, 4, 0, 0, 0, 0]);
        }
        rest.extend(self.transport());
        let first = if self.extra == 0 { self.protocol() } else { IpNumber(DESTINATION_OPTIONS) };
        let header = Ipv6Header {
            traffic_class: dscp << 2 | self.ecn,
            flow_label: Ipv6FlowLabel::try_new(self.random & 0xf_ffff).unwrap(),
            payload_length: rest.len() as u16,
            next_header: first,
            hop_limit: 64,
            source: [1; 16],
            destination: [2; 16],
        };
        [&header.to_bytes()[..], &rest].concat()
    }

    fn protocol(&self) -> IpNumber {
        if self.tcp { IpNumber::TCP } else { IpNumber::UDP }
    }

    fn transport(&self) -> Vec<u8> {
        let mut bytes = if self.tcp {
            TcpHeader::new(1000, 2000, self.random, 100).to_bytes().to_vec()
        } else {
            UdpHeader { source_port: 1000, destination_port: 2000, length: 8 + self.payload as u16, checksum: 0 }
                .to_bytes()
                .to_vec()
        };
        bytes.extend(vec![0xaa; self.payload]);
        bytes
    }
}

/// Link header up to the first byte of `ether_type`'s payload; VLAN tags where the link has EtherTypes.
fn link_header(link: u16, ether_type: u16, vlans: &[u16]) -> Vec<u8> {
    let first = vlans.first().copied().unwrap_or(ether_type);
    let mut bytes = match link {
        1 => [&[0x02; 12][..], &first.to_be_bytes()].concat(),
        113 => [&[0, 4, 0, 1, 0, 6, 1, 2, 3, 4, 5, 6, 0, 0][..], &first.to_be_bytes()].concat(),
        276 => [&first.to_be_bytes()[..], &[0, 0, 0, 0, 0, 3, 0, 1, 4, 6, 1, 2, 3, 4, 5, 6, 0, 0]].concat(),
        0 | 108 => return loopback(link, ether_type),
        _ => return Vec::new(),
    };
    for place in 0..vlans.len() {
        bytes.extend([0x20, 0x64]);
        bytes.extend(vlans.get(place + 1).copied().unwrap_or(ether_type).to_be_bytes());
    }
    bytes
}

fn loopback(link: u16, ether_type: u16) -> Vec<u8> {
    let family: u32 = match ether_type {
        0x0800 => 2,
        0x86dd => 30,
        _ => 77,
    };
    if link == 108 { family.to_be_bytes().to_vec() } else { family.to_le_bytes().to_vec() }
}
