//! The engine's own clock: the end of the warm-up, samples, timed changes, reports between conditioners.
//!
//! A change is applied at equal times after all else but TCP's timers. What is in flight continues as it began: a packet
//! in transmission ends when it would have ended, and a source's next wake-up stays as scheduled; what follows is by the
//! new parameters. Algorithms keep their state (`retune`).

use super::Simulation;
use crate::plan::Sampling;
use perhop_core::units::Time;

impl Simulation {
    /// Asks for the clock's next event.
    pub(super) fn wake_clock(&mut self) {
        // a conditioner that has just been created may have a first report that is overdue
        let report = self.net.next_report().max(self.agenda.now());
        self.agenda.wake_clock(self.next_look().min(report));
    }

    /// When all links are next looked at or altered: the end of the warm-up, a sample, a change.
    fn next_look(&self) -> Time {
        let warm = if self.warm.is_none() { Time::ZERO + self.plan.warmup } else { Time::MAX };
        let sample = if self.plan.sampling.is_some() { self.next_sample } else { Time::MAX };
        warm.min(sample).min(self.next_change())
    }

    /// Lets packets pass ahead of their time until that, and at most until `stop`.
    pub(super) fn look_ahead(&mut self, stop: Time) {
        self.stop = stop;
        self.unseen_until = stop.min(self.next_look());
    }

    pub(super) fn on_clock(&mut self, now: Time) {
        if !self.agenda.clock_is_due(now) {
            return;
        }
        if self.warm.is_none() && now >= Time::ZERO + self.plan.warmup {
            self.end_warmup();
        }
        if now >= self.next_sample {
            self.sample(now);
        }
        self.make_changes(now);
        self.net.exchange(now);
        self.wake_clock();
        self.look_ahead(self.stop);
    }

    fn sample(&mut self, now: Time) {
        let Some(Sampling { every, links }) = &self.plan.sampling else { return };
        self.next_sample = now + *every;
        self.net.sample(now, links.as_deref(), &mut self.recorder);
        if links.is_none() {
            self.hosts.sample(now, &mut self.recorder);
        }
    }

    /// When the next change is due.
    fn next_change(&self) -> Time {
        self.plan.changes.get(self.changes_made).map_or(Time::MAX, |change| change.at)
    }

    /// Makes every change that is due.
    fn make_changes(&mut self, now: Time) {
        let before = self.changes_made;
        let Self { plan, net, hosts, .. } = self;
        for change in plan.changes[self.changes_made..].iter().take_while(|change| change.at <= now) {
            for alteration in &change.what {
                let taken = net.alter(now, alteration, plan).and_then(|()| hosts.alter(now, alteration, plan));
                taken.expect("the plan took it");
            }
            self.changes_made += 1;
        }
        if self.changes_made > before {
            (0..self.timers.len()).for_each(|link| self.follow_timers(link));
        }
    }
}
