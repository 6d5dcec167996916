//! Timed changes: new parameters for what is running, at a time stated beforehand.

use crate::traffic::TrafficParams;
use perhop_core::aqm::AqmParams;
use perhop_core::conditioner::ConditionerParams;
use perhop_core::port::ShaperParams;
use perhop_core::sched::SchedulerParams;
use perhop_core::scope::Scope;
use perhop_core::units::{BitRate, Time};

/// The changes at one time.
#[derive(Clone, Debug)]
pub struct Change {
    /// Its time; after the start of the run.
    pub at: Time,
    /// In any order.
    pub what: Vec<Alteration>,
}

/// One thing that changes. New parameters are given whole, as the plan has them.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)]
pub enum Alteration {
    /// Of a conditioner at a port.
    Conditioner {
        /// Index of the link.
        link: usize,
        /// The stage's name.
        name: String,
        /// Of the same kind.
        params: ConditionerParams,
        /// Its surroundings from then.
        scope: Scope,
    },
    /// Of a queue's AQM.
    Aqm {
        /// Index of the link.
        link: usize,
        /// Index of the queue; 0 without scheduler.
        queue: usize,
        /// Of the same AQM.
        params: AqmParams,
        /// Its surroundings from then.
        scope: Scope,
    },
    /// Of a scheduler.
    Scheduler {
        /// Index of the link.
        link: usize,
        /// Index of its node in the tree of queues.
        node: usize,
        /// Of the same scheduler, for the same classes.
        params: SchedulerParams,
    },
    /// Of a shaper.
    Shaper {
        /// Index of the link.
        link: usize,
        /// Index of its node in the tree of queues.
        node: usize,
        /// From then.
        params: ShaperParams,
    },
    /// Of a link: its rate.
    Rate {
        /// Index of the link.
        link: usize,
        /// The rate from then.
        rate: BitRate,
    },
    /// Of a `[traffic]` table: all its sources.
    Traffic {
        /// Index of its `[traffic]` table.
        table: usize,
        /// Of the same model.
        params: TrafficParams,
    },
}
