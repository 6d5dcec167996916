//! Sections of one kind by name.

use super::chosen::table;
use crate::text::write;
use perhop_core::params::{Kind, Node, Place, Problem, Problems, Severity, Table, Tree, Value};
use std::collections::HashMap;
use std::sync::Arc;

/// A section that the file declares, sound or not. Equality leaves places out.
#[derive(Clone, Debug)]
pub struct Declared<T> {
    /// Its name.
    pub name: Arc<str>,
    /// Where that is.
    pub key: Place,
    /// Where its table is.
    pub place: Place,
    /// What it says, without the spare keys that have an error; `None` if any other has one.
    pub section: Option<T>,
    /// The table as stated, if it has an error: names in it can still be checked.
    pub faulty: Option<Node>,
}

impl<T: PartialEq> PartialEq for Declared<T> {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, &self.section) == (&other.name, &other.section)
    }
}

/// All sections of a kind, in the file's order.
#[derive(Clone, Debug, PartialEq)]
pub struct Named<T> {
    list: Vec<Declared<T>>,
    /// Indices by name.
    of: HashMap<Arc<str>, u32>,
    /// Whether the file states something else in their place.
    pub malformed: bool,
}

impl<T> Named<T> {
    /// All sections `[kind.X]`, each read by `read`. Keys that are `spare` count as omitted where they have an error: nothing
    /// else that is checked depends on them, and all of it is checked in one pass.
    pub fn read(
        root: &Table,
        (kind, spare): (&'static str, &[&str]),
        problems: &mut Problems,
        read: impl Fn(&Node, &mut Problems) -> Option<T>,
    ) -> Self {
        let none = |malformed| Self { list: Vec::new(), of: HashMap::new(), malformed };
        let Some(node) = root.get(kind) else { return none(false) };
        problems.within(kind, |problems| {
            let Some(table) = table(node, problems) else { return none(true) };
            let one = |(name, key, node): &(String, Place, Node)| {
                let before = problems.list.len();
                let section = problems.within(name, |problems| read(node, problems));
                debug_assert!(
                    section.is_some() || problems.list.len() > before,
                    "[{kind}.{name}] is refused in silence"
                );
                let rest = || without_faults(node, &problems.list[before..], spare);
                let repaired = || rest().and_then(|rest| read(&rest, &mut Problems::default()));
                let whole = section.is_some();
                let section = section.or_else(repaired);
                let sound = is_plain(name, *key, problems);
                Declared {
                    name: name.as_str().into(),
                    key: *key,
                    place: node.place,
                    section: section.filter(|_| sound),
                    faulty: (!whole || !sound).then(|| node.clone()),
                }
            };
            let list: Vec<_> = table.entries.iter().map(one).collect();
            let of = list.iter().enumerate().map(|(i, it)| (it.name.clone(), i as u32)).collect();
            Self { list, of, malformed: false }
        })
    }

    /// Names of all that the file declares.
    pub fn names(&self) -> Vec<&str> {
        self.list.iter().map(|it| &*it.name).collect()
    }

    /// All that the file declares.
    pub fn declared(&self) -> &[Declared<T>] {
        &self.list
    }

    /// The section called `name`, sound or not.
    pub fn find(&self, name: &str) -> Option<&Declared<T>> {
        self.of.get(name).map(|&i| &self.list[i as usize])
    }

    /// The sound section called `name`.
    pub fn get(&self, name: &str) -> Option<&T> {
        self.find(name)?.section.as_ref()
    }

    /// The tables of those with an error, and of what they are the table.
    pub fn faulty(&self) -> impl Iterator<Item = (&Declared<T>, &Node)> {
        self.list.iter().filter_map(|it| Some((it, it.faulty.as_ref()?)))
    }

    /// The sound sections with their names.
    pub fn sound(&self) -> impl Iterator<Item = (&str, &T)> {
        self.list.iter().filter_map(|it| Some((&*it.name, it.section.as_ref()?)))
    }

    /// The declarations of sound sections, to fill in what they leave out.
    pub fn sound_mut(&mut self) -> impl Iterator<Item = (&str, Place, &mut T)> {
        self.list.iter_mut().filter_map(|it| Some((&*it.name, it.place, it.section.as_mut()?)))
    }

    /// Whether all that are declared are sound.
    pub fn all_sound(&self) -> bool {
        self.list.iter().all(|it| it.faulty.is_none())
    }

    /// The sound sections as text: those of the kind `kind`.
    pub fn write(&self, kind: &str, out: &mut String, show: impl Fn(&T) -> Tree) {
        if self.sound().next().is_some() {
            write::named(out, kind, self.sound().map(|(name, section)| (name, show(section))));
        }
    }

    /// The sound sections as a table.
    pub fn tree(&self, show: impl Fn(&T) -> Tree) -> Tree {
        Tree::table(self.sound().map(|(name, section)| (name, show(section))).collect())
    }
}

/// A table without the keys that have an error, if all of those are spare.
fn without_faults(node: &Node, problems: &[Problem], spare: &[&str]) -> Option<Node> {
    let Tree::Table(table) = &node.tree else { return None };
    let errors = problems.iter().filter(|problem| problem.severity == Severity::Error);
    let places: Vec<_> = errors.map(|problem| problem.place).collect::<Option<_>>()?;
    let inside = |(_, key, node): &(String, Place, Node)| places.contains(key) || holds(node, &places);
    let (faulty, entries): (Vec<_>, Vec<_>) = table.entries.iter().cloned().partition(inside);
    let all_spare = faulty.iter().all(|(name, ..)| spare.contains(&name.as_str()));
    (!faulty.is_empty() && all_spare).then_some(Node { place: node.place, tree: Tree::Table(Table { entries }) })
}

/// Whether one of these places is that of a value or of something in it.
pub(super) fn holds(node: &Node, places: &[Place]) -> bool {
    let below = match &node.tree {
        Tree::List(items) => items.iter().any(|item| holds(item, places)),
        Tree::Table(table) => table.entries.iter().any(|e| places.contains(&e.1) || holds(&e.2, places)),
        _ => false,
    };
    below || places.contains(&node.place)
}

/// A name that tables and reports show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name(pub String);

impl Value for Name {
    const KIND: Kind = Kind::Text;
    fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
        let name = String::read(node, problems)?;
        is_plain(&name, node.place, problems).then_some(Self(name))
    }
    fn tree(&self) -> Option<Tree> {
        self.0.tree()
    }
}

/// Whether a name can be shown, or E011.
fn is_plain(name: &str, place: Place, problems: &mut Problems) -> bool {
    let plain = !name.trim().is_empty() && !name.chars().any(char::is_control);
    if !plain {
        problems.error("E011", place, "a name is empty or has control characters").help("use printable text");
    }
    plain
}
