//! The rate that bounds a queue, wherever it is stated: what times in limits and thresholds refer to, what `explain` says of
//! a full queue, and what is measured.

use perhop_results::tables::tables;
use perhop_scenario::{Options, Scenario, explain};

fn read(text: &str) -> (Scenario, Vec<&'static str>) {
    let (scenario, diagnostics) = Scenario::parse(text, &Options::new("x.toml")).unwrap_or_else(|d| panic!("{d}"));
    let codes = diagnostics.list.iter().map(|it| it.code).collect();
    (scenario, codes)
}

/// A link of 1 Gbit/s with this queue, offered packets of `size` at `kbit_s` of each of two code points.
fn port(queue: &str, size: u32, kbit_s: u32) -> String {
    let traffic = |name: &str| {
        format!(
            "[traffic.{name}]\nmodel = \"cbr\"\nrate = \"{kbit_s}kbit/s\"\nsize = \"{size}B\"\nfrom = \"h\"\nto = \"s\"\ndscp = \"{name}\"\n"
        )
    };
    format!(
        "[scenario]\nduration = \"8s\"\nwarmup = \"4s\"\n[links]\n\"h - s\" = {{ rate = \"1Gbit/s\", delay = \"1ms\" }}\n\
         \"h -> s\" = {{ queue = {queue} }}\n{}{}",
        traffic("AF11"),
        traffic("BE")
    )
}

/// The times that `explain` gives for the queues of the port, ms; for those that a scheduler limits, the last.
fn explained(scenario: &Scenario) -> Vec<f64> {
    let text = explain(scenario);
    let port = text.split("# Queues").nth(1).and_then(|it| it.split("h -> s: rate").nth(1)).unwrap();
    let port = port.split("s -> h").next().unwrap();
    let times = port.split('(').skip(1).filter_map(|it| {
        let mut words = it.split([' ', ')']);
        let value: f64 = words.next()?.parse().ok()?;
        Some(
            value
                * [("s", 1e3), ("ms", 1.0), ("us", 1e-3)]
                    .into_iter()
                    .find(|unit| Some(unit.0) == words.clone().next())?
                    .1,
        )
    });
    times.collect()
}

/// The median wait at the port of each traffic, ms.
fn measured(scenario: &Scenario) -> Vec<f64> {
    let plan = scenario.plan(1, 0);
    let outcome = perhop_sim::Simulation::new(plan.clone(), Default::default()).unwrap().run(|_| true).unwrap();
    let all = tables(&plan, &outcome);
    let summary = all.iter().find(|table| table.name == "summary").unwrap();
    summary.reals("wait_p50_ms").iter().flatten().copied().collect()
}

const ONE: &str = r#"{ limit = "50ms" }"#;

