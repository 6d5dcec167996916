//! Policers. Oracles: the command references of `police`, `police (percent)` and `police (two rates)`.

use crate::ios::hand::{actions, keys, policer, port, read, verdict};
use perhop_config::account::Verdict;
use perhop_config::model::Way;

/// Bursts are bytes, rates bit/s. `be` is the excess burst without `pir`, the peak burst with it.
#[test]
fn each_form_and_what_it_is() {
    let two = "conform-action transmit exceed-action drop";
    let three = "conform-action transmit exceed-action set-dscp-transmit af12 violate-action drop";
    for (line, kind, expected) in [
        (format!("police cir 1000000 bc 20000 {two}"), "token-bucket", "cbs 20000B, cir 1Mbit/s"),
        (format!("police 1000000 20000 {two}"), "token-bucket", "cbs 20000B, cir 1Mbit/s"),
        (format!("police cir 1000000 bc 20000 be 30000 {three}"), "srtcm", "cbs 20000B, cir 1Mbit/s, ebs 30000B"),
        (format!("police 1000000 20000 30000 {three}"), "srtcm", "cbs 20000B, cir 1Mbit/s, ebs 30000B"),
        (
            format!("police cir 1000000 bc 20000 pir 2000000 be 30000 {three}"),
            "trtcm",
            "cbs 20000B, cir 1Mbit/s, pbs 30000B, pir 2Mbit/s",
        ),
        (
            format!("police rate 1000000 bps burst 20000 bytes peak-rate 2000000 bps peak-burst 30000 bytes {three}"),
            "trtcm",
            "cbs 20000B, cir 1Mbit/s, pbs 30000B, pir 2Mbit/s",
        ),
        (format!("police rate 1000 pps burst 50 packets {two}"), "token-bucket", "cbs 50p, cir 1000p/s"),
        (format!("police cir percent 20 bc 300 ms {two}"), "token-bucket", "cbs 300ms, cir 20Mbit/s"),
        (
            format!("police cir percent 20 bc 300 ms pir percent 40 be 400 ms {three}"),
            "trtcm",
            "cbs 300ms, cir 20Mbit/s, pbs 400ms, pir 40Mbit/s",
        ),
        (format!("police rate percent 10 burst 100 ms {two}"), "token-bucket", "cbs 100ms, cir 10Mbit/s"),
        (format!("police 10m 20000 {two}"), "token-bucket", "cbs 20000B, cir 10Mbit/s"),
    ] {
        let it = policer(&line);
        assert_eq!((it.kind, keys(&it.settings).as_str()), (kind, expected), "{line}");
    }
}

/// Without room for excess, and with two different actions, there are two colours.
#[test]
fn an_excess_burst_of_0_leaves_two_colours() {
    let it = policer("police 8000 9216 0\nconform-action transmit\nexceed-action transmit\nviolate-action drop");
    assert_eq!((it.kind, keys(&it.settings).as_str()), ("token-bucket", "cbs 9216B, cir 8kbit/s"));
    assert_eq!(actions(&it), "green [Transmit], red [Drop]");
}

#[test]
fn actions_on_lines_of_their_own_add_up() {
    let it = policer(
        "police cir 1000000 bc 31250 pir 2000000 be 31250\nconform-action transmit\nexceed-action set-prec-transmit 4\n\
         exceed-action set-frde-transmit\nviolate-action set-dscp-transmit cs1",
    );
    assert_eq!(actions(&it), "green [Transmit], yellow [Mark(Dscp(32))], red [Mark(Dscp(8))]");
}

#[test]
fn discard_classes_are_colours() {
    let it = policer(
        "police cir 1000000\nconform-action set-discard-class-transmit 0\nexceed-action set-discard-class-transmit 2",
    );
    assert_eq!(actions(&it), "green [Colour(Green)], red [Colour(Red)]");
}

/// `set` marks before the policer, whose own mark replaces it.
#[test]
fn marks_of_set_and_of_the_policer() {
    let it = policer("set dscp af11\npolice cir 1000000 conform-action transmit exceed-action set-dscp-transmit af12");
    assert_eq!(actions(&it), "green [Mark(Dscp(10))], red [Mark(Dscp(12))]");
    let marker = policer("set ip dscp ef");
    assert_eq!((marker.kind, actions(&marker).as_str()), ("marker", "green [Mark(Dscp(46))]"));
    let dropped = policer("drop");
    assert_eq!((dropped.kind, actions(&dropped).as_str()), ("marker", "green [Drop]"));
}

#[test]
fn fields_that_no_packet_has_are_said() {
    let text = "policy-map P\n class class-default\n  police cir 1000000\n   conform-action set-cos-transmit 5\n";
    let (verdict, note) = verdict(text, "set-cos-transmit");
    assert_eq!((verdict, note.as_str()), (Verdict::Approximated, "the packet goes on: no packet here has CoS"));
}

/// The policer of a child comes before that of its parent (IOS 15.1(1)S and later), so what it passes goes on.
#[test]
fn a_child_polices_before_its_parent() {
    let text = "class-map match-all VOICE\n match dscp ef\npolicy-map CHILD\n class VOICE\n  police cir 1000000 conform-action \
                transmit exceed-action drop\npolicy-map PARENT\n class class-default\n  police cir 5000000 conform-action transmit \
                exceed-action drop\n  service-policy CHILD\ninterface Gi0/0\n service-policy input PARENT\n";
    let port = port(text);
    assert_eq!(port.way, Way::Input);
    let names: Vec<_> = port.conditioners.iter().map(|one| one.name.is.as_str()).collect();
    assert_eq!(names, ["class-default/VOICE", "class-default"]);
    assert_eq!(actions(&port.conditioners[0]), "green [Next], red [Drop]");
    assert!(port.conditioners[1].takes.is_empty());
}

/// A class without a policer lets its packets pass before the policer of a later class can take them.
#[test]
fn classes_without_a_policer_keep_their_packets() {
    let text = "class-map match-all VOICE\n match dscp ef\npolicy-map P\n class VOICE\n class class-default\n  police cir 1000000\n";
    let port = port(text);
    let kinds: Vec<_> = port.conditioners.iter().map(|one| (one.name.is.as_str(), one.kind)).collect();
    assert_eq!(kinds, [("VOICE", "marker"), ("class-default", "token-bucket")]);
}

#[test]
fn a_shared_policer_is_not_modelled() {
    let text = "policy-map P\n class class-default\n  police aggregate A\n";
    assert_eq!(verdict(text, "aggregate").0, Verdict::NotModelled);
    assert!(read(text).device.ports[0].conditioners.is_empty());
}
