//! Labels in IPv6 flow labels: what a labeller writes is there, a reader in another run sees it, and nothing else of
//! a capture changes.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use perhop_capture::mark::{LabelReport, Marking, Report};
use perhop_capture::{Fate, Pump};
use perhop_core::classify::Prefix;
use perhop_core::conditioner::Conditioner;
use perhop_core::flow_label::{self, Encoding};
use perhop_core::params::Tree;
use perhop_core::port::edge::{Action, Per, StageSpec};
use perhop_edge::{FlowTable, locate, set_flow_label};
use perhop_results::captures;

use crate::common::copy;
use crate::common::marking::{Seen, af, by_name, file, marked, marking, packets, stage};

/// Averaging constant of the labeller, its default.
const K: f64 = 0.1;

fn read(name: &str) -> Vec<u8> {
    std::fs::read(file(name)).unwrap()
}

fn text(value: &str) -> Tree {
    Tree::Text(value.into())
}

fn rates(stages: Vec<StageSpec>) -> Marking {
    Marking { flow_label: Some(Encoding::Rate), ..marking(stages) }
}

/// A rate for each flow.
fn labeller(entries: Vec<(&str, Tree)>) -> StageSpec {
    StageSpec { per: Per::Flow, ..stage("label", by_name("rate-labeller", entries)) }
}

/// Drops what is above its fair share, and marks the rest AF11.
fn fair() -> StageSpec {
    let params = by_name("f-sam", vec![("cir", text("300kbit/s")), ("cbs", text("20000B"))]);
    StageSpec { actions: [af("AF11"), Action::TRANSMIT, af("AF13"), Action::TRANSMIT], ..stage("fair", params) }
}

fn labels(report: &Report) -> &LabelReport {
    report.labels.as_ref().expect("the policy carries labels")
}

fn flow_labels(packets: &[Seen]) -> Vec<Option<u32>> {
    packets.iter().map(|packet| packet.ip.and_then(|ip| ip.flow_label)).collect()
}

/// The capture with these flow labels in its IPv6 packets.
fn relabelled(capture: &[u8], mut label: impl FnMut(usize) -> u32) -> Vec<u8> {
    let visit = |record: perhop_capture::Record<'_>| {
        if let Ok(headers) = locate(record.link, record.data, record.original)
            && headers.version == 6
        {
            set_flow_label(record.data, &headers, label(record.index as usize)).unwrap();
        }
        Ok(Fate::Keep)
    };
    copy(capture, Pump::default(), visit).unwrap().0
}

/// One flow's rate in bytes/s by CSFQ's equation (1) as in the paper, with the machine's own exponential
/// function. Bytes at one instant count in the next gap; the first packet's count in none.
struct Flow {
    rate: f64,
    last: u64,
    waiting: f64,
}

impl Flow {
    #[allow(clippy::disallowed_methods)]
    fn add(&mut self, now: u64, length: u32) {
        self.waiting += f64::from(length);
        let gap = (now - self.last) as f64 / 1e9;
        if gap > 0.0 {
            let fade = (-gap / K).exp();
            self.rate = (1.0 - fade) * self.waiting / gap + fade * self.rate;
            (self.waiting, self.last) = (0.0, now);
        }
    }
}

/// The rate of each packet's flow as of that packet, at least 1 B/s.
fn rates_by_the_book(packets: &[Seen]) -> Vec<f64> {
    let (mut table, mut flows, mut now) = (FlowTable::new(), BTreeMap::<u32, Flow>::new(), 0);
    let each = packets.iter().map(|packet| {
        let ip = packet.ip.expect("IPv6");
        now = now.max(packet.stamp_ns);
        match flows.entry(table.id(&ip)) {
            Entry::Occupied(flow) => {
                let flow = flow.into_mut();
                flow.add(now, ip.lengths.l3);
                flow.rate.max(1.0)
            }
            Entry::Vacant(place) => {
                place.insert(Flow { rate: 0.0, last: now, waiting: 0.0 });
                1.0
            }
        }
    });
    each.collect()
}

