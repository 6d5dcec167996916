//! Policers of IOS: their peak burst, and a shaper behind them.

use super::policies::{bits, bytes, classes, drops, stated, uses, with};
use super::{Case, Rule};
use crate::ios::plan::{Class, Police};
use crate::model::Way;
use crate::rules::Remark;
use crate::rules::policers::{DROPS_FIRST, drops_first};
use perhop_core::units::{BitRate, Bytes};

/// Of bursts, and of classes with a shaper.
pub(super) const RULES: &[Rule] = &[
    Rule::new("W420", &[], |case| {
        let police = classes(case.parse).filter_map(|class| class.police.as_ref());
        police.filter_map(|police| peak(case, police).or_else(|| unused(case, police))).collect()
    }),
    Rule::new(DROPS_FIRST, &["W301"], |case| {
        let uses = uses(case).into_iter().filter(|it| it.way != Some(Way::Input));
        uses.flat_map(|it| it.policy.classes.iter().filter_map(move |class| polices_and_shapes(class, it.base)))
            .collect()
    }),
];

/// W420: `be` of `police`, two words in one. Without `pir` it is the excess burst of RFC 2697, with it the peak burst
/// of RFC 2698. Here a peak burst that looks like an excess burst.
///
/// RFC 2698 section 3: a packet that does not fit into the peak bucket is red, whatever the committed bucket holds.
/// Cisco, command reference, "police (two rates)": `be` is the peak burst, the size of the second token bucket.
fn peak(case: &Case<'_>, police: &Police) -> Option<Remark> {
    let (cir, pir) = (stated(police.cir)?, stated(police.pir?)?);
    let (bc, be) = (bytes(police.bc)?, bytes(police.be)?);
    let place = be.at.place;
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
    let instead = with(case.text, police.at, vec![(place, scaled(bc, pir, cir)?.get().to_string())]);
    Some(Remark { place, message, instead })
}

/// Whether it is what a calculation of the excess gives, to 1 %: `bc` in the ratio of what the peak rate adds. At twice
/// the rate that is `bc` again, which many write on purpose.
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

/// W420: an excess burst where nothing is done with what exceeds both.
///
/// Cisco, command reference, "police": one token bucket where `violate-action` is not specified.
fn unused(case: &Case<'_>, police: &Police) -> Option<Remark> {
    let be = bytes(police.be).filter(|be| be.is.get() > 0)?;
    let [_, exceed, violate] = &police.actions;
    if police.bc.is_none() || police.pir.is_some() || exceed.is_none() || violate.is_some() {
        return None;
    }
    let message = format!(
        "`be` {} has no effect: without `violate-action` there is one token bucket, and what does not fit into `bc` exceeds",
        be.is.get()
    );
    let line = with(case.text, police.at, Vec::new());
    Some(Remark { place: be.at.place, message, instead: format!("{line}, and below it violate-action drop") })
}

/// W427: a policer and a shaper on the same packets, the policer no faster.
///
/// A policer drops what finds no tokens, at once (RFC 2475 section 2.3.3.4); a shaper delays it (section 2.3.3.3). The
/// order of IOS at output: policing, then queueing. Known from VyOS: 300 Mbit/s shaped and policed gave TCP 3 to 11
/// Mbit/s.
fn polices_and_shapes(class: &Class, base: Option<BitRate>) -> Option<Remark> {
    let (shape, police) = (class.shaping.shape.as_ref()?, class.police.as_ref()?);
    let (rate, cir) = (bits(shape.rate.is, base)?, bits(police.cir.is, base)?);
    if cir > rate || police.pir.is_some() || !drops(police) {
        return None;
    }
    let message = format!(
        "`police` {cir} and `shape` {rate} in class {}: {}",
        class.name,
        drops_first(bytes(police.bc).map(|bc| bc.is), "the shaper")
    );
    let instead = format!("shape average {} alone, without `police`", cir.bit_s());
    Some(Remark { place: police.at.place, message, instead })
}
