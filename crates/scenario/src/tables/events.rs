//! The columns of `events.parquet`, a row for each packet at each port.

use parquet::basic::Type as Physical;

/// The name of the table.
pub const NAME: &str = "events";

/// Its columns with their types.
pub const COLUMNS: [(&str, Physical); 19] = [
    ("packet", Physical::INT64),
    ("hop", Physical::BYTE_ARRAY),
    ("class", Physical::BYTE_ARRAY),
    ("traffic", Physical::BYTE_ARRAY),
    ("flow", Physical::INT64),
    ("direction", Physical::BYTE_ARRAY),
    ("size_bytes", Physical::INT64),
    ("wire_bytes", Physical::INT64),
    ("in_ns", Physical::INT64),
    ("out_ns", Physical::INT64),
    ("dropped_ns", Physical::INT64),
    ("fate", Physical::BYTE_ARRAY),
    ("reason", Physical::BYTE_ARRAY),
    ("colour_in", Physical::BYTE_ARRAY),
    ("colour", Physical::BYTE_ARRAY),
    ("dscp", Physical::INT64),
    ("ecn", Physical::BYTE_ARRAY),
    ("queue_packets", Physical::INT64),
    ("queue_bytes", Physical::INT64),
];
