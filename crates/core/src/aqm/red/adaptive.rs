//! Adaptive RED: max_p follows the average queue, so that the average stays near the middle between the thresholds.

use super::{Exact, Numbers, Params};
use crate::aqm::Backlog;
use crate::aqm::early::Ramp;
use crate::aqm::early::shape::Stated;
use crate::arithmetic::Arithmetic;
use crate::params::ParamError;
use crate::units::{Span, Time};

/// The parts of the ramp between which max_p stays as it is.
const TARGET: [f64; 2] = [0.4, 0.6];
/// max_p neither falls from below the first nor rises from above the second.
const BOUNDS: [f64; 2] = [0.01, 0.5];
/// The largest step up, and what is left by a step down.
const ALPHA: f64 = 0.01;
const BETA: f64 = 0.9;
/// Between two steps. Linux asks for 500 ms, which its timer wheel at 1000 Hz rounds up to the next multiple of 8 ms.
const INTERVAL: Span = Span::from_ms(500);
const INTERVAL_OF_LINUX: Span = Span::from_ms(504);

/// When max_p takes its next step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Steps {
    interval: Span,
    pub(super) next: Time,
    /// Where max_p began.
    stated: f64,
}

impl Steps {
    /// If the parameters ask for them.
    ///
    /// # Errors
    /// E239 for `adaptive` beside a curve, E201 for a `max-p` of 0, which could never rise.
    pub(super) fn of(params: &Params) -> Result<Option<Self>, ParamError> {
        if !params.adaptive {
            return Ok(None);
        }
        let Stated::Ramp(profile) = &params.profile.drops else {
            let error = ParamError::new("adaptive", "E239", "`adaptive` beside `curve`".into());
            return Err(error.help("remove `adaptive`, or write `min`, `max` and `max-p`, which it adapts"));
        };
        if profile.max_p.get() == 0.0 {
            let error = ParamError::new("max-p", "E201", "`max-p` is 0 with `adaptive`".into());
            return Err(error.help("must be above 0, e.g. 0.02: its steps are shares of it"));
        }
        let interval = if params.arithmetic == Arithmetic::Linux { INTERVAL_OF_LINUX } else { INTERVAL };
        Ok(Some(Self { interval, next: Time::ZERO + interval, stated: profile.max_p.get() }))
    }

    /// Continues from the state of `old`: max_p stays where it is, unless it is to begin elsewhere.
    pub(super) fn resume(&mut self, old: &Self, numbers: &mut Numbers, old_numbers: &Numbers) {
        self.next = old.next;
        if self.stated == old.stated {
            numbers.keep_max_p(old_numbers);
        }
    }

    /// The time of the step has come.
    pub(super) fn take(&mut self, numbers: &mut Numbers, now: Time, backlog: &Backlog) {
        self.next = now + self.interval;
        match numbers {
            Numbers::Exact(red) => red.adapt(now, backlog),
            Numbers::Linux(red) => red.adapt(now, backlog.idle_since),
        }
    }
}

impl Numbers {
    fn keep_max_p(&mut self, old: &Self) {
        match (self, old) {
            (Self::Exact(new), Self::Exact(old)) => new.begin_at(old.max_p()),
            (Self::Linux(new), Self::Linux(old)) => new.keep_max_p(old),
            _ => {}
        }
    }
}

impl Exact {
    fn begin_at(&mut self, max_p: f64) {
        if let Some(ramp) = self.precedence.ramp() {
            self.precedence.reshape(ramp.with_max_p(max_p));
        }
    }

    fn adapt(&mut self, now: Time, backlog: &Backlog) {
        let average = self.average.at(now, backlog.idle_since);
        if let Some(ramp) = self.precedence.ramp() {
            self.begin_at(adapted(ramp, average));
        }
    }
}

/// max_p after a step.
fn adapted(ramp: &Ramp, average: f64) -> f64 {
    let (max_p, [low, high]) = (ramp.max_p(), TARGET.map(|part| ramp.part(part)));
    if average > high && max_p <= BOUNDS[1] {
        max_p + ALPHA.min(max_p / 4.0)
    } else if average < low && max_p >= BOUNDS[0] {
        max_p * BETA
    } else {
        max_p
    }
}
