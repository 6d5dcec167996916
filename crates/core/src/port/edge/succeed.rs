//! Other conditioners from now on: those that are still there keep their state.

use super::{Edge, NO_INSTANCE, Stage};
use crate::packet::FlowId;
use crate::units::Time;

impl Stage {
    /// Takes over what `old` knows, if it is the same algorithm for the same packets; whether it does.
    fn succeed(&mut self, now: Time, old: &mut Self) -> bool {
        let (mine, others) = (&self.spec, &old.spec);
        if mine.per != others.per || mine.params.name() != others.params.name() {
            return false;
        }
        let mut retuned = old.instances.clone();
        if retuned.iter_mut().any(|it| it.retune(now, &self.spec.params, &self.spec.scope).is_err()) {
            return false;
        }
        self.instances = retuned;
        std::mem::swap(&mut self.by_flow, &mut old.by_flow);
        std::mem::swap(&mut self.holders, &mut old.holders);
        std::mem::swap(&mut self.past, &mut old.past);
        std::mem::swap(&mut self.rng, &mut old.rng);
        self.counts = old.counts;
        true
    }

    /// Makes room for flows that were announced before it was here.
    pub(super) fn reach(&mut self, flow: FlowId) {
        let slot = flow.0 as usize;
        if self.by_flow.len() <= slot {
            self.by_flow.resize(slot + 1, NO_INSTANCE);
        }
    }
}

impl Edge {
    /// Becomes `fresh`, whose conditioners have met no packet. One of a name, a kind and a `per` that are here keeps its
    /// state, its counts and its random stream; names of the others, which begin afresh, and of those that end. All
    /// flows have to be classified again.
    pub(in crate::port) fn succeed(&mut self, now: Time, fresh: Self) -> Vec<String> {
        let mut old = std::mem::replace(self, fresh).stages;
        let mut lost = Vec::new();
        for stage in &mut self.stages {
            let before = old.iter().position(|it| it.spec.name == stage.spec.name).map(|place| old.remove(place));
            if !before.is_some_and(|mut before| stage.succeed(now, &mut before)) {
                lost.push(stage.spec.name.clone());
            }
        }
        lost.extend(old.into_iter().map(|it| it.spec.name));
        lost
    }
}
