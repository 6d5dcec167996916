//! A law at run time: its memory, and why it had to stop.

use super::assemble::Memory;
use super::dimension::Type;
use super::program::{Block, Cells, Draws, KEEP_WITHIN, ROOM, Stop};
use crate::Scope;
use crate::fault::{self, Fault};
use crate::params::ParamError;
use crate::units::Time;
use std::fmt;
use std::sync::Arc;

/// Memory of one instance.
#[derive(Clone)]
pub struct Machine {
    cells: Box<Cells>,
    named: Arc<[(String, Type, u8)]>,
    /// Where each of them began.
    starts: Arc<[f64]>,
    port: Option<Arc<str>>,
    /// It cannot go on, and nothing is computed any more.
    broken: bool,
}

impl Machine {
    /// With what was assembled, at the port of `scope`.
    pub fn new(memory: Memory, scope: &Scope) -> Self {
        let mut cells = Box::new([0.0; ROOM]);
        cells.iter_mut().zip(memory.cells).for_each(|(cell, value)| *cell = value);
        let starts = memory.named.iter().map(|it| cells[usize::from(it.2)]).collect();
        Self { cells, named: memory.named.into(), starts, port: scope.port.clone(), broken: false }
    }

    /// The cells.
    #[inline(always)]
    pub fn cells(&mut self) -> &mut Cells {
        &mut self.cells
    }

    /// The value in a cell.
    #[inline(always)]
    pub fn at(&self, cell: u8) -> f64 {
        self.cells[usize::from(cell)]
    }

    /// Runs a block; whether it came to its end.
    #[inline(always)]
    pub fn run(&mut self, block: &Block, now: Time, draws: &mut impl Draws) -> bool {
        match block.run(&mut self.cells, draws) {
            Ok(()) => true,
            Err(stop) => {
                self.stop(block, stop, now);
                false
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn stop(&mut self, block: &Block, stop: Stop, now: Time) {
        let (part, taken) = block.stopped(stop);
        let (a, b) = (self.at(taken.a), self.at(taken.b));
        let (why, help) = taken.code.stopped(part, a, b);
        let value = taken.code.of(a, b);
        if value.is_infinite() {
            self.cells[usize::from(taken.to)] = value;
        }
        self.end(now, why, help);
    }

    /// It cannot go on: what would be in a cell that has a name is not finite.
    #[cold]
    #[inline(never)]
    pub fn end_at(&mut self, cell: u8, value: f64, now: Time) {
        let name = self.named.iter().find(|it| it.2 == cell).map_or("", |it| &*it.0);
        let why = format!("`{name}` is {value}");
        self.cells[usize::from(cell)] = value;
        self.end(now, why, KEEP_WITHIN);
    }

    /// It cannot go on: the host is told why, with the values of its names and what to do about it.
    #[cold]
    #[inline(never)]
    pub fn end(&mut self, now: Time, why: String, help: &str) {
        let values: Vec<_> =
            self.values().map(|(name, kind, value)| format!("{name} = {}", kind.shown(value))).collect();
        let values = if values.is_empty() { String::new() } else { format!(" ({})", values.join(", ")) };
        let what = format!("{why}{values}\n   help: {help}");
        fault::raise(Fault { at: Some(now), algorithm: "formula", port: self.port.clone(), what });
        self.broken = true;
    }

    /// Whether it could not go on.
    #[inline(always)]
    pub fn is_broken(&self) -> bool {
        self.broken
    }

    /// Takes over what `old` remembers under the same names.
    ///
    /// # Errors
    /// E202 for a name whose unit is another, or that would have begun elsewhere.
    pub fn resume(&mut self, old: &Self) -> Result<(), ParamError> {
        for ((name, kind, cell), start) in self.named.iter().zip(&*self.starts) {
            let known = old.named.iter().zip(&*old.starts).find(|(it, _)| it.0 == *name);
            let Some(((_, was, from), began)) = known else { continue };
            if was != kind {
                let error =
                    ParamError::new("state", "E202", format!("`{name}` changes from {was} to {kind} while running"));
                return Err(error.help("keep its unit, or give the new number another name"));
            }
            if began != start {
                let message =
                    format!("`{name}` has begun at {}: its `start` is of no use any more", kind.shown(*began));
                return Err(
                    ParamError::new("state", "E202", message).help("change a rule, or what the rule compares with")
                );
            }
            self.cells[usize::from(*cell)] = old.at(*from);
        }
        self.broken = old.broken;
        Ok(())
    }

    /// What has a name, and its value.
    pub fn values(&self) -> impl Iterator<Item = (&str, Type, f64)> {
        self.named.iter().map(|(name, kind, cell)| (&**name, *kind, self.at(*cell)))
    }
}

/// What is remembered under a name; cells between two steps are of no interest.
impl fmt::Debug for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.values().map(|(name, _, value)| (name, value))).finish()?;
        self.broken.fmt(f)
    }
}
