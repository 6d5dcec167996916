//! JSON as `tc -j` prints it, which is not always JSON: words of text are among it, names come twice, and the end may be missing.

use super::shell::bounds::JSON;
use super::words::Token;
use crate::foreign::unquoted;
use crate::text::Line;
use perhop_core::params::Place;

/// A value.
#[derive(Clone, Debug)]
pub(super) enum Json<'a> {
    /// Names and values in their order; words of text have no name.
    Object(Vec<(Token<'a>, Json<'a>)>),
    /// A list.
    List(Vec<Json<'a>>),
    /// A text or a number, `true`, `false` or `null`.
    One(Token<'a>),
}

/// A sign or a word.
#[derive(Clone, Debug)]
enum Piece<'a> {
    Sign(char),
    /// Between quotes, or not.
    Word(Token<'a>, bool),
}

/// Lines that are read as JSON until its brackets are closed.
#[derive(Debug, Default)]
pub(super) struct Collector<'a> {
    pieces: Vec<Piece<'a>>,
    depth: usize,
    /// Values were passed over, as they are too deep.
    pub(super) is_deep: bool,
}

/// Whether a line begins JSON of tc.
pub(super) fn begins(text: &str) -> bool {
    let rest = text.trim_start_matches(['[', '{', ' ', '\t']);
    let named = ["\"kind\"", "\"class\"", "\"parent\"", "\"protocol\"", "\"dev\"", "]"];
    let opened = text.len() > rest.len();
    opened && (rest.is_empty() && text.starts_with('[') || named.iter().any(|it| rest.starts_with(it)))
}

impl<'a> Collector<'a> {
    /// Whether something is open.
    pub(super) const fn is_open(&self) -> bool {
        self.depth > 0
    }

    /// One more line; the value, once it is complete.
    pub(super) fn line(&mut self, line: Line<'a>) -> Option<Json<'a>> {
        let mut rest = line.text;
        while let Some(c) = rest.chars().next() {
            let at = line.text.len() - rest.len();
            let length = match c {
                '"' => self.quoted(line, at),
                '{' | '[' => self.sign(c, 1),
                '}' | ']' => self.sign(c, -1),
                ',' | ':' if self.is_sign(rest) => self.sign(c, 0),
                c if c.is_whitespace() => c.len_utf8(),
                _ => self.bare(line, at),
            };
            rest = &rest[length..];
            if self.depth == 0 && !self.pieces.is_empty() {
                return self.end();
            }
        }
        None
    }

    /// A colon within a word of text, as in `1:10`, is none.
    fn is_sign(&self, rest: &str) -> bool {
        rest.starts_with(',') || matches!(self.pieces.last(), Some(Piece::Word(_, true)))
    }

    fn sign(&mut self, c: char, step: isize) -> usize {
        self.depth = self.depth.saturating_add_signed(step);
        self.pieces.push(Piece::Sign(c));
        1
    }

    fn word(&mut self, line: Line<'a>, [start, end]: [usize; 2], quoted: bool) {
        let place = Place { start: line.start + start, end: line.start + end };
        let text = unquoted(&line.text[start..end]);
        self.pieces.push(Piece::Word(Token { text, place, line: line.number, unset: false }, quoted));
    }

    fn quoted(&mut self, line: Line<'a>, at: usize) -> usize {
        let inner = &line.text[at + 1..];
        let mut escaped = false;
        let ends = |c: char| {
            let ends = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            ends
        };
        let length = inner.find(ends).unwrap_or(inner.len());
        self.word(line, [at + 1, at + 1 + length], true);
        (length + 2).min(line.text.len() - at)
    }

    fn bare(&mut self, line: Line<'a>, at: usize) -> usize {
        let rest = &line.text[at..];
        let ends = |c: char| c.is_whitespace() || matches!(c, ',' | '{' | '}' | '[' | ']' | '"');
        let length = rest.char_indices().skip(1).find(|it| ends(it.1)).map_or(rest.len(), |it| it.0);
        self.word(line, [at, at + length], false);
        length
    }

    /// What is there, complete or not.
    pub(super) fn end(&mut self) -> Option<Json<'a>> {
        let pieces = std::mem::take(&mut self.pieces);
        self.depth = 0;
        let mut parser = Parser { pieces: &pieces, at: 0, is_deep: false };
        let value = parser.value(0);
        self.is_deep |= parser.is_deep;
        value
    }
}

struct Parser<'p, 'a> {
    pieces: &'p [Piece<'a>],
    at: usize,
    is_deep: bool,
}

