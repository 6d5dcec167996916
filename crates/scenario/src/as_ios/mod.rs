//! `perhop explain --as ios`: the ports of a scenario that have queues or conditioners, as the configuration of routers with Cisco
//! IOS; with `--port` one port alone, for an interface that there is, whatever the load is.
//!
//! A scheduler is a policy map with the classes of its list, a queue what such a class has, a conditioner `police` or `set` in it. A
//! shaper is a class whose policy map has what is below it. Rates are bit/s, or kbit/s where IOS has those; the burst of a policer is
//! bytes, that of a shaper bits. What IOS cannot express is left out and named.

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
/// What is returned, and its text.
mod text;
/// Schedulers.
mod tree;
mod wred;
/// Quantities as IOS writes them.
mod words;

pub use text::{Ios, IosPort};

use crate::device::told::Told;
use crate::device::{self, only_point};
use crate::scenario::Scenario;
use crate::sections::queue::{DEFAULT_LIMIT, default_drop_tail};
use crate::sweep::Sweep;
use interface::Line;
use matches::class_map;
use perhop_core::classify::Match;
use perhop_core::params::Place;
use text::{Config, Shelf};
use tree::{DEFAULT, Entry, Writer};

/// The ports of the one scenario that a file describes: all that have queues or conditioners, or the one that is named, on
/// the interface that is named.
///
/// # Errors
/// A sweep of several points; no such port, or none that has anything; a name that no interface of IOS has. With its code and how to
/// put it right.
pub fn of_sweep(sweep: &Sweep, port: Option<&str>, device: Option<&str>) -> Result<Ios, String> {
    device.map_or(Ok(()), interface::named)?;
    let scenario = only_point(sweep, "IOS")?.scenario;
    let links = match port {
        Some(port) => vec![device::port(&scenario.built.plan, port)?],
        None => with_something(&scenario),
    };
    if links.is_empty() {
        let help = "name one with --port 'a -> b', or give a link a `queue`";
        return Err(format!("error[E296] no port has queues or conditioners\n   help: {help}"));
    }
    Ok(written(&scenario, &links, device))
}

/// Links whose ports have queues or conditioners.
fn with_something(scenario: &Scenario) -> Vec<usize> {
    let links = &scenario.built.plan.links;
    (0..links.len()).filter(|&i| !links[i].edge.is_empty() || !plain(scenario, i)).collect()
}

/// Whether a port has the queue that every port has.
fn plain(scenario: &Scenario, link: usize) -> bool {
    let direction = &scenario.built.topology.links[link];
    let own = default_drop_tail(Place::default());
    direction.nodes.is_empty() && matches!(direction.queues.as_slice(), [queue] if queue.queue == own)
}

fn written(scenario: &Scenario, links: &[usize], device: Option<&str>) -> Ios {
    let (mut config, mut told) = (Config::default(), Told::default());
    let mut ports: Vec<IosPort> = Vec::new();
    for &link in links {
        let it = &scenario.built.plan.links[link];
        let taken: Vec<_> = ports.iter().map(|port| port.interface.clone()).collect();
        let interface = device.map_or_else(|| interface::for_rate(it.rate, &taken), str::to_owned);
        let mut writer = Writer {
            link: it,
            direction: &scenario.built.topology.links[link],
            config: &mut config,
            told: &mut told,
            stages: it.edge.iter().collect(),
        };
        if !scenario.built.plan.changes.is_empty() {
            writer.note("[[change]] is not in it: this is the port as it begins");
        }
        let policy = port(&mut writer, plain(scenario, link), &interface);
        if let Some(policy) = &policy {
            let told = interface::line(&interface, it.rate) == Line::Told;
            let bandwidth = told.then(|| format!("bandwidth {}", it.rate.bit_s() / 1000));
            let lines = bandwidth.into_iter().chain([format!("service-policy output {policy}")]).collect();
            config.add(Shelf::Interface, "interface", &interface, lines);
        }
        ports.push(IosPort { port: it.name.clone(), interface, policy });
    }
    let own = format!("port `{}`: ", ports[0].port);
    let alone = ports.len() == 1;
    let [notes, lost] = [told.notes(), told.refused()].map(|lines| {
        let short = |it: String| if alone { it.replacen(&own, "", 1) } else { it };
        lines.into_iter().map(short).collect()
    });
    Ios { ports, lines: config.lines(), notes, lost }
}

