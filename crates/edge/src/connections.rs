//! Flows that the conditioners have been told of, and what is known of their connections.

use perhop_core::classify::FlowHeaders;
use perhop_core::packet::FlowId;
use perhop_core::port::Port;
use perhop_core::units::Time;

use crate::arriving::Arriving;
use crate::flows::FlowTable;
use crate::handshake::Handshakes;
use crate::headers::TcpView;
use crate::steps::Steps;

const TCP_SYN: u8 = 0x02;

/// What is known about a flow's connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    /// No packet yet.
    #[default]
    Unknown,
    /// Nothing since its last SYN.
    Opening,
    /// Other packets came.
    Open,
}

/// All flows of a host.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    pub(crate) flows: FlowTable,
    phases: Vec<Phase>,
    /// Watched if a match asks for round-trip times.
    pub(crate) handshakes: Option<Handshakes>,
    /// Whether a connection finds the buckets as the one before it on the same ports left them.
    keeps_buckets: bool,
}

impl Connections {
    /// Whether round-trip times matter: then handshakes are watched.
    pub(crate) fn new(rtt: bool) -> Self {
        Self { handshakes: rtt.then(Handshakes::default), ..Self::default() }
    }

    /// For hosts that face senders: a SYN is not believed to open a new connection, for it would fill buckets.
    pub(crate) fn keeping_buckets(self) -> Self {
        Self { keeps_buckets: true, ..self }
    }

    /// Registers a flow with the conditioners before its first packet. When a SYN after other segments opens another
    /// connection on the same ports, conditioners start afresh as with each in the simulator, or keep their buckets. A SYN after a
    /// SYN is the same one again.
    #[inline]
    pub(crate) fn announce(&mut self, flow: FlowId, tcp: Option<TcpView>, port: &mut Port<u32>) {
        let syn = tcp.is_some_and(|tcp| tcp.flags & TCP_SYN != 0);
        let before = self.phase(flow);
        if before == Phase::Unknown || (syn && before == Phase::Open) {
            self.begin(flow, before, port);
        }
        self.phases[flow.0 as usize] = if syn { Phase::Opening } else { Phase::Open };
    }

    #[cold]
    fn begin(&mut self, flow: FlowId, before: Phase, port: &mut Port<u32>) {
        let headers = self.headers_of(flow);
        match before {
            Phase::Open if self.keeps_buckets => port.reopen(flow, &headers),
            _ => port.register(flow, &headers),
        }
    }

    /// Registers the other half of a connection with return traffic, which may be the first that comes.
    pub(crate) fn meet(&mut self, mate: FlowId, port: &mut Port<u32>) {
        if self.phase(mate) == Phase::Unknown {
            port.register(mate, &self.headers_of(mate));
            self.phases[mate.0 as usize] = Phase::Open;
        }
    }

    /// If round-trip times matter: reclassifies a connection's flows when its own becomes known, and says which flow is the
    /// other half.
    #[inline]
    pub(crate) fn watch(
        &mut self,
        it: &Arriving<'_>,
        flow: FlowId,
        steps: &Steps,
        port: &mut Port<u32>,
    ) -> Option<FlowId> {
        let (Some(_), Some(tcp)) = (&self.handshakes, it.headers.tcp) else { return None };
        let flows = [flow, FlowId(self.flows.mate(flow.0))];
        self.watched((it.at.now, flows), tcp, steps, port);
        Some(flows[1])
    }

    fn watched(&mut self, (now, flows): (Time, [FlowId; 2]), tcp: TcpView, steps: &Steps, port: &mut Port<u32>) {
        let Some(handshakes) = &mut self.handshakes else { return };
        let flow = flows[0];
        if !handshakes.observe(now, flows, tcp) {
            return;
        }
        if handshakes.rtt(flow).is_some_and(|rtt| steps.spoil(now, rtt)) {
            return flows.into_iter().for_each(|flow| handshakes.forget(flow));
        }
        for flow in flows {
            if self.phase(flow) != Phase::Unknown {
                port.reclassify(flow, &self.headers_of(flow));
            }
        }
    }

    /// Nothing is known of a flow any longer but its number.
    pub(crate) fn forget(&mut self, flow: FlowId) {
        self.handshakes.iter_mut().for_each(|it| it.forget(flow));
        self.phases.get_mut(flow.0 as usize).into_iter().for_each(|it| *it = Phase::Unknown);
    }

    /// Flows that the conditioners have been told of, and what is known of them.
    pub(crate) fn announced(&self) -> impl Iterator<Item = (FlowId, FlowHeaders)> {
        let known = self.phases.iter().enumerate().filter(|it| *it.1 != Phase::Unknown);
        known.map(|(flow, _)| FlowId(flow as u32)).map(|flow| (flow, self.headers_of(flow)))
    }

    #[inline]
    fn phase(&mut self, flow: FlowId) -> Phase {
        let slot = flow.0 as usize;
        if self.phases.len() <= slot {
            self.phases.resize(slot + 1, Phase::Unknown);
        }
        self.phases[slot]
    }

    /// What classifiers know about a flow so far.
    pub(crate) fn headers_of(&self, flow: FlowId) -> FlowHeaders {
        let key = self.flows.key(flow.0).expect("the table has numbered it");
        FlowHeaders { rtt: self.handshakes.as_ref().and_then(|it| it.rtt(flow)), ..key.headers() }
    }
}
