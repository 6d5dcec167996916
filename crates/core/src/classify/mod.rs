//! Classifiers: which aggregate a packet belongs to. Data, not code (RFC 2475 section 2.3.1).
//!
//! A behaviour-aggregate (BA) classifier reads the code point; a multi-field (MF) classifier reads
//! addresses, protocol and ports. One [`Match`] holds both, and the flow's round-trip time, which no header
//! carries: the host knows it or measures it. A field that a match omits matches everything.
//!
//! Decision: docs/decisions/110-what-a-packet-passed.md

mod index;
mod related;

pub use index::{Index, Relation};

use crate::colour::Colour;
use crate::dscp::Dscp;
use crate::packet::{Ecn, Packet};
use crate::params::{Kind, Node, ParamError, Params, Problems, Tree, Value, read_table, show_table, suggest};
use crate::units::Span;
use ipnet::IpNet;
use std::net::IpAddr;

/// What classifiers know about a flow: its headers, and its name if the host is the simulator.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FlowHeaders {
    /// IP protocol number.
    pub protocol: u8,
    /// Source address.
    pub source: IpAddr,
    /// Destination address.
    pub destination: IpAddr,
    /// Source port, 0 where the protocol has none.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
    /// Name of the `[traffic]` table it comes from; empty in captures.
    pub traffic: String,
    /// Name of the class it is counted in; empty in captures.
    pub class: String,
    /// Round-trip time without queueing, the same both ways; `None` while it is unknown.
    pub rtt: Option<Span>,
}

impl FlowHeaders {
    /// The headers of the return packets.
    pub fn reversed(&self) -> Self {
        Self {
            source: self.destination,
            destination: self.source,
            source_port: self.destination_port,
            destination_port: self.source_port,
            ..self.clone()
        }
    }
}

/// A match: every field that is present must agree. Lists mean "any of these".
#[derive(Params, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Match {
    /// Names of `[traffic]` tables.
    pub traffic: Vec<String>,
    /// Code points, by name or number.
    pub dscp: Vec<Dscp>,
    /// IP protocol: tcp, udp, icmp or a number.
    pub protocol: Vec<Protocol>,
    /// Source prefixes, as in "10.0.0.0/8".
    pub source: Vec<Prefix>,
    /// Destination prefixes.
    pub destination: Vec<Prefix>,
    /// Source ports.
    pub source_port: Vec<u16>,
    /// Destination ports.
    pub destination_port: Vec<u16>,
    /// The flow's base round-trip time; a flow whose time is unknown does not match.
    pub rtt: Option<RttClass>,
    /// ECN fields: not-ect, ect0, ect1 or ce.
    pub ecn: Vec<Ecn>,
    /// Names of conditioners of the same port that the packet has passed; "police red": it left `police` with that colour.
    pub conditioner: Vec<String>,
}

fn any<T>(list: &[T], agrees: impl Fn(&T) -> bool) -> bool {
    list.is_empty() || list.iter().any(agrees)
}

impl Match {
    /// Whether the flow agrees: everything but what [`Match::packet`] and [`Passed`] say.
    pub fn flow(&self, headers: &FlowHeaders) -> bool {
        self.ends(headers)
            && any(&self.source_port, |p| *p == headers.source_port)
            && any(&self.destination_port, |p| *p == headers.destination_port)
    }

    /// Whether the flow agrees in everything but its ports.
    pub fn ends(&self, headers: &FlowHeaders) -> bool {
        any(&self.traffic, |name| *name == headers.traffic)
            && any(&self.protocol, |p| p.0 == headers.protocol)
            && any(&self.source, |p| p.0.contains(&headers.source))
            && any(&self.destination, |p| p.0.contains(&headers.destination))
            && self.rtt.as_ref().is_none_or(|class| headers.rtt.is_some_and(|rtt| class.holds(rtt)))
    }

    /// Whether code point and ECN field agree, which may change along the path.
    #[inline]
    pub fn packet(&self, packet: &Packet) -> bool {
        any(&self.dscp, |d| *d == packet.dscp) && any(&self.ecn, |e| *e == packet.ecn)
    }

