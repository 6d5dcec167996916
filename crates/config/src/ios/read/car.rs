//! What interfaces police and shape without a policy map: committed access rate (CAR) and generic traffic shaping.
//!
//! ```text
//! rate-limit input|output [access-group N | dscp X | qos-group N] R B E conform-action A exceed-action A    bit/s, bytes
//! traffic-shape rate R [Bc [Be [N]]]                                                                        bit/s, bits, packets
//! traffic-shape group ACL R [Bc [Be]]
//! ```
//!
//! Each line is a class of a policy that only its interface has. A packet meets the first `rate-limit` that it agrees with, and
//! the next one after `continue`.

use super::action::{self, action};
use super::words::{Words, dscp, length, wanted};
use super::{Reader, class, matches};
use crate::ios::plan::{Apart, At, Attached, Child, Class, ClassMap, Do, Police, Policy, Test, What, WithPlace};
use crate::ios::tree::Row;
use crate::model::Way;
use perhop_core::classify::Match;

/// What a policer beside a policy map is.
const BESIDE: &str =
    "what an interface polices or shapes beside a `service-policy` of the same direction is not modelled";

/// The queue of a shaper without a policy map.
const SHAPER: &str = "its queue is weighted fair queueing in IOS: a queue for each flow here";

impl Reader {
    /// `rate-limit ..`
    pub(super) fn rate_limit(&mut self, port: usize, row: &Row<'_>) {
        let mut words = Words::new(row, 1);
        let read = rate_limit(&mut words).and_then(|(it, nearly)| words.end().map(|()| (it, nearly)));
        self.apart(port, row, read);
    }

    /// `traffic-shape ..`
    pub(super) fn traffic_shape(&mut self, port: usize, row: &Row<'_>) {
        let mut words = Words::new(row, 1);
        let read = traffic_shape(&mut words).and_then(|(it, nearly)| words.end().map(|()| (it, nearly)));
        self.apart(port, row, read);
    }

    fn apart(&mut self, port: usize, row: &Row<'_>, read: Result<((Way, Class), Option<String>), String>) {
        let outcome = read.map(|((way, mut class), nearly)| {
            let before = self.plan.apart.iter().filter(|it| it.interface == port && !it.class.is_default()).count();
            if !class.is_default() {
                class.name = format!("{} {}", class.name, before + 1);
                class.map.iter_mut().for_each(|map| map.name.clone_from(&class.name));
            }
            self.plan.apart.push(Apart { interface: port, way, class });
            nearly
        });
        self.settle(row, outcome);
    }

    /// A policy for each interface and direction with such lines.
    pub(super) fn policies_of_interfaces(&mut self) {
        let mut apart = std::mem::take(&mut self.plan.apart);
        while let Some(Apart { interface, way, .. }) = apart.first() {
            let (port, way) = (self.plan.interfaces[*interface].clone(), *way);
            let interfaces = &self.plan.interfaces;
            let (here, others) = std::mem::take(&mut apart)
                .into_iter()
                .partition::<Vec<_>, _>(|it| interfaces[it.interface].name == port.name && it.way == way);
            apart = others;
            let attached = |it: &Attached| self.plan.interfaces[it.interface].name == port.name && it.way == way;
            if self.plan.attached.iter().any(attached) {
                here.iter().for_each(|it| self.account.not_modelled(it.class.at.line, BESIDE));
                continue;
            }
            self.account.taken(port.at.line);
            let (at, interface) = (here[0].class.at, here[0].interface);
            let place = self.new_policy(port.name, at, true);
            self.plan.attached.push(Attached { interface, way, policy: Child::Shown(place), at });
            let classes: Vec<_> = here.into_iter().map(|it| it.class).collect();
            let (rest, named): (Vec<_>, Vec<_>) = classes.into_iter().partition(Class::is_default);
            let (police, shape): (Vec<_>, Vec<_>) = named.into_iter().partition(|class| class.police.is_some());
            // The last of several lines counts.
            let classes = police.into_iter().chain(shape).chain(rest.into_iter().next_back()).collect();
            let policy = &mut self.plan.policies[place];
            *policy = Policy { classes, shown: false, ..std::mem::take(policy) };
        }
    }
}

