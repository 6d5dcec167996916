//! Formulas: an algorithm's law as text in a file, checked when it is read and compiled once.
//!
//! ```text
//! text -> words -> expression -> steps over one memory, run for each packet
//! ```
//!
//! Values have units: seconds, bytes, packets and their products and quotients. Literals carry them (`15ms`, `30p`), and what
//! does not fit is an error at its place in the file. What a formula cannot compute at run time (a division by zero) ends the
//! run with the time and the values.
//!
//! [`Expression`] is the one reader of expressions: series of names in scenario files evaluate it too.
//!
//! Decision: docs/decisions/120-a-formula-is-compiled-once.md

mod assemble;
mod compile;
mod dimension;
mod expression;
mod fault;
mod input;
mod interned;
mod machine;
mod named;
mod program;
mod rules;
mod stated;
mod text;

pub use assemble::{Assembler, Meaning, Memory, Operand};
pub use compile::{Target, Wanted, colours};
pub use dimension::{Dimension, Type};
pub use expression::{Expression, Form};
pub use fault::{Fault, Stretch};
pub use input::Input;
pub use interned::interned;
pub use machine::Machine;
pub use named::Named;
pub use program::{Block, Cells, Draws, NoDraws};
pub use rules::{Rule, Wrong};
pub use stated::{Condition, Constant, Decision, Formula};
