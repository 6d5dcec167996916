//! The RFCs' decisions at every bucket boundary, as tables.

use crate::common::generate::{conditioner, quantity};
use crate::common::load::{Offered, gauge, pass};
use perhop_core::Scope;
use perhop_core::conditioner::AnyConditioner;
use perhop_core::packet::{Colour, Packet};
use perhop_core::params::Tree;
use perhop_core::rng::Rng;
use perhop_core::units::{Bytes, Time};

/// 1 byte a microsecond.
const RATE: &str = "8Mbit/s";

fn scope() -> Scope {
    Scope { largest_packet: Bytes::new(1), ..Scope::default() }
}

fn meter(name: &str, sizes: [(&'static str, &str); 2], aware: bool) -> AnyConditioner {
    let mut entries: Vec<_> = sizes.map(|(field, size)| (field, quantity(size))).to_vec();
    entries.push(("cir", quantity(RATE)));
    match name {
        "trtcm" => entries.push(("pir", quantity(RATE))),
        "trtcm-4115" => entries.push(("eir", quantity(RATE))),
        _ => {}
    }
    entries.push(("colour-aware", Tree::Bool(aware)));
    conditioner(name, &entries).build(&scope()).unwrap()
}

fn send(meter: &mut AnyConditioner, at_ns: u64, size: u32, colour: Colour) -> Colour {
    let offered = Offered { at: Time::from_ns(at_ns), packet: Packet { size, colour, ..Packet::default() } };
    pass(meter, &offered, &mut Rng::stream(0, 0, "unused")).colour
}

fn letter(colour: Colour) -> char {
    colour.name().chars().next().unwrap()
}

/// One meter's rows: mode and colour on arrival, then the colour given to a packet of each size by full buckets.
struct Vectors {
    name: &'static str,
    buckets: [(&'static str, &'static str); 2],
    sizes: [u32; 6],
    rows: [(bool, &'static str, &'static str); 5],
    /// Bytes that a packet of one byte takes from the two buckets, by the colour it gets.
    takes: [(char, [u32; 2]); 3],
    gauges: [&'static str; 2],
}

const SRTCM: Vectors = Vectors {
    name: "srtcm",
    buckets: [("cbs", "1000B"), ("ebs", "2000B")],
    sizes: [999, 1000, 1001, 1999, 2000, 2001],
    rows: [
        (false, "green yellow red unmarked", "ggyyyr"),
        (true, "green", "ggyyyr"),
        (true, "yellow", "yyyyyr"),
        (true, "red", "rrrrrr"),
        (true, "unmarked", "ggyyyr"),
    ],
    takes: [('g', [1, 0]), ('y', [0, 1]), ('r', [0, 0])],
    gauges: ["bucket_bytes", "excess_bucket_bytes"],
};

const TRTCM: Vectors = Vectors {
    name: "trtcm",
    buckets: [("cbs", "1000B"), ("pbs", "2000B")],
    rows: [
        (false, "green yellow red unmarked", "ggyyyr"),
        (true, "green", "ggyyyr"),
        (true, "yellow", "yyyyyr"),
        (true, "red", "rrrrrr"),
        (true, "unmarked", "ggyyyr"),
    ],
    takes: [('g', [1, 1]), ('y', [0, 1]), ('r', [0, 0])],
    gauges: ["bucket_bytes", "peak_bucket_bytes"],
    ..SRTCM
};

/// The committed bucket deeper than the peak one: P is asked first.
const TRTCM_DEEP: Vectors = Vectors {
    buckets: [("cbs", "2000B"), ("pbs", "1000B")],
    rows: [
        (false, "green yellow red unmarked", "ggrrrr"),
        (true, "green", "ggrrrr"),
        (true, "yellow", "yyrrrr"),
        (true, "red", "rrrrrr"),
        (true, "unmarked", "ggrrrr"),
    ],
    ..TRTCM
};

/// RFC 4115 section 3: "Tc(t) - B > 0", exactly enough is not enough.
const RFC4115: Vectors = Vectors {
    name: "trtcm-4115",
    buckets: [("cbs", "1000B"), ("ebs", "2000B")],
    rows: [
        (false, "green yellow red unmarked", "gyyyrr"),
        (true, "green", "gyyyrr"),
        (true, "yellow", "yyyyrr"),
        (true, "red", "rrrrrr"),
        (true, "unmarked", "gyyyrr"),
    ],
    takes: [('g', [1, 0]), ('y', [0, 1]), ('r', [0, 0])],
    gauges: ["bucket_bytes", "excess_bucket_bytes"],
    ..SRTCM
};

fn depth(text: &str) -> f64 {
    text.parse::<Bytes>().unwrap().get() as f64
}

fn check(v: &Vectors) {
    for (aware, incoming, expected) in v.rows {
        for colour in Colour::ALL.into_iter().filter(|c| incoming.split(' ').any(|name| name == c.name())) {
            for (size, want) in v.sizes.into_iter().zip(expected.chars()) {
                let mut meter = meter(v.name, v.buckets, aware);
                let got = letter(send(&mut meter, 0, size, colour));
                let place = format!("{} aware {aware} {} {size}", v.name, colour.name());
                assert_eq!(got, want, "{place}");
                let takes = v.takes.iter().find(|t| t.0 == got).unwrap().1;
                for ((bucket, takes), name) in v.buckets.iter().zip(takes).zip(v.gauges) {
                    let left = depth(bucket.1) - f64::from(takes * size);
                    assert_eq!(gauge(&meter, Time::ZERO, name), left, "{place}: {name}");
                }
            }
        }
    }
}

/// RFC 2697 section 3: metering, both modes.
#[test]
fn rfc_2697() {
    check(&SRTCM);
}

/// RFC 2698 section 3: metering, both modes.
#[test]
fn rfc_2698() {
    check(&TRTCM);
    check(&TRTCM_DEEP);
}

/// RFC 4115 section 3: metering, both modes.
#[test]
fn rfc_4115() {
    check(&RFC4115);
}

/// Two buckets drained at time 0 earn a byte a microsecond, so what a packet lacks by 1000 bytes is there after 1 ms
/// and not 1 ns before. RFC 4115 section 3 keeps a byte in the bucket, asks for 1001 and finds exactly enough not enough.
#[test]
fn refill_boundaries() {
    for (name, second, depth, drain, size, colours) in [
        ("srtcm", "ebs", "2000B", 2000, 1000, ['r', 'g', 'g']),
        ("trtcm", "pbs", "2000B", 2000, 1000, ['r', 'g', 'g']),
        ("trtcm-4115", "ebs", "2001B", 2000, 1001, ['r', 'r', 'g']),
    ] {
        for (ns, want) in [999_999, 1_000_000, 1_000_001].into_iter().zip(colours) {
            let mut meter = meter(name, [("cbs", depth), (second, depth)], true);
            send(&mut meter, 0, drain, Colour::Green);
            send(&mut meter, 0, drain, Colour::Yellow);
            assert_eq!(letter(send(&mut meter, ns, size, Colour::Green)), want, "{name} {ns}");
        }
    }
}

/// RFC 2697 section 3: the overflow of C goes to E, and only that.
#[test]
fn the_excess_bucket_lives_on_the_overflow() {
    let mut meter = meter("srtcm", [("cbs", "1000B"), ("ebs", "2000B")], false);
    for (at_us, size, want, tc, te) in [
        (0, 2000, 'y', 1000.0, 0.0),
        (0, 600, 'g', 400.0, 0.0),
        (500, 901, 'r', 900.0, 0.0),     // all to C
        (750, 1001, 'r', 1000.0, 150.0), // 100 to C, 150 to E
        (750, 150, 'g', 850.0, 150.0),
        (750, 851, 'r', 850.0, 150.0),
        (10_000, 1001, 'y', 1000.0, 999.0), // both full before
    ] {
        let now = Time::from_ns(at_us * 1000);
        assert_eq!(letter(send(&mut meter, now.ns(), size, Colour::Green)), want, "{at_us} us");
        assert_eq!(gauge(&meter, now, "bucket_bytes"), tc, "{at_us} us");
        assert_eq!(gauge(&meter, now, "excess_bucket_bytes"), te, "{at_us} us");
    }
}

/// RFC 2697 section 2: CBS or EBS may be 0. Without C nothing is green and E fills at CIR; without E nothing is yellow.
#[test]
fn one_bucket_may_be_missing() {
    let mut no_c = meter("srtcm", [("cbs", "0B"), ("ebs", "1000B")], false);
    let colours = [(0, 1000), (999, 1000), (1000, 1000)]
        .map(|(us, size)| letter(send(&mut no_c, us * 1000, size, Colour::Green)));
    assert_eq!(colours, ['y', 'r', 'y']);
    let mut no_e = meter("srtcm", [("cbs", "1000B"), ("ebs", "0B")], false);
    let colours = [(0, 1000), (999, 1000), (1000, 1000)]
        .map(|(us, size)| letter(send(&mut no_e, us * 1000, size, Colour::Green)));
    assert_eq!(colours, ['g', 'r', 'g']);
}

/// The keys and values of a table.
type Entries = Vec<(&'static str, Tree)>;

/// Faults that involve several fields: code, field. For the bursts RFC 2697 section 2 and RFC 2698 section 2, which also
/// requires PIR to be at least CIR.
#[test]
fn cross_field_faults() {
    let q = quantity;
    let big = Scope { largest_packet: Bytes::new(1500), ..Scope::default() };
    let cases: Vec<(&str, Entries, &str, &str)> = vec![
        ("token-bucket", vec![("cir", q("1Mbit/s")), ("cbs", q("1499B"))], "E212", "cbs"),
        ("token-bucket", vec![("cir", q("0bit/s")), ("cbs", q("1500B"))], "E201", "cir"),
        ("srtcm", vec![("cir", q("1Mbit/s")), ("cbs", q("0B")), ("ebs", q("0B"))], "E201", "cbs"),
        ("srtcm", vec![("cir", q("1Mbit/s")), ("cbs", q("1499B")), ("ebs", q("0B"))], "E212", "cbs"),
        ("srtcm", vec![("cir", q("1Mbit/s")), ("cbs", q("0B")), ("ebs", q("1499B"))], "E212", "ebs"),
        ("srtcm", vec![("cir", q("1Mbit/s")), ("cbs", q("1500B")), ("ebs", q("1B"))], "E212", "ebs"),
        ("srtcm", vec![("cir", q("0bit/s")), ("cbs", q("1500B")), ("ebs", q("0B"))], "E201", "cir"),
        ("trtcm", two_rates("1Mbit/s", "1500B", "999kbit/s", "1500B"), "E213", "pir"),
        ("trtcm", two_rates("1Mbit/s", "1499B", "1Mbit/s", "1500B"), "E212", "cbs"),
        ("trtcm", two_rates("1Mbit/s", "1500B", "1Mbit/s", "1499B"), "E212", "pbs"),
        ("trtcm-4115", excess_rates("1Mbit/s", "1500B", "1Mbit/s", "1501B"), "E212", "cbs"),
        ("trtcm-4115", excess_rates("1Mbit/s", "1501B", "1Mbit/s", "1500B"), "E212", "ebs"),
        ("trtcm-4115", excess_rates("0bit/s", "0B", "0bit/s", "0B"), "E201", "cir"),
        ("trtcm-4115", excess_rates("0bit/s", "1501B", "1Mbit/s", "1501B"), "E201", "cir"),
        ("trtcm-4115", excess_rates("1Mbit/s", "1501B", "0bit/s", "1501B"), "E201", "eir"),
        ("tsw2cm", vec![("cir", q("1Mbit/s")), ("window", q("0s"))], "E201", "window"),
        ("tsw3cm", vec![("cir", q("1Mbit/s")), ("pir", q("999kbit/s"))], "E213", "pir"),
        ("pam", pam(&[("min-th", q("50%")), ("max-th", q("49%"))]), "E214", "max-th"),
        ("pam", pam(&[("p-min", Tree::Float(0.5)), ("p-max", Tree::Float(0.4))]), "E214", "p-max"),
        ("pam", pam(&[("min-th", q("3p"))]), "E105", "min-th"),
        ("pam", pam(&[("weight", Tree::Float(0.0))]), "E201", "weight"),
        ("pam", pam(&[("idle", q("time"))]), "E201", "tau"),
        ("pam", pam(&[("tau", q("1s"))]), "E201", "tau"),
        ("pi-pam", pam(&[("reference", q("0%"))]), "E201", "reference"),
        ("pi-pam", pam(&[("reference", q("2000B"))]), "E201", "reference"),
        ("pi-pam", pam(&[("reference", q("3p"))]), "E105", "reference"),
        ("pi-pam", pam(&[("response", q("23.999ms"))]), "E201", "response"),
        ("f-sam", pam(&[("thr", q("2001B"))]), "E201", "thr"),
        ("f-sam", pam(&[("k-c", q("0s"))]), "E201", "k-c"),
        ("f-sam", pam(&[("k-alpha", q("0s"))]), "E201", "k-alpha"),
        ("rate-labeller", vec![("k", q("0s"))], "E201", "k"),
        ("rate-labeller", vec![("weight", Tree::Float(0.0))], "E201", "weight"),
        ("rate-labeller", vec![("first-label", q("half-link"))], "E201", "link"),
        ("rate-labeller", vec![("link", q("1Mbit/s"))], "E201", "link"),
    ];
    for (name, entries, code, field) in cases {
        let error = conditioner(name, &entries).build(&big).unwrap_err();
        assert_eq!((error.code, error.field), (code, field), "{name} {error}");
        assert!(!error.message.is_empty() && !error.help.is_empty(), "{name} {error}");
    }
}

fn two_rates(cir: &str, cbs: &str, pir: &str, pbs: &str) -> Entries {
    vec![("cir", quantity(cir)), ("cbs", quantity(cbs)), ("pir", quantity(pir)), ("pbs", quantity(pbs))]
}

fn excess_rates(cir: &str, cbs: &str, eir: &str, ebs: &str) -> Entries {
    vec![("cir", quantity(cir)), ("cbs", quantity(cbs)), ("eir", quantity(eir)), ("ebs", quantity(ebs))]
}

fn pam(more: &[(&'static str, Tree)]) -> Entries {
    let mut entries = vec![("cir", quantity("1Mbit/s")), ("cbs", quantity("2000B"))];
    entries.extend_from_slice(more);
    entries
}

/// The edges of what is allowed.
#[test]
fn cross_field_edges_that_are_fine() {
    let big = Scope { largest_packet: Bytes::new(1500), ..Scope::default() };
    for (name, entries) in [
        ("trtcm", two_rates("1Mbit/s", "1500B", "1Mbit/s", "1500B")),
        ("trtcm-4115", excess_rates("1Mbit/s", "1501B", "0bit/s", "0B")),
        ("trtcm-4115", excess_rates("0bit/s", "0B", "1Mbit/s", "1501B")),
        ("pam", pam(&[("min-th", quantity("50%")), ("max-th", quantity("1000B"))])),
        ("pi-pam", pam(&[])),
        ("pi-pam", pam(&[("response", quantity("24ms"))])),
        ("f-sam", pam(&[("thr", quantity("2000B"))])),
        ("rate-labeller", vec![("first-label", quantity("half-link")), ("link", quantity("1Mbit/s"))]),
    ] {
        assert!(conditioner(name, &entries).build(&big).is_ok(), "{name}");
    }
}
