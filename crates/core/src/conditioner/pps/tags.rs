//! Tags: tickets encoded in the few bits of a header.
//!
//! Source: PPS, section III-J: 8 bits in all published runs, 17 (`ip_off` and TOS) at most.
//!
//! | tags   | code c in 1 .. 2^bits - 1 means             |
//! |--------|---------------------------------------------|
//! | linear | c tickets                                   |
//! | log    | 10^(6 (c - 1)/(2^bits - 2)) tickets: 1 .. 10^6 |
//! | real   | - (any positive number: the oracle)         |
//!
//! With `least-tag = "zero"` linear tags also have a code 0: a packet of no tickets, which TRED drops as soon as it
//! drops at all. (A packet without a tag is something else, see pps/untagged.rs.) A value between two codes is
//! rounded to the lower (`floor`), to the nearer (`nearest`, half up), or at random so that the mean is kept
//! (`stochastic`). A value that equals that of a code in the 24 bits of a label becomes that code, so an exchange at
//! a rate of 1 changes nothing. Values beyond the codes become the last or the first code, and are counted.
//!
//! Deviations: the paper's tags are in [0, 255] (section III-J: they may "drop down to 0"), where p
//! (ExpectTkt/InTkt)^3 is 1 for a tag of 0; here a tag is at least 1 unless `least-tag = "zero"` selects the paper's
//! range. The paper does not say how tags are rounded. Logarithmic tags are ours.

use crate::math;
use crate::params::{Choice, ParamError, Params};
use crate::rng::Rng;

/// What a tag's codes mean.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// As many tickets as the code says.
    Linear,
    /// Evenly spaced logarithms from 1 to 10^6 tickets.
    Log,
    /// No code: the number itself.
    Real,
}

/// How a value between two codes is rounded.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// The nearer, half up.
    Nearest,
    /// The lower.
    Floor,
    /// Either, by a draw that keeps the mean.
    Stochastic,
}

/// The least that a linear tag can say.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeastTag {
    /// One ticket.
    One,
    /// None, as in the paper.
    Zero,
}

/// What a tagger or relabeller states of its tags.
#[derive(Params, Clone, Debug, PartialEq)]
pub struct Tags {
    /// Width of a tag, 4 to 17 bits.
    #[param(default = 8)]
    pub bits: u32,
    /// What the codes of its tags mean.
    #[param(default = "linear")]
    pub tags: Scale,
    /// How a value between two codes is rounded.
    #[param(default = "nearest")]
    pub rounding: Rounding,
    /// Least value of a linear tag: one ticket, or none as in the paper.
    #[param(default = "one")]
    pub least_tag: LeastTag,
}

/// Least and greatest width, bits.
pub(super) const WIDTHS: std::ops::RangeInclusive<u32> = 4..=17;
/// Tickets of the last code of logarithmic tags.
const LOG_TOP: f64 = 1e6;
/// The least that a real tag holds.
const LEAST: f64 = 1e-9;

impl Tags {
    /// # Errors
    /// E201 for a width out of bounds, or `least-tag = "zero"` of tags that are not linear.
    pub fn tagging(&self) -> Result<Tagging, ParamError> {
        if !WIDTHS.contains(&self.bits) {
            let error = ParamError::new("bits", "E201", format!("`bits` is {}", self.bits));
            return Err(error.help(format!("must be between {} and {}", WIDTHS.start(), WIDTHS.end())));
        }
        if self.least_tag == LeastTag::Zero && self.tags != Scale::Linear {
            let message = format!("`least-tag = \"zero\"` with `tags = \"{}\"`", self.tags.name());
            let error = ParamError::new("least-tag", "E201", message);
            return Err(
                error.help("only linear tags have a code for no tickets: tags = \"linear\", or least-tag = \"one\"")
            );
        }
        Ok(Tagging { rules: self.clone(), tagged: 0, saturated: 0, raised: 0 })
    }

    /// The last code.
    pub const fn codes(&self) -> u32 {
        (1 << self.bits) - 1
    }

