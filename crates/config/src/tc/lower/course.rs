//! The course of packets through the filters of a port, followed as the kernel follows it: filter by filter, action by action, from
//! `clsact` to the last queueing discipline.
//!
//! All packets start as one set. A filter takes a part of a set, and what the filter does decides where that part goes on. Where
//! a part ends, a marker takes it, and the class that it ends in asks for that marker. So the order of classes does not
//! matter, and a class may ask what no header says.
//!
//! Source: Linux 6.12, `tcf_classify`, `tcf_action_exec`, `htb_classify`, `hfsc_classify`, `drr_classify`, `prio_classify`.

use super::overlap::version;
use super::takes::{OF_BYTES, is_of_bytes, marked, of_protocol};
use super::{Making, wrong_class};
use crate::account::Reason;
use crate::matches::intersection;
use crate::model::{Act as Acts, Conditioner, Fate, Filter};
use crate::tc::actions::{Act, Control};
use crate::tc::bands;
use crate::tc::filters::{Protocol, Sorter};
use crate::tc::handles::own;
use crate::tc::htb;
use crate::tc::kernel::{Interface, Qdisc};
use crate::tc::options::Classes;
use crate::tc::units::shown;
use crate::unions::Unions;
use crate::value::WithOrigin;
use perhop_core::classify::{Match, Prefix};
use perhop_core::colour::Colour;
use perhop_core::params::Place;
use std::collections::{BTreeMap, BTreeSet};

/// The most conditioners that a class of a scenario can ask for.
const MOST: usize = 240;
/// How often a filter may be asked of some packets.
const STEPS: usize = 20_000;
/// Filters that lead to each other, and queueing disciplines within each other.
const DEEPEST: usize = 48;
const NO_FILTER: &str = "no filter takes them";
/// How often the kernel begins again at the first filter: `max_reclassify_loop`.
const AGAIN: usize = 16;

/// Where packets end.
#[derive(Debug, Default)]
pub(super) struct Course {
    /// Policers and markers, in their order.
    pub(super) conditioners: Vec<Conditioner>,
    /// By class, those of packets that end in it or below it.
    pub(super) names: BTreeMap<u32, Vec<String>>,
    /// HTBs that let packets pass without a class though they have a default.
    pub(super) direct: BTreeSet<u32>,
    /// Filters that some packets are asked by, and what is wrong with their targets.
    pub(super) asked: BTreeSet<usize>,
    pub(super) wrong: Vec<Wrong>,
}

/// A filter that names a class that takes no packets.
#[derive(Debug)]
pub(super) struct Wrong {
    place: Place,
    class: u32,
    is_there: bool,
    lines: Vec<usize>,
}

/// Why the course of packets cannot be said.
pub(super) struct Unsaid;

type Followed = Result<(), Unsaid>;

/// Some packets, at one place of their course.
#[derive(Clone, Debug)]
struct Packets {
    /// What is known of them: any of these.
    any: Vec<Match>,
    /// What they have been asked since they passed the conditioner `passed`.
    since: Vec<Match>,
    passed: Option<String>,
    /// The bits of the firewall's mark that an action has set, and which these are.
    mark: (u64, u64),
    /// The class that an action has named.
    priority: Option<u32>,
    /// Whether an action has written their code point.
    written: bool,
    /// The last filter that has taken them.
    place: Option<Place>,
    /// What filters before have taken of the set that they were part of: they are none of these.
    gone: Vec<Match>,
}

impl Packets {
    fn all() -> Self {
        let any = vec![Match::default()];
        Self {
            since: any.clone(),
            any,
            passed: None,
            mark: (0, 0),
            priority: None,
            written: false,
            place: None,
            gone: Vec::new(),
        }
    }

    /// Those of them that a filter takes.
    fn of(&self, asks: &[Match]) -> Option<Self> {
        let mut any = both(&self.any, asks);
        any.retain(|it| !self.gone.iter().any(|gone| gone.covers(it)));
        (!any.is_empty()).then(|| Self { any, since: both(&self.since, asks), ..self.clone() })
    }

    /// What a conditioner asks to take them.
    fn takes(&self) -> Vec<Match> {
        match &self.passed {
            None => self.any.clone(),
            Some(name) => {
                let named = |it: &Match| Match { conditioner: vec![name.clone()], ..it.clone() };
                self.since.iter().map(named).collect()
            }
        }
    }

