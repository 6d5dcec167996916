//! Shapers as `shape average`.

use super::written::Written;
use perhop_core::accounting::Accounting;
use perhop_core::arithmetic::Arithmetic;
use perhop_core::framing::{Framing, LinkLayer};
use perhop_core::port::ShaperParams;
use perhop_core::units::{BitRate, Bytes, SignedBytes, Span};
use perhop_sim::plan::Link;

/// Offsets of `account user-defined`, bytes (Ethernet Overhead Accounting, IOS XE).
const OFFSETS: std::ops::RangeInclusive<i32> = -63..=63;

/// The line of a shaper: burst in bits, and no excess burst.
pub(super) fn shaper(shaper: &ShaperParams) -> Written {
    let mut out = average(shaper.rate, Some(shaper.burst), shaper.framing);
    if shaper.peak.is_some() || shaper.peak_burst.is_some() {
        out.refuse("`peak` of a shaper: a burst of IOS leaves at the rate of the line");
    }
    if !shaper.debt {
        out.note("`debt` of a shaper: IOS sends a packet once its bucket owes nothing, as with `debt = true`");
    }
    if let Some(granularity) = shaper.granularity {
        out.note(format!("`granularity` of {granularity}: IOS has Tc = Bc / CIR"));
    }
    if shaper.arithmetic != Arithmetic::Exact {
        out.note("`arithmetic` of a shaper: IOS counts tokens in its own units");
    }
    out
}

/// A shaper that holds an interface to the rate of a link, with the interval Bc / CIR. Of the link's framing it has what
/// surrounds the header of layer 2, which IOS counts itself.
pub(super) fn of_link(link: &Link, interval: Span) -> Written {
    let (more, rate) = (Accounting::L2.to(link.framing).more(), link.rate);
    let counted = Framing { overhead: (more > 0).then_some(SignedBytes::new(more)), ..Framing::default() };
    average(rate, Some((rate * interval).max(Bytes::new(1))), counted)
}

/// `shape average 10000000 40000 0`, with IOS's own bursts where none is stated.
pub(super) fn average(rate: BitRate, burst: Option<Bytes>, counted: Framing) -> Written {
    let mut out = Written::default();
    let framing = framing(counted, &mut out);
    let bursts = burst.map_or_else(String::new, |burst| format!(" {} 0", burst.get().saturating_mul(8)));
    out.say(format!("shape average {}{bursts}{framing}", rate.bit_s()));
    out
}

/// ` account user-defined 4 atm`
fn framing(framing: Framing, out: &mut Written) -> String {
    if framing.mpu.is_some() {
        out.refuse("`mpu` of a shaper");
    }
    let atm = framing.link_layer == Some(LinkLayer::Atm);
    let overhead = framing.overhead.map_or(0, |bytes| bytes.get());
    if framing.overhead.is_none() && !atm {
        return String::new();
    }
    if !OFFSETS.contains(&overhead) {
        out.refuse(format!("`overhead` of {overhead}B: IOS takes {} to {} bytes", OFFSETS.start(), OFFSETS.end()));
        return String::new();
    }
    format!(" account user-defined {overhead}{}", if atm { " atm" } else { "" })
}
