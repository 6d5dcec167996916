//! What a receiver reports, against sets of numbers: RFC 2018 section 4 and RFC 2883 section 4, slowly.

#![allow(clippy::single_range_in_vec_init)] // a block is a range

use perhop_core::units::Time;
use perhop_sim::transport::{AckDelay, AckInfo, Config, Reaction, Received, Receiver, Sacks};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::ops::Range;

const REPORTING: Reaction = Reaction { ack: AckDelay::None, overhead: None, sack: true, ..Reaction::NONE };

/// Everything received, and the blocks reported, each as the set of its numbers, the latest first.
struct Oracle {
    got: BTreeSet<u32>,
    first: u32,
    window: u32,
    reports: Vec<BTreeSet<u32>>,
}

/// What the ACK of a segment says.
#[derive(Debug, PartialEq)]
struct AckFields {
    next: u32,
    blocks: Vec<Range<u32>>,
    dsack: Option<Range<u32>>,
}

fn range(set: &BTreeSet<u32>) -> Range<u32> {
    *set.first().unwrap()..*set.last().unwrap() + 1
}

impl Oracle {
    fn next(&self) -> u32 {
        (self.first..).find(|n| !self.got.contains(n)).unwrap()
    }

    /// The largest set of consecutive numbers received around `number`.
    fn run(&self, number: u32) -> Range<u32> {
        let start = (0..=number).rev().take_while(|n| self.got.contains(n)).last().unwrap();
        start..(number..).find(|n| !self.got.contains(n)).unwrap()
    }

    /// Runs beyond the next number expected.
    fn holes(&self) -> usize {
        let next = self.next();
        self.got.range(next..).filter(|&&n| !self.got.contains(&(n - 1))).count()
    }

    /// RFC 2018: "the first SACK block MUST specify the contiguous block of data containing the segment which triggered
    /// this ACK", then the most recently reported ones. At most four are remembered.
    fn report(&mut self, number: u32) {
        let beside = [number - 1, number, number + 1];
        let (near, far): (Vec<_>, Vec<_>) =
            self.reports.drain(..).partition(|report| beside.iter().any(|n| report.contains(n)));
        let block = near.into_iter().flatten().chain([number]).collect();
        self.reports = [vec![block], far].concat();
        self.reports.truncate(4);
    }

    fn on_segment(&mut self, number: u32) -> AckFields {
        let next = self.next();
        let outside = number >= next && number - next >= self.window;
        let again = !outside && (number < next || self.got.contains(&number));
        if number >= next && !outside {
            self.got.insert(number);
            if number > next {
                self.report(number);
            }
        }
        let next = self.next();
        self.reports.retain(|report| report.iter().all(|&n| n > next));
        let dsack = (again && next - number.min(next) <= 32_768).then_some(number..number + 1);
        let blocks = dsack.clone().into_iter().chain(self.reports.iter().map(range)).take(3).collect();
        AckFields { next, blocks, dsack }
    }
}

fn said(ack: &AckInfo) -> AckFields {
    let next = ack.next_expected;
    AckFields { next, blocks: ack.sacks.iter(next).collect(), dsack: ack.sacks.dsack(next) }
}

fn segment(number: u32) -> Received {
    Received { number, payload: 1000, ..Received::default() }
}

/// A receiver and its oracle.
fn pair(window: u32) -> (Receiver, Oracle) {
    let receiver = Receiver::new(&Config { window, syn: false, reaction: REPORTING, ..Config::default() }).unwrap();
    (receiver, Oracle { got: BTreeSet::new(), first: 1, window, reports: Vec::new() })
}

/// Where a segment lies, from the next one expected: repeats of what was lost, new data, duplicates, reordering.
fn any_offset() -> impl Strategy<Value = i64> {
    prop_oneof![3 => Just(0i64), 4 => 1i64..12, 4 => 0i64..60, 2 => -8i64..0, 1 => 0i64..300]
}

/// The blocks that are no duplicate's.
fn held(said: &AckFields) -> &[Range<u32>] {
    &said.blocks[usize::from(said.dsack.is_some())..]
}

