//! `perhop mark` and `perhop meter`: a capture through the conditioners of an edge.
//!
//! The edge is perhop-core's, the one that simulated ports have; a capture written at a simulated port and sent through
//! with the same conditioners and seed gets the same colours packet for packet. Time is the capture's own, see [`Origin`].
//! A packet comes with the colour that its AF code point states, and leaves with the code point of its colour's action.
//! Where the policy says so its label comes and leaves in the IPv6 flow label.
//!
//! A `match.rtt` takes a flow from the end of its handshake on, see [`handshake`]: that is the whole round trip, once. What
//! an edge measures of a flow's data as it goes on, from here to the receiver and back, is reported where it is asked for
//! ([`RoundTripsOf`]).
//!
//! Packets without a readable IP header or without a time pass unchanged and are counted by reason.

mod clock;
mod demand;
mod handshake;
mod labels;
mod ledger;
mod marker;
mod report;
mod round_trip_report;
mod round_trips;
mod table;

use std::io::{Read, Write};
use std::path::Path;

use perhop_core::classify::Prefix;
use perhop_core::conditioner::Writes;
use perhop_core::edge::{Action, StageSpec};
use perhop_core::flow_label::Encoding;
use thiserror::Error;

use crate::error::CaptureError;
use crate::file::Capture;
use crate::output::OutputFile;
use crate::pump::Pump;
use marker::Marker;

pub use clock::Origin;
pub use report::{
    CodePointRow, ColourRow, ConditionerReport, FlowRow, LabelReport, Report, RttReport, TallyRow, Unchanged, Volume,
};
pub use round_trip_report::{AggregateRoundTrip, FlowRoundTrip, MeasuredRow, RoundTripReport, SampleRow};

/// What is asked of a capture beside its colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RoundTripsOf {
    /// Nothing.
    #[default]
    Nobody,
    /// Round-trip times and windows of flows and aggregates.
    Flows,
    /// The same with a list of all samples.
    Samples,
}

/// What is done to a capture: a policy, checked.
#[derive(Clone, Debug, Default)]
pub struct Marking {
    /// Conditioners in the policy's order.
    pub stages: Vec<StageSpec>,
    /// Bytes that meters count beyond the IP length (`accounting`): 0, or an Ethernet header of 14 bytes and what may
    /// surround it. In the latter case the VLAN tags that a captured Ethernet header has count too; padding never does.
    pub overhead: u32,
    /// Forward is from these prefixes to any other address; all else is reverse. Without prefixes all is forward.
    pub inside: Vec<Prefix>,
    /// How IPv6 flow labels carry labels; `None`: they are neither read nor written.
    pub flow_label: Option<Encoding>,
    /// With each conditioner's name it keys a random stream, as in replication 0 of a run.
    pub seed: u64,
    /// Where time zero lies.
    pub origin: Origin,
    /// Round-trip times and windows of TCP.
    pub round_trips: RoundTripsOf,
}

/// Why a capture could not be marked. Nothing was written.
#[derive(Debug, Error)]
pub enum MarkError {
    /// Of reading or writing.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// Parameters that the conditioner refuses; a checked policy has none.
    #[error("[conditioner.{name}]: {error}")]
    Conditioner {
        /// Its name.
        name: String,
        /// The parameter at fault and its bound.
        error: String,
    },
    /// No packet with an IP header that can be read.
    #[error("no IP packet in the capture ({packets} packets{}): there is nothing to meter; check what was captured", list(.reasons))]
    NoIp {
        /// Packets of the capture.
        packets: u64,
        /// Why they could not be read.
        reasons: Vec<Unchanged>,
    },
    /// Round-trip times alone were asked for, and nothing has any.
    #[error(
        "no TCP segment among the capture's {packets} IP packets: round-trip times and windows are measured of TCP, from data and their ACKs; capture TCP in both directions, or give a policy"
    )]
    NoTcp {
        /// IP packets of the capture.
        packets: u64,
    },
    /// All IP packets are in Simple Packet Blocks.
    #[error(
        "none of the capture's {packets} IP packets has a timestamp (Simple Packet Blocks): meters need the time; capture with a tool that writes it, such as tcpdump or dumpcap"
    )]
    NoTime {
        /// IP packets of the capture.
        packets: u64,
    },
}

fn list(reasons: &[Unchanged]) -> String {
    reasons.iter().map(|it| format!("; {}: {}", it.reason, it.packets)).collect()
}

/// Sends the capture `input` through `marking` and writes it to `output`, which may be the same file.
///
/// # Errors
/// See [`MarkError`]. On any error what stood under the name `output` is untouched.
pub fn mark(input: &Path, output: &Path, marking: Marking, pump: &Pump<'_>) -> Result<Report, MarkError> {
    let mut capture = Capture::open(input)?;
    let mut file = OutputFile::create(output)?;
    let report = run(marking, &mut capture, Some(&mut file), pump)?;
    file.finish()?;
    Ok(report)
}

/// The same without an output.
///
/// # Errors
/// See [`MarkError`].
pub fn meter(input: &Path, marking: Marking, pump: &Pump<'_>) -> Result<Report, MarkError> {
    run(marking, &mut Capture::open(input)?, None, pump)
}

/// What `mark` and `meter` share, on any reader and writer. The caller discards the output after an error.
///
/// # Errors
/// See [`MarkError`].
pub fn run<R: Read>(
    marking: Marking,
    capture: &mut Capture<R>,
    output: Option<&mut dyn Write>,
    pump: &Pump<'_>,
) -> Result<Report, MarkError> {
    let mut marker = Marker::new(marking)?;
    let tally = pump.run(capture, output, |record| Ok::<_, CaptureError>(marker.visit(record)))?;
    let report = Report::new(marker, &tally);
    match (report.ip_packets(), report.untimed) {
        (0, 0) => Err(MarkError::NoIp { packets: report.packets, reasons: report.unchanged }),
        (0, packets) => Err(MarkError::NoTime { packets }),
        (packets, _) if report.is_empty() => Err(MarkError::NoTcp { packets }),
        _ => Ok(report),
    }
}

/// Whether no conditioner changes a packet: none has an action, none writes a label that is carried. `mark` would copy
/// the capture as it is.
pub fn changes_nothing(marking: &Marking) -> bool {
    let idle = |stage: &StageSpec| match stage.params.build(&stage.scope) {
        Ok(conditioner) if conditioner.writes() != Writes::Colour => marking.flow_label.is_none(),
        _ => stage.actions == [Action::Transmit; 4],
    };
    marking.stages.iter().all(idle)
}
