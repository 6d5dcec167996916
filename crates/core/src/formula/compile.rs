//! From an expression to steps. Units and names are checked on the way.

use super::assemble::{Assembler, Meaning, Operand};
use super::dimension::{Dimension, Type};
use super::expression::{Expression, Form};
use super::fault::{Fault, Stretch};
use super::input::Input;
use super::program::Code;
use crate::packet::Colour;
use crate::params::{suggest, unit_code};

/// All functions.
pub const FUNCTIONS: [&str; 7] = ["if", "min", "max", "abs", "exp", "ln", "chance"];

/// Largest power that is made of products.
const POWERS: i8 = 8;

type Typed = Result<(Operand, Type), Fault>;

/// What an expression has to give.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wanted {
    /// This.
    Exactly(Type),
    /// Any quantity.
    Quantity,
    /// A colour, or a rate for a label.
    Decision,
}

/// A cell for a value, and what the value is called.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// Which.
    pub cell: u8,
    /// In messages.
    pub name: &'a str,
}

/// Compiles an expression, whose text is given for messages; its value is in the returned place, which is `into` if that is
/// given.
///
/// # Errors
/// Units that do not fit, unknown names, what is known to have no value.
pub fn compile(
    out: &mut Assembler,
    (text, expression): (&str, &Expression),
    wanted: Wanted,
    into: Option<Target<'_>>,
) -> Typed {
    let cell = into.map(|target| target.cell);
    let (operand, kind) = Compiling { out, text, into }.any(expression, cell)?;
    if !wanted.is(kind) {
        return Err(other_type(expression.at, kind, wanted));
    }
    if let Some(cell) = cell {
        out.copy(operand, cell);
    }
    let value = cell.map_or(operand, Operand::Cell);
    out.release(value);
    Ok((value, kind))
}

/// The value of an expression without variables, and what it is.
///
/// # Errors
/// As [`compile`], or that it is not known beforehand.
pub fn constant(out: &mut Assembler, text: &str, expression: &Expression) -> Result<(f64, Type), Fault> {
    match (Compiling { out, text, into: None }).any(expression, None)? {
        (Operand::Constant(value), kind @ Type::Quantity(_)) => Ok((value, kind)),
        _ => {
            let fault = Fault::syntax(expression.at, "this has to be known before the run");
            Err(fault.help("numbers with units, as in 10ms; `rate` is the link's rate"))
        }
    }
}

/// The colours that an expression may give by name, and whether it may give that of the packet.
pub fn colours(of: &Expression) -> ([bool; 4], bool) {
    let (mut named, mut own) = ([false; 4], false);
    add_colours(of, &mut named, &mut own);
    (named, own)
}

fn add_colours(of: &Expression, named: &mut [bool; 4], own: &mut bool) {
    match &of.form {
        Form::Name(name) => match Colour::ALL.iter().position(|colour| colour.name() == name) {
            Some(i) => named[i] = true,
            None => *own |= name == Input::Colour.name(),
        },
        Form::Call(name, arguments) if name == "if" => {
            let values = arguments.iter().enumerate().filter(|(i, _)| i % 2 == 1 || i + 1 == arguments.len());
            values.for_each(|(_, value)| add_colours(value, named, own));
        }
        _ => {}
    }
}

impl Wanted {
    fn is(self, found: Type) -> bool {
        match self {
            Self::Exactly(wanted) => found == wanted,
            Self::Quantity => matches!(found, Type::Quantity(_)),
            Self::Decision => matches!(found, Type::Colour | Type::Quantity(Dimension::RATE)),
        }
    }
}

fn other_type(at: Stretch, found: Type, wanted: Wanted) -> Fault {
    let wanted = match wanted {
        Wanted::Exactly(wanted) => wanted,
        Wanted::Quantity => Type::NUMBER,
        Wanted::Decision => {
            let fault = Fault::units(at, format!("the formula gives {found}, not a colour or a rate"));
            return fault.help("write a colour, as in if(c >= size, green, red), or a rate, which becomes the label");
        }
    };
    let help = match (wanted, found) {
        (_, Type::Truth) => "write if(condition, a, b)",
        (Type::Truth, _) => "write a comparison, as in backlog.packets > 30p",
        (Type::NUMBER, Type::Quantity(_)) => "divide by a value of the same unit, as in backlog.packets / 100p",
        (Type::Quantity(_), Type::NUMBER) => "a number needs its unit here: write 15ms, 30p, 1500B or 5Mbit/s",
        (Type::Colour, _) => "write green, yellow, red or `colour`",
        _ => "`perhop list formula` has the variables with their units",
    };
    Fault::units(at, format!("the formula gives {found}, not {wanted}")).help(help)
}

