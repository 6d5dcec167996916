//! The same packets at the same times through the simulator, `meter --link` and `forward`: with `framing` the same bytes are on
//! the line of all three, so each packet leaves at the same nanosecond. Without it each counts as it says.
#![cfg(target_os = "linux")]

use crate::command::Folder;
use perhop_core::accounting::Accounting;
use perhop_core::units::{BitRate, Span};
use perhop_edge as edge;
use perhop_live::{Forwarder, Memory};
use perhop_scenario::{Options, Policy, Scenario, simulation};
use perhop_sim::record::{EventSink, PortEvent};
use serde_json::Value;
use std::sync::{Arc, Mutex};

const ALL: [Accounting; 4] = [Accounting::L3, Accounting::L2, Accounting::L2Fcs, Accounting::L1];
/// Bits a second of the line; no whole number of nanoseconds is a byte.
const RATE: u64 = 7_300_000;

const POLICY: &str = "[policy]\naccounting = \"l2\"\n[queue.line]\nlimit = \"1000p\"\n";

/// When each packet comes, ns, and its IP length: bursts, and a pause in which the line is idle.
fn packets() -> Vec<(u64, u16)> {
    let lengths = [1500, 60, 577, 1499, 46, 1000];
    let burst = |n: u64| (0..40).map(move |i| (n * 100_000_000 + i * 1_003, lengths[(i * 7 + n) as usize % 6]));
    (0..4).flat_map(burst).collect()
}

