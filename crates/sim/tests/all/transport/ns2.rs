//! Reno and NewReno, segment by segment, against ns-2.35 (`tests/reference/ns2/tcp_unit.tcl`).

use super::path::{Path, Setup};
use super::reference::{Printed, rows, text};
use perhop_core::units::{Span, Time};
use perhop_sim::transport::{Config, PartialAckTimer, Reaction, Recovery, RtoConfig};
use serde_json::Value;

/// ns-2's DropTail with `queue-limit 10` holds 9 waiting packets in addition to the one in transmission.
const WAITING: usize = 9;

/// One recorded run.
struct Case {
    name: String,
    params: Value,
    counts: Value,
}

fn cases() -> Vec<Case> {
    let all: Value = serde_json::from_str(&text("tcp_unit.json")).unwrap();
    let case = |c: &Value| Case {
        name: c["case"].as_str().unwrap().to_owned(),
        params: c["params"].clone(),
        counts: c["mean"].clone(),
    };
    let wanted = |c: &Case| c.name.starts_with("reno_") || c.name.starts_with("newreno_");
    all["cases"].as_array().unwrap().iter().map(case).filter(wanted).collect()
}

impl Case {
    fn flag(&self, name: &str) -> bool {
        self.params[name].as_u64() == Some(1)
    }

    fn config(&self) -> Config {
        let recovery = match self.name.starts_with("reno_") {
            true => Recovery::Reno,
            false => Recovery::NewReno(PartialAckTimer::First),
        };
        let window = self.params["win"].as_u64().unwrap() as u32;
        let delayed_ack = self.flag("delack").then_some(Span::from_ms(100));
        let now = Config {
            recovery,
            window,
            reaction: Reaction { ack: delayed_ack.into(), overhead: None, sack: false, ..Reaction::NONE },
            mss: 960,
            ..Config::default()
        };
        match self.flag("era") {
            false => now,
            // lib.tcl's `era=1` leaves the minimum RTO at 0.2 s and the maximum at 60 s.
            true => Config {
                rto: RtoConfig { granularity: Span::from_ms(100), ..RtoConfig::NS2_2_35 },
                initial_window: 1,
                syn: false,
                limited_transmit: false,
                ..now
            },
        }
    }

    /// ns-2 draws the phase of a connection's clock within its tick, when the connection is made and again as `run`
    /// resets
    /// it: here the second uniform variate of seed 1, 1193744747 / 2^31 (`ns-random` prints the numerator).
    fn phase(&self, config: &Config) -> Span {
        Span::from_ns((config.rto.granularity.ns() * 1_193_744_747) >> 31)
    }

    fn losses(&self) -> Vec<u64> {
        let list = self.params["drops"].as_str().unwrap_or("");
        list.split(',').filter(|n| !n.is_empty()).map(|n| n.parse().unwrap()).collect()
    }

    fn run(&self) -> Path {
        let config = self.config();
        Path::run(Setup {
            phase: self.phase(&config),
            config,
            limit: WAITING,
            losses: self.losses(),
            end: Time::from_ns(20_000_000_000),
        })
    }

    /// ns-2 numbers data from 0 when there is no SYN, we from 1.
    fn number(&self, ours: u32) -> u32 {
        ours - u32::from(self.flag("era"))
    }
}

/// Where two traces first differ, with a line of context on each side.
fn first_difference<T>(
    name: &str,
    expected: &[Vec<String>],
    ours: &[T],
    same: impl Fn(&[String], &T) -> bool,
) -> Option<String>
where
    T: std::fmt::Debug,
{
    let at = expected.iter().zip(ours).position(|(e, o)| !same(e, o));
    let at = at.or((expected.len() != ours.len()).then_some(expected.len().min(ours.len())))?;
    Some(format!(
        "{name} row {at} of {} / {}: ns-2 {:?}, ours {:?}",
        expected.len(),
        ours.len(),
        expected.get(at),
        ours.get(at)
    ))
}

/// Every arrival at the bottleneck: its number, its fate, its time to the last printed digit.
fn arrivals_differ(case: &Case, path: &Path) -> Option<String> {
    let expected = rows(&format!("tcp_unit/{}.pkts.csv", case.name));
    first_difference(&format!("{}.pkts", case.name), &expected, &path.arrivals, |row, a| {
        row[2] == case.number(a.number).to_string()
            && row[3] == (a.fate as u8).to_string()
            && Printed::new(&row[1]).is(a.at.seconds())
    })
}

/// Every change of the window, cwnd to three decimals (as ns-2 prints it).
fn windows_differ(case: &Case, path: &Path) -> Option<String> {
    let expected = rows(&format!("tcp_unit/{}.cwnd.csv", case.name));
    first_difference(&format!("{}.cwnd", case.name), &expected, &path.windows, |row, w| {
        Printed::digits(&row[0], 5).is(w.at.seconds())
            && Printed::digits(&row[1], 3).is(w.cwnd)
            && Printed::digits(&row[2], 0).is(w.ssthresh)
    })
}

/// The sender's and the receiver's counts; ns-2's sink counts whole packets, the SYN of 40 bytes included.
fn counts_differ(case: &Case, path: &Path) -> Option<String> {
    let counters = path.sender.counters();
    let syn = if case.config().syn { 40 } else { 0 };
    let bytes = path.receiver.delivered_segments() * 1000 + syn;
    let ours = [
        ("data_pkts_sent", counters.segments as f64),
        ("rexmit_pkts", counters.retransmitted as f64),
        ("timeouts", f64::from(counters.timeouts)),
        ("window_cuts", f64::from(counters.cuts)),
        ("final_ack", f64::from(case.number(path.sender.first_unacknowledged())) - 1.0),
        ("goodput_kbps", bytes as f64 * 8e-3 / 20.0),
    ];
    let wrong = ours.iter().find(|(name, value)| (case.counts[name].as_f64().unwrap() - value).abs() > 1e-3)?;
    Some(format!("{}: ns-2 {}, ours {wrong:?}", case.name, case.counts[wrong.0]))
}

#[test]
fn every_segment_window_and_count_is_that_of_ns2() {
    let cases = cases();
    assert_eq!(cases.len(), 20);
    let mut faults = Vec::new();
    for case in &cases {
        let path = case.run();
        faults.extend(arrivals_differ(case, &path));
        faults.extend(windows_differ(case, &path));
        faults.extend(counts_differ(case, &path));
    }
    assert!(faults.is_empty(), "{} differences\n{}", faults.len(), faults.join("\n"));
}
