//! The tree of a port's queues as policy maps: classes of a scheduler are those of a policy map, a scheduler below a class is
//! another one.

use super::matches::class_map;
use super::queues::{self, Written, below, text};
use super::text::{Config, Shelf};
use super::words::kbit;
use super::{police, shape, shares};
use crate::device::classes::{Leaf, all_classes, leaves};
use crate::device::told::Told;
use crate::resolve::topology::Direction;
use perhop_core::classify::Match;
use perhop_core::dscp::Dscp;
use perhop_core::params::Node;
use perhop_core::port::edge::StageSpec;
use perhop_core::port::{Inside, NodeSpec};
use perhop_core::sched::{Police, PriorityLimit, SchedulerParams};
use perhop_sim::plan::Link;

/// Levels of priority.
const LEVELS: usize = 2;

/// A class of a policy map.
pub(super) struct Entry {
    /// Its class map.
    pub(super) class: String,
    pub(super) lines: Vec<String>,
}

/// What takes all that others leave.
pub(super) const DEFAULT: &str = "class-default";

/// Writes a port.
pub(super) struct Writer<'a> {
    pub(super) link: &'a Link,
    pub(super) direction: &'a Direction,
    pub(super) config: &'a mut Config,
    pub(super) told: &'a mut Told,
    /// Conditioners that no class has yet.
    pub(super) stages: Vec<&'a StageSpec>,
}

