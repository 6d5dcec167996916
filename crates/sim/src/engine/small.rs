//! Small plans for tests.

use crate::plan::{Link, Node, Offered, Plan, Sockets, Transit};
use crate::traffic::TrafficParams;
use crate::transport;
use perhop_core::Scope;
use perhop_core::aqm::{AqmParams, drop_tail};
use perhop_core::dscp::Dscp;
use perhop_core::port::{Limit, QueueSpec, Side};
use perhop_core::units::{BitRate, Probability, Span, Time};
use std::net::Ipv4Addr;

/// A link of 1 Mbit/s and 5 ms, at which three packets may wait.
pub(super) fn link(name: &str, [from, to]: [usize; 2]) -> Link {
    Link {
        name: name.into(),
        from,
        to,
        rate: BitRate::mbps(1),
        framing: Default::default(),
        delay: Span::from_ms(5),
        loss: Probability::ZERO,
        transit: Transit::default(),
        nodes: vec![],
        queues: vec![QueueSpec {
            drop: Side::Tail,
            aqm: AqmParams::DropTail(drop_tail::Params {}),
            limit: Limit::Packets(3),
            scope: Scope::default(),
        }],
        edge: vec![],
    }
}

/// Traffic of one flow that begins at once.
pub(super) fn offered(name: &str, [from, to]: [usize; 2], model: TrafficParams) -> Offered {
    Offered {
        name: name.into(),
        class: 0,
        from: vec![from],
        to,
        flows: 1,
        start: Time::ZERO,
        spread: Span::ZERO,
        stop: None,
        model,
        tcp: transport::Config::default(),
        dscp: Dscp::BE,
        sockets: Sockets::default(),
    }
}

/// A second without warm-up.
pub(super) fn plan(nodes: Vec<Node>, links: Vec<Link>, traffic: Vec<Offered>) -> Plan {
    Plan {
        seed: 1,
        replication: 0,
        duration: Span::from_s(1),
        warmup: Span::ZERO,
        accounting: Default::default(),
        nodes: nodes.into(),
        links: links.into(),
        classes: vec!["all".into()].into(),
        traffic: traffic.into(),
        sampling: None,
        changes: vec![],
        probes: Default::default(),
    }
}

/// A node.
pub(super) fn node(name: &str) -> Node {
    Node { name: name.into(), address: Ipv4Addr::new(10, 0, 0, 1) }
}
