//! `--where`: which rows are shown. `run`, `sweep`, `plot`, `report`, `compare` and Python read it here.
//!
//! Options of several keys all have to hold; of the values of one key any will do. A row without the key has none of them,
//! so a table that lacks the key is left out. What is written to disk is always everything.

use crate::pooled::Names;
use crate::rows::{OF_CLASSES_BY, Row, Rows};
use crate::tables::classes::ALL;
use crate::tables::columns::Declared;
use perhop_core::packet::Colour;
use perhop_core::params::suggest;
use perhop_scenario::Diagnostic;
use perhop_scenario::sweep::{Point, short_keys};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// Other names of a key: tables are headed `port`, and a port sends into one link.
const ALIASES: [(&str, &str); 2] = [("port", "hop"), ("link", "hop")];

/// A column of rows that have a key which those of classes lack.
const ELSEWHERE: [(&str, &str); 6] = [
    ("traffic", "traffic.goodput_bit_s"),
    ("flow", "flows.goodput_bit_s"),
    ("hop", "summary.wait_p99_ms"),
    ("queue", "queues.wait_p99_ms"),
    ("node", "nodes.throughput_bit_s"),
    ("conditioner", "conditioners.packets"),
];

/// A key, and the values that rows have under it; `None` where they are not known yet.
pub type Key = (String, Option<Vec<String>>);

/// What rows can be chosen by.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Known {
    /// Swept keys.
    pub swept: Vec<Key>,
    /// Columns that name rows.
    pub rows: Vec<Key>,
}

/// The values of a key that rows must have one of.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// The key in full.
    pub key: String,
    /// They.
    pub values: Vec<String>,
    /// The key is swept: all rows of a point have the same value.
    swept: bool,
}

/// What rows must have to be shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Where {
    texts: Vec<String>,
    /// One for each key.
    pub terms: Vec<Term>,
}

impl Where {
    /// Reads `KEY=VALUE[,VALUE..]`, each of which must be a key and values that are known.
    ///
    /// # Errors
    /// The first that is none: E010, E006.
    pub fn read(texts: &[String], known: &Known) -> Result<Self, Diagnostic> {
        let mut read = Self { texts: texts.to_vec(), terms: Vec::new() };
        for text in texts {
            let term = known.term(text)?;
            match read.terms.iter_mut().find(|of| of.key == term.key) {
                Some(of) => of.values.extend(term.values),
                None => read.terms.push(term),
            }
        }
        Ok(read)
    }

    /// Everything is shown.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Whether rows are chosen by this column.
    pub fn names(&self, column: &str) -> bool {
        self.terms.iter().any(|term| term.key == column)
    }

    /// Whether rows of this point may be shown.
    pub fn keeps_point(&self, point: &Point) -> bool {
        let value = |key: &str| point.labels.iter().find(|label| label.0 == key).map(|label| label.1.as_str());
        self.terms.iter().filter(|term| term.swept).all(|term| term.holds(value(&term.key)))
    }

    /// Whether a row with these names may be shown, as far as they decide.
    pub fn keeps_row<K: AsRef<str>>(&self, keys: &[K], names: &Names) -> bool {
        let value = |key: &str| keys.iter().position(|k| k.as_ref() == key).and_then(|at| names[at].as_deref());
        self.terms.iter().filter(|term| !term.swept).all(|term| term.holds(value(&term.key)))
    }

    /// What of these rows is shown.
    pub fn keep(&self, points: &[Point], all: Vec<Rows>) -> Vec<Rows> {
        let of = |rows: Rows| {
            let shown = rows.rows.into_iter().filter(|row| self.keeps_point(&points[row.point])).collect();
            Rows { rows: self.keep_rows(&rows.keys, shown), ..rows }
        };
        all.into_iter().map(of).collect()
    }

