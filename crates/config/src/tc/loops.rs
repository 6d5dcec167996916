//! Loops of a shell over values that the text says: `for i in 10 20 30; do .. done`.

use super::shell::{self, Bare, Simple, Variables};

/// Most values of a loop.
const MOST: usize = 4096;

/// A loop whose lines are being read.
#[derive(Debug)]
pub(super) struct Loop<'a> {
    /// Its variable.
    pub(super) name: String,
    /// What that is, one after the other.
    pub(super) values: Vec<String>,
    /// What is done with each.
    pub(super) lines: Vec<Bare<'a>>,
    /// Whether its last line is read.
    pub(super) closed: bool,
    /// Loops within it that are open.
    within: usize,
}

impl<'a> Loop<'a> {
    /// The loop that a line begins; `None` if it begins none, or one whose values the text does not say.
    pub(super) fn begin(line: Bare<'a>, variables: &Variables) -> Option<Self> {
        line.text.strip_prefix("for ")?;
        let (commands, _) = shell::simple(line, variables);
        let mut commands = commands.iter().filter(|it| !it.is_empty());
        let [_, name, of, values @ ..] = &commands.next()?[..] else { return None };
        let listed: Vec<_> = values.iter().flat_map(|it| expanded(&it.text)).collect();
        if of.text != "in" || listed.len() > MOST || values.iter().any(|it| it.unset) {
            return None;
        }
        let name = name.text.to_string();
        let mut it = Self { name, values: listed, lines: Vec::new(), closed: false, within: 0 };
        let rest: Vec<_> = commands.collect();
        if let Some(first) = rest.first().filter(|words| words[0].text == "do") {
            it.body(line, first[0].place.end, &rest);
        }
        Some(it)
    }

    /// What stands behind `do` on its line, up to the last `done`.
    fn body(&mut self, line: Bare<'a>, start: usize, commands: &[&Simple<'a>]) {
        let last = commands.last().filter(|words| words[0].text == "done");
        self.closed = last.is_some();
        let end = last.map_or(line.start + line.text.len(), |words| words[0].place.start);
        self.push(line, start, end);
    }

    fn push(&mut self, line: Bare<'a>, start: usize, end: usize) {
        let text = &line.text[start - line.start..end.max(start) - line.start];
        if !text.trim().is_empty() {
            self.lines.push(Bare { number: line.number, start, text });
        }
    }

    /// Another line of it.
    pub(super) fn line(&mut self, line: Bare<'a>) {
        let first = line.text.split_whitespace().next().unwrap_or_default();
        let ends = line.text.trim_end_matches(|c: char| !c.is_alphanumeric()).strip_suffix("done");
        let ends = ends.filter(|rest| rest.trim_end().is_empty() || rest.trim_end().ends_with(';'));
        let begins = matches!(first, "for" | "while" | "until" | "select");
        match (begins, ends) {
            (true, None) => self.within += 1,
            (false, Some(rest)) if self.within == 0 => {
                self.closed = true;
                return self.push(line, line.start, line.start + rest.len());
            }
            (false, _) if self.within > 0 && (ends.is_some() || first.trim_end_matches(';') == "done") => {
                self.within -= 1;
            }
            (false, None) if first.trim_end_matches(';') == "done" => {
                self.closed = true;
                return;
            }
            _ => {}
        }
        self.lines.push(line);
    }
}

/// The values of a word: `{1..5}`, or the words in it.
fn expanded(word: &str) -> Vec<String> {
    let braces = word.strip_prefix('{').and_then(|it| it.strip_suffix('}')).and_then(|it| it.split_once(".."));
    if let Some((Ok(from), Ok(to))) = braces.map(|(from, to)| (from.parse(), to.parse())) {
        return shell::sequence(from, to).iter().map(i64::to_string).collect();
    }
    word.split_whitespace().map(str::to_owned).collect()
}
