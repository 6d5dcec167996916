//! fq as tc-fq(8) describes it and Linux 6.12 behaves. Flows own their packets; who waits, and how many of a band, is found
//! by looking at all of them. Times are ns, rates B/s.

use super::codel::{Log, Waiting};
use std::collections::VecDeque;

/// What it is told.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub quantum: i64,
    pub initial_quantum: i64,
    pub limit: usize,
    pub flow_limit: usize,
    pub pacing: bool,
    pub maxrate: Option<u64>,
    pub low_rate_threshold: u64,
    /// Milliseconds.
    pub refill_delay: u64,
    pub timer_slack: u64,
    pub ce_threshold: Option<u64>,
    pub weights: [i64; 3],
}

/// Who sent a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sender {
    /// Another host.
    Other,
    /// A connection of this host.
    Tcp,
    /// A socket of datagrams, with its rate.
    Socket(Option<u64>),
}

/// A packet, its band and its sender.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    pub packet: Waiting,
    pub band: usize,
    pub sender: Sender,
}

#[derive(Clone, Copy, PartialEq)]
enum At {
    New(usize),
    Old(usize),
    Throttled,
    /// Since this millisecond.
    Nowhere(u64),
}

struct Flow {
    packets: VecDeque<Packet>,
    at: At,
    credit: i64,
    band: usize,
    time_next: u64,
}

/// Flows are made by their first packets; the numbers in the lists are theirs.
pub struct Fq {
    set: Settings,
    flows: Vec<Option<Flow>>,
    fast: VecDeque<Packet>,
    new: [Vec<usize>; 3],
    old: [Vec<usize>; 3],
    credit: [i64; 3],
    band: usize,
    /// In the order of their times.
    throttled: Vec<(u64, usize)>,
    earliest: Option<u64>,
    timer: Option<u64>,
    /// When it is looked at again, after nothing could be sent.
    pub wakes: Option<u64>,
    pub log: Log,
}

impl Fq {
    pub fn new(flows: usize, set: Settings) -> Self {
        Self {
            set,
            flows: (0..flows).map(|_| None).collect(),
            fast: VecDeque::new(),
            new: Default::default(),
            old: Default::default(),
            credit: [0; 3],
            band: 0,
            throttled: Vec::new(),
            earliest: None,
            timer: None,
            wakes: None,
            log: Log::default(),
        }
    }

    pub fn packets(&self) -> usize {
        self.fast.len() + self.flows.iter().flatten().map(|flow| flow.packets.len()).sum::<usize>()
    }

    fn of_band(&self, band: usize) -> usize {
        self.flows.iter().flatten().flat_map(|flow| &flow.packets).filter(|packet| packet.band == band).count()
    }

    /// "Packets can take a fast path if nothing waits, or only flows that are throttled."
    fn goes_fast(&self, now: u64, packet: &Packet, handed: usize) -> bool {
        let any_ready = self.flows.iter().flatten().any(|flow| !flow.packets.is_empty() && flow.at != At::Throttled);
        let nothing = self.packets() + handed == 0;
        let due = self.earliest.is_some_and(|at| at <= now);
        (nothing || !any_ready && self.fast.len() < 8 && !due)
            && !matches!(packet.sender, Sender::Socket(Some(_)))
            && self.set.maxrate.is_none()
    }

    /// `handed` packets have been taken out and are not sent yet.
    pub fn enqueue(&mut self, i: usize, packet: Packet, handed: usize) {
        let now = packet.packet.arrived;
        if self.of_band(packet.band) >= self.set.limit {
            return self.log.dropped.push(packet.packet.id);
        }
        if self.goes_fast(now, &packet, handed) {
            return self.fast.push_back(packet);
        }
        let initial = self.set.initial_quantum;
        let fresh =
            || Flow { packets: VecDeque::new(), at: At::Nowhere(u64::MAX), credit: initial, band: 0, time_next: 0 };
        let flow = self.flows[i].get_or_insert_with(fresh);
        if flow.packets.len() >= self.set.flow_limit {
            return self.log.dropped.push(packet.packet.id);
        }
        if let At::Nowhere(since) = flow.at {
            flow.at = At::New(flow.band);
            self.new[flow.band].push(i);
            // The time of leaving is made odd.
            if since != u64::MAX && now / 1_000_000 > since / 2 * 2 + 1 + self.set.refill_delay {
                flow.credit = flow.credit.max(self.set.quantum);
            }
        }
        flow.band = packet.band;
        flow.packets.push_back(packet);
    }

