//! DRR against the paper's pseudo-code and its theorem.

use super::line::{LARGEST, Line, NOW, members, params, scope, shares};
use perhop_core::Scope;
use perhop_core::arithmetic::Arithmetic;
use perhop_core::sched::{HostKey, SchedulerParams, drr};
use perhop_core::units::Bytes;
use proptest::prelude::*;
use std::collections::VecDeque;

/// Section III of the paper, over queues that nothing comes to any more.
fn pseudo_code(quanta: &[u64], mut queues: Vec<VecDeque<u32>>) -> Vec<(usize, u32)> {
    let (mut sent, mut deficit) = (Vec::new(), vec![0; quanta.len()]);
    while queues.iter().any(|queue| !queue.is_empty()) {
        for i in 0..quanta.len() {
            if queues[i].is_empty() {
                continue;
            }
            deficit[i] += quanta[i];
            while deficit[i] > 0 && !queues[i].is_empty() {
                let size = queues[i][0];
                if u64::from(size) > deficit[i] {
                    break;
                }
                sent.push((i, size));
                queues[i].pop_front();
                deficit[i] -= u64::from(size);
            }
            if queues[i].is_empty() {
                deficit[i] = 0;
            }
        }
    }
    sent
}

fn of(quanta: &[u64]) -> SchedulerParams {
    let class = |(i, &quantum)| drr::Class {
        name: None,
        template: Default::default(),
        filter: members(i, quanta.len()).into(),
        quantum: Bytes::new(quantum),
        queue: HostKey,
    };
    let classes = quanta.iter().enumerate().map(class).collect();
    SchedulerParams::Drr(drr::Params { classes, arithmetic: Arithmetic::Exact })
}

fn quanta() -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(u64::from(LARGEST)..5 * u64::from(LARGEST), 1..5)
}

fn packets() -> impl Strategy<Value = VecDeque<u32>> {
    prop::collection::vec(40..=LARGEST, 0..40).prop_map(VecDeque::from)
}

proptest! {
    #[test]
    fn it_sends_what_the_pseudo_code_sends((quanta, mut queues) in (quanta(), prop::collection::vec(packets(), 4))) {
        let mut line = Line::new(&of(&quanta));
        queues.truncate(quanta.len());
        line.queues.clone_from(&queues);
        let sent: Vec<_> = std::iter::from_fn(|| line.send()).collect();
        prop_assert_eq!(sent, pseudo_code(&quanta, queues));
    }

    /// While i and j both have packets, from the start on: after m visits begun, i has sent m Q_i - DC_i, with
    /// DC_i < Max between its visits and DC_i < Q_i + Max within one. Visits begun differ by at most 1, and only who is
    /// in a visit, the one that began last, has a deficit of Max or more. So what they sent by their quanta differs by
    /// less than 1 + Max/Q_i + Max/Q_j. The last class comes and goes.
    #[test]
    fn what_is_sent_by_quantum_stays_close(
        quanta in quanta(), sizes in prop::collection::vec(40..=LARGEST, 600), coming in prop::collection::vec(any::<bool>(), 600),
    ) {
        let (n, max) = (quanta.len(), u64::from(LARGEST));
        let mut line = Line::new(&of(&quanta));
        let steady = n.max(3) - 1;
        line.queues[..steady.min(n)].iter_mut().enumerate().for_each(|(i, queue)| queue.extend(sizes.iter().cycle().skip(i).take(600)));
        let mut sent = vec![0u64; n];
        for comes in coming {
            if comes && steady < n {
                line.queues[steady].push_back(sizes[0]);
            }
            let (i, size) = line.send().unwrap();
            sent[i] += u64::from(size);
            for a in 0..steady.min(n) {
                for b in 0..a {
                    let apart = (sent[a] * quanta[b]).abs_diff(sent[b] * quanta[a]);
                    prop_assert!(apart < quanta[a] * quanta[b] + max * (quanta[a] + quanta[b]), "{sent:?} {quanta:?}");
                }
            }
        }
    }

    /// Packets of one size, quanta of whole packets: what WRR sends.
    #[test]
    fn with_packets_of_one_size_it_is_wrr(shares in shares(), counts in prop::collection::vec(0usize..30, 4)) {
        let [mut drr, mut wrr] = ["drr", "wrr"].map(|name| Line::new(&params(name, &shares)));
        for line in [&mut drr, &mut wrr] {
            line.queues.iter_mut().zip(&counts).for_each(|(queue, &n)| queue.extend(vec![LARGEST; n]));
        }
        while let Some(sent) = wrr.send() {
            prop_assert_eq!(drr.send(), Some(sent));
        }
    }
}

/// With quanta of 500 B a queue of 200 B, 750 B and 20 B sends 200 B, keeps 300 B, and in the next round, with 800 B, the
/// other two; what is left is lost with the last of them. (A quantum below a packet is refused where packets are known
/// to be larger; such a packet then takes several visits.)
#[test]
fn a_deficit_is_kept_until_the_queue_is_empty() {
    let small = Scope { largest_packet: Bytes::new(500), ..scope() };
    let mut line = Line::new(&of(&[1500, 1500]));
    line.scheduler = of(&[500, 500]).build(&small).unwrap();
    line.queues = vec![VecDeque::from([200, 750, 20]), VecDeque::from([500, 400, 200, 1400])];
    let first: Vec<_> = (0..4).map(|_| line.send().unwrap()).collect();
    assert_eq!(first, [(0, 200), (1, 500), (0, 750), (0, 20)]);
    line.queues[0].extend([501, 40]);
    let rest: Vec<_> = std::iter::from_fn(|| line.send()).collect();
    // Queue 0 begins again at nothing: 500 B do not let 501 B pass.
    assert_eq!(rest, [(1, 400), (1, 200), (0, 501), (0, 40), (1, 1400)][..].to_vec());
}

/// A class has its quantum of this visit already; the new one holds from the next.
#[test]
fn a_new_quantum_holds_from_the_next_visit() {
    let mut line = Line::new(&of(&[3000, 1500]));
    line.queues.iter_mut().for_each(|queue| queue.extend([1500; 20]));
    assert_eq!(line.send(), Some((0, 1500)));
    line.scheduler.retune(NOW, &of(&[1500, 4500]), &scope()).unwrap();
    let sent: Vec<_> = (0..9).map(|_| line.send().unwrap().0).collect();
    assert_eq!(sent, [0, 1, 1, 1, 0, 1, 1, 1, 0]);
}

/// A queue whose last packet its AQM drops when its turn has come is empty, too: its deficit of 2000 B is lost.
#[test]
fn a_deficit_does_not_outlive_a_queue_emptied_by_its_aqm() {
    let mut line = Line::new(&of(&[1500, 1500]));
    line.queues = vec![VecDeque::from([1000, 900]), VecDeque::from([1500; 10])];
    assert_eq!([line.send(), line.send()], [Some((0, 1000)), Some((1, 1500))]);
    assert_eq!(line.pick(), Some(0));
    line.lose(0);
    assert_eq!(line.send(), Some((1, 1500)));
    line.queues[0].extend([1500; 3]);
    let sent: Vec<_> = (0..4).map(|_| line.send().unwrap().0).collect();
    assert_eq!(sent, [0, 1, 0, 1]);
}
