//! Filters that a device asks in another order than that of their classes: what is taken from the later ones, and what a list of
//! classes cannot say.

use crate::matches::{code_points, is_of_code_points};
use perhop_core::classify::{Index, Match, Relation};
use perhop_core::dscp::Dscp;
use perhop_core::params::Place;

/// A set of code points.
type Codes = u64;

const ALL: Codes = Codes::MAX;
/// Classes of which a filter may meet some: more are not said.
const MOST: usize = 64;

/// A filter, and whose it is.
#[derive(Clone, Debug)]
pub(super) struct OwnedFilter {
    pub(super) order: u32,
    /// The place of its taker.
    pub(super) of: usize,
    /// What it takes.
    pub(super) matches: Match,
    /// Where the text says it.
    pub(super) place: Option<Place>,
    /// Whether filters before it take all that it matches.
    pub(super) dead: bool,
}

#[cfg(test)]
impl OwnedFilter {
    /// Of a taker.
    pub(super) fn new(of: usize, matches: Match) -> Self {
        Self { order: 0, of, matches, place: None, dead: false }
    }
}

/// Filters by what they have to do with later ones.
pub(super) struct Stolen<'p> {
    /// The place of a taker in the list.
    place: &'p dyn Fn(usize) -> usize,
    /// Those that look at code points alone, and all others, by place in the list.
    indices: [Index; 2],
    /// By code point those that look at nothing else, in their order.
    by_code: Vec<OfCode>,
    /// What they take, by filter.
    codes: Vec<Codes>,
}

/// The filters of one code point.
#[derive(Clone, Debug, Default)]
struct OfCode {
    /// The first, and the first of another taker: place and taker.
    first: [Option<(usize, usize)>; 2],
    /// Those that come later in the list than all before them: place, and place of the taker.
    later: Vec<(usize, usize)>,
}

/// What a filter loses to those before it: the place of each of these, and what is left then.
type Losses = Vec<(usize, Codes)>;

impl<'p> Stolen<'p> {
    /// Takes code points from filters whose packets others before them take. The pairs of which the second takes packets of the first
    /// in a list of classes, once for each taker of the first.
    pub(super) fn of(asked: &mut [OwnedFilter], place: &'p dyn Fn(usize) -> usize) -> Vec<(usize, usize)> {
        let mut it = Self {
            place,
            indices: Default::default(),
            by_code: vec![OfCode::default(); 64],
            codes: vec![0; asked.len()],
        };
        for filter in &*asked {
            let own = usize::from(!is_of_code_points(&filter.matches));
            it.indices[own].add_to(&filter.matches, place(filter.of));
            it.indices[1 - own].skip();
        }
        let mut found = Vec::new();
        for place in 0..asked.len() {
            let losses = it.losses(&asked[place]);
            it.met(asked, (place, &losses), &mut found);
            if let Some((_, left)) = losses.last() {
                let filter = &mut asked[place];
                filter.matches.dscp =
                    code_points(&filter.matches).into_iter().filter(|it| left & one(*it) != 0).collect();
                filter.dead = filter.matches.dscp.is_empty();
            }
            let filter = &asked[place];
            if is_of_code_points(&filter.matches) && !filter.dead {
                it.add(place, filter);
            }
        }
        found
    }

    /// What a filter loses to those before it that look at code points alone.
    fn losses(&self, second: &OwnedFilter) -> Losses {
        let (mut left, mut losses) = (codes(&second.matches), Losses::new());
        let both = is_of_code_points(&second.matches);
        if !second.matches.conditioner.is_empty() {
            return losses;
        }
        let earliest = |code: usize| self.by_code[code].earliest(second.of, (both, (self.place)(second.of)));
        let first = |left: Codes| (0..64).filter(|code| left >> code & 1 > 0).filter_map(earliest).min();
        while let Some(first) = first(left) {
            left &= !self.codes[first];
            losses.push((first, left));
        }
        losses
    }

    /// The filters that a list of classes asks behind this one, and a device before it: one of each taker.
    fn met(&mut self, asked: &[OwnedFilter], (place, losses): (usize, &Losses), found: &mut Vec<(usize, usize)>) {
        let second = &asked[place];
        let (of, all) = ((self.place)(second.of), codes(&second.matches));
        let others = Match { dscp: Vec::new(), ..second.matches.clone() };
        let left = |first: usize| losses.iter().take_while(|loss| loss.0 < first).last().map_or(all, |loss| loss.1);
        let meets = |first: usize| {
            let it = &asked[first];
            !it.dead && it.of != second.of && codes(&it.matches) & left(first) != 0 && it.matches.meets(&others)
        };
        let mut firsts = Vec::new();
        let by_passage = !second.matches.conditioner.is_empty();
        for index in self.indices.iter_mut().skip(usize::from(!by_passage)) {
            firsts.extend(index.first_of_each(&second.matches, (Relation::Meets, place), (of + 1, MOST), meets));
        }
        firsts.sort_unstable();
        firsts.dedup_by_key(|it| it.0);
        let mut firsts: Vec<_> = firsts.into_iter().map(|it| it.1).collect();
        firsts.sort_unstable();
        found.extend(firsts.into_iter().take(MOST).map(|first| (first, place)));
    }

    /// One that looks at code points alone.
    fn add(&mut self, filter: usize, it: &OwnedFilter) {
        let place = (self.place)(it.of);
        self.codes[filter] = codes(&it.matches);
        code_points(&it.matches)
            .iter()
            .for_each(|code| self.by_code[usize::from(code.get())].add(filter, (it.of, place)));
    }
}

impl OfCode {
    fn add(&mut self, filter: usize, (of, place): (usize, usize)) {
        match self.first {
            [None, _] => self.first[0] = Some((filter, of)),
            [Some((_, known)), None] if known != of => self.first[1] = Some((filter, of)),
            _ => {}
        }
        if self.later.last().is_none_or(|last| last.1 < place) {
            self.later.push((filter, place));
        }
    }

    /// The first of another taker; of one that is no filter of code points alone only if it comes later in the list.
    fn earliest(&self, of: usize, (both, place): (bool, usize)) -> Option<usize> {
        if both {
            return self.first.iter().flatten().find(|it| it.1 != of).map(|it| it.0);
        }
        self.later.get(self.later.partition_point(|it| it.1 <= place)).map(|it| it.0)
    }
}

fn one(code: Dscp) -> Codes {
    1 << code.get()
}

/// The code points of a match.
fn codes(of: &Match) -> Codes {
    if of.dscp.is_empty() { ALL } else { of.dscp.iter().fold(0, |all, code| all | one(*code)) }
}

#[cfg(test)]
mod tests;
