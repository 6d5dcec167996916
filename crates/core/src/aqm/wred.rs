//! WRED: weighted RED. One average of the whole queue; thresholds and chance by colour or code point.
//!
//! Source: RED (Floyd and Jacobson 1993) with a profile for each drop precedence, for AF as RFC 2597 section 2 and
//! appendix asks; WRED is the name routers and ns-2's dsRED give it.
//!
//! ```text
//! on arrival:  avg as in RED, from all packets
//!              profile = first whose `for` has the packet's code point or colour, else the last
//!              judged as in RED by the profile's min, max, max-p; each profile has its own count
//! ```
//!
//! | symbol    | field              | unit       | default       | ns-2 dsRED      |
//! |-----------|--------------------|------------|---------------|-----------------|
//! |           | `profiles[].for`   |            | -             | `addPHBEntry`   |
//! | min       | `profiles[].min`   | p, B, s, % | -             | `configQ`       |
//! | max       | `profiles[].max`   | p, B, s, % | -             | `configQ`       |
//! | maxp      | `profiles[].max-p` | -          | 0.1           | `configQ`       |
//! | wq        | `wq`               | -          | 0.002         | `configQ`       |
//! | -log2 wq  | `weight`           | -          | -             |                 |
//! |           | `mean-packet`      | B          | 500B          | `meanPktSize`   |
//! | p_a       | `spacing`          |            | `uniformised` | `ds-red`        |
//! |           | `beyond`           |            | `drop`        |                 |
//! |           | `ecn`              |            | false         |                 |
//!
//! Only the last profile may leave `for` out. `for` takes colours (`green`, `yellow`, `red`, `unmarked`) and code
//! points; a code point does not stand for its colour: write what the packets carry.
//!
//! Deviations: those of RED.

use std::sync::LazyLock;

use super::early::{self, Average, Common, Precedence, Profile};
use crate::Scope;
use crate::aqm::members::{MOST, Members};
use crate::aqm::{Aqm, Arrival};
use crate::packet::Packet;
use crate::params::{ParamError, Params as Declared};
use crate::rng::Rng;
use crate::units::Time;
use crate::verdict::{Fate, Verdict};

pub use crate::aqm::members::Member;

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// Thresholds of each drop precedence; first match, else the last.
    pub profiles: Vec<Class>,
    /// Average, spacing, ECN.
    #[param(flatten)]
    pub common: Common,
}

/// One drop precedence: whose packets, and thresholds.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Class {
    /// Colours and code points of its packets; may be left out in the last profile.
    #[param(name = "for")]
    pub members: Vec<Member>,
    /// The thresholds.
    #[param(flatten)]
    pub profile: Profile,
}

/// Names of series, by profile.
static DROP_P: LazyLock<Vec<String>> = LazyLock::new(|| (1..=MOST).map(|i| format!("drop_p_{i}")).collect());

/// One queue's WRED.
#[derive(Clone, Debug)]
pub struct Wred {
    average: Average,
    precedences: Vec<Precedence>,
    members: Members,
}

impl Params {
    /// # Errors
    /// As RED for each profile, E215 when all are out of reach; E219 when they are in different units; E201 when there is none; E223 when a profile
    /// can match no packet.
    pub fn build(self, scope: &Scope) -> Result<Wred, ParamError> {
        if self.profiles.is_empty() {
            return Err(ParamError::new("profiles", "E201", "`profiles` is empty".into())
                .help("at least one: { for = [\"green\"], min = ..., max = ..., max-p = ... }"));
        }
        let members = Members::new(["profiles", "profile"], self.profiles.iter().map(|class| &*class.members))?;
        let mut precedences = Vec::with_capacity(self.profiles.len());
        let mut units = Vec::with_capacity(self.profiles.len());
        for (i, class) in self.profiles.iter().enumerate() {
            let name = format!("profile {}", i + 1);
            let (precedence, unit) =
                self.common.precedence(&class.profile, scope).map_err(early::inside("profiles", &name))?;
            early::one_unit(*units.first().unwrap_or(&unit), unit, "profiles")?;
            precedences.push(precedence);
            units.push(unit);
        }
        Profile::any_in_reach(self.profiles.iter().map(|class| &class.profile), scope)
            .map_err(early::inside("profiles", &format!("profile {}", units.len())))?;
        Ok(Wred { average: self.common.average(units[0], scope)?, precedences, members })
    }
}

impl Wred {
    #[inline]
    fn of(&mut self, packet: &Packet) -> &mut Precedence {
        &mut self.precedences[self.members.of(packet)]
    }
}

impl Aqm for Wred {
    type Params = Params;

    #[inline]
    fn on_arrival(&mut self, at: &Arrival, packet: &mut Packet, rng: &mut Rng) -> Verdict {
        let average = self.average.on_arrival(at);
        self.of(packet).decide(average, rng)
    }

    fn on_fate(&mut self, _at: &Arrival, packet: &Packet, fate: Fate) {
        self.of(packet).on_fate(fate);
    }

    fn warnings(&self, scope: &Scope) -> Vec<ParamError> {
        let unit = self.average.unit();
        let each = self.precedences.iter().enumerate().flat_map(|(i, precedence)| {
            let told = |error| early::inside("profiles", &format!("profile {}", i + 1))(error);
            precedence.warnings(unit, scope).into_iter().map(told).collect::<Vec<_>>()
        });
        each.collect()
    }

    /// Counts go on by the profile's place in the list.
    fn retune(&mut self, _now: Time, params: &Params, scope: &Scope) -> Result<(), ParamError> {
        let mut new = params.clone().build(scope)?;
        early::same_unit(self.average.unit(), new.average.unit(), "profiles")?;
        new.average.resume(&self.average);
        for (precedence, old) in new.precedences.iter_mut().zip(&self.precedences) {
            precedence.resume(old);
        }
        *self = new;
        Ok(())
    }

    fn gauges(&self, _now: Time, each: &mut dyn FnMut(&'static str, f64)) {
        let average = self.average.value();
        each(self.average.gauge(), average);
        for (name, precedence) in DROP_P.iter().zip(&self.precedences) {
            each(name, precedence.drop_p(average));
        }
    }
}
