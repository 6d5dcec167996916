//! Tickets of PPS along their routes: loops of currencies, and packets that would carry more or fewer tickets than a
//! tag can hold.
//!
//! What a source may expect follows from the contracts: its tickets, exchanged at each relabeller, over all tickets at
//! each link are its share of that link. Its rate is assumed to be the least of its shares.
//!
//! Decision: docs/decisions/008-pps-contracts-and-currencies.md

use crate::resolve::indexed::{Indexed, indexed};
use crate::resolve::offered::Flowline;
use crate::resolve::ports::{File, Resolved, Stage, parameter};
use perhop_core::accounting::Accounting;
use perhop_core::conditioner::pps::tags::{Scale, Tags};
use perhop_core::conditioner::{Conditioner as _, Writes};
use perhop_core::math::decade;
use perhop_core::needs::Needs;
use perhop_core::params::Problems;
use perhop_core::port::edge::Per;
use perhop_core::units::{BitRate, TicketRate};
use perhop_sim::plan;

/// All checks of tickets; the labels are in order.
pub fn check(all: Resolved<'_>, problems: &mut Problems) {
    let Resolved { file, stages, links, .. } = all;
    let tickets = |stage: &&Stage| matches!(stage.writes, Some(Writes::Tickets | Writes::AckTickets));
    let stations: Vec<_> = stages.iter().filter(tickets).collect();
    let ways: Vec<_> = indexed(file.traffic).map(|flow| way(&stations, flow)).collect();
    if !loops(file, &ways, problems) {
        let ledger = Ledger::new(file.traffic, &ways);
        let misfits = stages.iter().filter_map(|stage| misfit(&ledger, links, stage)).collect();
        widths(file, misfits, problems);
    }
}

/// Where one traffic's tickets are issued and exchanged, in this order.
struct Way<'a> {
    stations: Vec<&'a Stage>,
    /// Whether its tickets come from the sink.
    from_sink: bool,
}

fn way<'a>(stages: &[&'a Stage], of: Indexed<'_, Flowline>) -> Way<'a> {
    let Indexed { index: i, it: flow } = of;
    let at = |link: u32| stages.iter().copied().filter(move |s| s.link == link as usize);
    let along = |writes: Writes| {
        let taken = move |s: &&Stage| s.takes_data(i) && s.writes == Some(writes);
        flow.forward.iter().flat_map(move |&link| at(link)).filter(taken)
    };
    let data: Vec<_> = along(Writes::Tickets).skip_while(|s| s.rewrites).collect();
    if data.first().is_none_or(|tagger| tagger.reads != Some(Writes::AckTickets)) {
        return Way { stations: data, from_sink: false };
    }
    let sink = |s: &&Stage| s.takes_acks_of(i) && s.writes == Some(Writes::AckTickets) && !s.rewrites;
    let mut stations: Vec<_> = flow.backward.iter().flat_map(|&link| at(link)).filter(sink).take(1).collect();
    let relabellers: Vec<_> = along(Writes::AckTickets).filter(|s| s.rewrites).collect();
    stations.extend(relabellers.into_iter().rev());
    Way { stations, from_sink: true }
}

/// E252: a currency whose value depends on itself. Returns whether there is one.
fn loops(file: File<'_>, ways: &[Way<'_>], problems: &mut Problems) -> bool {
    let pairs = ways.iter().flat_map(|way| way.stations.windows(2));
    let next: Vec<_> = pairs.map(|pair| Exchange { from: pair[0], to: pair[1] }).collect();
    let found = next.iter().find_map(|one| path(&next, one.to, one.from));
    let Some(round) = found else { return false };
    let port = |stage: &Stage| format!("`{}`", file.topology.links[stage.link].name);
    let first = round[0];
    let message = format!(
        "a currency loop: {}, and again {}",
        round.iter().map(|s| port(s)).collect::<Vec<_>>().join(", "),
        port(first)
    );
    let label = "each relabeller exchanges the tickets of the one before";
    let help =
        "in a loop a currency's value depends on itself: remove one relabeller, and tickets pass its link unchanged";
    problems.error("E252", first.keys.at, message).label(label).help(help);
    true
}

/// A station that accepts the tickets of the one before it.
struct Exchange<'a> {
    from: &'a Stage,
    to: &'a Stage,
}

/// The stations from one to another, both included.
fn path<'a>(next: &[Exchange<'a>], from: &'a Stage, to: &'a Stage) -> Option<Vec<&'a Stage>> {
    let mut seen = vec![from];
    let mut open = vec![vec![from]];
    while let Some(way) = open.pop() {
        let last = way[way.len() - 1];
        if std::ptr::eq(last, to) {
            return Some(way);
        }
        for stage in next.iter().filter(|n| std::ptr::eq(n.from, last)).map(|n| n.to) {
            if !seen.iter().any(|s| std::ptr::eq(*s, stage)) {
                seen.push(stage);
                open.push(way.iter().copied().chain([stage]).collect());
            }
        }
    }
    None
}

/// Tickets/s of one source of each traffic as each of its stations issues them.
struct Ledger<'a> {
    traffic: &'a [Flowline],
    ways: &'a [Way<'a>],
    issued: Vec<Vec<Option<f64>>>,
}

