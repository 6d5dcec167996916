//! What there is, and what it costs: `list`, `bench`.

use clap::Args;

/// `bench`
#[derive(Args, Debug)]
pub struct Bench {
    /// As JSON
    #[arg(long)]
    pub json: bool,
    /// Simulated seconds of the engine's workload
    #[arg(long, default_value_t = 60)]
    pub seconds: u64,
}

/// `list`
#[derive(Args, Debug)]
pub struct List {
    /// conditioners, aqms, traffic, tcp, studies, units, diagnostics; or a name, for its page
    pub what: Option<String>,
}
