//! How the thread that forwards is scheduled (sched(7)).

use std::io;

/// The lowest real-time priority: above all ordinary threads, below the kernel's own.
const PRIORITY: libc::c_int = 1;

/// The shortest slice of processor time that Linux grants an ordinary thread.
const SLICE_NS: u64 = 100_000;

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

/// How long this thread asks to have the processor at a time, if it is an ordinary one.
///
/// With short slices its share is as before, but when it wakes up it runs before those that ask for longer ones. What it
/// interrupts is often the program whose packet woke it up, which then waits on the same processor: Linux puts the next
/// receiver elsewhere, and on idle cores that costs another wake-up. So a slice is short only where a departure is due
/// at its time. It needs no right. Linux before 6.12 takes no notice.
#[derive(Debug, Default)]
pub(crate) struct Slices {
    short: bool,
}

impl Slices {
    /// Short ones from now on, or the usual ones.
    pub(crate) fn follow(&mut self, short: bool) {
        if short != self.short {
            self.short = short;
            ask(if short { SLICE_NS } else { 0 });
        }
    }
}

/// Asks for slices of so long; 0 are the usual ones.
fn ask(slice_ns: u64) {
    let Some(mut now) = attributes() else { return };
    if now.sched_policy == libc::SCHED_OTHER as u32 {
        now.sched_runtime = slice_ns;
        // SAFETY: thread 0 is the one that asks; the structure states its size and outlives the call.
        unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const now, 0) };
    }
}

/// How this thread is scheduled.
fn attributes() -> Option<libc::sched_attr> {
    // SAFETY: a structure of numbers.
    let mut found: libc::sched_attr = unsafe { std::mem::zeroed() };
    let size = size_of::<libc::sched_attr>();
    // SAFETY: the call fills in at most `size` bytes of the structure.
    let told = unsafe { libc::syscall(libc::SYS_sched_getattr, 0, &raw mut found, size, 0) } == 0;
    told.then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In a thread, for it stays so. A kernel that knows slices tells the one that is in force, others tell 0.
    #[test]
    fn an_ordinary_thread_has_short_slices_as_long_as_it_wants_them() {
        let of_a_thread = || {
            let mut slices = Slices::default();
            [false, true, false].map(|short| {
                slices.follow(short);
                attributes().unwrap().sched_runtime
            })
        };
        let [before, short, after] = std::thread::spawn(of_a_thread).join().unwrap();
        assert!(before == 0 || (before > SLICE_NS && short == SLICE_NS), "{before} ns, then {short} ns");
        assert_eq!(after, before);
    }

    /// Where real time is not granted there is nothing to keep.
    #[test]
    fn a_real_time_thread_stays_one() {
        let policy = || {
            let granted = real_time().is_ok();
            Slices::default().follow(true);
            (granted, attributes().unwrap().sched_policy)
        };
        let (granted, policy) = std::thread::spawn(policy).join().unwrap();
        assert_eq!(policy == libc::SCHED_FIFO as u32, granted);
    }
}
