//! `match` of a class map: one row for each field.
//!
//! A field that no packet here has is a `traffic` called after it: `match protocol http` takes the traffic called `http`.

use super::words::{Words, dscps_of, wanted};
use crate::foreign::words::is_known;
use crate::ios::acl::protocol;
use crate::ios::plan::{Test, What};
use crate::ios::tree::Row;
use crate::value;
use perhop_core::classify::{Match, Protocol};
use perhop_core::dscp::Dscp;

/// A field, and how it is read.
pub struct Field {
    /// As typed.
    pub word: &'static str,
    /// perhop's equivalent, for the table of equivalents.
    pub means: &'static str,
    read: fn(&mut Words<'_>) -> Taken,
}

type Taken = Result<(What, Option<String>), String>;

const fn row(word: &'static str, means: &'static str, read: fn(&mut Words<'_>) -> Taken) -> Field {
    Field { word, means, read }
}

/// All.
pub const FIELDS: &[Field] = &[
    row("any", "every packet", |_| Ok((What::Any, None))),
    row("dscp", "`dscp`", dscp),
    row("precedence", "`dscp`: the eight of each precedence", precedence),
    row("access-group", "`source`, `destination`, `protocol`, ports, `dscp`: a match for each `permit`", access_group),
    row("access-list", "as `access-group`", access_group),
    row("class-map", "what that class map takes", |words| Ok((What::Class(words.take().to_owned()), None))),
    row("protocol", "`protocol`, or a `traffic` of that name (NBAR)", by_protocol),
    row("cos", "a `traffic` called `cos-N`", |words| several(words, "cos")),
    row("qos-group", "a `traffic` called `qos-group-N`", |words| several(words, "qos-group")),
    row("discard-class", "a `traffic` called `discard-class-N`", |words| several(words, "discard-class")),
    row("traffic-class", "a `traffic` called `traffic-class-N`", |words| several(words, "traffic-class")),
    row("mpls", "a `traffic` called `mpls-exp-N`", mpls),
    row("vlan", "a `traffic` called `vlan-N`", |words| several(words, "vlan")),
    row("input-interface", "a `traffic` called after the interface", |words| by_name(words, "from")),
    row("packet", "a `traffic` called after the lengths", packet),
    row("source-address", "a `traffic` called after the address", |words| one(words, "source")),
    row("destination-address", "a `traffic` called after the address", |words| one(words, "destination")),
    row("fr-de", "a `traffic` called `fr-de`", |_| Ok(named(vec!["fr-de".into()]))),
    row("atm", "a `traffic` called `atm-clp`", |words| one(words, "atm")),
    row("flow", "a `traffic` called after the field", |words| one(words, "flow")),
    row("application", "a `traffic` called after it", |words| by_name(words, "application")),
    row("non-client-nrt", "a `traffic` called `non-client-nrt`", |_| Ok(named(vec!["non-client-nrt".into()]))),
    row("ip", "as without", ip),
];

/// A test, and how it is approximated.
pub fn test(words: &mut Words<'_>) -> Result<(Test, Option<String>), String> {
    let not = words.has("not");
    let (what, nearly) = field(words)?;
    Ok((Test { not, what }, nearly))
}

fn field(words: &mut Words<'_>) -> Taken {
    // `ip rtp 16384 100` is one field.
    let ip = words.has("ip");
    let word = if ip && words.peek() == "rtp" { "ip" } else { words.take() };
    let row = FIELDS.iter().find(|row| row.word == word).ok_or_else(|| wanted(word, "a field of packets"))?;
    (row.read)(words)
}

fn ip(words: &mut Words<'_>) -> Taken {
    match words.peek() {
        "rtp" => one(words, "ip"),
        word => Err(wanted(word, "a field of packets")),
    }
}

fn fields(fields: Match) -> What {
    What::Fields(Box::new(fields))
}

/// The traffic of these names.
pub fn named(traffic: Vec<String>) -> (What, Option<String>) {
    let names: Vec<_> = traffic.iter().map(|name| format!("`{name}`")).collect();
    let how = format!("no packet here has this field: the traffic called {}", names.join(" or "));
    (fields(Match { traffic, ..Match::default() }), Some(how))
}

fn dscp(words: &mut Words<'_>) -> Taken {
    // IOS XR: of one version of IP.
    words.has_any(&["ipv4", "ipv6"]);
    Ok((fields(Match { dscp: words.dscps()?, ..Match::default() }), None))
}

fn precedence(words: &mut Words<'_>) -> Taken {
    words.has_any(&["ipv4", "ipv6"]);
    let dscp = words.precedences()?.into_iter().flat_map(dscps_of).collect();
    Ok((fields(Match { dscp, ..Match::default() }), None))
}

/// Which code points a precedence takes.
pub fn code_points(row: &Row<'_>, test: &Test) -> Option<String> {
    let What::Fields(fields) = &test.what else { return None };
    let by_precedence = row.words.iter().any(|word| word.text == "precedence");
    by_precedence.then(|| taken(&fields.dscp))
}

/// What a precedence takes.
pub fn taken(codes: &[Dscp]) -> String {
    format!("it takes {} code points: {}", codes.len(), value::code_points(codes))
}

fn access_group(words: &mut Words<'_>) -> Taken {
    words.has_any(&["name", "ipv4", "ipv6"]);
    match words.take() {
        "" => Err(wanted("", "the name of an access list")),
        name => Ok((What::List(name.to_owned()), None)),
    }
}

fn by_protocol(words: &mut Words<'_>) -> Taken {
    let name = words.take();
    match name {
        "" => Err(wanted("", "the name of a protocol")),
        "ip" | "ipv6" => Ok((What::Any, Some("every packet: one version of IP is not told from the other".into()))),
        _ => match protocol(name) {
            Some(protocol) => Ok((fields(Match { protocol: vec![Protocol(protocol)], ..Match::default() }), None)),
            None => {
                // What an application's packets say beyond its name: `protocol http url "*cgi*"`.
                let more = words.rest();
                let nearly = if more.is_empty() { "" } else { ", whatever else it says" };
                let how = format!("the traffic called `{name}`{nearly}: packets here have no application");
                Ok((fields(Match { traffic: vec![name.to_owned()], ..Match::default() }), Some(how)))
            }
        },
    }
}

/// `cos 1 2`, `cos 0,5-7`
fn several(words: &mut Words<'_>, field: &str) -> Taken {
    let list = words.rest();
    let numbers = list.split([' ', ',']).filter(|part| !part.is_empty());
    let mut names = Vec::new();
    for part in numbers {
        match part.split_once('-').map(|(from, to)| (from.parse::<u16>(), to.parse::<u16>())) {
            Some((Ok(from), Ok(to))) if from <= to && to - from < 64 => {
                names.extend((from..=to).map(|n| format!("{field}-{n}")));
            }
            _ if is_known(part) => names.push(format!("{field}-{part}")),
            _ => return Err(wanted(part, "a number")),
        }
    }
    if names.is_empty() { Err(wanted("", "a number")) } else { Ok(named(names)) }
}

fn mpls(words: &mut Words<'_>) -> Taken {
    words.has_any(&["experimental", "exp"]);
    words.has_any(&["topmost", "imposition"]);
    several(words, "mpls-exp")
}

/// A field in words of IOS, such as `length min 100`.
fn one(words: &mut Words<'_>, before: &str) -> Taken {
    let rest = words.rest();
    match rest.split(' ').find(|word| !is_known(word)) {
        Some(strange) => Err(wanted(strange, "a word of `match`")),
        None => Ok(named(vec![format!("{before}-{}", rest.replace(' ', "-"))])),
    }
}

/// The name of an interface or of an application.
fn by_name(words: &mut Words<'_>, before: &str) -> Taken {
    let name = words.take().to_owned();
    let number = if words.is_number() { format!("-{}", words.take()) } else { String::new() };
    Ok(named(vec![format!("{before}-{name}{number}")]))
}

fn packet(words: &mut Words<'_>) -> Taken {
    words.has("length");
    one(words, "length")
}
