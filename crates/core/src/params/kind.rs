//! The kinds of value that a parameter takes.

use super::{Params, Tree};

/// A value written in a declaration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Literal {
    /// Text, usually a quantity.
    Text(&'static str),
    /// A whole number.
    Integer(i64),
    /// A number.
    Float(f64),
    /// true or false
    Bool(bool),
}

impl From<Literal> for Tree {
    fn from(literal: Literal) -> Tree {
        match literal {
            Literal::Text(text) => Tree::Text(text.to_owned()),
            Literal::Integer(n) => Tree::Integer(n),
            Literal::Float(x) => Tree::Float(x),
            Literal::Bool(b) => Tree::Bool(b),
        }
    }
}

/// What a formula gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gives {
    /// A quantity that varies.
    Value,
    /// A quantity that is known beforehand.
    Constant,
    /// It holds or not.
    Condition,
    /// A colour, or a rate for a label.
    Decision,
}

impl Gives {
    fn noun(self) -> &'static str {
        match self {
            Self::Value => "a formula",
            Self::Constant => "a number, or text with its unit",
            Self::Condition => "a condition",
            Self::Decision => "a formula of a colour or a rate",
        }
    }

    fn help(self) -> &'static str {
        match self {
            Self::Value => "write it in quotes, as in \"min(1, backlog.packets / 100p)\"",
            Self::Constant => "a number, as in 0, or text with its unit, as in \"10ms\"",
            Self::Condition => "write it in quotes, as in \"backlog.packets > 30p\"",
            Self::Decision => "write it in quotes, as in \"if(size > 1000B, red, green)\"",
        }
    }
}

