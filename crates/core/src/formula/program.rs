//! What a formula is compiled to: steps over one memory, run without allocation.
//!
//! A step takes one or two cells and fills one. Conditions are 1 and 0, colours their index. `if`, `and` and `or` jump over
//! what does not count, so that `if(rate > 0bit/s, size / rate, 0s)` never divides by zero.

use super::input::Input;
use crate::math;
use crate::rng::Rng;

/// What a step does with cells a and b.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Code {
    /// a + b
    Add,
    /// a - b
    Subtract,
    /// a b
    Multiply,
    /// a / b; stops at b = 0.
    Divide,
    /// a^b
    Power,
    /// The smaller one.
    Min,
    /// The larger one.
    Max,
    /// a < b
    Less,
    /// a <= b
    LessOrEqual,
    /// a = b
    Equal,
    /// a != b
    Unequal,
    /// not a
    Not,
    /// -a
    Negate,
    /// |a|
    Absolute,
    /// e^a
    Exp,
    /// Natural logarithm of a.
    Ln,
    /// a
    Copy,
    /// Stops unless a is finite.
    Finite,
    /// True with probability a; stops unless that is one.
    Chance,
    /// Goes on at the step `to` unless a.
    Unless,
    /// Goes on at the step `to`.
    Jump,
}

/// A step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// What it does.
    pub code: Code,
    /// The cell that it fills, or the step that follows.
    pub to: u16,
    /// First cell.
    pub a: u16,
    /// Second cell.
    pub b: u16,
}

impl Code {
    /// The result of a step that neither stops nor jumps.
    #[inline(always)]
    pub fn of(self, a: f64, b: f64) -> f64 {
        let truth = |it: bool| f64::from(u8::from(it));
        match self {
            Self::Add => a + b,
            Self::Subtract => a - b,
            Self::Multiply => a * b,
            Self::Divide => a / b,
            Self::Power => power(a, b),
            Self::Min => math::smaller(a, b),
            Self::Max => math::larger(a, b),
            Self::Less => truth(a < b),
            Self::LessOrEqual => truth(a <= b),
            Self::Equal => truth(a == b),
            Self::Unequal => truth(a != b),
            Self::Not => 1.0 - a,
            Self::Negate => -a,
            Self::Absolute => a.abs(),
            Self::Exp => exp(a),
            Self::Ln => ln(a),
            Self::Copy | Self::Finite | Self::Chance | Self::Unless | Self::Jump => a,
        }
    }
}

// Apart, so that the other steps stay short.
#[inline(never)]
fn power(a: f64, b: f64) -> f64 {
    math::pow(a, b)
}

#[inline(never)]
fn exp(a: f64) -> f64 {
    math::exp(a)
}

#[inline(never)]
fn ln(a: f64) -> f64 {
    math::ln(a)
}

/// Steps for one occasion, and what they read of the packet and its queue.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// In order.
    pub steps: Box<[Step]>,
    /// What is put where before.
    pub inputs: Box<[(Input, u16)]>,
    /// What a step computes, in the words of the file: of those that may stop.
    pub parts: Box<[(u16, String)]>,
}

/// A run stopped at this step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop(pub u16);

impl Block {
    /// Whether nothing happens.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Puts in place what it reads.
    #[inline(always)]
    pub fn load(&self, memory: &mut [f64], read: impl Fn(Input) -> f64) {
        for (input, cell) in &self.inputs {
            memory[usize::from(*cell)] = read(*input);
        }
    }

    /// Takes all steps.
    ///
    /// # Errors
    /// The step that has no result.
    #[inline]
    pub fn run(&self, memory: &mut [f64], draws: &mut impl Draws) -> Result<(), Stop> {
        let mut next = 0;
        while let Some(step) = self.steps.get(next) {
            next += 1;
            let (a, b) = (memory[usize::from(step.a)], memory[usize::from(step.b)]);
            let result = match step.code {
                Code::Unless => {
                    if a == 0.0 {
                        next = usize::from(step.to);
                    }
                    continue;
                }
                Code::Jump => {
                    next = usize::from(step.to);
                    continue;
                }
                Code::Divide if b == 0.0 => return Err(Stop(next as u16 - 1)),
                Code::Finite if a.is_finite() => continue,
                Code::Finite => return Err(Stop(next as u16 - 1)),
                Code::Chance => match draws.hits(a) {
                    Some(hit) => f64::from(u8::from(hit)),
                    None => return Err(Stop(next as u16 - 1)),
                },
                code => code.of(a, b),
            };
            memory[usize::from(step.to)] = result;
        }
        Ok(())
    }
}

/// Who decides by chance.
pub trait Draws {
    /// Whether something of probability p happens; nothing is drawn for 0 and 1. `None` for what is no probability.
    fn hits(&mut self, p: f64) -> Option<bool>;
}

impl Draws for Rng {
    #[inline(always)]
    fn hits(&mut self, p: f64) -> Option<bool> {
        if p == 0.0 {
            return Some(false);
        }
        if p > 0.0 && p < 1.0 {
            return Some(self.uniform() < p);
        }
        (p == 1.0).then_some(true)
    }
}

/// Where nothing may be drawn.
#[derive(Clone, Copy, Debug)]
pub struct NoDraws;

impl Draws for NoDraws {
    #[inline(always)]
    fn hits(&mut self, _p: f64) -> Option<bool> {
        None
    }
}

impl Code {
    /// Why a step that does this stops, and what to do about it.
    pub fn stopped(self, part: &str, a: f64, b: f64) -> (String, &'static str) {
        match self {
            Self::Divide => {
                (format!("a division by zero: `{part}` is {a} / {b}"), "write if(divisor > 0, quotient, other value)")
            }
            Self::Chance => (format!("`{part}` of {a}"), "a probability is a number from 0 to 1: write max(0, min(1, p))"),
            _ => (format!("{part} is {a}"), "keep it within bounds by min and max"),
        }
    }
}
