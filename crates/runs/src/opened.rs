//! What a reader takes of a directory: the newest of its runs, with the newest version of each point; each replication once.

use super::disk::{Damaged, Entry, MANIFEST, Stored, load_all, numbers};
use super::inventory::{self, ReplicationDir, listed};
use super::order::order;
use perhop_capture::replay::Files;
use perhop_core::foreign::SOURCE;
use perhop_core::params::suggest;
use perhop_results::Replication;
use perhop_results::classes::Classes;
use perhop_results::tables::columns::Table;
use perhop_scenario::{Options, Scenario, Sweep};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Directories that a note lists.
const MOST_NAMED: usize = 3;

/// The newest run in a directory.
#[derive(Clone, Debug)]
pub struct Opened {
    /// What is in force at its first point.
    pub scenario: Scenario,
    /// A directory of each point, as the sweep states them; in natural order if they are of several sweeps.
    pub points: Vec<ReplicationDir>,
    /// By point and number, compared with the hashes in their manifests.
    pub replications: Vec<Replication>,
    /// What was skipped.
    pub note: Option<String>,
    /// Why a point has no table `classes`.
    pub unread: Option<String>,
}

/// Why nothing is taken.
#[derive(Clone, Debug)]
pub enum Refused {
    /// Nothing is there.
    Missing(String),
    /// What is there is of several scenarios, of another version, or damaged.
    Unfit(String),
}

impl From<Damaged> for Refused {
    fn from(damaged: Damaged) -> Self {
        Self::Unfit(damaged.to_string())
    }
}

/// Directories of replications by the hash of the point, and the number.
type Places<'a> = BTreeMap<(&'a str, u32), &'a ReplicationDir>;

/// The newest run below a directory; if there is no such directory, of the run with this name in the one above.
///
/// # Errors
/// When there is none, something is damaged, or runs are of several scenarios.
pub fn open(dir: &Path, resolve: &dyn Fn(&str)) -> Result<Opened, Refused> {
    let every = there(dir, read)?;
    refuse_several(dir, &every)?;
    let places = places(&every);
    let points = points(&places);
    points.iter().for_each(|point| resolve(&point.common.effective));
    let (scenario, replications) = (scenario(points[0])?, replications(&points, &places)?);
    let (note, unread) = (note(&every, &places), unread(&points, &replications));
    Ok(Opened { scenario, points: points.into_iter().cloned().collect(), replications, note, unread })
}

/// Why the scenario in force of a point cannot be read, without which its classes are unknown; of the first such point.
fn unread(points: &[&ReplicationDir], replications: &[Replication]) -> Option<String> {
    let without = replications.iter().find(|made| made.tables.iter().all(|table| table.name != "classes"))?;
    match scenario(points[without.point]).err()? {
        Refused::Missing(why) | Refused::Unfit(why) => Some(why),
    }
}

/// The directories of replications at an address, and what becomes of damaged ones among them: a directory, or beside the
/// directories of points the name of a run or its number.
pub(crate) fn there(
    address: &Path,
    read: impl Fn(&Path) -> Result<Vec<ReplicationDir>, Damaged>,
) -> Result<Vec<ReplicationDir>, Refused> {
    let finished = |dir: &Path| {
        let mut found = read(dir)?;
        found.retain(|found| !found.numbers.is_empty());
        Ok::<_, Damaged>(found)
    };
    let dir = searched(address);
    if dir == address {
        let every = finished(address)?;
        let none = || format!("no finished replication below {}: `perhop run` writes runs/NAME", address.display());
        return if every.is_empty() { Err(Refused::Missing(none())) } else { Ok(every) };
    }
    let every = if dir.is_dir() { finished(dir)? } else { Vec::new() };
    let called = address.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let mut of_run: Vec<_> = every.iter().filter(|found| found.is_of(called)).cloned().collect();
    let is_beside = |found: &ReplicationDir| found.point_dir().parent() == Some(dir);
    // further down it may be a copy
    if of_run.iter().any(is_beside) {
        of_run.retain(is_beside);
    }
    if of_run.is_empty() { Err(Refused::Missing(unknown(address, every))) } else { Ok(of_run) }
}

