//! The rate that the classes of a port make an aggregate sure of, and which bytes it counts.

use perhop_core::accounting::Accounting;
use perhop_core::aqm::members::{Filter, Member};
use perhop_core::classify::Match;
use perhop_core::dscp::Dscp;
use perhop_core::framing::Framing;
use perhop_core::sched::SchedulerParams;
use perhop_core::units::{BitRate, SignedBytes};
use perhop_sim::plan::{Aggregate, Link};
use perhop_sim::traffic::{LARGEST_PACKET, UDP_HEADERS};

/// A rate, and which bytes it counts.
pub(super) type Counted = (BitRate, Framing);

/// A port that is asked.
#[derive(Clone, Copy)]
pub(super) struct Port<'a> {
    pub(super) link: &'a Link,
    /// Which bytes its packets count.
    pub(super) accounting: Accounting,
}

/// All that a port makes its packets sure of: the link's rate, or that of the shaper over all its queues. Where `accounting`
/// counts more than the link, the link sends at least as much of it; where it counts less, the rate counts the link's bytes.
pub(super) fn capacity(port: Port<'_>) -> Counted {
    let link = port.link;
    let more = port.accounting.to(link.framing).more();
    let of_link = Framing { overhead: (more > 0).then_some(SignedBytes::new(more)), ..Framing::default() };
    let shaper = link.nodes.first().and_then(|root| root.shaper.as_ref());
    let slower = shaper.filter(|shaper| shaper.rate < link.rate);
    slower.map_or((link.rate, of_link), |shaper| (shaper.rate, shaper.framing))
}

/// The most that a port sends, as `accounting` counts: where that is more than what the link counts, of smallest packets, else of
/// largest ones.
pub(super) fn most(port: Port<'_>) -> BitRate {
    let (link, rate) = (port.link, capacity(port).0);
    let of_link = [UDP_HEADERS, LARGEST_PACKET.get() as u32]
        .map(|length| link.carries(length, port.accounting))
        .into_iter()
        .max();
    if rate < link.rate { rate } else { of_link.unwrap_or(rate) }
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
pub(super) fn rate(port: Port<'_>, of: &Aggregate) -> Option<Counted> {
    let link = port.link;
    let Aggregate::CodePoints(code_points) = of else { return None };
    let named = |filter: &Filter| code_points.iter().all(|it| names(filter, *it));
    let of_node = |(i, scheduler): (usize, &SchedulerParams)| match scheduler {
        SchedulerParams::StrictPriority(strict) => {
            let place = strict.classes.iter().position(|class| named(&class.filter))?;
            let alone = strict.classes.get(place + 1).is_none_or(|next| !next.is_beside());
            let all = (i == 0 && place == 0 && alone).then(|| capacity(port));
            strict.classes[place].limit.rate.map(|rate| (rate, Framing::default())).or(all)
        }
        SchedulerParams::Htb(htb) => Some((htb.classes.iter().find(|class| named(&class.filter))?.rate, htb.framing)),
        _ => None,
    };
    let schedulers = link.nodes.iter().enumerate().filter_map(|(i, node)| Some((i, node.scheduler()?)));
    schedulers.filter_map(of_node).next()
}
