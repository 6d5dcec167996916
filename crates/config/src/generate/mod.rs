//! Devices as property tests draw them: ports with conditioners, two levels of queues, up to eight classes, every field.

mod conditioners;
mod filters;
mod queues;

use crate::model::{Conditioner, Device, Filter, Port, Queue, Way};
use crate::value::{Settings, Value, WithOrigin};
use perhop_core::classify::Match;
use perhop_core::params::Place;
use perhop_core::units::{BitRate, Span};
use proptest::prelude::*;

pub use conditioners::conditioners;
pub use filters::filters;
pub use queues::{Shape, leaf, queue, shape};

/// The rate of the links.
pub const LINK: BitRate = BitRate::mbps(100);
/// The source of what is assumed.
pub const SOURCE: &str = "a manual";
/// Most classes of a scheduler.
pub const MOST: usize = 8;

/// Devices with one to three ports.
pub fn devices() -> impl Strategy<Value = Device> {
    prop::collection::vec(port(), 1..4).prop_map(|ports| Device { ports })
}

/// A port of any shape.
pub fn port() -> impl Strategy<Value = Port> {
    prop_oneof![3 => of(Shape::Tc), 2 => of(Shape::Ios)]
}

/// A port as a dialect has it.
pub fn of(shape: Shape) -> impl Strategy<Value = Port> {
    let interface = with_origin(prop::sample::select(vec!["eth0", "Gi0/0/0", "Serial0/0:1", "ppp \"0\"", "{1..3}"]));
    let accounting = prop::option::of(with_origin(prop::sample::select(vec!["l3", "l2", "l2+fcs", "l1"])));
    let queue = prop::option::weighted(0.9, queue(shape));
    (interface, any::<bool>(), accounting, link(), conditioners(), queue).prop_map(
        |(interface, input, accounting, link, mut conditioners, mut queue)| {
            passing(&mut conditioners, queue.as_mut());
            let way = if input { Way::Input } else { Way::Output };
            let interface = WithOrigin { is: interface.is.to_owned(), origin: interface.origin };
            let (behind, others, both_versions) = (None, Vec::new(), None);
            Port { interface, way, behind, sorts: false, others, accounting, link, conditioners, queue, both_versions }
        },
    )
}

/// Where there are several conditioners, the last and the first class also take what has passed the first of them.
fn passing(conditioners: &mut [Conditioner], queue: Option<&mut Queue>) {
    let ([first, .., last], Some(class)) = (conditioners, queue.and_then(|queue| queue.classes.last_mut())) else {
        return;
    };
    if first.name.is == last.name.is || class.rest || first.takes.is_empty() {
        return;
    }
    let matches = Match { conditioner: vec![first.name.is.clone()], ..Match::default() };
    let filter = Filter { order: 2000, matches: WithOrigin::assumed(SOURCE, matches) };
    [&mut last.takes, &mut class.takes].into_iter().for_each(|takes| takes.push(filter.clone()));
}

/// Keys of a link.
fn link() -> impl Strategy<Value = Settings> {
    let delay = (1u64..50).prop_map(|ms| Value::Time(Span::from_ms(ms)));
    let loss = prop::sample::select(vec![0.0, 0.01, 0.5]).prop_map(Value::Number);
    settings(vec![
        ("rate", Just(Value::Rate(LINK)).boxed()),
        ("delay", delay.clone().boxed()),
        ("jitter", Just(Value::Time(Span::from_ms(1))).boxed()),
        ("loss", loss.boxed()),
    ])
}

/// Some of these keys, said or assumed.
pub fn settings(keys: Vec<(&'static str, BoxedStrategy<Value>)>) -> impl Strategy<Value = Settings> {
    let one = |(key, value): (&'static str, BoxedStrategy<Value>)| {
        prop::option::of(with_origin(value)).prop_map(move |value| value.map(|value| (key, value)))
    };
    let all: Vec<_> = keys.into_iter().map(one).collect();
    all.prop_map(|all| {
        let mut settings = Settings::default();
        all.into_iter().flatten().for_each(|(key, value)| settings.set(key, value));
        settings
    })
}

/// These keys, with others.
pub fn with(
    fixed: Vec<(&'static str, BoxedStrategy<Value>)>,
    others: impl Strategy<Value = Settings>,
) -> impl Strategy<Value = Settings> {
    let one =
        |(key, value): (&'static str, BoxedStrategy<Value>)| with_origin(value).prop_map(move |value| (key, value));
    let fixed: Vec<_> = fixed.into_iter().map(one).collect();
    (fixed, others).prop_map(|(fixed, others)| {
        let mut settings = Settings::default();
        let others = others.iter().map(|(key, value)| (key, value.clone()));
        fixed.into_iter().chain(others).for_each(|(key, value)| settings.set(key, value));
        settings
    })
}

/// Something at some place of a text, or assumed.
pub fn with_origin<T: std::fmt::Debug + Clone>(of: impl Strategy<Value = T>) -> impl Strategy<Value = WithOrigin<T>> {
    (of, prop::option::weighted(0.8, 0usize..10_000)).prop_map(|(is, at)| match at {
        Some(start) => WithOrigin::at(Place { start, end: start + 3 }, is),
        None => WithOrigin::assumed(SOURCE, is),
    })
}

/// One of these words.
pub fn word(words: &'static [&'static str]) -> BoxedStrategy<Value> {
    prop::sample::select(words).prop_map(|word| Value::Word(word.to_owned())).boxed()
}

/// Yes or no.
pub fn flag() -> BoxedStrategy<Value> {
    any::<bool>().prop_map(Value::Flag).boxed()
}
