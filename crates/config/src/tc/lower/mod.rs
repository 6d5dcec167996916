//! From what a kernel would hold to the neutral model.

/// Which packets go to which class.
mod takes;
/// Marks of packets that conditioners set.
mod tags;
/// Meters and markers.
mod meters;
/// Which bytes count.
mod bytes;
/// Which filter comes first to a packet.
mod overlap;
/// What has no classes, or nothing above it.
mod bare;
/// All filters, followed as the kernel follows them.
mod course;
/// Whether lists of classes can say what filters do.
mod lists;
/// Filters of inner classes.
pub(super) mod inner;

use super::filters::Protocol;
use super::handles::{AT_EGRESS, AT_INGRESS, INGRESS, ROOT, own};
use super::kernel::{Class as Classful, Interface, Kernel, Qdisc};
use super::log::Log;
use super::options::{Assumed, Classes, Options};
use super::units::shown;
use super::words::{Device as Named, Form};
use super::{bands, cake, early, fair, foreign, htb, netem, table, tbf};
use crate::model::{Class, Conditioner, Device, Fate, Kind, Port, Queue, Way};
use crate::policy::policy;
use crate::value::{Settings, Value, WithOrigin};
use course::{Course, Walk};
use lists::Lists;
use perhop_core::params::Place;
use std::collections::{BTreeMap, BTreeSet};
use tags::Tags;

/// Deepest tree of queues.
const DEEPEST: usize = 32;
/// The interface where none is named.
const UNNAMED: &str = "eth0";

/// All ports.
pub(super) fn device(kernel: &Kernel<'_>, log: &mut Log) -> Device {
    let behind: BTreeSet<_> = kernel.interfaces.iter().flat_map(|it| meters::redirects(kernel, it)).collect();
    let mut device = Device::default();
    for (i, interface) in kernel.interfaces.iter().enumerate() {
        bare::loose(interface, log);
        if !behind.contains(&i) {
            match of_hardware(interface) {
                Some(trees) => device.ports.extend(trees.iter().filter_map(|it| tree(kernel, interface, *it, log))),
                None => device.ports.extend(port(kernel, interface, Way::Output, ROOT, log)),
            }
        }
        device.ports.extend(port(kernel, interface, Way::Input, ROOT, log));
    }
    device
}

/// A port that is being made.
struct Making<'l, 'k, 'a> {
    interface: &'k Interface<'a>,
    /// Where filters are asked before all queues.
    at: u32,
    log: &'l mut Log,
    link: Settings,
    conditioners: Vec<Conditioner>,
    /// Filters asked so far.
    order: u32,
    /// Packets whose class an action says before all filters of the queues: its number, what it takes, their lines.
    chosen: Vec<(u32, takes::Run, Vec<usize>)>,
    /// Conditioners that set bits of a packet's mark.
    tags: Tags,
    /// Whether a filter of a queue takes packets.
    sorts: bool,
    depth: usize,
    /// Whether filters of one version of IP ask for it where nothing else does.
    versions: bool,
    /// Where the course of packets ends, if it says which class they come to.
    course: Option<Ends>,
}

/// The conditioners that packets of classes have passed.
struct Ends {
    names: BTreeMap<u32, Vec<String>>,
    /// HTBs that let some packets pass without a class.
    direct: BTreeSet<u32>,
}

/// The places of trees below `mq`, of which each is a separate port: classes are shared out and shaped in each by itself.
fn of_hardware(interface: &Interface<'_>) -> Option<Vec<u32>> {
    let mq = interface.qdiscs.get(&ROOT).filter(|it| it.name.text == "mq" && it.handle != 0)?;
    let has_classes = |it: &Qdisc<'_>| it.classes().are_sorted() || matches!(&*it.name.text, "tbf" | "cake");
    let children = interface.qdiscs.range(own(mq.handle)).filter(|it| has_classes(it.1));
    let places: Vec<_> = children.map(|it| *it.0).collect();
    (places.len() > 1).then_some(places)
}

