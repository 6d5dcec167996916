//! The owner of what is recorded while it runs: transfers, series, captures.

use super::outcome::Series;
use super::sample::{FlowSample, Sample};
use super::tap::Captured;
use super::totals::Transfer;
use crate::plan::{Plan, TapPoint};
use perhop_core::units::Time;

/// What is recorded.
#[derive(Clone, Debug)]
pub struct Recorder {
    taps: Vec<[bool; 2]>,
    captured: Vec<Captured>,
    transfers: Vec<Transfer>,
    series: Series,
}

/// What was recorded, for the outcome.
pub struct Recorded {
    /// Transfers in the order of completion.
    pub transfers: Vec<Transfer>,
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
        Self { taps, captured: Vec::new(), transfers: Vec::new(), series: Series::default() }
    }

    /// Records a packet that passes a point of a link, if a tap is there.
    #[inline]
    pub fn tap(&mut self, link: usize, point: TapPoint, packet: impl FnOnce() -> Captured) {
        if self.taps[link][point as usize] {
            self.captured.push(packet());
        }
    }

    /// A transfer is complete.
    pub fn complete(&mut self, transfer: Transfer) {
        self.transfers.push(transfer);
    }

    /// Transfers that were complete at or after `since`, of each `[traffic]` table.
    pub fn completed(&self, tables: usize, since: Time) -> Vec<u32> {
        let mut completed = vec![0; tables];
        let transfers = self.transfers.iter().filter(|transfer| transfer.complete >= since);
        transfers.for_each(|transfer| completed[transfer.table as usize] += 1);
        completed
    }

    /// One more value of a port.
    pub fn sample(&mut self, sample: Sample) {
        self.series.ports.push(sample);
    }

    /// One more value of a flow.
    pub fn sample_flow(&mut self, sample: FlowSample) {
        self.series.flows.push(sample);
    }

    /// All that was recorded; of the transfers, those opened at or after `since`.
    pub fn finish(self, since: Time) -> Recorded {
        let Self { series, captured, mut transfers, .. } = self;
        transfers.retain(|t| t.opened >= since);
        Recorded { transfers, series, captured }
    }
}