    /// The same behind a conditioner that has taken them.
    fn behind(&self, name: String) -> Self {
        Self { since: vec![Match::default()], passed: Some(name), ..self.clone() }
    }
}

/// What both take, without what another part of it takes, too.
fn both(one: &[Match], other: &[Match]) -> Vec<Match> {
    let mut out: Vec<Match> = Vec::new();
    for it in one.iter().flat_map(|a| other.iter().filter_map(|b| intersection(a, b))).filter_map(plain) {
        if !out.iter().any(|known| known.covers(&it)) {
            out.retain(|known| !it.covers(known));
            out.push(it);
        }
    }
    out
}

/// Without a prefix of all addresses of a version that the other address is of; `None`: no packet has an address of each version.
fn plain(mut of: Match) -> Option<Match> {
    let mut sixes = of.source.iter().chain(&of.destination).map(|prefix| prefix.0.addr().is_ipv6());
    if let Some(first) = sixes.next()
        && sixes.any(|six| six != first)
        && of.source.len() == 1
        && of.destination.len() == 1
    {
        return None;
    }
    let is_whole = |list: &[Prefix]| matches!(list, [one] if one.0.prefix_len() == 0);
    let same =
        |one: &[Prefix], other: &[Prefix]| other.iter().all(|it| it.0.addr().is_ipv6() == one[0].0.addr().is_ipv6());
    if is_whole(&of.source) && !of.destination.is_empty() && same(&of.source, &of.destination) {
        of.source.clear();
    } else if is_whole(&of.destination) && !of.source.is_empty() && same(&of.destination, &of.source) {
        of.destination.clear();
    }
    Some(of)
}

/// Where filters are asked.
#[derive(Clone, Copy)]
struct Spot<'s> {
    /// Of the filters: before all queues, a queueing discipline, a class.
    place: u32,
    /// The parent of the queueing discipline; `None`: before all of them.
    parent: Option<u32>,
    /// The classes that have led there.
    path: &'s [u32],
    /// How often the kernel has begun again here, and with what of a mark and a priority it has begun.
    again: usize,
    began: (u64, Option<u32>),
    /// The class that an action had named when the packets came to the queueing discipline.
    entered: Option<u32>,
    depth: usize,
}

/// A walk along the filters of a port.
pub(super) struct Walk<'m, 'l, 'k, 'a> {
    making: &'m mut Making<'l, 'k, 'a>,
    course: Course,
    steps: usize,
    /// The place of the first queueing discipline; `None`: packets come in.
    first: Option<u32>,
    /// Of which packets it is, if not of IP; all of these are alike.
    only: Option<Protocol>,
    /// Where those end, and whether a policer has met them.
    fates: Vec<Fate>,
    metered: bool,
}

/// What a filter asks of headers, and the class that it leads to.
type Question = (Vec<Match>, Option<u32>);

impl<'m, 'l, 'k, 'a> Walk<'m, 'l, 'k, 'a> {
    /// Follows all packets of a port; those that go out wait at the place `first`.
    ///
    /// # Errors
    /// An action that perhop does not have, or more conditioners than can be named.
    pub(super) fn along(making: &'m mut Making<'l, 'k, 'a>, at: u32, first: Option<u32>) -> Result<Course, Unsaid> {
        let mut it =
            Self { making, course: Course::default(), steps: 0, first, only: None, fates: Vec::new(), metered: false };
        let spot = Spot { place: at, parent: None, path: &[], again: 0, began: (0, None), entered: None, depth: 0 };
        it.list(spot, 0, Packets::all())?;
        it.tidy();
        Ok(it.course)
    }

    /// Follows packets of one protocol whose headers do not matter; `None`: they may, or perhop has not all that meets them.
    pub(super) fn of(making: &'m mut Making<'l, 'k, 'a>, only: Protocol, at: u32, first: Option<u32>) -> Option<Fate> {
        let only = Some(only);
        let mut it =
            Self { making, course: Course::default(), steps: 0, first, only, fates: Vec::new(), metered: false };
        let spot = Spot { place: at, parent: None, path: &[], again: 0, began: (0, None), entered: None, depth: 0 };
        it.list(spot, 0, Packets::all()).ok()?;
        (it.fates.len() == 1).then(|| it.fates.remove(0))
    }

    fn interface(&self) -> &'k Interface<'a> {
        self.making.interface
    }