/// A tree below `mq`, named by the interface and its own handle.
fn tree(kernel: &Kernel<'_>, interface: &Interface<'_>, place: u32, log: &mut Log) -> Option<Port> {
    let own = &interface.qdiscs[&place];
    let mq = &interface.qdiscs[&ROOT];
    log.nearly(&mq.lines, "`mq`: each tree below it is a separate port; which one a packet takes, the driver says");
    let mut port = port(kernel, interface, Way::Output, place, log)?;
    port.interface.is = format!("{} {}", port.interface.is, shown(own.handle));
    Some(port)
}

/// What stands at an interface in a direction; packets that go out wait at the place `first`.
fn port(kernel: &Kernel<'_>, interface: &Interface<'_>, way: Way, first: u32, log: &mut Log) -> Option<Port> {
    let (at, root) = match way {
        Way::Output => (AT_EGRESS, interface.qdiscs.get(&first).is_some_and(queues)),
        Way::Input => (AT_INGRESS, false),
    };
    let has_filters = interface.filters.get(&at).is_some_and(|list| !list.is_empty());
    let only_ingress = interface.qdiscs.get(&INGRESS).is_some_and(|it| way == Way::Input && it.name.text == "ingress");
    if !root && !has_filters && !only_ingress {
        return None;
    }
    let stand = Stand { kernel, interface, way, at, first };
    let (mut port, said) = stand.port();
    log.extend(said);
    port.others = stand.others();
    Some(port)
}

/// Where a port is.
struct Stand<'k, 'a> {
    kernel: &'k Kernel<'a>,
    interface: &'k Interface<'a>,
    way: Way,
    /// The filters before its queues.
    at: u32,
    /// The place of its first queueing discipline.
    first: u32,
}

impl<'k, 'a> Stand<'k, 'a> {
    /// The port, and what is said of its lines. Filters that lists of classes can say become these; others become the course of packets
    /// through them, as far as perhop has it.
    fn port(&self) -> (Port, Log) {
        let mut said = Log::default();
        let mut port = self.by_lists(&mut said, false);
        let lists = Lists::of(self);
        if lists.are_plain() && policy(&port).notes.is_empty() {
            if lists.tell_versions() {
                let mut other = self.by_lists(&mut Log::default(), true);
                if lists.have_priorities() || !policy(&other).notes.is_empty() {
                    other = self.by_course(&mut Log::default()).unwrap_or(other);
                }
                port.both_versions = Some(Box::new(other));
            }
            return (port, said);
        }
        let mut of_course = Log::default();
        self.by_course(&mut of_course).map_or((port, said), |port| (port, of_course))
    }

    /// Where packets end that are not of IPv4.
    fn others(&self) -> Vec<(&'static str, Fate)> {
        let first = (self.way == Way::Output).then_some(self.first);
        let fate = |protocol| Walk::of(&mut self.making(&mut Log::default()), protocol, self.at, first);
        let all = [("IPv6", Protocol::Ip6), ("ARP", Protocol::Arp), ("802.1Q", Protocol::Vlan)];
        all.into_iter().filter_map(|(name, protocol)| Some((name, fate(protocol)?))).collect()
    }