/// A class that only this line has.
fn of_line(name: &str, at: At, what: What) -> Class {
    let tests = vec![WithPlace { is: Test { not: false, what }, at }];
    let map = ClassMap { name: name.to_owned(), at, all: false, tests };
    Class { name: name.to_owned(), at, map: Some(map), ..Class::default() }
}

fn rate_limit(words: &mut Words<'_>) -> Result<((Way, Class), Option<String>), String> {
    let at = words.row().at();
    let way = match words.take() {
        "input" => Way::Input,
        "output" => Way::Output,
        word => return Err(wanted(word, "`input` or `output`")),
    };
    let (what, packets) = packets(words)?;
    let cir = words.rate(1)?;
    let (bc, be) = (words.burst()?, words.count()?.is);
    let (conform, exceed) = (actions(words, "conform-action")?, actions(words, "exceed-action")?);
    let actions = [Some(conform), Some(exceed), None];
    let police = Police { at, cir, bc: Some(bc), pir: None, be: None, actions, aware: None };
    let normal = match bc.is {
        crate::ios::plan::Burst::Bytes(bytes) => bytes,
        _ => return Err("a burst of CAR is in bytes".into()),
    };
    let extended = (be != normal).then(|| {
        format!(
            "packets may not borrow tokens up to the extended burst of {be} bytes: the bucket holds the normal burst of \
             {normal} bytes"
        )
    });
    let nearly: Vec<_> = [packets, extended].into_iter().flatten().collect();
    let class = Class { police: Some(police), ..of_line("rate-limit", at, what) };
    Ok(((way, class), (!nearly.is_empty()).then(|| nearly.join("; "))))
}

/// The packets of a `rate-limit`.
fn packets(words: &mut Words<'_>) -> Result<(What, Option<String>), String> {
    if words.has("access-group") {
        if words.has("rate-limit") {
            return Err("an access list of precedences or MAC addresses (`access-list rate-limit`) is not read".into());
        }
        return match words.take() {
            "" => Err(wanted("", "the number of an access list")),
            name => Ok((What::List(name.to_owned()), None)),
        };
    }
    if words.has("dscp") {
        let word = words.take();
        let code = dscp(word).ok_or_else(|| wanted(word, "a code point"))?;
        return Ok((What::Fields(Box::new(Match { dscp: vec![code], ..Match::default() })), None));
    }
    if words.has("qos-group") {
        let group = words.number()?;
        return Ok(matches::named(vec![format!("qos-group-{group}")]));
    }
    Ok((What::Any, None))
}

/// `conform-action continue`, `exceed-action set-dscp-continue 10`
fn actions(words: &mut Words<'_>, of: &str) -> Result<Vec<WithPlace<Do>>, String> {
    if !words.has(of) {
        return Err(wanted(words.peek(), &format!("`{of}`")));
    }
    if words.has("continue") {
        return Ok(vec![WithPlace { is: Do::Continue, at: words.at() }]);
    }
    let Some(field) = words.peek().strip_suffix("-continue") else { return action(words).map(|done| vec![done]) };
    let transmit = format!("{field}-transmit");
    words.take();
    let goes_on = WithPlace { is: Do::Continue, at: words.at() };
    Ok(vec![action::of_word(&transmit, words)?, goes_on])
}

fn traffic_shape(words: &mut Words<'_>) -> Result<((Way, Class), Option<String>), String> {
    let at = words.row().at();
    let mut it = match words.take() {
        "rate" => Class { name: "class-default".to_owned(), at, ..Class::default() },
        "group" => match words.take() {
            "" => return Err(wanted("", "the number of an access list")),
            name => of_line("group", at, What::List(name.to_owned())),
        },
        "adaptive" | "fecn-adapt" => return Err("shaping that adapts to Frame Relay is not modelled".into()),
        word => return Err(wanted(word, "`rate` or `group`")),
    };
    it.shaping.shape = Some(class::rates_of_shape(words, 1, [&[], &[]])?);
    if words.is_number() {
        let count = words.count()?;
        it.waiting.limit = Some(WithPlace { is: length(count.is, "packets")?, at: count.at });
    }
    it.waiting.fair = Some(at);
    let group = if it.is_default() { "" } else { "; what leaves the shapers of groups shares the link by turns here" };
    Ok(((Way::Output, it), Some(format!("{SHAPER}{group}"))))
}
