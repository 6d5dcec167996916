//! Parameters: declared once, read with places, all faults in one pass.
//!
//! `#[derive(Params)]` on a struct gives its reader, its defaults, its fields for schema and docs, and
//! the way back to text. What is read is a tree of nodes that know their place in the file; the crate
//! that parses files makes the tree, so this module does no I/O.

pub use perhop_derive::{Choice, Params};

use crate::units::{BitRate, Bytes, Length, Packets, Probability, Span, UnitError, UnitFault};
use std::fmt;

/// A stretch of the file, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Where it stands.
    pub place: Place,
    /// What it is.
    pub tree: Tree,
}

/// What a file can say.
#[derive(Clone, Debug, PartialEq)]
pub enum Tree {
    /// `"5Mbit/s"`
    Text(String),
    /// `5`
    Integer(i64),
    /// `0.002`
    Float(f64),
    /// `true`
    Bool(bool),
    /// `[1, 2]`
    List(Vec<Node>),
    /// `{ min = "5p" }` or `[section]`
    Table(Table),
}

/// Keys and values in the file's order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Key, its place, its value.
    pub entries: Vec<(String, Place, Node)>,
}

impl Table {
    /// The value of a key.
    pub fn get(&self, name: &str) -> Option<&Node> {
        self.entries.iter().find(|e| e.0 == name).map(|e| &e.2)
    }
}

impl Tree {
    /// What it is, for messages.
    pub fn noun(&self) -> &'static str {
        match self {
            Tree::Text(_) => "text",
            Tree::Integer(_) => "an integer",
            Tree::Float(_) => "a number",
            Tree::Bool(_) => "true or false",
            Tree::List(_) => "a list",
            Tree::Table(_) => "a table",
        }
    }

    /// A tree without places, from values.
    pub fn table(entries: Vec<(&str, Tree)>) -> Self {
        let place = Place::default();
        Tree::Table(Table {
            entries: entries.into_iter().map(|(k, tree)| (k.to_owned(), place, Node { place, tree })).collect(),
        })
    }
}

impl From<Tree> for Node {
    fn from(tree: Tree) -> Self {
        Node { place: Place::default(), tree }
    }
}

/// As inline TOML.
impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Tree::Text(text) => write!(f, "{text:?}"),
            Tree::Integer(n) => write!(f, "{n}"),
            Tree::Float(x) => write!(f, "{x:?}"),
            Tree::Bool(b) => write!(f, "{b}"),
            Tree::List(items) => {
                let items: Vec<_> = items.iter().map(|n| n.tree.to_string()).collect();
                write!(f, "[{}]", items.join(", "))
            }
            Tree::Table(table) => {
                let entries: Vec<_> =
                    table.entries.iter().map(|(k, _, n)| format!("{} = {}", key(k), n.tree)).collect();
                write!(f, "{{ {} }}", entries.join(", "))
            }
        }
    }
}

/// A key as TOML writes it: bare where possible.
pub fn key(name: &str) -> String {
    let bare = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    if bare { name.to_owned() } else { format!("{name:?}") }
}

/// Whether a [`Problem`] stops the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The run may go on.
    Warning,
    /// It may not.
    Error,
}

/// One fault of a file: what, where, why, and the way out.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// Error or warning.
    pub severity: Severity,
    /// Stable code, documented in `docs/diagnostics.md`.
    pub code: &'static str,
    /// Where; `None` when it is about the file as a whole.
    pub place: Option<Place>,
    /// What is wrong.
    pub message: String,
    /// Words under the caret.
    pub label: String,
    /// The way out.
    pub help: String,
}

/// Everything found so far, and the section that is being read.
#[derive(Clone, Debug, Default)]
pub struct Problems {
    /// In the order found.
    pub list: Vec<Problem>,
    /// Section names from the outside in: `conditioner`, `marker`.
    pub path: Vec<String>,
}

impl Problems {
    /// Adds an error; returns `None` so that a reader can end with it.
    pub fn error<T>(&mut self, code: &'static str, place: Place, what: [&str; 3]) -> Option<T> {
        self.push(Severity::Error, code, Some(place), what)
    }

    /// Adds a warning.
    pub fn warn(&mut self, code: &'static str, place: Place, what: [&str; 3]) {
        self.push::<()>(Severity::Warning, code, Some(place), what);
    }

    /// Adds a problem; `what` is message, label under the caret, help.
    pub fn push<T>(
        &mut self,
        severity: Severity,
        code: &'static str,
        place: Option<Place>,
        what: [&str; 3],
    ) -> Option<T> {
        let [message, label, help] = what.map(str::to_owned);
        self.list.push(Problem { severity, code, place, message, label, help });
        None
    }

    /// Whether anything found forbids a run.
    pub fn has_errors(&self) -> bool {
        self.list.iter().any(|p| p.severity == Severity::Error)
    }

