//! W361: meters and queues count more of a packet than a full link does, so that more passes it than its rate.
//!
//! A link is full if what is offered to it, after what comes before on its way, is its rate or more, and nothing at its own port
//! holds it back. Traffic that a conditioner may drop counts as nothing.
//!
//! Decision: docs/decisions/021-accounting-is-stated.md

use super::starving::mean_rate;
use crate::resolve::held::holds_itself;
use crate::resolve::offered::Flowline;
use crate::resolve::ports::Resolved;
use perhop_core::accounting::Accounting;
use perhop_core::params::Problems;
use perhop_core::port::edge::Action;
use perhop_core::units::{BitRate, Span, counted};
use perhop_sim::traffic::TrafficModel as _;
use std::collections::BTreeMap;

/// Looks at all links that state no framing.
pub fn check(all: Resolved<'_>, problems: &mut Problems) {
    let accounting = all.file.model.settings.accounting;
    if accounting == Accounting::L3 {
        return;
    }
    let silent = (0..all.links.len()).filter(|&link| all.file.topology.links[link].framing.is_none());
    let full: Vec<_> = silent.filter_map(|link| Full::of(all, link)).collect();
    let Some(first) = full.first() else { return };
    let mut places: Vec<_> = full.iter().map(|it| all.file.topology.links[it.link].rate.place.start).collect();
    places.sort_unstable();
    places.dedup();
    first.warn(all, places.len() - 1, problems);
}

/// A link that is full, and the IP length of packets on it.
struct Full {
    link: usize,
    length: u32,
}

impl Full {
    fn of(all: Resolved<'_>, link: usize) -> Option<Self> {
        let it = &all.links[link];
        if holds_itself(it) {
            return None;
        }
        let polices =
            |i: usize| all.stages.iter().any(|stage| stage.takes_data(i) && stage.spec.actions.contains(&Action::Drop));
        let free = all.file.crossing.data(link).filter(|&i| !polices(i)).map(|i| &all.file.traffic[i]);
        let mut before = BTreeMap::<Option<u32>, (f64, u32)>::new();
        for flow in free {
            let way = Way { all, flow, link: link as u32 };
            let (load, length) = before.entry(way.before()).or_default();
            *load += way.load();
            *length = (*length).max(flow.data);
        }
        let passes = |(from, (load, length)): (&Option<u32>, &(f64, u32))| {
            from.map_or(*load, |from| load.min(way_in(all, from, *length)))
        };
        let load: f64 = before.iter().map(passes).sum();
        let length = before.values().map(|it| it.1).max()?;
        (load >= it.rate.bit_s() as f64).then_some(Self { link, length })
    }

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

/// A traffic on its way over a link.
struct Way<'a> {
    all: Resolved<'a>,
    flow: &'a Flowline,
    link: u32,
}

impl Way<'_> {
    /// The link before.
    fn before(&self) -> Option<u32> {
        let place = self.flow.forward.iter().position(|&link| link == self.link)?;
        Some(self.flow.forward[place.checked_sub(1)?])
    }

    /// What it brings to the link, bit/s of IP packets: what it offers, or what the narrowest other link leaves of that. TCP
    /// sends no more than later links take, either.
    fn load(&self) -> f64 {
        let flow = self.flow;
        let ends = flow.backward.is_empty();
        let earlier = flow.forward.iter().take_while(|&&link| link != self.link);
        let others: Vec<_> =
            if ends { earlier.collect() } else { flow.forward.iter().filter(|&&link| link != self.link).collect() };
        let narrowest = others.into_iter().map(|&link| way_in(self.all, link, flow.data));
        narrowest.fold(self.offered(), f64::min)
    }

    /// What it would send if all links were wide.
    fn offered(&self) -> f64 {
        let flow = self.flow;
        let senders = flow.offered.from.len().max(1) as f64;
        if !flow.offered.model.is_endless() {
            return mean_rate(flow).unwrap_or_default() / senders;
        }
        let rtt = flow.base_rtt(self.all.links).unwrap_or(Span::ZERO).seconds().max(1e-9);
        let tcp = &flow.offered.tcp;
        let window = f64::from(tcp.window) * f64::from(flow.data) * 8.0;
        let window = if flow.tcp { window } else { f64::INFINITY };
        f64::from(flow.offered.flows) * window / rtt / senders
    }
}

/// What a link brings of packets of a length, bit/s of IP.
fn way_in(all: Resolved<'_>, link: u32, length: u32) -> f64 {
    all.links[link as usize].carries(length, Accounting::L3).bit_s() as f64
}

/// To three digits.
fn about(rate: BitRate) -> BitRate {
    let unit = 10u64.pow(rate.bit_s().max(1).ilog10().saturating_sub(2));
    BitRate::bps((rate.bit_s() + unit / 2) / unit * unit)
}
