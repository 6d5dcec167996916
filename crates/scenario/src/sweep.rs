//! A file: its base scenario, and the points of its sweep, a grid over keys, each a scenario with a name and a hash.

use crate::bounds::SEED;
use crate::check::settings::unfit;
use crate::check::unnamed;
use crate::expand::axis::{self, Axis};
use crate::expand::{reserved, selector, size, stated};
use crate::scenario::{self, Scenario};
use crate::sections::kind::Kind;
use crate::text::axis as written;
use crate::text::diagnostics::{Diagnostic, Diagnostics, Findings};
use crate::text::file;
use crate::text::input::Input;
use crate::text::options::{Options, Override};
use crate::text::tree;
use crate::text::write;
use perhop_core::params::{Node, Place, Problem, Problems, Tree};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

/// Most points of a sweep.
const MOST_POINTS: usize = 100_000;

/// A checked file.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// What the file says without `[sweep]`.
    pub base: Scenario,
    /// The name of this run of it, if it has one.
    run: Option<String>,
    /// First axis slowest; none without `[sweep]`.
    grid: Vec<Point>,
    stated: Arc<Node>,
    /// Of `stated`, once it was asked for: every task of a cluster asks.
    base_hash: OnceLock<String>,
}

/// Two are equal if the same values are in force in both, at every point.
impl PartialEq for Sweep {
    fn eq(&self, other: &Self) -> bool {
        self.base == other.base && self.grid == other.grid
    }
}

