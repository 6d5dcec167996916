//! The tins of CAKE: a column for each, a line for each counter.

use super::ObjectRows;
use crate::tc::counters::lines::TINS;
use crate::tc::numbers::printed;
use perhop_core::sched::cake::tin_name;
use std::fmt::Write as _;

pub(super) fn write(tins: &[&ObjectRows<'_>], out: &mut String) {
    let heads: String = (0..tins.len()).map(|tin| format!("{:>14}", tin_name(tins.len(), tin))).collect();
    let _ = writeln!(out, "\n{:10}{heads}", "");
    for [word, form, counter, _] in TINS {
        let cell = |tin: &&ObjectRows<'_>| format!("{:>14}", printed(form, tin.get(counter).unwrap_or_default()));
        let _ = writeln!(out, "  {word:8}{}", tins.iter().map(cell).collect::<String>());
    }
}
