//! Dialogues: what a port sees of one flow in both directions, and of the packets that leave its queue.

use super::load::{Offered, arrivals};
use perhop_core::Rng;
use perhop_core::conditioner::{Conditioner, Passage};
use perhop_core::needs::Needs;
use perhop_core::packet::{Packet, flags};
use perhop_core::port::Turn;
use perhop_core::units::Time;
use perhop_core::verdict::Verdict;
use proptest::prelude::*;

/// What happens at the port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A packet goes to the queue.
    Forward,
    /// A packet comes back over the mate link.
    Reverse,
    /// The packet that has waited longest leaves.
    Departs,
    /// The packet that has waited longest is lost.
    Lost,
}

/// One event; the packet is of no meaning where one leaves.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Which.
    pub event: Event,
    /// When, and with which packet.
    pub offered: Offered,
}

/// A flow with segments of one size, as TCP: what it has sent and what is acknowledged.
struct Talk {
    payload: u16,
    start: u32,
    sent: u32,
    acked: u32,
}

/// What the dice say of a step.
type Dice = (u8, u32, bool);

impl Talk {
    /// Sequence number at the end of segment `n`.
    fn end(&self, n: u32) -> u32 {
        self.start.wrapping_add(n.wrapping_mul(u32::from(self.payload)))
    }

    /// Segment `n`, a new one or again.
    fn segment(&mut self, n: u32, packet: &mut Packet) {
        (packet.payload, packet.seq_end) = (self.payload, self.end(n));
        packet.size = u32::from(self.payload) + 40;
        packet.flags |= flags::ACK;
        self.sent = self.sent.max(n);
    }

    fn acks(&mut self, n: u32, packet: &mut Packet) {
        (packet.ack, packet.payload) = (self.end(n), 0);
        packet.flags |= flags::ACK;
        self.acked = self.acked.max(n);
    }

    /// What happens, and the packet's fields.
    fn event(&mut self, (die, n, odd): Dice, packet: &mut Packet) -> Event {
        let outstanding = self.sent - self.acked;
        match die {
            0..=39 if outstanding < 40 => self.segment(self.sent + 1, packet),
            40..=44 if outstanding > 0 => self.segment(self.acked + 1 + n % outstanding, packet),
            45..=46 => self.acks(n % (self.acked + 1), packet), // a pure ACK, the flow's other half
            _ => return self.back((die, n, odd), packet),
        }
        Event::Forward
    }

    fn back(&mut self, (die, n, odd): Dice, packet: &mut Packet) -> Event {
        let outstanding = self.sent - self.acked;
        match die {
            0..=69 if outstanding > 0 => self.acks(self.acked + 1 + n % outstanding.min(3), packet),
            70..=76 if outstanding > 0 => self.acks(self.acked, packet),
            77..=79 => self.acks(n % (self.acked + 1), packet), // came late
            80..=82 => {
                self.acks(self.acked, packet);
                packet.payload = 200; // data that goes the other way
            }
            83..=84 => packet.flags &= !flags::ACK, // a datagram
            _ => return if odd { Event::Lost } else { Event::Departs },
        }
        Event::Reverse
    }
}

/// Packets to the queue and nothing else, or a dialogue: segments, retransmissions, ACKs new, duplicate and late, some with
/// labels, packets that leave the queue and packets lost in it. Sequence numbers start anywhere, often just before 2^32.
pub fn dialogues(most: usize) -> BoxedStrategy<Vec<Step>> {
    let forward =
        |load: Vec<Offered>| load.into_iter().map(|offered| Step { event: Event::Forward, offered }).collect();
    prop_oneof![1 => arrivals(most).prop_map(forward), 3 => talks(most)].boxed()
}

fn talks(most: usize) -> impl Strategy<Value = Vec<Step>> {
    let start = prop_oneof![any::<u32>(), (0u32..100_000).prop_map(|n| u32::MAX - n)];
    let payload = prop_oneof![Just(1000u16), 1u16..1460];
    let dice = prop::collection::vec((0u8..100, any::<u32>(), any::<bool>()), most);
    (arrivals(most), start, payload, dice).prop_map(|(load, start, payload, dice)| {
        let mut talk = Talk { payload, start, sent: 0, acked: 0 };
        let step = |(mut offered, dice): (Offered, Dice)| {
            let labelled = offered.packet.label().filter(|_| dice.2);
            labelled.into_iter().for_each(|label| offered.packet.set_ack_label(label));
            Step { event: talk.event(dice, &mut offered.packet), offered }
        };
        load.into_iter().zip(dice).map(step).collect()
    })
}

/// A conditioner and the queue behind it.
pub struct Host<C> {
    /// It.
    pub conditioner: C,
    /// What waits.
    pub waiting: std::collections::VecDeque<Packet>,
}

impl<C> Host<C> {
    /// With an empty queue.
    pub fn new(conditioner: C) -> Self {
        Self { conditioner, waiting: std::collections::VecDeque::new() }
    }

    /// Does a step by `call`; the packet as it then is, unless none is concerned or it was dropped.
    pub fn step(&mut self, step: &Step, call: impl FnOnce(&mut C, Time, &mut Packet) -> Verdict) -> Option<Packet> {
        let mut packet = match step.event {
            Event::Forward | Event::Reverse => step.offered.packet,
            Event::Departs => self.waiting.pop_front()?,
            Event::Lost => {
                self.waiting.pop_front();
                return None;
            }
        };
        if call(&mut self.conditioner, step.offered.at, &mut packet) != Verdict::Pass {
            return None;
        }
        if step.event == Event::Forward {
            self.waiting.push_back(packet);
        }
        Some(packet)
    }
}

/// Calls what a host would: departures only where they are asked for, and what comes back likewise.
pub fn call<C: Conditioner>(it: &mut C, event: Event, (now, packet): (Time, &mut Packet), rng: &mut Rng) -> Verdict {
    let at = Passage::of(now, packet.flow);
    match event {
        Event::Forward => return it.forward(Turn::testing(&at), packet, rng),
        Event::Reverse if it.needs().contains(Needs::REVERSE) => it.reverse(Turn::testing(&at), packet, rng),
        Event::Departs if it.needs().contains(Needs::DEPARTURES) => it.departing(Turn::testing(&at), packet, rng),
        _ => {}
    }
    Verdict::Pass
}
