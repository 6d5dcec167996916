//! Classes that no packet reaches, because classes before them take all of theirs.
//!
//! Only classes whose tests and access lists are read to the word are compared: what is read nearly may take more or less.

use super::Build;
use crate::account::Verdict;
use crate::finding::Finding;
use crate::ios::plan::{At, Class, ClassMap, Do, Policy, What};
use perhop_core::classify::{Index, Match, Relation};

/// Classes of packets that are compared for one policy at most.
const MOST: usize = 2_000;
/// Class maps within class maps.
const DEEPEST: usize = 8;

/// Whether packets of a class may go on to later ones.
fn goes_on(class: &Class) -> bool {
    let actions = class.police.iter().flat_map(|police| police.actions.iter().flatten().flatten());
    actions.into_iter().any(|done| done.is == Do::Continue)
}

impl<'a> Build<'a> {
    /// Finds them in a policy whose classes have these packets.
    pub(super) fn unreached_classes(&mut self, policy: &'a Policy, packets: &[Vec<Match>]) {
        if packets.iter().map(Vec::len).sum::<usize>() > MOST {
            return;
        }
        let mut before = Before::default();
        for (i, class) in policy.classes.iter().enumerate() {
            if class.is_default() || !self.is_known(class) {
                continue;
            }
            let takers = before.takers(&packets[i]);
            if !goes_on(class) {
                before.add(i, &packets[i]);
            }
            let Some(takers) = takers else { continue };
            if self.is_new(class.at.place.start) {
                let names: Vec<_> = takers.iter().map(|&j| policy.classes[j].name.as_str()).collect();
                self.findings.push(finding(class, &names));
            }
        }
    }

    /// Whether the packets of a class are read to the word.
    fn is_known(&self, class: &'a Class) -> bool {
        class.is_default() || self.map(class).is_some_and(|map| self.is_map_known(map, 0))
    }

    fn is_map_known(&self, map: &ClassMap, depth: usize) -> bool {
        let taken = |at: At| self.account.lines.get(&at.line).is_none_or(|entry| entry.verdict == Verdict::Taken);
        let list = |name: &String| {
            let list = self.plan.list.get(name).map(|at| &self.plan.lists[*at]);
            list.is_some_and(|list| list.lines.iter().all(|at| taken(*at)))
        };
        let other = |name: &String| {
            let map = self.plan.class_map.get(name).map(|at| &self.plan.class_maps[*at]);
            depth < DEEPEST && map.is_some_and(|map| self.is_map_known(map, depth + 1))
        };
        !map.tests.is_empty()
            && map.tests.iter().all(|test| {
                taken(test.at)
                    && match &test.is.what {
                        What::Any => true,
                        What::Fields(fields) => fields.traffic.is_empty(),
                        What::List(name) => list(name),
                        What::Class(name) => other(name),
                    }
            })
    }
}

/// The packets of classes.
#[derive(Default)]
struct Before<'a> {
    /// Each with its class.
    all: Vec<(usize, &'a Match)>,
    index: Index,
}

impl<'a> Before<'a> {
    fn add(&mut self, class: usize, packets: &'a [Match]) {
        packets.iter().for_each(|one| self.index.add(one));
        self.all.extend(packets.iter().map(|one| (class, one)));
    }

    /// The classes that together take all of these packets; `None` if some are left.
    fn takers(&mut self, own: &[Match]) -> Option<Vec<usize>> {
        let mut takers = Vec::new();
        for one in own {
            let mut met: Vec<usize> = Vec::new();
            self.index.candidates(one, (Relation::Meets, self.all.len()), |places| met.extend(places));
            met.sort_unstable();
            met.dedup();
            let mut left = Some(one.clone());
            for (class, before) in met.into_iter().map(|place| self.all[place]) {
                let Some(rest) = left.take() else { break };
                let meets = before.meets(&rest);
                left = rest.left_by(before);
                if meets && !takers.contains(&class) {
                    takers.push(class);
                }
            }
            if left.is_some() {
                return None;
            }
        }
        (!own.is_empty()).then_some(takers)
    }
}

fn finding(class: &Class, takers: &[&str]) -> Finding {
    let (name, before) = (&class.name, takers.join(" and "));
    let (verb, them) = if takers.len() == 1 { ("takes", "it") } else { ("take", "them") };
    Finding {
        code: "W412",
        place: class.at.place,
        message: format!("no packet reaches class {name}: {before} before it {verb} all of its packets"),
        instead: format!("put `class {name}` before {them}, as the first class that matches has a packet"),
        instead_of: &[],
    }
}
