//! What a kernel would hold after some commands: interfaces with queueing disciplines, classes and filters.

/// What stands before a kind.
mod head;
/// Queueing disciplines.
mod qdiscs;
/// Classes.
mod classes;
/// Filters.
mod sorters;

use super::actions;
use super::filters::{Filters, Sorter};
use super::handles::id;
use super::links::Links;
use super::options::{Classes, Discipline, Options};
use super::units::number;
use super::words::{Device, Form, Object, Refusal, Statement, Taken, Token, Verb, Words};
use perhop_core::params::Place;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// All interfaces, in the order of the text.
#[derive(Debug, Default)]
pub(super) struct Kernel<'a> {
    pub(super) interfaces: Vec<Interface<'a>>,
    by_name: HashMap<(String, Option<String>), usize>,
    /// The first of each name.
    by_device: HashMap<String, usize>,
    /// Interfaces that have had a queueing discipline of a handle.
    by_handle: HashMap<u32, BTreeSet<usize>>,
    /// Actions that were made by themselves, by kind and number.
    pub(super) actions: HashMap<(String, u64), Vec<Token<'a>>>,
    /// Which interfaces have Ethernet's header.
    pub(super) links: Links,
}

/// An interface.
#[derive(Debug, Default)]
pub(super) struct Interface<'a> {
    pub(super) device: Device<'a>,
    /// By their parent.
    pub(super) qdiscs: BTreeMap<u32, Qdisc<'a>>,
    /// The parent of each, by its handle.
    handles: Handles,
    /// By their number.
    pub(super) classes: BTreeMap<u32, Class<'a>>,
    /// By where they are.
    pub(super) filters: BTreeMap<u32, Filters<'a>>,
    /// Handles that the kernel has given.
    given: u32,
    /// The classes below each, with it: (parent, class).
    below: BTreeSet<(u32, u32)>,
    /// Classes that filters lead to, with where these are.
    aimed: BTreeSet<(u32, u32)>,
    /// Classes of `htb`, each with the class above it that is not there, in the order of the text.
    pub(super) orphans: BTreeMap<u32, Vec<(u32, u32, Place)>>,
    /// Of trees whose inner classes have filters, by handle: all of them as filters of the root.
    pub(super) led: BTreeMap<u32, Vec<Sorter<'a>>>,
}

/// The parents of queueing disciplines, by their handles.
#[derive(Debug, Default)]
struct Handles {
    parents: HashMap<u32, u32>,
    /// Those that were put since this was asked last.
    fresh: Vec<u32>,
}

impl Handles {
    fn get(&self, handle: u32) -> Option<u32> {
        self.parents.get(&handle).copied()
    }

    fn insert(&mut self, handle: u32, parent: u32) {
        self.parents.insert(handle, parent);
        self.fresh.push(handle);
    }
}

/// A queueing discipline.
#[derive(Clone, Debug)]
pub(super) struct Qdisc<'a> {
    /// Its handle.
    pub(super) handle: u32,
    /// As tc calls it.
    pub(super) name: Token<'a>,
    /// `None`: perhop has it not.
    pub(super) known: Option<&'static Discipline>,
    pub(super) options: Options<'a>,
    /// Of its size table.
    pub(super) stab: Options<'a>,
    pub(super) place: Place,
    pub(super) lines: Vec<usize>,
    pub(super) form: Form,
}

impl Qdisc<'_> {
    /// Its classes; none if perhop has it not.
    pub(super) fn classes(&self) -> Classes {
        self.known.map_or(Classes::None, |it| it.classes)
    }
}

/// A class.
#[derive(Clone, Debug)]
pub(super) struct Class<'a> {
    /// The class above it, or its queueing discipline.
    pub(super) parent: u32,
    pub(super) options: Options<'a>,
    pub(super) place: Place,
    pub(super) lines: Vec<usize>,
}

impl<'a> Kernel<'a> {
    /// Does what a statement says.
    ///
    /// # Errors
    /// tc or the kernel would refuse it.
    pub(super) fn apply(&mut self, statement: &Statement<'a>) -> Taken<()> {
        if statement.object == Object::Action {
            return self.action(statement);
        }
        let place = self.place(statement)?;
        let resolved =
            (statement.object == Object::Filter && !self.actions.is_empty()).then(|| self.resolved(statement));
        let statement = resolved.as_ref().unwrap_or(statement);
        let interface = &mut self.interfaces[place];
        let done = match statement.object {
            Object::Qdisc => interface.qdisc(statement),
            Object::Class => interface.class(statement),
            _ => interface.filter(statement),
        };
        for handle in interface.handles.fresh.drain(..) {
            self.by_handle.entry(handle).or_default().insert(place);
        }
        done
    }

