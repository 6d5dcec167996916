//! PAM: probabilistic aggregate marker: RED upside down, on the level of a token bucket.
//!
//! Source: Das, Dutta and Helmy, "Fair Stateless Aggregate Traffic Marking using Active Queue Management Techniques"
//! (2002), section on PAM, equation (1).
//!
//! x is the average of the bucket's level b. With few tokens all packets are OUT, with many all are IN. In between,
//! each packet is OUT with a probability P that falls as x grows. So the flows of an aggregate share the tokens in
//! proportion to their rates, without per-flow state. B is the size of the packet, T the time since the packet before
//! it.
//!
//! ```text
//! x = (1 - w) x + w b                                   b refilled, this packet not yet taken
//! P = 0 if x > max_th;  1 if x < min_th;  else
//!     P_max - (P_max - P_min) (x - min_th)/(max_th - min_th)
//! OUT if U(0,1) < P, or if b < B ("forced OUT": IN by P, but without tokens); else IN. IN takes B tokens, OUT none.
//!
//! uniformised:      P/(1 - count P), count of packets IN since the last OUT
//! virtual samples:  if T > CBS/CIR, first x = b + (x - b) (1 - w)^(T/s); s is the mean of T, an EWMA of weight w
//! timed:            x = b + (x - b) e^(-T/tau) instead of the EWMA by packets
//! ```
//!
//! | symbol | field        | unit       | default         |
//! |--------|--------------|------------|-----------------|
//! | CIR    | `cir`        | bit/s      | -               |
//! | CBS    | `cbs`        | B          | -               |
//! | w      | `weight`     | -          | 0.02            |
//! | min_th | `min-th`     | B, % of CBS | 20%            |
//! | max_th | `max-th`     | B, % of CBS | 80%            |
//! | P_min  | `p-min`      | -          | 0               |
//! | P_max  | `p-max`      | -          | 1               |
//! | count  | `uniformise` | -          | false           |
//! | idle   | `idle`       | -          | virtual-samples |
//! | tau    | `tau`        | s          | -               |
//!
//! Deviations: the paper gives no constants; the defaults are ours. A gap longer than CBS/CIR does not enter s. While s
//! is unknown, such a gap sets x to b.
//!
//! Choosing values: the average must not be much slower than the bucket. With w below 4 CIR/(CBS x packets per second),
//! packets that P makes IN find no tokens. P_max below 1 - CIR/load makes x oscillate around min_th. With min_th =
//! max_th, P is a step: all packets are IN from the threshold on.

use crate::Scope;
use crate::conditioner::{Conditioner, Passage, bucket_threshold};
use crate::estimate::{Ewma, TokenBucket};
use crate::math::Decay;
use crate::packet::{Colour, Packet};
use crate::params::{Choice, ParamError, Params as Declared};
use crate::port::turn::Turn;
use crate::rng::Rng;
use crate::units::{BitRate, Bytes, Length, Probability, Span, Time};
use crate::verdict::Verdict;

/// How the average is kept from going stale while no packets arrive.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idle {
    /// After a gap longer than CBS/CIR, as many samples of the refilled level as packets would have come.
    VirtualSamples,
    /// The average moves with time, not with packets.
    Time,
    /// It is not.
    None,
}

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// Committed information rate.
    pub cir: BitRate,
    /// Committed burst size; at least the largest packet.
    pub cbs: Bytes,
    /// Weight of one packet's sample in the average level; 1 is the instantaneous level. Not used with `idle = "time"`.
    #[param(default = 0.02)]
    pub weight: Probability,
    /// Average level below which every packet is OUT: bytes, or share of `cbs`.
    #[param(default = "20%")]
    pub min_th: Length,
    /// Average level above which every packet is IN; at least `min-th`.
    #[param(default = "80%")]
    pub max_th: Length,
    /// Probability of OUT at `max-th`.
    #[param(default = 0.0)]
    pub p_min: Probability,
    /// Probability of OUT at `min-th`; at least `p-min`.
    #[param(default = 1.0)]
    pub p_max: Probability,
    /// Whether OUT packets are spread evenly, as RED spreads its drops.
    #[param(default = false)]
    pub uniformise: bool,
    /// How idle time changes the average.
    #[param(default = "virtual-samples")]
    pub idle: Idle,
    /// Time constant of the average with `idle = "time"`, and only there.
    pub tau: Option<Span>,
}

