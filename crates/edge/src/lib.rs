//! An edge for packets that exist: bytes and their time go in, a verdict and bytes come out.
//!
//! A [`Host`] sends packets of both directions through the conditioners of perhop-core, and through a queue on a line if
//! there is one. It is given one packet after the other:
//!
//! 1. [`locate`] finds the IP header in the bytes ([`headers`]); what has none passes unchanged.
//! 2. [`Host::arrive`] numbers its flow ([`flows`]), forgets flows that are silent for too long, reads its label, watches
//!    handshakes ([`handshake`]), announces flows to the conditioners, and says what becomes of it.
//! 3. [`Host::rewrite`] writes its new code point, mark and label into the bytes, when it leaves ([`rewrite`]).
//!
//! Where packets come from and go to is not known here: captures are one driver, a list of buffers is another
//! (`examples/forwarder.rs`). Whoever counts is an [`Observer`]: [`RoundTrips`] measures TCP, drivers have their own.
//!
//! Decision: docs/decisions/030-the-edge-knows-no-capture.md
#![forbid(unsafe_code)]

pub mod flows;
pub mod handshake;
pub mod headers;
pub mod rewrite;
pub mod round_trips;

mod arriving;
mod chain;
mod clock;
mod connections;
mod host;
mod idle;
mod keys;
mod labels;
mod lengths;
mod link;
mod observer;
mod options;
mod policy;
mod reload;
mod shared;
mod steps;
mod unread;
mod view;

pub use arriving::{Arriving, Direction};
pub use clock::{Clock, Moment};
pub use flows::{FlowKey, FlowTable};
pub use handshake::Handshakes;
pub use headers::{Fragment, IpHeaders, Ports, TcpView, locate};
pub use host::Host;
pub use labels::{LabelCounts, Labels};
pub use lengths::Lengths;
pub use link::LinkType;
pub use observer::{Observer, Passed, Taken};
pub use policy::{Behind, Policy, PolicyError};
pub use rewrite::{DscpOutOfRange, FlowLabelError, set_ce, set_dscp, set_flow_label};
pub use round_trips::RoundTrips;
pub use shared::Shared;
pub use steps::Steps;
pub use unread::Unread;
pub use view::{TCP_FLAGS, view};
