//! The RTT-aware family, from the specification's sections 1.3, 1.5, 1.6 and 1.7. What an edge sees of one flow is
//! compared with its own slow version elsewhere, and used unchanged here.

use super::Oracle;
use super::tsw::{Rate, Rfc2859};
use perhop_core::conditioner::rtt::{Contract, Estimate, Excess, Measured, Measuring, Sampled, SmallWindow};
use perhop_core::conditioner::{rtt_aware, rtt_rto, rtt_sw, tsw3cm_sw};
use perhop_core::estimate::MicroFlow;
use perhop_core::packet::{Colour, FlowId, Packet, flags};
use perhop_core::units::{Span, Time};

/// The micro-flows of an aggregate: number, when last seen, what is known.
struct Flows {
    known: Vec<(FlowId, u64, MicroFlow)>,
    most: usize,
    expiry: u64,
    refused: u64,
}

impl Flows {
    fn new(most: u32, expiry: Span) -> Self {
        Self { known: Vec::new(), most: most as usize, expiry: expiry.ns(), refused: 0 }
    }

    fn find(&self, now: u64, flow: FlowId) -> Option<usize> {
        self.known.iter().position(|(it, seen, _)| *it == flow && now - seen <= self.expiry)
    }

    /// The window of a packet's flow, with it.
    fn forward(&mut self, now: u64, packet: &Packet) -> Option<u32> {
        if !packet.is_segment() {
            self.seen(now, packet.flow); // a pure ACK: the flow is not silent
            return None;
        }
        if self.find(now, packet.flow).is_none() {
            self.known.retain(|(flow, ..)| *flow != packet.flow);
            let longest = (0..self.known.len()).min_by_key(|&i| self.known[i].1);
            if self.known.len() >= self.most {
                let expired = longest.filter(|&i| now - self.known[i].1 > self.expiry);
                expired.map(|i| self.known.remove(i));
            }
            if self.known.len() >= self.most {
                self.refused += 1;
                return None;
            }
            self.known.push((packet.flow, now, MicroFlow::default()));
        }
        let flow = self.seen(now, packet.flow)?;
        flow.on_segment(Time::from_ns(now), packet, None);
        Some(flow.window().segments())
    }

    /// A known flow, which is the last one seen from now on: those of one instant are in the order in which they were.
    fn seen(&mut self, now: u64, flow: FlowId) -> Option<&mut MicroFlow> {
        let (flow, _, state) = self.known.remove(self.find(now, flow)?);
        self.known.push((flow, now, state));
        self.known.last_mut().map(|(.., state)| state)
    }

    /// The round-trip time that a packet coming back makes known.
    fn reverse(&mut self, now: u64, packet: &Packet) -> Option<Span> {
        if packet.flags & flags::ACK == 0 {
            return None;
        }
        self.seen(now, packet.flow)?.on_ack(Time::from_ns(now), packet, None).map(|(rtt, _)| rtt)
    }
}

/// SRTT and RTTVAR of all samples, s.
fn smoothed(samples: &[f64], gain: f64) -> Option<(f64, f64)> {
    let (first, later) = samples.split_first()?;
    let step =
        |(mean, var): (f64, f64), s: &f64| (mean * (1.0 - gain) + gain * s, 0.75 * var + 0.25 * (mean - s).abs());
    Some(later.iter().fold((*first, first / 2.0), step))
}

/// Small windows, and what they owe: red, yellow.
struct Small {
    k: Option<u32>,
    cap: f64,
    owed: [f64; 2],
}

impl Small {
    fn new(rules: Option<&SmallWindow>) -> Self {
        Self {
            k: rules.map(|rules| rules.small_window),
            cap: rules.map_or(0.0, |rules| rules.max_debt.get() as f64),
            owed: [0.0; 2],
        }
    }

    fn protects(&self, window: Option<u32>) -> bool {
        window.zip(self.k).is_some_and(|(window, k)| window < k)
    }

    fn colour(&mut self, protected: bool, drawn: Colour, size: u32) -> Colour {
        let size = f64::from(size);
        let colours = [Colour::Red, Colour::Yellow];
        if protected {
            for (owed, _) in self.owed.iter_mut().zip(colours).filter(|(_, colour)| *colour == drawn) {
                *owed = self.cap.min(*owed + size);
            }
            return Colour::Green;
        }
        if drawn == Colour::Green
            && let Some(i) = (0..2).find(|&i| self.owed[i] > 0.0)
        {
            self.owed[i] = f64::max(0.0, self.owed[i] - size);
            return colours[i];
        }
        drawn
    }
}

type Rule = Box<dyn Fn(Option<(f64, f64)>) -> f64>;

/// Basic, RTT-RTO and RTT-SW. No other aggregate reports here: this one's times are the least.
pub struct Aware {
    contract: Contract,
    measuring: Measuring,
    rate: Rate,
    flows: Flows,
    representative: Option<FlowId>,
    samples: Vec<f64>,
    min_rto: f64,
    q: Rule,
    small: Small,
    u2: f64,
    tallies: [u64; 5],
    q_sum: f64,
}

impl Aware {
    fn new((contract, measuring): (&Contract, &Measuring), min_rto: Span, q: Rule) -> Self {
        Self {
            rate: Rate::new(contract.cir, contract.window),
            contract: contract.clone(),
            flows: Flows::new(measuring.max_flows, measuring.flow_expiry),
            measuring: measuring.clone(),
            representative: None,
            samples: Vec::new(),
            min_rto: min_rto.seconds(),
            q,
            small: Small::new(None),
            u2: 0.0,
            tallies: [0; 5],
            q_sum: 0.0,
        }
    }

