//! Settings of HTB that run, but probably not as intended.

use super::form::Bounds as _;
use super::{LARGEST_QUANTUM, Params, SMALLEST_QUANTUM};
use crate::arithmetic::{Arithmetic, Tariff, longest_in_ticks};
use crate::framing::Frame;
use crate::params::{CLASS, ClassName, ParamError};
use crate::sched::fault;
use crate::sched::form::Form;
use crate::scope::Scope;
use crate::units::{BitRate, Bytes};
use std::ops::Range;

/// `frame` is how the rates count packets.
pub(super) fn all(params: &Params, form: &Form, scope: &Scope, frame: Frame) -> Vec<ParamError> {
    let layout = params.classes.layout();
    let firsts = || (0..params.classes.len()).filter(|&i| layout.is_first(i));
    let each = firsts().flat_map(|i| {
        let scope = of_class(form, layout.alike(i), scope);
        let framed = frame.scope(&scope);
        let bursts = of_bursts(params, i, &framed);
        match form.is_leaf(i) {
            true => of_quantum(params, i, &scope)
                .into_iter()
                .chain(of_root(params, form, i))
                .chain(bursts)
                .collect::<Vec<_>>(),
            false => of_parent(params, i).chain(of_root(params, form, i)).chain(bursts).collect(),
        }
    });
    let ceils = firsts().filter_map(|i| of_ceil(params, i));
    let cut = firsts().flat_map(|i| cut(params, i));
    over_promised(params, form, scope).into_iter().chain(each).chain(ceils).chain(cut).collect()
}

/// The surroundings of classes that are alike: the largest packet of the leaves below them.
fn of_class(form: &Form, alike: Range<usize>, scope: &Scope) -> Scope {
    let first = form.places_below(alike.start);
    let last = form.place(alike.end - 1).or(first.last().copied());
    scope.of_classes(first.first().copied().zip(last).map_or(0..0, |(first, last)| first..last + 1))
}

/// W324: what is promised together is more than there is.
fn over_promised(params: &Params, form: &Form, scope: &Scope) -> Vec<ParamError> {
    let classes = &params.classes;
    let tops = (0..classes.len()).filter(|&i| form.parents[i].is_none() && form.counts(classes, i, scope));
    let sum: u64 = tops.map(|i| classes[i].guaranteed().bit_s()).sum();
    let of_link = scope.link_rate.filter(|link| sum > link.bit_s()).map(|link| (None, link, sum));
    let of_parent = |(i, sum): (usize, u64)| (Some(params.classes.called(i)), params.classes[i].guaranteed(), sum);
    let said = |(class, rate, sum): (Option<ClassName>, BitRate, u64)| {
        let whose = if class.is_some() { CLASS } else { "the root" };
        let message = format!("the rates below {whose} add up to {}, above its {rate}", BitRate::bps(sum));
        let label = "a class within its rate does not borrow, so their parent sends more than its own rate";
        let help = "lower the rates; a `ceil` lets a class use what others leave";
        ParamError::new("classes", "W324", message).of_class(class).label(label).help(help)
    };
    of_link.into_iter().chain(form.promised(classes, scope).into_iter().map(of_parent)).map(said).collect()
}

/// W336: a ceil that is reached by borrowing, of a class without a parent.
fn of_root(params: &Params, form: &Form, i: usize) -> Option<ParamError> {
    let (rate, ceil) = (params.classes[i].rate, params.classes[i].ceil?);
    (form.parents[i].is_none() && ceil > rate).then(|| {
        let message = format!("{CLASS}: `ceil` {ceil} is never reached: it has no `parent` to borrow from");
        fault("W336", params.classes.called(i), message)
            .label(format!("it never gets more than its `rate` {rate}"))
            .help("name a `parent` whose rate it may borrow, or raise `rate`, or remove `ceil`")
    })
}

