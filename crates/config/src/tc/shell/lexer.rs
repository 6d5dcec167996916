//! The pieces of a line as a shell parts it: text, quotes, expansions, blanks, operators, redirections, comments.
//!
//! One pass and no recursion: what an expansion holds is left to those who know its value. A quote ends with its line.

use crate::text::Line;
use perhop_core::params::Place;

/// A piece of a line: all of them together are the line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece<'a> {
    pub(super) kind: Kind,
    /// As it is written.
    pub(super) text: &'a str,
    pub(super) place: Place,
    /// A command begins with it.
    leads: bool,
}

/// What a piece is: the first four are of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Characters that stand for themselves.
    Text,
    /// `"` or `'`, at the begin or the end of what it quotes.
    Quote,
    /// A backslash, and the character that it quotes.
    Escape,
    /// `$NAME`, `${NAME:-DEFAULT}`, `$((SUM))`, `$[SUM]`, `$(COMMAND)`, or a command between backticks.
    Expansion,
    Blank,
    /// `;`, `&&`, `|`, `(` ..: a command ends.
    Operator,
    /// `2>/dev/null` with its target, or a comment.
    Aside,
    /// The backslash that joins the line and the next.
    Joint,
}

/// Signs with which operators begin.
pub(super) const OPERATORS: [char; 5] = [';', '|', '(', ')', '&'];

/// Parts a line, piece by piece.
#[derive(Debug)]
pub(super) struct Lexer<'a> {
    line: Line<'a>,
    at: usize,
    quote: Option<char>,
    /// A command may begin.
    leads: bool,
    /// A word may begin.
    is_between: bool,
    /// Ends of expansions that the rest of the line does not have.
    missing: Vec<char>,
}

impl Piece<'_> {
    /// Whether it is one of the words with which a command may begin.
    pub(super) fn leads(&self, words: &[&str]) -> bool {
        self.leads && words.contains(&self.text)
    }
}

impl<'a> Iterator for Lexer<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        let rest = &self.line.text[self.at..];
        let (kind, length) = self.piece(rest, rest.chars().next()?);
        let text = &rest[..length];
        let start = self.line.start + self.at;
        self.at += length;
        let is_word = matches!(kind, Kind::Text | Kind::Quote | Kind::Escape | Kind::Expansion);
        let leads = is_word && self.leads;
        self.leads = kind == Kind::Operator || self.leads && !is_word;
        self.is_between = !is_word;
        Some(Piece { kind, text, place: Place { start, end: start + length }, leads })
    }
}

impl<'a> Lexer<'a> {
    /// Of a line.
    pub(super) const fn new(line: Line<'a>) -> Self {
        Self { line, at: 0, quote: None, leads: true, is_between: true, missing: Vec::new() }
    }

    /// The piece with which the rest begins, and its length.
    fn piece(&mut self, rest: &str, first: char) -> (Kind, usize) {
        let quotes = matches!(first, '\'' | '"') && self.quote.is_none_or(|open| open == first);
        let is_bare = self.quote.is_none();
        match first {
            _ if quotes => {
                self.quote = self.quote.xor(Some(first));
                (Kind::Quote, 1)
            }
            '\\' if self.quote != Some('\'') => match rest[1..].chars().next() {
                Some(c) => (Kind::Escape, 1 + c.len_utf8()),
                None => (Kind::Joint, 1),
            },
            '$' | '`' if self.quote != Some('\'') => (Kind::Expansion, self.expansion(rest)),
            c if is_bare && c.is_whitespace() => (Kind::Blank, rest.len() - rest.trim_start().len()),
            '#' if self.is_between => (Kind::Aside, rest.len()),
            _ => {
                let operator = operator(rest).filter(|_| is_bare).map(|it| (Kind::Operator, it));
                let aside = || redirection(rest).filter(|_| self.is_between).map(|it| (Kind::Aside, it));
                operator.or_else(aside).unwrap_or_else(|| (Kind::Text, self.plain(rest, first)))
            }
        }
    }

    /// How many characters stand for themselves.
    fn plain(&self, rest: &str, first: char) -> usize {
        let ends = |c: char| match self.quote {
            Some('\'') => c == '\'',
            Some(_) => matches!(c, '"' | '\\' | '$' | '`'),
            None => matches!(c, '\'' | '"' | '\\' | '$' | '`') || OPERATORS.contains(&c) || c.is_whitespace(),
        };
        let behind = &rest[first.len_utf8()..];
        rest.len() - behind.len() + behind.find(ends).unwrap_or(behind.len())
    }

    /// How long an expansion is: to its last bracket, or as long as its name.
    fn expansion(&mut self, rest: &str) -> usize {
        const BRACKETS: [(&str, char); 4] = [("$(", ')'), ("$[", ']'), ("${", '}'), ("`", '`')];
        let bracket = BRACKETS.into_iter().find(|(open, _)| rest.starts_with(open));
        bracket.and_then(|(open, close)| self.bracket(rest, open, close)).unwrap_or_else(|| {
            let name = rest[1..].split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default();
            1 + if name.starts_with(|c: char| c.is_ascii_digit()) { 1 } else { name.len() }
        })
    }

