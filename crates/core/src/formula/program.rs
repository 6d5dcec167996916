//! What a formula is compiled to: steps over one memory, run without allocation.
//!
//! A step takes one or two cells and fills one. Conditions are 1 and 0, colours their index. `if`, `and` and `or` jump over
//! what does not count, so that `if(rate > 0bit/s, size / rate, 0s)` never divides by zero. Each step knows the one that
//! follows it, so jumps are no steps of a block.

use super::input::Input;
use crate::math;
use crate::rng::Rng;
use std::fmt;
use std::sync::Arc;

/// What a step does with cells a and b.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Code {
    /// a + b; stops where that is infinite, as all steps that may be.
    Add,
    /// a - b
    Subtract,
    /// a b
    Multiply,
    /// a / b; stops at b = 0 too.
    Divide,
    /// a^b; stops where that is no number too.
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
    /// Natural logarithm of a; stops where that is no number too.
    Ln,
    /// a
    Copy,
    /// True with probability a; stops unless that is one.
    Chance,
    /// Goes on at the step `to` unless a.
    Unless,
    /// Goes on at the step `to` unless a < b.
    UnlessLess,
    /// Goes on at the step `to` unless a <= b.
    UnlessLessOrEqual,
    /// Goes on at the step `to` unless a = b.
    UnlessEqual,
    /// Goes on at the step `to` unless a != b.
    UnlessUnequal,
    /// Goes on at the step `to`.
    Jump,
    /// The last step.
    End,
}

/// Cells of a memory and steps of a block: numbers of both have 8 bits, so that none is ever out of bounds.
pub const ROOM: usize = 256;

/// The memory of a law.
pub type Cells = [f64; ROOM];

