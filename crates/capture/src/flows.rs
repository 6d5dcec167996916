//! Flows of a capture, numbered in order of first appearance.

use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, SocketAddr};

use crate::headers::{IpHeaders, Ports};

/// What the packets of a flow share. The two directions of a connection are two flows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowKey {
    /// Source address.
    pub source: IpAddr,
    /// Destination address.
    pub destination: IpAddr,
    /// Transport protocol number.
    pub protocol: u8,
    /// Ports; `None` for protocols without ports, and for packets whose ports are unknown.
    pub ports: Option<Ports>,
}

impl FlowKey {
    /// The key of the return packets.
    pub fn reversed(&self) -> Self {
        let ports = self.ports.map(|ports| Ports { source: ports.destination, destination: ports.source });
        Self { source: self.destination, destination: self.source, ports, ..*self }
    }
}

/// A flow's protocol and ends.
pub(crate) fn flow_name(flow: &FlowKey) -> String {
    let protocol = match flow.protocol {
        1 => "icmp".into(),
        6 => "tcp".into(),
        17 => "udp".into(),
        58 => "icmpv6".into(),
        other => format!("protocol {other}"),
    };
    let end = |address: IpAddr, port: Option<u16>| match port {
        Some(port) => SocketAddr::new(address, port).to_string(),
        None => address.to_string(),
    };
    let ports = flow.ports;
    let source = end(flow.source, ports.map(|ports| ports.source));
    format!("{protocol} {source} > {}", end(flow.destination, ports.map(|ports| ports.destination)))
}

/// A pair of addresses.
pub(crate) fn pair_name(source: IpAddr, destination: IpAddr) -> String {
    format!("{source} > {destination}")
}

/// What the fragments of a packet share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct PacketKey {
    source: IpAddr,
    destination: IpAddr,
    protocol: u8,
    id: u32,
}

/// Fragmented packets remembered at a time; the oldest is forgotten first, so memory stays bounded.
const MAX_FRAGMENTED: usize = 65_536;

/// From packets to flow numbers: 0, 1, 2, ... in order of first appearance, hence the same on every run.
///
/// A later fragment carries no ports: it belongs to the flow of its packet's first fragment if that was seen, else to
/// the flow of its addresses and protocol without ports.
#[derive(Debug, Default)]
pub struct FlowTable {
    ids: HashMap<FlowKey, u32>,
    keys: Vec<FlowKey>,
    fragmented: HashMap<PacketKey, u32>,
    oldest: VecDeque<PacketKey>,
}

impl FlowTable {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of the flow the packet belongs to, a new one if it is the flow's first packet.
    pub fn id(&mut self, headers: &IpHeaders) -> u32 {
        let Some(fragment) = headers.fragment else { return self.number(key(headers)) };
        let IpHeaders { source, destination, protocol, .. } = *headers;
        let packet = PacketKey { source, destination, protocol, id: fragment.id };
        if fragment.first {
            let flow = self.number(key(headers));
            self.remember(packet, flow);
            return flow;
        }
        match self.fragmented.get(&packet) {
            Some(&flow) => flow,
            None => self.number(key(headers)),
        }
    }

    /// The number of the return flow of flow `id`, a new one if none of it was seen.
    pub fn mate(&mut self, id: u32) -> u32 {
        self.number(self.keys[id as usize].reversed())
    }

    /// The flow with number `id`, if there is one.
    pub fn key(&self, id: u32) -> Option<&FlowKey> {
        self.keys.get(id as usize)
    }

    /// All flows in order of their numbers.
    pub fn keys(&self) -> &[FlowKey] {
        &self.keys
    }

    /// Number of flows.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// No packet was seen yet.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    fn number(&mut self, key: FlowKey) -> u32 {
        *self.ids.entry(key).or_insert_with(|| {
            self.keys.push(key);
            u32::try_from(self.keys.len() - 1).expect("2^32 flows need 300 GB")
        })
    }

    fn remember(&mut self, packet: PacketKey, flow: u32) {
        if self.fragmented.insert(packet, flow).is_none() {
            self.oldest.push_back(packet);
        }
        if self.oldest.len() > MAX_FRAGMENTED
            && let Some(forgotten) = self.oldest.pop_front()
        {
            self.fragmented.remove(&forgotten);
        }
    }
}

fn key(headers: &IpHeaders) -> FlowKey {
    let IpHeaders { source, destination, protocol, ports, .. } = *headers;
    FlowKey { source, destination, protocol, ports }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::headers::Fragment;
    use crate::headers::Lengths;

    fn packet(ports: Option<(u16, u16)>, fragment: Option<(u32, bool)>) -> IpHeaders {
        IpHeaders {
            ip_offset: 0,
            version: 4,
            dscp: 0,
            ecn: 0,
            flow_label: None,
            lengths: Lengths { l3: 100, l4: 80 },
            protocol: 17,
            source: IpAddr::from([10, 0, 0, 1]),
            destination: IpAddr::from([10, 0, 0, 2]),
            fragment: fragment.map(|(id, first)| Fragment { id, first }),
            ports: ports.map(|(source, destination)| Ports { source, destination }),
            tcp: None,
        }
    }

    #[test]
    fn directions_are_two_flows_and_numbers_follow_appearance() {
        let mut table = FlowTable::new();
        let there = packet(Some((5, 6)), None);
        let back = IpHeaders { source: there.destination, destination: there.source, ..packet(Some((6, 5)), None) };
        let other = IpHeaders { protocol: 6, ..there };
        assert_eq!([&there, &back, &there, &other, &back].map(|p| table.id(p)), [0, 1, 0, 2, 1]);
        assert_eq!(table.len(), 3);
        assert_eq!(table.key(1).unwrap().source, there.destination);
        assert_eq!(table.key(3), None);
        assert_eq!([0, 1, 2, 3].map(|id| table.mate(id)), [1, 0, 3, 2], "one that was not seen gets a number");
        assert_eq!(table.len(), 4);
    }

    #[test]
    fn fragments_follow_their_first_one() {
        let mut table = FlowTable::new();
        let plain = packet(Some((5, 6)), None);
        let first = packet(Some((5, 6)), Some((77, true)));
        let later = packet(None, Some((77, false)));
        let orphan = packet(None, Some((78, false)));
        assert_eq!([&plain, &first, &later, &orphan, &orphan].map(|p| table.id(p)), [0, 0, 0, 1, 1]);
        assert_eq!(table.key(1).unwrap().ports, None);
        // the id comes back with another packet
        let reused = packet(Some((9, 6)), Some((77, true)));
        assert_eq!([&reused, &later].map(|p| table.id(p)), [2, 2]);
    }

    #[test]
    fn forgets_the_oldest_fragmented_packet() {
        let mut table = FlowTable::new();
        for id in 0..=MAX_FRAGMENTED as u32 {
            table.id(&packet(Some((5, 6)), Some((id, true))));
        }
        assert_eq!(table.fragmented.len(), MAX_FRAGMENTED);
        assert_eq!(table.oldest.len(), MAX_FRAGMENTED);
        assert_eq!(table.id(&packet(None, Some((1, false)))), 0, "still known");
        assert_eq!(table.id(&packet(None, Some((0, false)))), 1, "forgotten: the flow without ports");
    }
}
