//! Real-time scheduling of the thread that forwards (sched(7)).

use std::io;

/// The lowest real-time priority: above all ordinary threads, below the kernel's own.
const PRIORITY: libc::c_int = 1;

/// This thread runs before all ordinary ones from now on (SCHED_FIFO). Threads that it begins do not.
///
/// # Errors
/// CAP_SYS_NICE is missing, and RLIMIT_RTPRIO does not allow it either.
pub fn real_time() -> io::Result<()> {
    let parameter = libc::sched_param { sched_priority: PRIORITY };
    // SAFETY: thread 0 is the one that asks; the parameter outlives the call.
    let done =
        unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, &raw const parameter) };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