/// The policy map of a port.
fn port(writer: &mut Writer<'_>, plain: bool, interface: &str) -> Option<String> {
    let (link, direction) = (writer.link, writer.direction);
    let mut entries = match link.nodes.is_empty() {
        false => writer.inside(0, None),
        true if plain => {
            if !link.edge.is_empty() {
                writer.note(&format!(
                    "the queue of {DEFAULT_LIMIT} packets that no file states is not written: IOS has its own"
                ));
            }
            vec![Entry { class: DEFAULT.into(), lines: Vec::new() }]
        }
        true => vec![Entry { class: DEFAULT.into(), lines: writer.queue(0, None) }],
    };
    conditioners(writer, &mut entries);
    entries.retain(|entry| entry.class != DEFAULT || !entry.lines.is_empty());
    let name = direction.queue.as_deref().unwrap_or(&link.name).to_owned();
    let shaper = link.nodes.first().and_then(|root| root.shaper.as_ref());
    let above = match (shaper, interface::line(interface, link.rate)) {
        (Some(shaper), line) => {
            if line == Line::Other && shaper.rate > link.rate {
                writer.note(&format!("nothing holds {interface} to the link's {}", link.rate));
            }
            let written = shape::shaper(shaper);
            Some(writer.told(written))
        }
        (None, Line::Other) => {
            writer.note(&format!("a shaper holds {interface} to the link's {}", link.rate));
            Some(vec![shape::of_link(link.rate)])
        }
        (None, _) => None,
    };
    let Some(mut above) = above else {
        return (!entries.is_empty()).then(|| writer.policy(&name, entries));
    };
    match entries.as_mut_slice() {
        [] => {}
        [only] if only.class == DEFAULT => above.append(&mut only.lines),
        _ => {
            let below = writer.policy(&name, entries);
            above.push(format!("service-policy {below}"));
            let shaped = Entry { class: DEFAULT.into(), lines: above };
            return Some(writer.policy(&format!("{name}-SHAPER"), vec![shaped]));
        }
    }
    Some(writer.policy(&name, vec![Entry { class: DEFAULT.into(), lines: above }]))
}

/// Conditioners that no class of the queues has: classes before the one that takes all, if that is the only one.
fn conditioners(writer: &mut Writer<'_>, entries: &mut Vec<Entry>) {
    let only = matches!(entries.as_slice(), [entry] if entry.class == DEFAULT);
    while let Some(&stage) = writer.stages.first() {
        if !only {
            writer.stages.remove(0);
            let what = "its packets are not those of one class of the port's queues";
            writer.refuse(&format!("conditioner `{}`: {what}", stage.name));
            continue;
        }
        if stage.matches == Match::default() {
            let lines = writer.stage(0);
            let last = entries.len() - 1;
            entries[last].lines.splice(0..0, lines);
            for stage in std::mem::take(&mut writer.stages) {
                writer.note(&format!("conditioner `{}` meets no packet: one before it takes all", stage.name));
            }
            return;
        }
        match class_map(writer.config, &stage.name, std::slice::from_ref(&stage.matches)) {
            Ok(map) => {
                map.notes.iter().for_each(|note| writer.note(note));
                map.refused.iter().for_each(|what| writer.refuse(what));
                let lines = writer.stage(0);
                let place = entries.len() - 1;
                entries.insert(place, Entry { class: map.name, lines });
            }
            Err(what) => {
                writer.stages.remove(0);
                writer.refuse(&format!("conditioner `{}` by {what}", stage.name));
            }
        }
    }
}