/// How close two probabilities have to be for their rounding to matter; far above it.
const CLOSE: f64 = 1.0 / (1u64 << 40) as f64;

/// Probability of OUT by average level, equation (1).
#[derive(Clone, Copy, Debug)]
struct Law {
    min_th: f64,
    max_th: f64,
    p_min: f64,
    p_max: f64,
}

/// One aggregate's marker.
#[derive(Clone, Debug)]
pub struct Pam {
    bucket: TokenBucket,
    average: Ewma,
    law: Law,
    uniformise: bool,
    count: i64,
    idle: Idle,
    /// e^(-T/tau), with `idle = "time"`.
    relaxation: Decay,
    long_gap: Span,
    spacing: Option<Ewma>,
    last: Option<Time>,
    forced: u64,
    /// What the probability of OUT falls by, by byte.
    slope: f64,
}

impl Params {
    fn law(&self) -> Result<Law, ParamError> {
        let (min_th, max_th) =
            (bucket_threshold("min-th", self.min_th, self.cbs)?, bucket_threshold("max-th", self.max_th, self.cbs)?);
        if max_th < min_th {
            let error = ParamError::new("max-th", "E214", "`max-th` is below `min-th`".into());
            return Err(error
                .label(format!("`min-th` is {}", self.min_th))
                .help(format!("must be at least {min_th}B")));
        }
        let (p_min, p_max) = (self.p_min.get(), self.p_max.get());
        if p_max < p_min {
            let error = ParamError::new("p-max", "E214", "`p-max` is below `p-min`".into());
            return Err(error.label(format!("`p-min` is {p_min}")).help(format!("must be at least {p_min}")));
        }
        Ok(Law { min_th, max_th, p_min, p_max })
    }

    fn time_constant(&self) -> Result<f64, ParamError> {
        match (self.idle, self.tau) {
            (Idle::Time, Some(tau)) => ParamError::above_zero("tau", tau).map(|()| tau.seconds()),
            (Idle::Time, None) => {
                let error = ParamError::new("tau", "E201", "`idle = \"time\"` without `tau`".into());
                Err(error.help("give the average's time constant, as in tau = \"100ms\""))
            }
            (_, Some(_)) => {
                let error = ParamError::new("tau", "E201", format!("`tau` with `idle = \"{}\"`", self.idle.name()));
                Err(error.help("remove it, or write idle = \"time\""))
            }
            (_, None) => Ok(0.0),
        }
    }

    /// # Errors
    /// `cir` or `weight` zero; `cbs` below the largest packet; a maximum below its minimum; a threshold that is neither
    /// bytes nor a share; `tau` without `idle = "time"` or the reverse.
    pub fn build(self, scope: &Scope) -> Result<Pam, ParamError> {
        ParamError::above_zero("cir", self.cir)?;
        ParamError::above_zero("weight", self.weight)?;
        scope.holds_largest_packet("cbs", self.cbs)?;
        let bucket = TokenBucket::full(self.cir, self.cbs, "cbs")?;
        let law = self.law()?;
        Ok(Pam {
            slope: (law.p_max - law.p_min) / (law.max_th - law.min_th),
            average: Ewma::new(self.weight.get(), bucket.level()),
            law,
            uniformise: self.uniformise,
            count: -1,
            idle: self.idle,
            relaxation: Decay::new(self.time_constant()?),
            long_gap: self.cbs / self.cir,
            spacing: None,
            last: None,
            forced: 0,
            bucket,
        })
    }
}

