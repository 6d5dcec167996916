//! The tree of a port's queues as queueing disciplines, classes and filters.

use super::filters::{Chain, count, groups};
use super::script::{Line, Port, Script};
use super::words::{self, rate, time};
use super::{labels, leaves};
use crate::device::classes::{self, Leaf, used};
use perhop_core::accounting::Accounting;
use perhop_core::aqm::AqmParams;
use perhop_core::arithmetic::{Arithmetic, longest_in_ticks};
use perhop_core::classify::Match;
use perhop_core::framing::Framing;
use perhop_core::params::{Node, Tree, show_table};
use perhop_core::port::{Inside, Limit, NodeSpec, QueueSpec, ShaperParams};
use perhop_core::sched::{Police, SchedulerParams, ets, hfsc, htb};
use perhop_core::units::Bytes;
use perhop_scenario::resolve::held::most;
use perhop_scenario::sections::queue::limits;

/// Most bands of `prio` and `ets`.
const MOST_BANDS: usize = 16;
/// A limit that never counts: what waits below a shaper has its own.
const NO_LIMIT: u32 = 1_000_000_000;

/// Says a port's rate and its queues.
pub(super) fn say(port: &Port<'_>, said: &mut Script) {
    said.comment(format!("port {:?}, {}", port.link.name, port.link.rate));
    let mut writer = Writer { port, said, handles: 0 };
    let counted = if is_of_link(port) { port.link.framing } else { port.accounting };
    let at = match holds_itself(port) {
        true => root(port.accounting),
        false => writer.link(&root(counted), counted),
    };
    match port.link.nodes.is_empty() {
        true => writer.leaf(&at, &leaves::of_queue(&port.link.queues[0], port.link)),
        false => writer.node(&at, 0),
    }
}

/// Where the first queueing discipline goes, with a size table for what is counted beyond Ethernet's header. The table counts the
/// headers of a packet of several segments once, so there is none without need.
fn root(counted: Accounting) -> String {
    match Accounting::L2.to(counted).more() {
        0 => "root".into(),
        bytes => format!("root stab overhead {bytes} linklayer ethernet"),
    }
}

/// Whether what a port has at its root sends no faster than the link. On a virtual interface a packet of HTB or CAKE would take no
/// time, so only a shaper, which has a peak, does.
pub(super) fn holds_itself(port: &Port<'_>) -> bool {
    let Some(root) = port.link.nodes.first() else { return false };
    let most = if port.line == Line::Virtual { None } else { most(root) };
    root.shaper.is_some() || most.is_some_and(|most| most <= port.link.rate)
}

/// Whether nothing at a port asks how many bytes a packet has, but its link, which sends the IP packet. With a size table
/// there is but one length for the link and for all that it takes packets from.
fn counts_packets(port: &Port<'_>) -> bool {
    let drop_tail =
        |queue: &QueueSpec| matches!((&queue.aqm, queue.limit), (AqmParams::DropTail(_), Limit::Packets(_)));
    port.link.nodes.is_empty() && drop_tail(&port.link.queues[0])
}

/// Whether the link alone says how many bytes a packet has: policers of a real interface count Ethernet's header.
fn is_of_link(port: &Port<'_>) -> bool {
    counts_packets(port) && (port.line == Line::Virtual || port.link.edge.is_empty())
}

struct Writer<'a, 'b> {
    port: &'a Port<'a>,
    said: &'b mut Script,
    handles: usize,
}

impl Writer<'_, '_> {
    fn handle(&mut self) -> String {
        self.handles += 1;
        format!("{:x}:", self.handles)
    }

    fn refuse(&mut self, what: &str) {
        self.said.refuse(self.port, what);
    }

    fn qdisc(&mut self, at: &str, what: &str) -> String {
        let handle = self.handle();
        self.said.say(self.port.near.tc("qdisc", &format!("{at} handle {handle} {what}")));
        handle
    }

    /// The link's own rate: a packet begins as soon as the one before it has been paid for. HTB takes it from its queue
    /// then; `tbf` would take it when the one before it begins, and an AQM would see a queue that is shorter by one. Where time
    /// is real, timers are late, and without a burst HTB would not reach the rate. Before it packets count what `counted` says.
    fn link(&mut self, at: &str, counted: Accounting) -> String {
        let handle = self.qdisc(at, "htb default 1");
        let burst = if self.port.line == Line::Virtual { " burst 1 cburst 1" } else { "" };
        let framing = self.on_link(counted);
        self.class(&handle, 0, &format!("htb rate {}{burst}{framing}", rate(self.port.link.rate)));
        format!("parent {handle}1")
    }

