//! Policies: the `[conditioner]` tables of a scenario without `at`, for captures and interfaces, and its `[queue]`
//! tables, for captures that are replayed into one of them.

/// Labels in a policy.
mod labels;
/// The queue that a capture is replayed into.
mod line;

use self::labels::{Labeller, Labels};
use self::line::Surroundings;
use crate::check::settings::check_name;
use crate::expand::stated;
use crate::resolve::ports;
use crate::sections::conditioner::ConditionerSection;
use crate::sections::kind::{self, Kind};
use crate::sections::named::Named;
use crate::sections::queue::QueueSection;
use crate::sections::settings::PolicySettings;
use crate::text::diagnostics::{Diagnostics, Findings};
use crate::text::input::Input;
use crate::text::options::Options;
use crate::text::{file, write};

use perhop_core::accounting::Accounting;
use perhop_core::classify::Prefix;
use perhop_core::conditioner::{Conditioner as _, Writes};
use perhop_core::flow_label::{Carried, Encoding};
use perhop_core::needs::Needs;
use perhop_core::params::{Node, Problems, Reader, Spanned, Tree, read_table, show_table};
use perhop_core::port::edge::StageSpec;
use perhop_core::scope::Scope;
use perhop_core::units::Bytes;
use perhop_sim::Plan;

/// The largest IP packet of an Ethernet.
const LARGEST: u32 = 1500;

/// A checked policy.
#[derive(Clone, Debug)]
pub struct Policy {
    settings: PolicySettings,
    conditioners: Named<ConditionerSection>,
    queues: Named<QueueSection>,
    line: Option<Plan>,
}

/// Two policies are equal if they state the same.
impl PartialEq for Policy {
    fn eq(&self, other: &Self) -> bool {
        (&self.settings, &self.conditioners, &self.queues) == (&other.settings, &other.conditioners, &other.queues)
    }
}

/// The link with these conditioners before its queue.
fn with_edge(mut plan: Plan, stages: Vec<StageSpec>) -> Plan {
    plan.links[0].edge = stages;
    plan
}

impl Policy {
    /// Reads and checks a policy's text.
    ///
    /// # Errors
    /// Everything that is wrong, in one pass, if anything prevents its use; otherwise warnings come with the policy.
    pub fn parse(text: &str, options: &Options) -> Result<(Self, Diagnostics), Diagnostics> {
        Self::of(text.into(), options)
    }

    /// [`Policy::parse`] of any input.
    pub(crate) fn of(input: Input<'_>, options: &Options) -> Result<(Self, Diagnostics), Diagnostics> {
        let mut findings = Findings::default();
        let root = stated::read(input, options, Kind::Policy, &mut findings);
        let policy = root.and_then(|root| Self::read(&root, options, &mut findings.problems));
        findings.conclude(policy)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// As [`Policy::parse`]; also when the file cannot be read, is empty or not UTF-8.
    pub fn load(path: &std::path::Path, options: &Options) -> Result<(Self, Diagnostics), Diagnostics> {
        Self::parse(&file::text(path, options.captures)?, options)
    }

    fn read(root: &Node, options: &Options, problems: &mut Problems) -> Option<Self> {
        let Tree::Table(table) = &root.tree else { return None };
        let mut reader = Reader::new(table, root.place, problems);
        for name in kind::OF_POLICY {
            reader.take(name);
        }
        reader.finish();
        let empty = Node { place: root.place, ..Tree::table(vec![]).into() };
        let stated = table.get("policy").unwrap_or(&empty);
        let settings = problems.within("policy", |p| read_table(stated, p));
        let conditioners = Named::read(table, ("conditioner", ConditionerSection::SPARE), problems, |node, p| {
            ConditionerSection::read(node, false, p)
        });
        let sound = settings.is_some();
        let mut settings: PolicySettings = settings.or_else(|| read_table(&empty, &mut Problems::default()))?;
        settings.name.get_or_insert_with(|| Spanned::new(stated.place, options.stem()));
        let stated = Some(stated).filter(|_| sound);
        let model = line::model(table, stated, problems);
        let mut policy = Self { settings, conditioners, queues: model.queues.clone(), line: None };
        let built = policy.check(problems);
        if sound && policy.conditioners.all_sound() {
            let complete = built.len() == policy.conditioners.declared().len();
            labels::check(Labels { settings: &policy.settings, complete, conditioners: &built }, problems);
        }
        let around = Surroundings { settings: &policy.settings, built: &built, scope: policy.scope() };
        let line = line::read(model, &around, problems);
        policy.line = line.map(|plan| with_edge(plan, policy.stages()));
        sound.then_some(policy)
    }

    /// Checks one conditioner after the other; gives those that are sound.
    fn check(&self, problems: &mut Problems) -> Vec<Labeller<'_>> {
        if let Some(name) = &self.settings.name {
            check_name(name, problems);
        }
        if self.conditioners.declared().is_empty() && self.queues.declared().is_empty() {
            let help = "add [conditioner.X] with kind and its parameters";
            problems.error("E245", None, "policy without conditioner").help(help);
        }
        let sections = self.conditioners.sound().filter_map(|(_, section)| section.ports.first().map(|p| (section, p)));
        let mut built = Vec::new();
        for (stage, (section, port)) in self.stages().iter().zip(sections) {
            if let Some(matches) = section.placement.matches.as_ref().filter(|it| !it.traffic.is_empty()) {
                ports::refuse_traffic(matches.place("traffic"), problems);
            }
            match stage.params.build(&stage.scope) {
                Err(error) => _ = problems.param(&error, port.params.place(error.field)),
                Ok(conditioner) => {
                    if conditioner.needs().contains(Needs::TRUTH) {
                        let what = "`measured` must be \"edge\" in a policy: a capture shows nothing of the senders";
                        problems.error("E263", port.params.place("measured"), what).help("remove `measured`");
                    }
                    let (name, kind, places) = (stage.name.clone(), section.places.at("kind"), &port.params.places);
                    ports::check_actions(stage, conditioner.writes(), kind, problems);
                    built.push(Labeller { name, kind, places, conditioner });
                }
            }
        }
        if !problems.has_errors() {
            self.check_next(&built, problems);
        }
        built
    }

