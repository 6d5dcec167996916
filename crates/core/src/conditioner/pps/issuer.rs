//! The issuer of tags: spreads a ticket rate over packets and polices the tickets that it has put on them.
//!
//! Source: PPS, sections II-B (tagging), II-D (exchange), II-G (policing).
//!
//! ```text
//! raw:        what a tagger or an exchange rate asks for, tickets
//! ratio:      tag = raw x clamp(O/A, least, most)      (published, without bounds)
//! integral:   m = clamp(m x (O/A)^(dt/W), least, most);  tag = raw x m
//! A:          TSW of the tickets put on packets;  dt: since the packet before;  O/A is 1 where one of them is 0
//! ```
//!
//! | symbol | field          | unit      | default |
//! |--------|----------------|-----------|---------|
//! | O      | `tickets`      | tickets/s | -       |
//! | W      | `window`       | s         | 5s      |
//! | -      | `policing`     |           | ratio   |
//! | least  | `policing-min` | -         | 0.25    |
//! | most   | `policing-max` | -         | 4       |
//!
//! Let b be the bias: tickets emitted without policing, divided by tickets issued. The published rule settles where A
//! = b O^2/A, at A = O sqrt(b), which halves the error on a logarithmic scale. `integral` removes the error.
//!
//! Deviations: the bounds and `integral` are ours. After a long silence A has decayed, and without bounds the huge
//! O/A would scale the first tags. Wide bounds (1e-9 and 1e9) come close to the published rule.
//!
//! Decision: docs/decisions/009-pps-policing.md

use super::tags::{LeastTag, Scale, Tagging, Tags};
use crate::estimate::EventRate;
use crate::math;
use crate::params::{Choice, ParamError, Params};
use crate::rng::Rng;
use crate::units::{Span, Time};

/// How the tickets put on packets are held to the rate issued.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policing {
    /// Times issued by emitted, as published: halves the error.
    Ratio,
    /// A factor that moves until emitted equals issued.
    Integral,
    /// They are not.
    Off,
}

/// What happens to a packet for which there is less than one ticket.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scarce {
    /// It gets the least tag there is: more tickets go out than were issued.
    Raise,
    /// It passes with the probability that keeps to the tickets issued, otherwise it is dropped.
    Drop,
}

/// What every tagger and relabeller states.
#[derive(Params, Clone, Debug, PartialEq)]
pub struct Issuing {
    /// Window of all its rates.
    #[param(default = "5s")]
    pub window: Span,
    /// How the tickets put on packets are held to the rate issued.
    #[param(default = "ratio")]
    pub policing: Policing,
    /// Bounds of its factor.
    #[param(flatten)]
    pub bounds: Bounds,
    /// Its tags.
    #[param(flatten)]
    pub tags: Tags,
}

/// Bounds of the factor by which policing changes a tag.
#[derive(Params, Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The least factor by which policing changes a tag; above 0, at most 1.
    #[param(default = 0.25)]
    pub policing_min: f64,
    /// The largest factor by which policing changes a tag; at least 1.
    #[param(default = 4.0)]
    pub policing_max: f64,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { policing_min: 0.25, policing_max: 4.0 }
    }
}

impl Bounds {
    fn check(self) -> Result<(), ParamError> {
        let wrong = |field, value| ParamError::new(field, "E201", format!("`{field}` is {value}"));
        if !(self.policing_min > 0.0 && self.policing_min <= 1.0) {
            return Err(
                wrong("policing-min", self.policing_min).help("must be above 0 and at most 1; 1 never lowers a tag")
            );
        }
        if self.policing_max < 1.0 {
            return Err(wrong("policing-max", self.policing_max).help("must be at least 1; 1 never raises a tag"));
        }
        Ok(())
    }

    fn of(self, factor: f64) -> f64 {
        factor.clamp(self.policing_min, self.policing_max)
    }
}

impl Issuing {
    /// # Errors
    /// E201 for `scarce = "drop"` with real tags or with a tag of 0, which can hold less than one ticket.
    pub fn thins(&self, scarce: Scarce) -> Result<(), ParamError> {
        let (with, help) = match (self.tags.tags, self.tags.least_tag) {
            _ if scarce == Scarce::Raise => return Ok(()),
            (Scale::Real, _) => {
                ("tags = \"real\"", "real tags can hold less than one ticket: scarce = \"raise\", or tags = \"linear\"")
            }
            (_, LeastTag::Zero) => (
                "least-tag = \"zero\"",
                "such tags can say less than one ticket: scarce = \"raise\", or least-tag = \"one\"",
            ),
            (_, LeastTag::One) => return Ok(()),
        };
        Err(ParamError::new("scarce", "E201", format!("`scarce = \"drop\"` with `{with}`")).help(help))
    }

    /// # Errors
    /// E201 for `window`, `bits`, `least-tag`, `policing-min` or `policing-max`.
    pub fn issuer(&self) -> Result<Issuer, ParamError> {
        ParamError::above_zero("window", self.window)?;
        self.bounds.check()?;
        let tagging = self.tags.tagging()?;
        let (policing, bounds, emitted) = (self.policing, self.bounds, EventRate::new(self.window));
        Ok(Issuer { policing, bounds, window: self.window, tagging, emitted, factor: 1.0, last: None })
    }
}

/// What a packet should carry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wanted {
    /// Tickets, before policing.
    pub raw: f64,
    /// Out of this many tickets/s.
    pub issued: f64,
}

/// Puts tags on packets.
#[derive(Clone, Debug)]
pub struct Issuer {
    policing: Policing,
    bounds: Bounds,
    window: Span,
    tagging: Tagging,
    emitted: EventRate,
    /// Of integral policing.
    factor: f64,
    last: Option<Time>,
}

impl Issuer {
    /// The tag of a packet.
    #[inline]
    pub fn issue(&mut self, now: Time, wanted: Wanted, rng: &mut Rng) -> f32 {
        let tickets = wanted.raw * self.police(now, wanted.issued);
        let tag = self.tagging.tag(tickets, rng);
        self.emitted.update(now, f64::from(tag));
        tag
    }

    /// Whether a packet that should carry `raw` tickets gets none: by a draw, where that is less than one.
    #[inline]
    pub fn refuses(&self, raw: f64, rng: &mut Rng) -> bool {
        raw < 1.0 && rng.uniform() >= raw
    }

    fn police(&mut self, now: Time, issued: f64) -> f64 {
        let gap = self.last.replace(now).map_or(0.0, |last| now.since(last).seconds());
        let emitted = self.emitted.rate();
        let wanted = if emitted > 0.0 && issued > 0.0 { issued / emitted } else { 1.0 };
        match self.policing {
            Policing::Off => 1.0,
            Policing::Ratio => self.bounds.of(wanted),
            Policing::Integral => {
                let moved = self.factor * math::pow(wanted, gap / self.window.seconds());
                self.factor = self.bounds.of(moved);
                self.factor
            }
        }
    }

    /// Tickets/s put on packets so far.
    pub const fn emitted(&self) -> f64 {
        self.emitted.rate()
    }

    /// How it writes tickets.
    pub const fn tags(&self) -> &Tags {
        self.tagging.rules()
    }

    /// Takes new parameters, keeps what it has measured.
    pub fn retune(&mut self, rules: &Issuing) {
        self.policing = rules.policing;
        self.bounds = rules.bounds;
        self.window = rules.window;
        self.emitted.rewindow(rules.window);
        self.tagging.retag(rules.tags.clone());
    }

    /// Totals of its tags.
    pub fn tallies(&self, each: &mut dyn FnMut(&'static str, u64)) {
        self.tagging.tallies(each);
    }
}
