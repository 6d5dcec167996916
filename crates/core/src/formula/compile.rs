//! From an expression to steps. Units and names are checked on the way.

use super::assemble::{Assembler, Meaning, Operand};
use super::dimension::{Dimension, Type};
use super::expression::{Expression, Form};
use super::fault::{Fault, Stretch};
use super::input::Input;
use super::program::Code;
use super::stated::{Decision, Formula};
use crate::packet::Colour;
use crate::params::suggest;

/// All functions.
pub const FUNCTIONS: [&str; 7] = ["if", "min", "max", "abs", "exp", "ln", "chance"];

/// Largest power that is made of products.
const POWERS: i8 = 8;

type Typed = Result<(Operand, Type), Fault>;

/// Compiles an expression of this type, whose text is given for messages; its value is in the returned place, which is
/// `into` if that is given.
///
/// # Errors
/// Units that do not fit, unknown names.
pub fn compile(
    out: &mut Assembler,
    (text, expression): (&str, &Expression),
    wanted: Type,
    into: Option<u8>,
) -> Result<Operand, Fault> {
    let (operand, found) = Compiling { out, text }.any(expression, into)?;
    if found != wanted {
        return Err(other_type(expression.at, found, wanted));
    }
    if out.is_full() {
        let fault = Fault::syntax(expression.at, "the formulas compute more than there is room for");
        return Err(fault.help("at most 255 steps for one occasion, and 256 numbers: shorten them"));
    }
    if let Some(cell) = into {
        out.copy(operand, cell);
    }
    let value = into.map_or(operand, Operand::Cell);
    out.release(value);
    Ok(value)
}

/// The value of an expression without variables, and what it is.
///
/// # Errors
/// As [`compile`], or that it is not known beforehand.
pub fn constant(out: &mut Assembler, text: &str, expression: &Expression) -> Result<(f64, Type), Fault> {
    match (Compiling { out, text }).any(expression, None)? {
        (Operand::Constant(value), kind @ Type::Quantity(_)) if value.is_finite() => Ok((value, kind)),
        _ => {
            let fault = Fault::syntax(expression.at, "this has to be known before the run");
            Err(fault.help("numbers with units, as in 10ms; `rate` is the link's rate"))
        }
    }
}

/// Compiles an expression that gives a quantity.
///
/// # Errors
/// As [`compile`], or that it gives something else.
pub fn quantity(out: &mut Assembler, text: &str, expression: &Expression) -> Result<(Operand, Type), Fault> {
    match (Compiling { out, text }).any(expression, None)? {
        (operand, kind @ Type::Quantity(_)) => {
            out.release(operand);
            Ok((operand, kind))
        }
        (_, other) => Err(other_type(expression.at, other, Type::NUMBER)),
    }
}

