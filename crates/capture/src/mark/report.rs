//! What a run over a capture found, ready for JSON.

use std::sync::Arc;

use perhop_core::count::Count;
use perhop_core::packet::{Colour, FlowId};
use perhop_core::port::edge::{ColourMatrix, StageSpec};
use perhop_core::units::counted;
use perhop_edge::{Handshakes, LabelCounts, Labels};
use serde::Serialize;

use super::by::{By, Groups};
use super::demand::Demand;
use super::error::Unchanged;
use super::flow_row::{EcnRow, name_of};
use super::gaps::GapsReport;
use super::ledger::{ETHERNET_MTU, Ledger};
use super::marker::Marker;
use super::queue_report::{Line, QueueReport, class_rows};
use super::rate_report::{self, BurstRow};
use super::records::Records;
use super::round_trip_report::{Names, RoundTripReport};
use super::rows::{ContractRows, Counted, FlowRows};
use super::second::{ExcessBucketReport, PeakReport, Second};
use super::statistics::Statistics;
use super::twice::{Twice, WITHIN};
use super::volume::{Volume, over};
use crate::pump::Tally;

/// Packets that came with one colour and left with another, or were dropped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ColourRow {
    /// Colour on arrival: what the AF code point said, else `unmarked`.
    pub before: &'static str,
    /// Colour on leaving, or `dropped`.
    pub after: &'static str,
    /// How many.
    #[serde(flatten)]
    pub volume: Volume,
}

/// A total of a conditioner, over all its instances.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TallyRow {
    /// What was counted.
    pub quantity: &'static str,
    /// How many.
    pub total: u64,
}

/// One conditioner of the policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ConditionerReport {
    /// Its name in the policy.
    pub name: String,
    /// Its kind.
    pub kind: &'static str,
    /// Colours in and out; rows without packets are omitted.
    pub colours: Vec<ColourRow>,
    /// Totals that it keeps itself, such as tags beyond their codes.
    pub tallies: Vec<TallyRow>,
    /// Committed rate, if it has one.
    pub cir_bit_s: Option<u64>,
    /// Committed burst, if it has one.
    pub cbs_bytes: Option<u64>,
    /// The smallest burst at which, at that rate, every packet it took would conform (in the sense of RFC 2697); with
    /// several instances (`per`), of the one that needs most. `None` without a rate, without packets, or for a labeller.
    pub conforming_cbs_bytes: Option<u64>,
    /// Packets larger than `cbs`: they can never be green.
    pub packets_larger_than_cbs: u64,
    /// Its peak bucket, if it has one.
    #[serde(flatten)]
    pub peak: PeakReport,
    /// Its excess bucket, if it has one with a rate.
    #[serde(flatten)]
    pub excess: ExcessBucketReport,
}

/// Forward packets of one code point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CodePointRow {
    /// Its name, or its number.
    pub name: String,
    /// Its number.
    pub dscp: u8,
    /// Packets that came with it.
    pub before: Volume,
    /// Packets that left with it.
    pub after: Volume,
    /// ECN of those that came with it.
    pub ecn: EcnRow,
}

/// Labels in IPv6 flow labels, in packets of both directions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LabelReport {
    /// What they carry: `tickets` or `rate`.
    pub carried: &'static str,
    /// Came with a label.
    pub came: u64,
    /// Came with a flow label that is not a tag, and counted as having none.
    pub foreign: u64,
    /// Left with a label in their flow label.
    pub left: u64,
    /// Of those: with another flow label than they came with.
    pub changed: u64,
    /// Of those that left: the label was beyond the codes, and the nearest code was written.
    pub saturated: u64,
    /// Left without the label they were given, which IPv4 cannot carry.
    pub no_room: u64,
}

/// What is known about round-trip times, if a match asks for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RttReport {
    /// Forward flows whose whole handshake was seen.
    pub known_flows: u64,
    /// Forward flows without: no class of round-trip times took them.
    pub unknown_flows: u64,
}

