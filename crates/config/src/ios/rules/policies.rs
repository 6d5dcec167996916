//! Ways through what a text says in the words of IOS, and lines of IOS to write instead.

use super::Case;
use crate::ios::interfaces::nominal;
use crate::ios::plan::{At, Attached, Burst, Class, Do, Plan, Police, Policy, Rate, Share, WithPlace};
use crate::model::Way;
use crate::text::Text;
use perhop_core::params::Place;
use perhop_core::units::{BitRate, Bytes};
use std::collections::HashSet;

/// Policies within policies; IOS takes three.
const DEEPEST: usize = 4;
/// The reader refuses texts with more classes than this.
const MOST: usize = 200_000;

/// A policy where it is used.
#[derive(Clone, Copy)]
pub(super) struct Use<'a> {
    /// Itself.
    pub policy: &'a Policy,
    /// What its percentages refer to, as far as the text says.
    pub base: Option<BitRate>,
    /// Whether an interface has it, rather than a class of another policy.
    pub top: bool,
    /// The direction; `None`: no interface has it.
    pub way: Option<Way>,
    /// Whether it protects the router itself.
    pub control: bool,
    /// `max-reserved-bandwidth` of the interface, in percent.
    pub reserves: Option<f64>,
}

impl Use<'_> {
    /// Whether a device shows it at an interface, which then has taken it.
    pub(super) const fn in_force(&self) -> bool {
        self.policy.inline
    }
}

/// Every policy at each of its places; one that is nowhere once.
pub(super) fn uses<'a>(case: &Case<'a>) -> Vec<Use<'a>> {
    let plan = case.parse;
    let mut all = Vec::new();
    for attached in &plan.attached {
        if let Some(policy) = plan.child(&attached.policy) {
            let interface = &plan.interfaces[attached.interface];
            let (control, reserves) = (interface.name == "control-plane", interface.reserves);
            let it = Use { policy, base: link(case, attached), top: true, way: Some(attached.way), control, reserves };
            below(plan, it, 0, &mut all);
        }
    }
    let mut used: HashSet<*const Policy> = all.iter().map(|it| std::ptr::from_ref(it.policy)).collect();
    let children = plan.policies.iter().flat_map(|policy| &policy.classes).filter_map(|class| class.child.as_ref());
    used.extend(children.filter_map(|child| plan.child(child)).map(std::ptr::from_ref));
    for policy in plan.policies.iter().filter(|policy| !used.contains(&std::ptr::from_ref(*policy))) {
        let it = Use { policy, base: case.given.link, top: false, way: None, control: false, reserves: None };
        below(plan, it, 0, &mut all);
    }
    all
}

/// The rate of an interface.
fn link(case: &Case<'_>, attached: &Attached) -> Option<BitRate> {
    let interface = &case.parse.interfaces[attached.interface];
    let metric = interface.bandwidth.map(|put| put.is);
    case.given.link.or(metric).or_else(|| nominal(&interface.name))
}

fn below<'a>(plan: &'a Plan, it: Use<'a>, depth: usize, all: &mut Vec<Use<'a>>) {
    if depth >= DEEPEST || all.len() >= MOST {
        return;
    }
    all.push(it);
    for class in &it.policy.classes {
        if let Some(policy) = class.child.as_ref().and_then(|child| plan.child(child)) {
            let shape = class.shaping.shape.as_ref().and_then(|shape| bits(shape.rate.is, it.base));
            let base = shape.or_else(|| guarantee(class, it.base)).or(it.base);
            below(plan, Use { policy, base, top: false, ..it }, depth + 1, all);
        }
    }
}

/// What a class is guaranteed.
fn guarantee(class: &Class, base: Option<BitRate>) -> Option<BitRate> {
    match class.bandwidth?.is {
        Share::Rate(rate) => Some(rate),
        Share::Percent(percent) => bits(Rate::Percent(percent), base),
        _ => None,
    }
}

/// Every class, each once, where its place does not matter.
pub(super) fn classes(plan: &Plan) -> impl Iterator<Item = &Class> {
    plan.policies.iter().flat_map(|policy| &policy.classes)
}

/// A rate in bit/s, if it has one.
pub(super) fn bits(rate: Rate, base: Option<BitRate>) -> Option<BitRate> {
    match rate {
        Rate::Bits(rate) => Some(rate),
        Rate::Percent(percent) => Some(BitRate::bps((base?.bit_s() as f64 * percent / 100.0) as u64)),
        Rate::Packets(_) => None,
    }
    .filter(|rate| rate.bit_s() > 0)
}

/// A rate that the text states in bit/s.
pub(super) fn stated(put: WithPlace<Rate>) -> Option<BitRate> {
    if let Rate::Bits(_) = put.is { bits(put.is, None) } else { None }
}

/// A burst that the text states in bytes.
pub(super) fn bytes(put: Option<WithPlace<Burst>>) -> Option<WithPlace<Bytes>> {
    let put = put?;
    if let Burst::Bytes(bytes) = put.is { Some(WithPlace { is: Bytes::new(bytes), at: put.at }) } else { None }
}

/// Whether what exceeds is dropped, which is the default.
pub(super) fn drops(police: &Police) -> bool {
    let only = |colour: usize, done: &Do| {
        police.actions[colour].as_ref().is_none_or(|all| all.iter().any(|put| put.is == *done))
    };
    only(1, &Do::Drop) && !police.actions[0].as_ref().is_some_and(|all| all.iter().any(|put| put.is == Do::Drop))
}

/// A line of the text with other words at some places.
pub(super) fn with(text: &Text, line: At, mut changes: Vec<(Place, String)>) -> String {
    changes.sort_by_key(|(place, _)| place.start);
    let part = |from: usize, to: usize| text.text.get(from..to).unwrap_or_default();
    let (mut out, mut from) = (String::new(), line.place.start);
    for (place, word) in changes {
        out += part(from, place.start);
        out += &word;
        from = place.end;
    }
    out + part(from, line.place.end)
}
