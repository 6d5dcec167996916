//! What traffic demands of the second bucket of a meter with two rates: the smallest with which no packet would be red.
//!
//! ```text
//! RFC 2698: every packet asks P, of depth PBS at PIR:    PBS as CBS is found, of all packets at PIR
//! RFC 4115: packets beyond C ask E, of depth EBS at EIR: EBS as CBS is found, of these packets at EIR, and more than that,
//!           as exactly enough is not enough
//! ```
//!
//! Both are exact, as long as the rest of the policy stays as it is: RFC 4115's C of depth CBS at CIR decides which packets ask E.

use perhop_core::conditioner::Conditioner as _;
use perhop_core::estimate::TokenBucket;
use perhop_core::estimate::token_bucket::Fill;
use perhop_core::packet::Colour;
use perhop_core::params::Tree;
use perhop_core::port::edge::StageSpec;
use perhop_core::units::{self, BitRate, Bytes, Time};
use serde::Serialize;

use super::owed::Owed;

/// The peak bucket of RFC 2698. All of it is `None` of another conditioner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PeakReport {
    /// Peak rate.
    pub pir_bit_s: Option<u64>,
    /// Peak burst.
    pub pbs_bytes: Option<u64>,
    /// The smallest peak burst at which, at that rate, no packet would become red; with several instances (`per`), of the one that
    /// needs most. `None` without packets.
    pub conforming_pbs_bytes: Option<u64>,
}

/// The excess bucket of RFC 4115. All of it is `None` of another conditioner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ExcessBucketReport {
    /// Excess rate.
    pub eir_bit_s: Option<u64>,
    /// Excess burst.
    pub ebs_bytes: Option<u64>,
    /// The smallest excess burst at which, at that rate and with the committed bucket as it is, no packet would become red; with
    /// several instances (`per`), of the one that needs most. `None` without a packet that finds the committed bucket empty.
    pub conforming_ebs_bytes: Option<u64>,
}

/// The second bucket.
#[derive(Clone, Debug)]
pub(crate) struct Second {
    rate: BitRate,
    burst: Bytes,
    /// By colour on arrival: whether such packets may ask it.
    asks: [bool; 4],
    owed: Owed,
    /// What packets of RFC 4115 ask first; `None`: all of them ask this one.
    committed: Option<Committed>,
}

/// The committed buckets of RFC 4115, by instance.
#[derive(Clone, Debug)]
struct Committed {
    full: TokenBucket,
    fills: Vec<Fill>,
    /// By colour on arrival: whether such packets ask it.
    asks: [bool; 4],
}

impl Committed {
    /// Takes a packet from it if more tokens are there than the packet has bytes.
    fn takes(&mut self, instance: usize, now: Time, size: u32) -> bool {
        if self.fills.len() <= instance {
            self.fills.resize(instance + 1, self.full.fill());
        }
        let mut bucket = self.full.holding(self.fills[instance]);
        bucket.refill(now);
        let takes = bucket.exceeds(size) && bucket.spend(size);
        self.fills[instance] = bucket.fill();
        takes
    }
}

impl Second {
    /// `None`: the conditioner has no second rate, or one in packets.
    pub(crate) fn new(spec: &StageSpec) -> Option<Self> {
        let built = spec.params.build(&spec.scope).ok()?;
        let bucket = |rate: &str, burst: &str| {
            let rate: BitRate = value(spec, rate)?.parse().ok()?;
            let burst = value(spec, burst)?.parse::<units::Burst>().ok()?;
            Some((rate, burst.tokens(rate.into())?))
        };
        // What may leave with another colour than red asks.
        let asks = Colour::ALL.map(|colour| built.gives(colour) != [Colour::Red]);
        if let Some((rate, burst)) = bucket("pir", "pbs") {
            return Some(Self { rate, burst, asks, owed: Owed::default(), committed: None });
        }
        let (rate, burst) = bucket("eir", "ebs")?;
        let (cir, cbs) = bucket("cir", "cbs")?;
        let full = TokenBucket::full(cir, cbs, "cbs").ok()?;
        let committed = Committed { full, fills: Vec::new(), asks: Colour::ALL.map(|colour| built.meters(colour)) };
        Some(Self { rate, burst, asks, owed: Owed::default(), committed: Some(committed) })
    }

    /// Counts a packet that arrived with its colour, and costs so many tokens.
    pub(crate) fn add(&mut self, instance: usize, now: Time, (colour, size): (Colour, u32)) {
        let is_committed = |it: &mut Committed| it.asks[colour.index()] && it.takes(instance, now, size);
        if self.asks[colour.index()] && !self.committed.as_mut().is_some_and(is_committed) {
            self.owed.add(instance, self.rate, (now, size));
        }
    }

    /// Nothing is owed to an instance any longer, and its buckets are full.
    pub(crate) fn forget(&mut self, instance: usize) {
        self.owed.forget(instance);
        if let Some(Committed { full, fills, .. }) = &mut self.committed {
            fills.get_mut(instance).into_iter().for_each(|it| *it = full.fill());
        }
    }

    /// Of RFC 2698.
    pub(crate) fn peak(&self) -> PeakReport {
        let Self { rate, burst, owed, committed: None, .. } = self else { return PeakReport::default() };
        PeakReport { pir_bit_s: Some(rate.bit_s()), pbs_bytes: Some(burst.get()), conforming_pbs_bytes: owed.enough() }
    }

    /// Of RFC 4115.
    pub(crate) fn excess(&self) -> ExcessBucketReport {
        let Self { rate, burst, owed, committed: Some(_), .. } = self else { return ExcessBucketReport::default() };
        ExcessBucketReport {
            eir_bit_s: Some(rate.bit_s()),
            ebs_bytes: Some(burst.get()),
            conforming_ebs_bytes: owed.more_than_enough(),
        }
    }
}

/// The effective value of a parameter, as its text.
pub(super) fn value(spec: &StageSpec, name: &str) -> Option<String> {
    let mut shown = Vec::new();
    spec.params.show(&mut shown);
    shown.into_iter().find_map(|(key, tree)| match tree {
        Tree::Text(text) if key == name => Some(text),
        _ => None,
    })
}
