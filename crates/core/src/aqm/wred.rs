//! WRED: weighted RED. Each colour or code point has its own thresholds and probability. All share one average of the
//! queue, or each has its own.
//!
//! Source: RED (Floyd and Jacobson 1993) with a profile for each drop precedence, for AF as RFC 2597 section 2 and
//! its appendix require; the averages are those of ns-2's dsRED, which gives them the names WRED, RIO-C and RIO-D.
//!
//! ```text
//! on arrival:  j = first profile whose `for` has the packet's code point or colour, or whose `match` agrees, else the last
//!   averages = common    avg moves by all that waits; each profile is judged by it
//!              coupled   avg_i, for each i >= j, moves by what waits of profiles 1 .. i; j is judged by avg_j
//!              separate  avg_j moves by what waits of profile j, and j is judged by it
//!   judged as in RED by the profile's min, max, max-p; each profile has its own count
//! queue idle before:  every average decays as in RED
//! ```
//!
//! | symbol    | field                    | unit       | default       | ns-2 dsRED    |
//! |-----------|--------------------------|------------|---------------|---------------|
//! |           | `profiles[].for`         |            | -             | `addPHBEntry` |
//! |           | `profiles[].match`     |            | -             | `addPHBEntry` |
//! | min       | `profiles[].min`         | p, B, s, % | -             | `configQ`     |
//! | max       | `profiles[].max`         | p, B, s, % | -             | `configQ`     |
//! | maxp      | `profiles[].max-p`       | -          | 0.1           | `configQ`     |
//! |           | `profiles[].curve`       |            | -             |               |
//! |           | `profiles[].interpolate` |            | -             |               |
//! |           | `profiles[].ecn-min`     | p, B, s, % | -             |               |
//! |           | `profiles[].ecn-max`     | p, B, s, % | -             |               |
//! |           | `profiles[].ecn-p`       | -          | -             |               |
//! |           | `averages`               |            | `common`      | `setMREDMode` |
//! | wq        | `wq`                     | -          | 0.002         | `configQ`     |
//! | -log2 wq  | `weight`                 | -          | -             |               |
//! |           | `mean-packet`            | B          | 500B          | `meanPktSize` |
//! | p_a       | `spacing`                |            | `uniformised` | `ds-red`      |
//! |           | `beyond`                 |            | `drop`        |               |
//! |           | `ecn`                    |            | false         |               |
//!
//! `curve`, `interpolate` and the thresholds of marks (`ecn-min`, `ecn-max`, `ecn-p`) are those of RED, for each
//! profile. `averages`: `common` is dsRED's mode WRED, `coupled` its RIO-C, `separate` its RIO-D. Only the last
//! profile may omit `for` and `match`. `for` takes colours (`green`, `yellow`, `red`, `unmarked`) and code points. A code point
//! does not imply a colour: write what the packets carry.
//!
//! With `coupled` the order of the list matters: the profile to be dropped last comes first. Two profiles, `for =
//! "green"` and the rest, then decide exactly as RIO; `for = ["green", "yellow"]` includes yellow in IN. A packet's
//! profile is fixed on arrival. So `for` may change during a run only with `common`, `match` never, and `averages` may change
//! between `coupled` and `separate` but not to or from `common`.
//!
//! Deviations: those of RED. dsRED keeps an idle time for each average; here all use the idle time of the queue (see
//! `early/averages`).

use std::sync::LazyLock;

use super::early::{self, Averages, Common, Counted, Precedence, Shape};
use crate::Scope;
use crate::aqm::members::{Filter, MOST, Members, Profiles};
use crate::aqm::{Aqm, Arrival, Departure};
use crate::needs::Needs;
use crate::packet::Packet;
use crate::params::{ParamError, Params as Declared};
use crate::port::turn::Turn;
use crate::rng::Rng;
use crate::units::Time;
use crate::verdict::{Fate, Verdict};

pub use crate::aqm::members::Member;

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// Thresholds of each drop precedence; first match, else the last.
    pub profiles: Vec<Class>,
    /// What the average that judges a packet counts.
    #[param(default = "common")]
    pub averages: Counted,
    /// Weight, spacing, ECN.
    #[param(flatten)]
    pub common: Common,
}

/// One drop precedence: which packets, and thresholds.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Class {
    /// Which packets it takes.
    #[param(flatten)]
    pub filter: Filter,
    /// The thresholds.
    #[param(flatten)]
    pub profile: Shape,
}

/// Names of series, by profile: the average in packets, in bytes, its p_b.
static NAMES: LazyLock<Vec<[String; 3]>> = LazyLock::new(|| {
    let of = |i| [format!("avg_{i}_packets"), format!("avg_{i}_bytes"), format!("drop_p_{i}")];
    (1..=MOST).map(of).collect()
});

