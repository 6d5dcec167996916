//! HTB as classes with `bandwidth` for the rate and `shape` for the ceil; classes below a class are a policy map in it.
//!
//! What is spare goes by priority and quantum in HTB, and by IOS's own shares there.

use super::matches::codes;
use super::shape;
use super::words::kbit;
use super::writer::{Entry, Writer};
use super::written::Written;
use crate::device::classes::Leaf;
use perhop_core::arithmetic::Arithmetic;
use perhop_core::classify::Match;
use perhop_core::sched::htb::{Class, Params};
use perhop_core::units::BitRate;

/// What is below some class, or below none.
struct Level<'a> {
    htb: &'a Params,
    leaves: &'a [Leaf],
    parent: Option<&'a str>,
    /// The most that it gets.
    bound: BitRate,
}

/// The classes of a policy map.
pub(super) fn entries(writer: &mut Writer<'_>, htb: &Params, leaves: &[Leaf]) -> Vec<Entry> {
    if htb.is_direct() {
        writer.refuse("`unclassified = \"direct\"`: in IOS class-default has what no class names");
    }
    notes(writer, htb);
    let bound = writer.link.rate;
    let level = Level { htb, leaves, parent: None, bound };
    let tops: Vec<_> = level.classes().collect();
    let mut found = below(writer, &level);
    // One class above all others is no class.
    if let ([_], [only]) = (tops.as_slice(), found.as_mut_slice()) {
        *only = Entry::default(std::mem::take(&mut only.lines));
    }
    found
}

fn ceil(class: &Class) -> BitRate {
    class.ceil.unwrap_or(class.rate)
}

/// What it is sure of: a ceil below the rate is the bound.
fn rate(class: &Class) -> BitRate {
    class.rate.min(ceil(class))
}

fn notes(writer: &mut Writer<'_>, htb: &Params) {
    writer.note("`htb` gives what is spare by `prio` and `quantum`: IOS has shares of its own for that");
    if htb.arithmetic == Arithmetic::Linux {
        writer.note("`arithmetic` of `htb`: IOS counts tokens in its own units");
    }
    if htb.r2q != 10 {
        writer.note(&format!("`r2q` of {}: it makes quanta, which IOS has not", htb.r2q));
    }
}

impl<'a> Level<'a> {
    /// Its classes, by their number.
    fn classes(&self) -> impl Iterator<Item = (usize, &'a Class)> + use<'a> {
        let (htb, parent) = (self.htb, self.parent);
        htb.classes.iter().enumerate().filter(move |(_, class)| class.parent.as_deref() == parent)
    }

    /// The leaves at or below a class, by their place.
    fn under(&self, class: usize) -> Vec<usize> {
        let name = |i: usize| self.htb.classes[i].name.as_deref();
        let up = |i: usize| {
            let parent = self.htb.classes[i].parent.as_deref()?;
            (0..self.htb.classes.len()).find(|&it| name(it) == Some(parent))
        };
        let within = |leaf: &Leaf| std::iter::successors(Some(leaf.class), |&i| up(i)).any(|i| i == class);
        (0..self.leaves.len()).filter(|&place| within(&self.leaves[place])).collect()
    }
}

fn below(writer: &mut Writer<'_>, level: &Level<'_>) -> Vec<Entry> {
    let rates: u64 = level.classes().map(|(_, class)| rate(class).bit_s()).sum();
    let fits = rates <= level.bound.bit_s();
    if !fits {
        let rates = BitRate::bps(rates);
        writer
            .refuse(&format!("rates of {rates} together below {}: IOS guarantees no more than there is", level.bound));
    }
    let mut classes: Vec<_> = level.classes().map(|(i, class)| (class, i, level.under(i))).collect();
    // What no other takes is the last one's, wherever it is.
    classes.sort_by_key(|(.., under)| under.contains(&(level.leaves.len() - 1)));
    classes.into_iter().filter_map(|(class, i, under)| entry(writer, level, (class, i, &under), fits)).collect()
}

fn entry(
    writer: &mut Writer<'_>,
    level: &Level<'_>,
    (class, i, under): (&Class, usize, &[usize]),
    fits: bool,
) -> Option<Entry> {
    // Classes of a template that are those of addresses have no leaf.
    if under.is_empty() {
        return None;
    }
    let rest = under.contains(&(level.leaves.len() - 1));
    let wanted = class.name.clone().unwrap_or_else(|| format!("CLASS-{}", i + 1));
    let found = takes(level, under).and_then(|takes| {
        let (takes, passed) = writer.stages.resolved(&takes)?;
        Ok((if rest { None } else { Some(writer.map(&wanted, &takes)?) }, takes, passed))
    });
    let (map, takes, passed) = match found {
        Ok(found) => found,
        Err(_) if rest => (None, Vec::new(), Vec::new()),
        Err(what) => {
            writer.refuse(&format!("class {wanted} by {what}"));
            return None;
        }
    };
    let written = own(writer, level, class, fits);
    let mut lines = writer.report(written);
    let leaf = under.iter().map(|&place| &level.leaves[place]).find(|leaf| leaf.class == i);
    match leaf {
        Some(leaf) => {
            let takes = codes(&takes).filter(|_| !rest);
            lines.extend(writer.leaf(leaf.node, &wanted, takes.as_deref(), &passed));
        }
        None => {
            let bound = ceil(class).min(level.bound);
            let inner = Level { parent: class.name.as_deref(), bound, ..*level };
            let entries = below(writer, &inner);
            let policy = writer.policy(&wanted, entries);
            lines.push(format!("service-policy {policy}"));
        }
    }
    Some(map.map_or_else(
        || Entry::default(lines.clone()),
        |class| Entry { class, lines: lines.clone(), conditioned: !passed.is_empty() },
    ))
}

/// What the leaves of a class take.
///
/// # Errors
/// What no header tells.
fn takes(level: &Level<'_>, under: &[usize]) -> Result<Vec<Match>, String> {
    let each: Result<Vec<_>, String> = under.iter().map(|&place| level.leaves[place].takes.clone()).collect();
    Ok(each?.concat())
}

/// The lines of a class itself.
fn own(writer: &Writer<'_>, level: &Level<'_>, class: &Class, fits: bool) -> Written {
    let (mut out, ceil) = (Written::default(), ceil(class));
    let whole = level.parent.is_none() && level.classes().count() == 1;
    if fits && !whole {
        match kbit(rate(class)) {
            Ok(kbit) => out.say(format!("bandwidth {kbit}")),
            Err(what) => out.refuse(what),
        }
    }
    if ceil < level.bound || whole && writer.shapes {
        out.take(shape::average(ceil, class.cburst, level.htb.framing));
    } else if class.cburst.is_some() {
        out.note("`cburst` of a class as fast as what is above it: IOS has no shaper there");
    }
    if ceil > level.bound {
        out.refuse(format!("a `ceil` of {ceil} above {}, which is all that is there", level.bound));
    }
    if let Some(prio) = class.prio.filter(|prio| *prio != 0) {
        out.note(format!("`prio` of {prio}: `htb` gives it what is spare after others"));
    }
    if let Some(quantum) = class.quantum {
        out.note(format!("`quantum` of {quantum}: IOS has shares of its own for what is spare"));
    }
    if let Some(burst) = class.burst {
        out.note(format!("`burst` of {burst}: IOS has none of a guaranteed rate"));
    }
    out
}
