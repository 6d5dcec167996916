//! What changes at a port while packets wait: parameters, conditioners, queues.

use super::{Port, Queues, ShaperParams};
use crate::aqm::AqmParams;
use crate::classify::FlowHeaders;
use crate::conditioner::ConditionerParams;
use crate::packet::{FlowId, Packet};
use crate::params::ParamError;
use crate::sched::SchedulerParams;
use crate::scope::Scope;
use crate::units::Time;
use crate::verdict::Fate;

impl<H: Copy> Port<H> {
    /// New parameters for the conditioner called `name`, see [`Edge::retune`](super::edge::Edge::retune).
    ///
    /// # Errors
    /// The offending parameter; earlier parameters stay in force.
    pub fn retune_conditioner(
        &mut self,
        now: Time,
        name: &str,
        params: &ConditionerParams,
        scope: &Scope,
    ) -> Result<(), ParamError> {
        self.edge.retune(now, name, params, scope)
    }

    /// Takes the conditioners of `fresh`, another port at rest; names of those that begin afresh or end. The others keep their
    /// state. All flows have to be classified again: [`Port::reclassify`].
    pub fn change_conditioners(&mut self, now: Time, fresh: &mut Self) -> Vec<String> {
        self.edge_needs = fresh.edge_needs;
        self.edge.succeed(now, std::mem::take(&mut fresh.edge))
    }

    /// Exchanges the queues with those of `other`: of these two ports, one gets the other's packets. All flows have to be
    /// introduced again: [`Port::introduce`].
    pub fn exchange_queues(&mut self, other: &mut Self) {
        std::mem::swap(&mut self.queues, &mut other.queues);
        std::mem::swap(&mut self.aqm_needs, &mut other.aqm_needs);
        std::mem::swap(&mut self.evicts, &mut other.evicts);
    }

    /// Announces to the queues alone a flow that the conditioners know.
    pub fn introduce(&mut self, flow: FlowId, headers: &FlowHeaders) {
        if let Queues::Several(tree) = &mut self.queues {
            tree.register(flow, headers);
        }
        self.sort(flow, headers);
    }

    /// A packet that has passed the conditioners before arrives at the queues, as in [`Port::arrive`].
    pub fn requeue(&mut self, now: Time, packet: &mut Packet, handle: H) -> Fate {
        match &mut self.queues {
            Queues::One(queue) => queue.arrive(now, packet, handle),
            Queues::Several(tree) => tree.arrive(now, packet, handle),
        }
    }

    /// New parameters for the AQM of a queue, by its index in the specification.
    ///
    /// # Errors
    /// The offending parameter; the old ones stay in force.
    pub fn retune_aqm(&mut self, now: Time, queue: usize, params: &AqmParams, scope: &Scope) -> Result<(), ParamError> {
        let mut all = self.queues.all_mut().iter_mut().filter(|it| it.row() == queue);
        all.try_for_each(|queue| queue.retune(now, params, scope))
    }

    /// New parameters for the scheduler of a node, by its index in the specification.
    ///
    /// # Errors
    /// The offending parameter, or that there is no scheduler; the old ones stay in force.
    pub fn retune_scheduler(
        &mut self,
        now: Time,
        node: usize,
        params: &SchedulerParams,
        scope: &Scope,
    ) -> Result<(), ParamError> {
        match &mut self.queues {
            Queues::One(_) => Err(ParamError::other_kind()),
            Queues::Several(tree) => tree.retune_scheduler(now, node, params, scope),
        }
    }

    /// New parameters for the shaper of a node, by its index in the specification.
    ///
    /// # Errors
    /// The offending parameter, or that there is no shaper; the old ones stay in force.
    pub fn retune_shaper(
        &mut self,
        now: Time,
        node: usize,
        params: &ShaperParams,
        scope: &Scope,
    ) -> Result<(), ParamError> {
        match &mut self.queues {
            Queues::One(_) => Err(ParamError::other_kind()),
            Queues::Several(tree) => tree.retune_shaper(now, node, params, scope),
        }
    }
}
