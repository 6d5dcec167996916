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
    use crate::plan::{self, EcnUse, Node, Offered, Plan};
    use crate::traffic::{TrafficParams, cbr, ftp};
    use crate::{EngineOptions, transport};
    use perhop_core::Scope;
    use perhop_core::aqm::{AqmParams, drop_tail};
    use perhop_core::classify::Match;
    use perhop_core::conditioner::{ConditionerParams, Passage, token_bucket};
    use perhop_core::dscp::Dscp;
    use perhop_core::packet::{Colour, FlowId, Packet};
    use perhop_core::port::edge::{Action, Per, StageSpec};
    use perhop_core::port::{Limit, QueueSpec, Side};
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
            transit: plan::Transit {
                jitter: Span::from_ms(5),
                reorder: Probability::new(0.1).unwrap(),
                ..Default::default()
            },
            nodes: vec![],
            queues: vec![QueueSpec {
                drop: Side::Tail,
                aqm: AqmParams::DropTail(drop_tail::Params {}),
                limit: Limit::Packets(3),
                scope: Scope::default(),
            }],
            edge,
        }
    }

    fn policer() -> StageSpec {
        let bucket = token_bucket::Params::new(BitRate::kbps(900), Bytes::new(3000));
        StageSpec {
            name: "policer".into(),
            matches: Match::default(),
            per: Per::Aggregate,
            params: ConditionerParams::TokenBucketMarker(bucket),
            actions: [Action::TRANSMIT, Action::TRANSMIT, Action::TRANSMIT, Action::Drop],
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
            ecn: EcnUse::default(),
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
            nodes: vec![node(0), node(1)].into(),
            links: vec![link(0, vec![policer()]), link(1, vec![])].into(),
            classes: vec!["all".into()].into(),
            traffic: vec![traffic("tcp", TrafficParams::Ftp(ftp::Params {})), traffic("udp", TrafficParams::Cbr(cbr))]
                .into(),
            sampling: None,
            changes: vec![],
            probes: Default::default(),
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
        let tampers: [(&str, Tamper); 10] = [
            ("sent", |s| s.hosts.flow_mut(1).counts.sent.add(500)),
            ("delivered", |s| s.hosts.flow_mut(1).counts.delivered.add(500)),
            ("dropped", |s| s.hosts.flow_mut(1).counts.dropped.add(500)),
            ("a byte", |s| s.hosts.flow_mut(1).counts.sent.bytes += 1),
            ("ACK sent", |s| s.hosts.flow_mut(0).counts.acks[0].add(40)),
            ("ACK delivered", |s| s.hosts.flow_mut(0).counts.acks[1].add(40)),
            ("held", |s| s.hosts.flow_mut(0).in_network += 1),
            ("passed", |s| s.net.link_mut(0).delivered_mut()[0].add(500)),
            ("lost on the wire", |s| s.net.link_mut(1).passed_mut().at(0, Colour::Green).lost.add(40)),
            ("vanished from the link", |s| _ = s.net.link_mut(0).port_mut().take_sent()),
        ];
        for (what, tamper) in tampers {
            let mut simulation = busy();
            tamper(&mut simulation);
            assert!(!simulation.breaches().is_empty(), "{what}");
        }
    }

    /// A packet that a port alone knows of; what happens inside a port has its own test there.
    #[test]
    fn a_packet_that_no_host_sent_is_found() {
        let mut simulation = busy();
        let at = Passage::of(simulation.agenda.now(), FlowId(1));
        let port = simulation.net.link_mut(1).port_mut();
        let mut packet = Packet { size: 40, flow: FlowId(1), ..Packet::default() };
        assert!(port.arrive(&at, &mut packet, 0).stays());
        assert!(!simulation.breaches().is_empty());
    }
}
