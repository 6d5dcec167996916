//! The queueing disciplines and classes of a port, as `tc -s` calls them: with the numbers and words of the commands that make them.

use super::script::{Line, Port, Script};
use super::{near, police, ports};
use crate::device::classes;
use crate::tc::numbers::printed_rate;
use perhop_core::classify::FlowHeaders;
use perhop_core::conditioner::ConditionerParams;
use perhop_core::counter::Part;
use perhop_core::port::Inside;
use perhop_core::sched::{Entry, SchedulerParams};
use perhop_core::units::BitRate;
use perhop_sim::plan::{Link, Plan};
use std::collections::{BTreeMap, BTreeSet};

/// A queueing discipline or a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Object {
    /// `qdisc htb 1:`, `class htb 1:11`
    pub(crate) name: String,
    /// What follows in its line: `dev p0 root r2q 10`, `parent 1:1 rate 5Mbit ceil 10Mbit`
    pub(crate) stated: String,
}

/// Those of a link's port, by their node in its specification; of a template, the classes of the addresses in `headers`.
pub(crate) fn objects(plan: &Plan, link: usize, headers: &[FlowHeaders]) -> BTreeMap<(usize, Part), Object> {
    let (mut said, it) = (Script::default(), &plan.links[link]);
    let (near, headers) = (near(plan, link), headers.to_vec());
    let port = Port { near, accounting: plan.accounting, link: it, line: Line::Virtual, headers };
    ports::say(&port, &mut said);
    let made = said.commands.iter().map(|command| Made::of(&command.argv)).collect();
    let mut walk = Walk { port: &port, link: it, made, handles: 0, found: BTreeMap::new() };
    walk.port(ports::holds_itself(&port));
    walk.policers();
    walk.found
}

/// What a command makes.
struct Made {
    /// `1:` or `1:11`
    id: String,
    parent: String,
    kind: String,
    /// Its options.
    words: String,
}

impl Made {
    fn of(argv: &[String]) -> Self {
        let after = |word: &str| argv.iter().position(|it| it == word).map(|at| &argv[at + 1..]);
        let rest = after("handle").or_else(|| after("classid")).unwrap_or_default();
        let word = |i: usize| rest.get(i).cloned().unwrap_or_default();
        let parent = after("parent").and_then(|rest| rest.first().cloned()).unwrap_or_default();
        let words: Vec<_> = rest.iter().skip(2).map(|word| rate_text(word)).collect();
        Self { id: word(0), parent, kind: word(1), words: words.join(" ") }
    }
}

/// A rate as tc prints it: `10000000bit` is `10Mbit`.
fn rate_text(word: &str) -> String {
    let rate = word.strip_suffix("bit").and_then(|rate| rate.parse().ok());
    rate.map_or_else(|| word.to_owned(), |rate| printed_rate(BitRate::bps(rate)))
}

/// The tree of a port, in the order in which its commands are written.
struct Walk<'a> {
    port: &'a Port<'a>,
    link: &'a Link,
    made: Vec<Made>,
    handles: usize,
    found: BTreeMap<(usize, Part), Object>,
}

