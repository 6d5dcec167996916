//! One port alone, for an interface that there is: its queues and its conditioners, whatever the load is.
//!
//! The interface may be faster than the link, so something holds it to the link's rate: what the port has at its root, or a class
//! of HTB above it. What tc cannot express is left out and named.

use super::script::{Line, Port, Script, passing};
use super::{Device, LinuxPort, police, ports};
use crate::device::{self, only_point};
use perhop_scenario::Diagnostic;
use perhop_scenario::scenario::Scenario;
use perhop_scenario::sweep::Sweep;

/// The interface, where none is named.
const DEFAULT_DEVICE: &str = "eth0";
/// Bytes of a name of an interface, the kernel's `IFNAMSIZ` without its end.
const LONGEST: usize = 15;

/// A port of the one scenario that a file describes, as `a -> b`, for an interface; by default eth0.
///
/// # Errors
/// A sweep of several points; no such port; an interface that Linux or a shell would not read as such. With its code and how to
/// put it right.
pub fn port_of_sweep(sweep: &Sweep, name: &str, device: Option<&str>) -> Result<LinuxPort, Diagnostic> {
    let device = device.unwrap_or(DEFAULT_DEVICE);
    interface(device)?;
    port(&only_point(sweep, "Linux")?.scenario, name, device)
}

/// # Errors
/// E295.
fn interface(device: &str) -> Result<(), Diagnostic> {
    let fit = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let wrong = match device.chars().find(|c| !fit(*c)) {
        Some(c) => format!("has {c:?}"),
        None if device.len() > LONGEST => format!("is {} bytes long", device.len()),
        None if device.starts_with(['-', '.']) || device.is_empty() => "does not begin with a letter or digit".into(),
        None => return Ok(()),
    };
    let help = format!("an interface has 1 to {LONGEST} letters, digits, `.`, `_` and `-`, as in {DEFAULT_DEVICE}");
    Err(Diagnostic::error("E295", format!("the interface {device:?} of `--dev` {wrong}"), help))
}

fn port(scenario: &Scenario, name: &str, device: &str) -> Result<LinuxPort, Diagnostic> {
    let plan = &scenario.built().plan;
    let i = device::port(plan, name)?;
    let near = Device { namespace: None, device: device.to_owned() };
    let port = Port {
        near,
        accounting: plan.accounting,
        link: &plan.links[i],
        headers: passing(scenario, i),
        line: Line::Real,
    };
    let mut said = Script::default();
    if !plan.changes.is_empty() {
        said.note(&port, "[[change]] is not in it: this is the port as it begins");
    }
    ports::say(&port, &mut said);
    police::say(&port, &mut said);
    // All of it is about this port.
    let own = format!("{}: ", port.named());
    let [notes, lost] =
        [said.notes(), said.refused()].map(|lines| lines.into_iter().map(|it| it.replacen(&own, "", 1)).collect());
    Ok(LinuxPort { port: name.to_owned(), device: device.to_owned(), commands: said.commands, notes, lost })
}
