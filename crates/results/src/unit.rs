//! Which bytes the numbers of a table count, for its headings: `delivered Mbit/s (l1)`.

use crate::tables::column::Column;
use perhop_core::accounting::Accounting;
use perhop_scenario::scenario::Scenario;
use std::borrow::Cow;

/// What is counted, if that is not IP packets, the default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit(Option<Accounting>);

impl Unit {
    /// Of scenarios: none where they differ, as along a sweep whose key then says it.
    pub fn of<'a>(scenarios: impl IntoIterator<Item = &'a Scenario>) -> Self {
        let mut each = scenarios.into_iter().map(|scenario| scenario.settings().accounting);
        let first = each.next().filter(|it| *it != Accounting::default());
        Self(first.filter(|first| each.all(|it| it == *first)))
    }

    /// The heading of a number that counts bytes so.
    pub fn head(self, text: &str) -> Cow<'_, str> {
        self.0.map_or(text.into(), |accounting| format!("{text} ({})", accounting.name()).into())
    }

    /// The heading of a column.
    pub fn heading(self, column: &Column) -> String {
        let text = column.heading();
        if column.accounted { self.head(&text).into_owned() } else { text }
    }
}
