//! A session is the engine itself: what only looks changes nothing, a change is a `[[change]]`, and a copy goes on alike.

use perhop_core::params::{Problems, Tree};
use perhop_core::units::Span;
use perhop_results::Replication;
use perhop_results::columns::Table;
use perhop_runs::disk::Identity;
use perhop_runs::run::{Probes, RunOptions, Unwatched, run};
use perhop_runs::session::{Session, SessionError, Snapshot};
use perhop_scenario::change::overlay;
use perhop_scenario::knobs::Goal;
use perhop_scenario::text::{toml, tree, write};
use perhop_scenario::{Options, Point, Sweep};
use std::path::Path;

/// A port with an AQM, which a series sees, and a contract.
const NET: &str = r#"
[scenario]
name = "net"
duration = "4s"
warmup = "1s"
sample = "500ms"

[links]
"a - R" = { rate = "20Mbit/s", delay = "1ms" }
"R - b" = { rate = "2Mbit/s", delay = "10ms" }
"R -> b" = { queue = "port" }

[queue.port]
aqm = "codel"
limit = "40p"

[conditioner.gold]
at = "a -> R"
match = { traffic = "bulk" }
kind = "token-bucket"
cir = "500kbit/s"
cbs = "9kB"

[traffic.bulk]
model = "ftp"
flows = 2
from = "a"
to = "b"

[traffic.beacon]
model = "cbr"
rate = "100kbit/s"
size = "500B"
from = "a"
to = "b"
"#;

const CHANGE: &str = "\n[[change]]\nat = \"3s\"\nconditioner.gold.cir = \"1Mbit/s\"\n";

/// A text, and how it is read.
#[derive(Clone)]
struct Source {
    text: String,
    options: Options,
}

fn source(text: &str, options: Options) -> (Sweep, Source) {
    let source = Source { text: text.to_owned(), options };
    (Sweep::parse(&source.text, &source.options).unwrap_or_else(|found| panic!("{found}")).0, source)
}

fn begin(text: &str) -> Session {
    let (sweep, source) = source(text, Options::new("net.toml"));
    Session::begin(&sweep, &source.text, &source.options).unwrap()
}

/// Replication 0 as a run has it.
fn undisturbed(point: &Point) -> Replication {
    let (identity, taps, probes) = (Identity::default(), Vec::new(), Probes::default());
    let options = RunOptions { replications: 0..1, jobs: 1, out: None, resume: false, identity, taps, probes };
    run(std::slice::from_ref(point), &options, &Unwatched).unwrap().remove(0)
}

fn hash(text: &str) -> String {
    undisturbed(&source(text, Options::new("net.toml")).0.base_point()).hash
}

fn until(session: &mut Session, text: &str) {
    let goal = session.goal(Goal::Until(text)).unwrap();
    assert!(session.advance(goal, || true).unwrap());
}

fn finish(mut session: Session) -> String {
    session.finish().unwrap().1.hash
}

fn total(table: &Table, column: &str) -> i64 {
    table.integers(column).iter().flatten().sum()
}

fn said<T: std::fmt::Debug>(result: Result<T, SessionError>) -> String {
    match result.unwrap_err() {
        SessionError::Said(found) => found.to_string(),
        SessionError::Asked(line) | SessionError::Over(line) => line,
        SessionError::Run(error) => error.to_string(),
    }
}

/// Steps that fit nothing, all ports and flows looked at after each.
fn look_through(session: &mut Session) {
    let step = Span::from_ns(37_000_001);
    loop {
        let goal = session.duration().min(session.now().unwrap() + step);
        session.advance(goal, || true).unwrap();
        for port in 0..session.ports().len() {
            session.port_counters(port, "summary").unwrap();
            session.port_gauges(port).unwrap();
        }
        session.flow_counters().unwrap();
        session.flow_gauges().unwrap();
        if goal == session.duration() {
            return;
        }
    }
}

/// With one call, and with steps that look at everything: hash by hash.
#[test]
fn looking_changes_nothing() {
    let examples = [
        "dumbbell",
        "llq",
        "htb",
        "fq-codel",
        "dualpi2",
        "router-port",
        "trtcm",
        "timed-change",
        "tutorial",
        "telnet",
        "pps-tagger",
        "web",
        "fan-in",
    ];
    for name in examples {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../examples/{name}.toml"));
        let text = std::fs::read_to_string(&path).unwrap();
        let shorter = ["scenario.duration=13s", "scenario.warmup=2s"];
        let options = shorter.into_iter().fold(Options::new(&path.to_string_lossy()), Options::set);
        let (sweep, source) = source(&text, options);
        let expected = undisturbed(&sweep.base_point());
        let begin = || Session::begin(&sweep, &source.text, &source.options).unwrap();
        let mut whole = begin();
        let (point, made) = whole.finish().unwrap();
        assert_eq!((made.hash, &point.hash), (expected.hash.clone(), &sweep.base_point().hash), "{name}");
        let mut stepped = begin();
        look_through(&mut stepped);
        assert_eq!(finish(stepped), expected.hash, "{name}, in steps");
    }
}

