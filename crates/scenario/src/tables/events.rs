//! The columns of `events.parquet`, a row for each packet at each port.

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// A name.
    Name,
    /// An integer.
    Integer,
}

/// The name of the table.
pub const NAME: &str = "events";

/// Its columns with their types.
pub const COLUMNS: [(&str, Held); 19] = [
    ("packet", Held::Integer),
    ("hop", Held::Name),
    ("class", Held::Name),
    ("traffic", Held::Name),
    ("flow", Held::Integer),
    ("direction", Held::Name),
    ("size_bytes", Held::Integer),
    ("wire_bytes", Held::Integer),
    ("in_ns", Held::Integer),
    ("out_ns", Held::Integer),
    ("dropped_ns", Held::Integer),
    ("fate", Held::Name),
    ("reason", Held::Name),
    ("colour_in", Held::Name),
    ("colour", Held::Name),
    ("dscp", Held::Integer),
    ("ecn", Held::Name),
    ("queue_packets", Held::Integer),
    ("queue_bytes", Held::Integer),
];
