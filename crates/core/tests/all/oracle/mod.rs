//! Slow versions, written from the papers and RFCs alone: exact fractions for buckets, plain doubles elsewhere.

pub mod acks;
pub mod aqm_early;
pub mod buckets;
pub mod cake;
pub mod choke;
pub mod cobalt;
pub mod codel;
pub mod codel_linux;
pub mod csfq;
pub mod dualpi2;
pub mod edge;
pub mod ef_bound;
pub mod expression;
pub mod formula;
pub mod fq;
pub mod fq_codel;
pub mod fq_pie;
pub mod fred;
pub mod fsam;
pub mod hfsc;
pub mod label;
pub mod pam;
pub mod pi_pam;
pub mod pie;
pub mod pie_linux;
pub mod pps;
pub mod red_linux;
pub mod redp;
pub mod rtt;
pub mod sfq;
pub mod tags;
pub mod tred;
pub mod tsw;
pub mod virtual_buffer;

use perhop_core::Scope;
use perhop_core::arithmetic::Arithmetic;
use perhop_core::conditioner::ConditionerParams;
use perhop_core::packet::{Colour, Packet};

/// What a slow version says of a packet at `now` (ns), given a uniform number it may use.
pub trait Oracle {
    /// Colours or labels the packet, on its way to the queue.
    fn mark(&mut self, now: u64, packet: &mut Packet, u: f64);

    /// Whether the packet last marked goes no further.
    fn dropped(&self) -> bool {
        false
    }

    /// A second uniform number for the packet that is marked next.
    fn another(&mut self, _u: f64) {}

    /// A packet that came back over the mate link.
    fn reverse(&mut self, _now: u64, _packet: &mut Packet, _u: f64) {}

    /// A packet that leaves the queue.
    fn departing(&mut self, _now: u64, _packet: &mut Packet, _u: f64) {}

    /// Totals by name.
    fn tallies(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }
}

/// RFC 2475 section 2.3.3.2 and RFC 3290 section 6.1: all packets steered to it get the same mark.
struct OneColour(Colour);

impl Oracle for OneColour {
    fn mark(&mut self, _now: u64, packet: &mut Packet, _u: f64) {
        packet.colour = self.0;
    }
}

/// The slow version of a conditioner; `None` if it has not been written yet.
pub fn of(params: &ConditionerParams, scope: &Scope) -> Option<Box<dyn Oracle>> {
    use ConditionerParams as P;
    #[allow(unreachable_patterns)] // until a line is added to the list
    let slow: Box<dyn Oracle> = match params {
        P::TokenBucketMarker(p) if p.arithmetic == Some(Arithmetic::Linux) => Box::new(buckets::ActPolice::new(p)),
        P::TokenBucketMarker(p) => Box::new(buckets::TwoColour::new(p)),
        P::SrTcm(p) => Box::new(buckets::Rfc2697::new(p)),
        P::TrTcm(p) => Box::new(buckets::Rfc2698::new(p)),
        P::TrTcm4115(p) => Box::new(buckets::Rfc4115::new(p)),
        P::Tsw2Cm(p) => Box::new(tsw::TwoColour::new(p)),
        P::Tsw3Cm(p) => Box::new(tsw::Rfc2859::new(p)),
        P::Pam(p) => Box::new(pam::Pam::new(p)),
        P::PiPam(p) => Box::new(pi_pam::PiPam::new(p, scope)),
        P::FSam(p) => Box::new(fsam::FSam::new(p, scope)),
        P::Redp(p) => Box::new(redp::Redp::new(p)),
        P::RttAware(p) => Box::new(rtt::Aware::basic(p)),
        P::RttRto(p) => Box::new(rtt::Aware::rto(p)),
        P::RttSw(p) => Box::new(rtt::Aware::sw(p)),
        P::Tsw3CmSw(p) => Box::new(rtt::StandardSw::new(p)),
        P::Marker(p) => Box::new(OneColour(p.colour.colour())),
        P::RateLabeller(p) => Box::new(label::Labeller::new(p)),
        P::PpsTagger(p) => Box::new(pps::Tagger::new(p)),
        P::PpsRelabeller(p) => Box::new(pps::Relabeller::new(p)),
        P::PpsAckTagger(p) => Box::new(pps::AckTagger::new(p)),
        P::PpsAckRelabeller(p) => Box::new(pps::AckRelabeller::new(p)),
        P::Formula(p) => Box::new(formula::Walker::new(p)),
        _ => return None,
    };
    Some(slow)
}

/// A colour-aware meter's view of a packet; colour-blind, every packet is green.
fn seen(packet: &Packet, aware: bool) -> Colour {
    match packet.colour {
        _ if !aware => Colour::Green,
        Colour::Unmarked => Colour::Green,
        colour => colour,
    }
}
