//! A packet that comes to a host.

use perhop_core::conditioner::Passage;
use perhop_core::packet::FlowId;

use crate::clock::Moment;
use crate::headers::IpHeaders;
use crate::link::LinkType;

/// Which way a packet goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Through the conditioners.
    Forward,
    /// Return traffic: conditioners may look at it, and it passes.
    Reverse,
}

/// A packet that comes to a host.
#[derive(Clone, Copy, Debug)]
pub struct Arriving<'a> {
    /// Its number among all that the driver has, for observers.
    pub number: u64,
    /// When it came.
    pub at: Moment,
    /// Which way it goes.
    pub direction: Direction,
    /// What its bytes begin with.
    pub link: LinkType,
    /// What [`crate::locate`] found in them.
    pub headers: &'a IpHeaders,
}

impl Arriving<'_> {
    /// What conditioners see of it, for a flow of its connection.
    #[inline]
    pub(crate) fn passage(&self, flow: FlowId) -> Passage<'static> {
        let stamps = self.headers.tcp.and_then(|tcp| tcp.timestamps);
        Passage { stamps, ..Passage::of(self.at.now, flow) }
    }
}
