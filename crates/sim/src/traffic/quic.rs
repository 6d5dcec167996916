//! QUIC: a bulk transfer or responses to requests, over QUIC (RFC 9000, RFC 9002) as implemented by the crate
//! `quinn-proto`.
//!
//! This model only offers the data. They are carried by an implementation in real use, not by a model of QUIC:
//! packets, handshake, acknowledgements, loss recovery, pacing and congestion controllers are quinn's, run in
//! simulated time with the run's randomness. `docs/guides/bring-your-own-transport.md` says how quinn is integrated,
//! and what it costs.
//!
//! The node `to` is the client: it opens a connection, asks for data as soon as the handshake is done, and gets them
//! from `from`. Without `size` that is an endless bulk transfer, which `stop` ends. With `size` it is a request and
//! its response, each pair on its own connection and at random times as in `transfers`. The recorded time of a
//! response runs from the first packet of its handshake to its last byte.
//!
//! | symbol | field            | unit    | default            |
//! |--------|------------------|---------|--------------------|
//! | -      | `congestion`     | -       | `"cubic"`          |
//! | -      | `initial-window` | packets | quinn's own        |
//! | -      | `mtu`            | B       | 1480               |
//! | -      | `receive-window` | B       | 1,250,000          |
//! | -      | `size`           | B       | without end        |
//! | -      | `gap`            | s       | - (with `size`)    |
//! | -      | `loop`           | -       | `"open"`           |
//!
//! `mtu` is the largest packet (IP length): a datagram and 28 bytes. On a path that allows 1500 B, quinn's search for
//! the MTU ends at 1480 B; here quinn starts at `mtu` and does not search. quinn's initial window is 12,000 B, with
//! BBR 240,000 B. Its packets carry ECT(0) unless `ecn = false`, which removes the mark where they leave their hosts.
//!
//! Deviations from an endpoint on the Internet: nothing is encrypted, although every packet has the size that it
//! would have encrypted. The handshake is as long as one with a certificate of 3 kB. A connection never times out,
//! and closes without a packet. Each datagram is sent by itself, without segmentation offload, so bursts are those of
//! the pacer.
//!
//! Decision: docs/decisions/038-ecn-begins-with-the-syn.md

use super::law::{Drawn, Sampler};
use super::transfers::Loop;
use super::{Carrier, Carry, Offer, Step, Traffic, TrafficModel, TrafficScope, Transport, UDP_HEADERS};
use perhop_core::params::{Choice, ParamError, Params as Declared};
use perhop_core::rng::Rng;
use perhop_core::units::{Bytes, Span, Time};

/// QUIC's least datagram (RFC 9000 section 14), with its headers.
pub const LEAST_MTU: Bytes = Bytes::new(1200 + UDP_HEADERS as u64);
/// The largest: 65,527 B of UDP payload, of which IP's length leaves these.
const MOST_MTU: Bytes = Bytes::new(65_535);
/// Most bytes that a receiver of quinn grants at once: a 32-bit number.
const MOST_WINDOW: Bytes = Bytes::new(u32::MAX as u64);
/// Most packets of an initial window.
const MOST_INITIAL: u32 = 1 << 16;

/// Congestion controllers of quinn.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Controller {
    /// CUBIC (RFC 8312).
    #[default]
    Cubic,
    /// NewReno (RFC 9002).
    #[param(name = "newreno")]
    NewReno,
    /// BBR v1, which quinn calls experimental: its window; it is paced as the others.
    Bbr,
}

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// How the congestion window grows and shrinks: quinn's "cubic", "newreno", "bbr".
    #[param(default = "cubic")]
    pub congestion: Controller,
    /// Window at the beginning, full packets; default: quinn's, 12,000 B, of BBR 240,000 B.
    pub initial_window: Option<u32>,
    /// Largest packet (IP length): a datagram and 28 B.
    #[param(default = "1480B")]
    pub mtu: Bytes,
    /// Bytes that the receiver grants beyond what its application has read: at most this much is in flight.
    #[param(default = "1250kB")]
    pub receive_window: Bytes,
    /// Payload of a response; default: one that does not end.
    pub size: Option<Drawn<Bytes>>,
    /// With `size`: mean of the exponential gap between requests (open loop) or of the think time (closed loop).
    pub gap: Option<Span>,
    /// With `size`: what the next request waits for; default: "open", nothing.
    #[param(name = "loop")]
    pub waits: Option<Loop>,
}

/// Requests for responses.
#[derive(Clone, Copy, Debug)]
struct Requests {
    size: Sampler,
    gap: Span,
    waits: Loop,
}

/// One client.
#[derive(Clone, Debug)]
pub struct Quic {
    params: Box<Params>,
    requests: Option<Requests>,
    carry: Carry,
}

impl Params {
    /// # Errors
    /// A value out of its bounds, `size` without `gap`, or `gap` or `loop` without `size`.
    pub fn build(self, _scope: &TrafficScope) -> Result<Quic, ParamError> {
        within("mtu", self.mtu, [LEAST_MTU, MOST_MTU])?;
        within("receive-window", self.receive_window, [self.mtu, MOST_WINDOW])?;
        if let Some(packets) = self.initial_window {
            within("initial-window", packets, [1, MOST_INITIAL])?;
        }
        let requests = self.requests()?;
        Ok(Quic { params: Box::new(self), requests, carry: Carry::default() })
    }

