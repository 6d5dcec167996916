//! EF held against its rate, asked of a scenario: what schedulers are known to give it, what is stored, what is refused.

use perhop_results::Replication;
use perhop_results::ef_shown;
use perhop_results::tables::columns::Table;
use perhop_runs::disk::{self, Identity};
use perhop_runs::ef::{EfResult, checks};
use perhop_runs::run::{Probes, RunError, RunOptions, Unwatched, run};
use perhop_scenario::{Options, Point, Sweep};
use std::path::Path;
use std::time::SystemTime;

/// A call of 1 Mbit/s beside packets of 1500 bytes that fill a link of 10 Mbit/s, and a port to be stated.
fn scenario(port: &str, more: &str) -> Sweep {
    let text = format!(
        r#"
[scenario]
name = "small"
duration = "6s"
warmup = "1s"
replications = 2

[links]
"a - b" = {{ rate = "10Mbit/s", delay = "1ms" }}
"a -> b" = {{ queue = "port" }}

[queue.port]
{port}

[traffic.voice]
model = "cbr"
flows = 5
from = "a"
to = "b"
rate = "200kbit/s"
size = "200B"
dscp = "EF"
spread = "20ms"

[traffic.rest]
model = "cbr"
from = "a"
to = "b"
rate = "20Mbit/s"
size = "1500B"
jitter = 0.5
{more}
"#
    );
    Sweep::parse(&text, &Options::new("small.toml")).unwrap_or_else(|e| panic!("{e}")).0
}

const STRICT: &str = r#"
scheduler = "strict-priority"
classes = [ { for = "EF", queue = { limit = "100p" } }, { queue = { limit = "100p" } } ]
"#;
const LIMITED: &str = r#"
shape = { rate = "8Mbit/s", burst = "3000B" }
scheduler = "strict-priority"
classes = [
  { for = "EF", rate = "2Mbit/s", burst = "3000B", queue = { limit = "100p" } },
  { queue = { limit = "100p" } },
]
"#;
const HTB: &str = r#"
scheduler = "htb"
classes = [ { for = ["EF", "CS5"], rate = "3Mbit/s" }, { rate = "7Mbit/s" } ]
"#;
const DRR: &str = r#"
scheduler = "drr"
classes = [ { for = "EF", quantum = "1500B" }, { quantum = "1500B" } ]
"#;
const FIFO: &str = "limit = \"50p\"";

fn options(ef: &[&str], out: Option<&Path>) -> RunOptions {
    RunOptions {
        replications: 0..2,
        jobs: 1,
        out: out.map(Path::to_owned),
        resume: true,
        identity: Identity::default(),
        taps: Vec::new(),
        probes: Probes { ef: ef.iter().map(ToString::to_string).collect(), ..Probes::default() },
    }
}

fn asked(sweep: &Sweep, ef: &[&str]) -> Vec<Replication> {
    run(&sweep.points(), &options(ef, None), &Unwatched).unwrap_or_else(|e| panic!("{e}"))
}

/// The one answer of the first replication.
fn one(port: &str, ef: &str) -> EfResult {
    asked(&scenario(port, ""), &[ef])[0].ef[0].clone()
}

const ONE_PACKET_NS: i64 = 1_200_000;

/// RFC 3247 section 5.1.1: with strict priority the error is at most one of the largest packets at the rate of the link,
/// and on a full link nearly that. A jitter of a nanosecond comes from the remainder of the line.
#[test]
fn strict_priority_has_at_most_one_packet_in_its_way() {
    let found = one(STRICT, "a -> b");
    let [aggregate, each] = [found.e_a_ns.unwrap(), found.e_p_ns.unwrap()];
    assert_eq!((found.rate_bit_s, aggregate), (10_000_000, each));
    assert!(aggregate <= ONE_PACKET_NS + 1 && aggregate > ONE_PACKET_NS * 9 / 10, "{found:?}");
    assert!(found.packets > 3000 && found.dropped_packets == 0, "{found:?}");
    assert!((1_000_000_000..6_000_000_000).contains(&found.e_a_at_ns.unwrap()), "after the warm-up: {found:?}");
}

/// DRR with as much for EF as for the others: EF is sure of half the link, with at most a round of the others and what they
/// and EF still have of the last one in its way.
#[test]
fn drr_gives_its_share_with_a_few_packets_in_the_way() {
    let found = one(DRR, "a -> b,rate=5Mbit/s");
    let error = found.e_a_ns.unwrap();
    assert!(error > 0 && error <= 3 * ONE_PACKET_NS, "{found:?}");
}

/// In a queue for all, EF waits behind whatever is there: up to the queue's limit.
#[test]
fn a_queue_for_all_gives_no_rate() {
    let found = one(FIFO, "a -> b,rate=1Mbit/s");
    assert!(found.e_a_ns.unwrap() > 25 * ONE_PACKET_NS && found.dropped_packets > 0, "{found:?}");
}

