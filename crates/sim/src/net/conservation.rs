//! Conservation: in = out + dropped + queued, per class and colour at each queue, and at each port's conditioners; packets
//! and bytes.

use super::{Link, Net, Record};
use crate::plan;
use perhop_core::count::Count;
use perhop_core::edge::arrived;
use perhop_core::packet::Colour;

impl Net {
    /// Every way in which the counts of the links, which are called as in `planned`, do not add up.
    pub fn breaches(&self, planned: &[plan::Link]) -> Vec<String> {
        let mut breaches = Vec::new();
        for (link, planned) in self.links.iter().zip(planned) {
            let found = [self.queue_breaches(link), edge_breaches(link)].concat();
            breaches.extend(found.into_iter().map(|what| format!("{}: {what}", planned.name)));
        }
        breaches
    }

    /// The packets on links.
    pub fn inside(&self) -> impl Iterator<Item = &Record> {
        self.links.iter().flat_map(Link::records).map(|id| self.pool.get(id))
    }

    /// One fate for each arrival; queued = delivered + lost on the wire + on the link, by colour.
    fn queue_breaches(&self, link: &Link) -> Vec<String> {
        let mut breaches = class_breaches(link);
        let (on_link, all) = (link.on_link(&self.pool), link.fates());
        for colour in Colour::ALL {
            let c = colour.index();
            for (i, gate) in link.queues.gates().enumerate() {
                let fates = gate.fates().iter().map(|class| &class[c]).enumerate();
                for (class, fates) in fates.filter(|(_, fates)| !fates.conserved()) {
                    breaches.push(format!("queue {}, class {class}, {}: {fates:?}", i + 1, colour.name()));
                }
            }
            let queued: Count = all.iter().map(|class| class[c].queued).sum();
            let lost: Count = link.passed.iter().map(|class| class[c].lost).sum();
            let on: Count = on_link.iter().map(|class| class[c]).sum();
            let delivered = link.delivered[c];
            if queued != delivered + lost + on {
                let parts = format!("delivered {delivered:?}, lost {lost:?}, on link {on:?}");
                breaches.push(format!("{}: queued {queued:?}, {parts}", colour.name()));
            }
        }
        breaches
    }
}

/// Queued = sent + waiting, at each queue of a scheduler.
fn class_breaches(link: &Link) -> Vec<String> {
    let mut breaches = Vec::new();
    for (i, queue) in link.queues.classes().iter().enumerate() {
        let queued: Count = queue.gate.fates().iter().flatten().map(|fates| fates.queued).sum();
        let mut waiting = Count::default();
        queue.waiting().for_each(|w| waiting.add(w.size));
        if queued != queue.sent + waiting {
            breaches.push(format!("queue {}: queued {queued:?}, sent {:?}, waiting {waiting:?}", i + 1, queue.sent));
        }
    }
    breaches
}

/// Offered = dropped by conditioners + arrived at the gate, by class; no conditioner saw more than was offered.
fn edge_breaches(link: &Link) -> Vec<String> {
    let mut breaches = Vec::new();
    if link.edge.is_empty() {
        return breaches;
    }
    for (class, (offered, fates)) in link.offered.iter().zip(&link.fates()).enumerate() {
        let came: Count = fates.iter().map(|f| f.arrived).sum();
        let policed: Count = offered.policed.iter().copied().sum();
        let offered = offered.offered;
        if offered != policed + came {
            breaches.push(format!("class {class}: offered {offered:?}, policed {policed:?}, came {came:?}"));
        }
    }
    let offered: u64 = link.offered.iter().map(|o| o.offered.packets).sum();
    for stage in link.edge.counts() {
        let seen: Count = arrived(stage.counts).into_iter().sum();
        if seen.packets > offered {
            breaches.push(format!("conditioner {} saw {} of {offered} packets", stage.name, seen.packets));
        }
    }
    breaches
}
