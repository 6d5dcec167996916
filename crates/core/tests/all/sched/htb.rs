//! HTB against its plain form, packet for packet, and its laws.

use super::driven::{Fast, Host, Load, Sent, drive, loads};
use super::htb_plain::{Plain, Stated};
use super::line::scope;
use crate::common::frames::framing;
use perhop_core::aqm::members::Member;
use perhop_core::arithmetic::Arithmetic;
use perhop_core::dscp::Dscp;
use perhop_core::framing::Framing;
use perhop_core::sched::{SchedulerParams, htb};
use perhop_core::units::{BitRate, Bytes, Time};
use proptest::prelude::*;

/// A scenario's parameters of these classes; leaves differ by code point.
pub(crate) fn params(stated: &[Stated], arithmetic: Arithmetic) -> SchedulerParams {
    framed(stated, arithmetic, Framing::default())
}

/// The same with rates that count so.
fn framed(stated: &[Stated], arithmetic: Arithmetic, framing: Framing) -> SchedulerParams {
    let is_leaf = |i: usize| stated.iter().all(|other| other.parent != Some(i));
    let last = (0..stated.len()).rfind(|&i| is_leaf(i));
    let class = |(i, it): (usize, &Stated)| {
        let own = Dscp::new(i as u8).filter(|_| is_leaf(i) && last != Some(i));
        htb::Class {
            template: Default::default(),
            name: Some(format!("c{i}")),
            parent: it.parent.map(|up| format!("c{up}")),
            filter: own.map(Member::Dscp).into_iter().collect::<Vec<_>>().into(),
            rate: BitRate::bps(it.rate),
            ceil: Some(BitRate::bps(it.ceil)),
            prio: is_leaf(i).then_some(it.prio as u32),
            quantum: is_leaf(i).then_some(Bytes::new(it.quantum as u64)),
            burst: Some(Bytes::new(it.burst)),
            cburst: Some(Bytes::new(it.cburst)),
            queue: None,
        }
    };
    let classes = stated.iter().enumerate().map(class).collect();
    SchedulerParams::Htb(htb::Params { classes, r2q: 10, framing, arithmetic, unclassified: None })
}

impl Host for Plain {
    fn arrive(&mut self, _: u64, child: usize, size: u32) {
        Plain::arrive(self, child, size);
    }
    fn look(&mut self, now: u64) -> Option<usize> {
        Plain::look(self, now)
    }
    fn lose(&mut self, _: u64, child: usize) {
        Plain::lose(self, child);
    }
    fn send(&mut self, now: u64) -> Option<(usize, u32)> {
        Plain::send(self, now)
    }
    fn wakes(&self, now: u64) -> Option<u64> {
        if self.is_empty() { None } else { Plain::wakes(self, now) }
    }
}

/// A tree of up to three levels in the order of a file: parents before children.
fn tree() -> impl Strategy<Value = Vec<Stated>> {
    let numbers = (1u64..20, 1u64..40, 0usize..3, 1500i64..6000, 100u64..20_000, 100u64..20_000);
    let class = numbers.prop_map(|(rate, ceil, prio, quantum, burst, cburst)| {
        let (rate, ceil) = (rate * 500_000, ceil * 500_000);
        Stated { parent: None, rate, ceil, prio, quantum, burst, cburst }
    });
    (prop::collection::vec(class, 1..10), prop::collection::vec(any::<prop::sample::Index>(), 10)).prop_map(
        |(mut classes, choices)| {
            let mut depth: Vec<usize> = Vec::new();
            for (i, choice) in choices.iter().enumerate().take(classes.len()) {
                let above: Vec<_> = (0..i).filter(|&up| depth[up] < 2).map(Some).chain([None]).collect();
                classes[i].parent = above[choice.index(above.len())];
                depth.push(classes[i].parent.map_or(0, |up| depth[up] + 1));
            }
            classes
        },
    )
}

fn leaves(stated: &[Stated]) -> Vec<usize> {
    (0..stated.len()).filter(|&i| stated.iter().all(|other| other.parent != Some(i))).collect()
}

