//! What traffic demands of a contract: the smallest bucket with which all of it would conform.
//!
//! At rate CIR the bytes of any interval [s, t] must not exceed CIR (t - s) + CBS. So the smallest CBS is the largest
//! excess of the bytes over CIR (t - s), the packets at both ends included, which one number follows:
//!
//! ```text
//! owed = max(0, owed - CIR gap) + B;  CBS = max owed
//! ```
//!
//! It is exact: kept in bits x ns, like the bucket itself.
//!
//! Decision: docs/decisions/081-excess-is-what-a-bucket-refuses.md

use perhop_core::conditioner::Conditioner as _;
use perhop_core::conditioner::meter::Tokens;
use perhop_core::packet::Colour;
use perhop_core::port::edge::{Per, StageSpec};
use perhop_core::units::{self, BitRate, Bytes, Time};

use super::owed::Owed;
use super::second::{Second, value};

/// The demand on one conditioner of the policy, over all its instances.
#[derive(Clone, Debug, Default)]
pub(crate) struct Demand {
    /// What shares an instance.
    pub(crate) per: Per,
    /// What the rate counts of a packet.
    pub(crate) tokens: Tokens,
    /// By colour on arrival: whether such packets are held to the committed rate.
    pub(crate) meters: [bool; 4],
    /// Committed rate in bits, of conditioners that have one.
    pub(crate) cir: Option<BitRate>,
    /// Committed burst, of conditioners that have one.
    pub(crate) cbs: Option<Bytes>,
    /// Of those that are held to the rate: packets larger than the whole bucket.
    pub(crate) larger_than_cbs: u64,
    /// The longest of them, bytes.
    pub(crate) largest: u32,
    owed: Owed,
    /// The second bucket, of meters with two rates.
    pub(super) second: Option<Second>,
}

impl Demand {
    pub(crate) fn new(spec: &StageSpec) -> Self {
        let cir: Option<BitRate> = value(spec, "cir").and_then(|text| text.parse().ok());
        let cbs = value(spec, "cbs").and_then(|text| text.parse::<units::Burst>().ok());
        let built = spec.params.build(&spec.scope).ok();
        Self {
            per: spec.per,
            cir,
            cbs: cir.zip(cbs).and_then(|(cir, cbs)| cbs.tokens(cir.into())),
            tokens: built.as_ref().map(|it| it.tokens()).unwrap_or_default(),
            meters: Colour::ALL.map(|colour| built.as_ref().is_none_or(|it| it.meters(colour))),
            second: Second::new(spec),
            ..Self::default()
        }
    }

    /// Counts a packet that arrived with its colour at the conditioner's `instance`.
    pub(crate) fn add(&mut self, instance: usize, now: Time, (colour, size): (Colour, u32)) {
        if let Some(second) = &mut self.second {
            second.add(instance, now, (colour, self.tokens.of(size)));
        }
        if !self.meters[colour.index()] {
            return;
        }
        self.largest = self.largest.max(size);
        let size = self.tokens.of(size);
        self.larger_than_cbs += u64::from(self.cbs.is_some_and(|cbs| u64::from(size) > cbs.get()));
        if let Some(cir) = self.cir {
            self.owed.add(instance, cir, (now, size));
        }
    }

    /// Nothing is owed to an instance any longer.
    pub(crate) fn forget(&mut self, instance: usize) {
        self.owed.forget(instance);
        self.second.iter_mut().for_each(|it| it.forget(instance));
    }

    /// The smallest CBS at which all packets of every instance would conform, of those that are held to the rate; `None`
    /// without a CIR or without such packets.
    pub(crate) fn conforming_cbs(&self) -> Option<u64> {
        self.owed.enough()
    }
}
