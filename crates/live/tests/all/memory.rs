//! A forwarder between interfaces in memory: what passes, what is changed of it, and that every frame has one fate.

use etherparse::{IpFragOffset, PacketBuilder};
use perhop_core::Scope;
use perhop_core::classify::Match;
use perhop_core::conditioner::{ConditionerParams, token_bucket};
use perhop_core::packet::Colour;
use perhop_core::port::edge::{Action, Per, StageSpec};
use perhop_core::units::Span;
use perhop_core::verdict::Reason;
use perhop_edge::{LinkType, Policy, locate};
use perhop_live::{Counts, Dropped, Forwarder, Memory};
use perhop_sim::record::{EventSink, PortFate};
use proptest::prelude::*;
use std::sync::{Arc, Mutex};

/// Marks AF11; what exceeds 8 kbit/s and 3000 B is AF12 or dropped.
fn policy(red: Action) -> Policy {
    let params = token_bucket::Params {
        cir: "8kbit/s".parse().unwrap(),
        cbs: "3000B".parse().unwrap(),
        pir: None,
        mtu: None,
        framing: Default::default(),
        arithmetic: None,
    };
    let stage = StageSpec {
        name: "all".into(),
        matches: Match::default(),
        per: Per::Flow,
        params: ConditionerParams::TokenBucketMarker(params),
        actions: [Action::mark("AF11".parse().unwrap()), Action::TRANSMIT, red, Action::TRANSMIT],
        scope: Scope::default(),
    };
    Policy { stages: vec![stage], flow_timeout: Some(Span::from_s(60)), most_flows: Some(64), ..Policy::default() }
}

fn forwarder(policy: Policy) -> Forwarder<Memory> {
    Forwarder::new(policy, [Memory::default(), Memory::default()], 0).unwrap()
}

/// 100 B of UDP in a frame of 142 B.
fn datagram(source_port: u16) -> Vec<u8> {
    let mut frame = Vec::new();
    let built = PacketBuilder::ethernet2([1; 6], [2; 6]).ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64).udp(source_port, 9);
    built.write(&mut frame, &[7; 100]).unwrap();
    frame
}

fn dscp(frame: &[u8]) -> u8 {
    locate(LinkType::ETHERNET, frame, frame.len() as u32).unwrap().dscp
}

fn closed(forwarder: &mut Forwarder<Memory>) -> [Counts; 2] {
    let counts = forwarder.counts();
    assert!(counts.iter().all(Counts::is_closed), "{counts:?}");
    counts
}

/// 128 B of IP each: 23 fit into 3000 B.
#[test]
fn colours_and_drops() {
    let mut forwarder = forwarder(policy(Action::Drop));
    forwarder.sides_mut()[0].coming.extend((0..30).map(|_| (datagram(1), false)));
    forwarder.sides_mut()[1].coming.push_back((datagram(2), false));
    assert_eq!(forwarder.step(0), 31);
    let [there, back] = closed(&mut forwarder);
    assert_eq!((there.sent, there.lost(Dropped::Policer), back.sent), (23, 7, 1));
    assert!(forwarder.sides()[1].sent.iter().all(|frame| dscp(frame) == 10));
    assert_eq!(forwarder.sides()[0].sent, [datagram(2)], "return traffic stays as it is");
}

/// An unfinished checksum is finished, also of return traffic.
#[test]
fn finishes_checksums() {
    let mut forwarder = forwarder(policy(Action::TRANSMIT));
    let mut raw = datagram(1);
    raw[40..42].fill(0);
    forwarder.sides_mut()[1].coming.push_back((raw, true));
    forwarder.step(0);
    assert_eq!(closed(&mut forwarder)[1].finished, 1);
    assert_eq!(forwarder.sides()[0].sent, [datagram(1)]);
}

/// An interface that takes no more, one that is down, and frames above the MTU.
#[test]
fn says_what_could_not_be_sent() {
    let mut forwarder = forwarder(policy(Action::TRANSMIT));
    forwarder.sides_mut()[1].up = false;
    forwarder.sides_mut()[1].room = 2;
    forwarder.sides_mut()[0].coming.extend((0..3).map(|_| (datagram(1), false)));
    forwarder.sides_mut()[0].dropped = 5;
    forwarder.step(0);
    let [there, _] = closed(&mut forwarder);
    assert_eq!((there.here.waiting, there.lost(Dropped::Unsent), there.lost(Dropped::Kernel)), (2, 1, 5));
    assert!(forwarder.is_behind());
    forwarder.sides_mut()[1].up = true;
    forwarder.sides_mut()[0].coming.push_back((vec![0; 1515], false));
    forwarder.step(1);
    let [there, _] = closed(&mut forwarder);
    assert_eq!((there.here.waiting, there.sent, there.lost(Dropped::TooLong)), (0, 2, 1));
}

/// More flows than the table may hold, and a wrong policy while it works.
#[test]
fn flows_are_bounded() {
    let mut forwarder = forwarder(policy(Action::TRANSMIT));
    for n in 0..10_000 {
        forwarder.sides_mut()[0].coming.push_back((datagram(n), false));
        forwarder.step(u64::from(n) * 1000);
    }
    assert_eq!(closed(&mut forwarder)[0].sent, 10_000);
    // the newest comes before the oldest goes
    assert!(forwarder.host().expired().unwrap() >= 10_000 - 65);
}

