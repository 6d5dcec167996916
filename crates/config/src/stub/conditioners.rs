//! `[conditioner.X]`: markers that sort packets, then what the device has.

use super::classes::{NOTHING, matched};
use super::draft::{Cell, Section};
use super::names::plain;
use super::{Marker, Writer};
use crate::matches::is_of_conditioners;
use crate::model::{Act, Conditioner, Port};
use crate::unions::Unions;
use crate::value::WithOrigin;
use perhop_core::classify::Match;
use perhop_core::colour::Colour;
use perhop_core::params::Place;
use std::collections::BTreeSet;

impl Writer<'_> {
    /// All at a port; in a policy there is none.
    pub(crate) fn conditioned(&mut self, port: &Port, at: Option<&str>) -> Vec<Section> {
        let matches: Vec<_> = port.conditioners.iter().enumerate().map(|(i, it)| self.matched(i, it)).collect();
        let (mut all, names) = (Vec::new(), self.own.clone());
        let mut here: Vec<Vec<&Marker>> = vec![Vec::new(); port.conditioners.len()];
        self.marks.iter().for_each(|marker| marker.before.into_iter().for_each(|before| here[before].push(marker)));
        let of = |ends: bool| self.marks.iter().filter(move |marker| marker.before.is_none() && marker.ends == ends);
        let behind = of(true).count() + port.conditioners.len();
        let first = of(false).count();
        all.extend(of(false).enumerate().map(|(i, marker)| marked(at, marker, i + 1 < first || behind > 0)));
        all.extend(of(true).map(|marker| marked(at, marker, false)));
        for (i, conditioner) in port.conditioners.iter().enumerate() {
            all.extend(here[i].iter().map(|marker| marked(at, marker, true)));
            let (name, comment) = (&names[i].1, plain(&conditioner.name.is));
            let mut section = Section::new("conditioner", Some(name), conditioner.name.origin.place());
            section.comment = if comment == *name { String::new() } else { format!("! {comment}") };
            placed(&mut section, at, matches[i].as_ref().map(|(matches, place)| (matches.as_ref(), *place)));
            section.set("kind", conditioner.kind);
            section.extend(conditioner.settings.iter());
            actions(&mut section, &conditioner.actions, i + 1 == port.conditioners.len());
            all.push(section);
        }
        all
    }

    /// The match of a conditioner; none for all packets.
    fn matched(&mut self, i: usize, conditioner: &Conditioner) -> Option<(Option<Match>, Option<Place>)> {
        let all = Unions::of(conditioner.takes.iter().map(|filter| filter.matches.is.clone()));
        let place = conditioner.takes.first().and_then(|filter| filter.matches.origin.place());
        match all.as_slice() {
            [] => None,
            [one] if *one == Match::default() => None,
            all => Some((self.one(&conditioner.name.is, all, place, Some(i)), place)),
        }
    }

    /// One match for several: each of them has a marker that does nothing, and the match names these. A match by conditioners
    /// alone needs no marker. `None` where no traffic of the load can agree.
    pub(super) fn one(
        &mut self,
        of: &str,
        all: &[Match],
        place: Option<Place>,
        before: Option<usize>,
    ) -> Option<Match> {
        if let [one] = all {
            return self.named_before(one, before);
        }
        let (mut conditioner, mut count) = (Vec::new(), 0);
        for matches in all {
            let more = !is_of_conditioners(matches);
            // Behind the device's conditioners no marker is reached.
            if !matches.conditioner.is_empty() && (!more || before.is_none()) {
                if more {
                    let how =
                        "all packets that pass the conditioners that a filter names go here, whatever else it asks for";
                    self.notes.push((place, format!("`{of}`: {how}")));
                }
                conditioner.extend(self.named_before(matches, before).into_iter().flat_map(|named| named.conditioner));
                continue;
            }
            count += 1;
            let name = self.conditioners.unique(&format!("{of} {count}"));
            let known = self.named_before(matches, before);
            let before = before.filter(|_| !matches.conditioner.is_empty());
            self.marks.push(Marker { name: name.clone(), matches: known, place, before, ends: false });
            conditioner.push(name);
        }
        (!conditioner.is_empty()).then(|| Match { conditioner, ..Match::default() })
    }

    /// A match with the scenario's names of conditioners and of traffic; `None` where nothing has such a name.
    pub(super) fn named(&self, matches: &Match) -> Option<Match> {
        self.named_before(matches, None)
    }

    /// The places of the device's conditioners of a name, with the colour behind it, if any.
    fn places<'n>(&self, name: &'n str) -> Vec<(usize, &'n str)> {
        let (known, colour) = match (self.by_name.get(name), without_colour(name)) {
            (None, Some(known)) => (self.by_name.get(known), &name[known.len()..]),
            (known, _) => (known, ""),
        };
        known.into_iter().flatten().map(|place| (*place, colour)).collect()
    }

    /// The same of a conditioner of the device, by its place: it names those before it.
    fn named_before(&self, matches: &Match, place: Option<usize>) -> Option<Match> {
        let known = self.load.known(matches)?;
        let before = place.unwrap_or(self.own.len());
        let named: BTreeSet<_> = matches.conditioner.iter().flat_map(|name| self.places(name)).collect();
        let known_here = named.iter().filter(|it| it.0 < before);
        let conditioner: Vec<_> = known_here.map(|(own, colour)| format!("{}{colour}", self.own[*own].1)).collect();
        (matches.conditioner.is_empty() || !conditioner.is_empty()).then_some(Match { conditioner, ..known })
    }
}

