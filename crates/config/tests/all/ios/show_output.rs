//! What devices print, with its counters.

use crate::ios::hand::{actions, given, keys, read, verdict_in};
use perhop_config::account::Verdict;
use perhop_config::dialect::Read;
use perhop_config::evidence::Counters;
use perhop_config::import::import;
use perhop_config::import_options::ImportOptions;
use perhop_config::model::Way;

const INTERFACE: &str = "\
GigabitEthernet0/0/0.2

  Service-policy output: PARENT

    Class-map: class-default (match-any)
      120 packets, 9000 bytes
      30 second offered rate 2000 bps, drop rate 1000 bps
      Match: any
      Queueing
      queue limit 68 packets
      (queue depth/total drops/no-buffer drops) 3/7/0
      (pkts output/bytes output) 110/8000
      shape (average) cir 99872000, bc 399488, be 399488
      target shape rate 99872000

      Service-policy : CHILD

        queue stats for all priority classes:
          Queueing
          queue limit 512 packets
          (queue depth/total drops/no-buffer drops) 0/2/0
          (pkts output/bytes output) 10/1000

        Class-map: VOICE (match-any)
          10 packets, 1000 bytes
          Match: ip dscp cs5 (40) ef
(46)
          Priority: 30% (29961 kbps), burst bytes 749000, b/w exceed drops:
0
          police:
              cir 8000000 bps, bc 4000 bytes, be 2000 bytes
            conformed 9 packets, 900 bytes; actions:
              transmit
            exceeded 1 packets, 100 bytes; actions:
              set-dscp-transmit af11
            violated 0 packets, 0 bytes; actions:
              drop
            conformed 5 bps, exceeded 6 bps, violated 0 bps

        Class-map: class-default (match-any)
          110 packets, 8000 bytes
          Match: any
          Queueing
          queue limit 64 packets
          (queue depth/total drops/no-buffer drops/flowdrops) 0/5/0/1
          bandwidth 58% (57925 kbps)
            Exp-weight-constant: 9 (1/512)
            Mean queue depth: 4 packets
            dscp       Transmitted      Random drop      Tail/Flow drop Minimum Maximum Mark
                        pkts/bytes       pkts/bytes      pkts/bytes   thresh  thresh  prob
            af11           100/7000       4/280            1/70          24      40  1/5
";

#[test]
fn an_interface_with_two_levels() {
    let read = read(INTERFACE);
    let port = &read.device.ports[0];
    assert_eq!((port.interface.is.as_str(), port.way), ("GigabitEthernet0/0/0.2", Way::Output));
    let queue = port.queue.as_ref().unwrap();
    assert_eq!(keys(&queue.shape), "burst 99872B, debt true, rate 99.872Mbit/s");
    assert_eq!(keys(&queue.classes[0].settings), "burst 749000B, police congested, rate 29.961Mbit/s");
    assert_eq!(keys(&queue.classes[0].queue.as_ref().unwrap().settings), "limit 512p");
    let default = queue.classes[1].queue.as_ref().unwrap();
    assert!(keys(&default.settings).contains("{for AF11, min 24p, max 40p, max-p 0.2}"), "{}", keys(&default.settings));
    let voice = &port.conditioners[0];
    assert_eq!((voice.kind, keys(&voice.settings).as_str()), ("srtcm", "cbs 4000B, cir 8Mbit/s, ebs 2000B"));
    assert_eq!(actions(voice), "green [Transmit], yellow [Mark(Dscp(10))], red [Drop]");
    assert_eq!(read.account.count(&Verdict::NotModelled), 0);
    assert_eq!(read.account.lines.len(), INTERFACE.lines().filter(|line| !line.trim().is_empty()).count());
}

#[test]
fn counters_are_evidence() {
    let read = read(INTERFACE);
    let count = |of: &str, kind: &str, name: &str| {
        let entry = read.evidence.iter().find(|entry| entry.of == of && entry.kind == kind).unwrap();
        assert_eq!((entry.interface.as_str(), entry.way), ("GigabitEthernet0/0/0.2", Some(Way::Output)));
        entry.counts[name]
    };
    assert_eq!(count("class-default", "class", "offered_bps"), 2000);
    assert_eq!(count("class-default", "queue", "total_drops"), 7);
    assert_eq!(count("class-default/priority", "queue", "total_drops"), 2);
    assert_eq!(count("class-default/VOICE", "priority", "exceed_drops"), 0);
    assert_eq!(count("class-default/VOICE", "police", "exceeded_bytes"), 100);
    assert_eq!(count("class-default/class-default", "queue", "flowdrops"), 1);
    assert_eq!(count("class-default/class-default", "random-detect af11", "random_drop_packets"), 4);
}

