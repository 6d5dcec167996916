//! Meters and markers: filters with actions.

use super::Making;
use super::takes::Run;
use crate::account::Reason;
use crate::model::{Act as Acts, Class, Conditioner, Filter};
use crate::tc::actions::{Act, Action, Control};
use crate::tc::filters::Sorter;
use crate::tc::handles::{AT_EGRESS, AT_INGRESS};
use crate::tc::kernel::{Interface, Kernel, Qdisc};
use crate::tc::limits::{HEADER, POLICE_MTU};
use crate::tc::options::Options;
use crate::tc::tbf;
use crate::value::{Settings, Value, WithOrigin};
use perhop_core::colour::Colour;
use perhop_core::units::{Bytes, PacketRate, Packets};

const POLICE_C: &str = "act_police.c";
/// The headers of IPv4 and UDP.
const DATAGRAM: u64 = 28;
/// The least that a frame of Ethernet carries.
const PADDED: u64 = 46;

/// The interfaces to which packets that come in are sent.
pub(super) fn redirects(kernel: &Kernel<'_>, it: &Interface<'_>) -> Vec<usize> {
    let filters = it.filters.get(&AT_INGRESS).into_iter().flat_map(|it| it.iter());
    let name = |action: &Action<'_>| match &action.act {
        Act::Redirect(device) => Some(device.text.to_string()),
        _ => None,
    };
    let mut found: Vec<_> =
        filters.flat_map(|it| &it.actions).filter_map(name).filter_map(|it| kernel.named(&it)).collect();
    found.dedup();
    found
}

/// What a conditioner does.
struct Does {
    kind: &'static str,
    settings: Settings,
    actions: Vec<(Colour, WithOrigin<Vec<Acts>>)>,
}

