//! CAKE as its paper describes it and Linux 6.12 behaves: every flow has its own queue, and how many bulk flows a host has is
//! counted whenever it matters. Queues own their packets; a list is searched from its first place.

use super::cobalt::{Cobalt, Times};
use super::codel::Waiting;
use crate::common::frames::counted;
use perhop_core::Rng;
use perhop_core::framing::Framing;

/// Which list a flow is in, and what it counts as.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Is {
    Nowhere,
    /// New, counts as sparse.
    Sparse,
    /// Old, counts as sparse: its quantum was gone when it was found empty.
    SparseAmongOld,
    Bulk,
    Decaying,
}

struct Flow {
    queue: Vec<Waiting>,
    is: Is,
    /// Bytes x 2^16.
    deficit: i128,
    hosts: [usize; 2],
    cobalt: Cobalt,
}

struct Tin {
    flows: Vec<Flow>,
    new: Vec<usize>,
    old: Vec<usize>,
    decaying: Vec<usize>,
    rate: Option<u64>,
    times: Times,
    flow_quantum: i128,
    quantum: i128,
    deficit: i128,
    next: i128,
}

/// What both versions are told.
#[derive(Clone, Debug)]
pub struct Settings {
    /// B/s
    pub rate: Option<u64>,
    /// Of each tin, B/s, and its quantum.
    pub tins: Vec<(Option<u64>, i128)>,
    /// ns
    pub rtt: i128,
    pub memory: u64,
    /// Whether sources, and destinations, share alike.
    pub alike: [bool; 2],
    /// Of each flow.
    pub hosts: Vec<[usize; 2]>,
    /// Largest packet, B.
    pub mtu: u64,
    /// Which bytes of a packet rates and quanta count.
    pub framing: Framing,
}

/// The whole of it.
pub struct Cake {
    settings: Settings,
    tins: Vec<Tin>,
    current: usize,
    next: i128,
    rng: Rng,
    pub dropped: Vec<u32>,
    pub marked: Vec<u32>,
}

/// ns that bytes take, from 10^9 / rate in 34 significant bits.
fn time(bytes: u64, rate: Option<u64>) -> i128 {
    let Some(rate) = rate else { return 0 };
    let mut divisor = 1u128 << 34;
    let mut per_byte = (1_000_000_000u128 << 34) / u128::from(rate);
    while per_byte >= 1 << 34 {
        per_byte /= 2;
        divisor /= 2;
    }
    (u128::from(bytes) * per_byte / divisor) as i128
}

impl Cake {
    pub fn new(settings: Settings, rng: Rng) -> Self {
        let tin = |&(rate, quantum): &(Option<u64>, i128)| {
            let packet = time(settings.mtu, rate);
            let base = (settings.rtt / 20_000).max(1) * 1000;
            let target = (packet * 3 / 2).max(base);
            let interval = (settings.rtt + target - base).max(2 * target);
            let flow = |&hosts: &[usize; 2]| Flow {
                queue: vec![],
                is: Is::Nowhere,
                deficit: 0,
                hosts,
                cobalt: Cobalt::default(),
            };
            Tin {
                flows: settings.hosts.iter().map(flow).collect(),
                new: vec![],
                old: vec![],
                decaying: vec![],
                rate,
                times: Times { target, interval, spared: 4 * packet },
                flow_quantum: rate.map_or(1514, |rate| (rate / 4096).clamp(300, 1514)).into(),
                quantum,
                deficit: 0,
                next: 0,
            }
        };
        let tins = settings.tins.iter().map(tin).collect();
        Self { settings, tins, current: 0, next: 0, rng, dropped: vec![], marked: vec![] }
    }

    fn packets(&self) -> usize {
        self.tins.iter().flat_map(|tin| &tin.flows).map(|flow| flow.queue.len()).sum()
    }

    fn bytes(&self) -> u64 {
        self.tins.iter().flat_map(|tin| &tin.flows).map(Flow::bytes).sum()
    }

    /// Of the hosts that share alike, the one with more bulk flows in this tin divides the quantum.
    fn quantum(&self, tin: usize, flow: usize) -> i128 {
        let tin = &self.tins[tin];
        let load = |end: usize| {
            let host = tin.flows[flow].hosts[end];
            tin.flows.iter().filter(|other| other.is == Is::Bulk && other.hosts[end] == host).count()
        };
        let mut most = 1;
        for end in [0, 1] {
            if self.settings.alike[end] {
                most = most.max(load(end));
            }
        }
        tin.flow_quantum * (65_535 / most as i128)
    }

    pub fn enqueue(&mut self, tin: usize, flow: usize, packet: Waiting) {
        let now = i128::from(packet.arrived);
        if self.tins[tin].flows.iter().all(|flow| flow.queue.is_empty()) {
            self.tins[tin].next = self.tins[tin].next.max(now);
            if self.packets() == 0 {
                self.next = self.next.max(now);
            }
        }
        let at = &mut self.tins[tin];
        at.flows[flow].queue.push(packet);
        match at.flows[flow].is {
            Is::Nowhere | Is::Decaying => {
                at.decaying.retain(|&other| other != flow);
                at.new.push(flow);
                at.flows[flow].is = Is::Sparse;
                let quantum = self.quantum(tin, flow);
                self.tins[tin].flows[flow].deficit = quantum;
            }
            Is::SparseAmongOld => at.flows[flow].is = Is::Bulk,
            Is::Sparse | Is::Bulk => {}
        }
        while self.bytes() > self.settings.memory {
            self.cut(now);
        }
    }

