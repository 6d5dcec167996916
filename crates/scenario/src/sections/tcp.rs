//! `[tcp.X]` and the presets of TCP.

use perhop_core::params::{
    Choice, Field, Kind, Literal, Located, Node, Params, Problems, Reader, Tree, Value, read_table, show_table,
};
use perhop_core::units::{Bytes, Span};
use perhop_sim::transport::{
    AckDelay, Config, ConfigError, LawParams, PartialAckTimer, Reaction, Recovery, RtoConfig, congestion,
};

/// Presets. Those of ns-2's time leave every other parameter at the default of `[tcp.X]`.
pub const PRESETS: [&str; 4] = ["reno", "newreno", "linux", "linux-reno"];

/// Segments that Linux's default buffer of 6 MiB at the receiver holds: 2304 B are set aside for each of 1448 B.
const LINUX_WINDOW: i64 = 2730;

/// What duplicate and partial ACKs lead to.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryName {
    /// Leaves fast recovery at the first new ACK (RFC 5681).
    Reno,
    /// NewReno, impatient: the timer restarts at the first partial ACK only (RFC 6582).
    #[param(name = "newreno")]
    NewReno,
    /// NewReno, slow but steady: it restarts at each.
    #[param(name = "newreno-steady")]
    NewRenoSteady,
    /// As hosts do today: SACK, RACK-TLP, PRR, F-RTO (RFC 2018, RFC 8985, RFC 9937, RFC 5682).
    Rack,
}

/// The law of the congestion window, with its own keys beside its name.
#[derive(Clone, Debug, PartialEq)]
pub struct LawSection(pub LawParams);

/// A law's name.
struct LawName(&'static str);

impl Value for LawName {
    const KIND: Kind = Kind::Choice(congestion::NAMES);
    fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
        problems.choice(node, congestion::NAMES).map(Self)
    }
    fn tree(&self) -> Option<Tree> {
        Some(Tree::Text(self.0.into()))
    }
}

/// The key that names the law.
const LAW: Field = Field {
    name: "congestion",
    doc: "How the congestion window grows and shrinks.",
    kind: LawName::KIND,
    default: Some(Literal::Text("reno")),
    optional: false,
};

impl Params for LawSection {
    const FIELDS: &'static [Field] = &{
        let mut all = [LAW; 1 + congestion::LIST.len()];
        let mut i = 0;
        while i < congestion::LIST.len() {
            let own = Kind::Flat(congestion::LIST[i].fields);
            all[i + 1] = Field { name: "", doc: "", kind: own, default: None, optional: true };
            i += 1;
        }
        all
    };
    fn read(reader: &mut Reader<'_>) -> Option<Self> {
        let LawName(name) = reader.field(&Self::FIELDS[0])?;
        LawParams::read(name, reader.place_of(LAW.name), reader).map(Self)
    }
    fn show(&self, out: &mut Vec<(&'static str, Tree)>) {
        out.extend(LawName(self.0.name()).tree().map(|name| (LAW.name, name)));
        self.0.show(out);
    }
}

/// `[tcp.X]`
#[derive(Params, Clone, Debug, PartialEq)]
pub struct TcpSection {
    /// Loss recovery.
    #[param(default = "newreno")]
    pub recovery: RecoveryName,
    /// How the congestion window grows and shrinks.
    #[param(flatten)]
    pub congestion: LawSection,
    /// Window once the connection is open, segments.
    #[param(default = 2)]
    pub initial_window: u32,
    /// The receiver's advertised window, segments.
    #[param(default = 20)]
    pub window: u32,
    /// Data bytes of a full segment.
    #[param(default = "1000B")]
    pub segment: Bytes,
    /// Bytes of IP and TCP header: the size of a SYN and of an ACK.
    #[param(default = "40B")]
    pub header: Bytes,
    /// Retransmission timer: "ns2-2.35", "era" (about 2000), "modern", or a table.
    #[param(default = "ns2-2.35")]
    pub rto: Rto,
    /// A new segment on the first and on the second duplicate ACK (RFC 3042).
    #[param(default = true)]
    pub limited_transmit: bool,
    /// A SYN goes first, and data waits for its ACK.
    #[param(default = true)]
    pub syn: bool,
    /// Delays at the ends of a connection.
    #[param(flatten)]
    pub delays: DelaysSection,
    /// The sender asks for ECN (RFC 3168) when it opens the connection; default: false.
    pub ecn: Option<bool>,
    /// The receiver agrees to ECN if asked; otherwise nothing is ECN-capable.
    #[param(default = true)]
    pub receiver_ecn: bool,
}

