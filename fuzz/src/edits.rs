//! Seeds and their edits, in place of the fuzzer's mutations under stable Rust.

use proptest::prelude::*;
use proptest::sample::{Index, select};
use std::path::Path;

/// A good file with up to five pieces of it replaced, by bytes or by words of its format.
pub fn edited(seeds: Vec<Vec<u8>>, words: &'static [&'static [u8]]) -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![select(words).prop_map(<[u8]>::to_vec), prop::collection::vec(any::<u8>(), 0..6)];
    let edit = (any::<Index>(), 0usize..24, piece);
    (select(seeds), prop::collection::vec(edit, 0..6)).prop_map(|(mut bytes, edits)| {
        for (at, cut, piece) in edits {
            let start = at.index(bytes.len() + 1);
            let end = (start + cut).min(bytes.len());
            bytes.splice(start..end, piece);
        }
        bytes
    })
}

/// The files of a folder of the repository that have one of these endings, cut to `most` bytes, in the order of their
/// names.
pub fn seeds(folder: &str, endings: &[&str], most: usize) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let entries = folder.read_dir().unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|found| endings.iter().any(|ending| *ending == found)));
    files.sort();
    assert!(!files.is_empty(), "{}: no seeds", folder.display());
    let read = |file: &std::path::PathBuf| std::fs::read(file).unwrap();
    files.iter().map(read).map(|bytes| bytes[..bytes.len().min(most)].to_vec()).collect()
}