/// A step. Its size is a power of two, which finds the next one soonest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(8))]
pub struct Step {
    /// What it does.
    pub code: Code,
    /// The cell that it fills, or the step that follows.
    pub to: u8,
    /// First cell.
    pub a: u8,
    /// Second cell.
    pub b: u8,
    /// The step that follows, as the block has it.
    pub next: u8,
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
            // By name, so that a run need not look first whether its code is among those above.
            Self::Copy | Self::Chance | Self::Jump | Self::End => a,
            Self::Unless | Self::UnlessLess | Self::UnlessLessOrEqual | Self::UnlessEqual | Self::UnlessUnequal => a,
        }
    }

    /// Whether its `to` is a step.
    const fn leads(self) -> bool {
        use Code::{Jump, Unless, UnlessEqual, UnlessLess, UnlessLessOrEqual, UnlessUnequal};
        matches!(self, Jump | Unless | UnlessLess | UnlessLessOrEqual | UnlessEqual | UnlessUnequal)
    }

    /// Whether it is not taken a second time for the same cells. A comparison may become part of a jump.
    pub const fn is_kept(self) -> bool {
        use Code::{Absolute, Add, Exp, Max, Min, Multiply, Negate, Subtract};
        matches!(self, Add | Subtract | Multiply | Min | Max | Negate | Absolute | Exp)
    }

    /// Whether it stops where it has no finite value. The others have one wherever their cells do.
    pub const fn stops(self) -> bool {
        use Code::{Add, Chance, Divide, Exp, Ln, Multiply, Power, Subtract};
        matches!(self, Add | Subtract | Multiply | Divide | Power | Exp | Ln | Chance)
    }

    /// What jumps unless this comparison holds.
    pub const fn unless(self) -> Option<Self> {
        match self {
            Self::Less => Some(Self::UnlessLess),
            Self::LessOrEqual => Some(Self::UnlessLessOrEqual),
            Self::Equal => Some(Self::UnlessEqual),
            Self::Unequal => Some(Self::UnlessUnequal),
            _ => None,
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

// In line, all that could be read would be computed before the loop over what is read.
#[inline(never)]
fn apart(read: &impl Fn(Input) -> f64, input: Input) -> f64 {
    read(input)
}

/// Steps for one occasion, and what they read of the packet and its queue.
#[derive(Clone)]
pub struct Block {
    /// As they were made; [`Code::End`] from the last on.
    steps: Arc<[Step; ROOM]>,
    first: u8,
    /// What is put where before.
    inputs: Box<[(Input, u8)]>,
    /// What a step computes, in the words of the file: of those that may stop.
    parts: Arc<[(u8, String)]>,
}

/// A run stopped at this step, whose cells are as it found them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop(u8);

/// What a block is made of.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    /// In order; a block has room for fewer than [`ROOM`].
    pub steps: Vec<Step>,
    /// What is put where before.
    pub inputs: Vec<(Input, u8)>,
    /// What steps compute that may stop.
    pub parts: Vec<(u8, String)>,
}

impl Block {
    /// Of these steps, for which there is room.
    pub fn new(draft: Draft) -> Self {
        let mut steps = [Step { code: Code::End, to: 0, a: 0, b: 0, next: 0 }; ROOM];
        steps[..draft.steps.len()].copy_from_slice(&draft.steps);
        let drafted = steps;
        let real = |mut at: u8| {
            while let Step { code: Code::Jump, to, .. } = drafted[usize::from(at)] {
                at = to;
            }
            at
        };
        for (step, at) in steps[..draft.steps.len()].iter_mut().zip(0u8..) {
            step.next = real(at + 1);
            if step.code.leads() {
                step.to = real(step.to);
            }
        }
        let (inputs, parts) = (draft.inputs.into(), draft.parts.into());
        Self { first: real(0), steps: Arc::new(steps), inputs, parts }
    }

    /// Whether nothing happens.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.steps[0].code == Code::End
    }

    /// Puts in place what it reads.
    #[inline(always)]
    pub fn load(&self, memory: &mut Cells, read: impl Fn(Input) -> f64) {
        for (input, cell) in &self.inputs {
            memory[usize::from(*cell)] = apart(&read, *input);
        }
    }

    /// Takes all steps. What memory and draws hold is finite, and so is all that they become.
    ///
    /// # Errors
    /// The first step that has no finite result.
    #[inline]
    pub fn run(&self, memory: &mut Cells, draws: &mut impl Draws) -> Result<(), Stop> {
        let steps = &*self.steps;
        let mut here = self.first;
        loop {
            let Step { code, to, a, b, next } = steps[usize::from(here)];
            let (a, b) = (memory[usize::from(a)], memory[usize::from(b)]);
            let value = match code {
                Code::End => return Ok(()),
                Code::Unless => {
                    here = if a != 0.0 { next } else { to };
                    continue;
                }
                Code::UnlessLess => {
                    here = if a < b { next } else { to };
                    continue;
                }
                Code::UnlessLessOrEqual => {
                    here = if a <= b { next } else { to };
                    continue;
                }
                Code::UnlessEqual => {
                    here = if a == b { next } else { to };
                    continue;
                }
                Code::UnlessUnequal => {
                    here = if a != b { next } else { to };
                    continue;
                }
                Code::Chance => match draws.hits(a) {
                    Some(hit) => f64::from(u8::from(hit)),
                    None => return Err(Stop(here)),
                },
                code if code.stops() => match code.of(a, b) {
                    value if value.is_finite() => value,
                    _ => return Err(Stop(here)),
                },
                code => code.of(a, b),
            };
            memory[usize::from(to)] = value;
            here = next;
        }
    }

    /// What a step computes, and its code with the cells that it takes.
    pub fn stopped(&self, Stop(step): Stop) -> (&str, Step) {
        let part = self.parts.iter().find(|part| part.0 == step).map_or("", |part| &*part.1);
        (part, self.steps[usize::from(step)])
    }
}

impl fmt::Debug for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.steps.iter().take_while(|step| step.code != Code::End)).finish()
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

/// What to do about a value that is infinite.
pub const KEEP_WITHIN: &str = "numbers end at 1.8e308: keep what it is made of within bounds by min and max";

impl Code {
    /// Why a step that does this stops, and what to do about it.
    pub fn stopped(self, part: &str, a: f64, b: f64) -> (String, &'static str) {
        let value = self.of(a, b);
        match self {
            Self::Divide if b == 0.0 => {
                (format!("a division by zero: `{part}` is {a} / {b}"), "write if(divisor > 0, quotient, other value)")
            }
            Self::Ln => (format!("no logarithm: `{part}` of {a}"), "write if(a > 0, ln(a), other value)"),
            Self::Power if value.is_nan() => {
                (format!("no power: `{part}` is {a}^{b}"), "write max(0, a)^b, or a whole power")
            }
            Self::Power if a == 0.0 => (format!("no power: `{part}` is {a}^{b}"), "write if(a > 0, a^b, other value)"),
            Self::Chance => {
                (format!("`{part}` of {a}"), "a probability is a number from 0 to 1: write max(0, min(1, p))")
            }
            _ => (format!("`{part}` is {value}"), KEEP_WITHIN),
        }
    }
}
