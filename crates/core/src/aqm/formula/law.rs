//! A formula's law, compiled, and one queue's state.

use super::{AverageOf, Marks, Stated, When};
use crate::Scope;
use crate::aqm::early::Idle;
use crate::aqm::{Arrival, Backlog, Departure};
use crate::estimate::Ewma;
use crate::formula::{
    Assembler, Block, Dimension, Draws, Input, Machine, Meaning, Memory, NoDraws, Rule, Target, Type, Wanted, Wrong,
};
use crate::needs::Needs;
use crate::packet::Packet;
use crate::params::ParamError;
use crate::rng::Rng;
use crate::units::{Span, Time};
use crate::verdict::{Reason, Verdict};

/// What is known of no packet.
const OF_PACKETS: &[Input] = &[Input::Size, Input::Colour, Input::Room, Input::Ecn];

/// What is to be done, compiled; it never changes.
#[derive(Clone, Debug)]
pub(super) struct Law {
    /// What averages count.
    sample: Block,
    /// Rules, `drop-if`, p and `ecn`, when p is computed.
    decide: Block,
    /// Rules at the other end of the queue.
    other: Block,
    interval: Block,
    hit: Block,
    when: When,
    cells: Cells,
    memory: Memory,
    sojourn: bool,
}

/// Where results are.
#[derive(Clone, Debug, Default)]
struct Cells {
    p: u8,
    drop: Option<u8>,
    marks: Option<u8>,
    /// What is averaged, and the average.
    averages: Vec<(u8, u8)>,
}

impl Law {
    /// Compiles, for a link of this rate in bytes/s.
    ///
    /// # Errors
    /// All that is wrong with the formulas.
    pub(super) fn assemble(stated: &Stated, rate: Option<f64>) -> Result<Self, Vec<Wrong>> {
        let (mut out, mut wrong, mut cells) = (Assembler::new(), Vec::new(), Cells::default());
        out.declare_inputs(&Input::OF_QUEUES);
        let meaning = |known: fn(f64) -> Meaning| rate.map_or(Meaning::Unknown, known);
        out.declare("rate", Type::Quantity(Dimension::RATE), meaning(Meaning::Constant));
        out.declare("backlog.time", Type::Quantity(Dimension::TIME), meaning(Meaning::Drain));
        let numbers = stated.state.list.iter().map(|(name, place, rule)| (&**name, *place, &rule.start));
        let state = out.declare_numbers(numbers, &mut wrong);
        let averages = of_averages(&mut out, stated, &mut wrong);
        let sample = out.block();
        for ((name, place, _), (of, kind)) in stated.averages.list.iter().zip(averages) {
            out.begin("averages", *place);
            wrong.extend(out.may_name("averages", name, *place).err());
            cells.averages.push((of, out.remember(name, kind, 0.0)));
        }
        let (first, second): (Occasion, Occasion) = match stated.when {
            When::Arrival => (|rule| rule.arrival.as_ref(), |rule| rule.departure.as_ref()),
            When::Departure => (|rule| rule.departure.as_ref(), |rule| rule.arrival.as_ref()),
        };
        out.rules(on(stated, first), &state, &mut wrong);
        let mut found = |cell: Result<u8, Wrong>| cell.map_err(|fault| wrong.push(fault)).ok();
        cells.drop = stated.drop_if.as_ref().and_then(|it| found(out.condition("drop-if", it)));
        out.begin("p", stated.p.place);
        cells.p = out.own(0.0);
        let target = Target { cell: cells.p, name: "p" };
        found(out.formula_into("p", &stated.p, (Type::NUMBER, target)).map(|()| cells.p));
        cells.marks = match &stated.ecn {
            Marks::Fixed(fixed) => fixed.then(|| out.cell_of(crate::formula::Operand::Constant(1.0))),
            Marks::If(condition) => found(out.condition("ecn", condition)),
        };
        let decide = out.block();
        out.rules(on(stated, second), &state, &mut wrong);
        let other = out.block();
        out.rules(on(stated, |rule| rule.hit.as_ref()), &state, &mut wrong);
        let hit = out.block();
        out.hide(OF_PACKETS);
        out.rules(on(stated, |rule| rule.interval.as_ref()), &state, &mut wrong);
        let interval = out.block();
        let (sojourn, when) = (out.asks(Input::Sojourn), stated.when);
        let memory = out.law(wrong)?;
        Ok(Self { sample, decide, other, interval, hit, when, cells, memory, sojourn })
    }
}

