//! The engine: events in the order of (time, component), packets from hop to hop.
//!
/// From a plan to a simulation at time zero.
mod assemble;
/// Changes while it runs.
mod changes;
/// Proof that no packet was lost unseen.
mod conservation;
/// The ends of flows.
mod endpoints;
/// Conditioners that publish.
mod exchange;
/// From a simulation to its outcome.
mod finish;
/// Queue lengths and gauges at an interval.
mod series;

use crate::agenda::{Component, Heap, Key, Numbering};
use crate::hosts::flow::{self as host, Flow};
use crate::net::link::Wakes;
use crate::net::{Link, Pool, RecordId, Way};
use crate::plan::{Plan, Sampling, TapPoint};
use crate::record::{Arrivals, Captured, FlowSample, Retired, Sample, Transfer};
use crate::traffic::AnyTraffic;
use perhop_core::Rng;
use perhop_core::conditioner::Passage;
use perhop_core::edge::Mail;
use perhop_core::needs::Needs;
use perhop_core::packet::{Ecn, FlowId};
use perhop_core::units::Time;
use perhop_core::verdict::Verdict;

pub use crate::agenda::{MAX_COMPONENTS, MAX_DURATION};
pub use assemble::{EngineOptions, PlanError};

/// In the table of hops: the packet has arrived.
pub(crate) const HERE: u32 = u32::MAX;

/// A traffic source with its random stream.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) traffic: AnyTraffic,
    pub(crate) rng: Rng,
    /// Index of its `[traffic]` table.
    pub(crate) table: u16,
    /// Its standing flow; for transfers, the one it uses first; for responses, none.
    pub(crate) flow: u32,
    pub(crate) stop: Time,
}

/// One replication, running.
#[derive(Clone, Debug)]
pub struct Simulation {
    pub(crate) plan: Plan,
    pub(crate) now: Time,
    pub(crate) events: Heap,
    pub(crate) timers: Heap,
    pub(crate) pool: Pool,
    pub(crate) links: Vec<Link>,
    pub(crate) hops: Vec<u32>,
    pub(crate) flows: Vec<Flow>,
    pub(crate) sources: Vec<Source>,
    /// Ways of each table: from each of its senders, then back to each of them.
    pub(crate) ways: Vec<Vec<Way>>,
    /// Flows of finished transfers, by table and way, to be used again.
    pub(crate) idle_flows: Vec<Vec<Vec<u32>>>,
    /// Finished transfers whose last packets are still under way.
    pub(crate) ending: Vec<u32>,
    /// Link whose conditioners want to see what a link delivers.
    pub(crate) mates: Vec<Option<u32>>,
    pub(crate) taps: Vec<[bool; 2]>,
    pub(crate) arrivals: Vec<[Arrivals; 4]>,
    pub(crate) transfers: Vec<Transfer>,
    pub(crate) open_transfers: Vec<u32>,
    /// Transfers that keys had no room for.
    pub(crate) refused: u64,
    /// What the connections of finished transfers did, by table.
    pub(crate) retired: Vec<Retired>,
    pub(crate) samples: Vec<Sample>,
    pub(crate) flow_samples: Vec<FlowSample>,
    pub(crate) captured: Vec<Captured>,
    pub(crate) packet_hops: u64,
    pub(crate) event_count: u64,
    pub(crate) warm: Option<finish::Totals>,
    pub(crate) overhead: u32,
    pub(crate) next_sample: Time,
    pub(crate) changes_made: usize,
    /// When the clock's next event is due.
    pub(crate) clock_at: Time,
    /// Links whose conditioners ask for the time.
    pub(crate) timed_edges: Vec<u32>,
    pub(crate) mail: Mail,
}

impl Simulation {
    pub(crate) fn numbering(&self) -> Numbering {
        Numbering { links: self.links.len(), sources: self.sources.len() }
    }

    /// Asks for the next event of the engine's own clock: a sample, a change, a report or the end of the warm-up.
    pub(crate) fn wake_clock(&mut self) {
        let warm = Time::ZERO + self.plan.warmup;
        let warm = if self.warm.is_none() { warm } else { Time::MAX };
        let sample = if self.plan.sampling.is_some() { self.next_sample } else { Time::MAX };
        // a conditioner that comes into being now may have a first report that is overdue
        let report = self.next_report().max(self.now);
        let at = warm.min(sample).min(self.next_change()).min(report);
        if at < self.clock_at {
            self.clock_at = at;
            self.events.push(Key::new(at, self.numbering().clock()));
        }
    }

    fn on_clock(&mut self, now: Time) {
        if now != self.clock_at {
            return; // an earlier one was asked for since
        }
        self.clock_at = Time::MAX;
        if self.warm.is_none() && now >= Time::ZERO + self.plan.warmup {
            self.end_warmup();
        }
        if let Some(Sampling { every, links }) = &self.plan.sampling
            && now >= self.next_sample
        {
            self.next_sample = now + *every;
            let flows = links.is_none();
            self.sample(now);
            if flows {
                self.sample_flows(now);
            }
        }
        self.make_changes(now);
        self.exchange(now);
        self.wake_clock();
    }

