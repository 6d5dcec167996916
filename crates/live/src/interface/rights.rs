//! Capabilities of this process (capabilities(7)).

use std::fs;

/// A capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Right {
    /// Its name.
    pub name: &'static str,
    bit: u32,
}

/// Packet sockets.
pub const NET_RAW: Right = Right { name: "CAP_NET_RAW", bit: 13 };

/// Settings of interfaces.
pub const NET_ADMIN: Right = Right { name: "CAP_NET_ADMIN", bit: 12 };

impl Right {
    /// Whether this process has it; unknown counts as yes, for the kernel decides.
    pub fn is_here(self) -> bool {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let set = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("CapEff:")?.trim(), 16).ok());
        set.is_none_or(|set| set >> self.bit & 1 == 1)
    }
}