    /// The class of a filter that takes all packets of a protocol.
    ///
    /// # Errors
    /// It may look at bytes of them.
    fn asks_others(
        &self,
        filter: &Sorter<'a>,
        only: Protocol,
        packets: &Packets,
    ) -> Result<Option<Option<u32>>, Unsaid> {
        if filter.asked != Protocol::All && filter.asked != only {
            return Ok(None);
        }
        if filter.rule.any.iter().any(|it| is_of_bytes(filter, it)) {
            return Err(Unsaid);
        }
        let (mark, set) = packets.mark;
        let target = filter.target.map(|it| it.0);
        Ok(match filter.rule.mark {
            _ if filter.is_by_mark_itself() => (set != 0 && mark != 0).then(|| u32::try_from(mark).ok()),
            Some((wanted, mask)) => (set & mask == mask && mark & mask == wanted).then_some(target),
            None if filter.rule.lost.is_empty() && filter.rule.any.contains(&Match::default()) => Some(target),
            None => return Err(Unsaid),
        })
    }

    /// Asks the filters of a place from one on.
    fn list(&mut self, at: Spot<'_>, from: usize, mut packets: Packets) -> Followed {
        if at.depth > DEEPEST {
            return Err(Unsaid);
        }
        let interface = self.interface();
        let filters: Vec<&'k Sorter<'a>> =
            interface.filters.get(&at.place).into_iter().flat_map(|it| it.iter()).collect();
        for (i, filter) in filters.iter().enumerate().skip(from) {
            self.steps += 1;
            if self.steps > STEPS || self.course.conditioners.len() > MOST || packets.any.len() > MOST {
                return Err(Unsaid);
            }
            filter.rule.nearly.iter().for_each(|how| self.making.log.nearly(&filter.lines, how));
            let Some((asks, target)) = self.asks(filter, &packets)? else { continue };
            let Some(mut taken) = packets.of(&asks) else { continue };
            taken.place = Some(filter.place);
            self.course.asked.insert(std::ptr::from_ref(*filter) as usize);
            let next = next(&filters, i);
            self.acts(at, Of { filter, target, next }, 0, taken)?;
            packets.any.retain(|known| !asks.iter().any(|ask| ask.covers(known)));
            if packets.any.is_empty() {
                return Ok(());
            }
            packets.gone.extend(asks.into_iter().take(MOST.saturating_sub(packets.gone.len())));
        }
        self.unmatched(at, packets)
    }

    /// What a filter asks of the headers of packets, and the class that it leads to; `None`: it takes none of them.
    fn asks(&mut self, filter: &Sorter<'a>, packets: &Packets) -> Result<Option<Question>, Unsaid> {
        let target = filter.target.map(|it| it.0);
        if let Some(only) = self.only {
            return Ok(self.asks_others(filter, only, packets)?.map(|target| (vec![Match::default()], target)));
        }
        if filter.protocol.is_other() {
            return Ok(None);
        }
        let (mark, set) = packets.mark;
        if filter.is_by_mark_itself() {
            let all = version(filter.protocol, &Match::default());
            return Ok((set != 0 && mark != 0).then(|| (vec![all], u32::try_from(mark).ok())));
        }
        if !filter.rule.lost.is_empty() {
            return Err(Unsaid);
        }
        let mut asks: Vec<_> = filter.rule.any.iter().map(|it| version(self.protocol(filter, it), it)).collect();
        if let Some((wanted, mask)) = filter.rule.mark {
            match (set & mask, mark & mask == wanted) {
                // No action has set them: what sets them is not in the text.
                (0, _) => asks.iter_mut().for_each(|it| it.traffic = vec![marked(wanted, mask)]),
                (bits, is_so) if bits == mask => return Ok(is_so.then_some((asks, target))),
                _ => return Err(Unsaid),
            }
        }
        Ok(Some((asks, target)))
    }

    /// The packets that a match is of: fields of IPv4 are other bytes of IPv6.
    fn protocol(&mut self, filter: &Sorter<'a>, of: &Match) -> Protocol {
        if is_of_bytes(filter, of) {
            self.making.log.nearly(&filter.lines, OF_BYTES);
        }
        of_protocol(filter, of)
    }

