//! `forward`: the traffic between two interfaces through a policy.

/// The interfaces, checked.
mod interfaces;
/// What is said while it runs.
mod log;
/// Counts for Prometheus.
mod metrics;
/// The same as text.
mod page;
/// The policy, read first and read again.
mod policy;
/// What is shown.
mod rates;
/// What signals ask for.
mod signals;
/// Counts as text and JSON.
mod table;
/// Packets as a run.
mod trace;
/// Rates on a terminal.
mod watch;
/// What goes on beside the packets.
mod work;

use crate::request::Forward;
use crate::terminal::show::{complain, say};
use crate::{Exit, Failure};
use interfaces::Checked;
use metrics::Listening;
use perhop_live::{Forwarder, monotonic_ns};
use signals::Signals;
use trace::Trace;
use work::Work;

pub(crate) fn forward(args: &Forward) -> Result<Exit, Failure> {
    let policy = policy::read(args)?;
    policy.warn();
    let mut checked = Checked::of(args, &policy)?;
    if args.dry_run {
        say!("{}", checked.plan(args, &policy));
        return Ok(Exit::Fine);
    }
    checked.notes().iter().for_each(|note| complain!("{note}"));
    let locks = checked.lock()?;
    let signals = Signals::catch();
    let offloads = checked.fix(args)?;
    let sides = checked.open()?;
    let mut forwarder = Forwarder::new(policy.edge(args), sides, monotonic_ns())
        .map_err(|error| Failure::of_call(error.to_string(), ""))?;
    interfaces::real_time(args)?;
    interfaces::give_up_rights(args)?;
    let trace = Trace::begin(args, checked.names(), &policy, &mut forwarder)?;
    complain!("{}", checked.begun(args));
    let metrics = checked.listening().map(Listening::answer);
    let gone = Work::new(args, checked.names(), signals, metrics, trace).go(&mut forwarder);
    let counts = forwarder.counts();
    say!("{}", if args.seen.json { table::json(&forwarder, &counts)? } else { table::text(&forwarder, &counts) });
    drop(forwarder);
    drop(offloads);
    drop(locks);
    if gone.is_empty() { Ok(Exit::Fine) } else { Err(interfaces::gone(&gone)) }
}
