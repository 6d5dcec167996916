//! The policy of `forward`.

use crate::Failure;
use crate::reading::{accepted, options_of_policy, warn};
use crate::request::Forward;
use crate::terminal::show::complain;
use perhop_core::door::Door;
use perhop_core::units::Span;
use perhop_edge as edge;
use perhop_live::{AfPacket, Forwarder};
use perhop_scenario::{Diagnostic, Diagnostics, Host, Policy};
use perhop_sim::Plan;
use perhop_sim::replay::Changed;

/// A policy that was read.
pub(super) struct Read {
    policy: Policy,
    warnings: Diagnostics,
    flow_timeout: Span,
}

/// Reads and checks it.
pub(super) fn read(args: &Forward) -> Result<Read, Failure> {
    let line = &args.line;
    let stated = [("queue", &line.queue), ("link", &line.link), ("framing", &line.framing)];
    let options = options_of_policy(&args.policy, stated);
    let (policy, warnings) = accepted(Policy::load(&args.policy, &options), "nothing was touched")?;
    let (policy, warnings) = (policy.live(), warnings.of(Host::Interfaces));
    Ok(Read { policy, warnings, flow_timeout: flow_timeout(&args.flow_timeout)? })
}

/// `--flow-timeout`.
fn flow_timeout(text: &str) -> Result<Span, Failure> {
    crate::mark::timeout(text, Door::default(), "nothing was touched")
}

impl Read {
    pub(super) const fn policy(&self) -> &Policy {
        &self.policy
    }

    pub(super) fn warn(&self) {
        warn(&self.warnings);
        if !self.policy.inside().is_empty() {
            complain!("note: `inside` is for captures: here what comes from --in is forward, and the rest is reverse");
        }
    }

    /// What the edge is told.
    pub(super) fn edge(&self, args: &Forward) -> edge::Policy {
        let policy = &self.policy;
        edge::Policy {
            stages: policy.stages(),
            seed: args.seed,
            accounting: policy.accounting(),
            flow_label: policy.encoding(),
            flow_timeout: Some(self.flow_timeout),
            most_flows: Some(args.most_flows),
            queue: policy.line().zip(policy.queue()).map(|(plan, name)| {
                let plan = Plan { seed: args.seed, ..plan.clone() };
                edge::Behind { name: name.to_owned(), plan }
            }),
        }
    }

    /// Its conditioners and its queue in a line.
    pub(super) fn summary(&self) -> String {
        let stages = self.policy.stages();
        let names: Vec<_> = stages.iter().map(|it| format!("{} ({})", it.name, it.params.name())).collect();
        let conditioners = if names.is_empty() { "no conditioner".into() } else { names.join(", ") };
        let line = self.policy.line().zip(self.policy.queue());
        let queue_text = |(plan, name): (&Plan, &str)| {
            let link = &plan.links[0];
            format!(", then queue {name} on {}, which counts {}", link.rate, link.framing.words())
        };
        let queue = line.map(queue_text);
        conditioners + &queue.unwrap_or_default()
    }
}

/// What is said where nothing changes.
const STAYS: &str = "the old policy stays in force";

/// Reads the policy again; one with errors leaves the old one in force.
pub(super) fn again(args: &Forward) -> Option<Read> {
    match read(args) {
        Ok(read) => Some(read),
        Err(failure) => {
            complain!("{failure}\n{}: {STAYS}", args.policy.display());
            None
        }
    }
}

/// Follows a policy that was read again, and says in a line what changed.
pub(super) fn reload(args: &Forward, read: &Read, forwarder: &mut Forwarder<AfPacket>, now: u64) {
    let name = args.policy.display();
    match forwarder.reload(read.edge(args), now) {
        Err(error) => complain!("{}", Diagnostic::error("E030", format!("{name}: {error}; {STAYS}"), "")),
        Ok(changed) => complain!("{name} is in force: {}{}", read.summary(), lost(&changed)),
    }
}

/// What a reload did not keep, in words.
fn lost(changed: &Changed) -> String {
    let conditioners = match changed.conditioners.len() {
        0 => String::new(),
        _ => format!("; state not kept of {}", changed.conditioners.join(", ")),
    };
    let queues = if changed.queues { "; queues began afresh with the packets that waited" } else { "" };
    conditioners + queues
}