    /// The actions of a filter, from one on.
    fn acts(&mut self, at: Spot<'_>, of: Of<'_, 'k, 'a>, from: usize, mut packets: Packets) -> Followed {
        for (i, action) in of.filter.actions.iter().enumerate().skip(from) {
            match &action.act {
                Act::Police(..) => return self.police(at, of, i, packets),
                Act::Mark(dscp) => {
                    let name =
                        self.take(&packets, &format!("mark {dscp}"), vec![Acts::Mark(*dscp), Acts::Next], action.place);
                    packets = packets.behind(name);
                    packets.any.iter_mut().for_each(|it| it.dscp = vec![*dscp]);
                    packets.gone.clear();
                    packets.written = true;
                }
                Act::Tag(mark, mask) => {
                    let (old, set) = packets.mark;
                    packets.mark = (old & !mask | mark & mask, set | mask);
                }
                Act::Priority(id) => packets.priority = Some(*id),
                Act::Goes | Act::Nothing => {}
                Act::Redirect(_) | Act::Lost(_) => return Err(Unsaid),
            }
            if action.then != Control::Pipe {
                return self.goes(at, of, i, (action.then, packets));
            }
        }
        self.ends(at, of, packets)
    }

    /// After the action `i`, whose verdict is this.
    fn goes(&mut self, at: Spot<'_>, of: Of<'_, 'k, 'a>, i: usize, (then, packets): (Control, Packets)) -> Followed {
        match then {
            Control::Ok => self.ends(at, of, packets),
            Control::Pipe => self.acts(at, of, i + 1, packets),
            Control::Continue => self.list(Spot { depth: at.depth + 1, ..at }, of.next, packets),
            Control::Drop => self.dropped(&packets, of.filter.actions[i].place),
            Control::Reclassify => {
                let now = (packets.mark.0, packets.priority);
                if at.again >= AGAIN || now == at.began {
                    return self.dropped(&packets, of.filter.actions[i].place);
                }
                self.list(Spot { again: at.again + 1, began: now, depth: at.depth + 1, ..at }, 0, packets)
            }
            Control::Other => Err(Unsaid),
        }
    }

    /// A policer, and where what conforms and what exceeds goes on.
    fn police(&mut self, at: Spot<'_>, of: Of<'_, 'k, 'a>, i: usize, packets: Packets) -> Followed {
        let action = &of.filter.actions[i];
        // A bucket of several filters is none of this list's.
        let Act::Police(options, None, exceed) = &action.act else { return Err(Unsaid) };
        let conform = action.then;
        if self.making.holds_none(options, matches!(self.only, None | Some(Protocol::Ip6))) {
            return self.goes(at, of, i, (*exceed, packets));
        }
        if self.only.is_some() {
            self.metered = true;
            return self.goes(at, of, i, (conform, packets));
        }
        let settings = self.making.bucket(options);
        if settings.get("cir").is_none() {
            return Err(Unsaid);
        }
        if *exceed == Control::Reclassify {
            self.making.log.nearly_for(&of.filter.lines, Reason::Reclassify);
        }
        let ends = |control: Control| matches!(control, Control::Drop | Control::Reclassify);
        let verdict = |control| vec![if ends(control) { Acts::Drop } else { Acts::Next }];
        let acts = [(Colour::Green, verdict(conform)), (Colour::Red, verdict(*exceed))];
        let label = of.filter.target.map_or_else(|| "filter".to_owned(), |it| shown(it.0));
        let name = self.name(&format!("{label} police"));
        let takes = filters(&packets.takes(), Some(of.filter.place), &mut self.making.order);
        let actions = acts.map(|(colour, acts)| (colour, WithOrigin::at(action.place, acts))).to_vec();
        let said = WithOrigin::at(of.filter.place, name.clone());
        self.course.conditioners.push(Conditioner { name: said, takes, kind: "token-bucket", settings, actions });
        match (ends(conform), ends(*exceed)) {
            (true, true) => Ok(()),
            (true, false) => self.goes(at, of, i, (*exceed, packets)),
            (false, true) => self.goes(at, of, i, (conform, packets)),
            (false, false) if conform == *exceed => self.goes(at, of, i, (conform, packets)),
            _ => {
                self.goes(at, of, i, (conform, packets.behind(format!("{name} green"))))?;
                self.goes(at, of, i, (*exceed, packets.behind(format!("{name} red"))))
            }
        }
    }

