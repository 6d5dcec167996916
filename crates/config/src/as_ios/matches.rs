//! Which packets a class takes, as a class map: code points by `match dscp`, addresses, protocols and ports by an access list.

use super::text::{Config, Shelf};
use super::words::dscp;
use super::written::Written;
use crate::device::headers::{self, Ip, combined, each, has_ports};
use perhop_core::classify::{Match, Prefix, Protocol};
use perhop_core::dscp::Dscp;
use std::net::IpAddr;

/// Most code points of a line.
const MOST: usize = 8;
/// Ports in a row from which on a range is shorter.
const RANGE: usize = 3;

/// The class map that takes what agrees with any of these.
///
/// # Errors
/// What no header of IOS tells.
pub(super) fn class_map(config: &mut Config, wanted: &str, any: &[Match], out: &mut Written) -> Result<String, String> {
    let mut ways = Vec::new();
    for matches in any {
        ways.extend(alternatives(config, (wanted, any.len() == 1), matches, out)?);
    }
    let (kind, lines) = match ways.as_slice() {
        [all] => ("class-map match-all", all.clone()),
        several => ("class-map match-any", several.concat()),
    };
    Ok(config.add(Shelf::Class, kind, wanted, lines))
}

/// Lines of which all have to agree, in each of these ways; one line each, unless there is one way.
fn alternatives(
    config: &mut Config,
    (wanted, alone): (&str, bool),
    matches: &Match,
    out: &mut Written,
) -> Result<Vec<Vec<String>>, String> {
    unknown(matches)?;
    if let Some(lines) = marks(matches) {
        return Ok(lines.into_iter().map(|line| vec![line]).collect());
    }
    if let Some(traffic) = matches.traffic.first() {
        out.refuse(format!(
            "`traffic` of class {wanted}: no header tells it: write addresses or ports of `{traffic}` into its access list"
        ));
        let lines = vec![format!("remark traffic {}", super::names::fit(traffic)), "deny ip any any".to_owned()];
        let list = config.add(Shelf::List, "ip access-list extended", wanted, lines);
        return Ok(vec![vec![format!("match access-group name {list}")]]);
    }
    let codes: Vec<_> = code_points(&matches.dscp).into_iter().map(|line| vec![line]).collect();
    if !asks_list(matches) {
        return Ok(if codes.is_empty() { vec![vec!["match any".into()]] } else { codes });
    }
    let apart = alone && codes.len() == 1 && versions(matches).len() == 1;
    let inside: Vec<_> = if apart { Vec::new() } else { matches.dscp.clone() };
    if matches.source.is_empty() && matches.destination.is_empty() {
        out.note(format!("class {wanted} has no address: its access list sees IPv4 only"));
    }
    let mut ways = Vec::new();
    for version in versions(matches) {
        let list = config.add(Shelf::List, kind(version), wanted, entries(matches, version, &inside));
        ways.push(vec![format!("match access-group name {list}")]);
    }
    if apart {
        ways.iter_mut().for_each(|way| way.extend(codes.concat()));
    }
    Ok(ways)
}

/// Fields that no packet of perhop has, with the names of the traffic that stands for them: `cos-5` is what `match cos 5` takes.
const MARKS: [(&str, &str); 6] = [
    ("mpls-exp-", "match mpls experimental topmost"),
    ("cos-", "match cos"),
    ("qos-group-", "match qos-group"),
    ("traffic-class-", "match traffic-class"),
    ("discard-class-", "match discard-class"),
    ("vlan-", "match vlan"),
];

