//! A text, line by line: commands are applied, what is printed is collected.

use super::bounds::{Bound, LINE, LOOPS, Room, Runs};
use super::commands::{self, Command};
use super::json::{self, Collector, Json};
use super::kernel::Kernel;
use super::lines::{self, bare, command, looks as speaks};
use super::log::Log;
use super::loops::{self, Loop};
use super::lower;
use super::parts::Part;
use super::printed;
use super::shell::{self, Bare, Commands, Variables};
use super::show_output::Reader;
use super::words::{Form, Object, Refusal, Statement, Taken, Token, Verb, Words, span};
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
    Ok(Read { dialect: "tc", device, account, evidence, findings, recognition })
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
    met: BTreeSet<Bound>,
    /// Where the lines are.
    part: Part,
}

/// What of a line may say which variables a loop sets.
const HEAD: usize = 4096;

/// A line in two where a loop begins behind another command.
fn in_two(line: Bare<'_>) -> (Bare<'_>, Option<Bare<'_>>) {
    const BEGINS: [&str; 6] = ["; for ", "; while ", "; until ", ";for ", ";while ", "&& for "];
    let begins = |it: &(usize, &str)| BEGINS.iter().any(|begin| line.text[it.0..].starts_with(begin));
    let Some((at, _)) = line.text.match_indices([';', '&']).find(begins) else { return (line, None) };
    let rest = line.text[at..].trim_start_matches([';', '&', ' ']);
    let start = line.start + line.text.len() - rest.len();
    (Bare { text: &line.text[..at], ..line }, Some(Bare { start, text: rest, ..line }))
}

/// The namespace that is named before a command: `ip netns exec NAME`.
fn namespace(before: &str) -> String {
    let mut words = before.split_whitespace().skip_while(|word| *word != "netns").skip(2);
    words.next().unwrap_or_default().to_owned()
}

/// The stretch of a whole line.
fn extent(line: Bare<'_>) -> Place {
    Place { start: line.start, end: line.start + line.text.len() }
}

fn is_tc(word: &Token<'_>) -> bool {
    word.text == "tc" || word.text.ends_with("/tc") || (word.unset && word.text.eq_ignore_ascii_case("tc"))
}

impl<'a> Reading<'a> {
    /// A line, with all that stands on it.
    fn line(&mut self, line: Bare<'a>) {
        let mut left = Some(line);
        while let Some(line) = left.take() {
            left = self.part_of_line(line);
        }
    }

