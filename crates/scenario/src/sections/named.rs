//! Sections of one kind by name.

use super::chosen::table;
use crate::text::write;
use perhop_core::params::{Kind, Node, Place, Problems, Table, Tree, Value};
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
    /// What it says; `None` if it has an error.
    pub section: Option<T>,
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
    /// All sections `[kind.X]`, each read by `read`.
    pub fn read(
        root: &Table,
        kind: &'static str,
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
                let sound = is_plain(name, *key, problems);
                Declared {
                    name: name.as_str().into(),
                    key: *key,
                    place: node.place,
                    section: section.filter(|_| sound),
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
        self.list.iter().all(|it| it.section.is_some())
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
        problems.error("E011", place, "a name is empty or has control characters").help("name it with plain text");
    }
    plain
}