    /// The interface of a name, in the namespace of the first that has it.
    pub(super) fn named(&self, name: &str) -> Option<usize> {
        self.by_device.get(name).copied()
    }

    /// The interface of a statement.
    fn place(&mut self, statement: &Statement<'a>) -> Taken<usize> {
        let Device { namespace, name } = &statement.device;
        if name.is_none() && statement.verb != Verb::Shown {
            return Err(Refusal::of("it names no interface").instead("dev eth0"));
        }
        let key = (namespace.clone(), name.as_ref().map(|it| it.text.to_string()));
        if let Some(place) = self.only(statement).filter(|_| !self.by_name.contains_key(&key)) {
            return Ok(place);
        }
        let (interfaces, by_device) = (&mut self.interfaces, &mut self.by_device);
        Ok(*self.by_name.entry(key).or_insert_with(|| {
            name.iter().for_each(|name| _ = by_device.entry(name.text.to_string()).or_insert(interfaces.len()));
            interfaces.push(Interface { device: statement.device.clone(), ..Interface::default() });
            interfaces.len() - 1
        }))
    }

    /// The interface that a print means without its name: the only one with this handle.
    fn only(&self, statement: &Statement<'a>) -> Option<usize> {
        if statement.device.name.is_some() {
            return None;
        }
        let words = &statement.words;
        let of = |key: &str| words.windows(2).find(|pair| pair[0].text == key).and_then(|pair| id(&pair[1]).ok());
        let handle = match statement.object {
            Object::Qdisc => of("handle"),
            Object::Class => of("classid"),
            _ => of("parent"),
        }?;
        let has = |it: &Interface<'_>| {
            it.device.namespace == statement.device.namespace && it.by_handle(handle).is_some_and(|it| it.handle != 0)
        };
        let known = self.by_handle.get(&(handle & 0xffff_0000)).into_iter().flatten();
        let mut places = known.copied().filter(|place| has(&self.interfaces[*place]));
        places.next().filter(|_| places.next().is_none())
    }

    /// `tc actions add action police .. index 1`
    fn action(&mut self, statement: &Statement<'a>) -> Taken<()> {
        for words in statement.words.split(|word| word.text == "action") {
            let Some(kind) = words.first() else { continue };
            let index = words.windows(2).find(|pair| pair[0].text == "index").and_then(|pair| number(&pair[1].text));
            let key = index.map(|index| (kind.text.to_string(), index));
            if statement.verb == Verb::Delete {
                match key {
                    Some(key) => _ = self.actions.remove(&key),
                    None => self.actions.retain(|it, _| it.0 != kind.text),
                }
                continue;
            }
            alone(words, statement.form())?;
            let Some(key) = key else { continue };
            if statement.verb == Verb::Add && self.actions.contains_key(&key) {
                let message = format!("`{}` {} is there already", key.0, key.1);
                return Err(Refusal::of(message).instead("replace in place of add"));
            }
            self.actions.insert(key, words.to_vec());
        }
        Ok(())
    }

    /// A filter with the actions that it names by their number.
    fn resolved(&self, statement: &Statement<'a>) -> Statement<'a> {
        let mut words = Vec::with_capacity(statement.words.len());
        let mut rest = &statement.words[..];
        while let Some((first, behind)) = rest.split_first() {
            rest = behind;
            let index = if let [word, index, ..] = behind
                && word.text == "index"
            {
                number(&index.text)
            } else {
                None
            };
            match index.and_then(|index| self.actions.get(&(first.text.to_string(), index))) {
                Some(made) => {
                    // At the place where it is named, the words of the other command.
                    words.extend(made.iter().map(|it| Token { text: it.text.clone(), ..first.clone() }));
                    // The one behind it is not looked at, as it is no name.
                    rest = &behind[2..];
                    if let Some((next, behind)) = rest.split_first() {
                        words.push(next.clone());
                        rest = behind;
                    }
                }
                None => words.push(first.clone()),
            }
        }
        Statement { words, ..statement.clone() }
    }
}

/// An action that is made by itself.
///
/// # Errors
/// tc or the kernel would refuse it.
fn alone<'a>(words: &[Token<'a>], form: Form) -> Taken<()> {
    let (mut rest, mut list) = (Words::new(words), Vec::new());
    actions::read(&mut list, &mut rest, form)?;
    if let Some(word) = rest.peek() {
        return Err(Refusal::at(word, format!("tc knows no `{}` of an action", word.text)));
    }
    match words.iter().find(|word| word.text == "goto") {
        Some(word) => Err(Refusal::at(word, "an action by itself has no chains to go to")),
        None => Ok(()),
    }
}
