//! What checks of a replication found.

use super::column::{Column, Unit, measure, total};
use super::columns::{Columns, Made};
use perhop_core::units::NS_PER_S;
use perhop_sim::plan::{Aggregate, EfCheck, Plan};
use perhop_sim::record::EfRow;
use serde::{Deserialize, Serialize};

/// The name of the table.
pub const NAME: &str = "ef";
/// What a row over all replications has.
pub const MEASURES: [&str; 6] = ["rate_bit_s", "packets", "dropped_packets", "e_a_ms", "e_p_ms", WORST];
const WORST: &str = "worst_at_s";

/// When the packet behind the largest E_a of all replications left.
pub fn worst_at() -> Column {
    measure(WORST, Unit::S, "time at which the packet with the largest E_a of all replications left")
}

/// What a check found, as the manifest keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EfResult {
    /// The port.
    pub hop: String,
    /// Its packets: `EF`, `EF+CS5`, `class voice`.
    pub aggregate: String,
    /// R, bit/s.
    pub rate_bit_s: u64,
    /// Which bytes R and packets count: `l3`, `l1`, `l3, overhead 4B` where the class of R has a framing.
    pub counts: String,
    /// Packets that came after the warm-up, and left.
    pub packets: u64,
    /// Packets that came after the warm-up, and were dropped at the port.
    pub dropped_packets: u64,
    /// E_a, ns.
    pub e_a_ns: Option<i64>,
    /// When the packet behind it left, ns.
    pub e_a_at_ns: Option<u64>,
    /// E_p, ns.
    pub e_p_ns: Option<i64>,
    /// When the packet behind it left, ns.
    pub e_p_at_ns: Option<u64>,
    /// Code points that left the port, of all packets.
    pub code_points: Vec<String>,
}

impl EfResult {
    /// Of a check in a run of `plan`.
    pub fn new(plan: &Plan, row: &EfRow) -> Self {
        Self {
            packets: row.packets,
            dropped_packets: row.dropped,
            e_a_ns: row.aggregate.map(|it| it.error_ns),
            e_a_at_ns: row.aggregate.map(|it| it.at.ns()),
            e_p_ns: row.each.map(|it| it.error_ns),
            e_p_at_ns: row.each.map(|it| it.at.ns()),
            code_points: row.seen.iter().map(ToString::to_string).collect(),
            ..Self::of(plan, &row.check)
        }
    }

    /// Of a check that has not been made.
    fn of(plan: &Plan, check: &EfCheck) -> Self {
        let aggregate = match &check.of {
            Aggregate::Class(class) => format!("class {}", plan.classes[usize::from(*class)]),
            Aggregate::CodePoints(all) => all.iter().map(ToString::to_string).collect::<Vec<_>>().join("+"),
        };
        Self {
            hop: plan.links[check.link].name.clone(),
            aggregate,
            rate_bit_s: check.rate.bit_s(),
            counts: counts(plan, check),
            packets: 0,
            dropped_packets: 0,
            e_a_ns: None,
            e_a_at_ns: None,
            e_p_ns: None,
            e_p_at_ns: None,
            code_points: Vec::new(),
        }
    }

    /// Whether both are of the same check.
    fn answers(&self, asked: &Self) -> bool {
        let what = |it: &Self| (it.hop.clone(), it.aggregate.clone(), it.rate_bit_s, it.counts.clone());
        what(self) == what(asked)
    }

    /// The answers to `checks` among those that are kept; `None` if one is missing.
    pub fn among(kept: &[Self], plan: &Plan, checks: &[EfCheck]) -> Option<Vec<Self>> {
        let find = |check| {
            let asked = Self::of(plan, check);
            kept.iter().find(|it| it.answers(&asked)).cloned()
        };
        checks.iter().map(find).collect()
    }
}

fn counts(plan: &Plan, check: &EfCheck) -> String {
    let (accounting, frame) = (plan.accounting.name(), check.frame.to_string());
    if frame.is_empty() { accounting.to_owned() } else { format!("{accounting}, {frame}") }
}

/// The table of a replication, a row for each check.
pub fn table(found: &[EfResult]) -> Made {
    let ms = |ns: Option<i64>| ns.map(|ns| ns as f64 / 1e6);
    let s = |ns: Option<u64>| ns.map(|ns| ns as f64 / NS_PER_S as f64);
    let counts = "bytes that R and l_j count: `accounting` and the framing of the class, as in `l3, overhead 4B`";
    let packets = |name: &'static str, doc| total(name, Unit::Packets, doc);
    let error = |name: &'static str, doc| measure(name, Unit::Ms, doc);
    let at = |name: &'static str, doc| measure(name, Unit::S, doc);
    Columns::of(NAME, &["hop", "aggregate", "rate_bit_s"], found)
        .keeping(found.is_empty())
        .text("hop", "the port", |it| it.hop.clone())
        .text("aggregate", "code points or class of the aggregate: `EF`, `EF+CS5`, `class voice`", |it| {
            it.aggregate.clone()
        })
        .integer(measure("rate_bit_s", Unit::BitS, "R, the rate of the aggregate"), |it| it.rate_bit_s)
        .text("counts", counts, |it| it.counts.clone())
        .integer(packets("packets", "packets that arrived after the warm-up and left the port"), |it| it.packets)
        .integer(
            packets("dropped_packets", "packets that arrived after the warm-up and were dropped at the port"),
            |it| it.dropped_packets,
        )
        .real(error("e_a_ms", "E_a, the largest `d_j - f_j`; null without packets").printed("E_a"), |it| ms(it.e_a_ns))
        .real(at("e_a_at_s", "time at which that packet left"), |it| s(it.e_a_at_ns))
        .real(error("e_p_ms", "E_p, the largest `D_j - F_j`; null without packets").printed("E_p"), |it| ms(it.e_p_ns))
        .real(at("e_p_at_s", "time at which that packet left"), |it| s(it.e_p_at_ns))
        .made()
}
