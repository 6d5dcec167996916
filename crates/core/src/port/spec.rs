//! The specification of a port: plain data.

use super::edge::{Edge, StageSpec};
use super::queue::{Classes, Queue, Queues};
use super::{Gate, Limit, Port};
use crate::aqm::AqmParams;
use crate::params::ParamError;
use crate::rng::Rng;
use crate::sched::{Scheduler as _, SchedulerParams};
use crate::scope::Scope;

/// A queue of a port.
#[derive(Clone, Debug)]
pub struct QueueSpec {
    /// Its AQM.
    pub aqm: AqmParams,
    /// How much may wait.
    pub limit: Limit,
    /// Surroundings of the AQM. The link's rate is that of the whole link, whatever share a scheduler leaves: an idle
    /// queue would be served at it.
    pub scope: Scope,
}

/// A port.
#[derive(Clone, Copy, Debug)]
pub struct PortSpec<'a> {
    /// Names the random streams of its queues.
    pub name: &'a str,
    /// Conditioners, in order.
    pub edge: &'a [StageSpec],
    /// One queue, or one for each class of the scheduler.
    pub queues: &'a [QueueSpec],
    /// Which of the queues sends next; `None`: there is one.
    pub scheduler: Option<&'a SchedulerParams>,
    /// Number of classes that packets are counted by.
    pub classes: usize,
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
    /// The AQM of a queue or the scheduler refuses a parameter.
    Queue(Box<ParamError>),
    /// This many queues, although the scheduler has that many classes; 1 without scheduler.
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
        Ok(Port::new(edge, self.build_queues()?, self.classes))
    }

    fn build_queues<H: Copy>(&self) -> Result<Queues<H>, PortError> {
        let mut gates = (0..).zip(self.queues).map(|(i, queue)| self.gate(i, queue)).collect::<Result<Vec<_>, _>>()?;
        let (queues, first) = (gates.len(), self.queues.first());
        match (self.scheduler, first) {
            (None, Some(_)) if queues == 1 => Ok(Queues::One(Queue::new(gates.remove(0)))),
            (Some(params), Some(first)) => {
                let scheduler = params.build(&first.scope).map_err(|error| PortError::Queue(Box::new(error)))?;
                match scheduler.places() {
                    classes if classes == queues => Ok(Queues::Several(Box::new(Classes::new(scheduler, gates)))),
                    classes => Err(PortError::Queues { queues, classes }),
                }
            }
            _ => Err(PortError::Queues { queues, classes: 1 }),
        }
    }

    fn gate(&self, i: usize, queue: &QueueSpec) -> Result<Gate, PortError> {
        let aqm = queue.aqm.build(&queue.scope).map_err(|error| PortError::Queue(Box::new(error)))?;
        let rng = Rng::stream(self.seed, self.replication, &self.stream(i));
        Ok(Gate::new(aqm, queue.limit, rng).with_classes(self.classes))
    }

    /// The random stream of a queue. The first has the one it would have without a scheduler, so that both draw the
    /// same.
    fn stream(&self, i: usize) -> String {
        if i == 0 { format!("queue.{}", self.name) } else { format!("queue.{}.{}", self.name, i + 1) }
    }
}
