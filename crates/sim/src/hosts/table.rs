//! What the flows of a `[traffic]` table have in common.

use crate::net::{Net, Way};
use crate::plan::{Offered, Protocols};
use crate::record::Retired;
use crate::traffic::{Carrier, TrafficModel as _};
use crate::transport::datagram::Protocol;
use crate::transport::{self, Bursts};
use perhop_core::units::Time;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A `[traffic]` table as hosts keep it.
#[derive(Clone, Debug)]
pub(super) struct Table {
    /// From each of its senders, then back to each of them.
    pub(super) ways: Vec<Way>,
    /// Flows of finished transfers, by way, to be used again.
    pub(super) idle: BTreeMap<u32, Vec<u32>>,
    /// What carries its sources.
    pub(super) carrier: Carrier,
    /// When its sources stop.
    pub(super) stop: Time,
    /// Parameters of its connections; tables that state the same share them.
    pub(super) tcp: Arc<transport::Config>,
    /// What carries them instead of TCP.
    pub(super) protocol: Option<Arc<dyn Protocol>>,
    /// Whether the port of a sender takes a burst for one packet.
    pub(super) keeps_bursts: bool,
    /// Transfers begun and not complete.
    pub(super) open: u32,
    /// What the connections of finished transfers did.
    pub(super) retired: Retired,
}

impl Table {
    /// The table of the connections `tcp` for `offered`, with the ways of its senders.
    pub(super) fn new(
        offered: &Offered,
        tcp: Arc<transport::Config>,
        mut ways: Vec<Way>,
        protocols: Protocols<'_>,
    ) -> Self {
        let senders = ways.len();
        ways.reserve_exact(senders);
        (0..senders).for_each(|way| ways.push(ways[way].reversed()));
        let (carrier, protocol) = (offered.model.carrier(), protocols(offered));
        let stop = offered.stop.unwrap_or(Time::MAX);
        let (keeps_bursts, open, retired) = (false, 0, Retired::default());
        Self { ways, idle: BTreeMap::new(), carrier, stop, tcp, protocol, keeps_bursts, open, retired }
    }

    /// Has the ports of its senders, and of those who ask them, tell when they send what is theirs, and keep its bursts.
    pub(super) fn watch(&mut self, offered: &Offered, net: &mut Net) {
        if self.protocol.is_some() {
            return;
        }
        let ways = if self.carrier == Carrier::Responses { self.ways.len() } else { self.senders() };
        let starts = || self.ways[..ways].iter().map(|way| way.routes[0]);
        let datagrams = self.carrier == Carrier::Datagrams;
        let bursts = if datagrams { offered.sockets.gso > 1 } else { self.tcp.reaction.bursts != Bursts::NONE };
        let keeps_bursts = bursts && starts().any(|start| net.keeps_bursts(start));
        if keeps_bursts || self.tcp.reaction.small_queues {
            net.tell_hosts(starts());
        }
        self.keeps_bursts = keeps_bursts;
    }

    /// Nodes that send.
    pub(super) fn senders(&self) -> usize {
        self.ways.len() / 2
    }

    /// Whether a way leads to one of the senders: only requests go there.
    pub(super) fn is_request(&self, way: u32) -> bool {
        way as usize >= self.senders()
    }
}
