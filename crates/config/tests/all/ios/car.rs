//! What interfaces police and shape without a policy map.

use crate::ios::hand::{actions, keys, port, read, verdict};
use perhop_config::account::Verdict;
use perhop_config::model::{Kind, Way};

fn at_interface(lines: &str) -> String {
    let lists = "access-list 101 permit tcp any any eq 80\naccess-list 102 permit udp any any\n";
    let lines: String = lines.lines().map(|line| format!(" {line}\n")).collect();
    format!("{lists}interface Serial0/0\n{lines}")
}

/// Rates are bit/s and bursts bytes; `continue` goes on to the next line.
#[test]
fn rate_limits_are_policers_one_after_the_other() {
    let text = at_interface(
        "rate-limit input access-group 101 2000000 24000 24000 conform-action set-prec-transmit 5 exceed-action continue\n\
         rate-limit input dscp 46 512000 8000 8000 conform-action transmit exceed-action drop\n\
         rate-limit input 8000000 16000 24000 conform-action set-dscp-continue 10 exceed-action drop",
    );
    let found = port(&text);
    assert_eq!((found.interface.is.as_str(), found.way, found.queue.is_some()), ("Serial0/0", Way::Input, false));
    let each: Vec<_> =
        found.conditioners.iter().map(|it| (it.name.is.as_str(), keys(&it.settings), actions(it))).collect();
    let row = |name, keys: &str, actions: &str| (name, keys.to_owned(), actions.to_owned());
    assert_eq!(
        each,
        [
            row("rate-limit 1", "cbs 24000B, cir 2Mbit/s", "green [Mark(Dscp(40))], red [Next]"),
            row("rate-limit 2", "cbs 8000B, cir 512kbit/s", "green [Transmit], red [Drop]"),
            row("rate-limit 3", "cbs 16000B, cir 8Mbit/s", "green [Mark(Dscp(10)), Next], red [Drop]"),
        ]
    );
    assert_eq!(found.conditioners[0].takes[0].matches.is.destination_port.len(), 1);
    assert!(found.conditioners[2].takes.is_empty() || found.conditioners[2].takes[0].matches.is == Default::default());
    assert_eq!(verdict(&text, "512000"), (Verdict::Taken, String::new()));
    let (nearly, note) = verdict(&text, "8000000 16000");
    assert!(nearly == Verdict::Approximated && note.contains("extended burst of 24000 bytes"), "{note}");
}

/// What `continue` leaves is no class that no packet reaches.
#[test]
fn continue_leaves_packets_to_later_lines() {
    let lines = |exceed: &str| {
        at_interface(&format!(
            "rate-limit output access-group 101 64000 8000 8000 conform-action transmit exceed-action {exceed}\n\
             rate-limit output access-group 101 32000 8000 8000 conform-action transmit exceed-action drop"
        ))
    };
    assert!(read(&lines("continue")).findings.is_empty());
    assert_eq!(read(&lines("drop")).findings.iter().map(|it| it.code).collect::<Vec<_>>(), ["W412"]);
}

/// Bc and Be of a shaper are bits; its queue holds packets.
#[test]
fn shapers_of_interfaces() {
    let text = at_interface("traffic-shape rate 256000 8000 4000 500");
    let queue = port(&text).queue.unwrap();
    assert_eq!(keys(&queue.shape), "burst 1500B, debt true, rate 256kbit/s");
    assert_eq!((queue.kind, keys(&queue.settings).as_str()), (Some(Kind::Scheduler("fq-codel")), "limit 500p"));
    assert_eq!(verdict(&text, "traffic-shape").0, Verdict::Approximated);
    let groups =
        port(&at_interface("traffic-shape group 101 128000\ntraffic-shape group 102 64000 8000 0")).queue.unwrap();
    let shapes: Vec<_> = groups.classes.iter().map(|it| keys(&it.queue.as_ref().unwrap().shape)).collect();
    let default = "burst 128B, debt true, rate 128kbit/s";
    assert_eq!(shapes, [default, "burst 1000B, debt true, rate 64kbit/s", ""]);
}

/// What is not modelled is said line by line.
#[test]
fn what_is_not_modelled_is_said() {
    let text = at_interface(
        "rate-limit input access-group rate-limit 1 64000 8000 8000 conform-action transmit exceed-action drop\n\
         rate-limit output 64000 8000 8000 conform-action transmit exceed-action drop\ntraffic-shape adaptive 32000\n\
         service-policy output P",
    );
    let text = format!("{text}policy-map P\n class class-default\n  fair-queue\n");
    for line in ["rate-limit input", "rate-limit output", "adaptive"] {
        assert_eq!(verdict(&text, line).0, Verdict::NotModelled, "{line}");
    }
    let whole = "interface Serial0/0\n rate-limit output 64000 8000 8000 conform-action transmit exceed-action drop\n";
    assert_eq!(verdict(whole, "interface").0, Verdict::Taken);
}
