//! Shaper: a token bucket that makes what it lets go wait, not drop.
//!
//! ```text
//! tokens for `burst` bytes at most, earned at `rate`; with `peak` a second bucket of `peak-burst` bytes at that rate
//! debt = false:  a packet goes once both buckets hold its bytes               (Linux's TBF)
//! debt = true:   a packet goes while neither bucket is in debt, and may leave a debt behind  (a class of Linux's HTB)
//! ```
//!
//! Whoever waits for tokens is woken at a multiple of `granularity`: a shaper on a timer of 1 ms sends in bursts, and
//! needs a bucket of a millisecond to keep its rate.
//!
//! It holds packets back from when one is the first to wait below it, and the one before it has gone, until its tokens
//! are there, whatever is on the line meanwhile.
//!
//! Decision: docs/decisions/064-results-of-a-trees-nodes.md

use crate::arithmetic::{Arithmetic, Tariff};
use crate::framing::{Frame, Framing};
use crate::params::{ParamError, Params as Declared};
use crate::scope::Scope;
use crate::units::{BitRate, Bytes, Span, Time};

/// `shape` of a queue or a class.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct ShaperParams {
    /// Rate that it keeps.
    pub rate: BitRate,
    /// Bytes that may go at once after a pause; at least the largest packet unless `debt`.
    pub burst: Bytes,
    /// Rate of such a burst; default: as fast as what is behind it.
    pub peak: Option<BitRate>,
    /// Bytes that may go at once even within `peak`; default: the largest packet, as the rate counts it.
    pub peak_burst: Option<Bytes>,
    /// Whether a packet goes before all of its tokens are there, as long as none are owed.
    #[param(default = false)]
    pub debt: bool,
    /// Time between its wake-ups; default: none, it wakes when it needs to.
    pub granularity: Option<Span>,
    /// How tokens are counted.
    #[param(default = "exact")]
    pub arithmetic: Arithmetic,
    /// Which bytes of a packet count.
    #[param(flatten)]
    pub framing: Framing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bucket {
    tariff: Tariff,
    depth: i64,
    level: i64,
}

impl Bucket {
    fn full(rate: BitRate, depth: Bytes, arithmetic: Arithmetic) -> Self {
        let tariff = Tariff::new(rate, arithmetic);
        let depth = tariff.cost(depth.get());
        Self { tariff, depth, level: depth }
    }

    fn level_after(&self, ns: u64) -> i64 {
        self.level.saturating_add(self.tariff.earned(ns)).min(self.depth)
    }

    /// Nanoseconds until a packet may go, `ns` after the last one.
    fn wait(&self, ns: u64, needed: i64) -> u64 {
        self.tariff.wait(needed - self.level_after(ns))
    }
}

/// A running shaper.
#[derive(Clone, Debug)]
pub struct Shaper {
    rate: Bucket,
    peak: Option<Bucket>,
    debt: bool,
    granularity: u64,
    largest: u64,
    takes: bool,
    frame: Frame,
    /// When a packet last went.
    filled: Time,
    /// When the packet that goes next became the first to wait; not before `filled`.
    first_since: Time,
    /// Until when it holds back what was first when it was last asked.
    closed_until: Time,
    /// The bytes of that, if it opens for them just then, whenever it is asked.
    closed_for: Option<u32>,
    let_go: LetGo,
}

/// What a shaper did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LetGo {
    /// Bytes that it let go, as its rate counts them.
    pub bytes: u64,
    /// Time in which packets waited for its tokens.
    pub held: Span,
}

/// Deepest bucket that the counters hold.
const DEEPEST: Bytes = Bytes::new(1 << 30);

impl ShaperParams {
    /// # Errors
    /// E201 for a rate or burst of 0 or a burst beyond the counters, E212 for a burst below the largest packet, E215 for a
    /// peak not above the rate.
    pub fn build(&self, scope: &Scope) -> Result<Shaper, ParamError> {
        ParamError::above_zero("rate", self.rate)?;
        ParamError::above_zero("burst", self.burst)?;
        let (frame, takes) = (self.framing.build(scope)?, self.arithmetic == Arithmetic::Linux);
        // Linux fills its bucket with what a packet of `burst` costs: sizes are those before framing.
        let scope = if takes { scope } else { &frame.scope(scope) };
        let peak_burst = self.peak_burst.unwrap_or(scope.largest_packet.max(Bytes::new(1)));
        for (field, depth) in [("burst", self.burst), ("peak-burst", peak_burst)] {
            if depth > DEEPEST {
                let error = ParamError::new(field, "E201", format!("`{field}` is {depth}"));
                return Err(error.help(format!("must be at most {DEEPEST}")));
            }
        }
        if !self.debt {
            scope.holds_largest_packet("burst", self.burst).map_err(|error| {
                let help = format!("{}, unless `debt = true` lets it leave on credit", error.help);
                error.help(help)
            })?;
            scope.holds_largest_packet("peak-burst", peak_burst)?;
        }
        let depth = |burst: Bytes| if takes { Bytes::new(frame.bytes(burst.get() as u32).into()) } else { burst };
        let peak = self.peak.map(|peak| self.peak_bucket(peak, depth(peak_burst))).transpose()?;
        let largest = if peak.is_some() { self.burst.min(peak_burst) } else { self.burst };
        Ok(Shaper {
            rate: Bucket::full(self.rate, depth(self.burst), self.arithmetic),
            peak,
            debt: self.debt,
            granularity: self.granularity.map_or(0, Span::ns),
            largest: largest.get(),
            takes,
            frame,
            filled: Time::ZERO,
            first_since: Time::ZERO,
            closed_until: Time::ZERO,
            closed_for: None,
            let_go: LetGo::default(),
        })
    }

