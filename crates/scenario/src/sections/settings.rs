//! `[scenario]` and `[policy]`.

use super::named::holds;
use perhop_core::accounting::Accounting;
use perhop_core::flow_label::Carried;
use perhop_core::params::{Node, Params, Place, Problems, Spanned, Table, Tree, read_table};
use perhop_core::units::{BitRate, Span};

/// `[scenario]`
#[derive(Params, Clone, Debug, PartialEq)]
pub struct Settings {
    /// Name of the run's directory; default: the file's name without its ending.
    pub name: Option<Spanned<String>>,
    /// Simulated time.
    #[param(default = "60s")]
    pub duration: Spanned<Span>,
    /// Time at the start that is excluded from the statistics.
    #[param(default = "10s")]
    pub warmup: Spanned<Span>,
    /// With the replication's number, the key of every random stream.
    #[param(default = 1)]
    pub seed: u64,
    /// Independent runs behind each mean and interval.
    #[param(default = 10)]
    pub replications: Spanned<u32>,
    /// Which bytes meters, queues and tables of results count; which a link's rate counts is its `framing`.
    #[param(default = "l3")]
    pub accounting: Accounting,
    /// Interval of the series; default: none are written.
    pub sample: Option<Spanned<Span>>,
    /// Ports to write series for; default: all ports, and the flows.
    pub sample_ports: Spanned<Vec<Spanned<String>>>,
    /// Whether the table `delays` is written, a histogram of one-way delays; default: only quantiles are written.
    pub delay_histogram: Option<bool>,
}

/// `[policy]`
#[derive(Params, Clone, Debug, PartialEq)]
pub struct PolicySettings {
    /// Its name in tables; default: the file's name without its ending.
    pub name: Option<Spanned<String>>,
    /// Which bytes meters count.
    #[param(default = "l3")]
    pub accounting: Accounting,
    /// Prefixes of the inside: forward is from inside to outside, the rest is reverse (ACKs). Default: everything is
    /// forward.
    pub inside: Vec<perhop_core::classify::Prefix>,
    /// What IPv6 flow labels carry: packets arrive and leave labelled. Default: they are neither read nor written.
    pub flow_label: Option<Spanned<Carried>>,
    /// The key of the random streams of probabilistic conditioners.
    #[param(default = 1)]
    pub seed: u64,
    /// The `[queue.X]` behind the conditioners that `meter` replays a capture into. Default: none; what passes leaves at
    /// once.
    pub queue: Option<Spanned<String>>,
    /// Rate of the line behind that queue.
    pub link: Option<Spanned<BitRate>>,
    /// Which bytes of a packet that rate counts; default: with `meter` the IP packet (`l3`), with `forward` what `accounting`
    /// says.
    pub framing: Option<Spanned<Accounting>>,
}

/// `[scenario]`; keys with errors count as omitted, and no time is then too short or too long.
pub fn read(root: &Table, whole: Place, problems: &mut Problems) -> Spanned<Settings> {
    let empty = Node { place: whole, ..Tree::table(vec![]).into() };
    let node = root.get("scenario").unwrap_or(&empty);
    let from = problems.list.len();
    if let Some(settings) = problems.within("scenario", |problems| read_table(node, problems)) {
        return Spanned::new(node.place, settings);
    }
    let faults: Vec<_> = problems.list[from..].iter().filter_map(|p| p.place).collect();
    let entries = if let Tree::Table(table) = &node.tree { table.entries.as_slice() } else { &[] };
    let (faulty, sound): (Vec<_>, Vec<_>) = entries.iter().cloned().partition(|e| holds(&e.2, &faults));
    let rest = Node { place: node.place, tree: Tree::Table(Table { entries: sound }) };
    let mut settings: Settings = read_table(&rest, &mut Problems::default()).expect("all keys have defaults");
    if faulty.iter().any(|e| ["duration", "warmup"].contains(&e.0.as_str())) {
        (*settings.duration, *settings.warmup) = (perhop_sim::engine::MAX_DURATION, Span::ZERO);
    }
    Spanned::new(node.place, settings)
}
