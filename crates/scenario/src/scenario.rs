//! The scenario: read, checked, ready to run.

use crate::build::Built;
use crate::change::{follow, overlay};
use crate::check::memory;
use crate::expand::{dumbbell, series, size};
use crate::in_force::InForce;
use crate::sections::model::{Change, Model};
use crate::sections::settings::Settings;
use crate::text::options::Options;
use crate::text::{tree, write};

use crate::resolve::offered::Flowline;
use perhop_core::params::{Node, Problems, Tree};
use perhop_core::units::Bytes;
use perhop_sim::plan::Plan;
use std::sync::Arc;

/// A checked scenario. Copies share what it says.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub(crate) model: Arc<Model>,
    pub(crate) built: Arc<Built>,
    pub(crate) stated: Arc<Node>,
}

/// Two scenarios are equal if the same values are in force in both.
impl PartialEq for Scenario {
    fn eq(&self, other: &Self) -> bool {
        self.model == other.model
    }
}

impl Scenario {
    /// The scenario of a tree without `[sweep]`.
    pub(crate) fn read(stated: Arc<Node>, options: &Options, problems: &mut Problems) -> Option<Self> {
        let root = expanded(&stated, problems)?;
        let base = InForce::new(root, &options.stem(), options.captures, problems);
        let overlays = overlay::all(&stated, &base, problems);
        let (changes, planned) = follow::follow(&base, &overlays, problems);
        let (model, mut built) = (Model { changes, ..base.model }, base.built?);
        built.plan.changes = planned;
        Some(Self { model: Arc::new(model), built: Arc::new(built), stated })
    }

    /// Its name: that of the run's directory.
    pub fn name(&self) -> &str {
        self.model.settings.name.as_ref().map_or("", |name| name.as_str())
    }

    /// `[scenario]` with every effective value.
    pub fn settings(&self) -> &Settings {
        &self.model.settings
    }

    /// The same with another seed.
    pub(crate) fn seeded(mut self, seed: u64) -> Self {
        Arc::make_mut(&mut self.model).settings.seed = seed;
        set_seed(Arc::make_mut(&mut self.stated), seed);
        self
    }

    /// The same as it ran when these were its changes.
    pub(crate) fn with_changes(mut self, changes: Vec<Change>) -> Self {
        Arc::make_mut(&mut self.model).changes = changes;
        self
    }

    /// The plan of one replication.
    pub fn plan(&self, seed: u64, replication: u32) -> Plan {
        Plan { seed, replication, ..self.built.plan.clone() }
    }

    /// The plan that all replications share, without seed and replication.
    pub fn common(&self) -> &Plan {
        &self.built.plan
    }

    /// What it is built of: the plan, the topology, what is offered.
    pub fn built(&self) -> &Built {
        &self.built
    }

    /// Every effective value, section by section.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Its traffic with routes.
    pub fn traffic(&self) -> &[Flowline] {
        &self.built.traffic
    }

    /// What a replication keeps in the end: queues, series, if asked for, and transfers, bytes.
    pub fn memory(&self) -> [Bytes; 3] {
        let Built { plan, .. } = &*self.built;
        let file = self.built.file(&self.model);
        let series = memory::series(file, &plan.links).map_or(Bytes::new(0), |series| series.bytes());
        let queues = Bytes::new(memory::queues(&plan.links));
        [queues, series, Bytes::new(memory::transfers(file, &plan.links).saturating_mul(memory::PER_TRANSFER))]
    }

    /// Every effective value as TOML, short forms expanded, without `[sweep]`; read again it gives the same model.
    pub fn effective(&self) -> String {
        self.model.toml(&self.model.settings)
    }

    /// The file as written, overrides applied, as TOML; read again it gives an equal scenario.
    pub fn to_toml(&self) -> String {
        to_toml(&self.stated, self.name())
    }
}

/// Short forms expanded; `None` if one has a fault. The rest is read even so, for its own.
pub(crate) fn expanded(stated: &Node, problems: &mut Problems) -> Option<Node> {
    if !size::check_series(stated, problems) {
        return None;
    }
    let found = problems.list.len();
    let plain = series::expand(&tree::without(stated, "change"), problems);
    let rest = (problems.list.len() > found).then(|| tree::without(&plain, "dumbbell").into_owned());
    let rest = match (dumbbell::expand(plain, problems), rest) {
        (Ok(root), None) => return Some(root),
        (_, Some(rest)) | (Err(rest), None) => rest,
    };
    Model::read(&rest, problems);
    None
}

/// States the seed.
pub(crate) fn set_seed(stated: &mut Node, seed: u64) {
    let path = ["scenario", "seed"].map(|part| (part.to_owned(), stated.place));
    tree::set(stated, &path, Tree::Integer(seed as i64).into(), &mut Problems::default());
}

/// The file as written, as TOML, with its resulting name.
pub(crate) fn to_toml(stated: &Node, name: &str) -> String {
    let mut stated = stated.clone();
    if tree::get(&stated, &["scenario", "name"]).is_none() {
        let path = [("scenario".to_owned(), stated.place), ("name".to_owned(), stated.place)];
        tree::set(&mut stated, &path, Tree::Text(name.to_owned()).into(), &mut Problems::default());
    }
    write::toml(&stated.tree)
}
