//! W328: priority classes whose traffic can take all that a link has, and which traffic the limits of such classes police.

use super::reached::Lists;
use crate::resolve::arriving::Arriving;
use crate::resolve::offered::Flowline;
use crate::resolve::ports::Resolved;
use crate::resolve::topology::Direction;
use perhop_core::params::{Place, Problems};
use perhop_core::port::edge::Action;
use perhop_core::sched::SchedulerParams;
use perhop_core::sched::strict_priority::PriorityLimit;
use perhop_core::units::BitRate;
use perhop_sim::traffic::TrafficParams;
use std::collections::BTreeSet;

/// A class that goes before others, and its traffic.
struct Urgent<'a> {
    direction: &'a Direction,
    link: usize,
    place: Place,
    /// Its number, and that of the last class.
    numbers: [usize; 2],
    /// Whether a limit or a shaper holds it back.
    limited: bool,
    polices: bool,
    traffic: BTreeSet<usize>,
    /// Whether classes after it have traffic.
    others: bool,
}

/// Whether traffic passes a priority class with a limit.
pub(super) fn policed(all: Resolved<'_>, traffic: usize) -> bool {
    urgent(all).iter().any(|class| class.polices && class.traffic.contains(&traffic))
}

/// Warns of classes without a limit whose traffic could fill the link.
pub fn check(all: Resolved<'_>, problems: &mut Problems) {
    if !all.arrivals.complete {
        return;
    }
    let mut warned = BTreeSet::new();
    for class in urgent(all).iter().filter(|class| !class.limited && class.others) {
        if let Some(load) = filling(all, class)
            && warned.insert((class.place.start, class.place.end))
        {
            warn(class, &load, all.links[class.link].rate, problems);
        }
    }
}

fn warn(class: &Urgent<'_>, load: &str, rate: BitRate, problems: &mut Problems) {
    let [own, last] = class.numbers;
    let message = format!("class {own} at `{}` goes before others without a limit, and {load}", class.direction.name);
    let after = if own + 1 == last { format!("class {last}") } else { format!("classes {} to {last}", own + 1) };
    let help = "give it a `rate`, to which it is then policed, shape its queue, or police its traffic on the way";
    problems.warn("W328", class.place, message).label(format!("it can keep all {rate} from {after}")).help(help);
}

/// Why the traffic of a class could fill its link.
fn filling(all: Resolved<'_>, class: &Urgent<'_>) -> Option<String> {
    let policed =
        |i: usize| all.stages.iter().any(|stage| stage.takes_data(i) && stage.spec.actions.contains(&Action::Drop));
    let free = || class.traffic.iter().filter(|&&i| !policed(i)).map(|&i| &all.file.traffic[i]);
    if let Some((flow, transport)) = free().find_map(|flow| Some((flow, endless(flow)?))) {
        return Some(format!("traffic `{}` sends as fast as {transport} can", flow.offered.name));
    }
    let load: f64 = free().filter_map(mean_rate).sum();
    let rate = all.links[class.link].rate;
    (load >= rate.bit_s() as f64).then(|| format!("{} are offered to it", BitRate::bps(load as u64)))
}

/// The transport of traffic that always has more to send.
fn endless(flow: &Flowline) -> Option<&'static str> {
    match &flow.offered.model {
        TrafficParams::Ftp(_) => Some("TCP"),
        TrafficParams::Quic(params) => params.size.is_none().then_some("QUIC"),
        _ => None,
    }
}

/// What traffic offers if nothing ever waits, bit/s, if its model knows it.
fn mean_rate(flow: &Flowline) -> Option<f64> {
    let each = match &flow.offered.model {
        TrafficParams::Cbr(params) => params.rate.bit_s() as f64,
        TrafficParams::Poisson(params) => params.rate.bit_s() as f64,
        TrafficParams::OnOff(params) => {
            params.rate.bit_s() as f64 * params.on.seconds() / (params.on + params.off).seconds()
        }
        _ => return flow.load,
    };
    Some(each * f64::from(flow.offered.flows))
}

/// The priority classes of all ports.
fn urgent(all: Resolved<'_>) -> Vec<Urgent<'_>> {
    let mut found = Vec::new();
    for (link, direction) in all.file.topology.links.iter().enumerate().filter(|(_, it)| !it.nodes.is_empty()) {
        below(direction, [link, 0], &all.arrivals.queues[link], &mut found);
    }
    found
}

fn below<'a>(direction: &'a Direction, [link, at]: [usize; 2], arriving: &[Arriving], found: &mut Vec<Urgent<'a>>) {
    let Some(scheduler) = &direction.nodes[at].scheduler else { return };
    let mut shown = Vec::new();
    scheduler.show(&mut shown);
    let children: Vec<_> = (0..direction.nodes.len()).filter(|&i| direction.nodes[i].parent == Some(at)).collect();
    let lists = Lists::find(shown);
    let share = |i| lists.as_ref().map_or(arriving.to_vec(), |lists| lists.share(i, arriving));
    let shares: Vec<_> = (0..children.len()).map(share).collect();
    let traffic = |of: &[Arriving]| -> BTreeSet<usize> {
        of.iter().filter(|it| !it.acks && !it.looks.is_empty()).map(|it| it.traffic).collect()
    };
    for (i, limit) in strict(scheduler).into_iter().enumerate().take(children.len()) {
        let polices = limit.rate.is_some();
        found.push(Urgent {
            direction,
            link,
            place: scheduler.places.at(&format!("classes.{i}")),
            numbers: [i + 1, children.len()],
            limited: polices || direction.nodes[children[i]].shaper.is_some(),
            polices,
            traffic: traffic(&shares[i]),
            others: shares[i + 1..].iter().any(|share| !traffic(share).is_empty()),
        });
    }
    for (&child, share) in children.iter().zip(&shares) {
        below(direction, [link, child], share, found);
    }
}

/// The limits of the classes that go before others.
fn strict(scheduler: &SchedulerParams) -> Vec<PriorityLimit> {
    match scheduler {
        SchedulerParams::StrictPriority(params) => params.classes.iter().map(|class| class.limit).collect(),
        SchedulerParams::Ets(params) => {
            params.classes.iter().take_while(|class| class.quantum.is_none()).map(|class| class.limit).collect()
        }
        _ => Vec::new(),
    }
}
