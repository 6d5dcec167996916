//! Conditioners that publish: their timers, and the reports between the edges of the network.

use super::Simulation;
use perhop_core::needs::Needs;
use perhop_core::units::Time;

impl Simulation {
    /// The links whose conditioners ask for the time.
    pub(crate) fn find_timed_edges(&self) -> Vec<u32> {
        let timed = |&i: &usize| self.links[i].edge_needs.contains(Needs::TIMER);
        (0..self.links.len()).filter(timed).map(|i| i as u32).collect()
    }

    /// When a conditioner publishes or a report arrives next.
    pub(crate) fn next_report(&self) -> Time {
        let timers = self.timed_edges.iter().filter_map(|&i| self.links[i as usize].edge.poll_at());
        timers.chain(self.mail.next_at()).min().unwrap_or(Time::MAX)
    }

    /// Publishes what is to be published, delivers what has arrived.
    pub(crate) fn exchange(&mut self, now: Time) {
        for &i in &self.timed_edges {
            self.links[i as usize].edge.on_timer(now, i, &mut self.mail);
        }
        while let Some(letter) = self.mail.take_due(now) {
            for &i in &self.timed_edges {
                self.links[i as usize].edge.on_report(now, i, &letter);
            }
        }
    }
}
