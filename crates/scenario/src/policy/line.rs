//! `queue` and `link` of a policy: the queue on a line that a capture is replayed into.
//!
//! It is a scenario of one link from nowhere to nowhere, so that everything said about queues holds here too.

use super::labels::Labeller;
use crate::build;
use crate::check::labels::{Unwritten, does_without, writer_of};
use crate::resolve::topology;
use crate::sections::model::Model;
use crate::sections::settings::PolicySettings;
use perhop_core::aqm::Aqm as _;
use perhop_core::conditioner::Conditioner as _;
use perhop_core::params::{Node, Place, Problems, Table, Tree, Value as _};
use perhop_core::scope::Scope;
use perhop_core::units::BitRate;
use perhop_sim::Plan;

/// The one link, in messages and as the name of its queue's random stream.
const LINK: &str = "capture -> line";

/// What surrounds the queue.
pub(super) struct Surroundings<'a> {
    pub(super) settings: &'a PolicySettings,
    /// The conditioners before it.
    pub(super) built: &'a [Labeller<'a>],
    pub(super) scope: Scope,
}

/// The plan of the one link, if there is one.
pub(super) fn read(mut model: Model, around: &Surroundings<'_>, problems: &mut Problems) -> Option<Plan> {
    if model.links.declared().is_empty() {
        return None;
    }
    (model.settings.accounting, model.settings.seed) = (around.settings.accounting, around.settings.seed);
    topology::fill_defaults(&mut model.links);
    let plan = build::alone(&model, &around.scope, problems)?;
    labelled(&plan, around, problems);
    Some(plan)
}

/// E236, for TRED W332: an AQM that reads labels needs a conditioner that writes them, or flow labels that bring them.
fn labelled(plan: &Plan, around: &Surroundings<'_>, problems: &mut Problems) {
    let settings = around.settings;
    let place = settings.queue.as_ref().map(|name| name.place);
    for queue in plan.links[0].queues.iter().filter(|_| settings.flow_label.is_none()) {
        let Some(read) = queue.aqm.build(&queue.scope).ok().and_then(|aqm| aqm.reads()) else { continue };
        if !around.built.iter().any(|it| it.conditioner.writes() == read) {
            let message = format!("aqm \"{}\" reads {}, and no conditioner writes them", queue.aqm.name(), read.noun());
            let does_without = does_without(read, false);
            Unwritten { place, does_without, message }.report(writer_of(read), problems);
        }
    }
}

/// The keys of the link: the first two are needed, or none.
fn link(stated: &Node, problems: &mut Problems) -> Option<Table> {
    let Tree::Table(table) = &stated.tree else { return None };
    let [queue, rate, framing] =
        ["queue", "link", "framing"].map(|key| table.entries.iter().find(|entry| entry.0 == key));
    match (queue, rate) {
        (Some(queue), Some(rate)) => {
            let entry = |name: &str, (_, place, node): &(String, Place, Node)| (name.to_owned(), *place, node.clone());
            let framing = framing.map(|framing| entry("framing", framing));
            Some(Table { entries: [entry("rate", rate), entry("queue", queue)].into_iter().chain(framing).collect() })
        }
        (Some((_, place, _)), None) => {
            let help =
                "add the rate of the line behind the queue, as in --link 10Mbit/s, or link = \"10Mbit/s\" in [policy]";
            problems.error("E005", *place, "`queue` without `link`").help(help).none()
        }
        (None, Some((_, place, _))) => {
            let help = "name a [queue.X] of the policy, as in --queue X, or queue = \"X\" in [policy]";
            problems.error("E005", *place, "`link` without `queue`").help(help).none()
        }
        (None, None) => {
            let (_, place, _) = framing?;
            let help = "add the queue and the rate of its line, as in --queue X --link 10Mbit/s";
            problems.error("E005", *place, "`framing` without `link`").help(help).none()
        }
    }
}

/// Whether its rate is above 0, or E201.
fn flows(link: &Table, problems: &mut Problems) -> bool {
    let rate = link.get("rate").filter(|node| BitRate::read(node, &mut Problems::default()) == Some(BitRate::bps(0)));
    rate.is_none_or(|node| {
        problems.error("E201", node.place, "`link` is 0bit/s").help("must be above 0").none::<()>().is_some()
    })
}

/// A scenario of the policy's queues and, if `[policy]` (`stated`) asks for one, that link.
pub(super) fn model(table: &Table, stated: Option<&Node>, problems: &mut Problems) -> Model {
    let link = stated.and_then(|stated| link(stated, problems)).filter(|link| flows(link, problems));
    let section = |name: &str, place: Place, tree: Tree| (name.to_owned(), place, Node { place, tree });
    let queues = table.entries.iter().filter(|entry| entry.0 == "queue").cloned();
    let links = link.map(|link| {
        let place = link.entries[0].1;
        let links = Table { entries: vec![section(LINK, place, Tree::Table(link))] };
        section("links", place, Tree::Table(links))
    });
    Model::read(&Tree::Table(Table { entries: queues.chain(links).collect() }).into(), problems)
}