/// The kind of value that a field takes: drives the schema, the docs and the generators of the property tests.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// bit/s
    Rate,
    /// B
    Size,
    /// B, with a sign.
    SignedSize,
    /// s
    Time,
    /// Packets.
    Count,
    /// Bits or packets per second, of a meter.
    MeterRate,
    /// What a meter's bucket holds: bytes, packets or time at its rate.
    Burst,
    /// Tickets per second.
    Tickets,
    /// Packets, bytes, time or percent of a queue.
    Length,
    /// [0, 1]
    Probability,
    /// Whole, at least 0.
    Integer,
    /// Real.
    Number,
    /// true or false
    Bool,
    /// Any text.
    Text,
    /// A code point by name, decimal or hex.
    Dscp,
    /// One of these names.
    Choice(&'static [&'static str]),
    /// A formula.
    Formula(Gives),
    /// A table of fields.
    Table(&'static [Field]),
    /// A table of such values whose keys are names that the file gives.
    Named(&'static Kind),
    /// A list.
    List(&'static Kind),
    /// One value or a list of them.
    OneOrMany(&'static Kind),
    /// Any of these, distinguished by their form.
    Either(&'static [Kind]),
    /// Several tables' fields in one: `#[param(flatten)]`.
    Flat(&'static [Field]),
    /// Anything: the caller reads it.
    Any,
}

impl Kind {
    /// For messages: "expected ...".
    pub fn noun(&self) -> String {
        match self {
            Kind::Rate => "a rate".into(),
            Kind::Size => "a size".into(),
            Kind::SignedSize => "a size, positive or negative".into(),
            Kind::Time => "a time".into(),
            Kind::Count => "a number of packets".into(),
            Kind::MeterRate => "a rate, or one in packets".into(),
            Kind::Burst => "a size, a number of packets or a time".into(),
            Kind::Tickets => "a ticket rate".into(),
            Kind::Length => "a queue length".into(),
            Kind::Probability => "a probability".into(),
            Kind::Integer => "a whole number".into(),
            Kind::Number => "a number".into(),
            Kind::Bool => "true or false".into(),
            Kind::Text => "text".into(),
            Kind::Dscp => "a DSCP".into(),
            Kind::Choice(names) => format!("one of {}", names.join(", ")),
            Kind::Formula(gives) => gives.noun().into(),
            Kind::Table(_) | Kind::Flat(_) | Kind::Named(_) => "a table".into(),
            Kind::List(of @ Kind::Either(_)) => format!("a list, each {}", of.noun()),
            Kind::OneOrMany(of @ Kind::List(_)) => format!("a list of {}", of.noun().replacen("a list", "lists", 1)),
            Kind::List(of) => format!("a list of {}s", of.noun().trim_start_matches("a ")),
            Kind::OneOrMany(of) => format!("{} or a list", of.noun()),
            Kind::Either(kinds) => kinds.iter().map(Kind::noun).collect::<Vec<_>>().join(" or "),
            Kind::Any => "a value".into(),
        }
    }

    /// Its unit in a table of parameters.
    pub fn unit(&self) -> &'static str {
        match self {
            Kind::Rate | Kind::MeterRate => "bit/s",
            Kind::Size | Kind::SignedSize | Kind::Burst => "B",
            Kind::Time => "s",
            Kind::Count => "p",
            Kind::Tickets => "t/s",
            Kind::Length => "p, B, s, %",
            Kind::List(of) | Kind::OneOrMany(of) => of.unit(),
            Kind::Either(kinds) => kinds[0].unit(),
            _ => "-",
        }
    }

    pub(super) fn help(&self) -> String {
        match self {
            Kind::Rate => "write it as text with its unit, as in \"5Mbit/s\"".into(),
            Kind::Size => "write it as text with its unit, as in \"62500B\"".into(),
            Kind::SignedSize => "write it as text with its unit, as in \"18B\" or \"-14B\"".into(),
            Kind::Time => "write it as text with its unit, as in \"10ms\"".into(),
            Kind::Count => "write it as text with its unit, as in \"30p\"".into(),
            Kind::MeterRate => "write it as text with its unit, as in \"5Mbit/s\" or \"1000p/s\"".into(),
            Kind::Burst => "write it as text with its unit, as in \"62500B\", \"50p\" or \"10ms\"".into(),
            Kind::Tickets => "write it as text with its unit, as in \"900t/s\"".into(),
            Kind::Length => "write it as text with its unit, as in \"30p\", \"45kB\", \"5ms\" or \"40%\"".into(),
            Kind::Probability => "a number between 0 and 1".into(),
            Kind::Table(fields) => {
                let names: Vec<_> = Field::all(fields).iter().map(|f| f.name).collect();
                format!("write it as {{ {} = ... }}", names.join(" = ..., "))
            }
            Kind::Integer => "write it without quotes, as in 10".into(),
            Kind::Number => "write it without quotes, as in 0.5".into(),
            Kind::Bool => "write true or false, without quotes".into(),
            Kind::Text => "write it in quotes".into(),
            Kind::Dscp => "a name such as \"AF11\", or a number from 0 to 63".into(),
            Kind::Formula(gives) => gives.help().into(),
            Kind::Named(of) => format!("a table of names: {}", of.help()),
            Kind::Choice(names) => format!("one of {}, in quotes", names.join(", ")),
            Kind::OneOrMany(of) | Kind::List(of) => of.help(),
            Kind::Either(kinds) => kinds.iter().map(Kind::help).collect::<Vec<_>>().join("; or "),
            Kind::Flat(_) | Kind::Any => "see the documentation of this key".into(),
        }
    }
}

/// One declared parameter.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its key.
    pub name: &'static str,
    /// Its meaning.
    pub doc: &'static str,
    /// The kind of value it takes.
    pub kind: Kind,
    /// Its default.
    pub default: Option<Literal>,
    /// Whether it may be omitted without a default.
    pub optional: bool,
}

impl Field {
    /// The declaration of a field whose keys are in the same table.
    pub const fn flattened<P: Params>() -> Self {
        Field { name: "", doc: "", kind: Kind::Flat(P::FIELDS), default: None, optional: true }
    }

    /// `fields` with the flattened ones in place.
    pub fn all(fields: &'static [Field]) -> Vec<&'static Field> {
        let one = |f: &'static Field| match f.kind {
            Kind::Flat(inner) => Field::all(inner),
            _ => vec![f],
        };
        fields.iter().flat_map(one).collect()
    }
}
