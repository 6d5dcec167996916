//! Queues that sort packets by themselves: the tins of CAKE, the two queues of DualPI2.

use crate::model::{Kind, Queue};
use perhop_core::classify::Match;
use perhop_core::dscp::Dscp;
use perhop_core::packet::Ecn;
use perhop_core::params::{Params, Place, Problems, Reader, Table};
use perhop_core::sched::cake;

/// Packets that a queue puts together.
pub(super) struct Sort {
    /// As the device calls it.
    pub(super) name: String,
    /// Which.
    pub(super) wants: Match,
}

/// What a queue tells apart; empty where that is nothing.
pub(super) fn sorts(queue: &Queue) -> Vec<Sort> {
    match queue.kind {
        Some(Kind::Scheduler("cake")) => tins(queue).unwrap_or_default(),
        Some(Kind::Scheduler("dualpi2")) => vec![of_ecn("classic", Ecn::NotEct), of_ecn("L4S", Ecn::Ect1)],
        _ => Vec::new(),
    }
}

fn of_ecn(name: &str, ecn: Ecn) -> Sort {
    Sort { name: name.to_owned(), wants: Match { ecn: vec![ecn], ..Match::default() } }
}

/// The tins of a CAKE, each with its code points.
fn tins(queue: &Queue) -> Option<Vec<Sort>> {
    let mut table = Table::default();
    for (name, value) in queue.settings.iter().filter(|(name, _)| *name == "tins") {
        table.entries.push((name.to_owned(), Place::default(), value.is.tree().into()));
    }
    let mut problems = Problems::default();
    let tins = cake::Params::read(&mut Reader::new(&table, Place::default(), &mut problems))?.outline();
    let named: Vec<_> = tins.iter().flat_map(|tin| tin.codes.iter().copied()).collect();
    let others = || (0..64).filter_map(Dscp::new).filter(|code| !named.contains(code)).collect();
    let sort = |tin: &cake::TinOutline| {
        let dscp = if tin.codes.is_empty() { others() } else { tin.codes.clone() };
        Sort { name: tin.name.clone(), wants: Match { dscp, ..Match::default() } }
    };
    Some(tins.iter().map(sort).collect())
}