    fn making<'l>(&self, log: &'l mut Log) -> Making<'l, 'k, 'a> {
        Making {
            interface: self.interface,
            at: self.at,
            log,
            link: Settings::default(),
            conditioners: Vec::new(),
            order: 0,
            chosen: Vec::new(),
            tags: Tags::default(),
            sorts: false,
            depth: 0,
            versions: false,
            course: None,
        }
    }

    fn by_lists(&self, log: &mut Log, versions: bool) -> Port {
        let mut making = Making { versions, ..self.making(log) };
        making.edge(self.at);
        self.finish(making)
    }

    /// By the course of its packets; `None`: perhop has not all of it.
    fn by_course(&self, log: &mut Log) -> Option<Port> {
        let mut making = self.making(log);
        let first = (self.way == Way::Output).then_some(self.first);
        let Course { conditioners, names, direct, asked, wrong } = Walk::along(&mut making, self.at, first).ok()?;
        making.never_asked(self.at, &asked);
        making.lead_astray(wrong);
        making.conditioners = conditioners;
        making.course = Some(Ends { names, direct });
        making.sorts = true;
        Some(self.finish(making))
    }

    fn finish(&self, mut making: Making<'_, 'k, 'a>) -> Port {
        let queue = match self.way {
            Way::Output => making.queue(self.first),
            Way::Input => making.redirected(self.kernel),
        };
        for (id, _, lines) in std::mem::take(&mut making.chosen) {
            making.log.lost(&lines, &format!("`skbedit priority {}`: there is no such class below", shown(id)));
        }
        let ifbs = if self.way == Way::Input { meters::redirects(self.kernel, self.interface) } else { Vec::new() };
        let behind = ifbs.first().map(|ifb| name(&self.kernel.interfaces[*ifb].device));
        let interface = name(&self.interface.device);
        let (queue, accounting) =
            making.counted((&interface.is, self.kernel.links.header(&interface.is)), self.way, queue);
        let queue = making.line(queue);
        let Making { link, conditioners, sorts, .. } = making;
        let (accounting, way, others) = (Some(accounting), self.way, Vec::new());
        Port { interface, way, behind, sorts, others, accounting, link, conditioners, queue, both_versions: None }
    }
}

/// Whether a queueing discipline says anything of a port.
fn queues(it: &Qdisc<'_>) -> bool {
    !matches!(&*it.name.text, "noqueue" | "noop")
}

fn name(device: &Named<'_>) -> WithOrigin<String> {
    match &device.name {
        Some(name) => WithOrigin::at(name.place, name.text.to_string()),
        None => WithOrigin::assumed("the text names no interface", UNNAMED.to_owned()),
    }
}

