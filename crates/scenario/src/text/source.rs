//! Sources: the file and the overrides of the command line as one run of bytes; or, in place of the file, a tree that was made of other
//! texts.
//!
//! Each text gets a separate stretch, so that a [`Place`] says both which text and where in it.

use super::printable;
use perhop_core::params::{ClassName, Node, Place};
use std::sync::Arc;

/// One text, a file or an override such as `-s traffic.bulk.flows=20`.
#[derive(Clone, Debug, Default, PartialEq)]
struct Piece {
    name: String,
    text: String,
    /// Where its lines begin.
    lines: Vec<usize>,
    base: usize,
    keys: Vec<Vec<String>>,
    /// For a tree that has no text.
    made: Option<Arc<Made>>,
}

impl Piece {
    /// One past its last place.
    fn end(&self) -> usize {
        self.base + self.made.as_ref().map_or(self.text.len(), |made| made.end)
    }
}

/// All texts that a scenario was read from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sources {
    pieces: Vec<Piece>,
}

/// A place as people read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// File, or flag of an override.
    pub name: String,
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    /// Characters to underline on that line, at least 1.
    pub width: usize,
    /// The line, without its end; of a long one what is around the column.
    pub text: String,
    /// The column in `text`.
    pub shown_column: usize,
    /// The dotted key there, of a text whose lines are keys; empty for a file.
    pub path: String,
}

impl Spot {
    /// `file.toml:3:7`, or the dotted key.
    pub fn place(&self) -> String {
        let Self { name, line, column, path, .. } = self;
        if path.is_empty() {
            format!("{}:{line}:{column}", printable::printable(name))
        } else {
            printable::printable(path).into_owned()
        }
    }
}

/// A tree, and the texts that its values come from.
#[derive(Clone, Debug, PartialEq)]
pub struct Made {
    /// What is checked; its places are those of `origins`.
    pub root: Node,
    /// In the order of the places: where one begins, and where what is there comes from.
    pub origins: Vec<(usize, Origin)>,
    /// One past the last place.
    pub end: usize,
    /// The text that it was made of, and the file of its load.
    pub texts: [Arc<Sources>; 2],
}

/// Where a value of such a tree comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The place in its text; `None`: that says nothing of it.
    pub place: Option<Place>,
    /// Whether its text is the file of the load.
    pub of_load: bool,
    /// The device's class that it is.
    pub class: Option<String>,
    /// Of a list, where its items begin.
    pub items: Vec<usize>,
}

impl Made {
    /// Where what is at a place comes from.
    fn origin(&self, place: Place) -> Option<&Origin> {
        let before = self.origins.partition_point(|it| it.0 <= place.start).checked_sub(1)?;
        Some(&self.origins[before].1)
    }

    /// The spot in the text that a place comes from.
    pub fn spot(&self, place: Place) -> Option<Spot> {
        let origin = self.origin(place)?;
        self.texts[usize::from(origin.of_load)].spot(origin.place?)
    }

    /// The place of a class of the list at a place, and the device's name for it.
    pub fn class(&self, list: Place, class: &ClassName) -> Option<(Place, ClassName)> {
        let ClassName::Listed { number, .. } = class else { return None };
        let start = *self.origin(list)?.items.get(number.checked_sub(1)?)?;
        let place = Place { start, end: start + 1 };
        Some((place, ClassName::Device(self.origin(place)?.class.clone()?)))
    }
}

impl Sources {
    /// Adds a text; its bytes begin at what is returned.
    pub fn add(&mut self, name: &str, text: &str) -> usize {
        let base = self.end();
        let lines = [0].into_iter().chain(text.match_indices('\n').map(|(end, _)| end + 1)).collect();
        self.pieces.push(Piece { name: name.to_owned(), text: text.to_owned(), lines, base, ..Piece::default() });
        base
    }

    /// Adds a tree that was made of other texts, before any text.
    pub fn add_made(&mut self, name: &str, made: &Made) {
        self.pieces.push(Piece { name: name.to_owned(), made: Some(Arc::new(made.clone())), ..Piece::default() });
    }

