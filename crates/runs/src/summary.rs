//! What a run prints: means and 95 % intervals over replications, by class, colour and hop.

use super::columns::Table;
use super::run::Replication;
use super::stats::{Estimate, estimate, of_column};
use super::unit::Unit;
use comfy_table::{CellAlignment, ContentArrangement, Table as Grid, presets::NOTHING};
use perhop_core::packet::Colour;
use perhop_core::verdict::Reason;
use perhop_scenario::scenario::Scenario;
use std::collections::{HashMap, HashSet};

/// What stands where nothing was measured, or where nothing has a name.
pub(crate) const NONE: &str = "-";

/// A row of one replication's table, if it has it.
type Row<'a> = Option<(&'a Table, usize)>;

/// The rows of one table over all replications.
struct Pooled<'a> {
    /// In order of first appearance of each part of their keys, colours in their own.
    rows: Vec<Pool<'a>>,
}

/// A row of a table over all replications.
struct Pool<'a> {
    /// Its names.
    key: Vec<&'a str>,
    /// For each replication its row.
    of: Vec<Row<'a>>,
    /// Time that the counts cover.
    seconds: f64,
}

impl<'a> Pooled<'a> {
    fn new(replications: &[&'a Replication], table: &str, keys: &[&str], seconds: f64) -> Self {
        let (mut rows, mut known) = (Vec::<Pool<'a>>::new(), HashMap::new());
        for (i, replication) in replications.iter().enumerate() {
            let table = replication.tables.iter().find(|t| t.name == table).expect("every replication has it");
            let names: Vec<_> = keys.iter().map(|key| table.texts(key)).collect();
            for row in 0..table.rows() {
                let key: Vec<_> = names.iter().map(|names| names[row].as_deref().unwrap_or_default()).collect();
                let at = *known.entry(key).or_insert_with_key(|key| {
                    rows.push(Pool { key: key.clone(), of: vec![None; replications.len()], seconds });
                    rows.len() - 1
                });
                rows[at].of[i] = Some((table, row));
            }
        }
        let mut pooled = Self { rows };
        pooled.sort(keys.len());
        pooled
    }

    /// In the order of `classes`, each of them: one without a row gets one under the name [`NONE`].
    fn of_all(mut self, classes: &'a [String], replications: usize, seconds: f64) -> Self {
        let having: HashSet<_> = self.rows.iter().map(|pool| pool.key[0]).collect();
        for class in classes.iter().filter(|class| !having.contains(class.as_str())) {
            self.rows.push(Pool { key: vec![class, NONE], of: vec![None; replications], seconds });
        }
        let ranks = ranks(classes.iter().map(String::as_str));
        self.rows.sort_by_key(|pool| ranks.get(pool.key[0]));
        self
    }

    /// By their keys of so many parts: a row that only a later replication has is placed with the others of its port and
    /// class.
    fn sort(&mut self, parts: usize) {
        let of_part = |part: usize| {
            let colours = Colour::ALL.iter().map(|colour| colour.name()).filter(|_| part + 1 == parts);
            ranks(colours.chain(self.rows.iter().map(|pool| pool.key[part])))
        };
        let by_part: Vec<_> = (0..parts).map(of_part).collect();
        let rank = |pool: &Pool<'_>| pool.key.iter().zip(&by_part).map(|(name, ranks)| ranks[name]).collect::<Vec<_>>();
        self.rows.sort_by_cached_key(rank);
    }
}

impl Pool<'_> {
    /// A measure over replications; those in which nothing was measured are excluded.
    fn real(&self, column: &str) -> Option<Estimate> {
        let values: Vec<_> = self.of.iter().flatten().filter_map(|(t, row)| t.reals(column)[*row]).collect();
        of_column(column, &values)
    }

    /// A count per second over replications, in 10^6 bit/s for bytes; a row that is absent counted nothing.
    fn mbit_s(&self, column: &str) -> Option<Estimate> {
        let of = |row: &Row<'_>| row.map_or(0, |(t, row)| t.integers(column)[row].unwrap_or(0));
        let values: Vec<_> = self.of.iter().map(|r| of(r) as f64 * 8e-6 / self.seconds).collect();
        estimate(&values)
    }

    /// Share of packets in percent.
    fn percent(&self, part: &str, whole: &str) -> Option<Estimate> {
        let share = |(t, row): &(&Table, usize)| {
            let of = |c: &str| t.integers(c)[*row].unwrap_or(0) as f64;
            (of(whole) > 0.0).then(|| 100.0 * of(part) / of(whole))
        };
        let values: Vec<_> = self.of.iter().flatten().filter_map(share).collect();
        of_column("part_percent", &values)
    }

    /// Whether anything was counted.
    fn counts(&self, column: &str) -> bool {
        self.mbit_s(column).is_some_and(|e| e.mean > 0.0)
    }
}

/// By name, where it first appears among others.
fn ranks<'a>(names: impl IntoIterator<Item = &'a str>) -> HashMap<&'a str, usize> {
    let mut ranks = HashMap::new();
    for name in names {
        let next = ranks.len();
        ranks.entry(name).or_insert(next);
    }
    ranks
}

