//! `be` of `police`: two words in one. Without `pir` it is the excess burst of RFC 2697, with it the peak burst of RFC 2698.
//!
//! Sources: RFC 2698 section 3: a packet that does not fit into the peak bucket is red, whatever the committed bucket holds. Cisco,
//! command reference, "police (two rates)": `be` is the peak burst, the size of the second token bucket.

use super::Rule;
use super::case::{Case, finding, is_said};
use crate::finding::Finding;
use crate::model::Conditioner;
use perhop_core::units::{BitRate, Bytes};

const CODE: &str = "W420";

/// The rule.
pub(super) const RULE: Rule = Rule { code: CODE, dialect: Some("ios"), instead_of: &[], find };

fn find(case: &Case<'_>) -> Vec<Finding> {
    let ports = case.read.device.ports.iter();
    ports.flat_map(|port| &port.conditioners).filter_map(peak).collect()
}

/// A peak burst that looks like an excess burst.
fn peak(meter: &Conditioner) -> Option<Finding> {
    let keys = &meter.settings;
    let (cir, pir) = (keys.rate("cir")?, keys.rate("pir")?);
    let (bc, be) = (keys.bytes("cbs")?, keys.bytes("pbs")?);
    let said = meter.kind == "trtcm" && keys.get("pbs").is_some_and(is_said);
    if !said || !(be < bc || is_excess(cir, pir, [bc, be])) {
        return None;
    }
    let means = "with `pir`, `be` is the peak burst (RFC 2698), not what may exceed `bc` (RFC 2697)";
    let message = match be < bc {
        true => format!(
            "`be` {} is below `bc` {}: {means}; a burst violates after {} B, though `bc` has tokens left for {} B",
            be.get(),
            bc.get(),
            be.get(),
            bc.get() - be.get()
        ),
        false => format!(
            "`be` {} is `bc` x (pir - cir) / cir: {means}; it is {} of `pir`, less than the {} that `bc` is of `cir`",
            be.get(),
            be / pir,
            bc / cir
        ),
    };
    let peak = scaled(bc, pir, cir)?;
    let instead = format!("police cir {} bc {} pir {} be {}", cir.bit_s(), bc.get(), pir.bit_s(), peak.get());
    Some(finding(CODE, key_place_of(meter), message, instead))
}

fn key_place_of(meter: &Conditioner) -> perhop_core::params::Place {
    meter.settings.get("pbs").and_then(|said| said.origin.place()).unwrap_or_default()
}

/// Whether it is what a calculation of the excess gives, to 1 %: `bc` in the ratio of what the peak rate adds. At twice the rate
/// that is `bc` again, which many write on purpose.
fn is_excess(cir: BitRate, pir: BitRate, [bc, be]: [Bytes; 2]) -> bool {
    let (cir, pir, bc, be) = (cir.bit_s() as f64, pir.bit_s() as f64, bc.get() as f64, be.get() as f64);
    let excess = bc * (pir - cir) / cir;
    pir > 2.0 * cir && (be - excess).abs() <= 0.01 * excess
}

/// Bytes that last as long at `to` as `bytes` do at `from`.
fn scaled(bytes: Bytes, to: BitRate, from: BitRate) -> Option<Bytes> {
    let scaled = u128::from(bytes.get()) * u128::from(to.bit_s()) / u128::from(from.bit_s()).max(1);
    u64::try_from(scaled).ok().map(Bytes::new)
}