    /// `next` of the last conditioner that gives colours.
    fn check_next(&self, built: &[Labeller<'_>], problems: &mut Problems) {
        let gives = |it: &Labeller<'_>| it.conditioner.writes() == Writes::Colour;
        let Some(last) = built.iter().rposition(gives) else { return };
        let places = self.conditioners.sound().filter(|(_, section)| !section.ports.is_empty());
        for (stage, (_, section)) in self.stages().iter().zip(places).skip(last).take(1) {
            ports::refuse_next(stage, &section.places, "", problems);
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.settings.name.as_ref().map_or("", |name| name.as_str())
    }

    /// `[policy]` with every effective value.
    pub fn settings(&self) -> &PolicySettings {
        &self.settings
    }

    /// Prefixes of the inside; without any, all packets are forward.
    pub fn inside(&self) -> &[Prefix] {
        &self.settings.inside
    }

    /// How its flow labels carry labels; `None`: they do not.
    pub fn encoding(&self) -> Option<Encoding> {
        let tags = |stage: &StageSpec| stage.params.build(&stage.scope).ok()?.tags().cloned();
        match *self.settings.flow_label? {
            Carried::Rate => Some(Encoding::Rate),
            Carried::Tickets => self.stages().iter().find_map(tags).map(Encoding::Tickets),
        }
    }

    /// Which bytes of a packet meters and queues count.
    pub fn accounting(&self) -> Accounting {
        self.settings.accounting
    }

    /// Its conditioners in the file's order, for [`perhop_core::port::edge::Edge`].
    pub fn stages(&self) -> Vec<StageSpec> {
        ports::policy_stages(&self.conditioners, &self.scope())
    }

    /// The queue on a line that a capture is replayed into, behind its conditioners: a plan of one link.
    pub fn line(&self) -> Option<&Plan> {
        self.line.as_ref()
    }

    /// The same for a live host, whose line counts what `accounting` says unless `framing` is stated.
    pub fn live(mut self) -> Self {
        if let (None, Some(line)) = (self.settings.framing, &mut self.line) {
            line.set_framing(0, self.settings.accounting);
        }
        self
    }

    /// The name of that queue.
    pub fn queue(&self) -> Option<&str> {
        self.settings.queue.as_ref().map(|name| name.as_str())
    }

    /// What is known about packets of a capture.
    fn scope(&self) -> Scope {
        let accounting = self.accounting();
        let largest_packet = Bytes::new(u64::from(LARGEST + accounting.overhead()));
        let largest_of = "an Ethernet".into();
        let conditioners: Vec<_> = self.conditioners.sound().map(|(name, _)| name.to_owned()).collect();
        let weights = ports::weights(&self.conditioners);
        Scope { largest_packet, largest_of, accounting, weights, conditioners: conditioners.into(), ..Scope::default() }
    }

    /// Every effective value as TOML; read again it gives an equal policy.
    pub fn effective(&self) -> String {
        let mut root = vec![("policy", show_table(&self.settings))];
        root.push(("conditioner", self.conditioners.tree(ConditionerSection::tree)));
        if !self.queues.declared().is_empty() {
            root.push(("queue", self.queues.tree(QueueSection::tree)));
        }
        write::toml(&Tree::table(root))
    }
}
