//! What a replication keeps in memory: routes, queues, counters, series and transfers. E206 if that is more than a run may take.

use crate::resolve::offered::{self, Flowline, MOST_HOPS};
use crate::resolve::ports::{File, Resolved};
use perhop_core::aqm::Aqm as _;
use perhop_core::conditioner::Conditioner as _;
use perhop_core::needs::Needs;
use perhop_core::params::Problems;
use perhop_core::sched::Scheduler as _;
use perhop_core::units::{Bytes, Span, Time};
use perhop_sim::plan;
use perhop_sim::record::{FlowSample, Sample, Transfer};
use perhop_sim::traffic::{LARGEST_PACKET, Traffic as _, TrafficScope};
use std::collections::BTreeSet;

/// Most bytes of queues, of series, of transfers, and of counters, that a replication may keep.
pub const MOST: u64 = 4_000_000_000;
/// Intervals are suggested in whole milliseconds.
const NS_PER_MS: u64 = 1_000_000;
/// About what a link keeps of a class: fates, what passed, and times of waiting, for each colour.
const PER_CLASS: u64 = 1200;
/// What a port keeps at most of a queue or a scheduler in its tree, before the first packet.
const PER_NODE: u64 = 2500;
/// What a scheduler over flows keeps at most of one of its queues, before the first packet.
const PER_FLOW: u64 = 250;
/// A value of a table, or none: a number and whether it is there, or a text that equal values share.
const VALUE: usize = 16;
/// The same in its file, 8 B and the eighth part of a byte, with room for as much again.
const IN_FILE: usize = 18;
/// Names of `conditioner` in a series stand apart.
const NAME: usize = 32;
/// A text while its column is written: as two lists of it, and whether it is there.
const WRITTEN: usize = 66;
/// A transfer, in a table of 12 columns.
pub const PER_TRANSFER: u64 = of_row(size_of::<Transfer>(), 12);
/// A value of a port, in a table of 5 columns.
pub const PER_SAMPLE: u64 = of_row(size_of::<Sample>() + NAME / 2, 5);
/// A row of a flow, in a table of 7 columns.
pub const PER_FLOW_SAMPLE: u64 = of_row(size_of::<FlowSample>(), 7);

/// Bytes of a row at most: first as it was recorded, in a list with room for as many again, and in its table; then in its
/// table and in its file.
const fn of_row(recorded: usize, columns: usize) -> u64 {
    let (recorded, written) = (2 * recorded, columns * IN_FILE + WRITTEN);
    (columns * VALUE + if recorded > written { recorded } else { written }) as u64
}

/// The series of one replication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Series {
    /// Instants.
    pub samples: u64,
    /// Values at each instant: of ports, and rows of flows.
    pub values: u64,
    /// Bytes at each instant, as they are kept in the end.
    pub each: u64,
}

impl Series {
    /// All of it.
    pub fn bytes(&self) -> Bytes {
        Bytes::new(self.samples.saturating_mul(self.each))
    }
}

/// E206 for routes, told before anything is kept for each of their links.
pub fn check_routes(traffic: &[Flowline], problems: &mut Problems) -> bool {
    let hops = offered::hops(traffic);
    if hops > MOST_HOPS {
        let message = format!("the routes of all traffic have {hops} hops or more in total");
        let help =
            format!("at most {MOST_HOPS} are allowed: shorten the routes, or put several `flows` in one [traffic]");
        problems.error("E206", None, message).help(help);
    }
    hops <= MOST_HOPS
}

/// E206 for counters, told before it is looked at what arrives at each port.
pub fn check_counters(file: File<'_>, problems: &mut Problems) -> bool {
    let links = file.topology.links.len();
    let (pairs, classes) = (counters(file, links), offered::classes(file.model).len());
    let bytes = pairs.saturating_mul(PER_CLASS);
    if bytes > MOST {
        let message = format!(
            "counters of {classes} classes at {links} ports, {pairs} in all, would take {}",
            rounded(Bytes::new(bytes))
        );
        let help = format!(
            "at most {} are allowed: give several tables of traffic the same `class`, as in class = \"all\"",
            rounded(Bytes::new(MOST))
        );
        problems.error("E206", None, message).help(help);
    }
    bytes <= MOST
}

