//! WRR against its definition.

use super::line::{Line, NOW, Step, loaded, params, scope, shares};
use proptest::prelude::*;
use std::collections::VecDeque;

/// A round written out: each class has as many places as its weight. From the place after the last one used, the first
/// whose class has a packet.
struct Places {
    round: Vec<usize>,
    next: usize,
}

impl Places {
    fn new(weights: &[u32]) -> Self {
        let round = weights.iter().enumerate().flat_map(|(i, &weight)| vec![i; weight as usize]).collect();
        Self { round, next: 0 }
    }

    fn send(&mut self, queues: &mut [VecDeque<u32>]) -> Option<(usize, u32)> {
        let n = self.round.len();
        let place = (self.next..self.next + n).find(|place| !queues[self.round[place % n]].is_empty())?;
        self.next = (place + 1) % n;
        let i = self.round[place % n];
        Some((i, queues[i].pop_front()?))
    }
}

proptest! {
    #[test]
    fn it_sends_what_the_written_out_round_sends((weights, steps) in loaded()) {
        let mut line = Line::new(&params("wrr", &weights));
        let (mut places, mut queues) = (Places::new(&weights), vec![VecDeque::new(); weights.len()]);
        for step in steps {
            let expected: Vec<_> = match step {
                Step::Arrive(i, size) => { queues[i].push_back(size); vec![] }
                Step::Send => places.send(&mut queues).into_iter().collect(),
            };
            prop_assert_eq!(line.run(&[step]), expected);
        }
    }

    /// While all have packets, any stretch as long as a round holds exactly w_i of class i, wherever it begins.
    #[test]
    fn shares_are_exact_over_whole_rounds(weights in shares(), from in 0usize..50, rounds in 1usize..20) {
        let mut line = Line::new(&params("wrr", &weights));
        line.queues.iter_mut().for_each(|queue| queue.extend([1000; 1000]));
        let length: u32 = weights.iter().sum();
        let sent: Vec<_> = (0..from + rounds * length as usize).map(|_| line.send().unwrap().0).skip(from).collect();
        for (i, &weight) in weights.iter().enumerate() {
            prop_assert_eq!(sent.iter().filter(|&&j| j == i).count(), rounds * weight as usize);
        }
    }
}

/// A visit continues with what the old weight left of it, at most the new one; then new weights apply.
#[test]
fn new_weights_hold_from_the_visit_under_way() {
    let cases: [([u32; 2], &[usize]); 2] = [([3, 1], &[0, 0, 0, 1, 0, 0, 0, 1]), ([1, 2], &[0, 1, 1, 0, 1, 1, 0, 1])];
    for (weights, expected) in cases {
        let mut line = Line::new(&params("wrr", &[5, 1]));
        line.queues.iter_mut().for_each(|queue| queue.extend([1000; 100]));
        assert_eq!([line.send(), line.send()], [Some((0, 1000)); 2]);
        line.scheduler.retune(NOW, &params("wrr", &weights), &scope()).unwrap();
        let sent: Vec<_> = (0..8).map(|_| line.send().unwrap().0).collect();
        assert_eq!(sent, expected, "{weights:?}");
    }
}
