//! The scenario: read, checked, ready to run.

use crate::build::{self, Built};
use crate::diagnostics::Diagnostics;
use crate::model::Model;
use crate::options::Options;
use crate::selector::{self, Selector};
use crate::source::Sources;
use crate::sweep::{self, Point};
use crate::{change, dumbbell, offered, overlay, read, series, show, toml, topology, tree};
use perhop_core::params::{Node, Place, Problems};
use perhop_sim::plan::Plan;

/// A checked scenario, with the points of its sweep.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub(crate) model: Model,
    pub(crate) built: Built,
    pub(crate) stated: Node,
    points: Vec<Point>,
}

/// Two scenarios are equal when the same is in force in both.
impl PartialEq for Scenario {
    fn eq(&self, other: &Self) -> bool {
        self.model == other.model && self.points == other.points
    }
}

impl Scenario {
    /// Reads and checks a file's text: all errors and warnings in one pass, those of its sweep included.
    ///
    /// # Errors
    /// All that is wrong, if anything forbids a run; else warnings come with the scenario.
    pub fn parse(text: &str, options: &Options) -> Result<(Self, Diagnostics), Diagnostics> {
        let (mut sources, mut problems) = (Sources::default(), Problems::default());
        let scenario = Self::read(text, options, (&mut sources, &mut problems));
        let failed = problems.has_errors();
        let diagnostics = Diagnostics::new(problems, &sources);
        match scenario {
            Some(scenario) if !failed => Ok((scenario, diagnostics)),
            _ => Err(diagnostics),
        }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// As [`Scenario::parse`]; also when the file cannot be read, is empty or not UTF-8.
    pub fn load(path: &std::path::Path, options: &Options) -> Result<(Self, Diagnostics), Diagnostics> {
        Self::parse(&crate::file::text(path)?, options)
    }

    fn read(text: &str, options: &Options, out: (&mut Sources, &mut Problems)) -> Option<Self> {
        let (sources, problems) = out;
        let root = stated(text, options, (sources, problems))?;
        let mut varied = root.clone();
        sweep::vary(&mut varied, &options.vary, (sources, problems));
        let stem = options.stem();
        let base = Self::point(&tree::without(&varied, "sweep"), &stem, problems);
        let points = sweep::points(&varied, &stem, problems);
        Some(Self { points: points?, stated: varied, ..base? })
    }

    /// The scenario of a tree without `[sweep]`.
    pub(crate) fn point(stated: &Node, stem: &str, problems: &mut Problems) -> Option<Self> {
        let found = problems.list.len();
        let plain = series::expand(&tree::without(stated, "change"), problems);
        let sound = problems.list.len() == found;
        let Some(root) = dumbbell::expand(&plain, problems).filter(|_| sound) else {
            read::model(&tree::without(&plain, "dumbbell"), problems);
            return None;
        };
        let base = InForce::new(root, stem, problems);
        let overlays = overlay::all(stated, &base, problems);
        let (changes, planned) = change::follow(base.clone(), &overlays, problems);
        let (model, mut built) = (Model { changes, ..base.model }, base.built?);
        built.plan.changes = planned;
        Some(Self { model, built, stated: stated.clone(), points: Vec::new() })
    }

    /// Its name: that of the run's directory.
    pub fn name(&self) -> &str {
        self.model.settings.name.as_deref().unwrap_or_default()
    }

    /// `[scenario]` with every effective value.
    pub fn settings(&self) -> &crate::sections::Settings {
        &self.model.settings
    }

    /// The plan of one replication.
    pub fn plan(&self, seed: u64, replication: u32) -> Plan {
        Plan { seed, replication, ..self.built.plan.clone() }
    }

    /// The points of its sweep, first axis slowest; without a sweep the scenario itself.
    pub fn points(&self) -> Vec<Point> {
        if self.points.is_empty() { vec![Point::base(self)] } else { self.points.clone() }
    }

    /// Whether it has a sweep.
    pub fn is_sweep(&self) -> bool {
        !self.points.is_empty()
    }

    /// Every effective value as TOML, short forms expanded, without `[sweep]`; read again it gives the same model.
    pub fn effective(&self) -> String {
        show::toml(&show::model(&self.model))
    }

    /// What was stated, overrides applied, as TOML; read again it gives an equal scenario, its sweep included.
    pub fn to_toml(&self) -> String {
        let mut stated = self.stated.clone();
        if tree::get(&stated, &["scenario", "name"]).is_none() {
            let name = perhop_core::params::Tree::Text(self.name().to_owned()).into();
            let path = [("scenario".to_owned(), stated.place), ("name".to_owned(), stated.place)];
            tree::set(&mut stated, &path, name, &mut Problems::default());
        }
        show::toml(&stated.tree)
    }
}

/// What a file says for some stretch of time, read and built.
#[derive(Clone, Debug)]
pub struct InForce {
    /// Short forms written out.
    pub root: Node,
    /// What was read, defaults filled in.
    pub model: Model,
    /// `None` if it cannot run.
    pub built: Option<Built>,
}

impl InForce {
    /// Reads and builds a tree without short forms; its name is `stem` unless it states one.
    pub fn new(root: Node, stem: &str, problems: &mut Problems) -> Self {
        let mut model = read::model(&root, problems);
        model.settings.name.get_or_insert_with(|| stem.to_owned());
        topology::fill_defaults(&mut model.links, &root);
        offered::fill_defaults(&mut model.traffic);
        let built = build::build(&model, &root, problems);
        Self { root, model, built }
    }
}

/// The tree of a file with its overrides.
pub(crate) fn stated(text: &str, options: &Options, out: (&mut Sources, &mut Problems)) -> Option<Node> {
    let (sources, problems) = out;
    let base = sources.add(&options.file_name, text);
    if text.trim().is_empty() {
        let what = ["the file is empty", "", "`perhop list` and examples/ show what a file holds"];
        return problems.push(perhop_core::params::Severity::Error, "E009", None, what);
    }
    let mut root = toml::parse(text, base, &mut problems.list)?;
    for over in &options.overrides {
        let base = sources.add(&over.flag, &over.text);
        set(&mut root, &over.text, base, problems);
    }
    Some(root)
}

/// Applies `KEY=VALUE`, whose bytes begin at `base`; the key may be a selector.
fn set(root: &mut Node, text: &str, base: usize, problems: &mut Problems) {
    let Some((key, at)) = tree::split(text).filter(|(key, _)| selector::is_selector(key)) else {
        return tree::apply(root, text, base, problems);
    };
    let place = Place { start: base, end: base + key.len() };
    let found = Selector::parse(key, place, problems);
    let value = tree::parse_value(&text[at..], base + at, problems);
    if let (Some(selector), Some(value)) = (found, value) {
        selector.set(root, &value, problems);
    }
}
