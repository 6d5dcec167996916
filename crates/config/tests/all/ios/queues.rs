//! Queues: priority, shares, shapers, WRED, nested policies.

use crate::ios::hand::{at_interface, default_class, exported, keys, port, read, verdict};
use perhop_config::account::Verdict;
use perhop_config::model::{Class, Kind, Queue};

const MAPS: &str = "class-map match-all VOICE\n match dscp ef\nclass-map match-any DATA\n match dscp af31 af32\n match dscp af33\n\
                    class-map VIDEO\n match dscp af41\n";

fn queue(lines: &str) -> Queue {
    port(&format!("{MAPS}{}", at_interface(lines))).queue.unwrap()
}

fn names(queue: &Queue) -> Vec<(&str, String)> {
    queue.classes.iter().map(|class| (class.name.is.as_str(), keys(&class.settings))).collect()
}

fn below(queue: &Queue) -> &Queue {
    queue.classes.last().and_then(|class: &Class| class.queue.as_ref()).unwrap()
}

/// The template of perhop's own: priority first, below it the others in the ratio of their percentages.
#[test]
fn priority_comes_before_shares() {
    let queue = queue(
        "class VOICE\npriority 1000 4000\nclass DATA\nbandwidth remaining percent 60\nclass class-default\n\
         bandwidth remaining percent 40",
    );
    assert_eq!(queue.kind, Some(Kind::Scheduler("strict-priority")));
    assert_eq!(names(&queue)[0], ("VOICE", "burst 4000B, police congested, rate 1Mbit/s".into()));
    let shares = below(&queue);
    assert_eq!(shares.kind, Some(Kind::Scheduler("drr")));
    assert_eq!(names(shares), [("DATA", "quantum 3000B".into()), ("class-default", "quantum 2000B".into())]);
    assert!(shares.classes[1].rest && shares.classes[1].takes.is_empty());
    let dscps = &shares.classes[0].takes[0].matches.is.dscp;
    assert_eq!(dscps.iter().map(ToString::to_string).collect::<Vec<_>>(), ["AF31", "AF32", "AF33"]);
}

/// `bandwidth` is kbit/s, `priority` too, and what they leave is the default class's.
#[test]
fn the_default_class_has_what_the_others_leave() {
    let shares = queue("class DATA\nbandwidth percent 30\nclass VIDEO\nbandwidth percent 20");
    let quanta = [("DATA", "quantum 3000B"), ("VIDEO", "quantum 2000B"), ("class-default", "quantum 5000B")];
    assert_eq!(names(&shares), quanta.map(|(name, quantum)| (name, quantum.to_owned())));
    let rates = queue("class DATA\nbandwidth 30000\nclass VIDEO\nbandwidth 20000");
    assert_eq!(names(&rates), names(&shares));
    let ratios = queue("class DATA\nbandwidth remaining ratio 3\nclass VIDEO\nbandwidth remaining ratio 2");
    assert_eq!(
        names(&ratios),
        [
            ("DATA", "quantum 6000B".into()),
            ("VIDEO", "quantum 4000B".into()),
            ("class-default", "quantum 2000B".into())
        ]
    );
}

#[test]
fn priority_by_level_and_with_a_policer() {
    let queue = queue(
        "class VIDEO\npriority level 2 percent 10\nclass VOICE\npriority level 1\npolice cir 1000000 bc 5000 conform-action \
         transmit exceed-action drop",
    );
    assert_eq!(names(&queue)[0], ("VOICE", "burst 5000B, police always, rate 1Mbit/s".into()));
    assert_eq!(names(&queue)[1], ("VIDEO", "burst 250000B, police congested, rate 10Mbit/s".into()));
}

/// Classes without a level have one queue, and so have classes of one level; each has its own limit.
#[test]
fn priority_classes_of_a_level_share_a_queue() {
    let two = queue("class VOICE\npriority 1000 4000\nclass VIDEO\npriority 2000 8000");
    assert_eq!(names(&two)[0], ("VOICE", "burst 4000B, police congested, rate 1Mbit/s".into()));
    assert_eq!(names(&two)[1], ("VIDEO", "burst 8000B, police congested, rate 2Mbit/s, same-level true".into()));
    let levels = "class VOICE\npriority level 2 1000\nclass VIDEO\npriority level 1\nclass DATA\npriority level 2 500";
    let same: Vec<_> = queue(levels).classes.iter().map(|it| it.settings.get("same-level").is_some()).collect();
    assert_eq!(same, [false, false, true, false]);
}

