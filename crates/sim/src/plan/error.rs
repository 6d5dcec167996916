//! Why a plan cannot be run.

use perhop_core::params::ParamError;

/// Why a plan cannot be run. A validated scenario gives none of these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanError {
    /// No route from one node to another.
    Unreachable {
        /// The `[traffic]` table.
        traffic: String,
        /// Where it ends.
        node: String,
    },
    /// A parameter that its algorithm refuses: its table, and what is wrong.
    Param(String, Box<ParamError>),
    /// A TCP parameter out of its bounds, or more components than keys can name.
    Other(String),
}

impl std::fmt::Display for PlanError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unreachable { traffic, node } => write!(f, "traffic `{traffic}` has no route to `{node}`"),
            Self::Param(table, error) => write!(f, "{table}: {error}"),
            Self::Other(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for PlanError {}
