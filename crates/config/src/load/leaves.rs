//! The classes of a port that packets end in.

use super::shares::{bounded, shares};
use super::sorts::{Sort, sorts};
use crate::matches::intersection;
use crate::model::{Act, Class, Conditioner, Kind, Port, Queue};
use crate::stub::conditioners::without_colour;
use crate::stub::names::{Names, queue_name};
use crate::value::Value;
use perhop_core::classify::{Index, Match, Relation};
use perhop_core::dscp::Dscp;
use perhop_core::units::BitRate;
use std::collections::{HashMap, HashSet};

/// How many conditioners may name each other.
pub(super) const DEEPEST: usize = 8;

/// A class that packets end in.
#[derive(Clone, Debug)]
pub(super) struct Leaf<'a> {
    /// The device's name for it.
    pub(super) name: String,
    /// The places of the classes that lead to it; empty without classes.
    pub(super) path: Vec<usize>,
    /// What its filters want, each alone; a class that takes what is left wants nothing.
    pub(super) wants: Vec<Match>,
    /// The conditioner that it is, if it is no class of a queue.
    pub(super) conditioner: Option<&'a Conditioner>,
    /// What it is sure of, bit/s.
    pub(super) rate: f64,
    /// Whether it goes before others, and is not for packets without a code point.
    pub(super) has_priority: bool,
    /// Whether it is no class, but what no filter takes and no class is the default for.
    pub(super) is_unclassified: bool,
}

/// Where packets of a port end, and the classes that none comes to.
pub(super) struct Leaves<'a> {
    pub(super) reached: Vec<Leaf<'a>>,
    pub(super) unreached: Vec<String>,
}

impl Leaf<'_> {
    /// Packets that no class wants.
    pub(super) fn anyone(link: BitRate) -> Self {
        let (name, path, wants) = ("other".to_owned(), Vec::new(), Vec::new());
        let rate = link.bit_s() as f64;
        Self { name, path, wants, conditioner: None, rate, has_priority: false, is_unclassified: false }
    }
}

/// Those of the name of a conditioner, whatever the colour behind it.
pub(super) fn of_name<'m, T>(by_name: &'m HashMap<&str, Vec<T>>, name: &str) -> Option<&'m Vec<T>> {
    by_name.get(name).or_else(|| by_name.get(without_colour(name)?))
}

/// Whether a text says which packets a class takes. One that does not leaves that to others: marks of sockets and of firewalls,
/// eBPF, the filters of a print that was not pasted.
fn names_packets(queue: &Queue) -> bool {
    let of_class = |class: &Class| !class.takes.is_empty() || class.queue.as_ref().is_some_and(names_packets);
    queue.classes.iter().any(of_class)
}

/// All of a port whose link has this rate.
pub(super) fn leaves(port: &Port, link: BitRate) -> Leaves<'_> {
    let mut by_name: HashMap<&str, Vec<&Conditioner>> = HashMap::new();
    port.conditioners.iter().for_each(|it| by_name.entry(&it.name.is).or_default().push(it));
    let is_named = port.sorts || port.queue.as_ref().is_some_and(names_packets);
    let leaves = Leaves { reached: Vec::new(), unreached: Vec::new() };
    let mut found = Finder { by_name, is_named, leaves, wanted: HashSet::new(), names: Names::default() };
    let whole = port.queue.as_ref().map_or(link.bit_s() as f64, |queue| bounded(queue, link.bit_s() as f64));
    let top = Above { path: Vec::new(), wants: vec![Match::default()], rate: whole, has_priority: false };
    match port.queue.as_ref().filter(|queue| !queue.classes.is_empty()) {
        Some(queue) => {
            found.queue(queue, &top);
            found.unclassified(queue, &top);
        }
        None => found.whole(port, &top),
    }
    found.policed(port);
    found.leaves
}

/// What leads to a queue.
struct Above {
    path: Vec<usize>,
    wants: Vec<Match>,
    rate: f64,
    has_priority: bool,
}