/// What IOS 12 prints: priority on three lines, a shaper as a table, flows without a number behind them.
#[test]
fn classic_prints() {
    let text = " FastEthernet0/0\n\n  Service-policy output: PM\n\n    Class-map: VOICE (match-all)\n      15 packets, 1500 bytes\n      \
                Match: ip dscp ef\n      Queueing\n        Strict Priority\n        Output Queue: Conversation 264\n        Bandwidth \
                386 (kbps) Burst 9650 (Bytes)\n        (total drops/bytes drops) 0/0\n\n    Class-map: BULK (match-all)\n      \
                Match: ip dscp af11\n      Traffic Shaping\n           Target/Average   Byte   Sustain   Excess    Interval  \
                Increment\n             Rate           Limit  bits/int  bits/int  (ms)      (bytes)\n           \
                1228800/614400   1536   6144      6144      10        768\n\n        Adapt  Queue     Packets   Bytes     \
                Packets   Bytes     Shaping\n        Active Depth                         Delayed   Delayed   Active\n        -      \
                0         0         0         0         0         no\n\n    Class-map: class-default (match-any)\n      Match: \
                any\n      Queueing\n        Flow Based Fair Queueing\n        Maximum Number of Hashed Queues 256\n";
    let found = read(text);
    assert_eq!(found.account.count(&Verdict::NotModelled), 0, "{:?}", found.account);
    let queue = found.device.ports[0].queue.as_ref().unwrap();
    assert_eq!(keys(&queue.classes[0].settings), "burst 9650B, police congested, rate 386kbit/s");
    let below = queue.classes[1].queue.as_ref().unwrap();
    let bulk = below.classes.iter().find(|it| it.name.is == "BULK").unwrap().queue.as_ref().unwrap();
    // A peak rate: CIR (1 + Be / Bc), and both bursts in bytes.
    assert_eq!(keys(&bulk.shape), format!("burst {}B, debt true, rate 1228.8kbit/s", (6144 + 6144) / 8));
    let default = below.classes.iter().find(|it| it.rest).unwrap().queue.as_ref().unwrap();
    assert_eq!(default.kind, Some(perhop_config::model::Kind::Scheduler("fq-codel")));
}

/// `show policy-map` has units in brackets, and shapers on two lines.
#[test]
fn policy_maps_as_printed() {
    let text = "Router#show policy-map\n  Policy Map WAN\n    Class VOICE\n      priority 1000 (kbps)\n    Class DATA\n      \
                bandwidth 30 (%)\n      Average Rate Traffic Shaping\n      cir 10000000 (bps) bc 40000 (bits) be 20000 (bits)\n    Class \
                class-default\n       packet-based wred, exponential weight 4\n\n      class    min-threshold    max-threshold    \
                mark-probablity\n      ----------------------------------------------\n      0       25               50               \
                1/10\n      1       -                -                1/10\n";
    let read = read(text);
    let queue = read.device.ports[0].queue.as_ref().unwrap();
    assert_eq!(keys(&queue.classes[0].settings), "burst 25000B, police congested, rate 1Mbit/s");
    let shares = queue.classes[1].queue.as_ref().unwrap();
    assert_eq!(keys(&shares.classes[0].queue.as_ref().unwrap().shape), "burst 7500B, debt true, rate 10Mbit/s");
    let wred = keys(&shares.classes[1].queue.as_ref().unwrap().settings);
    assert!(wred.contains("min 25p, max 50p") && wred.contains("weight 4"), "{wred}");
}

/// What follows what a device printed is not of QoS, and a child that is not printed is said.
#[test]
fn policies_that_are_not_printed() {
    let text = "Policy Map WAN\n  Class class-default\n    service-policy CHILD\nLoad for five secs: 1%\nusername bob password hunter2\n";
    let read = read(text);
    let (verdict, note) = verdict_in(&read, text, "service-policy");
    assert_eq!((verdict, note.as_str()), (Verdict::NotModelled, "this policy map is not in the text"));
    assert_eq!(read.account.lines.len(), 3);
}

