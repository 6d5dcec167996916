//! `rto` of `[tcp.X]`: the retransmission timer.

use perhop_core::params::{Choice, Kind, Node, Params, Place, Problems, Tree, Value, read_table};
use perhop_core::units::Span;
use perhop_sim::transport::RtoConfig;

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
    /// ns-2.26's defaults, of February 2003: 10 ms tick, at least 1 s.
    #[param(name = "ns2-2.26")]
    Ns2226,
    /// ns-2.1b8's, of June 2001: 100 ms tick, at least 1 s.
    #[param(name = "ns2-2.1b8")]
    Ns221b8,
    /// ns-2.1b7's, of October 2000: 100 ms tick, at least two of them.
    #[param(name = "ns2-2.1b7")]
    Ns221b7,
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

impl RtoPreset {
    /// For the simulator.
    pub const fn config(self) -> RtoConfig {
        match self {
            Self::Ns2 => RtoConfig::NS2_2_35,
            Self::Ns2226 => RtoConfig::NS2_2_26,
            Self::Ns221b8 => RtoConfig::NS2_2_1B8,
            Self::Ns221b7 => RtoConfig::NS2_2_1B7,
            Self::Era => RtoConfig::ERA,
            Self::Modern => RtoConfig::MODERN,
        }
    }

    /// Its values.
    pub const fn explicit(self) -> RtoSection {
        let RtoConfig { granularity, minimum, maximum, initial } = self.config();
        RtoSection { granularity, minimum, maximum, initial }
    }
}

impl Rto {
    /// What a table leaves out of `stated` is that of `own`.
    pub fn completed(stated: &Node, own: RtoPreset) -> Node {
        let mut whole = stated.clone();
        if let (Tree::Table(table), Some(Tree::Table(all))) = (&mut whole.tree, own.explicit().tree()) {
            let missing = |entry: &(String, Place, Node)| table.get(&entry.0).is_none();
            let missing: Vec<_> = all.entries.into_iter().filter(missing).collect();
            table.entries.extend(missing);
        }
        whole
    }

    /// For the simulator.
    pub fn config(&self) -> RtoConfig {
        match self {
            Self::Preset(preset) => preset.config(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_declared_defaults_are_those_of_the_simulator() {
        let nothing = Tree::table(Vec::new()).into();
        let explicit = read_table(&nothing, &mut Problems::default());
        assert_eq!(Rto::Explicit(explicit.unwrap()).config(), RtoConfig::NS2_2_35);
    }
}