struct Finder<'a> {
    /// The port's conditioners.
    by_name: HashMap<&'a str, Vec<&'a Conditioner>>,
    /// Whether the text says which packets classes take.
    is_named: bool,
    leaves: Leaves<'a>,
    /// What those that are reached want.
    wanted: HashSet<Match>,
    names: Names,
}

impl<'a> Finder<'a> {
    fn queue(&mut self, queue: &'a Queue, above: &Above) {
        let parents = queue.parents();
        let rates = shares(queue, above.rate);
        for (i, class) in queue.classes.iter().enumerate().filter(|(i, _)| !parents[*i]) {
            if self.is_named && class.is_unnamed() {
                self.leaves.unreached.push(class.name.is.clone());
                continue;
            }
            let path = [above.path.clone(), vec![i]].concat();
            let has_priority = above.has_priority || has_priority(queue, i);
            let below = Above { path, wants: self.wants(class, &above.wants), rate: rates[i], has_priority };
            match class.queue.as_ref().filter(|queue| !queue.classes.is_empty()) {
                Some(queue) => self.queue(queue, &below),
                None => self.leaf(class, below),
            }
        }
    }

    fn leaf(&mut self, class: &'a Class, below: Above) {
        let Above { path, wants, rate, has_priority } = below;
        let name = class.name.is.clone();
        let leaf = Leaf { name, path, wants, conditioner: None, rate, has_priority, is_unclassified: false };
        let sort_name = |sort: &str| format!("{} {sort}", class.name.is);
        self.split(leaf, class.queue.as_ref(), sort_name);
    }

    /// A class, or one for each sort of packets that its queue tells apart, if it tells several apart.
    fn split(&mut self, leaf: Leaf<'a>, queue: Option<&Queue>, sort_name: impl Fn(&str) -> String) {
        let of_sort = |sort: Sort| {
            let wants: Vec<_> = leaf.wants.iter().filter_map(|own| intersection(own, &sort.wants)).collect();
            (!wants.is_empty()).then(|| (sort_name(&sort.name), wants))
        };
        let sorts: Vec<_> = queue.map(sorts).unwrap_or_default().into_iter().filter_map(of_sort).collect();
        if sorts.len() < 2 {
            let name = self.names.unique(&leaf.name);
            return self.push(Leaf { name, ..leaf });
        }
        let rate = leaf.rate / sorts.len() as f64;
        for (name, wants) in sorts {
            let name = self.names.unique(&name);
            self.push(Leaf { name, wants, rate, ..leaf.clone() });
        }
    }

    fn push(&mut self, leaf: Leaf<'a>) {
        self.wanted.extend(leaf.wants.iter().cloned());
        self.leaves.reached.push(leaf);
    }

    /// What no filter takes, where no class is for that: as much of it as of a class.
    fn unclassified(&mut self, queue: &Queue, top: &Above) {
        if !self.is_named || queue.settings.get("unclassified").is_none() {
            return;
        }
        let name = self.names.unique("unclassified");
        let rate = top.rate / (self.leaves.reached.len() + 1) as f64;
        let (path, wants) = (Vec::new(), vec![Match::default()]);
        self.push(Leaf { name, path, wants, conditioner: None, rate, has_priority: false, is_unclassified: true });
    }

    /// What a class's filters want, within what leads to it.
    fn wants(&self, class: &Class, above: &[Match]) -> Vec<Match> {
        let own: Vec<_> = class.takes.iter().map(|filter| filter.matches.is.clone()).collect();
        let own = if own.is_empty() || class.rest { [own, vec![Match::default()]].concat() } else { own };
        let own: Vec<_> = own.iter().flat_map(|one| self.behind(one, DEEPEST)).collect();
        let mut index: Index = own.iter().collect();
        let mut wants = Vec::new();
        for outer in above {
            let mut met: Vec<usize> = Vec::new();
            index.candidates(outer, (Relation::Meets, own.len()), |places| met.extend(places));
            met.sort_unstable();
            met.dedup();
            wants.extend(met.into_iter().filter_map(|inner| intersection(outer, &own[inner])));
        }
        wants
    }

