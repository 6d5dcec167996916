//! The answer of `explain` on a terminal.

use super::{Explanation, answer};
use crate::request::Explain;
use crate::terminal::show::{complain, say};
use crate::{Exit, Failure, reading};
use perhop_core::units::counted;
use perhop_scenario::{Document, explain_sweep, facts};
use serde_json::json;

/// Prints the answer.
///
/// # Errors
/// See [`answer`].
pub fn explain(args: &Explain) -> Result<Exit, Failure> {
    let explanation = answer(args, reading::warn)?;
    match args.json {
        true => say!("{}", json(&explanation)),
        false => say!("{}", text(&explanation)),
    }
    Ok(match explanation {
        Explanation::Values(_) | Explanation::Network(_) => Exit::Fine,
        Explanation::Port(port) => lost(port.lost.len(), ("commands", "the port"), '#'),
        Explanation::Routers(ios) => {
            let whose = if ios.ports.len() == 1 { "the port" } else { "the ports" };
            lost(ios.lost.len(), ("lines", whose), '!')
        }
    })
}

fn json(explanation: &Explanation) -> serde_json::Value {
    match explanation {
        Explanation::Values(document) => facts(document),
        Explanation::Network(linux) => json!(linux),
        Explanation::Port(port) => json!(port),
        Explanation::Routers(ios) => json!(ios),
    }
}

fn text(explanation: &Explanation) -> String {
    match explanation {
        Explanation::Values(Document::Policy(policy)) => policy.effective(),
        Explanation::Values(Document::Scenario(sweep)) => explain_sweep(sweep),
        Explanation::Network(linux) => linux.script(),
        Explanation::Port(port) => port.script(),
        Explanation::Routers(ios) => ios.text(),
    }
}

/// Says that this many things could not be written.
fn lost(count: usize, (written, whose): (&str, &str), mark: char) -> Exit {
    if count == 0 {
        return Exit::Fine;
    }
    let lost = counted(count, ["line", "lines"]);
    complain!("warning: the {written} are not all of {whose}: see the {lost} `{mark} lost:` at their head");
    Exit::Warnings
}
