//! A replication's directory: `<out>/<scenario>/<point>-<hash>/rep-003/`.
//!
//! It is written under a temporary name and renamed when complete, so any directory that exists is complete: a full
//! disk or Ctrl-C leaves old results unchanged.

use super::columns::Table;
use super::parquet;
use crate::sweep::Point;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// The directory of a point.
pub fn point_dir(out: &Path, point: &Point) -> PathBuf {
    out.join(point.scenario.name()).join(format!("{}-{}", point.name, point.hash))
}

/// The directory of a replication under seed `seed`.
pub fn replication_dir(out: &Path, point: &Point, replication: u32) -> PathBuf {
    point_dir(out, point).join(format!("rep-{replication:03}"))
}

/// What a replication's manifest says in addition to its tables.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    /// Seed.
    pub seed: u64,
    /// Number.
    pub replication: u32,
    /// Of all tables' bytes.
    pub hash: String,
    /// Packets that left a link.
    pub packet_hops: u64,
    /// Wall time, s.
    pub wall_s: f64,
}

impl Manifest {
    fn to_json(&self, point: &Point) -> Value {
        let labels: serde_json::Map<_, _> = point.labels.iter().map(|(k, v)| (k.clone(), json!(v))).collect();
        json!({
            "scenario": point.scenario.name(),
            "point": labels,
            "point_hash": point.hash,
            "seed": self.seed,
            "replication": self.replication,
            "result_hash": self.hash,
            "packet_hops": self.packet_hops,
            "wall_s": self.wall_s,
            "perhop": env!("CARGO_PKG_VERSION"),
            "effective": point.scenario.effective(),
        })
    }
}

/// Hash of tables: BLAKE3 of their Parquet bytes, 16 hexadecimal digits.
pub fn hash(files: &[(&'static str, Vec<u8>)]) -> String {
    let mut hasher = blake3::Hasher::new_derive_key("perhop results v1");
    for (name, bytes) in files {
        hasher.update(name.as_bytes()).update(&(bytes.len() as u64).to_le_bytes()).update(bytes);
    }
    hasher.finalize().to_hex()[..16].to_owned()
}

/// Tables as the bytes of their files; an empty series is omitted.
pub fn files(tables: &[Table]) -> Vec<(&'static str, Vec<u8>)> {
    let kept = tables.iter().filter(|t| t.name != "series" || t.rows() > 0);
    let file = |table: &Table| {
        let mut bytes = Vec::new();
        parquet::write(table, &mut bytes).expect("memory takes everything");
        (table.name, bytes)
    };
    kept.map(file).collect()
}

/// Writes a replication's directory.
///
/// # Errors
/// The path that could not be written; nothing is left of the attempt.
pub fn write(
    dir: &Path,
    point: &Point,
    manifest: &Manifest,
    files: &[(&'static str, Vec<u8>)],
) -> Result<(), (PathBuf, io::Error)> {
    let parent = dir.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(parent).map_err(|e| (parent.to_owned(), e))?;
    let name = dir.file_name().unwrap_or_default().to_string_lossy();
    let temporary = parent.join(format!(".{name}.{}.partial", std::process::id()));
    let written = write_all(&temporary, &manifest.to_json(point), files).and_then(|()| replace(&temporary, dir));
    written.map_err(|e| {
        let _ = fs::remove_dir_all(&temporary);
        // The point's and the scenario's directories are removed too if they hold nothing else.
        let _ = fs::remove_dir(parent).and_then(|()| fs::remove_dir(parent.parent().unwrap_or(parent)));
        (dir.to_owned(), e)
    })
}

fn write_all(dir: &Path, manifest: &Value, files: &[(&'static str, Vec<u8>)]) -> io::Result<()> {
    fs::create_dir_all(dir)?;
    for (name, bytes) in files {
        write_file(&dir.join(format!("{name}.parquet")), bytes)?;
    }
    write_file(&dir.join("manifest.json"), serde_json::to_string_pretty(manifest)?.as_bytes())
}

fn write_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    file.write_all(bytes)?;
    file.flush()?;
    file.get_ref().sync_data()
}

/// Replaces `old` by `new`; `old` stays until `new` is complete.
fn replace(new: &Path, old: &Path) -> io::Result<()> {
    let aside = old.with_extension("old");
    let had = old.exists();
    if had {
        fs::rename(old, &aside)?;
    }
    match fs::rename(new, old) {
        Ok(()) if had => fs::remove_dir_all(&aside),
        Ok(()) => Ok(()),
        Err(error) => {
            if had {
                fs::rename(&aside, old)?;
            }
            Err(error)
        }
    }
}

/// The manifest of an existing replication, if it is of the same point and seed.
pub fn existing(dir: &Path, point: &Point, seed: u64) -> Option<Value> {
    let text = fs::read_to_string(dir.join("manifest.json")).ok()?;
    let manifest: Value = serde_json::from_str(&text).ok()?;
    (manifest["point_hash"] == point.hash.as_str() && manifest["seed"] == seed).then_some(manifest)
}
