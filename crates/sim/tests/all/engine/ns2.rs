//! What the comparisons with recorded runs of ns-2 share: a case of a record, Reno as `lib.tcl` sets it, the verdict.
//!
//! Our means over [`SEEDS`] replications are compared with ns-2's over 20 seeds by Welch's test, all comparisons
//! Holm-corrected at 1 %, and must also lie within margins that were stated before the first comparison.

use crate::stats;
use crate::transport::reference;
use perhop_core::packet::Colour;
use perhop_core::units::Span;
use perhop_sim::Outcome;
use perhop_sim::transport::{Config, Recovery, RtoConfig};
use serde_json::Value;

pub(crate) const SEEDS: u32 = 20;
/// What every script simulates.
pub(crate) const SECONDS: u64 = 200;

/// One case of a record.
#[derive(Clone)]
pub(crate) struct Case {
    pub(crate) name: String,
    params: Value,
    per_seed: Value,
}

impl Case {
    /// All cases of a record.
    pub(crate) fn all(record: &str) -> Vec<Self> {
        let record: Value = serde_json::from_str(&reference::text(record)).unwrap();
        let read = |case: &Value| Self {
            name: case["case"].as_str().unwrap().to_owned(),
            params: case["params"].clone(),
            per_seed: case["per_seed"].clone(),
        };
        record["cases"].as_array().unwrap().iter().map(read).collect()
    }

    pub(crate) fn number(&self, name: &str, default: f64) -> f64 {
        self.params.get(name).map_or(default, |v| v.as_f64().unwrap())
    }

    pub(crate) fn text(&self, name: &str) -> &str {
        self.params[name].as_str().unwrap()
    }

    /// ns-2's values, by seed; of a list, those at one place.
    pub(crate) fn theirs(&self, name: &str, place: Option<usize>) -> Vec<f64> {
        let value = |v: &Value| place.map_or(v, |i| &v[i]).as_f64().unwrap();
        self.per_seed[name].as_array().unwrap().iter().map(value).collect()
    }

    /// Bytes of a data packet.
    pub(crate) fn size(&self) -> u64 {
        self.number("size", 1000.0) as u64
    }

    pub(crate) fn tcp(&self) -> Config {
        let mss = self.size() as u16 - 40;
        let now = Config { recovery: Recovery::Reno, window: 20, mss, ..Config::default() };
        if self.number("era", 0.0) == 0.0 {
            return now;
        }
        // lib.tcl's `era=1` leaves the minimum RTO at 0.2 s and the maximum at 60 s.
        Config {
            rto: RtoConfig { granularity: Span::from_ms(100), ..RtoConfig::NS2_2_35 },
            initial_window: 1,
            syn: false,
            limited_transmit: false,
            ..now
        }
    }

    /// Mbit/s of each flow; ns-2's sink counts packets in order, whole, the SYN of 40 bytes included.
    pub(crate) fn mbps(&self, outcome: &Outcome) -> Vec<f64> {
        let tcp = self.tcp();
        let syn = if tcp.syn { 40.0 } else { 0.0 };
        let per_payload = self.size() as f64 / f64::from(tcp.mss);
        let rate = |bytes: u64| (bytes as f64 * per_payload + syn) * 8e-6 / SECONDS as f64;
        outcome.flows.iter().map(|f| rate(f.goodput_bytes)).collect()
    }
}

/// Packets of a colour that came to a link's queue, and how many of them were dropped there.
pub(crate) fn coloured(outcome: &Outcome, link: usize, colour: Colour) -> (f64, f64) {
    let fates = outcome.ports.hops.iter().filter(|h| h.link == link && h.colour == colour).map(|h| h.fates);
    fates.fold((0.0, 0.0), |(came, lost), f| (came + f.arrived.packets as f64, lost + f.lost().packets as f64))
}

/// Packet-seconds waited at a link, by Little's law.
pub(crate) fn waited(outcome: &Outcome, link: usize) -> f64 {
    let rows = outcome.ports.hops.iter().filter(|h| h.link == link);
    rows.map(|h| h.delivered.packets as f64 * h.wait.map_or(0.0, |w| w.mean * 1e-9)).sum()
}

/// One metric of one case: ours against theirs.
#[derive(Clone)]
pub(crate) struct Comparison {
    pub(crate) what: String,
    pub(crate) p: f64,
    /// Ours over theirs.
    pub(crate) ratio: f64,
    pub(crate) within: bool,
}

impl Comparison {
    /// `margin` is relative to theirs. Three standard errors of the difference are added, so that a noisy value does not fail
    /// by its noise alone.
    pub(crate) fn new(what: &str, [ours, theirs]: [&[f64]; 2], margin: f64) -> Self {
        let squared_error = |s: &[f64]| stats::variance(s) / s.len() as f64;
        let (a, b, p) = (stats::mean(ours), stats::mean(theirs), stats::welch(ours, theirs));
        let error = (squared_error(ours) + squared_error(theirs)).sqrt();
        let what = format!("{what}: {a:.5}, ns-2 {b:.5}, se {error:.5}, p {p:.1e}");
        Self { what, p, ratio: a / b, within: (a - b).abs() <= margin * b + 3.0 * error }
    }
}

/// Prints all of them.
///
/// # Panics
/// With those that differ.
pub(crate) fn judge(compared: &[Comparison]) {
    judge_but(compared, &[]);
}

/// The same, where some differences are known and described: those that begin so need only be within their margins, and do
/// have to differ, or they must no longer be listed.
///
/// # Panics
/// With those that differ, and with those listed that do not.
pub(crate) fn judge_but(compared: &[Comparison], known: &[&str]) {
    let p: Vec<f64> = compared.iter().map(|c| c.p).collect();
    let corrected = stats::holm(&p);
    for (c, corrected) in compared.iter().zip(&corrected) {
        println!("{}, corrected {corrected:.3}", c.what);
    }
    let listed = |c: &Comparison| known.iter().any(|begins| c.what.starts_with(begins));
    let as_expected = |(c, p): &(&Comparison, &f64)| c.within && (**p < 0.01) == listed(c);
    let faults = compared.iter().zip(&corrected).filter(|it| !as_expected(it));
    let faults: Vec<_> = faults.map(|(c, _)| &*c.what).collect();
    assert!(known.iter().all(|begins| compared.iter().any(|c| c.what.starts_with(begins))), "{known:?}");
    assert!(faults.is_empty(), "differ from ns-2:\n{}", faults.join("\n"));
}
