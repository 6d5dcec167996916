//! W301 says that a policer holds TCP below its contract: true of every case in which it is said, and untrue of those in
//! which it is not. What it goes by is a table of runs, `make renew WHAT=bursts` writes it.

mod cell;
mod table;

use cell::{Cell, read};
use perhop_core::design::policer::{ENOUGH, ERROR, Policed, Sender};
use perhop_core::units::{BitRate, Bytes};
use std::collections::BTreeMap;
use std::path::Path;
use table::Row;

/// The share that the table gives.
fn expected(sender: Sender, [mbit_s, rtt_ms]: [f64; 2], flows: u32, burst: u32) -> f64 {
    let rate = BitRate::bps((1e6 * mbit_s) as u64);
    let policed = Policed { sender, rate, flows: f64::from(flows), rtt: rtt_ms / 1e3, packet: 1500.0 };
    policed.share(Bytes::new(u64::from(burst)))
}

/// With `PERHOP_RENEW=1` the table is measured again, with `PERHOP_RENEW=linux,prague` (`ARGS` of make) those stacks' parts of it.
#[test]
fn entries_of_the_table_are_what_runs_give() {
    if let Ok(what) = std::env::var("PERHOP_RENEW") {
        return table::renew(&what);
    }
    for sender in Sender::ALL.into_iter().filter(|sender| sender.measured() == *sender) {
        for (flows, rate, rtt, power) in [(0, 1, 3, -3), (0, 1, 4, 0), (1, 1, 4, -1), (2, 0, 3, -2), (2, 1, 5, -1)] {
            let row = Row { sender, flows, rate, rtt };
            let (written, measured) = (row.written(power), row.measured(power));
            assert!((written - measured).abs() < 0.05, "{sender:?} {flows} {rate} {rtt} {power}: {written} {measured}");
        }
    }
}

/// Rate and round trip, flows, burst: off the grid.
const BETWEEN: [([f64; 2], u32, u32); 25] = [
    ([30.0, 20.0], 16, 4_700),
    ([50.0, 40.0], 1, 15_000),
    ([80.0, 60.0], 8, 10_000),
    ([100.0, 70.0], 2, 5_000),
    ([200.0, 120.0], 16, 10_000),
    ([10.0, 30.0], 1, 15_000),
    ([10.0, 30.0], 1, 62_500),
    ([10.0, 40.0], 1, 62_500),
    ([10.0, 70.0], 1, 15_000),
    ([10.0, 70.0], 1, 125_000),
    ([10.0, 15.0], 1, 5_000),
    ([10.0, 150.0], 1, 300_000),
    ([20.0, 40.0], 1, 30_000),
    ([20.0, 40.0], 1, 200_000),
    ([30.0, 25.0], 1, 62_500),
    ([5.0, 60.0], 1, 15_000),
    ([5.0, 60.0], 1, 100_000),
    ([3.0, 120.0], 1, 50_000),
    ([10.0, 40.0], 2, 30_000),
    ([10.0, 60.0], 8, 15_000),
    ([20.0, 40.0], 8, 40_000),
    ([5.0, 100.0], 3, 30_000),
    ([4.0, 50.0], 10, 10_000),
    ([30.0, 80.0], 6, 60_000),
    ([15.0, 20.0], 2, 8_000),
];

#[test]
fn between_its_entries_the_table_is_within_its_error_of_nine_runs_in_ten() {
    for sender in Sender::ALL {
        let off = BETWEEN.map(|(way, flows, burst)| {
            let (expected, got) =
                (expected(sender, way, flows, burst), Cell::policed(sender, way, flows, burst).run().share);
            (expected, got, format!("{way:?} x {flows}, {burst}B: {got:.2}, expected {expected:.2}"))
        });
        let outside: Vec<_> = off.iter().filter(|it| (it.0 - it.1).abs() > ERROR).map(|it| &it.2).collect();
        assert!(outside.len() * 10 <= BETWEEN.len(), "{sender:?}: {outside:#?}");
    }
}

/// What a kernel measured behind a policer of 10 Mbit/s (`lab/records/tcp`): cell, and share of the contract, the mean of
/// its boots. The policer counts frames.
fn kernel() -> BTreeMap<String, f64> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lab/records/tcp/summary.csv");
    let text = std::fs::read_to_string(path).unwrap();
    let mut boots = BTreeMap::<String, Vec<f64>>::new();
    for line in text.lines().filter(|line| line.starts_with("policer-")) {
        let columns: Vec<_> = line.split(',').collect();
        let goodput: f64 = columns[4].parse().unwrap();
        boots.entry(columns[0].to_owned()).or_default().push(goodput / 10e6 * FRAME / 1448.0);
    }
    boots.into_iter().map(|(cell, shares)| (cell, shares.iter().sum::<f64>() / shares.len() as f64)).collect()
}

