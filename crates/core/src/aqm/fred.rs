//! FRED: flow random early drop. RED with a count for each flow that has packets waiting. No flow may hold much more
//! than its share of the queue, and no flow that holds less is dropped at random.
//!
//! Source: Lin and Morris, "Dynamics of Random Early Detection", SIGCOMM 1997, section 4 with the support of many flows.
//!
//! ```text
//! on arrival from flow i:  avg as in RED;  avgcq = max(1, avg/Nactive)
//!   maxq = min, 2 where avg >= max
//!   qlen_i >= maxq, or avg >= max and qlen_i > 2 avgcq, or qlen_i >= avgcq and strike_i > 1:
//!                    drop, strike_i = strike_i + 1
//!   avg < min:       pass, count = -1
//!   min <= avg < max: count = count + 1
//!                    qlen_i >= max(minq, avgcq): drop with probability p_a as in RED, then count = 0
//!   max <= avg:      drop, count = 0
//! on departure:      avg = avg + wq (q - avg);  a flow with qlen_i = 0 is forgotten
//! ```
//!
//! qlen_i is the number of waiting packets of flow i, strike_i its drops by the first rule, Nactive the number of
//! flows with qlen_i > 0. With `per = "class"` i is a class instead of a flow: the `class` of a traffic or, in a
//! capture, one protocol and destination port.
//!
//! | symbol | field         | unit       | default |
//! |--------|---------------|------------|---------|
//! | min    | `min`         | p, B, s, % | 25%     |
//! | max    | `max`         | p, B, s, % | 50%     |
//! | maxp   | `max-p`       | -          | 0.02    |
//! | minq   | `minq`        | p          | 2p      |
//! | wq     | `wq`          | -          | 0.002   |
//! |        | `weight`      | -          | -       |
//! |        | `mean-packet` | B          | 1000B   |
//! |        | `ecn`         | -          | false   |
//! | i      | `per`         | -          | flow    |
//!
//! The paper sets min to a quarter of the queue or to the link's bandwidth-delay product if that is smaller, max to
//! twice min, and minq to 2 for small queues and 4 for large ones. With thresholds in bytes, `mean-packet` bytes are
//! one packet. With `ecn` an ECN-capable packet is marked where any other would be dropped at random; the other rules
//! drop.
//!
//! Deviations: avg is updated before the arriving packet is judged, as in RED; in the paper, after. Idle time
//! deviates as in RED. `ecn` and `per = "class"` are not in the paper. Fig. 4 of the paper of MSVB and SIO compares
//! FRED with MSVB class by class, and does not say whether its FRED counted flows or classes.

use super::early::{self, Average, Beyond, Idle, Profile, Ramp, Spacer, Spacing, Weight, Zone};
use crate::Scope;
use crate::aqm::early::{Level, Unit};
use crate::aqm::{Aqm, Arrival, Departure};
use crate::count::Count;
use crate::needs::Needs;
use crate::packet::Packet;
use crate::params::{Choice, ParamError, Params as Declared};
use crate::port::turn::Turn;
use crate::rng::Rng;
use crate::units::{Bytes, Length, Packets, Probability, Time};
use crate::verdict::{Fate, Reason, Verdict};

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// Average queue below which nothing is dropped by chance; what a flow may hold.
    #[param(default = "25%")]
    pub min: Length,
    /// Average queue at which every packet is dropped; in the unit of `min`.
    #[param(default = "50%")]
    pub max: Length,
    /// p_b when the average reaches `max`.
    #[param(default = 0.02)]
    pub max_p: Probability,
    /// A flow with fewer packets waiting is not dropped by chance.
    #[param(default = "2p")]
    pub minq: Packets,
    /// Weight of a sample in the average.
    #[param(flatten)]
    pub weight: Weight,
    /// Packet size used to count what an idle link could have sent, and as one packet when thresholds are in bytes.
    #[param(default = "1000B")]
    pub mean_packet: Bytes,
    /// Whether ECN-capable packets are marked where others are dropped by chance.
    #[param(default = false)]
    pub ecn: bool,
    /// Which packets share a count and its strikes.
    #[param(default = "flow")]
    pub per: Per,
}

/// Which packets share a count.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Per {
    /// Those of a flow (5-tuple): the paper.
    Flow,
    /// Those of a class (named traffic; in a capture, one protocol and destination port).
    Class,
}

impl Per {
    /// The number of a packet's flow or class, which hosts give densely.
    #[inline]
    fn of(self, packet: &Packet) -> usize {
        match self {
            Self::Flow => packet.flow.0 as usize,
            Self::Class => packet.class.into(),
        }
    }
}

/// A flow (or class) that may have packets waiting.
#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    waiting: Count,
    strikes: u32,
}

/// The thresholds, as numbers.
#[derive(Clone, Debug)]
struct Rules {
    ramp: Ramp,
    unit: Unit,
    min: f64,
    /// A packet.
    one: f64,
    minq: f64,
    early: Verdict,
    per: Per,
}

/// One queue's FRED.
#[derive(Clone, Debug)]
pub struct Fred {
    rules: Rules,
    average: Average,
    spacer: Spacer,
    /// By number, which hosts give densely.
    flows: Vec<Flow>,
    active: u32,
}

