//! Queues before a line, in the plainest form: who sends when it is asked to.

use perhop_core::Scope;
use perhop_core::aqm::members::Member;
use perhop_core::count::Count;
use perhop_core::packet::Colour;
use perhop_core::params::{Field, Kind, Node, Params as _, Place, Problems, Reader, Tree, Value as _};
use perhop_core::port::Turn;
use perhop_core::registry::Entry;
use perhop_core::sched::{AnyScheduler, Head, Heads, LIST, Pick, Scheduler as _, SchedulerParams};
use perhop_core::units::{Bytes, Time};
use proptest::prelude::*;
use std::collections::VecDeque;

/// Largest packet of all tests.
pub(crate) const LARGEST: u32 = 1500;

/// Queues of packets, by their sizes.
pub(crate) struct Line {
    pub(crate) scheduler: AnyScheduler,
    pub(crate) queues: Vec<VecDeque<u32>>,
}

/// What happens to a line.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// A packet of this many bytes arrives at a queue.
    Arrive(usize, u32),
    /// The line sends, if anything waits.
    Send,
}

impl Line {
    pub(crate) fn new(params: &SchedulerParams) -> Self {
        Self::of(params.build(&scope()).unwrap())
    }

    pub(crate) fn of(scheduler: AnyScheduler) -> Self {
        let queues = vec![VecDeque::new(); scheduler.places()];
        Self { scheduler, queues }
    }

    pub(crate) fn heads(&self) -> Heads {
        self.queues.iter().map(|queue| queue.front().map_or(Head::Nothing, |&size| Head::Bytes(size))).collect()
    }

    /// The queue that would send.
    pub(crate) fn pick(&mut self) -> Option<usize> {
        match self.scheduler.pick(Turn::testing(NOW), &self.heads()) {
            Pick::Child(i) => Some(i),
            Pick::Nothing => None,
            Pick::Later(_) => panic!("nothing holds it back"),
        }
    }

    /// A packet arrives at a queue.
    pub(crate) fn arrive(&mut self, i: usize, size: u32) {
        self.queues[i].push_back(size);
        self.scheduler.queued(Turn::testing(NOW), i, size);
    }

    fn waiting(&self, i: usize) -> Count {
        let bytes = self.queues[i].iter().map(|&size| u64::from(size)).sum();
        Count { packets: self.queues[i].len() as u64, bytes }
    }

    /// The packet at the head of a queue is gone.
    pub(crate) fn lose(&mut self, i: usize) {
        let size = self.queues[i].pop_front().expect("it has a packet");
        self.scheduler.dropped(Turn::testing(NOW), i, size, self.waiting(i));
    }

    /// The queue that sends, and its packet's size.
    pub(crate) fn send(&mut self) -> Option<(usize, u32)> {
        let i = self.pick()?;
        let size = self.queues[i].pop_front().expect("what is picked has a packet");
        self.scheduler.sent(Turn::testing(NOW), i, size, self.waiting(i));
        Some((i, size))
    }

    /// What is sent in all of `steps`.
    pub(crate) fn run(&mut self, steps: &[Step]) -> Vec<(usize, u32)> {
        let mut sent = Vec::new();
        for step in steps {
            match *step {
                Step::Arrive(i, size) => self.arrive(i, size),
                Step::Send => sent.extend(self.send()),
            }
        }
        sent
    }
}

pub(crate) fn scope() -> Scope {
    Scope { largest_packet: Bytes::new(LARGEST.into()), ..Scope::default() }
}

/// The members of class `i` of `n`: a colour each, none for the last.
pub(crate) fn members(i: usize, n: usize) -> Vec<Member> {
    let own = Colour::ALL.get(i).filter(|_| i + 1 < n);
    own.into_iter().map(|&colour| Member::Colour(colour)).collect()
}

/// Every scheduler of the list whose children are classes, and once more with `arithmetic = "linux"` where it has one.
pub(crate) fn kinds() -> Vec<String> {
    let kinds =
        |entry: &Entry| [Some(entry.name.to_owned()), entry.has("arithmetic").then(|| format!("{} linux", entry.name))];
    LIST.iter().filter(|entry| entry.has("classes")).flat_map(kinds).flatten().collect()
}

/// The schedulers whose children are classes.
pub(crate) fn classed() -> Vec<&'static str> {
    LIST.iter().filter(|entry| entry.has("classes")).map(|entry| entry.name).collect()
}