    /// A filter has taken packets, and its actions let them pass.
    fn ends(&mut self, at: Spot<'_>, of: Of<'_, 'k, 'a>, packets: Packets) -> Followed {
        let Some(parent) = at.parent else { return self.queues(at, packets) };
        let it = &self.interface().qdiscs[&parent];
        let target = of.target.unwrap_or_default();
        match &*it.name.text {
            _ if it.classes() == Classes::Bands => self.leaf(at, it, bands::of_number(it, target), packets),
            "htb" if target == it.handle => self.direct(at, it, packets),
            // It leads to itself, again and again, until the kernel drops the packet.
            "hfsc" if target == it.handle && at.place == it.handle => self.dropped(&packets, of.filter.place),
            _ => match self.level(target, it) {
                Some(0) => self.leaf(at, it, target, packets),
                Some(level) if it.name.text != "hfsc" || level < self.level(at.place, it).unwrap_or(usize::MAX) => {
                    self.inner(at, (it, target), of, packets)
                }
                level => {
                    self.wrong(of, level.is_some());
                    self.default(at, it, packets)
                }
            },
        }
    }

    /// A filter leads to a class with classes below it, whose own filters are asked then.
    fn inner(
        &mut self,
        at: Spot<'_>,
        (it, class): (&'k Qdisc<'a>, u32),
        of: Of<'_, 'k, 'a>,
        packets: Packets,
    ) -> Followed {
        if self.interface().filters.get(&class).is_none_or(|list| list.is_empty()) {
            self.wrong(of, true);
            return self.default(at, it, packets);
        }
        let began = (packets.mark.0, packets.priority);
        self.list(Spot { place: class, depth: at.depth + 1, again: 0, began, ..at }, 0, packets)
    }

    fn wrong(&mut self, of: Of<'_, 'k, 'a>, is_there: bool) {
        if let Some((id, place)) = of.filter.target.filter(|it| Some(it.0) == of.target) {
            self.course.wrong.push(Wrong { place, class: id, is_there, lines: of.filter.lines.clone() });
        }
    }

    /// How many classes are below a class, at most, one below the other; `None`: there is no such class.
    fn level(&self, id: u32, it: &Qdisc<'_>) -> Option<usize> {
        let interface = self.interface();
        if !own(it.handle).contains(&id) || !interface.classes.contains_key(&id) {
            return None;
        }
        Some(self.height(id, it, 0))
    }

    fn height(&self, id: u32, it: &Qdisc<'_>, depth: usize) -> usize {
        let below = self.interface().classes.range(own(it.handle)).filter(|(_, class)| class.parent == id);
        if depth > DEEPEST {
            return 0;
        }
        below.map(|(id, _)| 1 + self.height(*id, it, depth + 1)).max().unwrap_or_default()
    }

    /// No filter of a list has taken packets.
    fn unmatched(&mut self, at: Spot<'_>, packets: Packets) -> Followed {
        match at.parent {
            None => self.queues(at, packets),
            Some(parent) => self.default(at, &self.interface().qdiscs[&parent], packets),
        }
    }

    /// Behind the filters before all queues.
    fn queues(&mut self, at: Spot<'_>, packets: Packets) -> Followed {
        match self.first {
            Some(first) => self.qdisc(first, at, packets),
            None => self.ended(at.path, "rest", &packets),
        }
    }

    /// Packets come to the queueing discipline at a place.
    fn qdisc(&mut self, parent: u32, at: Spot<'_>, packets: Packets) -> Followed {
        let interface = self.interface();
        let Some(it) = interface.qdiscs.get(&parent).filter(|_| at.depth < DEEPEST) else {
            return self.ended(at.path, "rest", &packets);
        };
        let began = (packets.mark.0, packets.priority);
        let place = it.handle;
        let entered = packets.priority;
        let spot = Spot { place, parent: Some(parent), again: 0, began, entered, depth: at.depth + 1, ..at };
        let is_own = |id: &u32| own(it.handle).contains(id);
        match it.classes() {
            Classes::Flat | Classes::Tree => {
                let Some(id) = packets.priority.filter(is_own) else { return self.list(spot, 0, packets) };
                if id == it.handle && it.name.text == "htb" {
                    return self.direct(spot, it, packets);
                }
                match self.level(id, it) {
                    Some(0) => self.leaf(spot, it, id, packets),
                    Some(_) if it.name.text == "htb" => self.list(Spot { place: id, ..spot }, 0, packets),
                    _ => self.list(spot, 0, packets),
                }
            }
            Classes::Bands => match packets.priority.filter(is_own) {
                Some(id) => self.leaf(spot, it, bands::of_number(it, id), packets),
                None => self.list(spot, 0, packets),
            },
            Classes::Hardware => Err(Unsaid),
            Classes::One => self.qdisc(it.handle | 1, spot, packets),
            Classes::None | Classes::FixedBands => self.ended(at.path, "rest", &packets),
        }
    }