    pub fn basic(p: &rtt_aware::Params) -> Self {
        Self::new((&p.contract, &p.measuring), Span::ZERO, Box::new(|_| 1.0))
    }

    pub fn sw(p: &rtt_sw::Params) -> Self {
        let basic = Self::new((&p.contract, &p.measuring), Span::ZERO, Box::new(|_| 1.0));
        Self { small: Small::new(Some(&p.protection)), ..basic }
    }

    pub fn rto(p: &rtt_rto::Params) -> Self {
        let rule = p.least != rtt_rto::Least::None;
        let q = move |times: Option<(f64, f64)>| match times {
            None => 0.5,
            Some((rtt, rto)) if rule => f64::min(rtt / rto, 1.0),
            Some(_) => 1.0,
        };
        Self::new((&p.contract, &p.measuring), p.min_rto, Box::new(q))
    }

    fn times(&self) -> Option<(f64, f64)> {
        let gain = if self.measuring.sampled == Sampled::All { 0.02 } else { 0.125 };
        let (srtt, rttvar) = smoothed(&self.samples, gain)?;
        let rtt = match self.measuring.rtt {
            Estimate::Smoothed => srtt,
            Estimate::Least => self.samples.iter().copied().fold(f64::INFINITY, f64::min),
        };
        Some((rtt, f64::max(self.min_rto, srtt + 4.0 * rttvar))).filter(|(rtt, _)| *rtt > 0.0)
    }

    /// Packets: out with p, of those red with q.
    fn draw(&mut self, p: f64, u: f64) -> Colour {
        if u >= p {
            return Colour::Green;
        }
        let q = (self.q)(self.times());
        self.q_sum += q;
        let (colour, counted) = if self.u2 < q { (Colour::Red, 4) } else { (Colour::Yellow, 3) };
        self.tallies[counted] += 1;
        colour
    }
}

impl Oracle for Aware {
    fn another(&mut self, u: f64) {
        self.u2 = u;
    }

    fn mark(&mut self, now: u64, packet: &mut Packet, u: f64) {
        let edge = self.measuring.measured == Measured::Edge;
        let window = if edge { self.flows.forward(now, packet) } else { None };
        let (r, target) = (self.rate.update(now, packet.size), self.contract.cir.bytes_s());
        packet.colour = Colour::Green;
        self.tallies[0] += 1;
        if r <= target {
            return;
        }
        self.tallies[1] += 1;
        let part = (r - target) / r;
        let p = if self.contract.excess == Excess::Linear { part } else { part * part };
        let protected = self.small.protects(window);
        self.tallies[2] += u64::from(protected);
        if protected && self.small.cap == 0.0 {
            return;
        }
        let drawn = self.draw(p, u);
        packet.colour = self.small.colour(protected, drawn, packet.size);
    }

    fn reverse(&mut self, now: u64, packet: &mut Packet, _u: f64) {
        if self.measuring.measured == Measured::Sender {
            return;
        }
        let Some(rtt) = self.flows.reverse(now, packet) else { return };
        if self.representative.is_none_or(|it| self.flows.find(now, it).is_none()) {
            self.representative = Some(packet.flow);
        }
        if self.measuring.sampled == Sampled::All || self.representative == Some(packet.flow) {
            self.samples.push(rtt.seconds());
        }
    }

    fn tallies(&self) -> Vec<(&'static str, u64)> {
        let names = ["metered", "above_target", "protected", "drawn_yellow", "drawn_red"];
        let mut all: Vec<_> = names.into_iter().zip(self.tallies).collect();
        all.push(("q_sum_millionths", (self.q_sum * 1e6) as u64));
        all.push(("rtt_samples", self.samples.len() as u64));
        all.push(("flows_without_room", self.flows.refused));
        all
    }
}

/// TSW3CM with SW.
pub struct StandardSw {
    marker: Rfc2859,
    measured: Measured,
    flows: Flows,
    small: Small,
    spared: u64,
}

impl StandardSw {
    pub fn new(p: &tsw3cm_sw::Params) -> Self {
        Self {
            marker: Rfc2859::new(&p.tsw3cm),
            measured: p.measured,
            flows: Flows::new(p.max_flows, p.flow_expiry),
            small: Small::new(Some(&p.protection)),
            spared: 0,
        }
    }
}

impl Oracle for StandardSw {
    fn mark(&mut self, now: u64, packet: &mut Packet, u: f64) {
        let window = if self.measured == Measured::Edge { self.flows.forward(now, packet) } else { None };
        self.marker.mark(now, packet, u);
        if !self.marker.exceeds() {
            return;
        }
        let protected = self.small.protects(window);
        self.spared += u64::from(protected && packet.colour != Colour::Green);
        packet.colour = self.small.colour(protected, packet.colour, packet.size);
    }

    fn reverse(&mut self, now: u64, packet: &mut Packet, _u: f64) {
        if self.measured == Measured::Edge {
            self.flows.reverse(now, packet);
        }
    }

    fn tallies(&self) -> Vec<(&'static str, u64)> {
        vec![("protected", self.spared), ("flows_without_room", self.flows.refused)]
    }
}
