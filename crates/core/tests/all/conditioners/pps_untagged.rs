//! Packets without tickets at relabellers: who tags is not touched, who does not passes, counts as the least, or is dropped.

use super::scope;
use crate::common::dialogue::{Event, Host, Step, call, dialogues};
use crate::common::generate::{conditioner, quantity};
use perhop_core::Rng;
use perhop_core::conditioner::pps::{is_untagged, tickets};
use perhop_core::conditioner::{AnyConditioner, Conditioner};
use perhop_core::packet::{Packet, flags};
use perhop_core::params::Tree;
use perhop_core::units::Time;
use proptest::prelude::*;

const KINDS: [&str; 2] = ["pps-relabeller", "pps-ack-relabeller"];

fn relabeller(kind: &str, untagged: &str, more: &[(&'static str, &str)]) -> AnyConditioner {
    let mut entries: Vec<(&'static str, Tree)> =
        vec![("tickets", quantity("1000t/s")), ("untagged", quantity(untagged))];
    entries.extend(more.iter().map(|(key, value)| (*key, quantity(value))));
    conditioner(kind, &entries).build(&scope()).unwrap()
}

/// Labels of what comes out of each step; `None` for what is dropped.
fn out(it: AnyConditioner, steps: &[Step]) -> (Vec<Option<Packet>>, AnyConditioner) {
    let (mut host, mut rng) = (Host::new(it), Rng::stream(1, 0, "untagged"));
    let each = |step: &Step| host.step(step, |it, now, packet| call(it, step.event, (now, packet), &mut rng));
    let packets = steps.iter().map(each).collect();
    (packets, host.conditioner)
}

fn shown(packets: &[Option<Packet>]) -> String {
    format!("{packets:?}")
}

/// The same steps with each packet changed.
fn with(steps: &[Step], change: impl Fn(&mut Packet)) -> Vec<Step> {
    let mut steps = steps.to_vec();
    steps.iter_mut().for_each(|step| change(&mut step.offered.packet));
    steps
}

/// Gives one ticket to who does not tag, on data or on a pure ACK.
fn tagged(packet: &mut Packet) {
    if tickets(packet).is_none() {
        packet.set_label(1.0);
    }
    if packet.ack_label().is_none_or(|label| !(label >= 0.0 && label.is_finite())) {
        packet.set_ack_label(1.0);
    }
}

fn met(it: &AnyConditioner) -> Option<u64> {
    let mut found = None;
    it.tallies(&mut |name, n| found = (name == "untagged_packets").then_some(n).or(found));
    found
}

proptest! {
    /// The rule is about packets without tickets alone.
    #[test]
    fn who_tags_is_not_touched(steps in dialogues(200)) {
        let steps = with(&steps, tagged);
        for kind in KINDS {
            let [pass, least, drop] = ["pass", "least", "drop"].map(|rule| shown(&out(relabeller(kind, rule, &[]), &steps).0));
            prop_assert_eq!(&pass, &least);
            prop_assert_eq!(&pass, &drop);
        }
    }

    /// With `least` a load without tickets is passed on as one with a ticket on each packet, whatever else is said: what is
    /// issued is kept to, and nothing is gained by not tagging.
    #[test]
    fn the_least_is_one_ticket(steps in dialogues(200), arrival: bool, scarce: bool) {
        let steps = with(&steps, |packet| packet.flags &= !(flags::LABELLED | flags::ACK | flags::ACK_LABELLED));
        let scarce = if scarce && arrival { "drop" } else { "raise" };
        let more = [("relabel", if arrival { "arrival" } else { "departure" }), ("scarce", scarce)];
        let one = with(&steps, |packet| packet.set_label(1.0));
        let (untagged, it) = out(relabeller("pps-relabeller", "least", &more), &steps);
        let (tagged, _) = out(relabeller("pps-relabeller", "pass", &more), &one);
        let labels = |packets: &[Option<Packet>]| packets.iter().zip(&steps).filter(|(_, step)| step.event == Event::Departs)
            .map(|(packet, _)| packet.and_then(|packet| packet.label())).collect::<Vec<_>>();
        prop_assert_eq!(labels(&untagged), labels(&tagged));
        let forward = steps.iter().filter(|step| step.event == Event::Forward).count() as u64;
        prop_assert_eq!(met(&it), Some(forward));
    }

    /// `drop` drops every packet that should carry tickets and does not, and no other; `pass` none, unchanged.
    #[test]
    fn drop_drops_all_of_them(steps in dialogues(200)) {
        for kind in KINDS {
            let forward = |rule| {
                let (packets, it) = out(relabeller(kind, rule, &[]), &steps);
                let pairs: Vec<_> = steps.iter().zip(packets).filter(|(step, _)| step.event == Event::Forward).collect();
                (pairs, met(&it))
            };
            let (pairs, count) = forward("drop");
            for (step, packet) in &pairs {
                prop_assert_eq!(packet.is_none(), is_untagged(&step.offered.packet));
            }
            prop_assert_eq!(count, Some(pairs.iter().filter(|(_, packet)| packet.is_none()).count() as u64));
            let (pairs, count) = forward("pass");
            for (step, packet) in pairs.iter().filter(|(step, _)| is_untagged(&step.offered.packet)) {
                prop_assert_eq!(format!("{:?}", packet.unwrap()), format!("{:?}", step.offered.packet));
            }
            prop_assert_eq!(count, None);
        }
    }

    /// Section II-F.1 as printed: XRate = 1/AckXRate, whatever the data bring.
    #[test]
    fn the_inverse_is_that_of_the_acks(steps in dialogues(200)) {
        let (_, it) = out(relabeller("pps-ack-relabeller", "pass", &[("exchange", "inverse")]), &steps);
        let mut rates = [0.0; 2];
        it.gauges(Time::ZERO, &mut |name, value| match name {
            "exchange_rate" => rates[0] = value,
            "ack_exchange_rate" => rates[1] = value,
            _ => {}
        });
        prop_assert_eq!(rates[0], 1.0 / rates[1]);
    }
}

/// What is written with `least-tag = "zero"`: no ticket where there is less than half of one.
#[test]
fn a_tag_may_be_zero() {
    let mut it =
        relabeller("pps-relabeller", "pass", &[("relabel", "arrival"), ("least-tag", "zero"), ("policing", "off")]);
    let mut rng = Rng::stream(0, 0, "unused");
    let mut tag = |ms: u64, tickets: f32| {
        let mut packet = Packet { size: 1000, payload: 960, ..Packet::default() };
        packet.set_label(tickets);
        call(&mut it, Event::Forward, (Time::from_ns(ms * 1_000_000), &mut packet), &mut rng);
        packet.label()
    };
    // In = (10^6 + 10)/5 s, O = 1000 t/s
    assert_eq!([tag(0, 1e6), tag(0, 10.0), tag(0, 0.0)], [Some(255.0), Some(0.0), Some(0.0)]);
}
