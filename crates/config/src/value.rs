//! Values of a configuration, each with its unit, and where they come from.

use perhop_core::dscp::Dscp;
use perhop_core::params::{Node, Place, Table, Tree};
use perhop_core::units::{BitRate, Bytes, PacketRate, Packets, SignedBytes, Span};

/// A value with its unit.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// bit/s
    Rate(BitRate),
    /// Packets/s.
    PacketRate(PacketRate),
    /// A size.
    Bytes(Bytes),
    /// Bytes to add to a size, or to take from it.
    Signed(SignedBytes),
    /// A queue length in packets.
    Packets(Packets),
    /// A time.
    Time(Span),
    /// A number without unit: a probability, a share.
    Number(f64),
    /// A whole number without unit.
    Count(u64),
    /// Yes or no.
    Flag(bool),
    /// A word of perhop's, such as `atm`.
    Word(String),
    /// Several values.
    List(Vec<Value>),
    /// A table, such as a curve or a profile.
    Table(Settings),
}

/// Code points in words: `40 to 47`, `10, 12 and 14`.
pub fn code_points(list: &[Dscp]) -> String {
    let mut codes: Vec<u8> = list.iter().map(|code| code.get()).collect();
    codes.sort_unstable();
    codes.dedup();
    let each: Vec<String> = codes.chunk_by(|one, next| one + 1 == *next).flat_map(in_words).collect();
    match each.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => each.concat(),
    }
}

/// Numbers that follow each other.
fn in_words(run: &[u8]) -> Vec<String> {
    match run {
        [first, _, .., last] => vec![format!("{first} to {last}")],
        few => few.iter().map(u8::to_string).collect(),
    }
}

impl Value {
    /// As a scenario has it.
    pub fn tree(&self) -> Tree {
        match self {
            Self::Rate(it) => Tree::Text(it.to_string()),
            Self::PacketRate(it) => Tree::Text(it.to_string()),
            Self::Bytes(it) => Tree::Text(it.to_string()),
            Self::Signed(it) => Tree::Text(it.to_string()),
            Self::Packets(it) => Tree::Text(it.to_string()),
            Self::Time(it) => Tree::Text(it.to_string()),
            Self::Number(it) => Tree::Float(*it),
            Self::Count(it) => Tree::Integer(i64::try_from(*it).unwrap_or(i64::MAX)),
            Self::Flag(it) => Tree::Bool(*it),
            Self::Word(it) => Tree::Text(it.clone()),
            Self::List(items) => {
                Tree::List(items.iter().map(|item| Node { place: Place::default(), tree: item.tree() }).collect())
            }
            Self::Table(settings) => settings.tree(),
        }
    }
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The text says it here.
    Text(Place),
    /// The text says nothing; the device assumes it, by this source.
    Assumed(&'static str),
}

impl Origin {
    /// Where the text says it.
    pub const fn place(self) -> Option<Place> {
        match self {
            Self::Text(place) => Some(place),
            Self::Assumed(_) => None,
        }
    }
}

/// Something with its origin. Two are equal if they say the same, wherever they say it: defaults written out are the same as
/// defaults left away.
#[derive(Clone, Debug)]
pub struct WithOrigin<T> {
    /// What is said.
    pub is: T,
    /// Where.
    pub origin: Origin,
}

impl<T> WithOrigin<T> {
    /// Said by the text.
    pub const fn at(place: Place, is: T) -> Self {
        Self { is, origin: Origin::Text(place) }
    }

    /// Not said, but assumed by the device.
    pub const fn assumed(source: &'static str, is: T) -> Self {
        Self { is, origin: Origin::Assumed(source) }
    }

    /// Whether the text says it.
    pub const fn is_said(&self) -> bool {
        matches!(self.origin, Origin::Text(_))
    }
}

impl<T: PartialEq> PartialEq for WithOrigin<T> {
    fn eq(&self, other: &Self) -> bool {
        self.is == other.is
    }
}

/// Keys of a section of a scenario with their values, in the order in which they are said. A key is perhop's own (`max-p`).
#[derive(Clone, Debug, Default)]
pub struct Settings {
    list: Vec<(&'static str, WithOrigin<Value>)>,
}

impl Settings {
    /// Says a key; what was said of it before is replaced, as in a device.
    pub fn set(&mut self, key: &'static str, value: WithOrigin<Value>) {
        match self.list.iter_mut().find(|(known, _)| *known == key) {
            Some((_, old)) => *old = value,
            None => self.list.push((key, value)),
        }
    }

    /// Says a key unless it is said: a default.
    pub fn assume(&mut self, key: &'static str, source: &'static str, value: Value) {
        if self.get(key).is_none() {
            self.set(key, WithOrigin::assumed(source, value));
        }
    }

    /// Unsays a key.
    pub fn remove(&mut self, key: &str) -> Option<WithOrigin<Value>> {
        let place = self.list.iter().position(|(known, _)| *known == key)?;
        Some(self.list.remove(place).1)
    }

    /// What is said of a key.
    pub fn get(&self, key: &str) -> Option<&WithOrigin<Value>> {
        self.list.iter().find(|(known, _)| *known == key).map(|(_, value)| value)
    }

    /// What the text says of a key; `None`: nothing, whatever the device assumes.
    pub fn said(&self, key: &str) -> Option<&WithOrigin<Value>> {
        self.get(key).filter(|value| value.is_said())
    }

    /// A rate.
    pub fn rate(&self, key: &str) -> Option<BitRate> {
        match self.get(key)?.is {
            Value::Rate(rate) => Some(rate),
            _ => None,
        }
    }

    /// A size.
    pub fn bytes(&self, key: &str) -> Option<Bytes> {
        match self.get(key)?.is {
            Value::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// All of it, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &WithOrigin<Value>)> {
        self.list.iter().map(|(key, value)| (*key, value))
    }

    /// Whether nothing is said.
    pub const fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// As a scenario has it.
    pub fn tree(&self) -> Tree {
        let entry = |(key, value): (&'static str, &WithOrigin<Value>)| {
            let place = value.origin.place().unwrap_or_default();
            (key.to_owned(), place, Node { place, tree: value.is.tree() })
        };
        Tree::Table(Table { entries: self.iter().map(entry).collect() })
    }
}

/// The order in which keys are said does not matter.
impl PartialEq for Settings {
    fn eq(&self, other: &Self) -> bool {
        self.list.len() == other.list.len() && self.iter().all(|(key, value)| other.get(key) == Some(value))
    }
}
