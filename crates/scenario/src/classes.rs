//! A scheduler's classes: each with what the scheduler wants to know of it, and a queue.

use crate::read::{chosen, name_of};
use crate::sections::{ClassCommon, QueueCommon, QueueRef, Scheduled};
use crate::topology;
use perhop_core::params::{Field, Node, Params, Place, Problems, Reader, Table, Tree, Value};
use perhop_core::sched::{self, SchedulerParams};

/// `[queue.X]` with a scheduler.
pub fn read(node: &Node, problems: &mut Problems) -> Option<Scheduled> {
    let Tree::Table(table) = &node.tree else { return None };
    let (own, queues) = split(table, problems);
    let own = Node { place: node.place, tree: Tree::Table(own) };
    let params = chosen(&own, problems, |reader| {
        let sound = refuse_queue(reader);
        let (name, place) = name_of(reader, ("scheduler", None), sched::NAMES);
        let params = if name.is_empty() { None } else { SchedulerParams::read(&name, place, reader) };
        (sched::NAMES.contains(&name.as_str()), params.filter(|_| sound))
    });
    Some(Scheduled { params: params?, queues: queues? })
}

/// The table without its classes' queues, and those.
fn split(table: &Table, problems: &mut Problems) -> (Table, Option<Vec<QueueRef>>) {
    let (mut own, mut queues) = (table.clone(), Some(Vec::new()));
    let classes = own.entries.iter_mut().filter(|e| e.0 == "classes");
    for item in classes.flat_map(|e| items(&mut e.2)) {
        let Tree::Table(class) = &mut item.tree else { continue };
        let common = <ClassCommon as Params>::read(&mut Reader::new(class, item.place, problems));
        let queue = common.map(|common| common.queue.unwrap_or_else(topology::default_queue));
        queues = queues.zip(queue).map(|(queues, queue)| [queues, vec![queue]].concat());
        class.entries.retain(|e| Field::all(ClassCommon::FIELDS).iter().all(|field| field.name != e.0));
    }
    (own, queues)
}

/// A list's items, or one value that stands alone.
fn items(node: &mut Node) -> &mut [Node] {
    match node {
        Node { tree: Tree::List(items), .. } => items,
        one => std::slice::from_mut(one),
    }
}

/// Keys of a queue that do not go with a scheduler.
fn refuse_queue(reader: &mut Reader<'_>) -> bool {
    let mut refused = Vec::new();
    for key in ["aqm"].into_iter().chain(Field::all(QueueCommon::FIELDS).iter().map(|field| field.name)) {
        refused.extend(reader.take(key).map(|node| (key, node.place)));
    }
    for (key, place) in &refused {
        both(key, *place, reader.problems);
    }
    refused.is_empty()
}

fn both(key: &str, place: Place, problems: &mut Problems) {
    let message = format!("`{key}` beside `scheduler` in {}", problems.section());
    let help = "a scheduler has a queue for each of its classes: state it there, as in queue = { aqm = \"red\", ... }";
    problems.error::<()>("E226", place, [&message, "", help]);
}

/// The way back.
pub fn show(scheduled: &Scheduled) -> Tree {
    let mut shown = Vec::new();
    scheduled.params.show(&mut shown);
    for (_, tree) in shown.iter_mut().filter(|e| e.0 == "classes") {
        let Tree::List(classes) = tree else { continue };
        for (class, queue) in classes.iter_mut().zip(&scheduled.queues) {
            let Tree::Table(class) = &mut class.tree else { continue };
            let queue = queue.tree().map(|queue| ("queue", queue));
            let Tree::Table(queue) = Tree::table(queue.into_iter().collect()) else { continue };
            class.entries.extend(queue.entries);
        }
    }
    shown.insert(0, ("scheduler", Tree::Text(scheduled.params.name().into())));
    Tree::table(shown)
}
