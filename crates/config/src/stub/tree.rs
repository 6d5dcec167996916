//! A draft as the tree that is checked: each key and value has a number for its place, and the numbers say where it comes from.

use super::draft::{Cell, Draft, Entry, Form, Part, Section};
use perhop_core::params::{Node, Place, Table, Tree};
use perhop_scenario::text::source::{Made, Origin, Sources};
use std::sync::Arc;

impl Draft {
    /// The tree of what was made of these texts: a configuration, and the file of its load.
    pub fn made(&self, texts: [Arc<Sources>; 2]) -> Made {
        let (mut root, mut numbers) = (Table::default(), Numbers::default());
        for part in &self.parts {
            if let Part::Section(section) = part {
                numbers.section(section, &mut root);
            }
        }
        let root = Node { place: Place::default(), tree: Tree::Table(root) };
        Made { root, origins: numbers.origins, end: numbers.next, texts }
    }
}

/// Places that are given one after the other.
#[derive(Default)]
struct Numbers {
    next: usize,
    /// Whether what is placed now comes from the file of a load.
    of_load: bool,
    origins: Vec<(usize, Origin)>,
}

impl Numbers {
    /// The next place, as wide as a text with this many bytes.
    fn place(&mut self, from: Option<Place>, width: usize) -> Place {
        let start = self.next;
        self.next += width;
        self.origins.push((start, Origin { place: from, of_load: self.of_load, ..Origin::default() }));
        Place { start, end: self.next }
    }

    /// Tables of one kind are in one table, as in TOML; one with a heading is at the place of its name.
    fn section(&mut self, section: &Section, root: &mut Table) {
        self.of_load = section.of_load;
        let known = root.entries.iter().position(|entry| entry.0 == section.kind);
        let known = known.unwrap_or_else(|| {
            root.entries.push(self.table(section.kind, section.from));
            root.entries.len() - 1
        });
        let Tree::Table(of_kind) = &mut root.entries[known].2.tree else { unreachable!("made as a table") };
        match &section.name {
            // Each name is there once: no other section is looked at.
            Some(name) => {
                let mut own = self.table(name, section.from);
                own.2.tree = Tree::Table(Table { entries: self.entries(&section.entries, section.from) });
                of_kind.entries.push(own);
            }
            None => of_kind.entries.extend(self.entries(&section.entries, section.from)),
        }
    }

    /// An empty table, at the place of its key.
    fn table(&mut self, key: &str, from: Option<Place>) -> (String, Place, Node) {
        let place = self.place(from, 1);
        (key.to_owned(), place, Node { place, tree: Tree::Table(Table::default()) })
    }

    fn entries(&mut self, entries: &[Entry], around: Option<Place>) -> Vec<(String, Place, Node)> {
        let one = |entry: &Entry| {
            let key = self.place(entry.from.or(around), 1);
            (entry.key.clone(), key, self.node(&entry.cell, around))
        };
        entries.iter().map(one).collect()
    }

    fn node(&mut self, cell: &Cell, around: Option<Place>) -> Node {
        let from = cell.from.or(around);
        let width = if let Form::One(Tree::Text(text)) = &cell.form { text.len() + 2 } else { 1 };
        let (place, own) = (self.place(from, width), self.origins.len() - 1);
        self.origins[own].1.class.clone_from(&cell.class);
        let tree = match &cell.form {
            Form::One(tree) => tree.clone(),
            Form::Table(entries) => Tree::Table(Table { entries: self.entries(entries, from) }),
            Form::List(items) | Form::Rows(items) => {
                let items: Vec<_> = items.iter().map(|item| self.node(item, from)).collect();
                self.origins[own].1.items = items.iter().map(|item| item.place.start).collect();
                Tree::List(items)
            }
        };
        Node { place, tree }
    }
}