/// Compiles an expression that gives a colour, or a rate for a label.
///
/// # Errors
/// As [`compile`], or that it gives something else.
pub fn decision(out: &mut Assembler, of: &Decision) -> Result<(Operand, Type), Fault> {
    let Decision(Formula { text, expression, .. }) = of;
    match (Compiling { out, text }).any(expression, None)? {
        found @ (operand, Type::Colour | Type::Quantity(Dimension::RATE)) => {
            out.release(operand);
            Ok(found)
        }
        (_, other) => {
            let fault = Fault::units(expression.at, format!("the formula gives {other}, not a colour or a rate"));
            Err(fault.help("write a colour, as in if(c >= size, green, red), or a rate, which becomes the label"))
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

fn other_type(at: Stretch, found: Type, wanted: Type) -> Fault {
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

/// A formula being compiled, and its text.
struct Compiling<'a> {
    out: &'a mut Assembler,
    text: &'a str,
}

impl Compiling<'_> {
    fn words(&self, at: Stretch) -> String {
        self.text.get(at.start..at.end).unwrap_or_default().to_owned()
    }

    fn any(&mut self, of: &Expression, into: Option<u8>) -> Typed {
        match &of.form {
            Form::Number(number, unit) => literal(number, unit, of.at),
            Form::Name(name) => self.name(name, of.at),
            Form::One(sign, inner) => self.one(sign, inner, into),
            Form::Two(sign @ ("and" | "or"), sides) => self.junction(sign, sides),
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
                self.out.step(Code::Divide, [bytes, Operand::Constant(rate)], None)
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

    fn one(&mut self, sign: &str, inner: &Expression, into: Option<u8>) -> Typed {
        let (operand, kind) = self.any(inner, None)?;
        let code = match (sign, kind) {
            ("not", Type::Truth) => Code::Not,
            ("-", Type::Quantity(_)) => Code::Negate,
            _ => {
                let fault = Fault::units(inner.at, format!("`{sign}` before {kind}"));
                return Err(fault.help("`-` is for quantities, `not` for conditions"));
            }
        };
        Ok((self.out.step(code, [operand, operand], into), kind))
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
        let out = self.out.step(code, operands, into);
        if code == Code::Divide && matches!(out, Operand::Cell(_)) {
            let words = self.words(at);
            self.out.part(&words);
        }
        Ok((out, kind))
    }

    /// `a and b`, `a or b`: b is computed only if it counts.
    fn junction(&mut self, sign: &str, [left, right]: &[Expression; 2]) -> Typed {
        let to = self.out.lend();
        let first = self.condition(left, Some(to))?;
        self.out.copy(first, to);
        let goes_on = match sign {
            "and" => Operand::Cell(to),
            _ => self.out.step(Code::Not, [Operand::Cell(to); 2], None),
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
            let next = |product, i| self.out.step(Code::Multiply, [product, a], into.filter(|_| i + 1 == n));
            return Ok(((1..n).fold(a, next), Type::Quantity(kind)));
        }
        if dimension != Dimension::NUMBER {
            let fault = Fault::units(base.at, format!("such a power of {}", dimension.noun()));
            return Err(fault.help("whole powers from 1 to 8 of a unit; else divide first, as in (sojourn / 15ms)^0.5"));
        }
        Ok((self.partial(at, Code::Power, [a, b], into)?, Type::NUMBER))
    }

    /// A step that has no value for some operands, and stops there.
    fn partial(&mut self, at: Stretch, code: Code, of: [Operand; 2], into: Option<u8>) -> Result<Operand, Fault> {
        let words = self.words(at);
        match self.out.step(code, of, into) {
            Operand::Constant(value) if value.is_nan() => {
                let fault = Fault::new("E343", at, format!("`{words}` has no value"));
                Err(fault.help("logarithms and broken powers are of positive numbers"))
            }
            out @ Operand::Constant(_) => Ok(out),
            out @ Operand::Cell(_) => {
                self.out.part(&words);
                Ok(out)
            }
        }
    }

    fn call(&mut self, (name, at): (&str, Stretch), arguments: &[Expression], into: Option<u8>) -> Typed {
        match (name, arguments) {
            ("if", [_, _, _, ..]) if !arguments.len().is_multiple_of(2) => self.choice(arguments, into),
            ("if", _) => {
                Err(arity(at, "a condition, a value and what holds otherwise: if(c, a, b) or if(c, a, d, b, e)"))
            }
            ("min", [_, _, ..]) => self.extreme(Code::Min, arguments, into),
            ("max", [_, _, ..]) => self.extreme(Code::Max, arguments, into),
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
        let fits = kind == Type::NUMBER || code == Code::Absolute && matches!(kind, Type::Quantity(_));
        if !fits {
            let fault = Fault::units(argument.at, format!("a number is needed here, not {kind}"));
            return Err(fault.help("divide by a value of the same unit, as in exp(-gap / 100ms)"));
        }
        let out = match code {
            Code::Ln => self.partial(at, code, [a, a], into)?,
            _ => self.out.step(code, [a, a], into),
        };
        Ok((out, kind))
    }

    fn chance(&mut self, at: Stretch, argument: &Expression, into: Option<u8>) -> Typed {
        if !self.out.may_draw() {
            let fault = Fault::syntax(at, "`chance` draws, which is not for this formula");
            return Err(fault.help("`chance` is for `sets` of a conditioner; an AQM draws once, by `p`"));
        }
        let (a, kind) = self.function((Code::Copy, at), argument, None)?;
        let hit = self.out.step(Code::Chance, [a, a], into);
        let words = self.words(at);
        self.out.part(&words);
        debug_assert_eq!(kind, Type::NUMBER);
        Ok((hit, Type::Truth))
    }

    /// `min` and `max` of two or more.
    fn extreme(&mut self, code: Code, arguments: &[Expression], into: Option<u8>) -> Typed {
        let (mut best, kind) = self.any(&arguments[0], None)?;
        for (i, argument) in arguments.iter().enumerate().skip(1) {
            let (value, found) = self.any(argument, None)?;
            if found != kind || !matches!(kind, Type::Quantity(_)) {
                let label = format!("{} is {kind}", self.words(arguments[0].at));
                let fault = Fault::units(argument.at, format!("{found} beside {kind}")).label(label);
                return Err(fault.help("all arguments are quantities of one unit, as in max(backlog.time, 5ms)"));
            }
            // What is not a number comes through where it stands second: a constant never is.
            let sides = if matches!(value, Operand::Constant(_)) { [value, best] } else { [best, value] };
            best = self.out.step(code, sides, into.filter(|_| i + 1 == arguments.len()));
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
    if let Some((value, dimension)) = Dimension::of_literal(number, unit) {
        return Ok((Operand::Constant(value), Type::Quantity(dimension)));
    }
    let help = match unit {
        "B/s" | "kB/s" | "MB/s" => "rates are in bits: multiply by 8 and write bit/s, kbit/s or Mbit/s",
        "" => "write a smaller number",
        _ => "units are ns us ms s min h, B kB MB KiB MiB, p, bit/s kbit/s Mbit/s Gbit/s, p/s; before a name write `*`",
    };
    Err(Fault::new("E105", at, format!("`{number}{unit}`: `{unit}` is not a unit of formulas")).help(help))
}
