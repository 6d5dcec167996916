//! `[conditioner]` -> what is at each port and which traffic reaches it.

use super::arriving::{self, Arrivals, Arriving, AtGate, Gate};
use super::crossing::Crossing;
use super::indexed::Indexed;
use super::offered::{Flowline, tables};
use super::topology::Topology;
use crate::sections::at::Port;
use crate::sections::conditioner::ConditionerSection;
use crate::sections::model::Model;
use crate::sections::named::Named;
use perhop_core::accounting::Accounting;
use perhop_core::classify::Passed;
use perhop_core::conditioner::meter::Tokens;
use perhop_core::conditioner::{Conditioner as _, ConditionerParams, Writes};
use perhop_core::dscp::Dscp;
use perhop_core::needs::Needs;
use perhop_core::packet::Colour;
use perhop_core::params::{Place, Places, Problems, Spanned, Tree, suggest};
use perhop_core::port::edge::{Action, StageSpec};
use perhop_core::scope::{Scope, Weights};
use perhop_core::units::{Bytes, Span};
use perhop_sim::plan;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What the file says, for the checks.
#[derive(Clone, Copy)]
pub struct File<'a> {
    /// All sections.
    pub model: &'a Model,
    /// Nodes and links.
    pub topology: &'a Topology,
    /// All sound traffic.
    pub traffic: &'a [Flowline],
    /// Which of it crosses each link.
    pub crossing: &'a Crossing,
    /// The weights that its labellers give.
    weights: Option<Weights>,
    /// Whether all traffic is known, with its routes.
    knows_traffic: bool,
}

impl<'a> File<'a> {
    /// What `model` says, with its network, its traffic and which of it crosses each link.
    pub fn new(model: &'a Model, topology: &'a Topology, traffic: &'a [Flowline], crossing: &'a Crossing) -> Self {
        let knows_traffic = topology.complete && tables(traffic).count() == model.traffic.declared().len();
        Self { model, topology, traffic, crossing, weights: weights(&model.conditioners), knows_traffic }
    }

    /// The traffic whose data crosses a link.
    pub fn data_over(self, link: usize) -> impl Iterator<Item = &'a Flowline> {
        self.crossing.data(link).map(move |i| &self.traffic[i])
    }

    /// The traffic whose data or ACKs cross a link, with the length of its largest packets there.
    pub fn largest_over(self, link: usize) -> impl Iterator<Item = (u32, &'a Flowline)> {
        let of = move |(i, data): (usize, bool)| {
            let flow = &self.traffic[i];
            (if data { flow.data } else { flow.ack }, flow)
        };
        self.crossing.either(link).map(of)
    }

    /// What may have been meant by a port that is unknown.
    pub fn nearest_port(&self, port: &str) -> String {
        let names: Vec<_> = self.topology.links.iter().map(|l| l.name.as_str()).collect();
        suggest(port, &names)
    }

    /// Whether all traffic is known, with its routes.
    pub fn knows_traffic(&self) -> bool {
        self.knows_traffic
    }

    /// Whether links, queues and traffic have no error: what is probably not as intended is said only then.
    pub fn is_whole(&self) -> bool {
        self.knows_traffic && self.topology.whole && self.model.traffic.all_sound()
    }

    /// The IP length of the largest of packets that arrive, and whose it is.
    pub fn largest_of(self, arriving: &[Arriving]) -> Option<(u32, &'a str)> {
        let of = |it: &Arriving| {
            let flow = &self.traffic[it.traffic];
            (if it.acks { flow.ack } else { flow.data }, flow.offered.name.as_str())
        };
        arriving.iter().map(of).max_by_key(|it| it.0)
    }

    /// A scope whose largest packet (IP length) and its traffic are known; zero bytes while they may not be.
    pub fn scope_of(&self, largest: Option<(u32, &str)>) -> Scope {
        let mut scope = Scope { accounting: self.accounting(), weights: self.weights, ..Scope::default() };
        if let Some((size, name)) = largest {
            scope.largest_packet = Bytes::new(u64::from(size + self.accounting().overhead()));
            scope.largest_of = format!("traffic `{name}`");
        } else if !self.knows_traffic() {
            scope.largest_packet = Bytes::new(0);
        }
        scope
    }

    /// Whether all conditioners are known.
    pub fn knows_conditioners(&self) -> bool {
        self.model.conditioners.all_sound()
    }

    /// A scope in which no packet is too large.
    fn scope_of_unknown(&self) -> Scope {
        Scope { largest_packet: Bytes::new(0), ..self.scope_of(None) }
    }

    /// Which bytes of a packet count.
    fn accounting(&self) -> Accounting {
        self.model.settings.accounting
    }
}

