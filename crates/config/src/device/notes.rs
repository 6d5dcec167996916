//! What is to be told about what is written: what cannot be said, and what is otherwise. Each thing once, with all that it concerns.

use std::fmt;

/// How many a message names.
const NAMED: usize = 3;

/// What is to be told.
#[derive(Default)]
pub(crate) struct Notes {
    refused: Vec<About>,
    notes: Vec<About>,
}

/// Something about one or more.
struct About {
    what: String,
    of: Vec<String>,
}

impl Notes {
    /// `what` of `whose` cannot be said.
    pub(crate) fn refuse(&mut self, whose: String, what: &str) {
        add(&mut self.refused, whose, what);
    }

    /// `what` of `whose` is otherwise there.
    pub(crate) fn note(&mut self, whose: String, what: &str) {
        add(&mut self.notes, whose, what);
    }

    /// What cannot be said, in lines.
    pub(crate) fn refused(&self) -> Vec<String> {
        self.refused.iter().map(About::to_string).collect()
    }

    /// What is otherwise, in lines.
    pub(crate) fn notes(&self) -> Vec<String> {
        self.notes.iter().map(About::to_string).collect()
    }
}

fn add(list: &mut Vec<About>, whose: String, what: &str) {
    let place = list.iter().position(|it| it.what == what).unwrap_or(list.len());
    if place == list.len() {
        list.push(About { what: what.to_owned(), of: Vec::new() });
    }
    let of = &mut list[place].of;
    if !of.contains(&whose) {
        of.push(whose);
    }
}

/// `traffic `a`, traffic `b`, traffic `c` and 37 more: no kernel has QUIC`
impl fmt::Display for About {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, of } = self;
        let more = of.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        write!(f, "{}{more}: {what}", of[..of.len().min(NAMED)].join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_concerns_many_is_said_once() {
        let mut told = Notes::default();
        (0..40).for_each(|i| told.refuse(format!("traffic `{i}`"), "no"));
        told.refuse("traffic `3`".into(), "no");
        told.refuse("traffic `3`".into(), "never");
        let lines = ["traffic `0`, traffic `1`, traffic `2` and 37 more: no", "traffic `3`: never"];
        assert_eq!(told.refused(), lines);
    }
}