/// What is exported has levels only where classes differ by them.
#[test]
fn levels_are_written_where_they_are() {
    let lines = |first: &str, second: &str| {
        let typed = format!("class VOICE\npriority {first}1000 4000\nclass VIDEO\npriority {second}2000 8000");
        exported(&format!("{MAPS}{}", at_interface(&typed)))
    };
    let plain = lines("", "");
    assert!(plain.contains(" priority 1000 4000\n") && plain.contains(" priority 2000 8000\n"), "{plain}");
    assert!(lines("level 1 ", "level 2 ").contains(" priority level 2 2000 8000\n"));
}

/// Bc and Be are bits: (40000 + 20000) / 8 bytes. `shape peak` sends at R (1 + Be / Bc).
#[test]
fn bursts_of_shapers_are_bits() {
    let average = default_class("shape average 10000000 40000 20000");
    assert_eq!(keys(&average.shape), "burst 7500B, debt true, rate 10Mbit/s");
    let peak = default_class("shape peak 10000000 40000 20000");
    assert_eq!(keys(&peak.shape), "burst 7500B, debt true, rate 15Mbit/s");
    let percent = default_class("shape average percent 25 40 ms 0 ms");
    assert_eq!(keys(&percent.shape), "burst 125000B, debt true, rate 25Mbit/s");
    let counted = default_class("shape average 10000000 40000 0 account user-defined 24");
    assert_eq!(keys(&counted.shape), "burst 5000B, debt true, overhead 24B, rate 10Mbit/s");
}

#[test]
fn limits_in_each_unit() {
    for (typed, limit) in [
        ("queue-limit 100", "limit 100p"),
        ("queue-limit 100 packets", "limit 100p"),
        ("queue-limit 64000 bytes", "limit 64000B"),
        ("queue-limit 50 ms", "limit 50ms"),
        ("queue-limit 500 us", "limit 500us"),
    ] {
        assert_eq!(keys(&default_class(typed).settings), limit);
    }
}

/// Thresholds as typed; the other code points of the class by the device's table.
#[test]
fn wred_by_code_point() {
    let queue = queue(
        "class DATA\nbandwidth percent 50\nqueue-limit 64 packets\nrandom-detect dscp-based\nrandom-detect ecn\n\
         random-detect exponential-weighting-constant 7\nrandom-detect dscp af31 32 40 10\nrandom-detect dscp af32 28 40 5",
    );
    let data = queue.classes[0].queue.as_ref().unwrap();
    assert_eq!(data.kind, Some(Kind::Aqm("wred")));
    assert_eq!(
        keys(&data.settings),
        "ecn true, limit 64p, profiles [{for AF31, min 32p, max 40p, max-p 0.1} {for AF32, min 28p, max 40p, max-p 0.2} \
         {min 22p, max 32p, max-p 0.1}], weight 7"
    );
}

#[test]
fn wred_in_other_units() {
    let bytes =
        default_class("random-detect\nrandom-detect precedence 2 100 bytes 200 bytes 10\nqueue-limit 4000 bytes");
    assert!(keys(&bytes.settings).contains("min 100B, max 200B"), "{}", keys(&bytes.settings));
    let ms = default_class("random-detect dscp-based\nrandom-detect dscp ef 20 ms 40 ms");
    assert!(keys(&ms.settings).contains("{for EF, min 20ms, max 40ms"), "{}", keys(&ms.settings));
    let percent = default_class("random-detect dscp-based\nrandom-detect dscp 46 percent 60 80");
    assert!(keys(&percent.settings).contains("{for EF, min 60%, max 80%"), "{}", keys(&percent.settings));
    let many = default_class(
        "random-detect dscp-based\nrandom-detect dscp values 10 12 minimum-thresh 24 maximum-thresh 40 mark-prob 10",
    );
    assert!(keys(&many.settings).contains("{for [AF11 AF12], min 24p, max 40p"), "{}", keys(&many.settings));
}

/// A number whose unit is not known is no number.
#[test]
fn a_line_that_is_read_in_part_counts_for_nothing() {
    let class = default_class("queue-limit 2 mbytes");
    assert_eq!(keys(&class.settings), "limit 2000000B");
    let text = at_interface("class class-default\nfair-queue\nqueue-limit 2 furlongs");
    assert_eq!(verdict(&text, "furlongs").0, Verdict::NotModelled);
    assert_eq!(keys(&port(&text).queue.unwrap().settings), keys(&default_class("fair-queue").settings));
}

