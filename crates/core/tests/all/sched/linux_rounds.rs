//! DRR and ETS as Linux runs them, against a plain model of its list of active classes.

use super::line::{LARGEST, Line, NOW, Step, loaded, members, params, scope};
use perhop_core::arithmetic::Arithmetic;
use perhop_core::needs::Needs;
use perhop_core::port::Turn;
use perhop_core::sched::{AnyScheduler, Head, HostKey, Pick, Scheduler as _, SchedulerParams, ets};
use perhop_core::units::Bytes;
use proptest::prelude::*;
use std::collections::{BTreeMap, VecDeque};

/// Linux's DRR: who waits, by name, each with what it may still send; a class is in the list while its queue is not empty.
struct Kernel {
    quanta: Vec<i64>,
    /// Strict classes before those of the list.
    strict: usize,
    queues: Vec<VecDeque<u32>>,
    list: Vec<usize>,
    deficits: BTreeMap<usize, i64>,
}

impl Kernel {
    fn new(strict: usize, quanta: Vec<i64>) -> Self {
        let queues = vec![VecDeque::new(); strict + quanta.len()];
        Self { quanta, strict, queues, list: vec![], deficits: BTreeMap::new() }
    }

    fn quantum(&self, class: usize) -> i64 {
        self.quanta[class - self.strict]
    }

    fn arrive(&mut self, class: usize, size: u32) {
        self.queues[class].push_back(size);
        if class >= self.strict && !self.list.contains(&class) {
            self.list.push(class);
            self.deficits.insert(class, self.quantum(class));
        }
    }

    /// Whose packet goes next; those passed over on the way have had another quantum.
    fn look(&mut self) -> Option<usize> {
        if let Some(class) = (0..self.strict).find(|&class| !self.queues[class].is_empty()) {
            return Some(class);
        }
        loop {
            let class = *self.list.first()?;
            if i64::from(*self.queues[class].front()?) <= self.deficits[&class] {
                return Some(class);
            }
            *self.deficits.get_mut(&class)? += self.quantum(class);
            self.list.remove(0);
            self.list.push(class);
        }
    }

    fn send(&mut self) -> Option<(usize, u32)> {
        let class = self.look()?;
        let size = *self.queues[class].front()?;
        if class >= self.strict {
            *self.deficits.get_mut(&class)? -= i64::from(size);
        }
        self.lose(class);
        Some((class, size))
    }

    /// The packet at the head is gone.
    fn lose(&mut self, class: usize) {
        self.queues[class].pop_front();
        if self.queues[class].is_empty() {
            self.list.retain(|&listed| listed != class);
        }
    }
}

/// ETS of Linux: `strict` classes without quantum, then one for each of `shares`.
fn of_ets(strict: usize, shares: &[u32]) -> SchedulerParams {
    let n = strict + shares.len();
    let class = |i: usize| ets::Class {
        name: None,
        template: Default::default(),
        filter: members(i, n).into(),
        quantum: (i >= strict).then(|| Bytes::new((LARGEST * shares[i - strict]).into())),
        limit: Default::default(),
        queue: HostKey,
    };
    SchedulerParams::Ets(ets::Params { classes: (0..n).map(class).collect(), arithmetic: Arithmetic::Linux })
}

/// The same packets to both, some of them dropped at the head by an AQM.
fn compare(mut line: Line, mut kernel: Kernel, steps: Vec<Step>) -> Result<(), TestCaseError> {
    for (n, step) in steps.into_iter().enumerate() {
        match step {
            Step::Arrive(i, size) => {
                kernel.arrive(i, size);
                line.arrive(i, size);
            }
            Step::Send if n % 7 == 0 => {
                prop_assert_eq!(line.pick(), kernel.look());
                if let Some(chosen) = line.pick() {
                    kernel.lose(chosen);
                    line.lose(chosen);
                }
            }
            Step::Send => prop_assert_eq!(line.send(), kernel.send()),
        }
    }
    while let Some(sent) = kernel.send() {
        prop_assert_eq!(line.send(), Some(sent));
    }
    prop_assert_eq!(line.send(), None);
    Ok(())
}

fn quanta(shares: &[u32]) -> Vec<i64> {
    shares.iter().map(|&share| i64::from(LARGEST * share)).collect()
}

proptest! {
    #[test]
    fn drr_is_the_kernels_packet_for_packet((shares, steps) in loaded()) {
        compare(Line::new(&params("drr linux", &shares)), Kernel::new(0, quanta(&shares)), steps)?;
    }

    #[test]
    fn ets_is_the_kernels_packet_for_packet((shares, steps) in loaded(), strict in 0usize..4) {
        let (strict, shared) = (strict.min(shares.len()), shares.len() - strict.min(shares.len()));
        let line = Line::new(&of_ets(strict, &shares[..shared]));
        compare(line, Kernel::new(strict, quanta(&shares[..shared])), steps)?;
    }
}

/// Two that wait take turns; one that wakes is served after both, with a full quantum, wherever it stands in the file.
#[test]
fn a_class_that_wakes_goes_to_the_end_of_the_list() {
    let mut line = Line::new(&params("drr linux", &[1, 1, 1]));
    (0..4).for_each(|_| [2, 1].into_iter().for_each(|class| line.arrive(class, 1000)));
    assert_eq!(line.send(), Some((2, 1000)));
    line.arrive(0, 1500);
    let sent: Vec<_> = std::iter::from_fn(|| line.send()).map(|sent| sent.0).collect();
    assert_eq!(sent, [1, 0, 2, 2, 1, 1, 2, 1]);
}

/// Exactly the deficit is enough.
#[test]
fn a_packet_of_the_size_of_the_deficit_goes() {
    let mut line = Line::new(&params("drr linux", &[1, 1]));
    for size in [1000, 500, 40] {
        line.arrive(0, size);
        line.arrive(1, size);
    }
    let sent: Vec<_> = std::iter::from_fn(|| line.send()).collect();
    assert_eq!(sent, [(0, 1000), (0, 500), (1, 1000), (1, 500), (0, 40), (1, 40)]);
}

/// Linux looks at the first of the list only: what holds it back holds back all.
#[test]
fn a_class_held_back_holds_back_the_others() {
    let mut scheduler = params("drr linux", &[1, 1]).build(&scope()).unwrap();
    scheduler.queued(Turn::testing(NOW), 1, 500);
    scheduler.queued(Turn::testing(NOW), 0, 500);
    assert_eq!(
        scheduler.pick(Turn::testing(NOW), &[Head::Bytes(500), Head::Held].into_iter().collect()),
        Pick::Nothing
    );
    assert_eq!(scheduler.pick(Turn::testing(NOW), &[Head::Bytes(500); 2].into_iter().collect()), Pick::Child(1));
    let takes = |it: &AnyScheduler| it.needs().contains(Needs::TAKING);
    assert!(takes(&scheduler) && !takes(&params("drr", &[1, 1]).build(&scope()).unwrap()));
}
