//! What a directory of runs holds: for each run its name, its points, how it was called, when, how large it is.

use super::disk::manifest::{Common, Identity, Labels};
use super::disk::walk::walk;
use super::disk::{Damaged, MANIFEST, Manifest, load, numbers};
use super::order::order;
use super::paths::lossy_path;
use rayon::prelude::*;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// All runs below a directory.
#[derive(Clone, Debug, Default)]
pub struct Inventory {
    /// The newest last.
    pub runs: Vec<Listed>,
    /// Directories whose manifests cannot be read.
    pub damaged: Vec<Damaged>,
}

/// A run: the points that one call made, or several calls that add to the same sweep.
#[derive(Clone, Debug, Serialize)]
pub struct Listed {
    /// What `plot`, `report`, `compare` and `runs --delete` take, and what leads to no other run: its directory and name, or the
    /// directory of its only point, or its number.
    #[serde(serialize_with = "lossy_path")]
    pub address: PathBuf,
    /// Its number: 8 hexadecimal digits, of all that tells it from other runs.
    pub id: String,
    /// The same with 16 digits.
    #[serde(skip)]
    pub(crate) number: String,
    /// Name of the scenario.
    pub scenario: String,
    /// How it was called; of a sweep that was continued, the last time.
    #[serde(flatten)]
    pub identity: Identity,
    /// Seeds: one, unless the seed is swept.
    pub seeds: Vec<u64>,
    /// The version that wrote it.
    pub perhop: String,
    /// In the order of the sweep.
    pub points: Vec<ListedPoint>,
    /// When the last replication was written, in seconds since 1970 (UTC).
    pub written_s: u64,
    /// Size of all its files.
    pub bytes: u64,
}

/// A point of a run.
#[derive(Clone, Debug, Serialize)]
pub struct ListedPoint {
    /// Its directory.
    #[serde(serialize_with = "lossy_path")]
    pub dir: PathBuf,
    /// Swept keys and their values.
    pub labels: Labels,
    /// Its position in the sweep.
    pub index: usize,
    /// Complete replications.
    pub replications: usize,
}

/// What the replications of a run have in common: scenario, name, base, version and swept keys.
pub(crate) type Key = (String, Option<String>, String, String, Vec<String>);

/// A directory of replications with what its manifest says of all of them, and their numbers.
#[derive(Clone, Debug)]
pub struct ReplicationDir {
    /// It.
    pub dir: PathBuf,
    /// What they have in common.
    pub common: Common,
    /// Which they are.
    pub numbers: Vec<u32>,
    /// When the manifest was.
    pub written: SystemTime,
}

impl ReplicationDir {
    fn read(dir: PathBuf) -> Result<Self, Damaged> {
        match load::manifest(&dir) {
            Ok(Manifest { common, replications, .. }) => {
                let numbers = replications.iter().map(|entry| entry.replication).collect();
                Ok(Self { written: modified(&dir.join(MANIFEST)), dir, common, numbers })
            }
            Err(what) => Err(Damaged { dir, what }),
        }
    }

    /// That of its point.
    pub fn point_dir(&self) -> &Path {
        self.dir.parent().unwrap_or(&self.dir)
    }

    /// Whether its run has this name or this number.
    pub(crate) fn is_of(&self, called: &str) -> bool {
        let number = number(&self.key());
        self.common.identity.name.as_deref() == Some(called) || number == called || short(&number) == called
    }

    /// What tells its run from others.
    pub(crate) fn key(&self) -> Key {
        let Common { scenario, identity, perhop, point, .. } = &self.common;
        let keys = point.0.iter().map(|label| label.0.clone()).collect();
        (scenario.clone(), identity.name.clone(), identity.base_hash.clone(), perhop.clone(), keys)
    }
}

/// The runs below `dir`: that of all runs, or one scenario's.
///
/// # Errors
/// When `dir` cannot be read.
pub fn list(dir: &Path) -> std::io::Result<Inventory> {
    fs::read_dir(dir)?;
    let (sound, damaged): (Vec<_>, Vec<_>) = scan(dir).into_iter().partition(Result::is_ok);
    let runs = listed(sound.into_iter().flatten().collect());
    Ok(Inventory { runs, damaged: damaged.into_iter().filter_map(Result::err).collect() })
}

/// The runs of these directories, the newest last.
pub(crate) fn listed(found: Vec<ReplicationDir>) -> Vec<Listed> {
    let mut runs = BTreeMap::<Key, Vec<ReplicationDir>>::new();
    found.into_iter().for_each(|found| runs.entry(found.key()).or_default().push(found));
    let mut runs: Vec<_> = runs.into_iter().collect();
    runs.sort_by_key(|(_, found)| found.iter().map(|f| f.written).max());
    let runs: Vec<_> = runs.into_iter().map(|(key, found)| one(number(&key), found)).collect();
    let places = Places::of(&runs);
    runs.into_iter().map(|run| Listed { address: places.address(&run), ..run }).collect()
}