    /// The same of rows with these keys. The only colour of a class is all of it.
    pub fn keep_rows<K: AsRef<str>>(&self, keys: &[K], mut rows: Vec<Row>) -> Vec<Row> {
        let of_classes = keys.iter().map(AsRef::as_ref).eq(OF_CLASSES_BY);
        let only = if of_classes { alone(&rows) } else { HashSet::new() };
        let whole = |row: &Row| vec![row.names[0].clone(), Some(ALL.into())];
        rows.retain(|row| {
            self.keeps_row(keys, &row.names) || (only.contains(&place(row)) && self.keeps_row(keys, &whole(row)))
        });
        rows
    }

    /// That no row is left by options.
    pub fn left_nothing(texts: &[String]) -> Diagnostic {
        let options: Vec<_> = texts.iter().map(|text| format!("⟨where⟩ {text}")).collect();
        let one = match texts {
            [_] => "without the option all rows are shown",
            _ => "remove one of them: a row must satisfy all",
        };
        Diagnostic::error("E028", format!("no row is left by {}", options.join(" ")), one)
    }

    /// That no row is left by these.
    pub fn nothing(&self) -> Diagnostic {
        Self::left_nothing(&self.texts)
    }

    /// Why no row is left, once it is known what the rows have.
    pub fn refused(&self, known: &Known) -> Diagnostic {
        Self::read(&self.texts, known).err().unwrap_or_else(|| self.nothing())
    }
}

impl Term {
    fn holds(&self, value: Option<&str>) -> bool {
        value.is_some_and(|value| self.values.iter().any(|one| one == value))
    }
}

impl Known {
    /// What the rows of these tables can be chosen by before anything is run.
    pub fn of(points: &[Point], tables: &[&Declared]) -> Self {
        let mut keys: Vec<&str> = Vec::new();
        for column in tables.iter().flat_map(|of| &of.columns).filter(|column| column.role.names()) {
            keys.extend((!keys.contains(&&*column.name)).then_some(&*column.name));
        }
        let rows = keys.into_iter().map(|key| (key.to_owned(), values(key, points)));
        Self { swept: swept(points), rows: rows.collect() }
    }

    /// What they have been found to be.
    pub fn collect(points: &[Point], all: &[Rows]) -> Self {
        let mut keys: Vec<Key> = Vec::new();
        for rows in all {
            for (at, key) in rows.keys.iter().enumerate() {
                let values = distinct(rows.rows.iter().filter_map(|row| row.names[at].as_deref()));
                match keys.iter_mut().find(|known| known.0 == *key) {
                    Some((_, known)) => known.get_or_insert_default().extend(values),
                    None => keys.push((key.clone(), Some(values))),
                }
            }
        }
        Self { swept: swept(points), rows: keys }
    }

    fn term(&self, text: &str) -> Result<Term, Diagnostic> {
        let (key, values) = text.split_once('=').filter(|(key, _)| !key.trim().is_empty()).ok_or_else(|| {
            let help = "write ⟨where⟩ class=voice, or several values as in ⟨where⟩ class=voice,video";
            Diagnostic::error("E010", format!("`⟨where⟩ {text}` is not KEY=VALUE"), help)
        })?;
        let ((key, known), swept) = self.find(key.trim()).ok_or_else(|| {
            let near = suggest(key.trim(), &self.keys().iter().map(String::as_str).collect::<Vec<_>>());
            let help =
                elsewhere(key.trim()).map_or(near.clone(), |show| format!("{near}; `--show {show}` has rows with it"));
            Diagnostic::error(
                "E006",
                format!("`⟨where⟩ {text}`: the rows that are shown have no `{}`", key.trim()),
                help,
            )
        })?;
        let values = chosen(values.trim(), known.as_deref()).map_err(|value| {
            let known: Vec<_> = known.iter().flatten().map(String::as_str).collect();
            Diagnostic::error("E006", format!("`⟨where⟩ {text}`: no {key} is `{value}`"), suggest(value, &known))
        })?;
        Ok(Term { key: key.clone(), values, swept })
    }

