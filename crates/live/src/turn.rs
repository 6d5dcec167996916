//! The loop of a live host: it waits for frames, for the next departure and for orders.
//!
//! It sleeps in ppoll, with a timer slack of 1 ns. The kernel still adds up to a thousandth of the time to that, so it is
//! asked for a thousandth less. A departure is due at a time that follows from the one before it, so a
//! late wake-up delays frames and does not change the rate.

use std::os::fd::{AsFd, AsRawFd};

use crate::clock::monotonic_ns;
use crate::forwarder::Forwarder;
use crate::io::PacketIo;
use crate::scheduling::Slices;

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
    let mut slices = Slices::default();
    loop {
        let now = monotonic_ns();
        if order(forwarder, now) == Order::End {
            return;
        }
        slices.follow(forwarder.is_queued());
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

/// How long from `now` on there is nothing to do, unless a frame comes.
fn wait_ns<I: PacketIo>(forwarder: &Forwarder<I>, now: u64) -> u64 {
    let longest = if forwarder.is_behind() { BEHIND_NS } else { LONGEST_NS };
    forwarder.next_ns().map_or(longest, |next| next.saturating_sub(now).min(longest))
}

/// Until a frame comes, one is due, or there may be orders.
fn sleep<I: PacketIo + AsFd>(forwarder: &Forwarder<I>, now: u64) {
    let wait = wait_ns(forwarder, now);
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
    use perhop_edge::{Behind, Policy};
    use perhop_scenario::Options;

    use super::*;
    use crate::memory::Memory;

    /// 1000 B of IP.
    fn datagram() -> Vec<u8> {
        let mut frame = Vec::new();
        let built =
            etherparse::PacketBuilder::ethernet2([1; 6], [2; 6]).ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64).udp(1, 9);
        built.write(&mut frame, &[7; 972]).unwrap();
        frame
    }

    /// It sleeps until the next departure, which is 1 ms after the last one at 8 Mbit/s, however late it woke up.
    #[test]
    fn sleeps_until_the_next_departure() {
        let text = "[policy]\nqueue = \"q\"\nlink = \"8Mbit/s\"\n[queue.q]\nlimit = \"9p\"\n";
        let (policy, _) = perhop_scenario::Policy::parse(text, &Options::new("q.toml")).unwrap();
        let behind = Behind { name: "q".into(), plan: policy.line().unwrap().clone() };
        let policy = Policy { queue: Some(behind), ..Policy::default() };
        let mut forwarder = Forwarder::new(policy, [Memory::default(), Memory::default()], 0).unwrap();
        assert_eq!(wait_ns(&forwarder, 0), LONGEST_NS);
        forwarder.sides_mut()[0].coming.extend(std::iter::repeat_n((datagram(), false), 5));
        forwarder.step(0);
        assert_eq!([0, 300_000, 1_000_001].map(|now| wait_ns(&forwarder, now)), [1_000_000, 700_000, 0]);
        forwarder.step(2_900_000);
        assert_eq!((forwarder.sides()[1].sent.len(), wait_ns(&forwarder, 2_900_000)), (3, 100_000));
        forwarder.sides_mut()[1].up = false;
        forwarder.step(3_000_000);
        assert_eq!((forwarder.counts()[0].here.waiting, wait_ns(&forwarder, 3_000_000)), (1, 1_000_000));
        forwarder.step(4_000_000);
        assert_eq!(wait_ns(&forwarder, 4_000_000), BEHIND_NS, "it offers them again");
    }

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
