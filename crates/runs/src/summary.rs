//! What a run prints: means and 95 % intervals over replications, by class, colour and hop.

use super::pooled::{Pool, Pooled, each, find};
use super::rows::{OF_CLASSES, Row, of_classes};
use super::run::Replication;
use super::stats::{Estimate, estimate};
use super::tables::classes::NAME;
use super::tables::column;
use super::unit::Unit;
use comfy_table::{CellAlignment, ContentArrangement, Table as Grid, presets::NOTHING};
use perhop_core::verdict::Reason;
use perhop_scenario::resolve::indexed::Indexed;
use perhop_scenario::scenario::Scenario;
use perhop_scenario::sweep::Point;
use std::collections::HashSet;

/// What stands where nothing was measured, or where nothing has a name.
pub(crate) const NONE: &str = "-";

/// How numbers are printed: which bytes they count, and the time that counts cover.
#[derive(Clone, Copy)]
struct Look {
    unit: Unit,
    seconds: f64,
}

impl Look {
    /// A count of bytes in Mbit/s.
    fn rate(self, pool: &Pool<'_>, column: &str) -> String {
        let values: Vec<_> = pool.values(column).into_iter().flatten().map(|n| n * 8e-6 / self.seconds).collect();
        show(estimate(&values))
    }

    /// The headings of columns.
    fn headings(self, pooled: &Pooled<'_>, columns: &[&str]) -> Vec<String> {
        columns.iter().map(|name| self.unit.heading(pooled.column(name))).collect()
    }
}

/// A column's estimate, in the unit of its heading.
fn cell(pool: &Pool<'_>, column: &str) -> String {
    show(pool.estimate(column).map(|it| it.scaled(pool.column(column).usual().1)))
}

/// Share of packets in per cent.
fn percent(pool: &Pool<'_>, part: &str, whole: &str) -> String {
    let pairs = pool.values(part).into_iter().flatten().zip(pool.values(whole).into_iter().flatten());
    let shares: Vec<_> = pairs.filter(|(_, whole)| *whole > 0.0).map(|(part, whole)| 100.0 * part / whole).collect();
    show(estimate(&shares).map(|it| it.within([0.0, 100.0])))
}

/// Whether anything was counted.
fn counts(pool: &Pool<'_>, column: &str) -> bool {
    pool.values(column).into_iter().flatten().any(|n| n > 0.0)
}

fn text_of(pool: &Pool<'_>, key: &str) -> String {
    pool.name(key).unwrap_or(NONE).to_owned()
}

fn show(estimate: Option<Estimate>) -> String {
    estimate.map_or_else(|| NONE.into(), |it| it.text())
}

/// A table for the terminal, with its head.
pub fn grid<T: AsRef<str>>(header: &[T]) -> Grid {
    let mut grid = Grid::new();
    *grid.style_mut() = NOTHING;
    grid.set_content_arrangement(ContentArrangement::Disabled).set_header(header.iter().map(AsRef::as_ref));
    for column in grid.column_iter_mut() {
        column.set_padding((0, 2));
    }
    grid
}

/// The grid under its title: texts to the left, numbers to the right, no blanks at the ends of lines.
pub fn titled(title: &str, mut grid: Grid, texts: usize) -> String {
    for (i, column) in grid.column_iter_mut().enumerate() {
        column.set_cell_alignment(if i < texts { CellAlignment::Left } else { CellAlignment::Right });
    }
    let lines = grid.lines().map(|line| line.trim_end().to_owned());
    [title.to_owned()].into_iter().chain(lines).collect::<Vec<_>>().join("\n")
}