/// The conditioner of a name that ends with a colour: `police red` is of what `police` leaves red.
pub(crate) fn without_colour(name: &str) -> Option<&str> {
    let (name, colour) = name.rsplit_once(' ')?;
    Colour::ALL.iter().any(|it| it.name() == colour).then_some(name)
}

/// A marker that only says that a packet has passed it.
fn marked(at: Option<&str>, marker: &Marker, goes_on: bool) -> Section {
    let mut section = Section::new("conditioner", Some(&marker.name), marker.place);
    section.comment = "only says which filter agreed".to_owned();
    placed(&mut section, at, Some((marker.matches.as_ref(), marker.place)));
    section.set("kind", "marker");
    if goes_on {
        section.set("green", "next");
    }
    section
}

/// `at` and `match`.
fn placed(section: &mut Section, at: Option<&str>, matches: Option<(Option<&Match>, Option<Place>)>) {
    at.into_iter().for_each(|at| section.set("at", at));
    if let Some((matches, place)) = matches.filter(|it| it.0 != Some(&Match::default())) {
        let none = if matches.is_none() { format!("nothing of the load comes here, {NOTHING}") } else { String::new() };
        section.set("match", matched(matches, 0).at(place).with(&none));
    }
}

/// What happens to the packets of each colour.
fn actions(section: &mut Section, actions: &[(Colour, WithOrigin<Vec<Act>>)], last: bool) {
    for (colour, acts) in actions {
        section.set(colour.name(), Cell::from(action(&acts.is, last)).at(acts.origin.place()));
    }
}

/// As a scenario has it; behind the last conditioner nothing is next.
fn action(acts: &[Act], last: bool) -> String {
    if acts.contains(&Act::Drop) {
        return "drop".to_owned();
    }
    let find = |of: fn(&Act) -> Option<String>| acts.iter().rev().find_map(of);
    let mark = find(|act| if let Act::Mark(code) = act { Some(format!("mark {code}")) } else { None });
    let colour =
        find(|act| if let Act::Colour(colour) = act { Some(format!("colour {}", colour.name())) } else { None });
    let next = (acts.contains(&Act::Next) && !last).then(|| "next".to_owned());
    let words: Vec<_> = [mark, colour, next].into_iter().flatten().collect();
    if words.is_empty() { "transmit".to_owned() } else { words.join(", ") }
}