/// A reload keeps the buckets of what is still there: 1 s at 8 kbit/s is 1000 B, thus 7 packets of 128 B and 104 B over.
#[test]
fn a_reload_keeps_state() {
    let mut forwarder = forwarder(policy(Action::Drop));
    forwarder.sides_mut()[0].coming.extend((0..30).map(|_| (datagram(1), false)));
    forwarder.step(0);
    let changed = forwarder.reload(policy(Action::Drop), 500_000_000).unwrap();
    assert_eq!(changed, Default::default(), "nothing begins afresh");
    forwarder.sides_mut()[0].coming.extend((0..30).map(|_| (datagram(1), false)));
    forwarder.step(1_000_000_000);
    // 3000 - 23 * 128 = 56 B were left, and 1056 B are 8 packets
    assert_eq!(closed(&mut forwarder)[0].sent, 23 + 8);
    let mut other = policy(Action::Drop);
    other.stages[0].name = "other".into();
    let changed = forwarder.reload(other, 1_000_000_000).unwrap();
    assert_eq!(changed.conditioners, ["other", "all"]);
    forwarder.sides_mut()[0].coming.extend((0..30).map(|_| (datagram(1), false)));
    forwarder.step(1_000_000_000);
    assert_eq!(closed(&mut forwarder)[0].sent, 23 + 8 + 23, "another conditioner begins with a full bucket");
}

/// A reload with parameters that cannot be leaves all as it is.
#[test]
fn a_wrong_policy_is_refused() {
    let mut forwarder = forwarder(policy(Action::Drop));
    let mut wrong = policy(Action::Drop);
    let ConditionerParams::TokenBucketMarker(params) = &mut wrong.stages[0].params else { unreachable!() };
    params.cbs = "1B".parse().unwrap();
    assert!(forwarder.reload(wrong, 0).is_err());
    forwarder.sides_mut()[0].coming.extend((0..30).map(|_| (datagram(1), false)));
    forwarder.step(0);
    assert_eq!(closed(&mut forwarder)[0].sent, 23);
}

/// Bytes of frames of many kinds, whole or cut.
fn frames() -> impl Strategy<Value = Vec<u8>> {
    let fragment = || {
        let mut frame = datagram(3);
        let offset = u16::from(IpFragOffset::try_new(1).unwrap()).to_be_bytes();
        frame[20..22].copy_from_slice(&offset);
        frame
    };
    let tagged = || [&datagram(4)[..12], &[0x81, 0, 0, 5, 0x88, 0xa8, 0, 6], &datagram(4)[12..]].concat();
    let six = || {
        let mut frame = Vec::new();
        PacketBuilder::ethernet2([1; 6], [2; 6])
            .ipv6([3; 16], [4; 16], 64)
            .tcp(1, 2, 3, 4)
            .write(&mut frame, &[5; 9])
            .unwrap();
        frame
    };
    let base = prop_oneof![
        any::<u16>().prop_map(datagram),
        Just(fragment()),
        Just(tagged()),
        Just(six()),
        proptest::collection::vec(any::<u8>(), 0..200),
    ];
    (
        base,
        proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 0..4),
        any::<proptest::sample::Index>(),
        any::<bool>(),
    )
        .prop_map(|(mut frame, changes, end, cut)| {
            for (at, byte) in changes {
                if !frame.is_empty() {
                    let at = at.index(frame.len());
                    frame[at] = byte;
                }
            }
            if cut {
                frame.truncate(end.index(frame.len() + 1));
            }
            frame
        })
}

/// Bytes that differ: those of the code point and of the checksum of IPv4, or the first two of IPv6; of an unfinished
/// checksum its two bytes as well.
fn may_differ(frame: &[u8], unfinished: bool) -> Vec<usize> {
    let Ok(headers) = locate(LinkType::ETHERNET, frame, frame.len() as u32) else { return Vec::new() };
    let ip = headers.ip_offset;
    let mut places = if headers.version == 4 { vec![ip + 1, ip + 10, ip + 11] } else { vec![ip, ip + 1] };
    if unfinished {
        let transport = ip + (headers.lengths.stated - headers.lengths.l4) as usize;
        places.extend([2, 3, 6, 7, 16, 17].map(|at| transport + at));
    }
    places
}

