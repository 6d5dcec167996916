//! Classes of one level of strict priority: packets leave in the order of their arrival.

use super::line::{NOW, read, scope};
use perhop_core::count::Count;
use perhop_core::params::{Node, ParamError, Tree};
use perhop_core::port::Turn;
use perhop_core::sched::{AnyScheduler, Head, Pick, Scheduler as _, SchedulerParams};
use proptest::prelude::*;

/// Four classes, of which some have the level of the one before.
fn params(same: [bool; 4]) -> SchedulerParams {
    let codes = ["EF", "AF41", "AF31", "AF21"];
    let class = |i: usize| {
        let same = same[i].then_some(("same-level", Tree::Bool(true)));
        Node::from(Tree::table([("for", Tree::Text(codes[i].into()))].into_iter().chain(same).collect()))
    };
    read("strict-priority", Tree::List((0..4).map(class).collect())).unwrap()
}

fn built(same: [bool; 4]) -> Result<AnyScheduler, ParamError> {
    params(same).build(&scope())
}

/// What waits, by the classes of the packets in the order of their arrival.
fn heads(waiting: &[usize], held: usize) -> perhop_core::sched::Heads {
    let head = |class: usize| match waiting.contains(&class) {
        true if class == held => Head::Held,
        true => Head::Bytes(100),
        false => Head::Nothing,
    };
    (0..4).map(head).collect()
}

proptest! {
    /// The first packet of the first level that has one; a class whose shaper holds it back is passed over.
    #[test]
    fn the_oldest_of_a_level_is_next(
        same in any::<[bool; 3]>(), held in 0usize..8, steps in prop::collection::vec((0usize..4, 0u8..3), 1..200),
    ) {
        let same = [false, same[0], same[1], same[2]];
        let mut running = built(same).unwrap();
        let level = |class: usize| same[1..=class].iter().filter(|same| !**same).count();
        let mut waiting: Vec<usize> = Vec::new();
        for (class, step) in steps {
            let behind = |waiting: &[usize], of| Count { packets: waiting.iter().filter(|it| **it == of).count() as u64, bytes: 0 };
            match step {
                0 => {
                    running.queued(Turn::testing(NOW), class, 100);
                    waiting.push(class);
                }
                1 => {
                    let ready = waiting.iter().copied().filter(|class| *class != held);
                    let next = ready.enumerate().min_by_key(|(at, class)| (level(*class), *at)).map(|it| it.1);
                    let picked = running.pick(Turn::testing(NOW), &heads(&waiting, held));
                    prop_assert_eq!(picked, next.map_or(Pick::Nothing, Pick::Child));
                    if let Some(class) = next {
                        let at = waiting.iter().position(|it| *it == class).unwrap();
                        waiting.remove(at);
                        running.sent(Turn::testing(NOW), class, 100, behind(&waiting, class));
                    }
                }
                _ => {
                    if let Some(at) = waiting.iter().position(|it| *it == class) {
                        waiting.remove(at);
                        running.dropped(Turn::testing(NOW), class, 100, behind(&waiting, class));
                    }
                }
            }
        }
    }
}

#[test]
fn the_first_class_has_a_level_of_its_own() {
    assert_eq!(built([true, false, false, false]).unwrap_err().code, "E239");
}

#[test]
fn levels_are_fixed() {
    let mut running = built([false, true, false, false]).unwrap();
    let other = params([false, false, true, false]);
    assert_eq!(running.retune(NOW, &other, &scope()).unwrap_err().code, "E202");
    running.retune(NOW, &params([false, true, false, false]), &scope()).unwrap();
}
