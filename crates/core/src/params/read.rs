//! From a table to a struct, reporting every fault.

use super::{Field, Kind, Node, Place, Places, Problems, Table, Tree, suggest};

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
    /// The kind of value it takes.
    const KIND: Kind;
    /// Whether it may be absent.
    const OPTIONAL: bool = false;
    /// Reads it, or reports why not.
    fn read(node: &Node, problems: &mut Problems) -> Option<Self>;
    /// The value of an omitted optional key.
    fn absent() -> Option<Self> {
        None
    }
    /// The inverse of `read`; `None` where nothing is written.
    fn tree(&self) -> Option<Tree>;
}

/// A table whose keys are taken one by one; those left over are unknown keys.
pub struct Reader<'a> {
    table: &'a Table,
    /// Where the table is.
    pub place: Place,
    known: Vec<&'static str>,
    settled: Vec<(&'static str, Tree)>,
    /// Where faults go.
    pub problems: &'a mut Problems,
}

impl<'a> Reader<'a> {
    /// A reader of `table`, which is at `place`.
    pub fn new(table: &'a Table, place: Place, problems: &'a mut Problems) -> Self {
        Self { table, place, known: Vec::new(), settled: Vec::new(), problems }
    }

    /// Takes a key that the caller reads itself.
    pub fn take(&mut self, name: &'static str) -> Option<&'a Node> {
        self.known.push(name);
        self.table.get(name)
    }

    /// What the table says of a key.
    pub fn stated(&self, name: &str) -> Option<&'a Node> {
        self.table.get(name)
    }

    /// Gives a key a value before it is read, whatever the table says: what another key implies.
    pub fn settle(&mut self, name: &'static str, value: Tree) {
        self.settled.push((name, value));
    }

    /// Reads a declared field.
    pub fn field<T: Value>(&mut self, field: &'static Field) -> Option<T> {
        self.field_by(field, T::read, T::absent())
    }

    /// The same by a reader of its value; `absent` is the value of an optional key that is left away.
    pub fn field_by<T>(
        &mut self,
        field: &'static Field,
        read: impl FnOnce(&Node, &mut Problems) -> Option<T>,
        absent: Option<T>,
    ) -> Option<T> {
        if let Some(i) = self.settled.iter().position(|(name, _)| *name == field.name) {
            self.known.push(field.name);
            let node = Node { place: self.place_of(field.name), tree: self.settled.swap_remove(i).1 };
            return read(&node, self.problems);
        }
        if let Some(node) = self.take(field.name) {
            return read(node, self.problems);
        }
        if let Some(default) = field.default {
            return read(&Node { place: self.place, tree: default.into() }, self.problems);
        }
        absent.or_else(|| {
            let message = format!("missing key `{}` in {}", field.name, self.problems.section());
            let help = format!("{} ({})", field.doc, field.kind.noun());
            self.problems.error("E005", self.place, message).help(help).none()
        })
    }

    /// The whole table.
    pub fn entries(&self) -> &'a [(String, Place, Node)] {
        &self.table.entries
    }

    /// The place of a key's value, of the whole table where it is absent.
    pub fn place_of(&self, name: &str) -> Place {
        self.table.get(name).map_or(self.place, |n| n.place)
    }

    /// The places of all its keys.
    pub fn places(&self) -> Places {
        Places::of_table(self.place, self.table)
    }

    /// Reports the keys that were not taken.
    pub fn finish(self) {
        for (name, place, _) in &self.table.entries {
            if !self.known.contains(&name.as_str()) {
                let message = format!("unknown key `{name}` in {}", self.problems.section());
                self.problems.error("E004", *place, message).help(suggest(name, &self.known));
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
