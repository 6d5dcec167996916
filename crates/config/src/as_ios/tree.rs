//! The tree of a port's queues as policy maps: classes of a scheduler are those of a policy map, a scheduler below a class is
//! another one.

use super::matches::{class_map, codes};
use super::names::fit;
use super::queues::{self, text};
use super::stages::Order;
use super::words::kbit;
use super::writer::{Entry, Writer};
use super::written::Written;
use super::{htb, police, shape, shares};
use crate::device::classes::{Leaf, all_classes, is_classful, leaves};
use perhop_core::classify::Match;
use perhop_core::dscp::Dscp;
use perhop_core::params::Node;
use perhop_core::port::{Inside, NodeSpec};
use perhop_core::sched::{Police, PriorityLimit, SchedulerParams};

/// Levels of priority.
const LEVELS: usize = 2;

/// Classes of conditioners within another class.
struct Parts {
    entries: Vec<Entry>,
    /// Whether packets that pass them go on to the conditioner of that class.
    go_on: bool,
}

/// A class that has a queue.
struct Inner<'a> {
    node: usize,
    wanted: &'a str,
    /// Its code points; `None`: any.
    takes: Option<&'a [Dscp]>,
}

impl Inner<'_> {
    /// Whether a match takes all of its packets.
    fn is_within(&self, any: &[Match]) -> bool {
        let own = self.takes.map(|dscp| Match { dscp: dscp.to_vec(), ..Match::default() }).unwrap_or_default();
        any.iter().any(|it| it.covers(&own))
    }
}