impl<'k, 'a> Making<'_, 'k, 'a> {
    /// Filters before all queues.
    pub(super) fn edge(&mut self, at: u32) {
        let interface = self.interface;
        let Some(filters) = interface.filters.get(&at) else { return };
        let filters = self.asked(filters.iter().collect(), false);
        let mut rest = &filters[..];
        while let Some(filter) = rest.first() {
            let many = 1 + rest[1..].iter().take_while(|other| self.same_end(filter, other)).count();
            let (run, left) = rest.split_at(many);
            rest = left;
            let Some(found) = self.run(run) else { continue };
            let way = if at == AT_EGRESS { "egress" } else { "ingress" };
            for found in apart(filter, found) {
                let name = format!("{way}-{}", self.conditioners.len() + 1);
                if filter.actions.is_empty() {
                    self.passes(&found, &name);
                }
                self.meters(filter, &found, &name);
            }
        }
        self.both();
    }

    /// Whether two filters do the same to their packets, in one bucket if they have one.
    pub(super) fn same_end(&self, a: &Sorter<'a>, b: &Sorter<'a>) -> bool {
        let same = |(a, b): (&Action<'_>, &Action<'_>)| match (&a.act, &b.act) {
            (Act::Police(_, Some(one), _), Act::Police(_, Some(other), _)) => one == other && a.then == b.then,
            (Act::Goes, Act::Goes) | (Act::Nothing, Act::Nothing) => a.then == b.then,
            (Act::Mark(one), Act::Mark(other)) => one == other,
            (Act::Tag(one, bits), Act::Tag(other, others)) => (one, bits) == (other, others),
            (Act::Redirect(one), Act::Redirect(other)) => one.text == other.text,
            _ => false,
        };
        let same_tail = then(tail(&a.actions)) == then(tail(&b.actions));
        let (a, b) = (telling(a), telling(b));
        same_tail && a.len() == b.len() && a.into_iter().zip(b).all(same)
    }

    /// The actions of filters as conditioners.
    pub(super) fn meters(&mut self, it: &Sorter<'a>, run: &Run, name: &str) {
        let of_class = it.target.is_some();
        let mut did = false;
        for (i, action) in it.actions.iter().enumerate() {
            match &action.act {
                Act::Police(..) => {
                    did = true;
                    self.police(&it.actions[i..], run, name);
                }
                Act::Tag(mark, mask) => {
                    self.tags.add(*mark, *mask, name.to_owned());
                }
                Act::Lost(why) => self.log.lost(&it.lines, why),
                Act::Priority(id) => self.chosen.push((*id, run.clone(), it.lines.clone())),
                _ => {}
            }
        }
        let silent = |act: &Act<'_>| matches!(act, Act::Nothing | Act::Redirect(_) | Act::Priority(_) | Act::Lost(_));
        let ends = |action: &Action<'_>| !silent(&action.act);
        let acts = then(&it.actions);
        let goes = acts == [Acts::Transmit] && of_class;
        if did || goes || !it.actions.iter().any(ends) {
            return;
        }
        let place = it.actions[0].place;
        let actions = vec![(Colour::Green, WithOrigin::at(place, acts))];
        self.conditioner(name, run, Does { kind: "marker", settings: Settings::default(), actions });
    }

    /// Packets pass, whatever comes behind.
    pub(super) fn passes(&mut self, run: &Run, name: &str) {
        let actions = vec![(Colour::Green, WithOrigin::at(run.place, vec![Acts::Transmit]))];
        self.conditioner(name, run, Does { kind: "marker", settings: Settings::default(), actions });
    }

    fn conditioner(&mut self, name: &str, run: &Run, does: Does) {
        let mut takes = Vec::new();
        for matches in run.any.iter().filter(|it| **it != Default::default()) {
            self.order += 1;
            takes.push(Filter { order: self.order, matches: WithOrigin::at(run.place, matches.clone()) });
        }
        let name = if name.is_empty() { format!("filter-{}", self.conditioners.len() + 1) } else { name.to_owned() };
        let Does { kind, settings, actions } = does;
        self.conditioners.push(Conditioner { name: WithOrigin::at(run.place, name), takes, kind, settings, actions });
    }

    /// A policer, and the actions behind it.
    fn police(&mut self, actions: &[Action<'a>], run: &Run, name: &str) {
        let Some((action, rest)) = actions.split_first() else { return };
        let Act::Police(options, _, exceed) = &action.act else { return };
        self.log.options(options);
        let settings = self.bucket(options);
        let acts = |control: Control| {
            let acts = if control == Control::Pipe { then(rest) } else { ended(control) };
            WithOrigin::at(action.place, acts)
        };
        let exceed = *exceed;
        let actions = vec![(Colour::Green, acts(action.then)), (Colour::Red, acts(exceed))];
        let lines = [action.line];
        if exceed == Control::Reclassify {
            self.log.nearly_for(&lines, Reason::Reclassify);
        }
        if exceed == Control::Other || action.then == Control::Other {
            self.log.lost(&lines, "`goto chain`: perhop has one chain of filters");
        }
        if settings.get("cir").is_none() {
            return self.log.lost(&lines, "a policer without a rate of its own");
        }
        self.conditioner(name, run, Does { kind: "token-bucket", settings, actions });
    }

    /// The keys of a policer. Where packets come in, the kernel counts IP packets and holds them against `mtu` with Ethernet's header.
    pub(super) fn bucket(&self, options: &Options<'_>) -> Settings {
        let mut settings = bucket(options);
        let mtu = settings.get("mtu").filter(|_| self.at == AT_INGRESS && settings.get("pir").is_none());
        if let Some((Value::Bytes(mtu), origin)) = mtu.map(|it| (&it.is, it.origin)) {
            let is = Value::Bytes(Bytes::new(mtu.get().saturating_sub(HEADER.into()).max(1)));
            settings.set("mtu", WithOrigin { is, origin });
        }
        settings
    }

    /// Whether the bucket of a policer holds no packet: the smallest is one of UDP without data, or, if it is none of IP, as long and, where
    /// it comes in, filled up to the least that Ethernet carries.
    pub(super) fn holds_none(&self, options: &Options<'_>, of_ip: bool) -> bool {
        let smallest = match (self.at == AT_INGRESS, of_ip) {
            (true, true) => DATAGRAM,
            (true, false) => PADDED,
            (false, _) => DATAGRAM + u64::from(HEADER),
        };
        bucket(options).bytes("cbs").is_some_and(|bytes| bytes.get() < smallest)
    }

    /// The limit of a class that goes before others: a policer of all that its filters find.
    pub(super) fn limited(&mut self, of: &Qdisc<'_>, it: &Sorter<'a>, class: &mut Class) -> bool {
        let [Action { act: Act::Police(options, _, Control::Drop), then: Control::Ok, .. }] = &it.actions[..] else {
            return false;
        };
        let strict = matches!(&*of.name.text, "prio" | "ets") && class.settings.get("quantum").is_none();
        let settings = self.bucket(options);
        let alone =
            settings.iter().all(|(key, _)| matches!(key, "cir" | "cbs" | "arithmetic")) && class.takes.is_empty();
        let (Some(cir), Some(cbs)) = (settings.get("cir"), settings.get("cbs")) else { return false };
        if !strict || !alone || !matches!(cir.is, Value::Rate(_)) {
            return false;
        }
        class.settings.set("rate", cir.clone());
        class.settings.set("burst", cbs.clone());
        class.settings.set("police", WithOrigin { is: Value::Word("always".into()), origin: cir.origin });
        true
    }

    /// A policer that hands one colour on to a marker of the same packets: one conditioner that marks both.
    fn both(&mut self) {
        let mut i = 0;
        while i + 1 < self.conditioners.len() {
            let (first, second) = (&self.conditioners[i], &self.conditioners[i + 1]);
            let same = first.takes.iter().map(|it| &it.matches).eq(second.takes.iter().map(|it| &it.matches));
            let hands = first.actions.iter().position(|it| it.1.is == [Acts::Next]);
            let marks = second
                .actions
                .first()
                .filter(|it| second.kind == "marker" && it.1.is.iter().any(|act| matches!(act, Acts::Mark(_))));
            let (Some(place), Some(marks)) = (hands.filter(|_| same && first.kind == "token-bucket"), marks) else {
                i += 1;
                continue;
            };
            let marks = marks.1.clone();
            self.conditioners[i].actions[place].1 = marks;
            self.conditioners.remove(i + 1);
            i += 1;
        }
    }
}

