//! What waits at a port: priority classes first, and below them the others by their shares.
//!
//! ```text
//! policy map            queue
//! priority classes      classes of `strict-priority`, by level; those of one level with `same-level`
//! all others            `drr` in its last class: quanta in the ratio of `bandwidth`
//! shape                 `shape` of the class's queue, and the base of percentages below it
//! service-policy        the class's queue is that of the policy
//! ```

use super::numbers::{burst, length};
use super::{Build, Under};
use crate::finding::Fault;
use crate::ios::defaults;
use crate::ios::plan::{Bits, Class, Policy, Priority, Shape, Share, WithPlace};
use crate::model::{self, Filter, Kind, Queue};
use crate::value::{Settings, Value, WithOrigin};
use perhop_core::classify::Match;
use perhop_core::units::{BitRate, Bytes, Length};

/// The largest packet with its headers, in bytes, and some more: no quantum is below it.
const LARGEST: u64 = 2_000;

/// A quantum beyond this is rounded rather than made larger.
const LARGEST_QUANTUM: u64 = 150_000;

impl<'a> Build<'a> {
    /// The queue of a port; `None` if nothing waits in a separate queue.
    pub(super) fn port_queue(&mut self, policy: &'a Policy, under: &Under) -> Result<Option<Queue>, Fault> {
        self.queue(policy, under)
    }

    /// An input policy has no queue.
    pub(super) fn no_queue(&mut self, policy: &Policy) -> Option<Queue> {
        for class in policy.classes.iter().filter(|class| class.queues()) {
            self.account.approximated(class.at.line, "packets that come in do not wait: its queue is not modelled");
        }
        None
    }

    /// What percentages below a class refer to.
    pub(super) fn base_below(&mut self, class: &Class, base: Option<BitRate>) -> Option<BitRate> {
        match &class.shaping.shape {
            Some(shape) => self.bit_rate(shape.rate, base),
            None => base,
        }
    }

