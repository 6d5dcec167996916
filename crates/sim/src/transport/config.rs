//! What a scenario states about a TCP connection.
//!
//! | field              | unit     | default       | ns-2 option                                       |
//! |--------------------|----------|---------------|---------------------------------------------------|
//! | `recovery`         | -        | NewReno, impatient | `Agent/TCP/Reno`, `/Newreno`, `newreno_changes1_` |
//! | `congestion`       | -        | Reno          | `windowOption_ 1`                                 |
//! | `initial_window`   | segments | 2             | `windowInit_`                                     |
//! | `window`           | segments | 20            | `window_` (advertised by the receiver)            |
//! | `rto`              | time     | `ns2-2.35`    | `tcpTick_`, `minrto_`, `maxrto_`, `rtxcur_init_`  |
//! | `limited_transmit` | -        | on            | `singledup_`                                      |
//! | `syn`              | -        | on            | `syn_` with `delay_growth_`                       |
//! | `reaction.ack`     | time     | none; or Linux's | `Agent/TCPSink/DelAck interval_`               |
//! | `reaction.overhead`| time     | none          | `overhead_`                                       |
//! | `ecn`              | -        | off           | `ecn_`                                            |
//! | `receiver_ecn`     | -        | on            | -                                                 |
//! | `feedback`         | -        | RFC 3168      | -                                                 |
//! | `reaction.sack`    | -        | off           | -                                                 |
//! | `reaction.bursts`  | segments | 1             | -                                                 |
//! | `reaction.pacing`  | -        | the law's own | -                                                 |
//! | `reaction.ecn_retransmissions` | - | off    | always: `ecn_` alone decides                      |
//! | `mss`              | B        | 1000          | `packetSize_`                                     |
//! | `header`           | B        | 40            | `tcpip_base_hdr_size_` with `useHeaders_ true`    |
//!
//! The defaults are those of ns-2.35, except that the recovery has to be chosen there by class.
//! With `useHeaders_ false` ns-2's `packetSize_` is the whole packet: `mss` = `packetSize_` - 40.
//!
//! Decision: docs/decisions/038-ecn-begins-with-the-syn.md

use super::congestion::{CongestionControl, CongestionLaw as _, Law, LawParams};
use super::echo::EcnFeedback;
use super::error::{ConfigError, check};

use super::recovery::{PartialAckTimer, Recovery};
use super::rto::RtoConfig;
use super::sacks;
use perhop_core::params::ParamError;
use perhop_core::units::{BitRate, Span};
use std::fmt;

/// A connection's parameters, the same for its sender and its receiver. Checked by both constructors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// What duplicate and partial ACKs lead to.
    pub recovery: Recovery,
    /// How the congestion window grows and shrinks.
    pub congestion: LawParams,
    /// Window once the connection is open, segments (RFC 5681 section 3.1, RFC 6928).
    pub initial_window: u32,
    /// The receiver's advertised window, segments; with Linux's delayed ACKs the most that it offers. The congestion window may
    /// grow past it, the data sent may not.
    pub window: u32,
    /// The retransmission timer.
    pub rto: RtoConfig,
    /// A new segment on the first and on the second duplicate ACK (RFC 3042 section 2).
    pub limited_transmit: bool,
    /// A SYN goes first, and data waits for its ACK.
    pub syn: bool,
    /// What the two hosts do about what comes to them.
    pub reaction: Reaction,
    /// The sender asks for ECN (RFC 3168).
    pub ecn: bool,
    /// The receiver agrees to it if asked.
    pub receiver_ecn: bool,
    /// Data bytes of a full segment.
    pub mss: u16,
    /// Bytes of IP and TCP header: the size of a SYN and of an ACK.
    pub header: u16,
}

/// How long an ACK may wait for the next segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AckDelay {
    /// Every segment is acknowledged at once.
    #[default]
    None,
    /// For this long.
    Fixed(Span),
    /// As Linux does: quick ACKs first, then every second segment at once and a lone one after 40 ms to 200 ms.
    Linux,
}

