//! TOML text -> tree of nodes that know their places.

use perhop_core::params::{Node, Place, Problems, Table, Tree, unit_code};
use perhop_core::units::{UnitError, in_range};
use toml_span::value::ValueInner;
use toml_span::{Error, ErrorKind, Span, Value};

/// Duplicates reported in one pass; a file with more has bigger problems.
const MOST_DUPLICATES: usize = 20;
/// What a bare key may consist of.
const BARE: &[u8] = b"_-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// Reads `text`, whose bytes begin at `base` of all sources. A duplicate key is reported and skipped, so that the rest
/// of the file is still checked; any other fault of syntax ends the reading, and so does a number that 64 bits do not hold.
pub fn parse(text: &str, base: usize, problems: &mut Problems) -> Option<Node> {
    let (mut copy, mut masked) = (text.to_owned(), Vec::<Span>::new());
    let mut spare = BARE.iter();
    loop {
        let mut error = match toml_span::parse(&copy) {
            Ok(mut value) => return Converter { text, base, masked: &masked, problems }.root(&mut value),
            Err(error) => error,
        };
        let duplicate = narrow(text, &mut error);
        if !masked.contains(&error.span) {
            report(text, base, &error, problems);
            if !duplicate || masked.len() == MOST_DUPLICATES {
                return None;
            }
            masked.push(error.span);
            spare = BARE.iter();
        }
        let name = std::str::from_utf8(std::slice::from_ref(spare.next()?)).ok()?;
        copy.replace_range(error.span.start..error.span.end, &name.repeat(error.span.end - error.span.start));
    }
}

/// Whether the error is a duplicate that can be masked; that of a table is narrowed to its own name.
fn narrow(text: &str, error: &mut Error) -> bool {
    if let ErrorKind::DuplicateTable { name, .. } = &error.kind
        && let Some(heading) = text.get(error.span.start..error.span.end)
        && let Some(at) = heading.rfind(name.as_str())
    {
        error.span = Span { start: error.span.start + at, end: error.span.start + at + name.len() };
    }
    let duplicate = matches!(error.kind, ErrorKind::DuplicateKey { .. } | ErrorKind::DuplicateTable { .. });
    duplicate && error.span.end > error.span.start && text.get(error.span.start..error.span.end).is_some()
}

struct Converter<'a> {
    text: &'a str,
    base: usize,
    masked: &'a [Span],
    problems: &'a mut Problems,
}

impl Converter<'_> {
    /// `None` if a number is out of range: each is reported.
    fn root(mut self, value: &mut Value<'_>) -> Option<Node> {
        let (place, before) = (Place { start: self.base, end: self.base }, self.problems.list.len());
        let node = self.node(value, place);
        (self.problems.list.len() == before).then_some(Node { place, ..node })
    }

    fn float(&mut self, x: f64, span: Span) -> Tree {
        let written = self.text.get(span.start..span.end).unwrap_or_default();
        if let Err(error) = in_range(written, x) {
            self.problems.error(unit_code(error.fault), self.place(span), error.message).help(error.help);
        }
        Tree::Float(x)
    }

    fn place(&self, span: Span) -> Place {
        Place { start: self.base + span.start, end: self.base + span.end }
    }

    /// A value; a section (a table not written in braces) is at the place of its name.
    fn node(&mut self, value: &mut Value<'_>, key: Place) -> Node {
        let span = value.span;
        let tree = match value.take() {
            ValueInner::String(text) => {
                return Node { place: self.place(self.with_quotes(span)), tree: Tree::Text(text.into_owned()) };
            }
            ValueInner::Integer(n) => Tree::Integer(n),
            ValueInner::Float(x) => self.float(x, span),
            ValueInner::Boolean(b) => Tree::Bool(b),
            ValueInner::Array(items) => {
                Tree::List(items.into_iter().map(|mut item| self.node(&mut item, key)).collect())
            }
            ValueInner::Table(table) => {
                let tree = Tree::Table(self.table(table));
                let braces = self.text.as_bytes().get(span.start) == Some(&b'{');
                return Node { place: if braces { self.place(span) } else { key }, tree };
            }
        };
        Node { place: self.place(span), tree }
    }

    /// Entries in the file's order.
    fn table(&mut self, table: toml_span::value::Table<'_>) -> Table {
        let masked = self.masked;
        let kept = table.into_iter().filter(|(key, _)| !masked.contains(&key.span));
        let mut entries: Vec<_> = kept
            .map(|(key, mut value)| {
                let place = self.place(key.span);
                (key.name.into_owned(), place, self.node(&mut value, place))
            })
            .collect();
        entries.sort_by_key(|e| e.1.start);
        Table { entries }
    }

    fn with_quotes(&self, span: Span) -> Span {
        let bytes = self.text.as_bytes();
        let quote = |i: usize| bytes.get(i).is_some_and(|b| matches!(b, b'"' | b'\''));
        let (mut start, mut end) = (span.start, span.end);
        while start > 0 && quote(start - 1) && quote(end) && bytes[start - 1] == bytes[end] {
            (start, end) = (start - 1, end + 1);
        }
        Span { start, end }
    }
}