/// One queue's WRED.
#[derive(Clone, Debug)]
pub struct Wred {
    averages: Averages,
    precedences: Vec<Precedence>,
    profiles: Profiles,
}

impl Params {
    /// # Errors
    /// As RED for each profile, E215 when all are out of reach; E219 when they are in different units; E201 when there
    /// is none; E223 when a profile can match no packet.
    pub fn build(self, scope: &Scope) -> Result<Wred, ParamError> {
        if self.profiles.is_empty() {
            return Err(ParamError::new("profiles", "E201", "`profiles` is empty".into())
                .help("write at least one: { for = [\"green\"], min = ..., max = ..., max-p = ... }"));
        }
        let profiles = Profiles::new(["profiles", "profile"], self.profiles.iter().map(|class| &class.filter), scope)?;
        let mut precedences = Vec::with_capacity(self.profiles.len());
        let mut units = Vec::with_capacity(self.profiles.len());
        for (i, class) in self.profiles.iter().enumerate() {
            let name = format!("profile {}", i + 1);
            let (precedence, unit) =
                self.common.shaped(&class.profile, scope).map_err(early::inside("profiles", &name))?;
            early::one_unit(*units.first().unwrap_or(&unit), unit, "profiles")?;
            precedences.push(precedence);
            units.push(unit);
        }
        Shape::any_in_reach(self.profiles.iter().map(|class| &class.profile), scope)
            .map_err(early::inside("profiles", &format!("profile {}", units.len())))?;
        let averages = self.common.averages(self.averages, precedences.len(), units[0], scope)?;
        Ok(Wred { averages, precedences, profiles })
    }
}

impl Wred {
    /// # Errors
    /// E202 if waiting packets would no longer count as they did on arrival.
    fn counts_as(&self, new: &Self) -> Result<(), ParamError> {
        let fault = |key, what: &str| Err(ParamError::new(key, "E202", format!("{what} while running")));
        match [self.averages.tells_apart(), new.averages.tells_apart()] {
            [false, false] => Ok(()),
            [true, true] if self.profiles.members == new.profiles.members => Ok(()),
            [true, true] => fault("profiles", "`for` of a profile changes")
                .map_err(|e| e.help("waiting packets are counted by `for`: change only thresholds")),
            _ => fault("averages", "`averages` changes from or to \"common\"")
                .map_err(|e| e.help("only \"coupled\" and \"separate\" may change into each other")),
        }
    }
}

impl Aqm for Wred {
    type Params = Params;

    #[inline]
    fn on_arrival(&mut self, at: Turn<&Arrival>, packet: &mut Packet, rng: &mut Rng) -> Verdict {
        let place = self.profiles.arrives(packet);
        let average = self.averages.on_arrival(*at, place);
        self.precedences[place].decide(average, at.backlog.ecn, rng)
    }

    fn on_fate(&mut self, _at: Turn<&Arrival>, packet: &Packet, fate: Fate) {
        let place = self.profiles.fate(packet, fate);
        self.precedences[place].on_fate(fate);
        self.averages.on_fate(fate, place, packet.size);
    }

    fn on_departure(&mut self, _at: Turn<&Departure>, packet: &mut Packet, _rng: &mut Rng) -> Verdict {
        let place = self.profiles.leaves(packet);
        self.averages.on_departure(place, packet.size);
        Verdict::Pass
    }

    fn needs(&self) -> Needs {
        self.averages.needs() | self.profiles.needs()
    }

    fn members(&mut self) -> Option<&mut Members> {
        Some(&mut self.profiles.members)
    }

    fn warnings(&self, scope: &Scope) -> Vec<ParamError> {
        let unit = self.averages.unit();
        let each = self.precedences.iter().enumerate().flat_map(|(i, precedence)| {
            let told = |error| early::inside("profiles", &format!("profile {}", i + 1))(error);
            precedence.warnings(unit, scope).into_iter().map(told).collect::<Vec<_>>()
        });
        each.collect()
    }

    /// Counts and averages are kept by the profile's place in the list.
    fn retune(&mut self, _now: Time, params: &Params, scope: &Scope) -> Result<(), ParamError> {
        let mut new = params.clone().build(scope)?;
        early::same_unit(self.averages.unit(), new.averages.unit(), "profiles")?;
        self.counts_as(&new)?;
        new.profiles.resume(&self.profiles, "profiles")?;
        new.averages.resume(&self.averages);
        for (precedence, old) in new.precedences.iter_mut().zip(&self.precedences) {
            precedence.resume(old);
        }
        *self = new;
        Ok(())
    }

    fn gauges(&self, _now: Time, each: &mut dyn FnMut(&'static str, f64)) {
        self.averages.gauges(|i| [&NAMES[i][0], &NAMES[i][1]], each);
        for (i, ([_, _, name], precedence)) in NAMES.iter().zip(&self.precedences).enumerate() {
            each(name, precedence.drop_p(self.averages.value(i)));
        }
    }
}
