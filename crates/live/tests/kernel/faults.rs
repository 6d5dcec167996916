//! Interfaces that go down and come back, rings that are full, a forwarder that ends.

use std::net::UdpSocket;
use std::process::Command;
use std::time::Duration;

use perhop_edge::Policy;
use perhop_live::{AfPacket, Dropped, Forwarder, PacketIo, monotonic_ns};

use crate::lab::{Lab, RECEIVER, SENDER, ip, receive, send, unavailable, until};
use crate::passing::all_af11;

fn datagram() -> Vec<u8> {
    let mut frame = Vec::new();
    let built =
        etherparse::PacketBuilder::ethernet2([2; 6], [0x33; 6]).ipv4([10, 9, 0, 1], [10, 9, 0, 2], 64).udp(1, 9);
    built.write(&mut frame, &[7; 100]).unwrap();
    frame
}

/// Frames for an interface that is down are refused, each of them counted; once it is up again frames pass.
#[test]
fn down_and_up_again() {
    if unavailable() {
        return;
    }
    let lab = Lab::new();
    let (mut from, mut to) = (lab.open("s", "eth0"), lab.open("r", "eth0"));
    let working = lab.forward(all_af11());
    let ours = |bytes: &[u8]| bytes[..6] == [0x33; 6];
    send(&mut from, &[datagram()]);
    receive(&mut to, 1, ours);
    ip(&format!("-n {} link set vb down", lab.of("m")));
    send(&mut from, &vec![datagram(); 10]);
    ip(&format!("-n {} link set vb up", lab.of("m")));
    until("frames pass again", || {
        send(&mut from, &[datagram()]);
        std::thread::sleep(Duration::from_millis(10));
        let mut came = false;
        to.receive(100, &mut |frame| came |= ours(frame.bytes));
        came
    });
    let [there, _] = working.counts();
    assert!(there.errors >= 10, "{there:?}");
}

/// A forwarder that has no time loses frames beyond its ring, and the kernel's count says how many.
#[test]
fn a_full_ring_is_counted() {
    if unavailable() {
        return;
    }
    let lab = Lab::new();
    let mut from = lab.open("s", "eth0");
    let sides = lab.done("m", || ["va", "vb"].map(|name| AfPacket::open(name, 1500).unwrap()));
    let mut forwarder = Forwarder::new(Policy::default(), sides, monotonic_ns()).unwrap();
    send(&mut from, &vec![datagram(); 5000]);
    let [there, _] = forwarder.counts();
    assert!(there.lost(Dropped::Kernel) >= 5000 - 4096 && there.is_closed(), "{there:?}");
    until("the ring is empty", || forwarder.step(monotonic_ns()) == 0 && !forwarder.is_behind());
    let [there, _] = forwarder.counts();
    assert!(there.is_closed() && there.here.unread == 0, "{there:?}");
    assert_eq!(there.sent + there.lost(Dropped::Kernel), there.came, "{there:?}");
}

/// Promiscuous mode ends with the sockets, and traffic with the forwarder.
#[test]
fn nothing_is_left_behind() {
    if unavailable() {
        return;
    }
    let lab = Lab::new();
    let promiscuous = || {
        let shown = Command::new("ip").args(["-n", &lab.of("m"), "-details", "link", "show", "va"]).output().unwrap();
        String::from_utf8(shown.stdout).unwrap().contains("promiscuity 1")
    };
    let working = lab.forward(all_af11());
    assert!(promiscuous());
    working.counts();
    assert!(!promiscuous());
    let asking = lab.done("s", || UdpSocket::bind((SENDER, 0)).unwrap());
    let answering = lab.done("r", || UdpSocket::bind((RECEIVER, 9)).unwrap());
    // with a forwarder it takes microseconds
    answering.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    asking.send_to(b"question", (RECEIVER, 9)).unwrap();
    assert!(answering.recv(&mut [0; 10]).is_err());
}
