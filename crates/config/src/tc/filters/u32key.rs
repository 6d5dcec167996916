//! `u32`: fields of headers by name, or by offset and mask.

use super::fields::{Field, Fields};
use super::{Protocol, Sorter, common, unknown};
use crate::tc::units::number;
use crate::tc::words::{Form, Refusal, Taken, Token, Words};
use perhop_core::classify::Match;

/// A field by its name: how wide it is, where it is in the header of IPv4 or IPv6, and whether the header is the one behind IP's.
struct Named {
    word: &'static str,
    bits: u32,
    at: i32,
    next: bool,
}

const fn named(word: &'static str, bits: u32, at: i32, next: bool) -> Named {
    Named { word, bits, at, next }
}

/// `match ip ..`
const IP: [Named; 10] = [
    named("protocol", 8, 9, false),
    named("tos", 8, 1, false),
    named("dsfield", 8, 1, false),
    named("precedence", 8, 1, false),
    named("ihl", 8, 0, false),
    named("sport", 16, 20, false),
    named("dport", 16, 22, false),
    named("icmp_type", 8, 20, false),
    named("icmp_code", 8, 21, false),
    named("nofrag", 16, 6, false),
];

/// `match ip6 ..`
const IP6: [Named; 6] = [
    named("protocol", 8, 6, false),
    named("flowlabel", 32, 0, false),
    named("sport", 16, 40, false),
    named("dport", 16, 42, false),
    named("icmp_type", 8, 40, false),
    named("icmp_code", 8, 41, false),
];

/// `match tcp ..`, `match udp ..`
const PORTS: [Named; 4] =
    [named("src", 16, 0, true), named("sport", 16, 0, true), named("dst", 16, 2, true), named("dport", 16, 2, true)];

/// Why tables of `u32` are not read.
const TABLES: &str = "hash tables of u32: perhop asks filters one after the other";

/// Where `nexthdr` is, in a filter that no table leads to (u32_classify). In Linux 6.18, of seven datagrams to port 80
/// `match udp dst 80 0xffff` takes none, `match ip dport 80 0xffff` all, and so does `match u16 0x4500 0xffff at nexthdr+0`.
const NOT_BEHIND: &str = "without a table's `offset` Linux compares the first bytes of IP's own header";

/// Reads it.
///
/// # Errors
/// What tc would refuse.
pub(super) fn read<'a>(it: &mut Sorter<'a>, words: &mut Words<'_, 'a>, form: Form) -> Taken<()> {
    let (mut fields, mut asked) = (Fields::default(), false);
    while let Some(word) = words.next() {
        match &*word.text {
            "match" => {
                asked = true;
                key(it, &mut fields, word, words, form)?;
            }
            "order" | "pref" => _ = words.value(word)?,
            "key" if form == Form::Shown => {}
            "bkt" if form == Form::Shown => _ = words.value(word)?,
            "ht" if form == Form::Shown => _ = words.value(word)?,
            "divisor" => {
                words.value(word)?;
                if form == Form::Typed {
                    it.rule.lose(TABLES);
                }
            }
            "ht" | "link" | "sample" => {
                words.value(word)?;
                it.rule.lose(TABLES);
            }
            "hashkey" | "offset" => {
                it.rule.lose(TABLES);
                while words.peek().is_some_and(|it| !matches!(&*it.text, "match" | "flowid" | "classid" | "action")) {
                    words.next();
                }
            }
            "mark" => {
                words.value(word)?;
                words.next();
                it.rule.lose("a mark in `u32`: write it as `fw`");
            }
            "indev" => {
                words.value(word)?;
                it.rule.lose("`indev`: perhop does not match the interface that a packet came from");
            }
            _ if common(it, word, words, form)? => {}
            _ => return Err(unknown("u32", word)),
        }
    }
    match asked {
        true => fields.into_rule(it.protocol, &mut it.rule),
        false => it.rule.any.push(Match::default()),
    }
    Ok(())
}

/// After `match`.
fn key<'a>(
    it: &mut Sorter<'a>,
    fields: &mut Fields,
    word: &Token<'a>,
    words: &mut Words<'_, 'a>,
    form: Form,
) -> Taken<()> {
    let of = words.value(word)?;
    match &*of.text {
        "u8" | "u16" | "u32" => {
            let bits = of.text[1..].parse().unwrap_or(32);
            let pair = [value(words.value(of)?)?, hexadecimal(words.value(of)?)?];
            raw(it, fields, pair, bits, words)
        }
        "ip" => {
            if it.protocol == Protocol::All {
                it.protocol = Protocol::Ip;
            }
            header(it, fields, &IP, of, words)
        }
        "ip6" => {
            if it.protocol == Protocol::All {
                it.protocol = Protocol::Ip6;
            }
            header(it, fields, &IP6, of, words)
        }
        "tcp" | "udp" => header(it, fields, &PORTS, of, words),
        "icmp" | "ether" | "mark" => {
            words.value(of)?;
            words.value(of)?;
            words.next();
            it.rule.lose(format!("`match {}`: perhop matches IP, TCP and UDP", of.text));
            Ok(())
        }
        "as-printed-with-p" => {
            it.rule.lose("`tc -j -p` prints the matches of u32 within each other: print them without -p");
            Ok(())
        }
        text if form == Form::Shown && text.contains('/') => {
            let (value, mask) = text.split_once('/').unwrap_or_default();
            let hex =
                |text: &str| u64::from_str_radix(text, 16).map_err(|_| Refusal::at(of, "it is no value with a mask"));
            raw(it, fields, [hex(value)?, hex(mask)?], 32, words)
        }
        _ => Err(Refusal::at(of, format!("tc knows no `match {}`", of.text))),
    }
}