fn loaded() -> impl Strategy<Value = (Vec<Stated>, Load)> {
    tree().prop_flat_map(|tree| {
        let children = leaves(&tree).len();
        (Just(tree), loads(children))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn it_sends_what_the_plain_form_sends((tree, load) in loaded(), linux: bool, framing in framing()) {
        let arithmetic = if linux { Arithmetic::Linux } else { Arithmetic::Exact };
        let fast = drive(&mut Fast::new(&framed(&tree, arithmetic, framing)), &load);
        let plain = drive(&mut Plain::new(&tree, linux).counting(framing), &load);
        prop_assert_eq!(fast, plain);
    }
}

/// A class within a tree of the laws: burst and cburst of two packets.
fn class(parent: Option<usize>, rate_mbit: u64, ceil_mbit: u64) -> Stated {
    let (rate, ceil) = (rate_mbit * 1_000_000, ceil_mbit * 1_000_000);
    Stated { parent, rate, ceil, prio: 0, quantum: 1500, burst: 3000, cburst: 3000 }
}

/// Each child always has packets of 1500 B; a line of 1 Gbit/s, for this many milliseconds.
fn backlogged(stated: &[Stated], ms: u64) -> Vec<Sent> {
    let children = leaves(stated).len();
    let gap = 1_000_000_000 * 12_000 / 300_000_000;
    let packets = ms * 1_000_000 / gap;
    let arrivals =
        (0..packets).flat_map(|_| (0..children).map(|child| (if child == 0 { gap } else { 0 }, child, 1500)));
    let load = Load { arrivals: arrivals.collect(), line: 1_000_000_000, drop_every: 0 };
    let sent = drive(&mut Fast::new(&params(stated, Arithmetic::Exact)), &load);
    sent.into_iter().take_while(|&(at, ..)| at < ms * 1_000_000).collect()
}

/// Mbit/s of each child after the first tenth.
fn rates(stated: &[Stated]) -> Vec<f64> {
    let sent = backlogged(stated, 1000);
    let of = |child| {
        let bytes: u64 = sent.iter().filter(|s| s.1 == child && s.0 >= 100_000_000).map(|s| u64::from(s.2)).sum();
        bytes as f64 * 8.0 / 0.9e6
    };
    (0..leaves(stated).len()).map(of).collect()
}

/// Of 900 ms, a few packets more or less: 4 packets of 1500 B are 0.053 Mbit/s.
fn close(got: &[f64], expected: &[f64]) {
    let near = got.iter().zip(expected).all(|(a, b)| (a - b).abs() < 0.06);
    assert!(near && got.len() == expected.len(), "{got:?}, expected {expected:?}");
}

#[test]
fn who_is_backlogged_gets_its_rate_and_no_more_than_its_ceil() {
    close(&rates(&[class(None, 5, 5), class(None, 2, 2)]), &[5.0, 2.0]);
    // Together they promise all that their parent has.
    close(&rates(&[class(None, 10, 10), class(Some(0), 7, 10), class(Some(0), 3, 10)]), &[7.0, 3.0]);
    // No class lends to one without a parent: its ceil is of no use to it.
    close(&rates(&[class(None, 5, 9)]), &[5.0]);
    // A ceil below the rate is the bound; what it leaves, others borrow.
    close(&rates(&[class(None, 5, 2)]), &[2.0]);
    close(&rates(&[class(None, 10, 10), class(Some(0), 7, 2), class(Some(0), 3, 10)]), &[2.0, 8.0]);
    // That of a parent bounds what it lends, not what its children have themselves.
    close(&rates(&[class(None, 10, 4), class(Some(0), 3, 10), class(Some(0), 2, 10)]), &[3.0, 2.0]);
}

#[test]
fn the_excess_is_shared_by_quantum() {
    let with = |quantum: i64, it: Stated| Stated { quantum, ..it };
    let tree = [class(None, 10, 10), with(1500, class(Some(0), 1, 10)), with(4500, class(Some(0), 1, 10))];
    close(&rates(&tree), &[1.0 + 8.0 / 4.0, 1.0 + 8.0 * 3.0 / 4.0]);
    // Up to the ceil; the rest is the other's.
    let tree = [class(None, 10, 10), with(1500, class(Some(0), 1, 10)), with(4500, class(Some(0), 1, 3))];
    close(&rates(&tree), &[7.0, 3.0]);
}

#[test]
fn the_urgent_borrow_first_and_rates_come_before_priorities() {
    let with = |prio: usize, it: Stated| Stated { prio, ..it };
    let tree = [
        class(None, 10, 10),
        with(1, class(Some(0), 1, 10)),
        with(0, class(Some(0), 1, 10)),
        with(2, class(Some(0), 1, 10)),
    ];
    close(&rates(&tree), &[1.0, 8.0, 1.0]);
}

#[test]
fn one_borrows_from_further_up_once_the_parent_is_beyond_its_rate() {
    // left (6 of 10): a 4, b 2; right (4): c. c has nothing to send half of the time in the second tree: none at all.
    let left =
        [class(None, 10, 10), class(Some(0), 6, 8), class(Some(1), 4, 8), class(Some(1), 2, 8), class(Some(0), 4, 10)];
    close(&rates(&left), &[4.0, 2.0, 4.0]);
    let alone = rates(&left[..4]);
    assert!((alone.iter().sum::<f64>() - 8.0).abs() < 0.06 && alone[0] > 4.9 && alone[1] > 2.9, "{alone:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Over any interval a class sends at most its ceil's worth, its cburst, and the packet that puts it into debt; and
    /// without parent, the same of its rate and burst.
    #[test]
    fn ceil_and_rate_hold_over_every_interval((tree, load) in loaded()) {
        let sent = drive(&mut Fast::new(&params(&tree, Arithmetic::Exact)), &load);
        for (child, &leaf) in leaves(&tree).iter().enumerate() {
            let Stated { rate, ceil, burst, cburst, parent, .. } = tree[leaf];
            let own: Vec<_> = sent.iter().filter(|s| s.1 == child).collect();
            let buckets = [Some((ceil, cburst)), parent.is_none().then_some((rate, burst))];
            for (from, (rate, burst)) in (0..own.len()).flat_map(|from| buckets.into_iter().flatten().map(move |of| (from, of))) {
                let mut bytes = 0;
                for &&(at, _, size) in &own[from..] {
                    bytes += u64::from(size);
                    let most = (at - own[from].0) as f64 * rate as f64 / 8e9 + burst as f64 + f64::from(size);
                    prop_assert!(bytes as f64 <= most + 1e-3, "{} of {}", bytes, most);
                }
            }
        }
    }

    /// What all take is at most what the classes without parent may.
    #[test]
    fn nothing_is_lost_and_all_is_sent((tree, load) in loaded()) {
        let load = Load { drop_every: 0, ..load };
        let sent = drive(&mut Fast::new(&params(&tree, Arithmetic::Linux)), &load);
        prop_assert_eq!(sent.len(), load.arrivals.len());
        prop_assert!(sent.is_sorted_by_key(|s| s.0));
    }
}

/// Tokens stay where they are, new rates hold from the change on.
#[test]
fn new_rates_hold_from_now_on() {
    let (slow, quick) = ([class(None, 1, 1)], [class(None, 10, 10)]);
    let mut host = Fast::new(&params(&slow, Arithmetic::Exact));
    (0..40).for_each(|_| host.arrive(0, 0, 1500));
    // Two packets of burst and one into debt, of 12 ms at 1 Mbit/s: half of it paid after 6 ms, the rest at 10 Mbit/s.
    (0..3).for_each(|_| assert_eq!(host.send(0), Some((0, 1500))));
    assert_eq!((host.send(0), host.wakes), (None, Some(12_000_000)));
    host.scheduler.retune(Time::from_ns(6_000_000), &params(&quick, Arithmetic::Exact), &scope()).unwrap();
    assert_eq!((host.send(6_000_000), host.wakes), (None, Some(6_600_000)));
    assert_eq!(host.send(6_600_000), Some((0, 1500)));
    assert_eq!((host.send(6_600_000), host.wakes), (None, Some(7_800_000)));
}
