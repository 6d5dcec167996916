//! PPS's taggers and relabellers from the specification, sections 1.2 to 1.8: whole histories, nothing kept that a list
//! of events can tell.

use super::Oracle;
use super::tags::Tags;
use perhop_core::conditioner::pps::Untagged;
use perhop_core::conditioner::pps::first_tag::FirstTag;
use perhop_core::conditioner::pps::issuer::{Issuing, Policing, Scarce};
use perhop_core::conditioner::pps_ack_relabeller::Exchange;
use perhop_core::conditioner::pps_relabeller::{Measure, Moment};
use perhop_core::conditioner::pps_tagger::{RateOf, Unit};
use perhop_core::conditioner::{pps_ack_relabeller, pps_ack_tagger, pps_relabeller, pps_tagger};
use perhop_core::packet::{Packet, flags};
use perhop_core::units::Span;
use std::collections::BTreeMap;

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// Tickets of a packet or ACK; anything but a number from 0 counts as none.
fn carried(label: Option<f32>) -> Option<f64> {
    label.map(f64::from).filter(|g| *g >= 0.0 && g.is_finite())
}

/// A segment without data: tickets on it are those of the ACK.
fn only_acknowledges(packet: &Packet) -> bool {
    packet.payload == 0 && packet.flags & flags::ACK != 0
}

/// What `untagged` says of data without tickets; counts them unless they pass.
struct Gate {
    untagged: Untagged,
    fewest: f64,
    met: u64,
    shut: bool,
}

impl Gate {
    fn new(untagged: Untagged, fewest: f64) -> Self {
        Self { untagged, fewest, met: 0, shut: false }
    }

    fn arrives(&mut self, packet: &Packet) {
        let without = carried(packet.label()).is_none() && !only_acknowledges(packet);
        self.met += u64::from(without && self.untagged != Untagged::Pass);
        self.shut = without && self.untagged == Untagged::Drop;
    }

    fn tickets(&self, packet: &Packet) -> Option<f64> {
        let least = self.untagged == Untagged::Least && !only_acknowledges(packet);
        carried(packet.label()).or(if least { Some(self.fewest) } else { None })
    }

    fn tally(&self) -> Option<(&'static str, u64)> {
        (self.untagged != Untagged::Pass).then_some(("untagged_packets", self.met))
    }
}

/// Section 1.2: all events, with their amounts.
struct History {
    window: f64,
    warm: Option<f64>,
    events: Vec<(u64, f64)>,
}

impl History {
    fn new(window: Span) -> Self {
        Self { window: seconds(window.ns()), warm: None, events: Vec::new() }
    }

    fn update(&mut self, now: u64, amount: f64) {
        self.events.push((now, amount));
    }

    /// The recursion, from the first event on.
    fn rate(&self) -> f64 {
        let Some(&(first, _)) = self.events.first() else { return 0.0 };
        let (mut avg, mut front, mut sum) = (0.0, first, 0.0);
        for &(now, amount) in &self.events {
            avg = (avg * self.window + amount) / (seconds(now - front) + self.window);
            front = now;
            sum += amount;
            if let Some(warm) = self.warm.filter(|_| seconds(now - first) < self.window) {
                avg = sum / seconds(now - first).max(warm);
            }
        }
        avg
    }

    /// As if an event of nothing came now.
    fn read(&self, now: u64) -> f64 {
        let Some(&(front, _)) = self.events.last() else { return 0.0 };
        self.rate() * self.window / (seconds(now - front) + self.window)
    }
}

/// Sections 1.4 and 1.8.
struct Issuer {
    policing: Policing,
    least: f64,
    most: f64,
    tags: Tags,
    actual: History,
    m: f64,
    another: f64,
    dropped: bool,
}

impl Issuer {
    fn new(rules: &Issuing) -> Self {
        Self {
            policing: rules.policing,
            least: rules.bounds.policing_min,
            most: rules.bounds.policing_max,
            tags: Tags::new(&rules.tags),
            actual: History::new(rules.window),
            m: 1.0,
            another: 0.0,
            dropped: false,
        }
    }

    /// Before each packet.
    fn begin(&mut self, another: f64) {
        (self.another, self.dropped) = (another, false);
    }

    /// `scarce = "drop"`: less than one ticket is one with that probability, else the packet goes no further; the
    /// uniform number that is left for its tag.
    fn thin(&mut self, raw: f64, u: f64) -> Option<f64> {
        let left = match (raw < 1.0, u < raw) {
            (false, _) => Some(u),
            (true, true) => Some(self.another),
            (true, false) => None,
        };
        self.dropped = left.is_none();
        left
    }

    fn tag(&mut self, now: u64, (raw, out): (f64, f64), u: f64) -> f32 {
        let ratio = if out > 0.0 && self.actual.rate() > 0.0 { out / self.actual.rate() } else { 1.0 };
        let police = match self.policing {
            Policing::Off => 1.0,
            Policing::Ratio => ratio.max(self.least).min(self.most),
            Policing::Integral => {
                let gap = self.actual.events.last().map_or(0.0, |last| seconds(now - last.0));
                self.m *= perhop_core::math::pow(ratio, gap / self.actual.window);
                self.m = self.m.max(self.least).min(self.most);
                self.m
            }
        };
        let tag = self.tags.quantise(raw * police, u);
        self.actual.update(now, f64::from(tag));
        tag
    }
}

