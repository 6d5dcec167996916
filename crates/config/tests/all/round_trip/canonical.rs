//! Ports without what has no meaning: names, numbers of filters, the scale of quanta, profiles for code points that a class has not, a
//! last marker that changes nothing.

use perhop_config::model::{Act, Class, Conditioner, Filter, Kind, Port, Queue};
use perhop_config::value::{Origin, Settings, Value, WithOrigin};
use perhop_core::classify::Match;
use perhop_core::dscp::Dscp;
use std::collections::BTreeMap;

/// A port as it is compared.
pub fn port(mut port: Port) -> Port {
    without_labels(&mut port);
    if port.conditioners.last().is_some_and(nothing) {
        port.conditioners.pop();
    }
    let names: BTreeMap<String, String> =
        port.conditioners.iter().enumerate().map(|(i, it)| (it.name.is.clone(), format!("c{i}"))).collect();
    port.interface.origin = NOWHERE;
    port.accounting.iter_mut().for_each(|it| it.origin = NOWHERE);
    port.link = settings(&port.link);
    // A port has IPv4 alone, whatever the text says of others.
    (port.sorts, port.others, port.both_versions) = (false, Vec::new(), None);
    for conditioner in &mut port.conditioners {
        conditioned(conditioner, &names);
    }
    let taken = port.conditioners.iter().map(|it| (it.name.is.clone(), codes(&it.takes))).collect();
    port.queue = port.queue.map(|it| queue(it, &Known { names: &names, taken: &taken }, None));
    port
}

/// Where conditioners only say which packets they saw, classes take these packets themselves.
fn without_labels(port: &mut Port) {
    let last = port.conditioners.len().wrapping_sub(1);
    let says_only = |(i, it): (usize, &Conditioner)| {
        let ends = |acts: &[Act]| acts == [Act::Next] || acts == [Act::Transmit] && i == last;
        let asks_none = it.takes.iter().all(|filter| filter.matches.is.conditioner.is_empty());
        // A marker that says nothing of its colours lets all pass.
        let passes = it.actions.iter().all(|(_, acts)| ends(&acts.is)) && (i == last || !it.actions.is_empty());
        it.kind == "marker" && passes && asks_none
    };
    let Some(queue) = &mut port.queue else { return };
    if !port.conditioners.iter().enumerate().all(says_only) || !asks(queue) {
        return;
    }
    let taken: BTreeMap<String, Vec<Filter>> = port
        .conditioners
        .drain(..)
        .map(|it| (it.name.is, if it.takes.is_empty() { all() } else { it.takes }))
        .collect();
    by_headers(queue, &taken);
}

fn all() -> Vec<Filter> {
    vec![Filter { order: 0, matches: bare(Match::default()) }]
}

/// Whether a class asks for conditioners.
fn asks(queue: &Queue) -> bool {
    let takes = |class: &Class| class.takes.iter().any(|it| !it.matches.is.conditioner.is_empty());
    queue.classes.iter().any(|class| takes(class) || class.queue.as_ref().is_some_and(asks))
}

fn by_headers(queue: &mut Queue, taken: &BTreeMap<String, Vec<Filter>>) {
    for class in &mut queue.classes {
        let of = |filter: Filter| match filter.matches.is.conditioner.as_slice() {
            [] => vec![filter],
            names => names.iter().flat_map(|name| taken[name].clone()).collect(),
        };
        class.takes = std::mem::take(&mut class.takes).into_iter().flat_map(of).collect();
        class.queue.iter_mut().for_each(|queue| by_headers(queue, taken));
    }
}

/// Whether it takes all that is left and changes none of it.
fn nothing(conditioner: &Conditioner) -> bool {
    let passes = conditioner.actions.iter().all(|(_, acts)| acts.is == [Act::Transmit]);
    conditioner.takes.is_empty() && conditioner.kind == "marker" && passes
}

/// The conditioners of a port.
struct Known<'a> {
    /// Old names, new names.
    names: &'a BTreeMap<String, String>,
    /// By new name, the code points that each takes; `None`: any.
    taken: &'a BTreeMap<String, Option<Vec<Dscp>>>,
}

/// Code points of packets that agree with any of these; `None`: any.
fn codes(takes: &[Filter]) -> Option<Vec<Dscp>> {
    let each: Vec<_> = takes.iter().map(|it| it.matches.is.dscp.clone()).collect();
    (!each.is_empty() && each.iter().all(|it| !it.is_empty())).then(|| each.concat())
}

