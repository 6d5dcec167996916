//! Token bucket: the two-colour marker that every DiffServ edge starts from, and Linux's policer.
//!
//! Source: RFC 2697 section 3 with EBS = 0. The papers call it TB. With `arithmetic = "linux"`: act_police of Linux 6.12,
//! as tc sets it up.
//!
//! A bucket of depth CBS fills at CIR. A packet that finds tokens for its whole size takes them and is green. Any
//! other packet is red and takes none.
//!
//! `pir` adds a second bucket, of depth `mtu`, that fills at `pir`. A packet is then green if it finds its tokens in
//! both buckets. A packet larger than `mtu` is always red.
//!
//! A rate in packets (`cir = "1000p/s"`, `cbs = "50p"`) counts each packet as one, whatever its size. A burst in time
//! (`cbs = "10ms"`) is the tokens that `cir` earns in that time. `overhead`, `mpu` and `link-layer` adjust the bytes
//! that the scenario's `accounting` counts; `mtu` is compared with the size as `accounting` counts it.
//!
//! | symbol | field        | unit  | default |
//! |--------|--------------|-------|---------|
//! | CIR    | `cir`        | bit/s | -       |
//! | CBS    | `cbs`        | B     | -       |
//! | PIR    | `pir`        | bit/s | -       |
//! | MTU    | `mtu`        | B     | -       |
//! |        | `overhead`   | B     | -       |
//! |        | `mpu`        | B     | -       |
//! |        | `link-layer` | -     | -       |
//! |        | `arithmetic` | -     | -       |
//!
//! Deviations: none. The bucket starts full and "exactly enough" is green, as in RFC 2697.
//!
//! # Linux
//!
//! `tc ... police rate CIR burst CBS peakrate PIR mtu MTU conform-exceed EXCEED/CONFORM` is this conditioner with
//! `arithmetic = "linux"`. CONFORM is the action `green`, EXCEED is `red`. Of tc's actions, `ok` is `transmit`,
//! `continue` and `pipe` are `next`, and `reclassify` ends as `drop`. Linux counts tokens in nanoseconds. A packet
//! costs its time at the rate in whole bytes/s, rounded down to 1 ns, so up to 1 ns less than it should. tc passes
//! CBS in microseconds and then in ticks of 64 ns, rounded down, so a packet of exactly CBS may exceed. The peak
//! bucket earns at most the burst's time at once. Without `mtu`, tc lets at most 2040 bytes conform to a rate in
//! bits. At the ingress of an interface Linux counts IP bytes (`accounting = "l3"`) but compares `mtu` with 14 more;
//! on a qdisc both include the 14 bytes of Ethernet (`"l2"`).

use super::meter::{self, Counting, Stated, Tokens};
use super::police::{Level, Police};
use crate::Scope;
use crate::arithmetic::{Arithmetic, LONGEST_TC_TIME, tc_time};
use crate::conditioner::{Conditioner, Passage};
use crate::estimate::TokenBucket;
use crate::framing::Framing;
use crate::packet::{Colour, Packet};
use crate::params::{ParamError, Params as Declared};
use crate::port::turn::Turn;
use crate::rng::Rng;
use crate::units::{BitRate, Burst, Bytes, MeterRate, Span, Time};
use crate::verdict::Verdict;

/// What tc sets as MTU where none is stated.
const TC_MTU: Bytes = Bytes::new(2040);

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// Committed information rate, in bits or packets per second.
    pub cir: MeterRate,
    /// Committed burst size, in bytes, packets or time at `cir`; at least the largest packet of the traffic it meters.
    pub cbs: Burst,
    /// Peak rate; needs `mtu`.
    pub pir: Option<BitRate>,
    /// Larger packets are red; depth of the peak bucket.
    pub mtu: Option<Bytes>,
    /// Which bytes the rates count.
    #[param(flatten)]
    pub framing: Framing,
    /// `exact` (default), or tokens as Linux counts them.
    pub arithmetic: Option<Arithmetic>,
}

/// One aggregate's marker.
#[derive(Clone, Debug)]
pub struct TokenBucketMarker {
    buckets: Buckets,
    tokens: Tokens,
    mtu: u32,
}

#[derive(Clone, Debug)]
enum Buckets {
    Exact(TokenBucket, Option<TokenBucket>),
    Linux(Police),
}

impl Params {
    /// A rate and a burst alone.
    pub fn new(cir: impl Into<MeterRate>, cbs: impl Into<Burst>) -> Self {
        let (cir, cbs, framing) = (cir.into(), cbs.into(), Framing::default());
        Self { cir, cbs, pir: None, mtu: None, framing, arithmetic: None }
    }

    /// # Errors
    /// `cir` zero; `cbs` below the largest packet: such packets could never be green; `pir` below `cir` or without `mtu`;
    /// units of rates and bursts that do not fit each other.
    pub fn build(self, scope: &Scope) -> Result<TokenBucketMarker, ParamError> {
        meter::above_zero("cir", self.cir)?;
        let mtu = self.mtu();
        let largest_packet = mtu.map_or(scope.largest_packet, |mtu| mtu.min(scope.largest_packet));
        let rates: Vec<_> = [("cir", self.cir)].into_iter().chain(self.pir.map(|pir| ("pir", pir.into()))).collect();
        let counting = Counting::new(self.framing, &rates, &Scope { largest_packet, ..scope.clone() })?;
        // The kernel takes a bucket of any depth.
        if self.arithmetic != Some(Arithmetic::Linux) {
            counting.holds_largest(self.committed(), 0)?;
        }
        let mtu = mtu.map_or(u32::MAX, |mtu| u32::try_from(mtu.get()).unwrap_or(u32::MAX));
        let peak = self.pir.map(|pir| self.peak(pir)).transpose()?;
        Ok(TokenBucketMarker { buckets: self.buckets(&counting, peak)?, tokens: counting.tokens, mtu })
    }

