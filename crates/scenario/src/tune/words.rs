//! `--class rtt=120ms,flows=5..50,share=0.1`: the load from the command line, read as a table of a file is.

use super::{Class, Kind};
use crate::text::diagnostics::Diagnostics;
use crate::text::source::Sources;
use perhop_core::aqm::members::Member;
use perhop_core::design::msvb::Load;
use perhop_core::params::{Kind as Shape, Node, Params, Place, Problems, Spanned, Table, Tree, Value, read_table};
use perhop_core::units::{Probability, Span};

/// Shares summed in floating point may exceed 1 by this.
const ROUNDING: f64 = 1e-9;

/// The keys of `--class`.
#[derive(Params, Clone, Debug, PartialEq)]
struct Words {
    /// Its name in tables; default: its number.
    name: Option<String>,
    /// Longest round-trip time, including waiting packets.
    rtt: Spanned<Span>,
    /// TCP flows: a number, or the fewest and the most, as in 5..50.
    flows: Flows,
    /// Share of the link; default: all of it.
    share: Option<Spanned<Probability>>,
    /// Code points or colours of its packets, joined by +.
    #[param(name = "for")]
    members: Vec<Member>,
}

/// `50` or `5..50`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Flows([u32; 2]);

impl Value for Flows {
    const KIND: Shape = Shape::Any;
    fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
        let text = node.tree.to_string();
        let text = text.trim_matches('"');
        let (low, high) = text.split_once("..").unwrap_or((text, text));
        match (low.trim().parse(), high.trim().parse()) {
            (Ok(low), Ok(high)) if 1 <= low && low <= high => Some(Self([low, high])),
            _ => {
                let message = format!("`flows` is {text}");
                problems
                    .error("E201", node.place, message)
                    .help("must be at least 1, as in 50, or a range as in 5..50")
                    .none()
            }
        }
    }
    fn tree(&self) -> Option<Tree> {
        let [low, high] = self.0;
        Some(Tree::Text(format!("{low}..{high}")))
    }
}

/// Reads every `--class`.
///
/// # Errors
/// Everything that is wrong in them, with its place.
pub fn classes(kind: Kind, texts: &[String]) -> Result<Vec<Class>, Diagnostics> {
    let (mut sources, mut problems) = (Sources::default(), Problems::default());
    let mut all = Vec::new();
    for (i, text) in texts.iter().enumerate() {
        let base = sources.add("⟨class⟩", text);
        let node = table(text, base);
        let class = problems.within("⟨class⟩", |problems| read_table::<Words>(&node, problems)?.class(i, problems));
        all.extend(class);
    }
    let whole = Place { start: 0, end: texts.first().map_or(0, String::len) };
    if !problems.has_errors() {
        together(kind, &all, whole, &mut problems);
    }
    if problems.has_errors() { Err(Diagnostics::new(problems, &sources)) } else { Ok(all) }
}

/// `a=b,c=d` as a table with places; a part without `=` is a key without value.
fn table(text: &str, base: usize) -> Node {
    let (mut entries, mut start) = (Vec::new(), base);
    for part in text.split(',') {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        let at = |from: usize, word: &str| Place { start: from, end: from + word.len() };
        let place = at(start + (part.len() - value.len()), value);
        entries.push((key.trim().to_owned(), at(start, key), Node { place, tree: tree(value.trim(), place) }));
        start += part.len() + 1;
    }
    let place = Place { start: base, end: base + text.len() };
    Node { place, tree: Tree::Table(Table { entries }) }
}

fn tree(value: &str, place: Place) -> Tree {
    if let Ok(number) = value.parse() {
        return Tree::Integer(number);
    }
    match value.parse() {
        Ok(number) => Tree::Float(number),
        Err(_) if value.contains('+') => {
            Tree::List(value.split('+').map(|word| Node { place, tree: tree(word.trim(), place) }).collect())
        }
        Err(_) => Tree::Text(value.to_owned()),
    }
}

impl Words {
    fn class(self, i: usize, problems: &mut Problems) -> Option<Class> {
        if *self.rtt == Span::ZERO {
            return problems.error("E201", self.rtt.place, "`rtt` is 0s").help("must be above 0").none();
        }
        if let Some(share) = self.share.filter(|share| share.get() == 0.0) {
            let help = "must be above 0: a class with a share of 0 is blocked and has no loop to tune";
            return problems.error("E201", share.place, "`share` is 0").help(help).none();
        }
        let share = self.share.map_or(1.0, |share| share.get());
        let load = Load { flows: self.flows.0.map(f64::from), rtt: self.rtt.seconds(), share };
        let name = self.name.unwrap_or(format!("class {}", i + 1));
        Some(Class { name, filter: self.members.into(), share, load: Some(load) })
    }
}

fn together(kind: Kind, classes: &[Class], place: Place, problems: &mut Problems) {
    let shares: f64 = classes.iter().map(|class| class.share).sum();
    if kind == Kind::Svb && classes.len() != 1 {
        let message = format!("svb has one class, but {} are stated", classes.len());
        problems.error("E201", place, message).help("write one ⟨class⟩ with all flows, or use `perhop tune msvb`");
    } else if shares > 1.0 + ROUNDING {
        let message = format!("the shares of all ⟨class⟩ sum to {shares}");
        problems.error("E201", place, message).help("must be at most 1: they are shares of one link");
    } else if kind == Kind::Svb && shares < 1.0 {
        let message = format!("`share` is {shares}, but svb has no shares");
        problems.error("E239", place, message).help("remove `share`");
    }
}
