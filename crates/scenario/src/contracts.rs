//! What a report compares results with: which rate is committed to each class, and which ports its data passes.
//!
//! Decision: docs/decisions/108-contract-offer-and-delay.md

use crate::resolve::offered::{Flowline, classes};
use crate::resolve::ports::{Stage, parameter};
use crate::scenario::Scenario;
use perhop_core::port::edge::Per;
use perhop_core::units::BitRate;
use std::collections::{BTreeMap, BTreeSet};

/// The rate that a conditioner commits to at one port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contract {
    /// Its name in the file.
    pub conditioner: String,
    /// Its port.
    pub hop: String,
    /// `cir` at the start of the run.
    pub rate: BitRate,
    /// What it holds for: all that the conditioner takes there, or each flow, pair or class of it.
    pub per: Per,
    /// The classes whose data it may take, in the order of the file.
    pub classes: Vec<String>,
}

/// A port that data of a class passes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passed {
    /// The class.
    pub class: String,
    /// The port.
    pub hop: String,
    /// Whether data enters the network there: it is the first on the way of some of it.
    pub entry: bool,
    /// Whether ACKs of the class pass it too.
    pub acks: bool,
}

/// The contracts of all conditioners that have a `cir`, in the file's order.
pub fn contracts(scenario: &Scenario) -> Vec<Contract> {
    scenario.built.stages.iter().filter_map(|stage| contract(scenario, stage)).collect()
}

fn contract(scenario: &Scenario, stage: &Stage) -> Option<Contract> {
    let rate = parameter::<BitRate>(stage, "cir")?;
    let names = classes(&scenario.model);
    let taken: BTreeSet<_> = stage.takes.iter().map(|&i| class(&scenario.built.traffic[i])).collect();
    Some(Contract {
        conditioner: stage.name.clone(),
        hop: hop(scenario, stage.link),
        rate,
        per: stage.spec.per,
        classes: taken.into_iter().map(|i| names[i].to_owned()).collect(),
    })
}

/// Every class with the ports that its data passes, in the order of the file.
pub fn passed(scenario: &Scenario) -> Vec<Passed> {
    let names = classes(&scenario.model);
    let mut of_class = vec![BTreeMap::new(); names.len()];
    for flow in &scenario.built.traffic {
        let passed: &mut BTreeMap<u32, Here> = &mut of_class[class(flow)];
        for way in data_ways(flow) {
            way.iter().for_each(|link| passed.entry(*link).or_default().data = true);
            way.first().into_iter().for_each(|link| passed.entry(*link).or_default().entry = true);
        }
        flow.backward.iter().for_each(|link| passed.entry(*link).or_default().acks = true);
    }
    let mut out = Vec::new();
    for (name, passed) in names.into_iter().zip(of_class) {
        for (link, Here { entry, acks, .. }) in passed.into_iter().filter(|(_, here)| here.data) {
            out.push(Passed { class: name.to_owned(), hop: hop(scenario, link as usize), entry, acks });
        }
    }
    out
}

/// What of a class passes a link.
#[derive(Clone, Copy, Default)]
struct Here {
    data: bool,
    entry: bool,
    acks: bool,
}

/// The links from sender to receiver, and back if the receiver's requests are data too.
pub fn data_ways(flow: &Flowline) -> impl Iterator<Item = &[u32]> {
    let requests = flow.ack > u32::from(flow.offered.tcp.header);
    [&*flow.forward].into_iter().chain(requests.then_some(&*flow.backward))
}

fn class(flow: &Flowline) -> usize {
    usize::from(flow.offered.class)
}

fn hop(scenario: &Scenario, link: usize) -> String {
    scenario.built.plan.links[link].name.clone()
}
