//! A text, line by line: commands are applied, what is printed is collected.

use super::commands::{self, Command};
use super::json::{self, Collector, Json};
use super::kernel::Kernel;
use super::lines::{self, bare, command, looks as speaks};
use super::log::Log;
use super::lower;
use super::printed;
use super::rules::Rules;
use super::shell::bounds::{Bound, JSON, LINE, LINES, LOOPS, Room, Runs};
use super::shell::loops::{self, Loop};
use super::shell::parts::Part;
use super::shell::variables::{Commands, Variables, assignment};
use super::show_output::Reader;
use super::words::{Statement, Token, Verb, span};
use crate::dialect::Read;
use crate::finding::Fault;
use crate::foreign::Recognition;
use crate::import_options::ImportOptions;
use crate::model::Port;
use crate::text::{Line, Text};
use perhop_core::params::Place;
use std::collections::BTreeSet;

/// How many lines look like tc.
pub(super) fn looks(text: &Text) -> usize {
    text.lines().filter(|line| speaks(bare(*line).text)).count()
}

/// Reads a text.
///
/// # Errors
/// E300 if nothing in it is of tc, E302 if the interface that is meant is not in it.
pub(super) fn read(text: &Text, given: &ImportOptions) -> Result<Read, Fault> {
    let Reading { mut kernel, log, recognition, .. } = reading(text);
    if log.account.lines.is_empty() {
        return Err(nothing());
    }
    let mut log = log;
    lower::inner::follow(&mut kernel, &mut log);
    let device = lower::device(&kernel, &mut log);
    let mut known = BTreeSet::new();
    let names: Vec<_> = device.ports.iter().flat_map(Port::names).filter(|name| known.insert(*name)).collect();
    if let Some(missing) = given.interface.as_ref().filter(|it| !names.contains(&it.as_str())) {
        let names_it = |line: &Line<'_>| line.words().iter().any(|word| word.text == missing);
        let lines: BTreeSet<_> = text.lines().filter(names_it).map(|line| line.number).collect();
        return Err(absent(missing, &names, log.account.lost(|line| lines.contains(&line))));
    }
    let Log { account, findings, evidence, .. } = log;
    Ok(Read { device, account, evidence, findings, recognition, judge: Box::new(Rules) })
}

/// The parts that are recognised in a text that [`read`] refuses.
pub(super) fn recognition(text: &Text) -> Recognition {
    reading(text).recognition
}

fn reading(text: &Text) -> Reading<'_> {
    let variables = Variables::within(Room::of(text.text.len()));
    let hashed = !text.lines().any(|line| is_typed(bare(line).text));
    let mut reading = Reading { hashed, variables, ..Reading::default() };
    text.lines().for_each(|line| reading.line(bare(line)));
    reading.end()
}

fn nothing() -> Fault {
    let help = "paste commands (`tc qdisc add dev eth0 ..`) or what `tc -s -d qdisc show`, `class show` and `filter show` print";
    Fault { code: "E300", place: None, message: "no line of this text is of tc".into(), help: help.into() }
}

fn absent(missing: &str, names: &[&str], lost: Option<String>) -> Fault {
    let help = match names {
        _ if lost.is_some() => {
            "mend that line, or leave ⟨interface=⟩ out: perhop then says which ports there are".to_owned()
        }
        [] => "it says nothing of any interface's queues".to_owned(),
        names => perhop_core::params::suggest(missing, names),
    };
    let message = match lost {
        Some(why) => format!("nothing that the text says of the interface `{missing}` is modelled; {why}"),
        None => format!("the text says nothing of the interface `{missing}`"),
    };
    Fault { code: "E302", place: None, message, help }
}

/// Whether a command is in a line that does not begin with `#`.
fn is_typed(text: &str) -> bool {
    command(text).is_some_and(|(_, hash)| !hash)
}

