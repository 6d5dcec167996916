//! `[queue]`: one queue with its AQM, or a scheduler with classes, each with what the scheduler needs to know about it
//! and a queue, which may have a scheduler again; either may have a shaper.

use super::chosen::{Entries, chosen, name_of};
use crate::text::tree;
use perhop_core::aqm::{self, AqmParams};
use perhop_core::params::{
    Choice, Field, Kind, Located, Node, Params, Place, Places, Problems, Reader, Spanned, Table, Tree, Value,
};
use perhop_core::port::{ShaperParams, Side};
use perhop_core::registry::Entry;
use perhop_core::sched::{self, Child, PriorityLimit, SchedulerParams};
use perhop_core::units::{Length, Packets};
use std::collections::HashSet;
use std::sync::Arc;

/// Default limit of a queue, packets: Linux's for an interface.
pub const DEFAULT_LIMIT: u32 = 1000;

/// The keys of `[queue.X]` in addition to the AQM's parameters.
#[derive(Params, Clone, Debug, PartialEq)]
pub struct QueueCommon {
    /// How much may wait, not counting the packet in transmission: packets, bytes, or time at the link's rate.
    #[param(default = "1000p")]
    pub limit: Spanned<Length>,
    /// Which packet goes when there is no room; default: the one that arrives, `tail`.
    pub drop: Option<Side>,
}

/// The key of every `[queue.X]`, with and without a scheduler.
#[derive(Params, Clone, Debug, PartialEq)]
pub struct Shaped {
    /// What holds back all that leaves it: `rate`, `burst` and so on.
    pub shape: Option<Located<ShaperParams>>,
}

/// The keys of every `[queue.X]` with a scheduler over classes.
#[derive(Params, Clone, Debug, PartialEq)]
pub struct Telling {
    /// Rate for its classes' AQMs and limits in time: the most that a class can get, `link` (default), or its sure `share`.
    pub aqm_rate: Option<AqmRate>,
}

/// The rate that an AQM in a class is told.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AqmRate {
    /// The one that bounds the class: the link's, or that of the slowest shaper or ceil above.
    #[default]
    Link,
    /// What the class gets of it while all classes have packets.
    Share,
}

/// `[queue.X]`
#[derive(Clone, Debug, PartialEq)]
pub enum QueueSection {
    /// One queue.
    One(Arc<Queue>),
    /// A scheduler with a queue for each of its classes.
    Several(Box<Scheduled>),
}

/// `scheduler` with its classes.
#[derive(Clone, Debug, PartialEq)]
pub struct Scheduled {
    /// `scheduler` with its parameters.
    pub params: Located<SchedulerParams>,
    /// The queue of each class that has one, and that of what no class takes, if it is apart; of a scheduler without classes, what
    /// each of its flows has.
    pub queues: Vec<Spanned<QueueRef>>,
    /// Its shaper.
    pub shaped: Shaped,
    /// What AQMs in its classes are told.
    pub telling: Telling,
}

/// A queue with its AQM.
#[derive(Clone, Debug, PartialEq)]
pub struct Queue {
    /// Limit.
    pub common: QueueCommon,
    /// Its shaper.
    pub shaped: Shaped,
    /// `aqm` with its parameters; all keys of the queue have their places here.
    pub aqm: Located<AqmParams>,
}

/// A link's queue.
#[derive(Clone, Debug, PartialEq)]
pub enum QueueRef {
    /// Name of a `[queue.X]`.
    Named(String),
    /// Written where it is used.
    Inline(Box<QueueSection>),
}

impl Value for QueueRef {
    const KIND: Kind = Kind::Any;
    fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
        match &node.tree {
            Tree::Text(name) => Some(Self::Named(name.clone())),
            _ => QueueSection::read(node, problems).map(|section| Self::Inline(Box::new(section))),
        }
    }
    fn tree(&self) -> Option<Tree> {
        Some(match self {
            Self::Named(name) => Tree::Text(name.clone()),
            Self::Inline(queue) => queue.tree(),
        })
    }
}

/// What holds where the table at `place` states no queue.
pub fn default_queue(place: Place) -> Spanned<QueueRef> {
    Spanned::new(place, QueueRef::Inline(Box::new(QueueSection::One(default_drop_tail(place)))))
}

/// The queue of [`default_queue`].
pub fn default_drop_tail(place: Place) -> Arc<Queue> {
    drop_tail(place, Length::Packets(Packets::new(DEFAULT_LIMIT)))
}

/// What each flow of a scheduler has: the scheduler itself limits them.
fn flow_queue(place: Place) -> Spanned<QueueRef> {
    let queue = drop_tail(place, Length::Packets(Packets::new(u32::MAX)));
    Spanned::new(place, QueueRef::Inline(Box::new(QueueSection::One(queue))))
}

