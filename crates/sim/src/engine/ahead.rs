//! Packets that pass from a link that leads to the one that follows, ahead of their time.
//!
//! Decision: docs/decisions/026-packets-ahead-of-time.md

use super::Simulation;
use crate::agenda::Component;
use crate::net::Late;
use perhop_core::units::Time;

impl Simulation {
    /// The first packet on a link, which leads, will reach its far end at `at`: it continues as far as it can.
    #[inline(always)]
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

#[cfg(test)]
mod tests {
    use crate::engine::small::{link, node, offered, plan};
    use crate::traffic::{TrafficParams, cbr};
    use crate::{EngineOptions, Simulation};
    use perhop_core::port::Limit;
    use perhop_core::units::{BitRate, Bytes, Probability, Span, Time};

    /// 1000 bytes every 1 ms over 8 Mbit/s and then 2 Mbit/s, where one may wait.
    fn narrowing() -> Simulation {
        let (rate, size, jitter) = (BitRate::mbps(8), Bytes::new(1000), Probability::ZERO);
        let model = TrafficParams::Cbr(cbr::Params { rate, size, jitter, random_phase: false });
        let of = |ends, mbps| {
            let mut link = link("", ends);
            (link.rate, link.delay) = (BitRate::mbps(mbps), Span::from_ms(10));
            link.queues[0].limit = Limit::Packets(1);
            link
        };
        let links = vec![of([0, 1], 8), of([1, 2], 2), of([1, 0], 8), of([2, 1], 8)];
        let plan = plan(["a", "b", "c"].map(node).into(), links, vec![offered("udp", [0, 2], model)]);
        Simulation::new(plan, EngineOptions::default()).unwrap()
    }

    /// Packet i enters the first link at i ms, and comes to the second at i + 11 ms. There the first is in transmission for 4 ms
    /// and the second waits: the third is lost, at 13 ms, though the link it follows has had it since 2 ms.
    #[test]
    fn a_host_is_told_of_a_loss_in_its_time() {
        let mut simulation = narrowing();
        simulation.look_ahead(Time::ZERO + Span::from_s(1));
        let mut told = |us| {
            simulation.act_until(Time::ZERO + Span::from_us(us));
            let late = simulation.net.link(0).has_late();
            (simulation.hosts.flow_mut(0).counts.dropped.packets, late)
        };
        assert_eq!([1999, 2000, 12_999, 13_000].map(&mut told), [(0, false), (0, true), (0, true), (1, true)]);
    }
}
