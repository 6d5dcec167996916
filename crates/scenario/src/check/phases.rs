//! W344: bulk TCP that meets in a drop-tail, with round trips that differ by whole multiples of a packet's time and nothing
//! random on the way: which packet finds the queue full is decided by phases that the delays in the file set.
//!
//! Source: S. Floyd, V. Jacobson, "Traffic Phase Effects in Packet-Switched Gateways", 1991. Measured here, with CUBIC of 10, 40 and
//! 90 ms at 30 Mbit/s: within 2 % of a packet's time of a multiple, 4 us of delay turn 16.8, 8.3 and 3.7 Mbit/s into 14.1, 9.9
//! and 4.8; 48 flows move as 6 do. Behind a policer, which has no departures, shares do not depend on phases.
//!
//! Decision: docs/decisions/039-hosts-take-time.md

use super::starving;
use crate::resolve::offered::Flowline;
use crate::resolve::ports::Resolved;
use crate::resolve::topology::Direction;
use perhop_core::accounting::Accounting;
use perhop_core::aqm::AqmParams;
use perhop_core::params::Problems;
use perhop_core::port::Limit;
use perhop_core::units::{BitRate, NS_PER_S, Probability, Span};
use perhop_sim::plan;
use perhop_sim::traffic::TrafficModel as _;
use perhop_sim::transport::CongestionLaw as _;
use std::collections::BTreeSet;

/// More flows than these mix their phases.
const MOST_FLOWS: u32 = 50;
/// By what part of a packet's time a difference of round trips may miss a multiple.
const NEAR: f64 = 0.02;

/// Warns at every such port.
pub fn check(all: Resolved<'_>, problems: &mut Problems) {
    let dropped = starving::dropped(all);
    for (index, direction) in all.file.topology.links.iter().enumerate() {
        if let Some(slots) = Slots::of(all, index, &dropped)
            && let Some([one, other]) = slots.in_phase(all.links)
        {
            warn(direction, slots.time(), [one, other], problems);
        }
    }
}

fn warn(direction: &Direction, time: Span, [one, other]: [&Flowline; 2], problems: &mut Problems) {
    let (a, b, port) = (&one.offered.name, &other.offered.name, &direction.name);
    let message = format!("round trips of `{a}` and `{b}` differ by whole multiples of a packet's time at `{port}`");
    let label =
        format!("a packet takes {time}; in every replication the phases decide whose packets find the queue full");
    let help = format!(
        "write `overhead = \"{time}\"` in the [tcp] of these flows: hosts then answer an ACK after a random time; docs/reports/studies/redp.md has a map of phases"
    );
    problems.warn("W344", direction.rate.place, message).label(label).help(help);
}

/// A drop-tail in which few flows meet, and no others.
struct Slots<'a> {
    flows: Vec<&'a Flowline>,
    /// In bytes of IP packets.
    rate: BitRate,
}

impl<'a> Slots<'a> {
    /// `None` where something is random, or another port is as narrow.
    fn of(all: Resolved<'a>, index: usize, dropped: &BTreeSet<usize>) -> Option<Self> {
        let link = &all.links[index];
        let over: Vec<_> = all.file.crossing.either(index).collect();
        let flows: Vec<_> = over.iter().map(|&(i, _)| &all.file.traffic[i]).collect();
        let data = flows.first()?.data;
        let rate = departures(link, data)?;
        let alone =
            over.iter().all(|&(i, data)| data && !dropped.contains(&i)) && flows.iter().all(|flow| is_bulk(flow));
        let steady = |flow: &&Flowline| {
            let narrow =
                |it: &u32| *it as usize != index && all.links[*it as usize].carries(data, Accounting::L3) <= rate;
            let mut way = flow.forward.iter().chain(&flow.backward);
            !flow.forward.iter().any(narrow) && way.all(|&it| is_steady(&all.links[it as usize]))
        };
        let same = flows.windows(2).all(|pair| pair[0].data == pair[1].data);
        let it = Self { flows, rate };
        (alone && same && it.flows.iter().all(steady) && it.fills(link)).then_some(it)
    }

    /// Whether few flows can fill the queue.
    fn fills(&self, link: &plan::Link) -> bool {
        let sum = |of: fn(&Flowline) -> u64| self.flows.iter().map(|flow| of(flow)).sum::<u64>();
        let windows = sum(|flow| u64::from(flow.offered.flows) * u64::from(flow.offered.tcp.window));
        let limit = match link.queues[0].limit {
            Limit::Packets(packets) => u64::from(packets),
            Limit::Bytes(bytes) => bytes / u64::from(self.flows.first().map_or(1, |flow| flow.data)),
        };
        let flows = sum(|flow| u64::from(flow.offered.flows));
        (2..=u64::from(MOST_FLOWS)).contains(&flows) && windows > limit
    }

    /// What a packet takes.
    fn time(&self) -> Span {
        let bits = 8 * u64::from(self.flows[0].data);
        Span::from_ns(bits * NS_PER_S / self.rate.bit_s().max(1))
    }

    /// Two with different round trips that are in phase.
    fn in_phase(&self, links: &[plan::Link]) -> Option<[&'a Flowline; 2]> {
        let time = self.time().ns();
        let trips: Vec<_> = self.flows.iter().filter_map(|&flow| Some((flow, flow.base_rtt(links)?.ns()))).collect();
        let pairs = trips.iter().enumerate().flat_map(|(i, one)| trips[i + 1..].iter().map(move |other| (one, other)));
        let in_phase = |a: u64, b: u64| {
            let rest = a.abs_diff(b) % time.max(1);
            a != b && (rest.min(time - rest) as f64) <= NEAR * time as f64
        };
        pairs.into_iter().find(|(one, other)| in_phase(one.1, other.1)).map(|(one, other)| [one.0, other.0])
    }
}

/// The rate of a port with one queue, which is a drop-tail, for packets of this many bytes of IP.
fn departures(link: &plan::Link, data: u32) -> Option<BitRate> {
    let [queue] = &link.queues[..] else { return None };
    let shaped = link.nodes.iter().filter_map(|node| Some(node.shaper.as_ref()?.rate)).min();
    let line = link.carries(data, Accounting::L3);
    matches!(queue.aqm, AqmParams::DropTail(_)).then(|| shaped.map_or(line, |rate| rate.min(line)))
}

/// Whether all packets take the same time on its wire.
fn is_steady(link: &plan::Link) -> bool {
    !link.transit.varies() && link.transit.reorder == Probability::ZERO && link.loss == Probability::ZERO
}

/// Bulk TCP that sends when an ACK comes.
fn is_bulk(flow: &Flowline) -> bool {
    let tcp = &flow.offered.tcp;
    flow.offered.model.is_bulk_tcp()
        && tcp.reaction.overhead.is_none()
        && !tcp.congestion.paces()
        && !tcp.reaction.pacing.paces()
}
