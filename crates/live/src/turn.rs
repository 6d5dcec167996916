//! The loop of a live host: it waits for frames, for the next departure and for orders.
//!
//! It sleeps in ppoll, with a timer slack of 1 ns. The kernel still adds up to a thousandth of the time to that, so it is
//! asked for a thousandth less. A departure is due at a time that follows from the one before it, so a
//! late wake-up delays frames and does not change the rate.

use std::os::fd::{AsFd, AsRawFd};

use crate::clock::monotonic_ns;
use crate::forwarder::Forwarder;
use crate::io::PacketIo;

/// The longest sleep: orders are looked at as often.
const LONGEST_NS: u64 = 100_000_000;

/// The same while an interface has frames that it could not take.
const BEHIND_NS: u64 = 1_000_000;

/// The kernel prolongs a sleep in ppoll by one part of so many, in a process of the usual priority.
const SLACK_PARTS: u64 = 1000;

/// Whether to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// With the next turn.
    GoOn,
    /// No more frames are read.
    End,
}

/// Forwards until `order`, which is asked in each turn and told the time, ends it.
pub fn run<I: PacketIo + AsFd>(forwarder: &mut Forwarder<I>, order: &mut impl FnMut(&mut Forwarder<I>, u64) -> Order) {
    precise_timers();
    loop {
        let now = monotonic_ns();
        if order(forwarder, now) == Order::End {
            return;
        }
        if forwarder.step(now) == 0 {
            sleep(forwarder, now);
        }
    }
}

/// Timers of this thread end within 1 ns and not within 50 us.
fn precise_timers() {
    // SAFETY: no pointers. It fails for real-time threads alone, whose timers are precise anyway.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
}

/// The time to ask for so that ppoll ends at `wait`, or earlier if another timer fires shortly before.
const fn without_slack(wait: u64) -> u64 {
    wait - wait.div_ceil(SLACK_PARTS + 1)
}

/// Until a frame comes, one is due, or there may be orders.
fn sleep<I: PacketIo + AsFd>(forwarder: &Forwarder<I>, now: u64) {
    let longest = if forwarder.is_behind() { BEHIND_NS } else { LONGEST_NS };
    let wait = forwarder.next_ns().map_or(longest, |next| next.saturating_sub(now).min(longest));
    let fds = forwarder.sides().each_ref().map(|side| side.as_fd().as_raw_fd());
    let mut polled = fds.map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 });
    let wait = libc::timespec { tv_sec: 0, tv_nsec: without_slack(wait) as i64 };
    // SAFETY: two descriptors, and a time that outlives the call. That a signal ends it is as good as any other end.
    unsafe { libc::ppoll(polled.as_mut_ptr(), 2, &wait, std::ptr::null()) };
    polled.iter().filter(|it| it.revents & libc::POLLERR != 0).for_each(|it| forget_error(it.fd));
}

/// A socket whose interface goes down has an error until it is asked for, and does not sleep until then.
fn forget_error(fd: libc::c_int) {
    let (mut error, mut size) = (0, size_of::<libc::c_int>() as u32);
    // SAFETY: pointer and size are those of `error`.
    unsafe { libc::getsockopt(fd, libc::SOL_SOCKET, libc::SO_ERROR, (&raw mut error).cast(), &mut size) };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is asked for, and a thousandth of it, are never more than the wait, and at most 2 ns less.
    #[test]
    fn slack_does_not_prolong_a_sleep() {
        for wait in [0, 1, 2, 999, 1000, 1001, 1_211_200, LONGEST_NS] {
            let asked = without_slack(wait);
            let ends = asked + asked / SLACK_PARTS;
            assert!(ends <= wait && wait - ends <= 2, "{wait}: {asked} ends at {ends}");
        }
    }
}
