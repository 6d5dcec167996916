//! What `tc -s` shows of the queues of a port.

use super::queue::Queue;
use crate::aqm::Aqm as _;
use crate::counter::{Below, Each};
use crate::units::Time;

/// A queue that is a separate queueing discipline.
pub(super) fn of_queue<H: Copy>(queue: &Queue<H>, now: Time, below: &Below, each: &mut Each<'_>) {
    below.show(below.sent(), below.dropped(), each);
    queue.gate().aqm().counters(now, below, each);
}
