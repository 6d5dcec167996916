//! `be` of `police`: two words in one. Without `pir` it is the excess burst of RFC 2697, with it the peak burst of RFC 2698.
//!
//! Sources: RFC 2698 section 3: a packet that does not fit into the peak bucket is red, whatever the committed bucket holds. Cisco,
//! command reference, "police (two rates)": `be` is the peak burst, the size of the second token bucket. The same, "police": one
//! token bucket where `violate-action` is not specified.

use super::Rule;
use super::case::{Case, finding};
use super::ios::{bytes, classes, stated, with};
use crate::finding::Finding;
use crate::ios::plan::{Class, Police};
use perhop_core::units::{BitRate, Bytes};

const CODE: &str = "W420";

/// The rule.
pub(super) const RULE: Rule = Rule { code: CODE, dialect: Some("ios"), instead_of: &[], find };

fn find(case: &Case<'_>) -> Vec<Finding> {
    let police = |class: &Class| {
        let police = class.police.as_ref()?;
        peak(case, police).or_else(|| unused(case, police))
    };
    classes(case).filter_map(police).collect()
}

/// A peak burst that looks like an excess burst.
fn peak(case: &Case<'_>, police: &Police) -> Option<Finding> {
    let (cir, pir) = (stated(police.cir)?, stated(police.pir?)?);
    let (bc, be) = (bytes(police.bc)?, bytes(police.be)?);
    let at = be.at;
    let (bc, be) = (bc.is, be.is);
    let message = match (be < bc, is_excess(cir, pir, [bc, be])) {
        (true, _) => format!(
            "with `pir`, `be` is the peak burst (RFC 2698), and {} is below `bc` {}: a burst violates after {} B, though `bc` still \
             has {} B",
            be.get(),
            bc.get(),
            be.get(),
            bc.get() - be.get()
        ),
        (false, true) => format!(
            "with `pir`, `be` is the peak burst (RFC 2698), and {} is `bc` x (pir - cir) / cir, the excess alone: {} of `pir`, where \
             `bc` is {} of `cir`",
            be.get(),
            be / pir,
            bc / cir
        ),
        _ => return None,
    };
    let instead = with(case, police.at, vec![(at.place, scaled(bc, pir, cir)?.get().to_string())]);
    Some(finding(CODE, at.place, message, instead))
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

/// An excess burst where nothing is done with what exceeds both.
fn unused(case: &Case<'_>, police: &Police) -> Option<Finding> {
    let be = bytes(police.be).filter(|be| be.is.get() > 0)?;
    let [_, exceed, violate] = &police.actions;
    if police.bc.is_none() || police.pir.is_some() || exceed.is_none() || violate.is_some() {
        return None;
    }
    let message = format!(
        "`be` {} has no effect: without `violate-action` there is one token bucket, and what does not fit into `bc` exceeds",
        be.is.get()
    );
    let line = with(case, police.at, Vec::new());
    Some(finding(CODE, be.at.place, message, format!("{line}, and below it violate-action drop")))
}