    /// Whether every packet of a flow that agrees does.
    pub fn is_of_flows(&self) -> bool {
        self.dscp.is_empty() && self.ecn.is_empty() && self.conditioner.is_empty()
    }
}

/// The first conditioners of a port, which a match may name.
const NAMED: usize = 256;
/// Each conditioner has a bit for each colour that it leaves packets with.
const COLOURS: usize = Colour::ALL.len();
const WORDS: usize = NAMED * COLOURS / u64::BITS as usize;

/// Conditioners of one port, each by its place and by the colour that it has left a packet with: those that a packet has passed, or
/// those that a match names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Passed([u64; WORDS]);

impl Passed {
    /// Of none.
    pub const NONE: Self = Self([0; WORDS]);

    /// The conditioner at this place, whatever the colour; none of those that cannot be named.
    pub fn one(place: usize) -> Self {
        let mut one = Self::default();
        Colour::ALL.into_iter().for_each(|colour| one.add(place, colour));
        one
    }

    /// With the conditioner at this place, which leaves the packet with this colour.
    #[inline]
    pub const fn add(&mut self, place: usize, colour: Colour) {
        if place < NAMED {
            let bit = place * COLOURS + colour.index();
            self.0[bit / 64] |= 1 << (bit % 64);
        }
    }

    /// Whether it is of no conditioner.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Those that a match names, of those of its port that come before it.
    ///
    /// # Errors
    /// E281 for one that is not among them.
    pub fn named(field: &'static str, matches: &Match, before: &[String]) -> Result<Self, ParamError> {
        let place = |name: &str| {
            let place = before.iter().position(|known| known == name)?;
            Some(if place < NAMED { Ok(place) } else { Err(late(field, name)) })
        };
        matches.conditioner.iter().try_fold(Self::default(), |mut all, name| {
            if let Some(place) = place(name) {
                return Ok(all.with(Self::one(place?)));
            }
            let (own, colour) = of_colour(name).ok_or_else(|| unknown(field, name, before))?;
            all.add(place(own).ok_or_else(|| unknown(field, name, before))??, colour);
            Ok(all)
        })
    }

    /// Both.
    #[inline]
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] | other.0[word]))
    }

    /// Whether it names none, or a packet has passed one of them.
    #[inline]
    pub fn agrees(&self, passed: &Self) -> bool {
        self.is_empty() || self.0.iter().zip(&passed.0).any(|(own, other)| own & other != 0)
    }
}

/// A conditioner and a colour: `police green` is of the packets that `police` has left green.
fn of_colour(name: &str) -> Option<(&str, Colour)> {
    let (name, colour) = name.rsplit_once(' ')?;
    Colour::ALL.into_iter().find(|it| it.name() == colour).map(|colour| (name, colour))
}

fn unknown(field: &'static str, name: &str, before: &[String]) -> ParamError {
    let message = format!("no packet has passed conditioner `{name}` here: it is not at this port, or comes later");
    let known: Vec<_> = before.iter().map(|name| format!("`{name}`")).collect();
    let help = match known.as_slice() {
        [] => "put it `at` this port, before what names it".to_owned(),
        known => format!("name {}, or put it `at` this port, before what names it", known.join(" or ")),
    };
    let marks = "what a packet passed at another port shows in its code point only: \"mark AF11\" there, `dscp` here";
    ParamError::new(field, "E281", message).label(marks).help(help)
}

fn late(field: &'static str, name: &str) -> ParamError {
    let message = format!("conditioner `{name}` comes after {NAMED} others at its port");
    let help = format!("only the first {NAMED} of a port can be named: move it up in the file");
    ParamError::new(field, "E201", message).help(help)
}

/// Round-trip times from `from` up to but excluding `to`.
#[derive(Params, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Rtts {
    /// The least.
    #[param(default = "0s")]
    pub from: Span,
    /// Upper bound, itself excluded; default: unbounded.
    pub to: Option<Span>,
}