/// One queue that everything reaches: it takes 50 ms from its end to its head, by the rate of 10 Mbit/s or by the time in
/// `limit`, whatever holds it to that rate.
#[test]
fn a_full_queue_takes_as_long_as_explain_says() {
    let cases = [
        r#"{ shape = { rate = "10Mbit/s", burst = "3000B" }, limit = "50ms" }"#.to_owned(),
        format!(r#"{{ scheduler = "htb", classes = [{{ rate = "10Mbit/s", queue = {ONE} }}] }}"#),
        format!(r#"{{ scheduler = "htb", classes = [{{ rate = "10Mbit/s", ceil = "10Mbit/s", queue = {ONE} }}] }}"#),
        format!(r#"{{ scheduler = "htb", classes = [{{ rate = "10Mbit/s", ceil = "50Mbit/s", queue = {ONE} }}] }}"#),
        format!(
            r#"{{ scheduler = "htb", classes = [{{ name = "all", rate = "10Mbit/s", ceil = "90Mbit/s" }}, {{ parent = "all", rate = "1Mbit/s", ceil = "80Mbit/s", queue = {ONE} }}] }}"#
        ),
        format!(
            r#"{{ scheduler = "htb", classes = [{{ name = "all", rate = "20Mbit/s" }}, {{ parent = "all", rate = "1Mbit/s", ceil = "10Mbit/s", queue = {ONE} }}] }}"#
        ),
        format!(
            r#"{{ scheduler = "htb", classes = [{{ rate = "10Mbit/s", queue = {{ scheduler = "drr", classes = [{{ quantum = "1500B", queue = {ONE} }}] }} }}] }}"#
        ),
        format!(
            r#"{{ shape = {{ rate = "10Mbit/s", burst = "3000B" }}, scheduler = "htb", classes = [{{ rate = "40Mbit/s", queue = {ONE} }}] }}"#
        ),
        r#"{ scheduler = "htb", classes = [{ rate = "20Mbit/s", queue = { limit = "50ms", shape = { rate = "10Mbit/s", burst = "3000B" } } }] }"#.into(),
        r#"{ shape = { rate = "10Mbit/s", burst = "3000B" }, scheduler = "sfq", flows = 1, limit = "42p", depth = "42p" }"#.into(),
        r#"{ scheduler = "htb", classes = [{ rate = "10Mbit/s", queue = { scheduler = "fq-codel", limit = "42p", drop-batch = 1, target = "10s", interval = "20s" } }] }"#.into(),
        r#"{ scheduler = "cake", rate = "10Mbit/s", memory = "63000B", tins = "besteffort", isolation = "flowblind", rtt = "20s" }"#.into(),
        // Packets of 600 B count 700 B, or 689 B in 13 cells.
        r#"{ shape = { rate = "10Mbit/s", burst = "3000B", overhead = "100B" }, limit = "89p" }"#.into(),
        r#"{ scheduler = "htb", link-layer = "atm", classes = [{ rate = "10Mbit/s", queue = { limit = "90p" } }] }"#.into(),
        r#"{ scheduler = "cake", rate = "10Mbit/s", overhead = "100B", memory = "54000B", tins = "besteffort", isolation = "flowblind", rtt = "20s" }"#.into(),
    ];
    for queue in cases {
        // Together 2 % above 10 Mbit/s, as the rate counts them: a queue that drops at its head moves no faster than they come.
        let (size, kbit_s) = match &*queue {
            it if it.contains("overhead") => (600, 5100 * 600 / 700),
            it if it.contains("atm") => (600, 5100 * 600 / 689),
            _ => (1500, 5100),
        };
        let (scenario, _) = read(&port(&queue, size, kbit_s));
        let explained = explained(&scenario);
        let told = explained.iter().copied().fold(0.0, f64::max);
        assert!((46.0..=52.0).contains(&told), "{queue}: {explained:?}");
        for wait in measured(&scenario) {
            // A packet in two more or less, and those 2 %.
            assert!((wait - told).abs() <= 0.06 * told, "{queue}: {told} ms, measured {wait}");
        }
    }
}

/// Two full queues below one class of 10 Mbit/s: the way out is as long as both.
#[test]
fn all_that_waits_before_a_class_counts() {
    let queue = r#"{ scheduler = "htb", classes = [{ name = "all", rate = "10Mbit/s" },
        { parent = "all", for = "AF11", rate = "1Mbit/s", ceil = "10Mbit/s", queue = { limit = "40p" } },
        { parent = "all", rate = "1Mbit/s", ceil = "10Mbit/s", queue = { limit = "40p" } }] }"#;
    let queue = queue.replace('\n', " ");
    let waits = measured(&read(&port(&queue, 1500, 9000)).0);
    let text =
        port(&queue, 1500, 9000).replace("model = \"cbr\"\nrate = \"9000kbit/s\"\nsize = \"1500B\"", "model = \"ftp\"");
    let text = explain(&read(&text).0);
    // 80 packets of 1040 B at 10 Mbit/s, and 1000 of 40 B on the way back at 1 Gbit/s.
    assert_eq!(text.matches("base RTT 2ms, 68.9 ms with every queue full").count(), 2, "{text}");
    assert!(waits.len() == 2 && waits.iter().all(|wait| (wait - 96.0).abs() < 5.0), "{waits:?}");
}

/// What is told a rate acts on it: RED in time, PIE's reach, DRR's share below a class.
#[test]
fn thresholds_refer_to_the_rate_that_bounds() {
    let below =
        |queue: &str| format!(r#"{{ scheduler = "htb", classes = [{{ rate = "10Mbit/s", queue = {queue} }}] }}"#);
    let red = below(r#"{ aqm = "red", limit = "200ms", min = "10ms", max = "30ms", max-p = 0.1 }"#);
    let (scenario, _) = read(&port(&red, 1500, 6000));
    assert!(measured(&scenario).iter().all(|wait| *wait < 60.0), "{:?}", measured(&scenario));
    let (_, codes) = read(&port(&below(r#"{ aqm = "pie", limit = "100p" }"#), 1500, 6000));
    assert!(!codes.contains(&"W316"), "{codes:?}");
    let (_, codes) = read(&port(r#"{ aqm = "pie", limit = "100p" }"#, 1500, 6000));
    assert!(codes.contains(&"W316"), "at 1 Gbit/s the target is out of reach: {codes:?}");
    let share = below(
        r#"{ aqm-rate = "share", scheduler = "drr", classes = [{ for = "AF11", quantum = "1500B", queue = { limit = "50ms" } }, { quantum = "3000B", queue = { limit = "50ms" } }] }"#,
    );
    let (scenario, _) = read(&port(&share, 1500, 9000));
    let rates: Vec<_> =
        scenario.plan(1, 0).links[0].queues.iter().map(|it| it.scope.link_rate.unwrap().bit_s()).collect();
    assert_eq!(rates, [3_333_333, 6_666_666]);
    assert!(measured(&scenario).iter().all(|wait| (wait - 50.0).abs() < 4.0), "{:?}", measured(&scenario));
}

/// Frames at a shaper without a peak: packets of 200 B take five cells of 53 B, 2358.5 of them a second at 5 Mbit/s.
#[test]
fn a_shaper_in_cells_keeps_its_rate() {
    let queue = r#"{ shape = { rate = "5Mbit/s", burst = "6kB", link-layer = "atm" }, limit = "100p" }"#;
    let plan = read(&port(queue, 200, 9000)).0.plan(1, 0);
    let outcome = perhop_sim::Simulation::new(plan.clone(), Default::default()).unwrap().run(|_| true).unwrap();
    let sent: u64 = outcome.ports.hops.iter().filter(|row| row.link == 0).map(|row| row.delivered.packets).sum();
    assert!((sent as f64 / 4.0 - 2358.5).abs() < 1.0, "{sent} in 4 s");
}

/// The rule of Lemma 3.1 takes the rate that bounds the queue: a shaped link is judged as a slow one.
#[test]
fn a_shaped_queue_swings_as_that_of_a_slow_link() {
    let labels = |link: &str| {
        let text = format!(
            "[scenario]\nduration = \"20s\"\n[links]\n\"A - B\" = {{ rate = \"10Mbit/s\", delay = \"60ms\" }}\n\"A -> B\" = {{ {link} }}\n\
             [tcp.new]\necn = true\nsegment = \"960B\"\n[traffic.a]\nmodel = \"ftp\"\nflows = 50\nfrom = \"A\"\nto = \"B\"\ntcp = \"new\"\n"
        );
        let (_, said) = Scenario::parse(&text, &Options::new("x.toml")).unwrap_or_else(|said| panic!("{said}"));
        said.list.into_iter().filter(|it| it.code == "W317").map(|it| it.label).collect::<Vec<_>>()
    };
    let queue = "aqm = \"svb\", limit = \"100p\", ecn = true";
    let slow = labels(&format!("queue = {{ {queue} }}"));
    assert_eq!(slow.len(), 1);
    let shape = "shape = { rate = \"10Mbit/s\", burst = \"3000B\" }";
    assert_eq!(labels(&format!("rate = \"1Gbit/s\", queue = {{ {queue}, {shape} }}")), slow);
}