impl AckDelay {
    /// The delay, if it is a fixed one.
    fn fixed(self) -> Option<Span> {
        match self {
            Self::Fixed(delay) => Some(delay),
            Self::None | Self::Linux => None,
        }
    }
}

impl From<Option<Span>> for AckDelay {
    fn from(delay: Option<Span>) -> Self {
        delay.map_or(Self::None, Self::Fixed)
    }
}

/// How many new segments leave back to back where the windows allow it (segmentation offload).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bursts {
    /// So many; 1: each by itself.
    Of(u32),
    /// As many as Linux chooses: what it would send in 1 ms, more on a short path, at least 2.
    Linux,
}

/// Bytes of data that a burst holds at most.
pub(super) const LARGEST_BURST: u64 = 65_535 - 320;

impl Bursts {
    /// None.
    pub const NONE: Self = Self::Of(1);

    /// Most segments of a burst, of so many bytes of data each.
    pub fn most(self, mss: u16) -> u32 {
        match self {
            Self::Of(segments) => segments,
            Self::Linux => (LARGEST_BURST / u64::from(mss)).max(1) as u32,
        }
    }

    /// # Errors
    /// None, more than the window, or several with a sender of ns-2's kind.
    fn validate(self, window: u32, recovery: Recovery) -> Result<(), ConfigError> {
        if let Self::Of(segments) = self {
            let bound = format_args!("must be between 1 and the window of {window} segments");
            check(segments > 0 && segments <= window, "bursts", segments, bound)?;
        }
        let bound = "must be 1 with a sender of ns-2's kind, which has no segmentation offload";
        check(self == Self::NONE || recovery == Recovery::Rack, "bursts", self, bound)
    }
}

impl fmt::Display for Bursts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Of(segments) => segments.fmt(f),
            Self::Linux => "linux".fmt(f),
        }
    }
}

/// What paces a sender besides its law.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pacing {
    /// The queue of its host's port does (`fq`): every sender, whatever its law.
    pub by_host: bool,
    /// Its socket's `SO_MAX_PACING_RATE`: the sender is paced, and no faster than this.
    pub most: Option<BitRate>,
}

impl Pacing {
    /// Whether it paces senders whose laws do not.
    pub fn paces(self) -> bool {
        self.by_host || self.most.is_some()
    }
}

/// What the two hosts do about the segments and ACKs that come to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reaction {
    /// Delay of an ACK.
    pub ack: AckDelay,
    /// Upper bound of the uniformly drawn delay before the sender's host transmits what an ACK releases; `None` sends
    /// at once.
    pub overhead: Option<Span>,
    /// The receiver reports what is out of order or twice (RFC 2018, RFC 2883). A sender that has no use for it ignores it.
    pub sack: bool,
    /// How the receiver tells of marks.
    pub feedback: EcnFeedback,
    /// New segments that leave back to back, as one packet until they leave their host.
    pub bursts: Bursts,
    /// Little of a connection waits in the queue of its own host's port (Linux's small queues); a sender of ns-2's kind has none.
    pub small_queues: bool,
    /// What paces the sender besides its law; one of ns-2's kind is never paced.
    pub pacing: Pacing,
    /// Of a sender of ns-2's kind: repeated segments are as ECN-capable as new ones, and carry CWR where it is due (ns-2.35,
    /// `tcp/tcp.cc` lines 691 to 697). RFC 3168 section 6.1.5 forbids it.
    pub ecn_retransmissions: bool,
}

impl Reaction {
    /// Each segment is acknowledged at once, and leaves by itself.
    pub const NONE: Self = Self {
        ack: AckDelay::None,
        overhead: None,
        sack: false,
        feedback: EcnFeedback::Rfc3168,
        bursts: Bursts::NONE,
        small_queues: false,
        pacing: Pacing { by_host: false, most: None },
        ecn_retransmissions: false,
    };
}

