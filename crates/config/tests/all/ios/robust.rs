//! Any text: no panic, places within the text, and every line accounted for once.

use perhop_config::import_options::{ImportOptions, Platform};
use perhop_config::ios::DIALECT;
use perhop_config::text::Text;
use perhop_config::value::{Origin, Settings, Value};
use proptest::prelude::*;

/// Words of configurations and outputs, in any order.
const WORDS: &[&str] = &[
    "policy-map",
    "class-map",
    "class",
    "class-default",
    "interface",
    "Gi0/0",
    "service-policy",
    "output",
    "input",
    "P",
    "Q",
    "match",
    "match-any",
    "match-all",
    "not",
    "dscp",
    "ef",
    "af11",
    "precedence",
    "access-group",
    "name",
    "101",
    "access-list",
    "permit",
    "deny",
    "ip",
    "udp",
    "tcp",
    "any",
    "host",
    "10.0.0.0",
    "0.0.0.255",
    "eq",
    "range",
    "80",
    "65535",
    "priority",
    "level",
    "percent",
    "bandwidth",
    "remaining",
    "ratio",
    "shape",
    "average",
    "peak",
    "police",
    "cir",
    "bc",
    "pir",
    "be",
    "rate",
    "pps",
    "burst",
    "packets",
    "ms",
    "conform-action",
    "exceed-action",
    "violate-action",
    "transmit",
    "drop",
    "set-dscp-transmit",
    "set",
    "cos",
    "random-detect",
    "dscp-based",
    "ecn",
    "exponential-weighting-constant",
    "queue-limit",
    "bytes",
    "fair-queue",
    "account",
    "user-defined",
    "no",
    "exit",
    "end",
    "!",
    "1",
    "0",
    "100",
    "10000000",
    "18446744073709551615",
    "-5",
    "1.5m",
    "10%",
    "(kbps)",
    "Policy",
    "Map",
    "Class",
    "Class-map:",
    "(match-all)",
    "Service-policy",
    "output:",
    ":",
    "Match:",
    "police:",
    "conformed",
    "exceeded",
    "bps,",
    "bytes;",
    "actions:",
    "queue",
    "limit",
    "us/",
    "Priority:",
    "Strict,",
    "Transmitted",
    "min-threshold",
    "0/0",
    "1/10",
    "-",
    "rsvp",
    "Exp-weight-constant:",
    "Average",
    "Rate",
    "Traffic",
    "Shaping",
    "table",
    "discard-class",
    "type",
    "queueing",
    "inspect",
    "control-plane",
    "R1(config-pmap-c)#",
    "R1#",
    ">",
    "\u{e9}",
    "AFD",
];

fn soup() -> impl Strategy<Value = String> {
    let word = proptest::sample::select(WORDS);
    let line = (0..4usize, proptest::collection::vec(word, 1..8))
        .prop_map(|(indent, words)| format!("{}{}\n", "  ".repeat(indent), words.join(" ")));
    proptest::collection::vec(line, 0..40).prop_map(|lines| lines.concat())
}

/// Lines that mostly make sense, so that what is built is deep.
fn lines() -> impl Strategy<Value = String> {
    const LINES: &[&str] = &[
        "class-map match-any C",
        "class-map match-all D",
        " match dscp ef af11",
        " match access-group 101",
        " match not dscp ef",
        " match class-map C",
        "access-list 101 permit udp any any eq 5060",
        "access-list 101 deny ip host 10.0.0.1 any",
        "policy-map P",
        "policy-map Q",
        " class C",
        " class D",
        " class class-default",
        "  priority 1000",
        "  priority percent 101",
        "  priority level 2 percent 10",
        "  bandwidth percent 30",
        "  bandwidth remaining ratio 0",
        "  bandwidth 18446744073709551615",
        "  shape average 10000000 0 0",
        "  shape peak 0",
        "  shape average percent 50",
        "  police cir 8000 pir 16000",
        "  police rate 5 pps",
        "  police cir percent 5",
        "   violate-action set-dscp-transmit af13",
        "  set dscp af41",
        "  drop",
        "  random-detect",
        "  random-detect dscp-based",
        "  random-detect dscp ef 10 ms 20 ms",
        "  random-detect dscp af11 5 2 1",
        "  queue-limit 0",
        "  queue-limit dscp ef percent 200",
        "  fair-queue",
        "  service-policy Q",
        "  service-policy P",
        "  account user-defined -40",
        "interface Gi0/0",
        " bandwidth 0",
        " service-policy output P",
        " service-policy input Q",
    ];
    proptest::collection::vec(proptest::sample::select(LINES), 0..60).prop_map(|lines| lines.join("\n"))
}

fn given() -> impl Strategy<Value = ImportOptions> {
    let platform = proptest::sample::select(&[Platform::Ios, Platform::IosXe, Platform::Ncs][..]);
    (proptest::option::of(1_000u64..10_000_000_000), platform).prop_map(|(link, platform)| ImportOptions {
        link: link.map(perhop_core::units::BitRate::bps),
        platform,
        ..ImportOptions::default()
    })
}

fn sound(bytes: &[u8], given: &ImportOptions) {
    let text = Text::new(bytes);
    let lines = text.lines().count();
    let _ = (DIALECT.looks)(&text);
    let read = match (DIALECT.read)(&text, given) {
        Ok(read) => read,
        Err(fault) => {
            assert!(fault.place.is_none_or(|place| place.start <= place.end && place.end <= text.text.len()));
            return;
        }
    };
    assert!(read.account.lines.keys().all(|line| (1..=lines).contains(line)));
    for port in &read.device.ports {
        inside(&port.link, &text);
        for conditioner in &port.conditioners {
            inside(&conditioner.settings, &text);
        }
        if let Some(queue) = &port.queue {
            queues(queue, &text);
        }
    }
}

fn queues(queue: &perhop_config::model::Queue, text: &Text) {
    inside(&queue.settings, text);
    inside(&queue.shape, text);
    for class in &queue.classes {
        inside(&class.settings, text);
        class.queue.iter().for_each(|inner| queues(inner, text));
    }
}

fn inside(settings: &Settings, text: &Text) {
    for (key, said) in settings.iter() {
        if let Origin::Text(place) = said.origin {
            assert!(place.start <= place.end && place.end <= text.text.len(), "{key}");
            assert!(text.text.is_char_boundary(place.start) && text.text.is_char_boundary(place.end), "{key}");
        }
        if let Value::Table(table) = &said.is {
            inside(table, text);
        }
    }
}

proptest! {
    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        sound(&bytes, &ImportOptions::default());
    }

    #[test]
    fn any_words(text in soup(), given in given()) {
        sound(text.as_bytes(), &given);
    }

    #[test]
    fn any_lines(text in lines(), given in given()) {
        sound(text.as_bytes(), &given);
        // Cut anywhere.
        let end = text.char_indices().map(|(at, _)| at).nth(text.len() / 3).unwrap_or(0);
        sound(&text.as_bytes()[..end], &given);
    }
}
