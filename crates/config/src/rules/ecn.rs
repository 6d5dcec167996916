//! A filter for a code point that also asks for an ECN field of 0.
//!
//! Source: RFC 3168 section 5: the last two bits of the TOS octet are the ECN field, and not 0 in ECN-capable packets. Linux
//! `cls_u32.c`, `cls_flower.c`: all bits under the mask are compared.

use super::Rule;
use super::case::{Case, finding};
use crate::finding::Finding;
use crate::model::{Filter, Queue};
use perhop_core::dscp::Dscp;
use perhop_core::packet::Ecn;
use perhop_core::params::Place;
use std::collections::HashSet;

const CODE: &str = "W407";

/// The rule.
pub(super) const RULE: Rule = Rule { code: CODE, dialect: Some("tc"), instead_of: &[], find };

fn find(case: &Case<'_>) -> Vec<Finding> {
    let mut all = Vec::new();
    for port in &case.read.device.ports {
        port.conditioners.iter().for_each(|it| all.extend(of_filters(&it.takes, "pass this one by")));
    }
    case.queues().into_iter().for_each(|at| all.extend(of_queue(at.queue)));
    all
}

fn of_queue(queue: &Queue) -> Vec<Finding> {
    let left = queue.classes.iter().find(|class| class.rest).map(|class| class.name.is.as_str());
    let of = |i: usize| {
        let class = &queue.classes[i];
        let others = left.filter(|left| *left != class.name.is);
        let fate = others.map_or_else(|| "are not taken by it".to_owned(), |left| format!("go to class {left}"));
        of_filters(&class.takes, &fate).collect::<Vec<_>>()
    };
    (0..queue.classes.len()).flat_map(of).collect()
}

fn of_filters<'a>(filters: &'a [Filter], fate: &'a str) -> impl Iterator<Item = Finding> + 'a {
    // Another filter of the same class may take ECN-capable packets of these code points.
    let caught: HashSet<_> = filters.iter().filter(|it| takes_ecn(it)).map(codes).collect();
    let caught = move |filter: &Filter| caught.contains(codes(filter)) || caught.contains(&[][..]);
    let missed = move |filter: &&Filter| !codes(filter).is_empty() && !takes_ecn(filter) && !caught(filter);
    filters.iter().filter(missed).filter_map(move |it| Some(found(codes(it), it.matches.origin.place()?, fate)))
}

fn codes(filter: &Filter) -> &[Dscp] {
    &filter.matches.is.dscp
}

fn takes_ecn(filter: &Filter) -> bool {
    filter.matches.is.ecn != [Ecn::NotEct]
}

fn found(codes: &[Dscp], place: Place, fate: &str) -> Finding {
    let names: Vec<_> = codes.iter().map(ToString::to_string).collect();
    let octet = codes.first().map_or(0, |code| code.get() << 2);
    let message = format!(
        "the mask compares the ECN field with 0: packets of {} that are ECN-capable (as {:#04x} to {:#04x}) {fate}",
        names.join(", "),
        octet | 1,
        octet | 3
    );
    finding(CODE, place, message, format!("the mask 0xfc, as in `match ip dsfield {octet:#04x} 0xfc`"))
}
