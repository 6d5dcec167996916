//! PPS's tags: a search among the values of all codes (specification, section 1.4).

use perhop_core::conditioner::pps::tags::{self, LeastTag, Rounding, Scale};
use perhop_core::math::{ln, pow};

/// The value of each code, the first one first; empty for real numbers.
pub struct Tags {
    rules: tags::Tags,
    codes: Vec<f64>,
    /// Tags made, tags that wanted more than the last code, less than the first.
    pub counts: [u64; 3],
}

impl Tags {
    pub fn new(rules: &tags::Tags) -> Self {
        let last = (1u32 << rules.bits) - 1;
        let codes = match rules.tags {
            Scale::Linear if rules.least_tag == LeastTag::Zero => (0..=last).map(f64::from).collect(),
            Scale::Linear => (1..=last).map(f64::from).collect(),
            Scale::Log => (1..=last).map(|c| pow(1e6, f64::from(c - 1) / f64::from(last - 1))).collect(),
            Scale::Real => vec![],
        };
        Self { rules: rules.clone(), codes, counts: [0; 3] }
    }

    /// Its totals by name.
    pub fn tallies(&self) -> Vec<(&'static str, u64)> {
        ["tagged_packets", "saturated_tags", "raised_tags"].into_iter().zip(self.counts).collect()
    }

    /// The fewest tickets; of real numbers 10^-9.
    pub fn fewest(&self) -> f64 {
        self.codes.first().copied().unwrap_or(1e-9)
    }

    /// TMAX; real numbers have none and take that of linear tags.
    pub fn most(&self) -> f64 {
        self.codes.last().copied().unwrap_or(f64::from((1u32 << self.rules.bits) - 1))
    }

    /// Between which codes, and how far from the lower to the upper: `[lower, upper, as values, as codes]`. Beyond the
    /// codes the scale continues evenly.
    fn between(&self, v: f64) -> (f64, f64, f64) {
        let linear = (v.floor(), v - v.floor(), v - v.floor());
        if self.rules.tags == Scale::Linear {
            return linear;
        }
        let steps = (self.codes.len() - 1) as f64;
        let step = ln(1e6) / steps;
        let i = self.codes.partition_point(|code| *code <= v);
        if i == 0 || i == self.codes.len() {
            let place = 1.0 + ln(v) / step;
            return (place.floor(), place - place.floor(), place - place.floor());
        }
        let (low, high) = (self.codes[i - 1], self.codes[i]);
        (i as f64, (v - low) / (high - low), ln(v / low) / step)
    }

    /// The value of the code that is written as `label`, if there is one.
    fn exact(&self, label: f32) -> Option<f64> {
        let found = self.codes.binary_search_by(|code| (*code as f32).total_cmp(&label));
        found.ok().map(|i| self.codes[i])
    }

    pub fn quantise(&mut self, v: f64, u: f64) -> f32 {
        self.counts[0] += 1;
        if self.codes.is_empty() {
            return v.max(1e-9) as f32;
        }
        // A label has 24 bits: what is a code's value to that precision is the code.
        let v = self.exact(v as f32).unwrap_or(v);
        let (below, by_value, by_code) = self.between(v);
        let up = match self.rules.rounding {
            Rounding::Floor => false,
            Rounding::Nearest => by_code >= 0.5,
            Rounding::Stochastic => u < by_value,
        };
        let first = if self.codes[0] == 0.0 { 0.0 } else { 1.0 };
        let (code, last) = (if up { below + 1.0 } else { below }, first + self.codes.len() as f64 - 1.0);
        self.counts[1] += u64::from(code > last);
        self.counts[2] += u64::from(code < first);
        self.codes[(code.clamp(first, last) - first) as usize] as f32
    }
}
