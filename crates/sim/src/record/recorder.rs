//! The owner of what is recorded while it runs: transfers, series, captures.

use super::outcome::Series;
use super::sample::{FlowSample, Sample};
use super::tap::Captured;
use super::totals::Transfer;
use crate::plan::{Plan, TapPoint};
use perhop_core::units::Time;

/// What is recorded.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    taps: Vec<[bool; 2]>,
    captured: Vec<Captured>,
    /// The end of the warm-up: what was opened before is no row.
    since: Time,
    transfers: Vec<Transfer>,
    /// Complete from then on, of each `[traffic]` table.
    completed: Vec<u32>,
    series: Series,
}

/// What was recorded, for the outcome.
pub struct Recorded {
    /// Transfers opened after the warm-up, in the order of completion.
    pub transfers: Vec<Transfer>,
    /// Those complete after the warm-up, of each `[traffic]` table.
    pub completed: Vec<u32>,
    /// Samples.
    pub series: Series,
    /// Packets at taps.
    pub captured: Vec<Captured>,
}

impl Recorder {
    /// Nothing recorded yet of what `plan` asks for.
    pub fn new(plan: &Plan) -> Self {
        let mut taps = vec![[false; 2]; plan.links.len()];
        for tap in &plan.probes.taps {
            taps[tap.link][tap.point as usize] = true;
        }
        Self {
            taps,
            captured: Vec::new(),
            since: Time::ZERO + plan.warmup,
            transfers: Vec::new(),
            completed: vec![0; plan.traffic.len()],
            series: Series::default(),
        }
    }

    /// Records a packet that passes a point of a link, if a tap is there.
    #[inline]
    pub fn tap(&mut self, link: usize, point: TapPoint, packet: impl FnOnce() -> Captured) {
        if self.taps[link][point as usize] {
            self.captured.push(packet());
        }
    }

    /// A transfer is complete. One from before the end of the warm-up is forgotten.
    pub fn complete(&mut self, transfer: Transfer) {
        self.completed[transfer.table as usize] += u32::from(transfer.complete >= self.since);
        if transfer.opened >= self.since {
            self.transfers.push(transfer);
        }
    }

    /// One more value of a port.
    pub fn sample(&mut self, sample: Sample) {
        self.series.ports.push(sample);
    }

    /// One more value of a flow.
    pub fn sample_flow(&mut self, sample: FlowSample) {
        self.series.flows.push(sample);
    }

    /// All that was recorded.
    pub fn finish(self) -> Recorded {
        let Self { series, captured, transfers, completed, .. } = self;
        Recorded { transfers, completed, series, captured }
    }
}