fn is_malformed(frame: &[u8]) -> bool {
    match locate(LinkType::ETHERNET, frame, frame.len() as u32) {
        Ok(headers) => headers.fragment.is_some_and(|fragment| fragment.tiny),
        Err(why) => Dropped::of(why).is_some(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    /// No panic, one fate for each frame, and no byte changed that was not meant to be.
    #[test]
    fn any_bytes(frames in proptest::collection::vec((frames(), any::<bool>()), 1..20)) {
        let mut forwarder = forwarder(policy(Action::TRANSMIT));
        forwarder.sides_mut()[0].coming.extend(frames.iter().cloned());
        forwarder.step(0);
        let [there, _] = closed(&mut forwarder);
        // malformed frames are lost: tests/all/lengths.rs says which
        prop_assert_eq!(there.sent + there.malformed(), frames.len() as u64);
        let mut sent = forwarder.sides()[1].sent.iter();
        for (before, unfinished) in frames.iter().filter(|it| !is_malformed(&it.0)) {
            let after = sent.next().unwrap();
            prop_assert_eq!(before.len(), after.len());
            let places = may_differ(before, *unfinished);
            for at in (0..before.len()).filter(|at| before[*at] != after[*at]) {
                prop_assert!(places.contains(&at), "byte {} of {:02x?}", at, before);
            }
        }
    }
}

/// What instances are for goes with the last flow that has it: memory follows the flows that are known.
#[test]
fn instances_of_pairs_are_bounded() {
    let mut by_pair = policy(Action::TRANSMIT);
    by_pair.stages[0].per = Per::Pair;
    let mut forwarder = forwarder(by_pair);
    for n in 0..10_000u32 {
        let mut frame = Vec::new();
        let [_, a, b, c] = n.to_be_bytes();
        let built = PacketBuilder::ethernet2([1; 6], [2; 6]).ipv4([10, a, b, c], [10, 0, 0, 2], 64).udp(1, 9);
        built.write(&mut frame, &[7; 100]).unwrap();
        forwarder.sides_mut()[0].coming.push_back((frame, false));
        forwarder.step(u64::from(n) * 1000);
    }
    assert_eq!(closed(&mut forwarder)[0].sent, 10_000);
    let [used, free] = forwarder.host().port().edge().instances();
    assert!(used <= 66 && used + free <= 66, "{used} in use, {free} free");
}

/// Rows of what passed, and the results that they become: 30 packets of 128 B, of which 23 are green and 7 dropped.
#[test]
fn packets_are_recorded() {
    let rows = Arc::new(Mutex::new(Vec::new()));
    let (taken, mut forwarder) = (rows.clone(), forwarder(policy(Action::Drop)));
    forwarder.record(EventSink::new(move |batch| taken.lock().unwrap().extend_from_slice(batch)));
    forwarder.sides_mut()[0].coming.extend((0..30).map(|_| (datagram(1), false)));
    forwarder.sides_mut()[1].coming.push_back((datagram(2), false));
    forwarder.step(1_000);
    let outcome = forwarder.recorded(2_000).unwrap();
    let rows = rows.lock().unwrap();
    let fates = |is: fn(&PortFate) -> bool| rows.iter().filter(|row| is(&row.fate)).count();
    assert_eq!(fates(|it| *it == PortFate::Sent), 24);
    assert_eq!(fates(|it| *it == PortFate::Dropped(Reason::Policer)), 7);
    assert!(
        rows.iter().enumerate().all(|(n, row)| row.number == n as u64 && row.came.ns() == 1_000 && row.wire == 128)
    );
    assert_eq!(rows[30].link, 1);
    assert_eq!((outcome.measured.ns(), outcome.flows.len(), outcome.work.packet_hops), (2_000, 2, 31));
    let counts = outcome.flows[0].counts;
    assert_eq!([counts.sent, counts.delivered, counts.dropped].map(|it| it.packets), [30, 23, 7]);
    assert_eq!(outcome.flows[0].goodput_bytes, 2_300);
    let green = &outcome.ports.hops[0];
    assert_eq!((green.colour, green.delivered.packets, green.policed.packets), (Colour::Green, 23, 0));
    let policed: u64 = outcome.ports.hops.iter().map(|row| row.policed.packets).sum();
    assert_eq!(policed, 7);
}

/// A segment of 100 B at `seq`, from A's side or from B's, that acknowledges all before `ack`.
fn segment(forward: bool, seq: u32, ack: u32) -> Vec<u8> {
    let (near, far) = (([10, 0, 0, 1], 5), ([10, 0, 0, 2], 9));
    let (from, to) = if forward { (near, far) } else { (far, near) };
    let mut frame = Vec::new();
    let ip = PacketBuilder::ethernet2([1; 6], [2; 6]).ipv4(from.0, to.0, 64);
    ip.tcp(from.1, to.1, seq, 1000).ack(ack).write(&mut frame, &[7; 100]).unwrap();
    frame
}

/// Data from A to B is acknowledged after 5 ms, and data from B to A after 2 ms.
#[test]
fn round_trips_have_a_direction() {
    let mut forwarder = forwarder(policy(Action::TRANSMIT));
    forwarder.measure(64);
    for (at_ms, side, frame) in
        [(0, 0, segment(true, 1000, 1)), (5, 1, segment(false, 1, 1100)), (7, 0, segment(true, 1100, 101))]
    {
        forwarder.sides_mut()[side].coming.push_back((frame, false));
        forwarder.step(at_ms * 1_000_000);
    }
    let found = forwarder.round_trips().unwrap().map(|it| (it.number, it.sum_ns));
    assert_eq!(found, [(1, 5_000_000), (1, 2_000_000)]);
}