/// Bytes of a full frame.
const FRAME: f64 = 1514.0;

/// What the table gives for `policer-15kB-40ms-linux-reno` or `policer-bbr-15kB-40ms-linux-bbr`; `None` of another kind of cell.
fn expected_of(cell: &str) -> Option<f64> {
    let mut parts = cell.strip_prefix("policer-")?.trim_start_matches("bbr-").splitn(3, '-');
    let burst = match parts.next()?.strip_suffix("kB")? {
        "62" => 62_500,
        kilobytes => 1000 * kilobytes.parse::<u64>().ok()?,
    };
    let rtt = parts.next()?.strip_suffix("ms")?.parse::<f64>().ok()? / 1e3;
    let stack = parts.next()?;
    let sender = Sender::ALL.into_iter().find(|sender| sender.stack() == stack)?;
    Some(Policed { sender, rate: BitRate::mbps(10), flows: 1.0, rtt, packet: FRAME }.share(Bytes::new(burst)))
}

#[test]
fn the_table_is_within_its_error_of_a_kernel_in_nine_cells_of_ten() {
    let cells: Vec<_> = kernel().into_iter().filter_map(|(cell, got)| Some((expected_of(&cell)?, got, cell))).collect();
    assert!(cells.len() >= 36, "{} cells", cells.len());
    let outside: Vec<_> = cells.iter().filter(|(expected, got, _)| (expected - got).abs() > ERROR).collect();
    assert!(outside.len() * 10 <= cells.len(), "{outside:#?}");
}

/// Kinds that send in bunches, and those that pace.
const BUNCHED: [Sender; 4] = [Sender::Classic, Sender::Linux, Sender::LinuxReno, Sender::Dctcp];
const PACED: [Sender; 2] = [Sender::LinuxBbr, Sender::Prague];

const HELD: [([f64; 2], u32, u32); 9] = [
    ([10.0, 40.0], 1, 10_000),
    ([10.0, 40.0], 1, 20_000),
    ([10.0, 100.0], 1, 40_000),
    ([10.0, 100.0], 1, 20_000),
    ([50.0, 40.0], 1, 60_000),
    ([2.0, 100.0], 1, 6_000),
    ([10.0, 40.0], 5, 6_000),
    ([10.0, 40.0], 20, 2_000),
    ([50.0, 100.0], 5, 30_000),
];

const DELIVERED: [([f64; 2], u32, u32); 7] = [
    ([10.0, 40.0], 1, 800_000),
    ([2.0, 100.0], 1, 200_000),
    ([10.0, 40.0], 5, 75_000),
    ([10.0, 40.0], 20, 50_000),
    ([2.0, 100.0], 5, 50_000),
    ([10.0, 100.0], 10, 300_000),
    ([50.0, 40.0], 20, 300_000),
];

/// What holds those that pace: a single packet for several flows.
const HELD_PACED: [([f64; 2], u32, u32); 5] = [
    ([10.0, 40.0], 4, 1_500),
    ([10.0, 100.0], 4, 1_500),
    ([10.0, 100.0], 16, 1_500),
    ([2.0, 100.0], 4, 1_500),
    ([2.0, 100.0], 16, 1_500),
];

/// Whether it is said of such flows that they are held below their contract, and they are.
fn held(sender: Sender, (way, flows, burst): ([f64; 2], u32, u32)) -> bool {
    let outcome = Cell::policed(sender, way, flows, burst).run();
    let (said, held) = (outcome.said.contains(&"W301"), outcome.share < ENOUGH);
    assert_eq!(said, held, "{sender:?} {way:?} x {flows}, {burst}B: {:.2}", outcome.share);
    held
}

#[test]
fn what_it_warns_of_is_held_below_its_contract() {
    for cell in HELD {
        assert!(BUNCHED.into_iter().all(|sender| held(sender, cell)), "{cell:?}");
    }
    for cell in HELD_PACED {
        assert!(PACED.into_iter().all(|sender| held(sender, cell)), "{cell:?}");
    }
}