    fn peak_bucket(&self, peak: BitRate, burst: Bytes) -> Result<Bucket, ParamError> {
        if peak > self.rate {
            return Ok(Bucket::full(peak, burst, self.arithmetic));
        }
        let error = ParamError::new("peak", "E215", format!("`peak` {peak} is not above `rate` {}", self.rate));
        Err(error.help("the peak is the rate of a burst: raise `peak` above `rate`, or remove it"))
    }
}

impl Shaper {
    /// Whether a packet of this size ever goes.
    #[inline]
    pub fn admits(&self, bytes: u32) -> bool {
        let counted = if self.takes { bytes } else { self.frame.bytes(bytes) };
        self.debt || u64::from(counted) <= self.largest
    }

    /// When a packet of this size may go: `now`, or later.
    pub fn opens(&self, now: Time, bytes: u32) -> Time {
        let ns = now.since(self.filled).ns();
        let wait = |bucket: &Bucket| {
            let needed = if self.debt { 0 } else { bucket.tariff.cost(self.frame.bytes(bytes).into()) };
            bucket.wait(ns, needed)
        };
        match wait(&self.rate).max(self.peak.as_ref().map_or(0, wait)) {
            0 => now,
            ns => self.wakes(now + Span::from_ns(ns)),
        }
    }

    /// Whether a packet that it holds back goes once its tokens are there: not one that is larger than a bucket has become, nor
    /// before its timer unless something arrives.
    fn opens_once(&self, bytes: u32) -> bool {
        let fits = |bucket: &Bucket| self.debt || bucket.tariff.cost(self.frame.bytes(bytes).into()) <= bucket.depth;
        self.granularity == 0 && fits(&self.rate) && self.peak.as_ref().is_none_or(fits)
    }

    fn wakes(&self, at: Time) -> Time {
        match self.granularity {
            0 => at,
            tick => Time::from_ns(at.ns().next_multiple_of(tick)),
        }
    }

    /// A packet of this size goes.
    pub fn spend(&mut self, now: Time, bytes: u32) {
        self.let_go.held = self.let_go.held + self.holds(now, bytes);
        let (ns, bytes) = (now.since(self.filled).ns(), self.frame.bytes(bytes));
        for bucket in [Some(&mut self.rate), self.peak.as_mut()].into_iter().flatten() {
            bucket.level = bucket.level_after(ns) - bucket.tariff.cost(bytes.into());
        }
        self.let_go.bytes += u64::from(bytes);
        self.filled = now;
        self.comes_first(now);
    }

    /// From now on a packet is the first to wait below it.
    pub(super) fn comes_first(&mut self, now: Time) {
        (self.first_since, self.closed_until, self.closed_for) = (now, now, None);
    }

    /// Asked by a node above it: as [`Shaper::opens`].
    pub(super) fn is_asked(&mut self, now: Time, bytes: u32) -> Time {
        if self.closed_for == Some(bytes) {
            return self.closed_until.max(now);
        }
        let opens = self.opens(now, bytes);
        if opens > now {
            (self.closed_until, self.closed_for) = (opens, self.opens_once(bytes).then_some(bytes));
        }
        opens
    }

    /// For how long it has held back the packet of this size that goes next.
    pub(super) fn holds(&self, now: Time, bytes: u32) -> Span {
        if now == self.first_since {
            return Span::ZERO;
        }
        let opens =
            if self.closed_for == Some(bytes) { self.closed_until } else { self.opens(self.first_since, bytes) };
        opens.max(self.closed_until).min(now).since(self.first_since)
    }

    /// What it did since [`Shaper::begin_count`], without the packet that waits.
    pub(super) fn let_go(&self) -> LetGo {
        self.let_go
    }

    /// Counts from now on.
    pub(super) fn begin_count(&mut self, now: Time) {
        (self.first_since, self.let_go) = (self.first_since.max(now), LetGo::default());
    }

    /// Whether what arrives behind a packet leaves what it offers as it is: one on a timer looks again then.
    pub(super) fn minds_only_the_first(&self) -> bool {
        self.granularity == 0
    }

    /// Whether the packet that it shows is as good as gone.
    pub fn takes(&self) -> bool {
        self.takes
    }

    /// Takes new parameters at `now`, keeping the tokens as far as they fit. It has held back the packet that goes next for
    /// `held`.
    ///
    /// # Errors
    /// The offending parameter; the old ones stay in force.
    pub fn retune(&mut self, now: Time, held: Span, params: &ShaperParams, scope: &Scope) -> Result<(), ParamError> {
        let new = params.build(scope)?;
        let ns = now.since(self.filled).ns();
        let kept = |old: &Bucket, new: Bucket| {
            let level = old.level_after(ns).max(0);
            let bytes = old.tariff.bytes(level).min(new.tariff.bytes(new.depth));
            Bucket { level: new.tariff.cost(bytes as u64), ..new }
        };
        let (rate, peak) =
            (kept(&self.rate, new.rate), new.peak.map(|peak| self.peak.map_or(peak, |old| kept(&old, peak))));
        let let_go = LetGo { held: self.let_go.held + held, ..self.let_go };
        *self = Self { rate, peak, filled: now, first_since: now, let_go, ..new };
        Ok(())
    }

    /// Values for series: name, value.
    pub fn gauges(&self, now: Time, each: &mut dyn FnMut(&'static str, f64)) {
        let level = self.rate.level_after(now.since(self.filled).ns());
        each("shaper_bytes", self.rate.tariff.bytes(level));
    }
}
