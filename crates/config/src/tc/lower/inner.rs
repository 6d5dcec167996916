//! Filters of inner classes: `htb` and `hfsc` ask them once a filter before has led to their class.
//!
//! What leads to a class through several filters becomes one filter of what all of them take. What a filter leads to an inner class
//! and no filter there takes goes to the `default`.
//!
//! Source: Linux 6.12, `htb_classify` and `hfsc_classify`.

use crate::matches::intersection;
use crate::tc::filters::{Protocol, Sorter};
use crate::tc::handles::own;
use crate::tc::htb::default_class;
use crate::tc::kernel::{Interface, Kernel};
use crate::tc::log::Log;
use crate::tc::units::shown;
use std::collections::BTreeSet;

/// Classes within each other, as HTB has at most.
const DEEPEST: usize = 8;
/// Filters that are made of several, of one tree.
const MOST: usize = 20_000;

/// Resolves the filters of every tree of classes.
pub(in crate::tc) fn follow(kernel: &mut Kernel<'_>, log: &mut Log) {
    for interface in &mut kernel.interfaces {
        let trees = interface.qdiscs.values().filter(|it| matches!(&*it.name.text, "htb" | "hfsc"));
        let trees: Vec<_> = trees.map(|it| (it.handle, default_class(it).map(|it| it.0))).collect();
        for (handle, default) in trees {
            let has_inner = interface.filters.range(handle + 1..=*own(handle).end()).next().is_some();
            if has_inner {
                let walk = Walk::of(interface, handle, default).walked(log);
                interface.led.insert(handle, walk);
            }
        }
    }
}

/// A walk over the filters of one tree.
struct Walk<'i, 'a> {
    interface: &'i Interface<'a>,
    handle: u32,
    /// The class that takes what is left, if it is a leaf.
    default: Option<u32>,
    parents: BTreeSet<u32>,
    /// In the order in which they are asked.
    found: Vec<Sorter<'a>>,
    /// Places whose filters are asked.
    reached: BTreeSet<u32>,
}

impl<'i, 'a> Walk<'i, 'a> {
    fn of(interface: &'i Interface<'a>, handle: u32, default: Option<u32>) -> Self {
        let parents: BTreeSet<_> = interface.classes.range(own(handle)).map(|(_, class)| class.parent).collect();
        let is_leaf = |id: &u32| interface.classes.contains_key(id) && !parents.contains(id);
        let default = default.filter(is_leaf);
        Self { interface, handle, default, parents, found: Vec::new(), reached: BTreeSet::new() }
    }

    fn walked(mut self, log: &mut Log) -> Vec<Sorter<'a>> {
        self.place(self.handle, None, 0);
        if self.found.len() >= MOST {
            let last = self.found.last().map(|it| it.lines.clone()).unwrap_or_default();
            log.lost(
                &last,
                &format!("filters behind more than {MOST} combinations of filters and those of inner classes"),
            );
        }
        for (place, list) in self.interface.filters.range(own(self.handle)).filter(|it| !self.reached.contains(it.0)) {
            for it in list.iter() {
                let why = format!("no filter of {} leads to {}", shown(self.handle), shown(*place));
                log.nearly(&it.lines, &format!("it is never asked: {why}"));
                let help = format!("parent {}, or a filter there with flowid {}", shown(self.handle), shown(*place));
                log.found("W404", it.place, format!("this filter is never asked: {why}"), &help);
            }
        }
        self.found
    }

    /// The filters of a place, of the packets that one above takes.
    fn place(&mut self, place: u32, above: Option<&Sorter<'a>>, depth: usize) {
        self.reached.insert(place);
        let Some(list) = self.interface.filters.get(&place) else { return };
        for own in list.iter() {
            if self.found.len() >= MOST {
                return;
            }
            if let Some(it) = both(above, own) {
                self.filter(it, depth);
            }
        }
    }

    fn filter(&mut self, mut it: Sorter<'a>, depth: usize) {
        let inner = it.target.filter(|(id, _)| self.parents.contains(id) && self.interface.filters.contains_key(id));
        let Some((inner, place)) = inner.filter(|_| depth < DEEPEST) else { return self.found.push(it) };
        self.place(inner, Some(&it), depth + 1);
        // Without a `default` it is said that the filter leads to no class that takes packets.
        it.target = self.default.map_or(it.target, |id| Some((id, place)));
        self.found.push(it);
    }
}

/// What two filters take that are asked one after the other; `None`: nothing.
fn both<'a>(above: Option<&Sorter<'a>>, own: &Sorter<'a>) -> Option<Sorter<'a>> {
    let mut it = own.clone();
    let Some(above) = above else { return Some(it) };
    it.protocol = match (above.protocol, own.protocol) {
        (Protocol::All, only) | (only, Protocol::All) => only,
        (one, other) if one == other => one,
        _ => return None,
    };
    it.asked = it.protocol;
    let pairs = above.rule.any.iter().flat_map(|a| own.rule.any.iter().filter_map(|b| intersection(a, b)));
    it.rule.any = pairs.collect();
    match (above.rule.mark, own.rule.mark) {
        (Some(one), Some(other)) if one != other => it.rule.lose("a filter by a mark below a filter by another"),
        (mark, other) => it.rule.mark = mark.or(other),
    }
    if above.actions.iter().any(|action| action.alters()) {
        it.rule.nearly.push("what the filter that leads to its class does to packets is not done to these".into());
    }
    it.rule.nearly.extend(above.rule.nearly.iter().cloned());
    it.rule.lost.extend(above.rule.lost.iter().cloned());
    (!it.rule.any.is_empty() || !it.rule.lost.is_empty()).then_some(it)
}
