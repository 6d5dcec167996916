//! How much came when: of flows, and of conditioners' instances against their contracts.
//!
//! Seconds are those from time zero on: [0, 1), [1, 2), ... A second that the capture only touches counts as a whole one.
//! What exceeds a contract finds no tokens in a bucket of depth CBS that fills at CIR and is full at time zero; where the
//! conditioner has no CBS the bucket holds one second at CIR. Packets whose colour the conditioner does not hold to its CIR,
//! as yellow and red at a colour-aware meter, ask that bucket for nothing. Memory: one record for each flow, and for each
//! instance; of instances for one flow (`per = "flow"`) 16 bytes, as their sums are the flow's, until another conditioner
//! has packets of that flow as well.

use std::collections::HashMap;

use perhop_core::conditioner::meter::Tokens;
use perhop_core::estimate::TokenBucket;
use perhop_core::estimate::token_bucket::Fill;
use perhop_core::packet::FlowId;
use perhop_core::port::edge::Per;
use perhop_core::units::{Bytes, Time};
use perhop_edge::{Shared, Taken};

use super::demand::Demand;
use super::load::Load;
use super::records::{Outcome, Records, Sole};

/// What an instance got of what it is promised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Got {
    pub(crate) offered: Load,
    pub(crate) excess: Load,
}

impl Got {
    fn add(&mut self, now: Time, size: u32, exceeds: bool) {
        self.offered.add(now, size);
        if exceeds {
            self.excess.add(now, size);
        }
    }
}

/// An instance for several flows.
#[derive(Clone, Debug)]
struct Instance {
    shared: Shared,
    bucket: Fill,
    got: Got,
}

/// The contracts of a conditioner's instances.
#[derive(Clone, Debug)]
pub(crate) struct Contracts {
    /// Full, at time zero.
    full: TokenBucket,
    depth: Bytes,
    tokens: Tokens,
    /// By colour on arrival: whether such packets ask for tokens.
    meters: [bool; 4],
    per: Per,
    /// By instance, of those for several flows.
    instances: Vec<Option<Instance>>,
    /// By flow, of those for one.
    buckets: Vec<Fill>,
    /// Of flows whose packets are not all in this contract.
    some: HashMap<FlowId, Got>,
}

impl Contracts {
    /// `None`: the conditioner has no CIR.
    fn new(demand: &Demand) -> Option<Self> {
        let cir = demand.cir?;
        let depth = demand.cbs.unwrap_or(Bytes::new(cir.bit_s() / 8)).min(TokenBucket::DEEPEST);
        let full = TokenBucket::full(cir, depth, "cbs").expect("no deeper than the deepest");
        let (instances, buckets, some) = (Vec::new(), Vec::new(), HashMap::new());
        let Demand { tokens, meters, per, .. } = *demand;
        Some(Self { full, depth, tokens, meters, per, instances, buckets, some })
    }

    /// Depth of its buckets.
    pub(crate) const fn depth(&self) -> Bytes {
        self.depth
    }

    /// Whether it got packets of a flow, as the conditioner in this place.
    fn has(&self, flows: &Records, place: usize, flow: FlowId) -> bool {
        flows.sole_of(flow) == Some(place) || self.some.contains_key(&flow)
    }

    /// A packet for one flow's instance; whether it exceeds the contract.
    fn charge_flow(&mut self, it: &Outcome) -> bool {
        let fill = slot(&mut self.buckets, it.flow.0 as usize, self.full.fill());
        self.meters[it.colour.index()] && exceeds(&self.full, self.tokens, fill, it)
    }

    /// The same for an instance for several.
    fn charge(&mut self, instance: usize, it: &Outcome, shared: impl FnOnce() -> Shared) -> bool {
        let full = self.full.fill();
        let instance = slot(&mut self.instances, instance, None);
        let instance = instance.get_or_insert_with(|| Instance { shared: shared(), bucket: full, got: Got::default() });
        let metered = self.meters[it.colour.index()];
        let beyond = metered && exceeds(&self.full, self.tokens, &mut instance.bucket, it);
        instance.got.add(it.now, it.size, beyond);
        beyond
    }
}

/// Takes a packet from a bucket if it has the tokens.
fn exceeds(full: &TokenBucket, tokens: Tokens, fill: &mut Fill, it: &Outcome) -> bool {
    let mut bucket = full.holding(*fill);
    let beyond = !bucket.take(it.now, tokens.of(it.size));
    *fill = bucket.fill();
    beyond
}