    /// A key as it is written, or in the short form in which tables are headed; whether it is swept.
    fn find(&self, name: &str) -> Option<(&Key, bool)> {
        let alias = ALIASES.iter().find(|alias| alias.0 == name).map_or(name, |alias| alias.1);
        let swept = |at: usize| (&self.swept[at], true);
        let in_full = self.swept.iter().position(|key| key.0 == name).map(swept);
        let of_rows = || self.rows.iter().find(|key| key.0 == name || key.0 == alias).map(|key| (key, false));
        let short = || self.short().iter().position(|short| short == name).map(swept);
        in_full.or_else(of_rows).or_else(short)
    }

    /// The swept keys as tables are headed.
    fn short(&self) -> Vec<String> {
        short_keys(&self.swept.iter().map(|key| (key.0.clone(), String::new())).collect::<Vec<_>>())
    }

    fn keys(&self) -> Vec<String> {
        self.short().into_iter().chain(self.rows.iter().map(|key| key.0.clone())).collect()
    }
}

/// A column whose rows have this key.
fn elsewhere(key: &str) -> Option<&'static str> {
    let key = ALIASES.iter().find(|alias| alias.0 == key).map_or(key, |alias| alias.1);
    ELSEWHERE.iter().find(|(of, _)| *of == key).map(|(_, show)| *show)
}

/// The values that a text states: those between commas, or the text if it is a value as a whole.
///
/// # Errors
/// The first that is unknown.
fn chosen<'a>(text: &'a str, known: Option<&[String]>) -> Result<Vec<String>, &'a str> {
    let is_known = |value: &str| known.is_none_or(|all| all.iter().any(|one| one == value));
    if known.is_some() && is_known(text) {
        return Ok(vec![text.to_owned()]);
    }
    let each = text.split(',').map(str::trim);
    each.map(|value| if is_known(value) { Ok(value.to_owned()) } else { Err(value) }).collect()
}

/// A point, and what rows are first named by.
type Place = (usize, Option<Arc<str>>);

fn place(row: &Row) -> Place {
    (row.point, row.names[0].clone())
}

/// Where there is one row.
fn alone(rows: &[Row]) -> HashSet<Place> {
    let mut counts = HashMap::new();
    rows.iter().for_each(|row| *counts.entry(place(row)).or_insert(0) += 1);
    counts.into_iter().filter(|(_, rows)| *rows == 1).map(|(place, _)| place).collect()
}

fn swept(points: &[Point]) -> Vec<Key> {
    let keys = points.first().into_iter().flat_map(|point| &point.labels).enumerate();
    keys.map(|(at, (key, _))| (key.clone(), Some(distinct(points.iter().map(|it| it.labels[at].1.as_str()))))).collect()
}

/// What the points' scenarios say of a column's values; `None` if they do not.
fn values(column: &str, points: &[Point]) -> Option<Vec<String>> {
    let plans = || points.iter().map(|point| point.scenario.common());
    match column {
        "class" => Some(distinct(plans().flat_map(|plan| plan.classes.iter().map(String::as_str)))),
        "traffic" => Some(distinct(plans().flat_map(|plan| plan.traffic.iter().map(|it| it.name.as_str())))),
        "hop" => Some(distinct(plans().flat_map(|plan| plan.links.iter().map(|it| it.name.as_str())))),
        "colour" => Some(distinct(Colour::ALL.map(Colour::name).into_iter().chain([ALL]))),
        _ => None,
    }
}

/// Each once, in order of appearance.
fn distinct<'a>(all: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    all.filter(|value| seen.insert(*value)).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::ELSEWHERE;
    use crate::tables::declaration;

    /// A message recommends these columns for rows with the key.
    #[test]
    fn what_has_a_key_elsewhere_has_it() {
        for (key, show) in ELSEWHERE {
            let (table, column) = show.split_once('.').unwrap();
            let columns = &declaration(table).unwrap().columns;
            let named = columns.iter().any(|it| it.name == key && it.role.names());
            assert!(named && columns.iter().any(|it| it.name == column), "{key}: {show}");
        }
    }
}
