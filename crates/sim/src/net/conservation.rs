//! Conservation: in = out + dropped + queued, per class and colour on each link, and at its port; packets and bytes.

use super::{Link, Net, Record};
use crate::plan;
use perhop_core::count::Count;
use perhop_core::packet::Colour;

impl Net {
    /// Every way in which the counts of the links, which are called as in `planned`, do not add up.
    pub fn breaches(&self, planned: &[plan::Link]) -> Vec<String> {
        let mut breaches = Vec::new();
        for (link, planned) in self.links.iter().zip(planned) {
            let found = [self.link_breaches(link), link.port().breaches()].concat();
            breaches.extend(found.into_iter().map(|what| format!("{}: {what}", planned.name)));
        }
        breaches
    }

    /// The packets on links.
    pub fn inside(&self) -> impl Iterator<Item = &Record> {
        self.links.iter().flat_map(Link::records).map(|id| self.pool.get(id))
    }

    /// Queued = dropped at the head + delivered + lost on the wire + on the link, by colour.
    fn link_breaches(&self, link: &Link) -> Vec<String> {
        let mut breaches = Vec::new();
        let (on_link, all) = (link.on_link(&self.pool), link.port().fates());
        for colour in Colour::ALL {
            let c = colour.index();
            let queued: Count = all.iter().map(|class| class[c].queued).sum();
            let head: Count = all.iter().map(|class| class[c].dropped_at_head).sum();
            let lost: Count = link.passed().iter().map(|class| class[c].lost).sum();
            let on: Count = on_link.iter().map(|class| class[c]).sum();
            let delivered = link.delivered()[c];
            if queued != head + delivered + lost + on {
                let parts = format!("at the head {head:?}, delivered {delivered:?}, lost {lost:?}, on link {on:?}");
                breaches.push(format!("{}: queued {queued:?}, {parts}", colour.name()));
            }
        }
        breaches
    }
}
