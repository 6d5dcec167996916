//! `[conditioner.X]`: markers that sort packets, then what the device has.

use super::classes::{NOTHING, key_text, matched};
use super::names::plain;
use super::overlap::is_of_conditioners;
use super::page::{Page, Row};
use super::{Marker, Writer};
use crate::model::{Act, Conditioner, Port};
use crate::unions::Unions;
use crate::value::WithOrigin;
use perhop_core::classify::Match;
use perhop_core::colour::Colour;
use perhop_core::params::Place;
use std::collections::BTreeSet;

impl Writer<'_> {
    /// All at a port; in a policy there is none.
    pub(crate) fn conditioned(&mut self, port: &Port, at: Option<&str>) -> Page {
        let matches: Vec<_> = port.conditioners.iter().enumerate().map(|(i, it)| self.matched(i, it)).collect();
        let (mut page, names) = (Page::default(), self.own.clone());
        let mut here: Vec<Vec<&Marker>> = vec![Vec::new(); port.conditioners.len()];
        self.marks.iter().for_each(|marker| marker.before.into_iter().for_each(|before| here[before].push(marker)));
        let of = |ends: bool| self.marks.iter().filter(move |marker| marker.before.is_none() && marker.ends == ends);
        let behind = of(true).count() + port.conditioners.len();
        let first = of(false).count();
        of(false).enumerate().for_each(|(i, marker)| marked(&mut page, at, marker, i + 1 < first || behind > 0));
        of(true).for_each(|marker| marked(&mut page, at, marker, false));
        for (i, conditioner) in port.conditioners.iter().enumerate() {
            here[i].iter().for_each(|marker| marked(&mut page, at, marker, true));
            let (from, name) = (conditioner.name.origin.place(), &names[i].1);
            let comment = plain(&conditioner.name.is);
            let comment = if comment == *name { String::new() } else { format!("! {comment}") };
            let start = page.text.len();
            page.section("conditioner", Some(name), from, &comment);
            placed(&mut page, at, matches[i].as_ref().map(|(matches, place)| (matches.as_ref(), *place)));
            page.add(&format!("kind = {}\n", key_text(conditioner.kind)));
            conditioner.settings.iter().for_each(|(name, value)| page.entry(name, value));
            let last = i + 1 == port.conditioners.len();
            actions(&mut page, &conditioner.actions, last);
            page.around(start, from);
        }
        page
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
fn marked(page: &mut Page, at: Option<&str>, marker: &Marker, goes_on: bool) {
    page.section("conditioner", Some(&marker.name), marker.place, "only says which filter agreed");
    placed(page, at, Some((marker.matches.as_ref(), marker.place)));
    page.add("kind = \"marker\"\n");
    page.add(if goes_on { "green = \"next\"\n" } else { "" });
}

/// `at` and `match`.
fn placed(page: &mut Page, at: Option<&str>, matches: Option<(Option<&Match>, Option<Place>)>) {
    at.into_iter().for_each(|at| page.add(&format!("at = {}\n", key_text(at))));
    if let Some((matches, place)) = matches.filter(|it| it.0 != Some(&Match::default())) {
        let mut row = Row::default();
        row.page.from(place, |page| page.add(&matched(matches, 0)));
        if matches.is_none() {
            row.say(&format!("nothing of the load comes here, {NOTHING}"));
        }
        page.row(row);
    }
}

/// What happens to the packets of each colour.
fn actions(page: &mut Page, actions: &[(Colour, WithOrigin<Vec<Act>>)], last: bool) {
    for (colour, acts) in actions {
        let mut row = Row::default();
        let text = action(&acts.is, last);
        row.page.from(acts.origin.place(), |page| page.add(&format!("{} = {}", colour.name(), key_text(&text))));
        page.row(row);
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