/// A formula being compiled, its text, and where its value goes.
struct Compiling<'a> {
    out: &'a mut Assembler,
    text: &'a str,
    into: Option<Target<'a>>,
}

impl Compiling<'_> {
    fn words(&self, at: Stretch) -> String {
        self.text.get(at.start..at.end).unwrap_or_default().to_owned()
    }

    /// What a step whose result goes there computes: a quotient or a logarithm in the words of the file, what becomes the value
    /// of the formula by its name.
    fn part(&self, (code, at): (Code, Stretch), into: Option<u8>) -> String {
        match self.into.filter(|target| Some(target.cell) == into) {
            Some(target) if !matches!(code, Code::Divide | Code::Ln | Code::Power | Code::Chance) => {
                target.name.to_owned()
            }
            _ => self.words(at),
        }
    }

    /// A step. Of constants its value is taken now, if it has one.
    fn step(&mut self, done: (Code, Stretch), of: [Operand; 2], into: Option<u8>) -> Result<Operand, Fault> {
        let (code, at) = done;
        let [Operand::Constant(a), Operand::Constant(b)] = of else {
            let part = self.part(done, into);
            return Ok(self.out.step(code, of, into, &part));
        };
        match code.of(a, b) {
            value if value.is_finite() => Ok(Operand::Constant(value)),
            value => {
                let fault = |what| Fault::new("E343", at, format!("`{}` {what}", self.words(at)));
                Err(match code {
                    Code::Ln | Code::Power if value.is_nan() || a == 0.0 => {
                        fault("has no value").help("logarithms and broken powers are of positive numbers")
                    }
                    _ => fault("is out of range").help("numbers end at 1.8e308: write smaller ones"),
                })
            }
        }
    }

    fn any(&mut self, of: &Expression, into: Option<u8>) -> Typed {
        match &of.form {
            Form::Number(number, unit) => literal(number, unit, of.at),
            Form::Name(name) => self.name(name, of.at),
            Form::One(sign, inner) => self.one((sign, of.at), inner, into),
            Form::Two(sign @ ("and" | "or"), sides) => self.junction((sign, of.at), sides),
            Form::Two("^", sides) => self.power(of.at, sides, into),
            Form::Two(sign, sides) => self.two((sign, of.at), sides, into),
            Form::Call(name, arguments) => self.call((name, of.at), arguments, into),
        }
    }

    fn name(&mut self, name: &str, at: Stretch) -> Typed {
        let Some(known) = self.out.names().iter().find(|known| known.name == name) else {
            return Err(self.unknown(name, at));
        };
        let kind = known.kind;
        let operand = match known.meaning {
            Meaning::Constant(value) => Operand::Constant(value),
            Meaning::Cell(cell) => Operand::Cell(cell),
            Meaning::Input(input) if self.out.is_hidden(input) => {
                let fault = Fault::new("E342", at, format!("`{name}` is of a packet, and here is none"));
                return Err(fault.help("keep it in a number of `state` at the arrival"));
            }
            Meaning::Input(input) => Operand::Cell(self.out.input(input)),
            Meaning::Drain(rate) => {
                let bytes = Operand::Cell(self.out.input(Input::Bytes));
                self.step((Code::Divide, at), [bytes, Operand::Constant(rate)], None)?
            }
            Meaning::Unknown => {
                let fault =
                    Fault::new("E218", at, format!("`{name}` needs the rate of the link, which is not known here"));
                return Err(fault.help("write the rate, as in backlog.bytes / 5Mbit/s"));
            }
        };
        Ok((operand, kind))
    }

    fn unknown(&self, name: &str, at: Stretch) -> Fault {
        let names: Vec<_> = self.out.names().iter().map(|known| &*known.name).collect();
        let help = match FUNCTIONS.contains(&name) {
            true => format!("`{name}` is a function: write {name}(..)"),
            false => suggest(name, &names),
        };
        Fault::new("E006", at, format!("unknown name `{name}` in the formula")).help(help)
    }

    fn one(&mut self, (sign, at): (&str, Stretch), inner: &Expression, into: Option<u8>) -> Typed {
        let (operand, kind) = self.any(inner, None)?;
        let code = match (sign, kind) {
            ("not", Type::Truth) => Code::Not,
            ("-", Type::Quantity(_)) => Code::Negate,
            _ => {
                let fault = Fault::units(inner.at, format!("`{sign}` before {kind}"));
                return Err(fault.help("`-` is for quantities, `not` for conditions"));
            }
        };
        Ok((self.step((code, at), [operand, operand], into)?, kind))
    }

    fn two(&mut self, (sign, at): (&str, Stretch), [left, right]: &[Expression; 2], into: Option<u8>) -> Typed {
        let (a, of_a) = self.any(left, None)?;
        let (b, of_b) = self.any(right, None)?;
        let Some((code, kind)) = operation(sign, of_a, of_b) else {
            let label = format!("{} is {of_a}, {} {of_b}", self.words(left.at), self.words(right.at));
            let fault = Fault::units(at, format!("`{sign}` between {of_a} and {of_b}")).label(label);
            return Err(fault.help(in_common(of_a, of_b)));
        };
        let operands = if sign.starts_with('>') { [b, a] } else { [a, b] };
        if code == Code::Divide && b == Operand::Constant(0.0) {
            return Err(Fault::new("E343", at, "a division by zero").help("divide by something else"));
        }
        Ok((self.step((code, at), operands, into)?, kind))
    }

    /// `a and b`, `a or b`: b is computed only if it counts.
    fn junction(&mut self, (sign, at): (&str, Stretch), [left, right]: &[Expression; 2]) -> Typed {
        let to = self.out.lend();
        let first = self.condition(left, Some(to))?;
        self.out.copy(first, to);
        let goes_on = match sign {
            "and" => Operand::Cell(to),
            _ => self.step((Code::Not, at), [Operand::Cell(to); 2], None)?,
        };
        let goes_on = self.out.cell_of(goes_on);
        let (over, certain) = (self.out.jump_unless_cell(goes_on), self.out.computed());
        let second = self.condition(right, Some(to))?;
        self.out.copy(second, to);
        self.out.forget(certain);
        self.out.land(over);
        Ok((Operand::Cell(to), Type::Truth))
    }

    fn condition(&mut self, of: &Expression, into: Option<u8>) -> Result<Operand, Fault> {
        match self.any(of, into)? {
            (operand, Type::Truth) => Ok(operand),
            (_, kind) => {
                let fault = Fault::units(of.at, format!("a condition is needed here, not {kind}"));
                Err(fault.help("write a comparison, as in backlog.packets > 30p"))
            }
        }
    }

    /// `a^b`: a whole power of a quantity is made of products.
    fn power(&mut self, at: Stretch, [base, exponent]: &[Expression; 2], into: Option<u8>) -> Typed {
        let (a, of_a) = self.any(base, None)?;
        let (b, of_b) = self.any(exponent, None)?;
        let (Type::Quantity(dimension), Type::NUMBER) = (of_a, of_b) else {
            let fault = Fault::units(exponent.at, format!("{of_a} to the power of {of_b}"));
            return Err(fault.help("a power is a number, as in (sojourn / 15ms)^2"));
        };
        let whole = match b {
            Operand::Constant(n) if n == f64::from(n as i8) => Some(n as i8),
            _ => None,
        };
        if let Some(n @ 1..=POWERS) = whole {
            let kind = Dimension::NUMBER.times(dimension, n);
            let kind = kind.ok_or_else(|| Fault::units(exponent.at, "too high a power").help("divide first"))?;
            let mut next = |product, i| self.step((Code::Multiply, at), [product, a], into.filter(|_| i + 1 == n));
            return Ok(((1..n).try_fold(a, &mut next)?, Type::Quantity(kind)));
        }
        if dimension != Dimension::NUMBER {
            let fault = Fault::units(base.at, format!("such a power of {}", dimension.noun()));
            return Err(fault.help("whole powers from 1 to 8 of a unit; else divide first, as in (sojourn / 15ms)^0.5"));
        }
        Ok((self.step((Code::Power, at), [a, b], into)?, Type::NUMBER))
    }

    fn call(&mut self, (name, at): (&str, Stretch), arguments: &[Expression], into: Option<u8>) -> Typed {
        match (name, arguments) {
            ("if", [_, _, _, ..]) if !arguments.len().is_multiple_of(2) => self.choice(arguments, into),
            ("if", _) => {
                Err(arity(at, "a condition, a value and what holds otherwise: if(c, a, b) or if(c, a, d, b, e)"))
            }
            ("min", [_, _, ..]) => self.extreme((Code::Min, at), arguments, into),
            ("max", [_, _, ..]) => self.extreme((Code::Max, at), arguments, into),
            ("min" | "max", _) => Err(arity(at, "at least two arguments, as in max(a, b)")),
            ("abs", [one]) => self.function((Code::Absolute, at), one, into),
            ("exp", [one]) => self.function((Code::Exp, at), one, into),
            ("ln", [one]) => self.function((Code::Ln, at), one, into),
            ("chance", [one]) => self.chance(at, one, into),
            (known, _) if FUNCTIONS.contains(&known) => Err(arity(at, "one argument, as in exp(a)")),
            _ => {
                let fault = Fault::new("E006", at, format!("unknown function `{name}` in the formula"));
                Err(fault.help(suggest(name, &FUNCTIONS)))
            }
        }
    }

    fn function(&mut self, (code, at): (Code, Stretch), argument: &Expression, into: Option<u8>) -> Typed {
        let (a, kind) = self.any(argument, None)?;
        if !(code == Code::Absolute && matches!(kind, Type::Quantity(_))) {
            must_be_number(argument.at, kind)?;
        }
        Ok((self.step((code, at), [a, a], into)?, kind))
    }

    fn chance(&mut self, at: Stretch, argument: &Expression, into: Option<u8>) -> Typed {
        if !self.out.may_draw() {
            let fault = Fault::syntax(at, "`chance` draws, which is not for this formula");
            return Err(fault.help("`chance` is for `sets` of a conditioner; an AQM draws once, by `p`"));
        }
        let (p, kind) = self.any(argument, None)?;
        must_be_number(argument.at, kind)?;
        Ok((self.out.step(Code::Chance, [p, p], into, &self.words(at)), Type::Truth))
    }

    /// `min` and `max` of two or more.
    fn extreme(&mut self, (code, at): (Code, Stretch), arguments: &[Expression], into: Option<u8>) -> Typed {
        let (mut best, kind) = self.any(&arguments[0], None)?;
        for (i, argument) in arguments.iter().enumerate().skip(1) {
            let (value, found) = self.any(argument, None)?;
            if found != kind || !matches!(kind, Type::Quantity(_)) {
                let label = format!("{} is {kind}", self.words(arguments[0].at));
                let fault = Fault::units(argument.at, format!("{found} beside {kind}")).label(label);
                return Err(fault.help("all arguments are quantities of one unit, as in max(backlog.time, 5ms)"));
            }
            // Of 0 and -0, which are equal, the second comes through: never that of the file.
            let sides = if matches!(value, Operand::Constant(_)) { [value, best] } else { [best, value] };
            best = self.step((code, at), sides, into.filter(|_| i + 1 == arguments.len()))?;
        }
        Ok((best, kind))
    }

    /// `if(c, a, b)`, or with more conditions `if(c, a, d, b, otherwise)`.
    fn choice(&mut self, arguments: &[Expression], into: Option<u8>) -> Typed {
        let to = into.unwrap_or_else(|| self.out.lend());
        let (mut kind, mut ends, mut rest, mut certain) = (None, Vec::new(), arguments, None);
        while let [condition, value, others @ ..] = rest
            && !others.is_empty()
        {
            let holds = self.condition(condition, None)?;
            let over = self.out.jump_unless(holds);
            certain.get_or_insert(self.out.computed());
            self.branch(value, &mut kind, to)?;
            ends.push(self.out.jump());
            self.out.land(over);
            rest = others;
        }
        for otherwise in rest {
            self.branch(otherwise, &mut kind, to)?;
        }
        ends.into_iter().for_each(|end| self.out.land(end));
        certain.into_iter().for_each(|certain| self.out.forget(certain));
        Ok((Operand::Cell(to), kind.unwrap_or(Type::NUMBER)))
    }

    fn branch(&mut self, value: &Expression, kind: &mut Option<Type>, to: u8) -> Result<(), Fault> {
        let certain = self.out.computed();
        let (operand, found) = self.any(value, Some(to))?;
        self.out.forget(certain);
        let wanted = *kind.get_or_insert(found);
        if found != wanted {
            let fault = Fault::units(value.at, format!("{found} where the first value is {wanted}"));
            return Err(fault.help("all values of an `if` have the same unit"));
        }
        self.out.copy(operand, to);
        Ok(())
    }
}