    /// The most tickets that a tag can hold; with real tags, what that many bits would hold.
    pub fn top(&self) -> f64 {
        match self.tags {
            Scale::Log => LOG_TOP,
            Scale::Linear | Scale::Real => f64::from(self.codes()),
        }
    }

    /// The fewest tickets that a tag can say.
    pub const fn least(&self) -> f64 {
        match (self.tags, self.least_tag) {
            (Scale::Real, _) => LEAST,
            (_, LeastTag::One) => 1.0,
            (_, LeastTag::Zero) => 0.0,
        }
    }

    /// Its code, for tags that have codes.
    const fn first(&self) -> u32 {
        match self.least_tag {
            LeastTag::One => 1,
            LeastTag::Zero => 0,
        }
    }

    /// Tickets of a code, for tags that have codes.
    pub fn value(&self, code: u32) -> f64 {
        match self.tags {
            Scale::Log => math::pow(LOG_TOP, f64::from(code - 1) / f64::from(self.codes() - 1)),
            Scale::Linear | Scale::Real => f64::from(code),
        }
    }

    /// The code of what [`Tags::value`] gave; rounds anything else to the nearest.
    pub fn code(&self, tickets: f64) -> u32 {
        let nearest = libm::round(self.position(tickets));
        nearest.clamp(1.0, f64::from(self.codes())) as u32
    }

    /// Where among the codes a number of tickets lies; not clamped.
    fn position(&self, tickets: f64) -> f64 {
        match self.tags {
            Scale::Log => 1.0 + f64::from(self.codes() - 1) * math::ln(tickets.max(LEAST)) / math::ln(LOG_TOP),
            Scale::Linear | Scale::Real => tickets,
        }
    }
}

/// Makes tags, and counts what they cannot hold.
#[derive(Clone, Debug)]
pub struct Tagging {
    rules: Tags,
    tagged: u64,
    saturated: u64,
    raised: u64,
}

impl Tagging {
    /// The tag for a number of tickets.
    #[inline]
    pub fn tag(&mut self, tickets: f64, rng: &mut Rng) -> f32 {
        self.tagged += 1;
        if self.rules.tags == Scale::Real {
            return tickets.max(LEAST) as f32;
        }
        let code = self.round(tickets, rng);
        let [first, last] = [self.rules.first(), self.rules.codes()].map(f64::from);
        self.saturated += u64::from(code > last);
        self.raised += u64::from(code < first);
        self.rules.value(code.clamp(first, last) as u32) as f32
    }

    /// The code before it is clamped to the valid codes.
    fn round(&self, tickets: f64, rng: &mut Rng) -> f64 {
        let draw = if self.rules.rounding == Rounding::Stochastic { rng.uniform() } else { 0.0 };
        let nearest = self.rules.code(tickets);
        if self.rules.value(nearest) as f32 == tickets as f32 {
            return f64::from(nearest);
        }
        let position = self.rules.position(tickets);
        let below = libm::floor(position);
        match self.rules.rounding {
            Rounding::Floor => below,
            Rounding::Nearest => libm::floor(position + 0.5),
            Rounding::Stochastic => below + f64::from(u8::from(draw < self.share(tickets, below))),
        }
    }

    /// How far `tickets` has come from the value of code `below` to that of the next; outside the codes, on the codes'
    /// scale.
    fn share(&self, tickets: f64, below: f64) -> f64 {
        if !(1.0..f64::from(self.rules.codes())).contains(&below) {
            return self.rules.position(tickets) - below;
        }
        let (low, high) = (self.rules.value(below as u32), self.rules.value(below as u32 + 1));
        (tickets - low) / (high - low)
    }

    /// What its tags are.
    pub const fn rules(&self) -> &Tags {
        &self.rules
    }

    /// Takes other rules; what was counted stays.
    pub fn retag(&mut self, rules: Tags) {
        self.rules = rules;
    }

    /// Totals: tags made, those that needed more than the last code, those that needed less than the first.
    pub fn tallies(&self, each: &mut dyn FnMut(&'static str, u64)) {
        each("tagged_packets", self.tagged);
        each("saturated_tags", self.saturated);
        each("raised_tags", self.raised);
    }
}