/// A capture, and how it was metered.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CaptureReport {
    /// Packets of the capture.
    pub packets: u64,
    /// The sum of their original lengths, link headers included.
    pub original_bytes: u64,
    /// Bytes counted beyond the IP length of each packet.
    pub overhead_bytes: u32,
    /// Seed of the conditioners' random streams.
    pub seed: u64,
    /// Time zero of the meters, in ns since 1970: the first packet's time, or 0 (see [`super::Origin`]).
    pub time_zero_ns: Option<u64>,
    /// The first packet that has a time, in seconds after time zero: 0, unless that is the capture's own.
    pub first_packet_s: Option<f64>,
    /// From the first to the last time of the capture; `None` without times.
    pub duration_s: Option<f64>,
    /// Forward traffic over that duration; `None` where it is 0.
    pub offered_bit_s: Option<f64>,
    /// Silence after which flows were forgotten; absent if none was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow_timeout_s: Option<f64>,
    /// How often a flow was silent for longer, and forgotten.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expired_flows: Option<u64>,
    /// Packets that the capture holds twice.
    #[serde(flatten)]
    pub twice: CopiesReport,
    /// The capture that was written, by `mark`.
    pub output: Option<String>,
}

/// Packets that a capture holds twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CopiesReport {
    /// The copies, of those that were compared with others.
    pub copies: u64,
    /// IP packets that were: the first 4,096 of the capture and an eighth of the rest; with `once` all.
    pub compared: u64,
    /// Whether copies were left out, of all counts and of the output.
    pub once: bool,
}

/// Forward packets by what their headers said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CodesReport {
    /// By code point.
    pub code_points: Vec<CodePointRow>,
    /// By ECN, as they came.
    pub ecn: EcnRow,
}

/// Packets by direction and fate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Directions {
    /// Packets that reached the conditioners.
    pub forward: Volume,
    /// Packets of the other direction, passed unchanged.
    pub reverse: Volume,
    /// Forward packets that were dropped.
    pub dropped: Volume,
}

/// Irregularities of a capture.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Flaws {
    /// Packets that could not be metered, by reason.
    pub unchanged: Vec<Unchanged>,
    /// IP packets among them, for lack of a timestamp.
    pub untimed: u64,
    /// Packets with a timestamp earlier than a preceding one; they were metered at the largest time seen.
    pub out_of_order: u64,
    /// The largest step back among those.
    pub largest_step_back_ns: u64,
    /// Times without packets that are longer than a minute; `None` without.
    pub gaps: Option<GapsReport>,
    /// Where the capture is truncated, if `--partial` accepted that, or a signal ended it there.
    pub cut_off: Option<String>,
}

/// Everything a run over a capture found. Bytes are as meters count them, unless stated otherwise.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The capture, and how it was metered.
    #[serde(flatten)]
    pub capture: CaptureReport,
    /// Packets by direction and fate.
    #[serde(flatten)]
    pub directions: Directions,
    /// By conditioner, in the policy's order.
    pub conditioners: Vec<ConditionerReport>,
    /// Forward packets that no conditioner coloured, by colour on arrival.
    pub unmatched: Vec<ColourRow>,
    /// Forward packets by code point and ECN.
    #[serde(flatten)]
    pub codes: CodesReport,
    /// Labels in flow labels; `None` if the policy does not carry them there.
    pub labels: Option<LabelReport>,
    /// Round-trip times; `None` if no match asks for them.
    pub rtt: Option<RttReport>,
    /// Round-trip times and windows of TCP; `None` if they were not asked for.
    pub round_trips: Option<RoundTripReport>,
    /// Contracts, bursts and the queue.
    #[serde(flatten)]
    pub load: LoadReport,
    /// By flow, most bytes first.
    pub flows: FlowRows,
    /// Irregularities of the capture.
    #[serde(flatten)]
    pub flaws: Flaws,
    /// What the user should know, in sentences.
    pub warnings: Vec<String>,
}

