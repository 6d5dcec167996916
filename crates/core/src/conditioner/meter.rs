//! Common parts of the token-bucket meters: rates in bits or packets, bursts in bytes, packets or time.
//!
//! [`Tokens`] says how many tokens a packet costs: its bytes as the scenario's `accounting` counts them, adjusted by
//! `overhead`, `mpu` and `link-layer`, or 1 if the rate is in packets. A burst in time is the tokens that the rate
//! earns in that time, rounded down.

use crate::Scope;
use crate::estimate::TokenBucket;
use crate::framing::{Frame, Framing};
use crate::params::ParamError;
use crate::units::{Burst, Bytes, MeterRate, NS_PER_S, Span};

/// What a token is, and how many a packet costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tokens {
    /// A byte, as `accounting` counts.
    #[default]
    Bytes,
    /// A byte, as `overhead`, `mpu` and `link-layer` say.
    Framed(Frame),
    /// A packet.
    Packets,
}

impl Tokens {
    /// How many a packet of `size` bytes costs.
    #[inline]
    pub const fn of(self, size: u32) -> u32 {
        match self {
            Self::Bytes => size,
            Self::Framed(frame) => framed(frame, size),
            Self::Packets => 1,
        }
    }

    /// The name of a gauge of a bucket with these tokens.
    pub(super) const fn named(self, [bytes, packets]: [&'static str; 2]) -> &'static str {
        if matches!(self, Self::Packets) { packets } else { bytes }
    }
}

/// Apart, so that meters without it are short.
#[inline(never)]
const fn framed(frame: Frame, size: u32) -> u32 {
    frame.bytes(size)
}

/// Names of the gauges of buckets.
pub(super) const BUCKET: [&str; 2] = ["bucket_bytes", "bucket_packets"];
/// Of the excess bucket.
pub(super) const EXCESS: [&str; 2] = ["excess_bucket_bytes", "excess_bucket_packets"];
/// Of the peak bucket.
pub(super) const PEAK: [&str; 2] = ["peak_bucket_bytes", "peak_bucket_packets"];

/// What a meter's rates count, and its surroundings with packets as large as they count them.
pub(super) struct Counting {
    pub(super) tokens: Tokens,
    scope: Scope,
}

/// A burst as a file states it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stated {
    /// Its key.
    pub(super) field: &'static str,
    /// How much.
    pub(super) burst: Burst,
    /// The rate that fills its bucket.
    pub(super) rate: MeterRate,
}

impl Counting {
    /// # Errors
    /// E105 if one of `rates` is in bits and another in packets; E239 on keys of `framing` that rates in packets ignore.
    pub(super) fn new(
        framing: Framing,
        rates: &[(&'static str, MeterRate)],
        scope: &Scope,
    ) -> Result<Self, ParamError> {
        let (first, rate) = rates[0];
        if let Some((field, other)) = rates.iter().find(|other| other.1.in_packets() != rate.in_packets()) {
            let error = ParamError::new(field, "E105", format!("`{field}` is {other}"));
            return Err(error.label(format!("`{first}` is {rate}")).help("both in bit/s, or both in p/s"));
        }
        let frame = framing.build(scope)?;
        if !rate.in_packets() {
            let tokens = if framing == Framing::default() { Tokens::Bytes } else { Tokens::Framed(frame) };
            return Ok(Self { tokens, scope: frame.scope(scope) });
        }
        if let Some(field) = framing.stated() {
            let error = ParamError::new(field, "E239", format!("`{field}` has no effect on a rate in packets"));
            return Err(error.label(format!("`{first}` is {rate}")).help("remove it, or write the rate in bit/s"));
        }
        let scope = Scope { largest_packet: Bytes::new(1), ..scope.clone() };
        Ok(Self { tokens: Tokens::Packets, scope })
    }

    /// A full bucket, of any depth.
    ///
    /// # Errors
    /// E105 if the burst is in bytes and the rate in packets, or the reverse; E201 if the bucket is too deep.
    pub(super) fn bucket(&self, stated: Stated) -> Result<TokenBucket, ParamError> {
        TokenBucket::full(stated.rate.tokens(), self.depth(stated)?, stated.field)
    }

    /// Tokens that the bucket holds.
    pub(super) fn depth(&self, Stated { field, burst, rate }: Stated) -> Result<Bytes, ParamError> {
        burst.tokens(rate).ok_or_else(|| {
            let unit = if rate.in_packets() { "packets (\"50p\")" } else { "bytes (\"62500B\")" };
            let error = ParamError::new(field, "E105", format!("`{field}` is {burst}"));
            error.label(format!("its rate is {rate}")).help(format!("{unit} or a time (\"10ms\")"))
        })
    }

    /// # Errors
    /// E212 if the burst is below the largest packet and `more` tokens.
    pub(super) fn holds_largest(&self, stated: Stated, more: u64) -> Result<(), ParamError> {
        let (depth, least) = (self.depth(stated)?, self.scope.largest_packet.get() + more);
        if depth.get() >= least {
            return Ok(());
        }
        let unit = if self.tokens == Tokens::Packets { "p" } else { "B" };
        let holds = format!("{} at {} hold {}{unit}", stated.burst, stated.rate, depth.get());
        let (label, enough) = match stated.burst {
            Burst::Time(_) => (holds + &self.largest("; "), time(least, stated.rate).to_string()),
            _ => (self.largest(""), format!("{least}{unit}")),
        };
        let error = ParamError::new(stated.field, "E212", format!("`{}` is smaller than one packet", stated.field));
        Err(error.label(label).help(format!("must be at least {enough}: a larger packet could never conform")))
    }

    /// What the largest packet costs, for messages.
    fn largest(&self, before: &str) -> String {
        let Scope { largest_of, largest_packet, .. } = &self.scope;
        match self.tokens {
            Tokens::Bytes => format!("{before}the largest packet of {largest_of} is {largest_packet}"),
            Tokens::Framed(_) => format!("{before}the largest packet of {largest_of} counts {largest_packet}"),
            Tokens::Packets => String::new(),
        }
    }
}

/// How long a rate takes to earn so many tokens, rounded up.
fn time(tokens: u64, rate: MeterRate) -> Span {
    let ns = (u128::from(tokens) * 8 * u128::from(NS_PER_S)).div_ceil(u128::from(rate.tokens().bit_s().max(1)));
    Span::from_ns(u64::try_from(ns).unwrap_or(u64::MAX))
}

/// # Errors
/// E201 unless a rate is above 0.
pub(super) fn above_zero(field: &'static str, rate: MeterRate) -> Result<(), ParamError> {
    match rate {
        MeterRate::Bits(rate) => ParamError::above_zero(field, rate),
        MeterRate::Packets(rate) => ParamError::above_zero(field, rate),
    }
}

/// # Errors
/// E213 when `pir` is below `cir`, both of one unit.
pub(super) fn peak_above_committed(pir: MeterRate, cir: MeterRate) -> Result<(), ParamError> {
    if pir.tokens() >= cir.tokens() {
        return Ok(());
    }
    let error = ParamError::new("pir", "E213", "`pir` is below `cir`".into()).label(format!("`cir` is {cir}"));
    Err(error.help(format!("must be at least {cir}")))
}

/// # Errors
/// E202 when new parameters count packets where the running meter counts bytes, or the reverse.
pub(super) fn same_tokens(field: &'static str, before: Tokens, after: Tokens) -> Result<(), ParamError> {
    if matches!(before, Tokens::Packets) == matches!(after, Tokens::Packets) {
        return Ok(());
    }
    let error = ParamError::new(field, "E202", "a running meter cannot change between bytes and packets".into());
    Err(error.help("keep the unit of its rates"))
}