/// What is typed counts; what the device printed of the same policy adds its counters.
#[test]
fn a_configuration_and_its_output() {
    let text = format!(
        "policy-map CHILD\n class class-default\n  fair-queue\npolicy-map PARENT\n class class-default\n  shape average percent \
         10\n  service-policy CHILD\ninterface GigabitEthernet0/0/0.2\n service-policy output PARENT\nend\nR1#show policy-map \
         interface\n{INTERFACE}"
    );
    let read = read(&text);
    assert_eq!(read.device.ports.len(), 1);
    assert!(keys(&read.device.ports[0].queue.as_ref().unwrap().shape).contains("rate 10Mbit/s"));
    assert!(!read.evidence.is_empty());
}

/// An interface after a table of WRED is an interface.
#[test]
fn one_interface_after_another() {
    let text = format!("{INTERFACE}{}", INTERFACE.replace("0/0/0.2", "0/0/0.3"));
    let read = read(&text);
    let names: Vec<_> = read.device.ports.iter().map(|port| port.interface.is.as_str()).collect();
    assert_eq!(names, ["GigabitEthernet0/0/0.2", "GigabitEthernet0/0/0.3"]);
}

/// A tunnel prints a policy for each far end; ports are called after the policy, and those of one name get a number.
#[test]
fn policies_of_far_ends() {
    let peer = |address: &str, policy: &str, packets: u64| {
        format!(
            "Interface Tunnel7 <--> {address}\n\n  Service-policy output: {policy}\n\n    Class-map: V6 (match-any)\n      {packets} \
             packets, 1280 bytes\n      Match: protocol ipv6-icmp\n      police:\n          cir 1000000 bps, bc 31250 bytes\n        \
             conformed {packets} packets, 1280 bytes; actions:\n          transmit\n        exceeded 0 packets, 0 bytes; actions:\n          drop\n\n"
        )
    };
    let text = peer("192.0.2.1", "NEAR", 10) + &peer("192.0.2.2", "FAR", 20) + &peer("192.0.2.3", "FAR", 30);
    let names = |read: &Read| read.device.ports.iter().map(|it| it.interface.is.clone()).collect::<Vec<_>>();
    let found = read(&text);
    assert_eq!(names(&found), ["Tunnel7 NEAR", "Tunnel7 FAR", "Tunnel7 FAR 2"]);
    let packets = |name: &str| {
        let mine = |it: &&Counters| it.interface == name && it.kind == "class";
        found.evidence.iter().find(mine).map(|it| it.counts["packets"])
    };
    assert_eq!(["Tunnel7 NEAR", "Tunnel7 FAR", "Tunnel7 FAR 2"].map(packets), [Some(10), Some(20), Some(30)]);
    let protocol = &found.device.ports[0].conditioners[0].takes[0].matches.is.protocol;
    assert_eq!(protocol.iter().map(|it| it.0).collect::<Vec<_>>(), [58]);
    // Pasted twice it is the same.
    assert_eq!(names(&read(&format!("{text}{text}"))), names(&found));
    let asked = |name: &str| ImportOptions { interface: Some(name.into()), ..given() };
    let chosen = |name: &str| import(text.as_bytes(), None, &asked(name)).map(|it| it.port().interface.is.clone());
    assert_eq!(chosen("tunnel7 far").ok().as_deref(), Some("Tunnel7 FAR"));
    assert_eq!(chosen("Tunnel7 FAR 2").ok().as_deref(), Some("Tunnel7 FAR 2"));
    let several = chosen("Tu7").unwrap_err().fault;
    let list = "the text has 3 ports: `Tunnel7 NEAR` output, `Tunnel7 FAR` output, `Tunnel7 FAR 2` output";
    assert_eq!((several.code, several.message.as_str()), ("E313", list));
    // An interface with two directions is named once.
    let both = "policy-map P\n class class-default\n  set dscp 0\ninterface Serial7\n service-policy input P\n service-policy output P\n";
    let unknown = import(both.as_bytes(), None, &asked("Zz9")).map(|_| ()).unwrap_err().fault;
    assert_eq!(unknown.help.matches("Serial7").count(), 1, "{unknown:?}");
}