impl Writer<'_> {
    pub(super) fn refuse(&mut self, what: &str) {
        self.told.refuse(format!("port `{}`", self.link.name), &format!("IOS cannot express {what}"));
    }

    pub(super) fn note(&mut self, what: &str) {
        self.told.note(format!("port `{}`", self.link.name), what);
    }

    /// Lines, and what is told about them.
    pub(super) fn told(&mut self, written: Written) -> Vec<String> {
        written.refused.iter().for_each(|what| self.refuse(what));
        written.notes.iter().for_each(|what| self.note(what));
        written.lines
    }

    /// A policy map of these classes.
    pub(super) fn policy(&mut self, wanted: &str, entries: Vec<Entry>) -> String {
        let class = |it: Entry| [format!("class {}", it.class)].into_iter().chain(below(it.lines));
        let lines = entries.into_iter().flat_map(class).collect();
        self.config.add(Shelf::Policy, "policy-map", wanted, lines)
    }

    /// What is below a node, without its shaper.
    pub(super) fn inside(&mut self, index: usize, takes: Option<&[Dscp]>) -> Vec<Entry> {
        let node = &self.link.nodes[index];
        match &node.inside {
            Inside::Queue(queue) => {
                let lines = self.queue(*queue, takes);
                vec![Entry { class: DEFAULT.into(), lines }]
            }
            Inside::Scheduler(params) => match queues::flows(params) {
                Some(written) => vec![Entry { class: DEFAULT.into(), lines: self.told(written) }],
                None => self.scheduler(index, node, params),
            },
        }
    }

    pub(super) fn queue(&mut self, queue: usize, takes: Option<&[Dscp]>) -> Vec<String> {
        let written = queues::queue(&self.link.queues[queue], &self.direction.queues[queue], takes);
        self.told(written)
    }

    /// The lines of a class with this node.
    fn within(&mut self, index: usize, wanted: &str, takes: Option<&[Dscp]>) -> Vec<String> {
        let node = &self.link.nodes[index];
        let mut lines = match &node.shaper {
            Some(shaper) => {
                let written = shape::shaper(shaper);
                self.told(written)
            }
            None => Vec::new(),
        };
        let mut entries = self.inside(index, takes);
        let nested = node.scheduler().is_some_and(|params| params.layout().is_some());
        match entries.as_mut_slice() {
            [only] if !nested => lines.append(&mut only.lines),
            _ => {
                let name = self.direction.nodes[index].name.clone();
                let policy = self.policy(name.as_deref().unwrap_or(wanted), entries);
                lines.push(format!("service-policy {policy}"));
            }
        }
        lines
    }

    fn scheduler(&mut self, index: usize, node: &NodeSpec, params: &SchedulerParams) -> Vec<Entry> {
        let nodes = &self.link.nodes;
        let children: Vec<_> = (0..nodes.len()).filter(|&child| nodes[child].parent == Some(index)).collect();
        let leaves = leaves(&[], node, &children);
        if leaves.len() < children.len() {
            self.refuse(&format!("a template of `{}` (`per`): write a class for each address", params.name()));
        }
        match params {
            SchedulerParams::StrictPriority(strict) => {
                let limits: Vec<_> = strict.classes.iter().map(|class| Some(class.limit)).collect();
                self.strict(node, &leaves, &limits)
            }
            SchedulerParams::Ets(ets) => {
                let strict = ets.classes.iter().map(|class| class.quantum.is_none().then_some(class.limit));
                let limits: Vec<_> = strict.collect();
                self.strict(node, &leaves, &limits)
            }
            SchedulerParams::Drr(_) | SchedulerParams::Wrr(_) => self.strict(node, &leaves, &[]),
            other => {
                self.refuse(&format!("`{}`: IOS has `priority` and `bandwidth`", other.name()));
                Vec::new()
            }
        }
    }

    /// Classes of which the first few go before all others; these have a limit, if only none. The last is alone below them, or
    /// the others share what is left.
    fn strict(&mut self, node: &NodeSpec, leaves: &[Leaf], limits: &[Option<PriorityLimit>]) -> Vec<Entry> {
        let shown = all_classes(node);
        let limit = |i: usize| limits.get(leaves[i].class).copied().flatten();
        let first = (0..leaves.len().saturating_sub(1)).take_while(|&i| limit(i).is_some()).count();
        if first > LEVELS {
            self.refuse(&format!("{first} priorities: IOS has {LEVELS} levels, so the others are in the second"));
        }
        let params = node.scheduler().expect("a scheduler");
        let shares = self.told_of(shares::of(params, &leaves[first..]));
        let mut entries = Vec::new();
        for (i, leaf) in leaves.iter().enumerate() {
            let lines = match limit(i).filter(|_| i < first) {
                Some(limit) => self.priority((i, first), leaf, limit, node),
                None => shares.get(i - first).cloned().into_iter().flatten().collect(),
            };
            let last = i + 1 == leaves.len();
            if last && lines.is_empty() && self.spreads(leaf.node) {
                entries.extend(self.inside(leaf.node, None));
                continue;
            }
            entries.extend(self.class(leaf, shown.get(leaf.class), lines, last));
        }
        entries
    }

    fn told_of(&mut self, (lines, notes): (Vec<Option<String>>, Vec<String>)) -> Vec<Option<String>> {
        notes.iter().for_each(|note| self.note(note));
        lines
    }

    /// Whether the classes below a node are written as those of the policy map above it.
    fn spreads(&self, index: usize) -> bool {
        let node = &self.link.nodes[index];
        let shares = matches!(node.scheduler(), Some(SchedulerParams::Drr(_) | SchedulerParams::Wrr(_)));
        node.shaper.is_none() && shares
    }

    /// A class with its own lines, before those of its queue.
    fn class(&mut self, leaf: &Leaf, shown: Option<&Node>, own: Vec<String>, last: bool) -> Option<Entry> {
        let wanted = self.wanted(leaf, shown);
        let takes = leaf.takes.clone().unwrap_or_default();
        let (class, stage) = match last {
            true => (DEFAULT.to_owned(), None),
            false => match self.map(leaf, &wanted) {
                Ok(found) => found,
                Err(what) => {
                    self.refuse(&format!("class {wanted} by {what}"));
                    return None;
                }
            },
        };
        let codes = codes(&takes).filter(|_| !last);
        let mut lines = own;
        lines.extend(stage.into_iter().flat_map(|stage| self.stage(stage)));
        lines.extend(self.within(leaf.node, &wanted, codes.as_deref()));
        Some(Entry { class, lines })
    }

    /// The class map of a class, with the conditioner that its packets meet if it takes just these.
    ///
    /// # Errors
    /// What no class map tells.
    fn map(&mut self, leaf: &Leaf, wanted: &str) -> Result<(String, Option<usize>), String> {
        let takes = leaf.takes.clone()?;
        let own = |stage: &&StageSpec| match takes.as_slice() {
            [it] => it.conditioner == [stage.name.clone()] && only_conditioner(it) || *it == stage.matches,
            _ => false,
        };
        let stage = self.stages.iter().position(own);
        let takes = match stage {
            Some(place) => vec![self.stages[place].matches.clone()],
            None => takes,
        };
        let map = class_map(self.config, wanted, &takes)?;
        map.notes.iter().for_each(|note| self.note(note));
        map.refused.iter().for_each(|what| self.refuse(what));
        Ok((map.name, stage))
    }

    /// The lines of a conditioner, which no other class has then.
    pub(super) fn stage(&mut self, place: usize) -> Vec<String> {
        let stage = self.stages.remove(place);
        police::notes(stage).iter().for_each(|note| self.note(note));
        police::conditioner(stage).unwrap_or_else(|what| {
            self.refuse(&format!("conditioner `{}`: {what}", stage.name));
            Vec::new()
        })
    }

    /// A name for a class: its own, that of its queue, of its conditioner, or of what it takes.
    fn wanted(&self, leaf: &Leaf, shown: Option<&Node>) -> String {
        let named = shown.and_then(|class| text(class, "name"));
        let queue = self.direction.nodes[leaf.node].name.as_ref().map(|name| name.to_string());
        let takes = leaf.takes.as_ref().ok().and_then(|takes| takes.first());
        let first = |list: &[String]| list.first().cloned();
        let conditioner = takes.and_then(|it| first(&it.conditioner));
        let traffic = takes.and_then(|it| first(&it.traffic));
        let codes = takes.filter(|it| !it.dscp.is_empty()).map(|it| {
            let names: Vec<_> = it.dscp.iter().map(ToString::to_string).collect();
            names.join("-")
        });
        named.or(queue).or(conditioner).or(traffic).or(codes).unwrap_or_else(|| format!("CLASS-{}", leaf.class + 1))
    }

    /// `priority`, with its limit.
    fn priority(
        &mut self,
        (i, levels): (usize, usize),
        leaf: &Leaf,
        limit: PriorityLimit,
        node: &NodeSpec,
    ) -> Vec<String> {
        let level = if levels > 1 { format!(" level {}", (i + 1).min(LEVELS)) } else { String::new() };
        let queue = &self.link.nodes[leaf.node];
        let plain = match &queue.inside {
            Inside::Queue(queue) => matches!(self.link.queues[*queue].aqm, perhop_core::aqm::AqmParams::DropTail(_)),
            Inside::Scheduler(_) => false,
        };
        if !plain || queue.shaper.is_some() {
            self.refuse(&format!("class {}: `priority` with anything but a queue of its own", leaf.name));
        }
        let Some(rate) = limit.rate else { return vec![format!("priority{level}")] };
        let burst = limit.burst(rate, leaf.class, &node.scope);
        let lines = match limit.police {
            Some(Police::Congested) => kbit(rate).map(|kbit| vec![format!("priority{level} {kbit} {}", burst.get())]),
            _ => police::limit(rate, burst).map(|lines| [vec![format!("priority{level}")], lines].concat()),
        };
        lines.unwrap_or_else(|what| {
            self.refuse(&format!("class {}: {what}", leaf.name));
            vec![format!("priority{level}")]
        })
    }
}

fn only_conditioner(matches: &Match) -> bool {
    *matches == Match { conditioner: matches.conditioner.clone(), ..Match::default() }
}

/// The code points of packets that agree; `None`: any.
pub(super) fn codes(takes: &[Match]) -> Option<Vec<Dscp>> {
    let each: Vec<_> = takes.iter().map(|it| it.dscp.clone()).collect();
    (!each.is_empty() && each.iter().all(|it| !it.is_empty())).then(|| each.concat())
}