fn show(estimate: Option<Estimate>, decimals: usize) -> String {
    estimate.map_or_else(|| NONE.into(), |it| it.text(decimals))
}

/// A table for the terminal, with its head.
pub fn grid(header: &[&str]) -> Grid {
    let mut grid = Grid::new();
    *grid.style_mut() = NOTHING;
    grid.set_content_arrangement(ContentArrangement::Disabled).set_header(header);
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
pub fn text(scenario: &Scenario, replications: &[&Replication]) -> String {
    let settings = scenario.settings();
    let seconds = (*settings.duration - *settings.warmup).seconds();
    let unit = Unit::of([scenario]);
    let conditioned = scenario.common().links.iter().filter(|link| !link.edge.is_empty());
    let names = conditioned.map(|link| link.name.as_str()).collect();
    let arrived = Pooled::new(replications, "arrivals", &["class", "colour"], seconds).of_all(
        &scenario.common().classes,
        replications.len(),
        seconds,
    );
    let traffic = Pooled::new(replications, "traffic", &["class", "traffic"], seconds);
    let parts = [
        heading(scenario, replications.len()),
        destinations(&arrived, unit),
        goodputs(&traffic),
        users(&traffic),
        ports(&Pooled::new(replications, "summary", &["hop", "class", "colour"], seconds), &names, unit),
        nodes(&Pooled::new(replications, "nodes", &["hop", "node", "kind"], seconds), unit),
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
        let tables = replications.iter().flat_map(|r| r.tables.iter().filter(|t| t.name == "summary"));
        let packets: i64 = tables.flat_map(|t| t.integers(&column).iter().flatten()).sum();
        format!("{} {packets}", reason.name())
    };
    format!("packets dropped, all ports and replications: {}", Reason::ALL.map(total).join(", "))
}

/// What reached its destination, of every class: also of one none of whose packets did.
fn destinations(pooled: &Pooled<'_>, unit: Unit) -> String {
    let delivered = unit.head("delivered Mbit/s");
    let mut grid = grid(&["class", "colour", &delivered, "delay p50 ms", "p99 ms", "p99.9 ms", "jitter p99 ms"]);
    for pool in &pooled.rows {
        grid.add_row([
            pool.key[0].to_owned(),
            pool.key[1].to_owned(),
            show(pool.mbit_s("delivered_bytes"), 3),
            show(pool.real("delay_p50_ms"), 1),
            show(pool.real("delay_p99_ms"), 1),
            show(pool.real("delay_p999_ms"), 1),
            show(pool.real("jitter_p99_ms"), 1),
        ]);
    }
    titled("Arrived at its destination", grid, 2)
}

/// What applications received.
fn goodputs(pooled: &Pooled<'_>) -> String {
    let mut grid = grid(&["traffic", "goodput Mbit/s", "per flow kbit/s", "Jain", "per transfer kbit/s"]);
    let scaled = |e: Option<Estimate>, by: f64| e.map(|e| e.scaled(by));
    for pool in &pooled.rows {
        grid.add_row([
            pool.key[1].to_owned(),
            show(scaled(pool.real("goodput_bit_s"), 1e-6), 3),
            show(scaled(pool.real("goodput_mean_bit_s"), 1e-3), 1),
            show(pool.real("jain"), 3),
            show(scaled(pool.real("transfer_goodput_mean_bit_s"), 1e-3), 1),
        ]);
    }
    titled("Goodput: payload that applications got in order", grid, 1)
}

/// The users' waits; nothing if there are none.
fn users(pooled: &Pooled<'_>) -> String {
    let measures = [
        ("packet delay ms", "session_delay_mean_ms", 1),
        ("session s", "session_mean_s", 3),
        ("first byte ms", "first_byte_mean_ms", 1),
        ("last byte ms", "last_byte_mean_ms", 1),
        ("page s", "page_mean_s", 3),
    ];
    let felt = |pool: &Pool<'_>, column| pool.real(column).is_some();
    let user = |pool: &&Pool<'_>| felt(pool, "session_delay_mean_ms") || felt(pool, "page_mean_s");
    let users: Vec<_> = pooled.rows.iter().filter(user).collect();
    if users.is_empty() {
        return String::new();
    }
    let measured = measures.into_iter().filter(|(_, column, _)| users.iter().any(|pool| felt(pool, column)));
    let measured: Vec<_> = measured.collect();
    let header: Vec<_> = ["traffic"].into_iter().chain(measured.iter().map(|m| m.0)).collect();
    let mut grid = grid(&header);
    for pool in users {
        let cells = measured.iter().map(|(_, column, decimals)| show(pool.real(column), *decimals));
        grid.add_row([pool.key[1].to_owned()].into_iter().chain(cells));
    }
    titled("Users: what they waited for", grid, 1)
}

/// Ports at which something was dropped or marked, and those with conditioners.
fn ports(pooled: &Pooled<'_>, conditioned: &HashSet<&str>, unit: Unit) -> String {
    let acted = |pool: &&Pool<'_>| {
        pool.counts("dropped_bytes") || pool.counts("marked_bytes") || conditioned.contains(pool.key[0])
    };
    let hops: HashSet<_> = pooled.rows.iter().filter(acted).map(|pool| pool.key[0]).collect();
    let shown: Vec<_> = pooled.rows.iter().filter(|pool| hops.contains(pool.key[0])).collect();
    if shown.is_empty() {
        return "No port has a conditioner, and none dropped or marked a packet.".into();
    }
    let ecn = shown.iter().any(|pool| pool.counts("marked_bytes"));
    let arrived = unit.head("arrived Mbit/s");
    let mut header = vec!["port", "class", "colour", &arrived, "dropped %", "wait p50 ms", "p99 ms"];
    header.extend(ecn.then_some("ECN-marked %"));
    let mut grid = grid(&header);
    for pool in shown {
        grid.add_row(port(pool).into_iter().take(header.len()));
    }
    titled("Ports with conditioners or losses; the colour is that after the conditioners", grid, 3)
}

