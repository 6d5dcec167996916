//! `[tcp.X]`.

use super::rto::Rto;
use super::stack::StackSection;
use perhop_core::foreign;
use perhop_core::params::{
    Choice, Field, Kind, Literal, Located, Node, Params, Problems, Reader, Tree, Value, read_table, show_table,
};
use perhop_core::registry::{Entry, nearest_or_class};
use perhop_core::units::{Bytes, Span};
use perhop_sim::transport::{
    AckDelay, Bursts, Config, ConfigError, CongestionLaw as _, EcnFeedback, LawParams, Pacing, PartialAckTimer,
    Reaction, Recovery, congestion,
};

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
struct LawName(String);

impl Value for LawName {
    const KIND: Kind = Kind::Choice(congestion::NAMES);
    fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
        let Tree::Text(name) = &node.tree else { return problems.wrong_type(node, &Self::KIND) };
        if !congestion::names().contains(&name.as_str())
            && let Some(why) = foreign::unavailable(name)
        {
            return problems.error("E006", node.place, why).help("mend the package, or take it away").none();
        }
        let names = congestion::names();
        if names.contains(&name.as_str()) {
            return Some(Self(name.clone()));
        }
        let help = nearest_or_class(name, &names);
        problems.error("E006", node.place, format!("unknown name `{name}`")).help(help).none()
    }
    fn tree(&self) -> Option<Tree> {
        Some(Tree::Text(self.0.clone()))
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
        refuse_keys_of_others(&name, reader);
        LawParams::read(&name, reader.place_of(LAW.name), reader).map(Self)
    }
    fn show(&self, out: &mut Vec<(&'static str, Tree)>) {
        out.push((LAW.name, Tree::Text(self.0.name().to_owned())));
        self.0.show(out);
    }
}

/// Reports keys that only laws other than the one called `name` have.
fn refuse_keys_of_others(name: &str, reader: &mut Reader<'_>) {
    let laws = congestion::entries();
    for (key, place, _) in reader.entries() {
        let field = |law: &Entry| Field::all(law.fields).into_iter().find(|field| field.name == key);
        let having = || laws.iter().filter_map(|law| Some((law.name, field(law)?)));
        let Some((_, Field { name: known, .. })) = having().next().filter(|_| having().all(|law| law.0 != name)) else {
            continue;
        };
        reader.take(known);
        let laws: Vec<_> = having().map(|law| law.0).collect();
        let message = format!("`{key}` is a key of {}, but the law here is {name}", laws.join(", "));
        reader.problems.error("E247", *place, message).help(format!("remove `{key}`, or choose another `congestion`"));
    }
}

/// `[tcp.X]`
#[derive(Params, Clone, Debug, PartialEq)]
pub struct TcpSection {
    /// What its hosts are, and of which release of ns-2.
    #[param(flatten)]
    pub stack: StackSection,
    /// Loss recovery.
    #[param(default = "newreno")]
    pub recovery: RecoveryName,
    /// How the congestion window grows and shrinks.
    #[param(flatten)]
    pub congestion: LawSection,
    /// Window once the connection is open, segments.
    #[param(default = 2)]
    pub initial_window: u32,
    /// The receiver's advertised window, with `delayed-ack = "linux"` the most that it offers: segments, or bytes of data.
    #[param(default = 20)]
    pub window: Window,
    /// Data bytes of a full segment.
    #[param(default = "1000B")]
    pub segment: Bytes,
    /// Bytes of IP and TCP header: the size of a SYN and of an ACK.
    #[param(default = "40B")]
    pub header: Bytes,
    /// Retransmission timer: "ns2-2.35", "ns2-2.26", "ns2-2.1b8", "ns2-2.1b7", "era" (about 2001), "modern", or a table.
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
    /// Explicit congestion notification.
    #[param(flatten)]
    pub marks: EcnSection,
}

