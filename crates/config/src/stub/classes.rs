//! `[queue.X]`: a queue, with its classes and their queues.

use super::Writer;
use super::draft::{Cell, Form, Section};
use super::names::plain;
use super::sort::{Sorted, Taken, Taker, sort};
use crate::model::{Class, Filter, Kind, Queue};
use crate::value::Value;
use perhop_core::classify::Match;
use perhop_core::params::{Place, Tree, show_table};

/// Hours of a round-trip time that no flow has. A later entry has fewer of them, so that none before it takes its packets.
const LONG: usize = 99_999;

/// What is said of such a match: a class without one would take what others leave.
pub(super) const NOTHING: &str = "so its match is one that no packet meets";

/// What differs from the device, and where.
type Note = (Option<Place>, String);

/// A queue that another names.
struct Below<'a> {
    name: String,
    queue: &'a Queue,
    comment: String,
    /// The places of the classes that lead to it.
    path: Vec<usize>,
}

impl Writer<'_> {
    /// A queue and all below it; the name of its section.
    pub(crate) fn queue(&mut self, queue: &Queue, called: &str) -> String {
        let leaves = leaves(queue);
        let takers: Vec<_> = leaves.iter().map(|&i| taker(queue, i)).collect();
        let sorted = sort(&takers);
        let moved = self.order(queue, &leaves, &mut sorted.taken.clone()).1;
        if self.own.is_empty() && (moved.is_some() || !sorted.notes.is_empty()) {
            self.chained = self.chain(queue);
        }
        let name = self.queues.unique(called);
        self.section(Below { name: name.clone(), queue, comment: plain(&queue.name.is), path: Vec::new() });
        name
    }

    fn section(&mut self, below: Below<'_>) {
        let Below { name, queue, comment, path } = below;
        let mut section = Section::new("queue", Some(&name), queue.name.origin.place());
        section.comment = if comment == name { String::new() } else { format!("! {comment}") };
        if let Some(how) = childless(queue) {
            self.notes.push((queue.name.origin.place(), format!("{how}: here they pass a FIFO of 1000 packets")));
            section.set("aqm", Cell::from("drop-tail").with(how));
            return self.tree.push(section);
        }
        match queue.kind {
            Some(Kind::Scheduler(kind)) => section.set("scheduler", kind),
            Some(Kind::Aqm(kind)) => section.set("aqm", kind),
            None if queue.settings.is_empty() => section.set("aqm", "drop-tail"),
            None => {}
        }
        if !queue.shape.is_empty() {
            section.set("shape", &Value::Table(queue.shape.clone()));
        }
        let leaves = leaves(queue);
        let takers: Vec<_> = leaves.iter().map(|&i| taker(queue, i)).collect();
        let sorted = self.sorted(&takers, &leaves, &path);
        // A filter that takes all leaves nothing unclassified.
        let is_void = |name: &str| name == "unclassified" && sorted.taken.contains(&Taken::Rest);
        section.extend(queue.settings.iter().filter(|(name, _)| !is_void(name)));
        let below = self.classes(queue, (&leaves, sorted), &path, &mut section);
        self.tree.push(section);
        below.into_iter().for_each(|below| self.section(below));
    }

    /// `classes = [..]`; the queues that they name.
    fn classes<'a>(
        &mut self,
        queue: &'a Queue,
        sorted: (&[usize], Sorted),
        above: &[usize],
        section: &mut Section,
    ) -> Vec<Below<'a>> {
        let mut below = Vec::new();
        if queue.classes.is_empty() {
            return below;
        }
        let (leaves, Sorted { mut taken, notes }) = sorted;
        self.notes.extend(notes);
        let names = ClassNames::of(queue);
        let (order, moved) = self.order(queue, leaves, &mut taken);
        self.notes.extend(moved);
        let mut rows = Vec::new();
        for i in order {
            let (class, path) = (&queue.classes[i], [above, &[i]].concat());
            let mut row = names.row(i, class);
            if let Ok(leaf) = leaves.binary_search(&i) {
                self.takes(class, &taken[leaf], &path, &mut row);
            }
            row.extend(&class.settings);
            below.extend(self.queue_of(class, path, &mut row));
            rows.push(row);
        }
        section.set("classes", Form::Rows(rows));
        below
    }

    /// What each leaf of a list takes: as the chain says, where there is one.
    fn sorted(&self, takers: &[Taker<'_>], leaves: &[usize], above: &[usize]) -> Sorted {
        let chained = |&i: &usize| self.chained.get(&[above, &[i]].concat()).cloned();
        let chained: Vec<_> = leaves.iter().map(chained).collect();
        if chained.iter().all(Option::is_none) {
            return sort(takers);
        }
        let taken = chained.into_iter().map(|taken| taken.unwrap_or(Taken::Rest)).collect();
        Sorted { taken, notes: Vec::new() }
    }

    /// The classes in the device's order, except that one that takes what is left stands last; a note where it cannot.
    fn order(&self, queue: &Queue, leaves: &[usize], taken: &mut [Taken]) -> (Vec<usize>, Option<Note>) {
        let mut order: Vec<_> = (0..queue.classes.len()).collect();
        let rest = leaves.iter().zip(&mut *taken).rfind(|(_, taken)| **taken == Taken::Rest);
        let Some((&rest, taken)) = rest.filter(|(rest, _)| leaves.last() != Some(rest)) else { return (order, None) };
        if matches!(queue.kind, Some(Kind::Scheduler("strict-priority" | "ets"))) {
            let class = &queue.classes[rest].name;
            let how = "takes what no filter names; here it takes the traffic of the load that is meant for it";
            *taken = Taken::Nothing;
            return (order, Some((class.origin.place(), format!("`{}` {how}", class.is))));
        }
        order.retain(|&i| i != rest);
        order.push(rest);
        (order, None)
    }

    /// `for` or `match` of a class.
    fn takes(&mut self, class: &Class, taken: &Taken, path: &[usize], row: &mut Cell) {
        let place = class.takes.first().and_then(|filter| filter.matches.origin.place());
        let add = |row: &mut Cell, matches: Option<&Match>| {
            row.set("match", matched(matches, path.last().copied().unwrap_or_default()).at(place));
        };
        match taken {
            Taken::Rest => {}
            Taken::For(codes) => {
                let codes: Vec<Cell> = codes.iter().map(|code| code.to_string().into()).collect();
                let list = if let [one] = codes.as_slice() { one.clone() } else { Form::List(codes).into() };
                row.set("for", list.at(place));
            }
            Taken::Any(all) => {
                let one = self.one(&class.name.is, all, place, None);
                add(row, one.as_ref());
            }
            Taken::Passed(names) => add(row, Some(&Match { conditioner: names.clone(), ..Match::default() })),
            Taken::Nothing
                if (class.takes.is_empty() || class.rest) && !self.load.named(path, &class.name.is).is_empty() =>
            {
                let traffic = self.load.named(path, &class.name.is);
                add(row, Some(&Match { traffic, ..Match::default() }));
                row.note(if class.rest { "what no filter names" } else { "no filter leads to it: the load does" });
            }
            Taken::Nothing => {
                add(row, None);
                let none = class.takes.is_empty();
                let why = if none { "no filter leads to it" } else { "filters before its own take all of its packets" };
                row.note(&format!("{why}, {NOTHING}"));
            }
        }
    }

    /// `queue` of a class; it becomes a section unless it is short.
    fn queue_of<'a>(&mut self, class: &'a Class, path: Vec<usize>, row: &mut Cell) -> Option<Below<'a>> {
        let queue = class.queue.as_ref()?;
        let plain_queue = queue.kind.is_none() && queue.shape.is_empty() && queue.classes.is_empty();
        if plain_queue && queue.settings.is_empty() {
            return None;
        }
        let place = queue.name.origin.place();
        if plain_queue {
            row.hold("queue", place, (&Value::Table(queue.settings.clone())).into());
            return None;
        }
        let name = self.queues.unique(&class.name.is);
        row.set("queue", Cell::from(name.as_str()).at(place));
        Some(Below { name, queue, comment: plain(&queue.name.is), path })
    }
}

