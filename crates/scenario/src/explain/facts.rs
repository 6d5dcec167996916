//! [`explain`](super::explain) for programs: the same facts as JSON, numbers in the units of the results' columns.

use super::drain::{Drain, Ports};
use super::{BUCKETS, links};
use crate::document::Document;
use crate::resolve::offered::Flowline;
use crate::resolve::ports::{Stage, parameter};
use crate::scenario::Scenario;
use crate::sweep::{Point, Sweep};
use crate::text::json::of_toml;
use perhop_core::packet::Colour;
use perhop_core::port::edge::Action;
use perhop_core::port::{Limit, QueueSpec};
use perhop_core::units::{Burst, MeterRate, Span};

use perhop_sim::traffic::TrafficModel as _;
use serde_json::{Map, Value, json};

/// All of a file.
pub fn facts(document: &Document) -> Value {
    match document {
        Document::Policy(policy) => json!({ "kind": "policy", "effective": of_toml(&policy.effective()) }),
        Document::Scenario(sweep) => of_sweep(sweep),
    }
}

fn of_sweep(sweep: &Sweep) -> Value {
    let scenario = &sweep.base;
    let (built, ports) = (&scenario.built, Ports::of(scenario));
    let points = if sweep.is_grid() { sweep.points() } else { Vec::new() };
    json!({
        "kind": "scenario",
        "effective": of_toml(&scenario.effective()),
        "paths": built.traffic.iter().enumerate().map(|it| path(scenario, &ports, it)).collect::<Value>(),
        "ports": ports.drains.iter().map(port).collect::<Value>(),
        "conditioners": built.stages.iter().map(|stage| conditioner(scenario, stage)).collect::<Value>(),
        "points": points.iter().map(point).collect::<Value>(),
    })
}

fn ms(span: Span) -> f64 {
    span.ns() as f64 / 1e6
}

/// A traffic's route.
fn path(scenario: &Scenario, ports: &Ports<'_>, (index, flow): (usize, &Flowline)) -> Value {
    let (offered, links) = (&flow.offered, links(scenario));
    let rtt = flow.base_rtt(links).map(ms);
    let names = |way: &[u32]| way.iter().map(|&link| links[link as usize].name.as_str()).collect::<Value>();
    json!({
        "traffic": offered.name,
        "from": scenario.built.topology.nodes[offered.from[flow.sender]].name,
        "flows": offered.flows,
        "model": offered.model.name(),
        "transport": offered.model.transport().name(),
        "largest_packet_bytes": flow.data,
        "load_bit_s": flow.load,
        "base_rtt_ms": rtt,
        "full_rtt_ms": rtt.map(|_| ports.loop_rtt(index) * 1e3),
        "forward": names(&flow.forward),
        "backward": names(&flow.backward),
    })
}

/// A link's port and its queues.
fn port(drain: &Drain<'_>) -> Value {
    let link = drain.link;
    json!({
        "link": link.name,
        "rate_bit_s": link.rate.bit_s(),
        "framing": link.framing.name(),
        "delay_ms": ms(link.delay),
        "conditioners": link.edge.iter().map(|stage| stage.name.as_str()).collect::<Value>(),
        "scheduler": link.scheduler().map(|it| it.name()),
        "queues": link.queues.iter().enumerate().map(|it| queue(drain, it)).collect::<Value>(),
    })
}

/// Unknown limits are null.
fn queue(drain: &Drain<'_>, (index, queue): (usize, &QueueSpec)) -> Value {
    let (packets, bytes) = match queue.limit {
        Limit::Packets(u32::MAX) => (None, None),
        Limit::Packets(n) => (Some(n), None),
        Limit::Bytes(n) => (None, Some(n)),
    };
    json!({
        "aqm": queue.aqm.name(),
        "limit_packets": packets,
        "limit_bytes": bytes,
        "full_ms": drain.alone(index).map(|seconds| seconds * 1e3),
    })
}

fn conditioner(scenario: &Scenario, stage: &Stage) -> Value {
    let mut takes: Vec<_> = stage.takes.iter().map(|&i| &scenario.built.traffic[i].offered.name).collect();
    takes.dedup();
    let acts = Colour::ALL.into_iter().zip(stage.spec.actions).filter(|(_, action)| *action != Action::TRANSMIT);
    let acts: Map<_, _> = acts.map(|(colour, action)| (colour.name().to_owned(), json!(action.to_string()))).collect();
    json!({
        "conditioner": stage.name,
        "link": links(scenario)[stage.link].name,
        "kind": stage.spec.params.name(),
        "takes": takes,
        "dscp": stage.codes().iter().map(ToString::to_string).collect::<Value>(),
        "largest_packet_bytes": stage.spec.scope.largest_packet.get(),
        "buckets": BUCKETS.iter().filter_map(|names| bucket(stage, *names)).collect::<Value>(),
        "actions": acts,
    })
}

/// Of a meter of packets, `tokens` are packets; of all others, bytes.
fn bucket(stage: &Stage, (size, fill): (&str, &str)) -> Option<Value> {
    let (burst, rate) = (parameter::<Burst>(stage, size)?, parameter::<MeterRate>(stage, fill)?);
    let tokens = burst.tokens(rate).filter(|_| !rate.is_zero())?.get();
    let full_ms = tokens as f64 * 8e3 / rate.tokens().bit_s() as f64;
    Some(json!({ "bucket": size, "tokens": tokens, "filled_by": fill, "full_ms": full_ms }))
}

fn point(point: &Point) -> Value {
    let labels: Map<_, _> = point.labels.iter().map(|(key, value)| (key.clone(), json!(value))).collect();
    json!({ "point": point.name, "hash": point.hash, "labels": labels })
}
