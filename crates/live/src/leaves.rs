//! The queues of the line, as those are told who watch.

use perhop_core::aqm::Backlog;
use perhop_core::count::Count;
use perhop_core::port::{Fates, Port};
use perhop_core::units::Time;
use perhop_edge::Behind;

/// A queue; the flows of a scheduler are one.
#[derive(Clone, Debug, PartialEq)]
pub struct Leaf {
    /// That of the only queue is the policy's; others are called as `explain` names their nodes: `2.1`, in `htb` by class.
    pub name: String,
    /// Its algorithm.
    pub kind: &'static str,
    /// What became of the packets that came to it.
    pub fates: Fates,
    /// What was sent from it.
    pub sent: Count,
    /// What waits in it.
    pub backlog: Backlog,
}

/// Algorithms of the queues, and the name that the policy has for them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Line {
    name: String,
    kinds: Vec<&'static str>,
}

impl Line {
    pub(crate) fn of(behind: Option<&Behind>) -> Self {
        let line = |it: &Behind| Self {
            name: it.name.clone(),
            kinds: it.plan.links[0].queues.iter().map(|queue| queue.aqm.name()).collect(),
        };
        behind.map(line).unwrap_or_default()
    }

    /// Its queues at `now`; none where there is no line.
    pub(crate) fn leaves(&self, port: &Port<u32>, now: Time) -> Vec<Leaf> {
        let branches = port.branches();
        let name = |queue: usize| {
            let own = branches.iter().rfind(|it| it.queues == [queue]);
            own.map_or_else(|| self.name.clone(), |it| it.path.clone())
        };
        let leaf = |(queue, kind): (usize, &&'static str)| {
            let flows = port.rows().into_iter().nth(queue).unwrap_or_default();
            let fates = flows.iter().flat_map(|it| it.gate().fates().values());
            let backlogs = flows.iter().map(|it| it.backlog(now));
            let mut backlog = Backlog::default();
            backlogs.for_each(|it| {
                backlog.packets += it.packets;
                backlog.bytes += it.bytes;
            });
            Leaf {
                name: name(queue),
                kind,
                fates: fates.fold(Fates::default(), |sum, it| sum.plus(it)),
                sent: flows.iter().map(|it| it.sent()).sum(),
                backlog,
            }
        };
        self.kinds.iter().enumerate().map(leaf).collect()
    }
}