/// The nodes of trees that are more than one scheduler over queues; nothing if there are none.
fn nodes(pooled: &Pooled<'_>, unit: Unit) -> String {
    if pooled.rows.is_empty() {
        return String::new();
    }
    let [arrived, sent] = ["arrived Mbit/s", "sent Mbit/s"].map(|head| unit.head(head));
    let mut grid = grid(&[
        "port",
        "node",
        "kind",
        &arrived,
        "dropped %",
        &sent,
        "of its rate %",
        "held %",
        "wait p50 ms",
        "p99 ms",
    ]);
    let percent = |pool: &Pool<'_>, column| show(pool.real(column).map(|it| it.scaled(100.0)), 1);
    for pool in &pooled.rows {
        grid.add_row([
            pool.key[0].to_owned(),
            pool.key[1].to_owned(),
            pool.key[2].to_owned(),
            show(pool.mbit_s("arrived_bytes"), 3),
            show(pool.percent("dropped_packets", "arrived_packets"), 2),
            show(pool.mbit_s("sent_bytes"), 3),
            percent(pool, "used"),
            percent(pool, "held"),
            show(pool.real("wait_p50_ms"), 1),
            show(pool.real("wait_p99_ms"), 1),
        ]);
    }
    titled(
        "Trees of queues, node by node; held: the share of time in which packets waited for a shaper's tokens",
        grid,
        3,
    )
}

/// One row of [`ports`], the ECN column last.
fn port(pool: &Pool<'_>) -> [String; 8] {
    let percent = |part| show(pool.percent(part, "arrived_packets"), 2);
    [
        pool.key[0].to_owned(),
        pool.key[1].to_owned(),
        pool.key[2].to_owned(),
        show(pool.mbit_s("arrived_bytes"), 3),
        percent("dropped_packets"),
        show(pool.real("wait_p50_ms"), 1),
        show(pool.real("wait_p99_ms"), 1),
        percent("marked_packets"),
    ]
}
