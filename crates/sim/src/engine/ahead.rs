//! Packets that pass from a link that leads to the one that follows, ahead of their time.

use super::Simulation;
use crate::agenda::Component;
use crate::net::Late;
use perhop_core::units::Time;

impl Simulation {
    /// The first packet on a link, which leads, will reach its far end at `at`: it goes on as far as it can.
    #[inline(never)]
    pub(super) fn lead(&mut self, mut at: Time, mut link: usize) {
        while self.net.link(link).leads() && at <= self.unseen_until {
            let next = self.net.hand_on(link);
            match self.net.pass_plain(at, next) {
                Ok(None) => return,
                Ok(Some(then)) => (at, link) = (then, next.link),
                Err(reason) => return self.lose_later(link, Late { at, lost: next, reason }),
            }
        }
        // Behind a loss, that comes first.
        if !self.net.link(link).has_late() {
            self.agenda.add(at, Component::Delivery(link));
        }
    }

    /// What comes first at the far end of a link that leads: a packet that was not passed on ahead, or a loss behind it. Then
    /// those behind it go on as far as they can.
    pub(super) fn deliver_in_time(&mut self, now: Time, link: usize) {
        self.agenda.deliver_again(None, link);
        if let Some((Late { lost, reason, .. }, next)) = self.net.take_late(link) {
            self.drop(now, lost.id, Some((lost.link, reason)));
            if let Some(at) = next {
                return self.agenda.add(at, Component::Delivery(link));
            }
        } else {
            let id = self.net.deliver_plain(link).0.handle;
            let to = self.net.straight_on(id);
            self.go(now, id, to);
        }
        while let Some(at) = self.net.link(link).delivers_at() {
            self.lead(at, link);
            if at > self.unseen_until {
                return;
            }
        }
    }

    /// A packet is lost at the port of the link that follows this one; those who ask are told in its time.
    #[cold]
    fn lose_later(&mut self, link: usize, late: Late) {
        if self.net.keep_late(link, late) {
            self.agenda.add(late.at, Component::Delivery(link));
        }
    }
}