/// Segments sent, by the position after their last byte in the whole stream (not modulo anything), with their sizes.
#[derive(Default)]
struct Stream {
    sent: BTreeMap<u64, u32>,
    /// Position up to which all is acknowledged.
    acked: Option<u64>,
    /// Size of the last packet with data.
    size: u32,
}

impl Stream {
    /// The position nearest to the acknowledged one that a number of 32 bits can mean.
    fn position(&self, number: u32) -> u64 {
        let near = self.acked.unwrap_or(1 << 40 | u64::from(number));
        let candidates =
            [-1i64, 0, 1].map(|wraps| ((near >> 32) as i64 + wraps) as u64 * (1 << 32) + u64::from(number));
        candidates.into_iter().min_by_key(|c| c.abs_diff(near)).expect("three")
    }

    fn send(&mut self, packet: &Packet) {
        let end = self.position(packet.seq_end);
        self.acked.get_or_insert(end - u64::from(packet.payload));
        if packet.payload > 0 {
            self.size = packet.size;
            self.sent.insert(end, packet.size);
        }
    }

    /// Sizes of the segments that an ACK newly acknowledges; of a duplicate ACK (RFC 5681 section 2), one more if they count.
    fn acknowledge(&mut self, packet: &Packet, duplicates: bool) -> Vec<u32> {
        let (Some(acked), ack) = (self.acked, self.position(packet.ack)) else { return vec![] };
        if ack <= acked {
            let duplicate = ack == acked && packet.payload == 0 && self.size > 0;
            return if duplicate && duplicates { vec![self.size] } else { vec![] };
        }
        self.acked = Some(ack);
        self.sent.range(acked + 1..=ack).map(|(_, size)| *size).collect()
    }
}

/// Sections 1.3 and 1.7 at the source.
pub struct Tagger {
    p: pps_tagger::Params,
    stream: Stream,
    avg: History,
    granted: History,
    issuer: Issuer,
}

impl Tagger {
    pub fn new(p: &pps_tagger::Params) -> Self {
        let (granted, mut avg) = (History::new(p.issuing.window), History::new(p.issuing.window));
        avg.warm = p.warm_start.map(|warm| seconds(warm.ns()));
        Self { stream: Stream::default(), avg, granted, issuer: Issuer::new(&p.issuing), p: p.clone() }
    }

    fn amount(&self, size: u32) -> f64 {
        if self.p.unit == Unit::Bytes { f64::from(size) } else { 1.0 }
    }
}

impl Oracle for Tagger {
    fn mark(&mut self, now: u64, packet: &mut Packet, u: f64) {
        if only_acknowledges(packet) {
            return;
        }
        self.stream.send(packet);
        if self.p.rate == RateOf::Sent {
            self.avg.update(now, self.amount(packet.size));
        }
        let out = self.p.tickets.map_or(self.granted.rate(), |t| t.tickets_s());
        let avg = self.avg.read(now);
        let raw = match out == 0.0 || avg == 0.0 {
            true => match self.p.first_tag {
                FirstTag::Most => self.issuer.tags.most(),
                FirstTag::Bits(bits) => (1..=bits).fold(0.0, |all, _| 2.0 * all + 1.0),
            },
            false => out / avg * self.amount(packet.size),
        };
        let drops = self.p.scarce == Scarce::Drop;
        if let Some(u) = if drops { self.issuer.thin(raw, u) } else { Some(u) } {
            packet.set_label(self.issuer.tag(now, (raw, out), u));
        }
    }

    fn another(&mut self, u: f64) {
        self.issuer.begin(u);
    }

    fn dropped(&self) -> bool {
        self.issuer.dropped
    }

    fn reverse(&mut self, now: u64, packet: &mut Packet, _u: f64) {
        if packet.flags & flags::ACK == 0 {
            return;
        }
        if let Some(g) = carried(packet.ack_label()) {
            self.granted.update(now, g);
        }
        let newly = self.stream.acknowledge(packet, self.p.rate == RateOf::AcksAndDuplicates);
        let amount = newly.into_iter().map(|size| self.amount(size)).sum();
        if amount > 0.0 && self.p.rate != RateOf::Sent {
            self.avg.update(now, amount);
        }
    }

    fn tallies(&self) -> Vec<(&'static str, u64)> {
        self.issuer.tags.tallies()
    }
}

/// Section 1.6.
pub struct Relabeller {
    p: pps_relabeller::Params,
    gate: Gate,
    incoming: History,
    issuer: Issuer,
}

impl Relabeller {
    pub fn new(p: &pps_relabeller::Params) -> Self {
        let issuer = Issuer::new(&p.issuing);
        let gate = Gate::new(p.untagged, issuer.tags.fewest());
        Self { gate, incoming: History::new(p.issuing.window), issuer, p: p.clone() }
    }

