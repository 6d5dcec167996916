//! What each class got, put together from other tables: the answer of a run. It is no file: who reads results makes it.

use super::column::{Unit, quantile, rate, share};
use super::columns::{Columns, Made};

/// The name of the table.
pub const NAME: &str = "classes";
/// The colour of the row that is of a class as a whole.
pub const ALL: &str = "all";

/// A class, or what of it has a colour.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Got {
    /// The class.
    pub class: String,
    /// The colour, or [`ALL`].
    pub colour: String,
    /// Bit/s that arrived at the first ports on its way; of the whole class alone.
    pub offered: Option<f64>,
    /// Bit/s that arrived at its destination.
    pub delivered: f64,
    /// Bit/s of payload; of the whole class alone.
    pub goodput: Option<f64>,
    /// Per cent of its packets that were lost.
    pub loss: Option<f64>,
    /// Quantiles of its delay, ms; of a colour alone.
    pub delay: [Option<f64>; 2],
}

/// The table of a replication.
pub fn table(rows: &[Got]) -> Made {
    let offered = "what arrived at the first ports on the way of the class's data; of a class as a whole";
    let delivered = "what reached its destination, over the measured time";
    let goodput = "`goodput_bit_s` of `traffic`, summed over the class; of a class as a whole";
    let loss = "packets dropped at the ports of the class's route, in per cent of those and the delivered; null where its data \
                and ACKs share a port";
    let delay = "of `arrivals`; of a colour, since quantiles of several cannot be put together";
    Columns::of(NAME, &["class", "colour"], rows)
        .keeping(rows.is_empty())
        .text("class", "class of the traffic", |it| it.class.clone())
        .text(
            "colour",
            "`all` for the class as a whole; of delivered packets at the end of the path, of dropped ones at the port",
            |it| it.colour.clone(),
        )
        .real(rate("offered_bit_s", offered).accounted(), |it| it.offered)
        .real(rate("throughput_bit_s", delivered).printed("delivered").accounted(), |it| it.delivered)
        .real(rate("goodput_bit_s", goodput), |it| it.goodput)
        .real(share("loss_percent", Unit::Percent, loss).printed("lost"), |it| it.loss)
        .real(quantile("delay_p50_ms", delay), |it| it.delay[0])
        .real(quantile("delay_p99_ms", delay), |it| it.delay[1])
        .made()
}