/// Policers of the control plane, of several policies.
#[test]
fn the_control_plane() {
    let policy = |name: &str, list: u32, cir: u64| {
        format!(
            "Control Plane\n    Service-policy input: {name}\n        Class-map: {name}-class (match-all)\n            105 packets, 6720 \
             bytes\n            5 minute offered rate 18000 bps, drop rate 15000 bps\n            Match: access-group {list}\n            \
             police:  cir {cir} bps, bc 8000 bytes\n            conformed 14 packets, 896 bytes; actions:\n            transmit\n            \
             exceeded 91 packets, 5824 bytes; actions:\n            drop\n            conformed 2000 bps, exceeded 15000 bps\n"
        )
    };
    let text = policy("REMOTE", 102, 64_000) + &policy("ROUTING", 103, 128_000);
    let found = read(&text);
    let meters: Vec<_> = found.device.ports.iter().map(|it| keys(&it.conditioners[0].settings)).collect();
    assert_eq!(meters, ["cbs 8000B, cir 64kbit/s", "cbs 8000B, cir 128kbit/s"]);
    let names: Vec<_> = found.device.ports.iter().map(|it| it.interface.is.as_str()).collect();
    assert_eq!(names, ["Control Plane REMOTE", "Control Plane ROUTING"]);
    let asked = ImportOptions { interface: Some("control plane routing".into()), ..given() };
    assert_eq!(import(text.as_bytes(), None, &asked).ok().unwrap().port().interface.is, names[1]);
    assert_eq!(found.account.count(&Verdict::NotModelled), 0);
}

/// A policy within a policy within a policy, with VLANs and named access lists as classes.
#[test]
fn three_levels_with_vlans() {
    let text = "TenGigabitEthernet0/1/0\n\n  Service-policy output: PORT\n\n    Class-map: VLAN-20 (match-all)\n      100 packets, 9000 \
                bytes\n      Match: vlan  20\n      Queueing\n      queue limit 416 packets\n      shape (average) cir 100000000, bc \
                400000, be 400000\n      target shape rate 100000000\n\n      Service-policy : CUSTOMER\n\n        Class-map: \
                class-default (match-any)\n          100 packets, 9000 bytes\n          Match: any\n          Queueing\n          \
                shape (average) cir 50000000, bc 200000, be 200000\n          target shape rate 50000000\n\n          \
                Service-policy : SITE\n\n            Class-map: PHONES (match-any)\n              10 packets, 1000 bytes\n              \
                Match: access-group name PHONES-OF-SITE\n              Priority: 10% (5000 kbps), burst bytes 125000, b/w exceed \
                drops: 0\n\n            Class-map: class-default (match-any)\n              90 packets, 8000 bytes\n              \
                Match: any\n              queue limit 208 packets\n\n    Class-map: class-default (match-any)\n      0 packets, 0 \
                bytes\n      Match: any\n";
    let found = read(text);
    assert_eq!(found.account.count(&Verdict::NotModelled), 0, "{:?}", found.account);
    let port = &found.device.ports[0];
    let top = port.queue.as_ref().unwrap();
    let vlan = &top.classes[0];
    assert_eq!((vlan.name.is.as_str(), &vlan.takes[0].matches.is.traffic), ("VLAN-20", &vec!["vlan-20".to_owned()]));
    let customer = vlan.queue.as_ref().unwrap();
    assert_eq!(keys(&customer.shape), "burst 100000B, debt true, rate 100Mbit/s");
    let site = customer.classes[0].queue.as_ref().unwrap();
    assert_eq!(keys(&site.shape), "burst 50000B, debt true, rate 50Mbit/s");
    assert_eq!(keys(&site.classes[0].settings), "burst 125000B, police congested, rate 5Mbit/s");
    let traffic: Vec<_> = site.classes[0].takes.iter().flat_map(|it| &it.matches.is.traffic).collect();
    assert!(traffic == ["vlan-20+PHONES-OF-SITE"], "{traffic:?}");
    let of: Vec<_> = found.evidence.iter().map(|it| it.of.as_str()).collect();
    assert!(of.contains(&"VLAN-20/class-default/PHONES"), "{of:?}");
}