    /// What the link counts beyond what is counted before it. A class of HTB adds bytes to a packet and takes none away; a link that
    /// counts IP packets then counts as its queues do.
    fn on_link(&mut self, counted: Accounting) -> String {
        let framing = self.port.link.framing;
        match counted.to(framing).more() {
            more @ 1.. => format!(" overhead {more}"),
            ..=-1 if framing != Accounting::L3 => {
                let (framing, counted) = (framing.name(), counted.name());
                self.said.note(
                    self.port,
                    &format!("`framing` of {framing}: the link counts what is counted before it, {counted}"),
                );
                String::new()
            }
            _ => String::new(),
        }
    }

    fn token_bucket(&mut self, at: &str, what: &str) -> String {
        let handle = self.qdisc(at, &format!("tbf {what}"));
        format!("parent {handle}1")
    }

    fn node(&mut self, at: &str, index: usize) {
        let link = self.port.link;
        let node = &link.nodes[index];
        let at = match &node.shaper {
            Some(shaper) => self.shaper(at, node, shaper),
            None => at.to_owned(),
        };
        match &node.inside {
            Inside::Queue(queue) => self.leaf(&at, &leaves::of_queue(&link.queues[*queue], link)),
            Inside::Scheduler(params) => self.scheduler(&at, index, node, params),
        }
    }

    /// A shaper at the root sends bursts at the link's rate, which is its peak: the device has none.
    fn shaper(&mut self, at: &str, node: &NodeSpec, shaper: &ShaperParams) -> String {
        self.counts_as_linux("shape", shaper.arithmetic == Arithmetic::Linux);
        if shaper.debt {
            self.refuse("`debt = true` of a shaper: write a `scheduler = \"htb\"` with one class instead");
        }
        if shaper.granularity.is_some() {
            self.refuse("`granularity`: in Linux the kernel's timers decide");
        }
        let link = self.port.link.rate;
        let of_link = (node.parent.is_none() && link > shaper.rate).then_some(link);
        let burst = shaper.peak_burst.unwrap_or_else(|| self.largest(node));
        let peak = shaper.peak.or(of_link).map(|peak| format!(" peakrate {} mtu {}", rate(peak), burst.get()));
        let what = format!(
            "rate {} burst {} limit {NO_LIMIT}{}{}",
            rate(shaper.rate),
            shaper.burst.get(),
            peak.unwrap_or_default(),
            self.frames(shaper.framing)
        );
        self.token_bucket(at, &what)
    }

    /// Of the load; a real interface has other packets too.
    fn largest(&self, node: &NodeSpec) -> Bytes {
        let own = node.scope.largest_packet;
        let of_device = Bytes::new(super::mtu(self.port.link) + u64::from(self.port.accounting.overhead()));
        if self.port.line == Line::Real { own.max(of_device) } else { own }
    }

    /// A queueing discipline without others below it, with what is to be said of it.
    fn leaf(&mut self, at: &str, leaf: &leaves::Leaf) {
        leaf.refused.iter().for_each(|what| self.said.refuse(self.port, what));
        leaf.notes.iter().for_each(|note| self.said.note(self.port, note));
        if !leaf.words.is_empty() {
            self.qdisc(at, &leaf.words);
        }
    }

    /// Whose numbers a kernel has: its own, whatever is stated.
    fn counts_as_linux(&mut self, name: &str, linux: bool) {
        if !linux {
            self.said.note(self.port, &leaves::other_numbers(name));
        }
    }

    /// Linux's rates take bytes to each packet, never away.
    fn frames(&mut self, framing: Framing) -> String {
        if framing.overhead.is_some_and(|bytes| bytes.get() < 0) {
            self.refuse("an `overhead` below 0: Linux has it only in `cake`");
        }
        super::ports::framing(&show_table(&framing))
    }

