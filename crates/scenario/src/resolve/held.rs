//! Whether what stands at a port's root sends no faster than the link behind it.

use perhop_core::port::NodeSpec;
use perhop_core::sched::{SchedulerParams, htb};
use perhop_core::units::BitRate;
use perhop_sim::plan;

/// What the classes of HTB that have none above them may send together.
pub fn ceiling(htb: &htb::Params) -> BitRate {
    let top = htb.classes.iter().filter(|class| class.parent.is_none());
    BitRate::bps(top.map(|class| class.ceil.unwrap_or(class.rate).bit_s()).sum())
}

/// The most that a root's scheduler sends; `None` if it takes what the link gives.
pub fn most(root: &NodeSpec) -> Option<BitRate> {
    match root.scheduler()? {
        SchedulerParams::Cake(cake) => cake.rate,
        SchedulerParams::Htb(htb) if !htb.is_direct() => Some(ceiling(htb)),
        _ => None,
    }
}

/// Whether a port's shaper or scheduler sends no faster than its link.
pub fn holds_itself(link: &plan::Link) -> bool {
    let Some(root) = link.nodes.first() else { return false };
    let rates = [root.shaper.as_ref().map(|shaper| shaper.rate), most(root)];
    rates.into_iter().flatten().any(|rate| rate <= link.rate)
}
