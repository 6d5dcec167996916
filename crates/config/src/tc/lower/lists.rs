//! Whether lists of classes, each with what it takes, say the same as the filters of a port.

use super::Stand;
use super::meters::then;
use crate::tc::actions::{Act, Action, Control};
use crate::tc::bands;
use crate::tc::filters::{Protocol, Sorter};
use crate::tc::handles::{ROOT, own};
use crate::tc::htb;
use crate::tc::kernel::{Interface, Qdisc};
use crate::tc::options::Classes;
use perhop_core::classify::Match;

/// The filters of a port by the place where they are asked.
pub(super) struct Lists<'k, 'a> {
    interface: &'k Interface<'a>,
    /// Before all queues.
    edge: Vec<&'k Sorter<'a>>,
    /// Of each queueing discipline and each class.
    queues: Vec<(u32, Vec<&'k Sorter<'a>>)>,
    /// The queueing disciplines with classes, the first one first.
    trees: Vec<&'k Qdisc<'a>>,
    /// The handle of the first queueing discipline.
    root: Option<u32>,
}

impl<'k, 'a> Lists<'k, 'a> {
    pub(super) fn of(stand: &Stand<'k, 'a>) -> Self {
        let interface = stand.interface;
        let all = |place: &u32| interface.filters.get(place).into_iter().flat_map(|it| it.iter()).collect::<Vec<_>>();
        let is_output = stand.way == crate::model::Way::Output;
        let trees: Vec<_> = interface.qdiscs.values().filter(|it| is_output && it.classes().are_sorted()).collect();
        let places = trees.iter().flat_map(|it| interface.filters.range(own(it.handle))).map(|it| *it.0);
        let queues = places.map(|place| (place, all(&place))).filter(|it| !it.1.is_empty()).collect();
        let root = interface.qdiscs.get(if is_output { &stand.first } else { &ROOT }).map(|it| it.handle);
        Self { interface, edge: all(&stand.at), queues, trees, root }
    }

    fn each(&self) -> impl Iterator<Item = &'k Sorter<'a>> {
        self.edge.iter().chain(self.queues.iter().flat_map(|it| &it.1)).copied()
    }

    /// Whether they say what the filters do to packets of one version.
    pub(super) fn are_plain(&self) -> bool {
        let of_queueing_discipline = |it: &(u32, Vec<_>)| it.0 & 0xffff == 0;
        self.queues.iter().all(of_queueing_discipline)
            && self.each().all(|it| !it.is_by_mark_itself())
            && self.edge.iter().all(|it| is_plain(&it.actions, !shares_table(it, &self.edge)))
            && self.queues.iter().flat_map(|it| &it.1).all(|it| is_plain(&it.actions, false))
            && self.acts_at_one_place()
            && self.lead_to_leaves()
            && self.leave_nothing_to_drop()
            && !self.versions_hide_each_other()
    }

