//! Queues: their AQMs, limits and schedulers.
//!
//! Decision: docs/decisions/054-thresholds-that-cannot-act.md

use crate::resolve::indexed::Indexed;
use crate::resolve::ports::{self, File};
use crate::resolve::reaching::Lists;
use perhop_core::aqm::Aqm as _;
use perhop_core::params::{Places, Problems, Tree, suggest};
use perhop_core::port::Limit;
use perhop_core::sched::Scheduler as _;
use perhop_sim::plan;

/// E006, E242: names of traffic in the matches of profiles and classes.
fn check_names(file: File<'_>, shown: Vec<(&'static str, Tree)>, places: &Places, problems: &mut Problems) {
    let Some(lists) = Lists::stated(shown) else { return };
    let known = file.model.traffic.names();
    for (filter, number) in lists.filters.iter().zip(&lists.numbers) {
        let names = filter.matches.iter().flat_map(|matches| matches.traffic.iter().enumerate());
        for (i, name) in names.filter(|(_, name)| !known.contains(&name.as_str())) {
            let place = places.at(&format!("{}.{number}.match.traffic.{i}", lists.key));
            if known.is_empty() {
                ports::refuse_traffic(place, problems);
            } else {
                problems.error("E006", place, format!("unknown traffic `{name}`")).help(suggest(name, &known));
            }
        }
    }
}

/// What parameters show.
fn shown(show: impl Fn(&mut Vec<(&'static str, Tree)>)) -> Vec<(&'static str, Tree)> {
    let mut out = Vec::new();
    show(&mut out);
    out
}

/// AQMs and limits of a link's queues.
pub fn check_queues(file: File<'_>, at: Indexed<'_, plan::Link>, problems: &mut Problems) {
    let (link, direction) = (at.it, &file.topology.links[at.index]);
    let carries_data = carries_data(file, at.index);
    for (queue, stated) in link.queues.iter().zip(&direction.queues) {
        check_names(file, shown(|out| queue.aqm.show(out)), &stated.queue.aqm.places, problems);
        match queue.build() {
            Ok(aqm) if carries_data => {
                aqm.warnings(&queue.scope).iter().for_each(|w| problems.advise(w, stated.place(w.field)));
            }
            Ok(_) => {}
            Err(error) => _ = problems.param(&error, stated.place(error.field)),
        }
        if let Limit::Bytes(limit) = queue.limit
            && limit < queue.scope.largest_packet.get()
        {
            let message = format!("`limit` is {limit}B on link `{}`: smaller than one packet", link.name);
            let label = format!("the largest packet of {} is {}", queue.scope.largest_of, queue.scope.largest_packet);
            let help =
                format!("must be at least {}: a larger packet could never be queued", queue.scope.largest_packet);
            problems.error("E217", stated.place("limit"), message).label(label).help(help);
        }
    }
}

/// Whether data passes a link. Of what is replayed nothing is known: it may carry all.
pub fn carries_data(file: File<'_>, link: usize) -> bool {
    file.model.traffic.declared().is_empty() || file.crossing.data(link).next().is_some()
}

/// Its schedulers and shapers.
pub fn check_nodes(file: File<'_>, at: Indexed<'_, plan::Link>, problems: &mut Problems) {
    let carries_data = carries_data(file, at.index);
    for (node, stated) in at.it.nodes.iter().zip(&file.topology.links[at.index].nodes) {
        if let (Some(params), Some(stated)) = (node.scheduler(), &stated.scheduler) {
            check_names(file, shown(|out| params.show(out)), &stated.places, problems);
            match params.build(&node.scope) {
                Ok(scheduler) if carries_data => {
                    scheduler.warnings().iter().for_each(|w| problems.advise(w, stated.place(w.field)));
                }
                Ok(_) => {}
                Err(error) => _ = problems.param(&error, stated.place(error.field)),
            }
        }
        if let (Some(params), Some(stated)) = (&node.shaper, &stated.shaper)
            && let Err(error) = params.build(&node.scope)
        {
            problems.param(&error, stated.place(error.field));
        }
    }
}
