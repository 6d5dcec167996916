//! Queueing disciplines without classes, and what is printed without what is above it.

use super::{INGRESS, Making, name};
use crate::model::{Act, Conditioner, Queue};
use crate::tc::htb;
use crate::tc::kernel::{Interface, Qdisc};
use crate::tc::log::Log;
use crate::tc::units::shown;
use crate::tc::words::Form;
use crate::value::WithOrigin;
use perhop_core::colour::Colour;

const CLASSES: &str = "W406";

/// What is printed below a class or a queueing discipline that the text does not have.
pub(super) fn loose(interface: &Interface<'_>, log: &mut Log) {
    let not = |what: &str, id: u32| format!("the text does not have the {what} {} above it", shown(id));
    let discipline = |parent: u32| not("queueing discipline", parent & 0xffff_0000);
    let below = |parent: u32| parent >> 16 != 0 && parent < INGRESS;
    for (parent, it) in interface.qdiscs.iter().filter(|it| it.1.form == Form::Shown && below(*it.0)) {
        match interface.by_handle(*parent) {
            None => log.lost(&it.lines, &discipline(*parent)),
            Some(above) if above.classes().are_made() && !interface.classes.contains_key(parent) => {
                log.lost(&it.lines, &not("class", *parent));
            }
            Some(_) => {}
        }
    }
    for (parent, filters) in interface.filters.iter().filter(|it| below(*it.0)) {
        if interface.by_handle(*parent).is_none() {
            filters.iter().for_each(|it| log.lost(&it.lines, &discipline(*parent)));
        }
    }
    for (_, it) in interface.classes.iter().filter(|it| it.1.parent & 0xffff != 0) {
        if !interface.classes.contains_key(&it.parent) {
            log.nearly(&it.lines, &not("class", it.parent));
        }
    }
}

impl<'a> Making<'_, '_, 'a> {
    /// A queue of a class that has got classes below it.
    pub(super) fn unused(&mut self, class: u32) {
        if let Some(it) = self.interface.qdiscs.get(&class) {
            self.log.lost(&it.lines, &format!("class {} has classes below it: no packet waits here", shown(class)));
        }
    }

    /// `htb` is a queue then.
    pub(super) fn without_classes(&mut self, it: &Qdisc<'a>) -> Option<Queue> {
        let (kind, handle, device) = (&it.name.text, shown(it.handle), name(&self.interface.device).is);
        if it.form == Form::Shown {
            self.log.lost(&it.lines, "the text does not have its classes");
            let message = format!("the text has no classes of `{kind}` {handle}");
            self.log.found(CLASSES, it.place, message, &format!("add what `tc class show dev {device}` prints"));
            return None;
        }
        let is_queue = kind == "htb";
        let does = if is_queue { "passes all packets unshaped" } else { "drops all packets" };
        let message = format!("`{kind}` {handle} has no classes: it {does}");
        self.log.found(CLASSES, it.place, message, &format!("tc class add dev {device} parent {handle} .."));
        if !is_queue {
            self.drops_all(it);
            return None;
        }
        let mut queue = self.empty(it);
        queue.settings.set("limit", htb::direct(it));
        Some(queue)
    }
}

impl<'a> Making<'_, '_, 'a> {
    /// One without classes drops all packets of its port, before any queue.
    fn drops_all(&mut self, it: &Qdisc<'a>) {
        if self.depth > 1 {
            return self.log.lost(&it.lines, "without classes it drops all packets");
        }
        let name = WithOrigin::at(it.place, shown(it.handle));
        let actions = vec![(Colour::Green, WithOrigin::at(it.place, vec![Act::Drop]))];
        let (takes, settings) = Default::default();
        self.conditioners.push(Conditioner { name, takes, kind: "marker", settings, actions });
    }
}