#[test]
fn what_it_does_not_warn_of_is_delivered() {
    for cell in DELIVERED {
        assert!(!Sender::ALL.into_iter().any(|sender| held(sender, cell)), "{cell:?}");
    }
}

/// It paces, and does not slow down for what is lost.
#[test]
fn bbr_needs_a_bucket_of_a_few_packets() {
    for cell in HELD.into_iter().filter(|cell| cell.2 >= 6_000) {
        assert!(!held(Sender::LinuxBbr, cell), "{cell:?}");
    }
}

/// Where several kinds share a bucket, the one that slows down least takes what the others leave.
#[test]
fn of_several_kinds_it_goes_by_the_one_that_gets_most() {
    let policer = Cell::policed(Sender::LinuxReno, [10.0, 40.0], 1, 15_000);
    for (other, said) in [(Sender::Classic, true), (Sender::Linux, true), (Sender::LinuxBbr, false)] {
        let text = policer.beside(other);
        let outcome = policer.run_as(&text);
        assert_eq!(outcome.said.contains(&"W301"), said, "{other:?}");
        assert_eq!(outcome.share < ENOUGH, said, "{other:?}: {:.2}", outcome.share);
        let own = text.replace("cbs =", "per = \"flow\"\ncbs =");
        assert!(policer.run_as(&own).said.contains(&"W301"), "{other:?}");
    }
}

/// A policer marks nothing, and without marks DCTCP is Linux's Reno with ECN. That differs from Reno without by luck alone:
/// the first segment after a cut says so, and is acknowledged at once.
#[test]
fn behind_a_policer_dctcp_is_reno_with_ecn() {
    for (way, flows, burst) in BETWEEN {
        let dctcp = Cell::policed(Sender::Dctcp, way, flows, burst);
        let reno = Cell { tcp: "stack = \"linux-reno\"\necn = true", ..dctcp };
        assert_eq!(dctcp.run().share, reno.run().share, "{way:?} x {flows}, {burst}B");
    }
}

/// What is only marked is not held: there a queue decides.
#[test]
fn it_is_not_said_of_what_is_marked() {
    for flows in [1, 20] {
        let outcome = Cell::policed(Sender::Linux, [10.0, 40.0], flows, 3_000).marking().run();
        assert!(
            outcome.said.is_empty() && outcome.share >= ENOUGH,
            "{flows}: {:?}, {:.2}",
            outcome.said,
            outcome.share
        );
    }
}

/// Nor of what a shaper has made fit, or a link that is as slow.
#[test]
fn it_is_not_said_behind_a_shaper() {
    let policer = Cell::policed(Sender::Linux, [10.0, 40.0], 1, 6_000);
    let said = |shaped: &str| read(&policer.text().replace("delay = \"1us\"", shaped)).1.contains(&"W301");
    assert!(
        said("delay = \"1us\"")
            && !said("delay = \"1us\", queue = { shape = { rate = \"10Mbit/s\", burst = \"3kB\" } }")
    );
    assert!(said("delay = \"1us\", queue = { shape = { rate = \"10Mbit/s\", burst = \"9kB\" } }"));
    assert!(said("delay = \"1us\", queue = { shape = { rate = \"11Mbit/s\", burst = \"3kB\" } }"));
    let cake = |rate: &str| format!("delay = \"1us\", queue = {{ scheduler = \"cake\", rate = \"{rate}\" }}");
    assert!(!said(&cake("10Mbit/s")) && said(&cake("11Mbit/s")));
    let held = policer.run_as(&policer.text().replace("delay = \"1us\"", &cake("10Mbit/s")));
    assert!(held.share > 0.95, "{:.2}", held.share);
}

/// A link behind the policer that is as slow as the contract paces TCP by its ACKs. What that is worth depends on the bunches in
/// which it still sends, so the warning stays.
#[test]
fn it_is_said_before_a_slow_link() {
    for (rate, share) in [(10.0, 0.85..1.0), (100.0, 0.0..0.4)] {
        let policer = Cell::policed(Sender::Linux, [rate, 20.0], 1, 6_000);
        let fast = format!("rate = \"{}Mbit/s\"", 10.0 * rate);
        let outcome = policer.run_as(&policer.text().replace(&fast, &format!("rate = \"{rate}Mbit/s\"")));
        assert!(outcome.said.contains(&"W301") && share.contains(&outcome.share), "{rate}: {:.2}", outcome.share);
    }
}