/// The rate in each flow label is the flow's by the equation, within the code's error; no other byte of the file
/// differs; and the report counts what an onlooker counts.
#[test]
fn a_rate_stands_in_every_flow_label() {
    for name in ["tcp6-ns.pcap", "udp6-fragments.pcap"] {
        let input = read(name);
        let (output, report) = marked(&input, rates(vec![labeller(vec![])])).unwrap();
        let (before, after) = (packets(&input), packets(&output));
        let (old, new) = (flow_labels(&before), flow_labels(&after));
        assert!(relabelled(&output, |i| old[i].unwrap()) == input, "{name}: something else differs");
        for (i, (rate, label)) in rates_by_the_book(&before).into_iter().zip(&new).enumerate() {
            let label = Encoding::Rate.value(label.unwrap()).unwrap();
            // half a unit below 64 B/s; above, 2^-16 of the code, 2^-24 of the label's 32 bits and some 1e-12 of exp
            let bound = (1.0f64 / 1024.0).max(rate * (1.0 / 65536.0 + 1e-7));
            assert!((f64::from(label) - rate).abs() <= bound, "{name} packet {i}: {label} of {rate}");
        }
        let came = old.iter().flatten().filter(|label| **label != 0).count() as u64;
        let changed = old.iter().zip(&new).filter(|(old, new)| old != new).count() as u64;
        let all = before.len() as u64;
        assert!(came > all / 2 && changed > all / 2, "{name}: {came} and {changed} of {all}");
        let expected = LabelReport { carried: "rate", came, foreign: 0, left: all, changed, saturated: 0, no_room: 0 };
        assert_eq!(labels(&report), &expected, "{name}");
        assert!(!report.warnings.iter().any(|text| text.contains("label")), "{name}: {:?}", report.warnings);
    }
}

/// One domain labels, another reads: the same colours as when both do their work at one edge. The rates read differ by
/// 2^-16 from those written; no draw of these falls between the two.
#[test]
fn a_reader_of_a_later_domain_sees_the_labels() {
    for name in ["tcp6-ns.pcap", "udp6-fragments.pcap"] {
        let input = read(name);
        let (labelled, _) = marked(&input, rates(vec![labeller(vec![])])).unwrap();
        let (apart, report) = marked(&labelled, rates(vec![fair()])).unwrap();
        let (together, _) = marked(&input, rates(vec![labeller(vec![]), fair()])).unwrap();
        assert!(apart == together, "{name}");
        assert_eq!(flow_labels(&packets(&apart)), flow_labels(&packets(&labelled)), "{name}: F-SAM writes none");
        let all = report.capture.packets;
        assert_eq!((labels(&report).came, labels(&report).left, labels(&report).changed), (all, all, 0), "{name}");
        let colours: BTreeSet<_> = report.conditioners[0].colours.iter().map(|row| row.after).collect();
        assert_eq!(colours, BTreeSet::from(["green", "red"]), "{name}");
        // the labels matter: of what hosts put into flow labels F-SAM makes something else
        let astray = marked(&input, rates(vec![fair()])).unwrap().0;
        let dscp = |bytes: &[u8]| packets(bytes).iter().map(|packet| packet.ip.unwrap().dscp).collect::<Vec<_>>();
        assert_ne!(dscp(&astray), dscp(&apart), "{name}");
    }
}

/// Without `flow-label` a policy neither writes flow labels nor reads them.
#[test]
fn without_the_key_flow_labels_are_not_looked_at() {
    for name in ["tcp6-ns.pcap", "udp6-fragments.pcap", "merged.pcapng"] {
        let input = read(name);
        let (output, report) = marked(&input, marking(vec![labeller(vec![])])).unwrap();
        assert!(output == input, "{name}");
        assert_eq!(report.labels, None);
        let others = relabelled(&input, |i| i as u32 * 7919 % flow_label::MAX);
        let back = flow_labels(&packets(&input));
        for stages in [vec![fair()], vec![labeller(vec![]), fair()]] {
            let once = marked(&input, marking(stages.clone())).unwrap().0;
            let again = marked(&others, marking(stages)).unwrap().0;
            assert!(relabelled(&again, |i| back[i].unwrap()) == once, "{name}");
        }
    }
}

