//! The distributions (laws) from which a source draws gaps, sizes and numbers.
//!
//! A parameter is either one value for every draw, or a table that names a law: `{ law = "pareto-2", mean = "12kB",
//! shape = 1.2 }`. All draws are inverse transforms of one uniform.
//!
//! | law           | given by                       | P(X > x)                               |
//! |---------------|--------------------------------|----------------------------------------|
//! | `uniform`     | `min`, `max`                   | (max - x)/(max - min)                  |
//! | `exponential` | `mean`                         | exp(-x/mean)                           |
//! | `pareto`      | `shape` a; `mean` or `scale` m | (m/x)^a for x >= m; mean = m a/(a - 1) |
//! | `pareto-2`    | `shape` a; `mean` or `scale` s | (1 + x/s)^-a; mean = s/(a - 1)         |
//!
//! A Pareto law with a shape of at most 1 has no mean, and is given by its scale. Numbers are drawn as real numbers
//! and rounded up, which adds 1/2 to the mean; a uniform law takes each whole number from `min` to `max` equally
//! often.
//!
//! Decision: docs/decisions/036-laws-are-tables.md

use perhop_core::math;
use perhop_core::params::{Choice, Kind, Node, ParamError, Params as Declared, Problems, Tree, Value, read_table};
use perhop_core::rng::Rng;
use perhop_core::units::{Bytes, Span};
use std::fmt;

/// Names of the laws.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum LawName {
    /// Between two values.
    Uniform,
    /// Without memory.
    Exponential,
    /// Heavy-tailed, from a least value upwards.
    Pareto,
    /// Heavy-tailed from 0 upwards (Lomax).
    #[param(name = "pareto-2")]
    Pareto2,
}

/// A law and its parameters.
#[derive(Declared, Clone, Copy, Debug, PartialEq)]
pub struct Law<T: Amount> {
    /// Law of the draws.
    pub law: LawName,
    /// Mean (exponential, pareto, pareto-2).
    pub mean: Option<T>,
    /// Least value of `pareto`, scale of `pareto-2`; in place of `mean`.
    pub scale: Option<T>,
    /// Exponent of the tail (pareto, pareto-2).
    pub shape: Option<f64>,
    /// Least value (uniform).
    pub min: Option<T>,
    /// Largest value (uniform).
    pub max: Option<T>,
}

/// A value, or a law of values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Drawn<T: Amount> {
    /// Always this one.
    Constant(T),
    /// Drawn again each time.
    Law(Law<T>),
}

/// Quantities that can be drawn.
pub trait Amount: Value + Copy + fmt::Display {
    /// In its smallest unit: ns, bytes, items.
    fn amount(self) -> f64;
    /// What a uniform law's least value is lowered by, since draws are rounded up.
    const STEP: f64;
}

impl Amount for Span {
    fn amount(self) -> f64 {
        self.ns() as f64
    }
    const STEP: f64 = 0.0;
}

impl Amount for Bytes {
    fn amount(self) -> f64 {
        self.get() as f64
    }
    const STEP: f64 = 0.0;
}

impl Amount for u32 {
    fn amount(self) -> f64 {
        f64::from(self)
    }
    const STEP: f64 = 1.0;
}

impl<T: Amount> Value for Drawn<T> {
    const KIND: Kind = Kind::Either(&[T::KIND, Law::<T>::KIND]);
    fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
        match node.tree {
            Tree::Table(_) => read_table(node, problems).map(Self::Law),
            _ => T::read(node, problems).map(Self::Constant),
        }
    }
    fn tree(&self) -> Option<Tree> {
        match self {
            Self::Constant(value) => value.tree(),
            Self::Law(law) => law.tree(),
        }
    }
}

/// A law ready to draw from; amounts in their smallest unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sampler {
    /// Always this one.
    Constant(f64),
    /// (min, max]
    Uniform(f64, f64),
    /// By its mean.
    Exponential(f64),
    /// By its least value and -1/shape.
    Pareto(f64, f64),
    /// By its scale and -1/shape.
    Pareto2(f64, f64),
}

