//! `random-detect`: WRED, its profiles and its average.
//!
//! ```text
//! random-detect [dscp-based | prec-based | discard-class-based]
//! random-detect dscp X MIN MAX [DENOMINATOR]              packets, or `bytes`, `ms`, `us` behind each
//! random-detect dscp values X Y minimum-thresh MIN maximum-thresh MAX mark-prob DENOMINATOR
//! random-detect dscp X percent MIN MAX                    of the limit
//! ```

use super::words::{Outcome, Words, length, wanted};
use crate::ios::plan::{At, Basis, Class, Of, Profile, WithPlace, Wred};
use perhop_core::units::Length;

/// One of ten packets is dropped at the largest average below the maximum.
pub const DENOMINATOR: u64 = 10;

/// `random-detect ..`
pub fn random_detect(class: &mut Class, words: &mut Words<'_>) -> Outcome {
    let at = words.row().at();
    let wred = class.waiting.wred.get_or_insert_default();
    let ahead = words.clone();
    match words.take() {
        "" | "default" => enable(wred, at, None),
        "dscp-based" => enable(wred, at, Some(Basis::Dscp)),
        "prec-based" | "precedence-based" => enable(wred, at, Some(Basis::Precedence)),
        "discard-class-based" => enable(wred, at, Some(Basis::DiscardClass)),
        "cos-based" | "exp-based" | "mpls-exp-based" | "atm-clp-based" | "clp-based" => {
            enable(wred, at, Some(Basis::Other));
            return Ok(Some(OTHER.into()));
        }
        "ecn" => wred.ecn = Some(at),
        "exponential-weighting-constant" => wred.weight = Some(words.count()?),
        "aggregate" => of_all(wred, words)?,
        field @ ("dscp" | "precedence" | "discard-class") => profiles(wred, field, words)?,
        field @ ("cos" | "exp" | "clp") => {
            profiles(wred, field, words)?;
            return Ok(Some(OTHER.into()));
        }
        word if word.starts_with(|c: char| c.is_ascii_digit()) => {
            *words = ahead;
            enable(wred, at, None);
            of_all(wred, words)?;
        }
        word => return Err(format!("{} of `random-detect`", wanted(word, "a part"))),
    }
    Ok(None)
}

/// What happens with profiles by a field that no packet here has.
const OTHER: &str = "no packet here has this field: all packets meet the thresholds of value 0";

fn enable(wred: &mut Wred, at: At, basis: Option<Basis>) {
    wred.at = wred.at.or(Some(at));
    wred.basis = basis.or(wred.basis);
}

fn profiles(wred: &mut Wred, field: &str, words: &mut Words<'_>) -> Result<(), String> {
    let mut keys = if words.has("values") { words.until(&["minimum-thresh", "percent"]) } else { words.one() };
    let keys = of(field, &mut keys)?;
    let (min, max, denominator) = thresholds(words)?;
    let at = words.row().at();
    let profile = |of| Profile { of, thresholds: Some([min, max]), denominator };
    wred.profiles.extend(keys.into_iter().map(|of| WithPlace { is: profile(of), at }));
    Ok(())
}

/// Whom a profile is for.
pub fn of(field: &str, words: &mut Words<'_>) -> Result<Vec<Of>, String> {
    if field == "dscp" {
        return words.dscps().map(|list| vec![Of::Dscp(list)]);
    }
    let one = |number| match field {
        "precedence" => Of::Precedence(number),
        "discard-class" => Of::DiscardClass(number),
        _ => Of::Other,
    };
    Ok(words.precedences()?.into_iter().map(one).collect())
}

/// Thresholds without a key.
fn of_all(wred: &mut Wred, words: &mut Words<'_>) -> Result<(), String> {
    let at = words.row().at();
    let (min, max, denominator) = thresholds(words)?;
    wred.profiles.push(WithPlace { is: Profile { of: Of::All, thresholds: Some([min, max]), denominator }, at });
    Ok(())
}

/// `MIN MAX [DENOMINATOR]`
fn thresholds(words: &mut Words<'_>) -> Result<(Length, Length, u64), String> {
    let percent = words.has("percent");
    words.has_any(&["minimum-thresh", "minimum-threshold"]);
    let mut min = words.length()?.is;
    words.has_any(&["maximum-thresh", "maximum-threshold"]);
    let mut max = words.length()?.is;
    if percent {
        (min, max) = (of_limit(min), of_limit(max));
    }
    if let (Length::Packets(low), false) = (min, matches!(max, Length::Packets(_))) {
        min = in_unit_of(low.get().into(), max)?;
    }
    words.has_any(&["mark-prob", "mark-probability"]);
    let denominator = if words.is_number() { words.number()? } else { DENOMINATOR };
    match denominator {
        0 => Err("0 is not a denominator".into()),
        denominator => Ok((min, max, denominator)),
    }
}

fn of_limit(length: Length) -> Length {
    match length {
        Length::Packets(count) => Length::Percent(count.get().into()),
        other => other,
    }
}

/// `100 200 bytes`: the unit behind the second counts for both.
fn in_unit_of(count: u64, other: Length) -> Result<Length, String> {
    let unit = match other {
        Length::Bytes(_) => "bytes",
        Length::Time(span) if span.ns() % 1_000_000 == 0 => "ms",
        Length::Time(_) => "us",
        Length::Percent(_) => "%",
        Length::Packets(_) => "packets",
    };
    length(count, unit)
}
