//! `counters`: what `tc -s` would show of each port.

use super::column::{Unit, measure};
use super::columns::Made;
use super::{COUNTERS, Run};
use crate::as_tc::{Object, objects};
use perhop_core::counter::Part;
use perhop_sim::record::CounterRow;

/// A counter, with the object that it is of.
struct Counted<'a> {
    run: Run<'a>,
    row: &'a CounterRow,
    object: Object,
}

pub(super) fn counters(run: Run<'_>) -> Made {
    let of_links = run.outcome.ports.counters.chunk_by(|a, b| a.link == b.link);
    let rows: Vec<_> = of_links.flat_map(|rows| of_link(run, rows)).collect();
    let object = "the queueing discipline, class or tin, numbered as in `explain --as tc`: `qdisc htb 1:`, `class htb 1:11`, \
                  `qdisc cake 2: tin 0`";
    run.columns(COUNTERS, &["hop", "object", "counter"], &rows)
        .text("hop", "the port", |r| r.run.hop(r.row.link))
        .text("object", object, |r| r.object.name.clone())
        .text("stated", "its place and options, in tc's words", |r| r.object.stated.clone())
        .text("counter", "tc's name of the counter, that of its JSON: `overlimits`, `lended`, `new_flow_count`", |r| {
            r.row.counter.to_owned()
        })
        .real(measure("value", Unit::None, "its value at the end, since the start, in tc's unit"), |r| r.row.value)
        .made()
}

fn of_link<'a>(run: Run<'a>, rows: &'a [CounterRow]) -> impl Iterator<Item = Counted<'a>> {
    let objects = objects(run.plan, rows[0].link);
    rows.iter().filter_map(move |row| {
        let (part, tin) = match row.part {
            Part::Tin(tin) => (Part::Whole, Some(tin)),
            part => (part, None),
        };
        let mut object = objects.get(&(row.node, part))?.clone();
        tin.into_iter().for_each(|tin| object.name = format!("{} tin {tin}", object.name));
        Some(Counted { run, row, object })
    })
}
