//! What a run prints: means and 95 % intervals over replications, by class, colour and hop.

use super::columns::Table;
use super::run::Replication;
use super::stats::{Estimate, estimate};
use crate::scenario::Scenario;
use comfy_table::{CellAlignment, ContentArrangement, Table as Grid, presets::NOTHING};
use std::collections::BTreeMap;

/// A row of one replication's table, if it has it.
type Row<'a> = Option<(&'a Table, usize)>;

/// The rows of one table over all replications, keyed by names.
struct Pooled<'a> {
    /// Key (in order of first appearance), then for each replication its row.
    rows: BTreeMap<Vec<String>, Vec<Row<'a>>>,
    order: Vec<Vec<String>>,
    seconds: f64,
}

impl<'a> Pooled<'a> {
    fn new(replications: &[&'a Replication], table: &str, (keys, seconds): (&[&str], f64)) -> Self {
        let mut pooled = Self { rows: BTreeMap::new(), order: Vec::new(), seconds };
        for (i, replication) in replications.iter().enumerate() {
            let table = replication.tables.iter().find(|t| t.name == table).expect("every replication has it");
            for row in 0..table.rows() {
                let name = |k: &&str| table.texts(k)[row].clone().unwrap_or_default();
                let key: Vec<_> = keys.iter().map(name).collect();
                if !pooled.rows.contains_key(&key) {
                    pooled.order.push(key.clone());
                }
                let of = pooled.rows.entry(key).or_insert_with(|| vec![None; replications.len()]);
                of[i] = Some((table, row));
            }
        }
        pooled
    }

    /// A measure over replications; those in which nothing was measured are left out.
    fn real(&self, key: &[String], column: &str) -> Option<Estimate> {
        let values: Vec<_> = self.rows[key].iter().flatten().filter_map(|(t, row)| t.reals(column)[*row]).collect();
        estimate(&values)
    }

    /// A count per second over replications, in 10^6 bit/s for bytes; a row that is absent counted nothing.
    fn mbit_s(&self, key: &[String], column: &str) -> Option<Estimate> {
        let of = |row: &Row<'_>| row.map_or(0, |(t, row)| t.integers(column)[row].unwrap_or(0));
        let values: Vec<_> = self.rows[key].iter().map(|r| of(r) as f64 * 8e-6 / self.seconds).collect();
        estimate(&values)
    }

    /// Share of packets in percent.
    fn percent(&self, key: &[String], (part, whole): (&str, &str)) -> Option<Estimate> {
        let share = |(t, row): &(&Table, usize)| {
            let of = |c: &str| t.integers(c)[*row].unwrap_or(0) as f64;
            (of(whole) > 0.0).then(|| 100.0 * of(part) / of(whole))
        };
        let values: Vec<_> = self.rows[key].iter().flatten().filter_map(share).collect();
        estimate(&values)
    }
}

fn show(estimate: Option<Estimate>, decimals: usize) -> String {
    match estimate {
        None => "-".into(),
        Some(Estimate { mean, half_width: None }) => format!("{mean:.decimals$}"),
        Some(Estimate { mean, half_width: Some(half) }) => format!("{mean:.decimals$} ±{half:.decimals$}"),
    }
}

fn grid(header: &[&str]) -> Grid {
    let mut grid = Grid::new();
    *grid.style_mut() = NOTHING;
    grid.set_content_arrangement(ContentArrangement::Disabled).set_header(header);
    for column in grid.column_iter_mut() {
        column.set_padding((0, 2));
    }
    grid
}

fn align(grid: &mut Grid, texts: usize) {
    for (i, column) in grid.column_iter_mut().enumerate() {
        column.set_cell_alignment(if i < texts { CellAlignment::Left } else { CellAlignment::Right });
    }
}

/// The tables of one point. `replications` must carry their tables.
pub fn text(scenario: &Scenario, replications: &[&Replication]) -> String {
    let settings = scenario.settings();
    let seconds = (settings.duration - settings.warmup).seconds();
    let mut out = heading(scenario, replications.len());
    out += &destinations(&Pooled::new(replications, "arrivals", (&["class", "colour"], seconds)));
    out += "\n\n";
    out += &goodputs(&Pooled::new(replications, "traffic", (&["class", "traffic"], seconds)));
    out += "\n\n";
    let conditioned: Vec<_> = scenario.plan(0, 0).links.into_iter().filter(|l| !l.edge.is_empty()).collect();
    let names: Vec<_> = conditioned.iter().map(|l| l.name.as_str()).collect();
    out += &ports(&Pooled::new(replications, "summary", (&["hop", "class", "colour"], seconds)), &names);
    out + "\n"
}

/// Name, replications, time, seed, accounting.
fn heading(scenario: &Scenario, replications: usize) -> String {
    let s = scenario.settings();
    let plural = if replications == 1 { "" } else { "s" };
    format!(
        "{}: {replications} replication{plural} of {} ({} of warm-up not counted), seed {}, bytes = {} (accounting)\n\n",
        scenario.name(),
        s.duration,
        s.warmup,
        s.seed,
        s.accounting.name(),
    )
}

fn destinations(pooled: &Pooled<'_>) -> String {
    let mut grid =
        grid(&["class", "colour", "delivered Mbit/s", "delay p50 ms", "p99 ms", "p99.9 ms", "jitter p99 ms"]);
    for key in &pooled.order {
        grid.add_row([
            key[0].clone(),
            key[1].clone(),
            show(pooled.mbit_s(key, "delivered_bytes"), 3),
            show(pooled.real(key, "delay_p50_ms"), 1),
            show(pooled.real(key, "delay_p99_ms"), 1),
            show(pooled.real(key, "delay_p999_ms"), 1),
            show(pooled.real(key, "jitter_p99_ms"), 1),
        ]);
    }
    align(&mut grid, 2);
    grid.to_string()
}

fn goodputs(pooled: &Pooled<'_>) -> String {
    let mut grid = grid(&["traffic", "goodput Mbit/s", "per flow kbit/s", "Jain", "per transfer kbit/s"]);
    let scaled = |e: Option<Estimate>, by: f64| {
        e.map(|e| Estimate { mean: e.mean * by, half_width: e.half_width.map(|h| h * by) })
    };
    for key in &pooled.order {
        grid.add_row([
            key[1].clone(),
            show(scaled(pooled.real(key, "goodput_bit_s"), 1e-6), 3),
            show(scaled(pooled.real(key, "goodput_mean_bit_s"), 1e-3), 1),
            show(pooled.real(key, "jain"), 3),
            show(scaled(pooled.real(key, "transfer_goodput_mean_bit_s"), 1e-3), 1),
        ]);
    }
    align(&mut grid, 1);
    grid.to_string()
}

/// Ports at which something was dropped or marked, and those with conditioners.
fn ports(pooled: &Pooled<'_>, conditioned: &[&str]) -> String {
    let mut grid =
        grid(&["port", "class", "colour", "arrived Mbit/s", "dropped %", "marked %", "wait p50 ms", "p99 ms"]);
    let acted = |key: &Vec<String>| {
        let acts = |c: &str| pooled.mbit_s(key, c).is_some_and(|e| e.mean > 0.0);
        acts("dropped_bytes") || acts("marked_bytes") || conditioned.contains(&key[0].as_str())
    };
    let hops: Vec<_> = pooled.order.iter().filter(|k| acted(k)).map(|k| k[0].clone()).collect();
    for key in pooled.order.iter().filter(|k| hops.contains(&k[0])) {
        grid.add_row([
            key[0].clone(),
            key[1].clone(),
            key[2].clone(),
            show(pooled.mbit_s(key, "arrived_bytes"), 3),
            show(pooled.percent(key, ("dropped_packets", "arrived_packets")), 2),
            show(pooled.percent(key, ("marked_packets", "arrived_packets")), 2),
            show(pooled.real(key, "wait_p50_ms"), 1),
            show(pooled.real(key, "wait_p99_ms"), 1),
        ]);
    }
    align(&mut grid, 3);
    grid.to_string()
}
