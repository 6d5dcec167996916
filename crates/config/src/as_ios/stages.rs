//! Conditioners of a port, and the classes of policy maps that have them.
//!
//! A conditioner is in the class that takes just its packets, or whose packets have passed it. One that all packets of a class meet
//! after others is in the class whose policy map has those. One that changes nothing only says which packets passed it.

use super::police;
use crate::matches::merged;
use perhop_core::classify::Match;
use perhop_core::conditioner::ConditionerParams;
use perhop_core::dscp::Dscp;
use perhop_core::port::edge::{Action, Rewrite, StageSpec};

/// How packets meet conditioners below a class and that of the class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// There are none below it.
    None,
    /// One below it and no other, or one below it and then the class's.
    Before,
    /// In some other way.
    Other,
}

/// Those of a port.
pub(super) struct Stages<'a> {
    all: &'a [StageSpec],
    used: Vec<bool>,
    /// Those that are a class's, or a policy map's below it: no other class has them.
    reserved: Vec<bool>,
    /// Those in classes so far that no conditioner comes after, of all in the policy map above.
    open: Vec<usize>,
}

impl<'a> Stages<'a> {
    pub(super) fn new(all: &'a [StageSpec]) -> Self {
        Self { all, used: vec![false; all.len()], reserved: vec![false; all.len()], open: Vec::new() }
    }

