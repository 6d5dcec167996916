//! Which packets a class or a conditioner takes, as filters: `flower` for what headers say. A filter has one value of each field,
//! so lists become their combinations.

use super::script::{Line, Port, Script};
use crate::device::headers::{self, Ip, combined, each, may_have_ports};
use perhop_core::classify::{Match, Prefix, Protocol};
use std::collections::BTreeSet;

/// The versions of IP that pass a line: networks of a scenario have IPv4.
const fn versions(line: Line) -> &'static [Ip] {
    match line {
        Line::Virtual => &[Ip::V4],
        Line::Real => &[Ip::V4, Ip::V6],
    }
}

/// Filters of one protocol, which share a priority: no packet is found by two of them with different ends.
pub(super) struct Group {
    /// As `protocol` calls it.
    protocol: &'static str,
    /// `None`: of any protocol.
    pub(super) ip: Option<Ip>,
    filters: Vec<String>,
}

/// The filters that find what agrees; `apart`: each version of IP for itself, whatever agrees.
///
/// # Errors
/// What tc cannot say.
pub(super) fn groups(matches: &Match, port: &Port<'_>, apart: bool) -> Result<Vec<Group>, String> {
    let both = if apart { versions(port.line) } else { &[] };
    if *matches == Match::default() {
        return Ok(anyhow("matchall", both));
    }
    if !matches.conditioner.is_empty() {
        return Ok(passed(matches, port)?.iter().flat_map(|filter| anyhow(filter, both)).collect());
    }
    let of = |ip: &Ip| Ok(Group { protocol: ip.name(), ip: Some(*ip), filters: filters(matches, *ip)? });
    let groups: Result<Vec<_>, String> = versions(port.line).iter().map(of).collect();
    Ok(groups?.into_iter().filter(|group| !group.filters.is_empty()).collect())
}

/// A filter that asks for no header, for each of these versions; for all protocols, if there are none.
fn anyhow(filter: &str, versions: &[Ip]) -> Vec<Group> {
    let group = |ip: Option<Ip>| Group { protocol: ip.map_or("all", Ip::name), ip, filters: vec![filter.to_owned()] };
    if versions.is_empty() { vec![group(None)] } else { versions.iter().map(|ip| group(Some(*ip))).collect() }
}

/// What has passed one of some conditioners, by the bits of its mark. A filter of these has one mask for all at its place.
///
/// # Errors
/// Other fields, which it does not look at.
fn passed(matches: &Match, port: &Port<'_>) -> Result<Vec<String>, String> {
    if *matches != (Match { conditioner: matches.conditioner.clone(), ..Match::default() }) {
        return Err("`conditioner` together with other keys".into());
    }
    let filter = |name: &String| {
        let bit = port.bit(name).ok_or("`conditioner` of more than 32 at a port")?;
        Ok(format!("handle {bit:#x}/{bit:#x} fw"))
    };
    matches.conditioner.iter().map(filter).collect()
}

/// How many filters they are.
pub(super) fn count(groups: &[Group]) -> usize {
    groups.iter().map(|group| group.filters.len()).sum()
}

/// Where filters are, each group tried after those before it.
pub(super) struct Chain<'a> {
    port: &'a Port<'a>,
    at: String,
    tried: usize,
}

impl<'a> Chain<'a> {
    pub(super) fn new(port: &'a Port<'a>, at: &str) -> Self {
        Self { port, at: at.to_owned(), tried: 0 }
    }

    /// What is said next is tried together with the group before it, from which no packet could be found by it.
    pub(super) fn again(&mut self) {
        self.tried -= 1;
    }

    /// What happens to the packets of some groups.
    pub(super) fn say(&mut self, said: &mut Script, groups: &[Group], then: impl Fn(&Group) -> String) {
        for group in groups {
            self.tried += 1;
            for filter in &group.filters {
                let place = format!("{} protocol {} prio {}", self.at, group.protocol, self.tried);
                said.say(self.port.near.tc("filter", &format!("{place} {filter} {}", then(group))));
            }
        }
    }
}

/// None if no packet of this version agrees.
fn filters(matches: &Match, ip: Ip) -> Result<Vec<String>, String> {
    if !matches.traffic.is_empty() {
        return Err("`traffic`, which no header tells: match `destination`, `source` or ports".into());
    }
    if matches.rtt.is_some() {
        return Err("`rtt`, which no header tells".into());
    }
    let fields = [
        protocols(matches, ip),
        addresses("src_ip", &matches.source, ip),
        addresses("dst_ip", &matches.destination, ip),
        each(&matches.source_port, |port| format!("src_port {port}")),
        each(&matches.destination_port, |port| format!("dst_port {port}")),
        traffic_class(matches),
    ];
    let mut found = combined("flower", fields);
    // The kernel takes no filter twice.
    let mut known = BTreeSet::new();
    found.retain(|filter| known.insert(filter.clone()));
    Ok(found)
}

