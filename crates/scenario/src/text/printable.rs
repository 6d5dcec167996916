//! Text from a file as a terminal may show it: a character that would steer the terminal stands as its escape.

pub use perhop_core::params::{escaped as printable, steers};

/// Most characters of a line that is shown.
pub const WIDEST: usize = 200;

/// A line of a file in as many columns as it has characters: tabs are spaces, what steers is a replacement character.
pub fn line(text: &str) -> String {
    let one = |c: char| match c {
        '\t' => ' ',
        c if steers(c) => char::REPLACEMENT_CHARACTER,
        c => c,
    };
    text.chars().map(one).collect()
}

/// A line of at most [`WIDEST`] characters; one that is cut ends with `…`.
pub fn cut(text: &str) -> String {
    window(text, 1).0
}

/// At most [`WIDEST`] characters of a line around a column, from 1, with `…` for what is left out, and the column there.
pub fn window(text: &str, column: usize) -> (String, usize) {
    let all = text.chars().count();
    if all <= WIDEST {
        return (text.to_owned(), column);
    }
    // The column is within what stays of the beginning, or else in the middle.
    let skip = if column < WIDEST { 0 } else { column.min(all) - WIDEST / 2 };
    let room = WIDEST - usize::from(skip > 0);
    let left = all - skip > room;
    let part: String = text.chars().skip(skip).take(room - usize::from(left)).collect();
    let [before, after] = [skip > 0, left].map(|is| if is { "…" } else { "" });
    (format!("{before}{part}{after}"), column - skip + usize::from(skip > 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_a_column_for_each_character() {
        assert_eq!(line("a\t=\u{1b}[1m\u{7f}"), "a =\u{fffd}[1m\u{fffd}");
    }

    #[test]
    fn a_long_line_is_cut_around_its_column() {
        let text: String = (0..1000).map(|i| char::from(b'a' + (i % 26) as u8)).collect();
        let of = |column: usize| text.chars().nth(column - 1).unwrap();
        for column in 1..=1000 {
            let (part, at) = window(&text, column);
            assert!(part.chars().count() <= WIDEST, "{column}");
            assert_eq!(part.chars().nth(at - 1), Some(of(column)), "{column}");
        }
        assert_eq!(cut(&text).chars().count(), WIDEST);
        assert!(cut(&text).ends_with('…') && cut("short") == "short");
    }
}
