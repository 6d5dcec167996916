//! What every scheduler of the list whose children are classes promises its host.

use super::line::{Line, NOW, Step, kinds, loaded, params, scope};
use perhop_core::needs::Needs;
use perhop_core::port::Turn;
use perhop_core::sched::{Head, Heads, Pick, Scheduler as _};
use proptest::prelude::*;
use std::collections::VecDeque;

proptest! {
    /// It sends whenever anything waits, only from queues that hold a packet, and says the same when asked twice.
    #[test]
    fn it_never_idles_and_never_picks_an_empty_queue((shares, steps) in loaded(), kind in prop::sample::select(kinds())) {
        let mut line = Line::new(&params(&kind, &shares));
        for step in steps {
            if let Step::Arrive(i, size) = step {
                line.arrive(i, size);
                continue;
            }
            let heads = line.heads();
            let [first, again] = [0, 1].map(|_| line.pick());
            prop_assert_eq!(first, again);
            prop_assert_eq!(first.is_some(), heads.iter().any(|head| head.is_ready()));
            prop_assert!(first.is_none_or(|i| heads[i].is_ready()));
            line.send();
        }
        prop_assert!(line.queues.iter().any(VecDeque::is_empty) || line.send().is_some());
    }

    /// One that does not need lengths picks the same whatever their sizes; one that does not need to be asked later never says later, even where
    /// all are held back.
    #[test]
    fn what_it_does_not_ask_does_not_matter((shares, steps) in loaded(), kind in prop::sample::select(kinds()), held: u8) {
        let mut line = Line::new(&params(&kind, &shares));
        for step in steps {
            let heads = line.heads();
            if !line.scheduler.needs().contains(Needs::LENGTHS) {
                let of_any_size: Heads = heads.iter().map(|it| if it.is_ready() { Head::Bytes(0) } else { *it }).collect();
                let [other, own] = [&of_any_size, &heads].map(|heads| line.scheduler.pick(Turn::testing(NOW), heads));
                prop_assert_eq!(other, own);
            }
            if !line.scheduler.needs().contains(Needs::LATER) {
                let hold = |(i, head): (usize, &Head)| if held >> i & 1 == 1 && head.is_ready() { Head::Held } else { *head };
                let some_held: Heads = heads.iter().enumerate().map(hold).collect();
                let said = line.scheduler.clone().pick(Turn::testing(NOW), &some_held);
                prop_assert!(!matches!(said, Pick::Later(_)));
            }
            line.run(&[step]);
        }
    }

    /// A packet that its AQM drops when its turn has come is gone from its queue, and another is asked for.
    #[test]
    fn a_packet_that_is_gone_is_not_sent((shares, steps) in loaded(), kind in prop::sample::select(kinds())) {
        let mut line = Line::new(&params(&kind, &shares));
        for (n, step) in steps.into_iter().enumerate() {
            if let (Step::Send, 0) = (step, n % 3) {
                line.pick().into_iter().for_each(|i| line.lose(i));
            }
            let waiting = line.queues.iter().any(|queue| !queue.is_empty());
            let sent = line.run(&[step]);
            prop_assert_eq!(sent.len(), usize::from(waiting && matches!(step, Step::Send)));
        }
    }

    /// What is in force already changes nothing.
    #[test]
    fn the_same_parameters_change_nothing((shares, steps) in loaded(), kind in prop::sample::select(kinds())) {
        let params = params(&kind, &shares);
        let [mut plain, mut retuned] = [Line::new(&params), Line::new(&params)];
        for step in steps {
            retuned.scheduler.retune(NOW, &params, &scope()).unwrap();
            prop_assert_eq!(retuned.run(&[step]), plain.run(&[step]));
        }
    }

    /// Strict priority by its definition: no class before the one that sends has anything waiting.
    #[test]
    fn strict_priority_lets_the_first_go((shares, steps) in loaded()) {
        let mut line = Line::new(&params("strict-priority", &shares));
        for step in steps {
            let before = line.heads();
            if let [(i, size)] = line.run(&[step])[..] {
                prop_assert_eq!(before[i], Head::Bytes(size));
                prop_assert!(before[..i].iter().all(|head| !head.is_ready()));
            }
        }
    }
}
