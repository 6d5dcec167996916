//! A run that was not simulated: packets that passed between two interfaces, written as a run writes its own.
//!
//! Its scenario says what was between them: conditioners, queue and line of the policy. Its `[traffic]` tables have the
//! names by which flows are told apart, and stand for senders that are unknown here.

use super::disk::leftovers::{self, Leftover};
use super::disk::manifest::Labels;
use super::disk::write::{self, Draft};
use super::disk::{self, Common, Effort, Entry, Failed, Identity, home::Home};
use super::events::{self, Writer};
use perhop_core::accounting::Accounting;
use perhop_results::hash::hash;
use perhop_results::tables::tables;
use perhop_scenario::sweep::Point;
use perhop_scenario::{Diagnostics, Options, Policy, Sweep};
use perhop_sim::Outcome;
use perhop_sim::record::{EventSink, PortEvent};
use rustix::fs::{Access, access};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::SystemTime;

/// Batches of rows that may wait for the disk; beyond them rows are lost, and counted.
const WAITING: usize = 16;

/// The rate of a line where none was asked for: as good as none.
const NO_LINE: &str = "100Gbit/s";

/// What is recorded.
#[derive(Clone, Debug)]
pub struct Between<'a> {
    /// From the first interface to the second.
    pub interfaces: [&'a str; 2],
    /// What is between them.
    pub policy: &'a Policy,
    /// The policy's file.
    pub file: &'a str,
    /// The names of traffic, by number of the table.
    pub traffic: &'a [&'a str],
    /// Seed of conditioners and queue.
    pub seed: u64,
    /// When it begins.
    pub started: SystemTime,
}

/// Why nothing is recorded.
#[derive(Debug)]
pub enum Unrecorded {
    /// The policy cannot be that of a scenario; why.
    Policy(Diagnostics),
    /// A path cannot be written.
    Path(Failed),
}

/// A run being recorded.
#[derive(Debug)]
pub struct Recording {
    out: PathBuf,
    /// Its scenario but for the duration.
    text: String,
    identity: Identity,
    seed: u64,
    /// Its directory, which has rows and no name until the duration is known.
    draft: Draft,
    home: Home,
    writing: JoinHandle<io::Result<()>>,
    lost: Arc<AtomicU64>,
}

/// Where rows are until the run has its name, in its scenario's directory.
const ROWS: &str = "recording";

/// Whether a run can be recorded in `out` by this process; what is half-written there. Nothing is written.
///
/// # Errors
/// As far as they can be foreseen, those of [`Recording::begin`].
pub fn check(out: &Path, of: &Between<'_>) -> Result<Vec<Leftover>, Unrecorded> {
    let (sweep, _) = read(&scenario(of), 1, of.file).map_err(Unrecorded::Policy)?;
    writable(&out.join(sweep.base_point().scenario.name()).join(ROWS)).map_err(Unrecorded::Path)?;
    Ok(leftovers::find(out))
}

/// Whether a directory can be made and written: the last one on the way that is there says so.
fn writable(dir: &Path) -> Result<(), Failed> {
    let named = |path: &Path| if path.as_os_str().is_empty() { Path::new(".").to_owned() } else { path.to_owned() };
    for path in dir.ancestors().map(named) {
        let error = match fs::metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => error,
            Ok(found) if !found.is_dir() => io::ErrorKind::NotADirectory.into(),
            Ok(_) => match access(&path, Access::WRITE_OK | Access::EXEC_OK) {
                Ok(()) => return Ok(()),
                Err(error) => error.into(),
            },
        };
        return Err((path, error));
    }
    Ok(())
}

