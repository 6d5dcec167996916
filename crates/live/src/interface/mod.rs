//! What is known of an interface before it is opened, and whether a forwarder may have it.

mod facts;
mod holder;
mod ioctl;
mod lock;
mod netmask;
mod offloads;
mod rights;
mod trouble;

pub use facts::{Facts, Layer, names};
pub use lock::Lock;
pub use offloads::{Offload, Offloads};
pub use rights::{NET_ADMIN, NET_RAW, Right, SYS_NICE, keep};
pub use trouble::{Trouble, troubles};