    /// Only filters that are asked of all packets do anything, and only those of one place.
    fn acts_at_one_place(&self) -> bool {
        let act = |list: &[&Sorter<'_>]| list.iter().any(|it| it.actions.iter().any(does));
        let acts = |it: &&(u32, Vec<&Sorter<'_>>)| act(&it.1) && !self.are_limits(it.0, &it.1);
        let mut acting = self.queues.iter().filter(acts).map(|it| it.0);
        match (acting.next(), acting.next()) {
            (None, _) => true,
            (Some(one), None) => self.edge.is_empty() && self.has_all(one),
            _ => false,
        }
    }

    /// Whether all packets come to a queueing discipline: it is the first one, or below classes that have no others beside them.
    fn has_all(&self, handle: u32) -> bool {
        let above = |place: u32| self.trees.iter().find(|it| own(it.handle).contains(&place));
        let place = self.interface.qdiscs.iter().find(|it| it.1.handle == handle).map(|it| *it.0);
        let is_only = |it: &Qdisc<'_>, place: u32| match it.classes() {
            Classes::Bands => bands::many(it) == 1,
            Classes::Tree if it.name.text == "htb" => {
                htb::default_class(it).is_some_and(|default| default.0 == place) && self.has_one_leaf(it)
            }
            _ => false,
        };
        Some(handle) == self.root
            || place.is_some_and(|place| above(place).is_some_and(|it| is_only(it, place) && self.has_all(it.handle)))
    }

    fn has_one_leaf(&self, it: &Qdisc<'_>) -> bool {
        self.interface.classes.range(own(it.handle)).filter(|(id, _)| self.is_leaf(it, **id)).count() == 1
    }

    /// Whether all that filters of a `prio` or of strict bands do is to limit a band each, which is the band's rate.
    fn are_limits(&self, place: u32, list: &[&Sorter<'_>]) -> bool {
        let is_limit = |of: &Qdisc<'_>, it: &Sorter<'_>| match &it.actions[..] {
            [] => true,
            [Action { act: Act::Police(options, bucket, Control::Drop), then: Control::Ok, .. }] => {
                let more = ["mtu", "minburst", "peakrate", "overhead", "linklayer", "pkts_rate"];
                let band = it.target.map(|it| it.0).filter(|band| bands::is_strict(of, *band));
                let of_band: Vec<_> = list.iter().filter(|other| other.target.map(|it| it.0) == band).collect();
                let has_it = |it: &Sorter<'_>| matches!(it.actions[..], [Action { act: Act::Police(_, other, _), .. }] if other == *bucket);
                let is_one = of_band.len() == 1 || bucket.is_some() && of_band.iter().all(|it| has_it(it));
                options.any(&more).is_none() && band.is_some() && is_one
            }
            _ => false,
        };
        self.trees.iter().find(|it| it.handle == place).is_some_and(|of| list.iter().all(|it| is_limit(of, it)))
    }

    /// Each filter leads to a leaf, or to the default.
    fn lead_to_leaves(&self) -> bool {
        self.trees.iter().all(|it| {
            let default = htb::default_class(it).is_some_and(|default| self.is_leaf(it, default.0));
            let list = self.queues.iter().filter(|list| list.0 == it.handle).flat_map(|list| &list.1);
            list.filter(|filter| !filter.protocol.is_other()).all(|filter| match filter.target {
                _ if it.classes() == Classes::Bands => true,
                None => {
                    default || filter.actions.iter().any(|it| it.then == Control::Drop && matches!(it.act, Act::Goes))
                }
                Some((id, _)) => self.is_leaf(it, id) || default && id != it.handle,
            })
        })
    }

    fn is_leaf(&self, it: &Qdisc<'_>, id: u32) -> bool {
        let mut classes = self.interface.classes.range(own(it.handle));
        own(it.handle).contains(&id)
            && self.interface.classes.contains_key(&id)
            && !classes.any(|(_, class)| class.parent == id)
    }

    /// DRR drops what its filters do not take, and a list of classes has a last one, which takes it.
    fn leave_nothing_to_drop(&self) -> bool {
        let takes_all = |list: &[&Sorter<'_>]| list.iter().any(|it| it.protocol == Protocol::All && is_open(it));
        self.trees
            .iter()
            .filter(|it| it.name.text == "drr")
            .all(|it| self.queues.iter().filter(|list| list.0 == it.handle).all(|list| takes_all(&list.1)))
    }

    /// A filter takes all packets of one version, and another behind it is of the other one.
    fn versions_hide_each_other(&self) -> bool {
        let lists = std::iter::once(&self.edge).chain(self.queues.iter().map(|it| &it.1));
        lists.into_iter().any(|list| {
            let is_of_one = |it: &Sorter<'_>| matches!(it.protocol, Protocol::Ip | Protocol::Ip6) && is_open(it);
            let is_unlike = |one: &Sorter<'_>, other: &Sorter<'_>| {
                other.protocol != one.protocol && !(is_open(other) && do_the_same(one, other))
            };
            let behind = |i: usize| list[i + 1..].iter();
            let ones = list.iter().enumerate().filter(|(_, one)| is_of_one(one));
            ones.into_iter().any(|(i, one)| behind(i).any(|other| is_unlike(one, other)))
        })
    }

    /// Whether a packet's version decides anything.
    pub(super) fn tell_versions(&self) -> bool {
        self.each().any(|it| matches!(it.protocol, Protocol::Ip | Protocol::Ip6 | Protocol::All))
            || self.have_priorities()
    }

    /// Whether a queueing discipline sorts by the priority that IPv4 packets have and others have not, or drops what no filter takes.
    pub(super) fn have_priorities(&self) -> bool {
        let drops = |it: &&&Qdisc<'_>| it.name.text == "drr";
        let sorts = |it: &&&Qdisc<'_>| matches!(&*it.name.text, "prio" | "ets") && bands::members(it).1.is_none();
        self.trees.iter().any(|it| drops(&it) || sorts(&it))
    }
}

/// Whether a filter takes all packets of its protocol.
fn is_open(it: &Sorter<'_>) -> bool {
    it.rule.mark.is_none() && it.rule.any.contains(&Match::default())
}

/// Whether two filters lead to the same class and do the same, which keeps nothing from one packet to the next.
fn do_the_same(one: &Sorter<'_>, other: &Sorter<'_>) -> bool {
    let class = |it: &Sorter<'_>| it.target.map(|target| target.0);
    let keeps = |it: &Sorter<'_>| it.actions.iter().any(|it| matches!(it.act, Act::Police(..) | Act::Tag(..)));
    class(one) == class(other) && !keeps(one) && !keeps(other) && then(&one.actions) == then(&other.actions)
}

fn does(it: &Action<'_>) -> bool {
    !matches!(it.act, Act::Nothing | Act::Redirect(_)) || it.then == Control::Drop
}

/// Whether another filter is in one table with this one, may take the same packets, and is not asked after it where an action says
/// `continue`.
fn shares_table(it: &Sorter<'_>, list: &[&Sorter<'_>]) -> bool {
    let meets_it = |other: &Sorter<'_>| it.rule.any.iter().any(|one| other.rule.any.iter().any(|two| one.meets(two)));
    let shares = |other: &Sorter<'_>| other.kind == "flower" && other.prio == it.prio && other.place != it.place;
    it.kind == "flower" && list.iter().any(|other| shares(other) && meets_it(other))
}

/// Whether conditioners do the same, one behind the other. A packet may go on to the next filter where no class is chosen.
fn is_plain(actions: &[Action<'_>], may_go_on: bool) -> bool {
    let goes_on = |control: Control| may_go_on && control == Control::Continue;
    let ends = |control: Control| matches!(control, Control::Ok | Control::Pipe | Control::Drop);
    let passes = |control: Control| !matches!(control, Control::Drop | Control::Reclassify | Control::Pipe);
    let tells_apart =
        |it: &Action<'_>| matches!(&it.act, Act::Police(_, _, exceed) if passes(it.then) || passes(*exceed));
    let marks_some = actions.iter().skip_while(|it| !tells_apart(it)).any(|it| matches!(it.act, Act::Tag(..)));
    let one = |it: &Action<'_>| match &it.act {
        Act::Police(_, _, exceed) => {
            [it.then, *exceed].map(|it| ends(it) || goes_on(it)) == [true; 2] || reclassifies(it)
        }
        Act::Goes | Act::Nothing | Act::Mark(_) => ends(it.then) || goes_on(it.then),
        Act::Tag(..) => ends(it.then),
        Act::Redirect(_) | Act::Lost(_) => true,
        Act::Priority(_) => false,
    };
    !marks_some && actions.iter().all(one)
}

/// Whether what exceeds meets the same policer until the kernel drops it.
fn reclassifies(it: &Action<'_>) -> bool {
    matches!(it.act, Act::Police(_, _, Control::Reclassify))
        && matches!(it.then, Control::Ok | Control::Pipe | Control::Drop)
}