/// E206 for queues, series and transfers.
pub fn check(all: Resolved<'_>, problems: &mut Problems) {
    check_queues(all, problems);
    let settings = &all.file.model.settings;
    if let (Some(sample), Some(series)) = (settings.sample, series(all.file, all.links))
        && series.bytes().get() > MOST
    {
        let Series { samples, values, .. } = series;
        let message = format!("the series of a replication would take {}", rounded(series.bytes()));
        let label = format!("{samples} samples of {values} values");
        let least = settings.duration.ns().div_ceil((MOST / series.each.max(1)).max(1)).div_ceil(NS_PER_MS);
        let help = format!(
            "at most {} are allowed: write a `sample` of {} or more, or choose ports by `sample-ports`",
            rounded(Bytes::new(MOST)),
            Span::from_ms(least)
        );
        problems.error("E206", sample.place, message).label(label).help(help);
    }
    let rows = transfers(all.file, all.links);
    let bytes = Bytes::new(rows.saturating_mul(PER_TRANSFER));
    if bytes.get() > MOST {
        let message = format!("the {rows} transfers of a replication would take {}", rounded(bytes));
        let most = MOST / PER_TRANSFER;
        let help = format!(
            "at most {} are allowed, which {most} transfers take: shorten `duration`, or start fewer transfers",
            rounded(Bytes::new(MOST))
        );
        problems.error("E206", settings.duration.place, message).help(help);
    }
}

/// E206 for queues, at the port that has most of them: a template has classes for all its slots.
fn check_queues(all: Resolved<'_>, problems: &mut Problems) {
    let bytes = queues(all.links);
    let most = all.links.iter().zip(&all.file.topology.links).max_by_key(|(link, _)| of_port(link));
    let Some((link, direction)) = most.filter(|_| bytes > MOST) else { return };
    let root = direction.nodes.first();
    let place = root.map(|root| root.scheduler.as_ref().map_or(root.place, |it| it.place("classes")));
    let message = format!(
        "the queues of all ports would take {} before the first packet; most, {}, at `{}`",
        rounded(Bytes::new(bytes)),
        rounded(Bytes::new(of_port(link))),
        link.name
    );
    let label = format!("{} queues and schedulers", link.nodes.len());
    let help = format!(
        "at most {} are allowed: lower `slots`, or `flows` in the queue of a class, as in queue = {{ scheduler = \"fq-codel\", flows = 64 }}",
        rounded(Bytes::new(MOST))
    );
    problems.error("E206", place, message).label(label).help(help);
}

/// Bytes of all queues before the first packet.
pub fn queues(links: &[plan::Link]) -> u64 {
    links.iter().map(of_port).fold(0, u64::saturating_add)
}

/// Of those of a port; the classes of a template are alike, so that few schedulers have to be built.
fn of_port(link: &plan::Link) -> u64 {
    let (mut known, mut flows) = (None, 0);
    for (params, scope) in link.nodes.iter().filter_map(|node| Some((node.scheduler()?, &node.scope))) {
        let of = match known {
            Some((same, of)) if same == params => of,
            _ => params.build(scope).map_or(0, |it| it.places() as u64 * u64::from(it.needs().contains(Needs::FLOWS))),
        };
        (known, flows) = (Some((params, of)), flows + of);
    }
    PER_NODE * link.nodes.len() as u64 + PER_FLOW * flows
}

/// Mean number of transfers that are opened after the warm-up, if nothing ever waits.
pub fn transfers(file: File<'_>, links: &[plan::Link]) -> u64 {
    let of_table = |lines: &[Flowline]| {
        let offered = &lines[0].offered;
        let settings = &file.model.settings;
        let begin = (*settings.warmup).max(offered.start.since(Time::ZERO));
        let end = offered.stop.map_or(*settings.duration, |stop| stop.since(Time::ZERO).min(*settings.duration));
        let (segment, senders) = (Bytes::new(u64::from(offered.tcp.mss)), lines.len() as u32);
        let scope = TrafficScope { largest: LARGEST_PACKET, segment, senders, sources: offered.flows, source: 0 };
        let trip = lines.iter().filter_map(|flow| flow.base_rtt(links)).min()?;
        let time = Span::from_ns(end.ns().saturating_sub(begin.ns()));
        let each = offered.model.build(&scope).ok()?.transfers(time, trip)?;
        Some((each * f64::from(offered.flows)).ceil() as u64)
    };
    let tables = file.traffic.chunk_by(|_, next| next.sender > 0);
    tables.filter_map(of_table).fold(0, u64::saturating_add)
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
    let each = PER_SAMPLE.saturating_mul(ports).saturating_add(PER_FLOW_SAMPLE.saturating_mul(flows));
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
