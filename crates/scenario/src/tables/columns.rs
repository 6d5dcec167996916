//! Tables of columns: the one shape in which results leave the simulator, for Parquet, Python and the terminal.
//!
//! A column's name ends with its unit; unknown values are null, never -1.

use perhop_core::count::Count;
use perhop_core::verdict::Reason;
use perhop_sim::record::Quantiles;
use std::collections::HashSet;
use std::sync::Arc;

/// Values of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Counts.
    Integers(Vec<Option<i64>>),
    /// Measures.
    Reals(Vec<Option<f64>>),
    /// Names; equal ones of a column share their text.
    Texts(Vec<Option<Arc<str>>>),
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

/// The texts of a column so far: few of them differ.
#[derive(Default)]
pub struct Known(HashSet<Arc<str>>);

impl Known {
    /// The text as it is known.
    pub fn share(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.0.get(text) {
            return known.clone();
        }
        let new = Arc::<str>::from(text);
        self.0.insert(new.clone());
        new
    }
}

/// A named table.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// File name without `.parquet`.
    pub name: &'static str,
    /// Name and values.
    pub columns: Vec<(String, Values)>,
}

impl Table {
    /// A table of columns of equal length.
    pub fn new(name: &'static str, columns: Vec<(String, Values)>) -> Self {
        Self { name, columns }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |c| c.1.len())
    }

    /// A column's values.
    pub fn column(&self, name: &str) -> &Values {
        let found = self.columns.iter().find(|column| column.0 == name);
        &found.unwrap_or_else(|| panic!("{} has no column {name}", self.name)).1
    }

    /// A column of counts.
    pub fn integers(&self, name: &str) -> &[Option<i64>] {
        match self.column(name) {
            Values::Integers(v) => v,
            _ => panic!("column {name} holds no counts"),
        }
    }

    /// A column of measures.
    pub fn reals(&self, name: &str) -> &[Option<f64>] {
        match self.column(name) {
            Values::Reals(v) => v,
            _ => panic!("column {name} holds no measures"),
        }
    }

    /// A column of names.
    pub fn texts(&self, name: &str) -> &[Option<Arc<str>>] {
        match self.column(name) {
            Values::Texts(v) => v,
            _ => panic!("column {name} holds no names"),
        }
    }
}

/// Makes a table of a row for each of `rows`: every column is declared with its name and where its value is found.
pub struct Columns<'r, R> {
    rows: &'r [R],
    table: Table,
}

impl<'r, R> Columns<'r, R> {
    /// No columns yet.
    pub fn of(name: &'static str, rows: &'r [R]) -> Self {
        Self { rows, table: Table::new(name, Vec::new()) }
    }

    /// A count.
    pub fn integer<V: Into<Option<u64>>>(self, name: &str, value: impl Fn(&R) -> V) -> Self {
        let values = self.rows.iter().map(|row| value(row).into().map(|n| n as i64)).collect();
        self.add(name, Values::Integers(values))
    }

    /// A measure; null unless finite.
    pub fn real<V: Into<Option<f64>>>(self, name: &str, value: impl Fn(&R) -> V) -> Self {
        let values = self.rows.iter().map(|row| value(row).into().filter(|x| x.is_finite())).collect();
        self.add(name, Values::Reals(values))
    }

    /// A name.
    pub fn text<V: Into<Option<String>>>(self, name: &str, value: impl Fn(&R) -> V) -> Self {
        let mut known = Known::default();
        let values = self.rows.iter().map(|row| value(row).into().map(|text| known.share(&text))).collect();
        self.add(name, Values::Texts(values))
    }

    fn add(mut self, name: &str, values: Values) -> Self {
        self.table.columns.push((name.to_owned(), values));
        self
    }

    /// All of them.
    pub fn table(self) -> Table {
        self.table
    }
}

/// One measure of a distribution.
type Measure = fn(Quantiles) -> f64;

impl<R> Columns<'_, R> {
    /// `X_packets` and `X_bytes`.
    pub fn count(self, name: &str, of: impl Fn(&R) -> Count) -> Self {
        let packets = self.integer(&format!("{name}_packets"), |row| of(row).packets);
        packets.integer(&format!("{name}_bytes"), |row| of(row).bytes)
    }

    /// `dropped_X_packets` for each reason listed.
    pub fn dropped(self, reasons: &[Reason], of: impl Fn(&R, Reason) -> Count) -> Self {
        reasons.iter().fold(self, |columns, reason| {
            columns.integer(&format!("dropped_{}_packets", reason.name()), |row| of(row, *reason).packets)
        })
    }

    /// `X_mean_ms` to `X_max_ms`.
    pub fn quantiles(self, name: &str, of: impl Fn(&R) -> Option<Quantiles>) -> Self {
        let each: [(&str, Measure); 6] = [
            ("mean", |q| q.mean / 1e6),
            ("sd", |q| q.sd / 1e6),
            ("p50", |q| q.p50 as f64 / 1e6),
            ("p99", |q| q.p99 as f64 / 1e6),
            ("p999", |q| q.p999 as f64 / 1e6),
            ("max", |q| q.max as f64 / 1e6),
        ];
        each.into_iter()
            .fold(self, |columns, (what, value)| columns.real(&format!("{name}_{what}_ms"), |row| of(row).map(value)))
    }
}