/// W342: a guarantee that the ceil withholds.
fn of_ceil(params: &Params, i: usize) -> Option<ParamError> {
    let (rate, ceil) = (params.classes[i].rate, params.classes[i].ceil());
    (ceil < rate).then(|| {
        fault("W342", params.classes.called(i), format!("{CLASS}: `ceil` {ceil} is below `rate` {rate}"))
            .label("it never gets more than its `ceil`")
            .help(format!("raise `ceil` to at least {rate}, or lower `rate` to {ceil}"))
    })
}

/// W341: bursts that tc has no room for.
fn cut(params: &Params, i: usize) -> impl Iterator<Item = ParamError> {
    let (class, name) = (&params.classes[i], params.classes.called(i));
    let ceil = class.ceil();
    let linux = params.arithmetic == Arithmetic::Linux;
    let bursts = [("burst", params.burst(i), class.rate), ("cburst", params.cburst(i), ceil)];
    bursts.into_iter().filter(move |&(_, burst, rate)| linux && burst > longest_in_ticks(rate)).map(
        move |(key, burst, rate)| {
            let left =
                Bytes::new(Tariff::new(rate, Arithmetic::Linux).bytes(Arithmetic::Linux.depth(rate, burst)) as u64);
            fault("W341", name.clone(), format!("{CLASS}: `{key}` is {burst}, of which tc hands over {left}"))
                .label(format!("its time at {rate} is more than 2^32 ticks of 64 ns"))
                .help(format!("must be at most {}, or `arithmetic = \"exact\"`", longest_in_ticks(rate)))
        },
    )
}

/// W325: what only leaves use.
fn of_parent(params: &Params, i: usize) -> impl Iterator<Item = ParamError> {
    let (class, name) = (&params.classes[i], params.classes.called(i));
    let stated = [("quantum", class.quantum.is_some()), ("prio", class.prio.is_some())];
    stated.into_iter().filter(|&(_, stated)| stated).map(move |(key, _)| {
        let message = format!("{CLASS}: `{key}` has no effect on a class with children");
        fault("W325", name.clone(), message)
            .help(format!("remove `{key}` here: only leaves have a quantum and a priority"))
    })
}

/// W326: a stated burst below one packet keeps its rate only if it is woken in time.
fn of_bursts(params: &Params, i: usize, scope: &Scope) -> impl Iterator<Item = ParamError> {
    let (name, largest) = (params.classes.called(i), scope.largest_packet);
    let class = &params.classes[i];
    let bursts = [("burst", class.burst), ("cburst", class.cburst)].map(|(key, burst)| Some((key, burst?)));
    bursts.into_iter().flatten().filter(move |&(_, burst)| burst < largest).map(move |(key, burst)| {
        fault("W326", name.clone(), format!("{CLASS}: `{key}` is {burst}, less than one packet"))
            .label(format!("the largest packet of {} counts {largest}", scope.largest_of))
            .help(format!(
                "must be at least {largest}: otherwise the class gets less than its rate when timers are late"
            ))
    })
}

/// W327: shares that are not those of the rates, or of the quanta.
fn of_quantum(params: &Params, i: usize, scope: &Scope) -> Option<ParamError> {
    let (name, quantum) = (params.classes.called(i), params.quantum(i));
    if params.classes[i].quantum.is_none() && params.rate_by_r2q(i) != quantum.get() {
        let by_rate = Bytes::new(params.rate_by_r2q(i));
        let message =
            format!("{CLASS}: its rate divided by `r2q` gives a quantum of {by_rate}; {quantum} is used instead");
        let help = format!("state `quantum`, or an `r2q` that gives {SMALLEST_QUANTUM}B to {LARGEST_QUANTUM}B");
        return Some(fault("W327", name, message).help(help));
    }
    (quantum < scope.largest_packet).then(|| {
        fault("W327", name, format!("{CLASS}: its quantum is {quantum}, less than one packet"))
            .label(format!("the largest packet of {} is {}", scope.largest_of, scope.largest_packet))
            .help("must be at least the largest packet: otherwise the class sends a packet in each turn, whatever its quantum")
    })
}
