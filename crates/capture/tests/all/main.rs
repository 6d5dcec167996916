//! Captures read, written and marked: files at random, files of the field, other readers, and simulations of the same packets.

mod common;
mod errors;
mod excess;
mod forwarder;
mod fuzz;
mod groups;
mod idle;
mod labels;
mod mark;
mod readers;
mod replayed;
mod round_trips;
mod roundtrip;
mod rtt_report;
mod stamps;
mod tshark;
mod written_once;
mod written_once_labels;
