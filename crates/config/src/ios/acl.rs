//! Lines of access lists, as classes of packets.
//!
//! ```text
//! [N] permit|deny PROTOCOL SOURCE [PORTS] DESTINATION [PORTS] [dscp X] ..
//! [N] permit|deny SOURCE                                       (standard)
//! ```

use super::read::words::{Words, dscps_of, precedence, wanted};
use crate::matches::prefix;
use perhop_core::classify::{Match, Prefix, Protocol};
use std::net::Ipv4Addr;

/// A line of an access list.
#[derive(Clone, Debug, PartialEq)]
pub struct Permit {
    /// `permit` or `deny`.
    pub permits: bool,
    /// Which packets.
    pub packets: Match,
    /// What it says nearly.
    pub nearly: Vec<String>,
}

/// Names of protocols beside those of perhop.
const PROTOCOLS: &[(&str, u8)] = &[
    ("icmp", 1),
    ("igmp", 2),
    ("ipinip", 4),
    ("tcp", 6),
    ("egp", 8),
    ("udp", 17),
    ("gre", 47),
    ("esp", 50),
    ("ahp", 51),
    ("icmpv6", 58),
    ("ipv6-icmp", 58),
    ("eigrp", 88),
    ("ospf", 89),
    ("nos", 94),
    ("pim", 103),
    ("pcp", 108),
    ("vrrp", 112),
    ("sctp", 132),
];

/// Names of ports.
const PORTS: &[(&str, u16)] = &[
    ("ftp-data", 20),
    ("ftp", 21),
    ("ssh", 22),
    ("telnet", 23),
    ("smtp", 25),
    ("time", 37),
    ("nameserver", 42),
    ("whois", 43),
    ("tacacs", 49),
    ("domain", 53),
    ("bootps", 67),
    ("bootpc", 68),
    ("tftp", 69),
    ("gopher", 70),
    ("finger", 79),
    ("www", 80),
    ("pop2", 109),
    ("pop3", 110),
    ("sunrpc", 111),
    ("ident", 113),
    ("nntp", 119),
    ("ntp", 123),
    ("netbios-ns", 137),
    ("netbios-dgm", 138),
    ("netbios-ss", 139),
    ("snmp", 161),
    ("snmptrap", 162),
    ("xdmcp", 177),
    ("bgp", 179),
    ("irc", 194),
    ("dnsix", 195),
    ("mobile-ip", 434),
    ("pim-auto-rp", 496),
    ("isakmp", 500),
    ("exec", 512),
    ("biff", 512),
    ("login", 513),
    ("who", 513),
    ("cmd", 514),
    ("syslog", 514),
    ("lpd", 515),
    ("talk", 517),
    ("rip", 520),
    ("uucp", 540),
    ("klogin", 543),
    ("kshell", 544),
    ("msrpc", 135),
    ("non500-isakmp", 4500),
];

/// A range of more ports than this is a `traffic`.
const LISTED_PORTS: usize = 16;

/// The number of a protocol.
pub fn protocol(word: &str) -> Option<u8> {
    let named = PROTOCOLS.iter().find(|(name, _)| *name == word).map(|(_, number)| *number);
    named.or_else(|| word.parse().ok())
}

/// Reads a line; `None` for a remark.
pub fn permit(words: &mut Words<'_>) -> Result<Option<Permit>, String> {
    if words.is_number() {
        words.take();
    }
    let permits = match words.take() {
        "permit" => true,
        "deny" => false,
        "remark" | "" => return Ok(None),
        word => return Err(wanted(word, "`permit` or `deny`")),
    };
    let mut it = Permit { permits, packets: Match::default(), nearly: Vec::new() };
    let extended = is_protocol(words);
    if extended {
        it.protocol(words)?;
    }
    it.packets.source = ends(words, &mut it.nearly)?;
    if extended {
        it.packets.source_port = it.ports(words)?;
        it.packets.destination = ends(words, &mut it.nearly)?;
        it.packets.destination_port = it.ports(words)?;
    }
    it.options(words)?;
    Ok(Some(it))
}

/// A standard list starts with an address.
fn is_protocol(words: &Words<'_>) -> bool {
    !matches!(words.peek(), "any" | "host" | "object-group") && !words.peek().contains(['.', ':', '/'])
}

