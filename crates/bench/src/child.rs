//! Whole processes: what they say, and the CPU time of all their threads, from their start to their end.

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike as _};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A process that came to its end.
pub(super) struct Ended {
    /// User and system time, s.
    pub(super) cpu: f64,
    /// Its standard output.
    pub(super) said: String,
}

/// Why there is nothing to measure.
#[derive(Debug)]
pub(super) enum Wrong {
    /// There is no such program.
    Absent,
    /// It could not be started, or ended with an error: what was wrong.
    Failed(String),
}

/// Runs a process and waits for it. No other child of this process may end in the meantime: the system adds them up.
pub(super) fn run(command: &mut Command) -> Result<Ended, Wrong> {
    let name = command.get_program().to_string_lossy().into_owned();
    let before = of_children();
    let out = command.output().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Wrong::Absent,
        _ => Wrong::Failed(format!("`{name}` could not be started: {error}")),
    })?;
    let cpu = of_children() - before;
    if !out.status.success() {
        let said = String::from_utf8_lossy(&out.stderr);
        let first = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing").trim();
        return Err(Wrong::Failed(format!("`{name}` failed ({}): {first}", out.status)));
    }
    Ok(Ended { cpu, said: String::from_utf8_lossy(&out.stdout).into_owned() })
}

/// CPU seconds of all children that have ended.
fn of_children() -> f64 {
    let seconds = |time: TimeVal| time.num_microseconds() as f64 * 1e-6;
    getrusage(UsageWho::RUSAGE_CHILDREN).map_or(0.0, |used| seconds(used.user_time()) + seconds(used.system_time()))
}

/// perhop as a program: the one beside this one, or the one on the path.
pub(super) fn perhop() -> PathBuf {
    let beside = std::env::current_exe().map(|it| it.with_file_name("perhop"));
    beside.ok().filter(|it| it.is_file()).unwrap_or_else(|| "perhop".into())
}

/// A directory for temporary files, which goes away with its value.
pub(super) struct Folder(TempDir);

impl Folder {
    /// A new one, of this process.
    ///
    /// # Errors
    /// It cannot be made.
    pub(super) fn new() -> Result<Self, String> {
        let folder = tempfile::Builder::new().prefix("perhop-bench-").tempdir();
        folder.map(Self).map_err(|error| format!("cannot make a temporary directory: {error}"))
    }

    /// Writes a file into it.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn write(&self, name: &str, text: &str) -> Result<PathBuf, String> {
        let path = self.path().join(name);
        match fs::write(&path, text) {
            Ok(()) => Ok(path),
            Err(error) => Err(format!("cannot write {}: {error}", path.display())),
        }
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }
}

/// `perhop run` of a file: one replication, one thread; its results go into the folder and are removed.
pub(super) fn run_perhop(file: &Path, folder: &Folder, duration: &str, more: &[&str]) -> Result<Ended, Wrong> {
    let out = folder.path().join("runs");
    let mut command = Command::new(perhop());
    command.arg("run").arg(file).args(["--replications", "1", "--jobs", "1", "--json", "--duration", duration]);
    let ended = run(command.args(more).arg("--out").arg(&out));
    let _ = fs::remove_dir_all(out);
    ended
}

/// `perhop check` of a file.
pub(super) fn check_perhop(file: &Path) -> Result<Ended, Wrong> {
    run(Command::new(perhop()).arg("check").arg(file))
}

impl Wrong {
    /// In words, for a program without which nothing can be measured.
    pub(super) fn of(self, program: &str) -> String {
        match self {
            Self::Absent => format!("there is no program `{program}`, neither beside this one nor on the path"),
            Self::Failed(why) => why,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_heard_and_its_time_counted() {
        let ended =
            run(Command::new("sh").args(["-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; echo $i"])).unwrap();
        assert_eq!(ended.said, "100000\n");
        assert!(ended.cpu > 0.001, "{}", ended.cpu);
    }

    #[test]
    fn what_went_wrong_is_said() {
        assert!(matches!(run(&mut Command::new("/nowhere/ns")), Err(Wrong::Absent)));
        let failed = run(Command::new("sh").args(["-c", "echo; echo no such class >&2; exit 3"]));
        let Err(Wrong::Failed(why)) = failed else { panic!() };
        assert_eq!(why, "`sh` failed (exit status: 3): no such class");
        let Err(Wrong::Failed(why)) = run(&mut Command::new("/")) else { panic!() };
        assert!(why.starts_with("`/` could not be started: "), "{why}");
    }

    #[test]
    fn a_folder_goes_away() {
        let folder = Folder::new().unwrap();
        let file = folder.write("a.toml", "x").unwrap();
        assert!(file.is_file());
        drop(folder);
        assert!(!file.exists());
    }
}
