//! `flower`: fields of headers by name.

use super::fields::{masked_ports, traffic_class};
use super::{Rule, Sorter, common, unknown};
use crate::tc::units::number;
use crate::tc::words::{Form, Refusal, Taken, Token, Words};
use perhop_core::classify::{Match, Prefix, Protocol};

/// The most ports of a range that are named one by one.
const MOST_PORTS: usize = 1024;

/// Keys that perhop does not match, each with one value.
const LOST: [&str; 30] = [
    "dst_mac",
    "src_mac",
    "vlan_id",
    "vlan_prio",
    "vlan_ethtype",
    "num_of_vlans",
    "cvlan_id",
    "cvlan_prio",
    "cvlan_ethtype",
    "ip_ttl",
    "tcp_flags",
    "ip_flags",
    "mpls_label",
    "mpls_tc",
    "mpls_bos",
    "mpls_ttl",
    "type",
    "code",
    "arp_tip",
    "arp_sip",
    "arp_op",
    "ct_state",
    "ct_mark",
    "ct_zone",
    "enc_key_id",
    "enc_dst_ip",
    "enc_src_ip",
    "enc_dst_port",
    "indev",
    "enc_tos",
];

/// Reads it.
///
/// # Errors
/// What tc would refuse.
pub(super) fn read<'a>(it: &mut Sorter<'a>, words: &mut Words<'_, 'a>, form: Form) -> Taken<()> {
    let mut rule = Rule::one(Match::default());
    while let Some(word) = words.next() {
        let key = &*word.text;
        match key {
            "ip_proto" => each(&mut rule, |matches| matches.protocol = Vec::new(), protocol(words.value(word)?)?),
            "src_ip" | "dst_ip" => address(&mut rule, key, words.value(word)?)?,
            "src_port" | "dst_port" => ports(&mut rule, key, words.value(word)?)?,
            "ip_tos" => tos(&mut rule, words.value(word)?, form)?,
            "eth_type" | "handle" => _ = words.value(word)?,
            key if LOST.contains(&key) || key.starts_with("enc_") || key.starts_with("ct_") => {
                words.value(word)?;
                rule.lose(format!("`{key}`: perhop does not match it"));
            }
            _ if common(it, word, words, form)? => {}
            _ => return Err(unknown("flower", word)),
        }
    }
    it.rule = rule;
    Ok(())
}

fn each(rule: &mut Rule, clear: fn(&mut Match), protocol: Protocol) {
    rule.any.iter_mut().for_each(|matches| {
        clear(matches);
        matches.protocol.push(protocol);
    });
}

/// By name, or as a number, which flower reads as hexadecimal.
fn protocol(token: &Token<'_>) -> Taken<Protocol> {
    let others = [("sctp", 132), ("l2tp", 115), ("gre", 47), ("esp", 50), ("ah", 51)];
    let other = || others.iter().find(|it| it.0 == token.text).map(|it| it.1);
    let number = || u8::from_str_radix(token.text.trim_start_matches("0x"), 16).ok();
    let found = Protocol::named(&token.text).or_else(|| other().or_else(number).map(Protocol));
    found.ok_or_else(|| Refusal::at(token, format!("`{}` is no IP protocol", token.text)))
}

fn address(rule: &mut Rule, key: &str, token: &Token<'_>) -> Taken<()> {
    let text = if token.text.contains('/') {
        token.text.to_string()
    } else {
        format!("{}/{}", token.text, if token.text.contains(':') { 128 } else { 32 })
    };
    let bare = || Refusal::at(token, format!("`{}` is no address", token.text));
    let mut prefix = Prefix(text.parse().map_err(|_| bare())?);
    prefix.0 = prefix.0.trunc();
    for matches in &mut rule.any {
        let list = if key == "src_ip" { &mut matches.source } else { &mut matches.destination };
        *list = vec![prefix];
    }
    Ok(())
}

/// `80`, `100-200`, `80/0xfff0`
fn ports(rule: &mut Rule, key: &str, token: &Token<'_>) -> Taken<()> {
    let refusal = || Refusal::at(token, format!("`{}` is no port", token.text));
    let port = |text: &str| number(text).and_then(|it| u16::try_from(it).ok()).ok_or_else(refusal);
    let found = match (token.text.split_once('-'), token.text.split_once('/')) {
        (Some((first, last)), _) => {
            let (first, last) = (port(first)?, port(last)?);
            Some((first..=last).collect::<Vec<_>>()).filter(|it| it.len() <= MOST_PORTS)
        }
        (_, Some((value, mask))) => masked_ports(port(value)?, port(mask)?),
        _ => Some(vec![port(&token.text)?]),
    };
    let Some(found) = found else {
        rule.lose(format!("`{key} {}`: more than {MOST_PORTS} ports", token.text));
        return Ok(());
    };
    for matches in &mut rule.any {
        let list = if key == "src_port" { &mut matches.source_port } else { &mut matches.destination_port };
        list.clone_from(&found);
    }
    Ok(())
}

/// `0xb8/0xfc`; without a mask all eight bits. tc reads both as hexadecimal, and prints the value as decimal.
fn tos(rule: &mut Rule, token: &Token<'_>, form: Form) -> Taken<()> {
    let (value, mask) = token.text.split_once('/').unwrap_or((&token.text, "0xff"));
    let refusal = || Refusal::at(token, format!("`{}` is no octet", token.text));
    let octet = |text: &str| u8::from_str_radix(text.trim_start_matches("0x"), 16).map_err(|_| refusal());
    let printed = || number(value).and_then(|it| u8::try_from(it).ok()).ok_or_else(refusal);
    let (value, mask) = (if form == Form::Shown { printed()? } else { octet(value)? }, octet(mask)?);
    rule.any.iter_mut().for_each(|matches| traffic_class(matches, value, mask));
    Ok(())
}
