//! Timed changes: what each alters in the model and in the plan.
//!
//! A change is an overlay: keys as in the file, laid over all that was in force before. The resulting tree is read and
//! built with every check; what then differs from before is what has to be altered.

use super::overlay::Overlay;
use crate::build::Built;
use crate::in_force::InForce;
use crate::resolve::topology::{Direction, PortNode, PortQueue};
use crate::sections::conditioner::{Actions, Placement};
use crate::sections::model::{Change, Model};
use crate::sections::queue::QueueCommon;
use crate::sections::traffic::TrafficCommon;
use crate::text::tree::{difference, leaves};
use perhop_core::params::{Field, Params, Place, Problem, Problems, Severity, Tree};
use perhop_sim::plan::{self, Alteration};

/// Every change in order of time, for the model and for the plan. All faults are reported; a change that has one is
/// skipped, so that later ones can still be checked. What no packet reaches must be unreached all the time (W321).
pub fn follow(base: &InForce, overlays: &[Overlay], problems: &mut Problems) -> (Vec<Change>, Vec<plan::Change>) {
    let (mut changes, mut planned) = (Vec::new(), Vec::new());
    let mut said = Review { known: problems.list.clone(), problems };
    let mut changed = None;
    for overlay in overlays {
        let Some(laid) = said.lay(changed.as_ref().unwrap_or(base), overlay) else { continue };
        planned.extend(laid.what.map(|what| plan::Change { at: overlay.time(), what }));
        changes.extend(laid.change);
        changed = Some(laid.after);
    }
    (changes, planned)
}

/// What one change made.
#[derive(Debug)]
pub struct Laid {
    /// What is in force from then.
    pub after: InForce,
    /// What has to be altered; `None`: nothing.
    pub what: Option<Vec<Alteration>>,
    /// What differs in effective values.
    pub change: Option<Change>,
}

/// What was found of the file and of the changes so far.
#[derive(Debug)]
pub struct Review<'a> {
    /// What is not said again.
    pub known: Vec<Problem>,
    /// All that is said.
    pub problems: &'a mut Problems,
}

impl Review<'_> {
    /// Lays a change over what was in force before; `None` if it has a fault.
    pub fn lay(&mut self, before: &InForce, overlay: &Overlay) -> Option<Laid> {
        let Self { known, problems } = self;
        let mut found = Problems::default();
        let stem = before.model.settings.name.as_ref().map(|name| name.value.clone()).unwrap_or_default();
        let after = InForce::new(overlay.over(&before.root), &stem, before.captures, &mut found);
        let step = step(before, &after, overlay, &mut found);
        let faulty = found.has_errors();
        problems.list.retain(|problem| faulty || problem.code != "W321" || among(&found.list, problem));
        found.list.retain(|problem| !among(known, problem));
        // What is skipped needs no warnings.
        found.list.retain(|problem| !faulty || problem.severity == Severity::Error);
        known.extend(found.list.iter().cloned());
        problems.list.extend(found.list.into_iter().map(|problem| overlay.own(problem, &after.root)));
        if faulty {
            return None;
        }
        let (what, tree) = step.unwrap_or_default();
        Some(Laid { after, what, change: tree.map(|what| Change { at: overlay.at, what }) })
    }
}

/// Whether the same is said of the same place, whatever its circumstances.
fn among(list: &[Problem], it: &Problem) -> bool {
    list.iter().any(|other| (other.code, other.place, other.sentence()) == (it.code, it.place, it.sentence()))
}

/// What differs from one to the next, in effective values and in the plan; `None` while there is any error.
fn step(
    before: &InForce,
    after: &InForce,
    overlay: &Overlay,
    problems: &mut Problems,
) -> Option<(Option<Vec<Alteration>>, Option<Tree>)> {
    if problems.has_errors() {
        return None;
    }
    let what = difference(&before.model.effective().tree, &after.model.effective().tree);
    let plans = (before.built.as_ref()?, after.built.as_ref()?);
    let step = Step { plans, model: &after.model, overlay, problems };
    Some((step.alterations(what.as_ref()), what))
}

/// From one plan to the next.
struct Step<'a> {
    plans: (&'a Built, &'a Built),
    model: &'a Model,
    overlay: &'a Overlay,
    problems: &'a mut Problems,
}

