//! Results of several points as rows: what each class got at each point, or any columns that are asked for, as means
//! with 95 % intervals over the replications.
//!
//! Quantiles of several colours cannot be put together, so a class of several has a row for all of them, and one for each
//! colour, with its delays. A class none of whose packets arrived has a row without a colour.

use crate::choice::ColumnChoice;
use crate::classes::Classes;
use crate::pooled::{Names, Pooled, each};
use crate::replication::Replication;
use crate::stats::Estimate;
use crate::tables::classes::NAME;
use crate::tables::column::Column;
use crate::tables::columns::Table;
use crate::tables::{column, declaration};
use perhop_scenario::expand::reserved::IN_CSV;
use perhop_scenario::resolve::indexed::Indexed;
use perhop_scenario::sweep::Point;
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// What is shown of classes where nothing is asked for.
pub const OF_CLASSES: [&str; 5] = ["throughput_bit_s", "goodput_bit_s", "loss_percent", "delay_p50_ms", "delay_p99_ms"];

/// What names the rows of classes.
pub const OF_CLASSES_BY: [&str; 2] = ["class", "colour"];

/// Rows that have the same columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows {
    /// What names a row: `class`, `colour`.
    pub keys: Vec<String>,
    /// What has a value in each.
    pub measures: Vec<Measure>,
    /// By point, in their order.
    pub rows: Vec<Row>,
}

/// A column of rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Measure {
    /// Its name in CSV and JSON.
    pub name: String,
    /// What it is.
    pub column: Column,
}

/// What one point gave to something.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Index of the point.
    pub point: usize,
    /// What it is called.
    pub names: Names,
    /// One for each measure; `None` where nothing was measured.
    pub values: Vec<Option<Estimate>>,
}

/// The rows of points: of the classes, or those of `shown`, tables of the same keys together.
pub fn rows(points: &[Point], replications: &[Replication], shown: &[ColumnChoice]) -> Vec<Rows> {
    let of = by_point(points.len(), replications);
    if shown.is_empty() {
        let keys = OF_CLASSES_BY.map(str::to_owned).to_vec();
        let of_point = |(point, it)| of_classes(Indexed { index: point, it }, &of[point]);
        let rows = points.iter().enumerate().flat_map(of_point).collect();
        return vec![Rows { keys, measures: usual_measures(), rows }];
    }
    let mut all: Vec<Rows> = Vec::new();
    for (i, replications) in of.iter().enumerate().filter(|(_, of)| !of.is_empty()) {
        add_rows(replications, shown, Indexed { index: i, it: &points[i] }, &mut all);
    }
    all
}

/// What is shown of classes where nothing is asked for.
pub fn usual_measures() -> Vec<Measure> {
    OF_CLASSES.iter().map(|name| Measure { name: (*name).to_owned(), column: column(NAME, name).clone() }).collect()
}

/// The replications of each point.
pub fn by_point(points: usize, replications: &[Replication]) -> Vec<Vec<&Replication>> {
    let mut of = vec![Vec::new(); points];
    replications.iter().for_each(|r| of[r.point].push(r));
    of
}

/// The table `classes` of each replication of a point.
fn classes(point: &Point, replications: &[&Replication]) -> Vec<Table> {
    let classes = Classes::new(&point.scenario);
    replications.iter().map(|r| classes.of(&r.tables)).collect()
}

/// The rows of a point's classes.
pub fn of_classes(point: Indexed<'_, Point>, replications: &[&Replication]) -> Vec<Row> {
    of_tables(point.index, &classes(point.it, replications))
}

/// The rows of a point's classes, of these tables of them. The only colour of a class has one row with it: its loss is that of
/// the class.
pub fn of_tables(point: usize, tables: &[Table]) -> Vec<Row> {
    let pooled = Pooled::new(NAME, &tables.iter().collect::<Vec<_>>());
    let mut rows: Vec<Row> = Vec::new();
    for of_class in pooled.rows.chunk_by(|a, b| a.names[0] == b.names[0]) {
        let row = |at: usize| Row {
            point,
            names: of_class[at].names.clone(),
            values: OF_CLASSES.iter().map(|column| of_class[at].estimate(column)).collect(),
        };
        match of_class.len() {
            1 => rows.push(Row { names: vec![of_class[0].names[0].clone(), None], ..row(0) }),
            2 => {
                let (whole, only) = (row(0), row(1));
                let values = whole.values.into_iter().zip(only.values).map(|(whole, only)| whole.or(only));
                rows.push(Row { values: values.collect(), ..only });
            }
            several => rows.extend((0..several).map(row)),
        }
    }
    rows
}

