//! What each class of a port gets, one row a class whatever its colours: offered, delivered, lost, its delay, and that of a call
//! beside its load.

use crate::classes::Classes;
use crate::pooled::{Pool, Pooled, find};
use crate::replication::Replication;
use crate::rows::{Measure, Row, Rows};
use crate::stats::of_column;
use crate::summary::{NONE, grid, titled};
use crate::tables::classes::{ALL, NAME};
use crate::tables::column;
use crate::tables::column::{Column, Unit as Of, measure, quantile};
use crate::tables::columns::Table;
use crate::unit::Unit;
use perhop_scenario::sweep::Point;
use std::collections::HashMap;

/// A class of a port.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PortClass {
    /// The port, where rows are of several.
    pub port: Option<String>,
    /// As the configuration calls it.
    pub name: String,
    /// As the scenario does.
    pub class: String,
    /// The traffic that is its call.
    pub call: Option<String>,
}

/// Values of a class, one for each replication that has it.
struct Values {
    column: Column,
    all: Vec<f64>,
}

/// A replication's tables by class and by traffic.
struct TableIndex<'a> {
    /// Delays of each class in ms, with their packets.
    delays: HashMap<&'a str, Vec<(f64, i64)>>,
    /// Packets of each class, and the sum of their delays.
    sums: HashMap<&'a str, [f64; 2]>,
    flows: &'a Table,
    /// The first flow of each traffic.
    flow_of: HashMap<&'a str, usize>,
}

/// The rows of a point, whose table `delays` is asked for.
pub fn rows(point: &Point, replications: &[&Replication], of: &[PortClass]) -> Rows {
    let classes = Classes::new(&point.scenario);
    let classes: Vec<_> = replications.iter().map(|it| classes.of(&it.tables)).collect();
    let pooled = Pooled::new(NAME, &classes.iter().collect::<Vec<_>>());
    let wholes = pooled.rows.iter().filter(|it| it.names[1].as_deref() == Some(ALL));
    let wholes: HashMap<_, _> = wholes.map(|it| (it.names[0].as_deref().unwrap_or_default(), it)).collect();
    let found: Vec<_> = replications.iter().map(|it| TableIndex::new(&it.tables)).collect();
    let has_ports = of.iter().any(|class| class.port.is_some());
    let row = |class: &PortClass| {
        let port = has_ports.then(|| class.port.as_deref().map(Into::into));
        let names = port.into_iter().chain([Some(class.name.as_str().into())]).collect();
        let values = values(class, wholes.get(class.class.as_str()).copied(), &found);
        Row { point: 0, names, values: values.iter().map(|it| of_column(&it.column, &it.all)).collect() }
    };
    let measure = |it: Values| Measure { name: it.column.name.to_string(), column: it.column };
    let measures = values(&PortClass::default(), None, &[]).into_iter().map(measure).collect();
    let keys = if has_ports { &["port", "class"][..] } else { &["class"] };
    Rows { keys: keys.iter().map(|key| (*key).to_owned()).collect(), measures, rows: of.iter().map(row).collect() }
}

/// What a class got, column by column.
fn values(class: &PortClass, whole: Option<&Pool<'_>>, found: &[TableIndex<'_>]) -> Vec<Values> {
    let counted = ["offered_bit_s", "throughput_bit_s", "loss_percent"].map(|name| Values {
        column: column(NAME, name).clone(),
        all: whole.map_or_else(Vec::new, |it| it.values(name).into_iter().flatten().collect()),
    });
    let means = found.iter().filter_map(|it| it.sums.get(class.class.as_str()).map(|[packets, sum]| sum / packets));
    let nines = found.iter().filter_map(|it| ninety_ninth(it.delays.get(class.class.as_str())?));
    let delays = [("delay_mean_ms", means.collect()), ("delay_p99_ms", nines.collect())];
    let delays = delays.map(|(name, all)| Values { column: column("arrivals", name).clone(), all });
    let calls = ["mean", "p99"].map(|which| {
        let name = format!("delay_{which}_ms");
        let of = |it: &TableIndex<'_>| it.flows.reals(&name)[*it.flow_of.get(class.call.as_deref()?)?];
        (which, found.iter().filter_map(of).collect())
    });
    let doc = "one-way delay of the class's call";
    let calls = calls.map(|(which, all)| {
        let name = format!("call_delay_{which}_ms");
        let column = if which == "mean" { measure(name, Of::Ms, doc) } else { quantile(name, doc) };
        Values { column: column.printed(format!("call {which}")), all }
    });
    counted.into_iter().chain(delays).chain(calls).collect()
}