impl Step<'_> {
    /// What has to be altered, from what differs in effective values; `None` if nothing is, or if it cannot be.
    fn alterations(mut self, what: Option<&Tree>) -> Option<Vec<Alteration>> {
        let paths = what.map(leaves).unwrap_or_default();
        let fixed: Vec<_> = paths.iter().filter(|path| !may_change(path)).collect();
        fixed.iter().for_each(|path| self.overlay.refuse(path, self.problems));
        if !fixed.is_empty() {
            return None;
        }
        if !self.keeps_trees() {
            return None;
        }
        self.check_limits();
        let (old, new) = self.plans;
        let (alterations, mut plan) = (old.plan.alterations(&new.plan), old.plan.clone());
        for alteration in &alterations {
            if let Err(error) = plan.alter(alteration) {
                let place = self.place(alteration, error.field);
                self.problems.param(&error, place);
            }
        }
        if alterations.is_empty() && self.overlay.whole {
            let message = format!("the change at {} changes nothing", self.overlay.at);
            let help = "remove it: the value is in force already, or nothing uses it (a port's own value overrides its section's)";
            self.problems.warn("W311", self.overlay.place, message).help(help);
        }
        (!alterations.is_empty()).then_some(alterations)
    }

    /// A limit in time is converted to bytes, which do not change; nor does that of a class given another queue.
    fn check_limits(&mut self) {
        let (old, new) = self.plans;
        for (before, after) in old.topology.links.iter().zip(&new.topology.links) {
            let queues = before.queues.iter().zip(&after.queues).filter(|(old, new)| old.limit != new.limit);
            for (was, queue) in queues {
                let (was, is) = (*was.queue.common.limit, *queue.queue.common.limit);
                if was == is {
                    self.limit_by_rate(after, queue);
                } else {
                    let message = format!("the `limit` of a queue at `{}` would change from {was} to {is}", after.name);
                    let help = "give the class a queue with the same `limit`: limits are fixed during a run";
                    self.problems.error("E202", queue.place("limit"), message).help(help);
                }
            }
        }
    }

    /// A port keeps its tree: which nodes there are, and which of them have a shaper. One that does not is compared no
    /// further.
    fn keeps_trees(&mut self) -> bool {
        let (old, new) = self.plans;
        let form = |link: &Direction| link.nodes.iter().map(PortNode::form).collect::<Vec<_>>();
        let mut kept = true;
        for (before, after) in old.topology.links.iter().zip(&new.topology.links) {
            if form(before) != form(after) {
                kept = false;
                let message = format!(
                    "the change would alter the classes, schedulers or shapers of the tree of queues at `{}`",
                    after.name
                );
                let help = "which queues, schedulers and shapers there are is fixed when the run begins; a change may alter what \
                    they get";
                let root = after.nodes.first();
                let classes = root.filter(|_| before.queues.len() != after.queues.len());
                let classes = classes.and_then(|root| Some(root.scheduler.as_ref()?.place("classes")));
                let place = classes.or(root.map(|root| root.place)).unwrap_or(self.overlay.place);
                self.problems.error("E202", place, message).help(help);
            }
        }
        kept
    }

    fn limit_by_rate(&mut self, link: &Direction, queue: &PortQueue) {
        let message = format!("the `limit` of the queue at `{}` would change with the rate", link.name);
        let label = format!("`limit` is {} at the link's rate", *queue.queue.common.limit);
        let help = "write `limit` in packets or bytes: limits are fixed during a run";
        self.problems.error("E202", link.rate.place, message).label(label).help(help);
    }

    /// The place of a parameter that is altered.
    fn place(&self, alteration: &Alteration, field: &str) -> Place {
        let new = self.plans.1;
        match alteration {
            Alteration::Conditioner { link, name, .. } => {
                let stage = new.stages.iter().find(|s| s.link == *link && s.spec.name == *name);
                stage.expect("a stage of this plan").places.at(field)
            }
            Alteration::Aqm { link, queue, .. } => new.topology.links[*link].queues[*queue].place(field),
            Alteration::Scheduler { link, node, .. } => {
                let scheduler = new.topology.links[*link].nodes[*node].scheduler.as_ref();
                scheduler.expect("a scheduler of this plan").place(field)
            }
            Alteration::Shaper { link, node, .. } => {
                let shaper = new.topology.links[*link].nodes[*node].shaper.as_ref();
                shaper.expect("a shaper of this plan").place(field)
            }
            Alteration::Rate { link, .. } => new.topology.links[*link].rate.place,
            Alteration::Traffic { table, .. } => {
                let section = self.model.traffic.get(&new.plan.traffic[*table].name);
                section.expect("traffic of this plan").model.place(field)
            }
        }
    }
}

/// Whether the value at `path` may change during a run.
fn may_change(path: &[&str]) -> bool {
    let among = |fields: &'static [Field], key: &str| Field::all(fields).iter().any(|field| field.name == key);
    match path {
        ["links", _, "rate"] | ["conditioner", _, "at", _, _, ..] => true,
        ["links", _, "queue", key, ..] | ["queue", _, key, ..] => {
            !["aqm", "scheduler"].contains(key) && !among(QueueCommon::FIELDS, key)
        }
        ["conditioner", _, key, ..] => {
            !["at", "kind"].contains(key) && !among(Placement::FIELDS, key) && !among(Actions::FIELDS, key)
        }
        ["traffic", _, key, ..] => *key != "model" && !among(TrafficCommon::FIELDS, key),
        _ => false,
    }
}