/// Parts of lines that may set variables, make an interface, or hold commands behind others.
const MAY_BE: [&str; 6] = ["=", "tc ", "TC", " link add ", " tunnel add ", " tuntap add "];

#[derive(Debug, Default)]
struct Reading<'a> {
    kernel: Kernel<'a>,
    log: Log,
    variables: Variables,
    shown: Reader<'a>,
    /// `#` is a prompt, and not a comment.
    hashed: bool,
    /// A command that goes on in the next line.
    open: Vec<Token<'a>>,
    /// JSON that goes on in the next line.
    json: Collector<'a>,
    /// Of the commands of this line.
    namespace: String,
    /// The words of commands, and what tc prints.
    recognition: Recognition,
    /// A loop that goes on in the next line.
    open_loop: Option<Loop<'a>>,
    /// What loops run again.
    runs: Runs,
    /// No loop begins: what is read is cut off.
    is_flat: bool,
    /// Bounds that were met, each once.
    met: BTreeSet<&'static Bound>,
    /// Where the lines are.
    part: Part,
}

/// The namespace that is named before a command: `ip netns exec NAME`.
fn namespace(before: &str) -> String {
    let mut words = before.split_whitespace().skip_while(|word| *word != "netns").skip(2);
    words.next().unwrap_or_default().to_owned()
}

fn is_tc(word: &Token<'_>) -> bool {
    word.text == "tc" || word.text.ends_with("/tc") || (word.unset && word.text.eq_ignore_ascii_case("tc"))
}

impl<'a> Reading<'a> {
    /// A line, with all that stands on it.
    fn line(&mut self, line: Line<'a>) {
        let mut left = Some(line);
        while let Some(line) = left.take() {
            left = self.part_of_line(line).filter(|it| !it.text.is_empty());
        }
    }