/// An incoming label that no conditioner rewrites leaves unchanged, whatever it is.
#[test]
fn what_is_not_rewritten_stays() {
    let input = relabelled(&read("tcp6-ns.pcap"), |i| (i as u32).wrapping_mul(2_654_435_761) >> 12);
    let (output, report) = marked(&input, rates(vec![fair()])).unwrap();
    assert_eq!(flow_labels(&packets(&output)), flow_labels(&packets(&input)));
    assert_eq!(labels(&report).changed, 0);
    let zero = relabelled(&input, |_| 0);
    let (output, report) = marked(&zero, rates(vec![fair()])).unwrap();
    assert!(flow_labels(&packets(&output)).iter().all(|label| *label == Some(0)));
    assert_eq!((labels(&report).came, labels(&report).left), (0, 0));
}

#[test]
fn ipv4_has_no_room() {
    let input = read("tcp.pcap");
    let (output, report) = marked(&input, rates(vec![labeller(vec![])])).unwrap();
    assert!(output == input);
    let no_room = report.directions.forward.packets;
    let expected = LabelReport { carried: "rate", came: 0, foreign: 0, left: 0, changed: 0, saturated: 0, no_room };
    assert_eq!(labels(&report), &expected);
    let said = format!("{no_room} packets got a label but are IPv4");
    assert!(report.warnings.iter().any(|text| text.starts_with(&said)), "{:?}", report.warnings);
    let mixed = marked(&read("merged.pcapng"), rates(vec![labeller(vec![])])).unwrap().1;
    let of_ipv6 = packets(&read("merged.pcapng")).iter().filter(|it| it.ip.is_some_and(|ip| ip.version == 6)).count();
    assert_eq!(
        (labels(&mixed).left, labels(&mixed).no_room),
        (of_ipv6 as u64, mixed.directions.forward.packets - of_ipv6 as u64)
    );
    assert!(labels(&mixed).left > 20 && labels(&mixed).no_room > 100);
    let table = captures::text(&mixed, 1);
    let row = table.lines().find(|line| line.starts_with("rate ")).expect("a table of labels");
    assert!(row.ends_with(&format!("  {}", labels(&mixed).no_room)), "{table}");
    let json = serde_json::to_value(&mixed).unwrap();
    assert_eq!(json["labels"]["no_room"], serde_json::json!(labels(&mixed).no_room));
}

/// Rates divided by a tiny weight are beyond 1.1 Tbit/s: the last code is used for them, and they are counted.
#[test]
fn saturation_is_counted() {
    let (output, report) =
        marked(&read("tcp6-ns.pcap"), rates(vec![labeller(vec![("weight", Tree::Float(1e-9))])])).unwrap();
    let last = flow_labels(&packets(&output)).iter().filter(|label| **label == Some(flow_label::MAX)).count() as u64;
    assert_eq!(labels(&report).saturated, last);
    assert!(last > 200, "{last}");
    assert!(report.warnings.iter().any(|text| text.starts_with(&format!("{last} labels are beyond the codes"))));
}

/// What is dropped leaves no label, and what comes back is not labelled.
#[test]
fn only_what_leaves_is_counted() {
    let policy = |actions| {
        let dropping = StageSpec { actions, ..fair() };
        Marking { inside: sender(), ..rates(vec![labeller(vec![]), dropping]) }
    };
    let input = relabelled(&read("tcp6-ns.pcap"), |_| 0);
    let (output, report) =
        marked(&input, policy([Action::TRANSMIT, Action::TRANSMIT, Action::Drop, Action::TRANSMIT])).unwrap();
    assert!(report.directions.dropped.packets > 20 && report.directions.reverse.packets > 20);
    assert_eq!(labels(&report).left, report.directions.forward.packets - report.directions.dropped.packets);
    let labelled = flow_labels(&packets(&output)).iter().filter(|label| **label != Some(0)).count();
    assert_eq!(labelled as u64, labels(&report).left);
}

