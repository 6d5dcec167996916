//! Which of what arrives at a port reaches each node of its tree: schedulers send a packet to the first of their classes
//! whose `for` has its colour or code point, or whose `match` agrees, else to the last; flows may be those of any packet.

use super::arriving::{Arriving, Ends, Look, Takes, packet, takes};
use super::topology::Direction;
use crate::sections::queue::{is_parent, parents};
use perhop_core::Scope;
use perhop_core::aqm::members::{Filter, Member, Members, asks};
use perhop_core::classify::{Index, Passed, Relation};
use perhop_core::dscp::Dscp;
use perhop_core::packet::FlowId;
use perhop_core::params::{Node, Params as _, Place, Problems, Reader, Tree};
use perhop_core::sched::{Entry, Held, SchedulerParams, Slots, Template};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What arrives at each node of a direction's tree, of what arrives at the direction.
pub fn at_nodes<'a>(direction: &Direction, arriving: &'a [Arriving]) -> Vec<Cow<'a, [Arriving]>> {
    let mut at = vec![Cow::Borrowed(arriving); direction.nodes.len()];
    let mut below = children(direction);
    for (node, stated) in direction.nodes.iter().enumerate() {
        let Some(scheduler) = &stated.scheduler else { continue };
        let children = std::mem::take(&mut below[node]);
        match Lists::of_scheduler(scheduler, &direction.conditioners) {
            Some(lists) => {
                let shares = lists.shares(&at[node]).0;
                children.into_iter().zip(shares).for_each(|(child, share)| at[child] = share.into());
            }
            None => children.into_iter().for_each(|child| at[child] = at[node].clone()),
        }
    }
    at
}

/// What arrives at each queue of a direction, of what arrives at its nodes; without nodes, of what arrives there.
pub fn at_queues<'a>(
    direction: &Direction,
    nodes: &[Cow<'a, [Arriving]>],
    all: &'a [Arriving],
) -> Vec<Cow<'a, [Arriving]>> {
    let mut queues = vec![Cow::Borrowed(all); direction.queues.len()];
    for (node, arriving) in direction.nodes.iter().zip(nodes) {
        node.queue.into_iter().for_each(|queue| queues[queue] = arriving.clone());
    }
    queues
}

/// The nodes right below each, in the order of its scheduler.
pub fn children(direction: &Direction) -> Vec<Vec<usize>> {
    let mut below = vec![Vec::new(); direction.nodes.len()];
    for (child, node) in direction.nodes.iter().enumerate() {
        node.parent.iter().for_each(|parent| below[*parent].push(child));
    }
    below
}

/// Profiles or classes, each with the packets it is for.
pub struct Lists {
    /// `profiles` or `classes`.
    pub key: &'static str,
    /// Which of the tables each is: those above others are for no packets themselves.
    pub numbers: Vec<usize>,
    /// What each takes.
    pub filters: Vec<Filter>,
    /// The conditioners of the port that each names.
    named: Vec<Passed>,
    /// The plan of a template that each is, if it is one.
    plans: Vec<Option<usize>>,
    /// By table, the template that it is.
    templates: Vec<Option<Template>>,
    /// What each takes, by its values.
    index: RefCell<Index>,
}

/// Who has which of a template's children.
struct Shared<'a> {
    table: usize,
    template: &'a Template,
    /// Its first child.
    first: usize,
    slots: Slots,
}

impl Lists {
    /// The classes of a scheduler at a port of these conditioners.
    pub fn of_scheduler(params: &SchedulerParams, conditioners: &[String]) -> Option<Self> {
        let mut shown = Vec::new();
        params.show(&mut shown);
        let template =
            |entry: &Entry| if let Entry::Template(template) = entry { Some((**template).clone()) } else { None };
        let templates = params.layout()?.entries.iter().map(template).collect();
        Self::of(shown, templates)?.at(conditioners)
    }

