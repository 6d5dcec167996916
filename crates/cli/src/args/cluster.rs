//! A cluster: what `sweep`, `reproduce` and `map` have in common.

use super::quantity;
use clap::Args;
use perhop_core::units::Span;

/// Where replications run.
#[derive(Args, Debug)]
pub struct Cluster {
    /// Address of a Dask scheduler, as in tcp://HOST:8786, whose workers run the replications
    #[arg(long, value_name = "ADDRESS")]
    pub cluster: Option<String>,
    /// Work in one task of the cluster
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = chunk, requires = "cluster")]
    pub chunk: Span,
}

fn chunk(text: &str) -> Result<Span, String> {
    match quantity::<Span>(text)? {
        none if none.ns() == 0 => Err("a task of no work; above 0, as in 10s".into()),
        time => Ok(time),
    }
}