impl<'k, 'a> Making<'_, 'k, 'a> {
    /// The queue of the interface to which packets that come in are sent.
    fn redirected(&mut self, kernel: &'k Kernel<'a>) -> Option<Queue> {
        let other = *meters::redirects(kernel, self.interface).first()?;
        self.interface = &kernel.interfaces[other];
        self.edge(AT_EGRESS);
        self.queue(ROOT)
    }

    /// What waits at a place.
    fn queue(&mut self, parent: u32) -> Option<Queue> {
        let it = self.interface.qdiscs.get(&parent)?;
        self.depth += 1;
        let queue = if self.depth > DEEPEST { self.too_deep(it) } else { self.kind(it, parent) };
        self.depth -= 1;
        queue
    }

    fn too_deep(&mut self, it: &Qdisc<'a>) -> Option<Queue> {
        self.log.lost(&it.lines, &format!("more than {DEEPEST} queueing disciplines within each other"));
        None
    }

    fn kind(&mut self, it: &'k Qdisc<'a>, parent: u32) -> Option<Queue> {
        self.log.options(&it.options);
        let Some(known) = it.known else { return self.unknown(it) };
        match (known.classes, known.name) {
            (_, "noqueue" | "ingress" | "clsact") => None,
            (_, "noop") => {
                self.log.nearly(&it.lines, "`noop`: the interface is down, so it is no port");
                None
            }
            (Classes::Hardware, _) => self.of_hardware(it),
            (_, "tbf") => Some(self.shaper(it)),
            (_, "netem") => self.of_link(it, parent),
            (Classes::Bands | Classes::FixedBands, _) => Some(self.bands(it)),
            (Classes::Flat | Classes::Tree, _) => self.classes(it),
            _ => Some(self.leaf(it)),
        }
    }

    /// One that perhop has not: nor what is below it.
    fn unknown(&mut self, it: &Qdisc<'a>) -> Option<Queue> {
        let name = &it.name.text;
        let near = table::near(name).map(|near| format!(": did you mean `{near}`?")).unwrap_or_default();
        let why = format!("`{name}`: perhop has no such queueing discipline{near}");
        self.log.lost(&it.lines, &why);
        if let Some(does) = foreign::does(name) {
            let message = format!("`{name}` is not modelled: {does}; a plain FIFO stands in its place");
            let instead = "rates and delays behind it are not those of the device: take them as unknown";
            self.log.found("W450", it.place, message, instead);
        }
        self.below(it, &format!("it is below `{name}`, which perhop has not"));
        None
    }

    /// All below one is not modelled.
    fn below(&mut self, it: &Qdisc<'a>, why: &str) {
        let within = own(it.handle);
        let mut lines: Vec<usize> = Vec::new();
        let interface = self.interface;
        lines.extend(interface.classes.range(within.clone()).flat_map(|it| &it.1.lines));
        lines.extend(interface.filters.range(within.clone()).flat_map(|it| it.1.iter()).flat_map(|it| &it.lines));
        self.log.lost(&lines, why);
        for (_, child) in interface.qdiscs.range(within).filter(|(_, child)| child.handle != it.handle) {
            self.log.lost(&child.lines, why);
            if self.depth < DEEPEST {
                self.depth += 1;
                self.below(child, why);
                self.depth -= 1;
            }
        }
    }

    fn named(it: &Qdisc<'_>) -> WithOrigin<String> {
        WithOrigin::at(it.place, shown(it.handle))
    }

    /// A queue for each queue of the hardware: one of them.
    fn of_hardware(&mut self, it: &'k Qdisc<'a>) -> Option<Queue> {
        let own = own(it.handle);
        let children: Vec<_> =
            self.interface.qdiscs.range(own).filter(|(_, child)| child.handle != it.handle || it.handle != 0).collect();
        let how =
            format!("`mq`: one queue for all packets, in place of {} for the queues of the hardware", children.len());
        self.log.nearly(&it.lines, &how);
        let first = children.first().map(|it| *it.0)?;
        children.iter().skip(1).for_each(|child| self.log.nearly(&child.1.lines, "one queue of `mq` stands for all"));
        self.queue(first)
    }

    fn leaf(&mut self, it: &'k Qdisc<'a>) -> Queue {
        let queue = self.plain(it);
        if let Some(child) = self.interface.qdiscs.get(&(it.handle | 1)) {
            self.log.lost(&child.lines, &format!("a queue within `{}`", it.name.text));
            self.below(child, &format!("a queue within `{}`", it.name.text));
        }
        let filters = self.interface.filters.get(&it.handle).into_iter().flat_map(|it| it.iter());
        for filter in filters {
            self.log.lost(&filter.lines, &format!("`{}` has no classes in perhop: its flows are hashed", it.name.text));
        }
        queue
    }

    fn plain(&mut self, it: &Qdisc<'a>) -> Queue {
        let Some(known) = it.known else { return self.empty(it) };
        let mut settings = it.options.settings();
        if it.form == Form::Shown && known.name == "fq_codel" && !it.options.has("ecn") {
            settings.set("ecn", WithOrigin::assumed("tc prints `ecn` where it is on", Value::Flag(false)));
        }
        fair::keys(known.name, &it.options, &mut settings, self.log);
        early::keys(known.name, &it.options, &mut settings, self.log);
        if known.name == "cake" {
            cake::keys(&it.options, &mut settings, self.log);
        }
        Assumed::complete(known.assumed, &mut settings);
        Queue { kind: known.kind, settings, ..self.empty(it) }
    }

    fn empty(&self, it: &Qdisc<'_>) -> Queue {
        let (settings, shape) = Default::default();
        Queue { name: Self::named(it), kind: None, settings, shape, classes: Vec::new() }
    }

    fn shaper(&mut self, it: &'k Qdisc<'a>) -> Queue {
        let shape = tbf::shape(&it.options);
        let child = self.queue(it.handle | 1);
        let mut queue = match child {
            Some(queue) if queue.shape.is_empty() => queue,
            Some(queue) => self.within(it, queue),
            None => {
                let mut queue = self.empty(it);
                if let Some(limit) = tbf::limit(&it.options, &shape, self.log) {
                    queue.settings.set("limit", limit);
                }
                queue
            }
        };
        queue.shape = shape;
        queue
    }

    /// A shaper above a shaper: a scheduler of one class between them.
    fn within(&self, it: &Qdisc<'_>, queue: Queue) -> Queue {
        let name = WithOrigin::at(it.place, shown(it.handle | 1));
        let settings = Settings::default();
        let class = Class { name, parent: None, takes: Vec::new(), rest: true, settings, queue: Some(queue) };
        Queue { kind: Some(Kind::Scheduler("strict-priority")), classes: vec![class], ..self.empty(it) }
    }

    /// `netem` is the link; what is below it waits before the link.
    fn of_link(&mut self, it: &'k Qdisc<'a>, parent: u32) -> Option<Queue> {
        let above = self.interface.by_handle(parent).filter(|_| parent != ROOT);
        if self.depth > 1 && above.is_none_or(|above| above.name.text != "netem") {
            self.log.lost(&it.lines, "`netem` below classes or a shaper: perhop's links are behind all queues");
            return None;
        }
        netem::link(&it.options, &mut self.link, self.log);
        let child = self.queue(it.handle | 1);
        if let Some(child) = child {
            return Some(child);
        }
        let limit = netem::limit(&it.options, &mut self.link, self.log)?;
        let mut queue = self.empty(it);
        queue.settings.set("limit", limit);
        Some(queue)
    }

    fn bands(&mut self, it: &'k Qdisc<'a>) -> Queue {
        let many = bands::many(it) as usize;
        let mut queue = self.plain(it);
        let (members, rest) = bands::members(it);
        let ids: Vec<_> = (0..many).map(|i| it.handle | (i as u32 + 1)).collect();
        for (i, id) in ids.iter().enumerate() {
            let own = self.interface.classes.get(id).map(|class| &class.options);
            let settings = bands::band(it, i, own);
            queue.classes.push(self.class(*id, it.place, None, settings));
            if it.name.text == "pfifo_fast" {
                let mut inner = self.empty(it);
                inner.settings.set("limit", bands::of_interface());
                inner.name.is = shown(*id);
                queue.classes[i].queue = Some(inner);
            }
        }
        let caught = self.takes(it, &ids, &mut queue.classes);
        let used = |class: &Class| class.rest || !class.takes.is_empty() || class.queue.is_some();
        if caught {
            // No packet comes to any other band.
            queue.classes.retain(used);
        } else if self.course.is_none() {
            self.by_priority(it, members, rest, &mut queue.classes);
        }
        while queue.classes.len() > 1 && queue.classes.last().is_some_and(|it| !used(it)) {
            queue.classes.pop();
        }
        queue
    }

    fn class(&mut self, id: u32, place: Place, parent: Option<usize>, settings: Settings) -> Class {
        let place = self.interface.classes.get(&id).map_or(place, |class| class.place);
        let name = WithOrigin::at(place, shown(id));
        Class { name, parent, takes: Vec::new(), rest: false, settings, queue: self.queue(id) }
    }

    fn classes(&mut self, it: &'k Qdisc<'a>) -> Option<Queue> {
        let mut queue = self.plain(it);
        for (id, parent, place) in self.interface.orphans.get(&it.handle).into_iter().flatten() {
            let [id, parent] = [*id, *parent].map(shown);
            let message = format!("there is no class {parent}: HTB puts {id} at the top, where it borrows from none");
            self.log.found("W405", *place, message, "make the class above it first, or name the one that is there");
        }
        let classes: Vec<_> = self.interface.classes.range(own(it.handle)).map(|(id, class)| (*id, class)).collect();
        let places: BTreeMap<_, _> = classes.iter().enumerate().map(|(i, it)| (it.0, i)).collect();
        let parents: BTreeSet<_> = classes.iter().map(|it| it.1.parent).collect();
        if it.name.text == "htb" {
            htb::keys(it, &classes, &mut queue.settings, self.log);
        }
        for (id, class) in &classes {
            let settings = self.settings(it, class, !parents.contains(id));
            let mut made = self.class(*id, class.place, places.get(&class.parent).copied(), settings);
            if parents.contains(id) && made.queue.take().is_some() {
                self.unused(*id);
            }
            queue.classes.push(made);
        }
        let ids: Vec<_> = classes.iter().map(|it| it.0).collect();
        let leaves: Vec<_> = ids.iter().map(|id| (*id, !parents.contains(id))).collect();
        if !self.takes(it, &ids, &mut queue.classes) {
            self.left(it, &leaves, &mut queue);
        }
        if classes.is_empty() { self.without_classes(it) } else { Some(queue) }
    }

    fn settings(&mut self, it: &Qdisc<'a>, class: &Classful<'a>, leaf: bool) -> Settings {
        match &*it.name.text {
            "drr" => {
                self.log.options(&class.options);
                bands::share(&class.options)
            }
            _ => htb::class(it, class, leaf, self.log),
        }
    }

    /// Where packets go that no filter names; classes, and whether they are leaves.
    fn left(&mut self, it: &Qdisc<'a>, classes: &[(u32, bool)], queue: &mut Queue) {
        if classes.is_empty() {
            return;
        }
        let default = htb::default_class(it);
        let place = default.and_then(|it| classes.iter().position(|class| *class == (it.0, true)));
        let course = self.course.as_ref();
        if let Some(place) = place.filter(|_| !course.is_some_and(|course| course.direct.contains(&it.handle))) {
            queue.classes[place].rest = true;
            return;
        }
        let is_said = course.is_some();
        let (value, source) = match &*it.name.text {
            "htb" => ("direct", "sch_htb.c: no class is the `default`"),
            "hfsc" => ("drop", "sch_hfsc.c: no class is the `default`"),
            _ => {
                let how = "packets that no filter names are dropped in Linux; here the last class takes them";
                if !is_said {
                    self.log.nearly(&it.lines, how);
                }
                return;
            }
        };
        if let Some((id, place, line)) = default.filter(|_| place.is_none()) {
            let what = if value == "direct" { "pass all classes unshaped" } else { "are dropped" };
            let wrong = wrong_class(classes.iter().any(|class| class.0 == id));
            let message = format!("`default` names {}, which {wrong}: packets that no filter names {what}", shown(id));
            let last = classes.iter().rfind(|it| it.1).map_or(0, |it| it.0 & 0xffff);
            self.log.account.taken(line);
            self.log.found("W402", place, message, &format!("default {last:x}"));
        }
        queue.settings.set("unclassified", WithOrigin::assumed(source, Value::Word(value.into())));
    }
}