/// What was counted between looks is together what was counted, from the start.
#[test]
fn counters_since_last_asked_add_up() {
    let (mut whole, mut parts) = (begin(NET), begin(NET));
    let port = whole.ports().iter().position(|port| *port == "R -> b").unwrap();
    until(&mut whole, "4s");
    let all = (whole.port_counters(port, "summary").unwrap(), whole.flow_counters().unwrap());
    let (mut arrived, mut sent) = (0, 0);
    for end in ["300ms", "1s", "1.7s", "4s"] {
        until(&mut parts, end);
        arrived += total(&parts.port_counters(port, "summary").unwrap(), "arrived_bytes");
        sent += total(&parts.flow_counters().unwrap(), "sent_packets");
    }
    assert!(arrived > 500_000, "{arrived}");
    assert_eq!((arrived, sent), (total(&all.0, "arrived_bytes"), total(&all.1, "sent_packets")));
    assert_eq!(total(&parts.port_counters(port, "summary").unwrap(), "arrived_bytes"), 0, "nothing since");
}

/// One gauge is its row of the table, of the port and of a conditioner.
#[test]
fn a_gauge_is_its_row() {
    let mut session = begin(NET);
    until(&mut session, "2s");
    let mut found = 0;
    for port in 0..session.ports().len() {
        let table = session.port_gauges(port).unwrap();
        for i in 0..table.rows() {
            let (quantity, owner) = (&table.texts("quantity")[i], &table.texts("conditioner")[i]);
            let one = session.port_gauge(port, quantity.as_deref().unwrap(), owner.as_deref()).unwrap();
            assert_eq!(one, table.reals("value")[i], "{quantity:?} {owner:?}");
            found += 1;
        }
    }
    assert!(found > 9, "{found}");
    assert_eq!(session.port_gauge(0, "queue_packets", Some("silver")).unwrap(), None);
}

/// The series of a run has the rows that gauges give at the same times.
#[test]
fn gauges_are_what_a_sample_sees() {
    let (sweep, _) = source(NET, Options::new("net.toml"));
    let made = undisturbed(&sweep.base_point());
    let mut session = begin(NET);
    for (kind, name) in ["series", "flow_series"].into_iter().enumerate() {
        let mut found = 0;
        let table = made.tables.iter().find(|table| table.name == name).unwrap();
        for at in ["500ms", "1s", "2.5s", "4s"] {
            let mut session = match kind {
                0 => begin(NET),
                _ => std::mem::replace(&mut session, begin(NET)),
            };
            until(&mut session, at);
            let seconds = session.now().unwrap().seconds();
            let rows: Vec<_> = (0..table.rows()).filter(|&i| table.reals("t_s")[i] == Some(seconds)).collect();
            let of_series = rows.iter().map(|&i| row(table, i));
            let ports = 0..session.ports().len();
            let seen: Vec<_> = match kind {
                0 => ports.map(|port| session.port_gauges(port).unwrap()).collect(),
                _ => vec![session.flow_gauges().unwrap()],
            };
            let seen: Vec<_> =
                seen.iter().flat_map(|it| (0..it.rows()).map(|i| row(it, i)).collect::<Vec<_>>()).collect();
            assert_eq!(of_series.collect::<Vec<_>>(), seen, "{name} at {at}");
            found += seen.len();
        }
        assert!(found > 10, "{name}: {found}");
    }
}

fn row(table: &Table, at: usize) -> String {
    use perhop_results::columns::Values;
    let value = |(name, values): &(String, Values)| match values {
        Values::Integers(all) => format!("{name} {:?}", all[at]),
        Values::Reals(all) => format!("{name} {:?}", all[at]),
        Values::Texts(all) => format!("{name} {:?}", all[at]),
    };
    table.columns.iter().map(value).collect::<Vec<_>>().join(", ")
}

