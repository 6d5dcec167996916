//! Reports of captures: tables of declared columns, for Python and in documents, and the text for a terminal, which is
//! laid out from the same declarations. `--json` is the report itself.
//!
//! | table                                     | one row for each                                       |
//! |-------------------------------------------|--------------------------------------------------------|
//! | `colours`                                 | conditioner x colour in x colour out                   |
//! | `conditioners`                            | conditioner                                            |
//! | `tallies`                                 | total that a conditioner keeps                         |
//! | `unmatched`                               | colour of packets that no conditioner coloured         |
//! | `code_points`                             | code point of forward packets                          |
//! | `labels`                                  | kind of labels in flow labels: one, if they are there  |
//! | `round_trips_aggregates`, `_flows`        | aggregate and flow of TCP, if asked for                |
//! | `round_trips_samples`                     | round-trip time, if asked for                          |
//! | `contracts`                               | conditioner's instance that has a committed rate       |
//! | `bursts`                                  | width, if asked for                                    |
//! | `queue_code_points`, `_colours`, `_flows` | code point, colour and flow at the queue, if there is  |
//! | `queue_classes`                           | class of a template there                              |
//! | `flows`                                   | flow                                                   |
//! | `unchanged`                               | reason why packets could not be metered                |
//! | `host`, `pair`, `flow`, `dscp`, `ecn`     | group, in place of all others                          |
//!
//! Decision: docs/decisions/084-columns-are-declared-once.md

/// Packets in groups.
pub mod groups;

mod conditioners;
mod contracts;
mod flows;
mod printout;
mod queue;
mod report;
mod round_trips;
mod unchanged;

pub use report::{text, text_of_groups, total};

use crate::tables::columns::{Declared, Made, Table};
use perhop_capture::mark::{By, Groups, Report, Volume};
use std::sync::{Arc, OnceLock};

/// How a table is made of a report.
struct Source {
    /// Without rows.
    empty: fn() -> Made,
    /// Whether the report has rows for it.
    has: fn(&Report) -> bool,
    made: fn(&Report) -> Made,
}

/// A table of rows that the report has.
macro_rules! source {
    ($table:path, $report:ident => $rows:expr) => {
        Source {
            empty: || $table(&[]),
            has: |$report: &Report| $rows.next().is_some(),
            made: |$report: &Report| $table(&$rows.collect::<Vec<_>>()),
        }
    };
}

/// In the order of `--json`. Rows of flows and contracts are made one by one, the largest first.
const SOURCES: [Source; 17] = [
    source!(conditioners::colours, it => conditioners::colour_rows(it)),
    source!(conditioners::conditioners, it => it.conditioners.iter()),
    source!(conditioners::tallies, it => conditioners::tally_rows(it)),
    source!(conditioners::unmatched, it => it.unmatched.iter()),
    source!(flows::code_points, it => it.codes.code_points.iter()),
    source!(conditioners::labels, it => it.labels.iter()),
    source!(round_trips::aggregates, it => it.round_trips.iter().flat_map(|it| &it.aggregates)),
    source!(round_trips::flows, it => it.round_trips.iter().flat_map(|it| &it.flows)),
    source!(round_trips::samples, it => it.round_trips.iter().flat_map(|it| &it.samples).flatten()),
    Source { has: |it| !it.load.contracts.is_empty(), ..source!(contracts::contracts, it => it.load.contracts.iter()) },
    source!(contracts::bursts, it => it.load.bursts.iter().flatten()),
    source!(queue::code_points, it => it.load.queue.iter().flat_map(|it| &it.code_points)),
    source!(queue::colours, it => it.load.queue.iter().flat_map(|it| &it.colours)),
    source!(queue::flows, it => it.load.queue.iter().flat_map(|it| &it.flows)),
    source!(queue::classes, it => it.load.queue.iter().flat_map(|it| &it.classes)),
    Source { has: |it| !it.flows.is_empty(), ..source!(flows::flows, it => it.flows.iter()) },
    source!(unchanged::table, it => it.flaws.unchanged.iter()),
];

/// What every table is: in the order of a report, then those of groups.
pub fn declared() -> &'static [Declared] {
    static DECLARED: OnceLock<Vec<Declared>> = OnceLock::new();
    let of_groups = |by| {
        let none = Groups { by, rows: Vec::new(), whole: Volume::default(), seconds: None };
        groups::table(&none, &none.rows)
    };
    DECLARED.get_or_init(|| {
        let of_reports = SOURCES.iter().map(|source| (source.empty)());
        of_reports.chain(By::ALL.map(of_groups)).map(|made| made.declared).collect()
    })
}

/// The tables of a report that have rows; each is made when it is asked for.
pub enum Tables {
    /// All of them.
    Whole(Box<Report>),
    /// Its packets in groups.
    Groups(Arc<Groups>),
}

impl Tables {
    /// Their names, in order.
    pub fn names(&self) -> Vec<&'static str> {
        match self {
            Self::Groups(groups) if groups.rows.is_empty() => Vec::new(),
            Self::Groups(groups) => vec![groups.by.name()],
            Self::Whole(report) => {
                let having = declared().iter().zip(&SOURCES).filter(|(_, source)| (source.has)(report));
                having.map(|(declared, _)| declared.name).collect()
            }
        }
    }

    /// The table of a name; `None` where no table is called so.
    pub fn table(&self, name: &str) -> Option<Table> {
        let made = match self {
            Self::Groups(of) => groups::table(of, &of.rows),
            Self::Whole(report) => {
                let place = declared()[..SOURCES.len()].iter().position(|declared| declared.name == name)?;
                (SOURCES[place].made)(report)
            }
        };
        Some(made.table).filter(|table| table.name == name)
    }
}