    /// A match without conditioners: in their place stands what these take.
    fn behind(&self, of: &Match, depth: usize) -> Vec<Match> {
        if of.conditioner.is_empty() || depth == 0 {
            return vec![of.clone()];
        }
        let rest = Match { conditioner: Vec::new(), ..of.clone() };
        let mut named: Vec<_> =
            of.conditioner.iter().filter_map(|name| of_name(&self.by_name, name)).flatten().copied().collect();
        // In the order of the port, each once.
        named.sort_by_key(|it| std::ptr::from_ref::<Conditioner>(it));
        named.dedup_by_key(|it| std::ptr::from_ref::<Conditioner>(it));
        let takes = named
            .into_iter()
            .flat_map(|it| it.takes.iter().flat_map(|filter| self.behind(&filter.matches.is, depth - 1)));
        takes.filter_map(|inner| intersection(&rest, &inner)).collect()
    }

    /// A port without classes: what no conditioner names.
    fn whole(&mut self, port: &'a Port, top: &Above) {
        let own: f64 = port.conditioners.iter().filter(|it| !it.takes.is_empty()).filter_map(committed).sum();
        let all = port.conditioners.iter().filter(|it| it.takes.is_empty()).filter_map(committed);
        let rate = all.fold((top.rate - own).max(top.rate / 10.0), f64::min);
        let wanted = queue_name(port);
        let has_filters = port.conditioners.iter().any(|it| !it.takes.is_empty());
        let name = (if has_filters { "other" } else { wanted }).to_owned();
        let (path, wants) = (Vec::new(), vec![Match::default()]);
        let leaf = Leaf { name, path, wants, conditioner: None, rate, has_priority: false, is_unclassified: false };
        self.split(leaf, port.queue.as_ref(), str::to_owned);
    }

    /// Conditioners whose packets no class has.
    fn policed(&mut self, port: &'a Port) {
        let has_classes = port.queue.as_ref().is_some_and(|queue| !queue.classes.is_empty());
        let only_passes = |it: &Conditioner| it.actions.iter().all(|it| it.1.is == [Act::Transmit]);
        let is_idle = |it: &Conditioner| has_classes && it.kind == "marker" && only_passes(it);
        for conditioner in port.conditioners.iter().filter(|it| !it.takes.is_empty() && !is_idle(it)) {
            if conditioner.takes.iter().any(|it| self.wanted.contains(&it.matches.is)) {
                continue;
            }
            let name = self.names.unique(&conditioner.name.is);
            let wants = conditioner.takes.iter().flat_map(|filter| self.behind(&filter.matches.is, DEEPEST)).collect();
            let rate = committed(conditioner).unwrap_or(1e6);
            let (path, conditioner) = (Vec::new(), Some(conditioner));
            self.push(Leaf { name, path, wants, conditioner, rate, has_priority: false, is_unclassified: false });
        }
    }
}

/// Whether a class is strict, and others come after it: without a TCP that would starve them. Where packets without a code point
/// go, one is sent all the same.
fn has_priority(queue: &Queue, i: usize) -> bool {
    let class = &queue.classes[i];
    let is_strict = match queue.kind {
        Some(Kind::Scheduler("strict-priority")) => i + 1 < queue.classes.len(),
        Some(Kind::Scheduler("ets")) => i + 1 < queue.classes.len() && class.settings.get("quantum").is_none(),
        _ => false,
    };
    is_strict && !class.rest && !class.takes.iter().any(|filter| filter.matches.is.dscp.contains(&Dscp::BE))
}

/// The rate that a conditioner lets through.
fn committed(conditioner: &Conditioner) -> Option<f64> {
    let peak = conditioner.settings.get("pir").filter(|_| conditioner.kind == "trtcm");
    match &peak.or_else(|| conditioner.settings.get("cir"))?.is {
        Value::Rate(rate) => Some(rate.bit_s() as f64),
        Value::PacketRate(rate) => Some(rate.packets_s() as f64 * 8.0 * super::DATAGRAM as f64),
        _ => None,
    }
}
