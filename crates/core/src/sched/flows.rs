//! Which queue a flow has: for schedulers whose children are flows.

use crate::packet::FlowId;
use crate::params::{Choice, ParamError, Params as Declared};
use rand_core::{Rng as _, SeedableRng};
use rand_xoshiro::SplitMix64;

/// Most queues of one scheduler, as in Linux.
pub const MOST: u32 = 65_536;

const NONE: u32 = u32::MAX;

/// How queues are given to flows.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hash {
    /// By a keyed hash of the flow: several may share a queue.
    Salted,
    /// A queue for each flow while there are any.
    Exact,
}

/// What a scenario states of it.
#[derive(Declared, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hashing {
    /// How flows get queues: by a keyed hash, so that several may share one, or each its own while any is free.
    #[param(default = "salted")]
    pub hash: Hash,
    /// Key of the hash.
    #[param(default = 0)]
    pub salt: u32,
}

/// The queues of flows.
#[derive(Clone, Debug)]
pub struct Flows {
    hashing: Hashing,
    queues: u32,
    /// By number, which hosts give densely.
    by_flow: Vec<u32>,
    /// By queue, whether it belongs to a flow; for `exact`.
    owned: Vec<bool>,
}

impl Hashing {
    /// # Errors
    /// E201 for no queues, or more than [`MOST`].
    pub fn over(self, queues: u32) -> Result<Flows, ParamError> {
        if (1..=MOST).contains(&queues) {
            return Ok(Flows { hashing: self, queues, by_flow: Vec::new(), owned: vec![false; queues as usize] });
        }
        Err(ParamError::new("flows", "E201", format!("`flows` is {queues}"))
            .help(format!("must be between 1 and {MOST}")))
    }
}

impl Hashing {
    /// A hash: SplitMix64 of key and number.
    pub(super) fn mixed(self, number: u32) -> u64 {
        SplitMix64::seed_from_u64((u64::from(self.salt) << 32) | u64::from(number)).next_u64()
    }
}

impl Flows {
    /// How many.
    pub fn queues(&self) -> usize {
        self.queues as usize
    }

    /// The queue of a flow.
    #[inline]
    pub fn of(&mut self, flow: FlowId) -> usize {
        let i = flow.0 as usize;
        if i >= self.by_flow.len() {
            self.by_flow.resize(i + 1, NONE);
        }
        if self.by_flow[i] == NONE {
            self.by_flow[i] = self.choose(flow);
        }
        self.by_flow[i] as usize
    }

    fn choose(&mut self, flow: FlowId) -> u32 {
        match self.hashing.hash {
            Hash::Salted => self.salted(flow),
            Hash::Exact => self.own(flow),
        }
    }

    /// Uniform over the queues: the hash, scaled by multiplication.
    fn salted(&self, flow: FlowId) -> u32 {
        ((u128::from(self.hashing.mixed(flow.0)) * u128::from(self.queues)) >> 64) as u32
    }

    /// Its number, or the next one that no flow has; shared once all are taken.
    fn own(&mut self, flow: FlowId) -> u32 {
        let first = flow.0 % self.queues;
        let place = (0..self.queues).map(|step| (first + step) % self.queues).find(|&i| !self.owned[i as usize]);
        let place = place.unwrap_or(first);
        self.owned[place as usize] = true;
        place
    }

    /// # Errors
    /// E202 when flows would get other queues than before: what waits would be overtaken.
    pub fn stays(&self, new: &Self) -> Result<(), ParamError> {
        if self.hashing == new.hashing && self.queues == new.queues {
            return Ok(());
        }
        let error = ParamError::new("flows", "E202", "the change would put flows into other queues".into());
        Err(error.help("`flows`, `hash` and `salt` are fixed when the run begins"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(hash: Hash, salt: u32, queues: u32) -> Flows {
        Hashing { hash, salt }.over(queues).unwrap()
    }

    /// Every flow its own, whatever the numbers, until there are more flows than queues.
    #[test]
    fn exact_queues_are_not_shared_while_there_are_any() {
        let mut flows = of(Hash::Exact, 0, 8);
        let queues: Vec<_> = [0, 8, 16, 1, 7, 15, 100, 3].map(|flow| flows.of(FlowId(flow))).into();
        assert_eq!(queues, [0, 1, 2, 3, 7, 4, 5, 6]);
        assert_eq!(flows.of(FlowId(8)), 1, "it keeps its queue");
        assert_eq!(flows.of(FlowId(4)), 4, "all are taken");
    }

    /// The chance that two given flows share one of 16 queues is 1/16: over 1000 salts the number of times is binomial
    /// with a standard deviation of 7.7 about 62.5.
    #[test]
    fn a_salt_decides_who_shares() {
        let shared = (0..1000)
            .filter(|&salt| {
                let mut flows = of(Hash::Salted, salt, 16);
                flows.of(FlowId(5)) == flows.of(FlowId(6))
            })
            .count();
        assert!((32..=93).contains(&shared), "{shared}");
    }

    /// Pins the numbers: a change here changes every result with a salted hash. Each of 4 queues gets its quarter of 4000
    /// flows, within 4 standard deviations (27).
    #[test]
    fn queues_are_uniform_and_stable() {
        let mut flows = of(Hash::Salted, 1, 4);
        assert_eq!((0..8).map(|flow| flows.of(FlowId(flow))).collect::<Vec<_>>(), PINNED);
        let mut counts = [0i32; 4];
        (0..4000).for_each(|flow| counts[flows.of(FlowId(flow))] += 1);
        assert!(counts.iter().all(|n| (n - 1000).abs() <= 109), "{counts:?}");
    }

    const PINNED: [usize; 8] = [3, 0, 2, 2, 1, 1, 0, 0];

    #[test]
    fn there_must_be_queues() {
        let over = |queues| Hashing { hash: Hash::Exact, salt: 0 }.over(queues).map(|flows| flows.queues());
        assert_eq!(over(0).unwrap_err().code, "E201");
        assert_eq!(over(MOST + 1).unwrap_err().code, "E201");
        assert_eq!(over(MOST), Ok(MOST as usize));
    }
}