    /// Reads something inside a named section.
    pub fn within<T>(&mut self, name: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(name.to_owned());
        let out = read(self);
        self.path.pop();
        out
    }

    /// `[conditioner.marker]`, or "the file" at the top.
    pub fn section(&self) -> String {
        if self.path.is_empty() { "the file".to_owned() } else { format!("[{}]", self.path.join(".")) }
    }

    /// A value of another type than its key takes.
    pub fn wrong_type<T>(&mut self, node: &Node, kind: &Kind) -> Option<T> {
        let message = format!("expected {}, found {}", kind.noun(), node.tree.noun());
        self.error("E003", node.place, [&message, "", &kind.help()])
    }

    /// A quantity that could not be read.
    pub fn unit<T>(&mut self, node: &Node, error: UnitError) -> Option<T> {
        self.error(unit_code(error.fault), node.place, [&error.message, "", &error.help])
    }

    /// A parameter whose value its algorithm refuses.
    pub fn param<T>(&mut self, error: &ParamError, place: Place) -> Option<T> {
        self.error(error.code, place, [&error.message, &error.label, &error.help])
    }

    /// One of a list of names, or an error with the nearest one.
    pub fn choice(&mut self, node: &Node, names: &'static [&'static str]) -> Option<&'static str> {
        let Tree::Text(text) = &node.tree else { return self.wrong_type(node, &Kind::Choice(names)) };
        match names.iter().find(|n| *n == text) {
            Some(name) => Some(name),
            None => {
                let message = format!("unknown name `{text}`");
                self.error("E006", node.place, [&message, "", &suggest(text, names)])
            }
        }
    }
}

/// The diagnostic code of a unit fault.
pub fn unit_code(fault: UnitFault) -> &'static str {
    match fault {
        UnitFault::Missing => "E103",
        UnitFault::Wrong => "E105",
        UnitFault::Ambiguous => "E106",
        UnitFault::Syntax => "E107",
        UnitFault::Range => "E108",
    }
}

/// "did you mean `x`?" for the nearest name, else all of them.
pub fn suggest(text: &str, names: &[&str]) -> String {
    let near = names.iter().map(|n| (strsim::jaro_winkler(text, n), *n)).max_by(|a, b| a.0.total_cmp(&b.0));
    match near {
        Some((likeness, name)) if likeness > 0.8 => format!("did you mean `{name}`?"),
        _ => format!("valid names: {}", names.join(", ")),
    }
}

/// A value written in a declaration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Literal {
    /// Text, a quantity most often.
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

