//! What is shown of a forwarder at one time, and the rates between two.

use perhop_core::count::Count;
use perhop_core::port::edge::ColourMatrix;
use perhop_live::{AfPacket, Counts, Forwarder, Leaf, Protocols, Samples};

/// By colour behind a conditioner; the last are those it dropped.
pub(super) type Colours = [Count; 5];

/// All that is shown.
#[derive(Clone, Debug)]
pub(super) struct Snapshot {
    /// When, ns.
    pub(super) at: u64,
    /// Of both directions.
    pub(super) counts: [Counts; 2],
    /// By conditioner.
    pub(super) stages: Vec<(String, Colours)>,
    pub(super) leaves: Vec<Leaf>,
    /// Frames that are not IP, of both directions.
    pub(super) protocols: [Protocols; 2],
    /// Round trips of data of each direction, since the beginning.
    pub(super) trips: [Samples; 2],
}

impl Snapshot {
    pub(super) fn of(at: u64, forwarder: &Forwarder<AfPacket>, counts: [Counts; 2]) -> Self {
        let edge = forwarder.host().port().edge();
        let stages = edge.counts().map(|it| (it.name.to_owned(), colours(it.counts))).collect();
        let (leaves, protocols) = (forwarder.leaves(), forwarder.protocols().clone());
        Self { at, counts, stages, leaves, protocols, trips: Default::default() }
    }

    /// What a conditioner had counted here; nothing of one that was not there, or has begun afresh since.
    pub(super) fn stage(&self, name: &str, now: &Colours) -> Colours {
        let then = self.stages.iter().find(|it| it.0 == name).map(|it| it.1).unwrap_or_default();
        let grew = then.iter().zip(now).all(|(then, now)| then.packets <= now.packets);
        if grew { then } else { Colours::default() }
    }
}

fn colours(matrix: &ColourMatrix) -> Colours {
    std::array::from_fn(|after| matrix.iter().map(|row| row[after]).sum())
}
