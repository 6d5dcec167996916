//! The value of a key, in words that any language has.

use crate::params::{Field, Kind, Node, Problems, Reader, Tree, Value};
use crate::units::{BitRate, Bytes, Packets, Probability, Span};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// A value as another language has it.
#[derive(Clone, Debug, PartialEq)]
pub enum Plain {
    /// The key was left away, and has no default.
    Absent,
    /// true or false
    Bool(bool),
    /// A whole number; bytes of a size, packets of a count.
    Integer(i64),
    /// A number; seconds of a time, bit/s of a rate.
    Number(f64),
    /// A text.
    Text(String),
}

/// A key with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    /// The key.
    pub name: &'static str,
    /// Its value.
    pub plain: Plain,
    /// The same as a file has it; `None` where it is absent.
    pub(super) shown: Option<Tree>,
}

impl Argument {
    /// Reads a key.
    pub(super) fn read(field: &'static Field, reader: &mut Reader<'_>) -> Option<Self> {
        let absent = field.optional.then_some((Plain::Absent, None));
        let read = |node: &Node, problems: &mut Problems| plain(&field.kind, node, problems);
        let (plain, shown) = reader.field_by(field, read, absent)?;
        Some(Self { name: field.name, plain, shown })
    }
}

/// A value of this kind, and as a file has it.
fn plain(kind: &Kind, node: &Node, problems: &mut Problems) -> Option<(Plain, Option<Tree>)> {
    /// One of perhop's types as a plain value.
    fn of<T: Value>(read: Option<T>, plain: impl FnOnce(&T) -> Plain) -> Option<(Plain, Option<Tree>)> {
        read.map(|value| (plain(&value), value.tree()))
    }
    let whole = |n: u64| Plain::Integer(i64::try_from(n).unwrap_or(i64::MAX));
    match kind {
        Kind::Rate => of(BitRate::read(node, problems), |rate| Plain::Number(rate.bit_s() as f64)),
        Kind::Size => of(Bytes::read(node, problems), |size| whole(size.get())),
        Kind::Time => of(Span::read(node, problems), |span| Plain::Number(span.seconds())),
        Kind::Count => of(Packets::read(node, problems), |count| whole(u64::from(count.get()))),
        Kind::Probability => of(Probability::read(node, problems), |p| Plain::Number(p.get())),
        Kind::Number => of(f64::read(node, problems), |x| Plain::Number(*x)),
        Kind::Bool => of(bool::read(node, problems), |b| Plain::Bool(*b)),
        Kind::Text => of(String::read(node, problems), |text| Plain::Text(text.clone())),
        Kind::Choice(names) => {
            let name = problems.choice(node, names)?;
            Some((Plain::Text(name.to_owned()), Some(Tree::Text(name.to_owned()))))
        }
        Kind::Integer => match node.tree {
            Tree::Integer(n) => Some((Plain::Integer(n), Some(Tree::Integer(n)))),
            _ => problems.wrong_type(node, kind),
        },
        _ => problems.wrong_type(node, kind),
    }
}

/// Values that live as long as the program, the same ones once: parameters are copied with each connection.
pub(super) fn kept(values: Vec<Argument>) -> &'static [Argument] {
    static KEPT: Mutex<BTreeMap<String, &'static [Argument]>> = Mutex::new(BTreeMap::new());
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    kept.entry(format!("{values:?}")).or_insert_with(|| Box::leak(values.into_boxed_slice()))
}
