//! Formulas as values of keys.

use super::expression::Expression;
use super::fault::{Fault, Stretch};
use crate::params::{Gives, Kind, Node, Place, Problems, Tree, Value};

/// A formula of a file. Equality is that of the text.
#[derive(Clone, Debug)]
pub struct Formula {
    /// As it is written, without quotes.
    pub text: String,
    /// What it says.
    pub expression: Expression,
    /// The value of its key.
    pub place: Place,
    bare: bool,
}

/// A formula that holds or not.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition(pub Formula);

/// A formula without variables, or a number.
#[derive(Clone, Debug, PartialEq)]
pub struct Constant(pub Formula);

impl PartialEq for Formula {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Formula {
    fn read_as(kind: &Kind, node: &Node, problems: &mut Problems) -> Option<Self> {
        let (text, bare) = match &node.tree {
            Tree::Text(text) => (text.clone(), false),
            Tree::Integer(_) => (node.tree.to_string(), true),
            Tree::Float(x) if x.is_finite() => (node.tree.to_string(), true),
            _ => return problems.wrong_type(node, kind),
        };
        match Expression::read(&text) {
            Ok(expression) => Some(Self { text, expression, place: node.place, bare }),
            Err(fault) => {
                report(&fault, place_in(&text, node.place, fault.at), problems);
                None
            }
        }
    }

    fn shown(&self) -> Option<Tree> {
        let number = || self.text.parse().map(Tree::Integer).or_else(|_| self.text.parse().map(Tree::Float)).ok();
        if self.bare { number() } else { Some(Tree::Text(self.text.clone())) }
    }

    /// The place in the file of what is wrong with it.
    pub fn place_of(&self, fault: &Fault) -> Place {
        self.place_at(fault.at)
    }

    /// The place in the file of a stretch of it.
    pub fn place_at(&self, at: Stretch) -> Place {
        place_in(&self.text, self.place, at)
    }
}

/// Adds a fault to the others of a file.
pub(super) fn report(fault: &Fault, place: Place, problems: &mut Problems) {
    problems.error(fault.code, place, &fault.message).label(&fault.label).help(&fault.help);
}

/// The place of a stretch of a text, which is in quotes; of the whole value if it is written in another way, with escapes or
/// on several lines.
fn place_in(text: &str, whole: Place, at: Stretch) -> Place {
    if whole.end.checked_sub(whole.start) != Some(text.len() + 2) {
        return whole;
    }
    let start = whole.start + 1 + at.start;
    Place { start, end: (whole.start + 1 + at.end).max(start + 1).min(whole.end) }
}

/// A formula that gives a packet's colour, or a rate for its label.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision(pub Formula);

macro_rules! values {
    ($($type:ty, $gives:expr, $make:expr, $inner:expr;)*) => { $(
        impl Value for $type {
            const KIND: Kind = Kind::Formula($gives);
            fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
                Formula::read_as(&Self::KIND, node, problems).map($make)
            }
            fn tree(&self) -> Option<Tree> {
                let inner: fn(&Self) -> &Formula = $inner;
                inner(self).shown()
            }
        }
    )* };
}

values! {
    Formula, Gives::Value, |it| it, |it| it;
    Condition, Gives::Condition, Self, |it| &it.0;
    Constant, Gives::Constant, Self, |it| &it.0;
    Decision, Gives::Decision, Self, |it| &it.0;
}
