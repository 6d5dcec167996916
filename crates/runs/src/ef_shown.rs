//! The checks of all replications of a point: packets are summed, errors are the largest, since each is to bound them all.

use super::ef::Found;
use super::rows::{Row, Rows, by_point};
use super::run::Replication;
use super::stats::Estimate;
use perhop_core::units::NS_PER_S;
use perhop_scenario::tables::ef::MEASURES;
use serde_json::{Value, json};

/// What names a row; the last only where something else than IP packets counts.
const KEYS: [&str; 3] = ["hop", "aggregate", "counts"];
const IP: &str = "l3";

/// One check over the replications of a point.
struct Pooled<'a> {
    first: &'a Found,
    packets: u64,
    dropped: u64,
    /// E_a with its time and its replication.
    aggregate: Option<(i64, u64, u32)>,
    each: Option<i64>,
}

impl<'a> Pooled<'a> {
    fn all(replications: &[&'a Replication]) -> Vec<Self> {
        let Some(first) = replications.first() else { return Vec::new() };
        (0..first.ef.len()).map(|i| Self::new(replications, i)).collect()
    }

    fn new(replications: &[&'a Replication], i: usize) -> Self {
        let of = || replications.iter().map(|r| (r.replication, &r.ef[i]));
        let worst = of().filter_map(|(number, it)| Some((it.e_a_ns?, it.e_a_at_ns?, number)));
        Self {
            first: &replications[0].ef[i],
            packets: of().map(|(_, it)| it.packets).sum(),
            dropped: of().map(|(_, it)| it.dropped_packets).sum(),
            aggregate: worst.reduce(|a, b| if b.0 > a.0 { b } else { a }),
            each: of().filter_map(|(_, it)| it.e_p_ns).max(),
        }
    }

    fn e_a_ms(&self) -> Option<f64> {
        self.aggregate.map(|worst| worst.0 as f64 / 1e6)
    }

    fn e_p_ms(&self) -> Option<f64> {
        self.each.map(|ns| ns as f64 / 1e6)
    }

    fn at_s(&self) -> Option<f64> {
        self.aggregate.map(|worst| worst.1 as f64 / NS_PER_S as f64)
    }

    fn row(&self, point: usize) -> Row {
        let [rate, packets, dropped] = [self.first.rate_bit_s, self.packets, self.dropped].map(|n| Some(n as f64));
        let values = [rate, packets, dropped, self.e_a_ms(), self.e_p_ms(), self.at_s()];
        let exactly = |mean| Estimate::new(mean, None);
        let names = [&self.first.hop, &self.first.aggregate, &self.first.counts].map(|name| Some(name.clone()));
        Row { point, names: names.to_vec(), values: values.map(|value| value.map(exactly)).to_vec() }
    }

    fn json(&self) -> Value {
        json!({
            "hop": self.first.hop, "aggregate": self.first.aggregate, "rate_bit_s": self.first.rate_bit_s,
            "counts": self.first.counts,
            "packets": self.packets, "dropped_packets": self.dropped, "e_a_ms": self.e_a_ms(), "e_p_ms": self.e_p_ms(),
            "worst_at_s": self.at_s(), "worst_replication": self.aggregate.map(|worst| worst.2),
        })
    }
}

/// A row for each check at each point; `None` if nothing was asked.
pub fn rows(points: usize, replications: &[Replication]) -> Option<Rows> {
    let of_point = |(point, of): (usize, Vec<&Replication>)| {
        let pooled = Pooled::all(&of);
        pooled.iter().map(|it| it.row(point)).collect::<Vec<_>>()
    };
    let mut rows: Vec<_> = by_point(points, replications).into_iter().enumerate().flat_map(of_point).collect();
    let mut keys = KEYS.map(str::to_owned).to_vec();
    if rows.iter().all(|row| row.names.last() == Some(&Some(IP.to_owned()))) {
        keys.pop();
        rows.iter_mut().for_each(|row| _ = row.names.pop());
    }
    (!rows.is_empty()).then(|| Rows { keys, measures: MEASURES.map(str::to_owned).to_vec(), rows })
}

/// The checks of the replications of one point as JSON.
pub fn answer(replications: &[&Replication]) -> Vec<Value> {
    Pooled::all(replications).iter().map(Pooled::json).collect()
}

/// What to say of checks at which no packet was held against the rate, at any point.
pub fn missing(points: usize, replications: &[Replication]) -> Vec<String> {
    let mut said = Vec::new();
    for of in by_point(points, replications) {
        for it in Pooled::all(&of).iter().filter(|it| it.packets == 0) {
            let seen = match it.first.code_points.as_slice() {
                [] => "nothing passed it".to_owned(),
                all => format!("what passed it was {}", all.join(", ")),
            };
            let line = format!(
                "note: no packet of {} left `{}` after the warm-up, so nothing is said of its rate; {seen}",
                it.first.aggregate, it.first.hop
            );
            said.extend((!said.contains(&line)).then_some(line));
        }
    }
    said
}
