//! Conditioners as `police` and `set` in a class.

use super::words::{POLICE_BURST, POLICE_RATE, dscp, within};
use perhop_core::conditioner::ConditionerParams;
use perhop_core::framing::Framing;
use perhop_core::packet::Colour;
use perhop_core::port::edge::{Action, Per, Rewrite, StageSpec};
use perhop_core::units::{BitRate, Burst, Bytes, MeterRate};

/// The lines of a class.
///
/// # Errors
/// What IOS cannot say.
pub(super) fn conditioner(stage: &StageSpec) -> Result<Vec<String>, String> {
    let three = [Colour::Green, Colour::Yellow, Colour::Red];
    let two = [Colour::Green, Colour::Red];
    let lines = match &stage.params {
        ConditionerParams::TokenBucketMarker(it) => {
            if it.pir.is_some() {
                return Err("`pir` of `token-bucket`, a peak that makes no colour: `trtcm` has one that does".into());
            }
            if it.mtu.is_some() {
                return Err("`mtu` of `token-bucket`".into());
            }
            metered(stage, [("cir", "bc", it.cir, it.cbs)].as_slice(), it.framing, &two)
        }
        ConditionerParams::SrTcm(it) => {
            blind(it.colour_aware)?;
            metered(stage, &[("cir", "bc", it.cir, it.cbs), ("", "be", it.cir, it.ebs)], it.framing, &three)
        }
        ConditionerParams::TrTcm(it) => {
            blind(it.colour_aware)?;
            metered(stage, &[("cir", "bc", it.cir, it.cbs), ("pir", "be", it.pir, it.pbs)], it.framing, &three)
        }
        ConditionerParams::Marker(it) => set(stage.actions[it.colour.colour().index()]),
        other => Err(format!("`{}`: IOS meters by token buckets (RFC 2697, RFC 2698)", other.name())),
    }?;
    if stage.per != Per::Aggregate {
        return Err(format!(
            "`per = \"{}\"`: a policer of IOS has one bucket for all packets of its class",
            stage.per.name()
        ));
    }
    Ok(lines)
}

/// What may happen to a packet.
pub(super) fn outcomes(stage: &StageSpec) -> Vec<Action> {
    let colours: &[Colour] = match &stage.params {
        ConditionerParams::Marker(marker) => &[marker.colour.colour()],
        ConditionerParams::TokenBucketMarker(_) => &[Colour::Green, Colour::Red],
        _ => &Colour::METERED,
    };
    colours.iter().map(|colour| stage.actions[colour.index()]).collect()
}

/// Notes about what is written.
pub(super) fn notes(stage: &StageSpec) -> Vec<String> {
    let ConditionerParams::TokenBucketMarker(bucket) = &stage.params else { return Vec::new() };
    let note = format!("`arithmetic` of conditioner `{}`: IOS counts tokens in its own units", stage.name);
    bucket.arithmetic.map(|_| note).into_iter().collect()
}

/// # Errors
/// It is not.
fn blind(aware: bool) -> Result<(), String> {
    if aware { Err("`colour-aware`: IOS takes colours from class maps, perhop from the packet".into()) } else { Ok(()) }
}

/// Words of a rate and of its burst with their values; no word for a rate that has been said.
type Bucket = (&'static str, &'static str, MeterRate, Burst);

/// `police` with an action for each of these colours.
///
/// # Errors
/// What IOS cannot say.
fn metered(stage: &StageSpec, buckets: &[Bucket], framing: Framing, colours: &[Colour]) -> Result<Vec<String>, String> {
    if let Some(key) = framing.stated() {
        return Err(format!("`{key}` of a policer"));
    }
    let words = buckets.iter().map(bucket).collect::<Result<Vec<_>, _>>()?;
    let outcomes = ["conform-action", "exceed-action", "violate-action"];
    let actions = outcomes.iter().zip(colours).map(|(word, colour)| {
        let action = action(stage.actions[colour.index()])?;
        Ok(format!(" {word} {action}"))
    });
    let actions = actions.collect::<Result<Vec<_>, String>>()?;
    Ok([format!("police{}", words.concat())].into_iter().chain(actions).collect())
}

/// ` cir 4000000 bc 50000`
fn bucket(&(rate_word, burst_word, rate, burst): &Bucket) -> Result<String, String> {
    let depth = burst.tokens(rate).ok_or("a bucket in other units than its rate")?;
    match rate {
        MeterRate::Bits(bits) => {
            let burst = burst_of(burst_word, depth)?;
            let rate = if rate_word.is_empty() {
                String::new()
            } else {
                format!(" {rate_word} {}", rate_of(rate_word, bits)?)
            };
            Ok(format!("{rate} {burst_word} {burst}"))
        }
        MeterRate::Packets(packets) if rate_word == "cir" => {
            Ok(format!(" rate {} pps burst {} packets", packets.packets_s(), depth.get()))
        }
        MeterRate::Packets(_) => Err("three colours of a rate in packets".into()),
    }
}

fn rate_of(word: &str, rate: BitRate) -> Result<u64, String> {
    within(&format!("a `{word}` in bit/s"), rate.bit_s(), &POLICE_RATE)?;
    Ok(rate.bit_s())
}

fn burst_of(word: &str, burst: Bytes) -> Result<u64, String> {
    within(&format!("a burst (`{word}`) in bytes"), burst.get(), &POLICE_BURST)?;
    Ok(burst.get())
}

/// A policer alone, whose rate is held in all cases.
///
/// # Errors
/// Its bounds.
pub(super) fn limit(rate: BitRate, burst: Bytes) -> Result<Vec<String>, String> {
    let (rate, burst) = (rate_of("rate", rate)?, burst_of("bc", burst)?);
    Ok(vec![format!("police cir {rate} bc {burst}"), " conform-action transmit".into(), " exceed-action drop".into()])
}

/// An action of a policer.
///
/// # Errors
/// What IOS cannot say.
fn action(action: Action) -> Result<String, String> {
    match action {
        Action::Drop => Ok("drop".into()),
        Action::Pass(Rewrite { colour: Some(_), .. }) => Err("colours that it sets: write code points".into()),
        Action::Pass(Rewrite { dscp: Some(code), .. }) => Ok(format!("set-dscp-transmit {}", dscp(code))),
        Action::Pass(_) => Ok("transmit".into()),
    }
}

/// A marker's action, without a policer.
///
/// # Errors
/// What IOS cannot say.
fn set(it: Action) -> Result<Vec<String>, String> {
    match (it, action(it)?) {
        (Action::Drop, _) => Ok(vec!["drop".into()]),
        (Action::Pass(Rewrite { dscp: Some(code), .. }), _) => Ok(vec![format!("set dscp {}", dscp(code))]),
        _ => Ok(Vec::new()),
    }
}