/// [`Rtts`] that are not empty: a round-trip time class.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RttClass(Rtts);

impl RttClass {
    /// From `from` up to but excluding `to`; `None` if that is empty.
    pub fn new(from: Span, to: Option<Span>) -> Option<Self> {
        to.is_none_or(|to| from < to).then_some(Self(Rtts { from, to }))
    }

    /// All that are no shorter.
    pub const fn since(from: Span) -> Self {
        Self(Rtts { from, to: None })
    }

    /// Whether it contains all of another.
    pub fn contains(&self, other: &Self) -> bool {
        self.0.from <= other.0.from && self.0.to.is_none_or(|to| other.0.to.is_some_and(|it| it <= to))
    }

    /// Whether it contains this one.
    pub fn holds(&self, rtt: Span) -> bool {
        rtt >= self.0.from && self.0.to.is_none_or(|to| rtt < to)
    }
}

impl Value for RttClass {
    const KIND: Kind = Kind::Table(Rtts::FIELDS);
    fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
        let Rtts { from, to } = read_table(node, problems)?;
        Self::new(from, to).or_else(|| {
            let message = format!("`from` is {from}, not below `to`");
            let label = format!("`to` is {}", to?);
            let help =
                "a class holds values from `from` up to, but not including, `to`; omit `to` for all above `from`";
            problems.error("E214", node.place, message).label(label).help(help).none()
        })
    }
    fn tree(&self) -> Option<Tree> {
        Some(show_table(&self.0))
    }
}

/// An IP protocol number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Protocol(pub u8);

impl Protocol {
    /// TCP.
    pub const TCP: Self = Self(6);
    /// UDP.
    pub const UDP: Self = Self(17);
    /// ICMP of IPv4.
    pub const ICMP: Self = Self(1);
    /// ICMP of IPv6.
    pub const ICMPV6: Self = Self(58);
    const NAMED: [(&'static str, Self); 4] =
        [("tcp", Self::TCP), ("udp", Self::UDP), ("icmp", Self::ICMP), ("icmpv6", Self::ICMPV6)];

    /// The protocol of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMED.iter().find(|it| it.0 == name).map(|it| it.1)
    }
}

impl Value for Protocol {
    const KIND: Kind = Kind::Text;
    fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
        let number = match &node.tree {
            Tree::Text(text) => Self::named(text).or_else(|| text.parse().ok().map(Self)),
            Tree::Integer(n) => u8::try_from(*n).ok().map(Self),
            _ => return problems.wrong_type(node, &Kind::Text),
        };
        number.or_else(|| {
            let names = Self::NAMED.map(|n| n.0);
            let help = match &node.tree {
                Tree::Text(text) => suggest(text, &names),
                _ => "a protocol number is 0 to 255".into(),
            };
            problems.error("E221", node.place, format!("{} is not an IP protocol", node.tree)).help(help).none()
        })
    }
    fn tree(&self) -> Option<Tree> {
        let named = Self::NAMED.iter().find(|n| n.1 == *self);
        Some(named.map_or(Tree::Integer(self.0.into()), |n| Tree::Text(n.0.into())))
    }
}

/// An address prefix, IPv4 or IPv6; a lone address is a prefix of its full length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Prefix(pub IpNet);

