//! A scenario as its file states it, every section read.

use crate::sections::{ConditionerSection, LinkSection, NodeSection, QueueSection, Settings, TrafficSection};
use crate::tcp::TcpSection;
use perhop_core::params::Tree;
use perhop_core::units::Span;

/// Sections of one kind by name, in the file's order.
pub type Named<T> = Vec<(String, T)>;

/// All sections; `[dumbbell]` is already expanded into them.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// `[scenario]`
    pub settings: Settings,
    /// `[nodes]`: those that are declared.
    pub nodes: Named<NodeSection>,
    /// `[links]`
    pub links: Named<LinkSection>,
    /// `[queue]`
    pub queues: Named<QueueSection>,
    /// `[conditioner]`
    pub conditioners: Named<ConditionerSection>,
    /// `[traffic]`
    pub traffic: Named<TrafficSection>,
    /// `[tcp]`
    pub tcp: Named<TcpSection>,
    /// `[[change]]`, in order of time.
    pub changes: Vec<Change>,
}

/// What differs from a time on.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// When.
    pub at: Span,
    /// The effective values that differ from those in force before.
    pub what: Tree,
}

/// The section called `name`.
pub fn find<'a, T>(sections: &'a Named<T>, name: &str) -> Option<&'a T> {
    sections.iter().find(|s| s.0 == name).map(|s| &s.1)
}
