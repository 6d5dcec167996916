//! The places of formulas in laws, what they give there, and how to see it.

use perhop_core::aqm::{AnyAqm, Aqm as _, AqmParams, Arrival, Backlog, Departure};
use perhop_core::conditioner::{AnyConditioner, Conditioner as _, ConditionerParams, Passage};
use perhop_core::packet::{Ecn, FlowId, Packet};
use perhop_core::params::{Place, Problem, Problems, Reader, Tree};
use perhop_core::port::Turn;
use perhop_core::units::{Bytes, Time};
use perhop_core::verdict::{Reason, Verdict};
use perhop_core::{Rng, Scope, fault};

/// Where a formula stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    P,
    DropIf,
    Ecn,
    Average,
    Arrival,
    Departure,
    Interval,
    Hit,
    Sets,
    Kept,
}

impl Kind {
    pub const ALL: [Self; 10] = [
        Self::P,
        Self::DropIf,
        Self::Ecn,
        Self::Average,
        Self::Arrival,
        Self::Departure,
        Self::Interval,
        Self::Hit,
        Self::Sets,
        Self::Kept,
    ];

    pub fn is_of_a_queue(self) -> bool {
        !matches!(self, Self::Sets | Self::Kept)
    }

    /// The occasion of the rules that share steps with it; averages share them with other averages.
    pub fn occasion(self) -> &'static str {
        match self {
            Self::Departure => "departure",
            Self::Interval => "interval",
            Self::Hit => "hit",
            _ => "arrival",
        }
    }

    fn is_rule(self) -> bool {
        matches!(self, Self::Arrival | Self::Departure | Self::Interval | Self::Hit | Self::Kept)
    }

    /// What a formula gives there when it has this value; `None` where it may not have it.
    pub fn want(self, value: f64) -> Option<f64> {
        let truth = |it: bool| f64::from(u8::from(it));
        match self {
            Self::P => Some(value).filter(|p| (0.0..=1.0).contains(p)),
            Self::DropIf | Self::Ecn => Some(truth(value > THRESHOLD)),
            // As bit/s, in bytes a second.
            Self::Sets => {
                let label = value * 0.125;
                (label as f32).is_finite().then(|| f64::from(label.max(1.0) as f32))
            }
            _ => Some(value),
        }
    }
}

/// What conditions compare with.
pub const THRESHOLD: f64 = 0.25;

fn text(text: impl Into<String>) -> Tree {
    Tree::Text(text.into())
}

/// The keys of a law: numbers of `state` with their first values and rules.
#[derive(Clone, Debug)]
pub struct Stated {
    pub kind: Kind,
    /// The formula: a number, of `a` and `now`.
    pub formula: String,
    /// Where `a` begins.
    pub a: String,
    /// Rules of the same occasion, or averages, which stand before.
    pub before: Vec<String>,
    /// More numbers, without rules.
    pub numbers: usize,
}

impl Stated {
    pub fn new(kind: Kind, formula: String, a: String) -> Self {
        Self { kind, formula, a, before: Vec::new(), numbers: 0 }
    }

    fn tree(&self) -> Tree {
        let Self { kind, formula, .. } = self;
        let number =
            |start: &str, rules: Vec<(&str, Tree)>| Tree::table([vec![("start", text(start))], rules].concat());
        let rule = |formula: &String| vec![(kind.occasion(), text(formula))];
        let mut state = vec![("a".to_owned(), number(&self.a, vec![]))];
        state.extend((0..self.numbers).map(|n| (format!("n{n}"), number("0", vec![]))));
        let before = self.before.iter().enumerate();
        let mut averages = Vec::new();
        let average = |of: &String| Tree::table(vec![("of", text(of)), ("weight", Tree::Float(1.0))]);
        match kind {
            Kind::Average => averages.extend(before.map(|(n, of)| (format!("f{n}"), average(of)))),
            _ => state.extend(before.map(|(n, formula)| (format!("f{n}"), number("0", rule(formula))))),
        }
        if kind.is_rule() {
            state.push(("r".into(), number("0", rule(formula))));
        }
        if *kind == Kind::Average {
            averages.push(("r".into(), average(formula)));
        }
        let compared = text(format!("{formula} > {THRESHOLD}"));
        let mut keys = match kind {
            Kind::Sets => vec![("sets", text(format!("({formula}) * 1bit/s")))],
            Kind::Kept => vec![("sets", text("green"))],
            Kind::P => vec![("p", text(formula))],
            Kind::DropIf => vec![("p", text("0")), ("drop-if", compared)],
            Kind::Ecn => vec![("p", text("1")), ("ecn", compared)],
            Kind::Hit => vec![("p", text("1"))],
            Kind::Interval => vec![("p", text("0")), ("interval", text("1ms"))],
            _ => vec![("p", text("0"))],
        };
        keys.push(("state", Tree::table(state.iter().map(|(name, tree)| (&**name, tree.clone())).collect())));
        if !averages.is_empty() {
            keys.push(("averages", Tree::table(averages.iter().map(|(name, tree)| (&**name, tree.clone())).collect())));
        }
        Tree::table(keys)
    }