    /// What stands on a line up to a loop or behind one; what is left of it.
    fn part_of_line(&mut self, line: Bare<'a>) -> Option<Bare<'a>> {
        let goes_on = !self.open.is_empty();
        if !goes_on && self.is_of_loop(line) {
            return self.looped(line);
        }
        let (line, rest) = if goes_on { (line, None) } else { in_two(line) };
        let may = self.runs.count(line.text.len().div_ceil(LINE).max(1));
        match (goes_on, may) {
            // A command is read to its end.
            (true, _) => self.more(line),
            (false, true) => self.plain(line),
            (false, false) => self.meets(Bound::Lines, line),
        }
        if let Some(bound) = self.variables.room.met() {
            self.meets(bound, line);
        }
        rest
    }

    /// Says once that a bound is met.
    fn meets(&mut self, bound: Bound, line: Bare<'a>) {
        if !self.met.insert(bound) {
            return;
        }
        let [message, instead] = bound.words();
        let place = Place { start: line.start, end: line.start + line.text.trim_end().len() };
        self.log.account.not_modelled(line.number, message.clone());
        self.log.found("W448", place, message, &instead);
    }

    /// A line without loops.
    fn plain(&mut self, line: Bare<'a>) {
        self.part.line(line.text);
        let found = command(line.text).filter(|(_, hash)| self.hashed || !hash);
        if let Some((at, _)) = found {
            self.broken();
            self.shown.end();
            self.namespace = namespace(&line.text[..at]);
            let rest = Bare { start: line.start + at, text: &line.text[at..], ..line };
            return self.more(rest);
        }
        if self.json.is_open() || json::begins(line.text) {
            self.shown.end();
            self.recognition.statements.push(extent(line));
            let found = self.json.line(line);
            if std::mem::take(&mut self.json.is_deep) {
                self.meets(Bound::Json, line);
            }
            return found.into_iter().for_each(|it| self.printed(&it));
        }
        if self.batch(line) {
            return;
        }
        if self.kernel.links.line(line) {
            return;
        }
        if self.shown.line(line) {
            return self.recognition.statements.push(extent(line));
        }
        self.other(line);
    }

    /// Whether a line is part of a loop over values that the text says, which is open then.
    fn is_of_loop(&mut self, line: Bare<'a>) -> bool {
        if let Some(it) = &mut self.open_loop {
            it.line(line);
            return true;
        }
        let is_loop = matches!(line.text.split_whitespace().next(), Some("for" | "while" | "until"));
        if !is_loop {
            return false;
        }
        if !self.is_flat && self.runs.within >= LOOPS {
            self.meets(Bound::Loops, line);
        } else if !self.is_flat {
            self.open_loop = Loop::begin(line, &self.variables, self.runs.values());
        }
        if self.open_loop.is_none() {
            self.variables.forget(&line.text[..line.text.floor_char_boundary(HEAD)]);
        }
        self.open_loop.is_some()
    }

    /// Runs the loop that is open, if this was its last line; what stands behind it.
    fn looped(&mut self, line: Bare<'a>) -> Option<Bare<'a>> {
        let mut it = self.open_loop.take_if(|it| it.closed)?;
        // What of its own line is looked through again.
        self.runs.count(it.lines.first().map_or(0, |first| first.text.len()) / LINE);
        self.runs.within += 1;
        self.run(&mut it, line);
        self.runs.within -= 1;
        it.rest
    }

    /// Reads the lines of a loop for each of its values.
    fn run(&mut self, it: &mut Loop<'a>, end: Bare<'a>) {
        if let Some(condition) = it.condition {
            return self.run_while(condition, it, end);
        }
        if it.values.is_empty() {
            self.variables.forget(&format!("for {}", it.name));
            return it.lines.iter().for_each(|line| self.line(*line));
        }
        let first = !self.runs.again;
        for (i, value) in std::mem::take(&mut it.values).into_iter().enumerate() {
            self.runs.again |= i > 0;
            if !self.may_run(it, end) {
                break;
            }
            self.variables.set(&it.name, value);
            it.lines.iter().for_each(|line| self.line(*line));
        }
        self.runs.again &= !first;
    }

    /// Reads the lines of a loop as long as its condition holds.
    fn run_while(&mut self, condition: Bare<'a>, it: &Loop<'a>, end: Bare<'a>) {
        let first = !self.runs.again;
        while loops::holds(condition, &self.variables) == Some(true) && self.may_run(it, end) {
            let before = loops::seen(condition, &self.variables);
            it.lines.iter().for_each(|line| self.line(*line));
            self.runs.again = true;
            if loops::seen(condition, &self.variables) == before {
                let why = "the loop is read once: no line of it that is read alters what it waits for";
                self.log.account.not_modelled(end.number, why);
                break;
            }
        }
        self.runs.again &= !first;
    }

    /// Whether a loop may be run once more.
    fn may_run(&mut self, it: &Loop<'a>, end: Bare<'a>) -> bool {
        // One without lines, and its condition, cost as well.
        let own = it.condition.map_or(0, |condition| condition.text.len() / LINE) + usize::from(it.lines.is_empty());
        let may = self.runs.count(own) && (!self.runs.again || self.runs.are_open());
        if !may {
            self.meets(Bound::Lines, it.lines.first().copied().unwrap_or(end));
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
        if !self.json.is_open() {
            return;
        }
        let Some(json) = self.json.end() else { return };
        let before = self.shown.statements.len();
        self.printed(&json);
        let Some(last) = self.shown.statements[before..].last() else { return };
        let place = Place { start: last.place.end, end: last.place.end };
        let message = "the JSON ends before its brackets are closed: what follows is missing".to_owned();
        self.log.found("W403", place, message, "print it again, or without -j: tc itself fails at some filters");
    }

    /// A line of `tc -batch`.
    fn batch(&mut self, line: Bare<'a>) -> bool {
        let words: Vec<_> = line.text.split_whitespace().take(2).collect();
        if !commands::is_batch(&words) {
            return false;
        }
        self.shown.end();
        let (simple, _) = shell::simple(line, &self.variables);
        for words in simple.into_iter().filter(|it| !it.is_empty()) {
            let asked = commands::of_object(&words, Words::new(&words), String::new());
            self.asked(&words, asked);
        }
        true
    }

    /// Neither a command nor what tc prints: it may set variables, make an interface, or hold commands behind others.
    fn other(&mut self, line: Bare<'a>) {
        let may = ["=", "tc ", "TC", " link add ", " tunnel add ", " tuntap add "]
            .iter()
            .any(|part| line.text.contains(part));
        if !may || line.text.starts_with('#') {
            return;
        }
        self.namespace.clear();
        let mut commands = Commands::new(line);
        // What one command sets counts for those behind it.
        while let Some(words) = commands.next(&self.variables) {
            if !words.is_empty() {
                self.simple(&words);
            }
        }
    }

    /// A line of a command.
    fn more(&mut self, line: Bare<'a>) {
        let (mut simple, goes_on) = shell::simple(line, &self.variables);
        if let Some(first) = simple.first_mut() {
            let mut all = std::mem::take(&mut self.open);
            all.append(first);
            *first = all;
        }
        if goes_on {
            self.open = simple.pop().unwrap_or_default();
        }
        simple.into_iter().filter(|it| !it.is_empty()).for_each(|words| self.simple(&words));
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
        let texts: Vec<_> = words[..at].iter().map(|it| &*it.text).collect();
        let known = |it: &Token<'_>| it.unset || lines::before(&it.text) || shell::assignment(&it.text).is_some();
        let namespace = match texts[..] {
            [.., "netns", "exec", name] => name.to_owned(),
            _ if words[..at].iter().all(known) => self.namespace.clone(),
            ["echo" | "printf" | "logger", ..] => return,
            _ => {
                if !self.behind(&words[at..]) {
                    self.nested(words);
                }
                return;
            }
        };
        let asked = commands::asked(&words[at..], &namespace);
        self.asked(&words[at..], asked);
    }

    /// Whether words are a command, which a program may run.
    fn behind(&mut self, words: &[Token<'a>]) -> bool {
        let alters = matches!(commands::asked(words, ""), Ok(Command::Alters(_)));
        if alters {
            let why = "perhop does not know what the program before it does with the command: take it off";
            self.log.account.not_modelled(words[0].line, why);
        }
        alters
    }

    /// Commands in a text that another program runs.
    fn nested(&mut self, words: &[Token<'a>]) {
        let objects = ["qdisc ", "class ", "filter "];
        let runs = |text: &str| {
            let words = |verb: &str| objects.iter().any(|object| text.contains(&format!("{object}{verb} ")));
            ["add", "replace", "change", "del"].into_iter().any(words)
        };
        for word in words.iter().filter(|word| word.text.contains(' ') && runs(&word.text)) {
            let why = "commands in a text for another shell: paste what it runs";
            self.log.account.not_modelled(word.line, why);
        }
    }

    fn asked(&mut self, words: &[Token<'a>], asked: Taken<Command<'a>>) {
        if !matches!(asked, Ok(Command::Shows(..) | Command::Other)) {
            self.recognition.statements.extend(words.iter().map(|word| word.place));
            self.named(words);
        }
        match asked {
            Ok(Command::Alters(statement)) => self.apply(&statement),
            Ok(Command::Shows(device, place)) => (self.shown.device, self.shown.place) = (device, place),
            Ok(Command::Other) => {}
            Err(refusal) => {
                let mut lines: Vec<_> = words.iter().map(|it| it.line).collect();
                lines.dedup();
                let (object, verb, device) = (Object::Qdisc, Verb::Add, Default::default());
                let statement = Statement { object, verb, device, words: Vec::new(), place: span(words), lines };
                self.log.refused(&statement, &refusal);
            }
        }
    }

    /// Interfaces that words name.
    fn named(&mut self, words: &[Token<'a>]) {
        let device = |before: &str| matches!(before, "dev" | "to_dev");
        let names = words.windows(2).filter(|pair| device(&pair[0].text));
        names.for_each(|pair| self.recognition.name(&pair[1].text));
    }

    fn apply(&mut self, statement: &Statement<'a>) {
        self.log.spoken(&statement.lines);
        statement.device.name.iter().for_each(|name| self.recognition.name(&name.text));
        let typed = statement.form() == Form::Typed;
        if let Some(name) = self.part.stop.as_ref().filter(|_| typed && statement.verb == Verb::Delete) {
            return self.log.idle(&statement.lines, &format!("it is of `{name}`, which takes away what is read here"));
        }
        if self.part.other && typed {
            self.log.nearly(&statement.lines, "a branch of `if`: all branches are read, one after the other");
        }
        if let Err(refusal) = self.kernel.apply(statement) {
            let removes = statement.verb == Verb::Delete && statement.form() == Form::Typed;
            if removes && refusal.place.is_none() {
                return self.log.idle(&statement.lines, &refusal.message);
            }
            self.refused(statement, &refusal);
        }
    }

    fn refused(&mut self, statement: &Statement<'a>, refusal: &Refusal) {
        match statement.form() {
            Form::Typed => self.log.refused(statement, refusal),
            Form::Shown => self.log.lost(&statement.lines, &format!("not understood: {}", refusal.message)),
        }
    }

    /// What is printed is there: first queueing disciplines, then classes, then filters.
    fn end(mut self) -> Self {
        // One that is cut off: its variable is not known.
        if let Some(it) = self.open_loop.take() {
            self.variables.forget(&format!("for {}", it.name));
            self.is_flat = true;
            it.lines.iter().for_each(|line| self.line(*line));
            self.open_loop = None;
        }
        if !self.open.is_empty() {
            let words = std::mem::take(&mut self.open);
            self.simple(&words);
        }
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