/// Adds the rows of one point for columns that are asked for. `arrivals` has each of the classes.
fn add_rows(replications: &[&Replication], shown: &[ColumnChoice], at: Indexed<'_, Point>, all: &mut Vec<Rows>) {
    let (made, classes) = (classes(at.it, replications), &at.it.scenario.common().classes);
    let mut places = HashMap::new();
    for it in shown {
        let tables = if it.table == NAME { made.iter().collect() } else { each(replications, it.table) };
        let mut pooled = Pooled::new(it.table, &tables);
        if it.table == "arrivals" {
            pooled = pooled.of_all(classes, replications.len());
        }
        let of = all.iter().position(|rows| rows.keys == pooled.keys()).unwrap_or_else(|| {
            all.push(Rows { keys: keys(it), measures: measures_of(shown, it), rows: Vec::new() });
            all.len() - 1
        });
        let (rows, name) = (&mut all[of], it.name());
        let measure = rows.measures.iter().position(|m| m.name == name).expect("it is among those of its keys");
        for pool in pooled.rows {
            let value = pool.estimate(&it.column.name);
            let row = *places.entry((of, pool.names)).or_insert_with_key(|(_, names)| {
                let values = vec![None; rows.measures.len()];
                rows.rows.push(Row { point: at.index, names: names.clone(), values });
                rows.rows.len() - 1
            });
            rows.rows[row].values[measure] = value;
        }
    }
}

/// What names the rows of a column's table.
fn keys(of: &ColumnChoice) -> Vec<String> {
    let columns = &declaration(of.table).expect("it has a column").columns;
    columns.iter().filter(|column| column.role.names()).map(|column| column.name.clone().into_owned()).collect()
}

/// The columns whose tables have the same keys, each once.
fn measures_of(shown: &[ColumnChoice], of: &ColumnChoice) -> Vec<Measure> {
    let mut all: Vec<Measure> = Vec::new();
    for it in shown.iter().filter(|it| keys(it) == keys(of)) {
        let measure = Measure { name: it.name(), column: it.column.clone() };
        all.extend((!all.contains(&measure)).then_some(measure));
    }
    all
}

impl Rows {
    /// One object for each row of a point: its names, and of each measure mean, half-width and ends of the 95 % interval.
    pub fn to_json(&self, point: usize) -> Vec<Value> {
        let value = |it: &Option<Estimate>| {
            let [low, high] = it.and_then(|e| e.ends()).map_or([None; 2], |ends| ends.map(Some));
            it.map(|e| json!({ "mean": e.mean, "half_width": e.half_width(), "low": low, "high": high }))
        };
        let object = |row: &Row| {
            let names = self.keys.iter().cloned().zip(row.names.iter().map(|name| json!(name.as_deref())));
            let values = self.measures.iter().map(|m| m.name.clone()).zip(row.values.iter().map(|v| json!(value(v))));
            Value::Object(names.chain(values).collect::<Map<_, _>>())
        };
        self.rows.iter().filter(|row| row.point == point).map(object).collect()
    }
}

/// All rows as comma-separated values (RFC 4180): a column for each axis and key, four for each measure.
pub fn csv(points: &[Point], all: &[Rows]) -> String {
    let axes: Vec<_> = points.first().into_iter().flat_map(|point| point.labels.iter().map(|l| l.0.clone())).collect();
    let (mut keys, mut measures): (Vec<&String>, Vec<&String>) = (Vec::new(), Vec::new());
    for rows in all {
        keys.extend(rows.keys.iter().filter(|key| !keys.contains(key)).collect::<Vec<_>>());
        let names = rows.measures.iter().map(|m| &m.name);
        measures.extend(names.filter(|name| !measures.contains(name)).collect::<Vec<_>>());
    }
    let heads = measures.iter().flat_map(|m| [""].iter().chain(&IN_CSV).map(move |ending| format!("{m}{ending}")));
    let mut out = record(axes.into_iter().chain(keys.iter().map(|key| key.to_string())).chain(heads));
    for rows in all {
        for row in &rows.rows {
            let labels = points[row.point].labels.iter().map(|label| label.1.clone());
            let name = |key: &&String| rows.keys.iter().position(|k| k == *key).and_then(|i| row.names[i].as_deref());
            let value = |m: &&String| rows.measures.iter().position(|k| k.name == **m).and_then(|i| row.values[i]);
            let number = |x: Option<f64>| x.map_or_else(String::new, |x| x.to_string());
            let each = |e: Option<Estimate>| {
                let [low, high] = e.and_then(|e| e.ends()).map_or([None; 2], |ends| ends.map(Some));
                [e.map(|e| e.mean), e.and_then(|e| e.half_width()), low, high].map(number)
            };
            let names = keys.iter().map(|key| name(key).unwrap_or_default().to_owned());
            out += &record(labels.chain(names).chain(measures.iter().flat_map(|m| each(value(m)))));
        }
    }
    out
}

/// A line of comma-separated values (RFC 4180).
pub fn record(fields: impl Iterator<Item = String>) -> String {
    let quoted = |field: String| match field.contains(['"', ',', '\n', '\r']) {
        true => format!("\"{}\"", field.replace('"', "\"\"")),
        false => field,
    };
    fields.map(quoted).collect::<Vec<_>>().join(",") + "\n"
}