/// The weights that the file's labellers give, at all their ports; `None` if nothing labels with rates.
pub fn weights(conditioners: &Named<ConditionerSection>) -> Option<Weights> {
    let ports = conditioners.sound().flat_map(|(_, section)| &section.ports);
    Weights::of(ports.filter_map(|port| match &port.params.value {
        ConditionerParams::RateLabeller(labeller) => Some(labeller.weight).filter(|weight| *weight > 0.0),
        _ => None,
    }))
}

/// Where keys of a conditioner's section are.
#[derive(Clone, Copy, Debug)]
pub struct Keys {
    /// Its kind.
    pub kind: Place,
    /// Its ports.
    pub at: Place,
}

/// Everything resolved: what the checks look at.
#[derive(Clone, Copy)]
pub struct Resolved<'a> {
    /// What the file says.
    pub file: File<'a>,
    /// Conditioners at their ports.
    pub stages: &'a [Stage],
    /// What arrives at each conditioner and queue.
    pub arrivals: &'a Arrivals,
    /// The links, as far as they are resolved.
    pub links: &'a [plan::Link],
}

/// A conditioner at one port.
#[derive(Clone, Debug)]
pub struct Stage {
    /// Its place among all, in the file's order.
    number: usize,
    /// Index of the link whose port it sits at.
    pub link: usize,
    /// Its name in the file.
    pub name: String,
    /// Its port as the file writes it.
    pub port: String,
    /// Where its section's keys are.
    pub keys: Keys,
    /// Where its parameters are, at its port or in its section.
    pub places: Places,
    /// For the edge.
    pub spec: StageSpec,
    /// Indices of the traffic whose data it may take, in their order.
    pub takes: Vec<usize>,
    /// The code points with which that data arrives.
    codes: BTreeSet<Dscp>,
    /// Indices of the traffic whose ACKs it may take, in their order.
    pub takes_acks: Vec<usize>,
    /// What it writes; `None` if its parameters are invalid.
    pub writes: Option<Writes>,
    /// The label it reads.
    pub reads: Option<Writes>,
    /// Whether it rewrites what it reads.
    pub rewrites: bool,
    /// Which hooks it needs.
    needs: Needs,
    /// What its rates count.
    pub tokens: Tokens,
    /// The colours it may give, by the colour that arrives.
    gives: [&'static [Colour]; 4],
}

impl Stage {
    /// The code points with which the data it may take arrives.
    pub fn codes(&self) -> &BTreeSet<Dscp> {
        &self.codes
    }

    /// Its place among all, in the file's order.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Whether it may take data of a traffic.
    pub fn takes_data(&self, traffic: usize) -> bool {
        self.takes.binary_search(&traffic).is_ok()
    }

    /// Whether it may take ACKs of a traffic.
    pub fn takes_acks_of(&self, traffic: usize) -> bool {
        self.takes_acks.binary_search(&traffic).is_ok()
    }

    /// Whether it needs these hooks.
    pub fn needs(&self, hooks: Needs) -> bool {
        self.needs.contains(hooks)
    }

    /// Tokens that the largest packet costs.
    pub fn largest(&self) -> u32 {
        self.tokens.of(u32::try_from(self.spec.scope.largest_packet.get()).unwrap_or(u32::MAX))
    }

    /// What decides how packets look behind it. One whose parameters are invalid may give any colour, and hides no other.
    fn gate(&self) -> Gate<'_> {
        Gate {
            link: self.link,
            matches: &self.spec.matches,
            own: Passed::one(self.spec.scope.conditioners.len()),
            named: Passed::named("match", &self.spec.matches, &self.spec.scope.conditioners).unwrap_or_default(),
            field: self.writes.filter(|_| !self.rewrites).map(Writes::field),
            gives: self.writes.is_none_or(|writes| writes == Writes::Colour).then_some(self.gives),
            actions: &self.spec.actions,
        }
    }

