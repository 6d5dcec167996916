//! Conservation: in = out + dropped + queued, per flow end to end, per class and colour at each queue, and at each
//! port's conditioners; packets and bytes.

use super::Simulation;
use crate::net::Link;
use perhop_core::count::Count;
use perhop_core::edge::arrived;
use perhop_core::packet::Colour;

impl Simulation {
    /// Every way in which counts do not add up.
    pub(crate) fn breaches(&self) -> Vec<String> {
        let mut breaches = self.flow_breaches();
        for (link, planned) in self.links.iter().zip(&self.plan.links) {
            let found = [self.queue_breaches(link), edge_breaches(link)].concat();
            breaches.extend(found.into_iter().map(|what| format!("{}: {what}", planned.name)));
        }
        breaches
    }

    /// One fate for each arrival; queued = delivered + lost on the wire + on the link, by colour.
    fn queue_breaches(&self, link: &Link) -> Vec<String> {
        let mut breaches = class_breaches(link);
        let (on_link, all) = (link.on_link(&self.pool), link.fates());
        for colour in Colour::ALL {
            let c = colour.index();
            for (i, gate) in link.queues.gates().enumerate() {
                let fates = gate.fates().iter().map(|class| &class[c]).enumerate();
                for (class, fates) in fates.filter(|(_, fates)| !fates.conserved()) {
                    breaches.push(format!("queue {}, class {class}, {}: {fates:?}", i + 1, colour.name()));
                }
            }
            let queued: Count = all.iter().map(|class| class[c].queued).sum();
            let lost: Count = link.passed.iter().map(|class| class[c].lost).sum();
            let on: Count = on_link.iter().map(|class| class[c]).sum();
            let delivered = link.delivered[c];
            if queued != delivered + lost + on {
                let parts = format!("delivered {delivered:?}, lost {lost:?}, on link {on:?}");
                breaches.push(format!("{}: queued {queued:?}, {parts}", colour.name()));
            }
        }
        breaches
    }

    fn flow_breaches(&self) -> Vec<String> {
        let mut inside = vec![[Count::default(); 2]; self.flows.len()];
        for record in self.links.iter().flat_map(Link::records) {
            let record = self.pool.get(record);
            let flow = record.packet.flow.0 as usize;
            inside[flow / 2][flow % 2].add(record.wire);
        }
        let mut breaches = Vec::new();
        for (slot, flow) in self.flows.iter().enumerate() {
            let c = &flow.counts;
            let data = c.sent == c.delivered + c.dropped + inside[slot][0];
            let acks = c.acks[0] == c.acks[1] + c.acks[2] + inside[slot][1];
            let held = u64::from(flow.in_network) == inside[slot][0].packets + inside[slot][1].packets;
            if !(data && acks && held) {
                breaches.push(format!("flow {slot}: {c:?}, inside {:?}, held {}", inside[slot], flow.in_network));
            }
        }
        breaches
    }
}

/// Queued = sent + waiting, at each queue of a scheduler.
fn class_breaches(link: &Link) -> Vec<String> {
    let mut breaches = Vec::new();
    for (i, queue) in link.queues.classes().iter().enumerate() {
        let queued: Count = queue.gate.fates().iter().flatten().map(|fates| fates.queued).sum();
        let mut waiting = Count::default();
        queue.waiting().for_each(|w| waiting.add(w.size));
        if queued != queue.sent + waiting {
            breaches.push(format!("queue {}: queued {queued:?}, sent {:?}, waiting {waiting:?}", i + 1, queue.sent));
        }
    }
    breaches
}

/// Offered = dropped by conditioners + come to the gate, by class; no conditioner saw more than was offered.
fn edge_breaches(link: &Link) -> Vec<String> {
    let mut breaches = Vec::new();
    if link.edge.is_empty() {
        return breaches;
    }
    for (class, (offered, fates)) in link.offered.iter().zip(&link.fates()).enumerate() {
        let came: Count = fates.iter().map(|f| f.arrived).sum();
        let policed: Count = offered.policed.iter().copied().sum();
        let offered = offered.offered;
        if offered != policed + came {
            breaches.push(format!("class {class}: offered {offered:?}, policed {policed:?}, came {came:?}"));
        }
    }
    let offered: u64 = link.offered.iter().map(|o| o.offered.packets).sum();
    for stage in link.edge.counts() {
        let seen: Count = arrived(stage.counts).into_iter().sum();
        if seen.packets > offered {
            breaches.push(format!("conditioner {} saw {} of {offered} packets", stage.name, seen.packets));
        }
    }
    breaches
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
    use perhop_core::packet::{FlowId, Packet};
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

    /// Five seconds into a run with every kind of loss, packets waiting and under way.
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
            ("sent", |s| s.flows[1].counts.sent.add(500)),
            ("delivered", |s| s.flows[1].counts.delivered.add(500)),
            ("dropped", |s| s.flows[1].counts.dropped.add(500)),
            ("a byte", |s| s.flows[1].counts.sent.bytes += 1),
            ("ACK sent", |s| s.flows[0].counts.acks[0].add(40)),
            ("ACK delivered", |s| s.flows[0].counts.acks[1].add(40)),
            ("held", |s| s.flows[0].in_network += 1),
            ("passed", |s| s.links[0].delivered[0].add(500)),
            ("lost on the wire", |s| s.links[1].passed[0][0].lost.add(40)),
            ("policed", |s| s.links[0].offered[0].policed[0].add(500)),
            ("vanished from the link", |s| _ = s.links[0].fifo.pop()),
            ("met only the gate", |s| {
                let gate = s.links[0].queues.gate_mut(0);
                _ = gate.arrive(s.now, Backlog::default(), &mut Packet { size: 500, ..Packet::default() });
            }),
        ];
        for (what, tamper) in tampers {
            let mut simulation = busy();
            assert!(!simulation.links[0].fifo.is_empty());
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
        let classes = |s: &mut Simulation| match &mut s.links[0].queues {
            Queues::One(_) => panic!("the link has a scheduler"),
            Queues::Several(classes) => std::mem::take(&mut classes.queues[0].sent),
        };
        assert!(classes(&mut scheduled()).packets > 100, "the first class sends");
        let tampers: [(&str, Tamper); 3] = [
            ("sent", |s| s.links[0].queues.classes_mut()[0].sent.add(500)),
            ("a packet gone from its queue", |s| {
                let Queues::Several(classes) = &mut s.links[0].queues else { panic!("it has a scheduler") };
                assert!(classes.take().is_some(), "something waits");
            }),
            ("met only a gate", |s| {
                let gate = s.links[0].queues.gate_mut(1);
                _ = gate.arrive(s.now, Backlog::default(), &mut Packet { size: 500, ..Packet::default() });
            }),
        ];
        for (what, tamper) in tampers {
            let mut simulation = scheduled();
            tamper(&mut simulation);
            assert!(!simulation.breaches().is_empty(), "{what}");
        }
    }

    /// A conditioner that saw more packets than came to the port.
    #[test]
    fn a_conditioner_that_counts_twice_is_found() {
        let mut simulation = busy();
        let at = Passage::of(simulation.now, FlowId(0));
        simulation.links[0].edge.forward(&at, &mut Packet { size: 500, ..Packet::default() });
        assert_eq!(simulation.breaches().len(), 1);
    }
}