/// How many runs each path leads to: as a name or a number beside the directories of their points, and as one of these.
#[derive(Default)]
struct Places {
    called: BTreeMap<PathBuf, usize>,
    dirs: BTreeMap<PathBuf, usize>,
}

impl Places {
    fn of(runs: &[Listed]) -> Self {
        let mut places = Self::default();
        for run in runs {
            let called =
                run.points.iter().flat_map(|point| run.called().map(move |name| point.dir.with_file_name(name)));
            let dirs = run.points.iter().map(|point| point.dir.clone());
            called.collect::<BTreeSet<_>>().into_iter().for_each(|path| *places.called.entry(path).or_default() += 1);
            dirs.for_each(|path| *places.dirs.entry(path).or_default() += 1);
        }
        places
    }

    /// The first that leads to a run and to no other: its name, the directory of its only point, its number in 8 digits or 16. A
    /// directory that is called so comes before a run that is, whatever is in it.
    fn address(&self, run: &Listed) -> PathBuf {
        let Some(first) = run.points.first().map(|point| &point.dir) else { return PathBuf::new() };
        let leads = |path: &PathBuf| self.called[path] == 1 && !path.is_dir();
        let name = run.identity.name.as_ref().map(|name| first.with_file_name(name)).filter(leads);
        let only = || (run.points.len() == 1 && self.dirs[first] == 1).then(|| first.clone());
        let id = || Some(first.with_file_name(&run.id)).filter(leads);
        name.or_else(only).or_else(id).unwrap_or_else(|| first.with_file_name(&run.number))
    }
}

impl Listed {
    /// What it is called: its name, and its number.
    fn called(&self) -> impl Iterator<Item = &str> {
        self.identity.name.as_deref().into_iter().chain([&*self.id])
    }
}

/// The number of a run in 8 digits.
fn short(number: &str) -> &str {
    &number[..8]
}

/// The number of a run in 16.
fn number(key: &Key) -> String {
    let (scenario, name, base, version, keys) = key;
    let mut hasher = blake3::Hasher::new_derive_key("perhop run v1");
    let parts = [scenario, name.as_deref().unwrap_or_default(), base, version].map(str::as_bytes);
    for part in parts.into_iter().chain(keys.iter().map(String::as_bytes)) {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
    }
    hasher.finalize().to_hex()[..16].to_owned()
}

/// Every directory of replications below `dir`, which may be one itself.
pub(crate) fn scan(dir: &Path) -> Vec<Result<ReplicationDir, Damaged>> {
    let is_of_replications = |dir: &Path| numbers(dir).is_some();
    let dirs = walk(dir, |dir| !is_of_replications(dir));
    let dirs: Vec<_> = dirs.into_iter().filter(|dir| is_of_replications(dir)).collect();
    dirs.into_par_iter().map(ReplicationDir::read).collect()
}

fn size(dir: &Path) -> u64 {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries.filter_map(|entry| Some(entry.metadata().ok()?.len())).sum()
}

fn modified(path: &Path) -> SystemTime {
    fs::metadata(path).and_then(|data| data.modified()).unwrap_or(SystemTime::UNIX_EPOCH)
}

fn one(number: String, found: Vec<ReplicationDir>) -> Listed {
    let newest = found.iter().max_by_key(|f| (f.common.identity.started_s, f.written)).expect("not empty");
    let Common { scenario, identity, perhop, .. } = newest.common.clone();
    let written =
        found.iter().map(|f| f.written).max().and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
    let written_s = written.map_or(0, |since| since.as_secs());
    let mut seeds: Vec<_> = found.iter().map(|f| f.common.seed).collect();
    seeds.sort_unstable();
    seeds.dedup();
    let bytes = found.iter().map(|f| size(&f.dir)).sum();
    let points = points(found);
    let address = PathBuf::new(); // it depends on what others are called
    let id = short(&number).to_owned();
    Listed { address, id, number, scenario, identity, seeds, perhop, points, written_s, bytes }
}

fn points(found: Vec<ReplicationDir>) -> Vec<ListedPoint> {
    let mut points = Vec::<(ListedPoint, BTreeSet<u32>)>::new();
    for found in found {
        let dir = found.point_dir().to_owned();
        let ReplicationDir { common, numbers, .. } = found;
        match points.iter_mut().rfind(|(point, _)| point.dir == dir) {
            Some((_, known)) => known.extend(numbers),
            None => {
                let point = ListedPoint { dir, labels: common.point, index: common.index, replications: 0 };
                points.push((point, numbers.into_iter().collect()));
            }
        }
    }
    let counted = |(point, numbers): (_, BTreeSet<_>)| ListedPoint { replications: numbers.len(), ..point };
    let mut points: Vec<_> = points.into_iter().map(counted).collect();
    order(&mut points, |point| (point.index, &point.labels));
    points
}
