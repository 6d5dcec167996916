//! What the rules find in texts.

mod bucket;
mod counters;
mod htb;
mod ios;
mod tc;

use perhop_config::finding::Finding;
use perhop_config::import::DIALECTS as ALL;
use perhop_config::import_options::ImportOptions;
use perhop_config::rules::findings;
use perhop_config::text::Text;
use proptest::prelude::*;

/// Findings with the words at their places.
fn given(from: &str, text: &str, given: &ImportOptions) -> Vec<(Finding, String)> {
    let text = Text::new(text.as_bytes());
    let dialect = ALL.iter().find(|dialect| dialect.name == from).unwrap();
    let read = (dialect.read)(&text, given).unwrap_or_else(|fault| panic!("{fault:?}:\n{}", text.text));
    let words = |finding: Finding| (finding.clone(), text.text[finding.place.start..finding.place.end].to_owned());
    findings(&read, &text, given).into_iter().map(words).collect()
}

/// The only finding.
#[track_caller]
fn only(from: &str, text: &str, code: &str, words: &str) -> Finding {
    let all = given(from, text, &ImportOptions::default());
    assert_eq!(
        all.iter().map(|it| (it.0.code, it.1.as_str())).collect::<Vec<_>>(),
        [(code, words)],
        "{text}\n{all:#?}"
    );
    all[0].0.clone()
}

#[track_caller]
fn none(from: &str, text: &str) {
    let all = given(from, text, &ImportOptions::default());
    assert!(all.is_empty(), "{text}\n{all:#?}");
}

#[test]
fn an_empty_text_gives_nothing() {
    assert_eq!(findings(&<_>::default(), &<_>::default(), &<_>::default()), []);
}

/// Words that the rules look at, with numbers at the ends of their ranges.
const WORDS: &[&str] = &[
    "policy-map P",
    "class GOLD",
    "class class-default",
    "police cir 0 bc 0 pir 0 be 0",
    "police cir 18446744073709551615 bc 1 be 9",
    "shape average 8000 0",
    "shape average 0",
    "bandwidth 18446744073709551615",
    "bandwidth percent 0",
    "priority 0",
    "bandwidth remaining percent 100",
    "random-detect dscp ef 0 0 1",
    "service-policy P",
    "interface GigabitEthernet0/0",
    "service-policy output P",
    "exceed-action drop",
    "class-map GOLD",
    "match dscp ef",
    "match dscp cs1",
    "bandwidth 0",
    "tc qdisc add dev eth0 root handle 1: htb r2q 0",
    "tc qdisc add dev eth0 root tbf rate 1 burst 1 latency 1",
    "tc class add dev eth0 parent 1: classid 1:1 htb rate 0 ceil 0 burst 0",
    "tc class add dev eth0 parent 1:1 classid 1:2 htb rate 1",
    "tc class add dev eth0 parent 1:1 classid 1:3 htb rate 2000000000000bit quantum 0",
    "tc qdisc add dev eth0 ingress",
    "tc filter add dev eth0 parent ffff: matchall police rate 1bit burst 1",
    "class htb 1:1 root prio 0 rate 1bit ceil 1bit burst 0b cburst 0b",
    " Sent 9223372036854775807 bytes 9223372036854775807 pkt (dropped 9223372036854775807, overlimits 1 requeues 0)",
    " tokens: -9223372036854775808 ctokens: -9223372036854775808",
    " backlog 18446744073709551615b 1p requeues 0",
    "qdisc htb 1: dev eth0 root r2q 10 default 0 direct_packets_stat 4294967295",
];

proptest! {
    /// No text makes a rule panic.
    #[test]
    fn any_lines(lines in prop::collection::vec(prop::sample::select(WORDS), 0..40)) {
        let text = Text::new(lines.join("\n").as_bytes());
        for dialect in ALL {
            if let Ok(read) = (dialect.read)(&text, &ImportOptions::default()) {
                for found in findings(&read, &text, &ImportOptions::default()) {
                    prop_assert!(text.text.get(found.place.start..found.place.end).is_some_and(|words| !words.is_empty()), "{found:?}");
                }
            }
        }
    }
}
