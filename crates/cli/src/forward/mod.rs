//! `forward`: the traffic between two interfaces through a policy.

/// The interfaces, checked.
mod interfaces;
/// What is said while it runs.
mod log;
/// Counts for Prometheus.
mod metrics;
/// The policy, read first and read again.
mod policy;
/// What signals ask for.
mod signals;
/// Counts as text and JSON.
mod table;
/// Rates on a terminal.
mod watch;

use crate::args::Forward;
use crate::{Exit, Failure, complain, say};
use interfaces::Checked;
use log::Log;
use metrics::Metrics;
use perhop_live::{AfPacket, Forwarder, Order, monotonic_ns, run};
use signals::Signals;
use watch::Watch;

pub(crate) fn forward(args: &Forward) -> Result<Exit, Failure> {
    let policy = policy::read(args)?;
    policy.warn();
    let checked = Checked::of(args)?;
    if args.dry_run {
        say!("{}", checked.plan(args, &policy));
        return Ok(Exit::Fine);
    }
    let metrics = args.metrics.map(Metrics::listen).transpose()?;
    let signals = Signals::catch();
    let offloads = checked.fix(args)?;
    let sides = checked.open()?;
    let mut forwarder =
        Forwarder::new(policy.edge(args), sides, monotonic_ns()).map_err(|error| Failure::Error(error.to_string()))?;
    complain!("{}", checked.begun(args));
    let log = Log::new(checked.names());
    let watch = args.watch.then(Watch::default);
    Work { args, names: checked.names(), signals, log, metrics, watch }.go(&mut forwarder);
    let counts = forwarder.counts();
    say!("{}", if args.json { table::json(&forwarder, &counts)? } else { table::text(&forwarder, &counts) });
    drop(forwarder);
    drop(offloads);
    Ok(Exit::Fine)
}

/// What goes on beside the packets.
struct Work<'a> {
    args: &'a Forward,
    names: [&'a str; 2],
    signals: Signals,
    log: Log<'a>,
    metrics: Option<Metrics>,
    watch: Option<Watch>,
}

impl Work<'_> {
    /// Until a signal ends it.
    fn go(&mut self, forwarder: &mut Forwarder<AfPacket>) {
        run(forwarder, &mut |forwarder, now| self.order(forwarder, now));
    }

    fn order(&mut self, forwarder: &mut Forwarder<AfPacket>, now: u64) -> Order {
        if self.signals.has_ended() {
            return Order::End;
        }
        if self.signals.reloads() {
            policy::reload(self.args, forwarder, now);
        }
        if self.log.is_due(now) {
            let counts = forwarder.counts();
            self.log.look(&counts);
            self.metrics.iter().for_each(|it| it.show(self.names, forwarder, &counts));
            self.watch.iter_mut().for_each(|it| it.show(now, forwarder, &counts));
        }
        Order::GoOn
    }
}
