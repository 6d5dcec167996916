//! Packets that could not be metered.

use crate::tables::column::{Unit, total};
use crate::tables::columns::{Columns, Made};
use perhop_capture::mark::Unchanged;

/// A row for each reason.
pub(super) fn table(rows: &[&Unchanged]) -> Made {
    let doc = "packets that passed unchanged for it";
    Columns::of("unchanged", &["reason"], rows)
        .text("reason", "why packets could not be metered", |r| r.reason.clone())
        .integer(total("packets", Unit::Packets, doc), |r| r.packets)
        .made()
}