    /// What no filter of a queueing discipline has taken.
    fn default(&mut self, at: Spot<'_>, it: &'k Qdisc<'a>, packets: Packets) -> Followed {
        let default = htb::default_class(it).map(|it| it.0).filter(|id| self.level(*id, it) == Some(0));
        match (&*it.name.text, default) {
            _ if it.classes() == Classes::Bands => self.by_priority(at, it, packets),
            ("htb" | "hfsc", Some(id)) => self.leaf(at, it, id, packets),
            ("htb", None) => self.direct(at, it, packets),
            _ => self.dropped(&packets, it.place),
        }
    }

    /// The band of packets by their priority: that of the code point if IPv4 is forwarded, none if IPv6 is.
    fn by_priority(&mut self, at: Spot<'_>, it: &'k Qdisc<'a>, mut packets: Packets) -> Followed {
        let first = it.handle | bands::of_priority_0(it);
        let (members, _) = bands::members(it);
        if at.entered.is_none() && self.only.is_none() {
            for (band, dscp) in (1..).zip(members).filter(|(band, dscp)| it.handle | band != first && !dscp.is_empty())
            {
                if packets.written {
                    return Err(Unsaid);
                }
                let asks = [version(Protocol::Ip, &Match { dscp, ..Match::default() })];
                let Some(taken) = packets.of(&asks) else { continue };
                self.leaf(at, it, it.handle | band, taken)?;
                packets.any.retain(|known| !asks[0].covers(known));
            }
        }
        if packets.any.is_empty() { Ok(()) } else { self.leaf(at, it, first, packets) }
    }

    fn leaf(&mut self, at: Spot<'_>, _: &Qdisc<'a>, id: u32, packets: Packets) -> Followed {
        let path = [at.path, &[id]].concat();
        self.qdisc(id, Spot { path: &path, ..at }, packets)
    }

    fn direct(&mut self, at: Spot<'_>, it: &Qdisc<'a>, packets: Packets) -> Followed {
        if htb::default_class(it).is_some_and(|default| self.level(default.0, it) == Some(0)) {
            self.course.direct.insert(it.handle);
        }
        self.ended(at.path, "direct", &packets)
    }

    /// Packets end in the last class of a path.
    fn ended(&mut self, path: &[u32], other: &str, packets: &Packets) -> Followed {
        if self.only.is_some() {
            self.fates.push(match path.last() {
                _ if other == "direct" => Fate::Direct,
                Some(id) => Fate::Class(shown(*id)),
                None if self.metered => Fate::Metered,
                None => Fate::Passed,
            });
            return Ok(());
        }
        let label = path.last().map_or_else(|| other.to_owned(), |id| shown(*id));
        for one in Unions::of(packets.takes()) {
            let name = self.marker(&[one], &label, vec![Acts::Transmit], packets.place);
            path.iter().for_each(|id| self.course.names.entry(*id).or_default().push(name.clone()));
        }
        Ok(())
    }

    fn dropped(&mut self, packets: &Packets, place: Place) -> Followed {
        if self.only.is_some() {
            self.fates.push(Fate::Dropped);
            return Ok(());
        }
        for one in Unions::of(packets.takes()) {
            self.marker(&[one], "drop", vec![Acts::Drop], packets.place.or(Some(place)));
        }
        Ok(())
    }

    fn take(&mut self, packets: &Packets, label: &str, acts: Vec<Acts>, place: Place) -> String {
        self.marker(&packets.takes(), label, acts, Some(place))
    }

    fn marker(&mut self, takes: &[Match], label: &str, acts: Vec<Acts>, place: Option<Place>) -> String {
        let name = self.name(label);
        let takes = filters(takes, place, &mut self.making.order);
        let actions = vec![(Colour::Green, said(place, acts))];
        let (said, settings) = (said(place, name.clone()), crate::value::Settings::default());
        self.course.conditioners.push(Conditioner { name: said, takes, kind: "marker", settings, actions });
        name
    }

