//! Labels along each traffic's path: who writes them, who reads them, and whether ACKs carry theirs back by the same
//! route.
//!
//! Decision: docs/decisions/005-labels-have-kinds.md

use super::tickets;
use crate::resolve::indexed::{Indexed, indexed};
use crate::resolve::offered::Flowline;
use crate::resolve::ports::{File, Resolved, Stage, at_links};
use perhop_core::aqm::Aqm as _;
use perhop_core::conditioner::Writes;
use perhop_core::needs::Needs;
use perhop_core::params::{Place, Problems};
use perhop_sim::plan;
use std::collections::BTreeSet;

/// The suggested fix if nothing writes a label.
pub(crate) const fn writer_of(label: Writes) -> &'static str {
    match label {
        Writes::Colour | Writes::Rate => {
            "put a conditioner that writes rates (kind = \"rate-labeller\", per = \"flow\") upstream of it"
        }
        Writes::Tickets => {
            "put a conditioner that writes tickets (kind = \"pps-tagger\", per = \"flow\") upstream of it"
        }
        Writes::AckTickets => {
            "put a conditioner that writes them (kind = \"pps-ack-tagger\", per = \"flow\") at the port where the ACKs start"
        }
    }
}

/// Whether a reader says itself, by `untagged`, what becomes of packets without this label: W332, not E236.
pub(crate) const fn does_without(read: Writes, rewrites: bool) -> bool {
    matches!(read, Writes::Tickets) || matches!(read, Writes::AckTickets) && rewrites
}

/// What W312 and W332 say of packets without tickets.
const UNTAGGED: &str = "`untagged` decides about such packets";

/// A reader of what nothing has written.
pub(crate) struct Unwritten {
    pub(crate) place: Option<Place>,
    /// As [`does_without`] has it.
    pub(crate) does_without: bool,
    pub(crate) message: String,
}

impl Unwritten {
    /// W332 if it does without, else E236; `fix` names a writer.
    pub(crate) fn report(self, fix: &str, problems: &mut Problems) {
        if self.does_without {
            problems.warn("W332", self.place, self.message).help(format!("{UNTAGGED}; or {fix}"));
        } else {
            problems.error("E236", self.place, self.message).help(fix);
        }
    }
}

/// Checks the whole file: one writer, no reader before it, ACKs on the route of their data.
pub fn check(all: Resolved<'_>, problems: &mut Problems) {
    let Resolved { file, stages, links, .. } = all;
    if !file.knows_conditioners() || stages.iter().any(|s| s.writes.is_none()) {
        return;
    }
    let mut arriving = vec![Vec::new(); links.len()];
    // What only meters concerns no label.
    let concerned =
        |stage: &Stage| stage.reads.is_some() || stage.writes.map(Writes::field) == Some(Writes::Rate.field());
    let concerned = if stages.iter().any(concerned) { stages } else { &[] };
    let at = at_links(concerned, links.len());
    let labelled = labelled(file, &at);
    for Indexed { index, it: flow } in indexed(file.traffic) {
        let mut walk = Walk { file, flow, writer: None, labelled: &labelled, problems };
        for &link in &flow.forward {
            let link = link as usize;
            let here = taking(&at[link], index);
            walk.order(&here);
            let (departing, before): (Vec<_>, Vec<_>) = here.into_iter().partition(|s| at_departure(s));
            before.into_iter().for_each(|stage| walk.pass(stage));
            arriving[link].push((index, walk.writer));
            departing.into_iter().for_each(|stage| walk.pass(stage));
        }
        acks(file, Indexed { index, it: flow }, &at, problems);
    }
    if !problems.has_errors() {
        tickets::check(all, problems);
    }
    for link in indexed(links) {
        queues(file, link, &arriving[link.index], problems);
    }
}

fn at_departure(stage: &Stage) -> bool {
    stage.needs(Needs::DEPARTURES)
}

/// The route of one traffic's data, with the last writer of its label.
struct Walk<'a, 'p> {
    file: File<'a>,
    flow: &'a Flowline,
    writer: Option<&'a Stage>,
    /// Links that some traffic reaches with tickets.
    labelled: &'a BTreeSet<usize>,
    problems: &'p mut Problems,
}

