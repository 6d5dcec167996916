//! Traffic: what is offered, and when.
//!
//! The engine wakes a traffic source, which says what it offers now and when to wake it again. It knows neither
//! packets nor windows: datagrams go straight into the network, transfers and bytes go through TCP or another
//! transport.
//!
//! To add one: write its file, add its line to the list below. Its parameters implement [`TrafficModel`], which
//! answers all questions about the model before it runs.

use perhop_core::dscp::Dscp;
use perhop_core::packet::Ecn;
use perhop_core::params::ParamError;
use perhop_core::registry::forward;
use perhop_core::rng::Rng;
use perhop_core::units::{BitRate, Bytes, Span, Time};
use std::collections::BTreeSet;

perhop_core::algorithms! {
    $ "traffic model", Traffic over TrafficScope => AnyTraffic, TrafficParams, dispatch;

    /// Bulk transfer over TCP: there is always more to send.
    "ftp" => ftp::{Params, Ftp},
    /// Constant bit rate over UDP, with jitter.
    "cbr" => cbr::{Params, Cbr},
    /// Poisson arrivals of packets over UDP.
    "poisson" => poisson::{Params, Poisson},
    /// Constant bit rate while on, silence while off, over UDP.
    "on-off" => on_off::{Params, OnOff},
    /// Transfers of a fixed size over TCP, arriving at random ("mice").
    "transfers" => transfers::{Params, Transfers},
    /// TCP whose application produces data at a constant rate.
    "app-limited" => app_limited::{Params, AppLimited},
    /// A Telnet session over TCP, with the gaps of a typing user.
    "telnet" => telnet::{Params, Telnet},
    /// HTTP/1.0 users: sessions of pages, pages of objects, and a TCP connection for each object.
    "web" => web::{Params, Web},
    /// Replays the packets of a capture with their times and sizes, over UDP.
    "capture" => capture::{Params, Capture},
    /// A bulk transfer or request and response over QUIC, by the quinn implementation.
    "quic" => quic::{Params, Quic},
}

/// Diagnostic codes and their pages.
pub mod codes;
pub mod law;

/// Largest packet (IP length) that a source may make.
pub const LARGEST_PACKET: Bytes = Bytes::new(65_535);

/// Bytes of IP and UDP header before a datagram.
pub const UDP_HEADERS: u32 = 28;

/// What a source knows about its surroundings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrafficScope {
    /// Largest packet (IP length) a source may make.
    pub largest: Bytes,
    /// Payload of a full segment of its connection.
    pub segment: Bytes,
    /// Nodes that send.
    pub senders: u32,
    /// Number of the source within its table, from 0.
    pub source: u32,
    /// Sources of its table; 0 counts as one.
    pub sources: u32,
}

/// What goes through TCP, and what straight into the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// One connection for the whole run.
    Connection,
    /// A connection for each transfer.
    Transfers,
    /// A connection for each object, which the receiver requests from one of several senders.
    Responses,
    /// No transport: datagrams.
    Datagrams,
}

/// What packets go by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Transport<'a> {
    /// TCP.
    Tcp,
    /// UDP, and nothing comes back.
    Udp,
    /// QUIC with these parameters.
    Quic(&'a quic::Params),
}

impl Transport<'_> {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tcp => "TCP",
            Self::Udp => "UDP",
            Self::Quic(_) => "QUIC",
        }
    }
}

impl Carrier {
    /// Whether its flows last as long as their sources.
    pub const fn is_standing(self) -> bool {
        matches!(self, Self::Connection | Self::Datagrams)
    }
}

/// What is offered now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// Nothing.
    Nothing,
    /// One datagram of this many bytes (IP length).
    Datagram(u32),
    /// One datagram with its own code point and ECN field.
    Replayed {
        /// IP length, bytes.
        wire: u32,
        /// Its code point.
        dscp: Dscp,
        /// Its ECN field.
        ecn: Ecn,
    },
    /// Opens the connection with unlimited data.
    Endless,
    /// This many more full segments for the long-lived connection.
    Segments(u32),
    /// One more full segment for the session on the long-lived connection, which ends with its last one.
    Write {
        /// Nothing comes after it.
        last: bool,
    },
    /// Opens a separate connection for this many bytes.
    Transfer(u64),
    /// Opens a separate connection and requests an object over it.
    Request(Request),
}