/// Explicit congestion notification.
#[derive(Params, Clone, Debug, PartialEq)]
pub struct EcnSection {
    /// The sender asks for ECN (RFC 3168) when it connects; default: true with a law that answers to the fraction of marks.
    pub ecn: Option<bool>,
    /// The receiver agrees to ECN if asked; otherwise nothing is ECN-capable.
    #[param(default = true)]
    pub receiver_ecn: bool,
    /// How the receiver tells of marks; default: as the law needs it.
    pub ecn_feedback: Option<Feedback>,
    /// Of a classic sender: retransmitted segments are ECN-capable, as in ns-2; default: false (RFC 3168 section 6.1.5).
    pub ecn_retransmissions: Option<bool>,
}

/// How a receiver tells of congestion marks.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feedback {
    /// Once, until the sender has slowed down (RFC 3168).
    Rfc3168,
    /// Each of them, with an ACK at once where they begin or end (RFC 8257).
    Dctcp,
    /// How many there were, as AccECN counts them (RFC 9768).
    Accurate,
}

impl Feedback {
    /// For the simulator.
    fn config(self) -> EcnFeedback {
        match self {
            Self::Rfc3168 => EcnFeedback::Rfc3168,
            Self::Dctcp => EcnFeedback::Dctcp,
            Self::Accurate => EcnFeedback::Accurate,
        }
    }
}

/// The receiver's advertised window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// In full segments.
    Segments(u32),
    /// In bytes of data: as many full segments as fit.
    Size(Bytes),
}

impl Value for Window {
    const KIND: Kind = Kind::Either(&[u32::KIND, Bytes::KIND]);
    fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
        match &node.tree {
            Tree::Text(_) => Bytes::read(node, problems).map(Self::Size),
            _ => u32::read(node, problems).map(Self::Segments),
        }
    }
    fn tree(&self) -> Option<Tree> {
        match self {
            Self::Segments(segments) => segments.tree(),
            Self::Size(size) => size.tree(),
        }
    }
}

impl Window {
    /// In segments of so many bytes of data.
    fn segments(self, segment: Bytes) -> Result<u32, ConfigError> {
        let size = match self {
            Self::Segments(segments) => return Ok(segments),
            Self::Size(size) => size,
        };
        let segments = size.get() / segment.get().max(1);
        let refused = |bound| ConfigError { field: "window", value: size.to_string(), bound };
        match u32::try_from(segments) {
            Ok(0) => Err(refused(format!("must be at least one segment, which is {segment}"))),
            Ok(segments) => Ok(segments),
            Err(_) => Err(refused(format!("must be at most {} segments", u32::MAX))),
        }
    }
}

/// Delays at the ends of a connection.
#[derive(Params, Clone, Debug, PartialEq)]
pub struct DelaysSection {
    /// Longest delay of an ACK, or "linux"; default: every segment is acknowledged at once.
    pub delayed_ack: Option<DelayedAck>,
    /// Upper bound of the uniformly drawn delay before the sender transmits what an ACK releases; default: none.
    pub overhead: Option<Span>,
    /// Segments that leave back to back (segmentation offload), or "linux": its choice; with `recovery = "rack"`; default: 1.
    pub burst_segments: Option<BurstSegments>,
    /// No more of a connection waits in its own host's queue than it sends in about 1 ms (Linux's small queues), with
    /// `recovery = "rack"`.
    #[param(default = false)]
    pub small_queues: bool,
}

/// Segments that leave back to back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BurstSegments(Bursts);

