//! Which interfaces have Ethernet's header: as `ip -d link` prints them, and as `ip` makes them.
//!
//! Source: ip-link(8), ip-tunnel(8), ip-tuntap(8); Linux `include/uapi/linux/if_arp.h` for what stands behind `link/`.

use super::words::Token;
use crate::text::Line;
use perhop_core::params::Place;
use std::collections::HashMap;

/// Whether an interface has Ethernet's header, and where that is said.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    pub(super) ethernet: bool,
    pub(super) place: Place,
}

/// The headers of interfaces.
#[derive(Debug, Default)]
pub(super) struct Links {
    by_name: HashMap<String, Header>,
    /// The interface that the line before names.
    open: Option<String>,
}

/// Kinds of interfaces that `ip link add .. type` makes without Ethernet's header.
const BARE: [&str; 11] =
    ["wireguard", "ipip", "gre", "sit", "vti", "vti6", "ip6tnl", "ip6gre", "xfrm", "rmnet", "ipoib"];

impl Links {
    /// What the text says of an interface.
    pub(super) fn header(&self, name: &str) -> Option<Header> {
        self.by_name.get(name).copied()
    }

    /// Reads a line that `ip link` or `ip address` prints; whether it is one.
    ///
    /// A line as `7: wg0@NONE: <POINTOPOINT,NOARP> mtu 1420 ..` names an interface, its number may be gone; one as `link/none ..`
    /// says what is in front of its packets.
    pub(super) fn line(&mut self, line: Line<'_>) -> bool {
        let mut words = line.text.split([' ', '\t', '\\']).filter(|word| !word.is_empty());
        let first = words.next().unwrap_or_default();
        if first.ends_with(':') && words.next().is_some_and(|word| word.starts_with('<')) {
            let name = first.trim_end_matches(':');
            self.open = Some(name.split('@').next().unwrap_or(name).to_owned());
        } else if !first.starts_with("link/") || self.open.is_none() {
            return false;
        }
        let kinds = line.text.split([' ', '\t', '\\']).filter_map(|word| Some((word, word.strip_prefix("link/")?)));
        if let Some((word, kind)) = kinds.into_iter().next()
            && let Some(name) = self.open.take()
        {
            let start = line.start + (word.as_ptr() as usize - line.text.as_ptr() as usize);
            let place = Place { start, end: start + word.len() };
            self.by_name.insert(name, Header { ethernet: matches!(kind, "ether" | "loopback"), place });
        }
        true
    }

    /// Reads a command that may make an interface.
    ///
    /// `ip link add [dev] NAME type KIND`, `ip tunnel add NAME ..`, `ip tuntap add [dev] NAME mode tun`.
    pub(super) fn command(&mut self, words: &[Token<'_>]) {
        let made = made(words).map(|(name, header)| (name.to_owned(), header));
        self.by_name.extend(made);
    }
}

/// The interface that a command makes.
fn made<'w>(words: &'w [Token<'_>]) -> Option<(&'w str, Header)> {
    let at = words.iter().position(|word| word.text == "ip" || word.text.ends_with("/ip"))?;
    let rest = &words[at + 1..];
    let object = rest.iter().position(|it| matches!(&*it.text, "link" | "tunnel" | "tuntap" | "l" | "tun"))?;
    let [object, verb, rest @ ..] = &rest[object..] else { return None };
    if !matches!(&*verb.text, "add" | "a") {
        return None;
    }
    let after = |word: &str| rest.iter().skip_while(|it| it.text != word).nth(1);
    let is_tuntap = object.text.starts_with("tun") && object.text != "tunnel";
    let first_of = |word: &str| after(word).filter(|_| is_tuntap || rest.first().is_some_and(|it| it.text == word));
    let named = after("name").or_else(|| first_of("dev"));
    let name = named.or_else(|| (0..rest.len()).find(|i| is_name(rest, *i)).map(|i| &rest[i]))?;
    let kind = if object.text.starts_with('l') { after("type")? } else { after("mode").unwrap_or(object) };
    let bare = match &*object.text {
        "link" | "l" => BARE.contains(&&*kind.text),
        "tunnel" => true,
        _ => kind.text == "tun",
    };
    Some((&name.text, Header { ethernet: !bare, place: kind.place }))
}

/// Whether a word of a command is neither a key nor its value.
fn is_name(words: &[Token<'_>], i: usize) -> bool {
    const KEYS: [&str; 9] = ["link", "mtu", "address", "txqueuelen", "mode", "remote", "local", "dev", "type"];
    let is_key = |word: &Token<'_>| KEYS.contains(&&*word.text);
    let is_value = i > 0 && is_key(&words[i - 1]);
    !is_value && !is_key(&words[i])
}

#[cfg(test)]
mod tests {
    use super::super::shell::variables::{Commands, Variables};
    use super::*;

    fn header_of(name: &str, text: &str) -> Option<bool> {
        let mut links = Links::default();
        for text in text.lines() {
            let line = Line { number: 1, start: 0, text: text.trim() };
            if !links.line(line) {
                links.command(&Commands::new(line, Vec::new()).next(&Variables::default()).unwrap());
            }
        }
        links.header(name).map(|it| it.ethernet)
    }

    #[test]
    fn ip_says_which_header_an_interface_has() {
        let shown = "vpn@NONE: <POINTOPOINT,NOARP,UP> mtu 1480 qdisc noqueue\n    link/ipip 10.0.0.1 peer 10.0.0.2";
        assert_eq!(header_of("vpn", shown), Some(false));
        let ethernet =
            "tun0: <BROADCAST,MULTICAST,UP> mtu 1500 qdisc fq\\    link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff";
        assert_eq!(header_of("tun0", ethernet), Some(true));
        assert_eq!(header_of("eth0", "link/ether 02:00:00:00:00:01"), None);
        for (text, expected) in [
            ("ip link add dev vpn type wireguard", Some(false)),
            ("ip link add link eth0 name vpn mtu 1400 type vlan id 5", Some(true)),
            ("ip -n r1 link add vpn type gretap local 10.0.0.1", Some(true)),
            ("sudo ip tunnel add vpn mode gre remote 10.0.0.2", Some(false)),
            ("ip tuntap add mode tun dev vpn", Some(false)),
            ("ip tuntap add dev vpn mode tap", Some(true)),
            ("ip link set vpn up", None),
        ] {
            assert_eq!(header_of("vpn", text), expected, "{text}");
        }
    }
}