/// A frame of UDP; each has its own port, so that each is a flow.
fn frame(number: usize, length: u16) -> Vec<u8> {
    let mut ip = vec![0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
    ip[2..4].copy_from_slice(&length.to_be_bytes());
    let [port, datagram] = [5000 + number as u16, length - 20].map(u16::to_be_bytes);
    let udp = [&port[..], &[0, 9], &datagram, &[0, 0]].concat();
    let mut frame = [&[2; 12][..], &[8, 0], &ip, &udp].concat();
    frame.resize(14 + usize::from(length), 7);
    frame
}

fn pcap() -> Vec<u8> {
    let mut out = [0xa1b2_3c4d_u32, 0x0004_0002, 0, 0, 65_535, 1].map(u32::to_le_bytes).concat();
    for (number, (ns, length)) in packets().into_iter().enumerate() {
        let data = frame(number, length);
        let size = data.len() as u32;
        let header = [(ns / 1_000_000_000) as u32, (ns % 1_000_000_000) as u32, size, size];
        out.extend(header.map(u32::to_le_bytes).concat());
        out.extend(data);
    }
    out
}

/// How long each packet waited, by the law of a line: it begins when the one before has gone, `(IP length + more) * 8 / rate` later.
fn law(more: u64) -> Vec<u64> {
    // In parts of a nanosecond, `RATE` of which are one.
    let (mut free, unit) = (0u128, u128::from(RATE));
    packets()
        .into_iter()
        .map(|(ns, length)| {
            let came = u128::from(ns) * unit;
            let begins = free.max(came);
            // The line is free within the nanosecond in which the next begins.
            let begins = if free / unit >= u128::from(ns) { begins } else { came };
            free = begins + u128::from(u64::from(length) + more) * 8_000_000_000;
            (begins / unit) as u64 - ns
        })
        .collect()
}

fn waits(rows: &[PortEvent]) -> Vec<u64> {
    let mut rows: Vec<_> = rows.iter().filter(|row| row.link == 0).collect();
    rows.sort_by_key(|row| (row.came, row.number));
    rows.into_iter().map(|row| row.left.unwrap().since(row.came).ns()).collect()
}

fn sink() -> (EventSink, Arc<Mutex<Vec<PortEvent>>>) {
    let rows = Arc::new(Mutex::new(Vec::new()));
    let taken = rows.clone();
    (EventSink::new(move |batch| taken.lock().unwrap().extend_from_slice(batch)), rows)
}

/// In the simulator.
fn simulated(folder: &Folder, framing: Option<Accounting>) -> Vec<u64> {
    let framing = framing.map_or(String::new(), |it| format!(", framing = \"{}\"", it.name()));
    let text = format!(
        "[scenario]\nduration = \"2s\"\nwarmup = \"0s\"\naccounting = \"l2\"\n[links]\n\
         \"a - b\" = {{ rate = \"{RATE}bit/s\"{framing} }}\n\"a -> b\" = {{ queue = {{ limit = \"1000p\" }} }}\n\
         [traffic.it]\nmodel = \"capture\"\nfile = {:?}\nfrom = \"a\"\nto = \"b\"\n",
        folder.path("in.pcap")
    );
    let (scenario, _) = Scenario::parse(&text, &Options::new("x.toml").captures(&perhop_capture::replay::Files))
        .unwrap_or_else(|found| panic!("{found}"));
    let mut simulation = simulation::simulation(scenario.plan(1, 0)).unwrap();
    let (sink, rows) = sink();
    simulation.record_events(sink);
    simulation.run(|_| true).unwrap();
    let rows = rows.lock().unwrap();
    waits(&rows)
}

/// In a capture, by the command line: each flow has one packet. What it says that the line counts.
fn metered(folder: &Folder, framing: Option<Accounting>) -> (Vec<u64>, String) {
    let rate = format!("{RATE}bit/s");
    let mut args = vec!["meter", "in.pcap", "--policy", "policy.toml", "--queue", "line", "--link", &rate];
    args.extend(framing.iter().flat_map(|framing| ["--framing", framing.name()]));
    let run = |more: &[&str]| {
        let out = folder.perhop(&[&args[..], more].concat());
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap()
    };
    let report: Value = serde_json::from_str(&run(&["--json"])).unwrap();
    let text = run(&[]);
    let said = text.lines().find(|line| line.starts_with("link ")).unwrap().to_owned();
    let queue = &report["queue"];
    let mut found = vec![0; packets().len()];
    for row in queue["flows"].as_array().unwrap() {
        let flow = row["flow"].as_str().unwrap();
        let port = flow.split(" > ").next().unwrap().rsplit(':').next().unwrap();
        found[port.parse::<usize>().unwrap() - 5000] = (row["max_wait_s"].as_f64().unwrap() * 1e9).round() as u64;
    }
    let words = queue["framing"].as_str().unwrap();
    assert!(said.ends_with(&format!("({words})")), "{said}: {words}");
    (found, said)
}

/// Live, between two interfaces in memory.
fn forwarded(framing: Option<Accounting>) -> Vec<u64> {
    let rate = format!("{RATE}bit/s");
    let options = Options::new("policy.toml").of_policy("queue", "line").of_policy("link", &rate);
    let options = framing.iter().fold(options, |options, framing| options.of_policy("framing", framing.name()));
    let policy = Policy::parse(POLICY, &options).unwrap_or_else(|found| panic!("{found}")).0.live();
    let behind = edge::Behind { name: "line".into(), plan: policy.line().unwrap().clone() };
    let policy = edge::Policy {
        accounting: policy.accounting(),
        flow_timeout: Some(Span::from_s(60)),
        most_flows: Some(65_536),
        queue: Some(behind),
        ..edge::Policy::default()
    };
    let mut forwarder = Forwarder::new(policy, [Memory::default(), Memory::default()], 0).unwrap();
    let (sink, rows) = sink();
    forwarder.record(sink);
    for (number, (ns, length)) in packets().into_iter().enumerate() {
        while let Some(due) = forwarder.next_ns().filter(|due| *due <= ns) {
            forwarder.step(due);
        }
        forwarder.sides_mut()[0].coming.push_back((frame(number, length), false));
        forwarder.step(ns);
    }
    while let Some(due) = forwarder.next_ns() {
        forwarder.step(due);
    }
    forwarder.recorded(u64::from(u32::MAX)).unwrap();
    let rows = rows.lock().unwrap();
    waits(&rows)
}

fn folder() -> Folder {
    Folder::with(&[("in.pcap", &pcap()), ("policy.toml", POLICY.as_bytes())])
}

#[test]
fn three_hosts_count_the_same_bytes() {
    let folder = folder();
    for framing in ALL {
        let expected = law(framing.overhead().into());
        assert!(expected.iter().any(|wait| *wait > 20_000_000), "they queue");
        assert_eq!(simulated(&folder, Some(framing)), expected, "simulator, {}", framing.name());
        assert_eq!(metered(&folder, Some(framing)).0, expected, "meter, {}", framing.name());
        assert_eq!(forwarded(Some(framing)), expected, "forward, {}", framing.name());
    }
}

/// Without `framing`: the IP packet in the simulator and with `meter`, what `accounting` says with `forward`.
#[test]
fn without_it_each_host_counts_as_it_says() {
    let folder = folder();
    assert_eq!(simulated(&folder, None), law(0));
    let (waits, said) = metered(&folder, None);
    assert_eq!((waits, said), (law(0), format!("link {} counts IP packets (l3)", BitRate::bps(RATE))));
    assert_eq!(forwarded(None), law(14));
}

/// The key without what it belongs to, and a word that is none.
#[test]
fn what_is_wrong_is_said() {
    let folder = folder();
    let meter = ["meter", "in.pcap", "--policy", "policy.toml"];
    let alone = folder.refused(&[&meter[..], &["--framing", "l1"]].concat());
    assert!(alone.contains("E005") && alone.contains("`framing` without `link`"), "{alone}");
    let other = folder.refused(&[&meter[..], &["--queue", "line", "--link", "1Mbit/s", "--framing", "l4"]].concat());
    assert!(other.contains("l2+fcs") && other.contains("--framing"), "{other}");
}

/// `predict` has a link, too: 1 Mbit/s of frames on the wire are fewer bytes of IP.
#[test]
fn a_prediction_may_have_it() {
    let folder = Folder::with(&[("port.sh", b"tc qdisc add dev eth0 root pfifo limit 50\n")]);
    let text = |more: &[&str]| {
        let out = folder.perhop(&[&["import", "port.sh", "--link", "1Mbit/s"], more].concat());
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap()
    };
    assert!(!text(&[]).contains("framing"));
    let stated = text(&["--framing", "l1"]);
    assert!(stated.contains("rate = \"1Mbit/s\", delay = \"5ms\", framing = \"l1\""), "{stated}");
    assert!(folder.perhop(&["predict", "port.sh", "--link", "1Mbit/s", "--framing", "l1"]).status.success());
}