impl Value for BurstSegments {
    const KIND: Kind = Kind::Either(&[u32::KIND, Kind::Choice(&["linux"])]);
    fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
        match &node.tree {
            Tree::Text(_) => problems.choice(node, &["linux"]).map(|_| Self(Bursts::Linux)),
            _ => u32::read(node, problems).map(|segments| Self(Bursts::Of(segments))),
        }
    }
    fn tree(&self) -> Option<Tree> {
        match self.0 {
            Bursts::Of(segments) => segments.tree(),
            Bursts::Linux => Some(Tree::Text("linux".into())),
        }
    }
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
    /// A stack by its name, its values written out.
    pub fn preset(name: &str) -> Option<Self> {
        let table = Tree::table(vec![("stack", Tree::Text(name.into()))]);
        let section: Option<Self> = read_table(&table.into(), &mut Problems::default());
        section.map(|section| Self { stack: StackSection::default(), ..section })
    }

    /// For the simulator; an error names its key as in the file.
    pub fn config(&self) -> Result<Config, ConfigError> {
        let too_large = |field, value: Bytes| ConfigError {
            field,
            value: value.to_string(),
            bound: "must be at most 65535B, header included".into(),
        };
        if self.recovery == RecoveryName::Rack && !self.limited_transmit {
            let bound = "remove the key: with `recovery = \"rack\"` no rule counts duplicate ACKs".into();
            return Err(ConfigError { field: "limited-transmit", value: "false".into(), bound });
        }
        if let (RecoveryName::Rack, Some(stated)) = (self.recovery, self.marks.ecn_retransmissions) {
            let bound =
                "remove the key: with `recovery = \"rack\"` the law decides which retransmissions are ECN-capable"
                    .into();
            return Err(ConfigError { field: "ecn-retransmissions", value: stated.to_string(), bound });
        }
        let config = Config {
            recovery: match self.recovery {
                RecoveryName::Reno => Recovery::Reno,
                RecoveryName::NewReno => Recovery::NewReno(PartialAckTimer::First),
                RecoveryName::NewRenoSteady => Recovery::NewReno(PartialAckTimer::Each),
                RecoveryName::Rack => Recovery::Rack,
            },
            congestion: self.congestion.0,
            initial_window: self.initial_window,
            window: self.window.segments(self.segment)?,
            rto: self.rto.config(),
            limited_transmit: self.limited_transmit,
            syn: self.syn,
            reaction: Reaction {
                ack: DelayedAck::delay(self.delays.delayed_ack),
                overhead: self.delays.overhead,
                sack: self.recovery == RecoveryName::Rack,
                feedback: self.marks.ecn_feedback.map_or(self.congestion.0.feedback(), Feedback::config),
                bursts: self.delays.burst_segments.map_or(Bursts::NONE, |it| it.0),
                small_queues: self.delays.small_queues,
                // Known with the port and the socket.
                pacing: Pacing::default(),
                ecn_retransmissions: self.marks.ecn_retransmissions.unwrap_or(false),
            },
            ecn: self.marks.ecn.unwrap_or(self.congestion.0.is_scalable()),
            receiver_ecn: self.marks.receiver_ecn,
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
        "feedback" => "ecn-feedback",
        "bursts" => "burst-segments",
        "small_queues" => "small-queues",
        "ecn_retransmissions" => "ecn-retransmissions",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_declared_defaults_are_those_of_the_simulator() {
        assert_eq!(TcpSection::preset("newreno").unwrap().config(), Ok(Config::default()));
        assert_eq!(TcpSection::preset("cubic"), None);
    }

    #[test]
    fn errors_name_the_key_of_the_file() {
        let field = |change: fn(&mut TcpSection)| {
            let mut section = TcpSection::preset("reno").unwrap();
            change(&mut section);
            section.config().unwrap_err().field
        };
        assert_eq!(field(|s| s.window = Window::Segments(0)), "window");
        assert_eq!(field(|s| s.initial_window = 0), "initial-window");
        assert_eq!(field(|s| s.segment = Bytes::new(0)), "segment");
        assert_eq!(field(|s| s.segment = Bytes::new(70_000)), "segment");
        assert_eq!(field(|s| s.header = Bytes::new(70_000)), "header");
        assert_eq!(field(|s| s.delays.delayed_ack = Some(DelayedAck::Fixed(Span::from_s(1)))), "delayed-ack");
    }
}
