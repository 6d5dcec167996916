//! `perhop mark` and `perhop meter`: a capture through the conditioners of an edge.
//!
//! The edge is perhop-edge's, with the conditioners that simulated ports have; a capture written at a simulated port and
//! sent through with the same conditioners and seed gets the same colours packet for packet. Time is the capture's own, see
//! [`Origin`]. A packet arrives with the colour that its AF code point implies, and leaves with the code point of its
//! colour's action. If the policy says so its label arrives and leaves in the IPv6 flow label.
//!
//! A `match.rtt` takes a flow from the end of its handshake, see [`perhop_edge::handshake`]: that is the whole round trip,
//! measured once. What an edge measures continuously from a flow's data, from here to the receiver and back, is reported
//! on request ([`RoundTripsOf`]).
//!
//! With a [`Marking::flow_timeout`] the conditioners forget flows that are silent for longer; what was counted of them stays.
//!
//! Packets without a readable IP header or without a time pass unchanged and are counted by reason.

mod bursts;
mod by;
mod clock;
mod codes;
mod demand;
mod error;
#[cfg(not(target_family = "wasm"))]
mod files;
mod flow_row;
mod gaps;
mod ledger;
mod load;
mod marker;
mod marking;
mod owed;
mod packed;
mod queue_report;
mod queueing;
mod rate_report;
mod rates;
mod records;
mod report;
mod round_trip_report;
mod rows;
mod second;
mod statistics;
mod total;
mod twice;
mod volume;

use std::io::{Read, Write};

use perhop_core::conditioner::{Conditioner as _, Writes};
use perhop_core::fault;
use perhop_core::port::edge::StageSpec;

use crate::error::CaptureError;
use crate::file::Capture;
use crate::pump::Pump;
use marker::Marker;

pub use by::{By, Group, Groups};
pub use clock::Origin;
pub use error::{MarkError, Unchanged};
#[cfg(not(target_family = "wasm"))]
pub use files::{Output, mark, meter};
pub use flow_row::{EcnRow, Fates, FlowCodePointRow, FlowCodes, FlowRates, FlowRow};
pub use gaps::GapsReport;
pub use marking::{Marking, RoundTripsOf};
pub use perhop_edge::Behind;
pub use queue_report::{DropRow, LineReport, QueueClassRow, QueueFlowRow, QueueReport, QueueRow, WaitRow};
pub use rate_report::{BurstRow, ContractRow, ExcessRow, When};
pub use report::{
    CaptureReport, CodePointRow, CodesReport, ColourRow, ConditionerReport, CopiesReport, Directions, Flaws,
    LabelReport, LoadReport, Report, RttReport, TallyRow,
};
pub use round_trip_report::{AggregateRoundTrip, FlowRoundTrip, MeasuredRow, RoundTripReport, SampleRow, SmoothedRow};
pub use rows::{ContractRows, FlowRows};
pub use second::{ExcessBucketReport, PeakReport};
pub use total::{Part, Total};
pub use volume::Volume;

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
    fault::take(); // what came before on this thread is not ours
    let tally = pump.run(capture, output, |record| Ok::<_, CaptureError>(marker.visit(record)))?;
    marker.finish();
    if let Some(fault) = fault::take() {
        return Err(MarkError::Algorithm(fault));
    }
    let report = Report::new(marker, &tally);
    match (report.ip_packets(), report.flaws.untimed) {
        _ if pump.has_ended() => Ok(report),
        (0, 0) => Err(MarkError::NoIp { packets: report.capture.packets, reasons: report.flaws.unchanged }),
        (0, packets) => Err(MarkError::NoTime { packets }),
        (packets, _) if report.is_empty() => Err(MarkError::NoTcp { packets }),
        _ => Ok(report),
    }
}

/// Whether no conditioner changes packets: none drops or sets a code point, none writes a label that is carried. `mark`
/// would copy the capture unchanged.
pub fn changes_nothing(marking: &Marking) -> bool {
    let idle = |stage: &StageSpec| match stage.params.build(&stage.scope) {
        Ok(conditioner) if conditioner.writes() != Writes::Colour => marking.flow_label.is_none(),
        _ => !stage.actions.iter().any(|action| action.shows()),
    };
    marking.stages.iter().all(idle)
}
