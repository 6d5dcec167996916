//! Conditioners as policers at a port's egress. tc has one that it can say: a token bucket whose red packets are dropped.

use super::{Port, Said, words};
use perhop_core::classify::Match;
use perhop_core::conditioner::ConditionerParams;
use perhop_core::packet::Colour;
use perhop_core::port::edge::{Action, StageSpec};
use perhop_core::units::MeterRate;

/// Says the conditioners of a port.
pub(super) fn say(port: &Port<'_>, said: &mut Said) {
    if port.link.edge.is_empty() {
        return;
    }
    if i64::from(port.overhead) != super::ETHERNET {
        said.refuse(port, "a policer that does not count Ethernet's 14 bytes: it needs accounting = \"l2\", a policer");
    }
    said.say(port.tc("qdisc", "clsact"));
    for (i, stage) in port.link.edge.iter().enumerate() {
        match policer(stage) {
            Some(police) => matches(port, stage, &police, i + 1, said),
            None => said.refuse(port, &format!("conditioner `{}` ({})", stage.name, stage.params.name())),
        }
    }
}

fn policer(stage: &StageSpec) -> Option<String> {
    let ConditionerParams::TokenBucketMarker(bucket) = &stage.params else { return None };
    let drops = stage.actions[Colour::Red.index()] == Action::Drop;
    if !drops || stage.actions[Colour::Green.index()] != Action::Transmit || bucket.pir.is_some() {
        return None;
    }
    let MeterRate::Bits(rate) = bucket.cir else { return None };
    let burst = bucket.cbs.tokens(bucket.cir)?;
    Some(format!("action police rate {} burst {} conform-exceed drop/pipe", words::rate(rate), burst.get()))
}

fn matches(port: &Port<'_>, stage: &StageSpec, police: &str, priority: usize, said: &mut Said) {
    let it = &stage.matches;
    if *it != (Match { dscp: it.dscp.clone(), ..Match::default() }) {
        said.refuse(port, &format!("the match of `{}`: match code points alone, a policer", stage.name));
    }
    let filter = |what: &str| port.tc("filter", &format!("egress protocol ip prio {priority} {what} {police}"));
    if it.dscp.is_empty() {
        said.say(filter("matchall"));
    }
    for dscp in &it.dscp {
        said.say(filter(&format!("u32 match ip dsfield {:#04x} 0xfc", dscp.get() << 2)));
    }
}
