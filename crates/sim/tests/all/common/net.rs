//! A network in a few lines: nodes, links, traffic, run.

use perhop_core::Scope;
use perhop_core::aqm::early::{Beyond, Common, Profile, Spacing, Weight};
use perhop_core::aqm::{AqmParams, drop_tail, red};
use perhop_core::arithmetic::Arithmetic;
use perhop_core::classify::Match;
use perhop_core::conditioner::ConditionerParams;
use perhop_core::dscp::Dscp;
use perhop_core::port::edge::{Action, Per, StageSpec};
use perhop_core::port::{Limit, QueueSpec, Side};
use perhop_core::units::{BitRate, Bytes, Length, Packets, Probability, Span, Time};
use perhop_sim::plan::{Link, Node, Offered, Plan, Sockets, Tap, TapPoint};
use perhop_sim::traffic::law::{Drawn, Law, LawName};
use perhop_sim::traffic::{TrafficParams, cbr, ftp, poisson, quic, telnet, transfers, web};
use perhop_sim::transport::Config;
use perhop_sim::{EngineOptions, Outcome, Simulation};
use std::net::Ipv4Addr;

/// A plan being built.
#[derive(Clone, Debug)]
pub struct Net {
    /// The plan so far; what has no method is set here.
    pub plan: Plan,
}

impl Net {
    /// Nodes without links; seed 1, no warm-up, one class.
    pub fn new(nodes: usize, duration: Span) -> Self {
        let node = |i| Node { name: format!("n{i}"), address: Ipv4Addr::new(10, 0, (i / 250) as u8, (i % 250) as u8) };
        let plan = Plan {
            seed: 1,
            replication: 0,
            duration,
            warmup: Span::ZERO,
            accounting: Default::default(),
            nodes: (0..nodes).map(node).collect(),
            links: Default::default(),
            classes: vec!["all".into()].into(),
            traffic: Default::default(),
            sampling: None,
            changes: Vec::new(),
            probes: Default::default(),
        };
        Self { plan }
    }

    /// One direction of a link, with room for 1000 waiting packets in a drop-tail queue.
    pub fn link(&mut self, ends: [usize; 2], rate: BitRate, delay: Span) -> &mut Link {
        let [from, to] = ends;
        let name = format!("{from} -> {to} ({})", self.plan.links.len());
        self.plan.links.push(Link {
            name,
            from,
            to,
            rate,
            framing: Default::default(),
            delay,
            loss: Probability::ZERO,
            transit: Default::default(),
            queues: vec![QueueSpec {
                aqm: drop_tail(),
                limit: Limit::Packets(1000),
                drop: Side::Tail,
                scope: scope(rate, 1000),
            }],
            nodes: vec![],
            edge: Vec::new(),
        });
        self.plan.links.last_mut().unwrap()
    }

    /// Both directions the same: the links `2 k` and `2 k + 1`.
    pub fn duplex(&mut self, ends: [usize; 2], rate: BitRate, delay: Span) {
        self.link(ends, rate, delay);
        self.link([ends[1], ends[0]], rate, delay);
    }

    /// One source from node to node that starts at once.
    pub fn traffic(&mut self, ends: [usize; 2], model: TrafficParams) -> &mut Offered {
        let name = format!("t{}", self.plan.traffic.len());
        self.plan.traffic.push(Offered {
            name,
            class: 0,
            from: vec![ends[0]],
            to: ends[1],
            flows: 1,
            start: Time::ZERO,
            spread: Span::ZERO,
            stop: None,
            model,
            tcp: Config::default(),
            dscp: Dscp::BE,
            sockets: Sockets::default(),
        });
        self.plan.traffic.last_mut().unwrap()
    }

    /// Records what comes to each link and what leaves it.
    pub fn tap_all(&mut self) {
        let of = |link| [TapPoint::Input, TapPoint::Output].map(|point| Tap { link, point });
        self.plan.probes.taps = (0..self.plan.links.len()).flat_map(of).collect();
    }

    /// Runs it to its end; nothing may get lost unseen.
    pub fn run(&self) -> Outcome {
        self.run_with(EngineOptions::default())
    }

    /// As [`Net::run`], with options for the engine.
    pub fn run_with(&self, options: EngineOptions) -> Outcome {
        let outcome = self.simulation(options).run(|_| true).expect("it is not stopped");
        assert_eq!(outcome.faults.breaches, Vec::<String>::new());
        outcome
    }

