//! What a point already has on disk, for a run that continues it. A block is read once, whoever asks first.

use super::{Common, Damaged, Entry, Stored, directories, directory, load};
use perhop_results::tables::columns::Table;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

/// A replication that was found.
#[derive(Clone, Debug)]
pub struct StoredReplication {
    /// The directory that it is in.
    pub dir: PathBuf,
    /// That belongs to the sweep which asks, at the same place.
    pub is_ours: bool,
    /// What its manifest says of it.
    pub entry: Entry,
    /// Its tables.
    pub tables: Vec<Table>,
}

/// The directories of a point, as they were when the first was asked for.
#[derive(Debug)]
pub struct Stock {
    point_dir: PathBuf,
    blocks: OnceLock<Vec<Block>>,
}

impl Stock {
    /// Of a point's directory. Nothing is read yet.
    pub fn new(point_dir: PathBuf) -> Self {
        Self { point_dir, blocks: OnceLock::new() }
    }

    /// A replication of the same point as `common`, of its scenario, seed and version: in its own directory, else in
    /// the first block that has it. Each is found once.
    ///
    /// # Errors
    /// The directory that has it is damaged.
    pub fn find(&self, replication: u32, common: &Common) -> Option<Result<StoredReplication, Damaged>> {
        let own = directory(&self.point_dir, &(replication..=replication));
        let own = own.exists().then(|| read(&own, common)).and_then(|read| take(read, replication));
        own.or_else(|| {
            let blocks = self.blocks.get_or_init(|| blocks(&self.point_dir));
            let mut having = blocks.iter().filter(|block| block.numbers.contains(&replication));
            having.find_map(|block| block.find(replication, common))
        })
    }
}

/// Replications of this point that a directory has, by number.
type Read = Result<BTreeMap<u32, StoredReplication>, Damaged>;

#[derive(Debug)]
struct Block {
    dir: PathBuf,
    numbers: RangeInclusive<u32>,
    read: OnceLock<Mutex<Read>>,
}

impl Block {
    fn find(&self, replication: u32, common: &Common) -> Option<Result<StoredReplication, Damaged>> {
        let read = self.read.get_or_init(|| Mutex::new(read(&self.dir, common)));
        match &mut *read.lock().unwrap_or_else(PoisonError::into_inner) {
            Ok(found) => found.remove(&replication).map(Ok),
            Err(damaged) => Some(Err(damaged.clone())),
        }
    }
}

fn blocks(point_dir: &Path) -> Vec<Block> {
    let several = directories(point_dir).into_iter().filter(|(numbers, _)| numbers.start() < numbers.end());
    several.map(|(numbers, dir)| Block { dir, numbers, read: OnceLock::new() }).collect()
}

fn read(dir: &Path, common: &Common) -> Read {
    let Stored { manifest, tables } = load(dir)?;
    if manifest.common.point_hash != common.point_hash {
        return Ok(BTreeMap::new());
    }
    let is_ours = manifest.common.is_beside(common);
    let found = |(entry, tables): (Entry, _)| {
        (entry.replication, StoredReplication { dir: dir.to_owned(), is_ours, entry, tables })
    };
    Ok(manifest.replications.into_iter().zip(tables).map(found).collect())
}

fn take(read: Read, replication: u32) -> Option<Result<StoredReplication, Damaged>> {
    read.map(|mut found| found.remove(&replication)).transpose()
}
