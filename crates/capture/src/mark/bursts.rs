//! Microbursts: the most bytes of forward packets within any 1, 10 and 100 ms.
//!
//! A burst of width w ends with a packet at t and holds what came in (t - w, t]. Of bursts with as many bytes the first
//! counts. Exact; memory is 16 bytes for each packet of the last 100 ms, and one entry for each of their flows a width.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, VecDeque};

use perhop_core::packet::FlowId;
use perhop_core::units::{Span, Time};

/// Widths, ascending.
pub(crate) const WIDTHS: [Span; 3] = [Span::from_ms(1), Span::from_ms(10), Span::from_ms(100)];

/// A packet.
#[derive(Clone, Copy, Debug)]
struct Arrived {
    at: Time,
    flow: FlowId,
    size: u32,
}

/// The largest burst of a width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Burst {
    pub(crate) bytes: u64,
    pub(crate) packets: u64,
    /// When its first and its last packet came.
    pub(crate) first: Time,
    pub(crate) last: Time,
    /// The flow with the most bytes in it, and those bytes; of equals the flow that was seen first.
    pub(crate) flow: FlowId,
    pub(crate) flow_bytes: u64,
}

/// The last packets within a width.
#[derive(Clone, Debug)]
struct Window {
    width: Span,
    /// How many of the newest packets are in it.
    packets: usize,
    bytes: u64,
    by_flow: HashMap<FlowId, u64>,
    largest_flows: BTreeSet<(u64, Reverse<FlowId>)>,
    best: Option<Burst>,
}

impl Window {
    fn new(width: Span) -> Self {
        let (by_flow, largest_flows) = (HashMap::new(), BTreeSet::new());
        Self { width, packets: 0, bytes: 0, by_flow, largest_flows, best: None }
    }

    /// Makes a flow's bytes what `change` makes of them.
    fn count(&mut self, flow: FlowId, change: impl FnOnce(u64) -> u64) {
        let before = self.by_flow.remove(&flow).unwrap_or(0);
        self.largest_flows.remove(&(before, Reverse(flow)));
        let after = change(before);
        self.bytes = self.bytes - before + after;
        if after > 0 {
            self.by_flow.insert(flow, after);
            self.largest_flows.insert((after, Reverse(flow)));
        }
    }

    /// The newest packet of `recent` comes in, and what is too old for it goes out.
    fn slide(&mut self, recent: &VecDeque<Arrived>) {
        let newest = recent[recent.len() - 1];
        let oldest = |packets: usize| recent[recent.len() - packets];
        while self.packets > 0 && newest.at.since(oldest(self.packets + 1).at) >= self.width {
            let out = oldest(self.packets + 1);
            self.count(out.flow, |bytes| bytes - u64::from(out.size));
            self.packets -= 1;
        }
        self.count(newest.flow, |bytes| bytes + u64::from(newest.size));
        self.packets += 1;
        if self.best.is_none_or(|best| self.bytes > best.bytes)
            && let Some(&(flow_bytes, Reverse(flow))) = self.largest_flows.last()
        {
            let (bytes, packets, first) = (self.bytes, self.packets as u64, oldest(self.packets).at);
            self.best = Some(Burst { bytes, packets, first, last: newest.at, flow, flow_bytes });
        }
    }
}

/// The bursts of a capture.
#[derive(Clone, Debug)]
pub(crate) struct Bursts {
    recent: VecDeque<Arrived>,
    windows: [Window; WIDTHS.len()],
}

impl Bursts {
    pub(crate) fn new() -> Self {
        Self { recent: VecDeque::new(), windows: WIDTHS.map(Window::new) }
    }

    /// A packet; times never go back.
    pub(crate) fn add(&mut self, at: Time, flow: FlowId, size: u32) {
        self.recent.push_back(Arrived { at, flow, size });
        self.windows.iter_mut().for_each(|window| window.slide(&self.recent));
        let kept = self.windows.iter().map(|window| window.packets).max().unwrap_or(0);
        self.recent.drain(..self.recent.len() - kept);
    }

    /// The largest of each width.
    pub(crate) fn largest(&self) -> impl Iterator<Item = (Span, Burst)> {
        self.windows.iter().filter_map(|window| Some((window.width, window.best?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// All windows that end with a packet, summed one by one.
    fn slow(width: Span, load: &[Arrived]) -> Option<Burst> {
        let mut best: Option<Burst> = None;
        for end in 1..=load.len() {
            let last = load[end - 1].at;
            let within: Vec<_> = load[..end].iter().filter(|it| last.since(it.at) < width).collect();
            let bytes = within.iter().map(|it| u64::from(it.size)).sum();
            if best.is_none_or(|best| bytes > best.bytes) {
                let of = |flow| within.iter().filter(|it| it.flow == flow).map(|it| u64::from(it.size)).sum::<u64>();
                let (flow_bytes, Reverse(flow)) = within.iter().map(|it| (of(it.flow), Reverse(it.flow))).max()?;
                let packets = within.len() as u64;
                best = Some(Burst { bytes, packets, first: within[0].at, last, flow, flow_bytes });
            }
        }
        best
    }

    proptest! {
        #[test]
        fn the_largest_of_each_width(
            gaps in prop::collection::vec(
                (prop_oneof![4 => 0u64..400_000, 2 => 0u64..20_000_000, 1 => Just(1_000_000), 1 => 0u64..300_000_000], 0u32..5, 0u32..1500),
                1..80,
            ),
        ) {
            let (mut now, mut load, mut bursts) = (Time::ZERO, Vec::new(), Bursts::new());
            for (gap, flow, size) in gaps {
                now += Span::from_ns(gap);
                load.push(Arrived { at: now, flow: FlowId(flow), size: size + 1 });
                bursts.add(now, FlowId(flow), size + 1);
            }
            let found: Vec<_> = bursts.largest().collect();
            let wanted: Vec<_> = WIDTHS.iter().filter_map(|width| Some((*width, slow(*width, &load)?))).collect();
            prop_assert_eq!(found, wanted);
        }
    }

    /// 100 packets within 1 ms, then one each second: what is remembered is what the last 100 ms held.
    #[test]
    fn memory_is_that_of_the_widest_window() {
        let mut bursts = Bursts::new();
        (0..100).for_each(|n| bursts.add(Time::from_ns(n * 10_000), FlowId(n as u32), 1000));
        (1..10).for_each(|s| bursts.add(Time::from_ns(s * 1_000_000_000), FlowId(0), 1000));
        assert_eq!((bursts.recent.len(), bursts.windows[2].by_flow.len()), (1, 1));
    }
}
