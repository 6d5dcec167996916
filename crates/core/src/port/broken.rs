//! What could not go on at a port. Hosts ask at the end of a run, or of a part of one: packets are not slowed down by it.

use super::Port;
use crate::aqm::Aqm as _;
use crate::formula::Broken;

impl<H: Copy> Port<H> {
    /// The algorithm that stopped first, and why: the name of its conditioner, none for that of a queue.
    pub fn broken(&self) -> Option<(Option<&str>, &Broken)> {
        let queues = self.queues.all().iter().filter_map(|queue| Some((None, queue.gate().aqm().broken()?)));
        let conditioners = self.edge.broken().map(|(name, broken)| (Some(name), broken));
        queues.chain(conditioners).min_by_key(|(_, broken)| broken.at)
    }
}
