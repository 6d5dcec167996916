//! Numbers of IOS in another unit than it may seem: bits or bytes, bit/s or kbit/s.

use super::policies::{Use, bits, bytes, classes, drops, stated, uses, with};
use super::{Case, Rule};
use crate::ios::plan::{At, Bits, Class, Police, Rate, Shape, Share};
use crate::rules::Remark;
use perhop_core::units::{BitRate, Bytes, Span};

/// Of sizes and of rates.
pub(super) const RULES: &[Rule] = &[
    Rule::new("W421", &[], |case| {
        let policed = classes(case.parse).filter_map(|class| burst_in_bits(case, class.police.as_ref()?));
        let shaped = classes(case.parse).filter_map(|class| burst_in_bytes(case, class.shaping.shape.as_ref()?));
        policed.chain(shaped).collect()
    }),
    Rule::new("W422", &[], |case| {
        let of_class = |it: &Use<'_>, class: &Class| [too_fast(case, it, class), too_slow(case, it, class)];
        let of_policy =
            |it: &Use<'_>| it.policy.classes.iter().flat_map(|class| of_class(it, class)).collect::<Vec<_>>();
        uses(case).iter().flat_map(of_policy).flatten().collect()
    }),
];

/// A policer's burst of so much of its rate is 5 times what Cisco recommends, 1.5 s.
const LONG: Span = Span::from_s(8);
/// A burst below this is a few packets, however slow the rate.
const FEW_PACKETS: Bytes = Bytes::new(64_000);
/// A shaper's interval below this is shorter than the platforms choose themselves.
const INTERVAL: Span = Span::from_ms(4);
/// The largest packet of most links.
const PACKET: Bytes = Bytes::new(1500);
/// From the slowest policer there is to one that takes more than a third of a second for one packet.
const SLOW: std::ops::Range<BitRate> = BitRate::kbps(8)..BitRate::kbps(32);

/// W421: a burst of `police` that is the rate in bits times an interval.
///
/// Cisco, command reference, `police`: "burst size in bytes".
fn burst_in_bits(case: &Case<'_>, police: &Police) -> Option<Remark> {
    let (cir, bc) = (stated(police.cir)?, bytes(police.bc)?);
    let time = bc.is / cir;
    if time < LONG || bc.is < FEW_PACKETS {
        return None;
    }
    let meant = Bytes::new(bc.is.get() / 8);
    let message = format!(
        "`bc` is in bytes: {} B are {time} of {cir}, for which a full load passes unpoliced; if bits were meant it is {}",
        bc.is.get(),
        meant / cir
    );
    let instead = with(case.text, police.at, vec![(bc.at.place, meant.get().to_string())]);
    Some(Remark { place: bc.at.place, message, instead })
}

/// W421: an interval of `shape` that is too short because the burst was thought of in bytes.
///
/// The same, `shape (policy-map class)`: "Bc in bits".
fn burst_in_bytes(case: &Case<'_>, shape: &Shape) -> Option<Remark> {
    let (rate, bc) = (stated(shape.rate)?, shape.bc?);
    let Bits::Count(bits) = bc.is else { return None };
    let burst = Bytes::new(bits / 8);
    if bits == 0 || burst >= PACKET || burst / rate >= INTERVAL {
        return None;
    }
    let message = format!(
        "Bc is in bits: {bits} are {} B, less than a packet, and the interval Bc / rate is {}; if bytes were meant it is 8 times too \
         small",
        burst.get(),
        burst / rate
    );
    // Be is as large as Bc unless it is typed, and the bucket holds both.
    let be = if shape.be.is_none() { " 0" } else { "" };
    let instead = with(case.text, shape.at, vec![(bc.at.place, format!("{}{be}", (bits * 8).max(rate.bit_s() / 250)))]);
    Some(Remark { place: bc.at.place, message, instead })
}

/// W422: kbit/s of `bandwidth` or `priority` that are more than the link.
///
/// Cisco, command references: `bandwidth (policy-map class)` and `priority`, "in kbps". A policy that wants more than
/// its interface has is refused: "requested bandwidth .. (kbps), available only ..".
fn too_fast(case: &Case<'_>, it: &Use<'_>, class: &Class) -> Option<Remark> {
    let base = it.base?;
    let (word, rate, line) = in_kbit(class)?;
    if rate <= base || it.control || it.in_force() {
        return None;
    }
    let kbit = rate.bit_s() / 1000;
    let message = format!(
        "`{word} {kbit}` is in kbit/s: {rate}, more than the {base} of which it is to be a part, and IOS refuses it"
    );
    let text = with(case.text, line, Vec::new());
    let instead = match kbit.is_multiple_of(1000) && BitRate::bps(kbit) <= base {
        true => text.replacen(&kbit.to_string(), &(kbit / 1000).to_string(), 1),
        false => format!("at most {word} {}", base.bit_s() / 1000),
    };
    Some(Remark { place: line.place, message, instead })
}

fn in_kbit(class: &Class) -> Option<(&'static str, BitRate, At)> {
    if let Some(priority) = &class.priority
        && let Some(rate) = priority.rate
        && let Rate::Bits(_) = rate.is
    {
        return Some(("priority", bits(rate.is, None)?, priority.at));
    }
    let put = class.bandwidth?;
    if let Share::Rate(rate) = put.is { Some(("bandwidth", rate, put.at)) } else { None }
}

/// W422: bit/s of `police` that were thought of as kbit/s.
///
/// Cisco, command reference, `police`: "in bits per second".
fn too_slow(case: &Case<'_>, it: &Use<'_>, class: &Class) -> Option<Remark> {
    let (base, police) = (it.base?, class.police.as_ref()?);
    let cir = stated(police.cir)?;
    let times = BitRate::bps(cir.bit_s().saturating_mul(1000));
    if it.control || !SLOW.contains(&cir) || times > base || police.pir.is_some() || !drops(police) {
        return None;
    }
    let message = format!(
        "`police` is in bit/s: {cir}, of which a packet of 1500 B takes {}; if kbit/s were meant it is {times}",
        PACKET / cir
    );
    let instead = with(case.text, police.at, vec![(police.cir.at.place, times.bit_s().to_string())]);
    Some(Remark { place: police.cir.at.place, message, instead })
}
