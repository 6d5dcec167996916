//! What flows and destinations got: `flows`, `arrivals`, `flow_series`, `delays`.

use super::column::{Column, Unit, measure, rate, total};
use super::columns::Made;
use super::ports::TIME;
use super::{DELAYS, Run};
use perhop_sim::record::ArrivalRow;

const DELAY: &str = "one-way delay, from sending to arrival";
const JITTER: &str = "absolute difference between the delays of successive packets of a flow";

fn delivered() -> Column {
    rate("throughput_bit_s", "`delivered_bytes` / measured time").printed("delivered").accounted()
}

pub(super) fn arrivals(run: Run<'_>) -> Made {
    run.columns("arrivals", &["class", "colour"], &run.rows(&run.outcome.arrivals))
        .text("class", "class of the traffic", |r| r.run.class(r.it.class))
        .text("colour", "colour at the end of the path", |r| r.it.colour.name().to_owned())
        .count("delivered", "reached the destination", |r| r.it.delivered)
        .real(delivered(), |r| r.run.bit_s(r.it.delivered.bytes))
        .quantiles("delay", DELAY, |r| r.it.delay)
        .quantiles("jitter", JITTER, |r| r.it.jitter)
        .made()
}

pub(super) fn flows(run: Run<'_>) -> Made {
    let tcp = |name: &'static str| total(name, Unit::None, "counted by TCP; null without TCP");
    let cuts = "cuts of the congestion window, for a loss, a time-out or an echo of ECN. TCP without ECN has \
                `timeouts` + `fast_retransmits` of them. Null without TCP, and for QUIC with a law other than CUBIC \
                and NewReno";
    let goodput = rate("goodput_bit_s", "payload that the application received; TCP delivers it in order");
    run.columns("flows", &["traffic", "flow"], &run.rows(&run.outcome.flows))
        .text("class", "class of the traffic", |r| r.run.class(usize::from(r.run.plan.traffic[r.it.table].class)))
        .text("traffic", "name of the `[traffic]` table", |r| r.run.traffic(r.it.table))
        .number("flow", "number of the source, from 0", |r| u64::from(r.it.number))
        .count("sent", "sent, retransmissions included", |r| r.it.counts.sent)
        .count("delivered", "reached the destination", |r| r.it.counts.delivered)
        .count("dropped", "lost anywhere on the path", |r| r.it.counts.dropped)
        .real(delivered(), |r| r.run.bit_s(r.it.counts.delivered.bytes))
        .real(goodput, |r| r.run.bit_s(r.it.goodput_bytes))
        .integer(tcp("segments"), |r| r.it.tcp.map(|tcp| tcp.segments))
        .integer(tcp("retransmitted_segments"), |r| r.it.tcp.map(|tcp| tcp.retransmitted))
        .integer(tcp("timeouts"), |r| r.it.tcp.map(|tcp| u64::from(tcp.timeouts)))
        .integer(tcp("fast_retransmits"), |r| r.it.tcp.map(|tcp| u64::from(tcp.fast_retransmits)))
        .integer(total("window_cuts", Unit::None, cuts), |r| r.it.cuts)
        .quantiles("delay", DELAY, |r| r.it.delay)
        .quantiles("jitter", JITTER, |r| r.it.jitter)
        .made()
}

pub(super) fn delays(run: Run<'_>) -> Made {
    let bucket = "one-way delay, from sending to arrival: the largest of a bucket, at most 1 % or 512 ns above those of its \
                  packets";
    let of =
        |row: &'_ ArrivalRow| row.histogram.iter().map(|&(ns, packets)| (row.class, row.colour, ns, packets)).collect();
    let rows: Vec<_> = run.outcome.arrivals.iter().flat_map::<Vec<_>, _>(of).collect();
    run.columns(DELAYS, &[], &rows)
        .text("class", "class of the traffic", |it| run.class(it.0))
        .text("colour", "colour at the end of the path", |it| it.1.name().to_owned())
        .real(measure("delay_ms", Unit::Ms, bucket), |it| it.2 as f64 / 1e6)
        .integer(total("packets", Unit::Packets, "delivered packets of that bucket"), |it| it.3)
        .made()
}

pub(super) fn flow_series(run: Run<'_>) -> Made {
    let total = |name: &'static str, doc| total(name, Unit::Bytes, doc);
    let cwnd = measure("cwnd_segments", Unit::None, "congestion window at that time; null without TCP or QUIC");
    let srtt = "smoothed round-trip time at that time; null without TCP or QUIC, and before the first measurement";
    run.columns("flow_series", &[], &run.outcome.series.flows)
        .real(measure("t_s", Unit::S, TIME), |it| it.at.seconds())
        .text("traffic", "name of the `[traffic]` table", |it| run.traffic(it.table as usize))
        .number("flow", "number of the source, from 0", |it| u64::from(it.number))
        .integer(
            total("delivered_bytes", "delivered to the destination since the start of the run").accounted(),
            |it| it.delivered_bytes,
        )
        .integer(total("goodput_bytes", "payload delivered in order since the start of the run"), |it| it.goodput_bytes)
        .real(cwnd, |it| it.cwnd)
        .real(measure("srtt_ms", Unit::Ms, srtt), |it| it.srtt.map(|it| it.seconds() * 1e3))
        .made()
}