    /// Fills in what arrives.
    fn meet(&mut self, file: File<'_>, taken: &[Arriving]) {
        for arriving in taken {
            if arriving.acks {
                self.takes_acks.push(arriving.traffic);
            } else {
                self.takes.push(arriving.traffic);
                self.codes.extend(arriving.looks.iter().map(|look| look.dscp));
            }
        }
        let Scope { port, conditioners, .. } = std::mem::take(&mut self.spec.scope);
        self.spec.scope = Scope { port, conditioners, ..file.scope_of(file.largest_of(taken)) };
    }

    /// Whether it is for ACKs, which it labels.
    pub fn serves_acks(&self) -> bool {
        self.writes == Some(Writes::AckTickets) && !self.rewrites
    }

    /// Whether it takes nothing of what it is for.
    pub fn is_idle(&self) -> bool {
        if self.serves_acks() { self.takes_acks.is_empty() } else { self.takes.is_empty() }
    }
}

/// The stages of all ports, in the file's order, and what arrives everywhere; every fault is reported.
pub fn stages(file: File<'_>, problems: &mut Problems) -> (Vec<Stage>, Arrivals) {
    let (mut stages, found) = (Vec::new(), problems.list.len());
    let ports = file.topology.links.iter().map(|direction| direction.conditioners.iter().enumerate().rev());
    let places: Vec<HashMap<_, _>> = ports.map(|names| names.map(|(i, name)| (name.as_str(), i)).collect()).collect();
    for (name, section) in file.model.conditioners.sound() {
        check_names(file, section, problems);
        stages.append(&mut placed(file, Conditioner { name, section, places: &places }, problems));
    }
    stages.iter_mut().enumerate().for_each(|(number, stage)| stage.number = number);
    let gates: Vec<_> = stages.iter().map(Stage::gate).collect();
    let mut arrivals = arriving::walk(file.topology, file.traffic, &gates);
    arrivals.sure =
        file.knows_conditioners() && problems.list.len() == found && stages.iter().all(|it| it.writes.is_some());
    for (stage, arriving) in stages.iter_mut().zip(&arrivals.gates) {
        stage.meet(file, &arriving.taken);
        build(stage, problems);
        check_named(file, stage, problems);
    }
    if !problems.has_errors() {
        let colouring = stages.iter().filter(|stage| stage.writes == Some(Writes::Colour));
        let last: BTreeMap<_, _> = colouring.map(|stage| (stage.link, stage.number)).collect();
        let is_last = |stage: &Stage| last.get(&stage.link).is_none_or(|&last| last <= stage.number);
        stages.iter().filter(|stage| is_last(stage)).for_each(|stage| check_next(file, stage, problems));
    }
    arrivals.complete = !problems.has_errors();
    (stages, arrivals)
}

/// The stages of each conditioner, with what arrives at each of them.
pub fn of_each<'a>(stages: &'a [Stage], arrivals: &'a Arrivals) -> impl Iterator<Item = (&'a [Stage], &'a [AtGate])> {
    let mut from = 0;
    stages.chunk_by(|a, b| a.name == b.name).map(move |stages| {
        let arriving = &arrivals.gates[from..from + stages.len()];
        from += stages.len();
        (stages, arriving)
    })
}

/// Of each link, the places of the conditioners at its port.
type ByLink<'a> = [HashMap<&'a str, usize>];

/// A conditioner of the file.
#[derive(Clone, Copy)]
struct Conditioner<'a> {
    name: &'a str,
    section: &'a ConditionerSection,
    places: &'a ByLink<'a>,
}

/// A stage for each port, without duplicates.
fn placed(file: File<'_>, conditioner: Conditioner<'_>, problems: &mut Problems) -> Vec<Stage> {
    let section = conditioner.section;
    let (mut stages, mut links) = (Vec::<Stage>::new(), BTreeSet::new());
    for port in &section.ports {
        let Some(link) = port_index(file, port, problems) else {
            build_anywhere(file, section, port, problems);
            continue;
        };
        let next = stage(file, conditioner, Indexed { index: stages.len(), it: port }, link);
        if links.insert(link) {
            stages.push(next);
            continue;
        }
        let message = format!("port `{}` is listed twice in `at`", next.port);
        let same = section.ports.iter().filter_map(|p| p.name.as_ref()).find(|name| **name == next.port);
        let place = same.map_or(section.places.at("at"), |name| name.place);
        problems.error("E002", place, message).help("keep one of them");
    }
    stages
}

