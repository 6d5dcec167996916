//! What `--rtt` reports: round-trip times and windows of flows and aggregates.

use std::net::IpAddr;

use perhop_core::estimate::rtt::Evidence;
use perhop_core::packet::FlowId;
use perhop_core::port::edge::StageSpec;
use perhop_core::units::{Span, counted};
use perhop_edge::flows::flow_name;
use perhop_edge::round_trips::{Aggregate, FlowTrips, Measured, Sample};
use perhop_edge::{FlowKey, FlowTable, Ports, RoundTrips, Shared};
use serde::Serialize;

/// The least time-out that a sender is taken to use.
pub(crate) const LEAST_TIMEOUT: Span = Span::from_ms(200);

/// What was measured from a flow's or an aggregate's data: from the capture point to the receiver and back.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MeasuredRow {
    /// Segments with data, SYN or FIN.
    pub segments: u64,
    /// Those of them that hold nothing beyond the highest number seen: retransmissions, or out of order.
    pub repeats: u64,
    /// Time-outs of the sender, as far as they can be recognised from outside.
    pub timeouts: u64,
    /// Round-trip times measured.
    pub samples: u64,
    /// Those of them that came from TCP timestamps; the rest came from sequence numbers.
    pub samples_from_timestamps: u64,
    /// Times that were measured while the capture's clock stepped back: they are in no other number.
    pub voided_samples: u64,
    /// The shortest; `None` without samples.
    pub min_rtt_s: Option<f64>,
    /// Their mean.
    pub mean_rtt_s: Option<f64>,
    /// The longest.
    pub max_rtt_s: Option<f64>,
    /// What a sender would make of them.
    #[serde(flatten)]
    pub smoothed: SmoothedRow,
    /// The largest window of a flow, segments.
    pub largest_window_segments: u32,
}

/// Round-trip times as a sender smooths them, at the end.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SmoothedRow {
    /// SRTT: gain 1/8 for a flow (RFC 6298), 0.02 for an aggregate.
    pub smoothed_rtt_s: Option<f64>,
    /// RTTVAR.
    pub rtt_variation_s: Option<f64>,
    /// max(0.2 s, SRTT + 4 RTTVAR).
    pub rto_s: Option<f64>,
}

/// A flow.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowRoundTrip {
    /// Source address: of the sender of the data.
    pub source: IpAddr,
    /// Destination address.
    pub destination: IpAddr,
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
    /// The aggregate it belongs to, by name; `None` for return traffic in a policy
    /// with `inside`, and for what no conditioner takes.
    pub aggregate: Option<String>,
    /// Whether its ACKs were seen; without them there is no round-trip time, and windows only grow.
    pub answered: bool,
    /// What was measured.
    #[serde(flatten)]
    pub measured: MeasuredRow,
    /// Segments in flight when its last segment passed, that one included.
    pub window_segments: u32,
}

impl FlowRoundTrip {
    /// Its protocol and ends in words.
    pub fn name(&self) -> String {
        const TCP: u8 = 6;
        let Self { source, destination, source_port, destination_port, .. } = *self;
        let ports = Some(Ports { source: source_port, destination: destination_port });
        flow_name(&FlowKey { source, destination, protocol: TCP, ports })
    }
}

/// An aggregate.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AggregateRoundTrip {
    /// The conditioner, and what its instance is for; without a policy, the pair of addresses.
    pub name: String,
    /// Its flows.
    pub flows: u64,
    /// What was measured.
    #[serde(flatten)]
    pub measured: MeasuredRow,
}

/// One round-trip time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SampleRow {
    /// Number of the packet that closed it in the capture, from 1.
    pub packet: u64,
    /// When, from the first packet.
    pub time_s: f64,
    /// Which of the flows, by its place in their list, from 0.
    pub flow: usize,
    /// The round-trip time, ns.
    pub rtt_ns: u64,
    /// Whether it came from timestamps; else from sequence numbers.
    pub from_timestamps: bool,
}

/// All that `--rtt` finds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RoundTripReport {
    /// By aggregate.
    pub aggregates: Vec<AggregateRoundTrip>,
    /// By flow, most segments first.
    pub flows: Vec<FlowRoundTrip>,
    /// Flows with data whose ACKs were not seen.
    pub unanswered_flows: u64,
    /// Every sample in order; `None` if they were not asked for.
    pub samples: Option<Vec<SampleRow>>,
}

/// Names of what was numbered.
pub(super) struct Names<'a> {
    pub(super) flows: &'a FlowTable,
    pub(super) stages: &'a [StageSpec],
}

