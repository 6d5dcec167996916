//! Loops of a shell that the text says all of: `for i in 10 20 30; do .. done`, `for ((i = 1; i < 5; i++))`, `while [ $i -lt 5 ]`.

use super::shell::{self, Bare, Commands, Simple, Variables};
use super::sums::sum;

/// A loop whose lines are being read.
#[derive(Debug)]
pub(super) struct Loop<'a> {
    /// Its variable.
    pub(super) name: String,
    /// What that is, one after the other; none: that is not known.
    pub(super) values: Vec<String>,
    /// `while [ .. ]`: as long as this holds.
    pub(super) condition: Option<Bare<'a>>,
    /// What is done with each.
    pub(super) lines: Vec<Bare<'a>>,
    /// Whether its last line is read.
    pub(super) closed: bool,
    /// What stands behind `done` on its line.
    pub(super) rest: Option<Bare<'a>>,
    /// Loops within it that are open.
    within: usize,
}

impl<'a> Loop<'a> {
    /// The loop that a line begins, with so many of its values at most; `None` if it begins none, or one whose values the text does not
    /// say.
    pub(super) fn begin(line: Bare<'a>, variables: &Variables, most: usize) -> Option<Self> {
        let first = line.text.split_whitespace().next()?;
        if !matches!(first, "for" | "while" | "until") {
            return None;
        }
        let mut commands = Commands::new(line);
        let mut said = None;
        let begun = loop {
            match commands.next(variables) {
                None => break None,
                Some(words) if words.is_empty() => {}
                Some(words) if words[0].text == "do" => break Some(words[0].place),
                Some(words) => _ = said.get_or_insert(words),
            }
        };
        let end = begun.map_or(line.start + line.text.len(), |place| place.start);
        let head = Bare { text: &line.text[..end - line.start], ..line };
        let (name, values, condition) = match first {
            "for" => counted(head.text, variables, most).or_else(|| listed(&said?, most))?,
            _ => holds(head, variables).map(|_| (String::new(), Vec::new(), Some(head)))?,
        };
        let mut it = Self { name, values, condition, lines: Vec::new(), closed: false, rest: None, within: 0 };
        if let Some(place) = begun {
            it.body(line, place.end, (&mut commands, variables));
        }
        Some(it)
    }

    /// What stands behind `do` on its line, up to its `done`.
    fn body(&mut self, line: Bare<'a>, start: usize, (commands, variables): (&mut Commands<'a>, &Variables)) {
        let mut open = 1;
        let mut last = None;
        while let Some(words) = commands.next(variables) {
            let Some(word) = words.first() else { continue };
            open += i32::from(word.text == "do") - i32::from(word.text == "done");
            if open == 0 {
                last = Some(word.place);
                break;
            }
        }
        self.closed = last.is_some();
        let whole = line.start + line.text.len();
        self.push(line, start, last.map_or(whole, |place| place.start));
        self.rest = last.map(|place| {
            let text = &line.text[place.end - line.start..];
            let bare = text.trim_start_matches([';', '&', '|', ' ', '\t']);
            Bare { number: line.number, start: place.end + text.len() - bare.len(), text: bare }
        });
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

/// A variable with its values.
type Known<'a> = (String, Vec<String>, Option<Bare<'a>>);

/// `for i in 10 20 30`
fn listed<'a>(words: &Simple<'_>, most: usize) -> Option<Known<'a>> {
    let [_, name, of, values @ ..] = &words[..] else { return None };
    if of.text != "in" || values.iter().any(|it| it.unset) {
        return None;
    }
    let listed = values.iter().flat_map(|it| expanded(&it.text)).take(most).collect();
    Some((name.text.to_string(), listed, None))
}

/// `for ((i = 1; i <= 5; i++))`; without values, if it counts in another way.
fn counted<'a>(text: &str, variables: &Variables, most: usize) -> Option<Known<'a>> {
    let inner = text.strip_prefix("for")?.trim_start().strip_prefix("((")?.split("))").next()?;
    let inner: String = inner.chars().filter(|c| !c.is_whitespace()).collect();
    let name = inner.split('=').next()?.to_owned();
    let values = || {
        let [start, end, step] = inner.split(';').collect::<Vec<_>>()[..] else { return None };
        let number = |text: &str| sum(text, &|name| variables.get(name))?.parse::<i64>().ok();
        let from = number(start.strip_prefix(&name)?.strip_prefix('=')?)?;
        let end = end.strip_prefix(&name)?;
        let to = match end.strip_prefix("<=") {
            Some(to) => number(to)?,
            None => number(end.strip_prefix('<')?)? - 1,
        };
        let by = match step.strip_prefix(&name).or_else(|| step.strip_suffix(&name))? {
            "++" => 1,
            other => usize::try_from(number(other.strip_prefix("+=")?)?).ok().filter(|by| *by > 0)?,
        };
        Some((from..=to).step_by(by).take(most).map(|number| number.to_string()).collect())
    };
    let values = values().unwrap_or_default();
    Some((name, values, None))
}

/// Whether the condition of a `while` holds: `while [ $i -lt 5 ]`; `None`: that is not known.
pub(super) fn holds(head: Bare<'_>, variables: &Variables) -> Option<bool> {
    let (commands, _) = shell::simple(head, variables);
    let words = commands.first()?;
    let [first, "[" | "[[", a, sign, b, "]" | "]]"] = words.iter().map(|it| &*it.text).collect::<Vec<_>>()[..] else {
        return None;
    };
    let (a, b): (i64, i64) = (a.parse().ok()?, b.parse().ok()?);
    let is = match sign {
        "-lt" => a < b,
        "-le" => a <= b,
        "-gt" => a > b,
        "-ge" => a >= b,
        "-ne" => a != b,
        "-eq" => a == b,
        _ => return None,
    };
    Some(is == (first == "while"))
}

/// The words of a condition, with the values that variables have.
pub(super) fn seen(head: Bare<'_>, variables: &Variables) -> Vec<String> {
    let (commands, _) = shell::simple(head, variables);
    commands.iter().flatten().map(|it| it.text.to_string()).collect()
}

/// The values of a word: `{1..5}`, or the words in it.
fn expanded(word: &str) -> impl Iterator<Item = String> {
    let braces = word.strip_prefix('{').and_then(|it| it.strip_suffix('}')).and_then(|it| it.split_once(".."));
    let ends = braces.and_then(|(from, to)| Some((from.parse::<i64>().ok()?, to.parse::<i64>().ok()?)));
    let numbers = ends.into_iter().flat_map(|(from, to)| from..=to).map(|number| number.to_string());
    let words = if ends.is_some() { "" } else { word };
    numbers.chain(words.split_whitespace().map(str::to_owned))
}
