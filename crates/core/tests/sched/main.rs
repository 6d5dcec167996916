//! The schedulers: against their definitions, their laws, and every one of the list under random operations.

mod contract;
mod drr;
mod line;
mod settings;
mod wrr;