/// What was offered against what was agreed, how unevenly, and what a queue made of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LoadReport {
    /// Conditioners' instances that have a committed rate, most excess first.
    pub contracts: ContractRows,
    /// The largest bursts by width; `None` if they were not asked for.
    pub bursts: Option<Vec<BurstRow>>,
    /// The queue behind the conditioners; `None` without one.
    pub queue: Option<QueueReport>,
}

impl Report {
    pub(super) fn new(marker: Marker, tally: &Tally) -> Self {
        let Marker { host, statistics, marking, clock, twice, .. } = marker;
        let Twice { packets: copies, compared, .. } = twice;
        let Statistics { mut ledger, demands, rates, bursts, queueing, round_trips, .. } = statistics;
        let edge = host.port().edge();
        let duration_s = tally.span_ns.map(|(first, last)| (last - first) as f64 / 1e9);
        let stages = marking.stages.iter().zip(edge.counts()).zip(&demands);
        let conditioners = stages.map(|((spec, it), demand)| conditioner(spec, it.counts, demand));
        let mut conditioners: Vec<_> = conditioners.collect();
        edge.tallies(&mut |name, quantity, total| {
            let of_name = conditioners.iter_mut().filter(|it| it.name == name);
            of_name.for_each(|it| it.tallies.push(TallyRow { quantity, total }));
        });
        let (labels, expired_flows) = (label_report(host.labels()), host.expired());
        let rtt = host.handshakes().map(|it| rtt_report(it, &rates.flows));
        let classes = class_rows(host.port());
        let flows = host.into_flows();
        let (queue, stages) = (marking.queue, marking.stages);
        let codes = std::mem::take(&mut ledger.codes);
        let octets = ledger.octets.concat();
        let counted = Arc::new(Counted { flows, rates, codes, octets, stages, demands, duration_s });
        let names = Names { flows: &counted.flows, stages: &counted.stages };
        let mut report = Self {
            capture: CaptureReport {
                packets: tally.packets,
                original_bytes: tally.original_bytes,
                overhead_bytes: marking.accounting.overhead(),
                seed: marking.seed,
                time_zero_ns: clock.zero_ns(),
                first_packet_s: clock.first().map(|first| first.seconds()),
                duration_s,
                offered_bit_s: over(ledger.forward.bytes, duration_s),
                flow_timeout_s: marking.flow_timeout.map(|it| it.seconds()),
                expired_flows,
                twice: CopiesReport { copies, compared, once: marking.once },
                output: None,
            },
            directions: Directions {
                forward: ledger.forward.into(),
                reverse: ledger.reverse.into(),
                dropped: ledger.dropped.into(),
            },
            conditioners,
            unmatched: unmatched(&ledger),
            codes: CodesReport {
                code_points: code_points(&ledger),
                ecn: (0..64).map(|dscp| ecn_of(ledger.before(dscp))).sum(),
            },
            labels,
            rtt,
            round_trips: round_trips.map(|it| RoundTripReport::new(it, &names)),
            load: LoadReport {
                contracts: ContractRows::new(counted.clone()),
                bursts: bursts.map(|it| rate_report::bursts(&it, &names)),
                queue: queueing.zip(queue.as_ref()).map(|(it, behind)| {
                    let link = Line { behind, duration_s };
                    QueueReport::new(&it, link, classes, &names)
                }),
            },
            flows: FlowRows::new(counted.clone()),
            flaws: Flaws {
                unchanged: unchanged(&ledger),
                untimed: ledger.untimed,
                out_of_order: tally.out_of_order,
                largest_step_back_ns: tally.largest_step_back_ns,
                gaps: GapsReport::new(&tally.gaps, &clock),
                cut_off: tally.truncated.map(|cut| cut.to_string()),
            },
            warnings: Vec::new(),
        };
        report.warnings = report.find_warnings(&ledger, &counted.demands);
        report
    }

    /// Its packets in groups.
    pub fn groups(&self, by: By) -> Groups {
        Groups::of(&self.flows.counted, by)
    }

    /// IP packets that were metered or passed as reverse.
    pub(super) fn ip_packets(&self) -> u64 {
        self.directions.forward.packets + self.directions.reverse.packets
    }

