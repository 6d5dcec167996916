//! The specification of a port: plain data.

use super::edge::{Edge, StageSpec};
use super::queue::Queue;
use super::queues::Queues;
use super::shaper::ShaperParams;
use super::tree::{self, Tree};
use super::{Gate, Limit, Port, Side};
use crate::aqm::{AnyAqm, Aqm as _, AqmParams};
use crate::needs::Needs;
use crate::params::ParamError;
use crate::rng::Rng;
use crate::sched::SchedulerParams;
use crate::scope::Scope;

/// A queue of a port.
#[derive(Clone, Debug)]
pub struct QueueSpec {
    /// Its AQM.
    pub aqm: AqmParams,
    /// How much may wait.
    pub limit: Limit,
    /// Which packet goes when there is no room.
    pub drop: Side,
    /// Surroundings of the AQM. The link's rate is the one that bounds the queue, whatever share a scheduler leaves: an idle
    /// queue would be served at it.
    pub scope: Scope,
}

impl QueueSpec {
    /// Its AQM.
    ///
    /// # Errors
    /// What the AQM refuses; E292 for one that drops waiting packets of a queue that does so, too.
    pub fn build(&self) -> Result<AnyAqm, ParamError> {
        let aqm = self.aqm.build(&self.scope)?;
        if self.drop == Side::Head && aqm.needs().contains(Needs::ROOM) {
            let message = format!("`drop = \"head\"` with `{}`, which drops waiting packets itself", self.aqm.name());
            let help = "remove `drop`: the queue then drops the packet that finds no room, as the AQM expects";
            return Err(ParamError::new("drop", "E292", message).help(help));
        }
        Ok(aqm)
    }
}

/// A node of the tree of a port's queues.
#[derive(Clone, Debug)]
pub struct NodeSpec {
    /// Index of the node above; the root, the first, has none. Parents come before their children, and children in the
    /// order of their scheduler.
    pub parent: Option<usize>,
    /// What holds back all that leaves it.
    pub shaper: Option<ShaperParams>,
    /// What it is.
    pub inside: Inside,
    /// Surroundings of shaper and scheduler.
    pub scope: Scope,
}

/// What is inside a node.
#[derive(Clone, Debug)]
pub enum Inside {
    /// A queue, by its index.
    Queue(usize),
    /// A scheduler over the nodes whose parent it is. If its children are flows there is one: what each flow has.
    Scheduler(SchedulerParams),
}

impl NodeSpec {
    /// A scheduler over all the queues, each of which is a class.
    pub fn flat(scheduler: SchedulerParams, queues: &[QueueSpec]) -> Vec<Self> {
        let scope = queues.first().map(|queue| queue.scope.clone()).unwrap_or_default();
        let node = |parent, inside| Self { parent, shaper: None, inside, scope: scope.clone() };
        let leaves = (0..queues.len()).map(|i| node(Some(0), Inside::Queue(i)));
        [node(None, Inside::Scheduler(scheduler))].into_iter().chain(leaves).collect()
    }

    /// Its scheduler, if it has one.
    pub fn scheduler(&self) -> Option<&SchedulerParams> {
        match &self.inside {
            Inside::Scheduler(params) => Some(params),
            Inside::Queue(_) => None,
        }
    }
}

/// A port.
#[derive(Clone, Copy, Debug)]
pub struct PortSpec<'a> {
    /// Names the random streams of its queues.
    pub name: &'a str,
    /// Conditioners, in order.
    pub edge: &'a [StageSpec],
    /// One queue, or those at the leaves of the tree.
    pub queues: &'a [QueueSpec],
    /// The tree of schedulers and shapers above the queues; empty: there is one queue.
    pub nodes: &'a [NodeSpec],
    /// Seed of the run.
    pub seed: u64,
    /// Number of the replication; with the seed, the key of every random stream.
    pub replication: u32,
}