    /// The parameter that has them: tables with a key `for` or `match`, wherever they are.
    pub fn stated(shown: Vec<(&'static str, Tree)>) -> Option<Self> {
        Self::of(shown, Vec::new())
    }

    /// As [`Lists::stated`], at a port of these conditioners.
    pub fn find(shown: Vec<(&'static str, Tree)>, conditioners: &[String]) -> Option<Self> {
        Self::stated(shown)?.at(conditioners)
    }

    fn at(self, conditioners: &[String]) -> Option<Self> {
        let named = |filter: &Filter| match &filter.matches {
            Some(matches) => Passed::named("", matches, conditioners).ok(),
            None => Some(Passed::default()),
        };
        Some(Self { named: self.filters.iter().map(named).collect::<Option<_>>()?, ..self })
    }

    fn of(shown: Vec<(&'static str, Tree)>, templates: Vec<Option<Template>>) -> Option<Self> {
        let is_direct = |(key, tree): &(&str, Tree)| *key == "unclassified" && *tree == Tree::Text("direct".into());
        let direct = shown.iter().any(is_direct);
        let has_templates = templates.iter().any(Option::is_some);
        shown.into_iter().find_map(|(key, tree)| {
            let Tree::List(items) = tree else { return None };
            let parents = parents(&items);
            let mut found = Vec::new();
            for (number, item) in items.iter().enumerate().filter(|(_, item)| !is_parent(item, &parents)) {
                match templates.get(number).and_then(Option::as_ref) {
                    Some(template) => found.extend(
                        template.plans.iter().enumerate().map(|(i, plan)| (number, plan.filter.clone(), Some(i))),
                    ),
                    None => found.push((number, filter(item)?, None)),
                }
            }
            // What none names: a list for no packets, after those of the file.
            found.extend(direct.then(|| (items.len(), Filter::default(), None)));
            let named = vec![Passed::default(); found.len()];
            let plans = found.iter().map(|it| it.2).collect();
            let (numbers, filters): (Vec<_>, Vec<_>) = found.into_iter().map(|it| (it.0, it.1)).unzip();
            if !has_templates && filters.iter().all(|filter| filter.matches.is_none()) {
                Members::new(["", ""], &filters, &Scope::default()).ok()?;
            }
            let templates = templates.clone();
            let mut index = Index::default();
            filters.iter().for_each(|filter| index.add(&asks(filter)));
            let known = Self { key, numbers, filters, named, plans, templates, index: RefCell::new(index) };
            (has_templates || known.filters.iter().any(|filter| !filter.is_empty())).then_some(known)
        })
    }

    /// Code points that any of them names.
    pub fn codes(&self) -> BTreeSet<Dscp> {
        let listed = |member: &Member| if let Member::Dscp(dscp) = member { Some(*dscp) } else { None };
        let all = |filter: &Filter| {
            let matched = filter.matches.iter().flat_map(|it| it.dscp.iter().copied());
            filter.members.iter().filter_map(listed).chain(matched).collect::<Vec<_>>()
        };
        self.filters.iter().flat_map(all).collect()
    }

    /// The template that a table is.
    pub fn template(&self, table: usize) -> Option<&Template> {
        self.templates.get(table)?.as_ref()
    }

    /// The plan of a template that the `i`-th is, and that template.
    pub fn plan(&self, i: usize) -> Option<(&Template, usize)> {
        Some((self.template(self.numbers[i])?, self.plans[i]?))
    }

    /// Those that packets of one direction of a traffic which look so may go to.
    pub fn goes(&self, ends: &Ends, look: Look) -> Vec<usize> {
        let last = self.filters.len() - 1;
        let mut found = Vec::new();
        for i in self.likely(ends, look).into_iter().take_while(|i| *i < last) {
            match self.takes(i, ends, look) {
                Takes::None => {}
                Takes::Some => found.push(i),
                Takes::All => return [found, vec![i]].concat(),
            }
        }
        [found, vec![last]].concat()
    }

    /// Those that may take such packets, in their order.
    pub fn likely(&self, ends: &Ends, look: Look) -> Vec<usize> {
        let mut found: Vec<usize> = Vec::new();
        let all = (Relation::Takes, self.filters.len());
        self.index.borrow_mut().candidates(&packet(ends, Some(look)), all, |places| found.extend(places));
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Which of these packets the `i`-th takes of those that come to it.
    pub fn takes(&self, i: usize, ends: &Ends, look: Look) -> Takes {
        let (filter, packet) = (&self.filters[i], look.packet());
        match &filter.matches {
            Some(matches) if self.named[i].agrees(&look.passed) => takes(matches, ends, look),
            None if filter.members.iter().any(|member| member.is_of(&packet)) => Takes::All,
            _ => Takes::None,
        }
    }

    /// What of all that arrives may go to each child; and by the table of each template how many addresses
    /// find no class.
    pub fn shares(&self, arriving: &[Arriving]) -> (Vec<Vec<Arriving>>, Vec<(usize, u64)>) {
        let (mut first, mut children) = (Vec::new(), 0);
        let mut shared: Vec<Shared<'_>> = Vec::new();
        for i in 0..self.filters.len() {
            first.push(children);
            match self.plan(i) {
                Some((template, 0)) => {
                    let of_plans: Vec<_> = template.plans.iter().map(|plan| plan.classes.len()).collect();
                    let slots = Slots::new(template.slots as usize, &of_plans);
                    shared.push(Shared { table: self.numbers[i], template, first: children, slots });
                    children += of_plans.iter().sum::<usize>() + 1;
                }
                Some(_) => {}
                None => children += 1,
            }
        }
        let mut shares = vec![Vec::new(); children];
        for (flow, it) in (0..).map(FlowId).zip(arriving) {
            let mut looks = BTreeMap::<usize, BTreeSet<Look>>::new();
            for &look in it.looks.iter() {
                for i in self.goes(&it.ends, look) {
                    let child = self.plan(i).map_or(first[i], |plan| child(&mut shared, plan, flow, it));
                    looks.entry(child).or_default().insert(look);
                }
            }
            for (child, looks) in looks {
                shares[child].push(Arriving { looks: Arc::new(looks), ends: it.ends.clone(), ..*it });
            }
        }
        let refused = shared.into_iter().filter_map(|it| match it.slots.held(it.slots.len()) {
            Held::Others(n) if n > 0 => Some((it.table, n)),
            _ => None,
        });
        (shares, refused.collect())
    }
}

/// The child of a template that has the address of a flow.
fn child(shared: &mut [Shared<'_>], (template, plan): (&Template, usize), flow: FlowId, it: &Arriving) -> usize {
    let Some(shared) = shared.iter_mut().find(|shared| std::ptr::eq(shared.template, template)) else { return 0 };
    let address = template.per.of(&it.ends.headers);
    let slot = shared.slots.register(flow, (address, plan), |_| false);
    shared.first + slot.map_or(shared.slots.len(), |slot| slot as usize)
}

/// What a profile or class takes.
fn filter(item: &Node) -> Option<Filter> {
    let Tree::Table(table) = &item.tree else { return None };
    Filter::read(&mut Reader::new(table, Place::default(), &mut Problems::default()))
}