/// The lines of a class of such traffic alone; `None`: it is another class.
fn marks(matches: &Match) -> Option<Vec<String>> {
    if *matches != (Match { traffic: matches.traffic.clone(), ..Match::default() }) {
        return None;
    }
    let mut lines: Vec<(&str, Vec<u16>)> = Vec::new();
    for name in &matches.traffic {
        // `cos-5 TCP` is another traffic with that mark.
        let mark = name.split(' ').next().unwrap_or_default();
        let find = |it: &(&str, &'static str)| Some((it.1, mark.strip_prefix(it.0)?.parse::<u16>().ok()?));
        let (line, number) = MARKS.iter().find_map(find)?;
        match lines.iter_mut().find(|it| it.0 == line) {
            Some((_, numbers)) if numbers.contains(&number) => {}
            Some((_, numbers)) => numbers.push(number),
            None => lines.push((line, vec![number])),
        }
    }
    let line = |(line, numbers): (&str, Vec<u16>)| {
        let numbers: Vec<_> = numbers.iter().map(ToString::to_string).collect();
        format!("{line} {}", numbers.join(" "))
    };
    (!lines.is_empty()).then(|| lines.into_iter().map(line).collect())
}

/// Lines of which any takes these: all of them, whole precedences, and single code points.
fn code_points(codes: &[Dscp]) -> Vec<String> {
    let whole = |precedence: &u8| (0..8).all(|low| codes.iter().any(|code| code.get() == precedence * 8 + low));
    let precedences: Vec<_> = (0..8u8).filter(whole).collect();
    if precedences.len() == 8 {
        return vec!["match any".into()];
    }
    let names: Vec<_> = precedences.iter().map(ToString::to_string).collect();
    let first = (!names.is_empty()).then(|| format!("match precedence {}", names.join(" ")));
    let others: Vec<_> = codes.iter().filter(|code| !precedences.contains(&(code.get() / 8))).copied().collect();
    let line = |codes: &[Dscp]| {
        let names: Vec<_> = codes.iter().copied().map(dscp).collect();
        format!("match dscp {}", names.join(" "))
    };
    first.into_iter().chain(others.chunks(MOST).map(line)).collect()
}

/// # Errors
/// What no class map has.
fn unknown(matches: &Match) -> Result<(), String> {
    let keys = [
        ("rtt", matches.rtt.is_none()),
        ("ecn", matches.ecn.is_empty()),
        ("conditioner", matches.conditioner.is_empty()),
    ];
    match keys.into_iter().find(|key| !key.1) {
        Some((key, _)) => Err(format!("`{key}`, which no class map knows")),
        None if asks_list(matches) && versions(matches).is_empty() => {
            Err("`source` and `destination` of different versions of IP".into())
        }
        None => Ok(()),
    }
}

fn asks_list(matches: &Match) -> bool {
    let fields_of_list = matches.source.len() + matches.destination.len() + matches.protocol.len();
    fields_of_list > 0 || has_ports(matches)
}

const fn kind(list: Ip) -> &'static str {
    match list {
        Ip::V4 => "ip access-list extended",
        Ip::V6 => "ipv6 access-list",
    }
}

/// The versions whose packets can agree: of IPv4 where no address is stated, unless it is ICMPv6.
fn versions(matches: &Match) -> Vec<Ip> {
    let sides = [&matches.source, &matches.destination];
    let has = |ip: &Ip| sides.iter().all(|side| side.is_empty() || side.iter().any(|it| ip.has(it)));
    let stated = sides.iter().any(|side| !side.is_empty());
    let six = matches.protocol == [Protocol::ICMPV6];
    match (stated, six) {
        (true, _) => [Ip::V4, Ip::V6].into_iter().filter(has).collect(),
        (false, true) => vec![Ip::V6],
        (false, false) => vec![Ip::V4],
    }
}

/// Entries of an access list: the combinations of what is stated.
fn entries(matches: &Match, ip: Ip, codes: &[Dscp]) -> Vec<String> {
    let fields = [
        each(headers::protocols(matches), |it| protocol(*it, ip)).or_else(|| Some(vec![ip.name().into()])),
        Some(addresses(&matches.source, ip)),
        ports(&matches.source_port),
        Some(addresses(&matches.destination, ip)),
        ports(&matches.destination_port),
        each(codes, |code| format!("dscp {}", dscp(*code))),
    ];
    combined("permit", fields)
}

fn protocol(protocol: Protocol, ip: Ip) -> String {
    match (protocol, ip) {
        (Protocol::TCP, _) => "tcp".into(),
        (Protocol::UDP, _) => "udp".into(),
        (Protocol::ICMP, Ip::V4) | (Protocol::ICMPV6, Ip::V6) => "icmp".into(),
        (Protocol(number), _) => number.to_string(),
    }
}

fn addresses(prefixes: &[Prefix], ip: Ip) -> Vec<String> {
    if prefixes.is_empty() {
        return vec!["any".into()];
    }
    prefixes.iter().filter(|it| ip.has(it)).map(address).collect()
}

/// IPv4 with the bits that may differ.
fn address(Prefix(net): &Prefix) -> String {
    match (net.addr(), net.hostmask()) {
        _ if net.prefix_len() == net.max_prefix_len() => format!("host {}", net.addr()),
        _ if net.prefix_len() == 0 => "any".into(),
        (IpAddr::V4(address), IpAddr::V4(mask)) => format!("{address} {mask}"),
        _ => net.to_string(),
    }
}

/// `eq 80`, or `range 5000 5010` of ports in a row.
fn ports(ports: &[u16]) -> Option<Vec<String>> {
    let mut sorted = ports.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let runs = sorted.chunk_by(|a, b| a + 1 == *b);
    let word = |run: &[u16]| match run {
        [first, .., last] if run.len() >= RANGE => vec![format!("range {first} {last}")],
        run => run.iter().map(|port| format!("eq {port}")).collect(),
    };
    (!ports.is_empty()).then(|| runs.flat_map(word).collect())
}