impl Writer<'_> {
    /// What is below a node, without its shaper.
    pub(super) fn inside(&mut self, index: usize, takes: Option<&[Dscp]>) -> Vec<Entry> {
        let node = &self.link.nodes[index];
        match &node.inside {
            Inside::Queue(queue) => {
                let lines = self.queue(*queue, takes);
                vec![Entry::default(lines)]
            }
            Inside::Scheduler(params) => match queues::flows(params) {
                Some(written) => vec![Entry::default(self.report(written))],
                None => self.scheduler(index, node, params),
            },
        }
    }

    pub(super) fn queue(&mut self, queue: usize, takes: Option<&[Dscp]>) -> Vec<String> {
        let written = queues::queue(&self.link.queues[queue], &self.direction.queues[queue], takes);
        self.report(written)
    }

    /// The lines of a class with this node, whose packets have passed some of these conditioners.
    fn within(&mut self, index: usize, wanted: &str, takes: Option<&[Dscp]>, passed: &[usize]) -> Vec<String> {
        let (node, before) = (&self.link.nodes[index], self.stages.taken());
        let mut lines = match &node.shaper {
            Some(shaper) => {
                let written = shape::shaper(shaper);
                self.report(written)
            }
            None => Vec::new(),
        };
        let mut entries = self.inside(index, takes);
        if !is_classful(node) {
            entries.iter_mut().for_each(|only| lines.append(&mut only.lines));
            return lines;
        }
        let left = self.stages.left(passed.iter().copied());
        let after = self.above(&mut entries, left, before);
        lines.splice(0..0, after);
        let name = self.direction.nodes[index].name.clone();
        let policy = self.policy(name.as_deref().unwrap_or(wanted), entries);
        lines.push(format!("service-policy {policy}"));
        lines
    }

    /// Conditioners that no class of a policy map has: one is in the class above it, after those; one in the class for what is left.
    /// The lines of the class above.
    pub(super) fn above(&mut self, entries: &mut Vec<Entry>, left: Vec<usize>, before: usize) -> Vec<String> {
        let (inner, outer, rest) = match left.as_slice() {
            [] => (None, None, &[][..]),
            [one] if self.stages.go_on_since(before) => (None, Some(*one), &[][..]),
            [one] => (Some(*one), None, &[][..]),
            [one, two, rest @ ..] => (Some(*one), Some(*two), rest),
        };
        for &place in rest {
            self.refuse(&format!(
                "conditioner `{}`: its packets are not those of one class",
                self.stages.get(place).name
            ));
        }
        if let Some(place) = inner {
            if entries.iter().any(|it| !it.is_default() && !it.conditioned) {
                let name = &self.stages.get(place).name;
                self.refuse(&format!(
                    "conditioner `{name}`: it takes packets of classes that have queues of their own"
                ));
            }
            if !entries.last().is_some_and(Entry::is_default) {
                entries.push(Entry::default(Vec::new()));
            }
            let lines = self.stage(place);
            let last = entries.len() - 1;
            entries[last].lines.splice(0..0, lines);
            entries[last].conditioned = true;
        }
        self.close(before, outer);
        outer.map(|place| self.lines_of(place)).unwrap_or_default()
    }

    /// Tells which conditioners are not followed as IOS has it.
    pub(super) fn close(&mut self, before: usize, after: Option<usize>) {
        for name in self.stages.close(before, after) {
            let what =
                if after.is_some() { "no `next`: in IOS its packets meet the policer above, too" } else { "`next`" };
            self.refuse(&format!("conditioner `{name}`: {what}"));
        }
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
            SchedulerParams::Htb(htb) => htb::entries(self, htb, &leaves),
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
        let params = node.scheduler().expect("a scheduler");
        let levels = levels(params, leaves);
        let count = levels[..first].last().copied().unwrap_or_default();
        if count > LEVELS {
            self.refuse(&format!("{count} priorities: IOS has {LEVELS} levels, so the others are in the second"));
        }
        if first < leaves.len() && levels[first] == count && count > 0 {
            self.refuse(&format!("class {}: `same-level` for what is left", leaves[first].name));
        }
        let shares = self.told_of(shares::of(params, &leaves[first..]));
        let (mut entries, mut before) = (Vec::new(), Vec::new());
        for (i, leaf) in leaves.iter().enumerate() {
            let lines = match limit(i).filter(|_| i < first) {
                Some(limit) => {
                    let level = if count > 1 { format!(" level {}", levels[i].min(LEVELS)) } else { String::new() };
                    self.priority(&level, leaf, limit, node)
                }
                None => shares.get(i - first).cloned().into_iter().flatten().collect(),
            };
            let last = i + 1 == leaves.len();
            if last && lines.is_empty() && self.spreads(leaf.node) {
                entries.extend(self.inside(leaf.node, None));
                continue;
            }
            match last {
                true => entries.extend(self.last(leaf, lines)),
                false => entries.extend(self.class(leaf, shown.get(leaf.class), lines, &before)),
            }
            before.extend(leaf.takes.iter().flatten().flat_map(|it| it.dscp.clone()));
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

    /// The class that takes what is left, after those of conditioners that take some of it: classes without a queue share its queue.
    fn last(&mut self, leaf: &Leaf, own: Vec<String>) -> Vec<Entry> {
        let wanted = self.wanted(leaf, None);
        let class = Inner { node: leaf.node, wanted: &wanted, takes: None };
        let parts = if is_classful(&self.link.nodes[leaf.node]) { None } else { self.parts(&class, None) };
        let below = self.within(leaf.node, &wanted, None, &[]);
        let mut entries = parts.map_or_else(Vec::new, |parts| parts.entries);
        let ends = entries.iter().position(Entry::is_default);
        let mut lines = ends.map_or_else(Vec::new, |ends| std::mem::take(&mut entries[ends].lines));
        entries.truncate(ends.unwrap_or(entries.len()));
        lines.extend([own, below].concat());
        entries.push(Entry::default(lines));
        entries
    }

    /// A class with its own lines, before those of its queue, and after classes of these code points.
    fn class(&mut self, leaf: &Leaf, shown: Option<&Node>, own: Vec<String>, before: &[Dscp]) -> Option<Entry> {
        let wanted = self.wanted(leaf, shown);
        let found = leaf.takes.clone().and_then(|takes| {
            let (resolved, mut passed) = self.stages.resolved(&takes)?;
            if !passed.iter().any(|&place| self.stages.acts(place)) {
                passed.extend(self.stages.taking(&resolved, before));
            }
            Ok((self.map(&wanted, &resolved)?, resolved, passed))
        });
        let (class, takes, passed) = match found {
            Ok(found) => found,
            Err(what) => {
                self.refuse(&format!("class {wanted} by {what}"));
                return None;
            }
        };
        let below = self.leaf(leaf.node, &wanted, codes(&takes).as_deref(), &passed);
        Some(Entry { class, lines: [own, below].concat(), conditioned: !passed.is_empty() })
    }

    /// The lines of a class with this node, which has these conditioners.
    pub(super) fn leaf(&mut self, node: usize, wanted: &str, takes: Option<&[Dscp]>, passed: &[usize]) -> Vec<String> {
        self.stages.reserve(passed);
        let (mut lines, mut below) = (Vec::new(), None);
        if !is_classful(&self.link.nodes[node]) {
            (lines, below) = self.conditioned(&Inner { node, wanted, takes }, passed);
        }
        lines.extend(self.within(node, wanted, takes, passed));
        lines.extend(below.map(|policy| format!("service-policy {policy}")));
        self.stages.take(passed);
        lines
    }

    /// The lines of the conditioners that the packets of a class have passed, and the policy map of those that take some of them.
    fn conditioned(&mut self, class: &Inner<'_>, passed: &[usize]) -> (Vec<String>, Option<String>) {
        let acting: Vec<_> = passed.iter().copied().filter(|&place| self.stages.acts(place)).collect();
        self.stages.take(passed);
        if acting.len() > 1 {
            self.refuse(&format!("class {} after several conditioners: its packets meet one in IOS", class.wanted));
        }
        let own = acting.first().copied();
        let lines = own.map(|place| self.lines_of(place)).unwrap_or_default();
        let Some(Parts { mut entries, go_on }) = self.parts(class, own) else { return (lines, None) };
        let name = format!("{}-PARTS", class.wanted);
        if go_on && own.is_some() {
            return (lines, Some(self.policy(&name, entries)));
        }
        entries.push(Entry::default(lines));
        let ends = entries.iter().position(Entry::is_default).unwrap_or_default();
        entries.truncate(ends + 1);
        match entries.as_mut_slice() {
            [only] => (std::mem::take(&mut only.lines), None),
            _ => {
                entries.retain(|it| !it.is_default() || !it.lines.is_empty());
                (Vec::new(), Some(self.policy(&name, entries)))
            }
        }
    }

    /// The classes of conditioners that take some of the packets of a class, whose own conditioner is this; `None` if there are none.
    fn parts(&mut self, class: &Inner<'_>, own: Option<usize>) -> Option<Parts> {
        let parts = self.stages.parts(self.spread.at(class.node), own);
        match self.stages.order(&parts, own) {
            Order::None => return None,
            Order::Other => {
                for &place in &parts {
                    let name = &self.stages.get(place).name;
                    let what = "the order in which packets meet it and others";
                    self.refuse(&format!("conditioner `{name}` in class {}: {what}", class.wanted));
                }
                self.stages.settle(&parts);
                return None;
            }
            Order::Before => {}
        }
        let entries = parts.iter().filter_map(|&place| self.part(class, place)).collect();
        let go_on = self.stages.goes_on(parts[0]) == Some(true);
        if go_on && own.is_some() {
            self.stages.settle(&parts)
        } else {
            self.stages.take(&parts)
        }
        Some(Parts { entries, go_on })
    }

    /// The class of a conditioner in the policy map below another class.
    fn part(&mut self, class: &Inner<'_>, place: usize) -> Option<Entry> {
        let stage = self.stages.get(place);
        let lines = self.lines_of(place);
        let found = self.stages.resolved(std::slice::from_ref(&stage.matches)).map(|it| it.0);
        if found.as_ref().is_ok_and(|takes| class.is_within(takes)) {
            return Some(Entry::default(lines));
        }
        match found.and_then(|takes| self.map(&stage.name, &takes)) {
            Ok(class) => Some(Entry { class, lines, conditioned: true }),
            Err(what) => {
                self.refuse(&format!("conditioner `{}` by {what}", stage.name));
                None
            }
        }
    }

    /// The class map of what takes these packets.
    ///
    /// # Errors
    /// What no class map tells.
    pub(super) fn map(&mut self, wanted: &str, takes: &[Match]) -> Result<String, String> {
        let mut out = Written::default();
        let name = class_map(self.config, wanted, takes, &mut out)?;
        self.report(out);
        Ok(name)
    }

    /// The lines of a conditioner, which no other class has then.
    pub(super) fn stage(&mut self, place: usize) -> Vec<String> {
        self.stages.take(&[place]);
        self.lines_of(place)
    }

    fn lines_of(&mut self, place: usize) -> Vec<String> {
        let stage = self.stages.get(place);
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
        let conditioner = takes.and_then(|it| common(&it.conditioner));
        let traffic = takes.and_then(|it| first(&it.traffic));
        let codes = takes.filter(|it| !it.dscp.is_empty()).map(|it| {
            let names: Vec<_> = it.dscp.iter().map(ToString::to_string).collect();
            Some(names.join("-")).filter(|name| fit(name) == *name).unwrap_or_else(|| self.sent(&it.dscp))
        });
        let codes = codes.filter(|name| !name.is_empty());
        named.or(queue).or(conditioner).or(traffic).or(codes).unwrap_or_else(|| format!("CLASS-{}", leaf.class + 1))
    }

    /// The class of the traffic that is sent with one of these code points; too many for a name.
    fn sent(&self, codes: &[Dscp]) -> String {
        let found = self.plan.traffic.iter().find(|traffic| codes.contains(&traffic.dscp));
        found.map_or_else(String::new, |traffic| self.plan.classes[traffic.class as usize].clone())
    }

    /// `priority`, with its limit.
    fn priority(&mut self, level: &str, leaf: &Leaf, limit: PriorityLimit, node: &NodeSpec) -> Vec<String> {
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

/// The level of each class, from 1: one with `same-level` has that of the class before it.
fn levels(params: &SchedulerParams, leaves: &[Leaf]) -> Vec<usize> {
    let same = |class: usize| match params {
        SchedulerParams::StrictPriority(strict) => strict.classes[class].is_beside(),
        _ => false,
    };
    let next = |level: &mut usize, leaf: &Leaf| {
        *level += usize::from(!same(leaf.class) || *level == 0);
        Some(*level)
    };
    leaves.iter().scan(0, next).collect()
}

/// What names have in common: one is itself, `GOLD 1` and `GOLD 2` are GOLD; of `WAN/GOLD` the last part.
fn common(names: &[String]) -> Option<String> {
    let (first, others) = names.split_first()?;
    let same = |other: &String| first.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    let length = others.iter().map(same).fold(first.len(), usize::min);
    let shared = first.get(..length)?.trim_end_matches(|c: char| !c.is_alphanumeric());
    let last = |name: &str| name.rsplit('/').next().map(str::to_owned);
    last(if shared.is_empty() { first } else { shared })
}
