//! Tables of columns: the one shape in which results leave the simulator, for Parquet, Python and the terminal.
//!
//! Unknown values are null, never -1.

use super::column::{Column, Kind, Role, Unit, measure, name, quantile, total};
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

    /// What they are.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Integers(_) => Kind::Integer,
            Self::Reals(_) => Kind::Real,
            Self::Texts(_) => Kind::Text,
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A row's value; empty where it is null.
    pub fn text(&self, row: usize) -> String {
        let text = match self {
            Self::Integers(v) => v[row].map(|n| n.to_string()),
            Self::Reals(v) => v[row].map(|x| x.to_string()),
            Self::Texts(v) => v[row].as_deref().map(str::to_owned),
        };
        text.unwrap_or_default()
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

/// A table with what its columns are.
#[derive(Clone, Debug)]
pub struct Made {
    /// What the table is; without columns where they are not kept.
    pub declared: Declared,
    /// Its values.
    pub table: Table,
}

/// What a table is.
#[derive(Clone, Debug, PartialEq)]
pub struct Declared {
    /// Its name.
    pub name: &'static str,
    /// The columns that tell its rows apart, in the order in which they are printed; none where rows are events or times.
    pub by: &'static [&'static str],
    /// Its columns, in their order.
    pub columns: Vec<Column>,
}

impl Declared {
    /// The table without rows.
    pub fn empty(&self) -> Table {
        let none = |column: &Column| match column.kind {
            Kind::Integer => Values::Integers(Vec::new()),
            Kind::Real => Values::Reals(Vec::new()),
            Kind::Text => Values::Texts(Vec::new()),
        };
        Table::new(self.name, self.columns.iter().map(|it| (it.name.to_string(), none(it))).collect())
    }

    /// A column by its name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }
}

/// Makes a table of a row for each of `rows`: every column is declared, with where its value is found.
pub struct Columns<'r, R> {
    rows: &'r [R],
    made: Made,
    /// Whether declarations are kept.
    keeps: bool,
}

impl<'r, R> Columns<'r, R> {
    /// No columns yet. `by` names those that tell the rows apart.
    pub fn of(name: &'static str, by: &'static [&'static str], rows: &'r [R]) -> Self {
        let declared = Declared { name, by, columns: Vec::new() };
        Self { rows, made: Made { declared, table: Table::new(name, Vec::new()) }, keeps: true }
    }

    /// The same that keeps the columns' declarations or does not: they are the same in all replications.
    pub fn keeping(self, keeps: bool) -> Self {
        Self { keeps, ..self }
    }

    /// Whole numbers.
    pub fn integer<V: Into<Option<u64>>>(self, column: Column, value: impl Fn(&R) -> V) -> Self {
        let values = self.rows.iter().map(|row| value(row).into().map(|n| n as i64)).collect();
        self.add(column.of(Kind::Integer), Values::Integers(values))
    }

    /// Numbers; null unless finite.
    pub fn real<V: Into<Option<f64>>>(self, column: Column, value: impl Fn(&R) -> V) -> Self {
        let values = self.rows.iter().map(|row| value(row).into().filter(|x| x.is_finite())).collect();
        self.add(column, Values::Reals(values))
    }

    /// Names.
    pub fn text<V: Into<Option<String>>>(self, of: &'static str, doc: &'static str, value: impl Fn(&R) -> V) -> Self {
        self.label(name(of, doc), value)
    }

    /// Names of a column that is printed under another name.
    pub fn label<V: Into<Option<String>>>(self, column: Column, value: impl Fn(&R) -> V) -> Self {
        let mut known = Known::default();
        let values = self.rows.iter().map(|row| value(row).into().map(|text| known.share(&text))).collect();
        self.add(column, Values::Texts(values))
    }

    /// Numbers that name rows.
    pub fn number<V: Into<Option<u64>>>(self, of: &'static str, doc: &'static str, value: impl Fn(&R) -> V) -> Self {
        self.integer(name(of, doc), value)
    }

    fn add(mut self, mut column: Column, values: Values) -> Self {
        let Made { declared, table } = &mut self.made;
        if self.keeps {
            if declared.by.contains(&&*column.name) {
                column.role = Role::Key;
            }
            declared.columns.push(column.clone());
        }
        table.columns.push((column.name.into_owned(), values));
        self
    }

    /// All of them.
    pub fn made(self) -> Made {
        self.made
    }
}

/// One measure of a distribution.
type Value = fn(Quantiles) -> f64;

impl<R> Columns<'_, R> {
    /// `X_packets` and `X_bytes`, as `accounting` counts these.
    pub fn count(self, of: &str, doc: &'static str, value: impl Fn(&R) -> Count) -> Self {
        let packets = total(format!("{of}_packets"), Unit::Packets, doc);
        let bytes = total(format!("{of}_bytes"), Unit::Bytes, doc).accounted();
        self.integer(packets, |row| value(row).packets).integer(bytes, |row| value(row).bytes)
    }

    /// `dropped_X_packets` for each reason listed.
    pub fn dropped(self, reasons: &[Reason], of: impl Fn(&R, Reason) -> Count) -> Self {
        reasons.iter().fold(self, |columns, reason| {
            let column = total(format!("dropped_{}_packets", reason.name()), Unit::Packets, why(*reason));
            columns.integer(column, |row| of(row, *reason).packets)
        })
    }

    /// `X_mean_ms` to `X_max_ms`.
    pub fn quantiles(self, of: &str, doc: &'static str, value: impl Fn(&R) -> Option<Quantiles>) -> Self {
        let exact = |what: &str| measure(format!("{of}_{what}_ms"), Unit::Ms, doc);
        let bucketed = |what: &str| quantile(format!("{of}_{what}_ms"), doc);
        let each: [(Column, Value); 6] = [
            (exact("mean"), |q| q.mean / 1e6),
            (exact("sd"), |q| q.sd / 1e6),
            (bucketed("p50"), |q| q.p50 as f64 / 1e6),
            (bucketed("p99"), |q| q.p99 as f64 / 1e6),
            (bucketed("p999").printed(format!("{of} p99.9")), |q| q.p999 as f64 / 1e6),
            (exact("max"), |q| q.max as f64 / 1e6),
        ];
        each.into_iter().fold(self, |columns, (column, of_all)| columns.real(column, |row| value(row).map(of_all)))
    }
}

/// What is dropped for a reason.
const fn why(reason: Reason) -> &'static str {
    match reason {
        Reason::Policer => "of these, dropped by a conditioner or its action",
        Reason::Early => "of these, dropped by the AQM's draw, before the queue was full",
        Reason::Forced => "of these, dropped by the AQM, because its average was beyond the maximum",
        Reason::Overflow => "of these, dropped because the queue was full",
        Reason::Wire => "of these, lost on the wire (`loss`)",
        Reason::Filtered => "of these, ACKs that a newer one made redundant (`ack-filter`)",
    }
}