/// IOS takes one unit for all thresholds of a class, and so does a scenario.
#[test]
fn thresholds_in_two_units_are_not_modelled() {
    let text = at_interface(
        "class class-default\nrandom-detect dscp-based\nrandom-detect dscp af11 20 40\nrandom-detect dscp af12 1000 bytes 4000 bytes\n\
         random-detect dscp af13 percent 10 20\nqueue-limit dscp af21 percent 80",
    );
    assert_eq!(verdict(&text, "bytes 4000").0, Verdict::NotModelled);
    assert_eq!(verdict(&text, "percent 10 20").0, Verdict::Taken);
    // A limit by code point has no place beside WRED.
    assert_eq!(verdict(&text, "percent 80").0, Verdict::NotModelled);
    let queue = port(&text).queue.unwrap();
    assert!(!keys(&queue.settings).contains("1000B"), "{}", keys(&queue.settings));
}

/// A parent that shapes, and what it shapes below it: percentages are of the shaper.
#[test]
fn percentages_are_of_the_shaper_above() {
    let text = format!(
        "{MAPS}policy-map CHILD\n class VOICE\n  priority percent 10\n class class-default\n  fair-queue\n\
         policy-map PARENT\n class class-default\n  shape average 20000000 80000 0\n  service-policy CHILD\n\
         interface GigabitEthernet0/1\n service-policy output PARENT\n"
    );
    let queue = port(&text).queue.unwrap();
    assert_eq!(keys(&queue.shape), "burst 10000B, debt true, rate 20Mbit/s");
    assert_eq!(names(&queue)[0], ("VOICE", "burst 50000B, police congested, rate 2Mbit/s".into()));
    assert_eq!(below(&queue).kind, Some(Kind::Scheduler("fq-codel")));
}

/// A class that marks is found by the conditioner that its packets passed: their code point is another one now.
#[test]
fn marked_packets_stay_in_their_class() {
    let text = format!(
        "{MAPS}{}",
        at_interface("class DATA\nset dscp af41\nbandwidth percent 40\nclass VIDEO\nbandwidth percent 40")
    );
    let port = port(&text);
    let classes = &port.queue.as_ref().unwrap().classes;
    let passed: Vec<_> =
        classes.iter().flat_map(|class| &class.takes).flat_map(|filter| &filter.matches.is.conditioner).collect();
    assert_eq!(passed, ["DATA", "VIDEO"]);
    assert_eq!(port.conditioners.len(), 2);
}

#[test]
fn limits_by_code_point_are_steps() {
    let text = at_interface("class class-default\nqueue-limit dscp af11 percent 50");
    assert_eq!(verdict(&text, "queue-limit").0, Verdict::Approximated);
    let queue = port(&text).queue.unwrap();
    assert!(
        keys(&queue.settings).contains("{for AF11, curve [[50% 1]], interpolate step}"),
        "{}",
        keys(&queue.settings)
    );
}

#[test]
fn an_input_policy_has_no_queue() {
    let text =
        "policy-map P\n class class-default\n  shape average 1000000\ninterface Gi0/0\n service-policy input P\n";
    assert_eq!(port(text).queue, None);
    assert_eq!(verdict(text, "class class-default").0, Verdict::Approximated);
}

/// `bandwidth` of an interface is no rate at which it sends, but the base of percentages where nothing else is.
#[test]
fn the_link_is_given_or_said_or_named() {
    let text = "policy-map P\n class class-default\n  shape average percent 10\ninterface GigabitEthernet0/0\n bandwidth 50000\n \
                service-policy output P\n";
    let given = read(text).device.ports.remove(0);
    assert!(given.link.is_empty() && keys(&given.queue.unwrap().shape).contains("rate 10Mbit/s"));
    let said = crate::ios::hand::try_read(text, &<_>::default()).unwrap().device.ports.remove(0);
    assert_eq!(keys(&said.link), "rate 50Mbit/s");
    assert!(keys(&said.queue.unwrap().shape).contains("rate 5Mbit/s"));
    let named = crate::ios::hand::try_read(&text.replace(" bandwidth 50000\n", ""), &<_>::default()).unwrap();
    assert_eq!(keys(&named.device.ports[0].link), "rate 1Gbit/s");
}
