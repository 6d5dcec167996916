//! What is half-written in a directory of runs: the next process to write there removes what a dead one left.
//!
//! The name of what is being written says who writes it: a process by number and by the time of its start, since numbers come
//! back, and the place where such numbers mean something. A process of another place, as on another machine or in another
//! container, is dead if no process holds the lock on the scenario's directory. Else its state is unknown, and what it wrote stays.
//!
//! Decision: docs/decisions/088-results-are-renamed-when-complete.md

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::LazyLock;

/// Something half-written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leftover {
    /// Where it is.
    pub path: PathBuf,
    /// Whether it is still being written.
    pub writer: Writer,
}

/// The process that writes something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writer {
    /// It runs.
    Alive,
    /// It does not.
    Dead,
    /// It is of another machine or container, or hidden.
    Unknown,
}

/// All that is half-written in a directory of runs.
pub fn find(out: &Path) -> Vec<Leftover> {
    scenarios(out).flat_map(|dir| in_scenario(&dir, &alone(&dir))).collect()
}

/// Removes what dead processes left in a directory of runs. What stays: of unknown writers, or of dead ones and protected.
pub fn remove(out: &Path) -> Vec<Leftover> {
    let mut stays = Vec::new();
    for dir in scenarios(out) {
        // none can begin to write there until this goes
        let alone = alone(&dir);
        let found = in_scenario(&dir, &alone).into_iter();
        stays.extend(found.filter(|it| match it.writer {
            Writer::Alive => false,
            Writer::Unknown => true,
            Writer::Dead => removed(&it.path).is_err_and(|error| error.kind() != io::ErrorKind::NotFound),
        }));
    }
    stays
}

fn removed(path: &Path) -> io::Result<()> {
    if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
}

/// The lock on a scenario's directory, if no process writes there.
fn alone(dir: &Path) -> Option<File> {
    File::open(dir).ok().filter(|file| file.try_lock().is_ok())
}

fn in_scenario(dir: &Path, alone: &Option<File>) -> Vec<Leftover> {
    let paths = entries(dir).into_iter().flat_map(|point| entries(&point));
    let leftover = |path: PathBuf| {
        let writer = match writer(path.file_name()?.to_str()?)? {
            Writer::Unknown if alone.is_some() => Writer::Dead,
            known => known,
        };
        Some(Leftover { path, writer })
    };
    paths.filter_map(leftover).collect()
}

fn scenarios(out: &Path) -> impl Iterator<Item = PathBuf> {
    entries(out).into_iter().filter(|path| path.is_dir())
}

/// In the order of names.
fn entries(dir: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<_> = fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// Whether something is half-written, whoever writes it.
pub(crate) fn is_leftover(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(|name| writer(name).is_some())
}

/// Who writes what has such a name: `.rep-003.1234-567-89abcdef-0.partial`, `.reps-000-099.1234-567-89abcdef-0.old`.
/// `None`: it is not half-written.
fn writer(name: &str) -> Option<Writer> {
    let name = name.strip_prefix(".rep-").or_else(|| name.strip_prefix(".reps-"))?;
    let (_, stated) = name.strip_suffix(".partial").or_else(|| name.strip_suffix(".old"))?.split_once('.')?;
    // earlier versions wrote the process's number alone
    Some(match stated.rsplit_once('-').and_then(|(process, _)| Process::parse(process)) {
        Some(process) if process.place == Process::own().place => process.state(),
        _ => Writer::Unknown,
    })
}

/// A process as names state it: `1234-567-89abcdef`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Process {
    number: u32,
    /// Ticks of the clock from the machine's start to its own (proc_pid_stat(5), field 22).
    start: u64,
    /// The machine since it was started, and the namespace of process numbers.
    place: String,
}

/// This process, for names.
pub(super) fn own() -> String {
    let Process { number, start, place } = Process::own();
    format!("{number}-{start}-{place}")
}

