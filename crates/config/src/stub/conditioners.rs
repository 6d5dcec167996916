//! `[conditioner.X]`: markers that sort packets, then what the device has.

use super::Writer;
use super::classes::{key_text, matched};
use super::names::plain;
use super::page::{Page, Row};
use super::sort::add;
use crate::model::{Act, Conditioner, Port};
use crate::value::Said;
use perhop_core::classify::Match;
use perhop_core::colour::Colour;
use perhop_core::params::Place;

impl Writer<'_> {
    /// All at a port; in a policy there is none.
    pub(crate) fn conditioned(&mut self, port: &Port, at: Option<&str>) -> Page {
        let of = |it: &Conditioner| it.name.is.clone();
        let names: Vec<_> = port.conditioners.iter().map(|it| self.conditioners.unique(&of(it))).collect();
        let matches: Vec<_> = port.conditioners.iter().map(|it| self.matched(it)).collect();
        let mut page = Page::default();
        let many = self.marks.len();
        for (i, marker) in self.marks.iter().enumerate() {
            page.section("conditioner", Some(&marker.name), marker.place, "only says which filter agreed");
            placed(&mut page, at, Some((marker.matches.as_ref(), marker.place)));
            page.add("kind = \"marker\"\n");
            if i + 1 < many || !port.conditioners.is_empty() {
                page.add("green = \"next\"\n");
            }
        }
        for (i, conditioner) in port.conditioners.iter().enumerate() {
            let from = conditioner.name.origin.place();
            let comment = plain(&conditioner.name.is);
            let comment = if comment == names[i] { String::new() } else { format!("! {comment}") };
            let start = page.text.len();
            page.section("conditioner", Some(&names[i]), from, &comment);
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
    fn matched(&mut self, conditioner: &Conditioner) -> Option<(Option<Match>, Option<Place>)> {
        let mut all = Vec::new();
        conditioner.takes.iter().for_each(|filter| add(&mut all, filter.matches.is.clone()));
        let first = conditioner.takes.first();
        let place = first.and_then(|filter| filter.matches.origin.place());
        match all.as_slice() {
            [] => None,
            [one] if *one == Match::default() => None,
            [one] => Some((self.load.known(one), place)),
            _ => {
                let conditioner = self.markers(&conditioner.name.is, first, &all);
                Some((Some(Match { conditioner, ..Match::default() }), place))
            }
        }
    }
}

/// `at` and `match`.
fn placed(page: &mut Page, at: Option<&str>, matches: Option<(Option<&Match>, Option<Place>)>) {
    at.into_iter().for_each(|at| page.add(&format!("at = {}\n", key_text(at))));
    if let Some((matches, place)) = matches {
        page.from(place, |page| page.add(&matched(matches, 0)));
        page.add("\n");
    }
}

/// What happens to the packets of each colour.
fn actions(page: &mut Page, actions: &[(Colour, Said<Vec<Act>>)], last: bool) {
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