impl<'a> Walk<'a, '_> {
    /// W315: an exchange of tickets in both directions that comes before the tagger at its port counts untagged
    /// packets.
    fn order(&mut self, here: &[&Stage]) {
        let Some(tagger) = here.iter().position(|s| s.writes == Some(Writes::Tickets) && !s.rewrites) else { return };
        let exchange = |s: &&&Stage| s.writes == Some(Writes::AckTickets) && s.rewrites;
        if let Some(first) = here[..tagger].iter().find(exchange) {
            let message = format!("`{}` comes before `{}` at their port", first.name, here[tagger].name);
            let label = "the relabeller sees packets before they are tagged";
            let place = first.keys.kind;
            self.problems
                .warn("W315", place, message)
                .label(label)
                .help("put the tagger's section first: conditioners act in the order of the file");
        }
    }

    fn pass(&mut self, stage: &'a Stage) {
        let (Some(writes), reads) = (stage.writes, stage.reads) else { return };
        if let Some(read) = reads.filter(|read| read.field() == Writes::Rate.field())
            && let Some(lack) = lack(read, self.writer)
        {
            self.lacks(stage, read, &lack);
        }
        if writes.field() != Writes::Rate.field() {
            return;
        }
        if !stage.rewrites
            && let Some(first) = self.writer
        {
            let message = format!("second writer of labels on the path of traffic `{}`", self.flow.offered.name);
            let port = &self.file.topology.links[first.link].name;
            let label = format!("`{}` at {port} writes them first", first.name);
            let help = "remove one of them: a label has one writer on a path";
            let place = stage.keys.kind;
            self.problems.error("E237", place, message).label(label).help(help);
        }
        self.writer = self.writer.or(Some(stage));
    }
}

/// Packets that come to a reader without what it reads: an error, unless it can do without.
impl Walk<'_, '_> {
    fn lacks(&mut self, stage: &Stage, read: Writes, lack: &str) {
        let place = stage.keys.kind;
        let (kind, traffic) = (stage.spec.params.name(), &self.flow.offered.name);
        let message = format!("kind \"{kind}\" reads {}, and traffic `{traffic}` arrives {lack}", read.noun());
        let does_without = does_without(read, stage.rewrites);
        if does_without && self.labelled.contains(&stage.link) {
            self.problems.warn("W312", place, message).help(UNTAGGED);
        } else {
            Unwritten { place: Some(place), does_without, message }.report(writer_of(read), self.problems);
        }
    }
}

/// The links that some traffic reaches with tickets.
fn labelled(file: File<'_>, at: &[Vec<&Stage>]) -> BTreeSet<usize> {
    let mut links = BTreeSet::new();
    for (i, flow) in file.traffic.iter().enumerate() {
        let tags = |s: &&Stage| s.writes == Some(Writes::Tickets) && !s.rewrites && s.takes_data(i);
        if let Some(first) = flow.forward.iter().position(|&link| at[link as usize].iter().any(tags)) {
            links.extend(flow.forward[first..].iter().map(|&link| link as usize));
        }
    }
    links
}

/// What is wrong with a label that `writer` wrote and that is read as `read`.
fn lack(read: Writes, writer: Option<&Stage>) -> Option<String> {
    match writer.and_then(|w| w.writes) {
        None => Some("without".into()),
        Some(written) if written != read => Some(format!("with {}", written.noun())),
        Some(_) => None,
    }
}

/// Those stages of a port that get a traffic's packets: of those that write the same, the first.
fn taking<'a>(here: &[&'a Stage], traffic: usize) -> Vec<&'a Stage> {
    let mut written = Vec::new();
    let here = here.iter().copied().filter(|s| s.takes_data(traffic));
    here.filter(|s| {
        let field = s.writes.map(Writes::field);
        let first = s.rewrites || !written.contains(&field);
        if !s.rewrites && s.spec.matches.dscp.is_empty() {
            written.push(field);
        }
        first
    })
    .collect()
}

/// Index of a traffic that reaches a queue, and the conditioner that writes its labels.
type Arriving<'a> = (usize, Option<&'a Stage>);