    fn end(&self) -> usize {
        self.pieces.last().map_or(0, |piece| piece.end() + 1)
    }

    fn piece(&self, place: Place) -> Option<&Piece> {
        self.pieces.iter().rev().find(|piece| place.start >= piece.base)
    }

    /// The place of the class that is meant in the list at a place, and the name that the device has for it.
    pub fn class(&self, list: Place, class: &ClassName) -> Option<(Place, ClassName)> {
        self.piece(list)?.made.as_ref()?.class(list, class)
    }

    /// Says that each line of the text added last is `KEY = VALUE`, the key dotted from these parts.
    pub fn keyed(&mut self, keys: &[Vec<String>]) {
        if let Some(piece) = self.pieces.last_mut() {
            piece.keys = keys.to_vec();
        }
    }

    /// The name of the first text: the file.
    pub fn file(&self) -> &str {
        self.pieces.first().map_or("", |p| &p.name)
    }

    /// Where `place` is.
    pub fn spot(&self, place: Place) -> Option<Spot> {
        let piece = self.piece(place)?;
        if let Some(made) = &piece.made {
            return made.spot(place);
        }
        let at = |byte: usize| floor(&piece.text, byte.saturating_sub(piece.base));
        let (start, end) = (at(place.start), at(place.end).max(at(place.start)));
        let above = piece.lines.partition_point(|&line| line <= start) - 1;
        let begin = piece.lines[above];
        let rest = &piece.text[begin..];
        let text = rest.lines().next().unwrap_or("");
        // If it spans several lines, the first character is enough.
        let until = if end > begin + text.len() { start } else { end };
        let column = piece.text[begin..start].chars().count() + 1;
        let (text, shown_column) = printable::window(text, column);
        let text = printable::line(&text);
        let room = (text.chars().count() + 1).saturating_sub(shown_column).max(1);
        Some(Spot {
            name: piece.name.clone(),
            line: above + 1,
            column,
            width: piece.text[start..until].chars().count().clamp(1, room),
            text,
            shown_column,
            path: piece.keys.get(above).map_or_else(String::new, |key| upto(key, start - begin)),
        })
    }
}

/// A dotted key as far as the part that ends beyond `byte`: a fault of a table is at the table's name.
fn upto(key: &[String], byte: usize) -> String {
    let mut end = 0;
    let parts = key.iter().take_while(|part| {
        let before = end <= byte;
        end += part.len() + 1;
        before
    });
    parts.map(String::as_str).collect::<Vec<_>>().join(".")
}

/// The nearest character boundary at or below `byte`.
fn floor(text: &str, byte: usize) -> usize {
    (0..=byte.min(text.len())).rev().find(|&i| text.is_char_boundary(i)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_characters_from_one() {
        let mut sources = Sources::default();
        sources.add("a.toml", "x = 1\nätsch = 22\n");
        let base = sources.add("-s", "k=v");
        let spot = |start, end| sources.spot(Place { start, end }).unwrap();
        assert_eq!((spot(4, 5).line, spot(4, 5).column), (1, 5));
        let second = spot(15, 17);
        assert_eq!((second.line, second.column, second.width, second.text.as_str()), (2, 9, 2, "ätsch = 22"));
        assert_eq!((spot(0, 15).line, spot(0, 15).width), (1, 1), "over two lines");
        let flag = spot(base + 2, base + 3);
        assert_eq!((flag.name.as_str(), flag.line, flag.column), ("-s", 1, 3));
        assert_eq!(flag.place(), "-s:1:3");
    }

    #[test]
    fn a_text_of_keys_has_paths() {
        let mut sources = Sources::default();
        sources.add("scenario", "a.\"b c\".d = 5\ne = 6\n");
        sources.keyed(&[vec!["a".into(), "\"b c\"".into(), "d".into()], vec!["e".into()]]);
        let path = |start| sources.spot(Place { start, end: start + 1 }).unwrap().place();
        let whole = "a.\"b c\".d";
        assert_eq!([0, 2, 6, 8, 12, 14, 18].map(path), ["a", "a.\"b c\"", "a.\"b c\"", whole, whole, "e", "e"]);
    }
}