    /// What stands on a line up to a loop or behind one; what is left of it.
    fn part_of_line(&mut self, line: Line<'a>) -> Option<Line<'a>> {
        if let Some(it) = &mut self.open_loop {
            let rest = it.line(line)?;
            self.run(line);
            return Some(rest);
        }
        // A command is read to its end.
        let goes_on = !self.open.is_empty();
        if !goes_on && let Some(body) = self.begin(line) {
            return Some(body);
        }
        let [line, rest] = if goes_on { [line, line.part(0, 0)] } else { loops::in_two(line, loops::BEGINS) };
        let may = self.runs.count(line.text.len().div_ceil(LINE).max(1));
        match (goes_on, may) {
            (true, _) => self.commands(line),
            (false, true) => self.plain(line),
            (false, false) => self.meets(&LINES, line),
        }
        if let Some(bound) = self.variables.room.met() {
            self.meets(bound, line);
        }
        Some(rest)
    }

    /// Says once that a bound is met.
    fn meets(&mut self, bound: &'static Bound, line: Line<'a>) {
        if self.met.insert(bound) {
            self.log.account.not_modelled(line.number, bound.message());
            self.log.found("W448", line.place(), bound.message(), bound.instead);
        }
    }

    /// A line without loops.
    fn plain(&mut self, line: Line<'a>) {
        self.part.line(line.text);
        self.namespace.clear();
        if let Some((at, _)) = command(line.text).filter(|(_, hash)| self.hashed || !hash) {
            self.broken();
            self.shown.end();
            self.namespace = namespace(&line.text[..at]);
            self.commands(line.part(at, line.text.len()));
        } else if self.json.is_open() || json::begins(line.text) {
            self.shown.end();
            self.recognition.statements.push(line.place());
            let found = self.json.line(line);
            if std::mem::take(&mut self.json.is_deep) {
                self.meets(&JSON, line);
            }
            found.into_iter().for_each(|it| self.printed(&it));
        } else if commands::is_batch(&line.text.split_whitespace().take(2).collect::<Vec<_>>()) {
            self.shown.end();
            let place = Place { end: line.start, ..line.place() };
            self.open = vec![Token { text: "tc".into(), place, line: line.number, unset: false }];
            self.commands(line);
        } else if self.kernel.links.line(line) {
        } else if self.shown.line(line) {
            self.recognition.statements.push(line.place());
        } else if MAY_BE.iter().any(|part| line.text.contains(part)) {
            self.commands(line);
        }
    }

    /// The loop that a line begins, if its values are known; what follows its head.
    fn begin(&mut self, line: Line<'a>) -> Option<Line<'a>> {
        let first = line.text.split_whitespace().next().filter(|first| loops::BEGINS.contains(first));
        let [head, body] = first.map(|_| loops::in_two(line, loops::BEHIND))?;
        match self.runs.within < LOOPS.most {
            _ if self.is_flat => {}
            true => self.open_loop = Loop::begin(head, &self.variables, self.runs.values()),
            false => self.meets(&LOOPS, line),
        }
        if self.open_loop.is_none() {
            self.variables.forget(head);
        }
        self.open_loop.is_some().then_some(body)
    }

    /// Reads the lines of the loop that is open, in each of its turns.
    fn run(&mut self, end: Line<'a>) {
        let Some(mut it) = self.open_loop.take() else { return };
        // What of its own line is looked through again.
        self.runs.count(it.lines.first().map_or(0, |first| first.text.len()) / LINE);
        self.runs.within += 1;
        let first = !self.runs.again;
        while it.goes_on(&self.variables) && self.may_run(&it, end) {
            it.turn(&mut self.variables);
            it.lines.iter().for_each(|line| self.line(*line));
            self.runs.again = true;
        }
        self.runs.again &= !first;
        self.runs.within -= 1;
        if it.is_stuck(&self.variables) {
            let why = "the loop is read once: no line of it that is read alters what it waits for";
            self.log.account.not_modelled(end.number, why);
        }
    }

    /// Whether a loop may be run once more.
    fn may_run(&mut self, it: &Loop<'a>, end: Line<'a>) -> bool {
        // One without lines, and its condition, cost as well.
        let own = it.condition.map_or(0, |it| it.text.len() / LINE) + usize::from(it.lines.is_empty());
        let may = self.runs.count(own) && (!self.runs.again || self.runs.are_open());
        if !may {
            self.meets(&LINES, it.lines.first().copied().unwrap_or(end));
        }
        may
    }

    /// Objects of JSON.
    fn printed(&mut self, json: &Json<'a>) {
        for it in json.objects() {
            if let Some((statement, counters)) = printed::statement(it, &self.shown.device, self.shown.place.as_ref()) {
                self.shown.statements.push(statement);
                self.shown.evidence.extend(counters);
            }
        }
    }

    /// JSON that ends before its brackets are closed.
    fn broken(&mut self) {
        let Some(json) = self.json.end() else { return };
        let before = self.shown.statements.len();
        self.printed(&json);
        let Some(last) = self.shown.statements[before..].last() else { return };
        let place = Place { start: last.place.end, end: last.place.end };
        let message = "the JSON ends before its brackets are closed: what follows is missing".to_owned();
        self.log.found("W403", place, message, "print it again, or without -j: tc itself fails at some filters");
    }

    /// The commands of a line; what one sets counts for those behind it.
    fn commands(&mut self, line: Line<'a>) {
        let mut commands = Commands::new(line, std::mem::take(&mut self.open));
        while let Some(words) = commands.next(&self.variables) {
            self.simple(&words);
        }
        self.open = commands.open;
    }

    /// One command of a line.
    fn simple(&mut self, words: &[Token<'a>]) {
        words.first().into_iter().for_each(|word| self.part.word(&word.text));
        if self.variables.assign(words) {
            return;
        }
        let Some(at) = words.iter().position(is_tc) else {
            self.kernel.links.command(words);
            return self.nested(words);
        };
        let (before, command) = words.split_at(at);
        let texts: Vec<_> = before.iter().map(|it| &*it.text).collect();
        let known = |it: &Token<'_>| it.unset || lines::before(&it.text) || assignment(&it.text).is_some();
        let namespace = match texts[..] {
            [.., "netns", "exec", name] => Some(name),
            _ if before.iter().all(known) => Some(&*self.namespace),
            ["echo" | "printf" | "logger", ..] => return,
            _ => None,
        };
        match (commands::parse(command, namespace.unwrap_or_default()), namespace) {
            (Ok(Command::Alters(_)), None) => {
                let why = "perhop does not know what the program before it does with the command: take it off";
                self.log.account.not_modelled(command[0].line, why);
            }
            (_, None) => self.nested(words),
            (Ok(Command::Alters(statement)), _) => {
                self.named(command);
                self.apply(&statement);
            }
            (Ok(Command::Shows(device, place)), _) => (self.shown.device, self.shown.place) = (device, place),
            (Ok(Command::Other), _) => {}
            (Err(refusal), _) => {
                self.named(command);
                self.log.refused(&commands::lines(command), span(command), &refusal);
            }
        }
    }

    /// Commands in a text that another program runs.
    fn nested(&mut self, words: &[Token<'a>]) {
        let runs = |text: &str| {
            let words: Vec<_> = text.split_whitespace().collect();
            // What deletes clears what was there before.
            words.windows(3).any(|three| commands::is_batch(&three[..2]) && three[1] != "delete")
        };
        for word in words.iter().filter(|word| word.text.contains(' ') && runs(&word.text)) {
            let why = "commands in a text for another shell: paste what it runs";
            self.log.account.not_modelled(word.line, why);
        }
    }

    /// A statement, and interfaces that it names.
    fn named(&mut self, words: &[Token<'a>]) {
        self.recognition.statements.extend(words.iter().map(|word| word.place));
        let device = |before: &str| matches!(before, "dev" | "to_dev");
        let names = words.windows(2).filter(|pair| device(&pair[0].text));
        names.for_each(|pair| self.recognition.name(&pair[1].text));
    }

    fn apply(&mut self, statement: &Statement<'a>) {
        let Statement { lines, verb, .. } = statement;
        self.log.spoken(lines);
        statement.device.name.iter().for_each(|name| self.recognition.name(&name.text));
        let (typed, removes) = (*verb != Verb::Shown, *verb == Verb::Delete);
        if let Some(name) = self.part.stop.as_ref().filter(|_| removes) {
            return self.log.idle(lines, &format!("it is of `{name}`, which takes away what is read here"));
        }
        if self.part.other && typed {
            let how = "both branches of this `if` are read, one after the other: delete the one that does not run";
            self.log.nearly(lines, how);
        }
        match self.kernel.apply(statement) {
            Ok(()) => {}
            Err(refusal) if removes && refusal.place.is_none() => self.log.idle(lines, &refusal.message),
            Err(refusal) if typed => self.log.refused(lines, statement.place, &refusal),
            Err(refusal) => self.log.lost(lines, &format!("not understood: {}", refusal.message)),
        }
    }

    /// What is printed is there: first queueing disciplines, then classes, then filters.
    fn end(mut self) -> Self {
        // One that is cut off: its variable is not known.
        if let Some(it) = self.open_loop.take() {
            self.variables.set(&it.name, None);
            self.is_flat = true;
            it.lines.iter().for_each(|line| self.line(*line));
        }
        self.commands(Line { number: 0, start: 0, text: "" });
        self.broken();
        self.shown.end();
        let mut statements = std::mem::take(&mut self.shown.statements);
        self.log.evidence.append(&mut self.shown.evidence);
        statements.sort_by_key(|it| (it.object as u8, it.device.name.is_none()));
        for statement in &statements {
            self.log.spoken(&statement.lines);
            if !statement.words.is_empty() {
                self.apply(statement);
            }
        }
        self
    }
}