type Occasion = fn(&Rule) -> Option<&crate::formula::Formula>;

/// The rules of an occasion, by name.
fn on(stated: &Stated, occasion: Occasion) -> impl Iterator<Item = (&str, Option<&crate::formula::Formula>)> {
    stated.state.list.iter().map(move |(name, _, rule)| (&**name, occasion(rule)))
}

/// What averages count, as cells with their units.
fn of_averages(out: &mut Assembler, stated: &Stated, wrong: &mut Vec<Wrong>) -> Vec<(u8, Type)> {
    let each = stated.averages.list.iter().map(|(.., AverageOf { of, .. })| {
        out.formula("averages", of, Wanted::Quantity).unwrap_or_else(|fault| {
            wrong.push(fault);
            (0, Type::NUMBER)
        })
    });
    each.collect()
}

/// One queue's formula.
#[derive(Clone, Debug)]
pub struct Formula {
    law: Law,
    machine: Machine,
    averages: Box<[Average]>,
    /// What the last packet that left had waited, s.
    sojourn: f64,
    arrived: Time,
    interval: Option<Span>,
    next: Option<Time>,
    gauges: Box<[(&'static str, u8)]>,
}

#[derive(Clone, Debug)]
struct Average {
    of: u8,
    to: u8,
    ewma: Ewma,
    idle: Option<Idle>,
}

/// What a formula may ask for at one moment.
#[derive(Clone, Copy)]
struct Moment<'a> {
    now: Time,
    backlog: &'a Backlog,
    packet: Option<&'a Packet>,
    sojourn: f64,
    arrived: Time,
}

impl Moment<'_> {
    #[inline(always)]
    fn tell(&self, input: Input) -> f64 {
        let yes = |it: bool| f64::from(u8::from(it));
        match input {
            Input::Packets => self.backlog.packets.into(),
            Input::Bytes => self.backlog.bytes as f64,
            Input::Sojourn => self.sojourn,
            Input::Colour => self.packet.map_or(0.0, |packet| packet.colour.index() as f64),
            Input::Size => self.packet.map_or(0.0, |packet| packet.size.into()),
            Input::Now => self.now.seconds(),
            Input::Gap => self.now.since(self.arrived).seconds(),
            Input::Idle => self.backlog.idle_since.map_or(0.0, |since| self.now.since(since).seconds()),
            Input::Room => yes(self.backlog.room),
            Input::Ecn => yes(self.backlog.ecn),
        }
    }
}

/// # Errors
/// E201 for a weight outside (0, 1], E239 for `mean-packet` where it has no effect.
fn average(stated: &AverageOf, cells: (u8, u8), when: When, scope: &Scope) -> Result<Average, ParamError> {
    if !(stated.weight > 0.0 && stated.weight <= 1.0) {
        let error = ParamError::new("averages", "E201", format!("`weight` is {}", stated.weight));
        return Err(error.help("must be above 0 and at most 1"));
    }
    if stated.mean_packet.is_some() && when == When::Departure {
        let error = ParamError::new("averages", "E239", "`mean-packet` has no effect at departures".into());
        return Err(error.help("remove it: a queue from which a packet leaves is not idle"));
    }
    let (ewma, (of, to)) = (Ewma::new(stated.weight, 0.0), cells);
    Ok(Average { of, to, ewma, idle: stated.mean_packet.map(|size| Idle::new(size, scope)).transpose()? })
}

