//! perhop as a user calls it: the binary, in its own folder.

#[allow(dead_code)]
pub mod process;

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A sound scenario that runs in a blink. Tests count its lines.
pub const SCENARIO: &str = r#"[scenario]
name = "small"
duration = "4s"
warmup = "1s"
replications = 2

[links]
"s - A" = { rate =     "5Mbit/s", delay = "5ms", queue = "red" }
"A - d" = { rate = "10Mbit/s", delay = "5ms" }

[queue.red]
aqm = "red"
min = "5p"
max = "15p"
max-p = 0.1

[conditioner.marker]
kind = "token-bucket"
cir = "1Mbit/s"
cbs = "50000B"
at = "A -> d"
[traffic.bulk]
model = "ftp"
flows = 3
from = "s"
to = "d"
tcp = "host"

[tcp.host]
stack = "classic"
window = 30
"#;

/// A folder that goes away with its value.
pub struct Folder(tempfile::TempDir);

/// The command in its folder.
pub fn perhop(args: &[&str], folder: &Folder) -> Command {
    let mut command = process::by_a_terminal(env!("CARGO_BIN_EXE_perhop"));
    command.args(args).current_dir(folder.0.path());
    command
}

/// What a refused call said; its exit code is 2.
pub fn error(out: &Output) -> String {
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!(out.status.code(), Some(2), "{said}");
    assert!(!said.contains("panicked"), "{said}");
    said
}

impl Folder {
    /// With these files in it.
    pub fn with(files: &[(&str, &[u8])]) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        files.iter().for_each(|(name, bytes)| std::fs::write(folder.path(name), bytes).unwrap());
        folder
    }

    /// A file in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Runs perhop in it.
    pub fn perhop(&self, args: &[&str]) -> Output {
        perhop(args, self).output().unwrap()
    }

    /// Runs perhop with files of at most 1 KiB: writing more fails, as on a full disk.
    pub fn limited(&self, args: &[&str]) -> Output {
        let mut shell = Command::new("sh");
        shell.args(["-c", "trap '' XFSZ; ulimit -f 2; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_perhop")]);
        shell.args(args).current_dir(self.0.path()).output().unwrap()
    }

    /// Runs what has to be refused: exit code 2, nothing on standard output, no file more or less. Gives the words.
    pub fn refused(&self, args: &[&str]) -> String {
        let before = self.contents();
        let out = self.perhop(args);
        let said = error(&out);
        assert!(out.stdout.is_empty(), "{}", String::from_utf8_lossy(&out.stdout));
        assert!(self.contents() == before, "{args:?} left {:?}", self.names());
        said
    }

    /// Every file, however deep, and empty folders.
    pub fn names(&self) -> Vec<PathBuf> {
        self.contents().into_keys().collect()
    }

    /// Every file with its bytes, and every link with where it leads.
    pub fn contents(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut out = BTreeMap::new();
        collect(self.0.path(), &mut out);
        out
    }
}

/// What a command that runs has renamed or removed since it was listed is not there.
fn collect(folder: &Path, out: &mut BTreeMap<PathBuf, Vec<u8>>) {
    let Some(entries) = there(std::fs::read_dir(folder)) else { return };
    for entry in entries {
        let entry = entry.unwrap();
        let path = entry.path();
        let Some(kind) = there(entry.file_type()) else { continue };
        if kind.is_dir() {
            out.insert(path.clone(), Vec::new());
            collect(&path, out);
        } else if kind.is_symlink() {
            let to = there(std::fs::read_link(&path));
            out.extend(to.map(|to| (path, to.into_os_string().into_encoded_bytes())));
        } else {
            out.extend(there(std::fs::read(&path)).map(|bytes| (path, bytes)));
        }
    }
}

fn there<T>(found: std::io::Result<T>) -> Option<T> {
    match found {
        Err(e) if e.kind() == ErrorKind::NotFound => None,
        other => Some(other.unwrap()),
    }
}
