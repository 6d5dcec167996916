//! The sending half of a connection as hosts of today have it: SACK, RACK-TLP, PRR, F-RTO.
//!
//! Source: RFC 6675 (SACK), RFC 8985 (RACK-TLP), RFC 9937 (PRR), RFC 5682 (F-RTO); where they leave a
//! choice, Linux 6.12.
//!
//! - A segment is lost when RACK says so, or at a time-out; what is lost goes first.
//! - **PRR**: in recovery the window follows what is delivered, down to the threshold that the law has set.
//! - **TLP**: two round trips after the last transmission, with nothing heard, a new segment or the last one is sent.
//! - **F-RTO**: after a time-out new segments are sent first; if those before it turn out to have arrived, it was spurious.
//! - The window grows only while it is what holds the sender back (as RFC 7661 wants it), by what is acknowledged; once segments were
//!   more than DupThresh out of order, by what is sacked too.
//! - After an idle time-out the window is halved for each further one, down to the initial window.
//!
//! | state       | meaning                                                          | Linux         |
//! |-------------|------------------------------------------------------------------|---------------|
//! | `Open`      | nothing unusual                                                  | `TCP_CA_Open` |
//! | `Disorder`  | something is out of order                                        | `TCP_CA_Disorder` |
//! | `Reduction` | an ECN echo: the window shrinks                                  | `TCP_CA_CWR`  |
//! | `Recovery`  | fast recovery                                                    | `TCP_CA_Recovery` |
//! | `Loss`      | after a time-out                                                 | `TCP_CA_Loss` |
//!
//! Departures from the texts, all of them Linux's, each shown by a switch of the slow version in `tests/all/transport/today/`:
//!
//! | text                  | here                                                                          |
//! |-----------------------|-------------------------------------------------------------------------------|
//! | RFC 6675 SetPipe()    | the repeat that is a probe is not counted; NextSeg() has rules (1) and (2)    |
//! | RFC 8985 section 6.2  | a round with a D-SACK ends with the delivery of what was sent after it        |
//! |                       | a D-SACK counts if the path reorders, for no more segments than were sent again, and not for a probe |
//! |                       | an undone recovery does not count towards the window's reset                   |
//! |                       | losses are looked for when an ACK tells of a delivery; timers are 2 ms longer  |
//! |                       | what was lost and is found not to be is looked at again once it has been sent again |
//! |                       | the time stamp that is echoed tells an original from its repeat only if the ACK is cumulative |
//! | RFC 8985 section 8    | a probe's timer takes the place of RACK's                                     |
//! | RFC 8985 section 6.3  | no reordering window at a time-out                                            |
//! | RFC 9937              | RecoverFS is the window; SndCnt is not below 0; a D-SACK, and RACK's timer, is a delivery |
//! | RFC 5682 section 3.1  | any original that arrives tells, in step 2 too; a second time-out of the same segment begins again |
//! | RFC 6298 section 5    | what is left of the time-out counts from when the first segment was sent; its repeat restarts it |
//! |                       | timers expire on ticks                                                        |
//!
//! PSH is set in the last segment of a burst, and in the one with which half of the first window has been sent since the last PSH
//! (of 1448 bytes the 23rd, the 46th, ..), as it is where the application hands over all of its data at once.
//!
//! Deviations from Linux: the writes of an application that sends as it goes set no PSH; an ACK below SND.UNA is ignored; a
//! receiver never reneges; the sender notices no drop in its host, and repeats what has not left it yet. The granularity of `rto`
//! and `limited_transmit` have no meaning here.
//!
//! Decision: docs/decisions/043-a-slow-sender-as-oracle.md

mod acks;
mod burst;
mod episodes;
mod state;
mod timers;
mod transmission;
mod undo;

use super::host_queue::{HostQueue, Pacing};
use super::pace::Pace;
use super::rack::{Conditions, Rack};
use super::rate::Close;
use super::rtt::Rtt;
use super::scoreboard::Scoreboard;
use super::send_buffer::SendBuffer;
use crate::transport::congestion::{
    CongestionControl, CongestionLaw as _, Event, InFlight, Law, RateSample, Report, Signal, State, Window,
};
use crate::transport::error::ConfigError;
use crate::transport::receive_buffer::FIRST_WINDOW;
use crate::transport::supply::Extent;
use crate::transport::{Config, Counters, Decoder, EcnFeedback};
use burst::Burst;
use perhop_core::units::{Span, Time};
use state::*;

