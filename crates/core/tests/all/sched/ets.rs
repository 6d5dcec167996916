//! ETS against strict priority and DRR, of which it is made.

use super::line::{LARGEST, Line, NOW, Step, loaded, members, params, read, scope};
use perhop_core::arithmetic::Arithmetic;
use perhop_core::params::{Node, Tree};
use perhop_core::sched::{HostKey, SchedulerParams, ets};
use perhop_core::units::Bytes;
use proptest::prelude::*;

/// Classes with these quanta, in packets; none are strict.
fn of(quanta: &[Option<u32>]) -> SchedulerParams {
    let class = |(i, quantum): (usize, &Option<u32>)| ets::Class {
        name: None,
        template: Default::default(),
        filter: members(i, quanta.len()).into(),
        quantum: quantum.map(|packets| Bytes::new((packets * LARGEST).into())),
        limit: Default::default(),
        queue: HostKey,
    };
    let classes = quanta.iter().enumerate().map(class).collect();
    SchedulerParams::Ets(ets::Params { classes, arithmetic: Arithmetic::Exact })
}

fn same(mut a: Line, mut b: Line, steps: Vec<Step>) -> Result<(), TestCaseError> {
    for step in steps {
        prop_assert_eq!(a.run(&[step]), b.run(&[step]));
    }
    Ok(())
}

proptest! {
    #[test]
    fn without_quanta_it_is_strict_priority((shares, steps) in loaded()) {
        let strict = of(&vec![None; shares.len()]);
        same(Line::new(&strict), Line::new(&params("strict-priority", &shares)), steps)?;
    }

    #[test]
    fn with_quanta_alone_it_is_drr((shares, steps) in loaded(), linux: bool) {
        let [ets, drr] = if linux { ["ets linux", "drr linux"] } else { ["ets", "drr"] };
        same(Line::new(&params(ets, &shares)), Line::new(&params(drr, &shares)), steps)?;
    }

    /// While a strict class has a packet, no class after it sends; what the others send is what DRR alone sends of them.
    #[test]
    fn those_that_share_get_what_the_strict_leave((shares, steps) in loaded()) {
        let mut all = Line::new(&of(&[vec![None], shares.iter().map(|&s| Some(s)).collect()].concat()));
        let mut sharing = Line::new(&params("drr", &shares));
        for (n, step) in steps.into_iter().enumerate() {
            if n % 5 == 0 {
                all.arrive(0, 100);
            }
            let urgent = !all.queues[0].is_empty();
            match step {
                Step::Arrive(i, size) => {
                    all.arrive(i + 1, size);
                    sharing.arrive(i, size);
                }
                Step::Send if urgent => prop_assert_eq!(all.send(), Some((0, 100))),
                Step::Send => prop_assert_eq!(all.send(), sharing.send().map(|(i, size)| (i + 1, size))),
            }
        }
    }
}

#[test]
fn a_strict_class_after_one_that_shares_is_refused() {
    let error = of(&[None, Some(1), None]).build(&scope()).unwrap_err();
    assert_eq!((error.field, error.code), ("classes", "E227"));
    assert_eq!(error.sentence(), "class 3 has no `quantum`, and class 2 before it has one");
    let class = Node::from(Tree::table(vec![("quantum", Tree::Text(format!("{}B", LARGEST - 1)))]));
    let small = read("ets", Tree::List(vec![class])).unwrap().build(&scope()).unwrap_err();
    assert_eq!(small.code, "E225");
}

#[test]
fn what_is_strict_and_how_it_counts_are_fixed() {
    let mut running = of(&[None, Some(1), Some(2)]).build(&scope()).unwrap();
    assert_eq!(running.retune(NOW, &of(&[None, None, Some(2)]), &scope()).unwrap_err().code, "E202");
    assert_eq!(running.retune(NOW, &of(&[None, Some(3), Some(2)]), &scope()), Ok(()));
    let [exact, linux] = ["drr", "drr linux"].map(|kind| params(kind, &[1, 1]));
    let error = exact.build(&scope()).unwrap().retune(NOW, &linux, &scope()).unwrap_err();
    assert_eq!((error.field, error.code), ("arithmetic", "E202"));
}