/// What may stand for a field: drives the schema, the docs and the generators of the property tests.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// bit/s
    Rate,
    /// B
    Size,
    /// s
    Time,
    /// Packets.
    Count,
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
    /// A table of fields.
    Table(&'static [Field]),
    /// A list.
    List(&'static Kind),
    /// One value or a list of them.
    OneOrMany(&'static Kind),
    /// Several tables' fields in one: `#[param(flatten)]`.
    Flat(&'static [Field]),
    /// Anything: read by hand.
    Any,
}

impl Kind {
    /// For messages: "expected ...".
    pub fn noun(&self) -> String {
        match self {
            Kind::Rate => "a rate".into(),
            Kind::Size => "a size".into(),
            Kind::Time => "a time".into(),
            Kind::Count => "a number of packets".into(),
            Kind::Length => "a queue length".into(),
            Kind::Probability => "a probability".into(),
            Kind::Integer => "a whole number".into(),
            Kind::Number => "a number".into(),
            Kind::Bool => "true or false".into(),
            Kind::Text => "text".into(),
            Kind::Dscp => "a DSCP".into(),
            Kind::Choice(names) => format!("one of {}", names.join(", ")),
            Kind::Table(_) | Kind::Flat(_) => "a table".into(),
            Kind::List(of) => format!("a list of {}s", of.noun().trim_start_matches("a ")),
            Kind::OneOrMany(of) => format!("{} or a list", of.noun()),
            Kind::Any => "a value".into(),
        }
    }

    /// Its unit in a table of parameters.
    pub fn unit(&self) -> &'static str {
        match self {
            Kind::Rate => "bit/s",
            Kind::Size => "B",
            Kind::Time => "s",
            Kind::Count => "p",
            Kind::Length => "p, B, s, %",
            Kind::List(of) | Kind::OneOrMany(of) => of.unit(),
            _ => "-",
        }
    }

    fn help(&self) -> String {
        match self {
            Kind::Rate => "write it as text with its unit, as in \"5Mbit/s\"".into(),
            Kind::Size => "write it as text with its unit, as in \"62500B\"".into(),
            Kind::Time => "write it as text with its unit, as in \"10ms\"".into(),
            Kind::Count => "write it as text with its unit, as in \"30p\"".into(),
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
            Kind::Choice(names) => format!("one of {}, in quotes", names.join(", ")),
            Kind::OneOrMany(of) | Kind::List(of) => of.help(),
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
    /// What may stand for it.
    pub kind: Kind,
    /// What holds when it is left out.
    pub default: Option<Literal>,
    /// Whether it may be left out without a default.
    pub optional: bool,
}

impl Field {
    /// The declaration of a field whose own keys stand in the same table.
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

/// A struct declared with `#[derive(Params)]`.
pub trait Params: Sized {
    /// Its fields, in order.
    const FIELDS: &'static [Field];
    /// Reads all fields, reporting every fault; `None` if there was one.
    fn read(reader: &mut Reader<'_>) -> Option<Self>;
    /// All effective values.
    fn show(&self, out: &mut Vec<(&'static str, Tree)>);
}

/// Something that a key's value can be.
pub trait Value: Sized {
    /// What may stand for it.
    const KIND: Kind;
    /// Whether it may be absent.
    const OPTIONAL: bool = false;
    /// Reads it, or reports why not.
    fn read(node: &Node, problems: &mut Problems) -> Option<Self>;
    /// What stands for a key left out that may be.
    fn absent() -> Option<Self> {
        None
    }
    /// The way back; `None` where nothing stands.
    fn tree(&self) -> Option<Tree>;
}

/// A table whose keys are taken one by one; what nobody took is an unknown key.
pub struct Reader<'a> {
    table: &'a Table,
    place: Place,
    known: Vec<&'static str>,
    /// Where faults go.
    pub problems: &'a mut Problems,
}

impl<'a> Reader<'a> {
    /// A reader of `table`, which stands at `place`.
    pub fn new(table: &'a Table, place: Place, problems: &'a mut Problems) -> Self {
        Self { table, place, known: Vec::new(), problems }
    }

    /// Takes a key for the caller to read by hand.
    pub fn take(&mut self, name: &'static str) -> Option<&'a Node> {
        self.known.push(name);
        self.table.get(name)
    }

    /// Reads a declared field.
    pub fn field<T: Value>(&mut self, field: &'static Field) -> Option<T> {
        if let Some(node) = self.take(field.name) {
            return T::read(node, self.problems);
        }
        if let Some(default) = field.default {
            return T::read(&Node { place: self.place, tree: default.into() }, self.problems);
        }
        T::absent().or_else(|| {
            let message = format!("missing key `{}` in {}", field.name, self.problems.section());
            let help = format!("{} ({})", field.doc, field.kind.noun());
            self.problems.error("E005", self.place, [&message, "", &help])
        })
    }

    /// The place of a key's value, of the whole table where it is absent.
    pub fn place_of(&self, name: &str) -> Place {
        self.table.get(name).map_or(self.place, |n| n.place)
    }

    /// Reports the keys that nobody took.
    pub fn finish(self) {
        for (name, place, _) in &self.table.entries {
            if !self.known.contains(&name.as_str()) {
                let message = format!("unknown key `{name}` in {}", self.problems.section());
                self.problems.error::<()>("E004", *place, [&message, "", &suggest(name, &self.known)]);
            }
        }
    }
}

/// Reads a whole table as `P`; unknown keys are errors.
pub fn read_table<P: Params>(node: &Node, problems: &mut Problems) -> Option<P> {
    let Tree::Table(table) = &node.tree else { return problems.wrong_type(node, &Kind::Table(P::FIELDS)) };
    let mut reader = Reader::new(table, node.place, problems);
    let out = P::read(&mut reader);
    reader.finish();
    out
}

/// All effective values of `params` as a table.
pub fn show_table<P: Params>(params: &P) -> Tree {
    let mut entries = Vec::new();
    params.show(&mut entries);
    Tree::table(entries)
}

macro_rules! quantities {
    ($($type:ty => $kind:expr,)*) => { $(
        impl Value for $type {
            const KIND: Kind = $kind;
            fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
                match &node.tree {
                    Tree::Text(text) => text.parse().map_or_else(|e| problems.unit(node, e), Some),
                    bare @ (Tree::Integer(_) | Tree::Float(_)) => match bare.to_string().parse::<Self>() {
                        Ok(value) => Some(value),
                        Err(error) => problems.unit(node, error),
                    },
                    _ => problems.wrong_type(node, &$kind),
                }
            }
            fn tree(&self) -> Option<Tree> {
                Some(Tree::Text(self.to_string()))
            }
        }
    )* };
}

quantities! {
    BitRate => Kind::Rate,
    Bytes => Kind::Size,
    Span => Kind::Time,
    Packets => Kind::Count,
    Length => Kind::Length,
}

impl Value for f64 {
    const KIND: Kind = Kind::Number;
    fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
        match node.tree {
            Tree::Float(x) if x.is_finite() => Some(x),
            Tree::Integer(n) => Some(n as f64),
            _ => problems.wrong_type(node, &Kind::Number),
        }
    }
    fn tree(&self) -> Option<Tree> {
        Some(Tree::Float(*self))
    }
}

impl Value for Probability {
    const KIND: Kind = Kind::Probability;
    fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
        let x = match node.tree {
            Tree::Float(x) => x,
            Tree::Integer(n) => n as f64,
            _ => return problems.wrong_type(node, &Kind::Probability),
        };
        Probability::new(x).or_else(|| {
            let message = format!("probability {x} is outside [0, 1]");
            problems.error("E216", node.place, [&message, "", "write a number between 0 and 1 (2 % is 0.02)"])
        })
    }
    fn tree(&self) -> Option<Tree> {
        Some(Tree::Float(self.get()))
    }
}

macro_rules! integers {
    ($($type:ty),*) => { $(
        impl Value for $type {
            const KIND: Kind = Kind::Integer;
            fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
                let Tree::Integer(n) = node.tree else { return problems.wrong_type(node, &Kind::Integer) };
                <$type>::try_from(n).ok().or_else(|| {
                    let message = format!("{n} is out of range");
                    problems.error("E201", node.place, [&message, "", &format!("between 0 and {}", <$type>::MAX)])
                })
            }
            fn tree(&self) -> Option<Tree> {
                Some(Tree::Integer(*self as i64))
            }
        }
    )* };
}

integers!(u16, u32, u64);

impl Value for bool {
    const KIND: Kind = Kind::Bool;
    fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
        match node.tree {
            Tree::Bool(b) => Some(b),
            _ => problems.wrong_type(node, &Kind::Bool),
        }
    }
    fn tree(&self) -> Option<Tree> {
        Some(Tree::Bool(*self))
    }
}

impl Value for String {
    const KIND: Kind = Kind::Text;
    fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
        match &node.tree {
            Tree::Text(text) => Some(text.clone()),
            _ => problems.wrong_type(node, &Kind::Text),
        }
    }
    fn tree(&self) -> Option<Tree> {
        Some(Tree::Text(self.clone()))
    }
}

impl<T: Value> Value for Option<T> {
    const KIND: Kind = T::KIND;
    const OPTIONAL: bool = true;
    fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
        T::read(node, problems).map(Some)
    }
    fn absent() -> Option<Self> {
        Some(None)
    }
    fn tree(&self) -> Option<Tree> {
        self.as_ref()?.tree()
    }
}

impl<T: Value> Value for Vec<T> {
    const KIND: Kind = Kind::OneOrMany(&T::KIND);
    const OPTIONAL: bool = true;
    /// A list, or one value alone.
    fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
        let Tree::List(items) = &node.tree else { return T::read(node, problems).map(|one| vec![one]) };
        let read: Vec<_> = items.iter().map(|n| T::read(n, problems)).collect();
        read.into_iter().collect()
    }
    fn absent() -> Option<Self> {
        Some(Vec::new())
    }
    fn tree(&self) -> Option<Tree> {
        match self.as_slice() {
            [] => None,
            items => Some(Tree::List(items.iter().filter_map(Value::tree).map(Node::from).collect())),
        }
    }
}

