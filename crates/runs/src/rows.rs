//! Results of several points as rows: what each class got at each point, or any columns that are asked for, as means
//! with 95 % intervals over the replications.
//!
//! | column | is |
//! |---|---|
//! | `throughput_bit_s` | `delivered_bytes` of `arrivals` over the measured time |
//! | `goodput_bit_s` | of `traffic`, summed over the class |
//! | `loss_percent` | packets dropped at the ports of its route, of those and the delivered |
//! | `delay_p50_ms`, `delay_p99_ms` | of `arrivals` |
//!
//! Quantiles of several colours cannot be put together, so a class of several has a row for all of them, with its goodput
//! and loss, and one for each colour, with its delays. A class none of whose packets arrived has a row without a colour.

use super::columns::{Table, Values};
use super::run::Replication;
use super::shown::{Column, is_key};
use super::stats::{Estimate, of_column};
use perhop_core::packet::Colour;
use perhop_scenario::resolve::indexed::Indexed;
use perhop_scenario::resolve::offered::Flowline;
use perhop_scenario::scenario::Scenario;
use perhop_scenario::sweep::Point;
use perhop_scenario::tables::OF_CLASSES;
use perhop_scenario::tables::reserved::IN_CSV;
use serde_json::{Map, Value, json};
use std::collections::{BTreeSet, HashMap, HashSet};

/// The row of a class for all its colours.
const ALL: &str = "all";

/// One for each key of a row; `None` where it has none.
type Names = Vec<Option<String>>;

/// Rows that have the same columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows {
    /// What names a row: `class`, `colour`.
    pub keys: Vec<String>,
    /// Names of the measures, with their units.
    pub measures: Vec<String>,
    /// By point, in their order.
    pub rows: Vec<Row>,
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
pub fn rows(points: &[Point], replications: &[Replication], shown: &[Column]) -> Vec<Rows> {
    let of = by_point(points.len(), replications);
    if shown.is_empty() {
        let keys = ["class", "colour"].map(str::to_owned).to_vec();
        let of_point = |(i, point): (usize, &Point)| {
            let classes = Classes::new(&point.scenario, &of[i]);
            classes.rows().into_iter().map(move |(names, values)| Row { point: i, names, values })
        };
        let rows = points.iter().enumerate().flat_map(of_point).collect();
        return vec![Rows { keys, measures: OF_CLASSES.map(str::to_owned).to_vec(), rows }];
    }
    let mut all: Vec<Rows> = Vec::new();
    for (i, replications) in of.iter().enumerate() {
        asked(replications, shown, Indexed { index: i, it: &points[i] }, &mut all);
    }
    all
}

/// The replications of each point.
pub fn by_point(points: usize, replications: &[Replication]) -> Vec<Vec<&Replication>> {
    let mut of = vec![Vec::new(); points];
    replications.iter().for_each(|r| of[r.point].push(r));
    of
}

/// The classes of one point.
struct Classes<'a> {
    scenario: &'a Scenario,
    replications: Vec<OfClasses<'a>>,
    /// The traffic of each class.
    traffic: HashMap<&'a str, Vec<&'a Flowline>>,
}

/// Tables of a replication, with the rows of each class.
struct OfClasses<'a> {
    traffic: OfClass<'a>,
    arrivals: OfClass<'a>,
    summary: OfClass<'a>,
}

/// A table, with the rows of each class.
struct OfClass<'a> {
    table: &'a Table,
    rows: HashMap<&'a str, Vec<usize>>,
}

impl<'a> OfClass<'a> {
    fn new(replication: &'a Replication, name: &str) -> Self {
        let (table, mut rows) = (find(replication, name), HashMap::<_, Vec<usize>>::new());
        for (row, class) in table.texts("class").iter().enumerate() {
            class.iter().for_each(|class| rows.entry(&**class).or_default().push(row));
        }
        Self { table, rows }
    }

    /// The rows of a class.
    fn of(&self, class: &str) -> &[usize] {
        self.rows.get(class).map_or(&[], Vec::as_slice)
    }

