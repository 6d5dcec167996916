//! One replication of one point, whether it was simulated or read.

use crate::tables::columns::Table;
use crate::tables::ef::EfResult;
use perhop_sim::Outcome;
use std::path::PathBuf;
use std::time::Duration;

/// One replication of one point.
#[derive(Clone, Debug)]
pub struct Replication {
    /// Index of the point.
    pub point: usize,
    /// Its number.
    pub replication: u32,
    /// Its tables.
    pub tables: Vec<Table>,
    /// What was found of the aggregates that were asked for, in their order.
    pub ef: Vec<EfResult>,
    /// Of its tables.
    pub hash: String,
    /// Packets that left a link.
    pub packet_hops: u64,
    /// Wall time.
    pub wall: Duration,
    /// It already existed.
    pub reused: bool,
    /// What existed was damaged, and how; it was made again. Of a directory of several, the first says so.
    pub note: Option<String>,
    /// The directory that it is in, if results are written.
    pub dir: Option<PathBuf>,
    /// The outcome itself if taps were requested.
    pub captured: Option<Box<Outcome>>,
}