    fn requests(&self) -> Result<Option<Requests>, ParamError> {
        let Some(size) = &self.size else {
            let idle = [("gap", self.gap.is_some()), ("loop", self.waits.is_some())];
            let Some((key, _)) = idle.into_iter().find(|(_, stated)| *stated) else { return Ok(None) };
            let message = format!("`{key}` has no effect without `size`: the transfer never ends");
            return Err(ParamError::new(key, "E239", message).help("remove the key, or give the `size` of a response"));
        };
        if let Drawn::Constant(size) = size {
            ParamError::above_zero("size", *size)?;
        }
        let Some(gap) = self.gap else {
            let message = "`size` without `gap`: the time between requests is missing".into();
            return Err(ParamError::new("size", "E201", message).help("add the mean time, as in gap = \"1s\""));
        };
        ParamError::above_zero("gap", gap)?;
        Ok(Some(Requests { size: size.sampler("size")?, gap, waits: self.waits.unwrap_or(Loop::Open) }))
    }
}

fn within<T: PartialOrd + std::fmt::Display>(
    field: &'static str,
    value: T,
    [least, most]: [T; 2],
) -> Result<(), ParamError> {
    if least <= value && value <= most {
        return Ok(());
    }
    let message = format!("`{field}` is {value}");
    Err(ParamError::new(field, "E201", message).help(format!("must be between {least} and {most}")))
}

impl Quic {
    fn after_gap(&mut self, now: Time, requests: &Requests, rng: &mut Rng) -> Time {
        self.carry.after(now, rng.exponential(requests.gap.ns() as f64))
    }
}

impl TrafficModel for Params {
    fn carrier(&self) -> Carrier {
        if self.size.is_some() { Carrier::Transfers } else { Carrier::Connection }
    }

    fn transport(&self) -> Transport<'_> {
        Transport::Quic(self)
    }

    fn is_endless(&self) -> bool {
        self.size.is_none()
    }

    fn rate(&self) -> Option<f64> {
        None
    }

    fn largest_datagram(&self) -> Option<Bytes> {
        Some(self.mtu)
    }
}

impl Traffic for Quic {
    type Params = Params;

    fn transfers(&self, time: Span, trip: Span) -> Option<f64> {
        self.requests.map(|requests| requests.waits.transfers(time, requests.gap, trip))
    }

    fn warnings(&self) -> Vec<ParamError> {
        self.params.size.iter().filter_map(|size| size.warning("size")).collect()
    }

    fn first(&mut self, start: Time, rng: &mut Rng) -> Time {
        match self.requests {
            Some(requests) => self.after_gap(start, &requests, rng),
            None => start,
        }
    }

    fn wake(&mut self, now: Time, rng: &mut Rng) -> Step {
        let Some(requests) = self.requests else { return Step { offer: Offer::Endless, next: None } };
        let bytes = (requests.size.draw(rng).round() as u64).max(1);
        let next = (requests.waits == Loop::Open).then(|| self.after_gap(now, &requests, rng));
        Step { offer: Offer::Transfer(bytes), next }
    }

    fn on_complete(&mut self, now: Time, rng: &mut Rng) -> Option<Time> {
        let requests = self.requests.filter(|requests| requests.waits == Loop::Closed)?;
        Some(self.after_gap(now, &requests, rng))
    }

    fn retune(&mut self, _now: Time, params: &Params, scope: &TrafficScope) -> Result<(), ParamError> {
        let old = &self.params;
        let fixed = [
            ("congestion", params.congestion != old.congestion),
            ("initial-window", params.initial_window != old.initial_window),
            ("mtu", params.mtu != old.mtu),
            ("receive-window", params.receive_window != old.receive_window),
            ("size", params.size.is_some() != old.size.is_some()),
        ];
        if let Some((key, _)) = fixed.into_iter().find(|(_, changed)| *changed) {
            let message = "a change cannot alter a connection of QUIC".into();
            let help = "a change may alter `size`, `gap` and `loop`; write another [traffic.X] with a later `start`";
            return Err(ParamError::new(key, "E202", message).help(help));
        }
        *self = Self { carry: self.carry, ..params.clone().build(scope)? };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params() -> Params {
        Params {
            congestion: Controller::Cubic,
            initial_window: None,
            mtu: Bytes::new(1480),
            receive_window: Bytes::new(1_250_000),
            size: Some(Drawn::Constant(Bytes::new(1000))),
            gap: Some(Span::from_ms(10)),
            waits: None,
        }
    }

    /// RFC 9000 section 14: datagrams of 1200 bytes are the least that a path has to carry.
    #[test]
    fn bounds_are_kept() {
        let field = |change: fn(&mut Params)| {
            let mut it = params();
            change(&mut it);
            it.build(&TrafficScope::default()).err().map(|error| error.field)
        };
        assert_eq!(field(|_| {}), None);
        assert_eq!(field(|p| p.mtu = Bytes::new(1228)), None);
        assert_eq!(field(|p| p.mtu = Bytes::new(1227)), Some("mtu"));
        assert_eq!(field(|p| p.receive_window = Bytes::new(1479)), Some("receive-window"));
        assert_eq!(field(|p| p.initial_window = Some(0)), Some("initial-window"));
        assert_eq!(field(|p| p.gap = None), Some("size"));
        assert_eq!(field(|p| p.size = None), Some("gap"));
        assert_eq!(field(|p| (p.size, p.gap, p.waits) = (None, None, Some(Loop::Closed))), Some("loop"));
    }

    /// Open loop: the next request has its time at once; closed loop: it waits for the response.
    #[test]
    fn a_closed_loop_waits_for_its_response() {
        for (waits, asks_ahead) in [(None, true), (Some(Loop::Closed), false)] {
            let mut it = Params { waits, ..params() }.build(&TrafficScope::default()).unwrap();
            let mut rng = Rng::stream(1, 0, "x");
            let step = it.wake(Time::ZERO, &mut rng);
            assert_eq!((step.offer, step.next.is_some()), (Offer::Transfer(1000), asks_ahead));
            assert_eq!(it.on_complete(Time::ZERO, &mut rng).is_some(), !asks_ahead);
        }
    }
}