    fn scheduler(&mut self, at: &str, index: usize, node: &NodeSpec, params: &SchedulerParams) {
        let nodes = &self.port.link.nodes;
        let children: Vec<_> = (0..nodes.len()).filter(|&child| nodes[child].parent == Some(index)).collect();
        let leaves = classes::leaves(&self.port.headers, node, &children);
        let handle = match params {
            SchedulerParams::StrictPriority(strict) if children.len() <= MOST_BANDS => {
                if strict.classes.iter().any(|class| class.is_beside()) {
                    self.refuse("`same-level`: a band of `prio` goes before the next");
                }
                let last = vec![(children.len() - 1).to_string(); MOST_BANDS].join(" ");
                self.qdisc(at, &format!("prio bands {} priomap {last}", children.len().max(2)))
            }
            SchedulerParams::Drr(drr) => {
                self.counts_as_linux("drr", drr.arithmetic == Arithmetic::Linux);
                let handle = self.qdisc(at, "drr");
                for (i, class) in
                    drr.classes.iter().enumerate().filter(|(i, _)| used(drr.classes.layout(), &leaves, *i))
                {
                    self.class(&handle, i, &format!("drr quantum {}", class.quantum.get()));
                }
                handle
            }
            SchedulerParams::Ets(ets) if children.len() <= MOST_BANDS => {
                self.counts_as_linux("ets", ets.arithmetic == Arithmetic::Linux);
                self.qdisc(at, &ets_bands(ets))
            }
            SchedulerParams::Htb(htb) => self.htb(at, htb, &leaves),
            SchedulerParams::Hfsc(hfsc) => self.hfsc(at, hfsc, &leaves),
            SchedulerParams::StrictPriority(_) | SchedulerParams::Ets(_) => {
                let (name, classes) = (params.name(), children.len());
                return self.refuse(&format!("`{name}` with {classes} classes: Linux has at most {MOST_BANDS}"));
            }
            other => match leaves::of_scheduler(other, self.port.link) {
                Some(leaf) => return self.leaf(at, &leaf),
                None => return self.refuse(&format!("`{}`: Linux 6.12 does not have it", other.name())),
            },
        };
        let stalls = matches!(params, SchedulerParams::Drr(_) | SchedulerParams::Ets(_));
        if stalls && children.iter().any(|&child| holds_back(nodes, child)) {
            self.refuse(
                "a shaper in a class of `drr` or `ets` (Linux's stop while such a class may not send: `htb` can)",
            );
        }
        let apart = params.others().is_some();
        if matches!(params, SchedulerParams::Htb(htb) if htb.is_direct()) {
            self.said.note(self.port, "what no class names passes unshaped (`direct_packets_stat`)");
        }
        let mut chain = Chain::new(self.port, &format!("parent {handle}"));
        for (i, leaf) in leaves.iter().enumerate() {
            let class = format!("{handle}{:x}", leaf.class + 1);
            self.said.comment(format!("class {}", leaf.name));
            // What no other takes is the last one's.
            let takes = if i + 1 == leaves.len() && !apart { Ok(vec![Match::default()]) } else { leaf.takes.clone() };
            let found = takes.and_then(|takes| {
                let takes = labels::by_headers(takes, self.port);
                let groups = takes.iter().map(|takes| groups(takes, self.port, false)).collect::<Result<Vec<_>, _>>();
                Ok(groups?.into_iter().flatten().collect::<Vec<_>>())
            });
            match found {
                Ok(found) => {
                    let police = self.police(node, leaf.class, count(&found));
                    if leaf.alike {
                        chain.again();
                    }
                    chain.say(self.said, &found, |_| format!("flowid {class}{police}"));
                }
                Err(what) => self.refuse(&format!("class {} by {what}", leaf.name)),
            }
            self.node(&format!("parent {class}"), leaf.node);
        }
    }

    /// The limit of a class that goes before others, as a policer of what its filters find.
    fn police(&mut self, node: &NodeSpec, i: usize, filters: usize) -> String {
        let limit = node.scheduler().and_then(|params| limits(params).get(i).copied()).unwrap_or_default();
        let Some(stated) = limit.rate else { return String::new() };
        if limit.police == Some(Police::Congested) {
            self.refuse("`police = \"congested\"` of a class");
        }
        let burst = limit.burst(stated, i, &node.scope).get();
        let police = format!("police rate {} burst {burst} conform-exceed drop/ok", rate(stated));
        format!(" action {}", self.said.shared(&police, filters))
    }

    fn class(&mut self, handle: &str, i: usize, what: &str) {
        self.said.say(self.port.near.tc("class", &format!("parent {handle} classid {handle}{:x} {what}", i + 1)));
    }

    fn htb(&mut self, at: &str, htb: &htb::Params, leaves: &[Leaf]) -> String {
        self.counts_as_linux("htb", htb.arithmetic == Arithmetic::Linux);
        let handle = self.qdisc(at, &format!("htb r2q {}", htb.r2q));
        let framing = self.frames(htb.framing);
        let number = |name: &str| htb.classes.iter().position(|class| class.name.as_deref() == Some(name));
        for (i, class) in htb.classes.iter().enumerate().filter(|(i, _)| used(htb.classes.layout(), leaves, *i)) {
            let parent =
                class.parent.as_deref().and_then(number).map_or(handle.clone(), |up| format!("{handle}{:x}", up + 1));
            self.keeps(i, class);
            let optional =
                |key: &str, value: Option<String>| value.map_or(String::new(), |value| format!(" {key} {value}"));
            let bytes = |size: Option<Bytes>| size.map(|size| size.get().to_string());
            let what = format!(
                "htb rate {} ceil {}{}{}{}{}{framing}",
                rate(class.rate),
                rate(class.ceil.unwrap_or(class.rate)),
                optional("prio", class.prio.map(|prio| prio.to_string())),
                optional("quantum", bytes(class.quantum)),
                optional("burst", bytes(class.burst)),
                optional("cburst", bytes(class.cburst)),
            );
            self.said.say(self.port.near.tc("class", &format!("parent {parent} classid {handle}{:x} {what}", i + 1)));
        }
        handle
    }

