//! Every AQM of the list, with generated parameters, under random operations: arrivals, departures, idle time,
//! timers, new parameters. What a queue promises must hold after each.

use super::support::{self, RATE};
use crate::common::port::Port;
use perhop_core::aqm::{Aqm, AqmParams, LIST};
use perhop_core::count::Count;
use perhop_core::packet::{Colour, Packet};
use perhop_core::params::{Field, Gives, Kind, Place, Problems, Reader, Table, Tree};
use perhop_core::port::{Fates, Gate, Limit};
use perhop_core::registry::Entry;
use perhop_core::units::{Bytes, Length, Span, Time};
use perhop_core::verdict::Fate;
use perhop_core::{Rng, Scope};
use proptest::prelude::*;

/// Values for declared fields.
struct Generator(Rng);

impl Generator {
    fn below(&mut self, n: usize) -> usize {
        (self.0.uniform() * n as f64) as usize
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    fn table(&mut self, fields: &'static [Field]) -> Tree {
        let mut entries = Vec::new();
        for field in Field::all(fields) {
            let needed = field.default.is_none() && !field.optional;
            // Keys that exclude others or need them.
            let rare = ["curve", "interpolate", "ecn-min", "ecn-max", "ecn-p"].contains(&field.name);
            if needed || self.0.uniform() < if rare { 0.1 } else { 0.5 } {
                entries.push((field.name, self.value(&field.kind)));
            }
        }
        Tree::table(entries)
    }

    fn value(&mut self, kind: &Kind) -> Tree {
        let text = |text: String| Tree::Text(text);
        match kind {
            Kind::Tickets => text(format!("{}t/s", self.below(20_000))),
            Kind::Rate | Kind::MeterRate => text(format!("{}kbit/s", self.below(20_000))),
            Kind::Size | Kind::Burst => text(format!("{}B", self.below(20_000))),
            Kind::SignedSize => text(format!("{}B", self.below(220) as i64 - 20)),
            Kind::Time => text(format!("{}ms", self.below(1000))),
            Kind::Count => text(format!("{}p", self.below(60))),
            Kind::Length => text(self.pick(&["3p", "7p", "11p", "25p", "40p", "5%", "60%"]).to_owned()),
            Kind::Probability => Tree::Float(self.pick(&[0.0, 0.02, 0.3, 1.0])),
            Kind::Number => Tree::Float(self.pick(&[0.002, 0.1, 1.0])),
            Kind::Integer => Tree::Integer(self.below(12) as i64),
            Kind::Bool => Tree::Bool(self.below(2) == 1),
            Kind::Choice(names) => text(self.pick(names).to_owned()),
            Kind::Table(fields) | Kind::Flat(fields) => self.table(fields),
            Kind::List(of) | Kind::OneOrMany(of) => {
                let n = self.below(4);
                Tree::List((0..n).map(|_| self.value(of).into()).collect())
            }
            Kind::Either(kinds) => {
                let chosen = self.below(kinds.len());
                self.value(&kinds[chosen])
            }
            Kind::Formula(Gives::Value | Gives::Decision) => text(self.pick(&FORMULAS).to_owned()),
            Kind::Formula(Gives::Condition) => text(self.pick(&CONDITIONS).to_owned()),
            Kind::Formula(Gives::Constant) => self.value(&Kind::Number),
            Kind::Named(of) => Tree::table(vec![("first", self.value(of)), ("second", self.value(of))]),
            Kind::Dscp => text(self.pick(&support::CODE_POINTS).to_owned()),
            Kind::Text | Kind::Any => {
                let colours = Colour::ALL.map(Colour::name);
                let names = [&colours[..], &support::CODE_POINTS[..]].concat();
                text(self.pick(&names).to_owned())
            }
        }
    }

    /// Parameters of `entry` that it accepts.
    fn params(&mut self, entry: &Entry, scope: &Scope) -> AqmParams {
        let attempt = |_| {
            let Tree::Table(table) = self.table(entry.fields) else { unreachable!() };
            let params = read(entry.name, &table)?;
            params.build(scope).is_ok().then_some(params)
        };
        (0..10_000).find_map(attempt).unwrap_or_else(|| panic!("no valid parameters of {}", entry.name))
    }
}

/// Numbers from 0 to 1.
const FORMULAS: [&str; 4] = ["0.1", "min(1, backlog.packets / 50p)", "min(1, (sojourn / 20ms)^2)", "if(room, 0.2, 1)"];

const CONDITIONS: [&str; 2] = ["backlog.packets > 20p", "colour == red and not ecn"];

fn read(name: &str, table: &Table) -> Option<AqmParams> {
    let mut problems = Problems::default();
    let mut reader = Reader::new(table, Place::default(), &mut problems);
    let params = AqmParams::read(name, Place::default(), &mut reader);
    reader.finish();
    params.filter(|_| !problems.has_errors())
}

fn limits() -> impl Strategy<Value = Length> {
    let bytes = (1500u64..60_000).prop_map(|n| Length::Bytes(Bytes::new(n)));
    prop_oneof![(5u32..60).prop_map(support::packets), bytes]
}

fn of_gate(limit: Length) -> Limit {
    match limit {
        Length::Packets(n) => Limit::Packets(n.get()),
        Length::Bytes(n) => Limit::Bytes(n.get()),
        other => panic!("{other}"),
    }
}

/// One AQM at work.
struct Run {
    entry: &'static Entry,
    generator: Generator,
    scope: Scope,
    port: Port,
    now: Time,
}

impl Run {
    fn new(entry: &'static Entry, limit: Length, seed: u64) -> Self {
        let mut generator = Generator(Rng::stream(seed, 0, entry.name));
        let scope = Scope { link_rate: Some(RATE), limit: Some(limit), ..Scope::default() };
        let aqm = generator.params(entry, &scope).build(&scope).unwrap();
        let gate = Gate::new(aqm, of_gate(limit), Rng::stream(seed, 0, "queue"));
        Self { entry, generator, scope, port: Port::new(gate, RATE), now: Time::ZERO }
    }

