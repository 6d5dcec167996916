//! The TCP of perhop-sim against ns-2, against slow versions of itself, and against closed forms.

mod accurate;
mod ack_delay;
mod bbr;
mod bbr3;
mod cubic;
mod dctcp;
mod ecn;
mod invariants;
mod loss_law;
mod ns2;
mod path;
mod periodic;
pub(crate) mod pipe;
mod prague;
mod receiver;
pub(crate) mod reference;
mod reordering;
mod rto;
mod sack;
mod scripted;
mod stamps;
mod today;
mod windows;
