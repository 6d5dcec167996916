//! What a conditioner keeps for a pair, a source, a destination or a class goes with the last flow that has it.

use super::{Edge, Key, NO_INSTANCE, Per, Stage, StageSpec};
use crate::classify::FlowHeaders;
use crate::packet::FlowId;

impl StageSpec {
    /// What flows share that have one instance; `None` where a flow has its own, or all have the same.
    pub(super) fn key(&self, headers: &FlowHeaders) -> Option<Key> {
        match self.per {
            Per::Aggregate | Per::Flow => None,
            Per::Pair => Some(Key::Pair(headers.source, headers.destination)),
            Per::Source => Some(Key::Source(headers.source)),
            Per::Destination => Some(Key::Destination(headers.destination)),
            Per::Class if headers.class.is_empty() => {
                Some(Key::Class(String::new(), headers.protocol, headers.destination_port))
            }
            Per::Class => Some(Key::Class(headers.class.clone(), 0, 0)),
        }
    }
}

impl Stage {
    /// Releases a flow, and its instance if no other flow has it.
    fn expire(&mut self, flow: FlowId, headers: &FlowHeaders) {
        let instance = self.by_flow.get(flow.0 as usize).copied().unwrap_or(NO_INSTANCE);
        self.release(flow);
        if instance == NO_INSTANCE || self.holders.flows[instance as usize] > 0 {
            return;
        }
        if let Some(key) = self.spec.key(headers) {
            self.holders.by_key.remove(&key);
            self.holders.free.push(instance);
        }
    }
}

impl Edge {
    /// As [`Edge::forget`], for hosts that run for ever: an instance that flows share is free for others with the last of
    /// them. `headers` are those with which the flow was announced.
    pub fn expire(&mut self, flow: FlowId, headers: &FlowHeaders) {
        self.stages.iter_mut().for_each(|stage| stage.expire(flow, headers));
    }

    /// Instances of all conditioners: those in use, and those that are free.
    pub fn instances(&self) -> [usize; 2] {
        let free = self.stages.iter().map(|stage| stage.holders.free.len()).sum();
        [self.stages.iter().map(|stage| stage.instances.len()).sum::<usize>() - free, free]
    }
}