/// The directory in which results at an address are looked for: it, if it is one, or else that in which it would be.
pub fn searched(address: &Path) -> &Path {
    let above = || address.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if address.is_dir() { address } else { above() }
}

/// No run has this address; which are like it.
fn unknown(address: &Path, every: Vec<ReplicationDir>) -> String {
    let runs: Vec<_> = listed(every).iter().map(|run| run.address.display().to_string()).collect();
    let like = match runs.as_slice() {
        [] => String::new(),
        runs => {
            format!("; {}", suggest(&address.to_string_lossy(), &runs.iter().map(String::as_str).collect::<Vec<_>>()))
        }
    };
    let address = address.display();
    format!("{address} is not a directory, and no run there has this name: `perhop runs` lists all runs{like}")
}

fn read(dir: &Path) -> Result<Vec<ReplicationDir>, Damaged> {
    inventory::scan(dir).into_iter().collect()
}

fn refuse_several(dir: &Path, every: &[ReplicationDir]) -> Result<(), Refused> {
    let names: BTreeSet<_> = every.iter().map(|found| found.common.scenario.as_str()).collect();
    let names: Vec<_> = names.into_iter().collect();
    match names.as_slice() {
        [_] => Ok(()),
        _ => Err(Refused::Unfit(format!(
            "{} holds runs of several scenarios ({}): name one of them",
            dir.display(),
            names.join(", ")
        ))),
    }
}

/// Those of the newest run, of each point the newest version. One that is in a directory of its own as well as in a block
/// is taken from its own.
fn places(every: &[ReplicationDir]) -> Places<'_> {
    let newest = every.iter().max_by_key(|found| found.written).expect("not empty").key();
    let mut kept: Vec<_> = every.iter().filter(|found| found.key() == newest).collect();
    kept.sort_by_key(|found| found.written);
    let current: BTreeMap<_, _> = kept.iter().map(|found| (&found.common.point.0, hash(found))).collect();
    kept.retain(|found| current[&found.common.point.0] == hash(found));
    kept.sort_by_key(|found| is_alone(&found.dir));
    kept.iter().flat_map(|found| found.numbers.iter().map(|&number| ((hash(found), number), *found))).collect()
}

/// Whether a directory of replications has one.
fn is_alone(dir: &Path) -> bool {
    numbers(dir).is_some_and(|numbers| numbers.start() == numbers.end())
}

fn hash(found: &ReplicationDir) -> &str {
    &found.common.point_hash
}

/// A directory of each point, in order.
fn points<'a>(places: &Places<'a>) -> Vec<&'a ReplicationDir> {
    let points: BTreeMap<_, _> = places.iter().map(|(&(hash, _), &found)| (hash, found)).collect();
    let mut points: Vec<_> = points.into_values().collect();
    order(&mut points, |point| (point.common.index, &point.common.point));
    points
}

fn replications(points: &[&ReplicationDir], places: &Places) -> Result<Vec<Replication>, Damaged> {
    let index: BTreeMap<_, _> = points.iter().enumerate().map(|(i, point)| (hash(point), i)).collect();
    let dirs: BTreeSet<_> = places.values().map(|found| found.dir.clone()).collect();
    let dirs: Vec<_> = dirs.into_iter().collect();
    let (stored, classes) = (load_all(&dirs)?, points.par_iter().map(|point| classes(point)).collect::<Vec<_>>());
    let mut read: BTreeMap<_, _> = dirs.into_iter().zip(stored).flat_map(|(dir, stored)| each(&dir, stored)).collect();
    let take = |(&(hash, number), found): (&(&str, u32), &&ReplicationDir)| {
        let made = read.remove(&(found.dir.clone(), number));
        let replaced =
            || Damaged { dir: found.dir.clone(), what: "the directory was replaced while perhop read it".to_owned() };
        let (mut made, point) = (made.ok_or_else(replaced)?, index[hash]);
        made.tables.extend(classes[point].as_ref().map(|classes| classes.of(&made.tables)));
        Ok(Replication { point, ..made })
    };
    let mut taken = places.iter().map(take).collect::<Result<Vec<_>, Damaged>>()?;
    taken.sort_by_key(|replication| (replication.point, replication.replication));
    Ok(taken)
}

