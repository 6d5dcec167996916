//! Flows, numbered in order of first appearance.
//!
//! Decision: docs/decisions/079-flows-of-a-capture.md

use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use hashbrown::HashTable;
use perhop_core::classify::FlowHeaders;

use crate::headers::{Fragment, IpHeaders, Ports};
use crate::keys::Keys;

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
    /// That of a packet by itself; a later fragment's has no ports.
    pub fn of(headers: &IpHeaders) -> Self {
        let IpHeaders { source, destination, protocol, ports, .. } = *headers;
        Self { source, destination, protocol, ports }
    }

    /// What classifiers know of it.
    pub fn headers(&self) -> FlowHeaders {
        FlowHeaders {
            protocol: self.protocol,
            source: self.source,
            destination: self.destination,
            source_port: self.ports.map_or(0, |ports| ports.source),
            destination_port: self.ports.map_or(0, |ports| ports.destination),
            traffic: String::new(),
            class: String::new(),
            rtt: None,
        }
    }

    /// The key of the return packets.
    pub fn reversed(&self) -> Self {
        let ports = self.ports.map(|ports| Ports { source: ports.destination, destination: ports.source });
        Self { source: self.destination, destination: self.source, ports, ..*self }
    }
}

/// A flow's protocol and ends.
pub fn flow_name(flow: &FlowKey) -> String {
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

/// What the fragments of a packet share (RFC 791, RFC 8200 section 4.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct PacketKey {
    source: IpAddr,
    destination: IpAddr,
    /// 0 in IPv6, whose later fragments do not say what is behind the extension headers of the first.
    protocol: u8,
    id: u32,
}

/// Fragmented packets remembered at a time; the oldest is forgotten first, so memory stays bounded.
const MAX_FRAGMENTED: usize = 65_536;

/// A [`FlowKey`] in 16 bytes; addresses of IPv6 are kept beside the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Packed {
    /// IPv4: source and destination. IPv6: the place of both among the table's wide addresses, and 0.
    addresses: [u32; 2],
    /// 0 if there are none.
    ports: [u16; 2],
    /// Bits 0 to 7: protocol; then whether there are ports, and whether it is IPv6.
    kind: u32,
}

const WITH_PORTS: u32 = 1 << 8;
const WIDE: u32 = 1 << 9;

/// Source and destination of IPv6.
type Pair = [u128; 2];

impl Packed {
    /// The key, and addresses that do not fit into it.
    fn new(key: &FlowKey) -> (Self, Option<Pair>) {
        let ports = key.ports.map_or([0; 2], |ports| [ports.source, ports.destination]);
        let kind = u32::from(key.protocol) | if key.ports.is_some() { WITH_PORTS } else { 0 };
        match (key.source, key.destination) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => {
                (Self { addresses: [source.to_bits(), destination.to_bits()], ports, kind }, None)
            }
            (source, destination) => {
                (Self { addresses: [0; 2], ports, kind: kind | WIDE }, Some([wide(source), wide(destination)]))
            }
        }
    }

    fn key(self, pairs: &[Pair]) -> FlowKey {
        let [source, destination] = self.addresses;
        let ends: [IpAddr; 2] = match self.kind & WIDE {
            0 => [Ipv4Addr::from_bits(source).into(), Ipv4Addr::from_bits(destination).into()],
            _ => pairs[source as usize].map(|address| Ipv6Addr::from_bits(address).into()),
        };
        let [source, destination] = self.ports;
        let ports = (self.kind & WITH_PORTS != 0).then_some(Ports { source, destination });
        FlowKey { source: ends[0], destination: ends[1], protocol: self.kind as u8, ports }
    }

    /// All of it but the place of wide addresses.
    #[inline]
    fn words(self) -> u128 {
        let [source, destination] = if self.kind & WIDE == 0 { self.addresses } else { [0; 2] };
        let ports = u32::from(self.ports[0]) << 16 | u32::from(self.ports[1]);
        let halves = [source, destination, ports, self.kind].map(u128::from);
        halves[0] << 96 | halves[1] << 64 | halves[2] << 32 | halves[3]
    }

    #[inline]
    fn is(self, other: Self, pair: Option<Pair>, pairs: &[Pair]) -> bool {
        match pair {
            None => self == other,
            Some(pair) => self.words() == other.words() && pairs[self.addresses[0] as usize] == pair,
        }
    }
}

/// An address of a packet of IPv6.
fn wide(address: IpAddr) -> u128 {
    match address {
        IpAddr::V6(address) => address.to_bits(),
        IpAddr::V4(address) => address.to_ipv6_mapped().to_bits(),
    }
}

#[inline(always)]
fn hash(keys: &Keys, (packed, pair): (Packed, Option<Pair>)) -> u64 {
    match pair {
        None => keys.hash(packed.words()),
        Some(pair) => keys.hash((packed.words(), pair[0], pair[1])),
    }
}

