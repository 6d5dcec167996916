//! The order of points.

use super::disk::manifest::Labels;
use std::collections::BTreeSet;

/// Sorts points by their positions in their sweep; by their labels, 5 before 10, if they are of several sweeps.
pub(crate) fn order<T>(points: &mut [T], of: impl Fn(&T) -> (usize, &Labels)) {
    let positions: BTreeSet<_> = points.iter().map(|point| of(point).0).collect();
    if positions.len() == points.len() {
        points.sort_by_key(|point| of(point).0);
    } else {
        points.sort_by(|a, b| natural(of(a).1).partial_cmp(&natural(of(b).1)).expect("no number of a text is NaN"));
    }
}

/// A key by which 5 comes before 10: each label as texts and numbers in turn.
fn natural(labels: &Labels) -> Vec<Vec<(f64, &str)>> {
    labels.0.iter().map(|(_, value)| parts(value)).collect()
}

fn parts(mut rest: &str) -> Vec<(f64, &str)> {
    let mut parts = Vec::new();
    loop {
        let (text, tail) = rest.split_at(rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len()));
        parts.push((-1.0, text));
        if tail.is_empty() {
            return parts;
        }
        let (number, tail) = tail.split_at(number(tail));
        parts.push((number.parse().unwrap_or(f64::INFINITY), ""));
        rest = tail;
    }
}

/// The length of the number that a text begins with: digits, and others behind a point.
fn number(text: &str) -> usize {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let whole = digits(text);
    match text[whole..].strip_prefix('.').map(digits) {
        None | Some(0) => whole,
        Some(more) => whole + 1 + more,
    }
}