/// The rate is that of the class, or of the port.
#[test]
fn the_rate_is_what_the_class_is_sure_of() {
    let rate = |port, ef: &str| one(port, ef).rate_bit_s;
    assert_eq!(rate(STRICT, "a -> b"), 10_000_000);
    assert_eq!(rate(LIMITED, "a -> b"), 2_000_000);
    assert_eq!(rate(HTB, "a -> b"), 3_000_000);
    assert_eq!(rate(HTB, "a -> b,for=CS5"), 3_000_000);
    assert_eq!(rate(HTB, "a -> b , for = EF+CS5 , rate = 500kbit/s"), 500_000);
    assert_eq!(rate(FIFO, "a -> b,class=voice,rate=1Mbit/s"), 1_000_000);
}

#[test]
fn what_cannot_be_asked_is_refused_with_what_to_write() {
    let refused = |port, ef: &str| {
        let sweep = scenario(port, "");
        let error = checks(&[ef.to_owned()], &sweep.base).unwrap_err().to_string();
        assert!(error.contains(&format!("`ef` '{ef}'")) && error.contains("\n   help: "), "{error}");
        match run(&sweep.points(), &options(&[ef], None), &Unwatched) {
            Err(RunError::Asked(same)) => assert_eq!(same.to_string(), error),
            other => panic!("{other:?}"),
        }
        error
    };
    let cases = [
        (STRICT, "a -> c", ["E235", "no port `a -> c`", "did you mean `a -> b`?"]),
        (STRICT, "", ["E235", "no port ``", "valid names: a -> b, b -> a"]),
        (STRICT, "a -> b,rate=0Mbit/s", ["E201", "`rate` is 0", "above 0 and at most 10"]),
        (STRICT, "a -> b,rate=11Mbit/s", ["E201", "`rate` is 11", "at most 10"]),
        (LIMITED, "a -> b,rate=9Mbit/s", ["E201", "`rate` is 9", "at most 8"]),
        (STRICT, "a -> b,rate=11", ["E107", "rate", "Mbit/s"]),
        (STRICT, "a -> b,rate=", ["E005", "`rate` has no value", "as in"]),
        (STRICT, "a -> b,rte=1Mbit/s", ["E004", "unknown key `rte`", "did you mean `rate`?"]),
        (STRICT, "a -> b,rate=1Mbit/s,rate=1Mbit/s", ["E002", "twice", "once"]),
        (STRICT, "a -> b,for=EE", ["E220", "`EE` is not a DSCP", "EF"]),
        (STRICT, "a -> b,for=EF,class=voice", ["E239", "`for` together with `class`", "either by"]),
        (STRICT, "a -> b,class=voce", ["E006", "no class `voce`", "did you mean `voice`?"]),
        (FIFO, "a -> b", ["E005", "the rate is missing", "rate=2Mbit/s"]),
        (STRICT, "a -> b,for=AF11", ["E005", "the rate is missing", "at most 10"]),
        (STRICT, "a -> b,class=voice", ["E005", "the rate is missing", "at most 10"]),
    ];
    for (port, ef, words) in cases {
        let error = refused(port, ef);
        words.iter().for_each(|word| assert!(error.contains(word), "no `{word}` in {error}"));
    }
}

/// Without packets the error is unknown, not 0, and a note says what passed.
#[test]
fn without_packets_there_is_no_answer() {
    let sweep = scenario(STRICT, "");
    let replications = asked(&sweep, &["a -> b,for=CS5,rate=1Mbit/s", "b -> a,rate=1Mbit/s", "a -> b"]);
    assert_eq!((replications[0].ef[0].e_a_ns, replications[0].ef[0].packets), (None, 0));
    let said = ef_shown::missing(1, &replications);
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said[0].contains("no packet of CS5 left `a -> b`") && said[0].contains("BE, EF"), "{said:?}");
    assert!(said[1].contains("no packet of EF left `b -> a`") && said[1].contains("no packet passed"), "{said:?}");
}

fn names(tables: &[Table]) -> Vec<&str> {
    tables.iter().map(|table| table.name).collect()
}

/// Over replications packets are summed, and the error is the largest.
#[test]
fn over_replications_the_largest_error_counts() {
    let replications = asked(&scenario(STRICT, ""), &["a -> b"]);
    let rows = ef_shown::rows(1, &replications).unwrap();
    let value = |name: &str| {
        let at = rows.measures.iter().position(|measure| measure.name == *name).unwrap();
        rows.rows[0].values[at].unwrap().mean
    };
    let both = [&replications[0].ef[0], &replications[1].ef[0]];
    assert_eq!(value("packets"), both.map(|it| it.packets as f64).iter().sum::<f64>());
    assert_eq!(value("e_a_ms"), both.map(|it| it.e_a_ns.unwrap()).into_iter().max().unwrap() as f64 / 1e6);
    let json = &ef_shown::answer(&replications.iter().collect::<Vec<_>>())[0];
    assert_eq!(json["e_a_ms"].as_f64(), Some(value("e_a_ms")));
    assert_eq!(ef_shown::rows(1, &asked(&scenario(STRICT, ""), &[])), None);
}

