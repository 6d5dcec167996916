//! Paths in JSON, for a reader to look at: what is not UTF-8 in them is U+FFFD.

use serde::{Serialize, Serializer};
use std::path::{Path, PathBuf};

/// A list of paths.
///
/// # Errors
/// Those of the serializer.
pub fn lossy<S: Serializer>(paths: &[PathBuf], serializer: S) -> Result<S::Ok, S::Error> {
    paths.iter().map(|path| path.to_string_lossy()).collect::<Vec<_>>().serialize(serializer)
}

/// One path.
///
/// # Errors
/// Those of the serializer.
pub fn lossy_path<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    path.to_string_lossy().serialize(serializer)
}
