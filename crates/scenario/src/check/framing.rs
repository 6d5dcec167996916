//! W361: meters and queues count more of a packet than a full link does, so that more passes it than its rate.
//!
//! A link is full if what is offered to it is its rate or more, and nothing at its own port holds it back. Of the other links on the
//! way of a traffic the narrowest counts, with what its queues hold the traffic to: of TCP all links, of datagrams those before.
//! Traffic that a conditioner may drop counts as nothing.
//!
//! Decision: docs/decisions/021-accounting-is-stated.md

use super::starving::mean_rate;
use crate::resolve::held::{holds_itself, most};
use crate::resolve::offered::Flowline;
use crate::resolve::ports::Resolved;
use crate::resolve::reaching;
use perhop_core::accounting::Accounting;
use perhop_core::params::Problems;
use perhop_core::port::edge::Action;
use perhop_core::units::{BitRate, Span, counted};
use perhop_sim::traffic::TrafficModel as _;
use std::collections::BTreeMap;

/// Looks at all links that state no framing.
pub fn check(all: Resolved<'_>, problems: &mut Problems) {
    if all.file.model.settings.accounting == Accounting::L3 {
        return;
    }
    let (network, links) = (Network::new(all), &all.file.topology.links);
    let silent = (0..all.links.len()).filter(|&link| links[link].framing.is_none());
    let full: Vec<_> = silent.filter_map(|link| network.full(link)).collect();
    let Some(first) = full.first() else { return };
    let mut places: Vec<_> = full.iter().map(|it| links[it.link].rate.place.start).collect();
    places.sort_unstable();
    places.dedup();
    first.warn(all, places.len() - 1, problems);
}

/// All links, and what they pass of each traffic.
struct Network<'a> {
    all: Resolved<'a>,
    /// By link and traffic: the least rate of the shapers and classes that its data passes there.
    bounds: Vec<BTreeMap<usize, BitRate>>,
}

impl<'a> Network<'a> {
    fn new(all: Resolved<'a>) -> Self {
        let links = all.file.topology.links.iter().zip(&all.arrivals.queues);
        let bounds = links.map(|(direction, arriving)| {
            let mut bounds = BTreeMap::<usize, BitRate>::new();
            let nodes = if direction.nodes.is_empty() { Vec::new() } else { reaching::at_nodes(direction, arriving) };
            for (node, comes) in direction.nodes.iter().zip(&nodes) {
                for it in comes.iter().filter(|it| !it.acks) {
                    let least = bounds.entry(it.traffic).or_insert(node.bound);
                    *least = node.bound.min(*least);
                }
            }
            bounds
        });
        Self { all, bounds: bounds.collect() }
    }

    /// A link, if it is full, with the IP length of the largest packets on it.
    fn full(&self, link: usize) -> Option<Full> {
        let it = &self.all.links[link];
        if holds_itself(it) {
            return None;
        }
        let stages = self.all.stages;
        let polices =
            |i: usize| stages.iter().any(|stage| stage.takes_data(i) && stage.spec.actions.contains(&Action::Drop));
        // By the narrowest other link: what it passes of them, and what they offer.
        let mut groups = BTreeMap::<Option<u32>, [f64; 2]>::new();
        let free: Vec<_> = self.all.file.crossing.data(link).filter(|&i| !polices(i)).collect();
        for &i in &free {
            let narrowest = self.narrowest(i, link as u32);
            let passes = narrowest.map_or(f64::INFINITY, |other| other.1);
            let [most, offered] = groups.entry(narrowest.map(|other| other.0)).or_default();
            *most = passes.max(*most);
            *offered += self.offered(&self.all.file.traffic[i]);
        }
        let load: f64 = groups.values().map(|[most, offered]| offered.min(*most)).sum();
        let (length, rate) = (free.iter().map(|&i| self.all.file.traffic[i].data).max()?, it.rate.bit_s() as f64);
        // All of it comes through a link that is no wider: that one is full.
        let held = groups.len() == 1 && groups.values().all(|[most, _]| *most <= rate);
        (load >= rate && !held).then_some(Full { link, length })
    }