/// Delays at the ends of a connection.
#[derive(Params, Clone, Debug, PartialEq)]
pub struct DelaysSection {
    /// Longest delay of an ACK, or "linux"; default: every segment is acknowledged at once.
    pub delayed_ack: Option<DelayedAck>,
    /// Upper bound of the uniformly drawn delay before the sender transmits what an ACK releases; default: none.
    pub overhead: Option<Span>,
}

/// How long an ACK may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DelayedAck {
    /// For the next segment, or so long.
    Fixed(Span),
    /// As Linux has it: not at first, then for the second segment or 40 ms to 200 ms.
    Linux,
}

impl Value for DelayedAck {
    const KIND: Kind = Kind::Any;
    fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
        match &node.tree {
            Tree::Text(text) if text == "linux" => Some(Self::Linux),
            _ => Span::read(node, problems).map(Self::Fixed),
        }
    }
    fn tree(&self) -> Option<Tree> {
        match self {
            Self::Fixed(delay) => delay.tree(),
            Self::Linux => Some(Tree::Text("linux".into())),
        }
    }
}

impl DelayedAck {
    fn delay(of: Option<Self>) -> AckDelay {
        match of {
            None => AckDelay::None,
            Some(Self::Fixed(delay)) => AckDelay::Fixed(delay),
            Some(Self::Linux) => AckDelay::Linux,
        }
    }
}

/// The retransmission timer, value by value.
#[derive(Params, Clone, Debug, PartialEq)]
pub struct RtoSection {
    /// Tick of the clock that measures round trips.
    #[param(default = "10ms")]
    pub granularity: Span,
    /// Smallest time-out; at least two ticks.
    #[param(default = "200ms")]
    pub minimum: Span,
    /// Largest time-out, back-off included.
    #[param(default = "60s")]
    pub maximum: Span,
    /// Time-out before the first sample.
    #[param(default = "3s")]
    pub initial: Span,
}

/// Named timers.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum RtoPreset {
    /// ns-2.35's defaults: 10 ms tick, at least 200 ms.
    #[param(name = "ns2-2.35")]
    Ns2,
    /// The coarse timer of about 2000: 100 ms tick, at least 1 s.
    Era,
    /// RFC 6298 with Linux's bounds: 1 ms tick, at least 200 ms.
    Modern,
}

/// A timer by name or by values.
#[derive(Clone, Debug, PartialEq)]
pub enum Rto {
    /// By name.
    Preset(RtoPreset),
    /// By values.
    Explicit(RtoSection),
}

impl Rto {
    /// For the simulator.
    pub fn config(&self) -> RtoConfig {
        match self {
            Self::Preset(RtoPreset::Ns2) => RtoConfig::NS2_2_35,
            Self::Preset(RtoPreset::Era) => RtoConfig::ERA,
            Self::Preset(RtoPreset::Modern) => RtoConfig::MODERN,
            Self::Explicit(RtoSection { granularity, minimum, maximum, initial }) => {
                RtoConfig { granularity: *granularity, minimum: *minimum, maximum: *maximum, initial: *initial }
            }
        }
    }
}

impl Value for Rto {
    const KIND: Kind = Kind::Any;
    fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
        match &node.tree {
            Tree::Table(_) => read_table(node, problems).map(Self::Explicit),
            _ => RtoPreset::read(node, problems).map(Self::Preset),
        }
    }
    fn tree(&self) -> Option<Tree> {
        match self {
            Self::Preset(preset) => preset.tree(),
            Self::Explicit(section) => section.tree(),
        }
    }
}

/// A traffic's TCP.
#[derive(Clone, Debug, PartialEq)]
pub enum TcpRef {
    /// A preset or a `[tcp.X]`.
    Named(String),
    /// Written where it is used.
    Inline(Box<Located<TcpSection>>),
}

