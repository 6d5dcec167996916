//! Weighted round robin: each class in turn sends as many packets as its weight.
//!
//! Source: Katevenis, Sidiropoulos, Courcoubetis, "Weighted round-robin cell multiplexing in a general-purpose ATM switch
//! chip", IEEE JSAC 9(8), 1991; with packets in place of cells, as the WRR of ns-2's DiffServ module (dsred.cc) does.
//! The MSVB and SIO paper compares with it.
//!
//! ```text
//! visit class i: send up to w_i packets, one after another, while any wait; then move on to class i + 1
//! ```
//!
//! While all queues hold packets, class i sends exactly w_i of every w_1 + ... + w_n packets. So the weights share
//! packets; they share bytes only if all packets have one size. A class with nothing to send is skipped and loses the
//! rest of its visit, so the link never idles while a packet waits.
//!
//! | symbol | field              | unit | default |
//! |--------|--------------------|------|---------|
//! |        | `classes[].name`   |      | -       |
//! |        | `classes[].for`    |      | -       |
//! |        | `classes[].match`|      | -       |
//! |        | `classes[].per`  |      | -       |
//! |        | `classes[].slots`|      | -       |
//! |        | `classes[].plans`|      | -       |
//! | w_i    | `classes[].weight` | p    | -       |
//! |        | `classes[].queue`  |      | -       |
//!
//! A packet belongs to the first class whose `for` has its colour or code point, or whose `match` agrees with it, else to the
//! last, the only one that may omit both.
//! An entry with `per` is a template, a class for each address: see [HTB](htb.md).
//!
//! Deviations: none from the plain form: the w_i packets of a visit go in a burst (the chip spreads them over the round).

use super::{Classes, Heads, HostKey, Pick, Scheduler, TemplateKeys, fault, members, same_members, share_of};
use crate::Scope;
use crate::aqm::members::{Filter, Members};
use crate::count::Count;
use crate::needs::Needs;
use crate::packet::Packet;
use crate::params::{CLASS, ParamError, Params as Declared};
use crate::port::turn::Turn;
use crate::units::{BitRate, Time};

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// The classes in the order of their visits; first match, else the last.
    pub classes: Classes<Class>,
}

/// One class: which packets, and its weight.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Class {
    /// Name of the class, by which results and messages call it.
    pub name: Option<String>,
    /// Which packets it takes.
    #[param(flatten)]
    pub filter: Filter,
    /// Or the keys of a template.
    #[param(flatten)]
    pub template: TemplateKeys,
    /// Packets it may send in each round.
    pub weight: u32,
    /// Its queue: a name of `[queue]`, or a table of the same keys; default: drop-tail.
    pub queue: HostKey,
}

impl super::Class for Class {
    fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    fn filter(&self) -> &Filter {
        &self.filter
    }

    fn filter_mut(&mut self) -> &mut Filter {
        &mut self.filter
    }
}

/// One link's WRR.
#[derive(Clone, Debug)]
pub struct Wrr {
    members: Members,
    weights: Vec<u32>,
    /// The class being visited.
    current: usize,
    /// Packets it may still send in this visit.
    left: u32,
}

impl Params {
    /// # Errors
    /// E201 without classes or for a weight of 0; E223 when a class can match no packet.
    pub fn build(self, scope: &Scope) -> Result<Wrr, ParamError> {
        let members = members(&self.classes, |_| true, None, scope)?;
        let weights: Vec<_> = self.classes.iter().map(|class| class.weight).collect();
        if let Some(i) = weights.iter().position(|&weight| weight == 0) {
            let error = fault("E201", self.classes.called(i), format!("{CLASS}: `weight` is 0"));
            return Err(error.help("must be at least 1: a class of weight 0 never sends"));
        }
        Ok(Wrr { members, current: weights.len() - 1, left: 0, weights })
    }
}

impl Scheduler for Wrr {
    type Params = Params;

    fn places(&self) -> usize {
        self.weights.len()
    }

    fn share(&self, child: usize, whole: BitRate) -> BitRate {
        let all = self.weights.iter().map(|&weight| u64::from(weight)).sum();
        share_of(whole, self.weights[child].into(), all)
    }

    #[inline]
    fn place(&mut self, packet: Turn<&Packet>) -> usize {
        self.members.of(*packet)
    }

    fn members(&mut self) -> Option<&mut Members> {
        Some(&mut self.members)
    }

    fn sorted(&self) -> Option<&Members> {
        Some(&self.members)
    }

    fn pick(&mut self, _now: Turn<Time>, heads: &Heads) -> Pick {
        if self.left == 0 || !heads[self.current].is_ready() {
            let next = heads.first_ready(self.current + 1).or_else(|| heads.first_ready(0));
            let Some(next) = next else { return Pick::Nothing };
            (self.current, self.left) = (next, self.weights[next]);
        }
        Pick::Child(self.current)
    }

    fn needs(&self) -> Needs {
        Needs::NOTHING
    }

    fn sent(&mut self, _now: Turn<Time>, _child: usize, _bytes: u32, _behind: Count) {
        self.left -= 1;
    }

    /// The current visit continues with what is left of it, at most the new weight.
    fn retune(&mut self, _now: Time, params: &Params, scope: &Scope) -> Result<(), ParamError> {
        let new = params.clone().build(scope)?;
        same_members(&self.members, &new.members)?;
        self.weights = new.weights;
        self.left = self.left.min(self.weights[self.current]);
        Ok(())
    }
}