impl Params {
    /// # Errors
    /// As RED's.
    pub fn build(self, scope: &Scope) -> Result<Fred, ParamError> {
        let Self { min, max, max_p, .. } = self;
        let profile = Profile { min, max, max_p };
        Profile::any_in_reach([&profile], scope)?;
        let (ramp, unit) = profile.ramp(Beyond::Drop, scope)?;
        let average = Average::new(unit, self.weight.checked()?, Idle::new(self.mean_packet, scope)?);
        let one = unit.of(1, self.mean_packet.get());
        let early = if self.ecn { Verdict::Mark } else { Verdict::Drop(Reason::Early) };
        let min = Level::of("min", min, scope)?.value;
        let rules = Rules { ramp, unit, min, one, minq: one * f64::from(self.minq.get()), early, per: self.per };
        Ok(Fred { rules, average, spacer: Spacer::new(Spacing::Uniformised), flows: Vec::new(), active: 0 })
    }
}

impl Rules {
    /// Of a flow that holds `held`: whether it holds too much while the average is `average`, its fair part `fair`.
    fn too_much(&self, [held, average, fair]: [f64; 3], strikes: u32) -> bool {
        let full = self.ramp.zone(average) == Zone::Beyond;
        let most = if full { 2.0 * self.one } else { self.min };
        held >= most || (full && held > 2.0 * fair) || (held >= fair && strikes > 1)
    }
}

impl Fred {
    /// What a flow would hold if the average were shared out evenly; at least a packet.
    fn fair(&self) -> f64 {
        (self.average.value() / f64::from(self.active.max(1))).max(self.rules.one)
    }

    fn flow(&mut self, packet: &Packet) -> &mut Flow {
        let i = self.rules.per.of(packet);
        if i >= self.flows.len() {
            self.flows.resize(i + 1, Flow::default());
        }
        &mut self.flows[i]
    }
}

impl Aqm for Fred {
    type Params = Params;

    fn on_arrival(&mut self, at: Turn<&Arrival>, packet: &mut Packet, rng: &mut Rng) -> Verdict {
        let average = self.average.on_arrival(*at);
        let fair = self.fair();
        let Flow { waiting, strikes } = *self.flow(packet);
        let held = self.rules.unit.of(waiting.packets as u32, waiting.bytes);
        if self.rules.too_much([held, average, fair], strikes) {
            self.flow(packet).strikes += 1;
            return Verdict::Drop(Reason::Early);
        }
        match self.rules.ramp.zone(average) {
            Zone::Below => self.spacer.rest(),
            Zone::Between(_) if held < self.rules.minq.max(fair) => self.spacer.pass_over(),
            Zone::Between(p_b) if self.spacer.hits(p_b, rng) => return self.rules.early,
            Zone::Between(_) => {}
            Zone::Beyond => {
                self.spacer.restart();
                return Verdict::Drop(Reason::Forced);
            }
        }
        Verdict::Pass
    }

    fn on_fate(&mut self, _at: Turn<&Arrival>, packet: &Packet, fate: Fate) {
        if fate == Fate::Dropped(Reason::Overflow) {
            self.spacer.restart();
        }
        if fate.stays() {
            let flow = self.flow(packet);
            let new = flow.waiting.packets == 0;
            flow.waiting.add(packet.size);
            self.active += u32::from(new);
        }
    }

    fn on_departure(&mut self, at: Turn<&Departure>, packet: &mut Packet, _rng: &mut Rng) -> Verdict {
        self.average.sample(self.rules.unit.of(at.backlog.packets, at.backlog.bytes));
        let flow = self.flow(packet);
        flow.waiting.packets -= 1;
        flow.waiting.bytes -= u64::from(packet.size);
        if flow.waiting.packets == 0 {
            *flow = Flow::default();
            self.active -= 1;
        }
        Verdict::Pass
    }

    fn needs(&self) -> Needs {
        Needs::DEPARTURES
    }

    fn warnings(&self, scope: &Scope) -> Vec<ParamError> {
        self.rules.ramp.warnings(self.rules.unit, scope)
    }

    fn retune(&mut self, _now: Time, params: &Params, scope: &Scope) -> Result<(), ParamError> {
        let mut new = params.clone().build(scope)?;
        early::same_unit(self.rules.unit, new.rules.unit, "min")?;
        if new.rules.per != self.rules.per {
            let error = ParamError::new("per", "E202", "`per` changes while running".into());
            return Err(error.help("waiting packets are counted by the old value: keep it"));
        }
        new.average.resume(&self.average);
        new.spacer.resume(&self.spacer);
        (new.flows, new.active) = (std::mem::take(&mut self.flows), self.active);
        *self = new;
        Ok(())
    }

    fn gauges(&self, _now: Time, each: &mut dyn FnMut(&'static str, f64)) {
        let average = self.average.value();
        each(self.average.gauge(), average);
        let active = match self.rules.per {
            Per::Flow => "active_flows",
            Per::Class => "active_classes",
        };
        each(active, self.active.into());
        each("drop_p", self.rules.ramp.drop_p(average));
    }
}