/// The tables of one point. `replications` must carry their tables.
pub fn text(point: &Point, replications: &[&Replication]) -> String {
    let (scenario, settings) = (&point.scenario, point.scenario.settings());
    let look = Look { unit: Unit::of([scenario]), seconds: (*settings.duration - *settings.warmup).seconds() };
    let conditioned = scenario.common().links.iter().filter(|link| !link.edge.is_empty());
    let names = conditioned.map(|link| link.name.as_str()).collect();
    let pooled = |table| Pooled::new(table, &each(replications, table));
    let arrived = pooled("arrivals").of_all(&scenario.common().classes, replications.len());
    let (traffic, classes) = (pooled("traffic"), of_classes(Indexed { index: 0, it: point }, replications));
    let parts = [
        heading(scenario, replications.len()),
        destinations(&arrived, &classes, look),
        goodputs(&traffic, look),
        users(&traffic, look),
        ports(&pooled("summary"), &names, look),
        nodes(&pooled("nodes"), look),
        drops(replications),
    ];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// Name, replications, time, what the numbers are, seed, accounting.
pub fn heading(scenario: &Scenario, replications: usize) -> String {
    let s = scenario.settings();
    let (runs, numbers) = match replications {
        1 => ("1 replication".into(), "no intervals"),
        n => (format!("{n} replications"), "mean ± 95 % interval"),
    };
    let warmup = if s.warmup.ns() == 0 { String::new() } else { format!(", the first {} not counted", *s.warmup) };
    let (name, seed, accounting) = (scenario.name(), s.seed, s.accounting.name());
    format!("{name}: {runs} of {}{warmup}; {numbers}; seed {seed}; accounting {accounting}", *s.duration)
}

/// All drops by reason, over all ports and replications.
fn drops(replications: &[&Replication]) -> String {
    let total = |reason: Reason| {
        let column = format!("dropped_{}_packets", reason.name());
        let tables = replications.iter().map(|r| find(&r.tables, "summary"));
        let packets: i64 = tables.flat_map(|t| t.integers(&column).iter().flatten()).sum();
        format!("{} {packets}", reason.name())
    };
    format!("packets dropped, all ports and replications: {}", Reason::ALL.map(total).join(", "))
}

const LOST: &str = "loss_percent";

fn loss_of(row: &Row) -> Option<Estimate> {
    OF_CLASSES.iter().zip(&row.values).find(|(name, _)| **name == LOST).and_then(|(_, value)| *value)
}

/// What reached its destination, of every class: also of one none of whose packets did.
fn destinations(pooled: &Pooled<'_>, classes: &[Row], look: Look) -> String {
    let (delivered, lost) = ("throughput_bit_s", column(NAME, LOST));
    let times = ["delay_p50_ms", "delay_p99_ms", "delay_p999_ms", "jitter_p99_ms"];
    let heads = [look.headings(pooled, &[delivered]), vec![lost.heading()], look.headings(pooled, &times)];
    let mut grid = grid(&["class", "colour"].map(str::to_owned).into_iter().chain(heads.concat()).collect::<Vec<_>>());
    for pool in &pooled.rows {
        let loss = show(classes.iter().find(|row| row.names == pool.names).and_then(loss_of));
        let names = ["class", "colour"].map(|key| text_of(pool, key));
        let times = times.map(|column| cell(pool, column));
        grid.add_row(names.into_iter().chain([cell(pool, delivered), loss]).chain(times));
    }
    titled("Arrived at its destination", grid, 2)
}

/// What applications received.
fn goodputs(pooled: &Pooled<'_>, look: Look) -> String {
    let columns = ["goodput_bit_s", "goodput_mean_bit_s", "jain", "transfer_goodput_mean_bit_s"];
    let rows = pooled.rows.iter().collect::<Vec<_>>();
    titled("Goodput: payload that applications got in order", of_traffic(pooled, (&rows, &columns), look), 1)
}

/// The users' waits; nothing if there are none.
fn users(pooled: &Pooled<'_>, look: Look) -> String {
    let columns = ["session_delay_mean_ms", "session_mean_s", "first_byte_mean_ms", "last_byte_mean_ms", "page_mean_s"];
    let felt = |pool: &Pool<'_>, column| pool.estimate(column).is_some();
    let user = |pool: &&Pool<'_>| felt(pool, "session_delay_mean_ms") || felt(pool, "page_mean_s");
    let users: Vec<_> = pooled.rows.iter().filter(user).collect();
    if users.is_empty() {
        return String::new();
    }
    let measured: Vec<_> = columns.into_iter().filter(|column| users.iter().any(|pool| felt(pool, column))).collect();
    titled("Users: what they waited for", of_traffic(pooled, (&users, &measured), look), 1)
}

/// Rows of traffic with some columns.
fn of_traffic(pooled: &Pooled<'_>, (rows, columns): (&[&Pool<'_>], &[&str]), look: Look) -> Grid {
    let heads = ["traffic".to_owned()].into_iter().chain(look.headings(pooled, columns));
    let mut grid = grid(&heads.collect::<Vec<_>>());
    for pool in rows {
        let cells = columns.iter().map(|column| cell(pool, column));
        grid.add_row([text_of(pool, "traffic")].into_iter().chain(cells));
    }
    grid
}