    /// Runs until `until` or the end of the plan, whichever is first; `true` when the plan's end is reached.
    pub fn run_until(&mut self, until: Time) -> bool {
        let end = Time::ZERO + self.plan.duration;
        let stop = until.min(end);
        let numbering = self.numbering();
        loop {
            let event = self.events.peek();
            let timer = self.timers.peek();
            let next = event.time().min(timer.time());
            if next > stop || (event == Key::NEVER && timer == Key::NEVER) {
                break;
            }
            debug_assert!(next >= self.now, "time goes on");
            self.now = next;
            self.event_count += 1;
            if timer.time() < event.time() {
                self.timers.take();
                self.on_timer(next, timer.index());
                continue;
            }
            self.events.take();
            match numbering.component(event.index()) {
                Component::Delivery(link) => self.deliver(next, link),
                Component::TransmitDone(link) => self.begin(next, link),
                Component::Source(source) => self.wake_source(next, source),
                Component::AqmTimer(link) => self.on_aqm_timer(next, link),
                Component::Clock => self.on_clock(next),
            }
        }
        self.now = stop;
        stop == end
    }

    /// A packet reaches the end of a link.
    #[inline]
    pub(crate) fn deliver(&mut self, now: Time, link: usize) {
        self.packet_hops += 1;
        let (id, next) = self.links[link].deliver(&self.pool);
        if let Some(at) = next {
            self.events.push(Key::new(at, self.numbering().delivery(link)));
        }
        let record = self.pool.get_mut(id);
        if self.links[link].wire_loss.is_some() && self.links[link].loses(&record.packet) {
            return self.drop(id);
        }
        if let Some(mate) = self.mates[link] {
            let flow = host::mate(record.packet.flow);
            self.links[mate as usize].edge.reverse(&Passage::of(now, flow), &mut record.packet);
        }
        if self.taps[link][TapPoint::Output as usize] {
            self.captured.push(record.captured(now, link, TapPoint::Output));
        }
        let next = self.hops[record.hop as usize];
        if next == HERE {
            self.arrive(now, id);
        } else {
            record.hop += 1;
            self.forward(now, next as usize, id);
        }
    }

    /// A packet comes to a port.
    #[inline]
    pub(crate) fn forward(&mut self, now: Time, link: usize, id: RecordId) {
        let port = &mut self.links[link];
        let record = self.pool.get_mut(id);
        if self.taps[link][TapPoint::Input as usize] {
            self.captured.push(record.captured(now, link, TapPoint::Input));
        }
        if !port.edge.is_empty() {
            let flow = &self.flows[(record.packet.flow.0 / 2) as usize];
            let truth = if port.edge_needs.contains(Needs::TRUTH) { flow.truth() } else { None };
            let class = usize::from(record.packet.class);
            port.offered[class].offered.add(record.packet.size);
            let at = Passage { truth: truth.as_ref(), ..Passage::of(now, record.packet.flow) };
            let verdict = port.edge.forward(&at, &mut record.packet);
            let ce = verdict == Verdict::Mark && record.packet.ecn.capable();
            if ce {
                record.packet.ecn = Ecn::Ce;
            } else if verdict != Verdict::Pass {
                port.offered[class].policed[record.packet.colour.index()].add(record.packet.size);
                return self.drop(id);
            }
        }
        match port.arrive(now, id, &mut self.pool) {
            Err(_reason) => self.drop(id),
            Ok(wakes) if wakes.begin => self.begin(now, link),
            Ok(wakes) => self.wake_link(link, wakes),
        }
    }

    #[inline]
    fn wake_link(&mut self, link: usize, wakes: Wakes) {
        if let Some(at) = wakes.delivery {
            self.events.push(Key::new(at, self.numbering().delivery(link)));
        }
        if let Some(at) = wakes.transmit_done {
            self.events.push(Key::new(at, link));
        }
    }

    /// A link's next transmission begins.
    pub(crate) fn begin(&mut self, now: Time, link: usize) {
        if self.links[link].has_departure_hooks() {
            while let Some((id, _reason)) = self.links[link].departing(now, &mut self.pool) {
                self.drop(id);
            }
        }
        let wakes = self.links[link].begin(now, &self.pool);
        self.wake_link(link, wakes);
    }

    fn on_aqm_timer(&mut self, now: Time, link: usize) {
        self.links[link].on_timer(now);
        if let Some(at) = self.links[link].poll_at() {
            self.events.push(Key::new(at, self.numbering().aqm_timer(link)));
        }
    }

    /// A packet ends before its destination.
    #[cold]
    pub(crate) fn drop(&mut self, id: RecordId) {
        let record = self.pool.remove(id);
        let FlowId(number) = record.packet.flow;
        let slot = (number / 2) as usize;
        let flow = &mut self.flows[slot];
        flow.in_network -= 1;
        if number.is_multiple_of(2) {
            flow.counts.dropped.add(record.wire);
        } else {
            flow.counts.acks[2].add(record.wire);
        }
        if flow.in_network == 0 && !self.ending.is_empty() {
            self.recycle(slot);
        }
    }
}
