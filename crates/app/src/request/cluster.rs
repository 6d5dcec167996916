//! A cluster: what `sweep`, `reproduce` and `map` have in common.

use super::quantity;
use clap::Args;
use perhop_core::units::Span;
use serde::{Deserialize, Serialize};

/// Where replications run: on this machine without an address.
#[derive(Args, Clone, Debug, Serialize, Deserialize)]
#[serde(from = "Option<Scheduler>", into = "Option<Scheduler>")]
pub struct Cluster {
    /// Address of a Dask scheduler, as in tcp://HOST:8786, whose workers run the replications
    #[arg(long, value_name = "ADDRESS")]
    pub cluster: Option<String>,
    /// Duration of one task of the cluster
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = chunk, requires = "cluster")]
    pub chunk: Span,
}

impl Default for Cluster {
    fn default() -> Self {
        Self { cluster: None, chunk: Span::from_s(10) }
    }
}

/// The same as JSON has it.
#[derive(Serialize, Deserialize)]
struct Scheduler {
    address: String,
    chunk_s: f64,
}

impl From<Cluster> for Option<Scheduler> {
    fn from(Cluster { cluster, chunk }: Cluster) -> Self {
        cluster.map(|address| Scheduler { address, chunk_s: chunk.seconds() })
    }
}

impl From<Option<Scheduler>> for Cluster {
    fn from(stated: Option<Scheduler>) -> Self {
        let of = |Scheduler { address, chunk_s }| Self {
            cluster: Some(address),
            chunk: Span::from_ns((chunk_s * 1e9) as u64),
        };
        stated.map_or_else(Self::default, of)
    }
}

fn chunk(text: &str) -> Result<Span, String> {
    match quantity::<Span>(text)? {
        none if none.ns() == 0 => Err("must be longer than 0, e.g. 10s".into()),
        time => Ok(time),
    }
}