impl<'a> Ledger<'a> {
    fn new(traffic: &'a [Flowline], ways: &'a [Way<'a>]) -> Self {
        let issued = ways.iter().map(|way| vec![None; way.stations.len()]).collect();
        let mut ledger = Self { traffic, ways, issued };
        let depth = ways.iter().map(|way| way.stations.len()).max().unwrap_or_default();
        for _ in 0..depth {
            ledger.exchange();
        }
        ledger
    }

    /// Sets what follows from what is known.
    fn exchange(&mut self) {
        for i in 0..self.ways.len() {
            for k in 0..self.ways[i].stations.len() {
                self.issued[i][k] = self.issues(i, k);
            }
        }
    }

    fn issues(&self, i: usize, k: usize) -> Option<f64> {
        let station = self.ways[i].stations[k];
        let tickets = parameter::<TicketRate>(station, "tickets")?.tickets_s();
        if k == 0 {
            let sources = f64::from(self.traffic[i].offered.flows);
            return Some(if station.spec.per == Per::Flow { tickets } else { tickets / sources });
        }
        Some(self.issued[i][k - 1]? * tickets / self.incoming(station)?)
    }

    /// All tickets/s that reach a station.
    fn incoming(&self, station: &Stage) -> Option<f64> {
        let mut sum = 0.0;
        for (i, way) in self.ways.iter().enumerate() {
            if let Some(k) = way.stations.iter().position(|s| std::ptr::eq(*s, station)) {
                sum += self.issued[i][k.checked_sub(1)?]? * f64::from(self.traffic[i].offered.flows);
            }
        }
        Some(sum)
    }

    /// Tickets/s of one source in the currency that the queue of the `hop`-th link on its route compares.
    fn at_queue(&self, i: usize, hop: usize) -> Option<f64> {
        let (forward, way) = (&self.traffic[i].forward, &self.ways[i]);
        let place = |stage: &Stage| forward.iter().position(|&l| l as usize == stage.link);
        let passed = |stage: &&&Stage| match place(stage) {
            None => true,
            Some(at) if way.from_sink => at >= hop,
            Some(at) => at < hop || at == hop && !stage.needs(Needs::DEPARTURES),
        };
        let known = way.stations.iter().take_while(passed).count();
        *self.issued[i].get(known.checked_sub(1)?)?
    }

    /// Packets/s of one source: its least share of the links on its route.
    fn packets_s(&self, i: usize, links: &[plan::Link]) -> Option<f64> {
        let share = |(hop, &link): (usize, &u32)| {
            let mut all = 0.0;
            for (j, flow) in self.traffic.iter().enumerate() {
                if let Some(hop) = flow.forward.iter().position(|&l| l == link) {
                    all += self.at_queue(j, hop).unwrap_or_default() * f64::from(flow.offered.flows);
                }
            }
            let rate = links[link as usize].carries(self.traffic[i].data, Accounting::L3);
            Some(rate.bytes_s() * self.at_queue(i, hop)? / all)
        };
        let shares = self.traffic[i].forward.iter().enumerate().filter_map(share);
        let least = shares.fold(f64::INFINITY, f64::min);
        least.is_finite().then(|| least / f64::from(self.traffic[i].data))
    }
}

/// A station whose tags cannot hold what a source's packets would carry.
struct Misfit<'a> {
    stage: &'a Stage,
    tags: Tags,
    traffic: &'a str,
    /// In words, three digits.
    each: String,
    share: BitRate,
}

/// The first traffic that does not fit the tags of a station.
fn misfit<'a>(ledger: &Ledger<'a>, links: &[plan::Link], stage: &'a Stage) -> Option<Misfit<'a>> {
    let built = stage.spec.params.build(&stage.spec.scope).ok()?;
    let tags = built.tags().filter(|tags| tags.tags != Scale::Real)?;
    for (i, way) in ledger.ways.iter().enumerate() {
        let Some(k) = way.stations.iter().position(|s| std::ptr::eq(*s, stage)) else { continue };
        let (Some(issued), Some(packets_s)) = (ledger.issued[i][k], ledger.packets_s(i, links)) else { continue };
        let each = issued / packets_s;
        if !(1.0..=tags.top()).contains(&each) {
            let flow = &ledger.traffic[i];
            let share = BitRate::bps((packets_s * 8.0 * f64::from(flow.data)) as u64);
            return Some(Misfit { stage, tags: tags.clone(), traffic: &flow.offered.name, each: round(each), share });
        }
    }
    None
}

/// W313: at the rate that its contracts give a source, its packets need more tickets than a tag holds, or less than
/// one. Stations of one currency and bottleneck need the same number: they are reported once.
fn widths(file: File<'_>, mut misfits: Vec<Misfit<'_>>, problems: &mut Problems) {
    while let Some(first) = (!misfits.is_empty()).then(|| misfits.remove(0)) {
        let before = misfits.len();
        misfits.retain(|m| m.each != first.each);
        let others = match before - misfits.len() {
            0 => String::new(),
            n => format!(", and the same at {n} more places"),
        };
        let message = format!("packets of traffic `{}` would carry {} tickets each{others}", first.traffic, first.each);
        let (bits, least, top) = (first.tags.bits, first.tags.least(), first.tags.top());
        let label = format!("at its share of {}; a tag of {bits} bits holds {least} to {top}", first.share);
        let help = "issue tickets of another order of magnitude, use more `bits`, or tags = \"log\"";
        let section = file.model.conditioners.get(&first.stage.name).expect("a stage of this file");
        problems.warn("W313", section.places.at("tickets"), message).label(label).help(help);
    }
}

/// Three digits.
fn round(tickets: f64) -> String {
    let digits = (2 - decade(tickets)).max(0) as usize;
    format!("{tickets:.digits$}")
}
