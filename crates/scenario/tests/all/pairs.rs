//! All errors of a file in one pass: any two faults in one file are both reported.

use perhop_scenario::{Options, Scenario};
use std::collections::BTreeSet;

/// Faults of a sound file, each of one key.
const FAULTS: [&str; 34] = [
    "conditioner.voice.red=\"explode\"",
    "conditioner.voice.at=\"A -> Z\"",
    "conditioner.voice.cbs=\"100B\"",
    "conditioner.voice.cir=\"fast\"",
    "conditioner.voice.mtu=3",
    "conditioner.voice.per=\"planet\"",
    "conditioner.voice.match.traffic=\"absent\"",
    "conditioner.gold.green=\"mark AF99\"",
    "conditioner.gold.yellow=\"paint\"",
    "conditioner.gold.at=[\"A -> B\", \"B -> Q\"]",
    "conditioner.gold.cbs=\"30B\"",
    "conditioner.gold.kindly=true",
    "links.\"A - B\".loss=7",
    "links.\"A - B\".queue=\"nosuch\"",
    "links.\"B - C\".rate=\"10 furlongs\"",
    "links.\"B - C\".mtu=\"big\"",
    "links.\"C -> B\".queue.limit=\"0p\"",
    "queue.wred.weight=99",
    "queue.wred.limit=\"0p\"",
    "queue.wred.ecn=3",
    "nodes.A.address=\"nowhere\"",
    "traffic.voice.flows=\"many\"",
    "traffic.voice.to=\"Z\"",
    "traffic.voice.rate=\"fast\"",
    "traffic.voice.start=\"100s\"",
    "traffic.mice.tcp=\"nothing\"",
    "traffic.mice.from=\"Y\"",
    "traffic.elephants.spread=3",
    "traffic.typists.to=\"A\"",
    "traffic.clerks.packets=\"none\"",
    "tcp.own.window=0",
    "scenario.warmup=\"60s\"",
    "scenario.sample-ports=[\"B -> E\"]",
    "scenario.replications=0",
];

/// The errors of the file with these faults.
fn errors(faults: &[&str]) -> BTreeSet<(&'static str, String)> {
    let options = faults.iter().fold(Options::new("x.toml"), |options, fault| options.set(fault));
    let said = Scenario::parse(include_str!("../good/every-key.toml"), &options).map(|it| it.1).unwrap_or_else(|it| it);
    let errors = said.list.into_iter().filter(|it| it.code.starts_with('E'));
    errors.map(|it| (it.code, it.sentence().into_owned())).collect()
}

/// What leaves a section without a value that others need: the link has no ports, the traffic no packets, the algorithm no
/// parameters. Only these may hide another fault.
const HIDING: [&str; 8] = [
    "conditioner.voice.at",
    "conditioner.voice.cir",
    "conditioner.voice.mtu",
    "links.\"B - C\".rate",
    "queue.wred.weight",
    "queue.wred.ecn",
    "traffic.voice.to",
    "traffic.voice.rate",
];
/// Pairs in which they do.
const HIDDEN: usize = 13;

#[test]
fn no_fault_hides_another() {
    let alone: Vec<_> = FAULTS.iter().map(|fault| errors(&[fault])).collect();
    for (fault, errors) in FAULTS.iter().zip(&alone) {
        assert!(!errors.is_empty(), "{fault} is no fault");
    }
    let (mut pairs, mut hidden) = (0, Vec::new());
    for (i, one) in FAULTS.iter().enumerate() {
        for (j, other) in FAULTS.iter().enumerate().skip(i + 1) {
            if key(one) == key(other) {
                continue;
            }
            pairs += 1;
            let both = errors(&[one, other]);
            let hides = HIDING.iter().any(|hiding| [one, other].iter().any(|it| key(it) == *hiding));
            let lost: Vec<_> = alone[i].union(&alone[j]).filter(|error| !both.contains(error)).collect();
            assert!(hides || lost.is_empty(), "{one} + {other} hides {lost:?}");
            hidden.extend(lost.iter().map(|(code, message)| format!("{one} + {other}: {code} {message}")));
        }
    }
    assert!(hidden.len() <= HIDDEN, "{} in {pairs} pairs:\n{}", hidden.len(), hidden.join("\n"));
}

fn key(fault: &str) -> &str {
    fault.split('=').next().unwrap()
}

/// An action, a port and a bucket of one conditioner.
#[test]
fn three_faults_of_one_conditioner() {
    let text = "[links]\n\"A - B\" = { rate = \"10Mbit/s\" }\n[conditioner.m]\nat = \"A -> C\"\nkind = \"token-bucket\"\ncir = \"1Mbit/s\"\n\
                cbs = \"100B\"\nred = \"explode\"\n[traffic.t]\nmodel = \"ftp\"\nfrom = \"A\"\nto = \"B\"\n";
    let said = Scenario::parse(text, &Options::new("x.toml")).map(|it| it.1).unwrap_or_else(|it| it);
    let mut codes: Vec<_> = said.list.iter().map(|it| it.code).collect();
    codes.sort_unstable();
    assert_eq!(codes, ["E212", "E224", "E235"], "{said}");
}