fn must_be_number(at: Stretch, kind: Type) -> Result<(), Fault> {
    if kind == Type::NUMBER {
        return Ok(());
    }
    let fault = Fault::units(at, format!("a number is needed here, not {kind}"));
    Err(fault.help("divide by a value of the same unit, as in exp(-gap / 100ms)"))
}

fn arity(at: Stretch, needs: &str) -> Fault {
    Fault::syntax(at, "these are not its arguments").help(format!("it needs {needs}"))
}

/// What a sign does between two values, and what comes out.
fn operation(sign: &str, a: Type, b: Type) -> Option<(Code, Type)> {
    let (Type::Quantity(of_a), Type::Quantity(of_b)) = (a, b) else {
        return match sign {
            "==" if a == b => Some((Code::Equal, Type::Truth)),
            "!=" if a == b => Some((Code::Unequal, Type::Truth)),
            _ => None,
        };
    };
    match sign {
        "*" => Some((Code::Multiply, Type::Quantity(of_a.times(of_b, 1)?))),
        "/" => Some((Code::Divide, Type::Quantity(of_a.times(of_b, -1)?))),
        _ if a != b => None,
        "+" => Some((Code::Add, a)),
        "-" => Some((Code::Subtract, a)),
        "<" | ">" => Some((Code::Less, Type::Truth)),
        "<=" | ">=" => Some((Code::LessOrEqual, Type::Truth)),
        "==" => Some((Code::Equal, Type::Truth)),
        "!=" => Some((Code::Unequal, Type::Truth)),
        _ => None,
    }
}

