//! What a scheduler states for all its children together: their total rate, the bytes that its rates count, the total
//! limit.

use super::flows::Hash;
use super::hfsc::Promise;
use super::{Entry, Layout, SchedulerParams};
use crate::framing::Framing;
use crate::port::Limit;
use crate::units::{BitRate, Bytes};

impl SchedulerParams {
    /// The rate of its own that all children together keep.
    pub fn rate(&self) -> Option<BitRate> {
        if let Self::Cake(cake) = self { cake.rate } else { None }
    }

    /// Which bytes its rates count.
    pub fn framing(&self) -> Framing {
        match self {
            Self::Htb(htb) => htb.framing,
            Self::Cake(cake) => cake.framing,
            _ => Framing::default(),
        }
    }

    /// How its classes are listed; `None` if its children are no classes.
    pub fn layout(&self) -> Option<&Layout> {
        Some(match self {
            Self::Htb(it) => it.classes.layout(),
            Self::Drr(it) => it.classes.layout(),
            Self::Wrr(it) => it.classes.layout(),
            Self::Ets(it) => it.classes.layout(),
            Self::StrictPriority(it) => it.classes.layout(),
            Self::Hfsc(it) => it.classes.layout(),
            _ => return None,
        })
    }

    /// Names its templates that have no name.
    pub fn name_templates(&mut self, name: &str) {
        let layout = match self {
            Self::Htb(it) => it.classes.layout_mut(),
            Self::Drr(it) => it.classes.layout_mut(),
            Self::Wrr(it) => it.classes.layout_mut(),
            Self::Ets(it) => it.classes.layout_mut(),
            Self::StrictPriority(it) => it.classes.layout_mut(),
            Self::Hfsc(it) => it.classes.layout_mut(),
            _ => return,
        };
        for entry in &mut layout.entries {
            if let Entry::Template(template) = entry {
                template.name.get_or_insert_with(|| name.to_owned());
            }
        }
    }

    /// The queues that flows are mapped to, in each tin of CAKE, and how; `None` where its children are classes.
    pub fn hashed(&self) -> Option<(u32, Hash)> {
        match self {
            Self::FqCodel(it) => Some((it.flows, it.hashing.hash)),
            Self::Sfq(it) => Some((it.flows, it.hashing.hash)),
            Self::Cake(it) => Some((it.flows, it.hashing.hash)),
            _ => None,
        }
    }

    /// What happens to packets that no class names, where they have a separate child, after those of the classes.
    pub fn others(&self) -> Option<&'static str> {
        match self {
            Self::Htb(htb) => htb.is_direct().then_some("unshaped"),
            Self::Hfsc(hfsc) => hfsc.drops_unclassified().then_some("dropped"),
            _ => None,
        }
    }

    /// What is promised to a packet of `size` in a child; `None` where nothing is.
    pub fn promise(&self, child: usize, size: Bytes) -> Option<Promise> {
        if let Self::Hfsc(hfsc) = self { hfsc.promise(child, size) } else { None }
    }

    /// How many queues it has, and whom it paces: what `explain` says of a scheduler over flows besides its room.
    pub fn remark(&self) -> String {
        match self {
            Self::Fq(it) => {
                let who = if it.pacing { ", paces its host's senders" } else { ", paces no sender" };
                let most = it.maxrate.map(|rate| format!(", each flow at most {rate}")).unwrap_or_default();
                format!(", {} queues{who}{most}", it.flows)
            }
            Self::FqPie(it) => format!(", {} queues with PIE, target {}", it.flows, it.target),
            _ => String::new(),
        }
    }

    /// How much may wait in all children together; nothing for one that leaves this to the queues of its classes.
    pub fn room(&self) -> Vec<Limit> {
        let packets = |limit: crate::units::Packets| Limit::Packets(limit.get());
        match self {
            Self::FqCodel(it) => vec![packets(it.limit), Limit::Bytes(it.memory.get())],
            Self::Fq(it) => vec![packets(it.limit)],
            Self::FqPie(it) => vec![packets(it.limit)],
            Self::Sfq(it) => vec![packets(it.limit)],
            Self::DualPi2(it) => vec![packets(it.limit)],
            Self::Cake(it) => vec![Limit::Bytes(it.most())],
            _ => Vec::new(),
        }
    }
}