/// From packets to flow numbers: 0, 1, 2, ... in order of first appearance, hence the same on every run.
///
/// A later fragment carries no ports: it belongs to the flow of its packet's first fragment if that was seen, else to
/// the flow of its addresses and protocol without ports.
///
/// Memory: 16 bytes for a flow, 32 more if it is IPv6, and 5 for each slot of the hash table, which has 8 to 16 slots
/// for 7 flows.
#[derive(Debug, Clone, Default)]
pub struct FlowTable {
    numbers: HashTable<u32>,
    hashes: Keys,
    flows: Vec<Packed>,
    pairs: Vec<Pair>,
    fragmented: HashMap<PacketKey, Holder>,
    oldest: VecDeque<PacketKey>,
    /// Numbers whose flow was let go, for others.
    free: Vec<u32>,
    /// Places among the wide addresses that are free.
    free_pairs: Vec<u32>,
    /// By number, how often its flow was let go; the numbers behind its end: never.
    let_go: Vec<u32>,
}

/// A flow's number, and how often it had been let go before it was this flow's.
#[derive(Debug, Clone, Copy)]
struct Holder {
    flow: u32,
    let_go: u32,
}

impl FlowTable {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of the flow the packet belongs to, a new one if it is the flow's first packet.
    #[inline]
    pub fn id(&mut self, headers: &IpHeaders) -> u32 {
        match headers.fragment {
            None => self.number(&FlowKey::of(headers)),
            Some(fragment) => self.of_fragment(headers, fragment),
        }
    }

    fn of_fragment(&mut self, headers: &IpHeaders, fragment: Fragment) -> u32 {
        let IpHeaders { source, destination, protocol, .. } = *headers;
        let protocol = if headers.version == 6 { 0 } else { protocol };
        let packet = PacketKey { source, destination, protocol, id: fragment.id };
        if fragment.first {
            let flow = self.number(&FlowKey::of(headers));
            self.remember(packet, flow);
            return flow;
        }
        match self.fragmented.get(&packet) {
            Some(it) if it.let_go == self.let_go(it.flow) => it.flow,
            _ => self.number(&FlowKey::of(headers)),
        }
    }

    /// The number of the return flow of flow `id`, a new one if none of it was seen.
    pub fn mate(&mut self, id: u32) -> u32 {
        self.number(&self.flows[id as usize].key(&self.pairs).reversed())
    }

    /// The number of the return flow of flow `id`, if it has one: nothing is numbered.
    pub fn known_mate(&self, id: u32) -> Option<u32> {
        let of = Packed::new(&self.flows[id as usize].key(&self.pairs).reversed());
        self.find(hash(&self.hashes, of), of)
    }

    /// The flow with number `id`, if there is one.
    pub fn key(&self, id: u32) -> Option<FlowKey> {
        Some(self.flows.get(id as usize)?.key(&self.pairs))
    }

    /// Number of flows; those that were let go count until others have their numbers.
    pub fn len(&self) -> usize {
        self.flows.len()
    }

    /// No packet was seen yet.
    pub fn is_empty(&self) -> bool {
        self.flows.is_empty()
    }

    // Every packet is looked up here; few are of a flow that is new.
    #[inline(always)]
    fn number(&mut self, key: &FlowKey) -> u32 {
        let of = Packed::new(key);
        let hashed = hash(&self.hashes, of);
        self.find(hashed, of).unwrap_or_else(|| self.add(hashed, of))
    }

    #[inline(always)]
    fn find(&self, hashed: u64, (packed, pair): (Packed, Option<Pair>)) -> Option<u32> {
        self.numbers.find(hashed, |&it| self.flows[it as usize].is(packed, pair, &self.pairs)).copied()
    }

    /// A flow that has no number gets one.
    #[cold]
    fn add(&mut self, hashed: u64, (packed, pair): (Packed, Option<Pair>)) -> u32 {
        let Self { numbers, hashes, flows, pairs, .. } = self;
        let number = self.free.pop().unwrap_or(u32::try_from(flows.len()).expect("2^32 flows need 100 GB"));
        numbers.insert_unique(hashed, number, |&it| {
            let it = flows[it as usize];
            hash(hashes, (it, (it.kind & WIDE != 0).then(|| pairs[it.addresses[0] as usize])))
        });
        let packed = Packed { addresses: pair.map_or(packed.addresses, |pair| [self.keep(pair), 0]), ..packed };
        match self.flows.get_mut(number as usize) {
            Some(place) => *place = packed,
            None => self.flows.push(packed),
        }
        number
    }

    /// Where addresses of IPv6 are kept.
    fn keep(&mut self, pair: Pair) -> u32 {
        if let Some(place) = self.free_pairs.pop() {
            self.pairs[place as usize] = pair;
            return place;
        }
        self.pairs.push(pair);
        self.pairs.len() as u32 - 1
    }

