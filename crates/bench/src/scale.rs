//! Scenarios of any size, made in memory.

use std::fmt::Write as _;

/// Entries that one series of names may have.
const SERIES: usize = 10_000;

/// P(n) for many flows: each over its four links, with its round trip, from 40 to 76 ms; 0.4 Mbit/s of the
/// bottleneck for each. They start in turn over the first sixth of the simulated seconds.
pub(super) fn bulk(flows: usize, seconds: f64) -> String {
    let (start, apart) = ((1e9 * seconds / 6.0) as usize / flows, 18_000_000 / flows);
    let duration = (1e6 * seconds) as u64;
    let mut text = format!(
        r#"[scenario]
name = "p{flows}"
duration = "{duration}us"
warmup = "0s"

[links]
"r1 - r2" = {{ rate = "{}kbit/s", delay = "18ms", queue = "fifo" }}
"r1 -> r2" = {{ queue = "red" }}
"#,
        400 * flows
    );
    for names in series(flows) {
        let _ = write!(
            text,
            r#""s{{{names}}} - r1" = {{ rate = "1Gbit/s", delay = "{{1000000+{apart}*i}}ns", queue = "fifo" }}
"r2 - d{{{names}}}" = {{ rate = "1Gbit/s", delay = "1ms", queue = "fifo" }}
"#
        );
    }
    let _ = write!(
        text,
        r#"
[queue.fifo]
limit = "100000p"

[queue.red]
aqm = "red"
limit = "{}p"
min = "{}p"
max = "{}p"
max-p = 0.1
wq = 0.002
beyond = "gentle"
spacing = "wait"

[tcp.bulk]
window = 100000
"#,
        (2 * flows).max(10),
        (flows / 5).max(1),
        (3 * flows / 5).max(3)
    );
    for names in series(flows) {
        let _ = write!(
            text,
            r#"
[traffic."f{{{names}}}"]
model = "ftp"
class = "bulk"
tcp = "bulk"
from = "s{{i}}"
to = "d{{i}}"
start = "{{{start}*i}}ns"
spread = "0s"
"#
        );
    }
    text
}

/// P(n) whose flows start together, for a microsecond.
pub(super) fn started(flows: usize) -> String {
    bulk(flows, 0.0).replacen("duration = \"0us\"", "duration = \"1us\"", 1)
}

/// `n` links, in pairs; one flow.
pub(super) fn links(n: usize) -> String {
    let mut text = head();
    text += "[links]\n";
    for names in series((n / 2).max(1)) {
        let _ = writeln!(text, r#""s{{{names}}} - r" = {{ rate = "1Gbit/s", delay = "1ms" }}"#);
    }
    text + &flow("t", "s0")
}

/// `n` tables of traffic over one link.
pub(super) fn tables(n: usize) -> String {
    let mut text = head() + "[links]\n\"s - r\" = { rate = \"1Gbit/s\", delay = \"1ms\" }\n";
    (0..n).for_each(|i| text += &flow(&format!("t{i}"), "s"));
    text
}

/// `n` conditioners, each in its section and at its link; one flow.
pub(super) fn conditioners(n: usize) -> String {
    let mut text = links(2 * n);
    for i in 0..n {
        let _ = write!(
            text,
            "\n[conditioner.c{i}]\nat = \"s{i} -> r\"\nkind = \"token-bucket\"\ncir = \"1Mbit/s\"\ncbs = \"15kB\"\n"
        );
    }
    text
}

/// One flow over one link, to be looked at every microsecond.
pub(super) fn sampled(_: usize) -> String {
    tables(1).replacen("warmup", "sample = \"1us\"\nwarmup", 1)
}

/// One flow over one link, at `n` points of a sweep.
pub(super) fn swept(n: usize) -> String {
    let seeds = (0..n).map(|seed| seed.to_string()).collect::<Vec<_>>().join(", ");
    tables(1) + &format!("\n[sweep]\n\"scenario.seed\" = [{seeds}]\n")
}

fn head() -> String {
    "[scenario]\nname = \"growth\"\nduration = \"1us\"\nwarmup = \"0s\"\n\n".to_owned()
}

fn flow(name: &str, from: &str) -> String {
    format!(
        "\n[traffic.{name}]\nmodel = \"cbr\"\nclass = \"c\"\nrate = \"8kbit/s\"\nsize = \"1000B\"\nfrom = \"{from}\"\nto = \"r\"\n"
    )
}

/// `0..9999`, `10000..19999`, ... up to `n`.
fn series(n: usize) -> impl Iterator<Item = String> {
    (0..n).step_by(SERIES).map(move |first| format!("{first}..{}", (first + SERIES).min(n) - 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use perhop_scenario::{Options, Scenario, Sweep};

    #[test]
    fn series_are_of_at_most_ten_thousand() {
        assert_eq!(series(3).collect::<Vec<_>>(), ["0..2"]);
        assert_eq!(series(10_000).collect::<Vec<_>>(), ["0..9999"]);
        assert_eq!(series(10_001).collect::<Vec<_>>(), ["0..9999", "10000..10000"]);
    }

    /// Links and tables are as many as was asked for, of every scenario.
    #[test]
    fn scenarios_are_as_large_as_they_should_be() {
        let size = |text: &str| {
            let (scenario, _) = Scenario::parse(text, &Options::new("it")).unwrap_or_else(|e| panic!("{e:#}"));
            let plan = scenario.plan(1, 0);
            let edges = plan.links.iter().map(|link| link.edge.len()).sum::<usize>();
            (plan.links.len(), plan.traffic.len(), edges)
        };
        assert_eq!(size(&bulk(7, 0.025)), (2 + 4 * 7, 7, 0));
        assert_eq!(size(&started(3)), (2 + 4 * 3, 3, 0));
        assert_eq!(size(&links(12)), (12, 1, 0));
        assert_eq!(size(&tables(5)), (2, 5, 0));
        assert_eq!(size(&conditioners(4)), (8, 1, 4));
        assert_eq!(size(&sampled(9)), (2, 1, 0));
        let (sweep, _) = Sweep::parse(&swept(6), &Options::new("it")).unwrap_or_else(|e| panic!("{e:#}"));
        assert_eq!(sweep.points().len(), 6);
    }
}
