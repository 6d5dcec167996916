//! The algorithms and the port, as their users see them: beside slow versions, by their laws, beside ns-2 and the Linux kernel.

mod aqm;
mod common;
mod conditioners;
mod cover;
mod ef_bound;
mod formulas;
mod heads;
mod oracle;
mod port;
mod sched;