/// # Errors
/// E201 for an interval of 0, E239 for an interval without rules, E005 for rules without one.
fn checked(stated: &Stated) -> Result<Option<Span>, ParamError> {
    let (interval, has_rules) =
        (stated.interval, on(stated, |rule| rule.interval.as_ref()).any(|rule| rule.1.is_some()));
    match interval {
        Some(span) => ParamError::above_zero("interval", span)?,
        None if has_rules => {
            let error = ParamError::new("state", "E005", "rules `interval`, and the key `interval` is missing".into());
            return Err(error.help("add the time between two of them, as in interval = \"15ms\""));
        }
        None => {}
    }
    if interval.is_some() && !has_rules {
        let error = ParamError::new("interval", "E239", "`interval` has no effect: no rule is for it".into());
        return Err(error.help("remove it, or write state = { x = { start = 0, interval = \"..\" } }"));
    }
    Ok(interval)
}

impl Formula {
    pub(super) fn new(stated: &Stated, mut law: Law, scope: &Scope) -> Result<Self, ParamError> {
        let interval = checked(stated)?;
        let averages = stated.averages.list.iter().zip(&law.cells.averages);
        let averages = averages.map(|((.., of), cells)| average(of, *cells, stated.when, scope));
        let averages = averages.collect::<Result<_, _>>()?;
        let gauges = law.memory.gauges();
        let machine = Machine::new(std::mem::take(&mut law.memory), scope);
        let next = interval.map(|interval| Time::ZERO + interval);
        Ok(Self { law, machine, averages, sojourn: 0.0, arrived: Time::ZERO, interval, next, gauges })
    }

    #[inline(always)]
    fn moment<'a>(&self, now: Time, backlog: &'a Backlog, packet: Option<&'a Packet>) -> Moment<'a> {
        let sojourn = if backlog.idle_since.is_some() { 0.0 } else { self.sojourn };
        Moment { now, backlog, packet, sojourn, arrived: self.arrived }
    }

    #[inline(always)]
    pub(super) fn arrives(&mut self, at: &Arrival, packet: &Packet, rng: &mut Rng) -> Verdict {
        if self.machine.is_broken() {
            return Verdict::Pass;
        }
        let moment = self.moment(at.now, &at.backlog, Some(packet));
        let verdict = match self.law.when {
            When::Arrival => self.decide(moment, Some(at), rng),
            When::Departure => self.follow(moment),
        };
        self.arrived = at.now;
        verdict
    }

    pub(super) fn departs(&mut self, at: &Departure, packet: &Packet, rng: &mut Rng) -> Verdict {
        if self.machine.is_broken() {
            return Verdict::Pass;
        }
        self.sojourn = at.now.since(at.arrived).seconds();
        let moment = Moment { sojourn: self.sojourn, ..self.moment(at.now, &at.backlog, Some(packet)) };
        match self.law.when {
            When::Departure => self.decide(moment, None, rng),
            When::Arrival => self.follow(moment),
        }
    }

    /// The rules where p is not computed.
    fn follow(&mut self, moment: Moment<'_>) -> Verdict {
        let Self { law, machine, .. } = self;
        law.other.load(machine.cells(), |input| moment.tell(input));
        machine.run(&law.other, moment.now, &mut NoDraws);
        Verdict::Pass
    }