    fn step(&mut self, now: u64, packet: &mut Packet, (measure, moment, u): (Measure, Moment, f64)) {
        let Some(g) = self.gate.tickets(packet) else { return };
        if self.p.measure == measure {
            self.incoming.update(now, g);
        }
        if self.p.relabel == moment {
            let out = self.p.tickets.tickets_s();
            let x = if self.incoming.rate() == 0.0 { 1.0 } else { out / self.incoming.rate() };
            let drops = self.p.scarce == Scarce::Drop;
            if let Some(u) = if drops { self.issuer.thin(g * x, u) } else { Some(u) } {
                packet.set_label(self.issuer.tag(now, (g * x, out), u));
            }
        }
    }
}

impl Oracle for Relabeller {
    fn another(&mut self, u: f64) {
        self.issuer.begin(u);
    }

    fn dropped(&self) -> bool {
        self.issuer.dropped || self.gate.shut
    }

    fn mark(&mut self, now: u64, packet: &mut Packet, u: f64) {
        self.gate.arrives(packet);
        if !self.gate.shut {
            self.step(now, packet, (Measure::Arrivals, Moment::Arrival, u));
        }
    }

    fn departing(&mut self, now: u64, packet: &mut Packet, u: f64) {
        self.step(now, packet, (Measure::Departures, Moment::Departure, u));
    }

    fn tallies(&self) -> Vec<(&'static str, u64)> {
        self.issuer.tags.tallies().into_iter().chain(self.gate.tally()).collect()
    }
}

/// Section 1.7 at the sink.
pub struct AckTagger {
    out: f64,
    avg: History,
    issuer: Issuer,
}

impl AckTagger {
    pub fn new(p: &pps_ack_tagger::Params) -> Self {
        let avg = History::new(p.issuing.window);
        Self { out: p.tickets.tickets_s(), avg, issuer: Issuer::new(&p.issuing) }
    }
}

impl Oracle for AckTagger {
    fn mark(&mut self, now: u64, packet: &mut Packet, u: f64) {
        if only_acknowledges(packet) {
            self.avg.update(now, 1.0);
            packet.set_ack_label(self.issuer.tag(now, (self.out / self.avg.rate(), self.out), u));
        }
    }

    fn tallies(&self) -> Vec<(&'static str, u64)> {
        self.issuer.tags.tallies()
    }
}

/// Section 1.7 at a link.
pub struct AckRelabeller {
    ack_out: f64,
    inverse: bool,
    gate: Gate,
    ack_in: History,
    data_in: History,
    acks: Issuer,
    data: Issuer,
}

impl AckRelabeller {
    pub fn new(p: &pps_ack_relabeller::Params) -> Self {
        let (ack_in, data_in) = (History::new(p.issuing.window), History::new(p.issuing.window));
        let (mut acks, data) = (Issuer::new(&p.issuing), Issuer::new(&p.issuing));
        acks.policing = p.ack_policing;
        let gate = Gate::new(p.untagged, data.tags.fewest());
        Self {
            ack_out: p.tickets.tickets_s(),
            inverse: p.exchange == Exchange::Inverse,
            gate,
            ack_in,
            data_in,
            acks,
            data,
        }
    }
}

impl Oracle for AckRelabeller {
    fn dropped(&self) -> bool {
        self.gate.shut
    }

    fn mark(&mut self, now: u64, packet: &mut Packet, _u: f64) {
        self.gate.arrives(packet);
        if let (Some(g), false) = (self.gate.tickets(packet), self.gate.shut) {
            self.data_in.update(now, g);
        }
    }

    fn reverse(&mut self, now: u64, packet: &mut Packet, u: f64) {
        let least = self.gate.untagged == Untagged::Least && only_acknowledges(packet);
        let Some(g) = carried(packet.ack_label()).or(if least { Some(self.gate.fewest) } else { None }) else { return };
        self.ack_in.update(now, g);
        let raw = if self.ack_in.rate() == 0.0 { g } else { g * (self.ack_out / self.ack_in.rate()) };
        packet.set_ack_label(self.acks.tag(now, (raw, self.ack_out), u));
    }

    fn departing(&mut self, now: u64, packet: &mut Packet, u: f64) {
        let Some(g) = self.gate.tickets(packet) else { return };
        // Section II-F.1: the inverse of AckXRate = AckOutTktRate/AckInTktRate.
        let (out, incoming) = (self.ack_in.rate(), if self.inverse { self.ack_out } else { self.data_in.rate() });
        let x = if out == 0.0 || incoming == 0.0 { 1.0 } else { out / incoming };
        packet.set_label(self.data.tag(now, (g * x, out), u));
    }

    fn tallies(&self) -> Vec<(&'static str, u64)> {
        let pairs = self.acks.tags.tallies().into_iter().zip(self.data.tags.tallies());
        pairs.map(|((name, acks), (_, data))| (name, acks + data)).chain(self.gate.tally()).collect()
    }
}
