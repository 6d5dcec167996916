//! W328: priority classes whose traffic can take all that a link has, and which traffic the limits of such classes police.

use crate::resolve::arriving::Arriving;
use crate::resolve::offered::Flowline;
use crate::resolve::ports::Resolved;
use crate::resolve::reaching;
use crate::resolve::topology::Direction;
use perhop_core::accounting::Accounting;
use perhop_core::params::{CLASS, ClassName, Place, Problems};
use perhop_core::port::edge::Action;
use perhop_core::sched::SchedulerParams;
use perhop_core::sched::strict_priority::PriorityLimit;
use perhop_core::units::BitRate;
use perhop_sim::traffic::TrafficModel as _;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// A class that goes before others, and its traffic.
struct Urgent<'a> {
    direction: &'a Direction,
    /// The rate of all classes together.
    rate: BitRate,
    /// Which bytes it counts, if it is the link's.
    framing: Accounting,
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

/// Traffic that passes a priority class with a limit.
pub(super) fn policed(all: Resolved<'_>) -> BTreeSet<usize> {
    urgent(all).into_iter().filter(|class| class.polices).flat_map(|class| class.traffic).collect()
}

/// Traffic that passes a class with a rate beyond which it waits.
pub(super) fn shaped(all: Resolved<'_>) -> BTreeSet<usize> {
    let links = all.file.topology.links.iter().zip(&all.arrivals.queues).zip(all.links);
    let of = |((direction, arriving), link): ((&Direction, &Vec<Arriving>), &perhop_sim::plan::Link)| {
        let nodes = reaching::at_nodes(direction, arriving);
        let slower = nodes.iter().enumerate().filter(|(i, _)| direction.nodes[*i].bound < link.rate);
        let data = slower.flat_map(|(_, at)| at.iter()).filter(|it| !it.acks);
        data.map(|it| it.traffic).collect::<BTreeSet<_>>()
    };
    links.flat_map(of).collect()
}

/// Traffic of which a conditioner drops some.
pub(super) fn dropped(all: Resolved<'_>) -> BTreeSet<usize> {
    let drops = all.stages.iter().filter(|stage| stage.spec.actions.contains(&Action::Drop));
    drops.flat_map(|stage| stage.takes.iter().copied()).collect()
}

/// Warns of classes without a limit whose traffic could fill the link.
pub fn check(all: Resolved<'_>, problems: &mut Problems) {
    if !all.arrivals.complete {
        return;
    }
    let (mut warned, dropped) = (BTreeSet::new(), dropped(all));
    for class in urgent(all).iter().filter(|class| !class.limited && class.others) {
        if let Some(load) = filling(all, class, &dropped)
            && warned.insert((class.place.start, class.place.end))
        {
            warn(class, &load, problems);
        }
    }
}

fn warn(class: &Urgent<'_>, load: &str, problems: &mut Problems) {
    let [own, last] = class.numbers;
    let message = format!("{CLASS} at `{}` has priority without a limit, and {load}", class.direction.name);
    let after = if own + 1 == last { format!("class {last}") } else { format!("classes {} to {last}", own + 1) };
    let help = "give the class a `rate`, which polices it, shape its queue, or police its traffic upstream";
    problems
        .warn("W328", class.place, message)
        .of_class(ClassName::listed(own))
        .label(format!("the class can take all {} and leave nothing to {after}", class.rate))
        .help(help);
}

/// Why the traffic of a class could fill its link.
fn filling(all: Resolved<'_>, class: &Urgent<'_>, dropped: &BTreeSet<usize>) -> Option<String> {
    let free = || class.traffic.iter().filter(|i| !dropped.contains(i)).map(|&i| &all.file.traffic[i]);
    if let Some(flow) = free().find(|flow| flow.offered.model.is_endless()) {
        let transport = flow.offered.model.transport().name();
        return Some(format!("traffic `{}` sends as fast as {transport} can", flow.offered.name));
    }
    let counts = |flow: &Flowline| f64::from(flow.data + class.framing.overhead()) / f64::from(flow.data.max(1));
    let load: f64 = free().filter_map(|flow| Some(mean_rate(flow)? * counts(flow))).sum();
    (load >= class.rate.bit_s() as f64).then(|| format!("its traffic offers {}", BitRate::bps(load as u64)))
}

/// What traffic offers if nothing ever waits, bit/s, if its model knows it.
pub(super) fn mean_rate(flow: &Flowline) -> Option<f64> {
    flow.offered.model.rate().map(|each| each * f64::from(flow.offered.flows)).or(flow.load)
}

/// The priority classes of all ports.
fn urgent(all: Resolved<'_>) -> Vec<Urgent<'_>> {
    let mut found = Vec::new();
    for (link, direction) in all.file.topology.links.iter().enumerate().filter(|(_, it)| !it.nodes.is_empty()) {
        let arriving = reaching::at_nodes(direction, &all.arrivals.queues[link]);
        let children = reaching::children(direction);
        (0..direction.nodes.len()).for_each(|node| at((direction, node), &children[node], &arriving, &mut found));
    }
    found
}

/// Those of one scheduler.
fn at<'a>(
    (direction, node): (&'a Direction, usize),
    children: &[usize],
    arriving: &[Cow<'_, [Arriving]>],
    found: &mut Vec<Urgent<'a>>,
) {
    let Some(scheduler) = &direction.nodes[node].scheduler else { return };
    let traffic = |i: usize| -> BTreeSet<usize> {
        arriving[children[i]].iter().filter(|it| !it.acks).map(|it| it.traffic).collect()
    };
    let limits = strict(scheduler);
    if limits.is_empty() {
        return;
    }
    let rate = direction.nodes[node].bound;
    let last = (0..children.len()).rfind(|i| !traffic(*i).is_empty());
    for (i, limit) in limits.into_iter().enumerate().take(children.len()) {
        let polices = limit.rate.is_some();
        found.push(Urgent {
            direction,
            rate,
            framing: direction.framing.filter(|_| rate == *direction.rate).unwrap_or_default(),
            place: scheduler.places.at(&format!("classes.{i}")),
            numbers: [i + 1, children.len()],
            limited: polices || direction.nodes[children[i]].shaper.is_some(),
            polices,
            traffic: traffic(i),
            others: last.is_some_and(|last| last > i),
        });
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
