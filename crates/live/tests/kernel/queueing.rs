//! A bottleneck between real interfaces.

use std::net::UdpSocket;
use std::os::fd::AsRawFd;

use perhop_edge::{Behind, LinkType, Policy, locate};
use perhop_live::{Dropped, monotonic_ns};

use crate::lab::{Lab, RECEIVER, SENDER, receive, unavailable};

/// CoDel before a line of 10 Mbit/s.
fn behind_codel() -> Policy {
    let text = r#"
        [policy]
        queue = "codel"
        link = "10Mbit/s"
        [queue.codel]
        aqm = "codel"
        limit = "1000p"
        ecn = true
    "#;
    let (policy, _) = perhop_scenario::Policy::parse(text, &perhop_scenario::Options::new("codel.toml")).unwrap();
    let (plan, name) = (policy.line().unwrap().clone(), policy.queue().unwrap().to_owned());
    Policy { queue: Some(Behind { name, plan }), ..Policy::default() }
}

/// Sends ECN-capable datagrams at once.
fn offer(socket: &UdpSocket, datagrams: usize) {
    let ect: libc::c_int = 2;
    let (pointer, size) = ((&raw const ect).cast(), size_of::<libc::c_int>() as u32);
    // SAFETY: pointer and size are those of `ect`.
    let set = unsafe { libc::setsockopt(socket.as_raw_fd(), libc::IPPROTO_IP, libc::IP_TOS, pointer, size) };
    assert_eq!(set, 0);
    (0..datagrams).for_each(|_| _ = socket.send_to(&[0; 972], (RECEIVER, 9)).unwrap());
}

/// 1000 B each on 10 Mbit/s: what the queue marks arrives marked, what it does not drop arrives, and no packet is early.
#[test]
fn marks_and_rate() {
    if unavailable() {
        return;
    }
    let lab = Lab::new();
    let mut watch = lab.open("r", "eth0");
    let working = lab.forward(behind_codel());
    let asking = lab.done("s", || UdpSocket::bind((SENDER, 0)).unwrap());
    let udp = |bytes: &[u8]| bytes[12..14] == [8, 0] && bytes[23] == 17;
    // a sender keeps few datagrams while it asks for the receiver's address
    offer(&asking, 1);
    receive(&mut watch, 1, udp);
    let begun = monotonic_ns();
    offer(&asking, 500);
    let found = receive(&mut watch, 500, udp);
    // the first leaves at once; 499 times 800 us, the line's time for a packet
    assert!(monotonic_ns() - begun >= 499 * 800_000);
    let [there, _] = working.counts();
    let ce = |frame: &Vec<u8>| locate(LinkType::ETHERNET, frame, frame.len() as u32).unwrap().ecn == 3;
    let marked = found.iter().filter(|frame| ce(frame)).count() as u64;
    assert!(marked > 0);
    assert_eq!((there.marked, there.lost(Dropped::Early)), (marked, 0));
}
