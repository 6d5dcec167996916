//! What HFSC promises: deadlines, shares, limits, and an idle line only when nothing waits.

use super::driven::{Fast, Load, Sent, drive, loads};
use super::hfsc::{leaves, loaded, params, tree};
use super::line::{LARGEST, scope};
use crate::oracle::hfsc::{Curve, Least, Stated};
use perhop_core::Scope;
use perhop_core::arithmetic::Arithmetic;
use perhop_core::units::BitRate;
use proptest::prelude::*;

const BYTE: i128 = 8_000_000_000;

fn sent(tree: &[Stated], load: &Load) -> Vec<Sent> {
    drive(&mut Fast::new(&params(tree, Arithmetic::Exact)), load)
}

/// How long a line takes for a packet, ns.
fn takes(size: u32, line: u64) -> u64 {
    (u64::from(size) * 8_000_000_000).div_ceil(line)
}

/// Arrivals of a child, and the departures of its packets in the same order: ns, B.
fn of_child(load: &Load, sent: &[Sent], child: usize) -> Vec<(u64, u64, u32)> {
    let mut now = 0;
    let arrivals = load.arrivals.iter().map(|&(gap, to, _)| {
        now += gap;
        (now, to)
    });
    let came: Vec<_> = arrivals.filter(|it| it.1 == child).map(|it| it.0).collect();
    let left = sent.iter().filter(|it| it.1 == child).map(|it| (it.0, it.2));
    came.into_iter().zip(left).map(|(came, (left, size))| (came, left, size)).collect()
}

/// Nothing is dropped, on a line that takes its time.
fn on_a_line(load: Load, line: u64) -> Load {
    Load { line, drop_every: 0, ..load }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Theorem 2: if the sum of the real-time curves is nowhere above the line, a packet has left one largest packet of the
    /// line after its deadline at the latest. The deadline is that of the curve alone: the least of those from each moment at
    /// which a backlog began.
    #[test]
    fn packets_meet_their_deadlines((tree, load) in loaded(), line in 8_000_000u64..40_000_000) {
        let scope = Scope { link_rate: Some(BitRate::bps(line)), ..scope() };
        prop_assume!(params(&tree, Arithmetic::Exact).build(&scope).is_ok());
        let load = on_a_line(load, line);
        let all = sent(&tree, &load);
        for (child, &leaf) in leaves(&tree).iter().enumerate() {
            let Some(rt) = tree[leaf].rt else { continue };
            let (mut promise, mut work, mut free) = (Vec::new(), 0i128, 0);
            for (came, left, size) in of_child(&load, &all, child) {
                // The backlog ends once its last packet has been taken.
                if promise.is_empty() || came > free {
                    promise.push((i128::from(came), work));
                }
                (work, free) = (work + i128::from(size), left);
                let done = left + takes(size, line);
                let late = i128::from(done) - i128::from(takes(LARGEST, line)) - 1;
                let due = promise.iter().map(|&(from, w)| w * BYTE + rt.at(late - from)).min().unwrap();
                prop_assert!(due <= work * BYTE, "child {} at {}: {} of {}", child, done, work, due / BYTE);
            }
        }
    }

    /// Without upper limits, and where all leaves share, the line is idle only when nothing waits.
    #[test]
    fn the_line_is_never_idle_while_packets_wait((tree, load) in loaded(), line in 1_000_000u64..40_000_000) {
        let all_share = |it: &Stated| Stated { ls: it.ls.or(it.rt), ul: None, ..it.clone() };
        let tree: Vec<_> = tree.iter().map(all_share).collect();
        let load = on_a_line(load, line);
        let (mut free, mut arrivals, mut now) = (0, Vec::new(), 0);
        for &(gap, ..) in &load.arrivals {
            now += gap;
            arrivals.push(now);
        }
        for (i, (at, _, size)) in sent(&tree, &load).into_iter().enumerate() {
            let waiting = arrivals.iter().filter(|&&came| came < at).count() > i;
            prop_assert!(at == free || !waiting, "idle from {} to {}", free, at);
            free = at + takes(size, line);
        }
    }

    /// From the beginning of a backlog of all that is below a class, its upper limit allows each packet when it begins: what
    /// is sent exceeds it by one packet at most.
    #[test]
    fn an_upper_limit_is_exceeded_by_one_packet_at_most((tree, load) in loaded()) {
        let shared = |it: &Stated| Stated { rt: None, ls: it.ls.or(it.rt), ..it.clone() };
        let tree: Vec<_> = tree.iter().map(shared).collect();
        let load = on_a_line(load, 100_000_000);
        let (all, leaves) = (sent(&tree, &load), leaves(&tree));
        for class in (0..tree.len()).filter(|&i| tree[i].ul.is_some()) {
            let below = |leaf: usize| std::iter::successors(Some(leaf), |&at| tree[at].parent).any(|at| at == class);
            let children: Vec<_> = (0..leaves.len()).filter(|&child| below(leaves[child])).collect();
            let mut packets: Vec<_> = children.iter().flat_map(|&child| of_child(&load, &all, child)).collect();
            packets.sort_unstable_by_key(|it| it.1);
            let mut came: Vec<_> = packets.iter().map(|it| it.0).collect();
            came.sort_unstable();
            let (mut limit, mut work) = (Least::new(tree[class].ul.unwrap()), 0i128);
            for (i, &(_, left, size)) in packets.iter().enumerate() {
                // It was empty if all that had come was gone before this one came.
                if i == 0 || came[i] > packets[i - 1].1 {
                    limit.begin(came[i].into(), work);
                }
                prop_assert!(work * BYTE <= limit.at(left.into()), "class {} at {}", class, left);
                work += i128::from(size);
            }
        }
    }

    /// Siblings that always have packets get what their straight lines say, to a packet each.
    #[test]
    fn siblings_share_by_their_lines(tree in tree(), rates in prop::collection::vec(1u64..20, 9), sizes in prop::collection::vec(40..=LARGEST, 9)) {
        let line = |i: usize| Some(Curve { m1: rates[i] * 500_000, d: 0, m2: rates[i] * 500_000 });
        let tree: Vec<_> = tree.iter().enumerate().map(|(i, it)| Stated { parent: it.parent, ls: line(i), ..Stated::default() }).collect();
        let leaves = leaves(&tree);
        let arrivals = (0..80).flat_map(|_| (0..leaves.len()).map(|child| (0, child, sizes[child]))).collect();
        let all = sent(&tree, &Load { arrivals, line: 0, drop_every: 0 });
        let below = |leaf: usize, class: usize| std::iter::successors(Some(leaf), |&at| tree[at].parent).any(|at| at == class);
        let mut work = vec![0f64; tree.len()];
        let mut count = vec![0; leaves.len()];
        for &(_, child, size) in &all {
            (0..tree.len()).filter(|&class| below(leaves[child], class)).for_each(|class| work[class] += f64::from(size));
            count[child] += 1;
            if count[child] == 80 {
                break;
            }
            let normal = |class: usize| work[class] / rates[class] as f64;
            let packet = |class: usize| {
                let of = (0..leaves.len()).filter(|&child| below(leaves[child], class));
                f64::from(of.map(|child| sizes[child]).max().unwrap()) / rates[class] as f64
            };
            for a in 0..tree.len() {
                for b in (0..a).filter(|&b| tree[a].parent == tree[b].parent) {
                    let apart = (normal(a) - normal(b)).abs();
                    prop_assert!(apart <= packet(a) + packet(b) + 0.01, "{} {}: {}", a, b, apart);
                }
            }
        }
    }

    /// The kernel's fixed point is the same law: behind a limit each packet leaves when it does by exact arithmetic, but for a
    /// tick of 64 ns where a backlog begins, one where a packet waits, and the slope's last bit.
    #[test]
    fn linux_keeps_the_same_limit(rate in 1u64..20, load in loads(1)) {
        let line = |rate| Some(Curve { m1: rate, d: 0, m2: rate });
        let tree = [Stated { ls: line(1_000_000), ul: line(rate * 500_000), ..Stated::default() }];
        let load = on_a_line(load, 0);
        let run = |arithmetic| drive(&mut Fast::new(&params(&tree, arithmetic)), &load);
        let [exact, linux] = [Arithmetic::Exact, Arithmetic::Linux].map(run);
        for (a, b) in exact.iter().zip(&linux) {
            // 15,625,000 x 2^14 / (bytes/s) is at least 204,800: a last bit is 5 in a million.
            let slack = 128 + a.0 / 200_000;
            prop_assert!(a.1 == b.1 && a.0.abs_diff(b.0) <= slack, "{:?} {:?}", a, b);
        }
    }
}