/// The number that begins where the parser finds none, and why it is none: 64 bits hold it as infinite.
fn out_of_range(text: &str, start: usize) -> Option<(Span, UnitError)> {
    let rest = text.get(start..)?;
    let length = rest.find(|c: char| !(c.is_ascii_digit() || "+-._eE".contains(c))).unwrap_or(rest.len());
    let error = in_range(&rest[..length], rest[..length].replace('_', "").parse().ok()?).err()?;
    Some((Span { start, end: start + length }, error))
}

/// A parser's error in our words.
fn report(text: &str, base: usize, error: &Error, problems: &mut Problems) {
    let place = Place { start: base + error.span.start, end: base + error.span.end };
    let line = |span: Span| text.get(..span.start).map_or(1, |t| t.matches('\n').count() + 1);
    let quote = "write text and quantities in quotes, as in \"10ms\"";
    match &error.kind {
        ErrorKind::DuplicateKey { key, first } => {
            let found = problems.error("E002", place, format!("duplicate key `{key}`"));
            found.label(format!("first in line {}", line(*first))).help("keep one of them")
        }
        ErrorKind::DuplicateTable { name, first } => {
            let found = problems.error("E002", place, format!("duplicate name `{name}`"));
            found.label(format!("first in line {}", line(*first))).help("give one of the two another name")
        }
        ErrorKind::UnquotedString => problems.error("E001", place, "text without quotes").help(quote),
        ErrorKind::InvalidNumber => match out_of_range(text, error.span.start) {
            Some((span, error)) => {
                let place = Place { start: base + span.start, end: base + span.end };
                problems.error(unit_code(error.fault), place, error.message).help(error.help)
            }
            None => problems.error("E001", place, "not a number").help(quote),
        },
        ErrorKind::ExceededDepthLimit => {
            problems.error("E001", place, "nested too deeply").help("at most 128 levels are allowed")
        }
        _ => problems.error("E001", place, error.to_string()).help("the file is TOML: https://toml.io"),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Option<Node>, Vec<perhop_core::params::Problem>) {
        let mut problems = Problems::default();
        (parse(text, 100, &mut problems), problems.list)
    }

    fn table(node: &Node) -> &Table {
        match &node.tree {
            Tree::Table(table) => table,
            other => panic!("{other}"),
        }
    }

    #[test]
    fn keeps_the_order_and_the_places() {
        let (node, problems) = read("z = \"5ms\"\n[b.x]\na = [1, 2.5]\n[a]\nt = { k = true }");
        assert_eq!(problems, []);
        let node = node.unwrap();
        let names: Vec<_> = table(&node).entries.iter().map(|e| e.0.as_str()).collect();
        assert_eq!(names, ["z", "b", "a"]);
        let z = table(&node).get("z").unwrap();
        assert_eq!(z.place, Place { start: 104, end: 109 }, "with its quotes");
        let x = table(table(&node).get("b").unwrap()).get("x").unwrap();
        assert_eq!(x.place, Place { start: 113, end: 114 }, "a section stands where its name stands");
        let t = table(table(&node).get("a").unwrap()).get("t").unwrap();
        assert_eq!(t.tree.to_string(), "{ k = true }");
    }

    #[test]
    fn reports_every_duplicate_and_reads_on() {
        let (node, problems) = read("[q.one]\na = 1\na = 2\n[q.one]\nb = 1\n[r]\nc = 1");
        let mut messages: Vec<_> = problems.iter().map(|p| (p.code, p.message.as_str(), p.label.as_str())).collect();
        messages.sort_unstable();
        let of_key = ("E002", "duplicate key `a`", "first in line 2");
        assert_eq!(messages, [of_key, ("E002", "duplicate name `one`", "first in line 1")]);
        assert_eq!(node.unwrap().tree.to_string(), "{ q = { one = { a = 1 } }, r = { c = 1 } }");
    }

    #[test]
    fn a_number_out_of_range_is_one_wherever_it_stands() {
        for (text, written) in [
            ("a = 1e400", &["1e400"][..]),
            ("a = -1.5e400\nb = 1", &["-1.5e400"]),
            ("a = 1_0e3_99", &["1_0e3_99"]),
            ("b = [0.5, { c = -1e-400 }]\nd = inf\nc = 0.000e1\ne = 1e-399", &["-1e-400", "inf", "1e-399"]),
        ] {
            let (node, problems) = read(text);
            assert_eq!(node, None);
            let said: Vec<_> = problems.iter().map(|it| (it.code, it.message.clone(), it.place.unwrap())).collect();
            let want = written.iter().map(|number| {
                let start = 100 + text.find(number).unwrap();
                let place = Place { start, end: start + number.len() };
                ("E108", format!("number `{number}` is out of range"), place)
            });
            assert_eq!(said, want.collect::<Vec<_>>());
        }
        let (node, problems) = read("e = 0e-500\nf = -0.0\ng = 5e-324\nh = 1.7e308");
        assert!(node.is_some() && problems.is_empty(), "{problems:?}");
    }

    #[test]
    fn a_quantity_without_quotes_is_told_to_take_some() {
        let (node, problems) = read("duration = 10s");
        assert_eq!(node, None);
        assert!(problems[0].help.contains("quotes"), "{problems:?}");
    }
}
