//! What passes, and what is changed of it.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};

use etherparse::PacketBuilder;
use perhop_core::Scope;
use perhop_core::classify::Match;
use perhop_core::conditioner::{ConditionerParams, token_bucket};
use perhop_core::port::edge::{Action, Per, StageSpec};
use perhop_edge::{LinkType, Policy, locate};
use perhop_live::{AfPacket, Dropped};

use crate::lab::{Lab, RECEIVER, SENDER, ip, receive, send, unavailable};

/// All that goes there is AF11.
pub fn all_af11() -> Policy {
    let params = token_bucket::Params {
        cir: "10Gbit/s".parse().unwrap(),
        cbs: "10MB".parse().unwrap(),
        pir: None,
        mtu: None,
        framing: Default::default(),
        arithmetic: None,
    };
    let stage = StageSpec {
        name: "all".into(),
        matches: Match::default(),
        per: Per::Aggregate,
        params: ConditionerParams::TokenBucketMarker(params),
        actions: [Action::mark("AF11".parse().unwrap()), Action::TRANSMIT, Action::Drop, Action::TRANSMIT],
        scope: Scope::default(),
    };
    Policy { stages: vec![stage], ..Policy::default() }
}

/// A frame from the sender, for the receiver or for no host.
fn frame(ether_type: &[u8], rest: &[u8]) -> Vec<u8> {
    [&[0x33; 6][..], &[2; 6], ether_type, rest].concat()
}

fn ip_packet(dscp_and_ecn: u8) -> Vec<u8> {
    let mut packet = Vec::new();
    PacketBuilder::ipv4([10, 9, 0, 1], [10, 9, 0, 2], 64).udp(1, 9).write(&mut packet, &[7; 100]).unwrap();
    packet[1] = dscp_and_ecn;
    let (header, _) = etherparse::Ipv4Header::from_slice(&packet).unwrap();
    packet[10..12].copy_from_slice(&header.calc_header_checksum().to_be_bytes());
    packet
}

/// A question and its answer, each through the forwarder.
#[test]
fn a_question_is_answered() {
    if unavailable() {
        return;
    }
    let lab = Lab::new();
    let mut watch = lab.open("r", "eth0");
    let working = lab.forward(all_af11());
    let answering = lab.done("r", || UdpSocket::bind((RECEIVER, 9)).unwrap());
    let asking = lab.done("s", || UdpSocket::bind((SENDER, 0)).unwrap());
    asking.send_to(b"question", (RECEIVER, 9)).unwrap();
    let mut bytes = [0; 100];
    let (length, from) = answering.recv_from(&mut bytes).unwrap();
    assert_eq!(&bytes[..length], b"question");
    answering.send_to(b"answer", from).unwrap();
    assert_eq!(asking.recv(&mut bytes).unwrap(), 6);
    let udp = |bytes: &[u8]| bytes[12..14] == [8, 0] && bytes[23] == 17;
    let seen = receive(&mut watch, 1, udp).remove(0);
    let headers = locate(LinkType::ETHERNET, &seen, seen.len() as u32).unwrap();
    assert_eq!(headers.dscp, 10);
    // sums over an intact header and an intact datagram with its pseudo-header are all ones
    let (header, _) = etherparse::Ipv4Header::from_slice(&seen[14..]).unwrap();
    assert_eq!(header.header_checksum, header.calc_header_checksum());
    let counts = working.counts();
    assert!(counts[0].finished > 0, "virtual Ethernets leave checksums to their other end");
}

/// A megabyte by TCP arrives as it was.
#[test]
fn tcp_passes() {
    if unavailable() {
        return;
    }
    let lab = Lab::new();
    let working = lab.forward(all_af11());
    let listener = lab.done("r", || TcpListener::bind((RECEIVER, 9)).unwrap());
    let data: Vec<u8> = (0..1_000_000u32).map(|n| (n * 7 % 251) as u8).collect();
    let sent = data.clone();
    let sender = lab.within("s", move || TcpStream::connect((RECEIVER, 9)).unwrap().write_all(&sent).unwrap());
    let mut received = Vec::new();
    listener.accept().unwrap().0.read_to_end(&mut received).unwrap();
    sender.join().unwrap();
    assert!(received == data);
    let [there, back] = working.counts();
    assert!(there.sent >= 1_000_000 / 1460 && back.sent > 0);
    assert_eq!([there, back].map(|it| it.lost(Dropped::TooLong)), [0, 0]);
}

