//! Which packets a class takes.

use super::holes::{Holes, MOST};
use super::{Build, Under};
use crate::finding::Finding;
use crate::ios::acl;
use crate::ios::fields::{both, without};
use crate::ios::letters::Small;
use crate::ios::plan::{At, Class, ClassMap, Test, What, WithPlace};
use crate::ios::read::matches::taken;
use crate::ios::read::words::Words;
use crate::ios::tree::row_of;
use crate::matches::merged;
use crate::model::Filter;
use crate::value::WithOrigin;
use perhop_core::classify::Match;
use perhop_core::params::suggest;

/// Alternatives before one that it may become one with.
const NEAR: usize = 8;

/// Class maps within class maps at most.
const DEEPEST: usize = 64;

impl<'a> Build<'a> {
    /// The packets of a class, of those that come to its policy; empty: all.
    pub(super) fn packets(&mut self, class: &'a Class, under: &Under) -> Vec<Match> {
        if class.is_default() {
            return under.above.clone();
        }
        let own = self.of_class(class);
        if under.above.is_empty() {
            return own;
        }
        let pairs = under.above.iter().flat_map(|above| own.iter().filter_map(move |own| both(above, own)));
        let list: Vec<_> = pairs.take(MOST).collect();
        if list.len() == MOST {
            let why = format!("more than {MOST} kinds of packets together are not modelled");
            self.account.not_modelled(class.at.line, why);
        }
        if list.is_empty() {
            let how = "no packet is in it and in the class above";
            self.account.approximated(class.at.line, how);
            return vec![called(&class.name)];
        }
        list
    }

    /// As filters of one place in the order of a policy.
    pub(super) fn filters(class: &Class, order: usize, packets: Vec<Match>, at: Option<At>) -> Vec<Filter> {
        let place = at.unwrap_or(class.at).place;
        let order = u32::try_from(order).unwrap_or(u32::MAX);
        packets.into_iter().map(|matches| Filter { order, matches: WithOrigin::at(place, matches) }).collect()
    }

    /// Where it is said which packets a class takes.
    pub(super) fn tests_at(&self, class: &'a Class) -> Option<At> {
        let map = self.map(class)?;
        map.tests.first().map(|test| test.at)
    }