impl<'a> Parser<'_, 'a> {
    fn next(&mut self) -> Option<Piece<'a>> {
        let piece = self.pieces.get(self.at).cloned();
        self.at += 1;
        piece
    }

    fn takes(&mut self, sign: char) -> bool {
        let is = matches!(self.pieces.get(self.at), Some(Piece::Sign(c)) if *c == sign);
        self.at += usize::from(is);
        is
    }

    fn value(&mut self, depth: usize) -> Option<Json<'a>> {
        if depth > JSON.most {
            return self.pass();
        }
        Some(match self.next()? {
            Piece::Sign('{') => self.object(depth),
            Piece::Sign('[') => self.list(depth),
            Piece::Word(token, _) => Json::One(token),
            Piece::Sign(_) => return None,
        })
    }

    /// Goes behind a value that is too deep.
    fn pass(&mut self) -> Option<Json<'a>> {
        self.is_deep = true;
        let mut open = 0usize;
        while let Some(piece) = self.pieces.get(self.at) {
            self.at += 1;
            match piece {
                Piece::Sign('{' | '[') => open += 1,
                Piece::Sign('}' | ']') => open = open.saturating_sub(1),
                _ => {}
            }
            if open == 0 {
                break;
            }
        }
        None
    }

    fn object(&mut self, depth: usize) -> Json<'a> {
        let mut entries = Vec::new();
        while let Some(piece) = self.next() {
            match piece {
                Piece::Sign('}') => break,
                Piece::Word(name, true) if self.takes(':') => {
                    if let Some(value) = self.value(depth + 1) {
                        entries.push((name, value));
                    }
                }
                Piece::Word(word, _) => entries.push((Token::default(), Json::One(word))),
                Piece::Sign('{' | '[') => {
                    // An object where a name should be: tc has closed one too few before it.
                    self.at -= 1;
                    if let Some(value) = self.value(depth + 1) {
                        entries.push((Token::default(), value));
                    }
                }
                // tc closes with the other bracket what it has opened too often.
                Piece::Sign(_) => {}
            }
        }
        Json::Object(entries)
    }

    fn list(&mut self, depth: usize) -> Json<'a> {
        let mut items = Vec::new();
        loop {
            match self.pieces.get(self.at) {
                None => break,
                Some(Piece::Sign(']')) => {
                    self.at += 1;
                    break;
                }
                Some(Piece::Sign('}' | ',' | ':')) => self.at += 1,
                Some(_) => items.extend(self.value(depth + 1)),
            }
        }
        Json::List(items)
    }
}

impl<'a> Json<'a> {
    /// The first value of a name.
    pub(super) fn get(&self, name: &str) -> Option<&Self> {
        self.entries().iter().find(|it| it.0.text == name).map(|it| &it.1)
    }

    /// Names and values.
    pub(super) fn entries(&self) -> &[(Token<'a>, Self)] {
        if let Self::Object(entries) = self { entries } else { &[] }
    }

    /// A text or a number.
    pub(super) fn one(&self) -> Option<&Token<'a>> {
        if let Self::One(token) = self { Some(token) } else { None }
    }

    /// The text of a name.
    pub(super) fn text(&self, name: &str) -> Option<&Token<'a>> {
        self.get(name)?.one()
    }

    /// Every object in it that is not within another object, and those that tc has put into one by mistake.
    pub(super) fn objects(&self) -> Vec<&Self> {
        match self {
            Self::Object(entries) => {
                let within = |it: &Self| {
                    it.get("kind").is_some() && (it.get("protocol").is_some() || it.get("handle").is_some())
                };
                let mut all = vec![self];
                let mut inner: Vec<_> = entries.iter().map(|it| &it.1).collect();
                while let Some(it) = inner.pop() {
                    if within(it) {
                        all.extend(it.objects());
                    } else {
                        inner.extend(it.entries().iter().map(|it| &it.1));
                    }
                }
                all
            }
            Self::List(items) => items.iter().flat_map(Self::objects).collect(),
            Self::One(_) => Vec::new(),
        }
    }

    /// Its places.
    pub(super) fn tokens<'s>(&'s self, out: &mut Vec<&'s Token<'a>>) {
        match self {
            Self::One(token) => out.push(token),
            Self::List(items) => items.iter().for_each(|it| it.tokens(out)),
            Self::Object(entries) => {
                for (name, value) in entries {
                    out.extend((!name.text.is_empty()).then_some(name));
                    value.tokens(out);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Json<'_> {
        let mut collector = Collector::default();
        let bare = |(i, text)| Line { number: i + 1, start: 0, text };
        text.lines().enumerate().find_map(|it| collector.line(bare(it))).or_else(|| collector.end()).unwrap()
    }

    #[test]
    fn what_tc_prints_is_read() {
        let json = read("[{\"kind\":\"hfsc\",\"handle\":\"1:\",\"options\":{default 20 },\"bytes\":-7}]");
        let [it] = json.objects()[..] else { panic!("{json:?}") };
        assert_eq!(it.text("bytes").unwrap().text, "-7");
        let words: Vec<_> =
            it.get("options").unwrap().entries().iter().map(|it| it.1.one().unwrap().text.as_ref()).collect();
        assert_eq!(words, ["default", "20"]);
    }

    #[test]
    fn an_end_may_be_missing() {
        assert_eq!(read("[ {\n\"kind\": \"htb\",\n\"handle\": \"1:\"\n},{ \"kind\": \"fq\"").objects().len(), 2);
        let fw = read("[{\"kind\":\"fw\",\"protocol\":\"ip\",\"options\":{handle 0x6 classid 1:10 }}]");
        assert_eq!(fw.objects()[0].get("options").unwrap().entries()[3].1.one().unwrap().text, "1:10");
    }
}
