//! A replication's directory: `<out>/<scenario>/<point>-<hash>/rep-003/`.
//!
//! It is written under a temporary name and renamed when complete, so any directory that exists is complete: a full
//! disk or Ctrl-C leaves old results unchanged. What is read back is compared with the hash in its manifest.

use super::columns::Table;
use super::parquet;
use crate::sweep::Point;
use std::path::{Path, PathBuf};

/// One process among several in a scenario's directory.
pub mod home;
/// What a directory says about its results.
pub mod manifest;
/// From disk to tables.
pub mod load;
/// From tables to disk.
pub mod write;

pub use load::{Damaged, Stored, existing, load, load_all};
pub use manifest::{Effort, Identity, Manifest};

/// The name of the manifest's file.
pub const MANIFEST: &str = "manifest.json";

/// The directory of a point.
pub fn point_dir(out: &Path, point: &Point) -> PathBuf {
    out.join(point.scenario.name()).join(point.directory())
}

/// The directory of a replication.
pub fn replication_dir(out: &Path, point: &Point, replication: u32) -> PathBuf {
    point_dir(out, point).join(format!("rep-{replication:03}"))
}

/// Where a replication's directory has its packets at ports, if they were asked for.
pub fn events_file(dir: &Path) -> PathBuf {
    dir.join(format!("{}.parquet", super::events::NAME))
}

/// Hash of tables: BLAKE3 of their Parquet bytes, 16 hexadecimal digits.
pub fn hash(files: &[(&'static str, Vec<u8>)]) -> String {
    let mut hasher = blake3::Hasher::new_derive_key("perhop results v1");
    for (name, bytes) in files {
        hasher.update(name.as_bytes()).update(&(bytes.len() as u64).to_le_bytes()).update(bytes);
    }
    hasher.finalize().to_hex()[..16].to_owned()
}

/// Tables as the bytes of their files; those that have none when they are empty are omitted.
pub fn files(tables: &[Table]) -> Vec<(&'static str, Vec<u8>)> {
    let kept = tables.iter().filter(|t| t.rows() > 0 || super::tables::without_rows(t.name).is_none());
    let file = |table: &Table| {
        let mut bytes = Vec::new();
        parquet::write(table, &mut bytes).expect("memory takes everything");
        (table.name, bytes)
    };
    kept.map(file).collect()
}
