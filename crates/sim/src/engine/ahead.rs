//! Packets that pass from a link that leads to the one that follows, ahead of their time.

use super::Simulation;
use crate::agenda::Component;
use crate::net::Late;
use perhop_core::units::Time;

impl Simulation {
    /// The first packet on a link, which leads, will reach its far end at `at`: it goes on as far as it can.
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
    use crate::plan::{self, EcnUse, Node, Offered, Plan};
    use crate::traffic::{TrafficParams, cbr};
    use crate::{EngineOptions, Simulation, transport};
    use perhop_core::Scope;
    use perhop_core::aqm::{AqmParams, drop_tail};
    use perhop_core::dscp::Dscp;
    use perhop_core::port::{Limit, QueueSpec, Side};
    use perhop_core::units::{BitRate, Bytes, Probability, Span, Time};
    use std::net::Ipv4Addr;

    fn link(from: usize, to: usize, mbps: u64) -> plan::Link {
        plan::Link {
            name: format!("{from} -> {to}"),
            from,
            to,
            rate: BitRate::mbps(mbps),
            delay: Span::from_ms(10),
            loss: Probability::ZERO,
            transit: plan::Transit::default(),
            nodes: vec![],
            queues: vec![QueueSpec {
                drop: Side::Tail,
                aqm: AqmParams::DropTail(drop_tail::Params {}),
                limit: Limit::Packets(1),
                scope: Scope::default(),
            }],
            edge: vec![],
        }
    }

    /// 1000 bytes every 1 ms over 8 Mbit/s and then 2 Mbit/s, where one may wait.
    fn narrowing() -> Simulation {
        let node = |n| Node { name: format!("n{n}"), address: Ipv4Addr::new(10, 0, 0, n) };
        let (size, jitter) = (Bytes::new(1000), Probability::ZERO);
        let offered = Offered {
            name: "udp".into(),
            class: 0,
            from: vec![0],
            to: 2,
            flows: 1,
            start: Time::ZERO,
            spread: Span::ZERO,
            stop: None,
            model: TrafficParams::Cbr(cbr::Params { rate: BitRate::mbps(8), size, jitter, random_phase: false }),
            tcp: transport::Config::default(),
            dscp: Dscp::BE,
            ecn: EcnUse::default(),
        };
        let plan = Plan {
            seed: 1,
            replication: 0,
            duration: Span::from_s(1),
            warmup: Span::ZERO,
            overhead: 0,
            nodes: (0..3).map(node).collect(),
            links: vec![link(0, 1, 8), link(1, 2, 2), link(1, 0, 8), link(2, 1, 8)].into(),
            classes: vec!["all".into()].into(),
            traffic: vec![offered].into(),
            sampling: None,
            changes: vec![],
            probes: Default::default(),
        };
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