    fn flow(&mut self, i: usize) -> &mut Flow {
        self.flows[i].as_mut().expect("it has had a packet")
    }

    fn becomes_old(&mut self, i: usize) {
        let flow = self.flow(i);
        flow.at = At::Old(flow.band);
        let band = flow.band;
        self.old[band].push(i);
    }

    fn end_waits(&mut self, now: u64) {
        if self.earliest.is_none_or(|at| at > now) {
            return;
        }
        while self.throttled.first().is_some_and(|first| first.0 <= now) {
            let (_, i) = self.throttled.remove(0);
            self.becomes_old(i);
        }
        self.earliest = self.throttled.first().map(|first| first.0);
    }

    pub fn dequeue(&mut self, now: u64) -> Option<Waiting> {
        self.wakes = None;
        if let Some(packet) = self.fast.pop_front() {
            return Some(packet.packet);
        }
        if self.packets() == 0 {
            return None;
        }
        self.end_waits(now);
        let mut tried = 0;
        loop {
            let b = self.band;
            let is_new = !self.new[b].is_empty();
            let list = if is_new { &mut self.new[b] } else { &mut self.old[b] };
            if self.credit[b] <= 0 || list.is_empty() {
                // Round the bands until each has been tried since the last one without credit.
                loop {
                    tried += 1;
                    if tried > 3 {
                        self.sleeps(now);
                        return None;
                    }
                    self.band = (self.band + 1) % 3;
                    let weight = self.set.weights[self.band];
                    self.credit[self.band] = (self.credit[self.band] + weight).min(weight);
                    if self.credit[self.band] > 0 {
                        break;
                    }
                    tried = 0;
                }
                continue;
            }
            tried = 0;
            let i = list[0];
            let quantum = self.set.quantum;
            let flow = self.flows[i].as_mut().expect("it is listed");
            if flow.credit <= 0 {
                list.remove(0);
                flow.credit += quantum;
                self.becomes_old(i);
                continue;
            }
            if flow.packets.is_empty() {
                list.remove(0);
                if is_new {
                    self.becomes_old(i);
                } else {
                    flow.at = At::Nowhere(now / 1_000_000);
                }
                continue;
            }
            let begins = flow.time_next.max(flow.packets[0].packet.arrived);
            if begins > now {
                list.remove(0);
                (flow.at, flow.time_next) = (At::Throttled, begins);
                let place = self.throttled.iter().filter(|other| other.0 <= begins).count();
                self.throttled.insert(place, (begins, i));
                self.earliest = Some(self.earliest.unwrap_or(begins).min(begins));
                continue;
            }
            let sent = flow.packets.pop_front().expect("it has one");
            if self.set.ce_threshold.is_some_and(|threshold| now - begins > threshold) && sent.packet.ecn {
                self.log.marked.push(sent.packet.id);
            }
            flow.credit -= sent.packet.bytes as i64;
            self.credit[b] -= sent.packet.bytes as i64;
            if self.set.pacing {
                self.pace(now, i, &sent);
            }
            return Some(sent.packet);
        }
    }

    fn pace(&mut self, now: u64, i: usize, sent: &Packet) {
        let set = self.set;
        let flow = self.flow(i);
        let rate = match sent.sender {
            Sender::Socket(Some(own)) => Some(set.maxrate.map_or(own, |most| most.min(own))),
            _ => set.maxrate,
        };
        let mut bytes = sent.packet.bytes;
        if sent.sender != Sender::Tcp {
            if rate.is_some_and(|rate| rate <= set.low_rate_threshold) {
                flow.credit = 0;
            } else {
                bytes = bytes.max(set.quantum as u64);
                if flow.credit > 0 {
                    return;
                }
            }
        }
        let Some(rate) = rate else { return };
        let mut pause = (bytes * 1_000_000_000 / rate).min(1_000_000_000);
        if flow.time_next != 0 {
            pause -= (pause / 2).min(now - flow.time_next);
        }
        flow.time_next = now + pause;
    }

    /// A timer that is set is left as it is if it is no more than the slack too late.
    fn sleeps(&mut self, now: u64) {
        let Some(at) = self.earliest else { return };
        let stays = self.timer.filter(|set| *set > now && *set >= at && set - at <= self.set.timer_slack);
        self.timer = Some(stays.unwrap_or(at));
        self.wakes = self.timer.map(|timer| timer + self.set.timer_slack);
    }
}