    fn hfsc(&mut self, at: &str, hfsc: &hfsc::Params, leaves: &[Leaf]) -> String {
        self.counts_as_linux("hfsc", hfsc.arithmetic == Arithmetic::Linux);
        let handle = self.qdisc(at, "hfsc");
        let number = |name: &str| hfsc.classes.iter().position(|class| class.name.as_deref() == Some(name));
        for (i, class) in hfsc.classes.iter().enumerate().filter(|(i, _)| used(hfsc.classes.layout(), leaves, *i)) {
            let parent =
                class.parent.as_deref().and_then(number).map_or(handle.clone(), |up| format!("{handle}{:x}", up + 1));
            let curves = [("rt", class.rt), ("ls", class.ls), ("ul", class.ul)];
            let stated = curves.into_iter().filter_map(|(key, curve)| Some((key, curve?)));
            let what: String = stated.map(|(key, curve)| format!(" {key} {}", self.curve(&curve))).collect();
            self.said
                .say(self.port.near.tc("class", &format!("parent {parent} classid {handle}{:x} hfsc{what}", i + 1)));
        }
        handle
    }

    /// `m1 2000000bit d 10ms m2 400000bit`
    fn curve(&mut self, curve: &hfsc::Stated) -> String {
        let pieces = match *curve {
            hfsc::Stated::Rate(it) => hfsc::Pieces { m2: Some(it), ..hfsc::Pieces::default() },
            hfsc::Stated::Pieces(pieces) => pieces,
        };
        let times = [("d", pieces.d), ("dmax", pieces.dmax)].map(|(key, time)| (key, time.unwrap_or_default()));
        words::fine(&times, words::US).for_each(|what| self.said.refuse(self.port, &what));
        let words = [
            ("m1", pieces.m1.map(rate)),
            ("d", pieces.d.map(time)),
            ("m2", pieces.m2.map(rate)),
            ("umax", pieces.umax.map(|bytes| bytes.get().to_string())),
            ("dmax", pieces.dmax.map(time)),
            ("rate", pieces.rate.map(rate)),
        ];
        let stated = words.into_iter().filter_map(|(key, value)| Some(format!("{key} {}", value?)));
        stated.collect::<Vec<_>>().join(" ")
    }

    /// Bursts of a class that tc has room for.
    fn keeps(&mut self, i: usize, class: &htb::Class) {
        let ceil = class.ceil.unwrap_or(class.rate);
        for (key, burst, rate) in [("burst", class.burst, class.rate), ("cburst", class.cburst, ceil)] {
            if burst.is_some_and(|burst| burst > longest_in_ticks(rate)) {
                let most = longest_in_ticks(rate);
                self.said.note(self.port, &format!("class {}: tc cuts a `{key}` above {most} at {rate}", i + 1));
            }
        }
    }
}

/// Whether something below a node may wait for its time although a packet is there.
fn holds_back(nodes: &[NodeSpec], index: usize) -> bool {
    let node = &nodes[index];
    let below = (0..nodes.len()).filter(|&child| nodes[child].parent == Some(index));
    node.shaper.is_some()
        || matches!(node.inside, Inside::Scheduler(SchedulerParams::Htb(_) | SchedulerParams::Hfsc(_)))
        || below.into_iter().any(|child| holds_back(nodes, child))
}

/// `overhead 24 mpu 64 linklayer atm`, of what is stated.
pub(super) fn framing(stated: &Tree) -> String {
    let Tree::Table(table) = stated else { return String::new() };
    let word = |(key, _, node): &(String, _, Node)| {
        let Tree::Text(value) = &node.tree else { return String::new() };
        let key = if key == "link-layer" { "linklayer" } else { key };
        format!(" {key} {}", value.trim_end_matches('B'))
    };
    table.entries.iter().map(word).collect()
}

fn ets_bands(ets: &ets::Params) -> String {
    let strict = ets.classes.iter().filter(|class| class.quantum.is_none()).count();
    let quanta: Vec<_> = ets.classes.iter().filter_map(|class| class.quantum).map(|q| q.get().to_string()).collect();
    let quanta = if quanta.is_empty() { String::new() } else { format!(" quanta {}", quanta.join(" ")) };
    let last = vec![(ets.classes.len() - 1).to_string(); MOST_BANDS].join(" ");
    format!("ets bands {} strict {strict}{quanta} priomap {last}", ets.classes.len())
}
