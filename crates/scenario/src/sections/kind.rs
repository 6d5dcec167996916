//! What a file is: its sections say so, as they were parsed, for every verb and for Python.

use super::model;
use perhop_core::params::{Node, Place, Problems, Table, Tree, suggest};

/// The sections of a policy file; all but the first may be a scenario's too.
pub const OF_POLICY: [&str; 3] = ["policy", "conditioner", "queue"];

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It has a section that only a scenario has.
    Scenario,
    /// It has `[policy]`, or conditioners and queues alone.
    Policy,
    /// It has no section of the two: a device's configuration, say.
    Other,
}

impl Kind {
    /// What the file with this tree is; `None` if it is empty or has sections that only a scenario has beside `[policy]`,
    /// so that what is wrong with it depends on what it is taken for.
    pub fn of(root: &Node) -> Option<Self> {
        let Tree::Table(table) = &root.tree else { return None };
        let has = |sections: &[&str]| first(table, |name| sections.contains(&name)).is_some();
        match (first(table, is_scenarios).is_some(), has(&OF_POLICY[..1])) {
            (true, true) => None,
            (true, false) => Some(Self::Scenario),
            (false, true) => Some(Self::Policy),
            (false, false) if table.entries.is_empty() => None,
            (false, false) => Some(if has(&OF_POLICY) { Self::Policy } else { Self::Other }),
        }
    }

    /// Reports a file that is something else: one problem, which says just that. `None` if it is.
    pub fn check(self, root: &Node, problems: &mut Problems) -> Option<()> {
        let found = Self::of(root).filter(|&found| found != self);
        let (Some(found), Tree::Table(table)) = (found, &root.tree) else { return Some(()) };
        let shows = |name: &str| found != Self::Scenario || is_scenarios(name);
        let (name, place) = first(table, shows)?;
        match found {
            Self::Scenario => {
                let message = format!("a scenario where a policy is needed: the file has [{name}]");
                let help = "use `perhop run` for a scenario; a policy has only [conditioner], [queue] and [policy]";
                problems.error("E027", None, message).help(help).none()
            }
            Self::Policy => {
                let message = format!("a policy where a scenario is needed: the file has [{name}] and no [links]");
                let help =
                    "`perhop mark` and `perhop meter` take a policy by --policy; `check` and `explain` take both kinds";
                problems.error("E027", None, message).help(help).none()
            }
            Self::Other => {
                let known = [&model::SECTIONS[..], &OF_POLICY[..1]].concat();
                let message =
                    format!("neither a scenario nor a policy: the file has [{name}] and no section of either");
                problems.error("E248", place, message).help(suggest(name, &known)).none()
            }
        }
    }
}

/// Whether only a scenario has this section.
fn is_scenarios(name: &str) -> bool {
    model::SECTIONS.contains(&name) && !OF_POLICY.contains(&name)
}

/// The first section of its kind, and its place.
fn first(table: &Table, is: impl Fn(&str) -> bool) -> Option<(&str, Place)> {
    table.entries.iter().find(|entry| is(&entry.0)).map(|entry| (entry.0.as_str(), entry.1))
}
