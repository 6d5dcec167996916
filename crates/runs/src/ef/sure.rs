//! The rate that the classes of a port make an aggregate sure of, and which bytes it counts.

use perhop_core::aqm::members::{Filter, Member};
use perhop_core::classify::Match;
use perhop_core::dscp::Dscp;
use perhop_core::framing::Framing;
use perhop_core::sched::SchedulerParams;
use perhop_core::units::BitRate;
use perhop_sim::plan::{Aggregate, Link};
use perhop_sim::traffic::UDP_HEADERS;

/// A rate, and which bytes it counts.
pub(super) type Counted = (BitRate, Framing);

/// All that a port makes its packets sure of: the link's rate, or that of the shaper over all its queues. A link sends IP
/// packets: of what `accounting` counts it sends at least as much.
pub(super) fn capacity(link: &Link) -> Counted {
    let shaper = link.nodes.first().and_then(|root| root.shaper.as_ref());
    let slower = shaper.filter(|shaper| shaper.rate < link.rate);
    slower.map_or((link.rate, Framing::default()), |shaper| (shaper.rate, shaper.framing))
}

/// The most that a port sends of smallest packets, each of which counts so many bytes beyond its IP length.
pub(super) fn most(link: &Link, overhead: u32) -> BitRate {
    let (least, rate) = (u64::from(UDP_HEADERS), capacity(link).0);
    let all = u128::from(link.rate.bit_s()) * u128::from(least + u64::from(overhead)) / u128::from(least);
    let of_link = BitRate::bps(u64::try_from(all).unwrap_or(u64::MAX));
    if rate < link.rate { rate } else { of_link }
}

/// Whether a class takes all packets of a code point that come to it.
fn names(filter: &Filter, dscp: Dscp) -> bool {
    match &filter.matches {
        Some(matches) => {
            matches.dscp.contains(&dscp) && Match { dscp: Vec::new(), ..matches.clone() } == Match::default()
        }
        None => filter.members.contains(&Member::Dscp(dscp)),
    }
}

/// The rate of the class that names all of the aggregate's code points: the limit of a strict class, or all of the port for
/// the first one without a limit; the `rate` of a leaf of HTB. `None` where there is no such class.
pub(super) fn rate(link: &Link, of: &Aggregate) -> Option<Counted> {
    let Aggregate::CodePoints(code_points) = of else { return None };
    let named = |filter: &Filter| code_points.iter().all(|it| names(filter, *it));
    let of_node = |(i, scheduler): (usize, &SchedulerParams)| match scheduler {
        SchedulerParams::StrictPriority(strict) => {
            let place = strict.classes.iter().position(|class| named(&class.filter))?;
            let all = (i == 0 && place == 0).then(|| capacity(link));
            strict.classes[place].limit.rate.map(|rate| (rate, Framing::default())).or(all)
        }
        SchedulerParams::Htb(htb) => Some((htb.classes.iter().find(|class| named(&class.filter))?.rate, htb.framing)),
        _ => None,
    };
    let schedulers = link.nodes.iter().enumerate().filter_map(|(i, node)| Some((i, node.scheduler()?)));
    schedulers.filter_map(of_node).next()
}
