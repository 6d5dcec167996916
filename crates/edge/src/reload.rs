//! Another policy from now on.

use perhop_core::classify::FlowHeaders;
use perhop_core::packet::FlowId;
use perhop_sim::replay::{Change, Changed};

use crate::clock::Moment;
use crate::handshake::Handshakes;
use crate::host::Host;
use crate::observer::Observer;
use crate::policy::{Policy, PolicyError};

impl Host {
    /// Follows `policy` from `at` on; what it did not keep. Flows stay known, and packets that wait stay in the queue.
    ///
    /// # Errors
    /// Parameters that their algorithm refuses: the old policy stays in force.
    pub fn reload(&mut self, policy: Policy, at: Moment, observer: &mut impl Observer) -> Result<Changed, PolicyError> {
        let (encoding, queue) = (policy.flow_label.clone(), policy.queue.clone());
        let per = policy.stages.iter().map(|stage| stage.per).collect();
        let (accounting, framing) = (policy.accounting, policy.framing());
        let bounds = policy.flow_timeout.zip(policy.most_flows);
        let fresh = policy.port()?;
        self.replay.advance(at.now, &mut |trip| observer.trip(trip));
        let flows = self.known_flows();
        let plans = [&self.behind, &queue].map(|it| it.as_ref().map(|it| &it.plan));
        let change = Change { fresh, plans, flows: &flows };
        let changed = self.replay.change(at.now, change, &mut |trip| observer.trip(trip));
        (self.queued, self.behind, self.per) = (queue.is_some(), queue, per);
        (self.accounting, self.framing, self.labels.encoding) = (accounting, framing, encoding);
        if self.replay.port().asks_round_trips() {
            self.known.handshakes.get_or_insert_with(Handshakes::default);
        }
        if let (Some(idle), Some((timeout, most))) = (&mut self.idle, bounds) {
            idle.rebound(timeout, most);
        }
        Ok(changed)
    }

    /// Those that the conditioners have been told of.
    fn known_flows(&self) -> Vec<(FlowId, FlowHeaders)> {
        self.known.announced().collect()
    }
}