impl<'a> TableIndex<'a> {
    fn new(tables: &'a [Table]) -> Self {
        let flows = find(tables, "flows");
        let mut flow_of = HashMap::new();
        let traffic = flows.texts("traffic").iter().enumerate();
        traffic.for_each(|(at, traffic)| _ = flow_of.entry(traffic.as_deref().unwrap_or_default()).or_insert(at));
        Self { delays: delays(find(tables, "delays")), sums: sums(find(tables, "arrivals")), flows, flow_of }
    }
}

/// The delays of each class, all its colours together.
fn delays(table: &Table) -> HashMap<&str, Vec<(f64, i64)>> {
    let mut of: HashMap<_, Vec<_>> = HashMap::new();
    let rows = table.texts("class").iter().zip(table.reals("delay_ms")).zip(table.integers("packets"));
    for ((class, delay), packets) in rows {
        let (Some(class), Some(delay), Some(packets)) = (class, delay, packets) else { continue };
        of.entry(&**class).or_default().push((*delay, *packets));
    }
    of.values_mut().for_each(|all| all.sort_by(|a, b| a.0.total_cmp(&b.0)));
    of
}

/// The delay that 99 of 100 packets do not exceed, of delays in ascending order.
fn ninety_ninth(delays: &[(f64, i64)]) -> Option<f64> {
    let all: i64 = delays.iter().map(|it| it.1).sum();
    let mut left = (all as f64 * 0.99).ceil() as i64;
    let reaches = |it: &&(f64, i64)| {
        left -= it.1;
        left <= 0
    };
    delays.iter().find(reaches).map(|it| it.0)
}

/// Packets of each class, and the sum of their delays, over its colours.
fn sums(arrivals: &Table) -> HashMap<&str, [f64; 2]> {
    let mut of: HashMap<_, [f64; 2]> = HashMap::new();
    let rows = arrivals.texts("class").iter().zip(arrivals.integers("delivered_packets"));
    for ((class, packets), mean) in rows.zip(arrivals.reals("delay_mean_ms")) {
        let (Some(class), Some(packets), Some(mean)) = (class, packets, mean) else { continue };
        let [all, sum] = of.entry(&**class).or_default();
        (*all, *sum) = (*all + *packets as f64, *sum + *packets as f64 * mean);
    }
    of.retain(|_, [packets, _]| *packets > 0.0);
    of
}

/// Packets that each traffic sent, the mean over the replications.
pub fn sent(replications: &[&Replication]) -> HashMap<String, f64> {
    let mut sent = HashMap::new();
    for flows in replications.iter().map(|it| find(&it.tables, "flows")) {
        for (traffic, packets) in flows.texts("traffic").iter().zip(flows.integers("sent_packets")) {
            let (Some(traffic), Some(packets)) = (traffic, packets) else { continue };
            *sent.entry(traffic.to_string()).or_default() += *packets as f64 / replications.len() as f64;
        }
    }
    sent
}

/// The rows as a table for the terminal, without columns that have no value.
pub fn text(rows: &Rows, point: &Point) -> String {
    let unit = Unit::of([&point.scenario]);
    let shown: Vec<_> =
        (0..rows.measures.len()).filter(|at| rows.rows.iter().any(|row| row.values[*at].is_some())).collect();
    let heads = rows.keys.iter().cloned().chain(shown.iter().map(|at| unit.heading(&rows.measures[*at].column)));
    let mut table = grid(&heads.collect::<Vec<_>>());
    for row in &rows.rows {
        let names = row.names.iter().map(|name| name.as_deref().unwrap_or(NONE).to_owned());
        let cell = |at: &usize| {
            let factor = rows.measures[*at].column.usual().1;
            row.values[*at].map_or_else(|| NONE.to_owned(), |it| it.scaled(factor).text())
        };
        table.add_row(names.chain(shown.iter().map(cell)));
    }
    titled("What each class gets", table, rows.keys.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 100 packets the 99th, wherever the two colours' packets lie.
    #[test]
    fn a_quantile_is_over_all_colours() {
        assert_eq!(ninety_ninth(&[(1.0, 60), (2.0, 39), (3.0, 1)]), Some(2.0));
        assert_eq!(ninety_ninth(&[(1.0, 60), (2.0, 38), (3.0, 2)]), Some(3.0));
        assert_eq!(ninety_ninth(&[]), None);
    }
}
