//! RIO: RED with IN and OUT. One FIFO has two REDs, so that packets within their profile (IN) are dropped later and
//! less often.
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
//! Each kind is judged as in RED, with its own thresholds and its own count. q and q_in count the packets ahead of
//! this one. IN is green; OUT is yellow, red and unmarked.
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
//! Deviations: those of RED. The paper does not say how avg_in decays in idle time. Here it decays with the total
//! while the whole queue is idle, whichever kind arrives first. In dsRED the idle time of IN starts when the last IN
//! packet leaves, and avg_in decays at the full link rate even while OUT packets are sent.

use super::early::{self, Averages, Common, Counted, Precedence, Profile, Unit};
use crate::Scope;
use crate::aqm::{Aqm, Arrival, Departure};
use crate::needs::Needs;
use crate::packet::{Colour, Packet};
use crate::params::{Choice, ParamError, Params as Declared};
use crate::port::turn::Turn;
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

impl Mode {
    fn counted(self) -> Counted {
        match self {
            Self::RioC => Counted::Coupled,
            Self::RioD => Counted::Separate,
        }
    }
}

/// Places of IN and OUT: their keys, and what errors call them.
const SIDES: [[&str; 2]; 2] = [["in", "`in`"], ["out", "`out`"]];
/// Names of series, by side: the average in packets, in bytes, its p_b.
const NAMES: [[&str; 3]; 2] =
    [["avg_in_packets", "avg_in_bytes", "drop_p_in"], ["avg_out_packets", "avg_out_bytes", "drop_p_out"]];

/// One queue's RIO.
#[derive(Clone, Debug)]
pub struct Rio {
    averages: Averages,
    sides: [Precedence; 2],
}

impl Params {
    /// # Errors
    /// As RED for each of `in` and `out`, E215 when both are out of reach; E219 when they are in different units.
    pub fn build(self, scope: &Scope) -> Result<Rio, ParamError> {
        let (in_side, unit) = self.side(0, scope)?;
        let (out_side, out_unit) = self.side(1, scope)?;
        early::one_unit(unit, out_unit, "out")?;
        let profiles = [&self.in_profile, &self.out_profile];
        Profile::any_in_reach(profiles, scope).map_err(early::inside("out", "`out`"))?;
        let averages = self.common.averages(self.mode.counted(), SIDES.len(), unit, scope)?;
        Ok(Rio { averages, sides: [in_side, out_side] })
    }

    fn side(&self, place: usize, scope: &Scope) -> Result<(Precedence, Unit), ParamError> {
        let [key, name] = SIDES[place];
        let profile = [&self.in_profile, &self.out_profile][place];
        self.common.precedence(profile, scope).map_err(early::inside(key, name))
    }
}

fn side(packet: &Packet) -> usize {
    usize::from(packet.colour != Colour::Green)
}

impl Aqm for Rio {
    type Params = Params;

    #[inline]
    fn on_arrival(&mut self, at: Turn<&Arrival>, packet: &mut Packet, rng: &mut Rng) -> Verdict {
        let place = side(packet);
        let average = self.averages.on_arrival(*at, place);
        self.sides[place].decide(average, at.backlog.ecn, rng)
    }

    #[inline]
    fn on_fate(&mut self, _at: Turn<&Arrival>, packet: &Packet, fate: Fate) {
        let place = side(packet);
        self.sides[place].on_fate(fate);
        self.averages.on_fate(fate, place, packet.size);
    }

    #[inline]
    fn on_departure(&mut self, _at: Turn<&Departure>, packet: &mut Packet, _rng: &mut Rng) -> Verdict {
        self.averages.on_departure(side(packet), packet.size);
        Verdict::Pass
    }

    fn needs(&self) -> Needs {
        self.averages.needs()
    }

    fn warnings(&self, scope: &Scope) -> Vec<ParamError> {
        let of = |(precedence, [key, name]): (&Precedence, [&'static str; 2])| {
            precedence
                .warnings(self.averages.unit(), scope)
                .into_iter()
                .map(early::inside(key, name))
                .collect::<Vec<_>>()
        };
        self.sides.iter().zip(SIDES).flat_map(of).collect()
    }

    fn retune(&mut self, _now: Time, params: &Params, scope: &Scope) -> Result<(), ParamError> {
        let mut new = params.clone().build(scope)?;
        early::same_unit(self.averages.unit(), new.averages.unit(), "in")?;
        new.averages.resume(&self.averages);
        for (side, old) in new.sides.iter_mut().zip(&self.sides) {
            side.resume(old);
        }
        *self = new;
        Ok(())
    }

    fn gauges(&self, _now: Time, each: &mut dyn FnMut(&'static str, f64)) {
        self.averages.gauges(|i| [NAMES[i][0], NAMES[i][1]], each);
        for (i, side) in self.sides.iter().enumerate() {
            each(NAMES[i][2], side.drop_p(self.averages.value(i)));
        }
    }
}
