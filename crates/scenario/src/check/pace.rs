//! W337 and W338: a target that single packets exceed at the rate that bounds a queue, and a burst that lasts so long that nothing
//! is shaped.

use crate::resolve::indexed::Indexed;
use crate::resolve::ports::File;
use perhop_core::aqm::AqmParams;
use perhop_core::params::{Place, Problems};
use perhop_core::port::ShaperParams;
use perhop_core::sched::SchedulerParams;
use perhop_core::scope::Scope;
use perhop_core::units::{BitRate, NS_PER_S, Span, counted};
use perhop_sim::plan;

/// A burst that lasts longer than this is probably not meant.
const LONG: Span = Span::from_s(10);

/// Looks at the queues and nodes of a link.
pub fn check(file: File<'_>, at: Indexed<'_, plan::Link>, problems: &mut Problems) {
    let direction = &file.topology.links[at.index];
    let queues = at.it.queues.iter().zip(&direction.queues).filter_map(|(queue, stated)| match &queue.aqm {
        AqmParams::CoDel(codel) => Target::new(codel.target, &queue.scope, stated.place("target")),
        _ => None,
    });
    let nodes = at.it.nodes.iter().zip(&direction.nodes);
    let schedulers = nodes.clone().filter_map(|(node, stated)| match (node.scheduler(), &stated.scheduler) {
        (Some(SchedulerParams::FqCodel(codel)), Some(stated)) => {
            Target::new(codel.target, &node.scope, stated.place("target"))
        }
        _ => None,
    });
    targets(queues.chain(schedulers).collect(), problems);
    for (node, stated) in nodes {
        if let (Some(shaper), Some(stated)) = (&node.shaper, &stated.shaper) {
            burst(shaper, stated.place("burst"), problems);
        }
    }
}

/// A target that a single packet exceeds.
struct Target<'a> {
    target: Span,
    rate: BitRate,
    scope: &'a Scope,
    place: Place,
    /// What the largest packet takes.
    takes: Span,
}

impl<'a> Target<'a> {
    fn new(target: Span, scope: &'a Scope, place: Place) -> Option<Self> {
        let (rate, packet) = (scope.link_rate?, packet(scope));
        let takes = Span::from_ns((packet * 8 * NS_PER_S).div_ceil(rate.bit_s().max(1)));
        (takes > target).then_some(Self { target, rate, scope, place, takes })
    }
}

/// Bytes that the link sends of the largest packet.
fn packet(scope: &Scope) -> u64 {
    scope.on_link().bytes(u32::try_from(scope.largest_packet.get()).unwrap_or(u32::MAX)).into()
}

/// W337, RFC 8290 section 5.2.2: the target is at least what the largest packet takes at the rate. Once for a port.
fn targets(found: Vec<Target<'_>>, problems: &mut Problems) {
    let Some(first) = found.iter().max_by_key(|it| (it.takes, std::cmp::Reverse(it.place.start))) else { return };
    let Target { target, rate, scope, place, takes } = first;
    let message = format!("`target` is {target}, less than the time of one packet at {rate}");
    let more = match found.len() - 1 {
        0 => String::new(),
        n => format!("; the same in {}", counted(n as u64, ["other queue of this port", "other queues of this port"])),
    };
    let label = format!("a packet of {}B of {} takes {takes}{more}", packet(scope), scope.largest_of);
    let least = Span::from_ms(takes.ns().div_ceil(1_000_000));
    let help = format!(
        "must be at least {least} (RFC 8290 section 5.2.2): otherwise CoDel drops packets that wait for a single other one"
    );
    problems.warn("W337", *place, message).label(label).help(help);
}

/// W338
fn burst(shaper: &ShaperParams, place: Place, problems: &mut Problems) {
    let lasts = shaper.burst.get() as f64 * 8.0 / shaper.rate.bit_s().max(1) as f64;
    if lasts <= LONG.seconds() {
        return;
    }
    let message = format!("`burst` is {}, what `rate` {} earns in {lasts:.0} s", shaper.burst, shaper.rate);
    let help = format!(
        "the whole burst is sent at once after a pause: write some milliseconds of the rate, as in \"{}\"",
        shaper.rate * Span::from_ms(10)
    );
    problems.warn("W338", place, message).label("until the burst is spent, nothing is shaped").help(help);
}