/// Why a class takes no packets.
const fn wrong_class(is_there: bool) -> &'static str {
    if is_there { "has classes below it" } else { "is no class here" }
}

/// Whether a class of `htb` says no more than the rate of a line.
fn is_line(options: &Options<'_>) -> bool {
    let known = ["rate", "ceil", "burst", "cburst", "leaf", "level", "mpu", "prio", "quantum", "linklayer", "overhead"];
    options.list.iter().all(|it| known.contains(&it.row.word))
}

impl Making<'_, '_, '_> {
    /// An `htb` with one class for all packets is the rate of the link.
    fn line(&mut self, queue: Option<Queue>) -> Option<Queue> {
        let queue = queue?;
        let root = self.interface.qdiscs.get(&ROOT).filter(|it| it.name.text == "htb");
        let [class] = &queue.classes[..] else { return Some(queue) };
        let options = root.and_then(|it| self.interface.classes.range(own(it.handle)).next()).map(|it| &it.1.options);
        let framed = ["overhead", "mpu", "link-layer"].iter().any(|key| queue.settings.get(key).is_some());
        let rate = class.settings.rate("rate");
        let bursts = [("burst", "rate"), ("cburst", "ceil")];
        let own = bursts.iter().all(|(burst, rate)| {
            let both = class.settings.bytes(burst).zip(class.settings.rate(rate));
            both.is_none_or(|(burst, rate)| htb::is_own_burst(burst, rate) || burst.get() == 1)
        });
        let plain = own && rate == class.settings.rate("ceil") && class.rest && !framed;
        if queue.shape.is_empty() && plain && options.is_some_and(is_line) && self.link.get("rate").is_none() {
            if let Some(rate) = class.settings.get("rate") {
                self.link.set("rate", rate.clone());
            }
            return class.queue.clone();
        }
        Some(queue)
    }
}
