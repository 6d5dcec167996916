//! Which packets a class takes.

use crate::ios::hand::{port, read, try_read, verdict};
use perhop_config::account::Verdict;
use perhop_config::import_options::ImportOptions;
use perhop_core::classify::{FlowHeaders, Match};
use perhop_core::dscp::Dscp;
use perhop_core::packet::Packet;

/// The filters of class C, whose class map has these lines; `more` follows it.
fn matches(kind: &str, lines: &str, more: &str) -> Vec<Match> {
    let lines: String = lines.lines().map(|line| format!(" {}\n", line.trim())).collect();
    let text = format!("class-map {kind} C\n{lines}{more}policy-map P\n class C\n  police cir 1000000\n");
    port(&text).conditioners[0].takes.iter().map(|filter| filter.matches.is.clone()).collect()
}

fn flow(protocol: u8, source: &str, ports: (u16, u16)) -> FlowHeaders {
    FlowHeaders {
        protocol,
        source: source.parse().unwrap(),
        destination: "192.0.2.1".parse().unwrap(),
        source_port: ports.0,
        destination_port: ports.1,
        traffic: String::new(),
        class: String::new(),
        rtt: None,
    }
}

fn takes(list: &[Match], flow: &FlowHeaders, dscp: u8) -> bool {
    let packet = Packet { dscp: Dscp::new(dscp).unwrap(), ..Packet::default() };
    list.iter().any(|one| one.flow(flow) && one.packet(&packet))
}

#[test]
fn code_points_and_precedences() {
    let any = matches("match-any", "match ip dscp ef af41\nmatch precedence 6", "");
    let tcp = flow(6, "10.0.0.1", (1, 2));
    for (dscp, expected) in [(46, true), (34, true), (48, true), (55, true), (56, false), (0, false)] {
        assert_eq!(takes(&any, &tcp, dscp), expected, "{dscp}");
    }
    assert_eq!(any.len(), 1, "code points of one class are one match: {any:?}");
}

#[test]
fn all_tests_must_agree() {
    let all = matches("match-all", "match dscp ef\nmatch access-group 101", "access-list 101 permit udp any any\n");
    assert!(takes(&all, &flow(17, "10.0.0.1", (1, 2)), 46));
    assert!(!takes(&all, &flow(6, "10.0.0.1", (1, 2)), 46));
    assert!(!takes(&all, &flow(17, "10.0.0.1", (1, 2)), 0));
}

/// The first line of a list that agrees decides.
#[test]
fn what_a_list_denies_is_not_taken() {
    let list = "ip access-list extended A\n remark not for you\n deny ip host 10.1.0.5 any\n permit ip 10.1.0.0 0.0.255.255 any\n \
                permit tcp any eq www any\n permit udp any any range 5060 5061\n";
    let taken = matches("match-all", "match access-group name A", list);
    for (protocol, source, ports, expected) in [
        (6, "10.1.0.5", (1, 2), false),
        (6, "10.1.0.4", (1, 2), true),
        (6, "10.2.0.5", (80, 2), true),
        (6, "10.2.0.5", (81, 2), false),
        (17, "10.2.0.5", (1, 5061), true),
        (17, "10.2.0.5", (1, 5062), false),
    ] {
        assert_eq!(takes(&taken, &flow(protocol, source, ports), 0), expected, "{protocol} {source} {ports:?}");
    }
}

#[test]
fn the_opposite_of_a_test() {
    let not = matches("match-all", "match not dscp ef\nmatch protocol udp", "");
    assert!(takes(&not, &flow(17, "10.0.0.1", (1, 2)), 0));
    assert!(!takes(&not, &flow(17, "10.0.0.1", (1, 2)), 46));
    let list = "access-list 1 permit 10.0.0.0 0.255.255.255\n";
    let outside = matches("match-all", "match not access-group 1", list);
    assert!(takes(&outside, &flow(6, "11.0.0.1", (1, 2)), 0) && !takes(&outside, &flow(6, "10.9.9.9", (1, 2)), 0));
}

#[test]
fn class_maps_within_class_maps() {
    let inner = "class-map match-any INNER\n match dscp af11\n match dscp af21\n";
    let both = matches("match-all", "match class-map INNER\nmatch not dscp af21", inner);
    let tcp = flow(6, "10.0.0.1", (1, 2));
    assert!(takes(&both, &tcp, 10) && !takes(&both, &tcp, 18));
}