/// A place in a list that grows.
fn slot<T: Clone>(list: &mut Vec<T>, slot: usize, empty: T) -> &mut T {
    if list.len() <= slot {
        list.resize(slot + 1, empty);
    }
    &mut list[slot]
}

/// All of a capture.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rates {
    pub(crate) flows: Records,
    /// By conditioner; of those that have a CIR.
    pub(crate) contracts: Vec<Option<Contracts>>,
}

impl Rates {
    /// Of conditioners with these demands.
    pub(crate) fn new(demands: &[Demand]) -> Self {
        Self { flows: Records::default(), contracts: demands.iter().map(Contracts::new).collect() }
    }

    /// A packet of either direction, and the conditioner's instance that took it; `shared`, by the conditioner's place, is
    /// what that instance is for.
    pub(crate) fn add(&mut self, it: &Outcome, taken: Option<Taken>, shared: impl FnOnce(usize) -> Shared) {
        let contracts = &mut self.contracts;
        let taken = taken.and_then(|taken| Some((taken, contracts[taken.place].as_mut()?)));
        let (exceeds, place) = match taken {
            None => (false, None),
            Some((Taken { place, .. }, contracts)) if contracts.per == Per::Flow => {
                (contracts.charge_flow(it), Some(place))
            }
            Some((Taken { place, instance }, contracts)) => (contracts.charge(instance, it, || shared(place)), None),
        };
        self.assign(it, place, exceeds);
        self.flows.add(it);
        if exceeds {
            self.flows.exceed(it.now, it.flow, it.size);
        }
    }

    /// Counts a packet for the contract of its flow at `place`, unless that has all packets of the flow.
    fn assign(&mut self, it: &Outcome, place: Option<usize>, exceeds: bool) {
        let here = place.map_or(Sole::None, |place| u8::try_from(place).map_or(Sole::None, Sole::Of));
        let sole = self.flows.sole(it.flow);
        let before = *sole;
        if before == here && before != Sole::None {
            return;
        }
        *sole = if before == Sole::Open { here } else { Sole::None };
        if *sole != Sole::None {
            return;
        }
        if let Sole::Of(other) = before {
            let sums = self.flows.sums(it.flow);
            let got = Got { offered: sums.offered, excess: sums.excess };
            self.of(usize::from(other)).some.insert(it.flow, got);
        }
        if let Some(place) = place {
            self.of(place).some.entry(it.flow).or_default().add(it.now, it.size, exceeds);
        }
    }

    fn of(&mut self, place: usize) -> &mut Contracts {
        self.contracts[place].as_mut().expect("it took a packet")
    }

    /// A flow is forgotten: at each conditioner its contract begins again.
    pub(crate) fn forget(&mut self, flow: FlowId) {
        for contracts in self.contracts.iter_mut().flatten() {
            let full = contracts.full.fill();
            contracts.buckets.get_mut(flow.0 as usize).into_iter().for_each(|fill| *fill = full);
        }
    }

    /// A conditioner's contracts that got packets, by their numbers: of several flows in order of what they share, of single
    /// flows in order of these.
    pub(crate) fn instances(&self, place: usize) -> Vec<u32> {
        let Some(contracts) = &self.contracts[place] else { return Vec::new() };
        if contracts.per == Per::Flow {
            let flows = 0..contracts.buckets.len() as u32;
            return flows.filter(|flow| contracts.has(&self.flows, place, FlowId(*flow))).collect();
        }
        let used = (0..).zip(&contracts.instances).filter_map(|(number, it)| Some((it.as_ref()?.shared, number)));
        let mut found: Vec<(Shared, u32)> = used.collect();
        found.sort_unstable();
        found.into_iter().map(|it| it.1).collect()
    }

    /// What a contract is for, and what it got.
    pub(crate) fn got(&self, place: usize, number: u32) -> (Shared, Got) {
        let contracts = self.contracts[place].as_ref().expect("it has instances");
        if contracts.per != Per::Flow {
            let it = contracts.instances[number as usize].as_ref().expect("it got packets");
            return (it.shared, it.got);
        }
        let flow = FlowId(number);
        let all = || {
            let sums = self.flows.sums(flow);
            Got { offered: sums.offered, excess: sums.excess }
        };
        (Shared::Flow(flow), contracts.some.get(&flow).copied().unwrap_or_else(all))
    }

    /// Bytes in excess of a contract.
    pub(crate) fn excess_bytes(&self, place: usize, number: u32) -> u64 {
        match &self.contracts[place] {
            Some(it) if it.per == Per::Flow && it.some.is_empty() => self.flows.excess(FlowId(number)).count.bytes,
            _ => self.got(place, number).1.excess.count.bytes,
        }
    }
}
