//! The three bands of fq: which packets are in which, their lists of flows, and whose turn it is.

use crate::dscp::Dscp;
use crate::params::{Kind, Node, ParamError, Problems, Tree, Value};
use std::collections::VecDeque;
use std::fmt;

/// Linux's `sch_default_prio2band`, and the weights of its bands: 9 : 3 : 1.
const PRIOMAP: [u32; PRIORITIES] = [1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1];
const WEIGHTS: [u32; BANDS] = [9 << 16, 3 << 16, 1 << 16];

/// Linux's priorities, and bands.
const PRIORITIES: usize = 16;
const BANDS: usize = 3;

/// The priorities that follow from two bits of a code point: best effort, bulk, interactive, interactive bulk.
const BY_CODE_POINT: [usize; 4] = [0, 2, 6, 4];

/// The band of each priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Priomap([u32; PRIORITIES]);

/// What each band may send in its turn, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weights([u32; BANDS]);

impl Default for Priomap {
    fn default() -> Self {
        Self(PRIOMAP)
    }
}

impl Default for Weights {
    fn default() -> Self {
        Self(WEIGHTS)
    }
}

/// As tc writes it.
impl fmt::Display for Priomap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text(&self.0))
    }
}

/// As tc writes it.
impl fmt::Display for Weights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text(&self.0))
    }
}

impl Priomap {
    /// The band of a code point.
    fn band(&self, dscp: u8) -> usize {
        self.0[BY_CODE_POINT[usize::from(dscp >> 1 & 3)]] as usize
    }
}

/// As many numbers as tc takes, each within `range`.
fn numbers<const N: usize>(
    node: &Node,
    problems: &mut Problems,
    range: std::ops::RangeInclusive<u32>,
) -> Option<[u32; N]> {
    let Tree::Text(text) = &node.tree else { return problems.wrong_type(node, &Kind::Text) };
    let read: Vec<u32> = text.split_whitespace().map_while(|word| word.parse().ok()).collect();
    let all = text.split_whitespace().count() == N && read.iter().all(|number| range.contains(number));
    let found = if all { <[u32; N]>::try_from(read).ok() } else { None };
    found.or_else(|| {
        let help =
            format!("must be {N} numbers from {} to {}, separated by spaces, as in tc", range.start(), range.end());
        problems.error("E201", node.place, format!("`{text}` is no such list")).help(help).none()
    })
}

fn text(numbers: &[u32]) -> String {
    numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(" ")
}

impl Value for Priomap {
    const KIND: Kind = Kind::Text;
    fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
        numbers(node, problems, 0..=BANDS as u32 - 1).map(Self)
    }
    fn tree(&self) -> Option<Tree> {
        Some(Tree::Text(self.to_string()))
    }
}

impl Value for Weights {
    const KIND: Kind = Kind::Text;
    /// Linux takes no band below 16 KiB.
    fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
        numbers(node, problems, 16 << 10..=i32::MAX as u32).map(Self)
    }
    fn tree(&self) -> Option<Tree> {
        Some(Tree::Text(self.to_string()))
    }
}

/// Which of a band's lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum List {
    New,
    Old,
}

/// One band.
#[derive(Clone, Debug)]
struct Band {
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    credit: i64,
    weight: i64,
    /// Packets of it, in whatever list their flows are.
    waiting: u32,
}

/// All three.
#[derive(Clone, Debug)]
pub(super) struct Bands {
    bands: [Band; BANDS],
    /// Of each code point.
    of: [u8; 64],
    current: usize,
    /// Bands that have been found empty since a flow was found.
    empty: usize,
}

impl Bands {
    pub(super) fn new(flows: usize, priomap: &Priomap, weights: &Weights) -> Self {
        let list = || VecDeque::with_capacity(flows);
        let band = |i: usize| Band { new: list(), old: list(), credit: 0, weight: weights.0[i].into(), waiting: 0 };
        let of = std::array::from_fn(|dscp| priomap.band(dscp as u8) as u8);
        Self { bands: std::array::from_fn(band), of, current: 0, empty: 0 }
    }

    pub(super) fn of(&self, dscp: Dscp) -> usize {
        usize::from(self.of[usize::from(dscp.get())])
    }

    /// Packets of a band.
    pub(super) fn waiting(&self, band: usize) -> u32 {
        self.bands[band].waiting
    }

    pub(super) fn came(&mut self, band: usize) {
        self.bands[band].waiting += 1;
    }

    /// A packet of a band has gone; the band whose turn it is pays.
    pub(super) fn left(&mut self, band: usize, bytes: u32) {
        self.bands[band].waiting -= 1;
        self.bands[self.current].credit -= i64::from(bytes);
    }

    pub(super) fn add(&mut self, band: usize, list: List, flow: usize) {
        let band = &mut self.bands[band];
        let list = if list == List::New { &mut band.new } else { &mut band.old };
        list.push_back(flow as u32);
    }

    /// The flow at the front of the lists of the band whose turn it is.
    pub(super) fn front(&mut self) -> Option<(usize, List)> {
        let band = &self.bands[self.current];
        if band.credit <= 0 {
            return None;
        }
        let new = band.new.front().map(|&flow| (flow as usize, List::New));
        let found = new.or_else(|| band.old.front().map(|&flow| (flow as usize, List::Old)))?;
        self.empty = 0;
        Some(found)
    }

    /// It leaves its list.
    pub(super) fn take(&mut self) {
        let band = &mut self.bands[self.current];
        _ = band.new.pop_front().or_else(|| band.old.pop_front());
    }

    /// It is the turn of the next band that has credit; false if each has had its turn and no flow was found.
    pub(super) fn turn(&mut self) -> bool {
        while self.empty < BANDS {
            self.empty += 1;
            self.current = (self.current + 1) % BANDS;
            let band = &mut self.bands[self.current];
            band.credit = (band.credit + band.weight).min(band.weight);
            if band.credit > 0 {
                return true;
            }
            self.empty = 0;
        }
        self.empty = 0;
        false
    }

    /// # Errors
    /// E202 when packets would get into other bands than before.
    pub(super) fn stays(&self, new: &Self) -> Result<(), ParamError> {
        let weights = |it: &Self| it.bands.each_ref().map(|band| band.weight);
        for (field, same) in [("priomap", self.of == new.of), ("weights", weights(self) == weights(new))] {
            if !same {
                let error = ParamError::new(field, "E202", format!("`{field}` of a running fq would change"));
                return Err(error.help("the bands are fixed when the run begins: remove it from the change"));
            }
        }
        Ok(())
    }
}
