//! A formula, read again for each packet: the tree of its expression is walked, in plain doubles. The instruments are written
//! out: buckets in bytes as doubles would differ, so they count as those of `buckets`.

use super::Oracle;
use super::expression::walk;
use super::tsw::Rate;
use perhop_core::conditioner::formula;
use perhop_core::formula::Expression;
use perhop_core::packet::{Colour, Packet};
use perhop_core::params::{Node, Params as _, Tree};
use std::collections::BTreeMap;

pub struct Walker {
    sets: Expression,
    rates: Vec<(String, Measured)>,
    buckets: Vec<Bucket>,
    state: Vec<(String, f64, Option<Expression>)>,
    seen: u64,
    another: f64,
}

enum Measured {
    Window(Rate),
    Exponential { k: f64, rate: f64, last: Option<u64>, pending: f64 },
}

struct Bucket {
    name: String,
    rate: u128,
    depth: u128,
    credit: u128,
    at: u64,
    from: Option<String>,
    pays: Vec<String>,
}

const NANOBITS: u128 = 8_000_000_000;

fn entries(tree: Option<&Tree>) -> Vec<(String, Node)> {
    let Some(Tree::Table(table)) = tree else { return Vec::new() };
    table.entries.iter().map(|(name, _, node)| (name.clone(), node.clone())).collect()
}

/// The text of a key.
fn of(tree: &Tree, key: &str) -> Option<String> {
    let Tree::Table(table) = tree else { return None };
    table.get(key).map(|node| match &node.tree {
        Tree::Text(text) => text.clone(),
        other => other.to_string(),
    })
}

impl Walker {
    pub fn new(params: &formula::Params) -> Self {
        let mut shown = Vec::new();
        params.show(&mut shown);
        let key = |name: &str| shown.iter().find(|entry| entry.0 == name).map(|entry| &entry.1);
        let Some(Tree::Text(sets)) = key("sets") else { panic!("`sets` is required") };
        let rates = entries(key("rates")).into_iter().map(|(name, it)| {
            let start = of(&it.tree, "start").unwrap().parse().unwrap();
            let measured = match of(&it.tree, "window") {
                Some(window) => Measured::Window(Rate::new(start, window.parse().unwrap())),
                None => {
                    let k: perhop_core::units::Span = of(&it.tree, "k").unwrap().parse().unwrap();
                    Measured::Exponential { k: k.ns() as f64 / 1e9, rate: start.bytes_s(), last: None, pending: 0.0 }
                }
            };
            (name, measured)
        });
        let buckets = entries(key("buckets")).into_iter().map(|(name, it)| {
            let rate: perhop_core::units::BitRate = of(&it.tree, "rate").unwrap().parse().unwrap();
            let burst: perhop_core::units::Bytes = of(&it.tree, "burst").unwrap().parse().unwrap();
            let depth = u128::from(burst.get()) * NANOBITS;
            let pays = of(&it.tree, "pays").unwrap_or_default();
            let pays = ["green", "yellow", "red"].into_iter().filter(|colour| pays.contains(colour)).map(str::to_owned);
            let (pays, from) = (pays.collect(), of(&it.tree, "from"));
            Bucket { name, rate: rate.bit_s().into(), depth, credit: depth, at: 0, from, pays }
        });
        let state = entries(key("state")).into_iter().map(|(name, it)| {
            let start = Expression::read(&of(&it.tree, "start").unwrap()).unwrap();
            let start = walk(&start, &BTreeMap::new(), &mut Vec::new()).unwrap();
            (name, start, of(&it.tree, "arrival").map(|rule| Expression::read(&rule).unwrap()))
        });
        let (rates, buckets, state) = (rates.collect(), buckets.collect(), state.collect());
        Self { sets: Expression::read(sets).unwrap(), rates, buckets, state, seen: 0, another: 0.0 }
    }

    fn fill(&mut self, now: u64) {
        for i in 0..self.buckets.len() {
            let bucket = &mut self.buckets[i];
            let mut more = bucket.rate * u128::from(now - bucket.at);
            bucket.at = now;
            let mut next = Some(i);
            while let Some(at) = next {
                let bucket = &mut self.buckets[at];
                let fits = more.min(bucket.depth - bucket.credit);
                (bucket.credit, more) = (bucket.credit + fits, more - fits);
                let name = bucket.name.clone();
                next = self.buckets.iter().position(|it| it.from.as_ref() == Some(&name));
            }
        }
    }
}

impl Measured {
    fn add(&mut self, now: u64, size: u32) -> f64 {
        match self {
            Self::Window(rate) => rate.update(now, size),
            Self::Exponential { k, rate, last, pending } => {
                *pending += if last.is_some() { f64::from(size) } else { 0.0 };
                match *last {
                    Some(before) if now > before => {
                        let gap = (now - before) as f64 / 1e9;
                        let keep = perhop_core::math::exp(-gap / *k);
                        *rate = (1.0 - keep) * *pending / gap + keep * *rate;
                        (*last, *pending) = (Some(now), 0.0);
                    }
                    Some(_) => {}
                    None => *last = Some(now),
                }
                *rate
            }
        }
    }
}

impl Oracle for Walker {
    fn another(&mut self, u: f64) {
        self.another = u;
    }

    fn mark(&mut self, now: u64, packet: &mut Packet, u: f64) {
        let mut names = BTreeMap::from([
            ("size".to_owned(), f64::from(packet.size)),
            ("colour".to_owned(), packet.colour.index() as f64),
            ("ecn".to_owned(), f64::from(u8::from(packet.ecn.capable()))),
            ("now".to_owned(), now as f64 / 1e9),
            ("gap".to_owned(), (now - self.seen) as f64 / 1e9),
        ]);
        self.seen = now;
        names.extend(self.rates.iter_mut().map(|(name, rate)| (name.clone(), rate.add(now, packet.size))));
        self.fill(now);
        names.extend(self.buckets.iter().map(|it| (it.name.clone(), it.credit as f64 / NANOBITS as f64)));
        for i in 0..self.state.len() {
            names.extend(self.state.iter().map(|(name, value, _)| (name.clone(), *value)));
            if let (_, value, Some(rule)) = &mut self.state[i] {
                *value = walk(rule, &names, &mut Vec::new()).unwrap();
            }
        }
        names.extend(self.state.iter().map(|(name, value, _)| (name.clone(), *value)));
        let mut draws = vec![self.another, u];
        let colour = Colour::ALL[walk(&self.sets, &names, &mut draws).unwrap() as usize];
        packet.colour = colour;
        for bucket in self.buckets.iter_mut().filter(|it| it.pays.iter().any(|name| name == colour.name())) {
            bucket.credit -= u128::from(packet.size) * NANOBITS;
        }
    }
}