    /// The row of a class and colour.
    fn row(&self, class: &str, colour: &str) -> Option<usize> {
        let colours = self.table.texts("colour");
        self.of(class).iter().copied().find(|&row| colours[row].as_deref() == Some(colour))
    }
}

/// Names of a row, and its values.
type Named = (Names, Vec<Option<Estimate>>);

impl<'a> Classes<'a> {
    fn new(scenario: &'a Scenario, replications: &[&'a Replication]) -> Self {
        let of = |r: &&'a Replication| {
            let [traffic, arrivals, summary] = ["traffic", "arrivals", "summary"].map(|name| OfClass::new(r, name));
            OfClasses { traffic, arrivals, summary }
        };
        let (mut traffic, names) = (HashMap::<_, Vec<_>>::new(), &scenario.common().classes);
        for flow in scenario.traffic() {
            traffic.entry(names[usize::from(flow.offered.class)].as_str()).or_default().push(flow);
        }
        Self { scenario, replications: replications.iter().map(of).collect(), traffic }
    }

    fn rows(&self) -> Vec<Named> {
        let mut seen = HashSet::new();
        let tables = [|of: &'_ OfClasses<'a>| of.traffic.table, |of: &'_ OfClasses<'a>| of.arrivals.table];
        let named = tables.into_iter().flat_map(|table| self.replications.iter().map(table));
        let classes = named.flat_map(|table| table.texts("class").iter().flatten());
        classes.filter(|class| seen.insert(&**class)).flat_map(|class| self.class(class)).collect()
    }

    fn class(&self, class: &str) -> Vec<Named> {
        let arrived =
            |colour: &Colour| self.replications.iter().any(|of| of.arrivals.row(class, colour.name()).is_some());
        let colours: Vec<_> = Colour::ALL.into_iter().filter(arrived).map(|colour| colour.name()).collect();
        let [goodput, loss] = [self.goodput(class), self.loss(class)];
        let row = |colour: &str, values| (vec![Some(class.to_owned()), Some(colour.to_owned())], values);
        if let [colour] = colours.as_slice() {
            let [p50, p99] = self.delays(class, colour);
            return vec![row(colour, vec![self.throughput(class, None), goodput, loss, p50, p99])];
        }
        if colours.is_empty() {
            return vec![without_colour(class, vec![self.throughput(class, None), goodput, loss, None, None])];
        }
        let whole = row(ALL, vec![self.throughput(class, None), goodput, loss, None, None]);
        let part = |colour: &&str| {
            let [p50, p99] = self.delays(class, colour);
            row(colour, vec![self.throughput(class, Some(colour)), None, None, p50, p99])
        };
        [whole].into_iter().chain(colours.iter().map(part)).collect()
    }

    /// Mean and interval of what each replication gives; those that give nothing are excluded.
    fn over(&self, column: &str, value: impl Fn(&OfClasses<'_>) -> Option<f64>) -> Option<Estimate> {
        of_column(column, &self.replications.iter().filter_map(value).collect::<Vec<_>>())
    }

    fn throughput(&self, class: &str, colour: Option<&str>) -> Option<Estimate> {
        let settings = self.scenario.settings();
        let seconds = (*settings.duration - *settings.warmup).seconds();
        self.over("throughput_bit_s", |of| {
            Some(delivered(&of.arrivals, class, colour, "delivered_bytes") * 8.0 / seconds)
        })
    }

    fn goodput(&self, class: &str) -> Option<Estimate> {
        self.over("goodput_bit_s", |of| {
            let goodputs = of.traffic.table.reals("goodput_bit_s");
            let all: Option<Vec<f64>> = of.traffic.of(class).iter().map(|&row| goodputs[row]).collect();
            all.filter(|all| !all.is_empty()).map(|all| all.iter().sum())
        })
    }

    /// In percent. A class that has data and ACKs at one port has none: drops are not told apart there.
    fn loss(&self, class: &str) -> Option<Estimate> {
        let plan = self.scenario.common();
        let lines = self.traffic.get(class).map_or(&[][..], Vec::as_slice);
        let forward: BTreeSet<u32> = lines.iter().flat_map(|flow| flow.forward.iter().copied()).collect();
        if lines.iter().any(|flow| flow.backward.iter().any(|link| forward.contains(link))) {
            return None;
        }
        let route: BTreeSet<_> = forward.iter().map(|&link| plan.links[link as usize].name.as_str()).collect();
        self.over("loss_percent", |of| {
            let table = of.summary.table;
            let (hops, lost) = (table.texts("hop"), table.integers("dropped_packets"));
            let on_route = |row: &&usize| hops[**row].as_deref().is_some_and(|hop| route.contains(hop));
            let here = of.summary.of(class).iter().filter(on_route);
            let lost = here.filter_map(|&row| lost[row]).sum::<i64>() as f64;
            let ended = lost + delivered(&of.arrivals, class, None, "delivered_packets");
            (ended > 0.0).then(|| 100.0 * lost / ended)
        })
    }

    fn delays(&self, class: &str, colour: &str) -> [Option<Estimate>; 2] {
        ["delay_p50_ms", "delay_p99_ms"].map(|column| {
            self.over(column, |of| {
                let row = of.arrivals.row(class, colour)?;
                of.arrivals.table.reals(column)[row]
            })
        })
    }
}

