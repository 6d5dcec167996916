//! Class maps that no packet matches.
//!
//! Source: Cisco, command reference, `class-map`: `match-all`, the default, needs every `match` line to agree. A packet has one code point.

use super::Rule;
use super::case::{Case, finding};
use crate::finding::Finding;
use crate::ios::plan::{ClassMap, What};
use perhop_core::dscp::Dscp;

const CODE: &str = "W430";

/// The rule.
pub(super) const RULE: Rule = Rule { code: CODE, dialect: Some("ios"), instead_of: &[], find };

fn find(case: &Case<'_>) -> Vec<Finding> {
    case.plan.class_maps.iter().filter(|map| map.all).filter_map(of_map).collect()
}

fn of_map(map: &ClassMap) -> Option<Finding> {
    let mut left: Option<Vec<Dscp>> = None;
    for put in map.tests.iter().filter(|put| !put.is.not) {
        let What::Fields(fields) = &put.is.what else { continue };
        if fields.dscp.is_empty() {
            continue;
        }
        let both: Vec<Dscp> = match &left {
            None => fields.dscp.clone(),
            Some(left) => left.iter().copied().filter(|dscp| fields.dscp.contains(dscp)).collect(),
        };
        if both.is_empty() {
            let message = format!(
                "class map {} is `match-all`, and no packet has this code point and that of the line above: the class gets no packet",
                map.name
            );
            return Some(finding(CODE, put.at.place, message, format!("class-map match-any {}", map.name)));
        }
        left = Some(both);
    }
    None
}