    /// A law, or what is wrong with it.
    pub fn built(&self) -> Result<Law, Vec<Problem>> {
        let Tree::Table(table) = self.tree() else { unreachable!() };
        let mut problems = Problems::default();
        let mut reader = Reader::new(&table, Place::default(), &mut problems);
        let scope = Scope { largest_packet: Bytes::new(1500), ..Scope::default() };
        let built = match self.kind.is_of_a_queue() {
            true => AqmParams::read("formula", Place::default(), &mut reader)
                .map(|it| Host::Queue(it.build(&scope).unwrap())),
            false => ConditionerParams::read("formula", Place::default(), &mut reader)
                .map(|it| Host::Edge(it.build(&scope).unwrap())),
        };
        reader.finish();
        let law = |host| Law { kind: self.kind, host, rng: Rng::stream(1, 0, "law"), seen: 0.0 };
        built.filter(|_| !problems.has_errors()).map(law).ok_or(problems.list)
    }
}

enum Host {
    Queue(AnyAqm),
    Edge(AnyConditioner),
}

/// A law at work.
pub struct Law {
    kind: Kind,
    host: Host,
    rng: Rng,
    seen: f64,
}

impl Law {
    /// What its formula gives at this time; `None` if it stops.
    pub fn at(&mut self, now: Time) -> Option<f64> {
        let (mut packet, mut verdict) = (Packet { size: 1000, ecn: Ecn::Ect0, ..Packet::default() }, Verdict::Pass);
        let backlog = Backlog { packets: 1, bytes: 1000, idle_since: None, room: true, ecn: true };
        match &mut self.host {
            Host::Edge(edge) => {
                let passage = Passage::of(now, FlowId::default());
                _ = edge.forward(Turn::testing(&passage), &mut packet, &mut self.rng);
            }
            Host::Queue(queue) if self.kind == Kind::Interval => queue.on_timer(Turn::testing(now), &backlog),
            Host::Queue(queue) if self.kind == Kind::Departure => {
                let departure = Departure { now, arrived: now, backlog };
                _ = queue.on_departure(Turn::testing(&departure), &mut packet, &mut self.rng);
            }
            Host::Queue(queue) => {
                verdict = queue.on_arrival(Turn::testing(&Arrival { now, backlog }), &mut packet, &mut self.rng);
            }
        }
        if fault::take().is_some() {
            return None;
        }
        Some(match self.kind {
            Kind::P => self.gauge("drop_p"),
            Kind::DropIf => f64::from(u8::from(verdict == Verdict::Drop(Reason::Forced))),
            Kind::Ecn => f64::from(u8::from(verdict == Verdict::Mark)),
            Kind::Sets => packet.label().unwrap_or(0.0).into(),
            _ => self.gauge("r"),
        })
    }

    fn gauge(&mut self, name: &str) -> f64 {
        let mut each = |key: &'static str, value| {
            if key == name {
                self.seen = value
            }
        };
        match &self.host {
            Host::Edge(edge) => edge.gauges(Time::ZERO, &mut each),
            Host::Queue(queue) => queue.gauges(Time::ZERO, &mut each),
        }
        self.seen
    }
}