/// Code points, ECN fields, or both: the byte that has them, and the bits of it that are asked for.
fn traffic_class(matches: &Match) -> Option<Vec<String>> {
    let dscp = each(&matches.dscp, |dscp| (dscp.get() << 2, 0xfc)).unwrap_or_else(|| vec![(0, 0)]);
    let ecn = each(&matches.ecn, |ecn| (*ecn as u8, 0x03)).unwrap_or_else(|| vec![(0, 0)]);
    let word = |(a, b): (u8, u8), (c, d): (u8, u8)| format!("ip_tos {:#04x}/{:#04x}", a | c, b | d);
    let stated = !matches.dscp.is_empty() || !matches.ecn.is_empty();
    stated.then(|| dscp.iter().flat_map(|dscp| ecn.iter().map(move |ecn| word(*dscp, *ecn))).collect())
}

fn addresses(key: &str, prefixes: &[Prefix], ip: Ip) -> Option<Vec<String>> {
    let own = prefixes.iter().filter(|it| ip.has(it));
    (!prefixes.is_empty()).then(|| own.map(|it| format!("{key} {}", it.0)).collect())
}

/// `flower` has to know at whose ports it looks.
fn protocols(matches: &Match, ip: Ip) -> Option<Vec<String>> {
    let (stated, of_other) =
        (headers::protocols(matches), if ip == Ip::V4 { Protocol::ICMPV6 } else { Protocol::ICMP });
    let possible = stated.iter().filter(|it| may_have_ports(matches, **it) && **it != of_other);
    (!stated.is_empty()).then(|| possible.map(protocol).collect())
}

/// `flower` reads numbers as hexadecimal.
fn protocol(protocol: &Protocol) -> String {
    match *protocol {
        Protocol::TCP => "ip_proto tcp".into(),
        Protocol::UDP => "ip_proto udp".into(),
        Protocol::ICMP => "ip_proto icmp".into(),
        Protocol::ICMPV6 => "ip_proto icmpv6".into(),
        Protocol(other) => format!("ip_proto {other:#x}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn net(text: &str) -> Prefix {
        Prefix(text.parse().unwrap())
    }

    #[test]
    fn lists_become_combinations() {
        let matches = Match {
            destination: vec![net("10.0.1.0/24"), net("2001:db8::/32")],
            destination_port: vec![80, 443],
            ..Match::default()
        };
        let of = |ip| filters(&matches, ip).unwrap();
        assert_eq!(of(Ip::V4).len(), 4);
        assert_eq!(of(Ip::V4)[3], "flower ip_proto udp dst_ip 10.0.1.0/24 dst_port 443");
        assert_eq!(of(Ip::V6)[0], "flower ip_proto tcp dst_ip 2001:db8::/32 dst_port 80");
    }

    #[test]
    fn a_version_has_only_its_own() {
        let of =
            |matches: &Match| versions(Line::Real).iter().map(|ip| filters(matches, *ip).unwrap()).collect::<Vec<_>>();
        let [icmp, gre] = [Protocol::ICMP, Protocol(47)].map(|it| Match { protocol: vec![it], ..Match::default() });
        assert_eq!(of(&icmp), [vec!["flower ip_proto icmp".to_owned()], Vec::new()]);
        assert_eq!(of(&gre)[1], ["flower ip_proto 0x2f"]);
        let six = Match { source: vec![net("2001:db8::/32")], ..Match::default() };
        assert!(of(&six)[0].is_empty() && of(&six)[1].len() == 1);
        let none = Match { protocol: vec![Protocol::ICMP], source_port: vec![1], ..Match::default() };
        assert!(of(&none).iter().all(Vec::is_empty));
    }

    #[test]
    fn code_points_and_ecn_are_one_byte() {
        use perhop_core::packet::Ecn;
        let ecn = Match { ecn: vec![Ecn::Ect1, Ecn::Ce], ..Match::default() };
        assert_eq!(filters(&ecn, Ip::V4).unwrap(), ["flower ip_tos 0x01/0x03", "flower ip_tos 0x03/0x03"]);
        let both = Match { dscp: vec![perhop_core::dscp::Dscp::new(46).unwrap()], ecn: vec![Ecn::NotEct], ..ecn };
        assert_eq!(filters(&both, Ip::V6).unwrap(), ["flower ip_tos 0xb8/0xff"]);
    }

    #[test]
    fn what_no_header_tells_is_refused() {
        let traffic = Match { traffic: vec!["web".into()], ..Match::default() };
        assert!(filters(&traffic, Ip::V4).unwrap_err().contains("`traffic`"));
    }
}