impl Sampler {
    /// One draw.
    pub fn draw(self, rng: &mut Rng) -> f64 {
        // In (0, 1], so that no law is asked for its value at infinity.
        let mut u = || 1.0 - rng.uniform();
        match self {
            Self::Constant(value) => value,
            Self::Uniform(min, max) => min + u() * (max - min),
            Self::Exponential(mean) => -mean * math::ln(u()),
            Self::Pareto(least, power) => least * math::pow(u(), power),
            Self::Pareto2(scale, power) => scale * (math::pow(u(), power) - 1.0),
        }
    }

    /// Mean of the draws; `None` if there is none.
    pub fn mean(self) -> Option<f64> {
        match self {
            Self::Constant(value) | Self::Exponential(value) => Some(value),
            Self::Uniform(min, max) => Some((min + max) / 2.0),
            Self::Pareto(least, power) => (power > -1.0).then(|| least / (1.0 + power)),
            Self::Pareto2(scale, power) => (power > -1.0).then(|| -power * scale / (1.0 + power)),
        }
    }

    /// Mean of draws that are rounded up to whole multiples of `step`, to within `step^2 / (12 mean)`.
    pub fn mean_up(self, step: f64) -> Option<f64> {
        match self {
            Self::Constant(value) => Some((value / step).ceil() * step),
            law => law.mean().map(|mean| mean + step / 2.0),
        }
    }

    /// One draw of a number of items: rounded up, at least 1.
    pub fn count(self, rng: &mut Rng) -> u32 {
        (self.draw(rng).ceil() as u32).max(1)
    }
}

impl<T: Amount> Drawn<T> {
    /// Ready to draw from.
    ///
    /// # Errors
    /// A law that lacks a parameter, has one without effect, or does not exist: all on `field`.
    pub fn sampler(&self, field: &'static str) -> Result<Sampler, ParamError> {
        match self {
            Self::Constant(value) => Ok(Sampler::Constant(value.amount())),
            Self::Law(law) => law.sampler(field),
        }
    }

    /// Ready to draw numbers of items from, each at least 1.
    ///
    /// # Errors
    /// As [`Drawn::sampler`], and where a draw could be 0.
    pub fn counter(&self, field: &'static str) -> Result<Sampler, ParamError> {
        let least = match self {
            Self::Constant(least) => Some(*least),
            Self::Law(law) if law.law == LawName::Uniform => law.min,
            Self::Law(_) => None,
        };
        if least.is_some_and(|least| least.amount() < 1.0) {
            return Err(ParamError::new(field, "E201", format!("`{field}` may be 0")).help("must be at least 1"));
        }
        self.sampler(field)
    }

    /// A law that runs but is probably not intended: one without a mean.
    pub fn warning(&self, field: &'static str) -> Option<ParamError> {
        let Self::Law(Law { shape: Some(shape), .. }) = self else { return None };
        (*shape <= 1.0).then(|| {
            let message = format!("`{field}` has a shape of {shape}: such a law has no mean");
            ParamError::new(field, "W319", message)
                .label("the mean of the samples grows with their number, so results depend on the length of the run")
                .help("write a shape above 1, or compare medians and trimmed means of runs of one length")
        })
    }
}

impl<T: Amount> Law<T> {
    fn sampler(&self, field: &'static str) -> Result<Sampler, ParamError> {
        let (needed, others): (&[&str], &[&str]) = match self.law {
            LawName::Uniform => (&["min", "max"], &["mean", "scale", "shape"]),
            LawName::Exponential => (&["mean"], &["scale", "shape", "min", "max"]),
            _ if self.scale.is_some() => (&["shape"], &["mean", "min", "max"]),
            _ => (&["mean", "shape"], &["min", "max"]),
        };
        self.keys(field, needed, others)?;
        let amount = |of: Option<T>| of.map_or(0.0, T::amount);
        let [mean, min, max] = [self.mean, self.min, self.max].map(amount);
        for (key, stated) in [("mean", self.mean), ("scale", self.scale), ("max", self.max)] {
            if let Some(value) = stated.filter(|it| it.amount() == 0.0) {
                let message = format!("`{key}` of `{field}` is {value}");
                return Err(ParamError::new(field, "E201", message).help("must be above 0"));
            }
        }
        match self.law {
            LawName::Uniform if min <= max => Ok(Sampler::Uniform((min - T::STEP).max(0.0), max)),
            LawName::Uniform => Err(self.out_of_order(field)),
            LawName::Exponential => Ok(Sampler::Exponential(mean)),
            LawName::Pareto => {
                self.heavy(field, |shape| (shape - 1.0) / shape).map(|(m, power)| Sampler::Pareto(m, power))
            }
            LawName::Pareto2 => self.heavy(field, |shape| shape - 1.0).map(|(s, power)| Sampler::Pareto2(s, power)),
        }
    }