    const fn committed(&self) -> Stated {
        Stated { field: "cbs", burst: self.cbs, rate: self.cir }
    }

    fn mtu(&self) -> Option<Bytes> {
        let of_tc = self.arithmetic == Some(Arithmetic::Linux) && !self.cir.in_packets();
        self.mtu.or(of_tc.then_some(TC_MTU))
    }

    /// Rate and depth of the peak bucket; the depth as `accounting` counts.
    fn peak(&self, pir: BitRate) -> Result<(BitRate, u32), ParamError> {
        meter::peak_above_committed(pir.into(), self.cir)?;
        let Some(mtu) = self.mtu else {
            let error = ParamError::new("mtu", "E201", "`pir` without `mtu`".into());
            return Err(
                error.help("add `mtu`, the depth of the peak bucket and the largest packet that may conform, as in mtu = \"1500B\"")
            );
        };
        ParamError::above_zero("mtu", mtu)?;
        let fits = u32::try_from(mtu.get()).ok().filter(|mtu| Bytes::new(u64::from(*mtu)) <= TokenBucket::DEEPEST);
        let too_large = || ParamError::new("mtu", "E201", format!("`mtu` is {mtu}"));
        Ok((pir, fits.ok_or_else(|| too_large().help(format!("must be at most {}", TokenBucket::DEEPEST)))?))
    }

    fn buckets(&self, counting: &Counting, peak: Option<(BitRate, u32)>) -> Result<Buckets, ParamError> {
        let peak = peak.map(|(pir, mtu)| (pir, counting.tokens.of(mtu)));
        if self.arithmetic == Some(Arithmetic::Linux) {
            let rate = Level::full(self.cir.tokens(), self.linux_burst(counting)?);
            return Ok(Buckets::Linux(Police::new(rate, peak.map(|(pir, mtu)| Level::of(pir, mtu)))));
        }
        let peak = peak.map(|(pir, mtu)| TokenBucket::full(pir, Bytes::new(mtu.into()), "mtu")).transpose()?;
        Ok(Buckets::Exact(counting.bucket(self.committed())?, peak))
    }

    /// The burst in nanoseconds.
    fn linux_burst(&self, counting: &Counting) -> Result<i64, ParamError> {
        let depth = counting.depth(self.committed())?;
        tc_time(self.cir.tokens(), depth.get()).map(|ns| ns as i64).ok_or_else(|| {
            let error = ParamError::new("cbs", "E201", format!("`cbs` is {}", self.cbs));
            let longest = Span::from_ns(LONGEST_TC_TIME);
            error
                .label(format!("at {}, as tc counts it", self.cir))
                .help(format!("must hold less than {longest} of its rate"))
        })
    }
}

impl Buckets {
    #[inline]
    fn take(&mut self, now: Time, size: u32) -> bool {
        match self {
            Self::Exact(bucket, None) => bucket.take(now, size),
            Self::Exact(committed, Some(peak)) => {
                committed.refill(now);
                peak.refill(now);
                committed.has(size) && peak.spend(size) && committed.spend(size)
            }
            Self::Linux(police) => police.take(now, size),
        }
    }

    /// Takes the rates and depths of `next`, keeping levels as far as they fit; a new peak bucket is full.
    fn become_at(&mut self, now: Time, next: Self) -> Result<(), ParamError> {
        match (self, next) {
            (Self::Linux(police), Self::Linux(next)) => police.become_at(now, next),
            (Self::Exact(committed, peak), Self::Exact(next, next_peak)) => {
                committed.become_at(now, next);
                match (peak.as_mut(), next_peak) {
                    (Some(peak), Some(next)) => peak.become_at(now, next),
                    (_, next) => *peak = next,
                }
            }
            _ => {
                let message = "a running meter cannot change its arithmetic".into();
                return Err(ParamError::new("arithmetic", "E202", message).help("remove the change"));
            }
        }
        Ok(())
    }

    /// Levels at `now`: of the bucket, of the peak bucket.
    fn levels(&self, now: Time) -> (f64, Option<f64>) {
        match self {
            Self::Exact(committed, peak) => (committed.level_at(now), peak.as_ref().map(|peak| peak.level_at(now))),
            Self::Linux(police) => police.levels(now),
        }
    }
}

impl Conditioner for TokenBucketMarker {
    type Params = Params;

    fn forward(&mut self, at: Turn<&Passage<'_>>, packet: &mut Packet, _rng: &mut Rng) -> Verdict {
        let conforms = packet.size <= self.mtu && self.buckets.take(at.now, self.tokens.of(packet.size));
        packet.colour = if conforms { Colour::Green } else { Colour::Red };
        Verdict::Pass
    }

    fn gives(&self, _: Colour) -> &'static [Colour] {
        &[Colour::Green, Colour::Red]
    }

    fn tokens(&self) -> Tokens {
        self.tokens
    }

    fn retune(&mut self, now: Time, params: &Params, scope: &Scope) -> Result<(), ParamError> {
        let TokenBucketMarker { buckets, tokens, mtu } = params.clone().build(scope)?;
        meter::same_tokens("cir", self.tokens, tokens)?;
        self.buckets.become_at(now, buckets)?;
        (self.tokens, self.mtu) = (tokens, mtu);
        Ok(())
    }

    fn gauges(&self, now: Time, each: &mut dyn FnMut(&'static str, f64)) {
        let (level, peak) = self.buckets.levels(now);
        each(self.tokens.named(meter::BUCKET), level);
        peak.into_iter().for_each(|level| each(self.tokens.named(meter::PEAK), level));
    }
}