impl Law {
    #[inline]
    fn out(&self, x: f64) -> f64 {
        if x < self.min_th {
            1.0
        } else if x > self.max_th || self.min_th == self.max_th {
            0.0
        } else {
            self.p_max - (self.p_max - self.p_min) * ((x - self.min_th) / (self.max_th - self.min_th))
        }
    }
}

impl Pam {
    /// The average level with this packet's sample (the bucket is refilled).
    #[inline]
    fn sample(&mut self, now: Time) -> f64 {
        let level = self.bucket.level();
        let gap = self.last.replace(now).map(|last| now.since(last));
        match (self.idle, gap) {
            (Idle::Time, gap) => {
                let gap = gap.map_or(0, Span::ns);
                return self.average.relax(level, self.relaxation.keep(gap));
            }
            (Idle::VirtualSamples, Some(gap)) if gap > self.long_gap => self.catch_up(level, gap),
            (Idle::VirtualSamples, Some(gap)) => self.space(gap),
            _ => {}
        }
        self.average.update(level)
    }

    #[cold]
    #[inline(never)]
    fn catch_up(&mut self, level: f64, gap: Span) {
        let spacing = self.spacing.map_or(0.0, |s| s.value());
        self.average.decay(level, gap.seconds() / spacing);
    }

    #[inline]
    fn space(&mut self, gap: Span) {
        let gap = gap.seconds();
        let weight = self.average.weight();
        self.spacing.get_or_insert(Ewma::new(weight, gap)).update(gap);
    }

    /// RED's spreading: the longer since the last OUT, the likelier the next.
    fn spread(&mut self, p: f64) -> f64 {
        if p <= 0.0 || p >= 1.0 {
            return p;
        }
        self.count += 1;
        let since = self.count as f64 * p;
        if since < 1.0 { p / (1.0 - since) } else { 1.0 }
    }

    /// Whether a packet that finds the average level `x` is to be IN.
    #[inline]
    fn chooses(&mut self, x: f64, rng: &mut Rng) -> bool {
        if !self.uniformise && self.law.min_th <= x && x <= self.law.max_th {
            let near = self.law.p_max - self.slope * (x - self.law.min_th);
            if near > CLOSE && near < 1.0 - CLOSE {
                let draw = rng.uniform();
                // Divided only where the quotient's rounding could matter.
                return if (draw - near).abs() > CLOSE { draw > near } else { draw >= self.out_exactly(x) };
            }
        }
        let mut p = self.law.out(x);
        if self.uniformise {
            p = self.spread(p);
        }
        p <= 0.0 || (p < 1.0 && rng.uniform() >= p)
    }

    #[cold]
    #[inline(never)]
    fn out_exactly(&self, x: f64) -> f64 {
        self.law.out(x)
    }

    #[inline]
    fn is_in(&mut self, now: Time, size: u32, rng: &mut Rng) -> bool {
        self.bucket.refill(now);
        let x = self.sample(now);
        let chosen = self.chooses(x, rng);
        if chosen && self.bucket.spend(size) {
            return true;
        }
        self.forced += u64::from(chosen);
        self.count = 0;
        false
    }
}

impl Conditioner for Pam {
    type Params = Params;

    #[inline(always)]
    fn forward(&mut self, at: Turn<&Passage<'_>>, packet: &mut Packet, rng: &mut Rng) -> Verdict {
        packet.colour = if self.is_in(at.now, packet.size, rng) { Colour::Green } else { Colour::Red };
        Verdict::Pass
    }

