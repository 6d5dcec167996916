//! RED and CHOKe as tc says them: their weight by the burst that has it.

use super::words::{keys, rate};
use crate::tc::early;
use crate::tc::typed::{self, Joint};
use perhop_core::Scope;
use perhop_core::aqm::choke;
use perhop_core::aqm::early::shape::Stated;
use perhop_core::aqm::early::{Common, Level, Profile, Unit};
use perhop_core::aqm::red::Params;
use perhop_core::arithmetic::Arithmetic;
use perhop_core::units::{BitRate, Length};

/// The largest burst that is looked at, packets.
const MOST_BURST: u32 = 1 << 20;

/// The queueing discipline, in front of `link` where its scope knows no rate.
///
/// # Errors
/// What Linux's RED does not have.
pub(super) fn red(params: &Params, limit: u64, scope: &Scope, link: BitRate) -> Result<String, String> {
    if params.arithmetic != Arithmetic::Linux {
        return Err("`red` without `arithmetic = \"linux\"`: Linux keeps another average".into());
    }
    let Stated::Ramp(ramp) = &params.profile.drops else { return Err("`curve` of `red`".into()) };
    let queue = Queue { name: "red", unit: Unit::Bytes, limit, scope, link };
    queue.words(ramp, &params.common, params)
}

/// As [`red`].
///
/// # Errors
/// What Linux's CHOKe does not have.
pub(super) fn choke(params: &choke::Params, limit: u32, scope: &Scope, link: BitRate) -> Result<String, String> {
    if params.arithmetic != Arithmetic::Linux {
        return Err("`choke` without `arithmetic = \"linux\"`: Linux keeps another average".into());
    }
    let queue = Queue { name: "choke", unit: Unit::Packets, limit: limit.into(), scope, link };
    queue.words(&params.profile, &params.common, params)
}

/// A queue of RED's kind.
struct Queue<'a> {
    name: &'static str,
    /// What Linux counts.
    unit: Unit,
    limit: u64,
    scope: &'a Scope,
    link: BitRate,
}

impl Queue<'_> {
    fn words(
        &self,
        ramp: &Profile,
        common: &Common,
        params: &impl perhop_core::params::Params,
    ) -> Result<String, String> {
        let Self { name, limit, .. } = self;
        let (min, max) = (self.threshold("min", ramp.min)?, self.threshold("max", ramp.max)?);
        let (packet, weight) = (common.mean_packet.get(), common.weight.0);
        let packets = min as f64 / if self.unit == Unit::Bytes { packet as f64 } else { 1.0 };
        let burst = burst(weight, packets);
        let burst = burst.ok_or_else(|| format!("`wq` = {weight} of `{name}` with this `min`: no `burst` gives it"))?;
        let numbers = [("limit", *limit), ("min", min), ("max", max), ("burst", burst.into())];
        let mut joint: Vec<Joint> = numbers.map(|(word, number)| (word, number.to_string())).into();
        joint.push(("bandwidth", rate(self.scope.link_rate.unwrap_or(self.link))));
        Ok(typed::words(name, &keys(params), &joint))
    }

    /// A threshold in what Linux counts.
    fn threshold(&self, key: &'static str, threshold: Length) -> Result<u64, String> {
        let [not, counts] = match self.unit {
            Unit::Bytes => ["packets", "bytes"],
            Unit::Packets => ["bytes or time", "packets"],
        };
        let level = Level::of(key, threshold, self.scope).ok().filter(|level| level.unit == self.unit);
        let level = level.ok_or_else(|| format!("`{key}` of `{}` in {not}: Linux counts {counts}", self.name))?;
        Ok(level.value as u64)
    }
}

/// The least burst, in packets, for which tc chooses this weight.
fn burst(weight: f64, min: f64) -> Option<u32> {
    let log = (1..32).find(|log| 1.0 / (1u64 << log) as f64 == weight)?;
    (1..MOST_BURST).find(|it| early::weight(u64::from(*it), min) == Some(log))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// tc: `min 15000 avpkt 1000 burst 25` gives `ewma 4`, and a smaller burst a larger weight.
    #[test]
    fn a_burst_has_its_weight() {
        let found = burst(1.0 / 16.0, 15.0).unwrap();
        assert!(found <= 25 && burst(1.0 / 8.0, 15.0).unwrap() < found, "{found}");
        assert_eq!(burst(0.3, 15.0), None);
    }
}
