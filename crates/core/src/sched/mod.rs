//! Scheduling: several queues wait for one link. Which of them sends next?
//!
//! A scheduler owns no queue and sees no packet but its size: it is given the head of each queue, and says which of
//! them is sent. Each queue, one a class, has its own AQM, limit and counts.
//!
//! The host reads a class's `queue`: a name of `[queue]` or a table of the same keys; the default is drop-tail with
//! 1000 packets. Its AQM uses the rate of the whole link, since what the others leave is unknown: RED's average of an
//! idle queue decays as fast as the link could have sent, as in ns-2, and thresholds in time,
//! capacities and virtual queues (SVB, AVQ) also refer to the whole link. Such an AQM acts in a class only when the
//! class comes near the whole link's rate.
//!
//! To add one: write its file, add its line to the list below.

use crate::Scope;
use crate::aqm::members::{Member, Members};
use crate::params::{Kind, Node, ParamError, Problems, Tree, Value};
use crate::units::Time;

crate::algorithms! {
    $ "scheduler", Scheduler over Scope => AnyScheduler, SchedulerParams, dispatch;

    /// Weighted round robin: each class in turn sends as many packets as its weight says.
    "wrr" => wrr::{Params, Wrr},
    /// Deficit round robin: each class in turn sends as many bytes as its quantum says, whatever its packets' sizes.
    "drr" => drr::{Params, Drr},
    /// Strict priority: a class sends only while no class before it has anything to send.
    "strict-priority" => strict_priority::{Params, StrictPriority},
}

/// Bytes of the packet at the head of a queue; `None`: nothing waits.
pub type Head = Option<u32>;

/// A key of a class that its host reads: the class's queue. Here it is known, and nothing more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostKey;

impl Value for HostKey {
    const KIND: Kind = Kind::Any;
    const OPTIONAL: bool = true;
    fn read(_: &Node, _: &mut Problems) -> Option<Self> {
        Some(Self)
    }
    fn absent() -> Option<Self> {
        Some(Self)
    }
    fn tree(&self) -> Option<Tree> {
        None
    }
}

/// A scheduler over the queues of its classes.
pub trait Scheduler {
    /// Its parameters.
    type Params;

    /// Which packets go to which queue.
    fn members(&self) -> &Members;

    /// The queue that sends next, by what waits at the head of each; `None` if nothing does. Asked again with the same
    /// heads before [`Scheduler::sent`], it says the same.
    fn pick(&mut self, heads: &[Head]) -> Option<usize>;

    /// The packet at the head of the queue picked last is sent: its bytes, and what waits behind it.
    fn sent(&mut self, _bytes: u32, _behind: Head) {}

    /// Takes new parameters at `now`, keeping its state.
    ///
    /// # Errors
    /// The offending parameter; the old ones stay in force.
    fn retune(&mut self, now: Time, params: &Self::Params, scope: &Scope) -> Result<(), ParamError>;
}

impl Scheduler for AnyScheduler {
    type Params = SchedulerParams;

    #[inline]
    fn members(&self) -> &Members {
        dispatch!(self, x => x.members())
    }
    fn pick(&mut self, heads: &[Head]) -> Option<usize> {
        dispatch!(self, x => x.pick(heads))
    }
    fn sent(&mut self, bytes: u32, behind: Head) {
        dispatch!(self, x => x.sent(bytes, behind));
    }
    fn retune(&mut self, now: Time, params: &SchedulerParams, scope: &Scope) -> Result<(), ParamError> {
        self.retune(now, params, scope)
    }
}

/// Which packets belong to which of `classes`, in their order.
///
/// # Errors
/// E201 without classes; E223 when one of them can match no packet.
fn members<'a>(classes: impl ExactSizeIterator<Item = &'a [Member]>) -> Result<Members, ParamError> {
    if classes.len() == 0 {
        let error = ParamError::new("classes", "E201", "`classes` is empty".into());
        return Err(error.help("at least one, the last of which takes all other packets"));
    }
    Members::new(["classes", "class"], classes)
}

/// Refuses new parameters that send packets to other queues than before: waiting packets would be overtaken.
fn same_members(old: &Members, new: &Members) -> Result<(), ParamError> {
    if old == new {
        return Ok(());
    }
    let error = ParamError::new("classes", "E202", "the classes would take other packets than before".into());
    Err(error.help("which packets a class takes is fixed when the run begins; a change may alter what a class gets"))
}