/// A request for an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Which of the table's senders is asked.
    pub server: u32,
    /// Bytes of the request.
    pub bytes: u64,
    /// Bytes of the object.
    pub object: u64,
    /// Where the object belongs.
    pub page: Page,
}

/// Where an object belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// Number of the user's session, from 0.
    pub session: u32,
    /// Number of the user's page, from 0, over all sessions.
    pub page: u32,
    /// Objects on the page.
    pub objects: u32,
}

/// What is offered, and when to wake the source again (`None`: only by `on_complete`, or never).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// What is offered now.
    pub offer: Offer,
    /// When to wake it again; later than now.
    pub next: Option<Time>,
}

/// A model before it runs: what checks, `explain` and translations ask of it.
#[forward(TrafficParams: dispatch)]
pub trait TrafficModel {
    /// What carries it.
    fn carrier(&self) -> Carrier;

    /// What its packets go by.
    fn transport(&self) -> Transport<'_> {
        if self.carrier() == Carrier::Datagrams { Transport::Udp } else { Transport::Tcp }
    }

    /// Whether each source always has more to send, as fast as its transport lets it.
    fn is_endless(&self) -> bool;

    /// Whether TCP carries it without end.
    fn is_bulk_tcp(&self) -> bool {
        self.is_endless() && self.transport() == Transport::Tcp
    }

    /// Mean rate of a source's packets if nothing ever waits, bit/s; `None` if the parameters alone do not say it, see
    /// [`Traffic::load`].
    fn rate(&self) -> Option<f64>;

    /// The mean time until a source first sends, and the key that sets it; `None`: it begins without a pause, or none that
    /// matters.
    fn first_pause(&self) -> Option<(&'static str, Span)> {
        None
    }

    /// IP length of the largest packet it makes itself; `None` where TCP makes them.
    fn largest_datagram(&self) -> Option<Bytes> {
        None
    }

    /// Within what time its sources begin, where a scenario does not say.
    fn spread(&self) -> Span {
        Span::from_s(1)
    }

    /// The capture that its packets come from, which the host reads.
    fn replayed(&mut self) -> Option<&mut capture::Params> {
        None
    }

    /// The code points of its packets, if it sets them; `None`: the `dscp` of the traffic.
    fn code_points(&self) -> Option<BTreeSet<Dscp>> {
        None
    }

    /// What `explain` says of it besides.
    fn remark(&self) -> Option<String> {
        None
    }
}

/// One source of traffic.
#[forward(AnyTraffic: dispatch, Params = TrafficParams)]
pub trait Traffic {
    /// Its parameters.
    type Params;

    /// Mean rate of a user's payload if nothing ever waits, bit/s; `None` if unknown.
    fn load(&self) -> Option<f64> {
        None
    }

    /// Mean number of transfers of a source within `time`, if nothing ever waits and none takes less than `trip`; `None` if
    /// it has none, or no mean.
    fn transfers(&self, _time: Span, _trip: Span) -> Option<f64> {
        None
    }

    /// Parameters that run, but probably not as intended.
    fn warnings(&self) -> Vec<ParamError> {
        Vec::new()
    }

    /// When to wake it first, at or after `start`.
    fn first(&mut self, start: Time, _rng: &mut Rng) -> Time {
        start
    }

    /// It is woken.
    fn wake(&mut self, now: Time, rng: &mut Rng) -> Step;

    /// One of its transfers is complete; when to wake it.
    fn on_complete(&mut self, _now: Time, _rng: &mut Rng) -> Option<Time> {
        None
    }

    /// Takes new parameters at `now`.
    ///
    /// # Errors
    /// The offending parameter.
    fn retune(&mut self, now: Time, params: &Self::Params, scope: &TrafficScope) -> Result<(), ParamError>;
}

/// A gap of packets of `size` bytes at `rate` bit/s, in ns, before any draw.
fn mean_gap_ns(size: Bytes, rate: BitRate) -> f64 {
    size.get() as f64 * 8e9 / rate.bit_s() as f64
}

/// A gap drawn as a real number of ns, kept as whole ns with the remainder carried to the next.
#[derive(Clone, Copy, Debug, Default)]
struct Carry(f64);

impl Carry {
    /// The next instant after `now`, at least 1 ns later.
    fn after(&mut self, now: Time, gap_ns: f64) -> Time {
        let exact = gap_ns + self.0;
        let whole = exact.max(1.0) as u64;
        self.0 = exact - whole as f64;
        Time::from_ns(now.ns().saturating_add(whole))
    }
}