impl Value for Prefix {
    const KIND: Kind = Kind::Text;
    fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
        let Tree::Text(text) = &node.tree else { return problems.wrong_type(node, &Kind::Text) };
        let net = text.parse::<IpNet>().ok().or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from));
        match net {
            Some(net) if net.addr() == net.network() => Some(Self(net)),
            Some(net) => {
                let help = format!("write \"{}\"", net.trunc());
                problems.error("E222", node.place, format!("`{text}` has bits set beyond its prefix")).help(help).none()
            }
            None => {
                let message = format!("`{text}` is not an address prefix");
                problems
                    .error("E222", node.place, message)
                    .help("write it as in \"10.0.0.0/8\" or \"2001:db8::/32\"")
                    .none()
            }
        }
    }
    fn tree(&self) -> Option<Tree> {
        Some(Tree::Text(self.0.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn web() -> FlowHeaders {
        FlowHeaders {
            protocol: 6,
            source: "10.1.2.3".parse().unwrap(),
            destination: "192.0.2.1".parse().unwrap(),
            source_port: 40_000,
            destination_port: 443,
            traffic: "web".into(),
            class: "data".into(),
            rtt: Some(Span::from_ms(80)),
        }
    }

    #[test]
    fn an_empty_match_takes_everything() {
        assert!(Match::default().flow(&web()));
        assert!(Match::default().packet(&Packet::default()));
    }

    #[test]
    fn every_field_must_agree() {
        let net = |text: &str| vec![Prefix(text.parse().unwrap())];
        let agreeing = Match {
            traffic: vec!["web".into()],
            protocol: vec![Protocol::TCP],
            source: net("10.0.0.0/8"),
            destination: net("192.0.2.0/24"),
            destination_port: vec![80, 443],
            ..Match::default()
        };
        assert!(agreeing.flow(&web()));
        let but = |change: fn(&mut Match)| {
            let mut other = agreeing.clone();
            change(&mut other);
            other.flow(&web())
        };
        assert!(!but(|m| m.traffic = vec!["voice".into()]));
        assert!(!but(|m| m.protocol = vec![Protocol::UDP]));
        assert!(!but(|m| m.source = vec![Prefix("10.2.0.0/16".parse().unwrap())]));
        assert!(!but(|m| m.destination = vec![Prefix("192.0.3.0/24".parse().unwrap())]));
        assert!(!but(|m| m.source_port = vec![1]));
        assert!(!but(|m| m.destination_port = vec![80]));
        assert!(!but(|m| m.rtt = RttClass::new(Span::ZERO, Some(Span::from_ms(80)))));
    }

    /// A name alone is of every colour, a name with a colour of that one; the last that can be named is the 256th.
    #[test]
    fn a_packet_has_passed_a_conditioner_with_a_colour() {
        let before: Vec<String> = (0..300).map(|i| format!("police {i}")).collect();
        let named = |name: &str| {
            let matches = Match { conditioner: vec![name.into()], ..Match::default() };
            Passed::named("match", &matches, &before)
        };
        let mut passed = Passed::default();
        passed.add(255, Colour::Red);
        assert!(named("police 255").unwrap().agrees(&passed));
        assert!(named("police 255 red").unwrap().agrees(&passed));
        assert!(!named("police 255 green").unwrap().agrees(&passed));
        assert!(!named("police 254 red").unwrap().agrees(&passed));
        assert_eq!(named("police 256").unwrap_err().code, "E201");
        assert_eq!(named("police 256 red").unwrap_err().code, "E201");
        assert_eq!(named("police 255 blue").unwrap_err().code, "E281");
        assert!(Passed::default().agrees(&passed), "a match that names none takes all");
    }

    /// Half-open: neighbouring classes neither overlap nor leave a gap. An unknown time is in no class.
    #[test]
    fn a_round_trip_time_is_in_one_of_two_neighbours() {
        let ms = Span::from_ms;
        let class = |from, to| Match { rtt: RttClass::new(from, to), ..Match::default() };
        let [short, long] = [class(ms(0), Some(ms(80))), class(ms(80), None)];
        for (rtt, in_short) in [(ms(0), true), (ms(80) - Span::from_ns(1), true), (ms(80), false), (ms(9000), false)] {
            let headers = FlowHeaders { rtt: Some(rtt), ..web() };
            assert_eq!((short.flow(&headers), long.flow(&headers)), (in_short, !in_short), "{rtt}");
            assert_eq!(headers.reversed().rtt, Some(rtt));
        }
        let unknown = FlowHeaders { rtt: None, ..web() };
        assert!(!short.flow(&unknown) && !long.flow(&unknown) && Match::default().flow(&unknown));
        assert_eq!(RttClass::new(ms(80), Some(ms(80))), None);
    }
}