    /// At time zero.
    pub fn simulation(&self, options: EngineOptions) -> Simulation {
        let simulation = Simulation::with_protocols(self.plan.clone(), options, &perhop_quic::protocol);
        simulation.unwrap_or_else(|e| panic!("{e}"))
    }

    /// As [`Net::run`], another replication.
    pub fn replicate(&mut self, replication: u32) -> Outcome {
        self.plan.replication = replication;
        self.run()
    }
}

/// Surroundings of the AQM of a link that holds this many packets.
pub fn scope(rate: BitRate, packets: u32) -> Scope {
    Scope { link_rate: Some(rate), limit: Some(Length::Packets(Packets::new(packets))), ..Scope::default() }
}

/// The queue that does nothing.
pub fn drop_tail() -> AqmParams {
    AqmParams::DropTail(drop_tail::Params {})
}

/// RED with thresholds in packets of 1000 bytes, a ramp up to `max_p`, ns-2's `wait` off, not gentle, no ECN.
pub fn red(min: u32, max: u32, max_p: f64) -> red::Params {
    let packets = |n| Length::Packets(Packets::new(n));
    red::Params {
        profile: Profile { min: packets(min), max: packets(max), max_p: Probability::new(max_p).unwrap() }.into(),
        common: Common {
            weight: Weight(0.002),
            mean_packet: Bytes::new(1000),
            spacing: Spacing::Uniformised,
            beyond: Beyond::Drop,
            ecn: false,
        },
        min_waiting: Packets::new(0),
        arithmetic: Arithmetic::Exact,
        adaptive: false,
    }
}

/// A conditioner for all packets, one instance; every colour passes.
pub fn stage(name: &str, params: ConditionerParams) -> StageSpec {
    StageSpec {
        name: name.into(),
        matches: Match::default(),
        per: Per::Aggregate,
        params,
        actions: [Action::TRANSMIT; 4],
        scope: Scope::default(),
    }
}

/// TCP with always another segment.
pub fn bulk() -> TrafficParams {
    TrafficParams::Ftp(ftp::Params {})
}

/// Datagrams of `size` bytes at random.
pub fn poisson(rate: BitRate, size: u64) -> TrafficParams {
    TrafficParams::Poisson(poisson::Params { rate, size: Bytes::new(size) })
}

/// Datagrams of `size` bytes in step with the clock.
pub fn cbr(rate: BitRate, size: u64) -> TrafficParams {
    let size = Bytes::new(size);
    TrafficParams::Cbr(cbr::Params { rate, size, jitter: Probability::ZERO, random_phase: false })
}

/// Transfers of `size` bytes, with gaps or think times of mean `gap`.
pub fn transfers(size: u64, gap: Span, waits: transfers::Loop) -> TrafficParams {
    TrafficParams::Transfers(transfers::Params { size: Bytes::new(size), gap, waits })
}

/// A session of this many packets, with gaps of mean `gap`.
pub fn telnet(packets: Drawn<u32>, gap: Span) -> TrafficParams {
    TrafficParams::Telnet(telnet::Params { packets, gaps: telnet::Gaps::Exponential(gap) })
}

/// Responses of `size` bytes over QUIC, with gaps of mean `gap`; without them, a bulk transfer.
pub fn quic(responses: Option<(u64, Span)>) -> TrafficParams {
    TrafficParams::Quic(quic::Params {
        congestion: quic::Controller::Cubic,
        initial_window: None,
        mtu: Bytes::new(1480),
        receive_window: Bytes::new(1_250_000),
        size: responses.map(|(size, _)| Drawn::Constant(Bytes::new(size))),
        gap: responses.map(|(_, gap)| gap),
        waits: None,
    })
}

/// Users with sessions of pages of objects of constant numbers and size, with gaps of this mean between pages; objects
/// are asked for 10 ms apart.
pub fn web([pages, objects]: [u32; 2], size: u64, gap: Span) -> web::Params {
    let mean = Some(gap);
    let exponential = Law { law: LawName::Exponential, mean, scale: None, shape: None, min: None, max: None };
    web::Params {
        pages: Box::new(Drawn::Constant(pages)),
        page_gap: Box::new(Drawn::Law(exponential)),
        objects: Box::new(Drawn::Constant(objects)),
        object_gap: Box::new(Drawn::Constant(Span::from_ms(10))),
        size: Box::new(Drawn::Constant(Bytes::new(size))),
        whole_packets: true,
        request: Packets::new(1),
        session_gap: None,
    }
}