/// Two ticks of Linux's clock: no timer of a probe or of RACK is shorter.
const TIMER_FLOOR: Span = Span::from_ms(2);
const UNLIMITED: f64 = u32::MAX as f64;
const SYN: u32 = 0;

/// One connection's sender.
#[derive(Clone, Debug)]
pub struct Modern {
    board: Scoreboard,
    data: Data,
    ecn: Ecn,
    law: Law,
    window: Window,
    episode: Episode,
    rack: Rack,
    rtt: Rtt,
    clock: Clock,
    usage: Usage,
    tail: Tail,
    flow: Flow,
}

impl Modern {
    /// A closed connection; nothing is sent before [`crate::transport::Sender::start`].
    ///
    /// # Errors
    /// Parameters that the law refuses.
    pub(in crate::transport) fn new(config: &Config, extent: Extent) -> Result<Self, ConfigError> {
        let first = if config.syn { SYN } else { SYN + 1 };
        let cwnd = if config.syn { 1.0 } else { f64::from(config.initial_window) };
        let Extent { end, short, short_payload, offered } = extent;
        let Config { mss, window: advertised, initial_window, .. } = *config;
        let burst = Burst::new(config.reaction.bursts, mss);
        let push = (FIRST_WINDOW / u32::from(mss) / 2 + 1).next_multiple_of(burst.piece());
        let (state, reduction, undo) = (State::Open, Reduction::default(), Undo::default());
        Ok(Self {
            board: Scoreboard::new(first),
            data: Data {
                end,
                short,
                short_payload,
                offered,
                mss,
                push,
                started: false,
                advertised,
                edge: None,
                buffer: None,
                initial_window,
            },
            ecn: Ecn {
                willing: config.ecn,
                agreed: !config.syn && config.ecn && config.receiver_ecn,
                always: config.congestion.is_scalable(),
                cwr: false,
                accurate: (config.reaction.feedback == EcnFeedback::Accurate).then(|| Decoder::new(mss, false)),
            },
            law: config.law()?,
            window: Window { cwnd, ssthresh: UNLIMITED },
            episode: Episode {
                state,
                high: first,
                reduction,
                undo,
                in_a_row: 0,
                frto: false,
                new_first: false,
                opened_late: false,
            },
            rack: Rack::new(),
            rtt: Rtt::new(config.rto),
            clock: Clock { timer: Timer::Off, deadline: Time::MAX, last_sent: Time::ZERO },
            usage: Usage { usage_until: first, ..Usage::default() },
            tail: Tail::default(),
            flow: Flow {
                burst,
                queue: HostQueue::new(config),
                pace: Pace::new(config.reaction.pacing),
                ..Flow::default()
            },
        })
    }

    /// See [`crate::transport::Sender::start`].
    pub(in crate::transport) fn start(&mut self) {
        self.data.started = true;
        if self.law.sees_losses() {
            self.board.note_losses();
        }
    }

    /// See [`crate::transport::Sender::offer`].
    pub(in crate::transport) fn offer(&mut self, segments: u32) {
        assert!(self.data.offered, "tcp: offer() on a connection whose supply is not Supply::Offered");
        assert!(segments < u32::MAX - self.data.end, "tcp: more than 2^32 - 2 segments offered");
        self.data.end += segments;
        self.flow.burst.look_again();
        let waits = self.board.lost() > self.board.again();
        if self.board.next() + segments == self.data.end && self.has_room() && !waits {
            self.flow.rate.limit(self.board.in_flight());
        }
    }

    /// See [`crate::transport::Sender::segment_left`].
    pub(in crate::transport) fn segment_left(&mut self, now: Time) {
        self.flow.queue.leave(now);
    }

    /// How fast it sends, for its bursts and the limit of its host's queue.
    fn learn_rate(&mut self) {
        if !self.flow.queue.is_small() && !self.flow.burst.is_linux() && !self.flow.pace.paces() {
            return;
        }
        let pacing = Pacing {
            rate: self.law.pacing_rate(self.data.mss),
            cwnd: self.window.cwnd as u32,
            ssthresh: self.window.ssthresh as u32,
            out: self.board.outstanding(),
            srtt8: self.rtt.srtt8(),
        };
        let rate = self.flow.pace.learn(pacing.bytes_s(self.data.mss));
        self.flow.queue.learn(rate, pacing.rate.is_some() || self.flow.pace.paces());
        self.flow.burst.learn(rate, pacing.rate.is_some(), self.rtt.least());
    }