/// The row of a class none of whose packets arrived.
fn without_colour<V>(class: &str, values: Vec<V>) -> (Names, Vec<V>) {
    (vec![Some(class.to_owned()), None], values)
}

fn find<'a>(replication: &'a Replication, table: &str) -> &'a Table {
    replication.tables.iter().find(|t| t.name == table).expect("every replication has it")
}

/// What arrived of a class, of one colour or all; nothing where there is no row.
fn delivered(arrivals: &OfClass<'_>, class: &str, colour: Option<&str>, column: &str) -> f64 {
    let (colours, values) = (arrivals.table.texts("colour"), arrivals.table.integers(column));
    let of_colour = |row: &&usize| colour.is_none_or(|colour| colours[**row].as_deref() == Some(colour));
    arrivals.of(class).iter().filter(of_colour).filter_map(|&row| values[row]).sum::<i64>() as f64
}

/// Adds the rows of one point for columns that are asked for.
fn asked(replications: &[&Replication], shown: &[Column], at: Indexed<'_, Point>, all: &mut Vec<Rows>) {
    let (point, classes) = (at.index, &at.it.scenario.common().classes);
    let Some(first) = replications.first() else { return };
    let mut places = HashMap::new();
    for column in shown {
        let keys = key_names(find(first, &column.table));
        let at = all.iter().position(|rows| rows.keys == keys).unwrap_or_else(|| {
            all.push(Rows { keys: keys.clone(), measures: measures_of(first, shown, &keys), rows: Vec::new() });
            all.len() - 1
        });
        let (rows, name) = (&mut all[at], full_name(column));
        let measure = rows.measures.iter().position(|m| *m == name).expect("it is among those of its keys");
        for (names, value) in values(replications, column, &keys, classes) {
            let row = *places.entry((at, names)).or_insert_with_key(|(_, names)| {
                rows.rows.push(Row { point, names: names.clone(), values: vec![None; rows.measures.len()] });
                rows.rows.len() - 1
            });
            rows.rows[row].values[measure] = value;
        }
    }
}

/// `arrivals.delay_p99_ms`
fn full_name(column: &Column) -> String {
    format!("{}.{}", column.table, column.name)
}

/// The columns whose tables have these keys.
fn measures_of(replication: &Replication, shown: &[Column], keys: &[String]) -> Vec<String> {
    let of = shown.iter().filter(|column| key_names(find(replication, &column.table)) == keys);
    let mut names: Vec<String> = Vec::new();
    of.map(full_name).for_each(|name| names.extend((!names.contains(&name)).then_some(name.clone())));
    names
}

fn key_names(table: &Table) -> Vec<String> {
    table.columns.iter().filter(|(name, values)| is_key(name, values)).map(|(name, _)| name.clone()).collect()
}