    pub(super) fn map(&self, class: &'a Class) -> Option<&'a ClassMap> {
        let plan = self.plan;
        class.map.as_ref().or_else(|| plan.class_map.get(&class.name).map(|at| &plan.class_maps[*at]))
    }

    fn of_class(&mut self, class: &'a Class) -> Vec<Match> {
        let Some(map) = self.map(class) else {
            self.without_map(class);
            return vec![called(&class.name)];
        };
        let list = self.of_map(map);
        if list.is_empty() {
            let what = if map.tests.is_empty() { "its class map has no `match`" } else { "no packet passes its tests" };
            let how = format!("{what}: the traffic called `{}`", class.name);
            self.account.approximated(class.at.line, how);
            return vec![called(&class.name)];
        }
        merged(list, NEAR)
    }

    /// A class whose class map is not in the text.
    fn without_map(&mut self, class: &Class) {
        let how = format!("its class map is not in the text: the traffic called `{}`", class.name);
        self.account.approximated(class.at.line, how);
        if self.plan.class_maps.is_empty() || !self.is_new(class.at.place.start) {
            return;
        }
        let maps = self.plan.class_maps.iter().take(super::MOST_NAMES).map(|map| map.name.as_str());
        let names: Vec<_> = maps.chain(["class-default"]).collect();
        self.findings.push(Finding {
            code: "W410",
            place: class.at.place,
            message: format!("class map {} is not in the text: the class takes the traffic of that name", class.name),
            instead: suggest(&class.name, &names),
            instead_of: &[],
        });
    }

    fn of_map(&mut self, map: &'a ClassMap) -> Vec<Match> {
        let mut all: Option<Vec<Match>> = None;
        for test in &map.tests {
            let Some(one) = self.of_test(test) else { continue };
            all = Some(match (all, map.all) {
                (None, _) => one,
                (Some(mut list), false) => {
                    list.extend(one);
                    list
                }
                (Some(list), true) => {
                    list.iter().flat_map(|a| one.iter().filter_map(|b| both(a, b))).take(MOST + 1).collect()
                }
            });
            if all.as_ref().is_some_and(|list| list.len() > MOST) {
                let why = format!("more than {MOST} kinds of packets together are not modelled");
                self.account.not_modelled(test.at.line, why);
                all = all.map(|list| list.into_iter().take(MOST).collect());
            }
        }
        all.unwrap_or_default()
    }

    /// The packets that pass a test; `None` if it is not modelled.
    fn of_test(&mut self, test: &'a WithPlace<Test>) -> Option<Vec<Match>> {
        let list = match &test.is.what {
            What::Any => vec![Match::default()],
            What::Fields(fields) => vec![(**fields).clone()],
            What::List(name) => self.of_list(name, test.at),
            What::Class(name) => self.of_other(name, test.at)?,
        };
        if !test.is.not {
            return Some(list);
        }
        let rest = list.iter().try_fold(vec![Match::default()], |rest, hole| {
            let parts: Option<Vec<_>> = rest.iter().map(|one| without(one, hole)).collect();
            Some(parts?.concat())
        });
        if rest.is_none() {
            self.account.not_modelled(test.at.line, "the packets that do not have this field are not modelled");
        }
        rest
    }

    /// A class map within a class map.
    fn of_other(&mut self, name: &str, at: At) -> Option<Vec<Match>> {
        let plan = self.plan;
        match plan.class_map.get(name) {
            Some(other) => match self.known.maps.get(other) {
                Some(Some(known)) => Some(known.clone()),
                None if self.known.within < DEEPEST => {
                    self.known.maps.insert(*other, None);
                    self.known.within += 1;
                    let list = self.of_map(&plan.class_maps[*other]);
                    self.known.within -= 1;
                    self.known.maps.insert(*other, Some(list.clone()));
                    Some(list)
                }
                _ => {
                    self.account.not_modelled(at.line, "a class map within itself, or too deep, takes nothing");
                    None
                }
            },
            None => {
                let how = format!("class map {name} is not in the text: the traffic called `{name}`");
                self.account.approximated(at.line, how);
                Some(vec![called(name)])
            }
        }
    }

    fn of_list(&mut self, name: &str, at: At) -> Vec<Match> {
        let plan = self.plan;
        let Some(place) = plan.list.get(name) else {
            let how = format!("access list {name} is not in the text: the traffic called `{name}`");
            self.account.approximated(at.line, how);
            return vec![called(name)];
        };
        if let Some(known) = self.known.lists.get(name) {
            return known.clone();
        }
        let list = self.read_list(&plan.lists[*place].lines);
        self.known.lists.insert(name.to_owned(), list.clone());
        list
    }

    /// The first line that agrees decides, so a `deny` takes packets from the lines after it.
    fn read_list(&mut self, lines: &[At]) -> Vec<Match> {
        let read: Vec<_> = lines.iter().filter_map(|at| Some((at.line, self.read_line(*at)?))).collect();
        let denials = read.iter().filter(|it| !it.1.permits);
        let denied: Vec<_> = denials.map(|(line, it)| (&it.packets, *line)).collect();
        let (mut holes, mut before, mut list) = (Holes::of(&denied), 0, Vec::new());
        for (_, it) in &read {
            if !it.permits {
                before += 1;
                continue;
            }
            list.extend(holes.left(&it.packets, before));
        }
        for line in holes.lost {
            self.account.not_modelled(line, "packets that this denies and a later line permits are permitted");
        }
        list
    }

    fn read_line(&mut self, at: At) -> Option<acl::Permit> {
        let typed = row_of(self.text, at)?;
        let small = Small::of(&typed);
        let in_small = small.as_ref().map(|small| small.row(&typed));
        let row = in_small.as_ref().unwrap_or(&typed);
        let mut words = Words::new(row, 0);
        match acl::permit(&mut words) {
            Ok(Some(it)) => {
                self.account.taken(at.line);
                for how in &it.nearly {
                    self.account.approximated(at.line, how.clone());
                }
                if row.words.iter().any(|word| word.text == "precedence") && it.packets.dscp.len() > 1 {
                    self.account.noted(at.line, taken(&it.packets.dscp));
                }
                Some(it)
            }
            Ok(None) => None,
            Err(why) => {
                self.account.not_modelled(at.line, why);
                None
            }
        }
    }
}

/// Packets that only a name tells from others.
fn called(name: &str) -> Match {
    Match { traffic: vec![name.to_owned()], ..Match::default() }
}
