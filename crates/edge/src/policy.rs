//! What a host does: a policy, checked.

use perhop_core::accounting::Accounting;
use perhop_core::flow_label::Encoding;
use perhop_core::port::Port;
use perhop_core::port::edge::{Edge, StageSpec};
use perhop_core::units::Span;
use perhop_sim::Plan;
use perhop_sim::replay::{Line, Replay};
use thiserror::Error;

/// What a host does.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// Conditioners in their order.
    pub stages: Vec<StageSpec>,
    /// With each conditioner's name, the key of a random stream, as in replication 0 of a run.
    pub seed: u64,
    /// Which bytes of a packet meters and queues count. Beyond l3 the VLAN tags of an Ethernet header count too; padding
    /// never does.
    pub accounting: Accounting,
    /// How IPv6 flow labels carry labels; `None`: they are neither read nor written.
    pub flow_label: Option<Encoding>,
    /// Silence after which a flow is forgotten; `None`: none is.
    pub flow_timeout: Option<Span>,
    /// Beyond so many flows the one silent longest is forgotten, and numbers of forgotten flows are given to others. Needs
    /// a timeout; `None`: numbers last for ever.
    pub most_flows: Option<u32>,
    /// The queue on a line behind the conditioners; `None`: what passes leaves at once.
    pub queue: Option<Behind>,
}

/// A queue on a line into which forward packets go behind the conditioners.
#[derive(Clone, Debug)]
pub struct Behind {
    /// Its name.
    pub name: String,
    /// A plan whose first link is that line, with the policy's stages as its conditioners.
    pub plan: Plan,
}

/// Parameters that their algorithm refuses; a checked policy has none.
#[derive(Debug, Error)]
pub enum PolicyError {
    /// Of a conditioner.
    #[error("[conditioner.{name}]: {error}")]
    Conditioner {
        /// Its name.
        name: String,
        /// The offending parameter and its bound.
        error: String,
    },
    /// Of the queue.
    #[error("queue `{name}`: {error}")]
    Queue {
        /// Its name.
        name: String,
        /// The offending parameter and its bound.
        error: String,
    },
}

impl Policy {
    /// Which bytes of a packet the line behind the queue sends; VLAN tags as in `accounting`.
    pub(crate) fn framing(&self) -> Accounting {
        self.queue.as_ref().map(|behind| behind.plan.links[0].framing).unwrap_or_default()
    }

    /// The conditioners, and the queue on its line, if there is one.
    pub(crate) fn port(self) -> Result<Replay, PolicyError> {
        if let Some(Behind { name, plan }) = self.queue {
            return Replay::of_link(&plan, 0).map_err(|error| PolicyError::Queue { name, error: error.to_string() });
        }
        let edge = Edge::new(self.stages, self.seed, 0).map_err(|fault| {
            let (name, error) = *fault;
            PolicyError::Conditioner { name, error: error.to_string() }
        })?;
        Ok(Replay::new(Port::of_edge(edge), Line::Infinite))
    }
}
