//! `[queue.X]`: a queue, with its classes and their queues.

use super::Writer;
use super::names::plain;
use super::page::{List, Page, Row, key, toml};
use super::sort::{Sorted, Taken, Taker, sort};
use crate::model::{Class, Filter, Kind, Queue};
use crate::value::Value;
use perhop_core::classify::Match;
use perhop_core::params::{Node, Place, Tree, show_table};

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
        let mut page = Page::default();
        let comment = if comment == name { String::new() } else { format!("! {comment}") };
        let start = page.text.len();
        page.section("queue", Some(&name), queue.name.origin.place(), &comment);
        if let Some(how) = childless(queue) {
            self.notes.push((queue.name.origin.place(), format!("{how}: here they pass a FIFO of 1000 packets")));
            let mut row = Row::default().with(how);
            row.page.add("aqm = \"drop-tail\"");
            page.row(row);
            page.around(start, queue.name.origin.place());
            return self.tree.append(&page);
        }
        match queue.kind {
            Some(Kind::Scheduler(kind)) => page.add(&format!("scheduler = {}\n", key_text(kind))),
            Some(Kind::Aqm(kind)) => page.add(&format!("aqm = {}\n", key_text(kind))),
            None if queue.settings.is_empty() => page.add("aqm = \"drop-tail\"\n"),
            None => {}
        }
        if !queue.shape.is_empty() {
            let mut row = Row::default();
            row.page.add("shape = ");
            row.value(&Value::Table(queue.shape.clone()));
            page.row(row);
        }
        let leaves = leaves(queue);
        let takers: Vec<_> = leaves.iter().map(|&i| taker(queue, i)).collect();
        let sorted = self.sorted(&takers, &leaves, &path);
        // A filter that takes all leaves nothing unclassified.
        let is_void = |name: &str| name == "unclassified" && sorted.taken.contains(&Taken::Rest);
        let settings = queue.settings.iter().filter(|(name, _)| !is_void(name));
        settings.for_each(|(name, value)| page.entry(name, value));
        let below = self.classes(queue, (&leaves, sorted), &path, &mut page);
        page.around(start, queue.name.origin.place());
        self.tree.append(&page);
        below.into_iter().for_each(|below| self.section(below));
    }

    /// `classes = [..]`; the queues that they name.
    fn classes<'a>(
        &mut self,
        queue: &'a Queue,
        sorted: (&[usize], Sorted),
        above: &[usize],
        page: &mut Page,
    ) -> Vec<Below<'a>> {
        let mut below = Vec::new();
        if queue.classes.is_empty() {
            return below;
        }
        let (leaves, Sorted { mut taken, notes }) = sorted;
        self.notes.extend(notes);
        let names = ClassNames::of(queue);
        page.add("classes = ");
        let mut rows = List { at: page.text.len(), rows: Vec::new() };
        let mut assumed = Vec::new();
        page.add("[\n");
        let (order, moved) = self.order(queue, leaves, &mut taken);
        self.notes.extend(moved);
        for i in order {
            let mut row = Row::default();
            row.page.add("  { ");
            let (class, path) = (&queue.classes[i], [above, &[i]].concat());
            names.write(i, class, &mut row);
            if let Ok(leaf) = leaves.binary_search(&i) {
                self.takes(class, &taken[leaf], &path, &mut row);
            }
            row.entries(&class.settings);
            below.extend(self.queue_of(class, path, &mut row));
            row.page.add(" },");
            let start = page.text.len();
            page.row_of_list(row, &mut assumed);
            page.around(start, class.name.origin.place());
            rows.rows.push((class.name.is.clone(), class.name.origin.place()));
        }
        page.lists.push(rows);
        page.add("]\n");
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
    fn takes(&mut self, class: &Class, taken: &Taken, path: &[usize], row: &mut Row) {
        let place = class.takes.first().and_then(|filter| filter.matches.origin.place());
        let add = |row: &mut Row, matches: Option<&Match>| {
            row.comma();
            row.page.from(place, |page| page.add(&matched(matches, path.last().copied().unwrap_or_default())));
        };
        match taken {
            Taken::Rest => {}
            Taken::For(codes) => {
                let codes: Vec<Node> = codes.iter().map(|code| Tree::Text(code.to_string()).into()).collect();
                let list = match codes.as_slice() {
                    [one] => toml(&one.tree),
                    _ => toml(&Tree::List(codes)),
                };
                row.comma();
                row.page.from(place, |page| page.add(&format!("for = {list}")));
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
                row.say(if class.rest { "what no filter names" } else { "no filter leads to it: the load does" });
            }
            Taken::Nothing => {
                add(row, None);
                let none = class.takes.is_empty();
                let why = if none { "no filter leads to it" } else { "filters before its own take all of its packets" };
                row.say(&format!("{why}, {NOTHING}"));
            }
        }
    }

    /// `queue` of a class; it becomes a section unless it is short.
    fn queue_of<'a>(&mut self, class: &'a Class, path: Vec<usize>, row: &mut Row) -> Option<Below<'a>> {
        let queue = class.queue.as_ref()?;
        let plain_queue = queue.kind.is_none() && queue.shape.is_empty() && queue.classes.is_empty();
        if plain_queue && queue.settings.is_empty() {
            return None;
        }
        row.comma();
        if plain_queue {
            row.page.from(queue.name.origin.place(), |page| page.add("queue = "));
            row.value(&Value::Table(queue.settings.clone()));
            return None;
        }
        let name = self.queues.unique(&class.name.is);
        row.page.from(queue.name.origin.place(), |page| page.add(&format!("queue = {}", key_text(&name))));
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

    /// `name` and `parent`.
    fn write(&self, i: usize, class: &Class, row: &mut Row) {
        let Self(names) = self;
        row.page.from(class.name.origin.place(), |page| page.add(&format!("name = {}", key_text(&names[i]))));
        if let Some(parent) = class.parent.and_then(|up| names.get(up)) {
            row.page.add(&format!(", parent = {}", key_text(parent)));
        }
    }
}

/// A text in quotes.
pub(super) fn key_text(text: &str) -> String {
    toml(&Tree::Text(text.to_owned()))
}

/// `match = {..}`; one that no packet agrees with where there is none.
/// `entry` is its place in its list.
pub(super) fn matched(matches: Option<&Match>, entry: usize) -> String {
    let none = || format!("match = {{ rtt = {{ from = \"{}h\" }} }}", LONG - entry);
    matches.map_or_else(none, |matches| format!("match = {}", shown(matches)))
}

/// A match as TOML; a list of one is that one.
fn shown(matches: &Match) -> String {
    let Tree::Table(mut table) = show_table(matches) else { return String::new() };
    for (_, _, node) in &mut table.entries {
        if let Tree::List(items) = &mut node.tree
            && items.len() == 1
        {
            *node = items.remove(0);
        }
    }
    let entries: Vec<_> =
        table.entries.iter().map(|(name, _, node)| format!("{} = {}", key(name), toml(&node.tree))).collect();
    format!("{{ {} }}", entries.join(", "))
}
