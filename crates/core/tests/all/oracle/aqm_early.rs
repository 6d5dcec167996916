//! RED, RIO, WRED and TRED as the papers write them: plain, slow, floating point, one function.
//!
//! Floyd and Jacobson 1993 (figure 2, section 7), Clark and Fang 1998, ns-2's `wait_` and dsRED by description. Queue
//! contents are searched at every arrival, for each precedence; idle time is applied packet by packet.

use super::tred::Expectation;
use perhop_core::Rng;
use perhop_core::aqm::early::Order;
use perhop_core::math;
use perhop_core::packet::{Colour, Packet};
use perhop_core::units::Time;
use perhop_core::verdict::{Fate, Reason};

/// Thresholds of one precedence, in packets or bytes.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    pub(crate) min: f64,
    pub(crate) max: f64,
    pub(crate) max_p: f64,
    /// Colours and code points it is for (WRED).
    pub(crate) names: Vec<String>,
}

/// What is asked of the queue at an arrival.
#[derive(Clone, Copy)]
pub(crate) struct Seen<'a> {
    pub(crate) now: Time,
    pub(crate) waiting: &'a [Packet],
    pub(crate) idle_since: Option<Time>,
    pub(crate) room: bool,
}

/// The system, its constants in the papers' letters, its state.
#[derive(Clone)]
pub(crate) struct Oracle {
    /// `red`, `rio-c`, `rio-d`, `wred`, `wred-c`, `wred-d` or `tred`.
    pub(crate) system: &'static str,
    /// One for RED; IN and OUT for RIO; any number for WRED.
    pub(crate) rules: Vec<Rule>,
    pub(crate) in_bytes: bool,
    pub(crate) gentle: bool,
    pub(crate) spacing: &'static str,
    pub(crate) ecn: bool,
    pub(crate) wq: f64,
    pub(crate) mean_packet: f64,
    /// bytes/s
    pub(crate) link: f64,
    pub(crate) rng: Rng,
    /// Of each rule, or of all (RED, WRED).
    pub(crate) avg: Vec<f64>,
    pub(crate) count: Vec<i64>,
    pub(crate) last_arrival: Time,
    /// TRED's, and where its factor enters.
    pub(crate) expectation: Option<(Expectation, Order)>,
}

fn is_in(packet: &Packet) -> bool {
    packet.colour == Colour::Green
}

