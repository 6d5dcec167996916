//! The names that formulas share, their memory, and the steps they become.

use super::dimension::Type;
use super::input::Input;
use super::program::{Block, Code, Step};
use crate::packet::Colour;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Meaning {
    /// The same all the time.
    Constant(f64),
    /// What the host tells of a packet.
    Input(Input),
    /// What is remembered in this cell.
    Cell(u16),
    /// The time that what waits takes at this rate, bytes/s.
    Drain(f64),
    /// A rate that is not known here.
    Unknown,
}

/// A name that formulas may use.
#[derive(Clone, Debug)]
pub struct Name {
    /// As it is written.
    pub name: String,
    /// What its value is.
    pub kind: Type,
    /// What it stands for.
    pub meaning: Meaning,
}

/// Where a value is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Operand {
    /// It is known.
    Constant(f64),
    /// In this cell.
    Cell(u16),
}

/// The memory of a compiled law, and what its cells are called.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// One number each.
    pub cells: Vec<f64>,
    /// Those with a name in files.
    pub named: Vec<(String, Type, u16)>,
}

/// Puts formulas together that share names and memory.
#[derive(Debug, Default)]
pub struct Assembler {
    names: Vec<Name>,
    memory: Memory,
    inputs: Vec<(Input, u16)>,
    constants: Vec<(f64, u16)>,
    /// Of the block being made.
    steps: Vec<Step>,
    used: Vec<(Input, u16)>,
    parts: Vec<(u16, String)>,
    /// What the block must not ask for.
    hidden: &'static [Input],
    /// Whether formulas may draw.
    draws: bool,
}

/// Most cells and steps: their numbers have 16 bits.
const MOST: usize = 60_000;

impl Assembler {
    /// Knows colours, and no other name.
    pub fn new() -> Self {
        let mut new = Self { memory: Memory { cells: vec![0.0], named: Vec::new() }, ..Self::default() };
        for colour in Colour::ALL {
            new.declare(colour.name(), Type::Colour, Meaning::Constant(colour.index() as f64));
        }
        new
    }

    /// Lets formulas draw.
    pub fn with_draws(self) -> Self {
        Self { draws: true, ..self }
    }

    /// Makes a name known.
    pub fn declare(&mut self, name: &str, kind: Type, meaning: Meaning) {
        self.names.push(Name { name: name.to_owned(), kind, meaning });
    }

    /// Makes what the host tells known.
    pub fn declare_inputs(&mut self, inputs: &[Input]) {
        inputs.iter().for_each(|input| self.declare(input.name(), input.kind(), Meaning::Input(*input)));
    }

    /// A cell that starts at `value`, with a name.
    pub fn remember(&mut self, name: &str, kind: Type, value: f64) -> u16 {
        let cell = self.own(value);
        self.declare(name, kind, Meaning::Cell(cell));
        self.memory.named.push((name.to_owned(), kind, cell));
        cell
    }

    /// What the host cannot tell in the blocks from now on.
    pub fn hide(&mut self, inputs: &'static [Input]) {
        self.hidden = inputs;
    }

    /// Whether the host cannot tell it.
    pub fn is_hidden(&self, input: Input) -> bool {
        self.hidden.contains(&input)
    }

    /// Whether any formula asks for it.
    pub fn asks(&self, input: Input) -> bool {
        self.inputs.iter().any(|known| known.0 == input)
    }

    /// All names.
    pub fn names(&self) -> &[Name] {
        &self.names
    }

    /// Whether formulas may draw.
    pub fn may_draw(&self) -> bool {
        self.draws
    }

    /// Whether there is more than can be numbered.
    pub fn is_full(&self) -> bool {
        self.memory.cells.len() > MOST || self.steps.len() > MOST
    }

    /// A cell without a name.
    pub fn own(&mut self, value: f64) -> u16 {
        self.memory.cells.push(value);
        (self.memory.cells.len() - 1).min(MOST) as u16
    }

    /// The cell of what the host tells, which the block now needs.
    pub fn input(&mut self, input: Input) -> u16 {
        let known = self.inputs.iter().find(|known| known.0 == input).map(|known| known.1);
        let cell = known.unwrap_or_else(|| {
            let cell = self.own(0.0);
            self.inputs.push((input, cell));
            self.memory.named.push((input.name().to_owned(), input.kind(), cell));
            cell
        });
        if !self.used.contains(&(input, cell)) {
            self.used.push((input, cell));
        }
        cell
    }

    /// Where an operand can be read while a block runs, and after it.
    pub fn cell_of(&mut self, operand: Operand) -> u16 {
        let value = match operand {
            Operand::Cell(cell) => return cell,
            Operand::Constant(value) => value,
        };
        let same = |known: &&(f64, u16)| known.0.to_bits() == value.to_bits();
        if let Some((_, cell)) = self.constants.iter().find(same) {
            return *cell;
        }
        let cell = self.own(value);
        self.constants.push((value, cell));
        cell
    }

    /// A step whose result goes to `into`, or to a cell of its own. Of constants it is taken now.
    pub fn step(&mut self, code: Code, [a, b]: [Operand; 2], into: Option<u16>) -> Operand {
        if let [Operand::Constant(a), Operand::Constant(b)] = [a, b]
            && code != Code::Chance
            && !(code == Code::Divide && b == 0.0)
        {
            return Operand::Constant(code.of(a, b));
        }
        let (a, b) = (self.cell_of(a), self.cell_of(b));
        let to = into.unwrap_or_else(|| self.own(0.0));
        self.steps.push(Step { code, to, a, b });
        Operand::Cell(to)
    }

    /// Puts a value into a cell, unless it is there.
    pub fn copy(&mut self, from: Operand, to: u16) {
        if from != Operand::Cell(to) {
            let a = self.cell_of(from);
            self.steps.push(Step { code: Code::Copy, to, a, b: 0 });
        }
    }

    /// What the last step computes, which may stop.
    pub fn part(&mut self, words: &str) {
        self.parts.push((self.steps.len().saturating_sub(1) as u16, words.to_owned()));
    }

    /// Stops the run where a cell is not finite.
    pub fn must_be_finite(&mut self, cell: u16, what: &str) {
        self.steps.push(Step { code: Code::Finite, to: 0, a: cell, b: 0 });
        self.part(what);
    }

    /// A jump whose aim is set by [`Assembler::land`].
    pub fn jump(&mut self, code: Code, unless: u16) -> usize {
        self.steps.push(Step { code, to: 0, a: unless, b: 0 });
        self.steps.len() - 1
    }

    /// A jump leads to the next step.
    pub fn land(&mut self, jump: usize) {
        self.steps[jump].to = self.steps.len().min(MOST) as u16;
    }

    /// The steps since the last block.
    pub fn block(&mut self) -> Block {
        Block {
            steps: std::mem::take(&mut self.steps).into(),
            inputs: std::mem::take(&mut self.used).into(),
            parts: std::mem::take(&mut self.parts).into(),
        }
    }

    /// The memory, once all is put together.
    pub fn finish(self) -> Memory {
        self.memory
    }
}
