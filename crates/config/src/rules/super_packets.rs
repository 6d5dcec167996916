//! Counters that show packets that the host puts together: segmentation offload.
//!
//! Sources: Linux `net/sched/sch_htb.c` up to 4.x: `giants` counts packets above the class's MTU; `Documentation/networking/segmentation-offloads.rst`: such
//! a packet has up to 64 kB and is one to a queueing discipline.

use super::Rule;
use super::case::{Case, count, finding};
use crate::evidence::Counters;
use crate::finding::Finding;

const CODE: &str = "W453";
/// The longest frame of an Ethernet with jumbo frames, with the tag of a VLAN.
const JUMBO: u64 = 9018 + 4;

/// The rule.
pub(super) const RULE: Rule = Rule { code: CODE, dialect: Some("tc"), instead_of: &[], find };

/// Once a text: the first counters that show it.
fn find(case: &Case<'_>) -> Vec<Finding> {
    let shown = case.read.evidence.iter().find_map(|it| Some((it, evidence(it)?)));
    let say = |(it, evidence): (&Counters, String)| {
        let message = format!(
            "{evidence}: packets of {} {} are segments that the host put together, and count as one here: limits in packets hold \
             several times as much, and a bucket drops all of one at once",
            it.kind, it.of
        );
        let device = if it.interface.is_empty() { ".." } else { &it.interface };
        finding(CODE, it.place, message, format!("ethtool -K {device} tso off gso off gro off, or `cake split-gso`"))
    };
    shown.map(say).into_iter().collect()
}

/// What of the counters shows it.
fn evidence(it: &Counters) -> Option<String> {
    if let Some(giants) = count(it, "giants").filter(|giants| *giants > 0) {
        return Some(format!("giants {giants}"));
    }
    let (bytes, packets) = (count(it, "sent_bytes")?, count(it, "sent_packets")?);
    let mean = bytes.checked_div(packets).filter(|mean| *mean > JUMBO)?;
    Some(format!("{bytes} B in {packets} packets, {:.1} kB each", mean as f64 / 1e3))
}
