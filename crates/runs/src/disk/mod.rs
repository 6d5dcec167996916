//! Replications' directories: `<out>/<scenario>/<point>-<hash>/rep-003/` has one, `reps-000-099/` has a hundred, a *block*:
//! each of its files holds the rows of all of them. The columns of every file begin with the swept keys and `replication`,
//! so that no reader needs the names of directories; the hash of results covers neither.
//!
//! A directory is written under a temporary name and renamed when complete, so any that exists is complete: a full
//! disk or Ctrl-C leaves old results unchanged. What is read back is compared with the hashes in its manifest.

use super::parquet::{self, Constant};
use perhop_results::hash::has_file;
use perhop_results::tables::columns::Table;
use perhop_scenario::sweep::Point;
use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

/// One process among several in a scenario's directory.
pub mod home;
/// What is half-written, and by whom.
pub mod leftovers;
/// What a directory says about its results.
pub mod manifest;
/// Tables of several replications as one, and back.
pub mod join;
/// From disk to tables.
pub mod load;
/// From tables to disk.
pub mod write;
/// Small replications, written together.
pub mod gather;
/// What a point already has.
pub mod stock;
/// Files of results, opened and read.
pub mod regular;
/// Directories below a directory.
pub mod walk;

pub use load::{Damaged, Stored, load, load_all};
pub use manifest::{Common, Effort, Entry, Identity, Manifest};

/// The name of the manifest's file.
pub const MANIFEST: &str = "manifest.json";

/// A path that could not be written, and why.
pub type Failed = (PathBuf, std::io::Error);

/// The directory of a point.
pub fn point_dir(out: &Path, point: &Point) -> PathBuf {
    out.join(point.scenario.name()).join(point.directory())
}

/// The directory of these replications of a point: `rep-003` of one, `reps-000-099` of several.
pub fn directory(point_dir: &Path, numbers: &RangeInclusive<u32>) -> PathBuf {
    let (first, last) = (numbers.start(), numbers.end());
    point_dir.join(if first == last { format!("rep-{first:03}") } else { format!("reps-{first:03}-{last:03}") })
}

/// The replications that a directory's name states; `None` if it is none of replications.
pub fn numbers(dir: &Path) -> Option<RangeInclusive<u32>> {
    let number = |text: &str| text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok()).flatten();
    let name = dir.file_name()?.to_str()?;
    match name.strip_prefix("reps-") {
        Some(both) => both.split_once('-').and_then(|(first, last)| Some(number(first)?..=number(last)?)),
        None => name.strip_prefix("rep-").and_then(number).map(|number| number..=number),
    }
}

/// The directories of replications of a point, with the numbers that their names state; in the order of these.
pub fn directories(point_dir: &Path) -> Vec<(RangeInclusive<u32>, PathBuf)> {
    let paths = fs::read_dir(point_dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut found: Vec<_> = paths.filter_map(|path| Some((numbers(&path)?, path))).collect();
    found.sort_by_key(|(numbers, _)| (*numbers.start(), *numbers.end()));
    found
}

/// Where a replication's directory has its packets at ports, if they were asked for.
pub fn events_file(dir: &Path) -> PathBuf {
    dir.join(format!("{}.parquet", super::events::NAME))
}

/// Hash of files: BLAKE3 of their bytes, 16 hexadecimal digits.
pub fn hash_files(files: &[(&'static str, Vec<u8>)]) -> String {
    let mut hasher = blake3::Hasher::new_derive_key("perhop results v1");
    for (name, bytes) in files {
        hasher.update(name.as_bytes()).update(&(bytes.len() as u64).to_le_bytes()).update(bytes);
    }
    digits(&hasher)
}

/// Hash of a manifest's text up to where its hash stands.
pub fn hash_manifest(text: &str) -> String {
    digits(blake3::Hasher::new_derive_key("perhop manifest v1").update(text.as_bytes()))
}

fn digits(hasher: &blake3::Hasher) -> String {
    hasher.finalize().to_hex()[..16].to_owned()
}

/// Tables as the bytes of their files, with constants before their columns; those that have none when they are empty are
/// omitted.
pub fn files(tables: &[Table], constants: &[Constant]) -> Vec<(&'static str, Vec<u8>)> {
    let file = |table: &Table| {
        let mut bytes = Vec::new();
        parquet::write(table, constants, &mut bytes).expect("memory takes everything");
        (table.name, bytes)
    };
    tables.iter().filter(|table| has_file(table)).map(file).collect()
}
