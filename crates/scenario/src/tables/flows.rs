//! What flows and destinations got: `flows`, `arrivals`, `flow_series`.

use super::Run;
use super::columns::{Columns, Table};

pub(super) fn arrivals(run: Run<'_>) -> Table {
    Columns::of("arrivals", &run.rows(&run.outcome.arrivals))
        .text("class", |r| r.run.class(r.it.class))
        .text("colour", |r| r.it.colour.name().to_owned())
        .count("delivered", |r| r.it.delivered)
        .real("throughput_bit_s", |r| r.run.bit_s(r.it.delivered.bytes))
        .quantiles("delay", |r| r.it.delay)
        .quantiles("jitter", |r| r.it.jitter)
        .table()
}

pub(super) fn flows(run: Run<'_>) -> Table {
    Columns::of("flows", &run.rows(&run.outcome.flows))
        .text("class", |r| r.run.class(usize::from(r.run.plan.traffic[r.it.table].class)))
        .text("traffic", |r| r.run.traffic(r.it.table))
        .integer("flow", |r| u64::from(r.it.number))
        .count("sent", |r| r.it.counts.sent)
        .count("delivered", |r| r.it.counts.delivered)
        .count("dropped", |r| r.it.counts.dropped)
        .real("throughput_bit_s", |r| r.run.bit_s(r.it.counts.delivered.bytes))
        .real("goodput_bit_s", |r| r.run.bit_s(r.it.goodput_bytes))
        .integer("segments", |r| r.it.tcp.map(|tcp| tcp.segments))
        .integer("retransmitted_segments", |r| r.it.tcp.map(|tcp| tcp.retransmitted))
        .integer("timeouts", |r| r.it.tcp.map(|tcp| u64::from(tcp.timeouts)))
        .integer("fast_retransmits", |r| r.it.tcp.map(|tcp| u64::from(tcp.fast_retransmits)))
        .integer("window_cuts", |r| r.it.cuts)
        .quantiles("delay", |r| r.it.delay)
        .quantiles("jitter", |r| r.it.jitter)
        .table()
}

pub(super) fn flow_series(run: Run<'_>) -> Table {
    Columns::of("flow_series", &run.outcome.series.flows)
        .real("t_s", |it| it.at.seconds())
        .text("traffic", |it| run.traffic(it.table as usize))
        .integer("flow", |it| u64::from(it.number))
        .integer("delivered_bytes", |it| it.delivered_bytes)
        .integer("goodput_bytes", |it| it.goodput_bytes)
        .real("cwnd_segments", |it| it.cwnd)
        .real("srtt_ms", |it| it.srtt.map(|it| it.seconds() * 1e3))
        .table()
}
