//! A conditioner's formula, compiled, and one instance of it.

use super::{BucketOf, RateOf, Stated};
use crate::Scope;
use crate::conditioner::Writes;
use crate::estimate::fair_rate::EPS;
use crate::estimate::{ExpRate, TokenBucket, Tsw};
use crate::formula::{Assembler, Block, Dimension, Input, Machine, Memory, Type, Wanted, Wrong, colours};
use crate::packet::{Colour, Packet};
use crate::params::ParamError;
use crate::rng::Rng;
use crate::units::Time;

/// What is to be done, compiled; it never changes.
#[derive(Clone, Debug)]
pub(super) struct Law {
    block: Block,
    sets: u8,
    kind: Type,
    rates: Vec<u8>,
    buckets: Vec<u8>,
    memory: Memory,
    /// Colours that the formula names, and whether it may leave the packet's own.
    colours: ([bool; 4], bool),
}

impl Law {
    /// # Errors
    /// All that is wrong with the formulas.
    pub(super) fn assemble(stated: &Stated) -> Result<Self, Vec<Wrong>> {
        let (mut out, mut wrong) = (Assembler::new().with_draws(), Vec::new());
        out.declare_inputs(&Input::OF_CONDITIONERS);
        let rates = names(&mut out, "rates", &stated.rates.list, Dimension::RATE, &mut wrong);
        let buckets = names(&mut out, "buckets", &stated.buckets.list, Dimension::SIZE, &mut wrong);
        let starts = stated.state.list.iter().map(|(name, place, kept)| (&**name, *place, &kept.start));
        let state = out.declare_numbers(starts, &mut wrong);
        let rules = stated.state.list.iter().map(|(name, _, kept)| (&**name, kept.arrival.as_ref()));
        out.rules(rules, &state, &mut wrong);
        let (sets, kind) = out.formula("sets", &stated.sets.0, Wanted::Decision).unwrap_or_else(|it| {
            wrong.push(it);
            (0, Type::Colour)
        });
        let (block, colours) = (out.block(), colours(&stated.sets.0.expression));
        let memory = out.law(wrong)?;
        Ok(Self { block, sets, kind, rates, buckets, memory, colours })
    }
}

/// Cells for instruments, by their names.
fn names<T>(
    out: &mut Assembler,
    field: &'static str,
    list: &[(String, crate::params::Place, T)],
    unit: Dimension,
    wrong: &mut Vec<Wrong>,
) -> Vec<u8> {
    let each = list.iter().map(|(name, place, _)| {
        out.begin(field, *place);
        wrong.extend(out.may_name(field, name, *place).err());
        out.remember(name, Type::Quantity(unit), 0.0)
    });
    each.collect()
}

/// A measured rate.
#[derive(Clone, Debug)]
struct Rate {
    name: String,
    cell: u8,
    estimate: Estimate,
}

#[derive(Clone, Copy, Debug)]
enum Estimate {
    Window(Tsw, crate::units::Span),
    Exponential(ExpRate<1>, crate::units::Span),
}

impl Estimate {
    /// # Errors
    /// E239 for two instruments, E005 for none, E201 for a time of 0.
    fn new(stated: &RateOf) -> Result<Self, ParamError> {
        let start = stated.start.bytes_s();
        match (stated.window, stated.k) {
            (Some(window), None) => {
                ParamError::above_zero("rates", window)?;
                Ok(Self::Window(Tsw::new(window, start), window))
            }
            (None, Some(k)) => {
                ParamError::above_zero("rates", k)?;
                Ok(Self::Exponential(ExpRate::new(k, [start]), k))
            }
            (Some(_), Some(_)) => {
                let error = ParamError::new("rates", "E239", "a rate with both `window` and `k`".into());
                Err(error.help("`window` is a time sliding window, `k` exponential averaging: keep one"))
            }
            (None, None) => {
                let error = ParamError::new("rates", "E005", "a rate without `window` and `k`".into());
                Err(error.help("write window = \"1s\" (time sliding window) or k = \"100ms\" (exponential averaging)"))
            }
        }
    }