/// The results are those of the same `[[change]]`s, and so is what is said to have run: also where the beacon sends at these
/// times, and where several changes are made at one of them.
#[test]
fn a_change_is_a_change_of_the_file() {
    let first = "\n[[change]]\nat = \"1.5s\"\nqueue.port.target = \"15ms\"\nlinks.\"R -> b\".rate = \"1500kbit/s\"\n";
    let second = "\n[[change]]\nat = \"2s\"\nconditioner.gold.cbs = \"20kB\"\n";
    let stated = format!("{NET}{first}{second}{CHANGE}");
    assert_ne!(hash(&stated), hash(&format!("{NET}{CHANGE}")));
    let mut session = begin(&format!("{NET}{CHANGE}"));
    until(&mut session, "1.5s");
    session.set("links.\"R -> b\".rate=900kbit/s").unwrap();
    session.set("queue.port.target=15ms").unwrap();
    session.set("links.\"R -> b\".rate=1500kbit/s").unwrap();
    until(&mut session, "2s");
    session.set("conditioner.gold.cbs=20kB").unwrap();
    let (point, made) = session.finish().unwrap();
    assert_eq!(made.hash, hash(&stated));
    assert_eq!(hash(&point.scenario.effective()), made.hash, "what it says ran gives the same again");
    assert_ne!(point.hash, source(NET, Options::new("net.toml")).0.base_point().hash);
}

/// The SYN is sent again 3 s after the first one: a `[[change]]` of that time comes before it.
#[test]
fn a_change_comes_before_a_timer_of_its_time() {
    let text = NET
        .replace("delay = \"10ms\"", "delay = \"3s\"")
        .replace("model = \"ftp\"", "model = \"ftp\"\nspread = \"0s\"");
    let change = |at| format!("{text}\n[[change]]\nat = \"{at}\"\nlinks.\"a -> R\".rate = \"10kbit/s\"\n");
    assert_ne!(hash(&change("3s")), hash(&change("3.000000001s")), "something happens in between");
    let mut session = begin(&text);
    until(&mut session, "3s");
    session.set("links.\"a -> R\".rate=10kbit/s").unwrap();
    assert_eq!(finish(session), hash(&change("3s")));
}

/// What a change of the file and one that is set do together, at one time.
#[test]
fn a_change_at_the_time_of_one_of_the_file() {
    let both = "\n[[change]]\nat = \"3s\"\nconditioner.gold.cir = \"1Mbit/s\"\nconditioner.gold.cbs = \"20kB\"\n";
    let mut session = begin(&format!("{NET}{CHANGE}"));
    until(&mut session, "3s");
    session.set("conditioner.gold.cbs=30kB").unwrap();
    let copy = session.snapshot().unwrap();
    session.set("conditioner.gold.cbs=20kB").unwrap();
    let (point, made) = session.finish().unwrap();
    assert_eq!(made.hash, hash(&format!("{NET}{both}")));
    assert_eq!(hash(&point.scenario.effective()), made.hash);
    session.restore(&copy).unwrap();
    assert_eq!(finish(session), hash(&format!("{NET}{both}").replace("20kB", "30kB")));
}

/// Another value of the same kind; `None` of what has no other.
fn another(value: &Tree, factor: f64) -> Option<String> {
    match value {
        Tree::Text(text) => {
            let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
            let number: f64 = text[..digits].parse().ok()?;
            let number = if text.ends_with('p') { (number * factor).ceil() } else { number * factor };
            Some(format!("\"{number}{}\"", &text[digits..]))
        }
        Tree::Integer(number) => Some(((*number as f64 * factor).ceil() as i64).to_string()),
        Tree::Float(number) => Some(format!("{:?}", number * factor)),
        Tree::Bool(is) => Some((!is).to_string()),
        Tree::List(_) | Tree::Table(_) => None,
    }
}

/// All that is stated or in force in the sections that a change may touch, with values. What cannot change is refused.
fn keys(sweep: &Sweep) -> Vec<(String, Tree)> {
    let root = toml::parse(&sweep.base.effective(), 0, &mut Problems::default()).unwrap();
    let paths = tree::leaves(&root.tree).into_iter().filter(|path| overlay::SECTIONS.contains(&path[0]));
    paths.map(|path| (write::dotted(&path), tree::get(&root, &path).unwrap().tree.clone())).collect()
}

/// An example that has one point, of as few seconds as it allows.
fn one_point(path: &Path) -> Option<(Sweep, Source)> {
    let (text, plain) = (std::fs::read_to_string(path).unwrap(), Options::new(&path.to_string_lossy()));
    let of = |length: &str| plain.clone().setting("duration", length).setting("warmup", "600ms");
    let sources = ["3s", "13s", "40s"].map(|length| Source { text: text.clone(), options: of(length) });
    let (sweep, source) =
        sources.into_iter().find_map(|source| Some((Sweep::parse(&source.text, &source.options).ok()?.0, source)))?;
    (sweep.points().len() == 1).then_some((sweep, source))
}