/// Parameters of any of [`kinds`], from its declaration: a share for each class, where it declares one.
pub(crate) fn params(kind: &str, shares: &[u32]) -> SchedulerParams {
    let (name, arithmetic) = kind.split_once(' ').map_or((kind, None), |(name, of)| (name, Some(of)));
    let entry = LIST.iter().find(|e| e.name == name).unwrap();
    let classes = Field::all(entry.fields).into_iter().find(|f| f.name == "classes").unwrap();
    let (Kind::OneOrMany(Kind::Table(fields)) | Kind::List(Kind::Table(fields))) = classes.kind else {
        panic!("{name} has no list of classes")
    };
    let class = |(i, share): (usize, &u32)| {
        let value = |field: &&Field| match (field.name, field.kind) {
            ("for", _) => members(i, shares.len()).tree(),
            (
                "queue" | "name" | "parent" | "ceil" | "prio" | "police" | "match" | "rt" | "ul" | "per" | "slots"
                | "plans" | "same-level",
                _,
            ) => None,
            // Limits of priority classes.
            ("rate" | "burst", _) if field.optional && name != "htb" => None,
            // What keeps a rate does not hold anything back as long as its bursts are not used up.
            ("burst" | "cburst", _) => Some(Tree::Text("1GB".to_owned())),
            (_, Kind::Rate) | ("ls", _) => Some(Tree::Text(format!("{share}Mbit/s"))),
            (_, Kind::Size) => Some(Tree::Text(format!("{}B", LARGEST * share))),
            (_, Kind::Integer) => Some(Tree::Integer(i64::from(*share))),
            (other, _) => panic!("the tests know no value for `{other}` of {name}"),
        };
        let entries = Field::all(fields).into_iter().filter_map(|f| Some((f.name, value(&f)?))).collect();
        Node::from(Tree::table(entries))
    };
    let classes = Tree::List(shares.iter().enumerate().map(class).collect());
    let arithmetic = arithmetic.map(|of| ("arithmetic", Tree::Text(of.to_owned())));
    read_table(name, [Some(("classes", classes)), arithmetic].into_iter().flatten().collect()).unwrap()
}

/// Reads `classes`; the codes of what is wrong, else.
pub(crate) fn read(name: &str, classes: Tree) -> Result<SchedulerParams, Vec<&'static str>> {
    read_table(name, vec![("classes", classes)])
}

/// Reads any keys.
pub(crate) fn read_table(name: &str, entries: Vec<(&'static str, Tree)>) -> Result<SchedulerParams, Vec<&'static str>> {
    let Tree::Table(table) = Tree::table(entries) else { unreachable!("a table") };
    let mut problems = Problems::default();
    let mut reader = Reader::new(&table, Place::default(), &mut problems);
    let params = SchedulerParams::read(name, Place::default(), &mut reader);
    reader.finish();
    params.ok_or(problems.list.iter().map(|p| p.code).collect())
}

pub(crate) fn shares() -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(1u32..6, 1..5)
}

/// Packets that come and go, for up to four queues; now more, now fewer than the line can send.
pub(crate) fn steps(queues: usize) -> impl Strategy<Value = Vec<Step>> {
    let arrive = (0..queues, 40..=LARGEST).prop_map(|(i, size)| Step::Arrive(i, size));
    let burst = |p: u32| prop::collection::vec(prop_oneof![p => arrive.clone(), 10 - p => Just(Step::Send)], 0..80);
    (burst(8), burst(3), burst(6), burst(1)).prop_map(|(a, b, c, d)| [a, b, c, d].concat())
}

/// Shares, and the arrivals at this many queues.
pub(crate) fn loaded() -> impl Strategy<Value = (Vec<u32>, Vec<Step>)> {
    shares().prop_flat_map(|shares| {
        let queues = shares.len();
        (Just(shares), steps(queues))
    })
}

/// Now.
pub(crate) const NOW: Time = Time::ZERO;

/// Whether the declaration of a scheduler has any share to give.
pub(crate) fn has_shares(params: &SchedulerParams) -> bool {
    let SchedulerParams::StrictPriority(_) = params else { return true };
    assert_eq!(
        perhop_core::sched::strict_priority::Class::FIELDS.len(),
        6,
        "its name, whose packets, whether a template, which limit, level and queue"
    );
    false
}
