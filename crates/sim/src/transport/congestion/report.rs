//! The report given to a law that sets the window itself or paces.
//!
//! Source: draft-ietf-ccwg-bbr section 4.1 (delivery rate samples), in whole microseconds as Linux has it.

use super::Signal;
use perhop_core::units::Time;

/// What is going on with a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// Nothing unusual.
    #[default]
    Open,
    /// Something is out of order.
    Disorder,
    /// An ECN echo: the window shrinks.
    Reduction,
    /// Fast recovery.
    Recovery,
    /// After a time-out.
    Loss,
}

/// How fast the network has delivered, over the flight of the segment sent last of those that an ACK reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateSample {
    /// Segments delivered since that one was sent.
    pub delivered: u32,
    /// Segments delivered in all when it was sent.
    pub prior_delivered: u64,
    /// The longer of the time that sending them took and that in which their ACKs came, us; 0 if shorter than any round
    /// trip: not to be believed.
    pub interval_us: u64,
    /// When it was sent the application, not the network, was what held the sender back.
    pub app_limited: bool,
    /// Segments in flight once it had been sent.
    pub in_flight_then: u32,
    /// Segments taken as lost since.
    pub lost: u32,
}

/// A segment that is taken as lost, for laws that look at each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LostSegment {
    /// Its number.
    pub number: u32,
    /// Segments in flight once it had been sent.
    pub in_flight_then: u32,
    /// Segments taken as lost since it was sent, itself included.
    pub lost: u32,
    /// When it was sent the application was what held the sender back.
    pub app_limited: bool,
}

/// Segments in the network.
#[derive(Clone, Copy, Debug, Default)]
pub struct InFlight {
    /// Now.
    pub now: u32,
    /// Before this ACK.
    pub before: u32,
}

/// A sender as it is after an ACK, or when an [`Event`] happens. Counts are of segments.
#[derive(Clone, Copy, Debug, Default)]
pub struct Report {
    /// As for every law; `acked` counts what is newly acknowledged or sacked.
    pub signal: Signal,
    /// What is going on.
    pub state: State,
    /// Newly taken as lost; a repeat that is lost counts again.
    pub lost: u32,
    /// Delivered since the beginning, the SYN included.
    pub delivered: u64,
    /// When the last of these was reported, or the first one since nothing was outstanding was sent.
    pub delivered_at: Time,
    /// Taken as lost since the beginning.
    pub lost_in_all: u64,
    /// In the network.
    pub in_flight: InFlight,
    /// Pacing lets nothing go before.
    pub next_send: Time,
    /// `None`: the ACK reports nothing new.
    pub rate: Option<RateSample>,
    /// The window was used up in the last round trip.
    pub window_limited: bool,
    /// The receiver may have kept this ACK back.
    pub maybe_delayed: bool,
    /// Data bytes of a full segment.
    pub mss: u16,
}

/// What else happens to a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The connection is open; or nothing is waited for, and it may send.
    Open,
    /// A segment is about to be sent with nothing in the network, after the application has held the sender back.
    Restart,
    /// The retransmission timer has expired; all that is outstanding is taken as lost.
    TimeOut,
    /// What was taken as lost was not.
    Undo,
}
