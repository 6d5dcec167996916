//! Conservation: in = out + dropped + queued, per flow end to end, per class and colour at each queue, and at each
//! port's conditioners; packets and bytes.

use super::Simulation;

impl Simulation {
    /// Every case in which counts do not add up.
    pub(super) fn breaches(&self) -> Vec<String> {
        let mut breaches = self.hosts.breaches(self.net.inside());
        breaches.extend(self.net.breaches(&self.plan.links));
        breaches
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::Queues;
    use crate::plan::{self, Node, Offered, Plan};
    use crate::traffic::{TrafficParams, cbr, ftp};
    use crate::{EngineOptions, transport};
    use perhop_core::Scope;
    use perhop_core::aqm::members::Member;
    use perhop_core::aqm::{AqmParams, Backlog, drop_tail};
    use perhop_core::classify::Match;
    use perhop_core::conditioner::{ConditionerParams, Passage, token_bucket};
    use perhop_core::dscp::Dscp;
    use perhop_core::edge::{Action, Per, StageSpec};
    use perhop_core::packet::{Colour, FlowId, Packet};
    use perhop_core::queue::Limit;
    use perhop_core::sched::{HostKey, SchedulerParams, strict_priority};
    use perhop_core::units::{BitRate, Bytes, Probability, Span, Time};
    use std::net::Ipv4Addr;

    /// A port of 1 Mbit/s with conditioners, wire loss and a short queue.
    fn link(from: usize, edge: Vec<StageSpec>) -> plan::Link {
        plan::Link {
            name: format!("from {from}"),
            from,
            to: 1 - from,
            rate: BitRate::mbps(1),
            delay: Span::from_ms(5),
            loss: Probability::new(0.05).unwrap(),
            queues: vec![plan::Queue {
                aqm: AqmParams::DropTail(drop_tail::Params {}),
                limit: Limit::Packets(3),
                scope: Scope::default(),
            }],
            scheduler: None,
            edge,
        }
    }

    fn policer() -> StageSpec {
        let bucket = token_bucket::Params { cir: BitRate::kbps(900), cbs: Bytes::new(3000) };
        StageSpec {
            name: "policer".into(),
            matches: Match::default(),
            per: Per::Aggregate,
            params: ConditionerParams::TokenBucketMarker(bucket),
            actions: [Action::Transmit, Action::Transmit, Action::Transmit, Action::Drop],
            scope: Scope::default(),
        }
    }

    fn traffic(name: &str, model: TrafficParams) -> Offered {
        Offered {
            name: name.into(),
            class: 0,
            from: vec![0],
            to: 1,
            flows: 1,
            start: Time::ZERO,
            spread: Span::ZERO,
            stop: None,
            model,
            tcp: transport::Config::default(),
            dscp: Dscp::BE,
            ect: false,
        }
    }

    /// Five seconds into a run with every kind of loss, packets waiting and in flight.
    fn busy() -> Simulation {
        let node = |n| Node { name: format!("n{n}"), address: Ipv4Addr::new(10, 0, 0, n) };
        let (size, jitter) = (Bytes::new(500), Probability::ZERO);
        let cbr = cbr::Params { rate: BitRate::kbps(700), size, jitter, random_phase: false };
        let plan = Plan {
            seed: 1,
            replication: 0,
            duration: Span::from_s(10),
            warmup: Span::ZERO,
            overhead: 14,
            nodes: vec![node(0), node(1)],
            links: vec![link(0, vec![policer()]), link(1, vec![])],
            classes: vec!["all".into()],
            traffic: vec![traffic("tcp", TrafficParams::Ftp(ftp::Params {})), traffic("udp", TrafficParams::Cbr(cbr))],
            sampling: None,
            changes: vec![],
            taps: vec![],
        };
        let mut simulation = Simulation::new(plan, EngineOptions::default()).unwrap();
        simulation.run_until(Time::ZERO + Span::from_s(5));
        simulation
    }

    type Tamper = fn(&mut Simulation);

    /// An extra packet in one count, or a packet gone from one place, is a breach, wherever it is.
    #[test]
    fn every_tampered_count_is_found() {
        assert_eq!(busy().breaches(), Vec::<String>::new());
        let tampers: [(&str, Tamper); 12] = [
            ("sent", |s| s.hosts.flow_mut(1).counts.sent.add(500)),
            ("delivered", |s| s.hosts.flow_mut(1).counts.delivered.add(500)),
            ("dropped", |s| s.hosts.flow_mut(1).counts.dropped.add(500)),
            ("a byte", |s| s.hosts.flow_mut(1).counts.sent.bytes += 1),
            ("ACK sent", |s| s.hosts.flow_mut(0).counts.acks[0].add(40)),
            ("ACK delivered", |s| s.hosts.flow_mut(0).counts.acks[1].add(40)),
            ("held", |s| s.hosts.flow_mut(0).in_network += 1),
            ("passed", |s| s.net.link_mut(0).delivered[0].add(500)),
            ("lost on the wire", |s| s.net.link_mut(1).passed[0][0].lost.add(40)),
            ("policed", |s| s.net.link_mut(0).offered[0].policed[0].add(500)),
            ("vanished from the link", |s| _ = s.net.link_mut(0).fifo.pop()),
            ("met only the gate", |s| {
                let now = s.agenda.now();
                let gate = s.net.link_mut(0).queues.gate_mut(0);
                _ = gate.arrive(now, Backlog::default(), &mut Packet { size: 500, ..Packet::default() });
            }),
        ];
        for (what, tamper) in tampers {
            let mut simulation = busy();
            assert!(!simulation.net.link_mut(0).fifo.is_empty());
            tamper(&mut simulation);
            assert!(!simulation.breaches().is_empty(), "{what}");
        }
    }

    /// The same run, its first link with a queue for each of two classes.
    fn scheduled() -> Simulation {
        let mut plan = busy().plan;
        let class = |members| strict_priority::Class { members, queue: HostKey };
        let green = vec![Member::Colour(Colour::Green)];
        let link = &mut plan.links[0];
        link.scheduler = Some(SchedulerParams::StrictPriority(strict_priority::Params {
            classes: vec![class(green), class(vec![])],
        }));
        link.queues = vec![link.queues[0].clone(), link.queues[0].clone()];
        let mut simulation = Simulation::new(plan, EngineOptions::default()).unwrap();
        simulation.run_until(Time::ZERO + Span::from_s(5));
        simulation
    }

    #[test]
    fn every_tampered_count_of_a_class_is_found() {
        assert_eq!(scheduled().breaches(), Vec::<String>::new());
        let classes = |s: &mut Simulation| match &mut s.net.link_mut(0).queues {
            Queues::One(_) => panic!("the link has a scheduler"),
            Queues::Several(classes) => std::mem::take(&mut classes.queues[0].sent),
        };
        assert!(classes(&mut scheduled()).packets > 100, "the first class sends");
        let tampers: [(&str, Tamper); 3] = [
            ("sent", |s| s.net.link_mut(0).queues.classes_mut()[0].sent.add(500)),
            ("a packet gone from its queue", |s| {
                let Queues::Several(classes) = &mut s.net.link_mut(0).queues else { panic!("it has a scheduler") };
                assert!(classes.take().is_some(), "something waits");
            }),
            ("met only a gate", |s| {
                let now = s.agenda.now();
                let gate = s.net.link_mut(0).queues.gate_mut(1);
                _ = gate.arrive(now, Backlog::default(), &mut Packet { size: 500, ..Packet::default() });
            }),
        ];
        for (what, tamper) in tampers {
            let mut simulation = scheduled();
            tamper(&mut simulation);
            assert!(!simulation.breaches().is_empty(), "{what}");
        }
    }

    /// A conditioner that saw more packets than arrived at the port.
    #[test]
    fn a_conditioner_that_counts_twice_is_found() {
        let mut simulation = busy();
        let at = Passage::of(simulation.agenda.now(), FlowId(0));
        simulation.net.link_mut(0).edge.forward(&at, &mut Packet { size: 500, ..Packet::default() });
        assert_eq!(simulation.breaches().len(), 1);
    }
}
