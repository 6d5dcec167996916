//! Which class each packet goes to, and what becomes of it: the text is imported as a policy, and a host of perhop-edge with
//! its conditioners and its queue is given the packets.

use perhop_config::account::{Entry, Verdict};
use perhop_config::import::import;
use perhop_config::import_options::ImportOptions;
use perhop_config::model::{Fate, Way};
use perhop_config::value::{Value, WithOrigin};
use perhop_core::packet::FlowId;
use perhop_core::port::edge::Edge;
use perhop_core::units::{BitRate, Span, Time};
use perhop_edge::{Arriving, Behind, Direction, FlowTable, Host, LinkType, Moment, Observer, Passed, Policy, locate};
use perhop_scenario::{Options, Policy as Checked};
use serde::{Deserialize, Serialize};

/// The line behind the queue, where the text names no rate: it holds nothing back.
const LINE: BitRate = BitRate::bps(100_000_000_000);
/// From one packet to the next.
const STEP: Span = Span::from_ns(1_000_000);
/// Before the EtherType stand two addresses.
const ADDRESSES: usize = 12;

/// A text, and packets as hexadecimal bytes from the EtherType on.
#[derive(Debug, Deserialize, Serialize)]
pub struct Question {
    /// Of the configuration.
    pub name: String,
    /// `input` or `output`.
    pub direction: String,
    /// As it is typed.
    pub text: String,
    /// In their order.
    pub packets: Vec<String>,
}

/// What perhop makes of it.
#[derive(Debug, Default, Serialize)]
pub struct Answer {
    /// Of the configuration.
    pub name: String,
    /// Why there is no host for it.
    pub refused: Option<String>,
    /// Lines that are not taken as they are: number, verdict, notes.
    pub said: Vec<(usize, &'static str, String)>,
    /// Of each packet: the innermost class, `direct`, `dropped`, `passed`, `queue`, which is a queue without class, or `unknown`, where
    /// perhop says that it does not know.
    pub fates: Vec<String>,
}

/// The answer.
pub fn answer(question: &Question) -> Answer {
    let mut answer = Answer { name: question.name.clone(), ..Answer::default() };
    match host(question, &mut answer) {
        Ok((mut host, others)) => answer.fates = fates(&mut host, &others, &question.packets),
        Err(why) => answer.refused = Some(why),
    }
    answer
}

/// Packets of which the filters alone say where they end.
struct Others {
    fates: Vec<(&'static str, Fate)>,
    /// Whether a filter compares bytes of IPv6 packets that perhop does not know.
    blind: bool,
}

/// A host for the text.
fn host(question: &Question, answer: &mut Answer) -> Result<(Host, Others), String> {
    let way = if question.direction == "input" { Way::Input } else { Way::Output };
    let given = ImportOptions { way: Some(way), ..ImportOptions::default() };
    let mut imported = import(question.text.as_bytes(), Some("tc"), &given).map_err(|it| it.fault.message)?;
    let is_blind = |entry: &Entry| entry.notes.iter().any(|note| note.starts_with("`protocol all` with fields"));
    let blind = imported.read.account.lines.values().any(is_blind);
    let others = Others { fates: imported.port().others.clone(), blind };
    let link = &mut imported.read.device.ports[imported.port].link;
    if link.get("rate").is_none() {
        link.set("rate", WithOrigin::assumed("a line that holds nothing back", Value::Rate(LINE)));
    }
    let written = imported.policy();
    let lost = imported.read.account.lines.iter().filter(|(_, entry)| entry.verdict != Verdict::Taken);
    answer.said = lost.map(|(line, entry)| (*line, entry.verdict.name(), entry.notes.join("; "))).collect();
    let text = written.map_err(|fault| fault.message)?.text;
    let (checked, _) =
        Checked::parse(&text, &Options::new("policy.toml")).map_err(|found| format!("{found}\n{text}"))?;
    let queue = checked.line().zip(checked.queue());
    let queue = queue.map(|(plan, name)| Behind { name: name.to_owned(), plan: plan.clone() });
    let policy = Policy { stages: checked.stages(), accounting: checked.accounting(), queue, ..Policy::default() };
    Ok((Host::new(policy).map_err(|error| error.to_string())?, others))
}

/// Whether a conditioner drops the packet that has just come.
#[derive(Default)]
struct Watch {
    policed: bool,
}

impl Observer for Watch {
    fn passed(&mut self, it: &Passed<'_>, _: &mut FlowTable) {
        self.policed = it.left.is_none();
    }

