//! The names that formulas share, their memory, and the steps they become.

use super::dimension::Type;
use super::input::Input;
use super::interned::interned;
use super::program::{Block, Code, Draft, ROOM, Step};
use crate::packet::Colour;
use crate::params::Place;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Meaning {
    /// The same all the time.
    Constant(f64),
    /// What the host tells of a packet.
    Input(Input),
    /// What is remembered in this cell.
    Cell(u8),
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
    Cell(u8),
}

/// The memory of a compiled law, and what its cells are called.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// One number each.
    pub cells: Vec<f64>,
    /// Those with a name in files.
    pub named: Vec<(String, Type, u8)>,
    /// What the host tells, of these.
    told: Vec<u8>,
}

impl Memory {
    /// Names of series and their cells: of all that has a name but what the host tells.
    pub fn gauges(&self) -> Box<[(&'static str, u8)]> {
        let own = self.named.iter().filter(|it| !self.told.contains(&it.2));
        own.map(|(name, kind, cell)| match kind {
            Type::Quantity(unit) => (interned(&format!("{name}{}", unit.ending())), *cell),
            _ => (interned(name), *cell),
        })
        .collect()
    }
}

/// Puts formulas together that share names and memory.
#[derive(Debug, Default)]
pub struct Assembler {
    names: Vec<Name>,
    memory: Memory,
    inputs: Vec<(Input, u8)>,
    constants: Vec<(f64, u8)>,
    /// The block being made, and the step to which a jump leads last.
    draft: Draft,
    landed: usize,
    /// Cells of the formula being compiled, and those of others, which are free.
    lent: Vec<u8>,
    free: Vec<u8>,
    /// What this formula has computed on the way to where it is, and the cell that holds it.
    computed: Vec<(Code, [u8; 2], u8)>,
    /// What is being compiled: the key of the algorithm and the place in the file.
    now: (&'static str, Place),
    /// What first needed more than there is room for.
    full: Option<(&'static str, Place)>,
    /// What the block must not ask for.
    hidden: &'static [Input],
    /// Whether formulas may draw.
    draws: bool,
}

impl Assembler {
    /// Knows colours, and no other name.
    pub fn new() -> Self {
        let mut new = Self { memory: Memory { cells: vec![0.0], ..Memory::default() }, ..Self::default() };
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
    pub fn remember(&mut self, name: &str, kind: Type, value: f64) -> u8 {
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

    /// What is compiled from now on, for messages: the key of the algorithm and the place in the file.
    pub fn begin(&mut self, field: &'static str, place: Place) {
        self.now = (field, place);
    }

    /// A separate cell. Numbers beyond the room are no cells' any more, but nothing runs then.
    pub fn own(&mut self, value: f64) -> u8 {
        self.memory.cells.push(value);
        if self.memory.cells.len() > ROOM {
            self.full.get_or_insert(self.now);
        }
        (self.memory.cells.len() - 1) as u8
    }

    /// A cell for a value between two steps of a formula.
    pub fn lend(&mut self) -> u8 {
        let cell = self.free.pop().unwrap_or_else(|| self.own(0.0));
        self.lent.push(cell);
        cell
    }

    /// A formula is compiled: of what was lent for it only the cell of its value is still needed.
    pub fn release(&mut self, value: Operand) {
        self.computed.clear();
        let cells = std::mem::take(&mut self.lent);
        self.free.extend(cells.into_iter().filter(|cell| Operand::Cell(*cell) != value));
    }

    fn push(&mut self, code: Code, to: u8, [a, b]: [u8; 2]) {
        self.draft.steps.push(Step { code, to, a, b, next: 0 });
        if self.draft.steps.len() == ROOM {
            self.full.get_or_insert(self.now);
        }
    }

    /// The cell of what the host tells, which the block now needs.
    pub fn input(&mut self, input: Input) -> u8 {
        let known = self.inputs.iter().find(|known| known.0 == input).map(|known| known.1);
        let cell = known.unwrap_or_else(|| {
            let cell = self.own(0.0);
            self.inputs.push((input, cell));
            self.memory.named.push((input.name().to_owned(), input.kind(), cell));
            self.memory.told.push(cell);
            cell
        });
        if !self.draft.inputs.contains(&(input, cell)) {
            self.draft.inputs.push((input, cell));
        }
        cell
    }

    /// Where an operand can be read while a block runs, and after it.
    pub fn cell_of(&mut self, operand: Operand) -> u8 {
        let value = match operand {
            Operand::Cell(cell) => return cell,
            Operand::Constant(value) => value,
        };
        let same = |known: &&(f64, u8)| known.0.to_bits() == value.to_bits();
        if let Some((_, cell)) = self.constants.iter().find(same) {
            return *cell;
        }
        let cell = self.own(value);
        self.constants.push((value, cell));
        cell
    }

    /// A step whose result goes to `into`, or to a separate cell; `part` is what it computes, in the words of the file. What is
    /// computed already is not computed again.
    pub fn step(&mut self, code: Code, operands: [Operand; 2], into: Option<u8>, part: &str) -> Operand {
        let of = operands.map(|operand| self.cell_of(operand));
        let same = self.computed.iter().find(|it| (it.0, it.1) == (code, of));
        if let (None, Some((.., cell))) = (into, same) {
            return Operand::Cell(*cell);
        }
        let to = into.unwrap_or_else(|| self.lend());
        if code.stops() {
            self.draft.parts.push((self.draft.steps.len() as u8, part.to_owned()));
        }
        self.push(code, to, of);
        if into.is_none() && code.is_kept() {
            self.computed.push((code, of, to));
        }
        Operand::Cell(to)
    }

    /// What has been computed so far: what is computed from now on may not count.
    pub fn computed(&self) -> usize {
        self.computed.len()
    }

    /// What was computed since then has not been computed for certain.
    pub fn forget(&mut self, since: usize) {
        self.computed.truncate(since);
    }

    /// Puts a value into a cell, unless it is there.
    pub fn copy(&mut self, from: Operand, to: u8) {
        if from != Operand::Cell(to) {
            let a = self.cell_of(from);
            self.push(Code::Copy, to, [a, 0]);
        }
    }

    /// A jump whose aim is set by [`Assembler::land`].
    pub fn jump(&mut self) -> usize {
        self.push(Code::Jump, 0, [0, 0]);
        self.draft.steps.len() - 1
    }

    /// A jump unless a condition holds, which may be the comparison of the last step.
    pub fn jump_unless(&mut self, condition: Operand) -> usize {
        let next = self.draft.steps.len();
        let is_last = |step: &&Step| condition == Operand::Cell(step.to) && self.landed != next;
        let compared = self.draft.steps.last().filter(is_last).copied();
        if let Some((code, step)) = compared.and_then(|step| Some((step.code.unless()?, step))) {
            self.draft.steps.pop();
            self.push(code, 0, [step.a, step.b]);
        } else {
            let cell = self.cell_of(condition);
            self.push(Code::Unless, 0, [cell, 0]);
        }
        self.draft.steps.len() - 1
    }

    /// A jump unless a cell holds, whose value is still needed.
    pub fn jump_unless_cell(&mut self, cell: u8) -> usize {
        self.push(Code::Unless, 0, [cell, 0]);
        self.draft.steps.len() - 1
    }

    /// A jump leads to the next step.
    pub fn land(&mut self, jump: usize) {
        self.landed = self.draft.steps.len();
        self.draft.steps[jump].to = self.landed as u8;
    }

    /// The steps since the last block.
    pub fn block(&mut self) -> Block {
        self.landed = 0;
        let draft = std::mem::take(&mut self.draft);
        Block::new(if draft.steps.len() < ROOM { draft } else { Draft::default() })
    }

    /// The memory, once all is put together.
    ///
    /// # Errors
    /// What first needed more than there is room for.
    pub fn finish(self) -> Result<Memory, (&'static str, Place)> {
        self.full.map_or(Ok(self.memory), Err)
    }
}
