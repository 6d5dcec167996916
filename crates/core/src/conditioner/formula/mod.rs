//! Formula: gives each packet the colour, or the label, that a formula of the scenario file says.
//!
//! Source: the file that states it. The language is that of [the AQM](aqm-formula.md).
//!
//! ```text
//! at each packet: `rates` take it in, `buckets` are filled, then the rules of `state`, then `sets`
//!   sets gives a colour: the packet has it, and pays from the buckets whose `pays` names it
//!   sets gives a rate:   it is the packet's label, in bytes/s, at least 1
//! rate with `window` W:  r = (r W + size) / (T + W), as TSW2CM    with `k`: r = (1 - e^(-T/k)) l/T + e^(-T/k) r, as rate-labeller
//! bucket:                filled at `rate` up to `burst`; with `from = "c"` also by what does not fit into c, as srTCM's second
//! ```
//!
//! | symbol | field                | unit  | default |
//! |--------|----------------------|-------|---------|
//! |        | `sets`               |       | -       |
//! | W      | `rates.NAME.window`  | s     | -       |
//! | k      | `rates.NAME.k`       | s     | -       |
//! |        | `rates.NAME.start`   | bit/s | 0bit/s  |
//! |        | `buckets.NAME.rate`  | bit/s | 0bit/s  |
//! |        | `buckets.NAME.burst` | B     | -       |
//! |        | `buckets.NAME.from`  |       | -       |
//! |        | `buckets.NAME.pays`  |       | -       |
//! |        | `state.NAME.start`   | any   | -       |
//! |        | `state.NAME.arrival` | any   | -       |
//!
//! Variables are `size`, `colour` (as the packet arrives), `ecn`, `now`, `gap` (since the last packet here), the rates and the
//! levels of the buckets in bytes, before the packet pays. `chance(p)` holds with probability p; at 0 and 1 nothing is drawn.
//!
//! ```ini
//! # token bucket
//! sets = "if(c >= size, green, red)"
//! buckets = { c = { rate = "1Mbit/s", burst = "10kB", pays = "green" } }
//! # TSW2CM
//! sets = "if(avg > 1Mbit/s and chance(1 - 1Mbit/s / avg), red, green)"
//! rates = { avg = { window = "1s", start = "1Mbit/s" } }
//! # srTCM, colour-blind
//! sets = "if(c >= size, green, e >= size, yellow, red)"
//! buckets = { c = { rate = "1Mbit/s", burst = "10kB", pays = "green" }, e = { burst = "20kB", from = "c", pays = "yellow" } }
//! ```
//!
//! A packet that pays more than a bucket holds, a chance that is no probability and what ends a formula of the AQM end the run with
//! the time and all values.
//!
//! Deviations: buckets count in bits x ns as those of other meters do, and the formula compares their level as a number of 64
//! bits. With buckets of up to 1 MB no comparison differs by that.
//!
//! Decision: docs/decisions/120-a-formula-is-compiled-once.md

mod law;

use super::marker::Mark;
use crate::Scope;
use crate::conditioner::{Conditioner, Passage, Writes};
use crate::formula::{Constant, Decision, Formula as Text, Named, Wrong};
use crate::packet::{Colour, Packet};
use crate::params::{Field, ParamError, Params as Declared, Reader, Tree};
use crate::port::turn::Turn;
use crate::rng::Rng;
use crate::units::{BitRate, Bytes, Span, Time};
use crate::verdict::Verdict;
use law::Law;

pub use law::Formula;

/// A measured rate.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct RateOf {
    /// Time sliding window: that of the estimate.
    pub window: Option<Span>,
    /// Instead of `window`: the constant of exponential averaging.
    pub k: Option<Span>,
    /// The estimate before the first packet.
    #[param(default = "0bit/s")]
    pub start: BitRate,
}

/// A token bucket, full at first.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct BucketOf {
    /// The rate that fills it.
    #[param(default = "0bit/s")]
    pub rate: BitRate,
    /// What it holds.
    pub burst: Bytes,
    /// The bucket before it whose overflow fills it too.
    pub from: Option<String>,
    /// The colours whose packets take their size from it.
    pub pays: Vec<Mark>,
}

/// A number that is remembered.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Variable {
    /// Its first value, with its unit.
    pub start: Constant,
    /// Its new value at each packet, before `sets`.
    pub arrival: Option<Text>,
}

/// What a scenario states, before its formulas are held against each other.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Stated {
    /// The packet's colour, or a rate that becomes its label.
    pub sets: Decision,
    /// Measured rates, by the names they have in formulas.
    pub rates: Named<RateOf>,
    /// Token buckets, by their names.
    pub buckets: Named<BucketOf>,
    /// Numbers that the formula remembers, by their names.
    pub state: Named<Variable>,
}

/// The same, with formulas whose names and units agree.
#[derive(Clone, Debug, PartialEq)]
pub struct Params(Box<Stated>);

impl Declared for Params {
    const FIELDS: &'static [Field] = Stated::FIELDS;

    fn read(reader: &mut Reader<'_>) -> Option<Self> {
        let stated = <Stated as Declared>::read(reader)?;
        Wrong::none_in(Law::assemble(&stated), reader.problems).then(|| Self(Box::new(stated)))
    }

    fn show(&self, out: &mut Vec<(&'static str, Tree)>) {
        self.0.show(out);
    }
}

impl Params {
    /// # Errors
    /// E239 for a rate with both `window` and `k`, E005 with neither, E201 for one of 0, E212 for a bucket below the largest packet
    /// that pays from it.
    pub fn build(self, scope: &Scope) -> Result<Formula, ParamError> {
        Formula::new(&self.0, Law::assemble(&self.0).map_err(Wrong::refused)?, scope)
    }
}

impl Conditioner for Formula {
    type Params = Params;

    #[inline]
    fn forward(&mut self, at: Turn<&Passage<'_>>, packet: &mut Packet, rng: &mut Rng) -> Verdict {
        self.take(at.now, packet, rng);
        Verdict::Pass
    }

    fn writes(&self) -> Writes {
        self.output()
    }

    fn gives(&self, arriving: Colour) -> &'static [Colour] {
        self.colours(arriving)
    }

    /// Numbers stay where name and unit do, rates and tokens where names do.
    fn retune(&mut self, now: Time, params: &Params, scope: &Scope) -> Result<(), ParamError> {
        let new = params.clone().build(scope)?;
        self.become_at(now, new)
    }

    fn gauges(&self, _now: Time, each: &mut dyn FnMut(&'static str, f64)) {
        self.values(each);
    }
}