    fn queue(&mut self, policy: &'a Policy, under: &Under) -> Result<Option<Queue>, Fault> {
        let waits: Vec<bool> =
            policy.classes.iter().map(|class| self.plan.class_or_below(class, &Class::queues)).collect();
        if !waits.contains(&true) {
            return Ok(None);
        }
        let mut priority: Vec<(usize, &'a Class, &'a Priority)> = Vec::new();
        let mut others: Vec<(usize, &'a Class)> = Vec::new();
        for (i, class) in policy.classes.iter().enumerate().filter(|(i, _)| waits[*i]) {
            match &class.priority {
                Some(said) => priority.push((i, class, said)),
                None => others.push((i, class)),
            }
        }
        priority.sort_by_key(|(.., said)| said.level);
        let mut rest = self.sharing(policy, &others, under)?;
        if priority.is_empty() {
            rest.name = WithOrigin::at(policy.at.place, policy.name.clone());
            return Ok(Some(rest));
        }
        let mut classes: Vec<model::Class> = Vec::new();
        let mut level = None;
        for (i, class, said) in priority {
            let mut made = self.priority_class((i, class), said, under)?;
            if let Some(first) = classes.last().filter(|_| level == Some(said.level)) {
                self.one_queue(said, &first.name.is, &mut made.settings);
            }
            classes.push(made);
            level = Some(said.level);
        }
        // The default class itself, unless others share with it what priority leaves.
        let name = if rest.classes.is_empty() { "class-default" } else { "below priority" };
        classes.push(rest_class(WithOrigin::assumed("IOS", name.to_owned()), rest));
        Ok(Some(scheduler(policy, "strict-priority", classes)))
    }

    fn priority_class(
        &mut self,
        (order, class): (usize, &'a Class),
        said: &Priority,
        under: &Under,
    ) -> Result<model::Class, Fault> {
        let settings = self.limits_of((class, said), under);
        let queue = self.class_queue(class, under)?;
        let takes = self.takes((order, class), under);
        Ok(model::Class { name: name(class), parent: None, takes, rest: false, settings, queue: Some(queue) })
    }

    /// A priority class of the level of the one before it.
    fn one_queue(&mut self, said: &Priority, before: &str, settings: &mut Settings) {
        let source = "IOS: priority classes of one level share a queue";
        settings.assume("same-level", source, Value::Flag(true));
        let how = format!(
            "one queue with {before}, as all priority classes of a level: packets leave in the order of their arrival; its limit \
             is one for each class here"
        );
        self.account.approximated(said.at.line, how);
    }

    /// The limit of a priority class: in congestion, or by its policer always.
    fn limits_of(&mut self, (class, said): (&'a Class, &Priority), under: &Under) -> Settings {
        let mut settings = Settings::default();
        if let Some(police) = class.police.as_ref().filter(|_| self.in_queue(class)) {
            if let Some(rate) = self.rate(police.cir, under.base) {
                let burst = police.bc.map_or_else(|| self.default_burst(&rate), burst);
                settings.set("burst", in_bytes(burst, &rate));
                settings.set("rate", rate);
                settings.set("police", WithOrigin::at(police.at.place, Value::Word("always".into())));
            }
            return settings;
        }
        if let Some(rate) = said.rate
            && let Some(value) = self.rate(rate, under.base)
        {
            if let (Value::Rate(rate), None) = (&value.is, said.burst) {
                let (bytes, source) = defaults::priority_burst(*rate);
                settings.assume("burst", source, Value::Bytes(Bytes::new(bytes.get().max(LARGEST))));
            }
            settings.set("rate", value);
            let source = "IOS: priority with a rate drops only in congestion";
            settings.assume("police", source, Value::Word("congested".into()));
        }
        if let Some(burst) = said.burst {
            settings.set("burst", WithOrigin::at(burst.at.place, Value::Bytes(Bytes::new(burst.is))));
        }
        settings
    }

    /// The classes that share what priority leaves, and the default class.
    fn sharing(&mut self, policy: &'a Policy, others: &[(usize, &'a Class)], under: &Under) -> Result<Queue, Fault> {
        let default = others.iter().find(|(_, class)| class.is_default()).map(|(_, class)| *class);
        let named: Vec<_> = others.iter().filter(|(_, class)| !class.is_default()).copied().collect();
        let mut last = match default {
            Some(class) => self.class_queue(class, under)?,
            None => self.default_queue(under),
        };
        if named.is_empty() {
            last.name = WithOrigin::at(policy.at.place, policy.name.clone());
            return Ok(last);
        }
        let shares = self.shares(policy, &named, default, under);
        let mut classes = Vec::new();
        for ((order, class), quantum) in named.iter().zip(&shares) {
            let queue = self.class_queue(class, under)?;
            let takes = self.takes((*order, class), under);
            let mut settings = Settings::default();
            settings.set("quantum", quantum.clone());
            classes.push(model::Class {
                name: name(class),
                parent: None,
                takes,
                rest: false,
                settings,
                queue: Some(queue),
            });
        }
        let called = default.map_or_else(|| WithOrigin::assumed("IOS", "class-default".to_owned()), name);
        let mut rest = rest_class(called, last);
        rest.settings.set("quantum", shares[named.len()].clone());
        classes.push(rest);
        Ok(scheduler(policy, "drr", classes))
    }

    /// The filters of a class of a scheduler.
    fn takes(&mut self, (order, class): (usize, &'a Class), under: &Under) -> Vec<Filter> {
        if self.port.passage {
            let path = format!("{}{}", under.path, class.name);
            let conditioner = self.below(&path);
            if !conditioner.is_empty() {
                let passed = Match { conditioner, ..Match::default() };
                return Self::filters(class, order, vec![passed], None);
            }
        }
        let packets = self.packets(class, under);
        Self::filters(class, order, packets, self.tests_at(class))
    }

    /// Names of the conditioners of a class and of the classes below it.
    fn below(&self, path: &str) -> Vec<String> {
        let start = format!("{path}/");
        let names = &self.port.names;
        let below = names.range(start.clone()..).take_while(|it| it.0.starts_with(&start));
        let all = names.get_key_value(path).into_iter().chain(below);
        let mut found: Vec<_> = all.flat_map(|(name, places)| places.iter().map(move |place| (*place, name))).collect();
        found.sort_unstable();
        found.into_iter().map(|it| it.1.clone()).collect()
    }

    /// The queue of one class.
    fn class_queue(&mut self, class: &'a Class, under: &Under) -> Result<Queue, Fault> {
        let base = self.base_below(class, under.base);
        let shape = class.shaping.shape.as_ref().map(|shape| self.shape(shape, class, under)).unwrap_or_default();
        if let Some(child) = self.child(class)? {
            let above = self.packets(class, under);
            let below = Under { above, base, path: format!("{}{}/", under.path, class.name), ..under.clone() };
            self.depth += 1;
            let inner = self.queue(child, &below)?;
            self.depth -= 1;
            if let Some(inner) = inner {
                return Ok(shaped(name(class), shape, inner));
            }
        }
        let mut settings = Settings::default();
        self.limit(class, base, &mut settings);
        let packets = if class.waiting.wred.is_some() { self.packets(class, under) } else { Vec::new() };
        let kind = self.kind(class, &packets, &mut settings);
        Ok(Queue { name: name(class), kind, settings, shape, classes: Vec::new() })
    }

    fn limit(&mut self, class: &Class, base: Option<BitRate>, settings: &mut Settings) {
        match (class.waiting.limit, &class.priority) {
            (Some(limit), _) => settings.set("limit", WithOrigin::at(limit.at.place, length(limit.is))),
            (None, Some(_)) => {
                let (limit, source) = defaults::priority_limit(self.given.platform);
                settings.assume("limit", source, Value::Packets(limit));
            }
            (None, None) => {
                let (limit, source) = self.default_limit(class, base);
                settings.assume("limit", source, limit);
            }
        }
    }

    /// A limit in the unit of the thresholds of WRED.
    fn default_limit(&self, class: &Class, base: Option<BitRate>) -> defaults::Assumed<Value> {
        let (packets, source) = defaults::limit(self.given.platform, base);
        let profiles = class.waiting.wred.iter().flat_map(|wred| &wred.profiles);
        let unit = profiles.filter_map(|put| put.is.thresholds).map(|[min, _]| min).next();
        let limit = match unit {
            Some(Length::Bytes(_)) => Value::Bytes(Bytes::new(u64::from(packets.get()) * defaults::PACKET)),
            Some(Length::Time(_)) => Value::Time(defaults::LIMIT_TIME),
            Some(Length::Packets(_) | Length::Percent(_)) | None => Value::Packets(packets),
        };
        (limit, source)
    }

    fn kind(&mut self, class: &Class, packets: &[Match], settings: &mut Settings) -> Option<Kind> {
        if let Some(wred) = &class.waiting.wred
            && let Some(kind) = self.wred(wred, packets, settings)
        {
            for put in &class.waiting.limits {
                self.account.not_modelled(
                    put.at.line,
                    "a limit by code point beside `random-detect`: its thresholds alone count",
                );
            }
            if let Some(at) = class.waiting.fair {
                let how = "flows share the queue of the class: its WRED is kept, and a queue for each flow is not";
                self.account.approximated(at.line, how);
            }
            return Some(kind);
        }
        if !class.waiting.limits.is_empty() {
            self.steps(class, settings);
            return Some(Kind::Aqm("wred"));
        }
        let at = class.waiting.fair?;
        let how = "FQ-CoDel: a queue for each flow, with CoDel's drops beside those of the limit";
        self.account.approximated(at.line, how);
        Some(Kind::Scheduler("fq-codel"))
    }

    /// Limits by code point: profiles that drop all beyond a length.
    fn steps(&mut self, class: &Class, settings: &mut Settings) {
        let source = "limits by code point have no average";
        settings.assume("wq", source, Value::Number(1.0));
        let mut list = Vec::new();
        for put in &class.waiting.limits {
            let (dscps, limit) = &put.is;
            let mut table = Settings::default();
            table.set("for", WithOrigin::at(put.at.place, super::wred::names(dscps)));
            step(&mut table, length(*limit), put.at.place);
            list.push(Value::Table(table));
        }
        let mut rest = Settings::default();
        step(&mut rest, Value::Word("100%".into()), class.at.place);
        list.push(Value::Table(rest));
        settings.set(
            "profiles",
            WithOrigin::at(class.waiting.limits.first().map_or(class.at, |put| put.at).place, Value::List(list)),
        );
    }

    /// The default class of a policy that does not name it.
    fn default_queue(&self, under: &Under) -> Queue {
        let mut settings = Settings::default();
        let (limit, source) = defaults::limit(self.given.platform, under.base);
        settings.assume("limit", source, Value::Packets(limit));
        let name = WithOrigin::assumed("IOS", "class-default".to_owned());
        Queue { name, kind: None, settings, shape: Settings::default(), classes: Vec::new() }
    }

    /// Keys of `shape`.
    fn shape(&mut self, shape: &Shape, class: &Class, under: &Under) -> Settings {
        let mut settings = Settings::default();
        let Some(rate) = self.bit_rate(shape.rate, under.base) else { return settings };
        let platform = self.given.platform;
        let bits = |put: Option<WithPlace<Bits>>| put.map(|put| WithOrigin::at(put.at.place, in_bits(put.is, rate)));
        let assumed = |(is, source)| WithOrigin::assumed(source, is);
        let bc = bits(shape.bc).unwrap_or_else(|| assumed(defaults::shape_bits(platform, rate)));
        let be = bits(shape.be).unwrap_or_else(|| assumed(defaults::shape_excess(platform, bc.is)));
        let peak = match shape.peak && bc.is > 0 {
            true => (u128::from(rate.bit_s()) * u128::from(bc.is.saturating_add(be.is)) / u128::from(bc.is)) as u64,
            false => rate.bit_s(),
        };
        if shape.peak {
            let how = format!(
                "the rate is {}: CIR (1 + Be/Bc), CIR {rate}, Bc {} bit, Be {} bit",
                BitRate::bps(peak),
                bc.is,
                be.is
            );
            self.account.noted(shape.at.line, how);
        }
        settings.set("rate", WithOrigin::at(shape.rate.at.place, Value::Rate(BitRate::bps(peak))));
        let bytes = Value::Bytes(Bytes::new((bc.is.saturating_add(be.is)) / 8));
        settings.set("burst", WithOrigin { is: bytes, origin: bc.origin });
        settings.assume("debt", "IOS: a packet waits until the bucket owes nothing", Value::Flag(true));
        if let Some(bytes) = class.overhead {
            let is = Value::Signed(perhop_core::units::SignedBytes::new(bytes.is));
            settings.set("overhead", WithOrigin::at(bytes.at.place, is));
        }
        settings
    }

    /// A quantum for each class, and one for the default class, in the ratio of their shares.
    fn shares(
        &mut self,
        policy: &Policy,
        named: &[(usize, &'a Class)],
        default: Option<&'a Class>,
        under: &Under,
    ) -> Vec<WithOrigin<Value>> {
        let taken: f64 = policy
            .classes
            .iter()
            .filter_map(|class| class.priority.as_ref()?.rate)
            .map(|rate| percent_of(rate.is, under.base))
            .sum();
        let said: Vec<Option<f64>> =
            named.iter().map(|(_, class)| self.weight(class, under.base, 100.0 - taken)).collect();
        let own = default.and_then(|class| self.weight(class, under.base, 100.0 - taken));
        let known: f64 = said.iter().chain([&own]).flatten().sum();
        let least = said.iter().flatten().copied().fold(f64::INFINITY, f64::min);
        let ratio = named.iter().any(|(_, class)| is_ratio(class)) || default.is_some_and(is_ratio);
        let rest = if ratio { 1.0 } else { 100.0 - taken - known };
        let rest = if rest > 0.0 {
            rest
        } else if least.is_finite() {
            least.min(1.0)
        } else {
            1.0
        };
        let unsaid = said.iter().filter(|share| share.is_none()).count()
            + usize::from(default.is_none_or(|class| class.bandwidth.is_none()));
        let each = if ratio { 1.0 } else { rest / unsaid.max(1) as f64 };
        let weights: Vec<f64> = said.iter().copied().chain([own]).map(|share| share.unwrap_or(each)).collect();
        let quanta = quanta(&weights);
        let places = named.iter().map(|(_, class)| class.bandwidth).chain([default.and_then(|class| class.bandwidth)]);
        let value = |(quantum, said): (u64, Option<WithPlace<Share>>)| {
            let value = Value::Bytes(Bytes::new(quantum));
            match said {
                Some(put) => WithOrigin::at(put.at.place, value),
                None => WithOrigin::assumed("IOS: what the other classes leave", value),
            }
        };
        quanta.into_iter().zip(places).map(value).collect()
    }

    /// A share in percent of the link, or relative to others; `None` if the text says none.
    fn weight(&mut self, class: &Class, base: Option<BitRate>, left: f64) -> Option<f64> {
        let put = class.bandwidth?;
        let weight = weight_of(put.is, base, left);
        if weight.is_none() {
            self.account.not_modelled(put.at.line, "a share of 0 is not modelled: the class has what others leave");
        }
        weight
    }
}

/// A share in percent of the link, or relative to others; `None` for 0.
fn weight_of(share: Share, base: Option<BitRate>, left: f64) -> Option<f64> {
    let weight = {
        match share {
            Share::Percent(percent) => percent,
            Share::RemainingPercent(percent) => percent * left.max(1.0) / 100.0,
            Share::RemainingRatio(ratio) => ratio as f64,
            Share::Rate(rate) => match base {
                Some(base) if base.bit_s() > 0 => 100.0 * rate.bit_s() as f64 / base.bit_s() as f64,
                _ => rate.bit_s() as f64,
            },
        }
    };
    (weight > 0.0).then_some(weight)
}

fn is_ratio(class: &Class) -> bool {
    matches!(class.bandwidth, Some(WithPlace { is: Share::RemainingRatio(_), .. }))
}

fn percent_of(rate: crate::ios::plan::Rate, base: Option<BitRate>) -> f64 {
    use crate::ios::plan::Rate;
    match (rate, base) {
        (Rate::Percent(percent), _) => percent,
        (Rate::Bits(rate), Some(base)) if base.bit_s() > 0 => 100.0 * rate.bit_s() as f64 / base.bit_s() as f64,
        _ => 0.0,
    }
}

/// Bytes in the ratio of weights, the smallest at least the largest packet: exact if a small multiple of it is.
fn quanta(weights: &[f64]) -> Vec<u64> {
    let least = weights.iter().copied().fold(f64::INFINITY, f64::min).max(f64::MIN_POSITIVE);
    let scaled = |times: u64| weights.iter().map(move |weight| weight / least * (LARGEST * times) as f64);
    let whole = |value: f64| (value - value.round()).abs() < 1e-6 * value;
    let most = weights.iter().copied().fold(0.0, f64::max) / least * LARGEST as f64;
    let times = (1..=12).find(|times| {
        (most * *times as f64) < LARGEST_QUANTUM.max((most as u64).saturating_add(1)) as f64
            && scaled(*times).all(whole)
    });
    scaled(times.unwrap_or(1)).map(|value| value.round() as u64).collect()
}

/// A burst in bytes, where its text has a time.
fn in_bytes(burst: WithOrigin<Value>, rate: &WithOrigin<Value>) -> WithOrigin<Value> {
    match (&burst.is, &rate.is) {
        (Value::Time(span), Value::Rate(rate)) => {
            let bytes = Value::Bytes(Bytes::new(in_bits(Bits::Time(*span), *rate) / 8));
            WithOrigin { is: bytes, origin: burst.origin }
        }
        _ => burst,
    }
}

const fn in_bits(bits: Bits, rate: BitRate) -> u64 {
    match bits {
        Bits::Count(bits) => bits,
        Bits::Time(span) => (rate.bit_s() as u128 * span.ns() as u128 / 1_000_000_000) as u64,
    }
}

fn name(class: &Class) -> WithOrigin<String> {
    WithOrigin::at(class.at.place, class.name.clone())
}

fn scheduler(policy: &Policy, kind: &'static str, classes: Vec<model::Class>) -> Queue {
    Queue {
        name: WithOrigin::at(policy.at.place, policy.name.clone()),
        kind: Some(Kind::Scheduler(kind)),
        settings: Settings::default(),
        shape: Settings::default(),
        classes,
    }
}

fn rest_class(name: WithOrigin<String>, queue: Queue) -> model::Class {
    model::Class {
        name,
        parent: None,
        takes: Vec::new(),
        rest: true,
        settings: Settings::default(),
        queue: Some(queue),
    }
}

/// A queue below a shaper; one that is shaped itself is a separate class.
fn shaped(name: WithOrigin<String>, shape: Settings, inner: Queue) -> Queue {
    if shape.is_empty() {
        return inner;
    }
    if inner.shape.is_empty() {
        return Queue { shape, ..inner };
    }
    let class = rest_class(inner.name.clone(), inner);
    Queue {
        name,
        kind: Some(Kind::Scheduler("strict-priority")),
        settings: Settings::default(),
        shape,
        classes: vec![class],
    }
}

/// A profile that drops all from a length on.
fn step(table: &mut Settings, at: Value, place: perhop_core::params::Place) {
    let point = Value::List(vec![at, Value::Number(1.0)]);
    table.set("curve", WithOrigin::at(place, Value::List(vec![point])));
    table.set("interpolate", WithOrigin::at(place, Value::Word("step".into())));
}
