//! Conservation: sent = delivered + dropped + in the network, per flow end to end; packets and bytes.

use super::Hosts;
use crate::net::{Record, number};
use perhop_core::count::Count;

impl Hosts {
    /// Every way in which the counts of flows do not add up with what is `inside` the network.
    pub fn breaches<'a>(&self, inside: impl Iterator<Item = &'a Record>) -> Vec<String> {
        let mut held = vec![[Count::default(); 2]; self.flows.len()];
        for record in inside {
            let way = usize::from(!number::is_out(record.packet.flow));
            held[number::flow(record.packet.flow)][way].add(record.packet.size);
        }
        let mut breaches = Vec::new();
        for (slot, (flow, inside)) in self.flows.iter().zip(&held).enumerate() {
            let c = &flow.counts;
            let data = c.sent == c.delivered + c.dropped + inside[0];
            let acks = c.acks[0] == c.acks[1] + c.acks[2] + inside[1];
            let held = u64::from(flow.in_network) == inside[0].packets + inside[1].packets;
            if !(data && acks && held) {
                breaches.push(format!("flow {slot}: {c:?}, inside {inside:?}, held {}", flow.in_network));
            }
        }
        let carried = |slot: &usize| self.pairs.get(*slot).is_some();
        let datagrams: u64 =
            (0..held.len()).filter(carried).map(|slot| held[slot].iter().map(|c| c.packets).sum::<u64>()).sum();
        if datagrams != self.payloads.used() as u64 {
            breaches.push(format!("{} payloads of {datagrams} datagrams", self.payloads.used()));
        }
        breaches
    }

    /// A flow, for tests that tamper with it.
    #[cfg(test)]
    pub fn flow_mut(&mut self, slot: usize) -> &mut super::flow::Flow {
        &mut self.flows[slot]
    }
}