    /// Whether only round-trip times were asked for, and nothing has any.
    pub(super) fn is_empty(&self) -> bool {
        self.conditioners.is_empty()
            && self.load.bursts.is_none()
            && self.round_trips.as_ref().is_some_and(|it| it.flows.is_empty())
    }

    fn find_warnings(&self, ledger: &Ledger, demands: &[Demand]) -> Vec<String> {
        let mut found = Vec::new();
        for (it, demand) in self.conditioners.iter().zip(demands) {
            if it.colours.is_empty() {
                found.push(format!(
                    "no packet reached conditioner `{}`: check its `match`, and those before it",
                    it.name
                ));
            }
            if let (Some(cbs), 1..) = (it.cbs_bytes, it.packets_larger_than_cbs) {
                found.push(format!(
                    "conditioner `{}`: {} larger than the bucket ({cbs} B) can never be green; the largest counts {} B",
                    it.name,
                    counted(it.packets_larger_than_cbs, ["packet", "packets"]),
                    demand.largest
                ));
            }
        }
        if ledger.long > 0 {
            found.push(format!(
                "{} longer than {ETHERNET_MTU} B (up to {} B): unless the link takes such packets, the capture \
                 was made before segmentation or after merging, and bursts on the wire differed; capture with `ethtool -K DEV tso off gso off gro off`",
                counted(ledger.long, ["IP packet is", "IP packets are"]), ledger.longest
            ));
        }
        found.extend(self.labels.iter().flat_map(LabelReport::warnings));
        found.extend(self.rtt.and_then(RttReport::warning));
        found.extend(self.round_trips.iter().flat_map(RoundTripReport::warnings));
        found.extend(self.load.queue.iter().flat_map(QueueReport::warnings));
        found.extend(self.copies_warning());
        found.extend(self.time_warnings());
        if self.ip_packets() > 0 && self.directions.forward.packets == 0 {
            found.push("no packet goes from inside to outside: check `inside` in [policy]".into());
        }
        found.extend(self.flaws.cut_off.clone());
        found
    }

    fn copies_warning(&self) -> Option<String> {
        let CopiesReport { copies, compared, once } = self.capture.twice;
        (copies > 0 && !once).then(|| {
            format!(
                "{copies} of {} a copy of one at most {} us before (a mirror of both directions, or `-i any`?): they count \
                 twice; --once takes each once",
                counted(compared, ["packet compared is", "packets compared are"]),
                WITHIN.ns() / 1000
            )
        })
    }

    fn time_warnings(&self) -> Vec<String> {
        let mut found = Vec::new();
        if self.flaws.out_of_order > 0 {
            found.push(format!(
                "{} a timestamp earlier than a preceding one, by up to {} s: metered at the largest time \
                 seen; `reordercap` sorts a capture",
                counted(self.flaws.out_of_order, ["packet has", "packets have"]),
                self.flaws.largest_step_back_ns as f64 / 1e9
            ));
        }
        found.extend(self.flaws.gaps.and_then(|it| it.warning(self.capture.duration_s)));
        if self.flaws.untimed > 0 {
            found.push(format!(
                "{} no timestamp: passed unmetered",
                counted(self.flaws.untimed, ["IP packet has", "IP packets have"])
            ));
        }
        found
    }
}

impl LabelReport {
    fn warnings(&self) -> Vec<String> {
        let mut found = Vec::new();
        if self.foreign > 0 {
            found.push(format!(
                "{} came with a flow label that is not a tag of this policy: counted as having none; hosts set \
                 their own flow labels, so all of a domain's ingresses have to write or clear them",
                counted(self.foreign, ["packet", "packets"])
            ));
        }
        if self.no_room > 0 {
            found.push(format!(
                "{} IPv4, which has no flow label: the output does not carry it",
                counted(self.no_room, ["packet got a label but is", "packets got a label but are"])
            ));
        }
        if self.saturated > 0 {
            found.push(format!(
                "{} beyond the codes of flow-label = \"{}\": the nearest code was written",
                counted(self.saturated, ["label is", "labels are"]),
                self.carried
            ));
        }
        found
    }
}

