//! What arrives at hosts, by class and colour: of each flow, and so of all.

use super::delays::{Delays, Quantiles};
use super::outcome::ArrivalRow;
use perhop_core::count::Count;
use perhop_core::counted::{Counted, Of};
use perhop_core::packet::Packet;
use perhop_core::units::Span;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Delay and jitter of one class and colour, at the destination.
#[derive(Clone, Debug, Default)]
struct Arrived {
    delivered: Count,
    delays: Delays,
    jitters: Delays,
}

impl Arrived {
    fn add(&mut self, other: &Self) {
        self.delivered += other.delivered;
        self.delays.add(&other.delays);
        self.jitters.add(&other.jitters);
    }
}

/// One-way delay of a packet that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OneWay {
    /// From its source to its destination.
    pub delay: Span,
    /// By how much that differs from the packet before it of its flow (RFC 3393).
    pub jitter: Option<Span>,
}

/// Packets and bytes that have arrived, as `accounting` counts them.
pub type Delivered = BTreeMap<Of, Count>;

/// Of one flow or of several.
#[derive(Clone, Debug, Default)]
pub struct Arrivals(Counted<Arrived>);

impl Arrivals {
    /// A data packet has arrived.
    #[inline]
    pub fn add(&mut self, packet: &Packet, trip: OneWay) {
        let arrived = self.0.at(packet.class, packet.colour);
        arrived.delivered.add(packet.size);
        arrived.delays.observe(trip.delay.ns());
        if let Some(jitter) = trip.jitter {
            arrived.jitters.observe(jitter.ns());
        }
    }

    /// With that of another flow.
    pub fn plus(mut self, other: &Self) -> Self {
        other.0.iter().for_each(|(of, arrived)| self.0.at(of.class() as u16, of.colour()).add(arrived));
        self
    }

    /// Adds what has arrived so far to what has arrived of other flows.
    pub fn add_delivered(&self, all: &mut Delivered) {
        for (of, arrived) in self.0.iter() {
            let sum = all.entry(of).or_default();
            *sum += arrived.delivered;
        }
    }

    /// One-way delays of all classes and colours together, and their differences; `None` where there is none.
    pub fn quantiles(&self) -> [Option<Quantiles>; 2] {
        let mut all = self.0.values();
        let Some(first) = all.next() else { return [None; 2] };
        let sum = all.fold(Cow::Borrowed(first), |mut sum, other| {
            sum.to_mut().add(other);
            sum
        });
        [sum.delays.quantiles(), sum.jitters.quantiles()]
    }

    /// One-way delays of a class, all its colours together; `None` where nothing of it arrived.
    pub fn delay_of(&self, class: usize) -> Option<Quantiles> {
        let mut all = Delays::default();
        self.0.iter().filter(|(of, _)| of.class() == class).for_each(|(_, arrived)| all.add(&arrived.delays));
        all.quantiles()
    }

    /// Delays begin again.
    pub fn clear(&mut self) {
        self.0.values_mut().flat_map(|a| [&mut a.delays, &mut a.jitters]).for_each(Delays::clear);
    }

    /// Classes and colours that packets arrived of since the counts were `base`; with histograms if `delays`.
    pub fn rows(&self, base: &Delivered, delays: bool) -> Vec<ArrivalRow> {
        let row = |(of, it): (Of, &Arrived)| {
            let delivered = it.delivered - base.get(&of).copied().unwrap_or_default();
            let (class, colour) = (of.class(), of.colour());
            let (delay, jitter) = (it.delays.quantiles(), it.jitters.quantiles());
            let histogram = if delays { it.delays.distribution() } else { Vec::new() };
            (delivered.packets > 0).then_some(ArrivalRow { class, colour, delivered, delay, jitter, histogram })
        };
        let mut rows: Vec<_> = self.0.iter().filter_map(row).collect();
        rows.sort_by_key(|row| Of::new(row.class as u16, row.colour));
        rows
    }
}
