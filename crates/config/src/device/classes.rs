//! The classes of a scheduler that have queues, and what each takes: `headers` are those of the load, for the classes of templates.

use perhop_core::classify::{FlowHeaders, Match, Prefix};
use perhop_core::dscp::Dscp;
use perhop_core::params::{Node, Problems, Tree, read_table};
use perhop_core::port::NodeSpec;
use perhop_core::sched::{Entry, Layout, Template, Whom};
use perhop_scenario::sections::queue::{is_parent, parents};
use perhop_scenario::text::tree;
use std::collections::BTreeSet;
use std::net::IpAddr;

/// A class with a queue.
pub(crate) struct Leaf {
    /// Its number in the scheduler's list.
    pub(crate) class: usize,
    /// The node of its queue.
    pub(crate) node: usize,
    /// In comments and messages.
    pub(crate) name: String,
    /// What any of which it takes.
    pub(crate) takes: Result<Vec<Match>, String>,
    /// Whether it takes other packets than the one before it, of the same kind.
    pub(crate) alike: bool,
}

/// Whether it has classes.
pub(crate) fn is_classful(node: &NodeSpec) -> bool {
    node.scheduler().is_some_and(|params| params.layout().is_some())
}

/// Whether a class is written: of a template, those of the addresses that there are.
pub(crate) fn used(layout: &Layout, leaves: &[Leaf], class: usize) -> bool {
    layout.template(class).is_none() || leaves.iter().any(|leaf| leaf.class == class)
}

/// The classes of a scheduler that have queues; of a template one for each address of the load's headers, and that of all others.
pub(crate) fn leaves(headers: &[FlowHeaders], node: &NodeSpec, children: &[usize]) -> Vec<Leaf> {
    let items = all_classes(node);
    let parents = parents(&items);
    let layout = node.scheduler().and_then(|params| params.layout());
    let entries = layout.map_or_else(|| (0..items.len()).map(Entry::Class).collect(), |layout| layout.entries.clone());
    let (mut leaves, mut at) = (Vec::new(), 0);
    for (i, entry) in entries.iter().enumerate().filter(|(i, _)| !is_parent(&items[*i], &parents)) {
        match entry {
            Entry::Class(class) => {
                let takes = takes(&items[i]).map(|it| vec![it]);
                leaves.push(Leaf {
                    class: *class,
                    node: children[at],
                    name: called(&items[i], leaves.len()),
                    takes,
                    alike: false,
                });
                at += 1;
            }
            Entry::Template(template) => {
                leaves.extend(of_template(headers, template, &children[at..]));
                at += template.others - template.plans[0].classes.start + 1;
            }
        }
    }
    leaves
}

fn of_template(headers: &[FlowHeaders], template: &Template, children: &[usize]) -> Vec<Leaf> {
    let (first, mut given) = (template.plans[0].classes.start, vec![0; template.plans.len()]);
    let (mut leaves, mut known) = (Vec::new(), BTreeSet::new());
    for headers in headers {
        let Some(plan) = template.plans.iter().position(|plan| plan.filter.flow(headers)) else { continue };
        let full =
            given.iter().sum::<usize>() == template.slots as usize || given[plan] == template.plans[plan].classes.len();
        let takes = whole(template.per, headers);
        let name = [&takes.source, &takes.destination].into_iter().flatten().map(|it| it.0.addr().to_string());
        let name = name.collect::<Vec<_>>().join(" > ");
        if full || !known.insert(name.clone()) {
            continue;
        }
        let class = template.plans[plan].classes.start + given[plan];
        given[plan] += 1;
        leaves.push(Leaf {
            class,
            node: children[class - first],
            name,
            takes: Ok(vec![takes]),
            alike: !leaves.is_empty(),
        });
    }
    let any = template.plans.iter().map(|plan| plan.filter.matches.clone().unwrap_or_default()).collect();
    let (class, name) = (template.others, "of all other addresses".into());
    leaves.push(Leaf { class, node: children[class - first], name, takes: Ok(any), alike: false });
    leaves
}

/// The addresses of a flow that a template looks at.
fn whole(per: Whom, headers: &FlowHeaders) -> Match {
    let only = |address: IpAddr| vec![Prefix(address.into())];
    let (source, destination) = (only(headers.source), only(headers.destination));
    match per {
        Whom::Source => Match { source, ..Match::default() },
        Whom::Destination => Match { destination, ..Match::default() },
        Whom::Pair => Match { source, destination, ..Match::default() },
    }
}

/// The classes of a scheduler, as they are written; none of one over flows.
pub(crate) fn all_classes(node: &NodeSpec) -> Vec<Node> {
    let mut shown = Vec::new();
    node.scheduler().into_iter().for_each(|params| params.show(&mut shown));
    match shown.into_iter().find(|(key, _)| *key == "classes") {
        Some((_, Tree::List(items))) => items,
        _ => Vec::new(),
    }
}

/// A class by its name or its number.
fn called(class: &Node, i: usize) -> String {
    match tree::get(class, &["name"]).map(|name| &name.tree) {
        Some(Tree::Text(name)) => format!("{name:?}"),
        _ => (i + 1).to_string(),
    }
}

/// What a class takes.
///
/// # Errors
/// No header says it.
pub(crate) fn takes(class: &Node) -> Result<Match, String> {
    if let Some(matches) = tree::get(class, &["match"]) {
        return Ok(read_table(matches, &mut Problems::default()).expect("read once before"));
    }
    let codes = match tree::get(class, &["for"]).map(|it| &it.tree) {
        Some(Tree::List(items)) => items.iter().map(|item| code(&item.tree)).collect(),
        Some(one) => vec![code(one)],
        None => Vec::new(),
    };
    let dscp = codes.into_iter().collect::<Option<_>>();
    dscp.map(|dscp| Match { dscp, ..Match::default() }).ok_or_else(|| "colours: write code points in `for`".into())
}

/// `None`: it is a colour.
fn code(member: &Tree) -> Option<Dscp> {
    match member {
        Tree::Text(text) => text.parse().ok(),
        _ => None,
    }
}