fn drop_tail(place: Place, limit: Length) -> Arc<Queue> {
    let aqm = AqmParams::DropTail(perhop_core::aqm::drop_tail::Params {});
    let common = QueueCommon { limit: Spanned::new(place, limit), drop: None };
    Arc::new(Queue {
        common,
        shaped: Shaped { shape: None },
        aqm: Located { value: aqm, places: Places::whole(place) },
    })
}

impl QueueSection {
    /// `[queue.X]` or a link's inline queue.
    pub fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
        let has = |key| matches!(&node.tree, Tree::Table(table) if table.get(key).is_some());
        match has("scheduler") || has("classes") && !has("aqm") {
            true => Scheduled::read(node, problems).map(|it| Self::Several(Box::new(it))),
            false => Queue::read(node, problems).map(|queue| Self::One(Arc::new(queue))),
        }
    }

    /// Its shaper.
    pub fn shaped(&self) -> &Shaped {
        match self {
            Self::One(queue) => &queue.shaped,
            Self::Several(scheduled) => &scheduled.shaped,
        }
    }

    /// The inverse of [`QueueSection::read`].
    pub fn tree(&self) -> Tree {
        match self {
            Self::One(queue) => queue.tree(),
            Self::Several(scheduled) => scheduled.tree(),
        }
    }
}

impl Queue {
    fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
        chosen(node, problems, |reader| {
            let common = <QueueCommon as Params>::read(reader);
            let shaped = <Shaped as Params>::read(reader);
            let name = name_of(reader, "aqm", Some("drop-tail"), &aqm::names());
            let aqm = name.as_ref().and_then(|name| AqmParams::read(name, name.place, reader));
            let aqm = aqm.map(|value| Located { value, places: reader.places() });
            let known = name.is_some_and(|name| aqm::names().contains(&name.as_str()));
            (known, common.zip(shaped).zip(aqm).map(|((common, shaped), aqm)| Self { common, shaped, aqm }))
        })
    }

    fn tree(&self) -> Tree {
        let mut entries: Entries = vec![("aqm", Tree::Text(self.aqm.name().into()))];
        self.common.show(&mut entries);
        self.shaped.show(&mut entries);
        self.aqm.show(&mut entries);
        Tree::table(entries)
    }
}

impl Scheduled {
    fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
        let queues = queues(node, problems);
        let both = chosen(node, problems, |reader| {
            let shaped = <Shaped as Params>::read(reader);
            let name = name_of(reader, "scheduler", None, sched::NAMES);
            let entry = name.as_ref().and_then(|name| sched::LIST.iter().find(|entry| entry.name == **name));
            let sound = refuse_queue(reader, entry.map_or(&[], |entry| entry.fields));
            let params = name.as_ref().and_then(|name| SchedulerParams::read(name, name.place, reader));
            let telling = match entry.is_some_and(has_classes) {
                true => <Telling as Params>::read(reader),
                false => Some(Telling { aqm_rate: None }),
            };
            let params = params.filter(|_| sound).map(|value| Located { value, places: reader.places() });
            (entry.is_some(), params.zip(shaped.zip(telling)).zip(entry))
        });
        let (((params, (shaped, telling)), entry), of_entries) = (both?, queues?);
        let of_child = |child: &Child| of_entries[child.entry][child.plan].clone();
        let mut queues: Vec<_> = params.layout().map_or_else(Vec::new, |layout| {
            layout.children(|entry| of_entries[entry].is_empty()).iter().map(of_child).collect()
        });
        if !has_classes(entry) {
            queues = vec![flow_queue(node.place)];
        }
        if queues.is_empty() {
            let help = "write at least one class; the last takes all other packets";
            return problems.error("E201", node.place, "`classes` is missing").help(help).none();
        }
        if params.value.others().is_some() {
            queues.push(default_queue(node.place));
        }
        Some(Self { params, queues, shaped, telling })
    }

    fn tree(&self) -> Tree {
        let mut shown = Vec::new();
        self.params.show(&mut shown);
        for (_, tree) in shown.iter_mut().filter(|e| e.0 == "classes") {
            let Tree::List(classes) = tree else { continue };
            let parents = parents(classes);
            let children = self
                .params
                .layout()
                .map_or_else(Vec::new, |layout| layout.children(|entry| is_parent(&classes[entry], &parents)));
            for (child, queue) in children.iter().zip(&self.queues).filter(|(child, _)| !child.others) {
                let table = table_mut(&mut classes[child.entry], child.plan);
                let queue = queue.tree().map(|queue| ("queue", queue));
                let Tree::Table(queue) = Tree::table(queue.into_iter().collect()) else { continue };
                table
                    .into_iter()
                    .filter(|table| table.get("queue").is_none())
                    .for_each(|it| it.entries.extend(queue.entries.clone()));
            }
        }
        shown.insert(0, ("scheduler", Tree::Text(self.params.name().into())));
        self.shaped.show(&mut shown);
        self.telling.show(&mut shown);
        Tree::table(shown)
    }
}

