//! What a directory of runs holds: for each run its name, its points, how it was called, when, how large it is.

use super::disk::manifest::{Common, Identity, Labels};
use super::disk::{Damaged, MANIFEST, load, numbers};
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
    pub dir: PathBuf,
    /// Swept keys and their values.
    pub labels: Labels,
    /// Its position in the sweep.
    pub index: usize,
    /// Complete replications.
    pub replications: usize,
}

/// What the replications of a run have in common: scenario, name, base, version and swept keys.
type Key = (String, Option<String>, String, String, Vec<String>);

/// A directory of replications with what its manifest says of all of them, and their numbers.
struct Found {
    dir: PathBuf,
    common: Common,
    numbers: Vec<u32>,
    written_s: u64,
    bytes: u64,
}

impl Found {
    fn key(&self) -> Key {
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
    let (mut inventory, mut runs) = (Inventory::default(), BTreeMap::<Key, Vec<Found>>::new());
    for dir in replications(dir, 3) {
        match load::manifest(&dir) {
            Ok(manifest) => {
                let (written_s, bytes) = (modified_s(&dir.join(MANIFEST)), size(&dir));
                let numbers = manifest.replications.iter().map(|entry| entry.replication).collect();
                let found = Found { dir, common: manifest.common, numbers, written_s, bytes };
                runs.entry(found.key()).or_default().push(found);
            }
            Err(what) => inventory.damaged.push(Damaged { dir, what }),
        }
    }
    inventory.runs = runs.into_values().map(listed).collect();
    inventory.runs.sort_by_key(|run| (run.written_s, run.scenario.clone()));
    Ok(inventory)
}

/// Directories of replications, at most `depth` levels below; sorted.
fn replications(dir: &Path, depth: usize) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut entries: Vec<_> = fs::read_dir(dir).into_iter().flatten().flatten().map(|e| e.path()).collect();
    entries.sort();
    for path in entries.into_iter().filter(|path| path.is_dir()) {
        if numbers(&path).is_some() {
            found.push(path);
        } else if depth > 1 {
            found.extend(replications(&path, depth - 1));
        }
    }
    found
}

fn size(dir: &Path) -> u64 {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries.filter_map(|entry| Some(entry.metadata().ok()?.len())).sum()
}

fn modified_s(path: &Path) -> u64 {
    let modified = fs::metadata(path).and_then(|data| data.modified()).ok();
    modified.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok()).map_or(0, |since| since.as_secs())
}

fn listed(found: Vec<Found>) -> Listed {
    let newest = found.iter().max_by_key(|f| (f.common.identity.started_s, f.written_s)).expect("not empty");
    let (Common { scenario, identity, perhop, .. }, written_s) =
        (newest.common.clone(), found.iter().map(|f| f.written_s).max().unwrap_or_default());
    let mut seeds: Vec<_> = found.iter().map(|f| f.common.seed).collect();
    seeds.sort_unstable();
    seeds.dedup();
    let bytes = found.iter().map(|f| f.bytes).sum();
    Listed { scenario, identity, seeds, perhop, points: points(found), written_s, bytes }
}

fn points(found: Vec<Found>) -> Vec<ListedPoint> {
    let mut points = Vec::<(ListedPoint, BTreeSet<u32>)>::new();
    for Found { dir, common, numbers, .. } in found {
        let dir = dir.parent().unwrap_or(&dir).to_owned();
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
    points.sort_by_key(|point| point.index);
    points
}
