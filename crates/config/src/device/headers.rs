//! Which headers a match asks for, where a filter or an entry of a list has one value of each field and knows one version of IP.

use perhop_core::classify::{Match, Prefix, Protocol};
use std::net::IpAddr;

/// A version of IP.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Ip {
    V4,
    V6,
}

/// Protocols that have ports.
const PORTED: [Protocol; 2] = [Protocol::TCP, Protocol::UDP];

impl Ip {
    /// What Linux and IOS call any packet of it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::V4 => "ip",
            Self::V6 => "ipv6",
        }
    }

    pub(crate) fn has(self, Prefix(net): &Prefix) -> bool {
        matches!((self, net.addr()), (Self::V4, IpAddr::V4(_)) | (Self::V6, IpAddr::V6(_)))
    }
}

/// Whether it asks for ports.
pub(crate) const fn has_ports(matches: &Match) -> bool {
    !matches.source_port.is_empty() || !matches.destination_port.is_empty()
}

/// Its protocols: those with ports, where ports are stated alone.
pub(crate) fn protocols(matches: &Match) -> &[Protocol] {
    if has_ports(matches) && matches.protocol.is_empty() { &PORTED } else { &matches.protocol }
}

/// Whether packets of a protocol may have the ports that it asks for.
pub(crate) fn may_have_ports(matches: &Match, protocol: Protocol) -> bool {
    !has_ports(matches) || PORTED.contains(&protocol)
}

/// Words for the values of a field; `None`: nothing is stated.
pub(crate) fn each<T, W>(list: &[T], word: impl Fn(&T) -> W) -> Option<Vec<W>> {
    (!list.is_empty()).then(|| list.iter().map(word).collect())
}

/// Lines that begin so: one for each combination of the values that are stated.
pub(crate) fn combined(first: &str, fields: impl IntoIterator<Item = Option<Vec<String>>>) -> Vec<String> {
    fields.into_iter().flatten().fold(vec![first.to_owned()], |all, field| {
        all.iter().flat_map(|line| field.iter().map(move |word| format!("{line} {word}"))).collect()
    })
}