/// Of a packet with one or two VLAN tags only code point and header checksum change; of what is not IP nothing does.
#[test]
fn tags_and_other_protocols() {
    if unavailable() {
        return;
    }
    let lab = Lab::new();
    let (mut from, mut to) = (lab.open("s", "eth0"), lab.open("r", "eth0"));
    let working = lab.forward(all_af11());
    let (before, after) = (ip_packet(0), ip_packet(10 << 2));
    let tags: [&[u8]; 4] =
        [&[8, 0], &[0x81, 0, 0x60, 5, 8, 0], &[0x88, 0xa8, 0, 6, 8, 0], &[0x88, 0xa8, 0, 6, 0x81, 0, 0x20, 7, 8, 0]];
    let arp = [&[0, 1, 8, 0, 6, 4, 0, 1][..], &[2; 6], &[10, 9, 0, 1], &[0; 6], &[10, 9, 0, 9], &[0; 18]].concat();
    let others = [frame(&[8, 6], &arp), frame(&[0x88, 0xcc], &[1; 60]), frame(&[0, 46], &[0x42; 46])];
    let tagged = |packet: &[u8]| tags.map(|tag| frame(tag, packet));
    let sent: Vec<_> = tagged(&before).into_iter().chain(others.clone()).collect();
    let expected: Vec<_> = tagged(&after).into_iter().chain(others).collect();
    send(&mut from, &sent);
    let found = receive(&mut to, expected.len(), |bytes| bytes[..6] == [0x33; 6]);
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(found, expected);
    }
    assert!(working.counts()[0].plain >= 3);
}

/// Segments that were not taken apart are refused and counted; the connection lives on its retransmissions of one segment.
#[test]
fn too_long_a_frame_is_refused() {
    if unavailable() {
        return;
    }
    let lab = Lab::new();
    ip(&format!("-n {} link set eth0 gso_max_segs 65535", lab.of("s")));
    let working = lab.forward(all_af11());
    let listener = lab.done("r", || TcpListener::bind((RECEIVER, 9)).unwrap());
    let sender = lab.within("s", || TcpStream::connect((RECEIVER, 9)).unwrap().write_all(&[1; 100_000]));
    let mut first = [0; 1000];
    listener.accept().unwrap().0.read_exact(&mut first).unwrap();
    drop(listener);
    let _ = sender.join().unwrap();
    assert!(working.counts()[0].lost(Dropped::TooLong) > 0);
}

/// A frame one byte above the MTU is refused, and what follows passes.
#[test]
fn a_byte_too_much_is_refused() {
    if unavailable() {
        return;
    }
    let lab = Lab::new();
    ip(&format!("-n {} link set eth0 mtu 1600", lab.of("s")));
    ip(&format!("-n {} link set va mtu 1600", lab.of("m")));
    let (mut from, mut to) = (lab.done("s", || AfPacket::open("eth0", 1600).unwrap()), lab.open("r", "eth0"));
    let working = lab.forward(all_af11());
    let [fits, exceeds] = [1500, 1501].map(|bytes| frame(&[0x88, 0xb5], &vec![1; bytes]));
    send(&mut from, &[exceeds, fits.clone()]);
    assert_eq!(receive(&mut to, 1, |bytes| bytes[..6] == [0x33; 6]), [fits]);
    assert_eq!(working.counts()[0].lost(Dropped::TooLong), 1);
}

/// What this machine sends on an interface has not come in on it.
#[test]
fn own_frames_are_ignored() {
    if unavailable() {
        return;
    }
    let lab = Lab::new();
    let (mut own, mut from, mut to) = (lab.open("m", "va"), lab.open("s", "eth0"), lab.open("r", "eth0"));
    let working = lab.forward(all_af11());
    send(&mut own, &[frame(&[0x88, 0xb5], &[1; 60])]);
    let came = frame(&[0x88, 0xb6], &[2; 60]);
    send(&mut from, std::slice::from_ref(&came));
    assert_eq!(receive(&mut to, 1, |bytes| bytes[..6] == [0x33; 6]), [came]);
    working.counts();
}
