//! Conditioners as filters at a port's egress, tried in the file's order. tc meters with one kind: a token bucket, with an action
//! for what conforms and one for what exceeds. Code points are written by `pedit`, and the header's checksum by `csum`.

use super::filters::{Chain, Group, count, groups};
use super::script::{Line, Port, Script};
use super::{labels, leaves, ports, words};
use crate::device::classes;
use crate::device::headers::Ip;
use crate::tc::limits::POLICE_MTU;
use perhop_core::accounting::Accounting;
use perhop_core::arithmetic::Arithmetic;
use perhop_core::conditioner::{ConditionerParams, token_bucket};
use perhop_core::packet::Colour;
use perhop_core::params::show_table;
use perhop_core::port::edge::{Action, Per, Rewrite, StageSpec};
use perhop_core::units::MeterRate;

/// Says the conditioners of a port.
pub(super) fn say(port: &Port<'_>, said: &mut Script) {
    if port.link.edge.is_empty() || labels::labels(port).is_some() {
        return;
    }
    if port.line == Line::Real {
        said.say(port.near.tc("qdisc", "clsact"));
    }
    let mut chain = Chain::new(port, "egress");
    let meters = |stage: &StageSpec| matches!(stage.params, ConditionerParams::TokenBucketMarker(_));
    if port.accounting != Accounting::L2 && port.link.edge.iter().any(meters) {
        said.refuse(port, "a policer that does not count Ethernet's 14 bytes: write accounting = \"l2\"");
    }
    for stage in &port.link.edge {
        said.comment(format!("conditioner {:?} ({})", stage.name, stage.params.name()));
        if let Err(what) = conditioner(port, stage, &mut chain, said) {
            let whose = format!("conditioner `{}` ({}) at `{}`", stage.name, stage.params.name(), port.link.name);
            said.refuse_of(whose, &format!("tc cannot express {what}"));
        }
    }
}

/// # Errors
/// What tc cannot say.
fn conditioner(port: &Port<'_>, stage: &StageSpec, chain: &mut Chain<'_>, said: &mut Script) -> Result<(), String> {
    let steps = steps(stage)?;
    let marks = steps.iter().any(|step| step.then.is_some_and(is_mark));
    if marks && port.line == Line::Virtual {
        return Err(
            "code points that it sets: they need `csum`, which the lab's kernel lacks; `--port` writes them".into()
        );
    }
    let found = groups(&stage.matches, port, marks).map_err(|what| format!("a `match` of {what}"))?;
    let mut first = passed(port, stage)?;
    for Step { police, then } in steps {
        let police = police.map(|police| format!("action {}", said.shared(&police, count(&found))));
        let before: Vec<_> = first.take().into_iter().chain(police).collect();
        let actions = |group: &Group| before.iter().cloned().chain(then.map(|then| words_of(then, group.ip)));
        chain.say(said, &found, |group| actions(group).collect::<Vec<_>>().join(" "));
    }
    notes(port, stage, said);
    Ok(())
}

/// Where a later `match` asks whether a packet has passed a conditioner: a bit of the packet's mark.
///
/// # Errors
/// No bit is left.
fn passed(port: &Port<'_>, stage: &StageSpec) -> Result<Option<String>, String> {
    let classes = port.link.nodes.iter().flat_map(classes::all_classes).filter_map(|class| classes::takes(&class).ok());
    let mut asked = port.link.edge.iter().map(|stage| stage.matches.clone()).chain(classes);
    if !asked.any(|matches| matches.conditioner.contains(&stage.name)) {
        return Ok(None);
    }
    let bit =
        port.bit(&stage.name).ok_or("it: a packet's mark has 32 bits, for the first 32 conditioners of a port")?;
    Ok(Some(format!("action skbedit mark {bit:#x}/{bit:#x} pipe")))
}

/// A filter of a conditioner.
struct Step {
    /// What is asked first, with what it says at once.
    police: Option<String>,
    /// What happens to a packet that is left.
    then: Option<Action>,
}