/// What was asked is beside the results: their hash is the same, and a directory that has the answers is not made again.
#[test]
fn answers_are_kept_with_the_run() {
    let (folder, sweep) = (tempfile::tempdir().unwrap(), scenario(STRICT, ""));
    let points: Vec<Point> = sweep.points();
    let run = |ef: &[&str]| {
        let options = RunOptions {
            identity: Identity::of(&sweep, &Options::new("small.toml"), SystemTime::UNIX_EPOCH),
            ..options(ef, Some(folder.path()))
        };
        run(&points, &options, &Unwatched).unwrap().remove(0)
    };
    let stored = || {
        let mut stored = disk::load(&disk::point_dir(folder.path(), &points[0]).join("reps-000-001")).unwrap();
        (stored.tables.remove(0), stored.manifest.replications.remove(0).ef)
    };
    let plain = run(&[]);
    assert!(!names(&plain.tables).contains(&"ef") && stored().1.is_empty());
    let made = run(&["a -> b", "a -> b,rate=1Mbit/s"]);
    assert!(!made.reused && made.hash == plain.hash, "it lacked the answers");
    assert_eq!(stored(), (made.tables.clone(), made.ef.clone()));
    assert_eq!(names(&made.tables)[..plain.tables.len()], names(&plain.tables));
    let again = run(&["a -> b,rate=1Mbit/s"]);
    assert!(again.reused && again.ef == made.ef[1..], "{:?}", again.ef);
    let other = run(&["a -> b,rate=2Mbit/s"]);
    assert!(!other.reused && other.ef[0].rate_bit_s == 2_000_000);
    let unasked = run(&[]);
    assert!(unasked.reused && unasked.ef.is_empty() && unasked.tables == plain.tables);
    assert_eq!(stored().1, other.ef, "a run without a question keeps the answers");
}

/// The rate of a class counts what `accounting` says, and so does what is held against it: the class gets its 2 Mbit/s in each,
/// whether that is less than is offered (1.9 Mbit/s of IP packets of 100 B are 2.6 on the wire) or more. Framing of the class
/// itself (HTB's `overhead`) counts too.
#[test]
fn rate_and_packets_count_the_same_bytes() {
    let htb = |framing: &str| {
        format!(
            "scheduler = \"htb\"\n{framing}classes = [ {{ name = \"x\", for = \"EF\", rate = \"2Mbit/s\", queue = {{ limit = \"50p\" }} }}, \
             {{ name = \"y\", rate = \"5Mbit/s\", ceil = \"10Mbit/s\" }} ]\n"
        )
    };
    let more = "\n[traffic.ef]\nmodel = \"cbr\"\nfrom = \"a\"\nto = \"b\"\nrate = \"900kbit/s\"\nsize = \"100B\"\ndscp = \"EF\"\n";
    let cases =
        [("l3", "", "l3"), ("l2", "", "l2"), ("l1", "", "l1"), ("l3", "overhead = \"38B\"\n", "l3, overhead 38B")];
    for (accounting, framing, counts) in cases {
        let sweep = scenario(&htb(framing), more);
        let text = sweep.to_toml();
        let options = Options::new("small.toml").setting("accounting", accounting);
        let sweep = Sweep::parse(&text, &options).unwrap_or_else(|e| panic!("{e}")).0;
        let found = asked(&sweep, &["a -> b"])[0].ef[0].clone();
        assert_eq!((found.rate_bit_s, found.counts.as_str()), (2_000_000, counts));
        assert!(found.e_a_ns.unwrap() < 2 * ONE_PACKET_NS, "{accounting} {framing}: {found:?}");
    }
}

/// A link sends IP packets: small ones at more than its rate where more than them counts.
#[test]
fn a_rate_may_exceed_the_links_where_more_than_ip_packets_counts() {
    let text = scenario(STRICT, "").to_toml();
    let with = |accounting| Sweep::parse(&text, &Options::new("x.toml").setting("accounting", accounting)).unwrap().0;
    let ask = |accounting, rate| checks(&[format!("a -> b,rate={rate}")], &with(accounting).base);
    assert!(ask("l1", "13Mbit/s").is_ok());
    assert!(ask("l3", "13Mbit/s").unwrap_err().to_string().contains("at most 10Mbit/s"));
    let error = ask("l1", "24Mbit/s").unwrap_err().to_string();
    assert!(error.contains("E201") && error.contains("at most 23"), "{error}");
}