/// How to make two sides agree.
fn in_common(a: Type, b: Type) -> &'static str {
    match (a, b) {
        (Type::NUMBER, Type::Quantity(_)) | (Type::Quantity(_), Type::NUMBER) => {
            "a number without a unit is only a number: write 15ms, 30p, 1500B or 5Mbit/s"
        }
        (Type::Truth, _) | (_, Type::Truth) => "conditions are joined by `and`, `or` and `not`",
        (Type::Colour, _) | (_, Type::Colour) => "colours are compared with green, yellow, red, unmarked, by == and !=",
        _ => "both sides need the same unit; backlog.time is backlog.bytes / rate",
    }
}

fn literal(number: &str, unit: &str, at: Stretch) -> Typed {
    let written = format!("{number}{unit}");
    let fault = match Dimension::of_literal(number, unit) {
        Ok(Some((value, dimension))) => return Ok((Operand::Constant(value), Type::Quantity(dimension))),
        Ok(None) => Fault::new("E105", at, format!("`{written}`: `{unit}` is not a unit of formulas")),
        Err(error) => return Err(Fault::new(unit_code(error.fault), at, error.message).help(error.help)),
    };
    Err(fault.help(match unit {
        "B/s" | "kB/s" | "MB/s" => "rates are in bits: multiply by 8 and write bit/s, kbit/s or Mbit/s",
        _ => "units are ns us ms s min h, B kB MB KiB MiB, p, bit/s kbit/s Mbit/s Gbit/s, p/s; before a name write `*`",
    }))
}