    #[inline]
    fn add(&mut self, now: Time, size: f64) -> f64 {
        match self {
            Self::Window(rate, _) => rate.update(now, size),
            Self::Exponential(rate, _) => {
                // The first packet starts the clock, as at a labeller.
                match rate.last() {
                    Some(_) => _ = rate.add(now, [size]),
                    None => *rate = rate.since(now),
                }
                rate.rates()[0]
            }
        }
    }

    /// Continues from what `old` has measured, if it is of the same kind.
    fn resume(&mut self, old: Self) {
        *self = match (*self, old) {
            (Self::Window(_, window), Self::Window(mut rate, _)) => {
                rate.rewindow(window);
                Self::Window(rate, window)
            }
            (Self::Exponential(_, k), Self::Exponential(mut rate, _)) => {
                rate.reaverage(k);
                Self::Exponential(rate, k)
            }
            (new, _) => new,
        }
    }
}

/// A token bucket.
#[derive(Clone, Debug)]
struct Bucket {
    name: String,
    cell: u8,
    tokens: TokenBucket,
    /// The one whose overflow fills it, by its place.
    from: Option<usize>,
    /// By colour.
    pays: [bool; 4],
}

impl Bucket {
    /// # Errors
    /// E006 for a bucket that is not before it, E212 for one that is too small, E201 for one that is too deep.
    fn new(name: &str, cell: u8, stated: &BucketOf, before: &[Self], scope: &Scope) -> Result<Self, ParamError> {
        let place = |from: &String| {
            before.iter().position(|it| it.name == *from).ok_or_else(|| {
                let names: Vec<_> = before.iter().map(|it| &*it.name).collect();
                let error = ParamError::new(
                    "buckets",
                    "E006",
                    format!("`{name}` is filled from `{from}`, which is not before it"),
                );
                error.help(crate::params::suggest(from, &names))
            })
        };
        let from = stated.from.as_ref().map(place).transpose()?;
        if from.is_some() && before.iter().any(|it| it.from == from) {
            let error = ParamError::new(
                "buckets",
                "E239",
                format!("`{name}` is filled from a bucket that fills another already"),
            );
            return Err(error.help("fill it from the last of them: what does not fit there flows on"));
        }
        if !stated.pays.is_empty() {
            scope.holds_largest_packet("buckets", stated.burst)?;
        }
        let tokens = TokenBucket::full(stated.rate, stated.burst, "buckets")?;
        let mut pays = [false; 4];
        stated.pays.iter().for_each(|mark| pays[mark.colour().index()] = true);
        Ok(Self { name: name.to_owned(), cell, tokens, from, pays })
    }
}

