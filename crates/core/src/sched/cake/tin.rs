//! One tin: its queues, and in which order they are served (DRR++).

use super::hosts::{Hosts, Identity};
use super::sets::{Sets, Slot};
use super::tins::Clock;
use crate::aqm::cobalt::{Law, State};
use crate::counter::{Below, Each};
use crate::units::{Span, Time};
use crate::verdict::Reason;
use std::collections::VecDeque;

/// Parts of a byte in a deficit.
const PARTS: i64 = 1 << 16;

/// What a queue counts as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Set {
    /// In no list.
    #[default]
    Idle,
    /// Has not yet sent its first quantum.
    Sparse,
    /// Was found empty with a deficit: in the list of the bulk queues, counts as sparse.
    Waiting,
    /// Has had its quantum and more to send.
    Bulk,
    /// Empty, and COBALT has not forgotten yet.
    Decaying,
}

/// One flow's queue.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue {
    /// Bytes waiting.
    pub(super) bytes: u64,
    pub(super) cobalt: State,
    /// What it may still send in this turn, in parts of a byte.
    deficit: i64,
    set: Set,
    /// Places of its source and destination.
    hosts: [usize; 2],
}

/// Queues in the order of their turns.
#[derive(Clone, Debug, Default)]
struct Lists {
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    decaying: VecDeque<u32>,
}

impl Lists {
    /// Takes a queue away that is the first of its list.
    fn take_first(&mut self, queue: usize) {
        let lists = [&mut self.new, &mut self.old, &mut self.decaying];
        let list = lists.into_iter().find(|list| list.front() == Some(&(queue as u32)));
        list.into_iter().for_each(|list| _ = list.pop_front());
    }
}

/// What `tc -s` counts of a tin.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    /// Packets whose queue was beside the first of its set, newly given, or another's.
    beside: u64,
    free: u64,
    shared: u64,
    largest: u32,
    waits: Waits,
}

/// Averages of the wait, ns: one that follows peaks, one of all, one that follows the shortest.
#[derive(Clone, Copy, Debug, Default)]
struct Waits {
    peak: u64,
    all: u64,
    base: u64,
}

impl Waits {
    fn add(&mut self, ns: u64) {
        let moved = |average: u64, by: u32| average - (average >> by) + (ns >> by);
        self.peak = moved(self.peak, if ns > self.peak { 2 } else { 8 });
        self.base = moved(self.base, if ns < self.base { 2 } else { 8 });
        self.all = moved(self.all, 8);
    }
}

/// What its rate and quanta are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terms {
    pub(super) law: Law,
    /// Rate above which its priority ends, B/s; `None` without a rate.
    pub(super) rate: Option<u64>,
    /// Bytes in a turn of one of its queues.
    pub(super) flow_quantum: u64,
    /// Bytes in its own turn where there is no rate.
    pub(super) quantum: i64,
}

/// One tin.
#[derive(Clone, Debug)]
pub(super) struct Tin {
    pub(super) terms: Terms,
    pub(super) clock: Clock,
    pub(super) deficit: i64,
    /// Bytes waiting.
    pub(super) bytes: u64,
    pub(super) queues: Vec<Queue>,
    sparse: u32,
    bulk: u32,
    lists: Lists,
    sets: Sets,
    /// Sources and destinations, where these share alike.
    hosts: [Option<Hosts>; 2],
    counts: Counts,
}

impl Tin {
    pub(super) fn new(terms: Terms, clock: Clock, sets: &Sets, hosts: [bool; 2]) -> Self {
        let queues = vec![Queue::default(); sets.places()];
        let hosts = hosts.map(|alike| alike.then(|| Hosts::new(sets.clone())));
        let (sets, lists, counts) = (sets.clone(), Lists::default(), Counts::default());
        Self { terms, clock, deficit: 0, bytes: 0, queues, sparse: 0, bulk: 0, lists, sets, hosts, counts }
    }

    /// The queue of a packet.
    pub(super) fn place(&mut self, whose: Identity) -> usize {
        let Self { sets, queues, counts, .. } = self;
        let (queue, newly) = match sets.claim(whose.queue, |place| queues[place].set != Set::Idle) {
            Slot::Own(place) => (place, queues[place].set == Set::Idle),
            Slot::Beside(place) => {
                counts.beside += 1;
                (place, queues[place].set == Set::Idle)
            }
            Slot::Free(place) => {
                counts.free += 1;
                (place, true)
            }
            Slot::Shared(place) => {
                counts.shared += 1;
                self.unload(place);
                (place, true)
            }
        };
        if newly {
            self.belongs(queue, whose);
        }
        queue
    }

    /// Notes whose queue this is now.
    fn belongs(&mut self, queue: usize, whose: Identity) {
        for (end, hosts) in self.hosts.iter_mut().enumerate() {
            let Some(hosts) = hosts else { continue };
            self.queues[queue].hosts[end] = hosts.claim(whose.hosts[end]);
        }
        self.load(queue);
    }

    /// One more bulk queue of its hosts, if it is one.
    fn load(&mut self, queue: usize) {
        self.each_host(queue, Hosts::add);
    }

    fn unload(&mut self, queue: usize) {
        self.each_host(queue, Hosts::remove);
    }

    fn each_host(&mut self, queue: usize, change: fn(&mut Hosts, usize)) {
        let it = &self.queues[queue];
        if it.set == Set::Bulk {
            let both = self.hosts.iter_mut().zip(it.hosts);
            both.for_each(|(hosts, place)| hosts.iter_mut().for_each(|hosts| change(hosts, place)));
        }
    }

