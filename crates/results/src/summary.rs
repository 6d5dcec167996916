//! What a run prints: means and 95 % intervals over replications, by class, colour and hop.

use crate::filter::Where;
use crate::pooled::{Pool, Pooled, each, find};
use crate::replication::Replication;
use crate::rows::{OF_CLASSES, OF_CLASSES_BY, Row, of_classes};
use crate::stats::{Estimate, estimate};
use crate::tables::classes::NAME;
use crate::tables::column;
use crate::unit::Unit;
use comfy_table::{CellAlignment, ContentArrangement, Table as Grid, presets::NOTHING};
use perhop_core::verdict::Reason;
use perhop_scenario::resolve::indexed::Indexed;
use perhop_scenario::scenario::Scenario;
use perhop_scenario::sweep::Point;
use std::collections::{BTreeMap, HashSet};

/// What stands where nothing was measured, or where nothing has a name.
pub const NONE: &str = "-";

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

/// Shares of packets in per cent, where there are any.
fn percent(shares: impl Iterator<Item = [f64; 2]>) -> String {
    let shares: Vec<_> = shares.filter(|[_, whole]| *whole > 0.0).map(|[part, whole]| 100.0 * part / whole).collect();
    show(estimate(&shares).map(|it| it.within([0.0, 100.0])))
}

/// Per cent of the packets that arrived that were dropped; `left` are those that were neither dropped nor wait. What waits when the
/// warm-up ends may be dropped after it: where more are dropped than arrive, of those dropped and those that left.
fn lost(dropped: f64, arrived: f64, left: f64) -> [f64; 2] {
    [dropped, if dropped > arrived { dropped + left } else { arrived }]
}

