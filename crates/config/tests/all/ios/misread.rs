//! Texts that were misread once, with what IOS makes of them.

use crate::ios::hand::{actions, given, keys, port, try_read};
use perhop_config::import_options::ImportOptions;

/// A policy below a class only divides it: the policer takes all packets of `class-default`, whatever the child does to them.
#[test]
fn the_policer_of_class_default_takes_what_its_child_marks_too() {
    let text = "class-map match-all LOW\n match precedence 3\npolicy-map CHILD\n class LOW\n  set precedence 1\npolicy-map PARENT\n class class-default\n  police cir 400000 bc 40000\n   conform-action transmit\n   exceed-action drop\n  service-policy CHILD\ninterface GigabitEthernet0/0\n service-policy input PARENT\n";
    let port = port(text);
    let [child, parent] = &port.conditioners[..] else { panic!("{port:#?}") };
    assert_eq!((child.name.is.as_str(), actions(child).as_str()), ("class-default/LOW", "green [Mark(Dscp(8)), Next]"));
    assert!(parent.takes.is_empty() && keys(&parent.settings) == "cbs 40000B, cir 400kbit/s", "{parent:#?}");
}

/// 100 - 40 - 25 - 30 = 5 % are left for what states no share.
#[test]
fn the_share_of_class_default_is_none_of_the_remainder() {
    let text = "class-map V\n match dscp ef\nclass-map A\n match dscp af11\nclass-map B\n match dscp af21\npolicy-map P\n class V\n  priority percent 40\n class A\n  bandwidth percent 25\n class B\n  shape average 50000000\n class class-default\n  bandwidth percent 30\ninterface GigabitEthernet0/1\n bandwidth 100000\n service-policy output P\n";
    let queue = port(text).queue.unwrap();
    let shares = queue.classes.last().and_then(|class| class.queue.as_ref()).unwrap();
    let quanta: Vec<_> = shares.classes.iter().map(|class| (class.name.is.as_str(), keys(&class.settings))).collect();
    let expected = [("A", 10_000), ("B", 2_000), ("class-default", 12_000)];
    assert_eq!(quanta, expected.map(|(name, bytes)| (name, format!("quantum {bytes}B"))));
}

/// IOS takes `be` from 1000 up; below a packet it lets none exceed.
#[test]
fn an_excess_burst_below_a_packet_is_none() {
    let text = "policy-map P\n class class-default\n  police cir 750000 bc 100000 be 1000\n   conform-action transmit\n   exceed-action set-dscp-transmit af12\n   violate-action drop\ninterface GigabitEthernet0/0\n service-policy input P\n";
    let read = try_read(text, &given()).unwrap();
    assert_eq!(keys(&read.device.ports[0].conditioners[0].settings), "cbs 100000B, cir 750kbit/s");
    let found: Vec<_> = read.findings.iter().map(|it| (it.code, it.instead_of)).collect();
    assert_eq!(found, [("W447", &["E212", "W301"][..])]);
}

/// Two policies under one name are called after the policy, too.
#[test]
fn two_policies_of_one_place_can_be_chosen() {
    let policy = |name: &str, rate: u32| {
        format!(
            "Control Plane\n    Service-policy input: {name}\n        Class-map: class-default (match-any)\n            Match: any\n            police:\n                cir {rate} bps, bc 8000 bytes\n"
        )
    };
    let text = policy("ONE", 64_000) + &policy("TWO", 128_000);
    let names = |given: &ImportOptions| {
        let read = try_read(&text, given).unwrap();
        read.device.ports.iter().map(|port| port.interface.is.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(&given()), ["Control Plane ONE", "Control Plane TWO"]);
    assert_eq!(names(&ImportOptions { interface: Some("Control Plane TWO".into()), ..given() }), ["Control Plane TWO"]);
}