/// A column's values over the replications, by the names of the row. Where a replication has no such row, it counted
/// nothing, and what is measured of nothing is excluded. `arrivals` has each of the classes.
fn values(
    replications: &[&Replication],
    column: &Column,
    keys: &[String],
    classes: &[String],
) -> Vec<(Names, Option<Estimate>)> {
    let (mut found, mut places) = (Vec::<(Names, Vec<Option<f64>>)>::new(), HashMap::new());
    let mut absent = None;
    for (i, table) in replications.iter().map(|r| find(r, &column.table)).enumerate() {
        let values = table.column(&column.name);
        absent = (matches!(values, Values::Integers(_)) || column.name == "throughput_bit_s").then_some(0.0);
        for row in 0..table.rows() {
            let names: Vec<_> = keys.iter().map(|key| text(table.column(key), row)).collect();
            let at = *places.entry(names).or_insert_with_key(|names| {
                found.push((names.clone(), vec![absent; replications.len()]));
                found.len() - 1
            });
            found[at].1[i] = number(values, row);
        }
    }
    if column.table == "arrivals" {
        let known: HashSet<_> = found.iter().filter_map(|f| f.0[0].clone()).collect();
        let lacking = classes.iter().filter(|class| !known.contains(*class));
        found.extend(lacking.map(|class| without_colour(class, vec![absent; replications.len()])));
        let ranks: HashMap<_, _> = classes.iter().enumerate().map(|(rank, class)| (class.as_str(), rank)).collect();
        found.sort_by_key(|f| f.0[0].as_ref().and_then(|class| ranks.get(class.as_str())));
    }
    let over = |values: Vec<Option<f64>>| of_column(&column.name, &values.into_iter().flatten().collect::<Vec<_>>());
    found.into_iter().map(|(names, values)| (names, over(values))).collect()
}

fn text(values: &Values, row: usize) -> Option<String> {
    match values {
        Values::Texts(v) => v[row].as_deref().map(str::to_owned),
        Values::Integers(v) => v[row].map(|n| n.to_string()),
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

impl Rows {
    /// One object for each row of a point: its names, and of each measure mean, half-width and ends of the 95 % interval.
    pub fn to_json(&self, point: usize) -> Vec<Value> {
        let value = |it: &Option<Estimate>| {
            let [low, high] = it.and_then(|e| e.ends()).map_or([None; 2], |ends| ends.map(Some));
            it.map(|e| json!({ "mean": e.mean, "half_width": e.half_width(), "low": low, "high": high }))
        };
        let object = |row: &Row| {
            let names = self.keys.iter().cloned().zip(row.names.iter().map(|name| json!(name)));
            let values = self.measures.iter().cloned().zip(row.values.iter().map(|v| json!(value(v))));
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
        measures.extend(rows.measures.iter().filter(|m| !measures.contains(m)).collect::<Vec<_>>());
    }
    let heads = measures.iter().flat_map(|m| [""].iter().chain(&IN_CSV).map(move |ending| format!("{m}{ending}")));
    let mut out = record(axes.into_iter().chain(keys.iter().map(|key| key.to_string())).chain(heads));
    for rows in all {
        for row in &rows.rows {
            let labels = points[row.point].labels.iter().map(|label| label.1.clone());
            let name = |key: &&String| rows.keys.iter().position(|k| k == *key).and_then(|i| row.names[i].clone());
            let value = |m: &&String| rows.measures.iter().position(|k| k == *m).and_then(|i| row.values[i]);
            let number = |x: Option<f64>| x.map_or_else(String::new, |x| x.to_string());
            let each = |e: Option<Estimate>| {
                let [low, high] = e.and_then(|e| e.ends()).map_or([None; 2], |ends| ends.map(Some));
                [e.map(|e| e.mean), e.and_then(|e| e.half_width()), low, high].map(number)
            };
            let names = keys.iter().map(|key| name(key).unwrap_or_default());
            out += &record(labels.chain(names).chain(measures.iter().flat_map(|m| each(value(m)))));
        }
    }
    out
}

fn record(fields: impl Iterator<Item = String>) -> String {
    let quoted = |field: String| match field.contains(['"', ',', '\n', '\r']) {
        true => format!("\"{}\"", field.replace('"', "\"\"")),
        false => field,
    };
    fields.map(quoted).collect::<Vec<_>>().join(",") + "\n"
}
