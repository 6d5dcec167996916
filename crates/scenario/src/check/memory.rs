//! What a replication keeps in memory: series and counters. E206 if that is more than a run may take.

use crate::resolve::offered;
use crate::resolve::ports::{File, Resolved};
use perhop_core::aqm::Aqm as _;
use perhop_core::conditioner::Conditioner as _;
use perhop_core::params::Problems;
use perhop_core::units::{Bytes, Span, Time};
use perhop_sim::plan;
use perhop_sim::record::{FlowSample, Sample};
use std::collections::BTreeSet;

/// Most bytes of series, and of counters, that a replication may keep.
pub const MOST: u64 = 4_000_000_000;
/// Intervals are suggested in whole milliseconds.
const NS_PER_MS: u64 = 1_000_000;
/// About what a link keeps of a class: fates, what passed, and times of waiting, for each colour.
const PER_CLASS: u64 = 1200;

/// The series of one replication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Series {
    /// Instants.
    pub samples: u64,
    /// Values at each instant: of ports, and rows of flows.
    pub values: u64,
    /// Bytes at each instant.
    pub each: u64,
}

impl Series {
    /// All of it.
    pub fn bytes(&self) -> Bytes {
        Bytes::new(self.samples.saturating_mul(self.each))
    }
}

/// E206 for series and counters.
pub fn check(all: Resolved<'_>, problems: &mut Problems) {
    let settings = &all.file.model.settings;
    if let (Some(sample), Some(series)) = (settings.sample, series(all.file, all.links))
        && series.bytes().get() > MOST
    {
        let Series { samples, values, .. } = series;
        let message = format!("the series of a replication would take {}", rounded(series.bytes()));
        let label = format!("{samples} samples of {values} values");
        let least = settings.duration.ns().div_ceil((MOST / series.each.max(1)).max(1)).div_ceil(NS_PER_MS);
        let help = format!(
            "at most {}: a `sample` of {} or more, or `sample-ports` to choose ports",
            rounded(Bytes::new(MOST)),
            Span::from_ms(least)
        );
        problems.error("E206", sample.place, message).label(label).help(help);
    }
    let (links, pairs) = (all.links.len(), counters(all.file, all.links.len()));
    let (bytes, classes) = (pairs.saturating_mul(PER_CLASS), offered::classes(all.file.model).len());
    if bytes > MOST {
        let message = format!(
            "counters of {classes} classes at {links} ports, {pairs} where a class passes a port, would take {}",
            rounded(Bytes::new(bytes))
        );
        let help = format!(
            "at most {}: give several tables of traffic the same `class`, as in class = \"all\"",
            rounded(Bytes::new(MOST))
        );
        problems.error("E206", None, message).help(help);
    }
}

/// How often a class passes a port, with its data or with its ACKs: only there it is counted.
pub fn counters(file: File<'_>, links: usize) -> u64 {
    let mut last = vec![usize::MAX; offered::classes(file.model).len()];
    let mut first = |link: usize, flow: usize| {
        let seen = last.get_mut(usize::from(file.traffic[flow].offered.class));
        seen.is_some_and(|seen| std::mem::replace(seen, link) != link)
    };
    (0..links).map(|link| file.crossing.either(link).filter(|&(flow, _)| first(link, flow)).count() as u64).sum()
}

/// What is sampled; `None` without `sample`, or if it is 0.
pub fn series(file: File<'_>, links: &[plan::Link]) -> Option<Series> {
    let settings = &file.model.settings;
    let every = settings.sample.filter(|every| every.ns() > 0)?;
    let named: BTreeSet<_> = settings.sample_ports.iter().filter_map(|port| file.topology.link(port)).collect();
    let asked = |index: &usize| settings.sample_ports.is_empty() || named.contains(index);
    let ports: u64 = (0..links.len()).filter(asked).map(|index| gauges(&links[index])).sum();
    let flows = match settings.sample_ports.is_empty() {
        true => offered::tables(file.traffic).map(|flow| u64::from(flow.offered.flows)).sum(),
        false => 0,
    };
    let of = |bytes: usize, rows: u64| (bytes as u64).saturating_mul(rows);
    let each = of(size_of::<Sample>(), ports).saturating_add(of(size_of::<FlowSample>(), flows));
    Some(Series { samples: settings.duration.ns() / every.ns(), values: ports + flows, each })
}

/// Values of a port at each instant.
fn gauges(link: &plan::Link) -> u64 {
    let mut count = 2;
    let scheduled = !link.nodes.is_empty();
    for queue in &link.queues {
        count += if scheduled { 2 } else { 0 };
        if let Ok(aqm) = queue.aqm.build(&queue.scope) {
            aqm.gauges(Time::ZERO, &mut |_, _| count += 1);
        }
    }
    for stage in &link.edge {
        if let Ok(conditioner) = stage.params.build(&stage.scope) {
            conditioner.gauges(Time::ZERO, &mut |_, _| count += 1);
        }
    }
    count
}

/// To two digits, in the largest unit.
pub fn rounded(size: Bytes) -> String {
    let bytes = size.get() as f64;
    match bytes {
        b if b >= 1e9 => format!("{:.1} GB", b / 1e9),
        b if b >= 1e6 => format!("{:.1} MB", b / 1e6),
        b => format!("{:.1} kB", b / 1e3),
    }
}
