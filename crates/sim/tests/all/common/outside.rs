//! Algorithms from outside, of the simplest kind: registered as a host's would be, and then in the lists.

use perhop_core::ParamError;
use perhop_core::aqm::{self, Arrival, Backlog, Departure};
use perhop_core::conditioner::{self, Passage};
use perhop_core::foreign::{Argument, Plain, Registered};
use perhop_core::needs::Needs;
use perhop_core::packet::{Colour, Packet};
use perhop_core::params::{Field, Kind, Literal};
use perhop_core::registry::Entry;
use perhop_core::rng::Rng;
use perhop_core::units::Time;
use perhop_core::verdict::{Reason, Verdict};
use std::sync::Once;

/// Drops or marks by chance what finds some packets waiting, on arrival and at the head, and wakes up every 10 ms.
#[derive(Clone, Debug)]
struct Chance {
    least: i64,
    next: Time,
    timers: u64,
}

const EVERY_NS: u64 = 10_000_000;

impl Chance {
    fn verdict(&self, backlog: &Backlog, rng: &mut Rng) -> Verdict {
        match rng.uniform() {
            x if i64::from(backlog.packets) < self.least || x > 0.3 => Verdict::Pass,
            x if x > 0.15 => Verdict::Mark,
            _ => Verdict::Drop(Reason::Early),
        }
    }
}

impl aqm::foreign::Hooks for Chance {
    fn on_arrival(&mut self, at: &Arrival, _packet: &mut Packet, rng: &mut Rng) -> Verdict {
        self.verdict(&at.backlog, rng)
    }

    fn on_departure(&mut self, at: &Departure, _packet: &mut Packet, rng: &mut Rng) -> Verdict {
        self.verdict(&at.backlog, rng)
    }

    fn on_timer(&mut self, now: Time, _backlog: &Backlog) {
        assert!(now >= self.next, "no timer before its time");
        (self.next, self.timers) = (Time::from_ns(now.ns() + EVERY_NS), self.timers + 1);
    }

    fn needs(&self) -> Needs {
        Needs::DEPARTURES | Needs::TIMER
    }

    fn poll_at(&self) -> Option<Time> {
        Some(self.next)
    }

    fn retune(&mut self, _now: Time, values: &[Argument]) -> Result<(), ParamError> {
        self.least = least(values);
        Ok(())
    }

    fn gauges(&self, _now: Time, each: &mut dyn FnMut(&'static str, f64)) {
        each("timers", self.timers as f64);
    }

    fn boxed(&self) -> Box<dyn aqm::foreign::Hooks> {
        Box::new(self.clone())
    }
}

/// Colours by chance.
#[derive(Clone, Debug)]
struct Dice;

impl conditioner::foreign::Hooks for Dice {
    fn forward(&mut self, _at: &Passage<'_>, packet: &mut Packet, rng: &mut Rng) -> Verdict {
        packet.colour = Colour::METERED[(rng.uniform() * 3.0) as usize];
        Verdict::Pass
    }

    fn retune(&mut self, _now: Time, _values: &[Argument]) -> Result<(), ParamError> {
        Ok(())
    }

    fn boxed(&self) -> Box<dyn conditioner::foreign::Hooks> {
        Box::new(self.clone())
    }
}

fn least(values: &[Argument]) -> i64 {
    match values {
        [Argument { plain: Plain::Integer(n), .. }] => *n,
        other => panic!("{other:?}"),
    }
}

const LEAST: &[Field] = &[Field {
    name: "least",
    doc: "Packets that wait before anything is dropped.",
    kind: Kind::Integer,
    default: Some(Literal::Integer(3)),
    optional: false,
}];

/// Registers both, once.
pub fn register() {
    static DONE: Once = Once::new();
    let made = |name, fields| {
        (Entry::registered(name, "By chance.", fields, "By chance."), "tests".to_owned(), "1".to_owned())
    };
    DONE.call_once(|| {
        let (entry, origin, source) = made("chance", LEAST);
        let next = Time::from_ns(EVERY_NS);
        let make = Box::new(move |values: &[Argument], _: &_| {
            Ok(Box::new(Chance { least: least(values), next, timers: 0 }) as Box<dyn aqm::foreign::Hooks>)
        });
        aqm::foreign::REGISTER.add(Registered { entry, origin, source, make }, aqm::NAMES).unwrap();
        let (entry, origin, source) = made("dice", &[]);
        let make = Box::new(|_: &[Argument], _: &_| Ok(Box::new(Dice) as Box<dyn conditioner::foreign::Hooks>));
        conditioner::foreign::REGISTER.add(Registered { entry, origin, source, make }, conditioner::NAMES).unwrap();
    });
}

/// The names of all AQMs, these among them.
pub fn aqms() -> Vec<&'static str> {
    register();
    aqm::names()
}

/// The names of all conditioners.
pub fn conditioners() -> Vec<&'static str> {
    register();
    conditioner::names()
}
