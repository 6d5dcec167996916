//! Conservation: in = out + dropped + queued, per flow end to end, per class and colour at each queue, and at each
//! port's conditioners; packets and bytes.

use crate::engine::Simulation;
use perhop_core::count::Count;
use perhop_core::edge::arrived;
use perhop_core::packet::Colour;

impl Simulation {
    /// Every way in which counts do not add up.
    pub(crate) fn breaches(&self) -> Vec<String> {
        let mut breaches = self.flow_breaches();
        for (i, link) in self.links.iter().enumerate() {
            let name = &self.plan.links[i].name;
            let mut complain = |what: String| breaches.push(format!("{name}: {what}"));
            let mut on_link = vec![[Count::default(); 4]; self.plan.classes.len()];
            for entry in link.fifo.iter() {
                let packet = &self.pool.get(entry.record).packet;
                on_link[usize::from(packet.class)][packet.colour.index()].add(packet.size);
            }
            for (class, fates) in link.gate.fates().iter().enumerate() {
                for colour in Colour::ALL {
                    let (c, fates) = (colour.index(), &fates[colour.index()]);
                    let passed = &link.passed[class][c];
                    if !fates.conserved() {
                        complain(format!("class {class}, {}: {fates:?}", colour.name()));
                    }
                    if fates.queued != passed.delivered + passed.lost + on_link[class][c] {
                        let on = on_link[class][c];
                        complain(format!(
                            "class {class}, {}: queued {:?}, {passed:?}, on link {on:?}",
                            colour.name(),
                            fates.queued
                        ));
                    }
                }
                let came: Count = fates.iter().map(|f| f.arrived).sum();
                let offered = &link.offered[class];
                let policed: Count = offered.policed.iter().copied().sum();
                if !link.edge.is_empty() && offered.offered != policed + came {
                    complain(format!(
                        "class {class}: offered {:?}, policed {policed:?}, came {came:?}",
                        offered.offered
                    ));
                }
            }
            let offered: u64 = link.offered.iter().map(|o| o.offered.packets).sum();
            for stage in link.edge.counts() {
                let seen: Count = arrived(stage.counts).into_iter().sum();
                if seen.packets > offered {
                    complain(format!("conditioner {} saw {} of {offered} packets", stage.name, seen.packets));
                }
            }
        }
        breaches
    }

    fn flow_breaches(&self) -> Vec<String> {
        let mut inside = vec![[Count::default(); 2]; self.flows.len()];
        for entry in self.links.iter().flat_map(|l| l.fifo.iter()) {
            let record = self.pool.get(entry.record);
            let flow = record.packet.flow.0 as usize;
            inside[flow / 2][flow % 2].add(record.wire);
        }
        let mut breaches = Vec::new();
        for (slot, flow) in self.flows.iter().enumerate() {
            let c = &flow.counts;
            let data = c.sent == c.delivered + c.dropped + inside[slot][0];
            let acks = c.acks[0] == c.acks[1] + c.acks[2] + inside[slot][1];
            let held = u64::from(flow.in_network) == inside[slot][0].packets + inside[slot][1].packets;
            if !(data && acks && held) {
                breaches.push(format!("flow {slot}: {c:?}, inside {:?}, held {}", inside[slot], flow.in_network));
            }
        }
        breaches
    }
}
