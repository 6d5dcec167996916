//! `[[change]]` as written: a time, and keys of sections that the file has.

use crate::expand::series;
use crate::in_force::InForce;
use crate::resolve::ends::Keys;
use crate::sections::{chosen, model};
use crate::text::{tree, write};
use perhop_core::params::{Node, Place, Problem, Problems, Spanned, Table, Tree, Value, suggest};
use perhop_core::units::{Span, Time};

/// The sections a change may touch.
pub const SECTIONS: [&str; 4] = ["links", "queue", "conditioner", "traffic"];

/// What a change may set.
const MAY_CHANGE: &str = "a change may set parameters of conditioners, of AQMs and of traffic models, and rates of \
    links; `start` and `stop` of the traffic start and end flows";

/// The changes at one time.
#[derive(Clone, Debug)]
pub struct Overlay {
    /// When, after the start.
    pub at: Span,
    /// Its place.
    pub place: Place,
    /// Keys as in the file, series expanded.
    pub node: Node,
    /// Whether everything stated is in `node`.
    pub whole: bool,
}

impl Overlay {
    /// When, for the plan.
    pub fn time(&self) -> Time {
        Time::ZERO + self.at
    }

    /// Lays it over what was in force.
    pub fn over(&self, root: &Node) -> Node {
        let mut out = root.clone();
        for name in tree::names(&self.node, "conditioner") {
            let path = ["conditioner", name, "at"];
            if tree::get(&self.node, &path).is_some_and(|at| matches!(at.tree, Tree::Table(_)))
                && let Some(at) = tree::get_mut(&mut out, &path)
            {
                *at = port_table(at);
            }
        }
        tree::lay(&mut out, &self.node);
        out
    }

    /// One of the same time comes behind it: they are one, and the last word counts.
    pub fn join(&mut self, later: &Self) {
        tree::lay(&mut self.node, &later.node);
        self.whole &= later.whole;
    }

    /// Reports a key that cannot change.
    pub fn refuse(&self, path: &[&str], problems: &mut Problems) {
        let place = tree::nearest(&self.node, path).unwrap_or(self.place);
        let message = format!("`{}` cannot change while the scenario runs", write::dotted(path));
        problems.error("E202", place, message).help(MAY_CHANGE);
    }

    /// A problem of the whole tree `root` as this change's own: at what it states, as near as possible.
    pub fn own(&self, problem: Problem, root: &Node) -> Problem {
        let here = |place: &Place| *place == self.place || tree::path_to(&self.node, *place).is_some();
        let place = problem.place.filter(here).or_else(|| {
            let path = tree::path_to(root, problem.place?)?;
            tree::nearest(&self.node, &path)
        });
        Problem { place: Some(place.unwrap_or(self.place)), ..problem }
    }
}

/// Ports, one or a list, as a table without parameters.
fn port_table(at: &Node) -> Node {
    let port = |node: &Node| match &node.tree {
        Tree::Text(port) => Some((port.clone(), node.place, Node { place: node.place, ..Tree::table(vec![]).into() })),
        _ => None,
    };
    let entries = match &at.tree {
        Tree::Text(_) => port(at).into_iter().collect(),
        Tree::List(items) => items.iter().filter_map(port).collect(),
        _ => return at.clone(),
    };
    Node { place: at.place, tree: Tree::Table(Table { entries }) }
}

/// The overlays of a file in order of time; those of the same time are one, in the file's order.
pub fn all(stated: &Node, file: &InForce, problems: &mut Problems) -> Vec<Overlay> {
    let Some(node) = tree::get(stated, &["change"]) else { return Vec::new() };
    let Tree::List(items) = &node.tree else {
        let help = "write [[change]], with `at` and the keys that change below it";
        let message = format!("expected a list of changes, found {}", node.tree.noun());
        problems.error("E003", node.place, message).help(help);
        return Vec::new();
    };
    let mut out: Vec<_> = items.iter().filter_map(|item| overlay(item, file, problems)).collect();
    out.sort_by_key(|overlay| overlay.at);
    out.dedup_by(|later, first| {
        let same = later.at == first.at;
        if same {
            first.join(later);
        }
        same
    });
    out
}

/// One of them.
pub fn overlay(item: &Node, file: &InForce, problems: &mut Problems) -> Option<Overlay> {
    let table = problems.within("change", |problems| chosen::table(item, problems))?;
    let first = table.entries.first().map_or(item.place, |entry| entry.1);
    let at = table.get("at");
    let time = at.map(|at| (Span::read(at, problems), at.place));
    let found = problems.list.len();
    let node = series::expand(&tree::without(item, "at"), problems);
    let node = known(node, file, problems);
    let whole = problems.list.len() == found;
    let Some((time, place)) = time else {
        return problems
            .error("E005", first, "missing key `at` in [[change]]")
            .help("add the time of the change, as in at = \"30s\"")
            .none();
    };
    let at = time?;
    let duration = *file.model.settings.duration;
    if at == Span::ZERO {
        let help = "must be above 0s: a value that holds from the start belongs in its own section";
        return problems.error("E201", place, "`at` is 0s").help(help).none();
    }
    if at >= duration {
        let message = format!("`at` is {at}, but the run ends at {duration}");
        return problems.error("E201", place, message).help(format!("must be below {duration}")).none();
    }
    Some(Overlay { at, place, node, whole })
}