/// `any`, `host A`, `A W`, `A/N`
fn ends(words: &mut Words<'_>, nearly: &mut Vec<String>) -> Result<Vec<Prefix>, String> {
    let word = words.take();
    let one = match word {
        "any" | "any4" | "any6" => return Ok(Vec::new()),
        "host" => words.take().to_owned(),
        "object-group" | "addrgroup" => {
            words.take();
            nearly.push("a group of addresses is not read: every address".into());
            return Ok(Vec::new());
        }
        _ => match words.peek().parse::<Ipv4Addr>() {
            Ok(wild) if !word.contains('/') => {
                words.take();
                wildcard(word, wild)?
            }
            _ => word.to_owned(),
        },
    };
    prefix(&one).map(|found| vec![found]).ok_or_else(|| "an address that is not understood".into())
}

/// `10.0.0.0 0.255.255.255`
fn wildcard(address: &str, wild: Ipv4Addr) -> Result<String, String> {
    let wild = u32::from(wild);
    let address: Ipv4Addr = address.parse().map_err(|_| "an address that is not understood".to_owned())?;
    if wild & wild.wrapping_add(1) != 0 {
        return Err("a wildcard with a gap is not a prefix".into());
    }
    let network = Ipv4Addr::from(u32::from(address) & !wild);
    Ok(format!("{network}/{}", wild.leading_zeros()))
}

impl Permit {
    fn protocol(&mut self, words: &mut Words<'_>) -> Result<(), String> {
        let word = words.take();
        match word {
            "ip" | "ipv6" | "ipv4" => {}
            "object-group" => {
                words.take();
                self.nearly.push("a group of services is not read: every packet".into());
            }
            _ => {
                let number = protocol(word).ok_or_else(|| wanted(word, "a protocol"))?;
                self.packets.protocol = vec![Protocol(number)];
            }
        }
        Ok(())
    }

    /// `eq 80 443`, `range 16384 32767`, `gt 1023`
    fn ports(&mut self, words: &mut Words<'_>) -> Result<Vec<u16>, String> {
        match words.peek() {
            "eq" => {
                words.take();
                let mut list = vec![port(words)?];
                while port(&mut words.clone()).is_ok() {
                    list.push(port(words)?);
                }
                Ok(list)
            }
            "range" => {
                words.take();
                let (from, to) = (port(words)?, port(words)?);
                Ok(self.range(from, to))
            }
            "gt" => {
                words.take();
                let above = port(words)?;
                Ok(self.range(above.saturating_add(1), u16::MAX))
            }
            "lt" => {
                words.take();
                let below = port(words)?;
                Ok(self.range(0, below.saturating_sub(1)))
            }
            "neq" => {
                words.take();
                let port = port(words)?;
                self.called(format!("not-port-{port}"));
                Ok(Vec::new())
            }
            _ => Ok(Vec::new()),
        }
    }

    fn range(&mut self, from: u16, to: u16) -> Vec<u16> {
        if usize::from(to.saturating_sub(from)) < LISTED_PORTS {
            return (from..=to).collect();
        }
        self.called(format!("ports-{from}-{to}"));
        Vec::new()
    }

    /// Packets that a scenario can only call by name.
    fn called(&mut self, name: String) {
        let names = match self.packets.traffic.as_slice() {
            [] => vec![name],
            list => list.iter().map(|before| format!("{before}+{name}")).collect(),
        };
        self.nearly.push(format!("so many ports are a traffic called `{}`", names.join("` or `")));
        self.packets.traffic = names;
    }

    fn options(&mut self, words: &mut Words<'_>) -> Result<(), String> {
        while !words.is_over() {
            match words.take() {
                "log" | "log-input" | "capture" | "stats" => {}
                "dscp" => self.packets.dscp = words.one().dscps()?,
                "precedence" => {
                    let word = words.take();
                    let number = precedence(word).ok_or_else(|| wanted(word, "a precedence from 0 to 7"))?;
                    self.packets.dscp = dscps_of(number).collect();
                }
                "established" | "ack" | "syn" | "fin" | "rst" | "psh" | "urg" | "fragments" | "echo" | "echo-reply"
                | "ttl-exceeded" | "port-unreachable" | "packet-too-big" | "unreachable" => {
                    self.nearly.push("flags, fragments and types of ICMP are not looked at".into());
                }
                "time-range" | "ttl" | "tos" | "match-any" | "match-all" | "option" | "reflect" | "evaluate" => {
                    words.rest();
                    self.nearly.push("the condition at its end is not looked at".into());
                }
                word => return Err(format!("`{word}` is not understood")),
            }
        }
        Ok(())
    }
}

fn port(words: &mut Words<'_>) -> Result<u16, String> {
    let word = words.take();
    let named = PORTS.iter().find(|(name, _)| *name == word).map(|(_, number)| *number);
    named.or_else(|| word.parse().ok()).ok_or_else(|| wanted(word, "a port"))
}