impl Oracle {
    fn length<'a>(&self, packets: impl Iterator<Item = &'a Packet>) -> f64 {
        packets.map(|p| if self.in_bytes { f64::from(p.size) } else { 1.0 }).sum()
    }

    /// Which rule judges the packet.
    fn rule_of(&self, packet: &Packet) -> usize {
        match self.system {
            "red" | "tred" => 0,
            "rio-c" | "rio-d" => usize::from(!is_in(packet)),
            _ => {
                let own = [packet.dscp.to_string(), packet.colour.name().to_owned()];
                let rule = self.rules.iter().position(|r| r.names.iter().any(|n| own.contains(n)));
                rule.unwrap_or(self.rules.len() - 1)
            }
        }
    }

    fn rest(&mut self, seen: Seen<'_>) {
        let Some(since) = seen.idle_since else { return };
        let m = (seen.now - since.max(self.last_arrival)).seconds() * self.link / self.mean_packet;
        for avg in &mut self.avg {
            for _ in 0..m.trunc() as u64 {
                *avg *= 1.0 - self.wq;
            }
            if m.fract() > 0.0 {
                *avg *= math::exp(m.fract() * math::ln(1.0 - self.wq));
            }
        }
    }

    /// What waits of the rules that `counted` names.
    fn of_rules(&self, waiting: &[Packet], counted: impl Fn(usize) -> bool) -> f64 {
        self.length(waiting.iter().filter(|p| counted(self.rule_of(p))))
    }

    fn measure(&mut self, seen: Seen<'_>, packet: &Packet) {
        let j = self.rule_of(packet);
        let samples: Vec<(usize, f64)> = match self.system {
            "rio-c" | "wred-c" => {
                (j..self.rules.len()).map(|i| (i, self.of_rules(seen.waiting, |rule| rule <= i))).collect()
            }
            "rio-d" | "wred-d" => vec![(j, self.of_rules(seen.waiting, |rule| rule == j))],
            _ => vec![(0, self.length(seen.waiting.iter()))],
        };
        for (which, q) in samples {
            self.avg[which] = (1.0 - self.wq) * self.avg[which] + self.wq * q;
        }
    }

    /// p_a of the packet that makes `count`.
    fn p_a(&self, p_b: f64, count: i64) -> f64 {
        let done = count as f64 * p_b;
        match self.spacing {
            "bernoulli" => p_b,
            "uniformised" if done < 1.0 => (p_b / (1.0 - done)).min(1.0),
            "uniformised" => 1.0,
            "ds-red" => p_b / (1.0 - done),
            _ if done < 1.0 => 0.0,
            _ if done < 2.0 => (p_b / (2.0 - done)).min(1.0),
            _ => 1.0,
        }
    }

    /// The probability of an early drop, and whether a drop is certain.
    fn p_drop(&self, (p_b, count): (f64, i64), factor: f64) -> (f64, bool) {
        let order = self.expectation.as_ref().map_or(Order::BeforeSpacing, |e| e.1);
        let p = match order {
            Order::BeforeSpacing => self.p_a((p_b * factor).min(1.0), count),
            Order::AfterSpacing => self.p_a(p_b, count).min(1.0) * factor,
        };
        (p, p_b * factor >= 1.0)
    }

    /// Adaptive RED's half second has passed (Floyd, Gummadi and Shenker 2001, figure 1).
    pub(crate) fn adapt(&mut self, seen: Seen<'_>) {
        let before = self.avg.clone();
        self.rest(seen);
        let avg = std::mem::replace(&mut self.avg, before)[0];
        let Rule { min, max, max_p, .. } = &mut self.rules[0];
        let (low, high) = (*min + 0.4 * (*max - *min), *min + 0.6 * (*max - *min));
        if avg > high && *max_p <= 0.5 {
            *max_p += f64::min(0.01, *max_p / 4.0);
        } else if avg < low && *max_p >= 0.01 {
            *max_p *= 0.9;
        }
    }

    /// The fate of `packet`.
    pub(crate) fn arrive(&mut self, seen: Seen<'_>, packet: &Packet) -> Fate {
        self.rest(seen);
        self.last_arrival = seen.now;
        self.measure(seen, packet);
        let i = self.rule_of(packet);
        if self.expectation.as_ref().is_some_and(|e| e.0.refuses(packet)) {
            return Fate::Dropped(Reason::Forced);
        }
        let tickets = self.expectation.as_mut().and_then(|e| e.0.factor(seen.now, packet));
        let Rule { min, max, max_p, .. } = self.rules[i].clone();
        let avg = self.avg[if self.avg.len() > 1 { i } else { 0 }];
        let p_b = if avg < max { max_p * (avg - min) / (max - min) } else { max_p + (1.0 - max_p) * (avg - max) / max };
        let fate = if avg < min {
            self.count[i] = -1;
            Fate::Queued
        } else if avg >= max && !(self.gentle && avg < 2.0 * max) {
            Fate::Dropped(Reason::Forced)
        } else {
            self.count[i] += 1;
            let (p, certain) = match tickets {
                Some(factor) => self.p_drop((p_b, self.count[i]), factor),
                None => (self.p_a(p_b, self.count[i]), false),
            };
            match self.rng.uniform() < p {
                true if self.ecn && packet.ecn.capable() && !certain => Fate::Marked,
                true => Fate::Dropped(Reason::Early),
                false => Fate::Queued,
            }
        };
        if !matches!(fate, Fate::Queued) {
            self.count[i] = 0;
        }
        if fate.stays() && !seen.room {
            self.count[i] = 0;
            return Fate::Dropped(Reason::Overflow);
        }
        fate
    }
}
