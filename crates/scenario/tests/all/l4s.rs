//! Senders that answer to the fraction of marks, over the queues that they are meant for.

use perhop_scenario::{Options, Scenario};
use perhop_sim::{EngineOptions, Outcome, Simulation};

/// A run of one replication.
fn run(text: &str) -> Outcome {
    let (scenario, said) = Scenario::parse(text, &Options::new("l4s.toml")).unwrap_or_else(|e| panic!("{e}"));
    assert!(said.list.is_empty(), "{said}");
    let plan = scenario.plan(scenario.settings().seed, 0);
    Simulation::new(plan, EngineOptions::default()).unwrap().run(|_| true).unwrap()
}

/// What a class did at the first link: packets a second, the part of them that was marked, the median of the wait in s.
struct Seen {
    rate: f64,
    marked: f64,
    wait: f64,
}

fn seen(outcome: &Outcome, class: usize, seconds: f64) -> Seen {
    let mut rows = outcome.ports.hops.iter().filter(|row| (row.link, row.class) == (0, class));
    let (row, none) = (rows.next().unwrap(), rows.next());
    assert!(none.is_none());
    let sent = row.delivered.packets as f64;
    let wait = row.wait.as_ref().map_or(0.0, |wait| wait.p50 as f64 * 1e-9);
    Seen { rate: sent / seconds, marked: row.fates.marked.packets as f64 / sent, wait }
}

fn dual(tcp: &str) -> String {
    format!(
        r#"
[scenario]
duration = "120s"
warmup = "40s"

[links]
"a -> b" = {{ rate = "40Mbit/s", delay = "15ms", queue = "dual" }}
"b -> a" = {{ rate = "40Mbit/s", delay = "15ms" }}
"h - a" = {{ rate = "1Gbit/s", delay = "1us" }}

[queue.dual]
scheduler = "dualpi2"
limit = "1000p"

[traffic.new]
model = "ftp"
from = "h"
to = "b"
tcp = "{tcp}"

[traffic.old]
model = "ftp"
flows = 2
from = "h"
to = "b"
tcp = {{ stack = "linux-reno", ecn = true }}
class = "old"
"#
    )
}

/// Two Reno flows hold the C queue, whose coupling marks in L: the window of Prague is between 2/p and 3/p (its page), its wait
/// that of the L queue, and its rate about that of one of the others, which the coupling is made for.
#[test]
fn prague_has_two_to_three_marks_a_round_trip_beside_reno() {
    let outcome = run(&dual("prague"));
    let [new, old] = [0, 1].map(|class| seen(&outcome, class, 80.0));
    let window = new.rate * (0.030 + 1500.0 * 8.0 / 40e6 + new.wait);
    println!(
        "p {}, W {window}, {} and {} p/s, waits {} and {}",
        new.marked,
        new.rate,
        old.rate / 2.0,
        new.wait,
        old.wait
    );
    assert!((1.9..3.1).contains(&(new.marked * window)), "p {}, W {window}", new.marked);
    assert!(new.wait < 0.002 && old.wait > 0.005, "{} s and {} s", new.wait, old.wait);
    let ratio = 2.0 * new.rate / old.rate;
    assert!((0.5..2.0).contains(&ratio), "{ratio}");
}