    /// See [`crate::transport::Sender::will_close`].
    pub(in crate::transport) fn will_close(&mut self) {
        self.data.buffer = Some(SendBuffer::default());
    }

    /// See [`crate::transport::Sender::close`].
    pub(in crate::transport) fn close(&mut self) {
        if self.data.end == u32::MAX {
            let next = self.board.next().max(SYN + 1);
            self.data.end = self.data.buffer.map_or(next, |buffer| buffer.end(next));
        }
    }

    fn conditions(&self, now: Time) -> Conditions {
        Conditions {
            now,
            recovering: self.episode.state >= State::Recovery,
            min_rtt: self.rtt.least().unwrap_or_default(),
            srtt: self.rtt.srtt().unwrap_or_default(),
        }
    }

    fn signal(&self, now: Time, acked: u32, sample: Option<Span>) -> Signal {
        Signal {
            now,
            acked,
            marked: 0,
            usable: self.window.cwnd,
            srtt: self.rtt.srtt(),
            min_rtt: self.rtt.least(),
            sample,
            una: self.board.una(),
            next: self.board.next(),
            paced: self.flow.pace.paces(),
        }
    }

    /// The sender as a law in control sees it.
    fn report(&self, now: Time, signal: Signal) -> Report {
        Report {
            signal,
            state: self.episode.state,
            delivered: self.flow.rate.delivered,
            delivered_at: self.flow.rate.delivered_at,
            lost_in_all: self.board.losses(),
            in_flight: InFlight { now: self.board.in_flight(), before: self.board.in_flight() },
            window_limited: self.usage.limited,
            next_send: self.flow.pace.next().max(now),
            mss: self.data.mss,
            ..Report::default()
        }
    }

    /// Tells a law in control what has happened besides ACKs.
    fn tell(&mut self, event: Event, now: Time) {
        if self.law.is_in_control() {
            self.show_losses(now);
            let report = self.report(now, self.signal(now, 0, None));
            self.law.on_event(event, &report, &mut self.window);
        }
    }

    fn show_losses(&mut self, now: Time) {
        if self.law.sees_losses() {
            let report = self.report(now, self.signal(now, 0, None));
            let (law, board, window) = (&mut self.law, &mut self.board, &self.window);
            board.fresh().for_each(|lost| law.on_lost(&lost, &report, window));
        }
    }

    /// See [`crate::transport::Sender::with_seed`].
    pub(in crate::transport) fn with_seed(mut self, seed: u64) -> Self {
        self.law.seed(seed);
        self
    }

    /// See [`crate::transport::Sender::with_estimate`].
    pub(in crate::transport) fn with_estimate(mut self, mut rtt: Rtt) -> Self {
        rtt.end_back_off();
        self.rtt = rtt;
        self.learn_rate();
        self
    }

    pub(in crate::transport) fn estimate(&self) -> Rtt {
        self.rtt
    }

    pub(in crate::transport) fn finished(&self) -> bool {
        self.board.una() >= self.data.end
    }

    pub(in crate::transport) fn cwnd(&self) -> f64 {
        self.window.cwnd
    }

    pub(in crate::transport) fn ssthresh(&self) -> f64 {
        self.window.ssthresh
    }

    pub(in crate::transport) fn srtt(&self) -> Option<Span> {
        self.rtt.srtt()
    }

    pub(in crate::transport) fn min_rtt(&self) -> Option<Span> {
        self.rtt.least()
    }

    pub(in crate::transport) fn rto(&self) -> Span {
        self.rtt.rto()
    }

    pub(in crate::transport) fn in_flight(&self) -> u32 {
        self.board.outstanding()
    }

    pub(in crate::transport) fn first_unacknowledged(&self) -> u32 {
        self.board.una()
    }

    pub(in crate::transport) fn state(&self) -> State {
        self.episode.state
    }

    pub(in crate::transport) fn recovering(&self) -> bool {
        self.episode.state == State::Recovery
    }

    pub(in crate::transport) fn counters(&self) -> &Counters {
        &self.flow.counters
    }
}