impl Sweep {
    /// Reads and checks a file's text: all errors in one pass, and warnings, those of every point included.
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
        Self::parse(&file::text(path, options.captures)?, options)
    }

    fn read(text: &str, options: &Options, findings: &mut Findings) -> Option<Self> {
        let (stated, base) = base(text.into(), options, findings)?;
        let mut grid = Vec::new();
        points(&stated, options, &mut findings.problems, |point| grid.push(point))?;
        Some(Self { base: base?, run: None, grid, stated, base_hash: OnceLock::new() })
    }

    /// [`Sweep::parse`] without what it reads, which is forgotten point by point: what is found, and what a reader should
    /// know and no rule forbids.
    ///
    /// # Errors
    /// As [`Sweep::parse`].
    pub fn check<'a>(
        input: impl Into<Input<'a>>,
        options: &Options,
    ) -> Result<(Diagnostics, Vec<&'static str>), Diagnostics> {
        let mut findings = Findings::default();
        let read = Self::walk(input.into(), options, &mut findings);
        findings.conclude(read).map(|(notes, found)| (found, notes))
    }

    fn walk(input: Input<'_>, options: &Options, findings: &mut Findings) -> Option<Vec<&'static str>> {
        let (stated, base) = base(input, options, findings)?;
        let (mut swept, mut unnamed) = (false, false);
        let each = |point: Point| {
            swept = true;
            unnamed |= is_unnamed(&point.scenario);
        };
        points(&stated, options, &mut findings.problems, each)?;
        let any = if swept { unnamed } else { is_unnamed(&base?) };
        Some(any.then_some(unnamed::NOTE).into_iter().collect())
    }

    /// All points; without `[sweep]` the base alone.
    pub fn points(&self) -> Vec<Point> {
        let mut points = if self.grid.is_empty() { vec![Point::base(&self.base)] } else { self.grid.clone() };
        points.iter_mut().for_each(|point| point.run.clone_from(&self.run));
        points
    }

    /// The base as a point: what `perhop run` runs.
    pub fn base_point(&self) -> Point {
        Point { run: self.run.clone(), ..Point::base(&self.base) }
    }

    /// The name of this run of it, if it has one.
    pub fn run_name(&self) -> Option<&str> {
        self.run.as_deref()
    }

    /// The same under a name: its directories begin with it.
    ///
    /// # Errors
    /// When the name is unfit for a directory.
    pub fn named(self, name: &str) -> Result<Self, Diagnostic> {
        match unfit(name) {
            Some(fault) => Err(Diagnostic::error(
                "E011",
                format!("name {fault}"),
                "it becomes the name of a directory: letters, digits, `-`, `_`, `.` and spaces within",
            )),
            None => Ok(Self { run: Some(name.to_owned()), ..self }),
        }
    }

    /// The same with another seed: that of its base and of every point.
    ///
    /// # Errors
    /// When the seed is swept, or more than a file can state.
    pub fn seeded(self, seed: u64) -> Result<Self, Diagnostic> {
        SEED.check(seed)?;
        let swept = self.grid.iter().any(|point| point.scenario.settings().seed != self.base.settings().seed);
        if swept {
            let message = format!("seed {seed} for a scenario that sweeps its seed: give only one of the two");
            return Err(Diagnostic::of_call(message, ""));
        }
        let grid = self.grid.into_iter().map(|point| point.seeded(seed)).collect();
        let mut stated = self.stated;
        scenario::set_seed(Arc::make_mut(&mut stated), seed);
        Ok(Self { base: self.base.seeded(seed), grid, stated, base_hash: OnceLock::new(), ..self })
    }

    /// Hash of what all points share: the file as written, overrides applied, without the swept values, its name and
    /// the number of replications. Runs of one base belong together.
    pub fn base_hash(&self) -> &str {
        self.base_hash.get_or_init(|| self.hash_base())
    }

    fn hash_base(&self) -> String {
        let (mut root, mut ignored) = (tree::without(&self.stated, "sweep").into_owned(), Problems::default());
        let swept: Node = Tree::Text("swept".into()).into();
        if let Some(Tree::Table(axes)) = tree::get(&self.stated, &["sweep"]).map(|node| &node.tree) {
            let axes = axes.entries.iter().filter_map(|entry| Axis::read(entry, &mut Problems::default()));
            axes.for_each(|axis| axis.set_all(&mut root, &swept, &mut ignored));
        }
        for key in ["name", "replications"] {
            let path = ["scenario", key].map(|part| (part.to_owned(), root.place));
            tree::set(&mut root, &path, swept.clone(), &mut ignored);
        }
        digest("perhop base v1", &[&write::toml(&root.tree)])
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

/// The tree of a file with its sweep, and what it says without; `None` if it cannot be read at all.
fn base(input: Input<'_>, options: &Options, findings: &mut Findings) -> Option<(Arc<Node>, Option<Scenario>)> {
    let mut stated = stated::read(input, options, Kind::Scenario, findings)?;
    vary(&mut stated, &options.vary, findings);
    let stated = Arc::new(stated);
    let plain = match tree::without(&stated, "sweep") {
        Cow::Borrowed(_) => stated.clone(),
        Cow::Owned(plain) => Arc::new(plain),
    };
    let base = Scenario::read(plain, options, &mut findings.problems);
    Some((stated, base))
}

fn is_unnamed(scenario: &Scenario) -> bool {
    unnamed::any(&scenario.model, &scenario.built.traffic)
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
    /// Its position in the grid: the first axis is the slowest.
    pub index: usize,
    /// What it is called in its directory's name: `base`, `cbs_5kB,flows_10`.
    pub name: String,
    /// The name of the run it belongs to.
    pub run: Option<String>,
    /// Of the effective scenario (replications left out, so that more can be added) and of perhop's version:
    /// 16 hexadecimal digits.
    pub hash: String,
}

impl Point {
    /// A scenario that is not swept.
    pub fn base(scenario: &Scenario) -> Self {
        Self::new(scenario.clone(), Vec::new(), 0)
    }

    fn new(scenario: Scenario, labels: Vec<(String, String)>, index: usize) -> Self {
        let hash = hash(&scenario);
        Self { name: called(&labels), scenario, labels, index, run: None, hash }
    }

    /// The same point, as its scenario was changed.
    pub fn running(self, scenario: Scenario) -> Self {
        let point = Self::new(scenario, self.labels, self.index);
        Self { run: self.run, ..point }
    }

    fn seeded(self, seed: u64) -> Self {
        let point = Self::new(self.scenario.seeded(seed), self.labels, self.index);
        Self { run: self.run, ..point }
    }

    /// The name of its directory: `cbs_5kB,flows_10-4fb99e66`, behind the run's name if it has one. There is no `=` in
    /// it: readers of Parquet take `a=b` in a path for a column `a`.
    pub fn directory(&self) -> String {
        let name = match (&self.run, self.labels.is_empty()) {
            (None, _) => self.name.clone(),
            (Some(run), true) => run.clone(),
            (Some(run), false) => format!("{run},{}", self.name),
        };
        // Where a name was cut off, only the hash tells points apart.
        let digits = if self.name.len() < LONGEST_CALLED { 8 } else { 16 };
        format!("{name}-{}", &self.hash[..digits])
    }
}

fn hash(scenario: &Scenario) -> String {
    let mut settings = scenario.model.settings.clone();
    *settings.replications = 1;
    digest("perhop scenario v1", &[env!("CARGO_PKG_VERSION"), "\n", &scenario.model.toml(&settings)])
}

/// 16 hexadecimal digits of BLAKE3.
fn digest(context: &str, text: &[&str]) -> String {
    let mut hasher = blake3::Hasher::new_derive_key(context);
    text.iter().for_each(|part| _ = hasher.update(part.as_bytes()));
    hasher.finalize().to_hex()[..16].to_owned()
}

/// Most characters of what a point is called.
const LONGEST_CALLED: usize = 100;

/// `flows_10,marker_f-sam`: the last parts of each key that tell it from the others, and its value, without characters
/// unfit for a directory.
fn called(labels: &[(String, String)]) -> String {
    if labels.is_empty() {
        return "base".into();
    }
    let fit = |c: char| if c.is_ascii_alphanumeric() || ",.-_%".contains(c) { c } else { '-' };
    let parts: Vec<_> =
        short_keys(labels).into_iter().zip(labels).map(|(key, label)| format!("{key}_{}", label.1)).collect();
    parts.join(",").chars().map(fit).take(LONGEST_CALLED).collect()
}

/// The last parts of each key that tell it from the others.
pub fn short_keys(labels: &[(String, String)]) -> Vec<String> {
    let keys: Vec<_> = labels.iter().map(|(key, _)| key_parts(key)).collect();
    keys.iter().map(|key| shortest(key, &keys)).collect()
}

fn key_parts(key: &str) -> Vec<String> {
    let path = tree::parse_key(selector::bare(key), 0, &mut Problems::default());
    path.map_or_else(|| vec![key.to_owned()], |parts| parts.into_iter().map(|part| part.0).collect())
}

/// The last part of a key; more of its parts if another key ends with the same.
fn shortest(key: &[String], all: &[Vec<String>]) -> String {
    let alike = |end: &[String]| all.iter().filter(|other| other.ends_with(end)).count() > 1;
    let ends = (0..key.len()).rev().map(|from| &key[from..]);
    ends.into_iter().find(|end| !alike(end)).unwrap_or(key).join(".")
}

/// Adds the axes of `--vary` to the tree's `[sweep]`; each replaces the file's axis of the same keys.
fn vary(root: &mut Node, vary: &[Override], findings: &mut Findings) {
    let Findings { sources, problems } = findings;
    for Override { flag, text } in vary {
        let base = sources.add(flag, text);
        let Some((key, values)) = written::parse(text, base, problems) else { continue };
        let place = Place { start: base, end: base + tree::split(text).map_or(0, |split| split.0.len()) };
        let known = tree::names(root, "sweep").into_iter().find(|name| axis::same(name, &key)).map(str::to_owned);
        tree::set(root, &[("sweep".to_owned(), place), (known.unwrap_or(key), place)], values, problems);
    }
}

/// Hands out the points of `[sweep]`: none without, `None` if an axis or a point is invalid.
fn points(root: &Node, options: &Options, problems: &mut Problems, mut each: impl FnMut(Point)) -> Option<()> {
    let Some(sweep) = tree::get(root, &["sweep"]) else { return Some(()) };
    let Tree::Table(table) = &sweep.tree else {
        return problems
            .error("E240", sweep.place, "[sweep] is not a table")
            .help("write [sweep] and \"key\" = [a, b]")
            .none();
    };
    let axes: Vec<_> = table.entries.iter().filter_map(|e| Axis::read(e, problems)).collect();
    axis::check_together(&axes, problems);
    axes.iter().for_each(|axis| refuse_reserved(axis, problems));
    let count = axes.iter().try_fold(1usize, |n, axis| n.checked_mul(axis.len()));
    let Some(count) = count.filter(|&n| n <= MOST_POINTS) else {
        let help = format!("at most {MOST_POINTS} are allowed: remove values, or split the sweep");
        return problems.error("E241", sweep.place, "too many points in [sweep]").help(help).none();
    };
    let plain = tree::without(root, "sweep");
    let values = (count as u64).saturating_mul(size::expanded(&plain));
    if values > size::MOST_SWEPT {
        let message = format!("the {count} points of this sweep hold {values} values");
        let help = format!("at most {} are allowed: run fewer points, or a smaller scenario", size::MOST_SWEPT);
        return problems.error("E270", sweep.place, message).help(help).none();
    }
    let (grid, mut seen) = (Grid { plain: &plain, options, axes: &axes }, BTreeSet::new());
    let mut sound = axes.len() == table.entries.len();
    let mut unused = unused_in(&problems.list);
    for index in 0..count {
        let found = problems.list.len();
        let point = grid.point(index, problems);
        sound &= point.is_some();
        point.into_iter().for_each(&mut each);
        unused = &unused & &unused_in(&problems.list[found..]);
        forget_repeated(problems, found, &mut seen);
    }
    // What one point uses is used.
    problems.list.retain(|it| it.code != UNUSED || it.place.is_some_and(|place| unused.contains(&place.start)));
    sound.then_some(())
}

/// The code of a table that is named nowhere.
const UNUSED: &str = "W307";

/// Where the tables are of which these problems say so.
fn unused_in(problems: &[Problem]) -> BTreeSet<usize> {
    problems.iter().filter(|it| it.code == UNUSED).filter_map(|it| Some(it.place?.start)).collect()
}

/// Code, place and words of a problem.
type Known = (&'static str, Option<(usize, usize)>, String, String);

/// Forgets what was said of a point before: of many points each would be kept, and shown once.
fn forget_repeated(problems: &mut Problems, from: usize, seen: &mut BTreeSet<Known>) {
    let new = problems.list.split_off(from).into_iter();
    problems.list.extend(new.filter(|it| {
        let place = it.place.map(|place| (place.start, place.end));
        seen.insert((it.code, place, it.sentence().into_owned(), it.label.clone()))
    }));
}

/// Reports keys that results could not tell from their own columns.
fn refuse_reserved(axis: &Axis, problems: &mut Problems) {
    for name in axis.columns() {
        let columns = reserved::columns(name);
        if !columns.is_empty() {
            let message = format!("an axis is called `{name}`, and so is a column of results: {}", columns.join(", "));
            let help = "give the axis another name: { values = [..], as = \"NAME\" }; docs/reference/results.md has all columns";
            problems.error("E240", axis.place(), message).help(help);
        }
    }
}

/// What the points of a sweep are built from.
struct Grid<'a> {
    /// The tree without `[sweep]`.
    plain: &'a Node,
    options: &'a Options,
    axes: &'a [Axis],
}

impl Grid<'_> {
    /// The `n`-th point; the first axis is the slowest.
    fn point(&self, index: usize, problems: &mut Problems) -> Option<Point> {
        let (mut n, mut chosen) = (index, Vec::new());
        for axis in self.axes.iter().rev() {
            chosen.push((axis, n % axis.len()));
            n /= axis.len();
        }
        let (mut root, mut labels) = (self.plain.clone(), Vec::new());
        for (axis, step) in chosen.into_iter().rev() {
            axis.set(&mut root, step, problems);
            labels.extend(axis.labels(step));
        }
        Some(Point::new(Scenario::read(Arc::new(root), self.options, problems)?, labels, index))
    }
}
