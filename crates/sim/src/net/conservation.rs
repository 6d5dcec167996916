//! Conservation: in = out + dropped + queued, per class and colour on each link, and at its port; packets and bytes.

use super::{Link, Net, Record};
use crate::plan;
use perhop_core::count::Count;
use perhop_core::counted::Counted;
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
        self.links.iter().flat_map(|link| link.records(&self.pool)).map(|id| self.pool.get(id))
    }

    /// Queued = dropped at the head + delivered + lost on the wire + on the link, by colour.
    fn link_breaches(&self, link: &Link) -> Vec<String> {
        let mut breaches = Vec::new();
        let (on_link, all) = (link.on_link(&self.pool), link.fates());
        for colour in Colour::ALL {
            let queued = of(colour, &all, |fates| fates.queued);
            let head = of(colour, &all, |fates| fates.dropped_at_head);
            let lost = of(colour, link.passed(), |passed| passed.lost);
            let on = of(colour, &on_link, |on| *on);
            let delivered = link.delivered()[colour.index()];
            if queued != head + delivered + lost + on {
                let parts = format!("at the head {head:?}, delivered {delivered:?}, lost {lost:?}, on link {on:?}");
                breaches.push(format!("{}: queued {queued:?}, {parts}", colour.name()));
            }
        }
        breaches
    }
}

/// The sum over all classes of one colour.
fn of<T>(colour: Colour, counted: &Counted<T>, count: impl Fn(&T) -> Count) -> Count {
    counted.iter().filter(|(of, _)| of.colour() == colour).map(|(_, it)| count(it)).sum()
}