    fn name(&self, label: &str) -> String {
        format!("{label} {}", self.course.conditioners.len() + 1)
    }

    /// Without the last marker, if it takes all that is left and leads where packets go that have passed none.
    fn tidy(&mut self) {
        let is_idle = |it: &Conditioner| it.takes.is_empty() && it.actions.iter().all(|it| it.1.is == [Acts::Transmit]);
        let Some(last) = self.course.conditioners.last().filter(|it| is_idle(it)).map(|it| it.name.is.clone()) else {
            return;
        };
        let ids: Vec<_> = self.course.names.iter().filter(|it| it.1.contains(&last)).map(|it| *it.0).collect();
        if ids.iter().all(|id| self.takes_rest(*id)) {
            self.course.conditioners.pop();
            self.course.names.values_mut().for_each(|names| names.retain(|name| *name != last));
        }
    }

    /// Whether a class takes what no other of its queueing discipline does.
    fn takes_rest(&self, id: u32) -> bool {
        let handle = id & 0xffff_0000;
        let all = self.interface().qdiscs.values();
        let mut its = all.filter(|it| it.handle == handle && matches!(&*it.name.text, "htb" | "hfsc"));
        its.any(|it| htb::default_class(it).is_some_and(|default| default.0 == id))
            && !self.course.direct.contains(&handle)
    }
}

impl Making<'_, '_, '_> {
    /// Says which filters no packet comes to.
    pub(super) fn never_asked(&mut self, at: u32, asked: &BTreeSet<usize>) {
        let interface = self.interface;
        let trees = interface.qdiscs.values().map(|it| it.handle);
        let places = std::iter::once(at..=at).chain(trees.map(own));
        // Of a class that no filter leads to it has been said.
        let is_class = |place: u32| place != at && place & 0xffff != 0;
        let lists = places.flat_map(|places| interface.filters.range(places)).filter(|it| !is_class(*it.0));
        let lists = lists.flat_map(|it| it.1.iter());
        for filter in lists.filter(|it| !asked.contains(&(std::ptr::from_ref(*it) as usize))) {
            if filter.protocol.is_other() {
                self.log.nearly(&filter.lines, "perhop has only IP packets");
                continue;
            }
            self.log.noted(&filter.lines, "it takes no packet: filters before it do, or none leads to it");
            let message = "this filter takes no packet: filters before it do, or none leads to its class";
            let help = "remove it, or give it a lower prio than those before it";
            self.log.found("W404", filter.place, message.to_owned(), help);
        }
    }

    /// Says which filters lead to classes that take no packets.
    pub(super) fn lead_astray(&mut self, all: Vec<Wrong>) {
        for Wrong { place, class, is_there, lines } in all {
            let message = format!("the filter sends packets to {}, which {}", shown(class), wrong_class(is_there));
            self.log.noted(&lines, &format!("{message}: they go where packets go that no filter takes"));
            self.log.found("W401", place, message, "name a class that has no classes below it");
        }
    }
}

/// A filter that has taken packets.
#[derive(Clone, Copy)]
struct Of<'f, 'k, 'a> {
    filter: &'f &'k Sorter<'a>,
    /// The class that it leads to.
    target: Option<u32>,
    /// The filter that is asked after it where an action says `continue`.
    next: usize,
}

/// The filter after one: of `flower`, one of another prio, since a prio's filters are one table.
fn next(filters: &[&Sorter<'_>], i: usize) -> usize {
    let it = filters[i];
    let same = |other: &&&Sorter<'_>| it.kind == "flower" && other.prio == it.prio;
    i + 1 + filters[i + 1..].iter().take_while(same).count()
}

/// Said by a filter, or by none of them.
fn said<T>(place: Option<Place>, is: T) -> WithOrigin<T> {
    match place {
        Some(place) => WithOrigin::at(place, is),
        None => WithOrigin::assumed(NO_FILTER, is),
    }
}

fn filters(takes: &[Match], place: Option<Place>, order: &mut u32) -> Vec<Filter> {
    if takes.contains(&Match::default()) {
        return Vec::new();
    }
    let filter = |it: &Match| {
        *order += 1;
        Filter { order: *order, matches: said(place, it.clone()) }
    };
    takes.iter().map(filter).collect()
}
