//! A cluster: what `sweep`, `reproduce` and `map` have in common.

use super::quantity;
use clap::Args;
use perhop_core::units::Span;
use serde::{Serialize, Serializer};
use serde_json::json;

/// Where replications run.
#[derive(Args, Debug)]
pub struct Cluster {
    /// Address of a Dask scheduler, as in tcp://HOST:8786, whose workers run the replications
    #[arg(long, value_name = "ADDRESS")]
    pub cluster: Option<String>,
    /// Duration of one task of the cluster
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = chunk, requires = "cluster")]
    pub chunk: Span,
}

/// `null` for this machine alone.
impl Serialize for Cluster {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let chunk_s = self.chunk.seconds();
        self.cluster.as_ref().map(|address| json!({ "address": address, "chunk_s": chunk_s })).serialize(serializer)
    }
}

fn chunk(text: &str) -> Result<Span, String> {
    match quantity::<Span>(text)? {
        none if none.ns() == 0 => Err("must be longer than 0, e.g. 10s".into()),
        time => Ok(time),
    }
}
