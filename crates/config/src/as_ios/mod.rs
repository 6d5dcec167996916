//! `perhop explain --as ios`: the ports of a scenario that have queues or conditioners, as the configuration of routers with Cisco
//! IOS; with `--port` one port alone, for an interface that there is, whatever the load is.
//!
//! A scheduler is a policy map with the classes of its list, a queue what such a class has, a conditioner `police` or `set` in it. A
//! shaper is a class whose policy map has what is below it. Rates are bit/s, or kbit/s where IOS has those; the burst of a policer is
//! bytes, that of a shaper bits. What IOS cannot express is left out and named.

/// HTB.
mod htb;
/// Which interfaces there are.
mod interface;
/// Which packets a class takes.
mod matches;
/// Names.
mod names;
/// Conditioners.
mod police;
/// Queues.
mod queues;
/// Shapers.
mod shape;
/// Shares of what is left.
mod shares;
/// Conditioners below classes.
mod spread;
/// Which class has which conditioner.
mod stages;
/// What is returned, and its text.
mod text;
/// Schedulers.
mod tree;
mod wred;
/// The port that is written.
mod writer;
/// What is written of a class.
mod written;
/// Quantities as IOS writes them.
mod words;

pub use text::{Ios, IosDirection, IosPort};

use crate::device::classes::is_classful;
use crate::device::notes::Notes;
use crate::device::{self, only_point};
use interface::Line;
use perhop_core::accounting::Accounting;
use perhop_core::classify::Match;
use perhop_core::params::Place;
use perhop_core::sched::SchedulerParams;
use perhop_core::units::Span;
use perhop_scenario::Diagnostic;
use perhop_scenario::resolve::held::ceiling;
use perhop_scenario::scenario::Scenario;
use perhop_scenario::sections::queue::{DEFAULT_LIMIT, default_drop_tail};
use perhop_scenario::sweep::Sweep;
use perhop_sim::plan::Link;
use spread::{Place as Placed, Spread};
use stages::Stages;
use text::{Config, Shelf};
use writer::{Entry, Writer};

/// What is wanted of a scenario.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// One port; `None`: all that have queues or conditioners.
    pub port: Option<&'a str>,
    /// The interface of that port; `None`: one as fast as its link.
    pub device: Option<&'a str>,
    /// Bc / CIR of a shaper that the scenario does not state: what the device has itself.
    pub interval: Span,
}

impl Default for Target<'_> {
    fn default() -> Self {
        Self { port: None, device: None, interval: Span::from_ms(4) }
    }
}

/// The ports of the one scenario that a file describes: all that have queues or conditioners, or the one that is named, on
/// the interface that is named.
///
/// # Errors
/// A sweep of several points; no such port, or none that has anything; a name that no interface of IOS has. With its code and how to
/// put it right.
pub fn of_sweep(sweep: &Sweep, asked: Target<'_>) -> Result<Ios, Diagnostic> {
    asked.device.map_or(Ok(()), interface::named)?;
    let scenario = only_point(sweep, "IOS")?.scenario;
    let links = match asked.port {
        Some(port) => vec![device::port(&scenario.built().plan, port)?],
        None => with_something(&scenario),
    };
    if links.is_empty() {
        let help = "name one with --port 'a -> b', or give a link a `queue`";
        return Err(Diagnostic::error("E296", "no port has queues or conditioners", help));
    }
    Ok(written(&scenario, &links, asked))
}

/// Links whose ports have queues or conditioners.
fn with_something(scenario: &Scenario) -> Vec<usize> {
    let links = &scenario.built().plan.links;
    (0..links.len()).filter(|&i| !links[i].edge.is_empty() || !plain(scenario, i)).collect()
}

/// Whether a port has the queue that every port has.
fn plain(scenario: &Scenario, link: usize) -> bool {
    let direction = &scenario.built().topology.links[link];
    let own = default_drop_tail(Place::default());
    direction.nodes.is_empty() && matches!(direction.queues.as_slice(), [queue] if queue.queue == own)
}

