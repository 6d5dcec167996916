//! Exchange of minima between edges: each publishes the times of its aggregates, so that all know the least ones.
//!
//! ```text
//! every T_x:  publish (RTT_a, RTO_a), once they are known; it arrives after the delay
//! least:      of each time separately, over the aggregate's own current one and those received within the expiry
//! ```
//!
//! The two least times may come from different aggregates. If a report is late or lost, the previous one stays in
//! force until it expires.
//!
//! Decision: docs/decisions/007-reports-skip-gaps.md

use crate::conditioner::{Outbox, Publisher, Report};
use crate::params::{ParamError, Params as Declared};
use crate::units::{Span, Time};

/// Least period of the reports.
const LEAST_PERIOD: Span = Span::from_ms(1);

/// Most reports of one aggregate in flight at any time.
const UNDER_WAY: u64 = 10_000;

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Exchanging {
    /// Period T_x of the reports; at least 1 ms.
    #[param(default = "1s")]
    pub report_every: Span,
    /// How long a report takes to arrive.
    #[param(default = "0s")]
    pub report_delay: Span,
    /// Age at which a report no longer counts; longer than `report-every`.
    #[param(default = "10s")]
    pub report_expiry: Span,
}

/// What one aggregate has heard from others.
#[derive(Clone, Debug)]
pub struct Exchange {
    rules: Exchanging,
    last: Time,
    heard: Vec<(Publisher, Time, Report)>,
}

impl Exchange {
    /// Nothing heard yet.
    ///
    /// # Errors
    /// `report-every` below 1 ms; `report-expiry` not longer than it; `report-delay` of more than [`UNDER_WAY`] reports.
    pub fn new(rules: &Exchanging) -> Result<Self, ParamError> {
        ParamError::at_least("report-every", rules.report_every, LEAST_PERIOD)?;
        if rules.report_delay.ns() / rules.report_every.ns() > UNDER_WAY {
            let message = format!("`report-delay` is {}", rules.report_delay);
            let error = ParamError::new("report-delay", "E201", message)
                .label(format!("`report-every` is {}", rules.report_every))
                .help(format!(
                    "must be at most {UNDER_WAY} times `report-every`: so many reports are in flight at any time"
                ));
            return Err(error);
        }
        if rules.report_expiry <= rules.report_every {
            let error =
                ParamError::new("report-expiry", "E201", "`report-expiry` is not longer than `report-every`".into())
                    .label(format!("`report-every` is {}", rules.report_every))
                    .help("each report would expire before the next one arrives; ten times as long is usual");
            return Err(error);
        }
        Ok(Self { rules: rules.clone(), last: Time::ZERO, heard: Vec::new() })
    }

    /// Publishes what is known of this aggregate.
    pub fn on_timer(&mut self, now: Time, own: Option<Report>, outbox: &mut Outbox) {
        self.last = now;
        self.heard.retain(|(_, at, _)| now.since(*at) <= self.rules.report_expiry);
        outbox.reports.extend(own.map(|own| (self.rules.report_delay, own)));
    }

    /// Leaves out the reports before `now` that later ones replace by then. Without packets all say the same, and the last
    /// that arrives by `now` was published after `now` - `report-delay` - `report-every`.
    pub fn skip(&mut self, now: Time) {
        let every = self.rules.report_every.ns();
        let replaced = now.ns().saturating_sub(self.rules.report_delay.ns().saturating_add(every));
        let periods = replaced.saturating_sub(self.last.ns()) / every;
        self.last += Span::from_ns(periods * every);
    }

    /// When to publish next.
    pub fn next_at(&self) -> Time {
        self.last + self.rules.report_every
    }

    /// Another aggregate's times.
    pub fn on_report(&mut self, now: Time, from: Publisher, report: Report) {
        self.heard.retain(|(publisher, ..)| *publisher != from);
        self.heard.push((from, now, report));
    }

    /// The least times at `now`; `own` are this aggregate's.
    pub fn least(&self, now: Time, own: Report) -> Report {
        let fresh = self.heard.iter().filter(|(_, at, _)| now.since(*at) <= self.rules.report_expiry);
        fresh.fold(own, |least, (.., heard)| Report { rtt: least.rtt.min(heard.rtt), rto: least.rto.min(heard.rto) })
    }

    /// Other rules from now on; what was heard stays.
    pub fn retune(&mut self, rules: &Exchanging) {
        self.rules = rules.clone();
    }
}
