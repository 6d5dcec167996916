//! From a replication's outcome to its tables.
//!
//! | table          | one row for each                               |
//! |----------------|------------------------------------------------|
//! | `summary`      | class x colour x hop                           |
//! | `arrivals`     | class x colour at its destination              |
//! | `flows`        | flow (those of transfers left out)             |
//! | `traffic`      | `[traffic]` table                              |
//! | `transfers`    | transfer complete, opened after the warm-up    |
//! | `sessions`     | session that began after the warm-up           |
//! | `queues`       | queue of a link's scheduler                    |
//! | `nodes`        | node of a tree of more than a scheduler's queues |
//! | `conditioners` | conditioner x colour in x colour out           |
//! | `tallies`      | total that an AQM or a conditioner keeps       |
//! | `links`        | direction of a link                            |
//! | `counters`     | counter of `tc -s` at a port, if asked for     |
//! | `series`       | time x hop x quantity, if asked for            |
//! | `flow_series`  | time x flow, if asked for                      |
//! | `delays`       | class x colour x delay, if asked for           |
//!
//! Made from these, or beside them: `classes`, `ef`, `events`.

use column::Column;
use columns::{Columns, Declared, Made, Table};
use perhop_sim::Outcome;
use perhop_sim::plan::Plan;
use std::sync::OnceLock;

/// What is asked for while a scenario runs.
pub mod snapshot;
/// What each class got.
pub mod classes;
/// What `tc -s` would show.
pub mod counters;
/// What a column is.
pub mod column;
/// Packets of captures.
pub(crate) mod packets;
/// Tables of columns.
pub mod columns;
/// Aggregates held against their rates.
pub mod ef;
/// Packets at ports.
pub mod events;

mod flows;
#[cfg(test)]
mod names;
mod parts;
mod ports;
mod users;

pub use parts::jain;

/// What a run gave, with what was asked of it.
#[derive(Clone, Copy)]
struct Run<'a> {
    plan: &'a Plan,
    outcome: &'a Outcome,
    /// Time that the counts cover.
    seconds: f64,
    /// What columns are is asked, not what they hold.
    declares: bool,
}

/// A row of an outcome, with the run it belongs to.
#[derive(Clone, Copy)]
struct Row<'a, T> {
    run: Run<'a>,
    it: &'a T,
}

impl<'a> Run<'a> {
    fn columns<'r, R>(self, name: &'static str, by: &'static [&'static str], rows: &'r [R]) -> Columns<'r, R> {
        Columns::of(name, by, rows).keeping(self.declares)
    }

    fn rows<T>(self, all: &'a [T]) -> Vec<Row<'a, T>> {
        all.iter().map(|it| Row { run: self, it }).collect()
    }

    fn class(self, index: usize) -> String {
        self.plan.classes[index].clone()
    }

    fn traffic(self, table: usize) -> String {
        self.plan.traffic[table].name.clone()
    }

    fn hop(self, link: usize) -> String {
        self.plan.links[link].name.clone()
    }

    fn bit_s(self, bytes: u64) -> f64 {
        bytes as f64 * 8.0 / self.seconds
    }
}

/// Names of all tables, in the order of [`tables`].
pub const NAMES: [&str; 15] = [
    "summary",
    "arrivals",
    "flows",
    "traffic",
    "transfers",
    "sessions",
    "queues",
    NODES,
    "conditioners",
    "tallies",
    "links",
    COUNTERS,
    SERIES,
    "flow_series",
    DELAYS,
];

const SERIES: &str = "series";
const NODES: &str = "nodes";
const DELAYS: &str = "delays";
/// What `tc -s` would show.
pub const COUNTERS: &str = "counters";

/// Whether a table has no file when it is empty.
pub fn may_lack(name: &str) -> bool {
    [SERIES, NODES, COUNTERS, DELAYS].contains(&name)
}

/// What every table is, in the order of [`NAMES`]; then what is put together from them, and what is asked for beside them.
pub fn declared() -> &'static [Declared] {
    static DECLARED: OnceLock<Vec<Declared>> = OnceLock::new();
    DECLARED.get_or_init(|| {
        let files = made(&Plan::default(), &Outcome::default(), true);
        let others = [classes::table(&[]), ef::table(&[])];
        files.into_iter().chain(others).map(|made| made.declared).chain([events::declared()]).collect()
    })
}

/// What a table is.
pub fn declaration(table: &str) -> Option<&'static Declared> {
    declared().iter().find(|declared| declared.name == table)
}

/// A column of a table.
///
/// # Panics
/// When the table has no such column.
pub fn column(table: &str, name: &str) -> &'static Column {
    let found = declaration(table).and_then(|declared| declared.column(name));
    found.unwrap_or_else(|| panic!("{table} has no column {name}"))
}

