//! Conditioners as policers at a port's egress. tc has one that it can say: a token bucket with an action for what conforms
//! and one for what exceeds.

use super::{Port, Said, ports, queues, words};
use perhop_core::arithmetic::Arithmetic;
use perhop_core::classify::Match;
use perhop_core::conditioner::{ConditionerParams, token_bucket};
use perhop_core::packet::Colour;
use perhop_core::params::show_table;
use perhop_core::port::edge::{Action, Per, Rewrite, StageSpec};
use perhop_core::units::{Bytes, MeterRate};

/// The largest packet that may conform where tc is told no `mtu`.
const TC_MTU: Bytes = Bytes::new(2040);

/// Says the conditioners of a port: each is a filter, tried in the file's order.
pub(super) fn say(port: &Port<'_>, said: &mut Said) {
    if port.link.edge.is_empty() {
        return;
    }
    if i64::from(port.overhead) != super::ETHERNET {
        said.refuse(port, "a policer that does not count Ethernet's 14 bytes: write accounting = \"l2\"");
    }
    for (i, stage) in port.link.edge.iter().enumerate() {
        match policer(stage) {
            Ok(police) => {
                matches(port, stage, &police, i + 1, said);
                notes(port, stage, said);
            }
            Err(what) => said.refuse(port, &what),
        }
    }
}

/// `police rate ... conform-exceed EXCEED/CONFORM`
///
/// # Errors
/// What tc cannot say.
pub(super) fn policer(stage: &StageSpec) -> Result<String, String> {
    let unknown = || format!("conditioner `{}` ({})", stage.name, stage.params.name());
    let ConditionerParams::TokenBucketMarker(bucket) = &stage.params else { return Err(unknown()) };
    if stage.per != Per::Aggregate {
        return Err(format!(
            "`per = \"{}\"` of `{}`: a policer of Linux has one bucket for all packets",
            stage.per.name(),
            stage.name
        ));
    }
    let [conform, exceed] = [Colour::Green, Colour::Red].map(|colour| control(stage.actions[colour.index()]));
    let known = "its actions can only be \"drop\", \"transmit\" or \"next\"";
    let rewrites = || format!("code points and colours that `{}` sets: {known}", stage.name);
    let (conform, exceed) = conform.zip(exceed).ok_or_else(rewrites)?;
    let rates = rates(bucket).ok_or_else(unknown)?;
    Ok(format!("{rates}{} conform-exceed {exceed}/{conform}", limits(bucket, stage)?))
}

/// What tc calls an action; it sets neither code points nor colours.
const fn control(action: Action) -> Option<&'static str> {
    match action {
        Action::Drop => Some("drop"),
        Action::Pass(Rewrite { dscp: None, colour: None, next: true }) => Some("continue"),
        Action::Pass(Rewrite { dscp: None, colour: None, next: false }) => Some("ok"),
        Action::Pass(_) => None,
    }
}

fn rates(bucket: &token_bucket::Params) -> Option<String> {
    let burst = bucket.cbs.tokens(bucket.cir)?.get();
    Some(match bucket.cir {
        MeterRate::Bits(rate) => format!("police rate {} burst {burst}", words::rate(rate)),
        MeterRate::Packets(rate) => format!("police pkts_rate {} pkts_burst {burst}", rate.packets_s()),
    })
}

/// Peak rate, largest packet, framing.
///
/// # Errors
/// What tc cannot say.
fn limits(bucket: &token_bucket::Params, stage: &StageSpec) -> Result<String, String> {
    let largest = stage.scope.largest_packet;
    let mtu = bucket.mtu.or((!bucket.cir.in_packets() && largest > TC_MTU).then_some(largest));
    if bucket.framing.overhead.is_some_and(|bytes| bytes.get() < 0) {
        return Err(format!("an `overhead` below 0 of the policer `{}`", stage.name));
    }
    if bucket.framing.mpu.is_some() {
        return Err(format!("`mpu` of the policer `{}`", stage.name));
    }
    let peak = bucket.pir.map_or(String::new(), |pir| format!(" peakrate {}", words::rate(pir)));
    let mtu = mtu.map_or(String::new(), |mtu| format!(" mtu {}", mtu.get()));
    Ok(format!("{peak}{mtu}{}", ports::framing(&show_table(&bucket.framing))))
}

/// Linux's policer has its own numbers.
fn notes(port: &Port<'_>, stage: &StageSpec, said: &mut Said) {
    let ConditionerParams::TokenBucketMarker(bucket) = &stage.params else { return };
    if bucket.arithmetic != Some(Arithmetic::Linux) {
        said.note(port, &queues::other_numbers(&stage.name));
    }
}

fn matches(port: &Port<'_>, stage: &StageSpec, police: &str, priority: usize, said: &mut Said) {
    let it = &stage.matches;
    if *it != (Match { dscp: it.dscp.clone(), ..Match::default() }) {
        said.refuse(port, &format!("the match of `{}`: match only code points", stage.name));
    }
    let police = said.shared(police, it.dscp.len());
    let filter =
        |what: &str| port.near.tc("filter", &format!("egress protocol ip prio {priority} {what} action {police}"));
    if it.dscp.is_empty() {
        said.say(filter("matchall"));
    }
    for dscp in &it.dscp {
        said.say(filter(&format!("u32 match ip dsfield {:#04x} 0xfc", dscp.get() << 2)));
    }
}
