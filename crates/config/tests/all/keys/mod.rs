//! Whether a writer for another system passes over a key: what both tests of such a writer share.

use perhop_core::params::Field;
use perhop_core::registry::Entry;
use std::fmt::Debug;

/// A key, what sets it, what becomes of it.
pub type Row<F> = (&'static str, &'static str, F);

/// Rows of a scheduler: the keys of templates of classes, with what such a class and the one after it have to state, then its own.
macro_rules! templates {
    ($fate:expr, $own:literal, $after:literal, [$($row:expr),* $(,)?]) => {
        &[
            (
                "classes[].per",
                concat!(
                    r#"queue.q.classes=[{per="destination",slots=4,match={destination="10.0.0.0/8"}"#, $own, "},{", $after, "}]"
                ),
                $fate,
            ),
            (
                "classes[].slots",
                concat!(
                    r#"queue.q.classes=[{per="destination",slots=4,match={destination="10.0.0.0/8"}"#, $own, "},{", $after, "}]"
                ),
                $fate,
            ),
            (
                "classes[].plans",
                concat!(
                    r#"queue.q.classes=[{per="destination",slots=4"#, $own,
                    r#",plans=[{match={destination="10.0.0.0/8"}}]},{"#, $after, "}]"
                ),
                $fate,
            ),
            $($row),*
        ]
    };
}

/// The keys of these parameters.
pub fn fields(fields: &'static [Field]) -> Vec<String> {
    Field::all(fields).into_iter().map(|field| field.name.to_owned()).collect()
}

/// The keys of an entry of a list.
pub fn entry(list: &[Entry], name: &str) -> Vec<String> {
    list.iter().find(|entry| entry.name == name).unwrap().parameters().into_iter().map(|it| it.0).collect()
}

/// What is wrong: a key without a row, a row without a key, another fate than its row says.
pub fn wrong<F: Copy + Debug + PartialEq>(
    what: &str,
    mut keys: Vec<String>,
    rows: &[Row<F>],
    fate: impl Fn(&str) -> Result<F, String>,
) -> Vec<String> {
    let mut known: Vec<_> = rows.iter().map(|row| row.0.to_owned()).collect();
    known.sort();
    keys.sort();
    keys.dedup();
    let uneven = (known != keys).then(|| format!("{what}: keys {keys:?}, rows {known:?}"));
    let other = rows.iter().filter_map(|&(key, set, expected)| {
        let found = fate(set);
        (found != Ok(expected)).then(|| format!("{what} {key}: {found:?}, not {expected:?}"))
    });
    uneven.into_iter().chain(other).collect()
}
