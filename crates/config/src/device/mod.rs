//! What the writers for devices share: which port, the classes of its schedulers, and what is to be told about what is written.

/// The classes of a scheduler.
pub(crate) mod classes;
/// Which headers a match asks for.
pub(crate) mod headers;
/// What cannot be said, and what is otherwise.
pub(crate) mod notes;

use perhop_core::params::suggest;
use perhop_scenario::Diagnostic;
use perhop_scenario::sweep::{Point, Sweep};
use perhop_sim::plan::Plan;

/// The one point of a file.
///
/// # Errors
/// There are several; `target` is what is set up as one scenario.
pub(crate) fn only_point(sweep: &Sweep, target: &str) -> Result<Point, Diagnostic> {
    match <[_; 1]>::try_from(sweep.points()) {
        Ok([one]) => Ok(one),
        Err(several) => {
            let points = several.len();
            let how = "leave one value in each axis, as in -s 'sweep.\"traffic.bulk.flows\"=[5]'";
            let message = format!("[sweep] has {points} points, but {target} is set up as one scenario: {how}");
            Err(Diagnostic::of_call(message, ""))
        }
    }
}

/// The number of the link with the port `a -> b`.
///
/// # Errors
/// E006.
pub(crate) fn port(plan: &Plan, name: &str) -> Result<usize, Diagnostic> {
    plan.links.iter().position(|link| link.name == name).ok_or_else(|| {
        let names: Vec<_> = plan.links.iter().map(|link| &*link.name).collect();
        Diagnostic::error("E006", format!("no port `{}`", name.escape_debug()), suggest(name, &names))
    })
}
