//! Texts that say the same in other words give the same device, up to names: its rates, queues, policers and matches, and the
//! scenario that is made of it.

use crate::ios::hand::port;
use crate::round_trip::canonical;
use perhop_config::model::{Class, Port, Queue};
use perhop_config::stub::stub;
use perhop_core::units::BitRate;

/// Maps, policies and an interface of 100 Mbit/s.
const TEXTS: [&str; 4] = [
    "class-map match-any VOICE\n match dscp ef\nclass-map match-any DATA\n match dscp af31 af32\nclass-map match-any BULK\n match dscp \
     af11\npolicy-map WAN\n class VOICE\n  priority 10000\n class DATA\n  bandwidth 30000\n  random-detect dscp-based\n class BULK\n  \
     bandwidth 20000\n  queue-limit 100 packets\n class class-default\n  fair-queue\ninterface Serial0/0\n service-policy output WAN\n",
    "class-map match-any VOICE\n match dscp ef\nclass-map match-any DATA\n match dscp af31 af32\npolicy-map WAN\n class VOICE\n  police \
     cir 5000000 bc 50000\n class DATA\n  police cir 20000000 bc 200000 pir 40000000 be 400000\n   conform-action transmit\n   \
     exceed-action set-dscp-transmit af33\n   violate-action drop\n class class-default\n  set dscp default\ninterface Serial0/0\n \
     service-policy input WAN\n",
    "class-map match-any VOICE\n match dscp ef\nclass-map match-any DATA\n match dscp af31 af32\npolicy-map WAN\n class VOICE\n  priority \
     5000\n class DATA\n  shape average 20000000 80000 0\n class class-default\n  bandwidth 40000\ninterface Serial0/0\n service-policy \
     output WAN\n",
    "class-map match-any VOICE\n match dscp ef\nclass-map match-any DATA\n match dscp af31 af32\npolicy-map WAN\n class VOICE\n  priority \
     5000\n class DATA\n  priority 20000\n class class-default\n  set dscp default\ninterface Serial0/0\n service-policy output WAN\n",
];

/// Words of a text for others.
fn with(text: &str, words: &[(&str, &str)]) -> String {
    words.iter().fold(text.to_owned(), |text, (old, new)| text.replace(old, new))
}

fn same(old: &str, new: &str) {
    assert_eq!(canonical::port(port(old)), canonical::port(port(new)), "{old}\n{new}");
}

/// Names in another order of the alphabet.
const RENAMED: [(&str, &str); 4] = [("VOICE", "ZULU"), ("DATA", "YANKEE"), ("BULK", "XRAY"), ("WAN", "ALPHA")];

#[test]
fn other_names() {
    for text in TEXTS {
        let renamed = with(text, &RENAMED);
        same(text, &renamed);
        let scenario = |text: &str| stub(&port(text), BitRate::mbps(100)).text;
        let back = RENAMED.map(|(old, new)| (new, old));
        assert_eq!(scenario(text), with(&scenario(&renamed), &back));
    }
}

/// In the default class of a policy that says nothing else.
#[test]
fn a_policy_within_another() {
    for text in TEXTS {
        let outer = "policy-map OUTER\n class class-default\n  service-policy WAN\ninterface";
        let words = [("interface", outer), ("put WAN", "put OUTER")];
        same(text, &with(text, &words));
    }
}

#[test]
fn percentages_for_rates() {
    let words = [
        ("priority 10000", "priority percent 10"),
        ("priority 5000", "priority percent 5"),
        ("priority 20000", "priority percent 20"),
        ("bandwidth 30000", "bandwidth percent 30"),
        ("bandwidth 20000", "bandwidth percent 20"),
        ("bandwidth 40000", "bandwidth percent 40"),
        ("cir 5000000 bc 50000", "cir percent 5 bc 80 ms"),
        ("cir 20000000 bc 200000 pir 40000000 be 400000", "cir percent 20 bc 80 ms pir percent 40 be 80 ms"),
        ("average 20000000 80000 0", "average percent 20 4 ms 0 ms"),
    ];
    for text in TEXTS {
        let percent = with(text, &words);
        assert!(percent.contains("percent") && percent != text);
        same(&in_time(text), &in_time(&percent));
    }
}

/// Bursts of policers as times, on both sides: a device keeps what is typed.
fn in_time(text: &str) -> String {
    with(text, &[("bc 50000", "bc 80 ms"), ("bc 200000", "bc 80 ms"), ("be 400000", "be 80 ms")])
}

