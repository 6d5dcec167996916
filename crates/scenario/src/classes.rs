//! A scheduler's classes: each with what the scheduler wants to know of it, and a queue.

use crate::read::{chosen, name_of};
use crate::sections::{QueueCommon, QueueRef, Scheduled};
use crate::{topology, tree};
use perhop_core::params::{Field, Node, Params, Problems, Reader, Tree, Value};
use perhop_core::sched::{self, SchedulerParams};

/// `[queue.X]` with a scheduler.
pub fn read(node: &Node, problems: &mut Problems) -> Option<Scheduled> {
    let queues = queues(node, problems);
    let params = chosen(node, problems, |reader| {
        let sound = refuse_queue(reader);
        let (name, place) = name_of(reader, ("scheduler", None), sched::NAMES);
        let params = if name.is_empty() { None } else { SchedulerParams::read(&name, place, reader) };
        (sched::NAMES.contains(&name.as_str()), params.filter(|_| sound))
    });
    Some(Scheduled { params: params?, queues: queues? })
}

/// The classes' queues; what is not a table is left to the scheduler's reader.
fn queues(node: &Node, problems: &mut Problems) -> Option<Vec<QueueRef>> {
    let classes = match tree::get(node, &["classes"]) {
        Some(Node { tree: Tree::List(classes), .. }) => classes.as_slice(),
        Some(class) => std::slice::from_ref(class),
        None => &[],
    };
    let queue = |class: &Node| match tree::get(class, &["queue"]) {
        Some(queue) => QueueRef::read(queue, problems),
        None => Some(topology::default_queue()),
    };
    classes.iter().map(queue).collect::<Vec<_>>().into_iter().collect()
}

/// Keys of a queue that do not go with a scheduler.
fn refuse_queue(reader: &mut Reader<'_>) -> bool {
    let common = Field::all(QueueCommon::FIELDS).into_iter().map(|field| field.name);
    let stated = |key: &&str| reader.entries().iter().any(|e| e.0 == **key);
    let keys: Vec<_> = ["aqm"].into_iter().chain(common).filter(stated).collect();
    for key in &keys {
        reader.take(key);
        let message = format!("`{key}` beside `scheduler` in {}", reader.problems.section());
        let help =
            "a scheduler has a queue for each of its classes: state it there, as in queue = { aqm = \"red\", ... }";
        reader.problems.error::<()>("E226", reader.place_of(key), [&message, "", help]);
    }
    keys.is_empty()
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