impl RttReport {
    fn warning(self) -> Option<String> {
        let Self { known_flows, unknown_flows } = self;
        (unknown_flows > 0).then(|| {
            format!(
                "{unknown_flows} of {} no known round-trip time, so no `match.rtt` took them: their handshake is not \
                 in the capture in both directions, or had repeats, or they are not TCP",
                counted(known_flows + unknown_flows, ["flow has", "flows have"])
            )
        })
    }
}

fn rtt_report(handshakes: &Handshakes, records: &Records) -> RttReport {
    let forward = |flow: &FlowId| records.count(*flow).packets > 0 && !records.is_reverse(*flow);
    let flows = (0..records.len() as u32).map(FlowId).filter(forward);
    let (known, unknown): (Vec<_>, Vec<_>) = flows.partition(|flow| handshakes.rtt(*flow).is_some());
    RttReport { known_flows: known.len() as u64, unknown_flows: unknown.len() as u64 }
}

fn label_report(labels: &Labels) -> Option<LabelReport> {
    let LabelCounts { came, foreign, left, changed, saturated, no_room } = labels.counts;
    let carried = labels.encoding.as_ref()?.carried().name();
    Some(LabelReport { carried, came, foreign, left, changed, saturated, no_room })
}

fn conditioner(spec: &StageSpec, counts: &ColourMatrix, demand: &Demand) -> ConditionerReport {
    ConditionerReport {
        name: spec.name.clone(),
        kind: spec.params.name(),
        colours: colour_rows(counts),
        tallies: Vec::new(),
        cir_bit_s: demand.cir.map(|cir| cir.bit_s()),
        cbs_bytes: demand.cbs.map(|cbs| cbs.get()),
        conforming_cbs_bytes: demand.conforming_cbs(),
        packets_larger_than_cbs: demand.larger_than_cbs,
        peak: demand.second.as_ref().map(Second::peak).unwrap_or_default(),
        excess: demand.second.as_ref().map(Second::excess).unwrap_or_default(),
    }
}

fn colour_rows(counts: &ColourMatrix) -> Vec<ColourRow> {
    let after = Colour::ALL.map(Colour::name).into_iter().chain(["dropped"]);
    let row = |before: Colour| {
        let cells = after.clone().zip(counts[before.index()]);
        cells.map(move |(after, count)| ColourRow { before: before.name(), after, volume: count.into() })
    };
    Colour::ALL.into_iter().flat_map(row).filter(|row| row.volume.packets > 0).collect()
}

fn unmatched(ledger: &Ledger) -> Vec<ColourRow> {
    let row = |colour: Colour| {
        let volume = ledger.unmatched[colour.index()].into();
        ColourRow { before: colour.name(), after: colour.name(), volume }
    };
    Colour::ALL.into_iter().map(row).filter(|row| row.volume.packets > 0).collect()
}

fn code_points(ledger: &Ledger) -> Vec<CodePointRow> {
    let row = |dscp: u8| {
        let (came, after) = (ledger.before(dscp), ledger.after[usize::from(dscp)].into());
        let mut before = Volume::default();
        came.iter().for_each(|count| before.add((*count).into()));
        CodePointRow { name: name_of(dscp), dscp, before, after, ecn: ecn_of(came) }
    };
    (0..64).map(row).filter(|row| row.before.packets + row.after.packets > 0).collect()
}

/// Packets of the four values of ECN's bits.
fn ecn_of(counts: &[Count]) -> EcnRow {
    EcnRow::new(std::array::from_fn(|bits| counts[bits].packets))
}

fn unchanged(ledger: &Ledger) -> Vec<Unchanged> {
    let unread =
        ledger.unread.iter().map(|(reason, packets)| Unchanged { reason: reason.to_string(), packets: *packets });
    let untimed = (ledger.untimed > 0).then(|| Unchanged { reason: "no timestamp".into(), packets: ledger.untimed });
    unread.chain(untimed).collect()
}
