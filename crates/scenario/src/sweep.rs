//! A file: its base scenario, and the points of its sweep, a grid over keys, each a scenario with a name and a hash.

use crate::expand::axis::{self, Axis};
use crate::expand::{selector, stated};
use crate::scenario::{self, Scenario};
use crate::text::axis as written;
use crate::text::diagnostics::{Diagnostics, Findings};
use crate::text::file;
use crate::text::options::Options;
use crate::text::tree;
use crate::text::write;
use perhop_core::params::{Node, Place, Problems, Tree};

/// Most points of a sweep.
const MOST_POINTS: usize = 100_000;

/// A checked file.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// What the file says without `[sweep]`.
    pub base: Scenario,
    /// First axis slowest; none without `[sweep]`.
    grid: Vec<Point>,
    stated: Node,
}

/// Two are equal if the same values are in force in both, at every point.
impl PartialEq for Sweep {
    fn eq(&self, other: &Self) -> bool {
        self.base == other.base && self.grid == other.grid
    }
}

impl Sweep {
    /// Reads and checks a file's text: all errors and warnings in one pass, those of every point included.
    ///
    /// # Errors
    /// Everything that is wrong, if anything prevents a run; otherwise warnings come with the sweep.
    pub fn parse(text: &str, options: &Options) -> Result<(Self, Diagnostics), Diagnostics> {
        let mut findings = Findings::default();
        let sweep = Self::read(text, options, &mut findings);
        findings.conclude(sweep)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// As [`Sweep::parse`]; also when the file cannot be read, is empty or not UTF-8.
    pub fn load(path: &std::path::Path, options: &Options) -> Result<(Self, Diagnostics), Diagnostics> {
        Self::parse(&file::text(path)?, options)
    }

    fn read(text: &str, options: &Options, findings: &mut Findings) -> Option<Self> {
        let mut stated = stated::read(text, options, findings)?;
        vary(&mut stated, &options.vary, findings);
        let (stem, problems) = (options.stem(), &mut findings.problems);
        let base = Scenario::read(&tree::without(&stated, "sweep"), &stem, problems);
        let grid = points(&stated, &stem, problems);
        Some(Self { base: base?, grid: grid?, stated })
    }

    /// All points; without `[sweep]` the base alone.
    pub fn points(&self) -> Vec<Point> {
        if self.grid.is_empty() { vec![Point::base(&self.base)] } else { self.grid.clone() }
    }

    /// Whether it has `[sweep]`.
    pub fn is_grid(&self) -> bool {
        !self.grid.is_empty()
    }

    /// The file as written, overrides applied, as TOML; read again it gives an equal sweep.
    pub fn to_toml(&self) -> String {
        scenario::to_toml(&self.stated, self.base.name())
    }
}

impl Scenario {
    /// The base of [`Sweep::parse`].
    ///
    /// # Errors
    /// As [`Sweep::parse`]: an invalid point of the sweep is an error too.
    pub fn parse(text: &str, options: &Options) -> Result<(Self, Diagnostics), Diagnostics> {
        Sweep::parse(text, options).map(|(sweep, found)| (sweep.base, found))
    }

    /// The base of [`Sweep::load`].
    ///
    /// # Errors
    /// As [`Sweep::load`].
    pub fn load(path: &std::path::Path, options: &Options) -> Result<(Self, Diagnostics), Diagnostics> {
        Sweep::load(path, options).map(|(sweep, found)| (sweep.base, found))
    }
}

/// One point of a grid.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// What runs there.
    pub scenario: Scenario,
    /// Swept key and its value, in the order of the axes; a swept table is called by its `kind` or `aqm`.
    pub labels: Vec<(String, String)>,
    /// Name of its directory, without the hash.
    pub name: String,
    /// Of the effective scenario (replications left out, so that more can be added) and of perhop's version:
    /// 16 hexadecimal digits.
    pub hash: String,
}

impl Point {
    /// A scenario that is not swept.
    pub fn base(scenario: &Scenario) -> Self {
        Self::new(scenario.clone(), Vec::new())
    }

