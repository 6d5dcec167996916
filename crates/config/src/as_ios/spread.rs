//! Conditioners whose packets are not just those of a class: the classes in which some of them are, where a policy map below the
//! class has the conditioner.
//!
//! A marker may be in several classes. A policer has one bucket, so it may be in one: IOS has no policer of several classes in a
//! policy map.

use super::police;
use super::stages::Stages;
use crate::device::classes::{is_classful, leaves};
use perhop_core::classify::Match;
use perhop_core::conditioner::ConditionerParams;
use perhop_core::dscp::Dscp;
use perhop_core::port::edge::{Action, Rewrite};
use perhop_sim::plan::Link;

/// A class that has a queue, and all that leads to it.
struct Region {
    node: usize,
    levels: Vec<Level>,
}

/// What a class takes of what comes to its scheduler.
#[derive(Clone)]
struct Level {
    /// Any of these; `None`: what no other class takes, or what no header tells.
    takes: Option<Vec<Match>>,
    /// What classes before it take.
    before: Vec<Match>,
    /// Whether conditioners tell its packets.
    passed: bool,
}

/// What becomes of a conditioner that no class takes the packets of.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Place {
    /// It is in policy maps of these nodes.
    In(Vec<usize>),
    /// Why it is in none.
    Nowhere(&'static str),
}

/// Those of a port.
pub(super) struct Spread(Vec<Place>);

/// Its packets are in several classes.
const SEVERAL: &str =
    "its one bucket is for packets of several classes: IOS polices by class, and has no aggregate policer there";
/// It marks what another class takes.
const MOVES: &str = "it marks packets that another class takes then: IOS sorts them before it marks";
/// No class is known to have its packets.
const UNKNOWN: &str = "its packets are not those of one class of the port's queues";

impl Spread {
    pub(super) fn new(link: &Link, stages: &Stages<'_>) -> Self {
        let mut regions = Vec::new();
        if link.nodes.first().is_some_and(is_classful) {
            collect(link, stages, (0, &[]), &mut regions);
        }
        Self(stages.places().map(|place| find(stages, place, &regions)).collect())
    }

    pub(super) fn of(&self, place: usize) -> &Place {
        &self.0[place]
    }

    /// Conditioners of the policy map below a class with this node.
    pub(super) fn at(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        let here = move |place: &Place| matches!(place, Place::In(nodes) if nodes.contains(&node));
        self.0.iter().enumerate().filter(move |it| here(it.1)).map(|it| it.0)
    }
}

fn collect(link: &Link, stages: &Stages<'_>, (index, path): (usize, &[Level]), out: &mut Vec<Region>) {
    let node = &link.nodes[index];
    if !is_classful(node) {
        out.push(Region { node: index, levels: path.to_vec() });
        return;
    }
    let children: Vec<_> = (0..link.nodes.len()).filter(|&child| link.nodes[child].parent == Some(index)).collect();
    let leaves = leaves(&[], node, &children);
    let mut before = Vec::new();
    for (i, leaf) in leaves.iter().enumerate() {
        let found = leaf.takes.clone().and_then(|takes| stages.resolved(&takes));
        let passed = found.as_ref().is_ok_and(|it| !it.1.is_empty());
        let takes = found.ok().map(|it| it.0).filter(|_| i + 1 < leaves.len());
        let level = Level { takes: takes.clone(), before: before.clone(), passed };
        collect(link, stages, (leaf.node, &[path, &[level]].concat()), out);
        before.extend(takes.into_iter().flatten());
    }
}

/// Where a conditioner is.
fn find(stages: &Stages<'_>, place: usize, regions: &[Region]) -> Place {
    let stage = stages.get(place);
    let Ok((takes, named)) = stages.resolved(std::slice::from_ref(&stage.matches)) else {
        return Place::Nowhere(UNKNOWN);
    };
    let all = takes.iter().all(|it| *it == Match::default());
    let marker = matches!(stage.params, ConditionerParams::Marker(_));
    // One that takes all that others leave is in the class above them, unless these end there.
    let ends = (0..place).any(|it| stages.acts(it) && stages.goes_on(it) != Some(true));
    let skipped = !named.is_empty() || !stages.acts(place) || all && !(marker && ends);
    let here: Vec<_> = regions.iter().filter(|region| region.meets(&takes)).collect();
    if skipped || here.is_empty() || here.iter().any(|region| region.levels.iter().any(|it| it.passed)) {
        return Place::Nowhere(UNKNOWN);
    }
    let marks: Vec<_> = police::outcomes(stage).into_iter().filter_map(mark).collect();
    match () {
        () if !marker && here.len() > 1 => Place::Nowhere(SEVERAL),
        () if !here.iter().all(|region| marks.iter().all(|mark| region.keeps(*mark))) => Place::Nowhere(MOVES),
        () => Place::In(here.iter().map(|region| region.node).collect()),
    }
}

const fn mark(action: Action) -> Option<Dscp> {
    match action {
        Action::Pass(Rewrite { dscp, .. }) => dscp,
        Action::Drop => None,
    }
}

impl Region {
    /// Whether some of these packets may come to it.
    fn meets(&self, takes: &[Match]) -> bool {
        takes.iter().any(|one| self.levels.iter().all(|level| level.meets(one)))
    }

    /// Whether its packets come to it with this code point, too.
    fn keeps(&self, mark: Dscp) -> bool {
        let of = |it: &Match| it.dscp.is_empty() || it.dscp.contains(&mark);
        self.levels.iter().all(|level| {
            let earlier = level.before.iter().any(|it| !it.dscp.is_empty() && it.dscp.contains(&mark));
            !earlier && level.takes.as_ref().is_none_or(|takes| takes.iter().all(of))
        })
    }
}

impl Level {
    fn meets(&self, one: &Match) -> bool {
        let left = self.before.iter().try_fold(one.clone(), Match::left_by);
        left.is_some_and(|left| self.takes.as_ref().is_none_or(|takes| takes.iter().any(|it| it.meets(&left))))
    }
}