/// Every key that can change, of every example: two values at one time, later what it was. The file that is said to have run
/// gives the same results, and no link is busy for longer than it is looked at.
#[test]
fn every_change_is_a_change_of_the_file() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let all = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let (mut made, mut rates) = (0, 0);
    for (number, path) in all.filter(|path| path.extension().is_some_and(|it| it == "toml")).enumerate() {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let Some((sweep, source)) = one_point(&path) else { continue };
        let times = [["1s", "200ms"], ["1.234567891s", "1ms"], ["600ms", "700ms"]][number % 3];
        let mut session = Session::begin(&sweep, &source.text, &source.options).unwrap();
        until(&mut session, times[0]);
        let copy = session.snapshot().ok();
        for (key, value) in keys(&sweep) {
            let Some([first, second]) = another(&value, 1.25).zip(another(&value, 0.8)).map(<[_; 2]>::from) else {
                continue;
            };
            match &copy {
                Some(copy) => session.restore(copy).unwrap(),
                None => {
                    session = Session::begin(&sweep, &source.text, &source.options).unwrap();
                    until(&mut session, times[0]);
                }
            }
            let accepted = [first, second].map(|value| session.set(&format!("{key}={value}")).is_ok());
            if accepted == [false; 2] {
                continue;
            }
            let goal = session.goal(Goal::Step(times[1])).unwrap();
            assert!(session.advance(goal, || true).unwrap());
            let _ = session.set(&format!("{key}={value}"));
            let (point, found) = session.finish().unwrap();
            let effective = point.scenario.effective();
            let again = undisturbed(&self::source(&effective, Options::new(&path.to_string_lossy())).0.base_point());
            assert_eq!(found.hash, again.hash, "{name}: {key}\n{}", differing(&found, &again));
            made += 1;
            if key.starts_with("links.") && key.ends_with(".rate") {
                rates += 1;
                let links = found.tables.iter().find(|table| table.name == "links").unwrap();
                let busy = links.texts("hop").iter().zip(links.reals("utilisation"));
                let over: Vec<_> = busy.filter(|(hop, _)| key.contains(hop.as_deref().unwrap())).collect();
                assert!(over.iter().all(|(_, busy)| busy.unwrap() <= 1.0), "{name}: {key}: {over:?}");
            }
        }
    }
    assert!(made > 250 && rates > 50, "{made} changes, {rates} of rates");
}

/// The columns in which two replications differ.
fn differing(a: &Replication, b: &Replication) -> String {
    let columns = a.tables.iter().zip(&b.tables).flat_map(|(a, b)| {
        let pairs = a.columns.iter().zip(&b.columns).filter(|(a, b)| format!("{a:?}") != format!("{b:?}"));
        pairs.map(move |(column, _)| format!("{}.{}", a.name, column.0))
    });
    columns.collect::<Vec<_>>().join(" ")
}

/// After a change of the file, what it set is in force.
#[test]
fn a_change_after_those_of_the_file() {
    let mut session = begin(&format!("{NET}{CHANGE}"));
    until(&mut session, "3.50000001s");
    let same = session.set("conditioner.gold.cir=1Mbit/s").unwrap();
    assert_eq!(same.list[0].code, "W311", "{same}");
    session.set("conditioner.gold.cir=2Mbit/s").unwrap();
    let third = "\n[[change]]\nat = \"3.50000001s\"\nconditioner.gold.cir = \"2Mbit/s\"\n";
    assert_eq!(finish(session), hash(&format!("{NET}{CHANGE}{third}")));
}

#[test]
fn what_no_change_may_say_is_refused_and_nothing_changes() {
    let mut session = begin(NET);
    let cases = [("queue.port.target=3ms", "E201", "`at` is 0s")];
    for (text, code, words) in cases {
        let message = said(session.set(text));
        assert!(message.contains(code) && message.contains(words), "{message}");
    }
    until(&mut session, "1s");
    let cases = [
        ("queue.port.target=3", "E103", "set:1:19"),
        ("queue.prt.target=3ms", "E006", "port"),
        ("queue.port.tarhet=3ms", "E004", "target"),
        ("queue.port.limit=50p", "E202", "cannot change"),
        ("queue.port.aqm=red", "E202", "cannot become"),
        ("scenario.duration=9s", "E202", "a change cannot state"),
        ("dumbbell.flows=9", "E202", "[dumbbell]"),
        ("conditioner.gold.cbs=9B", "E2", "cbs"),
        ("queue.port.target", "E010", "KEY=VALUE"),
        ("queue..target=3ms", "E010", "is not a key"),
    ];
    for (text, code, words) in cases {
        let message = said(session.set(text));
        assert!(message.contains(code) && message.contains(words), "{text}\n{message}");
    }
    assert_eq!(finish(session), hash(NET));
}

