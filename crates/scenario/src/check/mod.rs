//! Checks that need more than one section. They read the model and write problems.

/// ACK filters that no ACK reaches.
pub mod ack_filter;
/// Settings that run, but probably not as intended.
pub mod advice;
/// Policers whose buckets hold TCP below its contract.
pub mod bursts;
/// Senders that ask for ECN, and the queues that they meet.
pub mod ecn;
/// Full links that count other bytes than meters do.
pub mod framing;
/// Conditioners that take nothing.
pub mod idle;
/// Who writes labels and who reads them.
pub mod labels;
/// The load of a queue.
pub mod load;
/// Targets and bursts that do not fit a rate.
pub mod pace;
pub mod paced;
/// Queues with their AQMs and schedulers.
pub mod queues;
/// Profiles, classes and code points that no packet reaches.
pub mod reached;
/// Memory that a run will take.
pub mod memory;
/// Packets that links cannot carry.
pub mod mtu;
/// Names in sections that have another error.
pub mod names;
/// Traffic that sends nothing, or waits in its own host.
pub mod sends;
/// `[scenario]`.
pub mod settings;
/// Queues that will swing.
pub mod stability;
/// Priority classes that can starve others.
pub mod starving;
/// Phases of round trips that decide what a drop-tail drops.
pub mod phases;
/// Where tickets go, and whether tags can hold them.
pub mod tickets;
/// TCP whose stack no file names.
pub mod unnamed;
