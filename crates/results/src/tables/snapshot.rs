//! What is asked for while a scenario runs: counters of one port or of the flows, and what a sample sees of them now. The
//! columns are those of the same tables at the end of a run.

use super::column::Role;
use super::columns::Table;
use super::{Run, declaration, flows, ports};
use perhop_sim::Outcome;
use perhop_sim::plan::Plan;
use perhop_sim::record::{FlowSample, Sample, Series};

/// The tables that a port has counters in; the first is meant where none is named.
pub const OF_PORT: [&str; 5] = ["summary", "queues", "nodes", "conditioners", "tallies"];

/// One of them, of an outcome that has one port; `None` of another name.
pub fn port(name: &str, plan: &Plan, outcome: &Outcome) -> Option<Table> {
    let run = run(plan, outcome);
    let made = match name {
        "summary" => ports::summary(run),
        "queues" => ports::queues(run),
        "nodes" => ports::nodes(run),
        "conditioners" => ports::conditioners(run),
        "tallies" => ports::tallies(run),
        _ => return None,
    };
    Some(counted(made.table))
}

/// The counters of flows, of such an outcome.
pub fn flows(plan: &Plan, outcome: &Outcome) -> Table {
    counted(flows::flows(run(plan, outcome)).table)
}

/// A port's gauges: rows of `series`.
pub fn port_gauges(plan: &Plan, ports: Vec<Sample>) -> Table {
    let outcome = Outcome { series: Series { ports, flows: Vec::new() }, ..Outcome::default() };
    ports::series(run(plan, &outcome)).table
}

/// The flows' gauges: rows of `flow_series`.
pub fn flow_gauges(plan: &Plan, flows: Vec<FlowSample>) -> Table {
    let outcome = Outcome { series: Series { ports: Vec::new(), flows }, ..Outcome::default() };
    flows::flow_series(run(plan, &outcome)).table
}

fn run<'a>(plan: &'a Plan, outcome: &'a Outcome) -> Run<'a> {
    Run { plan, outcome, seconds: outcome.measured.seconds(), declares: false }
}

/// Without columns that are no counts: times of packets, and settings.
fn counted(mut table: Table) -> Table {
    let declared = declaration(table.name).expect("every table is declared");
    let counts = |name: &str| {
        let role = declared.column(name).map(|column| column.role);
        role.is_some_and(|role| role.names() || matches!(role, Role::Count | Role::Rate))
    };
    table.columns.retain(|(name, _)| counts(name));
    table
}