/// The table of a class, or of a template's plan.
fn table_mut(class: &mut Node, plan: usize) -> Option<&mut Table> {
    let class = match tree::get(class, &["plans"]) {
        None => class,
        Some(_) => match &mut tree::get_mut(class, &["plans"])?.tree {
            Tree::List(plans) => plans.get_mut(plan)?,
            _ => return None,
        },
    };
    if let Tree::Table(table) = &mut class.tree { Some(table) } else { None }
}

/// Whether a scheduler's children are classes of the file, not flows.
pub fn has_classes(entry: &Entry) -> bool {
    Field::all(entry.fields).iter().any(|field| field.name == "classes")
}

/// By entry of `classes` the queue of each of its plans, of one that is no template the one that it has, or none if others are below
/// it. Anything but a table is left to the scheduler's reader.
fn queues(node: &Node, problems: &mut Problems) -> Option<Vec<Vec<Spanned<QueueRef>>>> {
    let classes = match tree::get(node, &["classes"]) {
        Some(Node { tree: Tree::List(classes), .. }) => classes.as_slice(),
        Some(class) => std::slice::from_ref(class),
        None => &[],
    };
    let mut queue = |class: &Node| match tree::get(class, &["queue"]) {
        Some(queue) => Spanned::read(queue, problems),
        None => Some(default_queue(class.place)),
    };
    let parents = parents(classes);
    let entry = |class: &Node| match () {
        () if sched::is_template(class) => of_plans(class, &mut queue),
        () if is_parent(class, &parents) => Some(Vec::new()),
        () => queue(class).map(|queue| vec![queue]),
    };
    classes.iter().map(entry).collect::<Vec<_>>().into_iter().collect()
}

/// The queue of each plan of a template; one that the template states for several is read once.
fn of_plans(class: &Node, read: &mut impl FnMut(&Node) -> Option<Spanned<QueueRef>>) -> Option<Vec<Spanned<QueueRef>>> {
    let mut known: Vec<(Option<Place>, Option<Spanned<QueueRef>>)> = Vec::new();
    for plan in sched::plans(class) {
        let place = tree::get(&plan, &["queue"]).map(|queue| queue.place);
        let before = known.iter().find(|it| it.0 == place && place.is_some()).map(|it| it.1.clone());
        let queue = before.unwrap_or_else(|| read(&plan));
        known.push((place, queue));
    }
    known.into_iter().map(|it| it.1).collect()
}

/// The names of classes that others name as their `parent`.
pub fn parents(classes: &[Node]) -> HashSet<String> {
    let named = |class: Node| match &tree::get(&class, &["parent"])?.tree {
        Tree::Text(name) => Some(name.clone()),
        _ => None,
    };
    let tables = |class: &Node| if sched::is_template(class) { sched::plans(class) } else { vec![class.clone()] };
    classes.iter().flat_map(tables).filter_map(named).collect()
}

/// Whether a class has other classes below it, and so no queue.
pub fn is_parent(class: &Node, parents: &HashSet<String>) -> bool {
    tree::get(class, &["name"]).is_some_and(|name| matches!(&name.tree, Tree::Text(name) if parents.contains(name)))
}

/// The limits of classes that go before others, in their order.
pub fn limits(params: &SchedulerParams) -> Vec<PriorityLimit> {
    match params {
        SchedulerParams::StrictPriority(strict) => strict.classes.iter().map(|class| class.limit).collect(),
        SchedulerParams::Ets(ets) => ets.classes.iter().map(|class| class.limit).collect(),
        _ => Vec::new(),
    }
}

/// Keys of a queue that do not go with a scheduler, unless it has them itself.
fn refuse_queue(reader: &mut Reader<'_>, own: &'static [Field]) -> bool {
    let own = Field::all(own);
    let common = Field::all(QueueCommon::FIELDS).into_iter().map(|field| field.name);
    let stated = |key: &&str| reader.entries().iter().any(|e| e.0 == **key) && own.iter().all(|it| it.name != *key);
    let keys: Vec<_> = ["aqm"].into_iter().chain(common).filter(stated).collect();
    for key in &keys {
        reader.take(key);
        let message = format!("`{key}` together with `scheduler` in {}", reader.problems.section());
        let help = "move the key to a class of the scheduler, as in queue = { aqm = \"red\", ... }: each class has its own queue";
        reader.problems.error("E226", reader.place_of(key), message).help(help);
    }
    keys.is_empty()
}
