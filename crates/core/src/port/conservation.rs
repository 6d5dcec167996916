//! Conservation at a port: in = out + dropped + queued, at its conditioners, gates and queues; packets and bytes.

use super::edge::arrived;
use super::{Fates, Port, Queue};
use crate::count::Count;
use crate::counted::Of;
use std::collections::BTreeMap;

impl<H: Copy> Port<H> {
    /// Every case in which its counts do not add up.
    pub fn breaches(&self) -> Vec<String> {
        let gates = self.queues().iter().enumerate().flat_map(|(i, queue)| gate_breaches(i, queue));
        gates.chain(self.queue_breaches()).chain(self.edge_breaches()).collect()
    }

    /// Queued = sent + dropped at the head + waiting, at each queue of a tree.
    fn queue_breaches(&self) -> Vec<String> {
        let queues = if self.is_scheduled() { self.queues() } else { &[] };
        let breach = |(i, queue): (usize, &Queue<H>)| {
            let fates = queue.gate().fates().values().fold(Fates::default(), |sum, fates| sum.plus(fates));
            let (sent, waiting) = (queue.sent(), queue.waiting());
            let text = format!("queue {}: {fates:?}, sent {sent:?}, waiting {waiting:?}", i + 1);
            (fates.queued != sent + fates.dropped_at_head + waiting).then_some(text)
        };
        queues.iter().enumerate().filter_map(breach).collect()
    }

    /// Offered = dropped by conditioners + arrived at the gate, by class; no conditioner saw more than was offered.
    fn edge_breaches(&self) -> Vec<String> {
        let mut breaches = Vec::new();
        if self.edge().is_empty() {
            return breaches;
        }
        let mut classes = BTreeMap::<usize, [Count; 3]>::new();
        for (of, offered) in self.offered().iter() {
            let sums = classes.entry(of.class()).or_default();
            sums[0] += offered.offered;
            sums[1] += offered.policed;
        }
        self.fates().iter().for_each(|(of, fates)| classes.entry(of.class()).or_default()[2] += fates.arrived);
        for (class, [offered, policed, came]) in classes {
            if offered != policed + came {
                breaches.push(format!("class {class}: offered {offered:?}, policed {policed:?}, came {came:?}"));
            }
        }
        let offered: u64 = self.offered().values().map(|o| o.offered.packets).sum();
        for stage in self.edge().counts() {
            let seen: Count = arrived(stage.counts).into_iter().sum();
            if seen.packets > offered {
                breaches.push(format!("conditioner {} saw {} of {offered} packets", stage.name, seen.packets));
            }
        }
        breaches
    }
}

/// Every arrival was let in or dropped.
fn gate_breaches<H: Copy>(i: usize, queue: &Queue<H>) -> Vec<String> {
    let breach = |(of, fates): (Of, &Fates)| {
        let (class, colour) = (of.class(), of.colour().name());
        (!fates.conserved()).then(|| format!("queue {}, class {class}, {colour}: {fates:?}", i + 1))
    };
    queue.gate().fates().iter().filter_map(breach).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scope;
    use crate::aqm::members::Member;
    use crate::aqm::{AqmParams, drop_tail};
    use crate::classify::{FlowHeaders, Match};
    use crate::conditioner::{ConditionerParams, Passage, token_bucket};
    use crate::packet::{Colour, FlowId, Packet};
    use crate::port::edge::{Action, Per, StageSpec};
    use crate::port::queues::Queues;
    use crate::port::{Limit, NodeSpec, PortSpec, QueueSpec, Side};
    use crate::sched::{HostKey, SchedulerParams, strict_priority};
    use crate::units::{BitRate, Bytes, Time};
    use crate::verdict::Verdict;
    use std::net::Ipv4Addr;

    fn policer() -> StageSpec {
        let bucket = token_bucket::Params::new(BitRate::kbps(900), Bytes::new(3000));
        let mut actions = [Action::TRANSMIT; Colour::ALL.len()];
        actions[Colour::Red.index()] = Action::Drop;
        StageSpec {
            name: "policer".into(),
            matches: Match::default(),
            per: Per::Aggregate,
            params: ConditionerParams::TokenBucketMarker(bucket),
            actions,
            scope: Scope::default(),
        }
    }

    fn headers() -> FlowHeaders {
        FlowHeaders {
            protocol: 17,
            source: Ipv4Addr::new(10, 0, 0, 1).into(),
            destination: Ipv4Addr::new(10, 0, 0, 2).into(),
            source_port: 1,
            destination_port: 2,
            traffic: String::new(),
            class: String::new(),
            rtt: None,
        }
    }

    /// A policer before two queues of three packets, of which the first two packets have been sent.
    fn busy() -> Port<()> {
        let aqm = AqmParams::DropTail(drop_tail::Params {});
        let queue = QueueSpec { aqm, limit: Limit::Packets(3), drop: Side::Tail, scope: Scope::default() };
        let class = |members| strict_priority::Class {
            filter: Vec::into(members),
            name: None,
            template: Default::default(),
            limit: Default::default(),
            same_level: None,
            queue: HostKey,
        };
        let classes = vec![class(vec![Member::Colour(Colour::Green)]), class(vec![])];
        let scheduler = SchedulerParams::StrictPriority(strict_priority::Params { classes: classes.into() });
        let (edge, queues) = ([policer()], [queue.clone(), queue]);
        let nodes = NodeSpec::flat(scheduler, &queues);
        let spec = PortSpec { name: "busy", edge: &edge, queues: &queues, nodes: &nodes, seed: 1, replication: 0 };
        let (mut port, mut packet) = (spec.build().unwrap(), Packet { size: 500, ..Packet::default() });
        port.register(FlowId(0), &headers());
        (0..10).for_each(|_| _ = port.arrive(&Passage::of(Time::ZERO, FlowId(0)), &mut packet.clone(), ()));
        (0..2).for_each(|_| _ = port.next(Time::ZERO, &mut packet));
        port
    }

    type Tamper = fn(&mut Port<()>);

    fn queue(port: &mut Port<()>) -> &mut Queue<()> {
        let Queues::Several(_) = &port.queues else { panic!("the port has a scheduler") };
        &mut port.queues.all_mut()[0]
    }

    /// An extra packet in one count, or a packet gone from one place, is a breach, wherever it is.
    #[test]
    fn every_tampered_count_is_found() {
        assert_eq!(busy().breaches(), Vec::<String>::new());
        assert!(busy().offered().values().any(|it| it.policed.packets > 0), "the policer drops");
        let tampers: [(&str, Tamper); 5] = [
            ("policed", |port| port.offered.at(0, Colour::Green).policed.add(500)),
            ("sent", |port| queue(port).sent.add(500)),
            ("a packet gone from its queue", |port| assert!(queue(port).ring.take().is_some(), "something waits")),
            ("met only a gate", |port| {
                let backlog = queue(port).backlog(Time::ZERO);
                _ = queue(port).gate.arrive(Time::ZERO, || backlog, &mut Packet { size: 500, ..Packet::default() });
            }),
            ("met only a conditioner", |port| {
                let at = Passage::of(Time::ZERO, FlowId(0));
                let mut packet = Packet { size: 500, ..Packet::default() };
                assert_ne!(port.edge.forward(&at, &mut packet), Verdict::Mark);
            }),
        ];
        for (what, tamper) in tampers {
            let mut port = busy();
            tamper(&mut port);
            assert!(!port.breaches().is_empty(), "{what}");
        }
    }
}
