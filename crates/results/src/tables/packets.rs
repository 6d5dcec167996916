//! Columns that several tables of captures' reports have.

use super::column::{Unit, measure, total};
use super::columns::Columns;
use perhop_capture::mark::{EcnRow, MeasuredRow, Volume, When};

/// Names of the columns that say when packets came.
pub(crate) struct Times {
    /// What they begin with.
    pub(crate) before: &'static str,
    /// What the rate of the worst second is called.
    pub(crate) worst: &'static str,
}

impl<R> Columns<'_, R> {
    /// `packets` and `bytes`, as meters count these.
    pub(crate) fn volume(self, doc: &'static str, value: impl Fn(&R) -> Volume) -> Self {
        let bytes = total("bytes", Unit::Bytes, doc).printed("bytes").accounted();
        self.integer(total("packets", Unit::Packets, doc), |row| value(row).packets)
            .integer(bytes, |row| value(row).bytes)
    }

    /// When these packets came.
    pub(crate) fn when(self, of: &Times, value: impl Fn(&R) -> When) -> Self {
        let name = |of_all: &str| format!("{}{of_all}", of.before);
        let first =
            measure(name("first_s"), Unit::S, "time of the first of these packets after time zero; null without any");
        let last = measure(name("last_s"), Unit::S, "time of the last of them");
        let worst = "time at which the second with the most bytes begins";
        let bits = "rate of that second; of a capture shorter than a second, over its duration; null where that is 0";
        self.real(first.printed("from"), |row| value(row).first_s)
            .real(last.printed("to"), |row| value(row).last_s)
            .integer(measure(name("worst_second_s"), Unit::S, worst).printed("at"), |row| value(row).worst_second_s)
            .real(measure(name("worst_second_bit_s"), Unit::BitS, bits).printed(of.worst).accounted(), |row| {
                value(row).worst_second_bit_s
            })
    }

    /// Packets by ECN.
    pub(crate) fn ecn(self, value: impl Fn(&R) -> EcnRow) -> Self {
        let doc = "packets by ECN (RFC 3168) as they arrived";
        let of = |name: &'static str, printed: &'static str| total(name, Unit::None, doc).printed(printed);
        self.integer(of("ecn_not_ect", ECN[0]), |row| value(row).not_ect)
            .integer(of("ecn_ect0", ECN[1]), |row| value(row).ect0)
            .integer(of("ecn_ect1", ECN[2]), |row| value(row).ect1)
            .integer(of("ecn_ce", ECN[3]), |row| value(row).ce)
    }

    /// What was measured of round trips.
    pub(crate) fn measured(self, value: impl for<'a> Fn(&'a R) -> &'a MeasuredRow) -> Self {
        let count = |name: &'static str, doc| total(name, Unit::None, doc);
        let time = |name: &'static str, doc| measure(name, Unit::S, doc);
        let repeats =
            "of these, segments with nothing beyond the highest number seen: retransmissions, or out of order";
        let timeouts = "time-outs of the sender, as far as they can be recognised from outside";
        let stamps = "of these, round-trip times from TCP timestamps; the rest came from sequence numbers";
        let voided = "round-trip times measured while the capture's clock stepped back; they are in no other column";
        let smoothed = "SRTT at the end: gain 1/8 for a flow (RFC 6298), 0.02 for an aggregate";
        let variation = "RTTVAR at the end";
        let window = measure("largest_window_segments", Unit::None, "largest window of a flow, segments");
        self.integer(count("segments", "segments with data, SYN or FIN"), |row| value(row).segments)
            .integer(count("repeats", repeats), |row| value(row).repeats)
            .integer(count("timeouts", timeouts).printed("time-outs"), |row| value(row).timeouts)
            .integer(count("samples", "round-trip times measured"), |row| value(row).samples)
            .integer(count("samples_from_timestamps", stamps).printed("by stamps"), |row| {
                value(row).samples_from_timestamps
            })
            .integer(count("voided_samples", voided), |row| value(row).voided_samples)
            .real(time("min_rtt_s", "shortest round-trip time; null without samples").printed("min"), |row| {
                value(row).min_rtt_s
            })
            .real(time("mean_rtt_s", "their mean").printed("mean"), |row| value(row).mean_rtt_s)
            .real(time("max_rtt_s", "the longest").printed("max"), |row| value(row).max_rtt_s)
            .real(time("smoothed_rtt_s", smoothed).printed("SRTT"), |row| value(row).smoothed.smoothed_rtt_s)
            .real(time("rtt_variation_s", variation).printed("RTTVAR"), |row| value(row).smoothed.rtt_variation_s)
            .real(time("rto_s", "max(0.2 s, SRTT + 4 RTTVAR)").printed("RTO"), |row| value(row).smoothed.rto_s)
            .integer(window.printed("max window"), |row| u64::from(value(row).largest_window_segments))
    }
}

/// Values of ECN's bits in the order of their columns, as RFC 3168 calls them.
const ECN: [&str; 4] = ["not-ECT", "ECT(0)", "ECT(1)", "CE"];

/// The columns of [`Columns::ecn`].
pub(crate) const BY_ECN: [&str; 4] = ["ecn_not_ect", "ecn_ect0", "ecn_ect1", "ecn_ce"];