/// Tickets, of the traffic that fd77::1 sends.
fn tickets(stages: Vec<StageSpec>) -> Marking {
    let tags = |stage: &StageSpec| stage.params.build(&stage.scope).unwrap().tags().cloned();
    let encoding = stages.iter().find_map(tags).map(Encoding::Tickets);
    Marking { flow_label: encoding, inside: sender(), ..marking(stages) }
}

fn sender() -> Vec<Prefix> {
    vec![Prefix("fd77::1/128".parse().unwrap())]
}

fn tagger(entries: Vec<(&str, Tree)>) -> StageSpec {
    StageSpec { per: Per::Flow, ..stage("tagger", by_name("pps-tagger", entries)) }
}

fn relabeller() -> StageSpec {
    stage("next", by_name("pps-relabeller", vec![("tickets", text("250t/s"))]))
}

/// Data of the sender; its ACKs of what comes back are none.
fn data(packet: &Seen) -> bool {
    let ip = packet.ip.unwrap();
    let pure_ack = ip.tcp.is_some_and(|tcp| tcp.payload == 0 && tcp.flags & 0x10 != 0);
    ip.source.to_string() == "fd77::1" && !pure_ack
}

/// A source's host tags, the next domain exchanges: byte for byte what one edge makes of it that does both. The tags are
/// only on the sender's data, and hosts' own flow labels, of more than 8 bits, are not taken for tickets.
#[test]
fn tickets_of_one_domain_are_exchanged_in_the_next() {
    let input = read("tcp6-ns.pcap");
    let tagging = || tagger(vec![("tickets", text("1000t/s"))]);
    let (tagged, first) = marked(&input, tickets(vec![tagging()])).unwrap();
    let (apart, second) = marked(&tagged, tickets(vec![relabeller()])).unwrap();
    let (together, _) = marked(&input, tickets(vec![tagging(), relabeller()])).unwrap();
    assert!(apart == together);
    let [before, between, after] = [&input, &tagged, &apart].map(|bytes| packets(bytes));
    let [old, tags, exchanged] = [&before, &between, &after].map(|packets| flow_labels(packets));
    assert!(relabelled(&apart, |i| old[i].unwrap()) == input, "something else differs");
    for (i, packet) in before.iter().enumerate() {
        if data(packet) {
            assert!([tags[i], exchanged[i]].iter().flatten().all(|tag| (1..256).contains(tag)), "packet {i}");
        } else {
            assert!(tags[i] == old[i] && exchanged[i] == old[i], "packet {i}");
        }
    }
    let all = before.iter().filter(|packet| data(packet)).count() as u64;
    let foreign = |labels: &[Option<u32>]| labels.iter().flatten().filter(|label| **label > 255).count() as u64;
    let (first, second) = (labels(&first), labels(&second));
    assert_eq!((first.came, first.foreign, first.left), (0, foreign(&old), all));
    assert_eq!((second.came, second.foreign, second.left), (all, foreign(&tags), all));
    assert!(second.changed > all / 2 && second.saturated == 0, "{second:?}");
}

/// The rate of ACKs divides the tickets: a tagger that sees none, as where all packets go forward, has to write the most
/// that a tag can say.
#[test]
fn a_tagger_needs_what_comes_back() {
    let input = read("tcp6-ns.pcap");
    let tags = |inside| {
        let unpoliced = tagger(vec![("tickets", text("100t/s")), ("policing", text("off"))]);
        let policy = Marking { inside, ..tickets(vec![unpoliced]) };
        let output = packets(&marked(&input, policy).unwrap().0);
        let tags = output.iter().filter(|packet| data(packet)).map(|packet| packet.ip.unwrap().flow_label.unwrap());
        tags.collect::<BTreeSet<_>>()
    };
    assert_eq!(tags(vec![]), BTreeSet::from([255]));
    let divided = tags(sender());
    assert!(divided.len() > 5 && divided.iter().any(|tag| *tag < 100), "{divided:?}");
}