fn conditioned(conditioner: &mut Conditioner, names: &BTreeMap<String, String>) {
    conditioner.name = bare(names[&conditioner.name.is].clone());
    conditioner.takes = filters(std::mem::take(&mut conditioner.takes), names);
    conditioner.settings = settings(&conditioner.settings);
    conditioner.actions.iter_mut().for_each(|(_, acts)| acts.origin = NOWHERE);
}

/// It does not count where something is said.
const NOWHERE: Origin = Origin::Assumed("");

fn bare<T>(is: T) -> WithOrigin<T> {
    WithOrigin { is, origin: NOWHERE }
}

fn settings(of: &Settings) -> Settings {
    let mut all: Vec<_> = of.iter().collect();
    all.sort_by_key(|it| it.0);
    let mut out = Settings::default();
    all.into_iter().for_each(|(key, value)| out.set(key, bare(value.is.clone())));
    out
}

/// In their order; code points sorted.
fn filters(takes: Vec<Filter>, names: &BTreeMap<String, String>) -> Vec<Filter> {
    let renamed = |name: &String| names.get(name).unwrap_or(name).clone();
    let mut all: Vec<Match> = takes.into_iter().map(|filter| filter.matches.is).collect();
    for matches in &mut all {
        matches.conditioner = matches.conditioner.iter().map(renamed).collect();
        matches.conditioner.sort();
        matches.dscp.sort_unstable();
        matches.source_port.sort_unstable();
        matches.destination_port.sort_unstable();
    }
    all.retain(|it| *it != Match::default());
    all.into_iter().map(|matches| Filter { order: 0, matches: bare(matches) }).collect()
}

/// A queue whose packets have these code points; `None`: any.
fn queue(mut queue: Queue, names: &Known<'_>, takes: Option<&[Dscp]>) -> Queue {
    queue.name = bare(String::new());
    if let Some(profiles) = queue.settings.remove("profiles") {
        let all: Vec<_> = takes.map_or_else(|| (0..64).filter_map(Dscp::new).collect(), <[_]>::to_vec);
        queue.settings.set("profiles", bare(by_code_point(&profiles.is, &all)));
    }
    (queue.settings, queue.shape) = (settings(&queue.settings), settings(&queue.shape));
    let classes = std::mem::take(&mut queue.classes);
    queue.classes = classes.into_iter().map(|it| class(it, names)).collect();
    quanta(&mut queue);
    queue
}

fn class(mut class: Class, known: &Known<'_>) -> Class {
    class.name = bare(String::new());
    class.settings = settings(&class.settings);
    class.takes = filters(std::mem::take(&mut class.takes), known.names);
    let passed: Vec<_> = class.takes.iter().flat_map(|it| it.matches.is.conditioner.clone()).collect();
    let codes = match passed.as_slice() {
        [] => codes(&class.takes),
        names => names.iter().map(|name| known.taken[name].clone()).collect::<Option<Vec<_>>>().map(|it| it.concat()),
    };
    class.queue = class.queue.map(|it| queue(it, known, codes.as_deref()));
    class
}

/// The profile of each of these code points.
fn by_code_point(profiles: &Value, codes: &[Dscp]) -> Value {
    let Value::List(list) = profiles else { return profiles.clone() };
    let of = |code: &Dscp| {
        let named = |profile: &&Value| match profile {
            Value::Table(table) => table.get("for").is_none_or(|it| names_it(&it.is, *code)),
            _ => false,
        };
        let Some(Value::Table(found)) = list.iter().find(named).or_else(|| list.last()) else { return Value::Count(0) };
        let mut table = Settings::default();
        table.set("for", bare(Value::Word(code.to_string())));
        found.iter().filter(|it| it.0 != "for").for_each(|(key, value)| table.set(key, bare(value.is.clone())));
        Value::Table(table)
    };
    Value::List(codes.iter().map(of).collect())
}

fn names_it(members: &Value, code: Dscp) -> bool {
    match members {
        Value::Word(word) => *word == code.to_string(),
        Value::List(list) => list.iter().any(|it| names_it(it, code)),
        _ => false,
    }
}

/// Quanta in their least whole numbers: only their ratio counts.
fn quanta(queue: &mut Queue) {
    if queue.kind != Some(Kind::Scheduler("drr")) {
        return;
    }
    let all: Vec<_> = queue.classes.iter().filter_map(|class| class.settings.bytes("quantum")).collect();
    let divisor = all.iter().map(|it| it.get()).fold(0, common_divisor).max(1);
    for class in &mut queue.classes {
        if let Some(quantum) = class.settings.bytes("quantum") {
            class.settings.set("quantum", bare(Value::Count(quantum.get() / divisor)));
        }
    }
}

const fn common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}