/// What filters that do the same take, each match for itself where nothing is kept from one packet to the next or to a class: so they
/// are written again as they stand.
fn apart(filter: &Sorter<'_>, found: Run) -> Vec<Run> {
    let keeps_nothing = |action: &Action<'_>| matches!(action.act, Act::Goes | Act::Nothing | Act::Mark(_));
    if !filter.actions.iter().all(keeps_nothing) {
        return vec![found];
    }
    found.any.into_iter().map(|matches| Run { any: vec![matches], place: found.place }).collect()
}

/// What some actions in a row do.
pub(super) fn then(actions: &[Action<'_>]) -> Vec<Acts> {
    let mut acts = Vec::new();
    for it in actions {
        match &it.act {
            Act::Mark(dscp) => acts.push(Acts::Mark(*dscp)),
            Act::Police(..) => return vec![Acts::Next],
            _ => {}
        }
        if it.then != Control::Pipe {
            let end = ended(it.then);
            return if it.then == Control::Drop { end } else { acts.into_iter().chain(end).collect() };
        }
    }
    acts.push(Acts::Transmit);
    acts
}

/// The actions behind the last policer.
fn tail<'s, 'a>(actions: &'s [Action<'a>]) -> &'s [Action<'a>] {
    let from = actions.iter().rposition(|it| matches!(it.act, Act::Police(..))).map_or(0, |at| at + 1);
    &actions[from..]
}

/// The actions that do something.
fn telling<'s, 'a>(it: &'s Sorter<'a>) -> Vec<&'s Action<'a>> {
    it.actions.iter().filter(|it| !matches!(it.act, Act::Nothing)).collect()
}

fn ended(control: Control) -> Vec<Acts> {
    vec![match control {
        Control::Ok | Control::Pipe | Control::Other => Acts::Transmit,
        Control::Drop | Control::Reclassify => Acts::Drop,
        Control::Continue => Acts::Next,
    }]
}

/// The keys of a policer.
fn bucket(options: &Options<'_>) -> Settings {
    let mut settings = options.settings();
    let packets = |word: &str| options.get(word).and_then(|it| Some((it.count()?, it)));
    if let (Some((rate, one)), Some((burst, two))) = (packets("pkts_rate"), packets("pkts_burst")) {
        settings.set("cir", one.said(Value::PacketRate(PacketRate::per_second(rate))));
        let burst = Packets::new(u32::try_from(burst).unwrap_or(u32::MAX));
        settings.set("cbs", two.said(Value::Packets(burst)));
    } else if let Some((bytes, it)) = options.any(&["mtu", "minburst"]).and_then(|it| Some((it.bytes()?, it)))
        && (settings.get("pir").is_some() || !POLICE_MTU.contains(&bytes.get()))
    {
        settings.set("mtu", it.said(Value::Bytes(bytes)));
    }
    tbf::framing(options, &mut settings);
    settings.assume("arithmetic", POLICE_C, Value::Word("linux".into()));
    settings
}
