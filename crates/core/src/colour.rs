//! Colours: the drop precedence that markers give and queues read.

/// Drop precedence given by a marker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Colour {
    /// In profile ("IN").
    Green = 0,
    /// Exceeds the committed burst.
    Yellow = 1,
    /// Out of profile ("OUT").
    Red = 2,
    /// No marker has seen it: ACKs, background traffic.
    #[default]
    Unmarked = 3,
}

impl Colour {
    /// All colours, by index.
    pub const ALL: [Self; 4] = [Self::Green, Self::Yellow, Self::Red, Self::Unmarked];

    /// Those that a meter gives.
    pub const METERED: [Self; 3] = [Self::Green, Self::Yellow, Self::Red];

    /// Those of [`Colour::METERED`] that are not better than this one: what a colour-aware meter may give it.
    pub const fn or_worse(self) -> &'static [Self] {
        match self.presumed() {
            Self::Yellow => &[Self::Yellow, Self::Red],
            Self::Red => &[Self::Red],
            _ => &Self::METERED,
        }
    }

    /// Name in files and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Green => "green",
            Self::Yellow => "yellow",
            Self::Red => "red",
            Self::Unmarked => "unmarked",
        }
    }

    /// Position in [`Colour::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }

    /// What a colour-aware meter takes it for: an unmarked packet counts as green.
    pub const fn presumed(self) -> Self {
        match self {
            Self::Unmarked => Self::Green,
            colour => colour,
        }
    }
}