/// IOS XR names the version of IP; `ip rtp` is a range of ports.
#[test]
fn versions_of_ip_and_rtp() {
    assert_eq!(matches("match-all", "match dscp ipv4 ef", ""), matches("match-all", "match dscp ef", ""));
    assert_eq!(matches("match-all", "match precedence ipv4 5", ""), matches("match-all", "match precedence 5", ""));
    assert_eq!(matches("match-all", "match ip rtp 16384 16383", "")[0].traffic, ["ip-rtp-16384-16383"]);
}

/// Fields that no packet here has are a traffic of that name.
#[test]
fn other_fields_are_names() {
    let names =
        |lines: &str| matches("match-any", lines, "").iter().flat_map(|one| one.traffic.clone()).collect::<Vec<_>>();
    assert_eq!(names("match protocol http url \"*cgi*\""), ["http"]);
    assert_eq!(names("match cos 0,5-7"), ["cos-0", "cos-5", "cos-6", "cos-7"]);
    assert_eq!(names("match qos-group 3\nmatch discard-class 1"), ["qos-group-3", "discard-class-1"]);
    assert_eq!(names("match access-group name NONE"), ["NONE"]);
}

#[test]
fn many_ports_are_a_name() {
    let list = "ip access-list extended RTP\n permit udp any any range 16384 32767\n";
    let text = format!("class-map C\n match access-group name RTP\n{list}policy-map P\n class C\n  police cir 8000\n");
    let (verdict, note) = verdict(&text, "16384");
    assert_eq!(
        (verdict, note.as_str()),
        (Verdict::Approximated, "so many ports are a traffic called `ports-16384-32767`")
    );
}

#[test]
fn a_class_map_that_is_missing() {
    let text = "class-map VOICE\n match dscp ef\npolicy-map P\n class VOIC\n  police cir 8000\n";
    let read = read(text);
    let finding = &read.findings[0];
    assert_eq!((finding.code, finding.instead.as_str()), ("W410", "did you mean `VOICE`?"));
    assert_eq!(read.device.ports[0].conditioners[0].takes[0].matches.is.traffic, ["VOIC"]);
}

#[test]
fn what_is_missing_is_a_fault_with_the_nearest_name() {
    let text = "policy-map WAN-OUT\n class class-default\n  shape average 8000000\ninterface Gi0/1\n service-policy output WAN-OTU\n";
    let fault = try_read(text, &ImportOptions::default()).unwrap_err();
    assert_eq!((fault.code, fault.help.as_str()), ("E306", "did you mean `WAN-OUT`?"));
    let text = text.replace("WAN-OTU", "WAN-OUT");
    let asked =
        |name: &str| try_read(&text, &ImportOptions { interface: Some(name.into()), ..ImportOptions::default() });
    let fault = asked("Gi0/2").unwrap_err();
    assert_eq!((fault.code, fault.help.as_str()), ("E307", "did you mean `Gi0/1`?"));
    assert_eq!(asked("gi0/1").unwrap().device.ports.len(), 1);
    let looped = "policy-map P\n class class-default\n  service-policy P\n";
    assert_eq!(try_read(looped, &ImportOptions::default()).unwrap_err().code, "E308");
    assert_eq!(try_read("hostname R1\n", &ImportOptions::default()).unwrap_err().code, "E305");
}

/// A policy that no interface has is a port with its name.
#[test]
fn policies_without_an_interface() {
    let port = port("policy-map ALONE\n class class-default\n  shape average 8000000\n");
    assert_eq!((port.interface.is.as_str(), port.way.name()), ("ALONE", "output"));
}

/// A line that is typed again replaces the one before; each service instance is a port.
#[test]
fn policies_at_interfaces() {
    let text = "policy-map A\n class class-default\n  shape average 1000000\npolicy-map B\n class class-default\n  shape average \
                2000000\ninterface Gi1\n service-policy output A\n service-policy output B\n service instance 10 ethernet\n  \
                service-policy output A\n service instance 20 ethernet\n  service-policy output A\n";
    let ports = read(text).device.ports;
    let names: Vec<_> = ports.iter().map(|port| port.interface.is.as_str()).collect();
    assert_eq!(names, ["Gi1", "Gi1 service instance 10", "Gi1 service instance 20"]);
    assert!(crate::ios::hand::keys(&ports[0].queue.as_ref().unwrap().shape).contains("rate 2Mbit/s"));
}
