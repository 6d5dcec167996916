//! What every scheduler of the list whose children are flows, or its own queues, promises its host.

use super::flow_line::{Entry, Host};
use super::line::{read_table, scope};
use crate::oracle::codel::Waiting;
use perhop_core::count::Count;
use perhop_core::packet::Ecn;
use perhop_core::params::Tree;
use perhop_core::sched::{LIST, SchedulerParams};
use perhop_core::units::Time;
use proptest::prelude::*;

pub(crate) fn flowing() -> Vec<&'static str> {
    LIST.iter().filter(|entry| !entry.has("classes")).map(|entry| entry.name).collect()
}

/// As declared, with few queues and little room.
pub(crate) fn params(name: &str) -> SchedulerParams {
    let entry = LIST.iter().find(|e| e.name == name).unwrap();
    let limit = if entry.has("limit") { ("limit", "30p") } else { ("memory", "12kB") };
    let keys = [("flows", Tree::Integer(8)), (limit.0, Tree::Text(limit.1.into()))];
    read_table(name, keys.into_iter().filter(|key| entry.has(key.0)).collect()).unwrap()
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// A packet of a flow: flow, bytes, ECN field.
    Arrive(u32, u32, Ecn),
    /// ns
    Wait(u64),
    Send,
}

pub(crate) fn steps() -> impl Strategy<Value = Vec<Step>> {
    let field = prop::sample::select(vec![Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce]);
    let step = prop_oneof![
        5 => (0u32..20, 40u32..=1500, field).prop_map(|(flow, bytes, field)| Step::Arrive(flow, bytes, field)),
        2 => (0u64..20_000_000).prop_map(Step::Wait),
        4 => Just(Step::Send),
    ];
    prop::collection::vec(step, 0..400)
}

/// What is sent.
pub(crate) fn run(host: &mut Host, steps: &[Step], mut before_each: impl FnMut(&mut Host, u64)) -> Vec<Waiting> {
    let (mut now, mut sent) = (0, Vec::new());
    for (id, step) in (0..).zip(steps) {
        before_each(host, now);
        match *step {
            Step::Wait(ns) => now += ns,
            Step::Send => sent.extend(host.send(now)),
            Step::Arrive(flow, bytes, field) => {
                let packet = Waiting { id, arrived: now, bytes: bytes.into(), ecn: field.capable() };
                host.arrive(flow, Entry { packet, field });
            }
        }
    }
    sent
}

proptest! {
    /// Every packet is sent, dropped once or still waits; those of one queue in their order; the limit holds after every
    /// arrival. (That it never idles while anything waits, and says the same when asked twice, the host checks.)
    #[test]
    fn every_packet_has_one_fate(steps in steps(), name in prop::sample::select(flowing())) {
        let mut host = Host::new(&params(name));
        let by_bytes = !LIST.iter().any(|entry| entry.name == name && entry.has("limit"));
        // Those on the fast path of fq count for no limit.
        let fast = if name == "fq" { 8 } else { 0 };
        let fits = |all: Count| if by_bytes { all.bytes <= 12_000 } else { all.packets <= 30 + fast };
        let sent = run(&mut host, &steps, |host, _| assert!(fits(host.all())));
        let arrived = steps.iter().filter(|step| matches!(step, Step::Arrive(..))).count();
        let mut dropped = host.log.dropped.clone();
        dropped.sort_unstable();
        dropped.dedup();
        prop_assert_eq!(dropped.len(), host.log.dropped.len());
        prop_assert!(sent.iter().all(|packet| dropped.binary_search(&packet.id).is_err()));
        prop_assert_eq!(sent.len() + dropped.len() + host.all().packets as usize, arrived);
    }

    /// What is in force already changes nothing.
    #[test]
    fn the_same_parameters_change_nothing(steps in steps(), name in prop::sample::select(flowing())) {
        let params = params(name);
        let [mut plain, mut retuned] = [Host::new(&params), Host::new(&params)];
        let expected = run(&mut plain, &steps, |_, _| {});
        let again = run(&mut retuned, &steps, |host, now| {
            host.scheduler.retune(Time::from_ns(now), &params, &scope()).unwrap();
        });
        prop_assert_eq!(again, expected);
        prop_assert_eq!(&retuned.log.dropped, &plain.log.dropped);
        prop_assert_eq!(&retuned.log.marked, &plain.log.marked);
    }
}

/// Another kind's parameters are refused and change nothing.
#[test]
fn a_running_one_keeps_its_kind() {
    for name in flowing() {
        let mut running = params(name).build(&scope()).unwrap();
        let before = format!("{running:?}");
        for other in flowing().into_iter().filter(|other| *other != name) {
            let error = running.retune(Time::ZERO, &params(other), &scope()).unwrap_err();
            assert_eq!(error.code, "E202", "{name} {other}");
        }
        assert_eq!(format!("{running:?}"), before);
    }
}