impl Recording {
    /// Begins a run in `out`; packets go to the sink that comes with it, which does not wait for the disk. What dead
    /// processes left half-written there is removed.
    ///
    /// # Errors
    /// Nothing is left of the attempt.
    pub fn begin(out: &Path, of: &Between<'_>) -> Result<(Self, EventSink), Unrecorded> {
        let text = scenario(of);
        let (sweep, options) = read(&text, 1, of.file).map_err(Unrecorded::Policy)?;
        let identity = Identity { recorded: true, ..Identity::of(&sweep, &options, of.started) };
        let point = sweep.base_point();
        let (home, _) = Home::enter(out, point.scenario.name())
            .map_err(|error| Unrecorded::Path((out.join(point.scenario.name()), error)))?;
        let rows = disk::directory(&out.join(point.scenario.name()).join(ROWS), &(0..=0));
        let draft = Draft::begin(&rows).map_err(Unrecorded::Path)?;
        let plan = point.scenario.plan(of.seed, 0);
        let constants = write::constants(&Labels::default(), Some(0));
        let rows = draft.file(events::NAME);
        let writer = Writer::begin(&rows, &plan, constants).map_err(|error| Unrecorded::Path((rows, error)))?;
        let (to, batches) = sync_channel(WAITING);
        let writing = thread::spawn(move || write(writer, &batches));
        let lost = Arc::new(AtomicU64::new(0));
        let (out, seed, sink) = (out.to_owned(), of.seed, sink(to, lost.clone()));
        Ok((Self { out, text, identity, seed, draft, home, writing, lost }, sink))
    }

    /// Completes it with what came of it, when its sink is gone; its directory.
    ///
    /// # Errors
    /// The path that could not be written; nothing is left of the attempt.
    pub fn complete(self, outcome: &Outcome) -> Result<PathBuf, Failed> {
        let Self { out, text, identity, seed, draft, home, writing, .. } = self;
        let there = |error| (draft.file(events::NAME), error);
        writing.join().unwrap_or_else(|_| Err(io::Error::other("its writer ended early"))).map_err(there)?;
        let (sweep, _) = read(&text, outcome.measured.ns().max(1), &identity.file)
            .map_err(|found| there(io::Error::other(found.to_string())))?;
        let point = sweep.base_point();
        let draft = draft.renamed(disk::directory(&disk::point_dir(&out, &point), &(0..=0)))?;
        let tables = tables(&point.scenario.plan(seed, 0), outcome);
        let effort = Effort { packet_hops: outcome.work.packet_hops, wall_s: outcome.measured.seconds() };
        let entry = Entry { replication: 0, result_hash: hash(&tables), effort, ef: Vec::new() };
        let dir = draft.dir().to_owned();
        draft.complete(&common(&point, identity, sweep.base_hash(), seed), vec![entry], &tables)?;
        drop(home);
        Ok(dir)
    }

    /// Rows for which the disk was too slow.
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }
}

fn common(point: &Point, identity: Identity, base_hash: &str, seed: u64) -> Common {
    Common {
        scenario: point.scenario.name().to_owned(),
        point: Labels::default(),
        point_hash: point.hash.clone(),
        seed,
        perhop: env!("CARGO_PKG_VERSION").to_owned(),
        effective: point.scenario.effective(),
        index: 0,
        identity: Identity { base_hash: base_hash.to_owned(), ..identity },
    }
}

fn read(text: &str, duration_ns: u64, file: &str) -> Result<(Sweep, Options), Diagnostics> {
    let options = Options::new(file).setting("duration", &format!("{duration_ns}ns"));
    Sweep::parse(text, &options).map(|(sweep, _)| (sweep, Options::new(file)))
}

/// Hands batches to the thread that writes.
fn sink(to: SyncSender<Vec<PortEvent>>, lost: Arc<AtomicU64>) -> EventSink {
    EventSink::new(move |batch| {
        if to.try_send(batch.to_vec()).is_err() {
            lost.fetch_add(batch.len() as u64, Ordering::Relaxed);
        }
    })
}

/// Writes batches until there are no more.
fn write(writer: Writer, batches: &Receiver<Vec<PortEvent>>) -> io::Result<()> {
    let to = writer.sink();
    batches.iter().for_each(|batch| to.take(&batch));
    writer.finish()
}