/// All tables of a replication.
pub fn tables(plan: &Plan, outcome: &Outcome) -> Vec<Table> {
    made(plan, outcome, false).into_iter().map(|made| made.table).collect()
}

fn made(plan: &Plan, outcome: &Outcome, declares: bool) -> Vec<Made> {
    let run = Run { plan, outcome, seconds: outcome.measured.seconds(), declares };
    vec![
        ports::summary(run),
        flows::arrivals(run),
        flows::flows(run),
        users::traffic(run),
        users::transfers(run),
        users::sessions(run),
        ports::queues(run),
        ports::nodes(run),
        ports::conditioners(run),
        ports::tallies(run),
        ports::links(run),
        counters::table(&[]),
        ports::series(run),
        flows::flow_series(run),
        flows::delays(run),
    ]
}

#[cfg(test)]
mod tests {
    use crate::captures;
    use crate::tables::column::{Column, Kind, Unit};
    use crate::tables::columns::Declared;
    use crate::tables::{NAMES, column, declared};
    use std::collections::BTreeSet;

    /// Of runs, then of captures.
    fn tables() -> impl Iterator<Item = &'static Declared> {
        declared().iter().chain(captures::declared())
    }

    fn columns(of: &'static Declared) -> impl Iterator<Item = (&'static str, &'static Column)> {
        of.columns.iter().map(|column| (of.name, column))
    }

    /// Of runs.
    fn all() -> impl Iterator<Item = (&'static str, &'static Column)> {
        declared().iter().flat_map(columns)
    }

    /// The longest ending of a unit that a name has.
    fn ending(name: &str) -> &'static str {
        use Unit::*;
        let endings = [BitS, Ms, S, Ns, Bytes, Packets, Percent].map(Unit::ending);
        let has = |ending: &&str| name == *ending || name.ends_with(&format!("_{ending}"));
        endings.into_iter().filter(has).max_by_key(|it| it.len()).unwrap_or("")
    }

    /// Nothing reads a unit from a name: people do.
    #[test]
    fn a_name_ends_with_its_unit() {
        for (table, column) in tables().flat_map(columns) {
            assert_eq!(ending(&column.name), column.unit.ending(), "{table}.{}", column.name);
        }
    }

    #[test]
    fn every_column_is_explained() {
        for (table, column) in tables().flat_map(columns) {
            assert!(column.doc.len() > 3 && !column.doc.ends_with('.'), "{table}.{}: {:?}", column.name, column.doc);
            assert!(!column.doc.contains('|') && !column.words().is_empty(), "{table}.{}", column.name);
            assert!(column.kind != Kind::Text || column.role.names(), "{table}.{}", column.name);
        }
    }

    /// What tells rows apart is declared once, before the columns, and each of it is one.
    #[test]
    fn keys_are_columns() {
        for of in tables() {
            let keys: BTreeSet<_> =
                of.columns.iter().filter(|it| it.role == column::Role::Key).map(|it| &*it.name).collect();
            assert_eq!(keys, of.by.iter().copied().collect(), "{}", of.name);
        }
        assert_eq!(declared()[..NAMES.len()].iter().map(|of| of.name).collect::<Vec<_>>(), NAMES);
    }

    /// Of one quantity in several tables unit and printed name are the same.
    #[test]
    fn names_mean_the_same_everywhere() {
        let apart = ["nodes.throughput_bit_s", "traffic.flows"];
        for (table, ours) in all().filter(|(table, it)| !apart.contains(&&*format!("{table}.{}", it.name))) {
            for (other, theirs) in
                all().filter(|(other, it)| it.name == ours.name && !apart.contains(&&*format!("{other}.{}", it.name)))
            {
                let what = |it: &Column| (it.unit, it.words(), it.accounted);
                assert_eq!(what(ours), what(theirs), "{} of {table} and {other}", ours.name);
            }
        }
    }

    /// Payload is not what meters count, nor are the rates of links, which send IP packets.
    #[test]
    fn bytes_are_counted_as_accounting_says() {
        let of = |(table, name)| column(table, name).accounted;
        assert!(
            [("summary", "arrived_bytes"), ("arrivals", "throughput_bit_s"), ("conditioners", "bytes")]
                .map(of)
                .iter()
                .all(|it| *it)
        );
        let others = [
            ("flows", "goodput_bit_s"),
            ("transfers", "payload_bytes"),
            ("links", "rate_bit_s"),
            ("flows", "sent_packets"),
        ];
        assert!(!others.map(of).iter().any(|it| *it));
    }
}