/// Queues whose AQM reads labels: an error (of TRED a warning) if none of the link's traffic has them, a warning if some has
/// not. Which traffic reaches which class of a scheduler is not known here, so only the first is reported there.
fn queues(file: File<'_>, at: Indexed<'_, plan::Link>, arriving: &[Arriving<'_>], problems: &mut Problems) {
    let Indexed { index, it: link } = at;
    for (queue, stated) in link.queues.iter().zip(&file.topology.links[index].queues) {
        let Some(read) = queue.aqm.build(&queue.scope).ok().and_then(|aqm| aqm.reads()) else { continue };
        let lacking = |(traffic, writer): &Arriving<'_>| Some((*traffic, lack(read, *writer)?));
        let without: Vec<_> = arriving.iter().filter_map(lacking).collect();
        let Some((traffic, lack)) = without.first() else { continue };
        let place = stated.place("aqm");
        let name = &file.traffic[*traffic].offered.name;
        let others = if without.len() > 1 { format!(" and {} more", without.len() - 1) } else { String::new() };
        let (aqm, noun) = (queue.aqm.name(), read.noun());
        let message =
            format!("aqm \"{aqm}\" of link `{}` reads {noun}, and traffic `{name}`{others} arrives {lack}", link.name);
        let does_without = does_without(read, false);
        if without.len() == arriving.len() {
            Unwritten { place: Some(place), does_without, message }.report(writer_of(read), problems);
        } else if link.scheduler().is_none() {
            let help = if does_without { UNTAGGED } else { "the algorithm decides on such packets without a label" };
            problems.warn("W312", place, message).help(help);
        }
    }
}

/// Tickets on ACKs: written where the ACKs start, and carried back over the links of the data.
fn acks(file: File<'_>, of: Indexed<'_, Flowline>, at: &[Vec<&Stage>], problems: &mut Problems) {
    let Indexed { index: i, it: flow } = of;
    let over = |way: &'_ [u32]| way.iter().flat_map(|&link| at[link as usize].iter().copied()).collect::<Vec<_>>();
    let mut readers = over(&flow.forward);
    readers.retain(|s| s.reads == Some(Writes::AckTickets) && s.takes_data(i));
    let Some(reader) = readers.iter().min_by_key(|stage| stage.number()) else { return };
    let place = reader.keys.kind;
    let (kind, traffic) = (reader.spec.params.name(), &flow.offered.name);
    // A source that lives on its ACKs' tickets is worse off without than an exchange.
    let needy = readers.iter().min_by_key(|stage| (stage.rewrites, stage.number())).unwrap_or(reader);
    let writes = |s: &Stage| s.writes == Some(Writes::AckTickets) && !s.rewrites && s.takes_acks_of(i);
    if !over(&flow.backward).into_iter().any(writes) {
        let (place, kind) = (Some(needy.keys.kind), needy.spec.params.name());
        let message = format!("kind \"{kind}\" reads tickets on ACKs, and those of traffic `{traffic}` arrive without");
        let does_without = does_without(Writes::AckTickets, needy.rewrites);
        Unwritten { place, does_without, message }.report(writer_of(Writes::AckTickets), problems);
    }
    let ends = |&link: &u32| (file.topology.links[link as usize].from, file.topology.links[link as usize].to);
    let out: Vec<_> = flow.forward.iter().map(ends).collect();
    let back: Vec<_> = flow.backward.iter().rev().map(ends).map(|(from, to)| (to, from)).collect();
    if out != back {
        let name = |way: &[(usize, usize)]| {
            let nodes = way.iter().map(|w| w.0).chain(way.last().map(|w| w.1));
            nodes.map(|n| file.topology.nodes[n].name.as_str()).collect::<Vec<_>>().join(" - ")
        };
        let message = format!(
            "kind \"{kind}\" needs ACKs to return by the route of their data, and those of traffic \
                `{traffic}` do not"
        );
        let label = format!("data goes over {}, ACKs return over {}", name(&out), name(&back));
        let help = "make both routes the same (delays, links of `[links]`), or use the sender-based scheme (`tickets` \
            at the pps-tagger)";
        problems.error("E251", place, message).label(label).help(help);
    }
}