/// Ports at which something was dropped or marked, and those with conditioners.
fn ports(pooled: &Pooled<'_>, conditioned: &HashSet<&str>, look: Look) -> String {
    let hop = |pool: &Pool<'_>| text_of(pool, "hop");
    let acted = |pool: &&Pool<'_>| {
        counts(pool, "dropped_packets") || counts(pool, "marked_packets") || conditioned.contains(&*hop(pool))
    };
    let hops: HashSet<_> = pooled.rows.iter().filter(acted).map(hop).collect();
    let shown: Vec<_> = pooled.rows.iter().filter(|pool| hops.contains(&hop(pool))).collect();
    if shown.is_empty() {
        return "No port has a conditioner, and none dropped or marked a packet.".into();
    }
    let ecn = shown.iter().any(|pool| counts(pool, "marked_packets"));
    let waits = look.headings(pooled, &WAITS);
    let arrived = look.unit.head("arrived Mbit/s");
    let mut header = vec!["port", "class", "colour", &arrived, "dropped %", &waits[0], &waits[1]];
    header.extend(ecn.then_some("ECN-marked %"));
    let mut grid = grid(&header);
    for pool in shown {
        grid.add_row(port(pool, look).into_iter().take(header.len()));
    }
    titled("Ports with conditioners or losses; the colour is that after the conditioners", grid, 3)
}

/// Of the waits at a port, what is printed.
const WAITS: [&str; 2] = ["wait_p50_ms", "wait_p99_ms"];

/// One row of [`ports`], the ECN column last.
fn port(pool: &Pool<'_>, look: Look) -> [String; 8] {
    let [hop, class, colour] = ["hop", "class", "colour"].map(|key| text_of(pool, key));
    let [p50, p99] = WAITS.map(|column| cell(pool, column));
    let [dropped, marked] = ["dropped_packets", "marked_packets"].map(|part| percent(pool, part, "arrived_packets"));
    [hop, class, colour, look.rate(pool, "arrived_bytes"), dropped, p50, p99, marked]
}

/// The nodes of trees that are more than one scheduler over queues; nothing if there are none.
fn nodes(pooled: &Pooled<'_>, look: Look) -> String {
    if pooled.rows.is_empty() {
        return String::new();
    }
    let columns = ["throughput_bit_s", "used", "held", WAITS[0], WAITS[1]];
    let heads = ["port", "node", "kind", &look.unit.head("arrived Mbit/s"), "dropped %"].map(str::to_owned);
    let mut grid = grid(&heads.into_iter().chain(look.headings(pooled, &columns)).collect::<Vec<_>>());
    for pool in &pooled.rows {
        let names = ["hop", "node", "kind"].map(|key| text_of(pool, key));
        let shares = [look.rate(pool, "arrived_bytes"), percent(pool, "dropped_packets", "arrived_packets")];
        grid.add_row(names.into_iter().chain(shares).chain(columns.map(|column| cell(pool, column))));
    }
    titled(
        "Trees of queues, node by node; held: the share of time in which packets waited for a shaper's tokens",
        grid,
        3,
    )
}
