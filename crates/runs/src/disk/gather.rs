//! Replications that are small are gathered, and written together: a directory for each would cost more than the
//! simulation, and make more files than a file system likes.
//!
//! Decision: docs/decisions/087-small-replications-share-blocks.md

use super::write::{self, Draft};
use super::{Common, Entry, Failed, Manifest, Stored, directories, directory, join, load};
use perhop_results::tables::columns::Table;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A replication of fewer packet-hops is small: less than a tenth of a second of work. By hops and not by time or events, so that
/// what is written depends neither on the machine nor on the engine.
const HOPS: u64 = 1_000_000;
/// One of more rows in its tables is not.
const ROWS: usize = 10_000;

/// Whether a replication is gathered.
pub fn is_small(packet_hops: u64, tables: &[Table]) -> bool {
    packet_hops < HOPS && tables.iter().map(Table::rows).sum::<usize>() <= ROWS
}

/// A replication as its directory will have it.
#[derive(Clone, Debug)]
pub struct Made {
    /// What the manifest says of it.
    pub entry: Entry,
    /// Its tables.
    pub tables: Vec<Table>,
}

/// The small replications of a point.
#[derive(Debug, Default)]
pub struct Gathered {
    /// Those that are not written yet.
    held: Mutex<Vec<Made>>,
    /// Where the others are.
    placed: Mutex<BTreeMap<u32, PathBuf>>,
}

impl Gathered {
    /// Holds one until the next [`Gathered::write`].
    pub fn add(&self, made: Made) {
        lock(&self.held).push(made);
    }

    /// Writes those that are held to the point's directory; `false` if there are none.
    ///
    /// # Errors
    /// The path that could not be written.
    pub fn write(&self, point_dir: &Path, common: impl FnOnce() -> Common) -> Result<bool, Failed> {
        let held = std::mem::take(&mut *lock(&self.held));
        if held.is_empty() {
            return Ok(false);
        }
        let placed = together(point_dir, &common(), held)?;
        lock(&self.placed).extend(placed);
        Ok(true)
    }

    /// Where a replication was written.
    pub fn place(&self, replication: u32) -> Option<PathBuf> {
        lock(&self.placed).get(&replication).cloned()
    }
}

fn lock<T>(it: &Mutex<T>) -> MutexGuard<'_, T> {
    it.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes replications of a point, successive numbers to one directory, and says where each is. Those that are there
/// already, with the same results, stay where they are.
fn together(point_dir: &Path, common: &Common, made: Vec<Made>) -> Result<Vec<(u32, PathBuf)>, Failed> {
    let mut made: BTreeMap<u32, Made> = made.into_iter().map(|made| (made.entry.replication, made)).collect();
    let mut placed = Vec::new();
    for (numbers, dir) in directories(point_dir) {
        let here: Vec<_> = made.range(numbers).map(|(_, made)| &made.entry).collect();
        if !here.is_empty() && is_kept(&dir, common, &here)? {
            let kept: Vec<_> = here.iter().map(|entry| entry.replication).collect();
            kept.iter().for_each(|number| _ = made.remove(number));
            placed.extend(kept.into_iter().map(|number| (number, dir.clone())));
        }
    }
    for successive in successive(made.into_values().collect()) {
        let numbers: Vec<_> = successive.iter().map(|made| made.entry.replication).collect();
        let dir = directory(point_dir, &(numbers[0]..=numbers[numbers.len() - 1]));
        write_one(&dir, common, successive)?;
        placed.extend(numbers.into_iter().map(|number| (number, dir.clone())));
    }
    Ok(placed)
}

/// Writes a directory of one or more replications.
///
/// # Errors
/// The path that could not be written.
fn write_one(dir: &Path, common: &Common, mut made: Vec<Made>) -> Result<(), Failed> {
    let entries = made.iter_mut().map(|made| std::mem::take(&mut made.entry)).collect::<Vec<_>>();
    let each = entries.iter().zip(made).map(|(entry, made)| (entry.replication, made.tables));
    let tables = join::join(each.collect());
    Draft::begin(dir)?.complete(common, entries, &tables)
}

/// Whether a directory has the results of `here`: then they stay, and its manifest becomes that of this run. One that is
/// damaged, or has other results of the same replications, is removed.
fn is_kept(dir: &Path, common: &Common, here: &[&Entry]) -> Result<bool, Failed> {
    match comparison(dir, common, here) {
        Compared::Others => Ok(false),
        Compared::Same(stored) => write::rewrite(dir, &with(*stored, common, here)).map(|()| true),
        Compared::Unusable => {
            let is_unusable = |dir: &Path| matches!(comparison(dir, common, here), Compared::Unusable);
            write::remove(dir, is_unusable).map(|()| false).map_err(|error| (dir.to_owned(), error))
        }
    }
}

/// What a directory has of some replications.
enum Compared {
    /// The same results of all of them.
    Same(Box<Manifest>),
    /// Replications of another point, or not all of these.
    Others,
    /// Damaged or other results.
    Unusable,
}

fn comparison(dir: &Path, common: &Common, here: &[&Entry]) -> Compared {
    let Ok(Stored { manifest, .. }) = load(dir) else { return Compared::Unusable };
    let there = |it: &&Entry| {
        let at = manifest.replications.binary_search_by_key(&it.replication, |there| there.replication);
        at.ok().map(|at| &manifest.replications[at])
    };
    let pairs: Vec<_> = here.iter().filter_map(|it| Some((there(it)?, *it))).collect();
    if manifest.common.point_hash != common.point_hash || pairs.len() < here.len() {
        return Compared::Others;
    }
    match pairs.iter().all(|(there, it)| there.result_hash == it.result_hash) {
        true => Compared::Same(Box::new(manifest)),
        false => Compared::Unusable,
    }
}

/// A manifest as this run would write it; `here` is in the order of numbers.
fn with(manifest: Manifest, common: &Common, here: &[&Entry]) -> Manifest {
    let ours = |there: Entry| match here.binary_search_by_key(&there.replication, |it| it.replication) {
        Ok(at) => here[at].clone(),
        Err(_) => there,
    };
    let replications = manifest.replications.into_iter().map(ours).collect();
    Manifest { common: common.clone(), replications, ..manifest }
}

/// Replications in groups of successive numbers.
fn successive(made: Vec<Made>) -> Vec<Vec<Made>> {
    let mut groups: Vec<Vec<Made>> = Vec::new();
    for made in made {
        let follows = |group: &&mut Vec<Made>| {
            group.last().is_some_and(|last| last.entry.replication + 1 == made.entry.replication)
        };
        match groups.last_mut().filter(follows) {
            Some(group) => group.push(made),
            None => groups.push(vec![made]),
        }
    }
    groups
}
