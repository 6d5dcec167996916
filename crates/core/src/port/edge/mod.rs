//! The edge of a port: classifier, then conditioner, then an action per colour.
//!
//! A port may have several conditioners, in the file's order. Of those that write the same thing
//! (the colour, or a label) the first whose match agrees takes the packet: a labeller and a marker
//! both see it, two markers do not. One that rewrites the label it reads comes in addition, and so does the next meter or
//! marker after an action that says so: policers in a row. Every host runs this code: simulator port, capture, interface.
//!
//! Decision: docs/decisions/004-one-writer-for-each-output.md

mod action;
mod expire;
mod mail;
mod succeed;

pub use action::{Action, Rewrite};
pub use mail::{Letter, Mail};

use crate::Scope;
use crate::classify::{FlowHeaders, Match, Passed};
use crate::conditioner::{AnyConditioner, Conditioner, ConditionerParams, Passage, Writes};
use crate::count::Count;
use crate::needs::Needs;
use crate::packet::{Colour, FlowId, Packet};
use crate::params::{Choice, ParamError};
use crate::port::Turn;
use crate::rng::Rng;
use crate::units::Time;
use crate::verdict::{Reason, Verdict};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// What shares one conditioner.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Per {
    /// All packets of the match.
    #[default]
    Aggregate,
    /// One flow (5-tuple).
    Flow,
    /// One pair of source and destination address.
    Pair,
    /// One source address.
    Source,
    /// One destination address.
    Destination,
    /// One class (named traffic; in a capture, one protocol and destination port).
    Class,
}

/// Everything that describes one conditioner at a port.
#[derive(Clone, Debug)]
pub struct StageSpec {
    /// Its name in the file; also the name of its random stream.
    pub name: String,
    /// Which packets it takes.
    pub matches: Match,
    /// What shares one instance.
    pub per: Per,
    /// The algorithm and its parameters.
    pub params: ConditionerParams,
    /// Action by colour, as [`Colour::ALL`].
    pub actions: [Action; 4],
    /// Its surroundings.
    pub scope: Scope,
}

impl StageSpec {
    /// The conditioners before it that its match names; it needs these hooks.
    ///
    /// # Errors
    /// E281 for one that is not before it, and for a kind that looks at packets when they leave too, where what it matches by
    /// may be different by then or unknown.
    pub fn named(&self, needs: Needs) -> Result<Passed, ParamError> {
        let by = [("ecn", self.matches.ecn.is_empty()), ("conditioner", self.matches.conditioner.is_empty())];
        let Some((key, _)) = by.into_iter().find(|(_, absent)| !absent && needs.contains(Needs::DEPARTURES)) else {
            return Passed::named("match", &self.matches, &self.scope.conditioners);
        };
        let message = format!("a match by `{key}` of a conditioner that sees packets a second time, when they leave");
        let label = "by then the queue may have marked them, and what they passed is no longer known";
        Err(ParamError::new("match", "E281", message).label(label).help("match by `dscp`, addresses, ports or traffic"))
    }
}

/// Counts by colour on arrival and by colour on leaving; the last column is "dropped".
pub type ColourMatrix = [[Count; 5]; 4];

/// In `by_flow`: the flow has no instance.
const NO_INSTANCE: u32 = u32::MAX;
const DROPPED: usize = 4;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Pair(IpAddr, IpAddr),
    Source(IpAddr),
    Destination(IpAddr),
    Class(String, u8, u16),
}

