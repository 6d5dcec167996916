//! Packets that pass from one link to the next ahead of their time.
//!
//! When a packet reaches the far end of a [plain](Link::is_plain) link is known as soon as it has entered it. If it goes from there into
//! a plain link to which nothing else comes, then what happens to it there is known too: the first link leads, the second
//! follows, and the packet passes with no event between them. Times are what they would have been, and each link sees its
//! packets in the same order. No sample or change may look at the links in the meantime; the engine says until when none does.

use super::{At, HERE, Link, Net, Onward};
use perhop_core::units::Time;
use perhop_core::verdict::Reason;

/// A packet that was dropped ahead of its time at the port of a link that follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Late {
    /// When it comes to that port.
    pub at: Time,
    /// The packet, and the link that follows.
    pub lost: At,
    /// Why it was dropped.
    pub reason: Reason,
}

/// What packets come to a link from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fed {
    Nothing,
    Link(u32),
    /// A host, or several.
    Others,
}

impl Fed {
    fn and(self, by: Self) -> Self {
        if self == Self::Nothing || self == by { by } else { Self::Others }
    }
}

impl Net {
    /// Has links lead where all that pass them go on to links that follow. To be called once all routes are known, and
    /// who looks at which link.
    pub fn find_leaders(&mut self) {
        let follows = self.followers();
        let (mut leads, mut ends) = (vec![false; self.links.len()], vec![false; self.links.len()]);
        for route in self.routes() {
            for pair in route.windows(2) {
                leads[pair[0] as usize] = true;
                ends[pair[0] as usize] |= !follows[pair[1] as usize];
            }
            route.last().into_iter().for_each(|&last| ends[last as usize] = true);
        }
        let leaders = self.links.iter_mut().zip(leads.into_iter().zip(ends));
        leaders.filter(|(link, (leads, ends))| link.is_plain() && *leads && !ends).for_each(|(link, _)| link.lead());
    }

    /// The links whose packets all come from one other link, and where only packets make a difference.
    fn followers(&self) -> Vec<bool> {
        let mut fed = vec![Fed::Nothing; self.links.len()];
        for route in self.routes() {
            let from = [Fed::Others].into_iter().chain(route.iter().map(|&link| Fed::Link(link)));
            from.zip(route).for_each(|(by, &link)| fed[link as usize] = fed[link as usize].and(by));
        }
        let follows =
            |(link, fed): (&Link, Fed)| matches!(fed, Fed::Link(_)) && link.is_plain() && !link.port().has_timers();
        self.links.iter().zip(fed).map(follows).collect()
    }

    /// The links of each route.
    fn routes(&self) -> impl Iterator<Item = &[u32]> {
        self.hops.split(|&hop| hop == HERE)
    }

    /// The first packet on a link that leads goes on to the next link, ahead of its time.
    #[inline(always)]
    pub fn hand_on(&mut self, link: usize) -> At {
        let id = self.deliver_plain(link).0.handle;
        let Onward::Port(link) = self.straight_on(id) else { unreachable!("no route ends behind a link that leads") };
        At { link, id }
    }

    /// Keeps a loss behind a link that leads until its time; whether it is the first that is kept there.
    #[cold]
    pub fn keep_late(&mut self, link: usize, late: Late) -> bool {
        self.links[link].late_mut().push_back(late);
        self.links[link].late_mut().len() == 1
    }

    /// The loss behind a link that leads whose time has come, if that is what comes first, and when the next one comes.
    pub fn take_late(&mut self, link: usize) -> Option<(Late, Option<Time>)> {
        let late = self.links[link].late_mut();
        let first = late.pop_front()?;
        Some((first, late.front().map(|next| next.at)))
    }
}
