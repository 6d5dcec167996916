//! HFSC against its slow version, packet for packet.

use super::driven::{Fast, Host, Load, drive, loads};
use crate::oracle::hfsc::{Curve, Slow, Stated};
use perhop_core::aqm::members::Member;
use perhop_core::arithmetic::Arithmetic;
use perhop_core::dscp::Dscp;
use perhop_core::sched::SchedulerParams;
use perhop_core::sched::hfsc::{Class, Params, Pieces, Stated as Written};
use perhop_core::units::{BitRate, Span};
use proptest::prelude::*;

/// As a file has it.
pub(crate) fn written(curve: Curve) -> Written {
    let Curve { m1, d, m2 } = curve;
    let [m1, m2] = [m1, m2].map(BitRate::bps);
    match d {
        0 => Written::Rate(m2),
        _ => Written::Pieces(Pieces { m1: Some(m1), d: Some(Span::from_ns(d)), m2: Some(m2), ..Pieces::default() }),
    }
}

/// The leaves among some classes.
pub(crate) fn leaves(stated: &[Stated]) -> Vec<usize> {
    (0..stated.len()).filter(|&i| stated.iter().all(|other| other.parent != Some(i))).collect()
}

/// A scenario's parameters of these classes; leaves differ by code point.
pub(crate) fn params(stated: &[Stated], arithmetic: Arithmetic) -> SchedulerParams {
    let leaves = leaves(stated);
    let class = |(i, it): (usize, &Stated)| {
        let own = Dscp::new(i as u8).filter(|_| leaves.contains(&i) && leaves.last() != Some(&i));
        Class {
            template: Default::default(),
            name: Some(format!("c{i}")),
            parent: it.parent.map(|up| format!("c{up}")),
            filter: own.map(Member::Dscp).into_iter().collect::<Vec<_>>().into(),
            rt: it.rt.map(written),
            ls: it.ls.map(written),
            ul: it.ul.map(written),
            queue: None,
        }
    };
    let classes = stated.iter().enumerate().map(class).collect();
    SchedulerParams::Hfsc(Params { classes, arithmetic, unclassified: None })
}

impl Host for Slow {
    fn arrive(&mut self, now: u64, child: usize, size: u32) {
        Slow::arrive(self, now, child, size);
    }
    fn look(&mut self, now: u64) -> Option<usize> {
        Slow::look(self, now)
    }
    fn lose(&mut self, _: u64, child: usize) {
        Slow::lose(self, child);
    }
    fn send(&mut self, now: u64) -> Option<(usize, u32)> {
        Slow::send(self, now)
    }
    fn wakes(&self, now: u64) -> Option<u64> {
        Slow::wakes(self, now)
    }
}

/// A straight line, a convex or a concave curve of up to `most` halves of a Mbit/s.
pub(crate) fn curve(most: u64) -> impl Strategy<Value = Curve> {
    let line = (1..=most).prop_map(|m2| Curve { m1: m2 * 500_000, d: 0, m2: m2 * 500_000 });
    let pieces =
        (0..=most, 1u64..40_000_000, 1..=most).prop_map(|(m1, d, m2)| Curve { m1: m1 * 500_000, d, m2: m2 * 500_000 });
    prop_oneof![line, pieces]
}

/// A tree of up to three levels in the order of a file: parents before children. Leaves have `rt`, `ls` or both; below an
/// upper limit there is no `rt`, which could exceed it.
pub(crate) fn tree() -> impl Strategy<Value = Vec<Stated>> {
    let class =
        (prop::option::of(curve(12)), prop::option::weighted(0.8, curve(12)), prop::option::weighted(0.3, curve(20)));
    (prop::collection::vec(class, 1..9), prop::collection::vec(any::<prop::sample::Index>(), 9)).prop_map(
        |(curves, choices)| {
            let (mut classes, mut depth): (Vec<Stated>, Vec<usize>) = (Vec::new(), Vec::new());
            for ((rt, ls, ul), choice) in curves.iter().zip(&choices) {
                let above: Vec<_> = (0..classes.len()).filter(|&up| depth[up] < 2).map(Some).chain([None]).collect();
                let parent = above[choice.index(above.len())];
                depth.push(parent.map_or(0, |up: usize| depth[up] + 1));
                classes.push(Stated { parent, rt: *rt, ls: *ls, ul: *ul });
            }
            sound(classes)
        },
    )
}

fn sound(mut classes: Vec<Stated>) -> Vec<Stated> {
    let leaves = leaves(&classes);
    for i in 0..classes.len() {
        let limited = std::iter::successors(Some(i), |&at| classes[at].parent).any(|at| classes[at].ul.is_some());
        let class = &mut classes[i];
        if limited || !leaves.contains(&i) {
            class.rt = None;
        }
        if class.rt.is_none() && class.ls.is_none() {
            class.ls = Some(Curve { m1: 1_000_000, d: 0, m2: 1_000_000 });
        }
    }
    classes
}

pub(crate) fn loaded() -> impl Strategy<Value = (Vec<Stated>, Load)> {
    tree().prop_flat_map(|tree| {
        let children = leaves(&tree).len();
        (Just(tree), loads(children))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn it_sends_what_the_slow_version_sends((tree, load) in loaded()) {
        let fast = drive(&mut Fast::new(&params(&tree, Arithmetic::Exact)), &load);
        let slow = drive(&mut Slow::new(&tree), &load);
        prop_assert_eq!(fast, slow);
    }
}
