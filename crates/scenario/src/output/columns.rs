//! Tables of columns: the one shape in which results leave the simulator, for Parquet, Python and the terminal.
//!
//! A column's name ends with its unit; what is not known is null, never -1.

use std::collections::BTreeMap;

/// Values of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Counts.
    Integers(Vec<Option<i64>>),
    /// Measures.
    Reals(Vec<Option<f64>>),
    /// Names.
    Texts(Vec<Option<String>>),
}

impl Values {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Integers(v) => v.len(),
            Self::Reals(v) => v.len(),
            Self::Texts(v) => v.len(),
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// One cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// A count.
    Integer(Option<i64>),
    /// A measure.
    Real(Option<f64>),
    /// A name.
    Text(Option<String>),
}

impl From<u64> for Cell {
    fn from(n: u64) -> Self {
        Self::Integer(Some(n as i64))
    }
}

impl From<f64> for Cell {
    /// Null unless finite.
    fn from(x: f64) -> Self {
        Self::Real(x.is_finite().then_some(x))
    }
}

impl From<Option<f64>> for Cell {
    fn from(x: Option<f64>) -> Self {
        Self::Real(x.filter(|x| x.is_finite()))
    }
}

impl From<Option<u64>> for Cell {
    fn from(n: Option<u64>) -> Self {
        Self::Integer(n.map(|n| n as i64))
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(Some(text.to_owned()))
    }
}

impl From<Option<&str>> for Cell {
    fn from(text: Option<&str>) -> Self {
        Self::Text(text.map(str::to_owned))
    }
}

/// A named table; columns in the order of their first appearance.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// File name without `.parquet`.
    pub name: &'static str,
    /// Name and values.
    pub columns: Vec<(&'static str, Values)>,
    at: BTreeMap<&'static str, usize>,
}

impl Table {
    /// A table whose columns, and their types, are those of `layout` (a row of nulls).
    pub fn new(name: &'static str, layout: &[(&'static str, Cell)]) -> Self {
        let empty = |cell: &Cell| match cell {
            Cell::Integer(_) => Values::Integers(Vec::new()),
            Cell::Real(_) => Values::Reals(Vec::new()),
            Cell::Text(_) => Values::Texts(Vec::new()),
        };
        let columns = layout.iter().map(|(name, cell)| (*name, empty(cell))).collect();
        let at = layout.iter().enumerate().map(|(i, (name, _))| (*name, i)).collect();
        Self { name, columns, at }
    }

    /// Appends a row, given in the order of the columns.
    ///
    /// # Panics
    /// When the row has other columns or types than the table: a mistake in this crate.
    pub fn push(&mut self, row: Vec<Cell>) {
        assert_eq!(row.len(), self.columns.len(), "table {}", self.name);
        for ((name, values), cell) in self.columns.iter_mut().zip(row) {
            match (values, cell) {
                (Values::Integers(v), Cell::Integer(x)) => v.push(x),
                (Values::Reals(v), Cell::Real(x)) => v.push(x),
                (Values::Texts(v), Cell::Text(x)) => v.push(x),
                (_, cell) => panic!("column {name} cannot hold {cell:?}"),
            }
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |c| c.1.len())
    }

    /// A column of counts.
    pub fn integers(&self, name: &str) -> &[Option<i64>] {
        match &self.columns[self.at[name]].1 {
            Values::Integers(v) => v,
            _ => panic!("column {name} holds no counts"),
        }
    }

    /// A column of measures.
    pub fn reals(&self, name: &str) -> &[Option<f64>] {
        match &self.columns[self.at[name]].1 {
            Values::Reals(v) => v,
            _ => panic!("column {name} holds no measures"),
        }
    }

    /// A column of names.
    pub fn texts(&self, name: &str) -> &[Option<String>] {
        match &self.columns[self.at[name]].1 {
            Values::Texts(v) => v,
            _ => panic!("column {name} holds no names"),
        }
    }
}
