//! Capabilities of this thread (capabilities(7)): which are here, and how all others are given up.

use std::fs;
use std::io;

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

/// Real-time scheduling.
pub const SYS_NICE: Right = Right { name: "CAP_SYS_NICE", bit: 23 };

/// _LINUX_CAPABILITY_VERSION_3: two words for each set.
const VERSION: u32 = 0x2008_0522;

/// __user_cap_header_struct; thread 0 is the one that asks.
#[repr(C)]
struct Header {
    version: u32,
    thread: libc::c_int,
}

/// __user_cap_data_struct: the lower or the upper 32 bits of each set.
#[repr(C)]
#[derive(Clone, Copy)]
struct Sets {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

impl Right {
    /// Whether this thread has it; unknown counts as yes, for the kernel decides.
    pub fn is_here(self) -> bool {
        effective().is_none_or(|set| set >> self.bit & 1 == 1)
    }
}

/// The rights that this thread can use, by bit.
fn effective() -> Option<u64> {
    let status = fs::read_to_string("/proc/thread-self/status").ok()?;
    status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("CapEff:")?.trim(), 16).ok())
}

/// Gives up all rights but these, for ever, those of programs that it may start included. Threads that begin later have
/// no more; those that run keep theirs.
///
/// # Errors
/// The kernel refuses: one of `kept` is not here.
pub fn keep(kept: &[Right]) -> io::Result<()> {
    let set = kept.iter().fold(0, |set, right| set | 1 << right.bit);
    let lower = Sets { effective: set, permitted: set, inheritable: 0 };
    let sets = [lower, Sets { effective: 0, permitted: 0, inheritable: 0 }];
    let header = Header { version: VERSION, thread: 0 };
    // SAFETY: no pointers.
    unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
    // SAFETY: a header of version 3 and two structures, as this version asks; both outlive the call.
    match unsafe { libc::syscall(libc::SYS_capset, &raw const header, sets.as_ptr()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In another thread, for rights do not come back.
    #[test]
    fn rights_are_given_up() {
        let had = effective().unwrap();
        let left = std::thread::spawn(|| {
            keep(&[]).unwrap();
            assert!(!NET_RAW.is_here());
            assert_eq!(keep(&[NET_RAW]).unwrap_err().raw_os_error(), Some(libc::EPERM));
            effective().unwrap()
        });
        assert_eq!(left.join().unwrap(), 0);
        assert_eq!(effective(), Some(had), "other threads keep theirs");
    }
}
