//! Round-trip times and windows of TCP.

use super::printout::{Printout, Rows, ms};
use crate::tables::column::{Unit, measure, name, total};
use crate::tables::columns::{Columns, Made};
use perhop_capture::mark::{AggregateRoundTrip, FlowRoundTrip, RoundTripReport, SampleRow};

/// A row for each aggregate.
pub(super) fn aggregates(rows: &[&AggregateRoundTrip]) -> Made {
    let doc = "the conditioner, and what its instance is for; without a policy, the pair of addresses";
    Columns::of("round_trips_aggregates", &["name"], rows)
        .label(name("name", doc).printed("aggregate"), |r| r.name.clone())
        .integer(total("flows", Unit::None, "its flows"), |r| r.flows)
        .measured(|r| &r.measured)
        .made()
}

/// A row for each flow with data.
pub(super) fn flows(rows: &[&FlowRoundTrip]) -> Made {
    let keys = &["source", "destination", "source_port", "destination_port"];
    let aggregate =
        "its aggregate; null for return traffic in a policy with `inside`, and for what no conditioner takes";
    let answered = "1 if its ACKs were seen; if not (0), there is no round-trip time, and windows only grow";
    let window = "segments in flight when its last segment passed, that one included";
    Columns::of("round_trips_flows", keys, rows)
        .text("source", "address of the sender of the data", |r| r.source.to_string())
        .text("destination", "destination address", |r| r.destination.to_string())
        .number("source_port", "source port", |r| u64::from(r.source_port))
        .number("destination_port", "destination port", |r| u64::from(r.destination_port))
        .text("aggregate", aggregate, |r| r.aggregate.clone())
        .integer(measure("answered", Unit::None, answered), |r| u64::from(r.answered))
        .measured(|r| &r.measured)
        .integer(measure("window_segments", Unit::None, window).printed("window"), |r| u64::from(r.window_segments))
        .made()
}

/// A row for each sample, in order.
pub(super) fn samples(rows: &[&SampleRow]) -> Made {
    let stamps = "1 if it came from TCP timestamps, 0 if from sequence numbers";
    Columns::of("round_trips_samples", &[], rows)
        .number("packet", "number in the capture of the packet that closed it, from 1", |r| r.packet)
        .real(measure("time_s", Unit::S, "time of that packet after time zero"), |r| r.time_s)
        .number("flow", "place of the flow in `round_trips_flows`, from 0", |r| r.flow as u64)
        .integer(measure("rtt_ns", Unit::Ns, "the round-trip time"), |r| r.rtt_ns)
        .integer(measure("from_timestamps", Unit::None, stamps), |r| u64::from(r.from_timestamps))
        .made()
}

/// Aggregates, flows, and how many times are void.
pub(super) fn text(report: &RoundTripReport, most: usize) -> [String; 3] {
    let rows: Vec<_> = report.aggregates.iter().take(most).collect();
    let table = of_trips(Printout::of(&aggregates(&rows)).columns(&["name", "flows"])).text(1);
    let title = "TCP round-trip times, ms: from the capture point to the receiver of the data and back";
    let of_aggregates = Rows { all: report.aggregates.len(), most }.limited(table, "aggregates", title);
    let rows: Vec<_> = report.flows.iter().take(most).collect();
    let names = rows.iter().map(|row| row.name());
    let table = of_trips(Printout::of(&flows(&rows)).cells("flow", names).columns(&["window_segments"])).text(1);
    let of_flows = Rows { all: report.flows.len(), most }.limited(table, "flows", "");
    let voided = match report.voided() {
        0 => String::new(),
        voided => format!("void, as the clock stepped back: {voided} of the round-trip times"),
    };
    [of_aggregates, of_flows, voided]
}

fn of_trips(printout: Printout<'_>) -> Printout<'_> {
    let times = ["min_rtt_s", "mean_rtt_s", "smoothed_rtt_s", "rtt_variation_s", "rto_s"];
    let printout = printout.columns(&["samples", "samples_from_timestamps"]);
    let printout = times.iter().fold(printout, |all, time| all.form(time, ms));
    printout.columns(&["largest_window_segments", "segments", "repeats", "timeouts"])
}
