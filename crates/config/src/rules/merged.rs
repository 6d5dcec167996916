//! A policer at the input whose bucket holds no packet as the kernel merges them.
//!
//! Sources: Linux `act_police.c`: a packet larger than the bucket never conforms, and a merged packet is judged as one. GRO is on by
//! default and merges segments of TCP to packets of up to 65536 B (`GRO_LEGACY_MAX_SIZE`) before filters at the input see them.

use super::Rule;
use super::case::{Case, finding, is_said};
use super::{bucket, tc};
use crate::finding::Finding;
use crate::model::{Act, Conditioner, Port, Way};
use perhop_core::classify::Protocol;
use perhop_core::colour::Colour;
use perhop_core::units::Bytes;

const CODE: &str = "W438";

/// The rule.
pub(super) const RULE: Rule = Rule { code: CODE, dialect: Some("tc"), instead_of: &["W301"], find };

const MERGED: Bytes = Bytes::new(65_536);

fn find(case: &Case<'_>) -> Vec<Finding> {
    let input = case.read.device.ports.iter().filter(|port| port.way == Way::Input);
    input.flat_map(|port| port.conditioners.iter().filter_map(|it| of_policer(port, it))).collect()
}

fn of_policer(port: &Port, it: &Conditioner) -> Option<Finding> {
    let (said, burst) = (it.settings.get("cbs")?, it.settings.bytes("cbs")?);
    let drops = it.actions.iter().any(|(colour, acts)| *colour == Colour::Red && acts.is.contains(&Act::Drop));
    let tcp = it.takes.is_empty() || it.takes.iter().any(|filter| of_tcp(&filter.matches.is.protocol));
    if burst >= MERGED || !drops || !tcp || !is_said(said) {
        return None;
    }
    let message = format!(
        "`burst` is {} B: no larger packet conforms, and GRO merges TCP to packets of up to {} B before this policer sees them",
        burst.get(),
        MERGED.get()
    );
    let need = it.settings.rate("cir").and_then(bucket::enough).map_or(MERGED, |need| need.max(MERGED));
    let instead = format!("burst {}, or ethtool -K {} gro off", tc::size(need), port.interface.is);
    Some(finding(CODE, said.origin.place()?, message, instead))
}

fn of_tcp(protocols: &[Protocol]) -> bool {
    protocols.is_empty() || protocols.contains(&Protocol::TCP)
}
