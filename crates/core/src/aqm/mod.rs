//! Active queue management in the core: pass, mark or drop each packet.
//!
//! An AQM owns no queue. It sees the backlog, whether the packet is ECN-capable and whether there is
//! room, and is given each packet's fate; the queue is the last guard.
//!
//! To add one: write its file, add its line to the list below.

use crate::Scope;
use crate::conditioner::Writes;
use crate::counter::{Below, Each};
use crate::needs::Needs;
use crate::packet::Packet;
use crate::params::ParamError;
use crate::port::turn::Turn;
use crate::rng::Rng;
use crate::units::Time;
use crate::verdict::{Fate, Reason, Verdict};
use members::Members;

crate::algorithms! {
    $ "AQM", Aqm over Scope => AnyAqm, AqmParams, dispatch;

    /// Drops a packet only when the queue is full.
    "drop-tail" => drop_tail::{Params, DropTail},
    /// Random early detection: drops at random before the queue is full.
    "red" => red/mod::{Params, Red},
    /// RED with IN and OUT: green packets are dropped later and less often.
    "rio" => rio::{Params, Rio},
    /// Weighted RED: thresholds for each colour or DSCP, with one shared average or one for each.
    "wred" => wred::{Params, Wred},
    /// Core-stateless fair queueing: flows share the link by weight, and the queue reads only their labels.
    "csfq" => csfq::{Params, Csfq},
    /// Controlled delay: drops at the head once packets have waited longer than the target for a whole interval.
    "codel" => codel/mod::{Params, CoDel},
    /// COBALT: CoDel, with BLUE for traffic that does not respond to it.
    "cobalt" => cobalt/mod::{Params, Cobalt},
    /// PPS: RED, with a higher drop probability for packets that carry fewer tickets.
    "tred" => tred::{Params, Tred},
    /// Stabilised virtual buffer: marks by a virtual queue and a threshold that both follow the load.
    "svb" => svb::{Params, Svb},
    /// SVB with several classes: each is held to its share of the link by its own threshold.
    "msvb" => msvb::{Params, Msvb},
    /// SVB with IN and OUT: the threshold for OUT halves whenever IN loses a packet.
    "sio" => sio::{Params, Sio},
    /// CHOKe: RED that also drops an arrival together with a random waiting packet, if both are of one flow.
    "choke" => choke/mod::{Params, Choke},
    /// Flow random early drop: RED that counts the waiting packets of each flow.
    "fred" => fred::{Params, Fred},
    /// Adaptive virtual queue: marks packets that would overflow a slower link, whose rate adapts to the load.
    "avq" => avq::{Params, Avq},
    /// Proportional-integral controller: adjusts the probability until the queue settles at its reference.
    "pi" => pi::{Params, Pi},
    /// PI enhanced: controls the queueing delay, in smaller steps while the drop probability is small.
    "pie" => pie/mod::{Params, Pie},
    /// Random exponential marking: the probability is exponential in a price that queue and load set.
    "rem" => rem::{Params, Rem},
    /// Marks or drops with the probability that a formula gives: an AQM of your own, as text in the file.
    "formula" => formula/mod::{Params, Formula},
    _ => foreign::{Params, Foreign},
}

pub mod arithmetic;
pub mod cap;
pub mod early;
pub mod members;
pub mod redistribution;
pub mod virtual_buffer;

/// The queue as an AQM sees it. The packet in transmission is not part of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Backlog {
    /// Packets waiting.
    pub packets: u32,
    /// Bytes waiting.
    pub bytes: u64,
    /// Since when queue and link have been empty; `None` while busy.
    pub idle_since: Option<Time>,
    /// Whether the packet that arrives fits; at a departure, whether another like it would.
    pub room: bool,
    /// Whether the packet is ECN-capable.
    pub ecn: bool,
}

/// An arrival at the queue.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Now; never decreases.
    pub now: Time,
    /// The queue before this packet.
    pub backlog: Backlog,
}

/// A departure from the queue: the start of a transmission.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// Now.
    pub now: Time,
    /// When it arrived.
    pub arrived: Time,
    /// The queue without it.
    pub backlog: Backlog,
}

/// An AQM. Defaults do nothing; the port calls only what [`Aqm::needs`] asks for, and only the port can: [`Turn`].
#[crate::registry::forward(AnyAqm: dispatch, Params = AqmParams)]
pub trait Aqm {
    /// Its parameters.
    type Params;

    /// A packet arrives; may relabel it.
    #[inline]
    fn on_arrival(&mut self, at: Turn<&Arrival>, packet: &mut Packet, rng: &mut Rng) -> Verdict;

    /// What became of it. This includes a packet that it marks or drops at its departure: a packet let in on arrival
    /// and then dropped has had two.
    #[inline]
    fn on_fate(&mut self, _at: Turn<&Arrival>, _packet: &Packet, _fate: Fate) {}

    /// The packet at the head is about to be sent. If it is dropped, the same is asked about the next.
    fn on_departure(&mut self, _at: Turn<&Departure>, _packet: &mut Packet, _rng: &mut Rng) -> Verdict {
        Verdict::Pass
    }

    /// Needs [`Needs::ROOM`]. Asked once a packet has arrived, until it says `None`: a waiting packet that it drops, by its place
    /// from the head, and why.
    fn evict(&mut self) -> Option<(u32, Reason)> {
        None
    }

    /// Time asked for by [`Aqm::poll_at`] has come.
    fn on_timer(&mut self, _now: Turn<Time>, _backlog: &Backlog) {}

    /// What it needs beyond `on_arrival` and `on_fate`.
    fn needs(&self) -> Needs {
        Needs::NOTHING
    }

    /// The label it reads: `check` then reports a path on which nothing writes that label as an error.
    fn reads(&self) -> Option<Writes> {
        None
    }

    /// Parameters that run, but probably not as intended: a threshold that is out of reach. Codes begin with W.
    fn warnings(&self, _scope: &Scope) -> Vec<ParamError> {
        Vec::new()
    }

    /// The list by which it sorts packets, if it has profiles: the port tells it of flows.
    fn members(&mut self) -> Option<&mut Members> {
        None
    }

    /// When it next needs `on_timer`.
    fn poll_at(&self) -> Option<Time> {
        None
    }

    /// Takes new parameters at `now`, keeping its state.
    ///
    /// # Errors
    /// The offending parameter; the old ones stay in force.
    fn retune(&mut self, now: Time, params: &Self::Params, scope: &Scope) -> Result<(), ParamError>;

    /// Values for series: name, value. Changes nothing.
    fn gauges(&self, _now: Time, _each: &mut dyn FnMut(&'static str, f64)) {}

    /// What `tc -s` shows besides what every queue has: name, value.
    fn counters(&self, _now: Time, _below: &Below, _each: &mut Each<'_>) {}

    /// What `tc -s` shows as `overlimits`.
    fn overlimits(&self, _below: &Below) -> u64 {
        0
    }

    /// Totals for tables: name, how many since the start.
    fn tallies(&self, _each: &mut dyn FnMut(&'static str, u64)) {}
}