    fn let_go(&self, flow: u32) -> u32 {
        self.let_go.get(flow as usize).copied().unwrap_or(0)
    }

    /// Gives a flow's number to the next new flow: for hosts that run for ever. No host may know the number any longer.
    pub fn release(&mut self, flow: u32) {
        let packed = self.flows[flow as usize];
        let pair = (packed.kind & WIDE != 0).then(|| self.pairs[packed.addresses[0] as usize]);
        if let Ok(entry) = self.numbers.find_entry(hash(&self.hashes, (packed, pair)), |&it| it == flow) {
            entry.remove();
            self.free.push(flow);
            self.free_pairs.extend(pair.map(|_| packed.addresses[0]));
            self.let_go.resize(self.let_go.len().max(flow as usize + 1), 0);
            self.let_go[flow as usize] += 1;
        }
    }

    fn remember(&mut self, packet: PacketKey, flow: u32) {
        let holder = Holder { flow, let_go: self.let_go(flow) };
        if self.fragmented.insert(packet, holder).is_none() {
            self.oldest.push_back(packet);
        }
        if self.oldest.len() > MAX_FRAGMENTED
            && let Some(forgotten) = self.oldest.pop_front()
        {
            self.fragmented.remove(&forgotten);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::headers::Fragment;
    use crate::lengths::Lengths;

    fn packet(ports: Option<(u16, u16)>, fragment: Option<(u32, bool)>) -> IpHeaders {
        IpHeaders {
            ip_offset: 0,
            version: 4,
            dscp: 0,
            ecn: 0,
            flow_label: None,
            lengths: Lengths { l3: 100, stated: 100, l4: 80 },
            protocol: 17,
            source: IpAddr::from([10, 0, 0, 1]),
            destination: IpAddr::from([10, 0, 0, 2]),
            fragment: fragment.map(|(id, first)| Fragment { id, first, tiny: false }),
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

    /// 20,000 flows that differ in one field only: slots of the hash table are shared, and it grows.
    #[test]
    fn every_field_tells_flows_apart() {
        let plain = packet(Some((5, 6)), None);
        let six = |host: u16| IpAddr::from([0x2001, 0xdb8, 0, 0, 0, 0, 0, host]);
        let wide = IpHeaders { source: six(0), destination: six(1), ..plain };
        let of = |n: u16| {
            let [high, low] = n.to_be_bytes();
            [
                IpHeaders { source: IpAddr::from([10, 1, high, low]), ..plain },
                IpHeaders { destination: IpAddr::from([10, 1, high, low]), ..plain },
                IpHeaders { ports: Some(Ports { source: n, destination: 6000 }), ..plain },
                IpHeaders { ports: Some(Ports { source: 6000, destination: n }), ..plain },
                IpHeaders { source: six(n + 2), ..wide },
                IpHeaders { destination: six(n + 2), ..wide },
                IpHeaders { ports: Some(Ports { source: n, destination: 6000 }), ..wide },
                IpHeaders { ports: Some(Ports { source: 6000, destination: n }), ..wide },
            ]
        };
        let mut packets: Vec<_> = (0..2500).flat_map(of).collect();
        packets.extend((0..=255).map(|protocol| IpHeaders { protocol, ports: None, ..plain }));
        let mut table = FlowTable::new();
        for _ in 0..2 {
            let numbers: Vec<_> = packets.iter().map(|packet| table.id(packet)).collect();
            assert_eq!(numbers, (0..packets.len() as u32).collect::<Vec<_>>());
        }
        let keys: Vec<_> = packets.iter().map(FlowKey::of).collect();
        assert_eq!((0..table.len() as u32).map(|id| table.key(id).unwrap()).collect::<Vec<_>>(), keys);
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

    /// A number that was let go is another flow's; a late fragment of the old one does not find it.
    #[test]
    fn numbers_are_used_again() {
        let mut table = FlowTable::new();
        let six = |host: u16| IpAddr::from([0x2001, 0xdb8, 0, 0, 0, 0, 0, host]);
        let wide =
            |host| IpHeaders { source: six(host), destination: six(0), ..packet(Some((5, 6)), Some((77, true))) };
        assert_eq!([table.id(&packet(Some((5, 6)), Some((77, true)))), table.id(&wide(1))], [0, 1]);
        table.release(1);
        table.release(0);
        table.release(0);
        assert_eq!([table.id(&wide(2)), table.id(&wide(1)), table.id(&wide(2))], [0, 1, 0]);
        assert_eq!([table.key(0).unwrap().source, table.key(1).unwrap().source], [six(2), six(1)]);
        assert_eq!(table.id(&packet(None, Some((77, false)))), 2, "its packet's flow is not known any longer");
        assert_eq!((table.len(), table.pairs.len()), (3, 2));
        assert_eq!(table.known_mate(0), None);
        assert_eq!((table.mate(0), table.known_mate(0), table.known_mate(3)), (3, Some(3), Some(0)));
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