/// What each class of a point got, as far as the scenario in force can be read.
fn classes(point: &ReplicationDir) -> Option<Classes> {
    in_force(&point.common.effective).map(|scenario| Classes::new(&scenario))
}

/// A scenario in force, as far as this version can read it.
fn in_force(effective: &str) -> Option<Scenario> {
    Scenario::parse(&of_any_text(effective), &options()).ok().map(|(scenario, _)| scenario)
}

fn options() -> Options {
    Options::new(MANIFEST).captures(&Files)
}

/// The replications of a directory.
fn each(dir: &Path, stored: Stored) -> Vec<((PathBuf, u32), Replication)> {
    let read = stored.manifest.replications.into_iter().zip(stored.tables);
    let one = |(entry, tables): (Entry, Vec<Table>)| {
        let (made, dir) = (entry.with_tables(tables), dir.to_owned());
        ((dir.clone(), made.replication), Replication { reused: true, dir: Some(dir), ..made })
    };
    read.map(one).collect()
}

fn scenario(first: &ReplicationDir) -> Result<Scenario, Refused> {
    let effective = of_any_text(&first.common.effective);
    let read = Sweep::parse(&effective, &options());
    read.map(|(sweep, _)| sweep.base).map_err(|mut found| {
        let (dir, theirs, ours) = (first.dir.display(), &first.common.perhop, env!("CARGO_PKG_VERSION"));
        let why = if effective == first.common.effective {
            format!("{dir} was written by perhop {theirs}, and this is perhop {ours}:\n{found}")
        } else {
            found.list.iter_mut().filter(|it| it.code == "E006").for_each(|it| it.help = OF_CLASS.to_owned());
            format!("{dir} is of an algorithm that is a Python class:\n{found}")
        };
        Refused::Unfit(format!("{why}\n{}", found.summary()))
    })
}

/// What to do where a run's class is not there.
const OF_CLASS: &str = "import the class's module and `perhop.register` it in Python, then `perhop.Runs.open(..)` plots, reports and \
                        compares; the commands find it as an entry point `perhop.algorithms` of an installed package";

/// A scenario in force without the hashes of classes: results can be read whatever their text is now.
fn of_any_text(effective: &str) -> String {
    let mark = format!("{SOURCE} = \"");
    let mut pieces = effective.split(&*mark);
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        match piece.split_once('"') {
            Some((hash, rest)) if hash.len() == 16 && hash.bytes().all(|b| b.is_ascii_hexdigit()) => {
                out.truncate(out.trim_end_matches(", ").len());
                out.push_str(rest);
            }
            _ => out.extend([mark.as_str(), piece]),
        }
    }
    out
}

/// Which of several runs was taken.
fn note(every: &[ReplicationDir], places: &Places) -> Option<String> {
    let taken: BTreeSet<_> = places.values().map(|found| found.point_dir()).collect();
    let left: Vec<_> =
        every.iter().map(ReplicationDir::point_dir).collect::<BTreeSet<_>>().difference(&taken).copied().collect();
    let (first, last) = (taken.first()?, places.values().max_by_key(|found| found.written)?);
    let names: Vec<_> =
        left.iter().take(MOST_NAMED).map(|dir| dir.file_name().unwrap_or_default().to_string_lossy()).collect();
    let more = left.len().checked_sub(MOST_NAMED + 1).map_or(String::new(), |n| format!(" and {} more", n + 1));
    let sweep = taken.len().checked_sub(2).map_or(String::new(), |n| format!(" and {} more of its sweep", n + 1));
    let overrides = match last.common.identity.overrides.join(", ") {
        none if none.is_empty() => none,
        some => format!(" (with {some})"),
    };
    (!left.is_empty()).then(|| {
        let (first, names) = (first.display(), names.join(", "));
        format!(
            "several runs are here; the newest is taken: {first}{sweep}{overrides}; without {names}{more}; `perhop runs` \
             lists them"
        )
    })
}