impl Default for Reaction {
    fn default() -> Self {
        Self::NONE
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            recovery: Recovery::NewReno(PartialAckTimer::First),
            congestion: LawParams::default(),
            initial_window: 2,
            window: 20,
            rto: RtoConfig::NS2_2_35,
            limited_transmit: true,
            syn: true,
            reaction: Reaction::default(),
            ecn: false,
            receiver_ecn: true,
            mss: 1000,
            header: 40,
        }
    }
}

/// The longest delay of an ACK (RFC 1122 section 4.2.3.2), and of the answer to one.
const LONGEST_DELAY: Span = Span::from_ms(500);
/// The largest window in segments: well below half the range of numbers.
const LARGEST_WINDOW: u32 = 1 << 24;

impl Config {
    /// A connection's law of the congestion window, at its beginning.
    ///
    /// # Errors
    /// Parameters that the law refuses.
    pub(super) fn law(&self) -> Result<Law, ConfigError> {
        let refused = |e: ParamError| {
            let value = e.message.strip_prefix(&format!("`{}` is ", e.field)).unwrap_or(&e.message).to_owned();
            ConfigError { field: e.field, value, bound: e.help }
        };
        Law::new(self.congestion).map_err(refused)
    }

    /// # Errors
    /// A window, burst or size of zero; a window beyond 2^24 segments, or 32,767 with SACK; a burst beyond the window, or of
    /// several segments with a sender of ns-2's kind; a packet beyond 65,535 bytes; an ACK delay or overhead of zero or above
    /// 500 ms; a law or a way to tell of marks that needs `recovery = "rack"`, without it; Prague with a receiver that does not
    /// tell of each mark; ECN-capable repeats of a sender that is not of ns-2's kind; or what the law or
    /// [`RtoConfig::validate`] refuses.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let windows = 1..=LARGEST_WINDOW;
        let bound = format_args!("must be between 1 and {LARGEST_WINDOW} segments");
        check(windows.contains(&self.window), "window", self.window, bound)?;
        let fits = !self.reaction.sack || self.window <= sacks::LARGEST_WINDOW;
        let blocks = format_args!("must be at most {} segments with SACK", sacks::LARGEST_WINDOW);
        check(fits, "window", self.window, blocks)?;
        check(windows.contains(&self.initial_window), "initial_window", self.initial_window, bound)?;
        self.reaction.bursts.validate(self.window, self.recovery)?;
        let small = self.reaction.small_queues && self.recovery != Recovery::Rack;
        check(
            !small,
            "small_queues",
            true,
            "must be false with a sender of ns-2's kind, which does not see its host's queue",
        )?;
        let repeats = self.reaction.ecn_retransmissions && self.recovery == Recovery::Rack;
        check(
            !repeats,
            "ecn_retransmissions",
            true,
            "must be false with `recovery = \"rack\"`, where the law decides",
        )?;
        check(self.mss > 0, "mss", self.mss, "must be at least 1 byte")?;
        let packet = u32::from(self.mss) + u32::from(self.header);
        let bound = format_args!("must be at most 65535 bytes less the header of {}", self.header);
        check(packet <= 65_535, "mss", self.mss, bound)?;
        self.rto.validate()?;
        let (law, needs) = (self.law()?, self.congestion.name());
        let served = self.recovery == Recovery::Rack || !law.is_in_control() && !self.congestion.is_scalable();
        check(
            served,
            "recovery",
            self.recovery.name(),
            format_args!("must be \"rack\" with congestion = \"{needs}\""),
        )?;
        let counts = self.reaction.feedback == EcnFeedback::Accurate;
        let heard = "must be \"rfc3168\" or \"dctcp\": only with `recovery = \"rack\"` a sender understands AccECN";
        check(!counts || self.recovery == Recovery::Rack, "feedback", "\"accurate\"", heard)?;
        let told = !self.congestion.is_l4s() || self.reaction.feedback != EcnFeedback::Rfc3168;
        let needs = "must be \"accurate\" or \"dctcp\" with \"prague\", which counts every mark";
        check(told, "feedback", "\"rfc3168\"", needs)?;
        for (field, delay) in [("delayed_ack", self.reaction.ack.fixed()), ("overhead", self.reaction.overhead)] {
            let good = delay.is_none_or(|delay| delay > Span::ZERO && delay <= LONGEST_DELAY);
            let bound = format_args!("must be above 0s and at most {LONGEST_DELAY} (RFC 1122 section 4.2.3.2)");
            check(good, field, delay.unwrap_or_default(), bound)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::congestion::bbr;

    fn ack(delay: Span) -> Reaction {
        Reaction { ack: AckDelay::Fixed(delay), ..Reaction::default() }
    }

    fn overhead(delay: Span) -> Reaction {
        Reaction { overhead: Some(delay), ..Reaction::default() }
    }

    #[test]
    fn the_defaults_and_presets_are_valid() {
        let dated = [RtoConfig::NS2_2_1B7, RtoConfig::NS2_2_1B8, RtoConfig::NS2_2_26];
        for rto in [RtoConfig::NS2_2_35, RtoConfig::ERA, RtoConfig::MODERN].into_iter().chain(dated) {
            Config { rto, reaction: ack(Span::from_ms(100)), ..Config::default() }.validate().unwrap();
        }
    }

    /// RFC 1122 section 4.2.3.2 bounds the delay of an ACK.
    #[test]
    fn each_bad_value_names_its_field() {
        let base = Config::default();
        let tick = |granularity| RtoConfig { granularity, ..base.rto };
        let cases = [
            ("window", Config { window: 0, ..base }),
            ("window", Config { window: LARGEST_WINDOW + 1, ..base }),
            (
                "window",
                Config {
                    reaction: Reaction { sack: true, ..base.reaction },
                    window: sacks::LARGEST_WINDOW + 1,
                    ..base
                },
            ),
            ("recovery", Config { congestion: LawParams::Bbr(bbr::Params { policer_estimate: true }), ..base }),
            ("initial_window", Config { initial_window: 0, ..base }),
            ("bursts", Config { reaction: Reaction { bursts: Bursts::Of(0), ..base.reaction }, ..base }),
            ("bursts", Config { reaction: Reaction { bursts: Bursts::Of(2), ..base.reaction }, ..base }),
            ("bursts", Config { reaction: Reaction { bursts: Bursts::Linux, ..base.reaction }, ..base }),
            (
                "bursts",
                Config {
                    reaction: Reaction { bursts: Bursts::Of(21), ..base.reaction },
                    recovery: Recovery::Rack,
                    ..base
                },
            ),
            (
                "ecn_retransmissions",
                Config {
                    reaction: Reaction { ecn_retransmissions: true, ..base.reaction },
                    recovery: Recovery::Rack,
                    ..base
                },
            ),
            ("mss", Config { mss: 0, ..base }),
            ("mss", Config { mss: 65_500, ..base }),
            ("rto.granularity", Config { rto: tick(Span::ZERO), ..base }),
            ("rto.minimum", Config { rto: tick(Span::from_ms(101)), ..base }),
            ("delayed_ack", Config { reaction: ack(Span::from_ms(501)), ..base }),
            ("delayed_ack", Config { reaction: ack(Span::ZERO), ..base }),
            ("overhead", Config { reaction: overhead(Span::from_ms(501)), ..base }),
            ("overhead", Config { reaction: overhead(Span::ZERO), ..base }),
        ];
        for (field, config) in cases {
            let error = config.validate().unwrap_err();
            assert_eq!(error.field, field);
            assert!(error.to_string().contains(field), "{error}");
        }
    }
}