/// The first packet of a connection that was captured is an ACK with 200 tickets. The source has them when its first
/// segment comes: one segment in the window, so 200 tickets a segment. Without them it would write 255.
#[test]
fn a_capture_may_begin_with_what_comes_back() {
    let input = read("tcp6-ns.pcap");
    let all = packets(&input);
    let segment = all.iter().position(|packet| data(packet) && packet.original > 1000).unwrap();
    let back = |packet: &Seen| {
        let (ip, of) = (packet.ip.unwrap(), all[segment].ip.unwrap());
        ip.source == of.destination && ip.ports.map(|it| it.destination) == of.ports.map(|it| it.source)
    };
    let ack = (segment..all.len()).find(|i| back(&all[*i])).unwrap();
    let order = |wanted: [usize; 2]| {
        let one = |wanted: usize| {
            let visit = |record: perhop_capture::Record<'_>| {
                let headers = locate(record.link, record.data, record.original).unwrap();
                set_flow_label(record.data, &headers, if wanted == ack { 200 } else { 0 }).unwrap();
                Ok(if record.index as usize == wanted { Fate::Keep } else { Fate::Drop })
            };
            copy(&input, Pump::default(), visit).unwrap().0
        };
        [&one(wanted[0])[..], &one(wanted[1])[24..]].concat()
    };
    let tags = |capture: &[u8]| {
        let output = marked(capture, tickets(vec![tagger(vec![("rate", text("sent"))])])).unwrap().0;
        flow_labels(&packets(&output))
    };
    assert_eq!(tags(&order([ack, segment])), [Some(200), Some(200)]);
    assert_eq!(tags(&order([segment, ack])), [Some(255), Some(200)]);
}

/// A cap of 5 tickets/s: a packet for which there is less than one is thinned out.
fn capped(capture: &[u8], untagged: &str) -> (Vec<u8>, Report) {
    let keys = [("tickets", "5t/s"), ("relabel", "arrival"), ("scarce", "drop"), ("untagged", untagged)];
    let cap = by_name("pps-relabeller", keys.map(|(key, value)| (key, text(value))).to_vec());
    marked(capture, tickets(vec![stage("cap", cap)])).unwrap()
}

/// The cap holds who tags, whatever `untagged` says. Who does not, with a flow label of 0 or a foreign one, it lets pass, holds
/// as one with one ticket a packet, or drops. ACKs alone are not held: no tagger tags them.
///
/// Held so, of 194 packets within 1 s the n-th has min(1, 5 (5 + t)/n) tickets, t being between 0 and 1 s: TSW with a window of 5 s
/// that has just begun. 25 + 25 ln(194/25) = 76 to 30 + 30 ln(194/30) = 86 pass, with a variance below their number: 5 of
/// its roots are 46.
#[test]
fn a_cap_holds_who_does_not_tag_where_the_policy_says_so() {
    let input = relabelled(&read("tcp6-ns.pcap"), |_| 0);
    let tagged = marked(&input, tickets(vec![tagger(vec![("tickets", text("1000t/s"))])])).unwrap().0;
    let held = |capture: &[u8], untagged| capped(capture, untagged).1.directions.dropped.packets;
    let all = packets(&input).iter().filter(|packet| data(packet)).count() as u64;
    let of_tagged = held(&tagged, "pass");
    assert!(of_tagged > all / 2, "{of_tagged} of {all}");
    assert_eq!([held(&tagged, "least"), held(&tagged, "drop")], [of_tagged; 2]);
    for foreign in [0, 256, 1 << 19] {
        let untagged = relabelled(&input, |_| foreign);
        assert_eq!(held(&untagged, "pass"), 0);
        assert_eq!(held(&untagged, "drop"), all);
        let (output, report) = capped(&untagged, "least");
        let (dropped, met) = (report.directions.dropped.packets, &report.conditioners[0].tallies);
        assert!((76 - 46..=86 + 46).contains(&(all - dropped)), "{dropped} of {all}");
        assert_eq!(met.iter().find(|row| row.quantity == "untagged_packets").map(|row| row.total), Some(all));
        let output = packets(&output);
        let mut codes =
            output.iter().filter(|packet| data(packet)).map(|packet| packet.ip.unwrap().flow_label.unwrap());
        assert!(codes.all(|code| (1..256).contains(&code)), "an exchanged packet has a tag");
    }
}