/// A change of the file that the new values make impossible is refused at its place in the file.
#[test]
fn a_change_that_spoils_one_to_come_is_refused() {
    let later = "\n[[change]]\nat = \"3s\"\nqueue.port.target = \"90ms\"\n";
    let mut session = begin(&format!("{NET}{later}"));
    until(&mut session, "1s");
    let message = said(session.set("queue.port.interval=20ms"));
    assert!(message.contains("net.toml:") && message.contains("error"), "{message}");
    assert_eq!(finish(session), hash(&format!("{NET}{later}")));
}

fn copied(text: &str) -> (Session, Snapshot) {
    let mut session = begin(text);
    until(&mut session, "1.2s");
    let copy = session.snapshot().unwrap();
    (session, copy)
}

/// From one time on, once undisturbed, once changed, once undisturbed again after the end.
#[test]
fn a_copy_goes_on_alike() {
    let (mut session, copy) = copied(NET);
    session.set("queue.port.target=15ms").unwrap();
    until(&mut session, "2s");
    let changed = session.finish().unwrap().1.hash;
    session.restore(&copy).unwrap();
    assert_eq!(session.now().unwrap(), Span::from_ns(1_200_000_000));
    assert_eq!(session.finish().unwrap().1.hash, hash(NET));
    session.restore(&copy).unwrap();
    session.set("queue.port.target=15ms").unwrap();
    assert_eq!(finish(session), changed);
    assert_ne!(changed, hash(NET));
}

#[test]
fn copies_that_cannot_be_are_refused() {
    let (mut session, copy) = copied(NET);
    assert_eq!(said(begin(NET).restore(&copy)), "the snapshot is of another session");
    session.restore(&copy).unwrap();
}

#[test]
fn times_that_cannot_be_are_refused() {
    let mut session = begin(NET);
    until(&mut session, "2s");
    for (goal, words) in [
        (Goal::Until("1.5s"), "the session is at 2s"),
        (Goal::Until("4.1s"), "the run ends at 4s"),
        (Goal::Step("2001ms"), "at most 2s are left"),
        (Goal::Step("9223372035s"), "the run ends at 4s"),
        (Goal::Step("18446744073s"), "out of range"),
        (Goal::Until("3"), "until:1:1"),
        (Goal::Step("-3ms"), "step:1:1"),
        (Goal::Step(""), "is not a time"),
    ] {
        let message = said(session.goal(goal));
        assert!(message.contains(words), "{goal:?}: {message}");
    }
    assert_eq!(finish(session), hash(NET));
}

/// It stops between two events, and goes on.
#[test]
fn a_step_can_be_interrupted() {
    let mut session = begin(NET);
    let goal = session.goal(Goal::Until("3s")).unwrap();
    let mut looks = 0;
    let stopped = session.advance(goal, || {
        looks += 1;
        looks < 100
    });
    assert!(!stopped.unwrap());
    assert_eq!(session.now().unwrap(), Span::from_ns(400_000_000), "a hundred of a thousand parts of 4 s");
    assert_eq!(finish(session), hash(NET));
}

#[test]
fn after_the_end_every_call_says_so() {
    let mut session = begin(NET);
    session.finish().unwrap();
    let over = "the session is finished: begin another one, or restore a snapshot";
    let calls = [
        said(session.now()),
        said(session.goal(Goal::Step("1ms"))),
        said(session.advance(Span::ZERO, || true)),
        said(session.set("queue.port.target=3ms")),
        said(session.port_counters(0, "summary")),
        said(session.port_gauges(0)),
        said(session.flow_counters()),
        said(session.flow_gauges()),
        said(session.snapshot()),
        said(session.finish()),
    ];
    assert!(calls.iter().all(|line| line == over), "{calls:?}");
}

#[test]
fn a_session_has_one_point() {
    let (sweep, source) =
        source(&format!("{NET}\n[sweep]\n\"traffic.bulk.flows\" = [1, 2]\n"), Options::new("net.toml"));
    assert!(said(Session::begin(&sweep, &source.text, &source.options)).contains("sweeps 2"));
}

#[test]
fn an_unknown_table_is_refused() {
    let line = said(begin(NET).port_counters(0, "arrivals"));
    assert_eq!(line, "a port has no counters `arrivals`: there are summary, queues, nodes, conditioners, tallies");
}