/// The code points of packets that agree; `None`: any.
pub(super) fn codes(takes: &[Match]) -> Option<Vec<Dscp>> {
    let each: Vec<_> = takes.iter().map(|it| it.dscp.clone()).collect();
    (!each.is_empty() && each.iter().all(|it| !it.is_empty())).then(|| {
        let mut all = each.concat();
        all.sort_unstable();
        all.dedup();
        all
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn net(text: &str) -> Vec<Prefix> {
        vec![Prefix(text.parse().unwrap())]
    }

    fn lines(matches: &[Match]) -> Vec<String> {
        let mut config = Config::default();
        class_map(&mut config, "X", matches, &mut Written::default()).unwrap_or_else(|error| panic!("{error}"));
        config.lines()
    }

    #[test]
    fn code_points_are_in_lines_of_eight() {
        let code = |n| Dscp::new(n).unwrap();
        let of = |codes: &[u8]| Match { dscp: codes.iter().map(|it| code(*it)).collect(), ..Match::default() };
        assert_eq!(lines(&[of(&[46])]), ["class-map match-all X", " match dscp ef", "!"]);
        let nine = lines(&[of(&[0, 8, 10, 12, 14, 1, 18, 20, 22])]);
        assert_eq!(nine[..2], ["class-map match-any X", " match dscp default cs1 af11 af12 af13 1 af21 af22"]);
        assert_eq!(nine[2], " match dscp af23");
        assert_eq!(lines(&[Match::default()])[1], " match any");
        let all: Vec<u8> = (0..64).collect();
        assert_eq!(lines(&[of(&all)])[1], " match any");
        let some: Vec<u8> = (8..16).chain([46]).chain(24..32).collect();
        assert_eq!(lines(&[of(&some)])[1..3], [" match precedence 1 3", " match dscp ef"]);
    }

    #[test]
    fn addresses_and_ports_are_an_access_list() {
        let web = Match {
            protocol: vec![Protocol::TCP],
            destination: net("10.1.0.0/16"),
            destination_port: vec![443, 80, 5000, 5001, 5002],
            dscp: vec![Dscp::new(18).unwrap()],
            ..Match::default()
        };
        let expected = [
            "ip access-list extended X",
            " permit tcp any 10.1.0.0 0.0.255.255 eq 80",
            " permit tcp any 10.1.0.0 0.0.255.255 eq 443",
            " permit tcp any 10.1.0.0 0.0.255.255 range 5000 5002",
            "!",
            "class-map match-all X",
            " match access-group name X",
            " match dscp af21",
            "!",
        ];
        assert_eq!(lines(&[web]), expected);
    }

    #[test]
    fn versions_of_ip_have_lists_of_their_own() {
        let both = Match {
            source: [net("10.0.0.1/32"), net("2001:db8::/32")].concat(),
            dscp: vec![Dscp::new(46).unwrap()],
            ..Match::default()
        };
        let expected = [
            "ip access-list extended X",
            " permit ip host 10.0.0.1 any dscp ef",
            "!",
            "ipv6 access-list X-2",
            " permit ipv6 2001:db8::/32 any dscp ef",
            "!",
            "class-map match-any X",
            " match access-group name X",
            " match access-group name X-2",
            "!",
        ];
        assert_eq!(lines(&[both]), expected);
    }

    #[test]
    fn traffic_that_is_called_after_a_mark_has_it() {
        let of = |names: &[&str]| Match { traffic: names.iter().map(|&it| it.into()).collect(), ..Match::default() };
        let found = lines(&[of(&["cos-5", "cos-5 TCP", "cos-6"])]);
        assert_eq!(found, ["class-map match-all X", " match cos 5 6", "!"]);
        let found = lines(&[of(&["mpls-exp-6", "qos-group-2"])]);
        assert_eq!(found[..2], ["class-map match-any X", " match mpls experimental topmost 6"]);
        assert!(lines(&[of(&["cos-x"])])[0].starts_with("ip access-list"));
    }

    #[test]
    fn what_no_header_tells_is_refused() {
        let (mut config, mut out) = (Config::default(), Written::default());
        let traffic = Match { traffic: vec!["web".into()], ..Match::default() };
        class_map(&mut config, "X", &[traffic], &mut out).unwrap_or_else(|error| panic!("{error}"));
        assert!(out.refused[0].contains("`traffic` of class X"), "{:?}", out.refused);
        let ecn = Match { ecn: vec![perhop_core::packet::Ecn::Ce], ..Match::default() };
        assert!(class_map(&mut config, "X", &[ecn], &mut out).is_err());
    }
}