impl Process {
    /// This one. Where there is no `/proc` its place is unlike all others.
    fn own() -> &'static Self {
        static OWN: LazyLock<Process> = LazyLock::new(|| {
            let number = process::id();
            let place = place();
            let start = start(number).ok().filter(|_| place.is_some());
            Process { number, start: start.unwrap_or(0), place: place.unwrap_or_else(|| "nowhere".into()) }
        });
        &OWN
    }

    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('-');
        let (number, start, place) = (parts.next()?, parts.next()?, parts.next()?);
        let of = Self { number: number.parse().ok()?, start: start.parse().ok()?, place: place.to_owned() };
        (parts.next().is_none() && place != "nowhere").then_some(of)
    }

    /// Whether it runs, if it is of this place.
    fn state(&self) -> Writer {
        match start(self.number) {
            Ok(start) if start == self.start => Writer::Alive,
            // its number came back
            Ok(_) => Writer::Dead,
            Err(_) if is_free(self.number) => Writer::Dead,
            Err(_) => Writer::Unknown,
        }
    }
}

fn start(number: u32) -> io::Result<u64> {
    let stat = fs::read_to_string(format!("/proc/{number}/stat"))?;
    // the second field is a name in brackets, which may have spaces and brackets
    let fields = stat.rsplit_once(')').map(|(_, rest)| rest.split_whitespace());
    fields.and_then(|mut fields| fields.nth(19)?.parse().ok()).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// Whether no process has this number, also none that `/proc` hides.
fn is_free(number: u32) -> bool {
    let of = i32::try_from(number).ok().and_then(rustix::process::Pid::from_raw);
    of.is_some_and(|of| rustix::process::test_kill_process(of) == Err(rustix::io::Errno::SRCH))
}

/// `89abcdef`
fn place() -> Option<String> {
    let boot = fs::read("/proc/sys/kernel/random/boot_id").ok()?;
    let namespace = fs::read_link("/proc/self/ns/pid").ok()?;
    let mut hasher = blake3::Hasher::new();
    hasher.update(&boot).update(namespace.as_os_str().as_encoded_bytes());
    Some(hasher.finalize().to_hex()[..8].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(number: u32, start: u64, place: &str) -> String {
        format!(".rep-000.{number}-{start}-{place}-0.partial")
    }

    /// This process writes; one that began at another time had its number; none has the largest number.
    #[test]
    fn a_process_is_known_by_number_and_start() {
        let Process { number, start, place } = Process::own();
        assert_eq!(writer(&name(*number, *start, place)), Some(Writer::Alive));
        assert_eq!(writer(&name(*number, start + 1, place)), Some(Writer::Dead));
        assert_eq!(writer(&name(i32::MAX as u32, *start, place)), Some(Writer::Dead));
        assert_eq!(writer(&format!(".reps-000-099.{}-7.old", own())), Some(Writer::Alive));
    }

    #[test]
    fn others_are_unknown() {
        let Process { number, start, place } = Process::own();
        let elsewhere = if place == "00000000" { "11111111" } else { "00000000" };
        for name in [name(*number, *start, elsewhere), format!(".rep-000.{number}.partial"), name(0, 0, "nowhere")] {
            assert_eq!(writer(&name), Some(Writer::Unknown), "{name}");
        }
        for name in ["rep-000", ".rep-000", ".rep.partial", ".mine.partial", ".rep-000.1-2-3-4.parquet"] {
            assert_eq!(writer(name), None, "{name}");
        }
    }

    /// What is of the dead goes, in every scenario's directory. What cannot be judged stays while a process writes there.
    #[test]
    fn the_dead_leave_nothing() {
        let (out, Process { number, start, place }) = (tempfile::tempdir().unwrap(), Process::own());
        let [alive, dead, unknown] =
            [name(*number, *start, place), name(*number, start + 1, place), name(*number, *start, "elsewhere")];
        let all =
            ["a/recording", "b/base"].map(|point| [&alive, &dead, &unknown].map(|it| out.path().join(point).join(it)));
        let make = || all.iter().flatten().for_each(|path| fs::create_dir_all(path).unwrap());
        let there = || all.iter().flatten().map(|path| path.exists()).collect::<Vec<_>>();
        make();
        let busy = File::open(out.path().join("b")).unwrap();
        busy.lock_shared().unwrap();
        let stays = remove(out.path());
        assert_eq!(there(), [true, false, false, true, false, true]);
        assert_eq!(stays, [Leftover { path: all[1][2].clone(), writer: Writer::Unknown }]);
        assert_eq!(find(out.path()).len(), 3, "to look changes nothing");
        drop(busy);
        assert_eq!(remove(out.path()), []);
        assert_eq!(there(), [true, false, false, true, false, false]);
    }
}
