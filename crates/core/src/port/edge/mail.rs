//! Timers of an edge's conditioners, and the reports that they publish for others of their kind.
//!
//! A report reaches every other conditioner of the same kind, at this edge and at others, after the delay that its
//! publisher names. A host calls [`Edge::on_timer`] at [`Edge::poll_at`] and delivers what is due in [`Mail`].
//!
//! Decision: docs/decisions/013-conditioners-exchange-reports.md

use super::{Edge, Stage};
use crate::conditioner::{Conditioner, Outbox, Publisher, Report};
use crate::needs::Needs;
use crate::port::Turn;
use crate::units::Time;
use std::collections::BTreeMap;

/// A report in transit.
#[derive(Clone, Debug)]
pub struct Letter {
    from: Publisher,
    kind: &'static str,
    report: Report,
}

/// Reports in transit, in order of arrival; at equal times, in order of publication.
#[derive(Clone, Debug, Default)]
pub struct Mail {
    due: BTreeMap<(Time, u64), Letter>,
    posted: u64,
}

impl Mail {
    /// When the next report arrives.
    pub fn next_at(&self) -> Option<Time> {
        self.due.first_key_value().map(|(key, _)| key.0)
    }

    /// A report that has arrived by `now`.
    pub fn take_due(&mut self, now: Time) -> Option<Letter> {
        let first = self.due.first_entry().filter(|first| first.key().0 <= now)?;
        Some(first.remove())
    }

    fn post(&mut self, at: Time, letter: Letter) {
        self.due.insert((at, self.posted), letter);
        self.posted += 1;
    }
}

impl Stage {
    /// Its instances with a timer.
    fn timed(&mut self) -> impl Iterator<Item = (u32, &mut crate::conditioner::AnyConditioner)> {
        let instances = (0..).zip(self.instances.iter_mut());
        instances.filter(|(_, it)| it.needs().contains(Needs::TIMER))
    }
}

impl Edge {
    /// When a conditioner's timer is next due.
    pub fn poll_at(&self) -> Option<Time> {
        let instances = self.stages.iter().flat_map(|stage| &stage.instances);
        instances.filter(|it| it.needs().contains(Needs::TIMER)).filter_map(|it| it.poll_at()).min()
    }

    /// Calls the conditioners whose timers are due, and takes what they publish. `port` identifies this edge.
    pub(in crate::port) fn on_timer(&mut self, now: Time, port: u32, mail: &mut Mail) {
        let mut outbox = Outbox::default();
        for (place, stage) in (0..).zip(&mut self.stages) {
            let kind = stage.spec.params.name();
            for (instance, it) in stage.timed().filter(|(_, it)| it.poll_at().is_some_and(|at| at <= now)) {
                it.on_timer(Turn::new(now), &mut outbox);
                for (delay, report) in outbox.reports.drain(..) {
                    mail.post(now + delay, Letter { from: Publisher { port, place, instance }, kind, report });
                }
            }
        }
    }

    /// A report arrives: it goes to every conditioner of its kind except its publisher.
    pub(in crate::port) fn on_report(&mut self, now: Time, port: u32, letter: &Letter) {
        for (place, stage) in (0..).zip(&mut self.stages).filter(|(_, stage)| stage.spec.params.name() == letter.kind) {
            for (instance, it) in stage.timed() {
                if (Publisher { port, place, instance }) != letter.from {
                    it.on_report(Turn::new(now), letter.from, &letter.report);
                }
            }
        }
    }

    /// All timers and reports up to `now`, in order, except those that have left no trace by then: for a host with this
    /// edge alone. A gap without packets takes no longer than the reports in flight.
    pub(in crate::port) fn catch_up(&mut self, now: Time, mail: &mut Mail) {
        const PORT: u32 = 0;
        self.stages.iter_mut().flat_map(Stage::timed).for_each(|(_, it)| it.skip_timers(Turn::new(now)));
        let next = |edge: &Self, mail: &Mail| edge.poll_at().into_iter().chain(mail.next_at()).min();
        while let Some(at) = next(self, mail).filter(|&at| at <= now) {
            self.on_timer(at, PORT, mail);
            while let Some(letter) = mail.take_due(at) {
                self.on_report(at, PORT, &letter);
            }
        }
    }
}