/// Faults of parameters that they have at any port which data passes: where it is does not matter.
fn build_anywhere(file: File<'_>, section: &ConditionerSection, port: &Port, problems: &mut Problems) {
    let links = (0..file.topology.links.len()).filter(|&link| file.crossing.data(link).next().is_some());
    let largest =
        |link| file.largest_over(link).map(|(size, flow)| (size, flow.offered.name.as_str())).max_by_key(|it| it.0);
    let least = links.filter_map(largest).min_by_key(|it| it.0);
    let least = least.filter(|_| section.placement.matches.is_none() && file.knows_traffic());
    let scope = least.map_or_else(|| file.scope_of_unknown(), |least| file.scope_of(Some(least)));
    if let Err(error) = port.params.value.build(&scope) {
        problems.param(&error, port.params.place(error.field));
    }
}

fn port_index(file: File<'_>, port: &Port, problems: &mut Problems) -> Option<usize> {
    find_port(file, port.name.as_ref()?, problems)
}

/// Index of a port; E235 if there is none.
pub fn find_port(file: File<'_>, port: &Spanned<String>, problems: &mut Problems) -> Option<usize> {
    file.topology.link(port).or_else(|| {
        if file.topology.is_faulty(port) {
            return None;
        }
        problems.error("E235", port.place, format!("unknown port `{}`", **port)).help(file.nearest_port(port)).none()
    })
}

fn check_names(file: File<'_>, section: &ConditionerSection, problems: &mut Problems) {
    let Some(matches) = &section.placement.matches else { return };
    for (i, traffic) in matches.traffic.iter().enumerate() {
        if file.model.traffic.find(traffic).is_none() {
            let message = format!("unknown traffic `{traffic}`");
            let place = matches.place(&format!("traffic.{i}"));
            problems.error("E006", place, message).help(suggest(traffic, &file.model.traffic.names()));
        }
    }
}

/// The stage at the `i`-th port of a conditioner. Its name is that of its random stream: the first port has the
/// section's name, further ones add the port, so that no two draw the same numbers.
fn stage(file: File<'_>, conditioner: Conditioner<'_>, port: Indexed<'_, Port>, link: usize) -> Stage {
    let (Conditioner { name, section, places }, Indexed { index, it: port }) = (conditioner, port);
    let at = &file.topology.links[link].name;
    let params = port.params.value.clone();
    // Nothing is too large for it yet: only faults of the parameters alone count here.
    let probe = params.build(&file.scope_of_unknown()).ok();
    let spec = StageSpec {
        name: if index == 0 { name.to_owned() } else { format!("{name} at {at}") },
        matches: section.placement.matches.as_ref().map(|it| it.value.clone()).unwrap_or_default(),
        per: section.placement.per,
        params,
        actions: section.actions.all(),
        scope: Scope {
            port: Some(at.as_str().into()),
            conditioners: file.topology.links[link]
                .conditioners
                .first(places[link].get(name).copied().unwrap_or(usize::MAX)),
            ..Scope::default()
        },
    };
    Stage {
        number: 0,
        link,
        name: name.to_owned(),
        port: port.name.as_ref().map(|name| name.value.clone()).unwrap_or_default(),
        keys: Keys { kind: section.places.at("kind"), at: section.places.at("at") },
        places: port.params.places.clone(),
        spec,
        takes: Vec::new(),
        codes: BTreeSet::new(),
        takes_acks: Vec::new(),
        writes: probe.as_ref().map(|it| it.writes()),
        reads: probe.as_ref().and_then(|it| it.reads()),
        rewrites: probe.as_ref().is_some_and(|it| it.rewrites()),
        needs: probe.as_ref().map_or(Needs::NOTHING, |it| it.needs()),
        tokens: probe.as_ref().map_or(Tokens::Bytes, |it| it.tokens()),
        gives: Colour::ALL.map(|arriving| probe.as_ref().map_or(&Colour::METERED[..], |it| it.gives(arriving))),
    }
}

/// E281
fn check_named(file: File<'_>, stage: &Stage, problems: &mut Problems) {
    let stated = file.model.conditioners.get(&stage.name).and_then(|section| section.placement.matches.as_ref());
    if let (Some(stated), Err(error)) = (stated, stage.spec.named(stage.needs)) {
        problems.param(&error, stated.place("conditioner"));
    }
}

