//! Why a replication is no result, though it ran to its end.

use super::RunError;
use perhop_scenario::Diagnostic;
use perhop_scenario::sweep::Point;
use perhop_sim::Outcome;

/// Whether the outcome of a replication of `point` is valid.
///
/// # Errors
/// E901: an algorithm that could not continue. E205: transfers that could not start. E900: packets that do not add up.
pub fn check(point: &Point, replication: u32, outcome: &Outcome) -> Result<(), RunError> {
    let scenario = &point.scenario;
    let named = || format!("{} {}, replication {replication}", scenario.name(), point.name);
    if let Some(fault) = &outcome.faults.algorithm {
        return Err(RunError::Algorithm { point: named(), fault: fault.clone() });
    }
    if outcome.faults.refused > 0 {
        let most = perhop_sim::engine::most_components(*scenario.settings().duration) / 2;
        let refused = outcome.faults.refused;
        let message = format!("more than {most} connections at a time: {refused} transfers could not start");
        return Err(RunError::Failed(Diagnostic::error("E205", message, "longer gaps, or a faster link")));
    }
    debug_assert!(outcome.faults.breaches.is_empty(), "{:?}", outcome.faults.breaches);
    if outcome.faults.breaches.is_empty() {
        return Ok(());
    }
    Err(RunError::Conservation { point: named(), breaches: outcome.faults.breaches.clone() })
}