/// Why a port could not be built.
#[derive(Clone, Debug, PartialEq)]
pub enum PortError {
    /// A conditioner, by name, refuses a parameter.
    Conditioner(String, Box<ParamError>),
    /// The AQM of a queue, a scheduler or a shaper refuses a parameter.
    Queue(Box<ParamError>),
    /// This many queues, although a scheduler has that many classes; 1 without scheduler.
    Queues {
        /// Of the specification.
        queues: usize,
        /// Needed.
        classes: usize,
    },
}

impl PortSpec<'_> {
    /// The port, empty.
    ///
    /// # Errors
    /// See [`PortError`].
    pub fn build<H: Copy>(&self) -> Result<Port<H>, PortError> {
        let edge = Edge::new(self.edge.to_vec(), self.seed, self.replication).map_err(|fault| {
            let (name, error) = *fault;
            PortError::Conditioner(name, Box::new(error))
        })?;
        Ok(Port::new(edge, self.build_queues()?))
    }

    fn build_queues<H: Copy>(&self) -> Result<Queues<H>, PortError> {
        match (self.nodes, self.queues) {
            ([], [queue]) => Ok(Queues::One(Queue::new(self.gate(0, queue, true)?))),
            ([], queues) => Err(PortError::Queues { queues: queues.len(), classes: 1 }),
            _ => Ok(Queues::Several(Box::new(self.tree()?))),
        }
    }

    fn tree<H: Copy>(&self) -> Result<Tree<H>, PortError> {
        let mut tree = Tree::new();
        for (i, node) in self.nodes.iter().enumerate() {
            if let Some((up, places)) = node.parent.and_then(|up| Some((up, tree.flows(up)?))) {
                let Inside::Queue(queue) = node.inside else {
                    return Err(PortError::Queues { queues: 1, classes: places });
                };
                let gate = self.gate(queue, self.queue(queue)?, false)?;
                tree.add_flows(up, places, Queue::new(gate).in_row(queue));
                continue;
            }
            let refused = |error| PortError::Queue(Box::new(error));
            let shaper = node.shaper.as_ref().map(|params| params.build(&node.scope)).transpose().map_err(refused)?;
            let inside = match &node.inside {
                Inside::Queue(queue) => {
                    let gate = self.gate(*queue, self.queue(*queue)?, self.asks_when_empty(node))?;
                    tree::Inside::Queue(Queue::new(gate).in_row(*queue))
                }
                Inside::Scheduler(params) => {
                    let rng = Rng::stream(self.seed, self.replication, &format!("scheduler.{}.{i}", self.name));
                    tree::Inside::Scheduler(params.build(&node.scope).map_err(refused)?, rng)
                }
            };
            tree.add(node.parent, shaper, inside);
        }
        match tree.mismatch() {
            None => Ok(tree),
            Some((queues, classes)) => Err(PortError::Queues { queues, classes }),
        }
    }

    fn queue(&self, i: usize) -> Result<&QueueSpec, PortError> {
        self.queues.get(i).ok_or(PortError::Queues { queues: self.queues.len(), classes: i + 1 })
    }

    /// Whether a node without a shaper is right at the line, or below strict priorities that are.
    fn asks_when_empty(&self, node: &NodeSpec) -> bool {
        let above = |up: usize| {
            let asks = matches!(self.nodes[up].scheduler(), Some(SchedulerParams::StrictPriority(_)));
            asks && self.asks_when_empty(&self.nodes[up])
        };
        node.shaper.is_none() && node.parent.is_none_or(above)
    }

    fn gate(&self, i: usize, queue: &QueueSpec, asked_when_empty: bool) -> Result<Gate, PortError> {
        let scope = Scope { asked_when_empty, ..queue.scope.clone() };
        let aqm = QueueSpec { scope, ..queue.clone() }.build().map_err(|error| PortError::Queue(Box::new(error)))?;
        let rng = Rng::stream(self.seed, self.replication, &self.stream(i));
        Ok(Gate::new(aqm, queue.limit, rng).with_drop(queue.drop))
    }

    /// The random stream of a queue. The first has the one it would have without a scheduler, so that both draw the
    /// same.
    fn stream(&self, i: usize) -> String {
        if i == 0 { format!("queue.{}", self.name) } else { format!("queue.{}.{}", self.name, i + 1) }
    }
}
