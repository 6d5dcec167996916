//! Packets at links as captures, beside the replications of a point.

use perhop_sim::plan::{Plan, TapPoint};
use std::collections::BTreeSet;

/// `C-E2.pcap`, `C-E2-in.pcap`: characters unfit for a file name are dropped.
pub fn file_name(link: &str, point: TapPoint) -> String {
    let fit = |c: char| if c.is_alphanumeric() || c == '_' { c } else { '-' };
    let suffix = if point == TapPoint::Input { "-in" } else { "" };
    format!("{}{suffix}.pcap", link.replace(" -> ", "-").chars().map(fit).collect::<String>())
}

/// The names of all that may be written at the links of a plan.
pub fn file_names(plan: &Plan) -> BTreeSet<String> {
    let points = [TapPoint::Input, TapPoint::Output];
    plan.links.iter().flat_map(|link| points.map(|point| file_name(&link.name, point))).collect()
}