    /// Samples averages, follows the rules, draws. `arrival` is for the idle time of averages.
    #[inline(always)]
    fn decide(&mut self, moment: Moment<'_>, arrival: Option<&Arrival>, rng: &mut Rng) -> Verdict {
        let Self { law, machine, averages, .. } = self;
        law.sample.load(machine.cells(), |input| moment.tell(input));
        law.decide.load(machine.cells(), |input| moment.tell(input));
        if !law.sample.is_empty() && !machine.run(&law.sample, moment.now, &mut NoDraws) {
            return Verdict::Pass;
        }
        for average in averages {
            let missed = match (&mut average.idle, arrival) {
                (Some(idle), Some(arrival)) => idle.missed(arrival),
                _ => 0.0,
            };
            if missed > 0.0 {
                average.ewma.decay(0.0, missed);
            }
            let value = average.ewma.update(machine.at(average.of));
            if !value.is_finite() {
                machine.end_at(average.to, value, moment.now);
                return Verdict::Pass;
            }
            machine.cells()[usize::from(average.to)] = value;
        }
        if !machine.run(&law.decide, moment.now, &mut NoDraws) {
            return Verdict::Pass;
        }
        if law.cells.drop.is_some_and(|cell| machine.at(cell) != 0.0) {
            return self.hit(moment, Verdict::Drop(Reason::Forced));
        }
        match rng.hits(machine.at(law.cells.p)) {
            Some(false) => Verdict::Pass,
            Some(true) => {
                let marks = moment.backlog.ecn && law.cells.marks.is_some_and(|cell| machine.at(cell) != 0.0);
                self.hit(moment, if marks { Verdict::Mark } else { Verdict::Drop(Reason::Early) })
            }
            None => self.no_probability(moment.now),
        }
    }

    #[inline(never)]
    fn hit(&mut self, moment: Moment<'_>, verdict: Verdict) -> Verdict {
        let Self { law, machine, .. } = self;
        law.hit.load(machine.cells(), |input| moment.tell(input));
        machine.run(&law.hit, moment.now, &mut NoDraws);
        verdict
    }

    #[cold]
    #[inline(never)]
    fn no_probability(&mut self, now: Time) -> Verdict {
        let p = self.machine.at(self.law.cells.p);
        let help = "a probability is a number from 0 to 1: write p = \"max(0, min(1, ..))\"";
        self.machine.end(now, format!("p is {p}"), help);
        Verdict::Pass
    }

    pub(super) fn tick(&mut self, now: Time, backlog: &Backlog) {
        self.next = self.interval.map(|interval| now + interval);
        if self.machine.is_broken() {
            return;
        }
        let moment = self.moment(now, backlog, None);
        let Self { law, machine, .. } = self;
        law.interval.load(machine.cells(), |input| moment.tell(input));
        machine.run(&law.interval, now, &mut NoDraws);
    }

    pub(super) fn asks(&self) -> Needs {
        let departures = match self.law.when {
            When::Departure => true,
            When::Arrival => self.law.sojourn || !self.law.other.is_empty(),
        };
        Needs::DEPARTURES.only_if(departures) | Needs::TIMER.only_if(self.interval.is_some())
    }

    pub(super) fn next(&self) -> Option<Time> {
        self.next
    }

    pub(super) fn values(&self, each: &mut dyn FnMut(&'static str, f64)) {
        each("drop_p", self.machine.at(self.law.cells.p));
        self.gauges.iter().for_each(|(name, cell)| each(name, self.machine.at(*cell)));
    }

    /// # Errors
    /// E202 if it would need other hooks than it has.
    pub(super) fn become_at(&mut self, _now: Time, mut new: Self) -> Result<(), ParamError> {
        if new.asks() != self.asks() {
            let error = ParamError::new("p", "E202", "a running formula cannot ask for what it did not ask for".into());
            return Err(
                error.help("keep `when`, `interval`, and what uses `sojourn` or rules at the departure, as they are")
            );
        }
        new.machine.resume(&self.machine)?;
        for average in &mut new.averages {
            average.ewma = Ewma::new(average.ewma.weight(), new.machine.at(average.to));
        }
        for (average, old) in new.averages.iter_mut().zip(&self.averages) {
            if let (Some(idle), Some(old)) = (&mut average.idle, &old.idle) {
                idle.resume(old);
            }
        }
        new.machine.cells()[usize::from(new.law.cells.p)] = self.machine.at(self.law.cells.p);
        (new.sojourn, new.arrived, new.next) = (self.sojourn, self.arrived, self.next);
        *self = new;
        Ok(())
    }
}
