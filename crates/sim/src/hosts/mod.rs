//! Hosts: what sends into the network and what receives from it.

/// Sources, flows and tables at time zero.
mod build;
/// TCP connections and what they carry.
mod connection;
/// Proof that no packet was lost unseen.
mod conservation;
/// Flows and their packets.
mod flow;
/// What arrives at hosts, what they send, timers.
mod packets;
/// Connections of transports over datagrams.
mod peers;
/// What flows counted.
mod report;
/// Delays that users experience, per session.
mod session;
/// Traffic sources.
mod source;
/// What flows have in common.
mod table;
/// Transfers and the places of their connections.
mod transfers;

use flow::Flow;
use peers::{Pairs, Payloads};
use source::Source;
use table::Table;

pub use connection::{End, Opening};
pub use packets::{Due, Supplied};
pub use report::HostTotals;
pub use source::{TransferStart, Woken};
pub use transfers::Completed;

/// The hosts: sources, flows, and the transfers that come and go.
#[derive(Debug)]
pub struct Hosts {
    sources: Vec<Source>,
    /// One entry a flow.
    flows: Vec<Flow>,
    /// Connections over datagrams.
    pairs: Pairs,
    /// What their datagrams say.
    payloads: Payloads,
    /// One entry a `[traffic]` table.
    tables: Vec<Table>,
    /// Flows of finished transfers whose last packets are still in flight.
    ending: Vec<u32>,
    /// Transfers that keys had no room for.
    refused: u64,
    /// Bytes that meters and queues count beyond the IP length of a packet.
    overhead: u32,
}

impl Hosts {
    /// The same again; the first `[traffic]` table instead whose transport cannot be copied.
    ///
    /// # Errors
    /// Its index.
    pub fn copy(&self) -> Result<Self, usize> {
        let Self { sources, flows, pairs: _, payloads, tables, ending, refused, overhead } = self;
        if let Some(table) = tables.iter().position(|table| table.protocol.is_some()) {
            return Err(table);
        }
        Ok(Self {
            sources: sources.clone(),
            flows: flows.clone(),
            pairs: Pairs::default(),
            payloads: payloads.clone(),
            tables: tables.clone(),
            ending: ending.clone(),
            refused: *refused,
            overhead: *overhead,
        })
    }

    /// The `[traffic]` table of a flow.
    pub fn table_of(&self, flow: usize) -> u32 {
        self.flows[flow].table
    }
}

/// Bytes of a flow with its own source and table.
#[cfg(test)]
pub fn bytes_of_flow() -> usize {
    size_of::<Flow>() + size_of::<Source>() + size_of::<Table>()
}
