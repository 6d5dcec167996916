//! The schedulers: against their definitions, their laws, and every one of the list under random operations.

mod contract;
mod drr;
mod ets;
mod line;
mod linux_rounds;
mod settings;
mod wrr;
