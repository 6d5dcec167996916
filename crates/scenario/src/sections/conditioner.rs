//! `[conditioner]`: where it sits, what it takes, what happens to each colour.

use super::at::{self, EffectiveParams, Port};
use super::chosen::{Entries, chosen, name_of, text};
use perhop_core::classify::Match;
use perhop_core::conditioner;
use perhop_core::params::{Kind, Located, Node, Params, Places, Problems, Tree, Value};
use perhop_core::port::edge::{Action, Per};

/// Where a conditioner sits and what it takes.
#[derive(Params, Clone, Debug, PartialEq)]
pub struct Placement {
    /// What it takes; default: everything.
    #[param(name = "match")]
    pub matches: Option<Located<Match>>,
    /// What shares one instance.
    #[param(default = "aggregate")]
    pub per: Per,
}

/// An action per colour.
#[derive(Params, Clone, Debug, Default, PartialEq)]
pub struct Actions {
    /// For green packets: "transmit" (default), "drop", or any of "mark X", "colour C" and "next", with commas.
    pub green: Option<ActionText>,
    /// For yellow packets.
    pub yellow: Option<ActionText>,
    /// For red packets.
    pub red: Option<ActionText>,
    /// For packets it leaves unmarked.
    pub unmarked: Option<ActionText>,
}

impl Actions {
    /// In the order of the colours.
    pub fn all(&self) -> [Action; 4] {
        let or_transmit = |a: &Option<ActionText>| a.as_ref().map_or(Action::TRANSMIT, |a| a.0);
        [&self.green, &self.yellow, &self.red, &self.unmarked].map(or_transmit)
    }
}

/// `[conditioner.X]`; equality leaves places out.
#[derive(Clone, Debug)]
pub struct ConditionerSection {
    /// What it takes.
    pub placement: Placement,
    /// Where each of its keys is.
    pub places: Places,
    /// Where it sits, at least one; in a policy the one that has no name.
    pub ports: Vec<Port>,
    /// An action per colour.
    pub actions: Actions,
}

/// An action as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActionText(pub Action);

impl Value for ActionText {
    const KIND: Kind = Kind::Text;
    fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
        match text::<Self>(node, problems)?.parse::<Action>() {
            Ok(action) => Some(Self(action)),
            Err([message, help]) => problems.error("E224", node.place, message).help(help).none(),
        }
    }
    fn tree(&self) -> Option<Tree> {
        Some(Tree::Text(self.0.to_string()))
    }
}

impl PartialEq for ConditionerSection {
    fn eq(&self, other: &Self) -> bool {
        (&self.placement, &self.ports, &self.actions) == (&other.placement, &other.ports, &other.actions)
    }
}

impl ConditionerSection {
    /// Keys on which the check of no other depends.
    pub const SPARE: &[&str] = &["per", "green", "yellow", "red", "unmarked"];

    /// `[conditioner.X]`, with `at` in a scenario, without in a policy.
    pub fn read(node: &Node, has_at: bool, problems: &mut Problems) -> Option<Self> {
        chosen(node, problems, |reader| {
            let places = reader.places();
            let stated = if has_at { at::stated(reader) } else { Some(vec![at::NOWHERE]) };
            let placement = <Placement as Params>::read(reader);
            let name = name_of(reader, "kind", None, &conditioner::names());
            let at = stated.as_deref().unwrap_or(&[at::NOWHERE]);
            let ports = name.as_ref().and_then(|name| at::read(reader, name, at));
            let actions = <Actions as Params>::read(reader);
            let read = || {
                let (placement, ports, actions) = (placement?, ports?, actions?);
                Some(Self { placement, places, ports, actions })
            };
            let known = name.is_some_and(|name| conditioner::names().contains(&name.as_str()));
            (known, read().filter(|_| stated.is_some()))
        })
    }

    /// The inverse of [`ConditionerSection::read`].
    pub fn tree(&self) -> Tree {
        let (mut entries, shown) = (Entries::new(), EffectiveParams::new(&self.ports));
        entries.extend(shown.at(&self.ports).map(|at| ("at", at)));
        self.placement.show(&mut entries);
        entries.extend(self.ports.first().map(|port| ("kind", Tree::Text(port.params.name().into()))));
        entries.extend(shown.common);
        self.actions.show(&mut entries);
        Tree::table(entries)
    }

    /// As [`ConditionerSection::tree`], with everything that applies at each of several ports written there.
    pub fn tree_by_port(&self) -> Tree {
        if self.ports.len() <= 1 {
            return self.tree();
        }
        let port = |port: &Port| {
            let mut entries = Entries::new();
            port.params.show(&mut entries);
            Some((port.name.as_ref()?.value.clone(), Tree::table(entries)))
        };
        let ports: Vec<_> = self.ports.iter().filter_map(port).collect();
        let at = Tree::table(ports.iter().map(|(name, own)| (name.as_str(), own.clone())).collect());
        let mut entries: Entries = vec![("at", at)];
        self.placement.show(&mut entries);
        self.actions.show(&mut entries);
        Tree::table(entries)
    }
}
