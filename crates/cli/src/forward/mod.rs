//! `forward`: the traffic between two interfaces through a policy.

/// The interfaces, checked.
mod interfaces;
/// What is said while it runs.
mod log;
/// The policy, read first and read again.
mod policy;
/// What signals ask for.
mod signals;
/// Counts as text and JSON.
mod table;

use crate::args::Forward;
use crate::{Exit, Failure, complain, say};
use interfaces::Checked;
use log::Log;
use perhop_live::{AfPacket, Forwarder, Order, monotonic_ns, run};
use signals::Signals;

pub(crate) fn forward(args: &Forward) -> Result<Exit, Failure> {
    let policy = policy::read(args)?;
    policy.warn();
    let checked = Checked::of(args)?;
    if args.dry_run {
        say!("{}", checked.plan(args, &policy));
        return Ok(Exit::Fine);
    }
    let signals = Signals::catch();
    let offloads = checked.fix(args)?;
    let sides = checked.open()?;
    let mut forwarder = Forwarder::new(policy.edge(args), sides, monotonic_ns())
        .map_err(|error| Failure::Error(error.to_string()))?;
    complain!("{}", checked.begun(args));
    work(&mut forwarder, &checked, args, &signals);
    let counts = forwarder.counts();
    say!("{}", if args.json { table::json(&forwarder, &counts)? } else { table::text(&forwarder, &counts) });
    drop(forwarder);
    drop(offloads);
    Ok(Exit::Fine)
}

/// Until a signal ends it.
fn work(forwarder: &mut Forwarder<AfPacket>, checked: &Checked, args: &Forward, signals: &Signals) {
    let mut log = Log::new(checked.names());
    run(forwarder, &mut |forwarder, now| {
        if signals.has_ended() {
            return Order::End;
        }
        if signals.reloads() {
            policy::reload(args, forwarder, now);
        }
        if log.is_due(now) {
            log.look(&forwarder.counts());
        }
        Order::GoOn
    });
}