/// By two lines, by class maps within it, and by an access list.
#[test]
fn a_match_in_parts() {
    for text in TEXTS {
        same(text, &with(text, &[("match dscp af31 af32", "match dscp af31\n match ip dscp af32")]));
        let maps = "class-map match-any A\n match dscp af31\nclass-map match-all B\n match dscp af32\n";
        let within = with(text, &[("match dscp af31 af32", "match class-map A\n match class-map B")]);
        same(text, &format!("{maps}{within}"));
        let list = "ip access-list extended BOTH\n permit ip any any dscp af31\n permit ip any any dscp af32\n";
        let listed = with(text, &[("match dscp af31 af32", "match access-group name BOTH")]);
        same(text, &format!("{list}{listed}"));
    }
}

/// A class that only marks, in two; a share in two that are each half of it.
#[test]
fn a_class_in_two() {
    let text = |maps: &str, classes: &str, way: &str| {
        format!("{maps}policy-map P\n{classes}interface Serial0/0\n service-policy {way} P\n")
    };
    let one = "class-map match-any DATA\n match dscp af31 af32\n";
    let two = "class-map match-any DATA\n match dscp af31\nclass-map match-any MORE\n match dscp af32\n";
    let marks = |port: &Port| {
        let of = |it: &perhop_config::model::Conditioner| {
            let codes: Vec<_> = it.takes.iter().flat_map(|it| it.matches.is.dscp.clone()).collect();
            (codes, it.actions.iter().map(|(_, acts)| acts.is.clone()).collect::<Vec<_>>())
        };
        let each = port.conditioners.iter().map(of);
        let mut all: Vec<_> =
            each.flat_map(|(codes, acts)| codes.into_iter().map(move |code| (code, format!("{acts:?}")))).collect();
        all.sort();
        all
    };
    let whole = port(&text(one, " class DATA\n  set dscp af21\n", "input"));
    let parts = port(&text(two, " class DATA\n  set dscp af21\n class MORE\n  set dscp af21\n", "input"));
    assert_eq!(marks(&whole), marks(&parts));
    assert_eq!(marks(&whole).len(), 2);
    let share = |port: &Port, names: &[&str]| {
        let queue = port.queue.as_ref().unwrap();
        let of = |class: &&Class| class.settings.bytes("quantum").unwrap().get();
        let part: u64 = queue.classes.iter().filter(|it| names.contains(&it.name.is.as_str())).map(|it| of(&it)).sum();
        part as f64 / queue.classes.iter().map(|it| of(&it)).sum::<u64>() as f64
    };
    let whole = port(&text(one, " class DATA\n  bandwidth 40000\n", "output"));
    let parts = port(&text(two, " class DATA\n  bandwidth 20000\n class MORE\n  bandwidth 20000\n", "output"));
    assert_eq!(share(&whole, &["DATA"]), 0.4);
    assert_eq!(share(&parts, &["DATA", "MORE"]), 0.4);
}

/// Classes that share no packet, in the other order.
#[test]
fn another_order() {
    for text in TEXTS {
        let (head, rest) = text.split_once(" class VOICE\n").unwrap();
        let (voice, rest) = rest.split_once(" class DATA\n").unwrap();
        let end = rest.find(" class ").unwrap();
        let swapped = format!("{head} class DATA\n{} class VOICE\n{voice}{}", &rest[..end], &rest[end..]);
        assert_ne!(swapped, text);
        assert_eq!(sorted(port(text)), sorted(port(&swapped)), "{swapped}");
    }
}

/// Parts of a port in the order of what they take.
fn sorted(mut port: Port) -> Port {
    port.conditioners.sort_by_key(|it| format!("{:?}", it.takes.iter().map(|it| &it.matches.is).collect::<Vec<_>>()));
    let mut port = canonical::port(port);
    port.queue = port.queue.map(sorted_queue);
    port
}

fn sorted_queue(mut queue: Queue) -> Queue {
    let whole = perhop_config::value::Settings::default();
    for class in &mut queue.classes {
        // Of a level, each class but the first says that it is of it.
        let old = std::mem::replace(&mut class.settings, whole.clone());
        old.iter()
            .filter(|(key, _)| *key != "same-level")
            .for_each(|(key, said)| class.settings.set(key, said.clone()));
        class.takes.iter_mut().for_each(|it| it.order = 0);
        class.queue = class.queue.take().map(sorted_queue);
    }
    queue.classes.sort_by_key(|class| (class.rest, format!("{:?}", class.takes)));
    queue
}
