//! What each class of a scheduler is sure of.

use crate::model::{Class, Kind, Queue};
use crate::value::{Settings, Value};

/// By class, bit/s, of a scheduler that gets `whole`.
pub(super) fn shares(queue: &Queue, whole: f64) -> Vec<f64> {
    let whole = bounded(queue, whole);
    let shares = match queue.kind {
        Some(Kind::Scheduler("htb" | "hfsc")) => promised(queue, whole),
        _ => parts(&queue.classes, whole),
    };
    let bound = |(class, share): (&Class, f64)| {
        let shape = class.queue.as_ref().and_then(|queue| queue.shape.rate("rate"));
        shape.map_or(share, |rate| share.min(rate.bit_s() as f64))
    };
    queue.classes.iter().zip(shares).map(bound).collect()
}

/// What a queue lets out, bit/s, of `whole`: no more than its shaper or its own rate.
pub(super) fn bounded(queue: &Queue, whole: f64) -> f64 {
    let bounds = [queue.shape.rate("rate"), queue.settings.rate("rate")];
    bounds.into_iter().flatten().map(|rate| rate.bit_s() as f64).fold(whole, f64::min)
}

/// Rates of classes that have them; less if there is not so much.
fn promised(queue: &Queue, whole: f64) -> Vec<f64> {
    let parents = queue.parents();
    let of = |(i, class): (usize, &Class)| {
        let curve = ["rate", "rt", "ls"].into_iter().find_map(|key| lasting(&class.settings, key));
        let ceil = lasting(&class.settings, "ceil").unwrap_or(f64::INFINITY);
        if parents[i] { 0.0 } else { curve.unwrap_or_default().min(ceil) }
    };
    let rates: Vec<_> = queue.classes.iter().enumerate().map(of).collect();
    let sum: f64 = rates.iter().sum();
    let scale = if sum > whole { whole / sum } else { 1.0 };
    rates.into_iter().map(|rate| rate * scale).collect()
}

/// The rate of a key for good: a rate, or the last piece of a curve.
fn lasting(settings: &Settings, key: &str) -> Option<f64> {
    match &settings.get(key)?.is {
        Value::Rate(rate) => Some(rate.bit_s() as f64),
        Value::Table(curve) => {
            ["m2", "rate"].into_iter().find_map(|key| curve.rate(key)).map(|rate| rate.bit_s() as f64)
        }
        _ => None,
    }
}

/// Strict classes have their limit, or as much as each other; the others share what these leave by quantum or weight.
fn parts(classes: &[Class], whole: f64) -> Vec<f64> {
    let limit = |class: &Class| class.settings.rate("rate").map(|rate| rate.bit_s() as f64);
    let limited: f64 = classes.iter().filter_map(limit).sum();
    let scale = if limited > whole { whole / limited } else { 1.0 };
    let open: Vec<_> = classes.iter().filter(|class| limit(class).is_none()).collect();
    let left = (whole - limited).max(0.0);
    let strict = open.iter().filter(|class| weight(class).is_none()).count() as f64;
    let shares = if strict < open.len() as f64 { 1.0 } else { 0.0 };
    let each = left / (strict + shares).max(1.0);
    let weights: f64 = open.iter().filter_map(|class| weight(class)).sum();
    let of = |class: &Class| match (limit(class), weight(class)) {
        (Some(limit), _) => limit * scale,
        (None, None) => each,
        (None, Some(weight)) => each * weight / weights.max(1.0),
    };
    classes.iter().map(of).collect()
}

fn weight(class: &Class) -> Option<f64> {
    match &["quantum", "weight"].into_iter().find_map(|key| class.settings.get(key))?.is {
        Value::Bytes(bytes) => Some(bytes.get() as f64),
        Value::Count(count) => Some(*count as f64),
        _ => None,
    }
}