/// One instance.
#[derive(Clone, Debug)]
pub struct Formula {
    law: Law,
    machine: Machine,
    rates: Box<[Rate]>,
    buckets: Box<[Bucket]>,
    seen: Time,
    gauges: Box<[(&'static str, u8)]>,
}

impl Formula {
    pub(super) fn new(stated: &Stated, mut law: Law, scope: &Scope) -> Result<Self, ParamError> {
        let rates = stated.rates.list.iter().zip(&law.rates).map(|((name, _, rate), cell)| {
            Ok(Rate { name: name.clone(), cell: *cell, estimate: Estimate::new(rate)? })
        });
        let rates = rates.collect::<Result<_, ParamError>>()?;
        let mut buckets = Vec::with_capacity(law.buckets.len());
        for ((name, _, bucket), cell) in stated.buckets.list.iter().zip(&law.buckets) {
            let new = Bucket::new(name, *cell, bucket, &buckets, scope)?;
            buckets.push(new);
        }
        let gauges = law.memory.gauges();
        let machine = Machine::new(std::mem::take(&mut law.memory), scope);
        Ok(Self { law, machine, rates, buckets: buckets.into(), seen: Time::ZERO, gauges })
    }

    #[inline]
    pub(super) fn take(&mut self, now: Time, packet: &mut Packet, rng: &mut Rng) {
        if self.machine.is_broken() {
            return;
        }
        self.measure(now, packet.size);
        let Self { law, machine, seen, .. } = self;
        law.block.load(machine.cells(), |input| match input {
            Input::Size => packet.size.into(),
            Input::Colour => packet.colour.index() as f64,
            Input::Ecn => f64::from(u8::from(packet.ecn.capable())),
            Input::Now => now.seconds(),
            Input::Gap => now.since(*seen).seconds(),
            // Not declared to conditioners.
            _ => 0.0,
        });
        *seen = now;
        if !machine.run(&law.block, now, rng) {
            return;
        }
        let value = machine.at(law.sets);
        match law.kind {
            Type::Colour => self.colour(now, packet, Colour::ALL[value as usize & 3]),
            _ if (value as f32).is_finite() => packet.set_label(value.max(EPS) as f32),
            _ => machine.end(now, format!("the label is {value}"), "keep it within bounds by min and max"),
        }
    }

    /// Rates take the packet in, buckets are filled.
    #[inline]
    fn measure(&mut self, now: Time, size: u32) {
        let Self { machine, rates, buckets, .. } = self;
        for rate in rates {
            machine.cells()[usize::from(rate.cell)] = rate.estimate.add(now, size.into());
        }
        for i in 0..buckets.len() {
            let mut overflow = buckets[i].tokens.refill(now);
            let mut at = i;
            while let Some(next) = buckets[at + 1..].iter().position(|it| it.from == Some(at)) {
                at += 1 + next;
                overflow = buckets[at].tokens.pour(overflow);
            }
        }
        for bucket in buckets {
            machine.cells()[usize::from(bucket.cell)] = bucket.tokens.level();
        }
    }

    #[inline]
    fn colour(&mut self, now: Time, packet: &mut Packet, colour: Colour) {
        packet.colour = colour;
        for bucket in self.buckets.iter_mut().filter(|bucket| bucket.pays[colour.index()]) {
            // What is there to the last bit of a number of 64 bits is there.
            if !bucket.tokens.spend(packet.size) && bucket.tokens.level() < packet.size.into() {
                let why = format!(
                    "a {} packet of {} B pays from `{}`, which has less",
                    colour.name(),
                    packet.size,
                    bucket.name
                );
                let help = "give a colour only where its buckets hold the packet, as in if(c >= size, green, red)";
                return self.machine.end(now, why, help);
            }
        }
    }

    pub(super) fn output(&self) -> Writes {
        if self.law.kind == Type::Colour { Writes::Colour } else { Writes::Rate }
    }

    pub(super) fn colours(&self, arriving: Colour) -> &'static [Colour] {
        let (mut given, keeps) = self.law.colours;
        given[arriving.index()] |= keeps;
        let set = given.iter().enumerate().map(|(i, is)| usize::from(*is) << i).sum::<usize>();
        SETS[set]
    }

    pub(super) fn values(&self, each: &mut dyn FnMut(&'static str, f64)) {
        self.gauges.iter().for_each(|(name, cell)| each(name, self.machine.at(*cell)));
    }

    /// # Errors
    /// E202 if it would set something else.
    pub(super) fn become_at(&mut self, now: Time, mut new: Self) -> Result<(), ParamError> {
        if new.output() != self.output() {
            let error = ParamError::new("sets", "E202", "a running formula cannot set something else".into());
            return Err(error.help("keep a colour a colour, and a label a label"));
        }
        new.machine.resume(&self.machine)?;
        for rate in &mut new.rates {
            let old = self.rates.iter().find(|old| old.name == rate.name);
            old.into_iter().for_each(|old| rate.estimate.resume(old.estimate));
        }
        for bucket in &mut new.buckets {
            if let Some(old) = self.buckets.iter().find(|old| old.name == bucket.name) {
                let mut tokens = old.tokens.clone();
                tokens.become_at(now, bucket.tokens.clone());
                bucket.tokens = tokens;
            }
        }
        new.seen = self.seen;
        *self = new;
        Ok(())
    }
}

const G: Colour = Colour::Green;
const Y: Colour = Colour::Yellow;
const R: Colour = Colour::Red;
const U: Colour = Colour::Unmarked;

/// Sets of colours, by the bits of their members.
const SETS: [&[Colour]; 16] = [
    &[],
    &[G],
    &[Y],
    &[G, Y],
    &[R],
    &[G, R],
    &[Y, R],
    &[G, Y, R],
    &[U],
    &[G, U],
    &[Y, U],
    &[G, Y, U],
    &[R, U],
    &[G, R, U],
    &[Y, R, U],
    &[G, Y, R, U],
];
