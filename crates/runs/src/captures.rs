//! Packets at links as captures, beside the replications of a point.

use perhop_core::params::Problems;
use perhop_scenario::text::{toml, tree};
use perhop_sim::plan::TapPoint;
use std::collections::BTreeSet;

/// `C-E2.pcap`, `C-E2-in.pcap`: characters unfit for a file name are dropped.
pub fn file_name(link: &str, point: TapPoint) -> String {
    let fit = |c: char| if c.is_alphanumeric() || c == '_' { c } else { '-' };
    let suffix = if point == TapPoint::Input { "-in" } else { "" };
    format!("{}{suffix}.pcap", link.replace(" -> ", "-").chars().map(fit).collect::<String>())
}

/// The names of all that may be written at the links of a scenario in force, whatever algorithms it names.
pub fn file_names(effective: &str) -> BTreeSet<String> {
    let root = toml::parse(effective, 0, &mut Problems::default());
    let links: Vec<_> = root.iter().flat_map(|root| tree::names(root, "links")).flat_map(directions).collect();
    let points = [TapPoint::Input, TapPoint::Output];
    links.iter().flat_map(|link| points.map(|point| file_name(link, point))).collect()
}

/// `A -> B` and `B -> A` of `A - B`.
fn directions(link: &str) -> Vec<String> {
    match link.split_once(" - ") {
        Some((a, b)) => vec![format!("{a} -> {b}"), format!("{b} -> {a}")],
        None => vec![link.to_owned()],
    }
}