/// A mask is hexadecimal, with or without 0x.
fn hexadecimal(token: &Token<'_>) -> Taken<u64> {
    let text = token.text.trim_start_matches("0x");
    u64::from_str_radix(text, 16).map_err(|_| Refusal::at(token, format!("`{}` is no mask", token.text)))
}

fn value(token: &Token<'_>) -> Taken<u64> {
    number(&token.text).ok_or_else(|| Refusal::at(token, format!("`{}` is no number", token.text)))
}

/// `at 20`, `at nexthdr+2`
fn raw(it: &mut Sorter<'_>, fields: &mut Fields, pair: [u64; 2], bits: u32, words: &mut Words<'_, '_>) -> Taken<()> {
    let (mut at, mut next) = (0, false);
    if let Some(word) = words.take("at") {
        let place = words.value(word)?;
        let text = place.text.strip_prefix("nexthdr+").inspect(|_| next = true).unwrap_or(&place.text);
        let number = text.parse().or_else(|_| number(text).and_then(|it| i32::try_from(it).ok()).ok_or(()));
        at = number.map_err(|()| Refusal::at(place, format!("`{}` is no place in a header", place.text)))?;
    }
    if next {
        it.rule.lose(format!("`nexthdr`: {NOT_BEHIND}"));
        return Ok(());
    }
    match Field::new(pair, bits, at, false) {
        Some(field) => fields.add(field),
        None => it.rule.lose("a field that is not within four bytes"),
    }
    Ok(())
}

fn header<'a>(
    it: &mut Sorter<'a>,
    fields: &mut Fields,
    known: &[Named],
    of: &Token<'a>,
    words: &mut Words<'_, 'a>,
) -> Taken<()> {
    let key = words.value(of)?;
    let transport = matches!(&*of.text, "tcp" | "udp");
    match &*key.text {
        "src" | "dst" if !transport => return address(it, fields, key, words),
        "firstfrag" | "nofrag" | "df" | "mf" | "dstfrag" => {
            it.rule.lose(format!("`match ip {}`: perhop has no fragments", key.text));
            return Ok(());
        }
        "priority" => {
            let pair = [value(words.value(key)?)? << 20, hexadecimal(words.value(key)?)? << 20];
            fields.add_all(Field::new(pair, 32, 0, false));
            return Ok(());
        }
        _ => {}
    }
    let Some(field) = known.iter().find(|field| field.word == key.text) else {
        return Err(Refusal::at(key, format!("tc knows no `match {} {}`", of.text, key.text)));
    };
    let pair = [value(words.value(key)?)?, hexadecimal(words.value(key)?)?];
    if matches!(field.word, "ihl" | "icmp_type" | "icmp_code" | "flowlabel") {
        it.rule.lose(format!("`match {} {}`: perhop does not match it", of.text, field.word));
        return Ok(());
    }
    if field.next {
        let (number, port) = (if of.text == "tcp" { 6 } else { 17 }, if field.at == 0 { "sport" } else { "dport" });
        let ask = format!("`match ip protocol {number} 0xff match ip {port} ..` asks for the port");
        it.rule.lose(format!("`match {} {}`: {NOT_BEHIND}; {ask}", of.text, key.text));
        return Ok(());
    }
    fields.add_all(Field::new(pair, field.bits, field.at, false));
    Ok(())
}

/// `10.0.0.0/8`, `2001:db8::/32`
fn address<'a>(it: &mut Sorter<'a>, fields: &mut Fields, key: &Token<'a>, words: &mut Words<'_, 'a>) -> Taken<()> {
    let text = words.value(key)?;
    if text.unset {
        return Err(Refusal::at(text, format!("`{}` is a shell variable that this text does not set", text.text)));
    }
    if matches!(&*text.text, "any" | "all" | "default") {
        return Ok(());
    }
    let (address, length) = text.text.split_once('/').map_or((&*text.text, None), |(a, l)| (a, Some(l)));
    let refusal = || Refusal::at(text, format!("`{}` is no address", text.text));
    let six = address.contains(':');
    let whole = if six { 128 } else { 32 };
    let length = length.map_or(Some(whole), |it| it.parse().ok().filter(|it| *it <= whole)).ok_or_else(refusal)?;
    let value: u128 = match six {
        true => address.parse::<std::net::Ipv6Addr>().map_err(|_| refusal())?.into(),
        false => u128::from(u32::from(address.parse::<std::net::Ipv4Addr>().map_err(|_| refusal())?)) << 96,
    };
    let mask = if length == 0 { 0 } else { u128::MAX << (128 - length) };
    let start = match (six, &*key.text) {
        (true, "src") => 8,
        (true, _) => 24,
        (false, "src") => 12,
        (false, _) => 16,
    };
    for i in 0..whole / 32 {
        let word = |number: u128| u64::from((number >> (96 - 32 * i)) as u32);
        fields.add_all(Field::new([word(value), word(mask)], 32, start + 4 * i, false));
    }
    if six && it.protocol == Protocol::All {
        it.protocol = Protocol::Ip6;
    }
    Ok(())
}
