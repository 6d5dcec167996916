//! The scenario: read, checked, ready to run.

use crate::build::Built;
use crate::change::{follow, overlay};
use crate::expand::{dumbbell, series};
use crate::in_force::InForce;
use crate::sections::model::Model;
use crate::sections::settings::Settings;
use crate::text::{tree, write};

use perhop_core::params::{Node, Problems, Tree};
use perhop_sim::plan::Plan;

/// A checked scenario.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub(crate) model: Model,
    pub(crate) built: Built,
    stated: Node,
}

/// Two scenarios are equal if the same values are in force in both.
impl PartialEq for Scenario {
    fn eq(&self, other: &Self) -> bool {
        self.model == other.model
    }
}

impl Scenario {
    /// The scenario of a tree without `[sweep]`.
    pub(crate) fn read(stated: &Node, stem: &str, problems: &mut Problems) -> Option<Self> {
        let found = problems.list.len();
        let plain = series::expand(&tree::without(stated, "change"), problems);
        let sound = problems.list.len() == found;
        let Some(root) = dumbbell::expand(&plain, problems).filter(|_| sound) else {
            Model::read(&tree::without(&plain, "dumbbell"), problems);
            return None;
        };
        let base = InForce::new(root, stem, problems);
        let overlays = overlay::all(stated, &base, problems);
        let (changes, planned) = follow::follow(base.clone(), &overlays, problems);
        let (model, mut built) = (Model { changes, ..base.model }, base.built?);
        built.plan.changes = planned;
        Some(Self { model, built, stated: stated.clone() })
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
        self.model.settings.seed = seed;
        set_seed(&mut self.stated, seed);
        self
    }

    /// The plan of one replication.
    pub fn plan(&self, seed: u64, replication: u32) -> Plan {
        Plan { seed, replication, ..self.built.plan.clone() }
    }

    /// Every effective value as TOML, short forms expanded, without `[sweep]`; read again it gives the same model.
    pub fn effective(&self) -> String {
        write::toml(&self.model.tree())
    }

    /// The file as written, overrides applied, as TOML; read again it gives an equal scenario.
    pub fn to_toml(&self) -> String {
        to_toml(&self.stated, self.name())
    }
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
