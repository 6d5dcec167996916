//! Conservation: in = out + dropped + queued, per flow end to end, per class and colour at each queue, and at each
//! port's conditioners; packets and bytes.
//!
//! Decision: docs/decisions/032-conservation-at-every-end.md

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
    use crate::EngineOptions;
    use crate::engine::small::{self, link, node, offered};
    use crate::plan::{self, Plan};
    use crate::traffic::{TrafficParams, cbr, ftp};
    use perhop_core::Scope;
    use perhop_core::accounting::Accounting;
    use perhop_core::classify::Match;
    use perhop_core::conditioner::{ConditionerParams, Passage, token_bucket};
    use perhop_core::packet::{Colour, FlowId, Packet};
    use perhop_core::port::edge::{Action, Per, StageSpec};
    use perhop_core::units::{BitRate, Bytes, Probability, Span, Time};

    /// A port of 1 Mbit/s with conditioners, wire loss and a short queue.
    fn lossy(from: usize, edge: Vec<StageSpec>) -> plan::Link {
        let transit =
            plan::Transit { jitter: Span::from_ms(5), reorder: Probability::new(0.1).unwrap(), ..Default::default() };
        let loss = Probability::new(0.05).unwrap();
        plan::Link { loss, transit, edge, ..link(&format!("from {from}"), [from, 1 - from]) }
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

    /// Five seconds into a run with every kind of loss, packets waiting and in flight.
    fn busy() -> Simulation {
        let (size, jitter) = (Bytes::new(500), Probability::ZERO);
        let cbr = cbr::Params { rate: BitRate::kbps(700), size, jitter, random_phase: false };
        let links = vec![lossy(0, vec![policer()]), lossy(1, vec![])];
        let traffic = [("tcp", TrafficParams::Ftp(ftp::Params {})), ("udp", TrafficParams::Cbr(cbr))];
        let traffic = traffic.map(|(name, model)| offered(name, [0, 1], model)).into();
        let of = small::plan(["n0", "n1"].map(node).into(), links, traffic);
        let plan = Plan { duration: Span::from_s(10), accounting: Accounting::L2, ..of };
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
