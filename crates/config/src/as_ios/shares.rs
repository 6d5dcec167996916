//! What classes get of what priorities leave: `bandwidth remaining`.

use crate::device::classes::Leaf;
use perhop_core::arithmetic::Arithmetic;
use perhop_core::sched::SchedulerParams;

/// A line for each of these classes of a scheduler, and notes. A class alone has none.
pub(super) fn of(params: &SchedulerParams, leaves: &[Leaf]) -> (Vec<Option<String>>, Vec<String>) {
    let all: Vec<Option<u64>> = match params {
        SchedulerParams::Drr(drr) => drr.classes.iter().map(|class| Some(class.quantum.get())).collect(),
        SchedulerParams::Ets(ets) => ets.classes.iter().map(|class| class.quantum.map(|it| it.get())).collect(),
        SchedulerParams::Wrr(wrr) => wrr.classes.iter().map(|class| Some(u64::from(class.weight))).collect(),
        _ => Vec::new(),
    };
    let own: Vec<_> = leaves.iter().filter_map(|leaf| all.get(leaf.class).copied().flatten()).collect();
    if own.len() < leaves.len() || own.len() < 2 {
        return (vec![None; leaves.len()], notes(params));
    }
    let total: u64 = own.iter().sum();
    let percent = own.iter().all(|share| (share * 100).is_multiple_of(total));
    let divisor = own.iter().copied().fold(0, common_divisor);
    let line = |share: &u64| match percent {
        true => format!("bandwidth remaining percent {}", share * 100 / total),
        false => format!("bandwidth remaining ratio {}", share / divisor),
    };
    (own.iter().map(line).map(Some).collect(), notes(params))
}

fn notes(params: &SchedulerParams) -> Vec<String> {
    let linux = match params {
        SchedulerParams::Drr(drr) => drr.arithmetic == Arithmetic::Linux,
        SchedulerParams::Ets(ets) => ets.arithmetic == Arithmetic::Linux,
        _ => false,
    };
    let own = linux.then(|| format!("`arithmetic` of `{}`: IOS has its own order of turns", params.name()));
    let wrr = matches!(params, SchedulerParams::Wrr(_)).then(|| "`wrr` counts packets, IOS bytes".to_owned());
    own.into_iter().chain(wrr).collect()
}

const fn common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}
