//! Transports over datagrams that perhop does not have itself: the seam at which a sans-I/O stack is put in.
//!
//! A [`Protocol`] opens connections. Each is a pair of [`Peer`]s, one at the node that sends data and one at the node
//! that receives them. Their host owns time and datagrams: it tells a peer what happened (`handle`, `on_timer`, `close`),
//! after each such call takes datagrams from `poll_transmit` until that returns `None`, and keeps one pending wake-up for
//! `timer_at`. What a datagram says is kept beside the network until its packet arrives or is dropped; the network sees
//! its size, its code point and its ECN field, in either direction.
//!
//! A peer that takes its time from `now` and its randomness from [`Opened::seed`] gives the same results again.
//!
//! Decision: docs/decisions/053-transports-over-datagrams.md

use super::Supply;
use perhop_core::packet::Ecn;
use perhop_core::units::{Span, Time};
use std::fmt;

/// One end of a connection.
pub trait Peer: fmt::Debug + Send {
    /// A datagram has arrived, with the ECN field that its packet had then.
    fn handle(&mut self, now: Time, datagram: &[u8], ecn: Ecn);

    /// Writes the next datagram to be sent now into `out`, which is empty: its ECN field, or `None` if there is none. At most
    /// 65,507 bytes.
    fn poll_transmit(&mut self, now: Time, out: &mut Vec<u8>) -> Option<Ecn>;

    /// When [`Peer::on_timer`] is to be called; a time that has passed means now.
    fn timer_at(&mut self) -> Option<Time>;

    /// The time of [`Peer::timer_at`] has come; it must name a later one, or none, afterwards.
    fn on_timer(&mut self, now: Time);

    /// At the sender: the application has nothing more to send.
    fn close(&mut self, now: Time);

    /// At the receiver: bytes that its application got, in order.
    fn delivered(&self) -> u64;

    /// At the sender: it knows that all it had to send has arrived.
    fn finished(&self) -> bool;

    /// At the sender: what it can say about itself.
    fn known(&self) -> Known {
        Known::default()
    }
}

/// What a sender may know about itself; `None` is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Known {
    /// Cuts of the congestion window since it was opened.
    pub cuts: Option<u64>,
    /// Current congestion window, full datagrams.
    pub window: Option<f64>,
    /// Smoothed round-trip time, once there is one.
    pub srtt: Option<Span>,
}

/// What a connection is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opened {
    /// When.
    pub now: Time,
    /// All its randomness.
    pub seed: u64,
    /// What the sender has to send: without end, or this many bytes.
    pub supply: Supply,
}

/// A way to carry bytes in datagrams.
pub trait Protocol: fmt::Debug + Send + Sync {
    /// A connection's two ends: the sender, the receiver.
    fn open(&self, opened: &Opened) -> [Box<dyn Peer>; 2];
}
