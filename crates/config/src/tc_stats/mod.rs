//! The counters of ports as `tc -s qdisc show` and `tc -s class show` write them.
//!
//! What the model does not have is left out. `requeues` is 0: nothing that was handed out ever comes back.
//!
//! Decision: docs/decisions/117-counters-in-tcs-words.md

/// CAKE's tins.
mod cake;

use crate::as_tc::{Object, objects};
use crate::tc::counters::lines::{DIRECT, LINES, fields, name};
use crate::tc::numbers::printed;
use perhop_core::classify::FlowHeaders;
use perhop_core::counter::Part;
use perhop_results::tables::COUNTERS;
use perhop_results::tables::columns::{Table, Values};
use perhop_results::tables::counters::{self, Counted};
use perhop_sim::Outcome;
use perhop_sim::plan::Plan;
use perhop_sim::record::CounterRow;
use std::fmt::Write as _;

/// A counter as the table `counters` has it.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// The port.
    pub hop: &'a str,
    /// `qdisc htb 1:`, `class htb 1:11`, `qdisc cake 2: tin 0`
    pub object: &'a str,
    /// Its place and options.
    pub stated: &'a str,
    /// tc's name of the counter.
    pub counter: &'a str,
    /// Its value.
    pub value: f64,
}

/// Puts the counters of a run of `plan` into its tables, if they were asked for.
pub fn fill(tables: &mut [Table], plan: &Plan, outcome: &Outcome) {
    let of_link = |rows| of_link(plan, &outcome.headers, rows);
    let rows: Vec<_> = outcome.ports.counters.chunk_by(|a, b| a.link == b.link).flat_map(of_link).collect();
    let empty = tables.iter_mut().find(|table| table.name == COUNTERS).filter(|_| !rows.is_empty());
    empty.into_iter().for_each(|it| *it = counters::table(&rows).table);
}

fn of_link<'a>(
    plan: &'a Plan,
    headers: &[FlowHeaders],
    rows: &'a [CounterRow],
) -> impl Iterator<Item = Counted> + use<'a> {
    let (link, hop) = (rows[0].link, plan.links[rows[0].link].name.clone());
    let objects = objects(plan, link, headers);
    rows.iter().filter_map(move |row| {
        let (part, tin) = match row.part {
            Part::Tin(tin) => (Part::Whole, format!(" tin {tin}")),
            part => (part, String::new()),
        };
        let Object { name, stated } = objects.get(&(row.node, part))?.clone();
        let (hop, object, counter, value) = (hop.clone(), name + &tin, row.counter, row.value);
        Some(Counted { hop, object, stated, counter, value })
    })
}

/// The table of counters, if they were asked for.
pub fn find(tables: &[Table]) -> Option<&Table> {
    tables.iter().find(|table| table.name == COUNTERS && table.rows() > 0)
}

/// The rows of a table `counters`.
///
/// # Panics
/// If it is another table.
pub fn rows(table: &Table) -> Vec<Row<'_>> {
    let texts = ["hop", "object", "stated", "counter"].map(|name| table.texts(name));
    let text = |column: usize, row: usize| texts[column][row].as_deref().unwrap_or_default();
    let Values::Reals(values) = table.column("value") else { panic!("`value` holds numbers") };
    let row = |i: usize| {
        Some(Row { hop: text(0, i), object: text(1, i), stated: text(2, i), counter: text(3, i), value: values[i]? })
    };
    (0..table.rows()).filter_map(row).collect()
}

/// All of them, port by port: queueing disciplines, then classes.
pub fn text(rows: &[Row<'_>]) -> String {
    rows.chunk_by(|a, b| a.hop == b.hop).map(of_port).collect::<Vec<_>>().join("\n")
}

fn of_port(rows: &[Row<'_>]) -> String {
    let mut out = format!("# {}\n", rows[0].hop);
    let objects: Vec<_> = rows.chunk_by(|a, b| a.object == b.object).map(|rows| ObjectRows { rows }).collect();
    for what in ["qdisc", "class", "police"] {
        let shown = objects.iter().enumerate().filter(|(_, it)| it.what() == what && it.tin().is_none());
        shown.for_each(|(i, it)| it.write(&objects[i + 1..], &mut out));
    }
    out
}

/// The counters of a queueing discipline, a class or a tin.
struct ObjectRows<'a> {
    rows: &'a [Row<'a>],
}

impl ObjectRows<'_> {
    fn word(&self, i: usize) -> &str {
        self.rows[0].object.split(' ').nth(i).unwrap_or_default()
    }

    fn what(&self) -> &str {
        self.word(0)
    }

    fn tin(&self) -> Option<&str> {
        self.rows[0].object.split_once(" tin ").map(|it| it.1)
    }

    fn get(&self, counter: &str) -> Option<f64> {
        self.rows.iter().find(|row| row.counter == counter).map(|row| row.value)
    }

    /// A counter that every object has.
    fn count(&self, counter: &str) -> String {
        printed("#", self.get(counter).unwrap_or_default())
    }

    /// `lended: 5`, or `dropping` while it is; `None` without the counter.
    fn cell(&self, word: &str, form: Option<&str>) -> Option<String> {
        let value = self.get(name(word))?;
        match form {
            Some(form) => Some(format!("{word} {}", printed(form, value))),
            None => (value == 1.0).then(|| word.to_owned()),
        }
    }

    /// `behind`: the objects behind it, of which the first are its tins.
    fn write(&self, behind: &[ObjectRows<'_>], out: &mut String) {
        let row = &self.rows[0];
        let direct = self.cell(DIRECT, Some("#")).map_or_else(String::new, |direct| format!(" {direct}"));
        let _ = writeln!(out, "{} {}{direct}", row.object, row.stated);
        let over = self.cell("overlimits", Some("#")).map_or_else(String::new, |over| format!(", {over}"));
        let [bytes, packets, drops, backlog, qlen] =
            ["bytes", "packets", "drops", "backlog", "qlen"].map(|counter| self.count(counter));
        let _ = writeln!(out, " Sent {bytes} bytes {packets} pkt (dropped {drops}{over} requeues 0)");
        if self.what() != "police" {
            let _ = writeln!(out, " backlog {backlog}b {qlen}p requeues 0");
        }
        self.own(out);
        let tins: Vec<_> = behind.iter().take_while(|it| it.tin().is_some()).collect();
        if !tins.is_empty() && self.what() == "qdisc" {
            cake::write(&tins, out);
        }
    }

    /// What its kind has beyond what all have; a kind that no command of tc makes has perhop's name.
    fn own(&self, out: &mut String) {
        let kind = format!("{} {}", self.what(), self.word(1).replace('-', "_"));
        for (_, line) in LINES.iter().filter(|(of, _)| *of == kind) {
            let cells: Vec<_> = fields(line).filter_map(|(word, form)| self.cell(word, form)).collect();
            if !cells.is_empty() {
                let indent = &line[..line.len() - line.trim_start().len()];
                let _ = writeln!(out, "{indent}{}", cells.join(" "));
            }
        }
    }
}