/// The link at whose input a port's conditioners are: they are all that it has, and this link, which is not faster, brings all that
/// comes to them, so nothing ever waits behind them.
fn came(scenario: &Scenario, link: usize) -> Option<&Link> {
    let links = &scenario.built().plan.links;
    let port = &links[link];
    let mut others = links.iter().filter(|it| it.to == port.from && it.from != port.to);
    let (only, more) = (others.next()?, others.next());
    (more.is_none() && plain(scenario, link) && only.rate <= port.rate).then_some(only)
}

fn written(scenario: &Scenario, links: &[usize], asked: Target<'_>) -> Ios {
    let (mut config, mut told) = (Config::default(), Notes::default());
    let mut ports: Vec<IosPort> = Vec::new();
    for &link in links {
        let it = &scenario.built().plan.links[link];
        let came = came(scenario, link);
        let rate = came.map_or(it.rate, |came| came.rate);
        let taken: Vec<_> = ports.iter().map(|port| port.interface.clone()).collect();
        let interface = asked.device.map_or_else(|| interface::for_rate(rate, &taken), str::to_owned);
        let line = interface::line(&interface, rate);
        let direction = if came.is_some() { IosDirection::Input } else { IosDirection::Output };
        let stages = Stages::new(&it.edge);
        let mut writer = Writer {
            link: it,
            direction: &scenario.built().topology.links[link],
            plan: &scenario.built().plan,
            config: &mut config,
            told: &mut told,
            spread: Spread::new(it, &stages),
            stages,
            // Nothing waits at an input, so nothing is shaped there.
            shapes: line == Line::Other && direction == IosDirection::Output,
            interval: asked.interval,
        };
        if !scenario.built().plan.changes.is_empty() {
            writer.note("[[change]] is not in it: this is the port as it begins");
        }
        if let Some(note) = accounting(scenario.built().plan.accounting) {
            writer.note(&note);
        }
        let plain = plain(scenario, link);
        if plain && !it.edge.is_empty() && direction == IosDirection::Output {
            writer.note(&format!(
                "the queue of {DEFAULT_LIMIT} packets that no file states is not written: IOS has its own"
            ));
        }
        let policy = port(&mut writer, plain, &interface);
        if let Some(policy) = &policy {
            let bandwidth = (line == Line::Told).then(|| format!("bandwidth {}", rate.bit_s() / 1000));
            let service = format!("service-policy {} {policy}", direction.word());
            config.add(Shelf::Interface, "interface", &interface, bandwidth.into_iter().chain([service]).collect());
        }
        ports.push(IosPort { port: it.name.clone(), interface, direction, policy });
    }
    let own = format!("port `{}`: ", ports[0].port);
    let alone = ports.len() == 1;
    let [notes, lost] = [told.notes(), told.refused()].map(|lines| {
        let short = |it: String| if alone { it.replacen(&own, "", 1) } else { it };
        lines.into_iter().map(short).collect()
    });
    Ios { ports, lines: config.lines(), notes, lost }
}

/// What IOS counts of a packet, if that is another length: its header of layer 2, without the check sequence.
fn accounting(accounting: Accounting) -> Option<String> {
    let name = accounting.name();
    (accounting != Accounting::L2).then(|| {
        format!("`accounting` of {name}: IOS counts the header of layer 2 without its check sequence, as l2 does")
    })
}

/// The policy map of a port.
fn port(writer: &mut Writer<'_>, plain: bool, interface: &str) -> Option<String> {
    let (link, direction) = (writer.link, writer.direction);
    let root = link.nodes.first();
    let mut entries = match root {
        Some(_) => writer.inside(0, None),
        None if plain => vec![Entry::default(Vec::new())],
        None => vec![Entry::default(writer.queue(0, None))],
    };
    if !root.is_some_and(is_classful) {
        classes(writer, &mut entries);
    }
    let after = ends(writer, &mut entries);
    entries.retain(|entry| !entry.is_default() || !entry.lines.is_empty());
    let name = direction.queue.as_deref().unwrap_or(&link.name).to_owned();
    let (mut above, shaper) = (after, shaped(writer, interface));
    if !above.is_empty() && shaper.is_empty() && root.is_some_and(is_classful) {
        // A class with queues below it has one itself.
        let written = shape::of_link(link, writer.interval);
        above.extend(writer.report(written));
    }
    above.extend(shaper);
    if above.is_empty() {
        return (!entries.is_empty()).then(|| writer.policy(&name, entries));
    }
    match entries.as_mut_slice() {
        [] => {}
        [only] if only.is_default() && !root.is_some_and(is_classful) => above.append(&mut only.lines),
        _ => {
            let below = writer.policy(&format!("{name}-CLASSES"), entries);
            above.push(format!("service-policy {below}"));
        }
    }
    Some(writer.policy(&name, vec![Entry::default(above)]))
}