    /// The queue with most bytes, the first of several, loses its first packet.
    fn cut(&mut self, now: i128) {
        let mut longest = (0, 0);
        for (t, tin) in self.tins.iter().enumerate() {
            for (f, flow) in tin.flows.iter().enumerate() {
                if flow.bytes() > self.tins[longest.0].flows[longest.1].bytes() {
                    longest = (t, f);
                }
            }
        }
        let times = self.tins[longest.0].times;
        let flow = &mut self.tins[longest.0].flows[longest.1];
        flow.cobalt.full(times, now);
        self.dropped.push(flow.queue.remove(0).id);
    }

    /// With a rate: priority to those on time, by their number; else the earliest. Without: DRR.
    fn choose(&mut self, now: i128) -> usize {
        if self.settings.rate.is_some() {
            let (mut best, mut best_time) = (0, i128::MAX);
            for (i, tin) in self.tins.iter().enumerate() {
                let until = tin.next - now;
                if tin.busy() && (until <= 0 || until <= best_time) {
                    (best, best_time) = (i, until);
                }
            }
            return best;
        }
        let mut i = self.current;
        while self.tins[i].deficit < 0 || !self.tins[i].busy() {
            if self.tins[i].deficit <= 0 {
                self.tins[i].deficit += self.tins[i].quantum;
            }
            i = (i + 1) % self.tins.len();
        }
        i
    }

    /// The packet that is sent; `None` if none waits or its time has not come.
    pub fn dequeue(&mut self, now: u64) -> Option<Waiting> {
        let now = i128::from(now);
        let mut first = true;
        loop {
            if self.packets() == 0 || self.next > now {
                return None;
            }
            let t = self.choose(now);
            self.current = t;
            let f = self.serve(t, &mut first);
            if let Some(packet) = self.take(t, f, now) {
                let counted = counted(self.settings.framing, packet.bytes as u32);
                self.pay(t, f, counted.into(), now);
                return Some(packet);
            }
        }
    }

    /// The flow of a tin whose turn it is.
    fn serve(&mut self, t: usize, first: &mut bool) -> usize {
        loop {
            let tin = &self.tins[t];
            let mut lists = vec![&tin.new, &tin.old, &tin.decaying];
            if *first {
                lists.insert(0, &tin.decaying);
            }
            *first = false;
            let f = *lists.into_iter().find(|list| !list.is_empty()).expect("someone")[..].first().unwrap();
            if tin.flows[f].deficit > 0 {
                return f;
            }
            if tin.flows[f].is == Is::Sparse {
                let empty = tin.flows[f].queue.is_empty();
                self.tins[t].flows[f].is = if empty { Is::SparseAmongOld } else { Is::Bulk };
            }
            let quantum = self.quantum(t, f);
            let tin = &mut self.tins[t];
            tin.flows[f].deficit += quantum;
            tin.forget(f);
            tin.old.push(f);
        }
    }

    /// The packet that COBALT lets go; without one the flow loses its place.
    fn take(&mut self, t: usize, f: usize, now: i128) -> Option<Waiting> {
        let tin = &mut self.tins[t];
        let flow = &mut tin.flows[f];
        while !flow.queue.is_empty() {
            let packet = flow.queue.remove(0);
            let (mark, drop) = flow.cobalt.judge(tin.times, now, packet, &mut self.rng);
            if drop && !flow.queue.is_empty() {
                self.dropped.push(packet.id);
                continue;
            }
            if mark {
                self.marked.push(packet.id);
            }
            return Some(packet);
        }
        flow.cobalt.empty(tin.times, now);
        let rests = flow.cobalt.p == 0 && flow.cobalt.count == 0 && now >= flow.cobalt.drop_next;
        flow.is = if rests { Is::Nowhere } else { Is::Decaying };
        tin.forget(f);
        if !rests {
            tin.decaying.push(f);
        }
        None
    }

    fn pay(&mut self, t: usize, f: usize, bytes: u64, now: i128) {
        let tin = &mut self.tins[t];
        tin.flows[f].deficit -= i128::from(bytes) << 16;
        tin.deficit -= i128::from(bytes);
        let takes = time(bytes, tin.rate);
        if tin.next < now {
            tin.next += takes;
        } else if tin.next < now + takes {
            tin.next = now + takes;
        }
        self.next += time(bytes, self.settings.rate);
    }
}

impl Flow {
    fn bytes(&self) -> u64 {
        self.queue.iter().map(|packet| packet.bytes).sum()
    }
}

impl Tin {
    /// Flows that are sparse or bulk: those that may have packets.
    fn busy(&self) -> bool {
        self.flows.iter().any(|flow| !matches!(flow.is, Is::Nowhere | Is::Decaying))
    }

    fn forget(&mut self, flow: usize) {
        for list in [&mut self.new, &mut self.old, &mut self.decaying] {
            list.retain(|&other| other != flow);
        }
    }
}
