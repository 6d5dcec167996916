//! What is in force for some stretch of time.

use crate::build::{self, Built};
use crate::resolve::{captured, offered, topology};
use crate::sections::model::Model;
use crate::text::options::Captures;
use perhop_core::params::{Node, Problems, Spanned};

/// What a file says for some stretch of time, read and built.
#[derive(Clone, Debug)]
pub struct InForce {
    /// Short forms expanded.
    pub root: Node,
    /// What was read, defaults filled in.
    pub model: Model,
    /// `None` if it cannot run.
    pub built: Option<Built>,
    /// Who reads its captures.
    pub captures: Captures,
}

impl InForce {
    /// Reads and builds a tree without short forms; its name is `stem` unless it gives one.
    pub fn new(root: Node, stem: &str, captures: Captures, problems: &mut Problems) -> Self {
        let mut model = Model::read(&root, problems);
        let place = model.settings.place;
        model.settings.name.get_or_insert_with(|| Spanned::new(place, stem.to_owned()));
        topology::fill_defaults(&mut model.links);
        offered::fill_defaults(&mut model.traffic);
        captured::load(&mut model.traffic, captures, *model.settings.duration, problems);
        let built = build::build(&model, problems);
        Self { root, model, built, captures }
    }
}
