//! What devices assume: written out it is the same.

use crate::ios::hand::{at_interface, read_on};
use perhop_config::import_options::Platform;
use perhop_config::value::Origin;

const MAPS: &str = "class-map match-all VOICE\n match dscp ef\nclass-map match-all DATA\n match precedence 3\n";

fn same(platform: Platform, short: &str, long: &str) {
    let device = |lines: &str| read_on(platform, &format!("{MAPS}{}", at_interface(lines))).device;
    assert_eq!(device(short), device(long), "{short}\n{long}");
}

#[test]
fn defaults_written_out_are_the_same() {
    let priority = "class VOICE\npriority 1000";
    same(Platform::IosXe, priority, "class VOICE\npriority level 1 1000 25000\nqueue-limit 512 packets");
    same(Platform::Ios, priority, "class VOICE\npriority 1000 25000\nqueue-limit 64 packets");
    let shaper = "class class-default\nshape average 10000000";
    same(Platform::IosXe, shaper, "class class-default\nshape average 10000000 40000 40000\nqueue-limit 64 packets");
    same(Platform::Ios, shaper, "class class-default\nshape average 10000000 40000 40000\nqueue-limit 64");
    same(Platform::Ncs, shaper, "class class-default\nshape average 10000000 100000 0");
}

#[test]
fn defaults_of_policers() {
    let bare = "class class-default\npolice cir 1000000";
    let actions = "conform-action transmit\nexceed-action drop";
    same(Platform::IosXe, bare, &format!("class class-default\npolice cir 1000000 bc 31250\n{actions}"));
    same(Platform::Ios, bare, &format!("class class-default\npolice 1000000 31250 31250\n{actions}"));
    same(
        Platform::Ncs,
        "class class-default\npolice cir 10000000",
        &format!("class class-default\npolice cir 10000000 bc 12500\n{actions}"),
    );
    same(Platform::IosXe, "class class-default\npolice cir 8000", "class class-default\npolice cir 8000 bc 1500");
    let two_rates = "class class-default\npolice cir 1000000 pir 2000000";
    same(Platform::IosXe, two_rates, &format!("{two_rates} be 62500\n{actions}\nviolate-action drop"));
}

/// 50 ms of 1500-byte packets at 100 Mbit/s are 416; half of that is the maximum, by precedence from 104 on.
#[test]
fn defaults_of_wred() {
    let bare = "class class-default\nrandom-detect";
    let table = |rows: &str| {
        format!("class class-default\nrandom-detect prec-based\nrandom-detect exponential-weighting-constant 9\n{rows}")
    };
    let xe: String = (0..8).map(|p| format!("random-detect precedence {p} {} 208 10\n", 208 * (8 + p) / 16)).collect();
    same(Platform::IosXe, bare, &table(&format!("queue-limit 416 packets\n{xe}")));
    let classic: String = (0..8).map(|p| format!("random-detect precedence {p} {} 40 10\n", 20 + 2 * p)).collect();
    same(Platform::Ios, bare, &table(&format!("queue-limit 64 packets\n{classic}")));
}

/// What is assumed says by whom.
#[test]
fn assumptions_have_a_source() {
    let device = read_on(Platform::IosXe, &at_interface("class class-default\nshape average 10000000")).device;
    let queue = device.ports[0].queue.as_ref().unwrap();
    assert_eq!(queue.shape.get("burst").unwrap().origin, Origin::Assumed("IOS XE: 4 ms of the rate"));
    assert!(queue.shape.get("rate").unwrap().origin.place().is_some());
}