    fn keys(&self, field: &'static str, needed: &[&str], others: &[&str]) -> Result<(), ParamError> {
        let mut stated = Vec::new();
        Declared::show(self, &mut stated);
        let law = self.law.name();
        if let Some(key) = needed.iter().find(|key| stated.iter().all(|s| s.0 != **key)) {
            let message = format!("`{field}` has no `{key}`");
            return Err(ParamError::new(field, "E005", message)
                .help(format!("the law \"{law}\" is given by {}", needed.join(" and "))));
        }
        if let Some((key, _)) = stated.iter().find(|s| others.contains(&s.0)) {
            let message = format!("`{key}` has no effect on the law of `{field}`");
            return Err(ParamError::new(field, "E239", message)
                .help(format!("remove `{key}`: the law \"{law}\" takes {}", needed.join(" and "))));
        }
        Ok(())
    }

    fn out_of_order(&self, field: &'static str) -> ParamError {
        let text = |of: Option<T>| of.map(|it| it.to_string()).unwrap_or_default();
        let message = format!("`{field}` is drawn from {} to {}", text(self.min), text(self.max));
        ParamError::new(field, "E214", message).help("`min` must be at most `max`")
    }

    /// Scale and exponent of the inverse of a Pareto law; `share` is its scale divided by its mean.
    fn heavy(&self, field: &'static str, share: impl Fn(f64) -> f64) -> Result<(f64, f64), ParamError> {
        let shape = self.shape.unwrap_or_default();
        if shape <= 0.0 {
            let message = format!("`shape` of `{field}` is {shape}");
            return Err(ParamError::new(field, "E201", message).help("must be above 0"));
        }
        match (self.scale, self.mean) {
            (Some(scale), _) => Ok((scale.amount(), -1.0 / shape)),
            (None, Some(mean)) if shape > 1.0 => Ok((mean.amount() * share(shape), -1.0 / shape)),
            _ => {
                let message = format!("`{field}` has a mean, and a shape of {shape}");
                Err(ParamError::new(field, "E261", message)
                    .label("with a shape of at most 1 a Pareto law has no mean")
                    .help("write a shape above 1, or give `scale` instead of `mean`"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: Law<u32> = Law { law: LawName::Uniform, mean: None, scale: None, shape: None, min: None, max: None };

    fn heavy(law: LawName, mean: u32, shape: f64) -> Sampler {
        Drawn::Law(Law { law, mean: Some(mean), shape: Some(shape), ..NOTHING }).sampler("size").unwrap()
    }

    fn draws(sampler: Sampler, n: usize, seed: u64) -> Vec<f64> {
        let mut rng = Rng::stream(seed, 0, "law");
        (0..n).map(|_| sampler.draw(&mut rng)).collect()
    }

    /// Kolmogorov's distance to the law as the head writes it: above 1.95/sqrt(n) for one seed in 1000.
    #[test]
    fn draws_have_their_laws() {
        const N: usize = 20_000;
        let law = |law| Law { law, ..NOTHING };
        let (mean, scale) = (Some(12), Some(3));
        type Beyond = fn(f64) -> f64;
        let laws: [(Law<u32>, Beyond); 6] = [
            (Law { min: Some(5), max: Some(9), ..law(LawName::Uniform) }, |x| (9.0 - x) / (9.0 - 4.0)),
            (Law { mean, ..law(LawName::Exponential) }, |x| math::exp(-x / 12.0)),
            (Law { mean, shape: Some(1.5), ..law(LawName::Pareto) }, |x| math::pow(4.0 / x, 1.5)),
            (Law { scale, shape: Some(0.7), ..law(LawName::Pareto) }, |x| math::pow(3.0 / x, 0.7)),
            (Law { mean, shape: Some(1.5), ..law(LawName::Pareto2) }, |x| math::pow(1.0 + x / 6.0, -1.5)),
            (Law { scale, shape: Some(0.7), ..law(LawName::Pareto2) }, |x| math::pow(1.0 + x / 3.0, -0.7)),
        ];
        for (law, beyond) in laws {
            let mut x = draws(Drawn::Law(law).sampler("x").unwrap(), N, 1);
            x.sort_by(f64::total_cmp);
            let off = |(i, x): (usize, &f64)| (1.0 - beyond(*x) - (i as f64 + 0.5) / N as f64).abs();
            let distance = x.iter().enumerate().map(off).fold(0.0, f64::max);
            assert!(distance < 1.95 / (N as f64).sqrt(), "{law:?}: {distance}");
        }
    }

    /// The n-th part of `x` that `share` of all does not exceed.
    fn quantile(x: &mut [f64], share: f64) -> f64 {
        x.sort_by(f64::total_cmp);
        x[(share * x.len() as f64) as usize]
    }

    /// Sizes of the studies' web pages, kB: medians and 99th percentiles within four standard errors,
    /// sqrt(q (1 - q)/n)/f with the density f = a q/(s + x), q = P(X > x), s 0 for the first kind.
    #[test]
    fn sizes_of_the_studies() {
        const N: usize = 200_000;
        for (law, offset, [median, p99]) in
            [(LawName::Pareto2, 2.4, [1.876, 109.0]), (LawName::Pareto, 0.0, [3.564, 92.83])]
        {
            let mut x = draws(heavy(law, 12, 1.2), N, 2);
            for (beyond, exact) in [(0.5, median), (0.01, p99)] {
                let got = quantile(&mut x, 1.0 - beyond);
                let density: f64 = 1.2 * beyond / (offset + exact);
                let error = (beyond * (1.0 - beyond) / N as f64).sqrt() / density;
                assert!((got - exact).abs() < 4.0 * error, "{law:?}: {got} for {exact}, error {error}");
            }
            assert!(law == LawName::Pareto2 || (x[0] - 2.0).abs() < 1e-3, "{}", x[0]);
            // Without a variance a mean of draws is most often too low: 10 to 12 for this many.
            let mut means: Vec<f64> =
                (0..21).map(|seed| draws(heavy(law, 12, 1.2), N, seed).iter().sum::<f64>() / N as f64).collect();
            let typical = quantile(&mut means, 0.5);
            assert!((10.0..12.0).contains(&typical), "{law:?}: {typical}");
        }
    }

    #[test]
    fn means_are_those_asked_for() {
        for (law, shape) in [(LawName::Pareto, 1.2), (LawName::Pareto2, 1.2), (LawName::Pareto2, 3.0)] {
            assert!((heavy(law, 12, shape).mean().unwrap() - 12.0).abs() < 1e-12);
        }
        let endless = Law { law: LawName::Pareto, scale: Some(2), shape: Some(1.0), ..NOTHING };
        assert_eq!(Drawn::Law(endless).sampler("x").unwrap().mean(), None);
        assert_eq!(Sampler::Uniform(7.0, 35.0).mean(), Some(21.0));
    }

    #[test]
    fn numbers_are_rounded_up() {
        let mut rng = Rng::stream(3, 0, "law");
        let dice = Drawn::Law(Law { min: Some(1), max: Some(6), ..NOTHING }).counter("dice").unwrap();
        let mut seen = [0; 6];
        (0..6000).for_each(|_| seen[dice.count(&mut rng) as usize - 1] += 1);
        // Four binomial standard deviations of 1000 are 115.
        assert!(seen.iter().all(|n: &i32| (n - 1000).abs() < 116), "{seen:?}");
        assert_eq!(Drawn::Constant(5u32).counter("n").unwrap().count(&mut rng), 5);
        assert!((0..1000).all(|_| Sampler::Exponential(0.1).count(&mut rng) >= 1));
    }
}
