//! `counters`: what `tc -s` would show of each port. perhop-config makes its rows.

use super::COUNTERS;
use super::column::{Unit, measure};
use super::columns::{Columns, Made};

/// A counter, with the object that it is of.
#[derive(Clone, Debug, PartialEq)]
pub struct Counted {
    /// The port.
    pub hop: String,
    /// `qdisc htb 1:`, `class htb 1:11`, `qdisc cake 2: tin 0`
    pub object: String,
    /// Its place and options.
    pub stated: String,
    /// tc's name of the counter.
    pub counter: &'static str,
    /// Its value.
    pub value: f64,
}

/// The table of a replication.
pub fn table(rows: &[Counted]) -> Made {
    let object = "the queueing discipline, class, tin or policer, numbered as by `explain --as tc`: `qdisc htb 2:`, \
                  `class htb 2:1`, `qdisc cake 2: tin 0`, `police 1`";
    let counter = "tc's name of the counter, as in its JSON: `overlimits`, `lended`, `new_flow_count`";
    Columns::of(COUNTERS, &["hop", "object", "counter"], rows)
        .keeping(rows.is_empty())
        .text("hop", "the port", |it| it.hop.clone())
        .text("object", object, |it| it.object.clone())
        .text("stated", "its place and options, in tc's words", |it| it.stated.clone())
        .text("counter", counter, |it| it.counter.to_owned())
        .real(measure("value", Unit::None, "its value at the end, in tc's unit"), |it| it.value)
        .made()
}
