//! Rows of flows and contracts, made one by one from what was counted: a million of them at once would need several
//! times the memory of the capture's run.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt;
use std::sync::Arc;

use perhop_core::count::Count;
use perhop_core::packet::FlowId;
use perhop_core::port::edge::StageSpec;
use perhop_edge::{FlowKey, FlowTable};
use serde::{Serialize, Serializer};

use super::codes::Codes;
use super::demand::Demand;
use super::flow_row::{FlowRow, flow_row};
use super::rate_report::{self, ContractRow};
use super::rates::Rates;
use super::round_trip_report::Names;
use super::volume::Volume;

/// What rows are made from.
pub(super) struct Counted {
    pub(super) flows: FlowTable,
    pub(super) rates: Rates,
    pub(super) codes: Codes,
    /// Packets by the octet of code point and ECN: of forward direction, then of the other.
    pub(super) octets: Vec<Count>,
    pub(super) stages: Vec<StageSpec>,
    pub(super) demands: Vec<Demand>,
    /// Of the capture.
    pub(super) duration_s: Option<f64>,
}

impl Counted {
    /// Flows that had packets. A mate that was not seen has a number, and none.
    pub(super) fn seen(&self) -> impl Iterator<Item = FlowId> {
        let all = (0..self.rates.flows.len() as u32).map(FlowId);
        all.filter(|flow| self.rates.flows.count(*flow).packets > 0)
    }

    /// What identifies a flow that had packets.
    pub(super) fn key(&self, flow: FlowId) -> FlowKey {
        self.flows.key(flow.0).expect("it had packets")
    }

    /// A flow's packets.
    pub(super) fn volume(&self, flow: FlowId) -> Volume {
        self.rates.flows.count(flow).into()
    }

    fn flow_row(&self, flow: FlowId) -> FlowRow {
        flow_row(&self.key(flow), (&self.rates.flows.sums(flow), &self.codes.of(flow)), self.duration_s)
    }
}

/// Flows, most bytes first; of equals the one that was seen first.
#[derive(Clone)]
pub struct FlowRows {
    pub(super) counted: Arc<Counted>,
    len: usize,
}

impl FlowRows {
    pub(super) fn new(counted: Arc<Counted>) -> Self {
        let len = counted.seen().count();
        Self { counted, len }
    }

    /// How many there are.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// There are none.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = FlowRow> {
        self.largest(self.len)
    }

    /// The first `most`.
    pub fn largest(&self, most: usize) -> impl Iterator<Item = FlowRow> + Clone {
        self.rows(self.counted.seen(), most)
    }

    /// The first `most` of those in forward direction.
    pub fn largest_forward(&self, most: usize) -> impl Iterator<Item = FlowRow> {
        self.rows(self.forward(), most)
    }

    /// How many are in forward direction.
    pub fn forward_len(&self) -> usize {
        self.forward().count()
    }

    fn forward(&self) -> impl Iterator<Item = FlowId> {
        self.counted.seen().filter(|flow| !self.counted.rates.flows.is_reverse(*flow))
    }

    fn rows(&self, flows: impl Iterator<Item = FlowId>, most: usize) -> impl Iterator<Item = FlowRow> + Clone {
        let bytes = |flow: FlowId| (self.counted.rates.flows.count(flow).bytes, flow);
        largest(flows.map(bytes), most).into_iter().map(|flow| self.counted.flow_row(flow))
    }
}

/// Conditioners' instances that have a committed rate, most excess first; of equals those of earlier conditioners.
#[derive(Clone)]
pub struct ContractRows {
    counted: Arc<Counted>,
    /// In order of conditioners and of what their instances are for.
    instances: Vec<Place>,
}

/// A conditioner's place in the policy, and of its contracts the one.
type Place = (u32, u32);

impl ContractRows {
    pub(super) fn new(counted: Arc<Counted>) -> Self {
        let of = |place: usize| counted.rates.instances(place).into_iter().map(move |one| (place as u32, one));
        let instances = (0..counted.stages.len()).flat_map(of).collect();
        Self { counted, instances }
    }

    /// How many there are.
    pub const fn len(&self) -> usize {
        self.instances.len()
    }

    /// There are none.
    pub const fn is_empty(&self) -> bool {
        self.instances.is_empty()
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = ContractRow> {
        self.largest(self.len())
    }

    /// The first `most`.
    pub fn largest(&self, most: usize) -> impl Iterator<Item = ContractRow> {
        let rates = &self.counted.rates;
        let excess = |(at, (place, one)): (u32, &Place)| (rates.excess_bytes(*place as usize, *one), at);
        largest((0..).zip(&self.instances).map(excess), most)
            .into_iter()
            .map(|at| self.row(self.instances[at as usize]))
    }

    fn row(&self, (place, one): Place) -> ContractRow {
        let Counted { flows, rates, stages, demands, duration_s, .. } = &*self.counted;
        let place = place as usize;
        let names = Names { flows, stages };
        let (shared, got) = rates.got(place, one);
        let contracts = rates.contracts[place].as_ref().expect("it has instances");
        rate_report::contract(
            &stages[place].name,
            names.shared(&shared),
            (&got, contracts.depth()),
            (&demands[place], *duration_s),
        )
    }
}

/// What has the most bytes, at most so many, in descending order; of equals what comes first.
fn largest<T: Ord + Copy>(all: impl Iterator<Item = (u64, T)>, most: usize) -> Vec<T> {
    let mut kept = BinaryHeap::new();
    for (bytes, it) in all {
        // the one to leave first is on top: fewest bytes, of equals the last
        kept.push((Reverse(bytes), it));
        if kept.len() > most {
            kept.pop();
        }
    }
    kept.into_sorted_vec().into_iter().map(|(_, it)| it).collect()
}

/// Two lists are equal if their rows are.
macro_rules! rows {
    ($rows:ident) => {
        impl PartialEq for $rows {
            fn eq(&self, other: &Self) -> bool {
                self.len() == other.len() && self.iter().eq(other.iter())
            }
        }

        impl fmt::Debug for $rows {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_list().entries(self.iter()).finish()
            }
        }

        impl Serialize for $rows {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_seq(self.iter())
            }
        }
    };
}

rows!(FlowRows);
rows!(ContractRows);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// As the start of a stable sort.
        #[test]
        fn the_largest_are_the_first_of_all_sorted(bytes in prop::collection::vec(0u64..9, 0..40), most in 0usize..50) {
            let all: Vec<(u64, usize)> = bytes.into_iter().zip(0..).collect();
            let mut sorted = all.clone();
            sorted.sort_by_key(|it| Reverse(it.0));
            let wanted: Vec<_> = sorted.into_iter().map(|it| it.1).take(most).collect();
            prop_assert_eq!(largest(all.into_iter(), most), wanted);
        }
    }
}
