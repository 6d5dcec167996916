//! Filters as a chain of markers: the first that agrees takes the packet, and classes ask which one it was.
//!
//! A list of classes says the same as the device's filters only if the filters are asked in the order of the classes. Where they
//! are not, and nothing else at the port gives colours, markers without `next` stand in the filters' own order.

use super::classes::{is_made, leaves_of};
use super::sort::{Taken, Taker, asked, living};
use super::stolen::OwnedFilter;
use super::{Marker, Writer};
use crate::model::{Kind, Queue};
use crate::unions::Unions;
use perhop_core::classify::Match;
use perhop_core::params::Place;
use std::collections::BTreeMap;

/// What classes take, by the places that lead to them.
pub(super) type ByPath = BTreeMap<Vec<usize>, Taken>;

impl Writer<'_> {
    /// The chain of a port's queue, and what its classes take then.
    pub(super) fn chain(&mut self, queue: &Queue) -> ByPath {
        let (mut paths, mut takers) = (Vec::new(), Vec::new());
        collect(queue, &[], &mut paths, &mut takers);
        let (all, rest) = asked(&takers);
        let all: Vec<_> = living(all);
        let mut by_path = ByPath::new();
        for (of, place, matches) in runs(&all) {
            let name = self.conditioners.unique(&format!("{} {}", takers[of].name, count(&by_path, &paths[of]) + 1));
            self.marks.push(Marker {
                name: name.clone(),
                matches: self.named(&matches),
                place,
                before: None,
                ends: true,
            });
            passed(&mut by_path, &paths[of]).push(name);
        }
        for (path, taker) in paths.iter().zip(&takers).filter(|(_, taker)| taker.takes.is_empty() && !taker.rest) {
            let traffic = self.load.named(path, taker.name);
            if !traffic.is_empty() {
                let matches = Match { traffic, ..Match::default() };
                let name = self.conditioners.unique(&format!("{} 1", taker.name));
                self.marks.push(Marker {
                    name: name.clone(),
                    matches: Some(matches),
                    place: None,
                    before: None,
                    ends: true,
                });
                passed(&mut by_path, path).push(name);
            }
        }
        if let Some(rest) = rest.filter(|&rest| !is_last(queue, &paths[rest])) {
            let name = self.conditioners.unique(&format!("{} rest", takers[rest].name));
            self.marks.push(Marker {
                name: name.clone(),
                matches: Some(Match::default()),
                place: None,
                before: None,
                ends: true,
            });
            passed(&mut by_path, &paths[rest]).push(name);
        } else if let Some(rest) = rest {
            by_path.insert(paths[rest].clone(), Taken::Rest);
        }
        for path in paths {
            by_path.entry(path).or_insert(Taken::Nothing);
        }
        by_path
    }
}

/// The names of the markers of a class.
fn passed<'a>(by_path: &'a mut ByPath, path: &[usize]) -> &'a mut Vec<String> {
    let taken = by_path.entry(path.to_vec()).or_insert(Taken::Passed(Vec::new()));
    match taken {
        Taken::Passed(names) => names,
        other => {
            *other = Taken::Passed(Vec::new());
            let Taken::Passed(names) = other else { unreachable!("just set") };
            names
        }
    }
}

fn count(by_path: &ByPath, path: &[usize]) -> usize {
    if let Some(Taken::Passed(names)) = by_path.get(path) { names.len() } else { 0 }
}

/// All classes whose filters are asked in one order: those of the queue, and of what is one list with it in the device.
fn collect<'a>(queue: &'a Queue, above: &[usize], paths: &mut Vec<Vec<usize>>, takers: &mut Vec<Taker<'a>>) {
    for (i, class) in leaves_of(queue) {
        let path = [above, &[i]].concat();
        match class.queue.as_ref().filter(|_| is_made(queue, i)) {
            Some(below) => collect(below, &path, paths, takers),
            None => {
                paths.push(path);
                takers.push(Taker { name: &class.name.is, takes: class.takes.iter().collect(), rest: class.rest });
            }
        }
    }
}

/// Whether the class at a path is the last of its list, or may be put last.
fn is_last(queue: &Queue, path: &[usize]) -> bool {
    let Some((&i, rest)) = path.split_first() else { return true };
    if let (false, Some(below)) = (rest.is_empty(), queue.classes[i].queue.as_ref()) {
        return is_last(below, rest);
    }
    let strict = matches!(queue.kind, Some(Kind::Scheduler("strict-priority" | "ets")));
    !strict || i + 1 == queue.classes.len()
}

/// Filters one after another of one class as few matches, in the order of the filters.
fn runs(all: &[OwnedFilter]) -> Vec<(usize, Option<Place>, Match)> {
    let of_run = |run: &[OwnedFilter]| {
        let (of, place) = (run[0].of, run[0].place);
        let matches = Unions::of(run.iter().map(|filter| filter.matches.clone()));
        matches.into_iter().map(move |matches| (of, place, matches))
    };
    all.chunk_by(|one, next| one.of == next.of).flat_map(of_run).collect()
}
