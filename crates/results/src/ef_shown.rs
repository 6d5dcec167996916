//! The checks of all replications of a point: packets are summed, errors are the largest, since each is to bound them all.

use crate::pooled::{Pool, Pooled, each};
use crate::replication::Replication;
use crate::rows::{Measure, Row, Rows, by_point};
use crate::stats::Estimate;
use crate::tables::column;
use crate::tables::ef::{MEASURES, NAME, worst_at};
use serde_json::{Value, json};

/// What names a row; the last only where something else than IP packets counts.
const KEYS: [&str; 3] = ["hop", "aggregate", "counts"];
const IP: &str = "l3";

/// One check over the replications of a point.
struct Check {
    names: [String; 3],
    /// As [`MEASURES`] has them.
    values: [Option<f64>; 6],
    /// The number of the replication with the largest E_a.
    worst: Option<u32>,
}

impl Check {
    fn all(replications: &[&Replication]) -> Vec<Self> {
        if replications.iter().all(|r| r.ef.is_empty()) {
            return Vec::new();
        }
        let pooled = Pooled::new(NAME, &each(replications, NAME));
        pooled.rows.iter().map(|pool| Self::new(pool, replications)).collect()
    }

    fn new(pool: &Pool<'_>, replications: &[&Replication]) -> Self {
        let sum = |column| Some(pool.values(column).into_iter().flatten().sum());
        let largest = |column| {
            let known = pool.values(column).into_iter().enumerate().filter_map(|(i, value)| Some((i, value?)));
            known.reduce(|a, b| if b.1 > a.1 { b } else { a })
        };
        let rate = pool.values("rate_bit_s").into_iter().flatten().next();
        let (all, own) = (largest("e_a_ms"), largest("e_p_ms"));
        let at = all.and_then(|worst| pool.values("e_a_at_s")[worst.0]);
        let values =
            [rate, sum("packets"), sum("dropped_packets"), all.map(|worst| worst.1), own.map(|worst| worst.1), at];
        let names = KEYS.map(|key| pool.name(key).unwrap_or_default().to_owned());
        Self { names, values, worst: all.map(|worst| replications[worst.0].replication) }
    }

    fn row(&self, point: usize) -> Row {
        let exactly = |mean| Estimate::new(mean, None);
        let names = self.names.iter().map(|name| Some(name.as_str().into()));
        Row { point, names: names.collect(), values: self.values.map(|value| value.map(exactly)).to_vec() }
    }

    fn json(&self) -> Value {
        let [hop, aggregate, counts] = &self.names;
        let [rate, packets, dropped, e_a, e_p, at] = self.values;
        let whole = |value: Option<f64>| value.map(|value| value as u64);
        json!({
            "hop": hop, "aggregate": aggregate, "rate_bit_s": whole(rate), "counts": counts,
            "packets": whole(packets), "dropped_packets": whole(dropped), "e_a_ms": e_a, "e_p_ms": e_p,
            "worst_at_s": at, "worst_replication": self.worst,
        })
    }
}

/// A row for each check at each point; `None` if nothing was asked.
pub fn rows(points: usize, replications: &[Replication]) -> Option<Rows> {
    let of_point = |(point, of): (usize, Vec<&Replication>)| {
        Check::all(&of).iter().map(|check| check.row(point)).collect::<Vec<_>>()
    };
    let mut rows: Vec<_> = by_point(points, replications).into_iter().enumerate().flat_map(of_point).collect();
    let mut keys = KEYS.map(str::to_owned).to_vec();
    if rows.iter().all(|row| row.names.last().is_some_and(|it| it.as_deref() == Some(IP))) {
        keys.pop();
        rows.iter_mut().for_each(|row| _ = row.names.pop());
    }
    let measure = |name: &&str| {
        let column = if *name == worst_at().name { worst_at() } else { column(NAME, name).clone() };
        Measure { name: (*name).to_owned(), column }
    };
    (!rows.is_empty()).then(|| Rows { keys, measures: MEASURES.iter().map(measure).collect(), rows })
}

/// The checks of the replications of one point as JSON.
pub fn answer(replications: &[&Replication]) -> Vec<Value> {
    Check::all(replications).iter().map(Check::json).collect()
}

/// What to say of checks at which no packet was held against the rate, at any point.
pub fn missing(points: usize, replications: &[Replication]) -> Vec<String> {
    let mut said = Vec::new();
    for of in by_point(points, replications).iter().filter(|of| !of.is_empty()) {
        let packets = |i: &usize| of.iter().map(|r| r.ef[*i].packets).sum::<u64>();
        for it in (0..of[0].ef.len()).filter(|i| packets(i) == 0).map(|i| &of[0].ef[i]) {
            let seen = match it.code_points.as_slice() {
                [] => "no packet passed".to_owned(),
                all => format!("the packets that passed were {}", all.join(", ")),
            };
            let line = format!(
                "note: no packet of {} left `{}` after the warm-up, so its rate is unknown; {seen}",
                it.aggregate, it.hop
            );
            said.extend((!said.contains(&line)).then_some(line));
        }
    }
    said
}
