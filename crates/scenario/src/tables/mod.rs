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
//! | `series`       | time x hop x quantity, if asked for            |
//! | `flow_series`  | time x flow, if asked for                      |

use columns::Table;
use perhop_sim::Outcome;
use perhop_sim::plan::Plan;

/// Tables of columns.
pub mod columns;
/// Aggregates held against their rates.
pub mod ef;
/// Packets at ports.
pub mod events;
/// What a column's name says of its values.
pub mod meaning;
/// Names that a key of a sweep cannot have.
pub mod reserved;

mod flows;
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
}

/// A row of an outcome, with the run it belongs to.
#[derive(Clone, Copy)]
struct Row<'a, T> {
    run: Run<'a>,
    it: &'a T,
}

impl<'a> Run<'a> {
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
pub const NAMES: [&str; 13] = [
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
    SERIES,
    "flow_series",
];

const SERIES: &str = "series";
const NODES: &str = "nodes";

/// A table that has no file when it is empty, without rows; `None` for one that always has its file.
pub fn without_rows(name: &str) -> Option<Table> {
    match name {
        SERIES => Some(ports::series_of(&[], |_| String::new())),
        NODES => Some(ports::nodes_of(&[])),
        _ => None,
    }
}

/// What rows of classes have, by point: as means over the replications.
pub const OF_CLASSES: [&str; 5] = ["throughput_bit_s", "goodput_bit_s", "loss_percent", "delay_p50_ms", "delay_p99_ms"];

/// The tables of a run in which nothing happened.
pub fn empty() -> Vec<Table> {
    tables(&Plan::default(), &Outcome::default())
}

/// All tables of a replication.
pub fn tables(plan: &Plan, outcome: &Outcome) -> Vec<Table> {
    let run = Run { plan, outcome, seconds: outcome.measured.seconds() };
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
        ports::series(run),
        flows::flow_series(run),
    ]
}
