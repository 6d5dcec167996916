//! RED as Linux 6.12's qdisc of this name decides.

use super::Params;
use crate::Scope;
use crate::aqm::Arrival;
use crate::aqm::early::linux::{Red, absent};
use crate::aqm::early::shape::{Shape, Stated};
use crate::aqm::early::{Profile, Unit};
use crate::params::ParamError;
use crate::rng::Rng;
use crate::verdict::{Reason, Verdict};

/// # Errors
/// E239 for what Linux does not have.
fn profile(params: &Params) -> Result<&Profile, ParamError> {
    let Shape { drops, marks } = &params.profile;
    let Stated::Ramp(profile) = drops else { return Err(absent("curve", "RED")) };
    match marks {
        Some(_) => Err(absent("ecn-min", "RED")),
        None if params.min_waiting.get() > 0 => Err(absent("min-waiting", "RED")),
        None => Ok(profile),
    }
}

pub(super) fn build(params: &Params, scope: &Scope) -> Result<Red, ParamError> {
    Red::new("RED", Unit::Bytes, profile(params)?, &params.common, scope)
}

pub(super) fn on_arrival(red: &mut Red, at: &Arrival, rng: &mut Rng) -> Verdict {
    let average = red.on_arrival(at, at.backlog.bytes);
    if average < red.set.min {
        red.rest();
        return Verdict::Pass;
    }
    if average >= red.set.max {
        red.rest();
        return if red.set.ecn && at.backlog.ecn { Verdict::Mark } else { Verdict::Drop(Reason::Forced) };
    }
    match red.is_due(rng) {
        false => Verdict::Pass,
        true if red.set.ecn => Verdict::Mark,
        true => Verdict::Drop(Reason::Early),
    }
}
