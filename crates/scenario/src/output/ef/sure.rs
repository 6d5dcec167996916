//! The rate that the classes of a port make an aggregate sure of.

use perhop_core::aqm::members::Member;
use perhop_core::sched::SchedulerParams;
use perhop_core::units::BitRate;
use perhop_sim::plan::{Aggregate, Link};

/// All that a port sends: the link's rate, or that of the shaper over all its queues.
pub(super) fn capacity(link: &Link) -> BitRate {
    let shaper = link.nodes.first().and_then(|root| root.shaper.as_ref());
    shaper.map_or(link.rate, |shaper| shaper.rate.min(link.rate))
}

/// The rate of the class that names all of the aggregate's code points: the limit of a strict class, or all of the port for
/// the first one without a limit; the `rate` of a leaf of HTB. `None` where there is no such class.
pub(super) fn rate(link: &Link, of: &Aggregate) -> Option<BitRate> {
    let Aggregate::CodePoints(code_points) = of else { return None };
    let named = |members: &[Member]| code_points.iter().all(|it| members.contains(&Member::Dscp(*it)));
    let of_node = |(i, scheduler): (usize, &SchedulerParams)| match scheduler {
        SchedulerParams::StrictPriority(strict) => {
            let place = strict.classes.iter().position(|class| named(&class.members))?;
            let all = (i == 0 && place == 0).then(|| capacity(link));
            strict.classes[place].limit.rate.or(all)
        }
        SchedulerParams::Htb(htb) => Some(htb.classes.iter().find(|class| named(&class.members))?.rate),
        _ => None,
    };
    let schedulers = link.nodes.iter().enumerate().filter_map(|(i, node)| Some((i, node.scheduler()?)));
    schedulers.filter_map(of_node).next()
}
