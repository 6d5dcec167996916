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
    let offered = "rate that arrived at the first ports of the class's route; only in the row of the whole class";
    let delivered = "rate that reached its destination";
    let goodput = "sum of `goodput_bit_s` of `traffic`; only in the row of the whole class";
    let loss = "dropped / (dropped + delivered), in %, over all ports of the class's route; null where data and \
                ACKs of the class share a port";
    let delay = "as in `arrivals`; only in the rows of colours, since quantiles cannot be added";
    Columns::of(NAME, &["class", "colour"], rows)
        .keeping(rows.is_empty())
        .text("class", "class of the traffic", |it| it.class.clone())
        .text(
            "colour",
            "`all` for the whole class. Delivered packets count with the colour they have at the end of the path, \
             dropped ones with the colour they had at the port",
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
