//! W356: an ACK filter that finds no ACK.

use crate::resolve::indexed::Indexed;
use crate::resolve::ports::File;
use perhop_core::params::Problems;
use perhop_core::sched::SchedulerParams;
use perhop_core::sched::cake::AckFilter;
use perhop_sim::plan;

/// Looks at each CAKE of a link that filters ACKs.
pub fn check(file: File<'_>, at: Indexed<'_, plan::Link>, problems: &mut Problems) {
    let stated = at.it.nodes.iter().zip(&file.topology.links[at.index].nodes);
    let filters = stated.filter(
        |(node, _)| matches!(node.scheduler(), Some(SchedulerParams::Cake(cake)) if cake.ack_filter != AckFilter::Off),
    );
    for stated in filters.filter_map(|(_, stated)| stated.scheduler.as_ref()) {
        let Some(why) = none(file, at.index).filter(|_| file.is_whole()) else { return };
        let message = format!("`ack-filter` at `{}` drops nothing: {why}", at.it.name);
        let help = "remove `ack-filter`, or filter where the ACKs of TCP pass, mostly at the slow end of the uplink";
        problems.warn("W356", stated.place("ack-filter"), message).help(help);
    }
}

/// Why no ACK is ever dropped at a link; `None` if ACKs of TCP pass it.
fn none(file: File<'_>, link: usize) -> Option<&'static str> {
    if file.model.traffic.declared().is_empty() {
        return Some("TCP options are not read in captures");
    }
    let over = |wanted: fn(bool) -> bool| {
        file.traffic.iter().any(|flow| wanted(flow.tcp) && flow.backward.contains(&(link as u32)))
    };
    match (over(|tcp| tcp), over(|tcp| !tcp)) {
        (true, _) => None,
        (false, true) => Some("only ACKs of QUIC pass, which are encrypted"),
        (false, false) => Some("no ACKs pass"),
    }
}