impl Value for TcpRef {
    const KIND: Kind = Kind::Any;
    fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
        match &node.tree {
            Tree::Text(name) => Some(Self::Named(name.clone())),
            _ => Value::read(node, problems).map(|section| Self::Inline(Box::new(section))),
        }
    }
    fn tree(&self) -> Option<Tree> {
        Some(match self {
            Self::Named(name) => Tree::Text(name.clone()),
            Self::Inline(section) => show_table(&section.value),
        })
    }
}

impl TcpSection {
    /// A preset by its name.
    pub fn preset(name: &str) -> Option<Self> {
        let text = |key: &'static str, value: &str| (key, Tree::Text(value.into()));
        let law = match name {
            "reno" | "newreno" => {
                return read_table(&Tree::table(vec![text("recovery", name)]).into(), &mut Problems::default());
            }
            "linux" => vec![text("congestion", "cubic"), text("arithmetic", "linux"), text("hystart", "linux")],
            "linux-reno" => vec![text("congestion", "reno"), text("growth", "segments")],
            _ => return None,
        };
        let host = vec![
            text("recovery", "rack"),
            ("initial-window", Tree::Integer(10)),
            ("window", Tree::Integer(LINUX_WINDOW)),
            text("segment", "1448B"),
            text("header", "52B"),
            text("rto", "modern"),
            text("delayed-ack", "linux"),
        ];
        read_table(&Tree::table([host, law].concat()).into(), &mut Problems::default())
    }

    /// For the simulator; an error names its key as in the file.
    pub fn config(&self) -> Result<Config, ConfigError> {
        let too_large = |field, value: Bytes| ConfigError {
            field,
            value: value.to_string(),
            bound: "at most 65535B, header included".into(),
        };
        let config = Config {
            recovery: match self.recovery {
                RecoveryName::Reno => Recovery::Reno,
                RecoveryName::NewReno => Recovery::NewReno(PartialAckTimer::First),
                RecoveryName::NewRenoSteady => Recovery::NewReno(PartialAckTimer::Each),
                RecoveryName::Rack => Recovery::Rack,
            },
            congestion: self.congestion.0,
            initial_window: self.initial_window,
            window: self.window,
            rto: self.rto.config(),
            limited_transmit: self.limited_transmit,
            syn: self.syn,
            reaction: Reaction {
                ack: DelayedAck::delay(self.delays.delayed_ack),
                overhead: self.delays.overhead,
                sack: self.recovery == RecoveryName::Rack,
            },
            ecn: self.ecn.unwrap_or(false),
            receiver_ecn: self.receiver_ecn,
            mss: u16::try_from(self.segment.get()).map_err(|_| too_large("segment", self.segment))?,
            header: u16::try_from(self.header.get()).map_err(|_| too_large("header", self.header))?,
        };
        config.validate().map_err(|e| ConfigError { field: key(e.field), ..e })?;
        Ok(config)
    }
}

/// The key of a field of [`Config`].
fn key(field: &'static str) -> &'static str {
    match field {
        "mss" => "segment",
        "initial_window" => "initial-window",
        "delayed_ack" => "delayed-ack",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_declared_defaults_are_those_of_the_simulator() {
        assert_eq!(TcpSection::preset("newreno").unwrap().config(), Ok(Config::default()));
        let explicit = <RtoSection as Params>::read(&mut perhop_core::params::Reader::new(
            &Default::default(),
            Default::default(),
            &mut Problems::default(),
        ));
        assert_eq!(Rto::Explicit(explicit.unwrap()).config(), RtoConfig::NS2_2_35);
        assert_eq!(TcpSection::preset("cubic"), None);
        assert!(PRESETS.iter().all(|name| TcpSection::preset(name).is_some()));
    }

    #[test]
    fn errors_name_the_key_of_the_file() {
        let field = |change: fn(&mut TcpSection)| {
            let mut section = TcpSection::preset("reno").unwrap();
            change(&mut section);
            section.config().unwrap_err().field
        };
        assert_eq!(field(|s| s.window = 0), "window");
        assert_eq!(field(|s| s.initial_window = 0), "initial-window");
        assert_eq!(field(|s| s.segment = Bytes::new(0)), "segment");
        assert_eq!(field(|s| s.segment = Bytes::new(70_000)), "segment");
        assert_eq!(field(|s| s.header = Bytes::new(70_000)), "header");
        assert_eq!(field(|s| s.delays.delayed_ack = Some(DelayedAck::Fixed(Span::from_s(1)))), "delayed-ack");
    }
}