    fn forget(&mut self, _: FlowId, _: &Edge) {}
}

/// Of one packet after the other.
fn fates(host: &mut Host, others: &Others, packets: &[String]) -> Vec<String> {
    let (mut watch, mut now) = (Watch::default(), Time::ZERO);
    let each = |packet: &String| {
        now += STEP;
        if let Some(name) = other(packet) {
            return others.fates.iter().find(|it| it.0 == name).map_or("unknown".to_owned(), |it| fate(&it.1));
        }
        if others.blind && packet.starts_with("86dd") {
            return "unknown".to_owned();
        }
        let data = frame(packet);
        // Of a header that is not read perhop passes the packet on.
        let Ok(headers) = locate(LinkType::ETHERNET, &data, length(&data)) else { return "passed".to_owned() };
        let at = Moment { now, lag: Span::ZERO };
        let before = arrived(host);
        let it = Arriving { number: 0, at, direction: Direction::Forward, link: LinkType::ETHERNET, headers: &headers };
        host.arrive(&it, &mut watch);
        let row = arrived(host).iter().zip(before).position(|(now, before)| *now != before);
        match (watch.policed, row, host.line()) {
            (true, ..) => "dropped".to_owned(),
            (_, Some(row), Some(_)) => class(host, row),
            _ => "passed".to_owned(),
        }
    };
    packets.iter().map(each).collect()
}

/// The protocol of a packet that is none of IP.
fn other(packet: &str) -> Option<&'static str> {
    [("0806", "ARP"), ("8100", "802.1Q")].iter().find(|it| packet.starts_with(it.0)).map(|it| it.1)
}

fn fate(of: &Fate) -> String {
    match of {
        Fate::Class(name) => name.clone(),
        Fate::Direct => "direct".to_owned(),
        Fate::Dropped => "dropped".to_owned(),
        Fate::Metered | Fate::Passed => "passed".to_owned(),
    }
}

/// The bytes of a frame.
fn frame(packet: &str) -> Vec<u8> {
    let byte = |at: usize| u8::from_str_radix(&packet[at..at + 2], 16).expect("hexadecimal");
    let bytes = (0..packet.len()).step_by(2).map(byte);
    std::iter::repeat_n(2, ADDRESSES).chain(bytes).collect()
}

/// How long the frame is: what its IP header says.
fn length(frame: &[u8]) -> u32 {
    let two = |at: usize| u32::from(u16::from_be_bytes([frame[at], frame[at + 1]]));
    let at = if two(ADDRESSES) == 0x8100 { 18 } else { 14 };
    at as u32 + if frame[at] >> 4 == 6 { 40 + two(at + 4) } else { two(at + 2) }
}

/// How many packets have come to each queue of the specification.
fn arrived(host: &Host) -> Vec<u64> {
    let rows = host.port().rows();
    let of = |row: &Vec<_>| row.iter().map(|queue: &&perhop_core::port::Queue<u32>| packets(queue)).sum();
    rows.iter().map(of).collect()
}

fn packets(queue: &perhop_core::port::Queue<u32>) -> u64 {
    queue.gate().fates().iter().map(|(_, fates)| fates.arrived.packets).sum()
}

/// The innermost class of a queue.
fn class(host: &Host, row: usize) -> String {
    let branches = host.port().branches();
    let own = branches.iter().filter(|branch| branch.queues == [row]);
    let named = own.filter(|branch| branch.name.contains(':') || ["direct", "unclassified"].contains(&&*branch.name));
    match named.max_by_key(|branch| branch.depth).map(|branch| branch.name.as_str()) {
        None => "queue".to_owned(),
        Some("unclassified") => "dropped".to_owned(),
        Some(name) => name.to_owned(),
    }
}
