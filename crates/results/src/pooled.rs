//! Rows of a table over replications, each under its names: what everything that is printed, and every mean, is made from.

use crate::replication::Replication;
use crate::stats::{Estimate, of_column};
use crate::tables::column::{Absent, Column};
use crate::tables::columns::Declared;
use crate::tables::columns::{Table, Values};
use crate::tables::{classes, column, declaration};
use perhop_core::packet::Colour;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::sync::Arc;

/// What names a row; `None` where it has no such name.
pub type Names = Vec<Option<Arc<str>>>;

/// A table over replications.
pub struct Pooled<'a> {
    of: &'static Declared,
    /// In order of first appearance of each of their keys, colours in their own.
    pub rows: Vec<Pool<'a>>,
}

/// A row of a table over replications.
pub struct Pool<'a> {
    /// Those of [`Pooled::keys`].
    pub names: Names,
    of: &'static Declared,
    /// For each replication the table and the row in it, if it has it.
    rows: Vec<Option<(&'a Table, usize)>>,
}

/// The table that each replication has.
pub fn each<'a>(replications: &[&'a Replication], table: &str) -> Vec<&'a Table> {
    replications.iter().map(|r| find(&r.tables, table)).collect()
}

/// A table among those of a replication.
pub fn find<'a>(tables: &'a [Table], name: &str) -> &'a Table {
    tables.iter().find(|table| table.name == name).expect("every replication has it")
}

impl<'a> Pooled<'a> {
    /// One table, as each replication has it.
    pub fn new(name: &str, each: &[&'a Table]) -> Self {
        let of = declaration(name).expect("results have no other tables");
        let keys: Vec<_> = of.columns.iter().filter(|column| column.role.names()).map(|column| &*column.name).collect();
        let (mut rows, mut places) = (Vec::<Pool<'a>>::new(), HashMap::new());
        for (i, table) in each.iter().enumerate() {
            let columns: Vec<_> = keys.iter().map(|key| table.column(key)).collect();
            for row in 0..table.rows() {
                let names: Names = columns.iter().map(|values| name_in(values, row)).collect();
                let at = *places.entry(names).or_insert_with_key(|names| {
                    rows.push(Pool { names: names.clone(), of, rows: vec![None; each.len()] });
                    rows.len() - 1
                });
                rows[at].rows[i] = Some((table, row));
            }
        }
        let mut pooled = Self { of, rows };
        pooled.sort();
        pooled
    }

    /// The columns that name its rows.
    pub fn keys(&self) -> Vec<&'static str> {
        self.of.columns.iter().filter(|column| column.role.names()).map(|column| &*column.name).collect()
    }

    /// What a column is.
    ///
    /// # Panics
    /// When the table has no such column.
    pub fn column(&self, name: &str) -> &'static Column {
        column(self.of.name, name)
    }

    /// In the order of `classes`, each of them: one without a row gets one without a colour.
    pub fn of_all(mut self, classes: &[String], replications: usize) -> Self {
        let having: HashSet<_> = self.rows.iter().filter_map(|pool| pool.names[0].clone()).collect();
        for class in classes.iter().filter(|class| !having.contains(class.as_str())) {
            let names = vec![Some(class.as_str().into()), None];
            self.rows.push(Pool { names, of: self.of, rows: vec![None; replications] });
        }
        let ranks = ranks(classes.iter().map(String::as_str));
        self.rows.sort_by_key(|pool| pool.names[0].as_deref().and_then(|class| ranks.get(class).copied()));
        self
    }

    /// By its keys: a row that only a later replication has is placed with the others of its port and class.
    fn sort(&mut self) {
        let keys = self.keys();
        let places: Vec<_> = self.of.by.iter().filter_map(|key| keys.iter().position(|name| name == key)).collect();
        let of_part = |&at: &usize| {
            let colours = [classes::ALL].into_iter().chain(Colour::ALL.iter().map(|colour| colour.name()));
            let first = colours.filter(|_| keys[at] == COLOUR).map(|colour| Some(colour.into()));
            ranks(first.chain(self.rows.iter().map(|pool| pool.names[at].clone())))
        };
        let by_part: Vec<HashMap<Option<Arc<str>>, usize>> = places.iter().map(of_part).collect();
        let rank = |pool: &Pool<'_>| {
            let ranks = places.iter().zip(&by_part).map(|(&at, ranks)| ranks[&pool.names[at]]);
            ranks.collect::<Vec<_>>()
        };
        self.rows.sort_by_cached_key(rank);
    }
}

/// The key whose names are not in the order of the alphabet.
const COLOUR: &str = "colour";

/// By name, where it first appears among others.
fn ranks<T: Eq + Hash>(names: impl IntoIterator<Item = T>) -> HashMap<T, usize> {
    let mut ranks = HashMap::new();
    for name in names {
        let next = ranks.len();
        ranks.entry(name).or_insert(next);
    }
    ranks
}

impl<'a> Pool<'a> {
    /// What it is called under a key.
    ///
    /// # Panics
    /// When it is no key of the table.
    pub fn name(&self, key: &str) -> Option<&str> {
        let mut keys = self.of.columns.iter().filter(|column| column.role.names());
        let at = keys.position(|column| column.name == key).unwrap_or_else(|| panic!("{key} names no rows"));
        self.names[at].as_deref()
    }

    /// What a column is.
    ///
    /// # Panics
    /// When the table has no such column.
    pub fn column(&self, name: &str) -> &'static Column {
        column(self.of.name, name)
    }

    /// A column's value in each replication: where a replication has no such row, it counted nothing, and what is measured
    /// of nothing is unknown.
    pub fn values(&self, column: &str) -> Vec<Option<f64>> {
        let absent = match self.column(column).role.absent() {
            Absent::Zero => Some(0.0),
            Absent::Unknown => None,
        };
        self.rows.iter().map(|row| row.map_or(absent, |(table, row)| number(table.column(column), row))).collect()
    }

    /// Mean and interval of what is known of a column.
    pub fn estimate(&self, column: &str) -> Option<Estimate> {
        of_column(self.column(column), &self.values(column).into_iter().flatten().collect::<Vec<_>>())
    }
}

fn name_in(values: &Values, row: usize) -> Option<Arc<str>> {
    match values {
        Values::Texts(v) => v[row].clone(),
        Values::Integers(v) => v[row].map(|n| n.to_string().into()),
        Values::Reals(_) => None,
    }
}

fn number(values: &Values, row: usize) -> Option<f64> {
    match values {
        Values::Integers(v) => v[row].map(|n| n as f64),
        Values::Reals(v) => v[row],
        Values::Texts(_) => None,
    }
}