/// What the device does with packets of a scheduler that has no classes.
fn childless(queue: &Queue) -> Option<&'static str> {
    match queue.kind.filter(|_| queue.classes.is_empty()) {
        Some(Kind::Scheduler("htb")) => Some("without classes all packets pass unshaped"),
        Some(Kind::Scheduler("drr" | "wrr" | "hfsc" | "ets" | "strict-priority")) => {
            Some("without classes all packets are dropped")
        }
        _ => None,
    }
}

/// The places of the classes that packets end in.
fn leaves(queue: &Queue) -> Vec<usize> {
    let parents = queue.parents();
    (0..queue.classes.len()).filter(|&i| !parents[i]).collect()
}

/// The classes that packets end in.
pub(super) fn leaves_of(queue: &Queue) -> impl Iterator<Item = (usize, &Class)> {
    leaves(queue).into_iter().map(|i| (i, &queue.classes[i]))
}

/// Whether a class, the last, stands for others that are one list with those before it in the device.
pub(super) fn is_made(queue: &Queue, i: usize) -> bool {
    let class = &queue.classes[i];
    let has_classes = class.queue.as_ref().is_some_and(|queue| !queue.classes.is_empty());
    let is_last = i + 1 == queue.classes.len();
    is_last && class.rest && class.takes.is_empty() && class.name.origin.place().is_none() && has_classes
}

/// A class as filters see it.
fn taker(queue: &Queue, i: usize) -> Taker<'_> {
    let class = &queue.classes[i];
    let takes = class.takes.iter().chain(split(queue, i)).collect();
    Taker { name: &class.name.is, takes, rest: class.rest }
}

/// The filters of the classes below one that the device does not have: those of one list that is two here.
fn split(queue: &Queue, i: usize) -> impl Iterator<Item = &Filter> {
    let below = queue.classes[i].queue.as_ref().filter(|_| is_made(queue, i));
    below.map_or(&[][..], |queue| queue.classes.as_slice()).iter().flat_map(|class| &class.takes)
}

/// The names of classes.
struct ClassNames(Vec<String>);

impl ClassNames {
    fn of(queue: &Queue) -> Self {
        let mut names = super::names::Names::default();
        Self(queue.classes.iter().map(|class| names.unique(&class.name.is)).collect())
    }

    /// A class with `name` and `parent`.
    fn row(&self, i: usize, class: &Class) -> Cell {
        let Self(names) = self;
        let mut row = Cell { class: Some(class.name.is.clone()), ..Cell::table().at(class.name.origin.place()) };
        row.set("name", names[i].as_str());
        if let Some(parent) = class.parent.and_then(|up| names.get(up)) {
            row.set("parent", parent.as_str());
        }
        row
    }
}

/// The value of `match`; one that no packet agrees with where there is none. `entry` is its place in its list.
pub(super) fn matched(matches: Option<&Match>, entry: usize) -> Cell {
    let Some(Tree::Table(mut table)) = matches.map(show_table) else {
        let from = Tree::Text(format!("{}h", LONG - entry));
        return (&Tree::table(vec![("rtt", Tree::table(vec![("from", from)]))])).into();
    };
    // A list of one is that one.
    for (_, _, node) in &mut table.entries {
        if let Tree::List(items) = &mut node.tree
            && items.len() == 1
        {
            *node = items.remove(0);
        }
    }
    (&Tree::Table(table)).into()
}