/// What the file has of it; the rest is reported and skipped.
fn known(node: Node, file: &InForce, problems: &mut Problems) -> Node {
    let Tree::Table(table) = node.tree else { return node };
    let mut entries = Vec::new();
    for (section, place, node) in table.entries {
        if !SECTIONS.contains(&section.as_str()) {
            unfit(&section, place, problems);
            continue;
        }
        let Some(names) = problems.within(&section, |problems| chosen::table(&node, problems)) else { continue };
        let named = |entry| Named { section: &section, file, problems: &mut *problems }.known(entry);
        let sound = names.entries.iter().filter_map(named).collect();
        entries.push((section, place, Node { place: node.place, tree: Tree::Table(Table { entries: sound }) }));
    }
    Node { place: node.place, tree: Tree::Table(Table { entries }) }
}

/// A section that no change may touch.
fn unfit(section: &str, place: Place, problems: &mut Problems) {
    if section == "dumbbell" {
        let help = "change the sections that it becomes: links.\"E1 - E2\", queue.bottleneck, conditioner.marker, traffic.bulk";
        problems.error("E202", place, "a change cannot state [dumbbell], which is expanded first").help(help);
    } else if model::SECTIONS.contains(&section) {
        problems.error("E202", place, format!("a change cannot state `{section}`")).help(MAY_CHANGE);
    } else {
        let message = format!("unknown key `{section}` in [[change]]");
        problems.error("E004", place, message).help(suggest(section, &[&SECTIONS[..], &["at"]].concat()));
    }
}

/// One entry of a section in a change.
struct Named<'a> {
    section: &'a str,
    file: &'a InForce,
    problems: &'a mut Problems,
}

impl Named<'_> {
    fn known(mut self, (name, place, node): &(String, Place, Node)) -> Option<(String, Place, Node)> {
        let names = tree::names(&self.file.root, self.section);
        let direction = self.section == "links" && Keys::new(self.file.model.links.names()).overrides(name);
        if !names.contains(&name.as_str()) && !direction {
            return self.unknown(&Spanned::new(*place, name.as_str()), &names);
        }
        self.problems
            .within(self.section, |problems| problems.within(name, |problems| chosen::table(node, problems)))?;
        let mut node = node.clone();
        let sound = self.same_algorithm(name, &node) && self.queue_stands_here(name, &node);
        (sound && self.ports(name, &mut node)).then(|| (name.clone(), *place, node))
    }

    fn unknown<T>(&mut self, name: &Spanned<&str>, names: &[&str]) -> Option<T> {
        let help = match names.is_empty() {
            true => format!("the file has no [{}]", self.section),
            false => suggest(name, names),
        };
        let noun = self.section.trim_end_matches('s');
        let label = "a change can alter only what the file has";
        self.problems
            .error("E006", name.place, format!("unknown {noun} `{}`", name.value))
            .label(label)
            .help(help)
            .none()
    }

    /// Whether `kind`, `aqm` or `model`, if stated, is the one that runs.
    fn same_algorithm(&mut self, name: &str, node: &Node) -> bool {
        let path = match self.section {
            "conditioner" => vec!["kind"],
            "queue" => vec!["aqm"],
            "traffic" => vec!["model"],
            _ => vec!["queue", "aqm"],
        };
        let Some(stated) = tree::get(node, &path) else { return true };
        let all = [vec![self.section, name], path].concat();
        let runs = tree::get(&self.file.root, &all).map_or("\"drop-tail\"".to_owned(), |n| n.tree.to_string());
        if stated.tree.to_string() == runs {
            return true;
        }
        let message = format!("{runs} cannot become {} during a run", stated.tree);
        self.problems.error("E202", stated.place, message).help(MAY_CHANGE);
        false
    }

    /// Whether a link's queue, if it is a table, is written at the link and not in a separate section.
    fn queue_stands_here(&mut self, name: &str, node: &Node) -> bool {
        let Some(stated) = tree::get(node, &["queue"]).filter(|n| matches!(n.tree, Tree::Table(_))) else {
            return true;
        };
        let has = tree::get(&self.file.root, &["links", name, "queue"]).map(|n| &n.tree);
        let (Some(Tree::Text(queue)), "links") = (has, self.section) else { return true };
        let message = format!("the queue of `{name}` is in [queue.{}]", write::key(queue));
        let help = format!("write the change as queue.{}", write::key(queue));
        self.problems.error("E202", stated.place, message).help(help);
        false
    }

    /// Drops what is stated for ports that are not the conditioner's; `false` where the ports themselves would change.
    fn ports(&mut self, name: &str, node: &mut Node) -> bool {
        let Some(at) = tree::get_mut(node, &["at"]).filter(|_| self.section == "conditioner") else { return true };
        let Tree::Table(stated) = &mut at.tree else {
            let help = "write the values of a port below it, as in at.\"A -> B\".cir = \"2Mbit/s\"";
            self.problems.error("E202", at.place, "the ports of a conditioner cannot change").help(help);
            return false;
        };
        let at = tree::get(&self.file.root, &["conditioner", name, "at"]).map(port_table);
        let Some(Tree::Table(ports)) = at.map(|at| at.tree) else { return false };
        let known: Vec<_> = ports.entries.iter().map(|e| e.0.as_str()).collect();
        stated.entries.retain(|(port, place, _)| {
            let sits = known.contains(&port.as_str());
            if !sits {
                let message = format!("conditioner `{name}` does not sit at port `{port}`");
                self.problems.error("E235", *place, message).help(suggest(port, &known));
            }
            sits
        });
        true
    }
}
