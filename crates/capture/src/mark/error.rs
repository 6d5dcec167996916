//! Why a capture could not be marked.

use perhop_core::fault::Fault;
use perhop_core::units::counted;
use perhop_edge::PolicyError;
use serde::Serialize;
use thiserror::Error;

use crate::error::CaptureError;

/// Why a capture could not be marked. Nothing was written.
#[derive(Debug, Error)]
pub enum MarkError {
    /// Of reading or writing.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// Of the policy; a checked one has none.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// An algorithm could not go on.
    #[error("{0}")]
    Algorithm(Fault),
    /// No packet with an IP header that can be read.
    #[error("no IP packet in the capture ({}{}): there is nothing to meter; check what was captured", counted(.packets, ["packet", "packets"]), list(.reasons))]
    NoIp {
        /// Packets of the capture.
        packets: u64,
        /// Why they could not be read.
        reasons: Vec<Unchanged>,
    },
    /// Only round-trip times were asked for, and nothing has any.
    #[error(
        "no TCP segment among the capture's {packets} IP packets: round-trip times and windows are measured for TCP, \
         from data and its ACKs; capture TCP in both directions, or give a policy"
    )]
    NoTcp {
        /// IP packets of the capture.
        packets: u64,
    },
    /// All IP packets are in Simple Packet Blocks.
    #[error(
        "none of the capture's {packets} IP packets has a timestamp (Simple Packet Blocks): meters need the time; capture with a tool that writes it, such as tcpdump or dumpcap"
    )]
    NoTime {
        /// IP packets of the capture.
        packets: u64,
    },
}

fn list(reasons: &[Unchanged]) -> String {
    reasons.iter().map(|it| format!("; {}: {}", it.reason, it.packets)).collect()
}

/// Packets that passed unchanged because they could not be metered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unchanged {
    /// Why.
    pub reason: String,
    /// How many.
    pub packets: u64,
}
