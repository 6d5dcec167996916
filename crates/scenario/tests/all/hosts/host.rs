//! A host with one port and one line, without the simulator: takes a list of packets, returns their departures and
//! leaves the counts in the port. A test holds it to 80 lines.

use perhop_core::conditioner::Passage;
use perhop_core::packet::Packet;
use perhop_core::port::{Buffers, Port};
use perhop_core::units::{NS_PER_S, Span, Time};
use perhop_core::verdict::Reason;

/// A packet that arrives at the port.
pub struct Event {
    pub at: Time,
    pub packet: Packet,
    pub wire: u32,
}

struct Held(Vec<Packet>);

impl Buffers<usize> for Held {
    fn packet(&mut self, i: usize) -> &mut Packet {
        &mut self.0[i]
    }

    fn dropped(&mut self, _: usize, _: Reason) {}
}

/// A line of `rate` bit/s, with what it has sent since it was last idle.
struct Line {
    rate: u64,
    began: Time,
    bits: u128,
    ends: Time,
}

impl Line {
    fn send(&mut self, now: Time, bytes: u32) -> Time {
        if self.ends < now {
            (self.began, self.bits) = (now, 0);
        }
        self.bits += 8 * u128::from(bytes);
        self.ends = self.began + Span::from_ns((self.bits * u128::from(NS_PER_S) / u128::from(self.rate)) as u64);
        self.ends
    }
}

/// Every packet sent, with the end of its transmission.
pub fn drive(port: &mut Port<usize>, rate: u64, events: &[Event], end: Time) -> Vec<(Time, Packet)> {
    let mut held = Held(events.iter().map(|event| event.packet).collect());
    let mut line = Line { rate, began: Time::ZERO, bits: 0, ends: Time::ZERO };
    let (mut busy, mut opens, mut sent) = (None, None, Vec::new());
    let mut begin = |port: &mut Port<usize>, held: &mut Held, now| {
        let leaving = port.next(now, held)?;
        let ends = line.send(now, events[leaving.handle].wire);
        port.busy_until(&leaving, ends);
        sent.push((ends, held.0[leaving.handle]));
        Some(ends)
    };
    for (i, event) in events.iter().map(Some).chain([None]).enumerate() {
        let now = event.map_or(end, |event| event.at);
        loop {
            // The end of a transmission, or a shaper that lets something go.
            let sends = busy.or(opens);
            let timer = port.poll_at().filter(|at| *at < now);
            let Some(at) = sends.into_iter().chain(timer).min().filter(|at| *at <= now) else { break };
            match sends == Some(at) {
                true => (busy, opens) = (begin(port, &mut held, at), port.opens_at()),
                false => port.on_timer(at),
            }
        }
        let Some(event) = event else { break };
        port.arrive(&Passage::of(now, event.packet.flow), &mut held.0[i], i);
        port.evict(now, &mut held);
        if busy.is_none() {
            (busy, opens) = (begin(port, &mut held, now), port.opens_at());
        }
    }
    sent
}
