//! `perhop tune`: parameters of SVB and MSVB from a link and its TCP flows, by the rule of [`perhop_core::design::msvb`].

mod data;
mod toml;
/// The load, from a scenario.
pub mod file;
/// The load, from words.
pub mod words;

pub use crate::check::load::Kind;
use crate::text::diagnostics::Diagnostics;
use perhop_core::aqm::members::Filter;
use perhop_core::design::lemma31::Loop;
use perhop_core::design::msvb::{Judged, Load, Plant, Setting};
use perhop_core::units::counted;

/// One class.
#[derive(Clone, Debug, PartialEq)]
pub struct Class {
    /// For people.
    pub name: String,
    /// Which packets, if stated.
    pub filter: Filter,
    /// Its share of the link.
    pub share: f64,
    /// Its TCP flows; `None` if the rule does not apply to its traffic.
    pub load: Option<Load>,
}

/// Parameters chosen already, in packets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stated {
    /// V0.
    pub v0: Option<f64>,
    /// F.
    pub floor: Option<f64>,
    /// alpha, of each class or one for all; empty if none is given.
    pub alpha: Vec<f64>,
}

/// What is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// Which algorithm.
    pub kind: Kind,
    /// The link and queue.
    pub link: perhop_core::design::msvb::Bottleneck,
    /// Bytes that count as a packet.
    pub packet: u64,
    /// The classes, at least one; one for SVB.
    pub classes: Vec<Class>,
    /// What is already chosen, and by whom.
    pub stated: (Stated, &'static str),
    /// The name of the queue's table.
    pub queue: String,
    /// The source of the load: a file, or the option.
    pub source: String,
    /// What a reader should know about the load.
    pub notes: Vec<String>,
}

impl Task {
    /// What is given for a class, else the default.
    fn alpha(&self, i: usize) -> f64 {
        let stated = &self.stated.0.alpha;
        stated.get(i).or(stated.first()).copied().unwrap_or(self.kind.alpha())
    }
}

/// A setting of the classes that have a load, and how stable it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Where it comes from.
    pub name: &'static str,
    /// It.
    pub setting: Setting,
    /// Each of [`Plant::loops`] under it.
    pub judged: Vec<Judged>,
}

impl Row {
    /// The loop nearest to its boundary, or farthest beyond.
    pub fn worst(&self) -> (usize, Judged) {
        let all = self.judged.iter().copied().enumerate();
        all.min_by(|a, b| a.1.ratio().total_cmp(&b.1.ratio())).expect("a plant has a loop")
    }

    /// Whether every loop is stable.
    pub fn stable(&self) -> bool {
        self.worst().1.ratio() > 1.0
    }
}

/// The answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuned {
    asked: Task,
    plant: Plant,
    /// What was already chosen, if anything, and what the rule gives.
    pub rows: Vec<Row>,
}

/// No queue has a threshold beyond this: 10^9 packets.
const LARGEST_V0: f64 = 1e9;

impl Tuned {
    /// Applies the rule.
    ///
    /// # Errors
    /// E260 if it does not apply: no equilibrium at the fewest flows, or a threshold beyond 10^9 packets.
    pub fn new(asked: Task) -> Result<Self, Diagnostics> {
        let loads: Vec<_> = asked.classes.iter().filter_map(|class| class.load).collect();
        let plant = Plant { link: asked.link, others: loads.len() < asked.classes.len(), loads };
        let mut tuned = Self { asked, plant, rows: Vec::new() };
        tuned.applies().map_err(|what| Diagnostics::of_file(&tuned.asked.source, "E260", what))?;
        let rows = tuned.settings().into_iter().filter_map(|(name, setting)| {
            let judged = tuned.plant.judge(&setting)?;
            Some(Row { name, setting, judged })
        });
        tuned.rows = rows.collect();
        Ok(tuned)
    }

    fn applies(&self) -> Result<(), [String; 2]> {
        for (i, it) in self.plant.loops().iter().enumerate() {
            if it.equilibrium_p().is_none() {
                return Err([format!("no equilibrium for {}: {}", self.name(i), no_equilibrium(it)), WAY_OUT.into()]);
            }
        }
        match self.plant.recommended_v0() {
            Some(v0) if v0 > LARGEST_V0 => Err([
                format!(
                    "V0 would be {v0:.1e} packets: so few flows on such a long, fast path swing too slowly to be damped"
                ),
                "state more flows (the smallest number to protect), a shorter RTT, or a slower link".into(),
            ]),
            _ => Ok(()),
        }
    }

    /// What was already chosen, if anything, then what the rule gives.
    fn settings(&self) -> Vec<(&'static str, Setting)> {
        let (stated, origin) = &self.asked.stated;
        let mut out = Vec::new();
        if *stated != Stated::default() {
            let v0 = stated.v0.or_else(|| self.plant.recommended_v0()).unwrap_or_default();
            let floor = stated.floor.unwrap_or_else(|| self.plant.floor(v0));
            let tuned = (0..self.asked.classes.len()).filter(|&i| self.asked.classes[i].load.is_some());
            let alpha = tuned.map(|i| self.asked.alpha(i)).collect();
            out.push((*origin, Setting { v0, floor, alpha }));
        }
        out.extend(self.plant.recommended(None).map(|setting| ("recommended", setting)));
        out
    }

    /// What was asked.
    pub fn task(&self) -> &Task {
        &self.asked
    }

    /// The link and its loops.
    pub fn plant(&self) -> &Plant {
        &self.plant
    }

    /// What the rule gives.
    pub fn recommended(&self) -> &Row {
        self.rows.last().expect("the rule applies")
    }

    /// What a loop is called.
    pub fn name(&self, i: usize) -> String {
        let mut tuned = self.asked.classes.iter().filter(|class| class.load.is_some());
        tuned.nth(i).map_or_else(|| "all together".into(), |class| class.name.clone())
    }

    /// What the most flows lead to, if they have no equilibrium.
    pub fn warnings(&self) -> Vec<String> {
        let crowded = self.plant.classes(1).into_iter().enumerate().filter(|(_, it)| it.equilibrium_p().is_none());
        let words = |(i, it): (usize, Loop)| format!("{}: {}", self.name(i), no_equilibrium(&it));
        let mut out: Vec<_> = crowded.map(words).collect();
        let shares: f64 = self.asked.classes.iter().map(|class| class.share).sum();
        if shares < 1.0 - 1e-9 {
            out.push(format!(
                "shares sum to {}: the virtual queue then stays at its floor and the link idles for the rest; \
                 the rule is for shares that sum to 1",
                (shares * 1e6).round() / 1e6
            ));
        }
        out
    }
}

const WAY_OUT: &str = "state fewer flows, a larger share, a faster link or smaller packets; otherwise timeouts dominate, and no threshold \
     steadies them";

fn no_equilibrium(it: &Loop) -> String {
    format!(
        "{} {:.2} packets each in flight, below 1.22: p* would be 1 or more, and timeouts dominate",
        counted(it.flows, ["flow has", "flows have"]),
        it.window()
    )
}
