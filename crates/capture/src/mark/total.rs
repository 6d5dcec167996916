//! Several captures, each reported on its own, together: parts of one that follow each other, or several points of a network.

use super::by::{By, Groups};
use super::report::{Directions, Report};
use super::volume::{Volume, over};
use perhop_core::units::NS_PER_S;
use serde::Serialize;
use std::sync::Arc;

/// What is kept of each for that.
#[derive(Clone, Debug)]
pub struct Part {
    packets: u64,
    original_bytes: u64,
    directions: Directions,
    /// From its first packet to its last, in ns since 1970.
    span_ns: Option<(u64, u64)>,
    groups: Option<Arc<Groups>>,
}

impl Part {
    /// Of a report, with its packets in groups if they are shown so.
    pub fn new(report: &Report, groups: Option<Arc<Groups>>) -> Self {
        let it = &report.capture;
        let ns = |s: f64| (s * NS_PER_S as f64).round() as u64;
        let first = it.time_zero_ns.zip(it.first_packet_s).map(|(zero, first)| zero + ns(first));
        let span_ns = first.zip(it.duration_s).map(|(first, lasted)| (first, first + ns(lasted)));
        let (packets, original_bytes) = (it.packets, it.original_bytes);
        Self { packets, original_bytes, directions: report.directions, span_ns, groups }
    }

    /// Its packets in groups.
    pub fn groups(&self) -> Option<&Groups> {
        self.groups.as_deref()
    }
}

/// All of them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Total {
    /// Captures that were read.
    pub captures: usize,
    /// Their packets.
    pub packets: u64,
    /// The sum of their original lengths, link headers included.
    pub original_bytes: u64,
    /// Time that at least one of them covers; `None` without times.
    pub covered_s: Option<f64>,
    /// Forward traffic over that time; `None` where it is 0.
    pub offered_bit_s: Option<f64>,
    /// Packets by direction and fate.
    #[serde(flatten)]
    pub directions: Directions,
    /// In groups, if they are shown so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<Groups>,
}

impl Total {
    /// Of these, with their packets in groups if they are shown so.
    pub fn new(parts: &[Part], by: Option<By>) -> Self {
        let covered_s = covered(parts.iter().filter_map(|part| part.span_ns).collect());
        let sum = |of: fn(&Directions) -> Volume| {
            let mut sum = Volume::default();
            parts.iter().for_each(|part| sum.add(of(&part.directions)));
            sum
        };
        let directions =
            Directions { forward: sum(|it| it.forward), reverse: sum(|it| it.reverse), dropped: sum(|it| it.dropped) };
        Self {
            captures: parts.len(),
            packets: parts.iter().map(|part| part.packets).sum(),
            original_bytes: parts.iter().map(|part| part.original_bytes).sum(),
            covered_s,
            offered_bit_s: over(directions.forward.bytes, covered_s),
            directions,
            rows: by.map(|by| Groups::sum(by, parts.iter().filter_map(Part::groups), covered_s)),
        }
    }
}

/// Seconds that at least one span covers.
fn covered(mut spans: Vec<(u64, u64)>) -> Option<f64> {
    spans.sort_unstable();
    let (mut covered, mut end) = (0, spans.first()?.0);
    for (from, to) in spans {
        covered += to.saturating_sub(from.max(end));
        end = end.max(to);
    }
    Some(covered as f64 / NS_PER_S as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_that_several_cover_counts_once() {
        let s = |from: u64, to: u64| (from * NS_PER_S, to * NS_PER_S);
        assert_eq!(covered(vec![s(0, 2), s(2, 3)]), Some(3.0), "parts of one capture");
        assert_eq!(covered(vec![s(5, 6), s(0, 4), s(1, 2), s(3, 5)]), Some(6.0), "points of a network");
        assert_eq!(covered(vec![s(0, 1), s(9, 10)]), Some(2.0), "nothing was captured between them");
        assert_eq!(covered(Vec::new()), None);
    }
}