    fn step(&mut self, gap: Span, packet: Packet) {
        self.now += gap;
        self.port.advance(self.now);
        self.timers();
        if self.generator.below(50) == 0 {
            self.retune();
        }
        let waiting = self.port.waiting().len();
        let fate = self.port.arrive(self.now, packet);
        assert!(fate != Fate::Marked || packet.ecn.capable(), "marked what is not ECN-capable");
        assert!(self.port.waiting().len() <= waiting + usize::from(fate.stays()));
        self.within_limit();
        self.gauges();
    }

    fn timers(&mut self) {
        while let Some(at) = self.port.poll_at().filter(|at| *at <= self.now) {
            self.port.on_timer(at);
            assert!(self.port.poll_at().is_none_or(|next| next > at), "a timer must move on");
        }
    }

    /// Refused when they change the unit of the average; then the old ones stay.
    fn retune(&mut self) {
        let params = self.generator.params(self.entry, &self.scope);
        let refused = self.port.retune(self.now, &params, &self.scope).err();
        assert!(refused.is_none_or(|error| error.code == "E202"));
    }

    fn within_limit(&self) {
        let bytes: u64 = self.port.waiting().iter().map(|w| u64::from(w.1.size)).sum();
        match self.port.gate().limit() {
            Limit::Packets(limit) => assert!(self.port.waiting().len() <= limit as usize),
            Limit::Bytes(limit) => assert!(bytes <= limit),
        }
    }

    fn gauges(&self) {
        let mut names = Vec::new();
        self.port.gate().aqm().gauges(self.now, &mut |name, value| {
            assert!(value.is_finite() && value >= 0.0, "{name} is {value}");
            assert!(!name.starts_with("drop_p") || value <= 1.0, "{name} is {value}");
            assert!(!names.contains(&name), "two gauges {name}");
            names.push(name);
        });
    }

    /// Every arrival has one fate; what was let in was sent, dropped at the head or waits.
    fn conserved(&self, arrived: usize) {
        let fates = self.port.gate().fates();
        assert!(fates.values().all(Fates::conserved));
        let all: Count = fates.values().map(|f| f.arrived).sum();
        let queued: Count = fates.values().map(|f| f.queued).sum();
        assert_eq!(all.packets, arrived as u64);
        let at_head: Count = fates.values().map(|f| f.dropped_at_head).sum();
        assert_eq!(at_head.packets, self.port.dropped().len() as u64);
        assert_eq!(queued.packets, self.port.sent + at_head.packets + self.port.waiting().len() as u64);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]
    #[test]
    fn a_queue_keeps_its_promises(seed in any::<u64>(), limit in limits(), load in support::load(&Colour::ALL)) {
        for entry in LIST {
            let mut run = Run::new(entry, limit, seed);
            for (gap, packet) in &load {
                run.step(*gap, *packet);
            }
            run.conserved(load.len());
        }
    }

    /// New parameters that are the old ones: the whole state stays, in the midst of a load.
    #[test]
    fn the_same_parameters_change_nothing(seed in any::<u64>(), load in support::load(&Colour::ALL)) {
        let scope = support::scope(20);
        for entry in LIST {
            let params = Generator(Rng::stream(seed, 0, entry.name)).params(entry, &scope);
            let (mut port, mut now) = (support::port(&params, 20), Time::ZERO);
            for (gap, packet) in &load {
                now += *gap;
                port.arrive(now, *packet);
            }
            let before = format!("{:?}", port.gate().aqm());
            port.retune(now, &params, &scope).unwrap();
            prop_assert_eq!(format!("{:?}", port.gate().aqm()), before);
        }
    }

    /// What is shown is what is read: all effective values make the same parameters again.
    #[test]
    fn shown_is_read(seed in any::<u64>()) {
        for entry in LIST {
            let params = Generator(Rng::stream(seed, 0, entry.name)).params(entry, &support::scope(60));
            let mut shown = Vec::new();
            params.show(&mut shown);
            let Tree::Table(table) = Tree::table(shown) else { unreachable!() };
            prop_assert_eq!(read(entry.name, &table), Some(params));
        }
    }
}