/// The scenario of what is between two interfaces.
fn scenario(of: &Between<'_>) -> String {
    let Between { interfaces: [a, b], policy, traffic, seed, .. } = of;
    let [both, there] = [format!("{a} - {b}"), format!("{a} -> {b}")].map(|name| quoted(&name));
    let line = policy.line().map(|plan| &plan.links[0]);
    let rate = line.map_or(NO_LINE.to_owned(), |line| line.rate.to_string());
    let framing = line.map(|line| line.framing).filter(|framing| *framing != Accounting::default());
    let framing = framing.map_or(String::new(), |framing| format!(", framing = {}", quoted(framing.name())));
    let queue = policy.queue().map_or(String::new(), |name| format!("{there} = {{ queue = {} }}\n", quoted(name)));
    let (accounting, sections) = sections(&policy.effective(), &there);
    let head = format!(
        "[scenario]\nname = {}\nduration = \"1s\"\nwarmup = \"0s\"\nseed = {seed}\nreplications = 1\n{accounting}\n\
         [links]\n{both} = {{ rate = {}{framing}, delay = \"0s\" }}\n{queue}\n",
        quoted(policy.name()),
        quoted(&rate),
    );
    let traffic = traffic.iter().map(|name| sender(name, a, b));
    head + &sections + &traffic.collect::<String>()
}

/// One that stands for all senders of a name.
fn sender(name: &str, a: &str, b: &str) -> String {
    let model = match name {
        "tcp" => "model = \"ftp\"\ntcp = \"linux\"",
        _ => "model = \"cbr\"\nrate = \"1Mbit/s\"\nsize = \"1000B\"",
    };
    format!("\n[traffic.{name}]\n{model}\nclass = \"live\"\nfrom = {}\nto = {}\n", quoted(a), quoted(b))
}

/// `accounting` of a policy, and its conditioners and queues, the conditioners at a port.
fn sections(policy: &str, port: &str) -> (String, String) {
    let (mut accounting, mut others, mut is_policy) = (String::new(), String::new(), false);
    for line in policy.lines() {
        if line.starts_with('[') {
            is_policy = line == "[policy]";
        }
        match (is_policy, line.starts_with("accounting")) {
            (true, true) => accounting = format!("{line}\n"),
            (true, false) => {}
            (false, _) => others.extend([line, "\n"]),
        }
        if line.starts_with("[conditioner.") {
            others += &format!("at = {port}\n");
        }
    }
    (accounting, others)
}

/// As a string of TOML.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opened::open;
    use perhop_core::units::Span;

    const POLICY: &str = r#"
        [policy]
        name = "edge"
        accounting = "l2"
        queue = "line"
        link = "10Mbit/s"
        [conditioner.gold]
        match = { dscp = "EF", protocol = "tcp" }
        kind = "token-bucket"
        cir = "1Mbit/s"
        cbs = "3000B"
        red = "drop"
        [queue.line]
        limit = "20p"
    "#;

    /// What is written is read as any run is, with its rows, its tables and the time that it took.
    #[test]
    fn is_read_as_a_run() {
        let (policy, _) = Policy::parse(POLICY, &Options::new("edge.toml")).unwrap();
        let out = tempfile::tempdir().unwrap();
        let between = Between {
            interfaces: ["eth1", "eth2.5"],
            policy: &policy,
            file: "edge.toml",
            traffic: &["tcp", "udp", "other"],
            seed: 3,
            started: SystemTime::UNIX_EPOCH,
        };
        let (recording, sink) = Recording::begin(out.path(), &between).unwrap();
        let event = PortEvent {
            number: 0,
            link: 0,
            flow: Default::default(),
            came: Default::default(),
            left: None,
            dropped: None,
            fate: perhop_sim::record::PortFate::Waiting,
            found_packets: 0,
            found_bytes: 0,
            colour_in: perhop_core::packet::Colour::Green,
            packet: Default::default(),
            wire: 40,
        };
        sink.take(&[event; 3]);
        drop(sink);
        let outcome = Outcome { measured: Span::from_ns(2_500_000_001), ..Outcome::default() };
        assert_eq!(recording.lost(), 0);
        let dir = recording.complete(&outcome).unwrap();
        assert!(disk::events_file(&dir).exists());
        let opened = open(out.path(), &|_| {}).unwrap();
        let found = opened.scenario.settings();
        assert_eq!((found.duration.ns(), found.seed, opened.replications.len()), (2_500_000_001, 3, 1));
        let plan = opened.scenario.plan(3, 0);
        assert_eq!((plan.links[0].name.as_str(), plan.links[0].edge.len()), ("eth1 -> eth2.5", 1));
        assert_eq!(fs::read_dir(out.path().join("edge")).unwrap().count(), 1, "nothing half-written is left");
    }
}
