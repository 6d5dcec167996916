//! What arrives at hosts, by class and colour.

use super::delays::Delays;
use super::outcome::ArrivalRow;
use perhop_core::count::Count;
use perhop_core::packet::{Colour, Packet};
use perhop_core::units::Span;

/// Delay and jitter of one class and colour, at the destination.
#[derive(Clone, Debug, Default)]
struct Arrived {
    delivered: Count,
    delays: Delays,
    jitters: Delays,
}

/// One-way delay of a packet that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OneWay {
    /// From its source to its destination.
    pub delay: Span,
    /// By how much that differs from the packet before it of its flow (RFC 3393).
    pub jitter: Option<Span>,
}

/// All classes and colours.
#[derive(Clone, Debug)]
pub struct Arrivals(Vec<[Arrived; 4]>);

impl Arrivals {
    /// For this many classes.
    pub fn new(classes: usize) -> Self {
        Self(vec![Default::default(); classes])
    }

    /// A data packet of `wire` bytes (IP length) has arrived.
    #[inline]
    pub fn add(&mut self, packet: &Packet, wire: u32, trip: OneWay) {
        let arrived = &mut self.0[usize::from(packet.class)][packet.colour.index()];
        arrived.delivered.add(wire);
        arrived.delays.observe(trip.delay.ns());
        if let Some(jitter) = trip.jitter {
            arrived.jitters.observe(jitter.ns());
        }
    }

    /// What has arrived so far, by class and colour.
    pub fn delivered(&self) -> Vec<[Count; 4]> {
        let class = |of: &[Arrived; 4]| std::array::from_fn(|colour| of[colour].delivered);
        self.0.iter().map(class).collect()
    }

    /// Delays begin again.
    pub fn clear(&mut self) {
        self.0.iter_mut().flatten().flat_map(|a| [&mut a.delays, &mut a.jitters]).for_each(Delays::clear);
    }

    /// Classes and colours that packets arrived of since the counts were `base`.
    pub fn rows(&self, base: &[[Count; 4]]) -> Vec<ArrivalRow> {
        let mut rows = Vec::new();
        for (class, colours) in self.0.iter().enumerate() {
            for colour in Colour::ALL {
                let of = &colours[colour.index()];
                let delivered = of.delivered - base[class][colour.index()];
                if delivered.packets > 0 {
                    let (delay, jitter) = (of.delays.quantiles(), of.jitters.quantiles());
                    rows.push(ArrivalRow { class, colour, delivered, delay, jitter });
                }
            }
        }
        rows
    }
}