/// Neither overlaps nor touches another: a hole lies between any two.
fn apart(blocks: &[Range<u32>]) -> bool {
    let mut sorted = blocks.to_vec();
    sorted.sort_by_key(|block| block.start);
    sorted.windows(2).all(|pair| pair[0].end < pair[1].start)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// Each ACK, word for word. A sender that gets them all knows after each what is held, no more and no less.
    #[test]
    fn agrees_with_sets_of_numbers(offsets in prop::collection::vec(any_offset(), 1..300), window in 1u32..200) {
        let (mut receiver, mut oracle) = pair(window);
        let mut known = BTreeSet::new();
        let mut crowded = false;
        for offset in offsets {
            let number = (i64::from(receiver.next_expected()) + offset).max(1) as u32;
            let ack = receiver.on_segment(Time::ZERO, &segment(number)).unwrap();
            let found = said(&ack);
            prop_assert_eq!(&found, &oracle.on_segment(number));
            prop_assert!(apart(held(&found)));
            known.extend(1..found.next);
            known.extend(found.blocks.iter().cloned().flatten());
            prop_assert_eq!(&known, &oracle.got);
            let blocks = found.blocks.len() as u32;
            prop_assert_eq!(ack.sacks.wire(), if blocks == 0 { 0 } else { 4 + 8 * blocks });
            crowded = oracle.holes() > 4 || crowded && oracle.holes() > 0;
            if oracle.got.contains(&number) && number > found.next {
                prop_assert!(held(&found)[0].contains(&number));
                prop_assert!(crowded || held(&found)[0] == oracle.run(number), "not the whole block");
            }
        }
    }

    /// Whatever order a transfer arrives in, with whatever twice: in the end there is nothing to report.
    #[test]
    fn nothing_is_left_when_all_has_arrived(order in Just((1u32..60).collect::<Vec<_>>()).prop_shuffle(), twice in 1u32..60) {
        let (mut receiver, _) = pair(100);
        let last = order.iter().map(|&number| receiver.on_segment(Time::ZERO, &segment(number)).unwrap()).last().unwrap();
        prop_assert_eq!((last.next_expected, last.sacks), (60, Sacks::default()));
        let again = said(&receiver.on_segment(Time::ZERO, &segment(twice)).unwrap());
        prop_assert_eq!(again, AckFields { next: 60, blocks: vec![twice..twice + 1], dsack: Some(twice..twice + 1) });
        let after = receiver.on_segment(Time::ZERO, &segment(60)).unwrap();
        prop_assert_eq!((after.next_expected, after.sacks), (61, Sacks::default()));
    }
}

/// What a receiver says of segments, one after the other: next, and the blocks.
fn heard(numbers: &[u32]) -> Vec<(u32, Vec<Range<u32>>)> {
    let (mut receiver, _) = pair(100);
    let hear = |&number: &u32| said(&receiver.on_segment(Time::ZERO, &segment(number)).unwrap());
    numbers.iter().map(hear).map(|said| (said.next, said.blocks)).collect()
}

/// The examples of RFC 2018 section 4, cases 2 and 3: the first of eight segments lost, then every second one.
#[test]
fn the_examples_of_rfc_2018() {
    let first_lost: Vec<_> = (2..=8u32).map(|last| (1, vec![2..last + 1])).collect();
    assert_eq!(heard(&[2, 3, 4, 5, 6, 7, 8]), first_lost);
    let blocks = [vec![], vec![3..4], vec![5..6, 3..4], vec![7..8, 5..6, 3..4]];
    assert_eq!(heard(&[1, 3, 5, 7]), blocks.map(|blocks| (2, blocks)));
    // "the 4th packet is received out of order", then the 2nd
    assert_eq!(heard(&[1, 3, 5, 7, 4, 2])[4..], [(2, vec![3..6, 7..8]), (6, vec![7..8])]);
}

/// RFC 2883 section 4.1.1 and 4.1.2, 4.2.2: a duplicate of what is delivered, with a block beside it, of what is held.
#[test]
fn the_examples_of_rfc_2883() {
    assert_eq!(heard(&[1, 2, 1]).last().unwrap(), &(3, vec![1..2]));
    assert_eq!(heard(&[1, 2, 4, 1]).last().unwrap(), &(3, vec![1..2, 4..5]));
    assert_eq!(heard(&[1, 3, 4, 5, 4]).last().unwrap(), &(2, vec![4..5, 3..6]));
    assert_eq!(heard(&[1, 3, 4, 5, 7, 4, 8])[5..], [(2, vec![4..5, 3..6, 7..8]), (2, vec![7..9, 3..6])]);
}

/// With a window of 32,767 segments the farthest block has its place.
#[test]
fn the_largest_window_fits() {
    let (mut receiver, _) = pair(32_767);
    let last = said(&receiver.on_segment(Time::ZERO, &segment(32_767)).unwrap());
    assert_eq!(last.blocks, [32_767..32_768]);
    for number in (2..32_767).rev() {
        receiver.on_segment(Time::ZERO, &segment(number)).unwrap();
    }
    assert_eq!(said(&receiver.on_segment(Time::ZERO, &segment(2)).unwrap()).blocks, [2..3, 2..32_768]);
    let all = said(&receiver.on_segment(Time::ZERO, &segment(1)).unwrap());
    assert_eq!((all.next, all.blocks), (32_768, vec![]));
}

/// Without SACK nothing is reported.
#[test]
fn off_means_off() {
    let mut receiver = Receiver::new(&Config { syn: false, ..Config::default() }).unwrap();
    for number in [3, 5, 3, 1, 1] {
        assert!(receiver.on_segment(Time::ZERO, &segment(number)).unwrap().sacks.is_empty());
    }
}

/// A SYN that comes twice is answered, and no data was duplicated.
#[test]
fn a_second_syn_is_no_duplicate() {
    let mut receiver = Receiver::new(&Config { reaction: REPORTING, ..Config::default() }).unwrap();
    let syn = Received { payload: 0, syn: true, ..segment(0) };
    let [first, second] = [0; 2].map(|_| receiver.on_segment(Time::ZERO, &syn).unwrap());
    assert_eq!(first, second);
    assert!(first.sacks.is_empty());
}
