//! Routes, and who passes which conditioners.

use super::route::{Router, Way};
use super::{HERE, Net, number};
use perhop_core::classify::FlowHeaders;
use perhop_core::sched::Socket;

impl Net {
    /// The way between two nodes, `[from, to]`, there and back; or the node that cannot be reached.
    pub fn way(&mut self, router: &Router<'_>, [from, to]: [usize; 2]) -> Result<Way, usize> {
        let there = self.add_route(router, [from, to])?;
        let back = self.add_route(router, [to, from])?;
        Ok(Way { from: from as u32, to: to as u32, routes: [there, back] })
    }

    fn add_route(&mut self, router: &Router<'_>, [from, to]: [usize; 2]) -> Result<u32, usize> {
        let start = self.hops.len() as u32;
        self.hops.extend(router.route(from, to).ok_or(to)?.into_iter().chain([HERE]));
        Ok(start)
    }

    /// The hosts from which these routes begin want to know when their packets' transmission begins.
    pub fn tell_hosts(&mut self, starts: impl Iterator<Item = u32>) {
        for start in starts {
            let first = self.route(start).next();
            if let Some(first) = first {
                self.links[first].tell_hosts();
            }
        }
    }

    /// Whether the first port of a route takes a burst for one packet.
    pub fn keeps_bursts(&self, start: u32) -> bool {
        self.route(start).next().is_some_and(|first| self.links[first].port().keeps_bursts())
    }

    /// The links of a route that begins here in the table of hops.
    pub fn route(&self, start: u32) -> impl Iterator<Item = usize> {
        self.hops[start as usize..].iter().take_while(|&&hop| hop != HERE).map(|&hop| hop as usize)
    }

    /// Registers a flow with the conditioners and the trees of queues that will see its packets, in either direction.
    pub fn announce(&mut self, flow: usize, [out, back]: [u32; 2], headers: &FlowHeaders) {
        for port in self.ports_of([out, back]) {
            self.links[port].port_mut().register(number::out(flow), headers);
        }
        let reversed = headers.reversed();
        for port in self.ports_of([back, out]) {
            self.links[port].port_mut().register(number::back(flow), &reversed);
        }
    }

    /// Tells the hosts' own ports of the sockets of a flow's two ends.
    pub fn open(&mut self, flow: usize, [out, back]: [u32; 2], sockets: [Socket; 2]) {
        let ends = [(out, number::out(flow)), (back, number::back(flow))];
        for ((start, number), socket) in ends.into_iter().zip(sockets) {
            let own = self.route(start).next();
            own.into_iter().for_each(|own| self.links[own].port_mut().sends(number, socket));
        }
    }

    /// The ports that ask who one way of a flow is: those it passes, and those whose conditioners look at what comes back
    /// over the links of its `other` way.
    fn ports_of(&self, [way, other]: [u32; 2]) -> Vec<usize> {
        let passed = self.route(way).filter(|&link| self.links[link].port().knows_flows());
        let looking = self.route(other).filter_map(|link| Some(self.mates[link]? as usize));
        let looking = looking.filter(|&port| !self.links[port].port().edge().is_empty());
        passed.chain(looking.filter(|port| !self.route(way).any(|link| link == *port))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{self, Node, Plan, Shared};
    use perhop_core::Scope;
    use perhop_core::aqm::{AqmParams, drop_tail};
    use perhop_core::classify::Match;
    use perhop_core::conditioner::{ConditionerParams, token_bucket};
    use perhop_core::params::{Place, Problems, Reader, Table};
    use perhop_core::port::edge::{Action, Per, StageSpec};
    use perhop_core::port::{Limit, NodeSpec, QueueSpec, Side};
    use perhop_core::sched::SchedulerParams;
    use perhop_core::units::{BitRate, Bytes, Probability, Span};
    use std::net::Ipv4Addr;

    /// Data go 0 -> 1 over link 0 and come back 1 -> 2 -> 0 over links 1 and 2; links 3 and 4 lead the other way.
    fn triangle() -> (Net, Way) {
        net_of(|_| {})
    }

    fn net_of(change: impl Fn(&mut Plan)) -> (Net, Way) {
        let bucket = token_bucket::Params::new(BitRate::mbps(1), Bytes::new(3000));
        let stage = StageSpec {
            name: "m".into(),
            matches: Match::default(),
            per: Per::Flow,
            params: ConditionerParams::TokenBucketMarker(bucket),
            actions: [Action::TRANSMIT; 4],
            scope: Scope::default(),
        };
        let link = |(from, to): (usize, usize)| plan::Link {
            name: format!("{from} -> {to}"),
            from,
            to,
            rate: BitRate::mbps(1),
            framing: Default::default(),
            delay: Span::ZERO,
            loss: Probability::ZERO,
            transit: Default::default(),
            nodes: vec![],
            queues: vec![QueueSpec {
                drop: Side::Tail,
                aqm: AqmParams::DropTail(drop_tail::Params {}),
                limit: Limit::Packets(10),
                scope: Scope::default(),
            }],
            edge: vec![stage.clone()],
        };
        let mut plan = Plan {
            seed: 1,
            replication: 0,
            duration: Span::from_s(1),
            warmup: Span::ZERO,
            accounting: Default::default(),
            nodes: (0..3).map(|i| Node { name: i.to_string(), address: Ipv4Addr::LOCALHOST }).collect(),
            links: [(0, 1), (1, 2), (2, 0), (2, 1), (0, 2)].into_iter().map(link).collect(),
            classes: vec!["all".into()].into(),
            traffic: Shared::default(),
            changes: vec![],
            sampling: None,
            probes: Default::default(),
        };
        change(&mut plan);
        let mut net = Net::new(&plan, false).unwrap();
        let way = net.way(&Router::new(&plan.links, 3), [0, 1]).unwrap();
        (net, way)
    }

    #[test]
    fn a_flow_is_known_where_it_passes_and_where_its_other_way_is_looked_at() {
        let (mut net, way) = triangle();
        let ports = |net: &Net, way: Way| (net.ports_of(way.routes), net.ports_of(way.reversed().routes));
        assert_eq!(ports(&net, way), (vec![0], vec![1, 2]));
        // Link 3 is opposite to link 1, link 4 to link 2: their conditioners look at the ACKs.
        (net.mates[1], net.mates[2]) = (Some(3), Some(4));
        assert_eq!(ports(&net, way), (vec![0, 3, 4], vec![1, 2]));
        // And those of link 1, if it were opposite to link 0, at the data.
        net.mates[0] = Some(1);
        assert_eq!(ports(&net, way).1, [1, 2], "once, though it passes there as well");
    }

    /// Schedulers that are fair to hosts have to know whose packets they see.
    #[test]
    fn a_flow_is_known_to_the_queues_that_it_passes() {
        let sfq = || {
            SchedulerParams::read(
                "sfq",
                Place::default(),
                &mut Reader::new(&Table::default(), Place::default(), &mut Problems::default()),
            )
        };
        let (net, way) = net_of(|plan| {
            plan.links.iter_mut().for_each(|link| link.edge.clear());
            plan.links[1].nodes = NodeSpec::flat(sfq().unwrap(), &plan.links[1].queues);
        });
        assert_eq!((net.ports_of(way.routes), net.ports_of(way.reversed().routes)), (vec![], vec![1]));
    }
}
