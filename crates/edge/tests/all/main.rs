//! What is read from the bytes of packets that exist.

mod headers;
mod lengths;
