//! A configuration as data: its blocks, with names that are unique. Its text is written from this at the end, and never read again.

use super::names::{fit, unique};
use serde::Serialize;

/// Ports as the configuration of routers with IOS.
#[derive(Clone, Debug, Serialize)]
pub struct Ios {
    /// The ports that are in it.
    pub ports: Vec<IosPort>,
    /// Its lines, without comments.
    pub lines: Vec<String>,
    /// What IOS has otherwise than the scenario says.
    pub notes: Vec<String>,
    /// What IOS cannot express: no line has it.
    pub lost: Vec<String>,
}

/// A port of them.
#[derive(Clone, Debug, Serialize)]
pub struct IosPort {
    /// As the scenario calls it.
    pub port: String,
    /// The interface.
    pub interface: String,
    /// Whether it meets what comes in there, or what goes out.
    pub direction: IosDirection,
    /// Its policy map; `None`: nothing of it can be expressed.
    pub policy: Option<String>,
}

/// A direction of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum IosDirection {
    /// Packets that come in.
    Input,
    /// Packets that go out.
    Output,
}

impl IosDirection {
    /// As `service-policy` has it.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Output => "output",
        }
    }
}

impl Ios {
    /// All of it, for other programs.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("plain data")
    }

    /// The configuration as text, with comments, in which names are quoted and take one line each.
    pub fn text(&self) -> String {
        let on = |it: &IosPort| if it.direction == IosDirection::Input { "at the input of" } else { "on" };
        let port = |it: &IosPort| format!("! port {:?} {} {}", it.port, on(it), it.interface);
        let comments = |word: &str, list: &[String]| {
            list.iter().map(|it| format!("! {word}: {}", one_line(it))).collect::<Vec<_>>()
        };
        let head = self.ports.iter().map(port).chain(comments("note", &self.notes)).chain(comments("lost", &self.lost));
        head.chain(self.lines.iter().cloned()).collect::<Vec<_>>().join("\n")
    }
}

/// Without what would end a comment.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Kinds of blocks: names are unique within each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Shelf {
    /// `ip access-list extended`, `ipv6 access-list`
    List,
    /// `class-map`
    Class,
    /// `policy-map`
    Policy,
    /// `interface`
    Interface,
}

/// A head line with those below it.
struct Block {
    shelf: Shelf,
    kind: String,
    wanted: String,
    name: String,
    lines: Vec<String>,
}

/// Blocks so far.
#[derive(Default)]
pub(super) struct Config(Vec<Block>);

impl Config {
    /// Adds a block of a kind (`class-map match-any`); its name: as wanted, as far as IOS takes that and no other block has it. Blocks
    /// that say the same are one.
    pub(super) fn add(&mut self, shelf: Shelf, kind: &str, wanted: &str, lines: Vec<String>) -> String {
        let same = |it: &&Block| it.shelf == shelf && it.kind == kind && it.wanted == wanted && it.lines == lines;
        if let Some(known) = self.0.iter().find(same) {
            return known.name.clone();
        }
        let taken = |name: &str| self.0.iter().any(|it| it.shelf == shelf && it.name == name);
        let name = if shelf == Shelf::Interface { wanted.to_owned() } else { unique(&fit(wanted), taken) };
        self.0.push(Block { shelf, kind: kind.into(), wanted: wanted.into(), name: name.clone(), lines });
        name
    }

    /// Its lines: what others name comes before them.
    pub(super) fn lines(&self) -> Vec<String> {
        let shelves = [Shelf::List, Shelf::Class, Shelf::Policy, Shelf::Interface];
        let blocks = shelves.iter().flat_map(|shelf| self.0.iter().filter(move |it| it.shelf == *shelf));
        blocks.flat_map(Block::lines).collect()
    }
}

impl Block {
    fn lines(&self) -> Vec<String> {
        let head = format!("{} {}", self.kind, self.name);
        let below = self.lines.iter().map(|line| format!(" {line}"));
        [head].into_iter().chain(below).chain(["!".to_owned()]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_says_the_same_is_said_once() {
        let mut config = Config::default();
        let mut add = |wanted: &str, line: &str| config.add(Shelf::Class, "class-map", wanted, vec![line.into()]);
        assert_eq!(["a", "b", "a"].map(|line| add("X", line)), ["X", "X-2", "X"]);
        assert_eq!(add("X", "c"), "X-3");
        assert_eq!(config.lines()[..3], ["class-map X", " a", "!"]);
    }
}
