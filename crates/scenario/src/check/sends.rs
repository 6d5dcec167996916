//! W339, W340 and W358: traffic that probably sends nothing, TCP whose queue is in its own host, bursts that this queue does
//! not meet.

use crate::resolve::offered::{Flowline, tables};
use crate::resolve::ports::{File, Resolved};
use perhop_core::accounting::Accounting;
use perhop_core::aqm::AqmParams;
use perhop_core::params::Problems;
use perhop_core::units::Span;
use perhop_sim::plan;
use perhop_sim::traffic::TrafficModel as _;
use perhop_sim::transport::Bursts;

/// Looks at all traffic.
pub fn check(all: Resolved<'_>, problems: &mut Problems) {
    tables(all.file.traffic).for_each(|flow| silent(all.file, flow, problems));
    own_bottleneck(all, problems);
    tables(all.file.traffic).for_each(|flow| taken_apart(all, flow, problems));
}

/// W358: a scheduler, a shaper or an AQM would meet bursts at the sender's own port, but for the conditioners before it.
fn taken_apart(all: Resolved<'_>, flow: &Flowline, problems: &mut Problems) {
    let Some(port) = flow.forward.first().map(|&link| &all.links[link as usize]) else { return };
    let (offered, drop_tail) = (&flow.offered, matches!(port.queues[0].aqm, AqmParams::DropTail(_)));
    let bursts = if flow.tcp { offered.tcp.reaction.bursts != Bursts::NONE } else { offered.sockets.gso > 1 };
    let Some(first) = port.edge.first().filter(|_| bursts && !(port.nodes.is_empty() && drop_tail)) else { return };
    let Some(section) = all.file.model.traffic.get(&offered.name) else { return };
    let message = format!("the queue of `{}` meets the segments of traffic `{}` one by one", port.name, offered.name);
    let name = &first.name;
    let label = format!("conditioner `{name}` takes bursts apart; without it a burst is one packet there, as in Linux");
    let help = "put the conditioners at the next node's port, or say `burst-segments = 1` in [tcp] if that is meant";
    problems.warn("W358", section.common.from.place, message).label(label).help(help);
}

/// W339: on average the first packet of the model comes after the end of the run.
fn silent(file: File<'_>, flow: &Flowline, problems: &mut Problems) {
    let Some((what, first)) = flow.offered.model.first_pause() else { return };
    let end = flow.offered.stop.map_or(file.model.settings.duration.ns(), |stop| stop.ns());
    let time = Span::from_ns(end.saturating_sub(flow.offered.start.ns()));
    let sources = u64::from(flow.offered.flows).max(1);
    let Some(section) = file.model.traffic.get(&flow.offered.name).filter(|_| first.ns() / sources > time.ns()) else {
        return;
    };
    let message = format!("traffic `{}` probably sends nothing", flow.offered.name);
    let label = format!("a source sends first after {first} on average; the run gives {sources} of them {time}");
    problems
        .warn("W339", section.model.place(what), message)
        .label(label)
        .help("raise `duration`, or shorten the pauses");
}

/// W340: no link on the way is slower than the sender's own port, and TCP leaves nothing waiting there.
fn own_bottleneck(all: Resolved<'_>, problems: &mut Problems) {
    let held = |flow: &&Flowline| {
        flow.offered.model.is_bulk_tcp() && flow.offered.tcp.reaction.small_queues && slowest_is_first(flow, all.links)
    };
    let mut found = tables(all.file.traffic).filter(held);
    let Some(first) = found.next() else { return };
    let Some(section) = all.file.model.traffic.get(&first.offered.name) else { return };
    let more = match found.count() {
        0 => String::new(),
        n => format!(" and of {n} more"),
    };
    let port = &all.links[first.forward[0] as usize];
    let message = format!("the bottleneck of traffic `{}`{more} is its own port `{}`", first.offered.name, port.name);
    let label = format!(
        "`small-queues` keeps packets in TCP that would wait there: delay and loss are not those of a link of {}",
        port.rate
    );
    let help = "make the host's link faster, so that the queue forms at the next node, or set small-queues = false";
    problems.warn("W340", section.common.from.place, message).label(label).help(help);
}

/// Whether all links behind the first, if there are any, are faster.
fn slowest_is_first(flow: &Flowline, links: &[plan::Link]) -> bool {
    let rates: Vec<_> =
        flow.forward.iter().map(|&link| links[link as usize].carries(flow.data, Accounting::L3)).collect();
    matches!(&rates[..], [first, rest @ ..] if rest.iter().all(|rate| rate > first))
}