    /// In parts of a byte: divided among the bulk queues of that of its hosts which has more of them.
    fn quantum(&self, queue: usize) -> i64 {
        let places = self.hosts.iter().zip(self.queues[queue].hosts);
        let loads = places.filter_map(|(hosts, place)| Some(hosts.as_ref()?.load(place)));
        let load = loads.max().unwrap_or(1).max(1);
        self.terms.flow_quantum as i64 * ((PARTS - 1) / i64::from(load))
    }

    fn becomes(&mut self, queue: usize, set: Set) {
        self.unload(queue);
        let old = std::mem::replace(&mut self.queues[queue].set, set);
        self.count(old).into_iter().for_each(|n| *n -= 1);
        self.count(set).into_iter().for_each(|n| *n += 1);
        self.load(queue);
    }

    fn count(&mut self, set: Set) -> Option<&mut u32> {
        match set {
            Set::Sparse | Set::Waiting => Some(&mut self.sparse),
            Set::Bulk => Some(&mut self.bulk),
            Set::Idle | Set::Decaying => None,
        }
    }

    /// A packet of `bytes` now waits in a queue.
    pub(super) fn queued(&mut self, queue: usize, bytes: u32) {
        self.bytes += u64::from(bytes);
        self.counts.largest = self.counts.largest.max(bytes);
        self.queues[queue].bytes += u64::from(bytes);
        let set = self.queues[queue].set;
        match set {
            Set::Sparse | Set::Bulk => {}
            Set::Waiting => self.becomes(queue, Set::Bulk),
            Set::Idle | Set::Decaying => {
                if set == Set::Decaying {
                    self.lists.decaying.retain(|&other| other as usize != queue);
                }
                self.lists.new.push_back(queue as u32);
                self.becomes(queue, Set::Sparse);
                self.queues[queue].deficit = self.quantum(queue);
            }
        }
    }

    /// A packet of `bytes` no longer waits in a queue.
    pub(super) fn left(&mut self, queue: usize, bytes: u32) {
        self.bytes -= u64::from(bytes);
        self.queues[queue].bytes -= u64::from(bytes);
    }

    /// Whether anything may wait in it.
    pub(super) fn has_work(&self) -> bool {
        self.sparse + self.bulk > 0
    }

    /// The queue whose turn it is; each packet that is sent lets one that decays have its turn first.
    pub(super) fn first(&self, decaying: bool) -> Option<usize> {
        let Lists { new, old, decaying: fading } = &self.lists;
        let first = fading.front().filter(|_| decaying).or_else(|| new.front());
        first.or_else(|| old.front()).or_else(|| fading.front()).map(|&queue| queue as usize)
    }

    /// Whether its turn is over before it begins.
    pub(super) fn is_in_debt(&self, queue: usize) -> bool {
        self.queues[queue].deficit <= 0
    }

    /// The first queue has had its quantum: it gets another one and waits for its next turn.
    pub(super) fn renew(&mut self, queue: usize, is_empty: bool) {
        if self.queues[queue].set == Set::Sparse {
            self.becomes(queue, if is_empty { Set::Waiting } else { Set::Bulk });
        }
        self.queues[queue].deficit += self.quantum(queue);
        self.lists.take_first(queue);
        self.lists.old.push_back(queue as u32);
    }

    /// The first queue is empty: it decays or leaves.
    pub(super) fn emptied(&mut self, queue: usize, now: Time) {
        let cobalt = &mut self.queues[queue].cobalt;
        cobalt.emptied(&self.terms.law, now);
        let active = cobalt.is_active(now);
        self.lists.take_first(queue);
        if active {
            self.lists.decaying.push_back(queue as u32);
        }
        self.becomes(queue, if active { Set::Decaying } else { Set::Idle });
    }

    /// A packet that counts `bytes` goes from a queue.
    pub(super) fn charge(&mut self, queue: usize, bytes: u32, now: Time) {
        self.queues[queue].deficit -= i64::from(bytes) * PARTS;
        self.clock.charge(bytes, now);
    }

    /// A packet goes that has waited so long.
    pub(super) fn waited(&mut self, wait: Span) {
        self.counts.waits.add(wait.ns());
    }

    /// What `tc -s` shows of it; `below` is what passed its queues.
    pub(super) fn counters(&self, below: &Below, each: &mut Each<'_>) {
        let (Terms { law, rate, flow_quantum, .. }, counts) = (&self.terms, &self.counts);
        let us = |ns: u64| (ns / 1000) as f64;
        let [sparse, bulk, decaying] = self.counts();
        let unresponsive = self.queues.iter().filter(|queue| queue.cobalt.probability() > 0.0).count();
        each("threshold_rate", rate.unwrap_or(0) as f64);
        each("target_us", us(law.target.ns()));
        each("interval_us", us(law.interval.ns()));
        each("peak_delay_us", us(counts.waits.peak));
        each("avg_delay_us", us(counts.waits.all));
        each("base_delay_us", us(counts.waits.base));
        each("backlog_bytes", self.bytes as f64);
        each("sent_packets", below.fates.queued.packets as f64);
        each("sent_bytes", below.fates.queued.bytes as f64);
        each("way_indirect_hits", counts.beside as f64);
        each("way_misses", counts.free as f64);
        each("way_collisions", counts.shared as f64);
        let filtered = below.dropped_for(Reason::Filtered);
        each("drops", (below.dropped() - filtered) as f64);
        each("ecn_mark", below.fates.marked.packets as f64);
        each("ack_drops", filtered as f64);
        each("sparse_flows", (sparse + decaying).into());
        each("bulk_flows", bulk.into());
        each("unresponsive_flows", unresponsive as f64);
        each("max_pkt_len", counts.largest.into());
        each("flow_quantum", *flow_quantum as f64);
    }

    /// How many queues are sparse, bulk, and decaying.
    pub(super) fn counts(&self) -> [u32; 3] {
        [self.sparse, self.bulk, self.lists.decaying.len() as u32]
    }
}
