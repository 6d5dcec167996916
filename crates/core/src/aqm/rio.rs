//! RIO: RED with IN and OUT. One FIFO, two REDs: packets within their profile are dropped later and less.
//!
//! Source: Clark and Fang, "Explicit Allocation of Best-Effort Packet Delivery Service", IEEE/ACM Transactions on
//! Networking 6(4), 1998, section III-C. The modes' names are those of ns-2's dsRED.
//!
//! ```text
//! on arrival:  queue idle:  all averages x (1 - wq)^m,  m = idle time x link rate / mean packet
//!   rio-c:  avg_t = avg_t + wq (q - avg_t);  IN:  avg_in = avg_in + wq (q_in - avg_in)
//!           IN is judged by avg_in, OUT by avg_t
//!   rio-d:  IN moves avg_in by q_in, OUT moves avg_out by q_out = q - q_in; each is judged by its own
//! ```
//!
//! and each is judged as in RED, with its own thresholds and its own count. q and q_in wait before this packet.
//! IN is green; OUT is all else: yellow, red, unmarked.
//!
//! | symbol       | field          | unit       | default       | ns-2 RIO           |
//! |--------------|----------------|------------|---------------|--------------------|
//! | min_in       | `in.min`       | p, B, s, % | -             | `in_thresh_` 15    |
//! | max_in       | `in.max`       | p, B, s, % | -             | `in_maxthresh_` 30 |
//! | P_max_in     | `in.max-p`     | -          | 0.1           | 0.02               |
//! | min_out      | `out.min`      | p, B, s, % | -             | `out_thresh_` 5    |
//! | max_out      | `out.max`      | p, B, s, % | -             | `out_maxthresh_` 15|
//! | P_max_out    | `out.max-p`    | -          | 0.1           | 0.2                |
//! |              | `mode`         |            | `rio-c`       |                    |
//! | wq           | `wq`           | -          | 0.002         | `q_weight_`        |
//! | -log2 wq     | `weight`       | -          | -             |                    |
//! |              | `mean-packet`  | B          | 500B          | `mean_pktsize_`    |
//! | p_a          | `spacing`      |            | `uniformised` | `wait_`            |
//! |              | `beyond`       |            | `drop`        | `gentle_`          |
//! |              | `ecn`          |            | false         | `setbit_`          |
//!
//! Deviations: those of RED. The paper does not say what idle time does to avg_in; here it decays with the total
//! while the whole queue is idle, whoever comes first. dsRED starts IN's idle time when the last IN packet left, and
//! decays it at the full link rate even while OUT packets are sent.

use super::early::{self, Common, Idle, Precedence, Profile, Unit};
use crate::Scope;
use crate::aqm::{Aqm, Arrival, Departure};
use crate::count::Count;
use crate::estimate::Ewma;
use crate::needs::Needs;
use crate::packet::{Colour, Packet};
use crate::params::{Choice, ParamError, Params as Declared};
use crate::rng::Rng;
use crate::units::Time;
use crate::verdict::{Fate, Verdict};

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// Thresholds of green packets.
    #[param(name = "in")]
    pub in_profile: Profile,
    /// Thresholds of yellow, red and unmarked packets.
    #[param(name = "out")]
    pub out_profile: Profile,
    /// What OUT's average counts.
    #[param(default = "rio-c")]
    pub mode: Mode,
    /// Averages, spacing, ECN.
    #[param(flatten)]
    pub common: Common,
}

/// What OUT's average counts.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Coupled: every packet.
    RioC,
    /// Decoupled: OUT packets only.
    RioD,
}

/// IN or OUT: its average and its RED.
#[derive(Clone, Debug)]
struct Side {
    average: Ewma,
    precedence: Precedence,
}

/// One queue's RIO.
#[derive(Clone, Debug)]
pub struct Rio {
    mode: Mode,
    unit: Unit,
    idle: Idle,
    in_side: Side,
    out_side: Side,
    /// IN packets in the queue.
    waiting_in: Count,
}

impl Params {
    /// # Errors
    /// As RED for each of `in` and `out`, E215 when both are out of reach; E219 when they are in different units.
    pub fn build(self, scope: &Scope) -> Result<Rio, ParamError> {
        let (in_side, unit) = self.side(&self.in_profile, scope).map_err(early::inside("in", "`in`"))?;
        let (out_side, out_unit) = self.side(&self.out_profile, scope).map_err(early::inside("out", "`out`"))?;
        early::one_unit(unit, out_unit, "out")?;
        let profiles = [&self.in_profile, &self.out_profile];
        Profile::any_in_reach(profiles, scope).map_err(early::inside("out", "`out`"))?;
        self.common.weight.checked()?;
        let idle = self.common.idle(scope)?;
        Ok(Rio { mode: self.mode, unit, idle, in_side, out_side, waiting_in: Count::default() })
    }

