//! TCP connections and what they carry.
//!
//! Decision: docs/decisions/039-hosts-take-time.md

use super::session::Session;
use crate::traffic::Page;
use crate::transport::{Config, Estimate, Receiver, Sender, Supply};
use perhop_core::units::{Span, Time};

/// Which end of a connection a timer or a packet belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The sender: receives ACKs, sends data.
    Sender = 0,
    /// The receiver: receives data, sends ACKs.
    Receiver = 1,
}

/// A TCP connection.
#[derive(Clone, Debug)]
pub struct Connection {
    /// Sends data.
    pub sender: Sender,
    /// Sends ACKs.
    pub receiver: Receiver,
    /// Earliest wake-up that waits for each end; [`Time::MAX`]: none.
    pub armed: [Time; 2],
    /// The sender sends nothing before this time, but for its retransmission timer: until then its host is handling the ACKs
    /// that arrived. `None`: it may send, as far as its law's pacing lets it.
    pub not_before: Option<Time>,
    /// The time stamp of the ACK that arrived last, which segments echo.
    pub stamp: u32,
    /// Data bytes of a full segment.
    pub mss: u16,
    /// Bytes of IP and TCP header.
    pub header: u16,
    /// Whether the port of its sender may take a burst for one packet.
    pub bursts: bool,
    /// All that it carries, until all of it has arrived.
    pub transfer: Option<Transit>,
    /// The session that it carries.
    pub session: Option<Box<Session>>,
}

/// A transfer, or the request for one, in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transit {
    /// Its payload.
    pub bytes: u64,
    /// When it was requested, or when its connection was opened if there was no request.
    pub opened: Time,
    /// When its first data packet arrived.
    pub first: Option<Time>,
    /// The page it is on.
    pub page: Option<Page>,
    /// It is a request, for this many bytes.
    pub asks_for: Option<u64>,
}

/// How a connection is opened.
#[derive(Clone, Copy, Debug)]
pub struct Opening {
    /// What it has to send.
    pub supply: Supply,
    /// The transfer that it carries.
    pub transfer: Option<Transit>,
    /// It is the half that answers a request: the handshake is done, and has measured this.
    pub answers: Option<Estimate>,
}

impl Opening {
    /// For as long as its source.
    pub fn standing(supply: Supply) -> Self {
        Self { supply, transfer: None, answers: None }
    }

    /// For one transfer.
    pub fn transfer(transit: Transit) -> Self {
        Self { supply: Supply::Bytes(transit.bytes), transfer: Some(transit), answers: None }
    }
}

impl Connection {
    /// A connection whose sender may send. `phase` is where the sender's clock is in its tick;
    /// `bursts`: the port of its host may take a burst for one packet.
    pub fn open(mut config: Config, opening: Opening, phase: Span, bursts: bool) -> Self {
        let Opening { supply, transfer, answers } = opening;
        config.syn &= answers.is_none();
        let sender = Sender::new(&config, supply).expect("validated");
        let seed = phase.ns();
        let mut sender = match answers {
            Some(estimate) => sender.with_estimate(estimate),
            None => sender.with_clock_phase(phase),
        }
        .with_seed(seed);
        let mut receiver = Receiver::new(&config).expect("validated");
        if let Some(round_trip) = answers.and_then(|estimate| estimate.srtt()) {
            receiver = receiver.with_round_trip(round_trip);
        }
        sender.start();
        let (mss, header) = (config.mss, config.header);
        Self {
            sender,
            receiver,
            armed: [Time::MAX; 2],
            not_before: None,
            stamp: 0,
            mss,
            header,
            bursts,
            transfer,
            session: None,
        }
    }

    /// Has an event wait for the timer of one end, at its time or before: when, if none does.
    #[inline]
    pub fn arm(&mut self, end: End) -> Option<Time> {
        let at = match end {
            End::Sender => self.sender.timer_at().into_iter().chain(self.not_before).min(),
            End::Receiver => self.receiver.timer_at(),
        };
        let armed = &mut self.armed[end as usize];
        let at = at.filter(|at| at < armed)?;
        *armed = at;
        Some(at)
    }
}