    pub(super) fn get(&self, place: usize) -> &'a StageSpec {
        &self.all[place]
    }

    /// What takes the packets that agree with these: a conditioner that they name stands for what it takes. With the conditioners.
    ///
    /// # Errors
    /// One together with something else.
    pub(super) fn resolved(&self, takes: &[Match]) -> Result<(Vec<Match>, Vec<usize>), String> {
        let (mut out, mut named) = (Vec::new(), Vec::new());
        for matches in takes {
            if matches.conditioner.is_empty() {
                out.push(matches.clone());
                continue;
            }
            if *matches != (Match { conditioner: matches.conditioner.clone(), ..Match::default() }) {
                return Err("`conditioner` together with other keys".into());
            }
            let places = self.all.iter().enumerate().filter(|(_, stage)| matches.conditioner.contains(&stage.name));
            for (place, stage) in places {
                let (below, others) = self.resolved(std::slice::from_ref(&stage.matches))?;
                named.extend([place].into_iter().chain(others));
                out.extend(below);
            }
        }
        Ok((merged(out, usize::MAX), named))
    }

    /// Conditioners that take just these packets, of what classes before leave.
    pub(super) fn taking(&self, takes: &[Match], before: &[Dscp]) -> Vec<usize> {
        let same = |&place: &usize| {
            let stage = self.resolved(std::slice::from_ref(&self.all[place].matches));
            !self.used[place] && stage.is_ok_and(|(stage, _)| same(&stage, takes, before)) && self.stays(place, takes)
        };
        (0..self.all.len()).filter(same).collect()
    }

    /// Whether packets agree with these after a conditioner, too.
    fn stays(&self, place: usize, takes: &[Match]) -> bool {
        let marks = self.all[place].actions.iter().filter_map(|action| match action {
            Action::Pass(Rewrite { dscp, .. }) => *dscp,
            Action::Drop => None,
        });
        let mut marks = marks.filter(|_| self.acts(place));
        marks.all(|mark| takes.iter().all(|it| it.dscp.is_empty() || it.dscp.contains(&mark)))
    }

    /// Whether it does anything to packets.
    pub(super) fn acts(&self, place: usize) -> bool {
        let stage = &self.all[place];
        let ConditionerParams::Marker(marker) = &stage.params else { return true };
        let then = stage.actions[marker.colour.colour().index()];
        !matches!(then, Action::Pass(Rewrite { dscp: None, colour: None, .. }))
    }

    /// Whether packets that pass it go to the next one; `None`: some do.
    pub(super) fn goes_on(&self, place: usize) -> Option<bool> {
        let stage = &self.all[place];
        let passing: Vec<_> = police::outcomes(stage).into_iter().filter(|it| *it != Action::Drop).collect();
        match passing.iter().filter(|it| it.goes_on()).count() {
            0 => Some(false),
            n if n == passing.len() => Some(true),
            _ => None,
        }
    }

    /// Whether all it does is to tell, of packets that go on, that they passed it.
    pub(super) fn only_tells(&self, place: usize) -> bool {
        !self.acts(place) && self.goes_on(place) == Some(true)
    }

    /// Takes some for a class.
    pub(super) fn take(&mut self, places: &[usize]) {
        for &place in places {
            if !std::mem::replace(&mut self.used[place], true) {
                self.open.push(place);
            }
        }
    }

    /// Keeps some from the policy maps below classes.
    pub(super) fn reserve(&mut self, places: &[usize]) {
        places.iter().for_each(|&place| self.reserved[place] = true);
    }

    /// Those of some that a policy map below a class has, whose own conditioner is this: of those after it only if that goes on.
    pub(super) fn parts(&self, of: impl Iterator<Item = usize>, own: Option<usize>) -> Vec<usize> {
        let met = |place: usize| own.is_none_or(|own| place < own || self.goes_on(own) != Some(false));
        of.filter(|&place| !self.reserved[place] && met(place)).collect()
    }

    /// Counts some as written that others come after in their class, or that are lost.
    pub(super) fn settle(&mut self, places: &[usize]) {
        places.iter().for_each(|&place| self.used[place] = true);
    }

    /// How packets of a class meet these and the class's own.
    pub(super) fn order(&self, parts: &[usize], own: Option<usize>) -> Order {
        let on: Vec<_> = parts.iter().map(|&place| self.goes_on(place)).collect();
        let before = own.is_none_or(|own| parts.iter().all(|place| *place < own));
        match () {
            () if parts.is_empty() => Order::None,
            () if before && (on.iter().all(|it| *it == Some(false)) || on == [Some(true)]) => Order::Before,
            () => Order::Other,
        }
    }

    /// How many are in classes so far.
    pub(super) fn taken(&self) -> usize {
        self.open.len()
    }

    /// Those of some that no class has and that do something.
    pub(super) fn left(&self, of: impl Iterator<Item = usize>) -> Vec<usize> {
        of.filter(|&place| !self.used[place] && self.acts(place)).collect()
    }

    /// Places of all.
    pub(super) fn places(&self) -> std::ops::Range<usize> {
        0..self.all.len()
    }

    /// Whether all that classes have taken since go on to the next one.
    pub(super) fn go_on_since(&self, before: usize) -> bool {
        self.open[before..].iter().all(|place| self.goes_on(*place) == Some(true))
    }

    /// What classes have taken since meets this one, or none; the names of those that do otherwise.
    pub(super) fn close(&mut self, before: usize, after: Option<usize>) -> Vec<&'a str> {
        let since = self.open.split_off(before);
        let wrong = |place: &usize| match (self.goes_on(*place), after, self.acts(*place)) {
            (Some(on), Some(_), _) => !on,
            (Some(on), None, true) => on,
            (None, ..) => true,
            (Some(_), None, false) => false,
        };
        let names = since.into_iter().filter(wrong).map(|place| &*self.all[place].name).collect();
        if let Some(after) = after {
            self.used[after] = true;
            self.open.push(after);
        }
        names
    }
}

/// Whether two lists of alternatives agree with the same packets, as far as lists say, of what these code points leave.
fn same(stage: &[Match], class: &[Match], before: &[Dscp]) -> bool {
    let plain = |list: &[Match]| list.iter().map(sorted).collect::<Vec<_>>();
    let rest = |list: &[Match]| {
        let less = |it: &Match| {
            let dscp = it.dscp.iter().copied().filter(|code| !before.contains(code)).collect();
            Match { dscp, ..it.clone() }
        };
        list.iter().map(less).collect::<Vec<_>>()
    };
    let coded = stage.iter().chain(class).all(|it| !it.dscp.is_empty());
    plain(stage) == plain(class) || coded && plain(&rest(stage)) == plain(&rest(class))
}

fn sorted(matches: &Match) -> Match {
    let mut out = matches.clone();
    out.dscp.sort_unstable();
    out.source_port.sort_unstable();
    out.destination_port.sort_unstable();
    out.protocol.sort_unstable_by_key(|it| it.0);
    out
}
