//! Percent of a contract that TCP gets behind a policer. Written by a test: see `policer.rs`.

use super::Sender;
use super::grid::Shares;

/// Those of a sender.
pub fn shares(sender: Sender) -> &'static Shares {
    match sender {
        Sender::Classic => &CLASSIC,
        Sender::Linux => &LINUX,
        Sender::LinuxReno => &LINUX_RENO,
    }
}

const CLASSIC: Shares = [[[[100; 10]; 6]; 3]; 3];

const LINUX: Shares = [[[[100; 10]; 6]; 3]; 3];

const LINUX_RENO: Shares = [[[[100; 10]; 6]; 3]; 3];
