//! What a sender knows, by concern.

use super::Burst;
use crate::transport::congestion::State;
use crate::transport::modern::host_queue::HostQueue;
use crate::transport::modern::pace::Pace;
use crate::transport::modern::rate::{Newest, Rate};
use crate::transport::modern::send_buffer::SendBuffer;
use crate::transport::{Counters, Decoder};
use perhop_core::units::{Span, Time};

/// What the timer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timer {
    Off,
    Retransmission,
    Probe,
    Reordering,
}

/// The window's way down (RFC 9937), in segments.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reduction {
    /// RecoverFS.
    pub(super) from: u32,
    pub(super) delivered: u32,
    pub(super) out: u32,
}

/// To go back to if the loss was none.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Undo {
    /// SND.UNA when the episode began; 0: nothing to undo.
    pub(super) marker: u32,
    /// Repeats that no D-SACK has called needless yet; `None`: there was none.
    pub(super) repeats: Option<u32>,
    /// When the first of them was sent.
    pub(super) first_repeat: Option<Time>,
    /// The time stamp that the ACK before echoed, if any.
    pub(super) echo: u32,
    pub(super) cwnd: f64,
    pub(super) ssthresh: f64,
}

/// What an ACK has said.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct News {
    pub(super) acked: u32,
    /// Segments delivered, cumulatively or not, a needless repeat included.
    pub(super) sacked: u32,
    /// Of these, marked on their way.
    pub(super) marked: u32,
    /// Of a segment sent once: the round trip of the first, that of the last.
    pub(super) rtt: Option<(Span, Span)>,
    /// A segment sent once and before the time-out has arrived.
    pub(super) original: bool,
    /// The lowest number that arrived behind a later one.
    pub(super) behind: Option<u32>,
    pub(super) newest: Option<Newest>,
    /// A block has reported something new.
    pub(super) selective: bool,
    /// A segment that was sent again has arrived twice; it was a probe.
    pub(super) dsack: bool,
    pub(super) dsack_of_probe: bool,
    pub(super) echo: bool,
}

/// What an ACK finds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Before {
    pub(super) in_flight: u32,
    /// Taken as lost since the beginning.
    pub(super) losses: u64,
}

/// The data to be sent, and how much of it at once.
#[derive(Clone, Debug)]
pub(super) struct Data {
    pub(super) end: u32,
    pub(super) short: u32,
    pub(super) short_payload: u16,
    pub(super) offered: bool,
    pub(super) mss: u16,
    /// Every so many segments one asks for its ACK.
    pub(super) push: u32,
    pub(super) started: bool,
    pub(super) advertised: u32,
    /// One past the last number that the receiver has said to have room for.
    pub(super) edge: Option<u32>,
    /// What an application has written that is to stop.
    pub(super) buffer: Option<SendBuffer>,
    pub(super) initial_window: u32,
}

/// Explicit congestion notification.
#[derive(Clone, Debug)]
pub(super) struct Ecn {
    pub(super) willing: bool,
    pub(super) agreed: bool,
    /// The law wants all that it sends to be ECN-capable, repeats and the SYN too.
    pub(super) always: bool,
    /// The next new segment carries CWR.
    pub(super) cwr: bool,
    /// The receiver counts its marks; before the connection is open: it is asked to.
    pub(super) accurate: Option<Decoder>,
}

/// What is going on, and what was before.
#[derive(Clone, Debug)]
pub(super) struct Episode {
    pub(super) state: State,
    /// One past the highest number sent when the state was entered.
    pub(super) high: u32,
    pub(super) reduction: Reduction,
    pub(super) undo: Undo,
    /// Time-outs since SND.UNA advanced.
    pub(super) in_a_row: u32,
    /// F-RTO is at work.
    pub(super) frto: bool,
    /// New segments go before lost ones, until the next ACK.
    pub(super) new_first: bool,
    /// The SYN had to be repeated.
    pub(super) opened_late: bool,
}

/// The one timer.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    pub(super) timer: Timer,
    pub(super) deadline: Time,
    /// When the last segment was sent.
    pub(super) last_sent: Time,
}

/// Whether the window is what holds the sender back.
#[derive(Clone, Debug, Default)]
pub(super) struct Usage {
    pub(super) limited: bool,
    pub(super) most_out: u32,
    pub(super) usage_until: u32,
    pub(super) sent_since: bool,
}

/// Tail loss probe.
#[derive(Clone, Debug, Default)]
pub(super) struct Tail {
    /// A probe is out: SND.NXT when it was sent.
    pub(super) probe: Option<u32>,
    pub(super) probe_repeats: bool,
    pub(super) probe_due: bool,
    /// D-SACKs so far.
    pub(super) dsacks: u64,
}

/// What the law lives by besides the window.
#[derive(Clone, Debug, Default)]
pub(super) struct Flow {
    pub(super) rate: Rate,
    pub(super) pace: Pace,
    pub(super) queue: HostQueue,
    pub(super) burst: Burst,
    pub(super) counters: Counters,
    /// The SYN-ACK is not answered yet.
    pub(super) answers: bool,
}