    /// The narrowest of the other links that hold a traffic back, and what it passes, bit/s of IP packets.
    fn narrowest(&self, traffic: usize, link: u32) -> Option<(u32, f64)> {
        let flow = &self.all.file.traffic[traffic];
        let place = flow.forward.iter().position(|&it| it == link)?;
        // What comes back slows a sender to the rate of later links, too.
        let held = if flow.backward.is_empty() { &flow.forward[..place] } else { &flow.forward[..] };
        let others = held.iter().enumerate().filter(|&(_, &it)| it != link);
        // Of two that are as narrow the first is full.
        let passes = |(at, &it): (usize, &u32)| {
            let passes = self.passes(it as usize, traffic);
            (it, if at > place { passes.next_up() } else { passes })
        };
        others.map(passes).min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// What a link passes of a traffic, bit/s of IP packets.
    fn passes(&self, link: usize, traffic: usize) -> f64 {
        let (it, data) = (&self.all.links[link], self.all.file.traffic[traffic].data);
        let overhead = self.all.file.model.settings.accounting.overhead();
        let of_ip = |rate: BitRate| rate.bit_s() as f64 * f64::from(data) / f64::from(data + overhead);
        let root = it.nodes.first();
        let shaper = root.and_then(|root| root.shaper.as_ref()).map(|shaper| shaper.rate);
        let bound = self.bounds[link].get(&traffic).copied().filter(|bound| *bound < it.rate);
        let held = [shaper, root.and_then(most), bound].into_iter().flatten().map(of_ip);
        held.fold(it.carries(data, Accounting::L3).bit_s() as f64, f64::min)
    }

    /// What a traffic would send if all links were wide, bit/s.
    fn offered(&self, flow: &Flowline) -> f64 {
        let senders = flow.offered.from.len().max(1) as f64;
        if !flow.offered.model.is_endless() {
            return mean_rate(flow).unwrap_or_default() / senders;
        }
        let rtt = flow.base_rtt(self.all.links).unwrap_or(Span::ZERO).seconds().max(1e-9);
        let window = f64::from(flow.offered.tcp.window) * f64::from(flow.data) * 8.0;
        let window = if flow.tcp { window } else { f64::INFINITY };
        f64::from(flow.offered.flows) * window / rtt / senders
    }
}

/// A link that is full, and the IP length of packets on it.
struct Full {
    link: usize,
    length: u32,
}

impl Full {
    fn warn(&self, all: Resolved<'_>, more: usize, problems: &mut Problems) {
        let (link, accounting) = (&all.links[self.link], all.file.model.settings.accounting);
        let (name, rate, most) = (accounting.name(), link.rate, link.carries(self.length, accounting));
        let message =
            format!("{} of \"{name}\" pass `{}` of {rate}, which states no `framing`", about(most), link.name);
        let others = match more {
            0 => String::new(),
            n => format!("; {} more", counted(n as u64, ["link", "links"])),
        };
        let counts = self.length + accounting.overhead();
        let length = self.length;
        let label = format!(
            "the rate counts {length}B of a packet of {length}B, `accounting = \"{name}\"` counts {counts}B{others}"
        );
        let help = format!(
            "write `framing = \"{name}\"` beside this rate if it counts the same bytes, or `framing = \"l3\"` if IP packets are meant"
        );
        let place = all.file.topology.links[self.link].rate.place;
        problems.warn("W361", place, message).label(label).help(help);
    }
}

/// To three digits.
fn about(rate: BitRate) -> BitRate {
    let unit = 10u64.pow(rate.bit_s().max(1).ilog10().saturating_sub(2));
    BitRate::bps((rate.bit_s() + unit / 2) / unit * unit)
}