/// The lines of what holds all that leaves a port.
fn shaped(writer: &mut Writer<'_>, interface: &str) -> Vec<String> {
    let (link, line) = (writer.link, interface::line(interface, writer.link.rate));
    match (link.nodes.first().and_then(|root| root.shaper.as_ref()), line) {
        (Some(shaper), line) => {
            if line == Line::Other && shaper.rate > link.rate {
                writer.note(&format!("nothing holds {interface} to the link's {}", link.rate));
            }
            let written = shape::shaper(shaper);
            writer.report(written)
        }
        (None, Line::Other) if !writer.shapes || held(writer) => Vec::new(),
        (None, Line::Other) => {
            writer.note(&format!("a shaper holds {interface} to the link's {}", link.rate));
            let written = shape::of_link(link, writer.interval);
            writer.report(written)
        }
        (None, _) => Vec::new(),
    }
}

/// Whether HTB holds all to the rate of the link.
fn held(writer: &Writer<'_>) -> bool {
    match writer.link.nodes.first().and_then(|root| root.scheduler()) {
        Some(SchedulerParams::Htb(htb)) => ceiling(htb) <= writer.link.rate && one_top(htb),
        _ => false,
    }
}

fn one_top(htb: &perhop_core::sched::htb::Params) -> bool {
    htb.classes.iter().filter(|class| class.parent.is_none()).count() == 1
}

/// Conditioners of a port without classes: a class for each that does not take all.
fn classes(writer: &mut Writer<'_>, entries: &mut Vec<Entry>) {
    for place in writer.stages.places() {
        let stage = writer.stages.get(place);
        if stage.matches == Match::default() && writer.stages.goes_on(place) != Some(true) {
            return unreached(writer, place + 1);
        }
        if stage.matches == Match::default() || writer.stages.only_tells(place) {
            continue;
        }
        if let Err(what) = police::conditioner(stage) {
            writer.stages.take(&[place]);
            writer.refuse(&format!("conditioner `{}`: {what}", stage.name));
            continue;
        }
        let found = writer.stages.resolved(std::slice::from_ref(&stage.matches));
        match found.and_then(|(takes, _)| writer.map(&stage.name, &takes)) {
            Ok(class) => {
                let lines = writer.stage(place);
                let last = entries.len() - 1;
                entries.insert(last, Entry { class, lines, conditioned: true });
            }
            Err(what) => {
                writer.stages.take(&[place]);
                writer.refuse(&format!("conditioner `{}` by {what}", stage.name));
            }
        }
    }
}

/// Conditioners after one that takes all.
fn unreached(writer: &mut Writer<'_>, first: usize) {
    for place in first..writer.stages.places().end {
        writer.stages.take(&[place]);
        let name = &writer.stages.get(place).name;
        writer.note(&format!("conditioner `{name}` meets no packet: one before it takes all"));
    }
}

/// Conditioners that no class has: of those that take all, one is for what is left, and one after all others. The lines of the
/// class above.
fn ends(writer: &mut Writer<'_>, entries: &mut Vec<Entry>) -> Vec<String> {
    let left = writer.stages.left(writer.stages.places());
    let (all, others): (Vec<_>, Vec<_>) =
        left.into_iter().partition(|&place| writer.stages.get(place).matches == Match::default());
    for place in others {
        let name = &writer.stages.get(place).name;
        let why = match writer.spread.of(place) {
            Placed::Nowhere(why) => *why,
            Placed::In(_) => "its packets are not those of one class of the port's queues",
        };
        writer.refuse(&format!("conditioner `{name}`: {why}"));
    }
    writer.above(entries, all, 0)
}