/// Sums by name, in the order of appearance.
#[derive(Clone, Debug, Default)]
struct Tallies(Vec<(&'static str, u64)>);

impl Tallies {
    fn add(&mut self, what: &'static str, n: u64) {
        match self.0.iter_mut().find(|sum| sum.0 == what) {
            Some(sum) => sum.1 += n,
            None => self.0.push((what, n)),
        }
    }
}

/// What has which instance.
#[derive(Clone, Debug, Default)]
struct Holders {
    by_key: BTreeMap<Key, u32>,
    /// By instance, how many flows have it.
    flows: Vec<u32>,
    /// Instances that nothing has any longer.
    free: Vec<u32>,
}

/// One conditioner at a port, with an instance for each flow, pair or class it has met.
#[derive(Clone, Debug)]
struct Stage {
    spec: StageSpec,
    /// Its place at the port.
    place: usize,
    /// The conditioners before it that its match names, if any.
    named: Option<Box<Passed>>,
    writes: Writes,
    /// Whether it writes what it has not read: of those at a port only the first takes a packet.
    original: bool,
    instances: Vec<AnyConditioner>,
    by_flow: Vec<u32>,
    holders: Holders,
    rng: Rng,
    counts: ColourMatrix,
    /// Tallies of replaced instances.
    past: Tallies,
}

impl Stage {
    /// The one at this place of its port.
    fn new(spec: StageSpec, place: usize, rng: Rng) -> Result<Self, ParamError> {
        let first = spec.params.build(&spec.scope)?;
        let named = Some(spec.named(first.needs())?).filter(|it| !it.is_empty()).map(Box::new);
        let writes = first.writes();
        let original = !first.rewrites();
        let instances = if spec.per == Per::Aggregate { vec![first] } else { Vec::new() };
        let holders = Holders { flows: vec![0; instances.len()], ..Holders::default() };
        let (by_flow, counts) = (Vec::new(), ColourMatrix::default());
        Ok(Self {
            spec,
            place,
            named,
            writes,
            original,
            instances,
            by_flow,
            holders,
            rng,
            counts,
            past: Tallies::default(),
        })
    }

    fn fresh(&self) -> AnyConditioner {
        self.spec.params.build(&self.spec.scope).expect("built once before")
    }

    fn another(&mut self) -> u32 {
        let new = self.fresh();
        self.instances.push(new);
        self.holders.flows.push(0);
        self.instances.len() as u32 - 1
    }

    /// Replaces an instance by a new one; the old one's counts stay.
    fn renew(&mut self, instance: u32) -> u32 {
        let new = self.fresh();
        let old = std::mem::replace(&mut self.instances[instance as usize], new);
        old.tallies(&mut |what, n| self.past.add(what, n));
        instance
    }

    /// One that nothing has, or a new one.
    fn vacant(&mut self) -> u32 {
        match self.holders.free.pop() {
            Some(left) => self.renew(left),
            None => self.another(),
        }
    }

    fn keyed(&mut self, key: Key) -> u32 {
        if let Some(&known) = self.holders.by_key.get(&key) {
            return known;
        }
        let new = self.vacant();
        self.holders.by_key.insert(key, new);
        new
    }

    /// The instance for a flow that has none.
    fn instance_for(&mut self, headers: &FlowHeaders) -> u32 {
        match (self.spec.per, self.spec.key(headers)) {
            (Per::Aggregate, _) => 0,
            (_, Some(key)) => self.keyed(key),
            (_, None) => self.vacant(),
        }
    }

    fn register(&mut self, flow: FlowId, headers: &FlowHeaders) {
        self.release(flow);
        self.classify(flow, headers);
    }

    /// Unassigned, from now on.
    fn release(&mut self, flow: FlowId) {
        self.reach(flow);
        let before = std::mem::replace(&mut self.by_flow[flow.0 as usize], NO_INSTANCE);
        if before == NO_INSTANCE {
            return;
        }
        self.instances[before as usize].forget(Turn::new(flow));
        self.holders.flows[before as usize] -= 1;
        if self.spec.per == Per::Flow {
            self.holders.free.push(before);
        }
    }

    /// Forgets what was measured of a flow that it takes, which keeps its instance.
    fn reopen(&mut self, flow: FlowId, headers: &FlowHeaders) {
        self.classify(flow, headers);
        let instance = self.by_flow[flow.0 as usize];
        if instance != NO_INSTANCE {
            self.instances[instance as usize].forget(Turn::new(flow));
        }
    }

    /// Takes a flow or leaves it. One that it had taken keeps its instance.
    fn classify(&mut self, flow: FlowId, headers: &FlowHeaders) {
        self.reach(flow);
        if !self.spec.matches.flow(headers) {
            self.release(flow);
        } else if self.by_flow[flow.0 as usize] == NO_INSTANCE {
            let instance = self.instance_for(headers);
            self.by_flow[flow.0 as usize] = instance;
            self.holders.flows[instance as usize] += 1;
        }
    }

    #[inline]
    fn takes(&self, packet: &Packet, passed: &Passed) -> Option<usize> {
        let instance = self.by_flow[packet.flow.0 as usize];
        let named = self.named.as_ref().is_none_or(|named| named.agrees(passed));
        let takes = instance != NO_INSTANCE && named && self.spec.matches.packet(packet);
        takes.then_some(instance as usize)
    }

    #[inline]
    fn forward(&mut self, instance: usize, at: &Passage<'_>, packet: &mut Packet) -> Met {
        let before = packet.colour.index();
        let mut met =
            Met { verdict: self.instances[instance].forward(Turn::new(at), packet, &mut self.rng), goes_on: false };
        if self.writes == Writes::Colour && met.verdict == Verdict::Pass {
            match self.spec.actions[packet.colour.index()] {
                Action::Pass(rewrite) => {
                    packet.dscp = rewrite.dscp.unwrap_or(packet.dscp);
                    packet.colour = rewrite.colour.unwrap_or(packet.colour);
                    met.goes_on = rewrite.next;
                }
                Action::Drop => met.verdict = Verdict::Drop(Reason::Policer),
            }
        }
        let after = if matches!(met.verdict, Verdict::Drop(_)) { DROPPED } else { packet.colour.index() };
        self.counts[before][after].add(packet.size);
        met
    }
}

/// What came of a packet at a conditioner.
struct Met {
    verdict: Verdict,
    /// Whether another that writes the same may take it.
    goes_on: bool,
}

/// The conditioners of one port.
#[derive(Clone, Debug, Default)]
pub struct Edge {
    stages: Vec<Stage>,
    /// The conditioners that the last packet has passed; `None`: there was none.
    passed: Option<Box<Passed>>,
}

/// What a table shows of one conditioner.
#[derive(Clone, Debug)]
pub struct StageCounts<'a> {
    /// Name in the file.
    pub name: &'a str,
    /// In-colour x out-colour.
    pub counts: &'a ColourMatrix,
}

impl Edge {
    /// The edge made of `specs`; their random streams belong to (seed, replication).
    ///
    /// # Errors
    /// The conditioner's name and its offending parameter.
    pub fn new(specs: Vec<StageSpec>, seed: u64, replication: u32) -> Result<Self, Box<(String, ParamError)>> {
        let stage = |(place, spec): (usize, StageSpec)| {
            let name = spec.name.clone();
            let rng = Rng::stream(seed, replication, &format!("conditioner.{name}"));
            Stage::new(spec, place, rng).map_err(|error| Box::new((name, error)))
        };
        let stages = specs.into_iter().enumerate().map(stage).collect::<Result<_, _>>()?;
        Ok(Self { stages, passed: None })
    }

    /// Announces a flow before its first packet, and again when its number is given to another.
    pub fn register(&mut self, flow: FlowId, headers: &FlowHeaders) {
        for stage in &mut self.stages {
            stage.register(flow, headers);
        }
    }

    /// Forgets a flow: what it alone had is free for others. It has to be announced before its next packet.
    pub fn forget(&mut self, flow: FlowId) {
        for stage in &mut self.stages {
            stage.release(flow);
        }
    }

    /// Another connection begins on the ports of an announced flow. What was measured of the one before it is forgotten; buckets
    /// stay as they are.
    pub fn reopen(&mut self, flow: FlowId, headers: &FlowHeaders) {
        for stage in &mut self.stages {
            stage.reopen(flow, headers);
        }
    }

    /// More is now known about an announced flow: its round-trip time. Conditioners that still take it keep their state
    /// for it; those that no longer do forget it.
    pub fn reclassify(&mut self, flow: FlowId, headers: &FlowHeaders) {
        for stage in &mut self.stages {
            stage.classify(flow, headers);
        }
    }

    /// Sends a packet through: recolours, relabels, marks; or says that it is dropped.
    #[inline]
    pub(super) fn forward(&mut self, at: &Passage<'_>, packet: &mut Packet) -> Verdict {
        let Self { stages, passed } = self;
        let passed = passed.get_or_insert_default();
        let mut written = [false; 3];
        **passed = Passed::NONE;
        for stage in stages {
            let Some(instance) = stage.takes(packet, passed) else { continue };
            if stage.original && written[stage.writes.field()] {
                continue;
            }
            let met = stage.forward(instance, at, packet);
            passed.add(stage.place, packet.colour);
            if met.verdict != Verdict::Pass {
                return met.verdict;
            }
            written[stage.writes.field()] |= stage.original && !met.goes_on;
        }
        Verdict::Pass
    }

    /// The conditioners that the last packet has passed.
    pub(super) fn passed(&self) -> &Passed {
        self.passed.as_deref().unwrap_or(&Passed::NONE)
    }

    /// The first conditioner that colours this packet (its place in the order) and which of its instances; `None`: none does.
    /// [`Edge::forward`] asks the same question; hosts that count by conditioner ask before it, as it may change the packet.
    pub fn colouring(&self, packet: &Packet) -> Option<(usize, usize)> {
        let mut passed = Passed::default();
        for (place, stage) in self.stages.iter().enumerate() {
            let Some(instance) = stage.takes(packet, &passed) else { continue };
            if stage.writes == Writes::Colour {
                return Some((place, instance));
            }
            passed.add(place, packet.colour);
        }
        None
    }

    /// The instance for packets of a flow at the conditioner of this place; `None`: it gives no colours or never takes them.
    pub fn instance(&self, place: usize, flow: FlowId) -> Option<usize> {
        let stage = self.stages.get(place).filter(|stage| stage.writes == Writes::Colour)?;
        stage.by_flow.get(flow.0 as usize).filter(|it| **it != NO_INSTANCE).map(|it| *it as usize)
    }

    /// Shows a packet at the start of its transmission to every conditioner that takes it.
    pub(super) fn departing(&mut self, at: &Passage<'_>, packet: &mut Packet) {
        for stage in &mut self.stages {
            if let Some(instance) = stage.takes(packet, &Passed::default()) {
                stage.instances[instance].departing(Turn::new(at), packet, &mut stage.rng);
            }
        }
    }

    /// Shows a packet that arrived over the mate link to every conditioner that takes its flow's other half, `at.flow`.
    pub(super) fn reverse(&mut self, at: &Passage<'_>, packet: &mut Packet) {
        for stage in &mut self.stages {
            if let Some(&instance) = stage.by_flow.get(at.flow.0 as usize)
                && instance != NO_INSTANCE
            {
                stage.instances[instance as usize].reverse(Turn::new(at), packet, &mut stage.rng);
            }
        }
    }

    /// The union of what its conditioners need.
    pub fn needs(&self) -> Needs {
        let probe = |s: &Stage| {
            let rtt = Needs::RTT.only_if(s.spec.matches.rtt.is_some());
            rtt | s.instances.first().map_or_else(|| s.fresh().needs(), |instance| instance.needs())
        };
        self.stages.iter().map(probe).fold(Needs::NOTHING, |all, one| all | one)
    }

    /// Whether nothing is conditioned here.
    pub fn is_empty(&self) -> bool {
        self.stages.is_empty()
    }

    /// What `tc -s` shows of its token buckets: number of the conditioner, name, value.
    pub(super) fn counters(&self, each: &mut dyn FnMut(usize, &'static str, f64)) {
        let [green, red] = [Colour::Green, Colour::Red].map(Colour::index);
        for (i, stage) in self.stages.iter().enumerate() {
            let ConditionerParams::TokenBucketMarker(_) = stage.spec.params else { continue };
            let left = |colour: usize| stage.counts.iter().map(|of| of[colour]).sum::<Count>();
            let (all, dropped) = (stage.counts.iter().flatten().copied().sum::<Count>(), left(DROPPED));
            each(i, "bytes", all.bytes as f64);
            each(i, "packets", all.packets as f64);
            each(i, "drops", dropped.packets as f64);
            // What conforms and is dropped cannot be told from what exceeds.
            if stage.spec.actions[green] != Action::Drop {
                each(i, "overlimits", (left(red) + dropped).packets as f64);
            }
        }
    }

    /// Counts of each conditioner, in order.
    pub fn counts(&self) -> impl Iterator<Item = StageCounts<'_>> {
        self.stages.iter().map(|s| StageCounts { name: &s.spec.name, counts: &s.counts })
    }

    /// Values for series: conditioner's name, gauge's name, value; of each conditioner's first instance.
    pub fn gauges(&self, now: Time, each: &mut dyn FnMut(&str, &'static str, f64)) {
        for stage in &self.stages {
            if let Some(instance) = stage.instances.first() {
                instance.gauges(now, &mut |gauge, value| each(&stage.spec.name, gauge, value));
            }
        }
    }

    /// Totals of each conditioner over its instances: conditioner's name, what, how many.
    pub fn tallies(&self, each: &mut dyn FnMut(&str, &'static str, u64)) {
        for stage in &self.stages {
            let mut sums = stage.past.clone();
            for instance in &stage.instances {
                instance.tallies(&mut |what, n| sums.add(what, n));
            }
            sums.0.into_iter().for_each(|(what, n)| each(&stage.spec.name, what, n));
        }
    }

    /// Takes new parameters and surroundings for the conditioner called `name` at `now`, keeping its state.
    ///
    /// # Errors
    /// The offending parameter; earlier parameters stay in force.
    pub fn retune(
        &mut self,
        now: Time,
        name: &str,
        params: &ConditionerParams,
        scope: &Scope,
    ) -> Result<(), ParamError> {
        for stage in self.stages.iter_mut().filter(|s| s.spec.name == name) {
            for instance in &mut stage.instances {
                instance.retune(now, params, scope)?;
            }
            (stage.spec.params, stage.spec.scope) = (params.clone(), scope.clone());
        }
        Ok(())
    }
}

/// Total over a matrix's out-colours: what arrived with each colour.
pub fn arrived(counts: &ColourMatrix) -> [Count; 4] {
    Colour::ALL.map(|colour| counts[colour.index()].iter().copied().sum())
}