/// [`lost`] of a row in per cent.
fn dropped(pool: &Pool<'_>, left: &str) -> String {
    let [dropped, arrived, left] = ["dropped_packets", "arrived_packets", left].map(|column| pool.values(column));
    let rows = dropped.into_iter().zip(arrived).zip(left);
    percent(rows.filter_map(|((dropped, arrived), left)| Some(lost(dropped?, arrived?, left?))))
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

/// The tables that [`text`] shows rows of.
pub const TABLES: [&str; 4] = ["classes", "traffic", "summary", "nodes"];

/// The tables of one point; `None` if the filter leaves no row. `replications` must carry their tables.
pub fn text(point: &Point, replications: &[&Replication], filter: &Where) -> Option<String> {
    let (scenario, settings) = (&point.scenario, point.scenario.settings());
    let look = Look { unit: Unit::of([scenario]), seconds: (*settings.duration - *settings.warmup).seconds() };
    let pooled = |table| Pooled::new(table, &each(replications, table));
    let chosen = |table| {
        let mut pooled = pooled(table);
        let keys = pooled.keys();
        pooled.rows.retain(|pool| filter.keeps_row(&keys, &pool.names));
        pooled
    };
    let classes = of_classes(Indexed { index: 0, it: point }, replications);
    let tables = [
        destinations(&pooled("arrivals"), &filter.keep_rows(&OF_CLASSES_BY, classes), look),
        goodputs(&chosen("traffic"), look),
        users(&chosen("traffic"), look),
        ports(&chosen("summary"), scenario, filter, look),
        nodes(&chosen("nodes"), look),
    ];
    let tables: Vec<_> = tables.into_iter().filter(|table| !table.is_empty()).collect();
    let whole = [vec![heading(scenario, replications.len())], tables.clone(), vec![drops(replications)]].concat();
    (!tables.is_empty()).then(|| whole.join("\n\n"))
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

/// All drops by reason, over all ports and replications; the rest are filtered ACKs.
fn drops(replications: &[&Replication]) -> String {
    let total = |column: &str| -> i64 {
        let tables = replications.iter().map(|r| find(&r.tables, "summary"));
        tables.flat_map(|t| t.integers(column).iter().flatten()).sum()
    };
    let by_reason = Reason::COLUMNS.map(|reason| (reason, total(&format!("dropped_{}_packets", reason.name()))));
    let filtered = total("dropped_packets") - by_reason.iter().map(|it| it.1).sum::<i64>();
    let rest = (filtered > 0).then_some((Reason::Filtered, filtered));
    let totals: Vec<_> = by_reason.into_iter().chain(rest).map(|(of, n)| format!("{} {n}", of.name())).collect();
    format!("packets dropped, all ports and replications: {}", totals.join(", "))
}

/// What became of every class: also of one none of whose packets reached its destination.
fn destinations(arrived: &Pooled<'_>, classes: &[Row], look: Look) -> String {
    if classes.is_empty() {
        return String::new();
    }
    let [delivered, lost] = ["throughput_bit_s", "loss_percent"].map(|name| {
        let of = move |row: &Row| OF_CLASSES.iter().position(|of| *of == name).and_then(|at| row.values[at]);
        (column(NAME, name), of)
    });
    let times = ["delay_p50_ms", "delay_p99_ms", "delay_p999_ms", "jitter_p99_ms"];
    let heads = [&delivered, &lost].map(|(column, _)| look.unit.heading(column));
    let heads = OF_CLASSES_BY.map(str::to_owned).into_iter().chain(heads).chain(look.headings(arrived, &times));
    let mut grid = grid(&heads.collect::<Vec<_>>());
    for row in classes {
        let pool = arrived.rows.iter().find(|pool| pool.names == row.names);
        let names = row.names.iter().map(|name| name.as_deref().unwrap_or(NONE).to_owned());
        let shares = [&delivered, &lost].map(|(column, of)| show(of(row).map(|it| it.scaled(column.usual().1))));
        let times = times.map(|column| pool.map_or_else(|| NONE.into(), |pool| cell(pool, column)));
        grid.add_row(names.chain(shares).chain(times));
    }
    titled("Arrived at its destination", grid, 2)
}

/// What applications received.
fn goodputs(pooled: &Pooled<'_>, look: Look) -> String {
    let columns = ["goodput_bit_s", "goodput_mean_bit_s", "jain", "transfer_goodput_mean_bit_s"];
    let rows = pooled.rows.iter().collect::<Vec<_>>();
    if rows.is_empty() {
        return String::new();
    }
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

/// Ports at which something was dropped or marked, those with conditioners, and those that are asked for.
fn ports(pooled: &Pooled<'_>, scenario: &Scenario, filter: &Where, look: Look) -> String {
    let conditioned = scenario.common().links.iter().filter(|link| !link.edge.is_empty());
    let conditioned: HashSet<_> = conditioned.map(|link| link.name.as_str()).collect();
    let hop = |pool: &Pool<'_>| text_of(pool, "hop");
    let acted = |pool: &&Pool<'_>| {
        let dropped = counts(pool, "dropped_packets") || counts(pool, "marked_packets");
        dropped || conditioned.contains(&*hop(pool)) || filter.names("hop")
    };
    let hops: HashSet<_> = pooled.rows.iter().filter(acted).map(hop).collect();
    let shown: Vec<_> = pooled.rows.iter().filter(|pool| hops.contains(&hop(pool))).collect();
    if shown.is_empty() && !filter.is_empty() {
        return String::new();
    }
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
    let [marked, arrived] = ["marked_packets", "arrived_packets"].map(|column| pool.values(column));
    let marked = percent(marked.into_iter().zip(arrived).filter_map(|(marked, arrived)| Some([marked?, arrived?])));
    [hop, class, colour, look.rate(pool, "arrived_bytes"), dropped(pool, "delivered_packets"), p50, p99, marked]
}

/// The nodes of trees that are more than one scheduler over queues; nothing if there are none.
fn nodes(pooled: &Pooled<'_>, look: Look) -> String {
    if pooled.rows.is_empty() {
        return String::new();
    }
    let columns = ["throughput_bit_s", "used", "held", WAITS[0], WAITS[1]];
    let heads = ["port", "node", "kind", &look.unit.head("arrived Mbit/s"), "dropped %"].map(str::to_owned);
    let mut grid = grid(&heads.into_iter().chain(look.headings(pooled, &columns)).collect::<Vec<_>>());
    for shown in largest(pooled) {
        grid.add_row(match shown {
            TreeRow::Node(pool) => {
                let names = ["hop", "node", "kind"].map(|key| text_of(pool, key));
                let shares = [look.rate(pool, "arrived_bytes"), dropped(pool, "sent_packets")];
                names.into_iter().chain(shares).chain(columns.map(|column| cell(pool, column))).collect::<Vec<_>>()
            }
            TreeRow::Rest(pools) => rest(&pools, look),
        });
    }
    titled(
        "Trees of queues, node by node; held: the share of time in which packets waited for a shaper's tokens",
        grid,
        3,
    )
}

/// Of the classes of a template, the most that are printed; files have all.
const LARGEST: usize = 10;

/// The end of the name of the class of all addresses that found none.
const OTHERS: &str = "/others";

/// What is printed of the nodes of trees.
enum TreeRow<'a> {
    Node(&'a Pool<'a>),
    /// The smaller classes of a template.
    Rest(Vec<&'a Pool<'a>>),
}

/// The port and the template of a node, if it is a class of one: `customers/10.0.1.7`.
fn template(pool: &Pool<'_>) -> Option<(String, String)> {
    let node = text_of(pool, "node");
    Some((text_of(pool, "hop"), node.split_once('/')?.0.to_owned()))
}

/// All nodes, but of each template the classes that sent most, that of all addresses without a class, and the rest together
/// in the place of the first of them.
fn largest<'a>(pooled: &'a Pooled<'a>) -> Vec<TreeRow<'a>> {
    let mut groups = BTreeMap::<_, Vec<&Pool<'_>>>::new();
    let is_class = |pool: &&Pool<'_>| !text_of(pool, "node").ends_with(".flows");
    for pool in pooled.rows.iter().filter(is_class) {
        template(pool).into_iter().for_each(|key| groups.entry(key).or_default().push(pool));
    }
    groups.retain(|_, pools| pools.len() > LARGEST + 1);
    let sent = |pool: &Pool<'_>| pool.values("sent_bytes").into_iter().flatten().sum::<f64>();
    groups.values_mut().for_each(|pools| pools.sort_by(|a, b| sent(b).total_cmp(&sent(a))));
    let mut shown = Vec::new();
    for pool in &pooled.rows {
        match template(pool) {
            Some(key) if groups.contains_key(&key) || !is_class(&pool) => {
                let Some(mut pools) = groups.get_mut(&key).map(std::mem::take).filter(|pools| !pools.is_empty()) else {
                    continue;
                };
                let is_of_others = |pool: &&Pool<'_>| text_of(pool, "node").ends_with(OTHERS);
                let (others, rest): (Vec<_>, _) = pools.split_off(LARGEST).into_iter().partition(is_of_others);
                shown.extend(pools.into_iter().chain(others).map(TreeRow::Node));
                shown.push(TreeRow::Rest(rest));
            }
            _ => shown.push(TreeRow::Node(pool)),
        }
    }
    shown
}

/// One row for several nodes: what they have together.
fn rest(pools: &[&Pool<'_>], look: Look) -> Vec<String> {
    let sums = |column: &str| {
        let all: Vec<_> = pools.iter().map(|pool| pool.values(column)).collect();
        let sum = |i: usize| all.iter().filter_map(|values| values[i]).sum::<f64>();
        (0..all.first().map_or(0, Vec::len)).map(sum).collect::<Vec<_>>()
    };
    let rate = |column: &str| show(estimate(&sums(column).iter().map(|n| n * 8e-6 / look.seconds).collect::<Vec<_>>()));
    let [dropped, arrived, left] = ["dropped_packets", "arrived_packets", "sent_packets"].map(sums);
    let shares =
        dropped.into_iter().zip(arrived).zip(left).map(|((dropped, arrived), left)| lost(dropped, arrived, left));
    let (hop, template) = template(pools[0]).unwrap_or_default();
    let names = [hop, format!("{template}/... {} more", pools.len()), "class".into()];
    let counts = [rate("arrived_bytes"), percent(shares), rate("sent_bytes")];
    names.into_iter().chain(counts).chain([NONE; 4].map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Packets that wait at the start and others that arrive are dropped, leave, or wait in the end: whoever is dropped, it is
        /// at most all of them, and a share of those that arrived wherever it can be.
        #[test]
        fn no_more_than_all_are_lost(waited in 0u32..100, arrived in 0u32..100, gone in 0.0f64..=1.0, dropped in 0.0f64..=1.0) {
            let there = f64::from(waited + arrived);
            let gone = (gone * there).floor();
            let dropped = (dropped * gone).floor();
            let [part, whole] = lost(dropped, arrived.into(), gone - dropped);
            prop_assert_eq!(part, dropped);
            prop_assert!(part <= whole && whole <= there);
            prop_assert!(dropped > f64::from(arrived) || whole == f64::from(arrived));
        }
    }
}