impl Names<'_> {
    pub(super) fn flow(&self, flow: FlowId) -> FlowKey {
        self.flows.key(flow.0).expect("it was numbered")
    }

    /// What an instance of a conditioner is for; `None` for all that the conditioner takes.
    pub(super) fn shared(&self, shared: &Shared) -> Option<String> {
        match *shared {
            Shared::Everything => None,
            Shared::Flow(flow) => Some(flow_name(&self.flow(flow))),
            Shared::Pair(source, destination) => Some(format!("{source} > {destination}")),
            Shared::Source(source) => Some(format!("from {source}")),
            Shared::Destination(destination) => Some(format!("to {destination}")),
            Shared::Class(protocol, port) => Some(format!("protocol {protocol} to port {port}")),
        }
    }

    fn aggregate(&self, it: &Aggregate) -> String {
        let conditioner = it.place.map(|place| self.stages[place].name.clone());
        [conditioner, self.shared(&it.shared)].into_iter().flatten().collect::<Vec<_>>().join(": ")
    }
}

impl RoundTripReport {
    pub(super) fn new(trips: RoundTrips, names: &Names<'_>) -> Self {
        let mut seen: Vec<(FlowId, &FlowTrips)> = (0..).map(FlowId).zip(&trips.flows).collect();
        seen.retain(|(_, it)| it.measured.segments > 0);
        // stable: of equals the one that was seen first comes first
        seen.sort_by_key(|(_, it)| std::cmp::Reverse(it.measured.segments));
        let flows: Vec<_> = seen.iter().map(|(flow, it)| flow_row(&names.flow(*flow), it, names)).collect();
        let aggregates = trips.aggregates.iter().map(|(key, measured)| {
            let flows = seen.iter().filter(|(_, it)| it.aggregate == Some(*key)).count() as u64;
            AggregateRoundTrip { name: names.aggregate(key), flows, measured: row(measured) }
        });
        let aggregates = aggregates.collect();
        let place = |flow: FlowId| seen.iter().position(|(it, _)| *it == flow).expect("it has a sample");
        let samples = trips.samples.map(|all| all.iter().map(|it| sample_row(it, place(it.flow))).collect());
        let unanswered_flows = flows.iter().filter(|it| !it.answered).count() as u64;
        Self { aggregates, flows, unanswered_flows, samples }
    }

    pub(super) fn warnings(&self) -> Vec<String> {
        if self.flows.is_empty() {
            return vec![
                "no TCP segment with data in the capture: round-trip times and windows are known for TCP only".into(),
            ];
        }
        let (it, voided) = (self.unanswered_flows, self.voided());
        let stepped = (voided > 0).then(|| {
            format!(
                "{} void: the capture's clock stepped back while {} measured",
                counted(voided, ["round-trip time is", "round-trip times are"]),
                if voided == 1 { "it was" } else { "they were" }
            )
        });
        let warning = format!(
            "the capture has no ACKs of {it} of {} TCP flows: their round-trip time is unknown and their window only grows; \
             capture both directions at one place",
            self.flows.len()
        );
        (it > 0).then_some(warning).into_iter().chain(stepped).collect()
    }

    /// Round-trip times of all flows that the capture's clock voided by stepping back.
    pub fn voided(&self) -> u64 {
        self.flows.iter().map(|it| it.measured.voided_samples).sum()
    }
}

fn flow_row(key: &FlowKey, it: &FlowTrips, names: &Names<'_>) -> FlowRoundTrip {
    let ports = key.ports.expect("TCP");
    FlowRoundTrip {
        source: key.source,
        destination: key.destination,
        source_port: ports.source,
        destination_port: ports.destination,
        aggregate: it.aggregate.map(|it| names.aggregate(&it)),
        answered: it.answered,
        measured: row(&it.measured),
        window_segments: it.window,
    }
}

fn row(it: &Measured) -> MeasuredRow {
    let samples = it.from_numbers + it.from_timestamps;
    MeasuredRow {
        segments: it.segments,
        repeats: it.repeats,
        timeouts: it.timeouts,
        samples,
        samples_from_timestamps: it.from_timestamps,
        voided_samples: it.voided,
        min_rtt_s: it.trip.least(),
        mean_rtt_s: (samples > 0).then(|| it.sum_ns as f64 / 1e9 / samples as f64),
        max_rtt_s: (samples > 0).then(|| it.longest.seconds()),
        smoothed: SmoothedRow {
            smoothed_rtt_s: it.trip.smoothed(),
            rtt_variation_s: it.trip.variation(),
            rto_s: it.trip.timeout(LEAST_TIMEOUT),
        },
        largest_window_segments: it.most,
    }
}

fn sample_row(it: &Sample, flow: usize) -> SampleRow {
    SampleRow {
        packet: it.packet,
        time_s: it.at.seconds(),
        flow,
        rtt_ns: it.rtt.ns(),
        from_timestamps: it.evidence == Evidence::Stamps,
    }
}