/// A parameter that an algorithm refuses: names field, value, bound and way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamError {
    /// The key at fault.
    pub field: &'static str,
    /// Stable code.
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// Words under the caret.
    pub label: String,
    /// The way out.
    pub help: String,
}

impl ParamError {
    /// An error on `field`.
    pub fn new(field: &'static str, code: &'static str, message: String) -> Self {
        Self { field, code, message, label: String::new(), help: String::new() }
    }

    /// New parameters that belong to another algorithm.
    pub fn other_kind() -> Self {
        Self::new("kind", "E202", "a running algorithm cannot become another".into())
            .help("a timed change may change parameters, not `kind` or `aqm`")
    }

    /// With the way out.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = help.into();
        self
    }

    /// With words under the caret.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// # Errors
    /// E201 unless `value >= least`.
    pub fn at_least<T: PartialOrd + fmt::Display>(field: &'static str, value: T, least: T) -> Result<(), Self> {
        if value >= least {
            return Ok(());
        }
        Err(Self::new(field, "E201", format!("`{field}` is {value}")).help(format!("at least {least}")))
    }

    /// # Errors
    /// E201 if `value` is its type's zero.
    pub fn above_zero<T: PartialOrd + Default + fmt::Display>(field: &'static str, value: T) -> Result<(), Self> {
        if value > T::default() {
            return Ok(());
        }
        Err(Self::new(field, "E201", format!("`{field}` is {value}")).help("above 0"))
    }
}

impl fmt::Display for ParamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({})", self.code, self.message, self.help)
    }
}

impl std::error::Error for ParamError {}