    fn side(&self, profile: &Profile, scope: &Scope) -> Result<(Side, Unit), ParamError> {
        let (precedence, unit) = self.common.precedence(profile, scope)?;
        Ok((Side { average: Ewma::new(self.common.weight.0, 0.0), precedence }, unit))
    }
}

impl Side {
    fn resume(&mut self, other: &Self) {
        self.average = Ewma::new(self.average.weight(), other.average.value());
        self.precedence.resume(&other.precedence);
    }

    fn drop_p(&self) -> f64 {
        self.precedence.drop_p(self.average.value())
    }
}

fn is_in(packet: &Packet) -> bool {
    packet.colour == Colour::Green
}

impl Rio {
    fn rest(&mut self, at: &Arrival) {
        let missed = self.idle.missed(at);
        if missed > 0.0 {
            self.in_side.average.decay(0.0, missed);
            self.out_side.average.decay(0.0, missed);
        }
    }

    /// Moves the averages that the packet's side and the mode name.
    fn measure(&mut self, at: &Arrival, inside: bool) {
        let all = early::found(at, self.unit);
        let q_in = self.unit.of(self.waiting_in.packets as u32, self.waiting_in.bytes);
        if inside {
            self.in_side.average.update(q_in);
        }
        match self.mode {
            Mode::RioC => _ = self.out_side.average.update(all),
            Mode::RioD if !inside => _ = self.out_side.average.update(all - q_in),
            Mode::RioD => {}
        }
    }

    fn side(&mut self, packet: &Packet) -> &mut Side {
        if is_in(packet) { &mut self.in_side } else { &mut self.out_side }
    }
}

impl Aqm for Rio {
    type Params = Params;

    fn on_arrival(&mut self, at: &Arrival, packet: &mut Packet, rng: &mut Rng) -> Verdict {
        self.rest(at);
        self.measure(at, is_in(packet));
        let side = self.side(packet);
        side.precedence.decide(side.average.value(), rng)
    }

    fn on_fate(&mut self, _at: &Arrival, packet: &Packet, fate: Fate) {
        self.side(packet).precedence.on_fate(fate);
        if fate.stays() && is_in(packet) {
            self.waiting_in.add(packet.size);
        }
    }

    fn on_departure(&mut self, _at: &Departure, packet: &mut Packet, _rng: &mut Rng) -> Verdict {
        if is_in(packet) {
            self.waiting_in.packets -= 1;
            self.waiting_in.bytes -= u64::from(packet.size);
        }
        Verdict::Pass
    }

    fn needs(&self) -> Needs {
        Needs::DEPARTURES
    }

    fn warnings(&self, scope: &Scope) -> Vec<ParamError> {
        let of = |side: &Side, [key, name]: [&'static str; 2]| {
            side.precedence.warnings(self.unit, scope).into_iter().map(early::inside(key, name)).collect::<Vec<_>>()
        };
        [of(&self.in_side, ["in", "`in`"]), of(&self.out_side, ["out", "`out`"])].concat()
    }

    fn retune(&mut self, _now: Time, params: &Params, scope: &Scope) -> Result<(), ParamError> {
        let mut new = params.clone().build(scope)?;
        early::same_unit(self.unit, new.unit, "in")?;
        new.in_side.resume(&self.in_side);
        new.out_side.resume(&self.out_side);
        new.idle.resume(&self.idle);
        new.waiting_in = self.waiting_in;
        *self = new;
        Ok(())
    }

    fn gauges(&self, _now: Time, each: &mut dyn FnMut(&'static str, f64)) {
        let [of_in, of_out] = match (self.unit, self.mode) {
            (Unit::Packets, Mode::RioC) => ["avg_in_packets", "avg_queue_packets"],
            (Unit::Packets, Mode::RioD) => ["avg_in_packets", "avg_out_packets"],
            (Unit::Bytes, Mode::RioC) => ["avg_in_bytes", "avg_queue_bytes"],
            (Unit::Bytes, Mode::RioD) => ["avg_in_bytes", "avg_out_bytes"],
        };
        each(of_in, self.in_side.average.value());
        each(of_out, self.out_side.average.value());
        each("drop_p_in", self.in_side.drop_p());
        each("drop_p_out", self.out_side.drop_p());
    }
}
