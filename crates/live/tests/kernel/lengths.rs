//! What a frame is charged that the kernel hands over.

use perhop_core::count::Count;
use perhop_edge::Policy;
use perhop_live::{Dropped, monotonic_ns};

use crate::frames::{Packet, ethernet, ip4, tagged, udp};
use crate::lab::{Lab, receive, send, unavailable};

/// 1 Mbit/s of frames.
fn policer() -> Policy {
    let text = r#"
        [policy]
        accounting = "l2"
        [conditioner.police]
        kind = "token-bucket"
        cir = "1Mbit/s"
        cbs = "15kB"
        red = "drop"
    "#;
    let (policy, _) = perhop_scenario::Policy::parse(text, &perhop_scenario::Options::new("police.toml")).unwrap();
    Policy { stages: policy.stages(), accounting: policy.accounting(), ..Policy::default() }
}

/// 400 frames of 1514 B that state 28 B: no more pass than a bucket of 15 kB and 1 Mbit/s allow until the last of them came.
#[test]
fn a_policer_passes_its_rate_of_wire_bytes() {
    if unavailable() {
        return;
    }
    let lab = Lab::new();
    let mut from = lab.open("s", "eth0");
    let begun = monotonic_ns();
    let working = lab.forward(policer());
    let lie = ethernet(0x0800, &ip4(&Packet { stated: Some(28), ..Packet::of(&udp(&[0; 1472])) }));
    let last = ethernet(0x88b5, &[7; 46]);
    send(&mut from, &[vec![lie; 400], vec![last]].concat());
    working.until_received(0, 401);
    let ns = monotonic_ns() - begun;
    let ([there, _], colours) = working.ends();
    let [green, dropped] = [colours[0], colours[4]];
    assert_eq!((green.packets + dropped.packets, green.bytes), (400, green.packets * 1514));
    assert_eq!(there.lost(Dropped::Policer), dropped.packets);
    assert!(green.bytes <= 15_000 + ns / 8_000, "{} bytes in {ns} ns", green.bytes);
}

/// The kernel takes a tag out of a frame, and it counts all the same: 14 bytes of Ethernet, 4 for each tag.
#[test]
fn tags_are_charged() {
    if unavailable() {
        return;
    }
    let lab = Lab::new();
    let (mut from, mut to) = (lab.open("s", "eth0"), lab.open("r", "eth0"));
    let working = lab.forward(policer());
    let whole = ethernet(0x0800, &ip4(&Packet::of(&udp(&[0; 100]))));
    let frames = [0, 1, 2, 8, 9].map(|tags| tagged(&whole, tags));
    send(&mut from, &frames);
    let found = receive(&mut to, 4, |bytes| bytes[..6] == [0x33; 6]);
    assert_eq!(found, frames[..4]);
    let ([there, _], colours) = working.ends();
    assert_eq!(colours[0], Count { packets: 4, bytes: 4 * (128 + 14) + (1 + 2 + 8) * 4 });
    assert_eq!(there.lost(Dropped::VlanDepth), 1);
}
