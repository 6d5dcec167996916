//! RED as tc says it: its weight by the burst that has it.

use super::words::{ecn, rate};
use perhop_core::aqm::early::shape::Stated;
use perhop_core::aqm::red::Params;
use perhop_core::arithmetic::Arithmetic;
use perhop_core::units::{BitRate, Length};

/// The largest burst that is looked at, packets.
const MOST_BURST: u32 = 1 << 20;

/// The queueing discipline; `None` where Linux has no such RED.
pub(super) fn red(params: &Params, limit: u64, link: BitRate) -> Option<String> {
    let Stated::Ramp(ramp) = &params.profile.drops else { return None };
    let (Length::Bytes(min), Length::Bytes(max)) = (ramp.min, ramp.max) else { return None };
    let packet = params.common.mean_packet.get();
    let burst = burst(params.common.weight.0, min.get() as f64 / packet as f64)?;
    let linux = params.arithmetic == Arithmetic::Linux;
    linux.then(|| {
        format!(
            "red limit {limit} min {} max {} avpkt {packet} burst {burst} probability {} bandwidth {}{}",
            min.get(),
            max.get(),
            ramp.max_p.get(),
            rate(link),
            if params.common.ecn { format!(" {}", ecn(true)) } else { String::new() },
        )
    })
}

/// The least burst, in packets, for which tc chooses this weight: the first weight 1/2, 1/4, .. for which a burst after an
/// empty queue leaves the average at `min` packets or below.
fn burst(weight: f64, min: f64) -> Option<u32> {
    let chosen = |burst: u32| {
        let over = f64::from(burst) + 1.0 - min;
        let fits = |w: &f64| over <= (1.0 - (1.0 - w).powi(burst as i32)) / w;
        (over >= 1.0).then(|| (1..32).map(|log| 1.0 / f64::from(1u32 << log)).find(fits)).flatten()
    };
    (1..MOST_BURST).find(|&it| chosen(it) == Some(weight))
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