/// # Errors
/// What tc cannot say.
fn steps(stage: &StageSpec) -> Result<Vec<Step>, String> {
    match &stage.params {
        ConditionerParams::TokenBucketMarker(bucket) => {
            let [conform, exceed] = [Colour::Green, Colour::Red].map(|colour| stage.actions[colour.index()]);
            policed(&policer(bucket, stage)?, uncoloured(conform)?, uncoloured(exceed)?)
        }
        ConditionerParams::Marker(marker) => {
            let then = uncoloured(stage.actions[marker.colour.colour().index()])?;
            Ok(vec![Step { police: None, then: Some(then) }])
        }
        _ => Err("it: a policer of Linux is a token bucket with two outcomes".into()),
    }
}

/// # Errors
/// It sets a colour.
fn uncoloured(action: Action) -> Result<Action, String> {
    match action {
        Action::Pass(Rewrite { colour: Some(_), .. }) => Err("colours that it sets: packets of Linux have none".into()),
        _ => Ok(action),
    }
}

/// A policer says at once what happens, or that the packet goes on to the next action of its filter. If both outcomes mark, one
/// of them goes on to the next filter.
///
/// # Errors
/// What tc cannot say.
fn policed(police: &str, conform: Action, exceed: Action) -> Result<Vec<Step>, String> {
    let step = |words: [&str; 2], then| Step {
        police: Some(format!("{police} conform-exceed {}/{}", words[0], words[1])),
        then,
    };
    let after = |then| Step { police: None, then: Some(then) };
    Ok(match (is_mark(conform), is_mark(exceed)) {
        (false, false) => vec![step([control(exceed), control(conform)], None)],
        (true, false) => vec![step([control(exceed), "pipe"], Some(conform))],
        (false, true) => vec![step(["pipe", control(conform)], Some(exceed))],
        (true, true) if !conform.goes_on() => vec![step(["continue", "pipe"], Some(conform)), after(exceed)],
        (true, true) if !exceed.goes_on() => vec![step(["pipe", "continue"], Some(exceed)), after(conform)],
        _ => return Err("\"next\" of both colours where both set code points".into()),
    })
}

const fn is_mark(action: Action) -> bool {
    matches!(action, Action::Pass(Rewrite { dscp: Some(_), .. }))
}

/// How an action ends.
const fn control(action: Action) -> &'static str {
    match action {
        Action::Drop => "drop",
        Action::Pass(Rewrite { next: true, .. }) => "continue",
        Action::Pass(_) => "ok",
    }
}

/// An action after a policer's, or alone.
fn words_of(action: Action, ip: Option<Ip>) -> String {
    let end = control(action);
    let Action::Pass(Rewrite { dscp: Some(dscp), .. }) = action else { return format!("action {end}") };
    let set = format!("set {:#04x} retain 0xfc", dscp.get() << 2);
    match ip {
        Some(Ip::V6) => format!("action pedit ex munge ip6 traffic_class {set} {end}"),
        _ => format!("action pedit ex munge ip dsfield {set} pipe action csum ip4h {end}"),
    }
}

/// `police rate ...`
///
/// # Errors
/// What tc cannot say.
pub(super) fn policer(bucket: &token_bucket::Params, stage: &StageSpec) -> Result<String, String> {
    if stage.per != Per::Aggregate {
        return Err(format!("`per = \"{}\"`: a policer of Linux has one bucket for all packets", stage.per.name()));
    }
    let rates = rates(bucket).ok_or("a bucket in other units than its rate")?;
    Ok(format!("{rates}{}", limits(bucket, stage)?))
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
    let mtu = bucket.mtu.or((!bucket.cir.in_packets() && largest.get() > *POLICE_MTU.start()).then_some(largest));
    if bucket.framing.overhead.is_some_and(|bytes| bytes.get() < 0) {
        return Err("an `overhead` below 0".into());
    }
    if bucket.framing.mpu.is_some() {
        return Err("`mpu`".into());
    }
    let peak = bucket.pir.map_or(String::new(), |pir| format!(" peakrate {}", words::rate(pir)));
    let mtu = mtu.map_or(String::new(), |mtu| format!(" mtu {}", mtu.get()));
    Ok(format!("{peak}{mtu}{}", ports::framing(&show_table(&bucket.framing))))
}

/// Linux's policer has its own numbers.
fn notes(port: &Port<'_>, stage: &StageSpec, said: &mut Script) {
    let ConditionerParams::TokenBucketMarker(bucket) = &stage.params else { return };
    if bucket.arithmetic != Some(Arithmetic::Linux) {
        said.note(port, &leaves::other_numbers(&stage.name));
    }
}
