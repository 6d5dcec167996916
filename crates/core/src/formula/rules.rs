//! Named numbers that rules change, and faults of the formulas of one law.

use super::assemble::{Assembler, Memory, Operand};
use super::compile::{FUNCTIONS, Target, Wanted, compile, constant};
use super::dimension::Type;
use super::fault::{Fault, Stretch};
use super::stated::{Condition, Constant, Formula, report};
use crate::params::{ParamError, Params, Place, Problems};

/// A named number: where it starts and how it changes. Rules of one occasion are carried out in the order of the file, and
/// each sees what those before it have done.
#[derive(Params, Clone, Debug, PartialEq)]
pub struct Rule {
    /// Its first value, with its unit.
    pub start: Constant,
    /// Its new value at each arrival, before anything is decided.
    pub arrival: Option<Formula>,
    /// Its new value when a packet is about to be sent.
    pub departure: Option<Formula>,
    /// Its new value at the end of each `interval`.
    pub interval: Option<Formula>,
    /// Its new value after a packet was marked or dropped by the formula.
    pub hit: Option<Formula>,
}

/// What is wrong with a formula of a law.
#[derive(Clone, Debug, PartialEq)]
pub struct Wrong {
    /// The key of the algorithm.
    pub field: &'static str,
    /// In the file.
    pub place: Place,
    /// What it is.
    pub fault: Box<Fault>,
}

impl Wrong {
    /// A fault of a formula at this key.
    pub fn of(field: &'static str, formula: &Formula, fault: Fault) -> Self {
        Self { field, place: formula.place_of(&fault), fault: Box::new(fault) }
    }

    /// Whether a law is sound: else all that is wrong is added to what is wrong with the file.
    pub fn none_in<T>(law: Result<T, Vec<Self>>, problems: &mut Problems) -> bool {
        let wrong = law.err().unwrap_or_default();
        wrong.iter().for_each(|it| report(&it.fault, it.place, problems));
        wrong.is_empty()
    }

    /// The first of them, as the refusal of a parameter.
    pub fn refused(wrong: Vec<Self>) -> ParamError {
        let Some(Self { field, fault, .. }) = wrong.into_iter().next() else { return ParamError::other_kind() };
        let Fault { code, message, label, help, .. } = *fault;
        ParamError::new(field, code, message).label(label).help(help)
    }
}

impl Assembler {
    /// Reads the value of a formula into a cell, and says what it is.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn formula(&mut self, field: &'static str, formula: &Formula, wanted: Wanted) -> Result<(u8, Type), Wrong> {
        let (operand, kind) = self.compiled(field, formula, wanted, None)?;
        Ok((self.cell_of(operand), kind))
    }

    /// Has the value of a formula put into the cell of something named each time.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn formula_into(
        &mut self,
        field: &'static str,
        formula: &Formula,
        (wanted, target): (Type, Target<'_>),
    ) -> Result<(), Wrong> {
        self.compiled(field, formula, Wanted::Exactly(wanted), Some(target)).map(|_| ())
    }

    /// As [`Assembler::formula`], of a condition.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn condition(&mut self, field: &'static str, condition: &Condition) -> Result<u8, Wrong> {
        self.formula(field, &condition.0, Wanted::Exactly(Type::Truth)).map(|(cell, _)| cell)
    }

    fn compiled(
        &mut self,
        field: &'static str,
        formula: &Formula,
        wanted: Wanted,
        into: Option<Target<'_>>,
    ) -> Result<(Operand, Type), Wrong> {
        let Formula { text, expression, .. } = formula;
        self.begin(field, formula.place_at(expression.at));
        compile(self, (text, expression), wanted, into).map_err(|fault| Wrong::of(field, formula, fault))
    }

    /// The memory of a law, once all its formulas are compiled. What they need is asked for here, and nowhere before.
    ///
    /// # Errors
    /// All that is wrong with it, and E340 where it needs more than there is room for.
    pub fn law(self, mut wrong: Vec<Wrong>) -> Result<Memory, Vec<Wrong>> {
        let memory = self.finish().map_err(|(field, place)| {
            let what = "the formulas compute more than there is room for";
            let help = "at most 255 steps for one occasion, and 256 numbers: shorten them";
            let fault = Fault::syntax(Stretch::default(), what).help(help);
            wrong.push(Wrong { field, place, fault: Box::new(fault) });
        });
        memory.ok().filter(|_| wrong.is_empty()).ok_or(wrong)
    }

    /// # Errors
    /// E342 for a name that formulas cannot use, or that has a meaning.
    pub fn may_name(&self, field: &'static str, name: &str, place: Place) -> Result<(), Wrong> {
        let fault = |message: String, help: &str| {
            let fault = Fault::new("E342", Stretch::default(), message).help(help);
            Err(Wrong { field, place, fault: Box::new(fault) })
        };
        let letters = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !letters || !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            return fault(format!("`{name}` cannot be a name in formulas"), "letters, digits and _, as in last_drop");
        }
        let taken = self.names().iter().any(|known| known.name == name);
        if taken || FUNCTIONS.contains(&name) || matches!(name, "and" | "or" | "not") {
            return fault(format!("`{name}` has a meaning in formulas already"), "choose another name");
        }
        Ok(())
    }

    /// Makes named numbers known: name, its place, first value. Their cells, in order.
    pub fn declare_numbers<'a>(
        &mut self,
        numbers: impl Iterator<Item = (&'a str, Place, &'a Constant)>,
        wrong: &mut Vec<Wrong>,
    ) -> Vec<(u8, Type)> {
        let each = numbers.map(|(name, place, Constant(start))| {
            self.begin("state", place);
            wrong.extend(self.may_name("state", name, place).err());
            let (value, kind) = constant(self, &start.text, &start.expression).unwrap_or_else(|fault| {
                wrong.push(Wrong::of("state", start, fault));
                (0.0, Type::NUMBER)
            });
            (self.remember(name, kind, value), kind)
        });
        each.collect()
    }

    /// The rules of one occasion: the names of numbers, and what each becomes, if it changes.
    pub fn rules<'a>(
        &mut self,
        rules: impl Iterator<Item = (&'a str, Option<&'a Formula>)>,
        cells: &[(u8, Type)],
        wrong: &mut Vec<Wrong>,
    ) {
        for ((name, rule), (cell, kind)) in rules.zip(cells) {
            let Some(formula) = rule else { continue };
            let target = Target { cell: *cell, name };
            wrong.extend(self.formula_into("state", formula, (*kind, target)).err());
        }
    }
}