    fn new(scenario: Scenario, labels: Vec<(String, String)>) -> Self {
        let hash = hash(&scenario);
        Self { name: directory(&labels), scenario, labels, hash }
    }
}

fn hash(scenario: &Scenario) -> String {
    let mut model = scenario.model.clone();
    *model.settings.replications = 1;
    let text = write::toml(&model.tree());
    let mut hasher = blake3::Hasher::new_derive_key("perhop scenario v1");
    hasher.update(env!("CARGO_PKG_VERSION").as_bytes()).update(b"\n").update(text.as_bytes());
    hasher.finalize().to_hex()[..16].to_owned()
}

/// `flows=10,marker=f-sam`: the last part of each key, without characters unfit for a directory.
fn directory(labels: &[(String, String)]) -> String {
    if labels.is_empty() {
        return "base".into();
    }
    let last = |key: &str| {
        let path = tree::parse_key(selector::bare(key), 0, &mut Problems::default());
        path.and_then(|p| p.last().map(|part| part.0.clone())).unwrap_or_default()
    };
    let fit = |c: char| if c.is_ascii_alphanumeric() || "=,.-_%".contains(c) { c } else { '-' };
    let parts: Vec<_> = labels.iter().map(|(key, value)| format!("{}={value}", last(key))).collect();
    parts.join(",").chars().map(fit).take(100).collect()
}

/// Adds the axes of `--vary` to the tree's `[sweep]`; each replaces the file's axis of the same keys.
fn vary(root: &mut Node, vary: &[String], findings: &mut Findings) {
    let Findings { sources, problems } = findings;
    for text in vary {
        let base = sources.add("--vary", text);
        let Some((key, values)) = written::parse(text, base, problems) else { continue };
        let place = Place { start: base, end: base + tree::split(text).map_or(0, |split| split.0.len()) };
        let known = tree::names(root, "sweep").into_iter().find(|name| axis::same(name, &key)).map(str::to_owned);
        tree::set(root, &[("sweep".to_owned(), place), (known.unwrap_or(key), place)], values, problems);
    }
}

/// The points of `[sweep]`: none without, `None` if an axis or a point is invalid.
fn points(root: &Node, stem: &str, problems: &mut Problems) -> Option<Vec<Point>> {
    let Some(sweep) = tree::get(root, &["sweep"]) else { return Some(Vec::new()) };
    let Tree::Table(table) = &sweep.tree else {
        return problems
            .error("E240", sweep.place, "[sweep] is not a table")
            .help("write [sweep] and \"key\" = [a, b]")
            .none();
    };
    let axes: Vec<_> = table.entries.iter().filter_map(|e| Axis::read(e, problems)).collect();
    axis::check_together(&axes, problems);
    let count = axes.iter().try_fold(1usize, |n, axis| n.checked_mul(axis.len()));
    let Some(count) = count.filter(|&n| n <= MOST_POINTS) else {
        let help = format!("at most {MOST_POINTS}: remove values, or split the sweep");
        return problems.error("E241", sweep.place, "too many points in [sweep]").help(help).none();
    };
    let plain = tree::without(root, "sweep");
    let points: Vec<_> = (0..count).map(|n| Grid { plain: &plain, stem, axes: &axes }.point(n, problems)).collect();
    if axes.len() < table.entries.len() { None } else { points.into_iter().collect() }
}

/// What the points of a sweep are built from.
struct Grid<'a> {
    /// The tree without `[sweep]`.
    plain: &'a Node,
    stem: &'a str,
    axes: &'a [Axis],
}

impl Grid<'_> {
    /// The `n`-th point; the first axis is the slowest.
    fn point(&self, mut n: usize, problems: &mut Problems) -> Option<Point> {
        let mut chosen = Vec::new();
        for axis in self.axes.iter().rev() {
            chosen.push((axis, n % axis.len()));
            n /= axis.len();
        }
        let (mut root, mut labels) = (self.plain.clone(), Vec::new());
        for (axis, step) in chosen.into_iter().rev() {
            axis.set(&mut root, step, problems);
            labels.extend(axis.labels(step));
        }
        Some(Point::new(Scenario::read(&root, self.stem, problems)?, labels))
    }
}
