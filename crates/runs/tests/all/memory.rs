//! What E206 says that a replication keeps, beside what it takes while it is made and written.

use perhop_core::sched;
use perhop_core::units::Bytes;
use perhop_results::hash::hash;
use perhop_results::tables::tables;
use perhop_runs::disk;
use perhop_scenario::{Options, Scenario};
use perhop_sim::{Outcome, Simulation};

/// By how much an estimate may be above what is measured: it holds room for as many rows again in lists that grow, and what
/// waits in a closed loop comes less often than it could.
const ROOM: f64 = 2.0;

/// The estimate, the most bytes at a time, and how many transfers, values of ports and rows of flows there are.
fn run(text: &str) -> (u64, u64, [usize; 3]) {
    let (scenario, _) = Scenario::parse(text, &Options::new("it.toml")).unwrap_or_else(|found| panic!("{found}"));
    let (plan, mut rows) = (scenario.plan(1, 0), [0; 3]);
    let taken = allocation_counter::measure(|| {
        let simulation = Simulation::new(plan.clone(), Default::default()).unwrap();
        let outcome: Outcome = simulation.run(|_| true).unwrap();
        rows = [outcome.transfers.len(), outcome.series.ports.len(), outcome.series.flows.len()];
        let tables = tables(&plan, &outcome);
        drop(outcome);
        assert!(!hash(&tables).is_empty());
        assert!(!disk::files(&tables, &[]).is_empty());
    });
    (scenario.memory().iter().copied().map(Bytes::get).sum(), taken.bytes_max, rows)
}

/// Names are long: equal ones are there once.
fn file(seconds: u32, more: &str, traffic: &str) -> String {
    format!(
        r#"
[scenario]
duration = "{seconds}s"
warmup = "1s"
{more}
[links]
"sender-with-a-long-name - receiver-with-a-long-name" = {{ rate = "1Gbit/s", delay = "1ms" }}
[traffic.traffic-with-a-long-name]
from = "sender-with-a-long-name"
to = "receiver-with-a-long-name"
{traffic}
"#
    )
}

/// What six more seconds take, and what they should: all else is the same in both runs.
fn check(more: &str, traffic: &str) -> [usize; 3] {
    let [short, long] = [2, 8].map(|seconds| run(&file(seconds, more, traffic)));
    let (stated, measured) = ((long.0 - short.0) as f64, (long.1 - short.1) as f64);
    assert!(measured <= stated, "{measured} B measured, {stated} stated: {long:?}");
    assert!(stated <= ROOM * measured, "{measured} B measured, {stated} stated: {long:?}");
    long.2
}

/// Open, closed, and pages of users: no more than are expected, within four standard deviations of a Poisson process.
#[test]
fn transfers() {
    let open = "model = \"transfers\"\nsize = \"100B\"\ngap = \"2ms\"\nflows = 10\ntcp = \"linux\"\n";
    let [transfers, ..] = check("", open);
    assert!((transfers as f64 - 35_000.0).abs() < 4.0 * 35_000f64.sqrt(), "{transfers}");
    check("", &(open.to_owned() + "loop = \"closed\"\n"));
    check(
        "",
        "model = \"web\"\npages = 3\npage-gap = \"1ms\"\nobjects = 4\nobject-gap = \"1ms\"\nsize = \"400B\"\n\
         session-gap = \"2ms\"\nflows = 20\ntcp = \"linux\"\n",
    );
}

/// Of a drop-tail with a policer before it, whose bucket is sampled too, and of ten flows.
#[test]
fn series() {
    let policer = "[conditioner.c]\nkind = \"token-bucket\"\ncir = \"1Mbit/s\"\ncbs = \"9kB\"\nat = [\"sender-with-a-long-name -> receiver-with-a-long-name\"]\n";
    let rows = check(
        "sample = \"1ms\"",
        &format!("model = \"cbr\"\nrate = \"8kbit/s\"\nsize = \"1000B\"\nflows = 10\n{policer}"),
    );
    assert!(rows[1] >= 8000 * 5 && rows[2] >= 8000 * 10, "{rows:?}");
}

/// A port whose template has so many slots, and in each this queue.
fn slots(many: u32, queue: &str) -> (u64, u64) {
    let text = format!(
        r#"
[scenario]
duration = "1ms"
warmup = "0s"
[links]
"a - b" = {{ rate = "1Gbit/s", delay = "1ms" }}
"a -> b" = {{ queue = "customers" }}
[queue.customers]
scheduler = "drr"
classes = [{{ per = "destination", slots = {many}, quantum = "1500B", queue = {queue} }}]
[traffic.t]
model = "cbr"
rate = "1Mbit/s"
size = "100B"
from = "a"
to = "b"
"#
    );
    let (stated, measured, _) = run(&text);
    (stated, measured)
}

/// What 300 more slots take of what they should, with a queue and with each scheduler over flows: never more, and of the largest of
/// these more than half of it.
#[test]
fn queues() {
    let part = |queue: &str| {
        let [few, many] = [100, 400].map(|slots_of| slots(slots_of, queue));
        (many.1 - few.1) as f64 / (many.0 - few.0) as f64
    };
    let of_flows = sched::LIST.iter().filter(|entry| !entry.has("classes") && entry.has("flows"));
    let of_flows: Vec<_> = of_flows.map(|it| (it.name, part(&format!("{{ scheduler = \"{}\" }}", it.name)))).collect();
    let (plain, largest) = (part("{ limit = \"10p\" }"), of_flows.iter().map(|it| it.1).fold(0.0, f64::max));
    assert!((1.0 / ROOM..=1.0).contains(&plain), "{plain}");
    assert!((1.0 / ROOM..=1.0).contains(&largest), "{of_flows:?}");
}
