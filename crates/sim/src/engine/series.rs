//! Series: queue lengths and gauges at a fixed interval.

use super::Simulation;
use crate::net::Queues;
use crate::record::{FlowSample, Sample};
use perhop_core::aqm::Aqm as _;
use perhop_core::units::Time;

impl Simulation {
    /// Samples what every standing flow has brought.
    pub(crate) fn sample_flows(&mut self, at: Time) {
        let mut number = vec![0; self.plan.traffic.len()];
        for slot in 0..self.flows.len() {
            if !self.is_standing(slot) {
                continue;
            }
            let flow = &self.flows[slot];
            let number = &mut number[usize::from(flow.table)];
            let (delivered_bytes, goodput_bytes) = (flow.counts.delivered.bytes, self.goodput_bytes(flow));
            self.flow_samples.push(FlowSample {
                at,
                table: flow.table,
                number: *number,
                delivered_bytes,
                goodput_bytes,
                cwnd: flow.tcp.as_ref().map(|tcp| tcp.sender.cwnd()),
            });
            *number += 1;
        }
    }

    /// Samples the queue, its AQM's gauges and its conditioners' gauges of every link asked for.
    pub(crate) fn sample(&mut self, at: Time) {
        let asked = self.plan.sampling.as_ref().and_then(|it| it.links.as_deref());
        for (i, link) in self.links.iter_mut().enumerate() {
            if asked.is_some_and(|links| !links.contains(&i)) {
                continue;
            }
            let samples = &mut self.samples;
            let mut add = |(conditioner, queue): (Option<&str>, Option<usize>), quantity, value| {
                let conditioner = conditioner.map(Into::into);
                samples.push(Sample { at, link: i as u32, conditioner, queue, quantity, value });
            };
            let all = (None, None);
            let backlog = link.backlog(at);
            add(all, "queue_packets", f64::from(backlog.packets));
            add(all, "queue_bytes", backlog.bytes as f64);
            if let Queues::One(gate) = &link.queues {
                gate.aqm().gauges(at, &mut |quantity, value| add(all, quantity, value));
            }
            for (i, queue) in link.queues.classes().iter().enumerate() {
                let (of, backlog) = ((None, Some(i)), queue.backlog(at));
                add(of, "packets", f64::from(backlog.packets));
                add(of, "bytes", backlog.bytes as f64);
                queue.gate.aqm().gauges(at, &mut |quantity, value| add(of, quantity, value));
            }
            link.edge.gauges(at, &mut |name, quantity, value| add((Some(name), None), quantity, value));
        }
    }
}
