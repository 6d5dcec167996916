//! A shaper of tc whose bucket holds no full-sized packet.
//!
//! Source: Linux `sch_tbf.c`: a packet larger than the bucket at the rate, or than the bucket at the peak rate, is dropped
//! (`max_size`), with "burst is lower than device mtu" in the kernel's log.

use super::Rule;
use super::case::{At, Case, FRAME, finding, is_said};
use super::tc;
use crate::finding::Finding;

const CODE: &str = "W439";

/// The rule.
pub(super) const RULE: Rule =
    Rule { code: CODE, dialect: Some("tc"), instead_of: &["E212", "E217", "W326", "W435"], find };

fn find(case: &Case<'_>) -> Vec<Finding> {
    case.queues().into_iter().filter_map(of_shaper).collect()
}

fn of_shaper(at: At<'_>) -> Option<Finding> {
    let shape = &at.queue.shape;
    let small = |key: &'static str| shape.bytes(key).filter(|bytes| *bytes < FRAME).map(|bytes| (key, bytes));
    let (key, bytes) = small("burst").or_else(|| small("peak-burst"))?;
    let said = shape.get(key).filter(|said| is_said(said))?;
    let word = if key == "burst" { "burst" } else { "mtu" };
    let message = format!(
        "`{word}` is {} B: a packet that is larger is dropped, and one of 1500 B counts {} B",
        bytes.get(),
        FRAME.get()
    );
    let rate = shape.rate("rate")?;
    let enough = (rate * perhop_core::units::Span::from_ms(1)).max(FRAME);
    let instead = format!("{word} {}", tc::size(if key == "burst" { enough } else { FRAME }));
    Some(finding(CODE, said.origin.place()?, message, instead))
}