    fn gives(&self, _: Colour) -> &'static [Colour] {
        &[Colour::Green, Colour::Red]
    }

    fn retune(&mut self, now: Time, params: &Params, scope: &Scope) -> Result<(), ParamError> {
        let next = params.clone().build(scope)?;
        self.bucket.retune(now, params.cir, params.cbs, "cbs")?;
        let weight = params.weight.get();
        if let Some(spacing) = &mut self.spacing {
            spacing.reweigh(weight);
        }
        *self = Self {
            bucket: self.bucket.clone(),
            average: Ewma::new(weight, self.average.value().min(self.bucket.depth())),
            count: self.count,
            spacing: self.spacing,
            last: self.last,
            forced: self.forced,
            ..next
        };
        Ok(())
    }

    fn gauges(&self, now: Time, each: &mut dyn FnMut(&'static str, f64)) {
        each("bucket_bytes", self.bucket.level_at(now));
        each("average_bytes", self.average.value());
        each("out_probability", self.law.out(self.average.value()));
        each("forced_out_packets", self.forced as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use proptest::prelude::*;

    fn any_law() -> impl Strategy<Value = Law> {
        (0.0..1e6f64, 0.0..1e6f64, 0.0..=1.0f64, 0.0..=1.0f64).prop_map(|(a, b, p, q)| Law {
            min_th: a.min(b),
            max_th: a.max(b),
            p_min: p.min(q),
            p_max: p.max(q),
        })
    }

    proptest! {
        /// Invariant 3: the probability of OUT lies in [0, 1] and never grows with the level.
        #[test]
        fn more_tokens_never_mean_more_out(law in any_law(), x in 0.0..1.2e6f64, more in 0.0..1e5f64) {
            let (here, there) = (law.out(x), law.out(x + more));
            prop_assert!((0.0..=1.0).contains(&here) && (0.0..=1.0).contains(&there));
            prop_assert!(there <= here, "{here} {there}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        /// A packet is chosen as by equation (1) with a division, and takes a draw only where that would.
        #[test]
        fn a_choice_is_drawn_as_if_divided(
            law in any_law(), inside in -0.1f64..1.1, seed in 0u64..1000, tied: bool, steps in -3i64..=3,
        ) {
            let params = Params {
                cir: BitRate::mbps(10),
                cbs: Bytes::new(100_000),
                weight: Probability::new(0.02).unwrap(),
                min_th: Length::Percent(20.0),
                max_th: Length::Percent(80.0),
                p_min: Probability::new(0.0).unwrap(),
                p_max: Probability::new(1.0).unwrap(),
                uniformise: false,
                idle: Idle::None,
                tau: None,
            };
            let mut pam = params.build(&Scope::default()).unwrap();
            (pam.law, pam.slope) = (law, (law.p_max - law.p_min) / (law.max_th - law.min_th));
            let mut rngs = [Rng::stream(seed, 0, "choice"), Rng::stream(seed, 0, "choice")];
            let tie = (law.p_max - rngs[0].clone().uniform()) / pam.slope;
            let x = law.min_th + if tied { tie } else { inside * (law.max_th - law.min_th) };
            let x = if x > 0.0 { f64::from_bits((x.to_bits() as i64 + steps) as u64) } else { 0.0 };
            let p = law.out(x);
            let plain = p <= 0.0 || (p < 1.0 && rngs[0].uniform() >= p);
            prop_assert_eq!(pam.chooses(x, &mut rngs[1]), plain);
            prop_assert_eq!(rngs[0].bits(), rngs[1].bits());
        }
    }

    /// Equation (1) by hand, at and beside both thresholds; with equal thresholds a step.
    #[test]
    fn equation_one() {
        let law = Law { min_th: 200.0, max_th: 800.0, p_min: 0.25, p_max: 0.75 };
        for (x, p) in [(0.0, 1.0), (199.0, 1.0), (200.0, 0.75), (500.0, 0.5), (800.0, 0.25), (801.0, 0.0), (1e9, 0.0)] {
            assert_eq!(law.out(x), p, "{x}");
        }
        let step = Law { min_th: 500.0, max_th: 500.0, ..law };
        assert_eq!([499.0, 500.0, 501.0].map(|x| step.out(x)), [1.0, 0.0, 0.0]);
    }
}