    /// How long an expansion with brackets is: to its own or, where that is missing or deep, to the first that closes one. What the
    /// line does not have is not looked for again.
    fn bracket(&mut self, rest: &str, open: &str, close: char) -> Option<usize> {
        const DEPTH: usize = 8;
        if self.missing.contains(&close) {
            return None;
        }
        let (inner, mut depth) = (&rest[open.len()..], 1);
        let own = inner.find(|c| {
            depth = if c == close { depth - 1 } else { depth + usize::from(open.ends_with(c)) };
            depth == 0 || depth > DEPTH
        });
        let end = own.filter(|_| depth == 0).or_else(|| inner.find(close));
        self.missing.extend(end.is_none().then_some(close));
        end.map(|at| open.len() + at + 1)
    }
}

/// How long the operator is with which a text begins.
fn operator(text: &str) -> Option<usize> {
    let is_pair = ["&&", "||", ";;"].iter().any(|it| text.starts_with(it));
    let is_one = text.starts_with(OPERATORS) && !text.starts_with("&>");
    is_one.then_some(1 + usize::from(is_pair))
}

/// How long the redirection is with which a text begins: `>/dev/null`, `2>&1`.
fn redirection(text: &str) -> Option<usize> {
    let sign = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '&');
    if !sign.starts_with(['>', '<']) || text.len() - sign.len() > 1 {
        return None;
    }
    let target = sign.trim_start_matches(['>', '<', '&']).trim_start();
    let length = target.find(|c: char| c.is_whitespace() || matches!(c, ';' | '|')).unwrap_or(target.len());
    Some(text.len() - target.len() + length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pieces(text: &str) -> Vec<Piece<'_>> {
        Lexer::new(Line { number: 1, start: 7, text }).collect()
    }

    /// The pieces that are neither blanks nor text, by their first letters, and all texts.
    fn kinds(text: &str) -> Vec<(Kind, &str)> {
        pieces(text).into_iter().map(|it| (it.kind, it.text)).filter(|it| it.0 != Kind::Blank).collect()
    }

    #[test]
    fn pieces_are_those_of_a_shell() {
        use Kind::{Aside, Escape, Expansion, Joint, Operator, Quote, Text};
        let words = "a\\ b'$c\\'\"d$e\" 2>&1 >/dev/null && f;;g # h";
        let expected = [
            (Text, "a"),
            (Escape, "\\ "),
            (Text, "b"),
            (Quote, "'"),
            (Text, "$c\\"),
            (Quote, "'"),
            (Quote, "\""),
            (Text, "d"),
            (Expansion, "$e"),
            (Quote, "\""),
            (Aside, "2>&1"),
            (Aside, ">/dev/null"),
            (Operator, "&&"),
            (Text, "f"),
            (Operator, ";;"),
            (Text, "g"),
            (Aside, "# h"),
        ];
        assert_eq!(kinds(words), expected);
        assert_eq!(kinds("a\\"), [(Text, "a"), (Joint, "\\")]);
        assert_eq!(kinds("a#b \"# c\""), [(Text, "a#b"), (Quote, "\""), (Text, "# c"), (Quote, "\"")]);
    }

    #[test]
    fn expansions_end_at_their_own_bracket() {
        for whole in ["$1", "$A_1", "${A:-${B}}", "$((1 + (2 * 3)))", "$[1 + 2]", "$(printf %x $((i + 1)))", "`echo (`"]
        {
            assert_eq!(kinds(&format!("{whole}-0")), [(Kind::Expansion, whole), (Kind::Text, "-0")]);
        }
        // What has no end of its own ends at the first; without any, it is a sign.
        assert_eq!(kinds("$(a $(b) c")[0], (Kind::Expansion, "$(a $(b)"));
        assert_eq!(kinds("$(a")[..2], [(Kind::Expansion, "$"), (Kind::Operator, "(")]);
    }

    #[test]
    fn keywords_begin_commands() {
        let leading = |text| pieces(text).into_iter().filter(|it| it.leads(&["do"])).count();
        assert_eq!(["do do", ">x do", "a; do", "(do)", "\"do\"", "a do", "# do"].map(leading), [1, 1, 1, 1, 0, 0, 0]);
    }

    /// No recursion, and no search for the same end again.
    #[test]
    fn any_depth_ends() {
        let deep = ["$(", "$((", "${", "`", "$[", "$( $( )", "((", "\"'"].map(|it| it.repeat(100_000));
        let work = move || deep.iter().map(|text| pieces(text).len()).min();
        let thread = std::thread::Builder::new().stack_size(1 << 20).spawn(work).unwrap();
        assert!(thread.join().unwrap().is_some());
    }

    fn of_a_shell() -> impl Strategy<Value = String> {
        let signs = [
            "$", "(", ")", "{", "}", "[", "]", "`", "'", "\"", "\\", "#", ";", "&", "|", "<", ">", " ", "2", "do", "é",
        ];
        prop::collection::vec(prop::sample::select(signs.to_vec()), 0..40).prop_map(|signs| signs.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

        /// Each place is that of its piece, none is empty, and all of them together are the line.
        #[test]
        fn pieces_are_the_line(text in prop_oneof![of_a_shell(), any::<String>()]) {
            let mut at = 7;
            for piece in pieces(&text) {
                prop_assert!(piece.place.start == at && piece.place.end > at);
                at = piece.place.end;
                prop_assert_eq!(&text[piece.place.start - 7..at - 7], piece.text);
            }
            prop_assert_eq!(at, 7 + text.len());
        }
    }
}
