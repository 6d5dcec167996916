//! The wire, where packets arrive: the time that their bits take, loss, delay, jitter, overtaking.
//!
//! netem lets a packet that overtakes go at once, before its bits have taken their time; so where packets overtake, one netem takes the
//! time of the bits and another below it the delay. Jitter stays in the first, for netem keeps order only where it has a rate.

use super::script::{Port, Script};
use super::{Device, words};
use crate::tc::limits::TICK;
use perhop_core::accounting::Accounting;
use perhop_core::units::{Probability, Span};
use perhop_sim::plan::{Link, Spread, Transit};

/// What netem may hold.
const LIMIT: &str = "limit 1000000";

/// The commands for a port's wire to its far end; `i` is the link's number.
pub(super) fn say(port: &Port<'_>, far: &Device, i: usize, said: &mut Script) {
    let (link, rate) = (port.link, words::rate(port.link.rate));
    for what in words::fine(&[("delay", link.delay), ("jitter", link.transit.jitter)], words::US) {
        said.refuse(port, &what);
    }
    let tick = TICK.ns();
    if !link.delay.ns().is_multiple_of(tick) {
        let whole = link.delay.ns() / tick * tick;
        said.note(port, &format!("a `delay` of {} is {whole} ns to tc, whole ticks of {tick} ns", link.delay));
    }
    let (delay, loss) = (delay(link), share("loss", link.loss));
    let bits = format!("rate {rate} {}{loss} {LIMIT}", Accounting::L2.to(link.framing).more());
    let wire = Device { device: format!("d{i}"), ..far.clone() };
    said.say(wire.ip(&format!("link add {} type ifb", wire.device)));
    said.say(wire.ip(&format!("link set {} up", wire.device)));
    let mut netem = |what: &str| said.say(wire.tc("qdisc", what));
    match link.transit {
        Transit { reorder: Probability::ZERO, .. } => netem(&format!("root netem {delay} {bits}")),
        Transit { jitter: Span::ZERO, reorder, .. } => {
            netem(&format!("root handle 1: netem {bits}"));
            netem(&format!("parent 1:1 netem {delay}{} {LIMIT}", share("reorder", reorder)));
        }
        _ => said.refuse(port, "jitter that keeps the order of packets and `reorder` together"),
    }
    let redirect = format!("ingress matchall action mirred egress redirect dev {}", wire.device);
    said.say(far.tc("filter", &redirect));
}

/// Delay and jitter. netem's table of the normal distribution ends at four standard deviations, as perhop's draws do.
fn delay(link: &Link) -> String {
    let Transit { jitter, spread, .. } = link.transit;
    let delay = format!("delay {}", words::time(link.delay));
    match spread {
        _ if jitter == Span::ZERO => delay,
        Spread::Uniform => format!("{delay} {}", words::time(jitter)),
        Spread::Normal => format!("{delay} {} distribution normal", words::time(jitter)),
    }
}

/// `loss 1%`; nothing if it never happens.
fn share(what: &str, of: Probability) -> String {
    if of > Probability::ZERO { format!(" {what} {}%", of.get() * 100.0) } else { String::new() }
}
