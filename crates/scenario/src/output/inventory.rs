//! What a directory of runs holds: for each run its name, its points, how it was called, when, how large it is.

use super::disk::manifest::{Identity, Labels, Manifest};
use super::disk::{Damaged, MANIFEST, load};
use serde::Serialize;
use std::collections::BTreeMap;
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
    pub index: Option<usize>,
    /// Complete replications.
    pub replications: usize,
}

/// What the replications of a run have in common: scenario, name, base (in manifests
/// without it the seed), version and swept keys.
type Key = (String, Option<String>, String, String, Vec<String>);

/// A replication's directory with its manifest.
struct Found {
    dir: PathBuf,
    manifest: Manifest,
    written_s: u64,
    bytes: u64,
}

impl Found {
    fn key(&self) -> Key {
        let Manifest { scenario, identity, perhop, point, seed, .. } = &self.manifest;
        let base = if identity.base_hash.is_empty() { seed.to_string() } else { identity.base_hash.clone() };
        let keys = point.0.iter().map(|label| label.0.clone()).collect();
        (scenario.clone(), identity.name.clone(), base, perhop.clone(), keys)
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
                let found = Found { dir, manifest, written_s, bytes };
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
    let is_one = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.strip_prefix("rep-").is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
    };
    let mut found = Vec::new();
    let mut entries: Vec<_> = fs::read_dir(dir).into_iter().flatten().flatten().map(|e| e.path()).collect();
    entries.sort();
    for path in entries.into_iter().filter(|path| path.is_dir()) {
        if is_one(&path) {
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
    let newest = found.iter().max_by_key(|f| (f.manifest.identity.started_s, f.written_s)).expect("not empty");
    let (Manifest { scenario, identity, perhop, .. }, written_s) =
        (newest.manifest.clone(), found.iter().map(|f| f.written_s).max().unwrap_or_default());
    let mut seeds: Vec<_> = found.iter().map(|f| f.manifest.seed).collect();
    seeds.sort_unstable();
    seeds.dedup();
    let bytes = found.iter().map(|f| f.bytes).sum();
    Listed { scenario, identity, seeds, perhop, points: points(found), written_s, bytes }
}

fn points(found: Vec<Found>) -> Vec<ListedPoint> {
    let mut points = Vec::<ListedPoint>::new();
    for Found { dir, manifest, .. } in found {
        let dir = dir.parent().unwrap_or(&dir).to_owned();
        match points.iter_mut().rfind(|point| point.dir == dir) {
            Some(point) => point.replications += 1,
            None => points.push(ListedPoint { dir, labels: manifest.point, index: manifest.index, replications: 1 }),
        }
    }
    points.sort_by_key(|point| point.index);
    points
}