impl Walk<'_> {
    /// The first number is of the link's own rate, unless the port keeps that itself.
    fn port(&mut self, holds_itself: bool) {
        let at = if holds_itself { "root".to_owned() } else { format!("parent {}1", self.handle()) };
        match self.link.nodes.is_empty() {
            true => _ = self.qdisc(0, Part::Whole, &at, self.link.queues[0].aqm.name()),
            false => self.node(0, &at),
        }
    }

    fn policers(&mut self) {
        for (i, stage) in self.link.edge.iter().enumerate() {
            let ConditionerParams::TokenBucketMarker(bucket) = &stage.params else { continue };
            let stated = police::policer(bucket, stage).unwrap_or_default();
            let object = Object { name: format!("police {}", i + 1), stated };
            self.found.insert((0, Part::Policer(i)), object);
        }
    }

    fn handle(&mut self) -> String {
        self.handles += 1;
        format!("{:x}:", self.handles)
    }

    /// One of this name, unless its command says another; its number.
    fn qdisc(&mut self, node: usize, part: Part, at: &str, name: &str) -> String {
        let handle = self.handle();
        let stated = format!("dev {} {at}", self.port.near.device);
        self.add(node, part, ["qdisc", name, &handle], stated);
        handle
    }

    fn add(&mut self, node: usize, part: Part, [what, name, id]: [&str; 3], stated: String) {
        let made = self.made.iter().find(|made| made.id == id);
        let (kind, words) = made.map_or((name, ""), |made| (&made.kind, &made.words));
        let stated = format!("{stated} {words}").trim_end().to_owned();
        self.found.insert((node, part), Object { name: format!("{what} {kind} {id}"), stated });
    }

    fn node(&mut self, index: usize, at: &str) {
        let node = &self.link.nodes[index];
        let at = match node.shaper {
            Some(_) => format!("parent {}1", self.qdisc(index, Part::Shaper, at, "tbf")),
            None => at.to_owned(),
        };
        match &node.inside {
            Inside::Queue(queue) => _ = self.qdisc(index, Part::Whole, &at, self.link.queues[*queue].aqm.name()),
            Inside::Scheduler(params) => self.scheduler(index, params, &at),
        }
    }

    fn scheduler(&mut self, index: usize, params: &SchedulerParams, at: &str) {
        let handle = self.qdisc(index, Part::Whole, at, params.name());
        let nodes = &self.link.nodes;
        let Some(layout) = params.layout() else { return };
        let children: Vec<_> = (0..nodes.len()).filter(|&child| nodes[child].parent == Some(index)).collect();
        let leaves = classes::leaves(&self.port.headers, &nodes[index], &children);
        let stated =
            layout.entries.iter().filter_map(|entry| if let Entry::Class(it) = entry { Some(*it) } else { None });
        let classes: BTreeSet<_> = stated.chain(leaves.iter().map(|leaf| leaf.class)).collect();
        classes.into_iter().for_each(|class| self.class(index, class, &handle));
        for leaf in leaves {
            self.node(leaf.node, &format!("parent {handle}{:x}", leaf.class + 1));
        }
    }

    /// Of the kind of its queueing discipline.
    fn class(&mut self, node: usize, class: usize, handle: &str) {
        let kind = self.found.get(&(node, Part::Whole)).and_then(|it| it.name.split(' ').nth(1));
        let kind = kind.unwrap_or_default().to_owned();
        let id = format!("{handle}{:x}", class + 1);
        let made = self.made.iter().find(|made| made.id == id);
        let parent = made.map_or(handle, |made| &made.parent).to_owned();
        self.add(node, Part::Class(class), ["class", &kind, &id], format!("parent {parent}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::as_tc::script::passing;
    use perhop_scenario::sweep::Sweep;
    use perhop_scenario::text::options::Options;
    use std::path::Path;

    /// Numbers and kinds are those of the commands of `explain --as tc`, at every port that tc can express.
    #[test]
    fn objects_are_those_of_the_commands() {
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").read_dir().unwrap();
        let mut seen = BTreeSet::new();
        for path in examples.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()) {
            let Ok((sweep, _)) = Sweep::load(&path, &Options::new("x.toml")) else { continue };
            let plan = &sweep.base.built().plan;
            for link in 0..plan.links.len() {
                let mut said = Script::default();
                let near = near(plan, link);
                let headers = passing(&sweep.base, link);
                let it = &plan.links[link];
                let port = Port { near, accounting: plan.accounting, link: it, line: Line::Virtual, headers };
                ports::say(&port, &mut said);
                if !said.refused().is_empty() {
                    continue;
                }
                let of =
                    |argv: &[String]| Some(format!("{} {} {}", argv.get(3)?, Made::of(argv).kind, Made::of(argv).id));
                let made: BTreeSet<_> = said.commands.iter().filter_map(|it| of(&it.argv)).collect();
                let made: BTreeSet<_> = made.into_iter().filter(|it| !it.starts_with("filter")).collect();
                let own: BTreeSet<_> = objects(plan, link, &port.headers).into_values().map(|it| it.name).collect();
                // Bands have no command, nor is the class of the link's own rate among the objects of its queues.
                let implied = |name: &&String| name.starts_with("class prio") || name.starts_with("class ets");
                let ours: BTreeSet<_> =
                    own.iter().filter(|it| !implied(it) && !it.starts_with("police")).cloned().collect();
                let of_link = if ours.iter().any(|it| it.ends_with(" 1:")) {
                    vec![]
                } else {
                    vec!["qdisc htb 1:", "class htb 1:1"]
                };
                let theirs: BTreeSet<_> = made.iter().filter(|it| !of_link.contains(&it.as_str())).cloned().collect();
                assert_eq!(ours, theirs, "{}: {}", path.display(), plan.links[link].name);
                seen.extend(ours.iter().map(|it| it.split(' ').nth(1).unwrap_or_default().to_owned()));
            }
        }
        assert!(["htb", "cake", "tbf", "prio", "pfifo"].iter().all(|kind| seen.contains(*kind)), "{seen:?}");
    }
}