/// Builds it: its parameters' faults, and actions that nothing takes.
fn build(stage: &mut Stage, problems: &mut Problems) {
    if let Err(error) = stage.spec.params.build(&stage.spec.scope) {
        stage.writes = None;
        problems.param(&error, stage.places.at(error.field));
    }
    if let Some(writes) = stage.writes {
        check_actions(&stage.spec, writes, stage.keys.kind, problems);
    }
}

/// E239: actions of a conditioner that gives no colour; its kind is at `place`.
pub fn check_actions(spec: &StageSpec, writes: Writes, place: Place, problems: &mut Problems) {
    if writes != Writes::Colour && spec.actions != [Action::TRANSMIT; 4] {
        let message = format!("kind \"{}\" gives no colour to act on", spec.params.name());
        problems.error("E239", place, message).help("remove green, yellow, red and unmarked");
    }
}

/// The conditioner behind this one at its port to which the action `next` sends a packet, if its match agrees.
pub fn following<'a>(all: &'a [Stage], stage: &Stage) -> Option<&'a Stage> {
    let behind = all.iter().skip_while(|other| !std::ptr::eq(*other, stage)).skip(1);
    behind.into_iter().find(|other| other.link == stage.link && other.writes == Some(Writes::Colour))
}

/// E239 of a conditioner behind which none gives colours.
fn check_next(file: File<'_>, stage: &Stage, problems: &mut Problems) {
    if let Some(section) = file.model.conditioners.get(&stage.name) {
        refuse_next(&stage.spec, &section.places, &format!(" at {}", stage.port), problems);
    }
}

/// E239: the action `next` of a conditioner behind which there is none that gives colours.
pub fn refuse_next(spec: &StageSpec, places: &Places, at: &str, problems: &mut Problems) {
    let Some(i) = spec.actions.iter().position(|action| action.goes_on()) else { return };
    let key = Colour::ALL[i].name();
    let message = format!("`{key} = \"{}\"`: no conditioner that gives colours follows{at}", spec.actions[i]);
    let help = "put a meter or marker after it in the file, or leave `next` out";
    problems.error("E239", places.at(key), message).help(help);
}

/// Code points for messages.
pub fn names(codes: &BTreeSet<Dscp>) -> String {
    codes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// The conditioners at the port of each of `links` links, in order.
pub fn at_links(stages: &[Stage], links: usize) -> Vec<Vec<&Stage>> {
    let mut at = vec![Vec::new(); links];
    stages.iter().for_each(|stage| at[stage.link].push(stage));
    at
}

/// E242: a match by traffic where packets of captures come.
pub fn refuse_traffic(place: Place, problems: &mut Problems) {
    let help = "match by dscp, protocol, source, destination or ports";
    problems.error("E242", place, "packets of a capture have no `traffic`").help(help);
}

/// The stages of a policy: no ports, no traffic known.
pub fn policy_stages(conditioners: &Named<ConditionerSection>, scope: &Scope) -> Vec<StageSpec> {
    let spec = |(i, (name, section)): (usize, (&str, &ConditionerSection))| {
        Some(StageSpec {
            name: name.to_owned(),
            matches: section.placement.matches.as_ref().map(|it| it.value.clone()).unwrap_or_default(),
            per: section.placement.per,
            params: section.ports.first()?.params.value.clone(),
            actions: section.actions.all(),
            scope: Scope { conditioners: scope.conditioners.first(i), ..scope.clone() },
        })
    };
    conditioners.sound().enumerate().filter_map(spec).collect()
}

/// A quantity among a conditioner's effective parameters.
pub fn parameter<T: std::str::FromStr>(stage: &Stage, name: &str) -> Option<T> {
    let mut shown = Vec::new();
    stage.spec.params.show(&mut shown);
    match shown.into_iter().find(|s| s.0 == name)?.1 {
        Tree::Text(text) => text.parse().ok(),
        _ => None,
    }
}

/// The longest base RTT of the TCP traffic a stage takes.
pub fn longest_rtt(traffic: &[Flowline], stage: &Stage, links: &[plan::Link]) -> Option<Span> {
    stage.takes.iter().filter_map(|&i| traffic[i].base_rtt(links)).max()
}