/// The longest time (ns) in which a packet of 500 B has left, one each 20 ms, beside five classes that always have packets of
/// 1500 B and are promised 1 Mbit/s each, on a line of 10 Mbit/s.
fn longest(rt: Option<Curve>, ls: Option<u64>) -> u64 {
    let line = |rate| Curve { m1: rate, d: 0, m2: rate };
    let voice = Stated { rt, ls: ls.map(line), ..Stated::default() };
    let bulk = Stated { rt: Some(line(1_000_000)), ls: Some(line(1_000_000)), ..Stated::default() };
    let tree: Vec<_> = std::iter::once(voice).chain(std::iter::repeat_n(bulk, 5)).collect();
    let packets = (0..100).flat_map(|i| {
        let gap = if i == 0 { 0 } else { 20_000_123 };
        std::iter::once((gap, 0, 500)).chain((1..6).flat_map(|child| [(0, child, 1500); 4]))
    });
    let load = Load { arrivals: packets.collect(), line: 10_000_000, drop_every: 0 };
    let all = sent(&tree, &load);
    of_child(&load, &all, 0).iter().map(|&(came, left, size)| left + takes(size, load.line) - came).max().unwrap()
}

/// The table of the page: a packet that finds its class idle is due after its size at `m1`, whatever `m2` is, and gone a largest
/// packet (1.2 ms) later at the latest.
#[test]
fn delay_follows_the_first_piece() {
    let kbit = |m1: u64, d: u64, m2: u64| Some(Curve { m1: m1 * 1000, d: d * 1_000_000, m2: m2 * 1000 });
    let rows = [
        (None, Some(500_000), None, 1080),
        (kbit(250, 0, 250), None, Some(16_000_000), 640),
        (kbit(1000, 0, 1000), None, Some(4_000_000), 160),
        (kbit(1000, 10, 250), None, Some(4_000_000), 160),
        (kbit(4000, 10, 250), None, Some(1_000_000), 160),
        (kbit(4000, 10, 1000), None, Some(1_000_000), 160),
        (kbit(0, 10, 1000), None, Some(14_000_000), 640),
        (kbit(4000, 10, 250), Some(500_000), Some(1_000_000), 160),
    ];
    let mut found = Vec::new();
    for (rt, ls, due, _) in rows {
        let longest = longest(rt, ls);
        assert!(due.is_none_or(|due| longest <= due + takes(LARGEST, 10_000_000)), "{rt:?}: {longest}");
        found.push((longest + 5_000) / 10_000);
    }
    let measured: Vec<_> = rows.iter().map(|row| row.3).collect();
    assert_eq!(found, measured, "in 10 us");
}
