//! What a frame is charged, whatever its headers state: the same at the live host and in captures; and what must not slip past a
//! policer passes nowhere.

use crate::frames::{ARP, Packet, ethernet, fragment, ip4, ip6, tagged, udp};
use perhop_capture::mark::{self, Marking};
use perhop_capture::{Capture, Pump};
use perhop_core::count::Count;
use perhop_edge::{Behind, Policy};
use perhop_live::{Counts, Dropped, Forwarder, Memory};
use perhop_scenario::Options;

/// 1 Mbit/s of frames.
const POLICER: &str = r#"
    [policy]
    accounting = "l2"
    [conditioner.police]
    kind = "token-bucket"
    cir = "1Mbit/s"
    cbs = "15kB"
    red = "drop"
"#;

/// A line of 1 Mbit/s of frames behind a meter that takes all.
const LINE: &str = r#"
    [policy]
    accounting = "l2"
    queue = "core"
    link = "1Mbit/s"
    [queue.core]
    limit = "100p"
"#;

const MS: u64 = 1_000_000;

fn policy(text: &str) -> Policy {
    let (policy, _) = perhop_scenario::Policy::parse(text, &Options::new("lengths.toml")).unwrap();
    let policy = policy.live();
    let queue = policy.line().zip(policy.queue());
    Policy {
        stages: policy.stages(),
        accounting: policy.accounting(),
        flow_timeout: Some("60s".parse().unwrap()),
        most_flows: Some(1000),
        queue: queue.map(|(plan, name)| Behind { name: name.to_owned(), plan: plan.clone() }),
        ..Policy::default()
    }
}

/// Frames by the time at which they come.
type Coming = Vec<(u64, Vec<u8>)>;

/// So many of a frame, one each millisecond.
fn each_ms(frames: u64, frame: &[u8]) -> Coming {
    (0..frames).map(|n| (n * MS, frame.to_vec())).collect()
}

/// What became of frames that came.
struct Passed {
    /// When each left.
    left: Coming,
    counts: Counts,
    colours: [Count; 5],
}

impl Passed {
    fn bytes(&self) -> u64 {
        self.left.iter().map(|it| it.1.len() as u64).sum()
    }
}

/// Through a forwarder, which is asked for what is due at least each 100 us, until `end`.
fn passed(text: &str, coming: &Coming, end: u64) -> Passed {
    let sides = [Memory::default(), Memory::default()];
    let (mut forwarder, mut left) = (Forwarder::new(policy(text), sides, 0).unwrap(), Coming::new());
    let mut coming = coming.iter().peekable();
    for now in (0..=end).step_by(100_000) {
        while let Some((_, frame)) = coming.next_if(|it| it.0 <= now) {
            forwarder.sides_mut()[0].coming.push_back((frame.clone(), false));
        }
        forwarder.step(now);
        left.extend(forwarder.sides_mut()[1].sent.drain(..).map(|frame| (now, frame)));
    }
    let [counts, _] = forwarder.counts();
    assert!(counts.is_closed(), "{counts:?}");
    Passed { left, counts, colours: forwarder.colours() }
}

/// Frames of 1514 bytes whose headers state 28 bytes of IPv4, 8 behind IPv6's header, or nothing behind it.
fn lies() -> [Vec<u8>; 3] {
    let payload = udp(&[0; 1472]);
    [
        ethernet(0x0800, &ip4(&Packet { stated: Some(28), ..Packet::of(&payload) })),
        ethernet(0x86dd, &ip6(&Packet { stated: Some(8), ..Packet::of(&payload[..1460]) })),
        ethernet(0x86dd, &ip6(&Packet { stated: Some(0), protocol: 59, ..Packet::of(&payload[..1460]) })),
    ]
}

/// 4,000 frames in 4 s. The bucket of 15 kB fills with 125 kB a second, up to the last frame at 3.999 s: 514,875 B are 340 frames of
/// 1514 B.
#[test]
fn a_policer_charges_what_is_on_the_wire() {
    let honest = ethernet(0x0800, &ip4(&Packet::of(&udp(&[0; 1472]))));
    for frame in [&[honest][..], &lies()].concat() {
        assert_eq!(frame.len(), 1514);
        let passed = passed(POLICER, &each_ms(4000, &frame), 4000 * MS);
        assert_eq!((passed.left.len(), passed.counts.lost(Dropped::Policer)), (340, 3660));
        assert_eq!(passed.colours.iter().map(|it| it.bytes).sum::<u64>(), 4000 * 1514);
    }
}

/// A frame of 1514 B takes 12.112 ms on a line of 1 Mbit/s: by the end of 4 s the 330th has left it, and the 331st is on it.
#[test]
fn a_line_serves_what_is_on_the_wire() {
    let honest = ethernet(0x0800, &ip4(&Packet::of(&udp(&[0; 1472]))));
    for frame in [&[honest][..], &lies()].concat() {
        let passed = passed(LINE, &each_ms(4000, &frame), 4000 * MS);
        assert_eq!((passed.left.len(), passed.bytes()), (331, 331 * 1514));
        assert_eq!(passed.counts.here.queued, 100);
    }
}

/// Two frames a second of 60 bytes that state 65,535 hold no packet up.
#[test]
fn what_states_too_much_is_lost_and_delays_no_other() {
    let honest = ethernet(0x0800, &ip4(&Packet { host: 77, ..Packet::of(&udp(&[0; 100])) }));
    let lie = ethernet(0x0800, &ip4(&Packet { stated: Some(65_535), ..Packet::of(&udp(&[0; 18])) }));
    let alone: Coming = (0..500).map(|n| (n * 10 * MS, honest.clone())).collect();
    let mut beside = alone.clone();
    beside.extend((0..10).map(|n| (n * 500 * MS, lie.clone())));
    beside.sort_by_key(|it| it.0);
    let [alone, beside] = [alone, beside].map(|coming| passed(LINE, &coming, 5000 * MS));
    assert_eq!((alone.left.len(), &alone.left), (500, &beside.left));
    assert_eq!([&alone, &beside].map(|it| it.counts.lost(Dropped::Truncated)), [0, 10]);
    let policed = passed(POLICER, &each_ms(10, &lie), 10 * MS);
    assert_eq!((policed.counts.lost(Dropped::Truncated), policed.colours), (10, [Count::default(); 5]));
}

/// A padded ACK counts 40 B and 14 of Ethernet, with a tag 4 more, and with a frame check sequence behind it no more than that.
#[test]
fn an_honest_frame_is_charged_its_packet() {
    let ack = Packet { protocol: 6, ..Packet::of(&[0, 9, 0, 5, 0, 0, 0, 1, 0, 0, 0, 2, 0x50, 0x10, 0, 9, 0, 0, 0, 0]) };
    let padded = [ethernet(0x0800, &ip4(&ack)), vec![0; 6]].concat();
    let data = ethernet(0x0800, &ip4(&Packet::of(&udp(&[0; 100]))));
    let checked = [&data[..], &[1, 2, 3, 4]].concat();
    for (frame, size) in [
        (padded.clone(), 54),
        (tagged(&padded, 1), 58),
        (data.clone(), 142),
        (checked, 142),
        (tagged(&data, 8), 174),
        // a byte more than a trailer, and a byte more than padding
        ([&data[..], &[0; 5]].concat(), 147),
        ([&padded[..], &[0]].concat(), 61),
    ] {
        let passed = passed(POLICER, &each_ms(1, &frame), MS);
        assert_eq!((passed.colours[0], passed.left.len()), (Count { packets: 1, bytes: size }, 1), "{}", frame.len());
    }
}

/// A capture of Ethernet frames with a timestamp each.
fn capture(coming: &Coming) -> Vec<u8> {
    let mut file = 0xa1b2_3c4d_u32.to_le_bytes().to_vec();
    file.extend([2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0]);
    for (at, frame) in coming {
        let length = frame.len() as u64;
        let fields = [at / 1_000_000_000, at % 1_000_000_000, length, length];
        fields.iter().for_each(|field| file.extend((*field as u32).to_le_bytes()));
        file.extend(frame);
    }
    file
}

/// `mark` of these frames: what it keeps, and its report.
fn marked(text: &str, coming: &Coming) -> (Vec<Vec<u8>>, mark::Report) {
    let Policy { stages, accounting, .. } = policy(text);
    let (file, mut out) = (capture(coming), Vec::new());
    let marking = Marking { stages, accounting, ..Marking::default() };
    let report = mark::run(marking, &mut Capture::new(&file[..]).unwrap(), Some(&mut out), &Pump::default()).unwrap();
    let (mut kept, mut capture) = (Vec::new(), Capture::new(&out[..]).unwrap());
    while let Some(mut chunk) = capture.next_chunk().unwrap() {
        kept.extend(chunk.record().map(|record| record.data.to_vec()));
    }
    (kept, report)
}

/// One conditioner, the same frames, honest ones and lies: `forward` sends what `mark` keeps, and both count the same bytes. What
/// states too much, `mark` leaves alone and counts by its reason, and `forward` drops.
#[test]
fn captures_are_charged_as_live_frames() {
    let coloured = POLICER.replace("red = \"drop\"", "green = \"mark AF11\"\nred = \"drop\"");
    let honest = ethernet(0x0800, &ip4(&Packet::of(&udp(&[0; 700]))));
    let short = [ethernet(0x0800, &ip4(&Packet::of(&[]))), vec![0; 26]].concat();
    let [four, six, none] = lies();
    let kinds = [honest.clone(), tagged(&honest, 2), short, four, six, none, fragment(&honest, 0x2000)];
    let coming: Coming = (0..700).map(|n| (n * MS, kinds[n as usize % kinds.len()].clone())).collect();
    let live = passed(&coloured, &coming, 700 * MS);
    let (kept, report) = marked(&coloured, &coming);
    let sent: Vec<_> = live.left.iter().map(|it| it.1.clone()).collect();
    assert!(kept == sent && live.counts.lost(Dropped::Policer) > 100);
    let volume = |after: &str| {
        let rows = report.conditioners[0].colours.iter().filter(|row| row.after == after);
        rows.map(|row| Count { packets: row.volume.packets, bytes: row.volume.bytes }).sum::<Count>()
    };
    assert_eq!([volume("green"), volume("dropped")], [live.colours[0], live.colours[4]]);

    let lie = ethernet(0x0800, &ip4(&Packet { stated: Some(65_535), ..Packet::of(&udp(&[0; 18])) }));
    let frames = [lie.clone(), honest.clone(), lie.clone(), lie.clone()];
    let (kept, report) = marked(&POLICER.replace("red = \"drop\"", ""), &frames.map(|frame| (0, frame)).into());
    assert_eq!(kept, [&lie, &honest, &lie, &lie].map(Clone::clone));
    let unchanged: Vec<_> = report.flaws.unchanged.iter().map(|it| (it.reason.as_str(), it.packets)).collect();
    assert_eq!(unchanged, [("IP header that states more than the frame has", 3)]);
    let text = perhop_results::captures::text(&report, 10);
    assert!(text.contains("states more than the frame has"), "{text}");
}

/// Whatever is IP and malformed is lost both ways, each by its reason; what is not IP passes, and is counted by EtherType.
#[test]
fn malformed_packets_slip_past_no_policer() {
    let packet = ip4(&Packet::of(&udp(&[0; 100])));
    let edited = |at: usize, byte: u8| {
        let mut bytes = packet.clone();
        bytes[at] = byte;
        ethernet(0x0800, &bytes)
    };
    let whole = ethernet(0x0800, &packet);
    let lost = [
        (edited(0, 0x44), Dropped::HeaderLength),
        (ethernet(0x0800, &ip4(&Packet { stated: Some(19), ..Packet::of(&udp(&[0; 100])) })), Dropped::HeaderLength),
        (edited(0, 0x65), Dropped::Version),
        (ethernet(0x86dd, &packet), Dropped::Version),
        (whole[..33].to_vec(), Dropped::Short),
        (ethernet(0x86dd, &[0x60; 39]), Dropped::Short),
        ([ethernet(0x0800, &[0x4f]), vec![0; 45]].concat(), Dropped::Short),
        (tagged(&whole, 9), Dropped::VlanDepth),
        (whole[..whole.len() - 1].to_vec(), Dropped::Truncated),
    ];
    for (frame, why) in &lost {
        for way in [0, 1] {
            let mut forwarder = Forwarder::new(policy(POLICER), [Memory::default(), Memory::default()], 0).unwrap();
            forwarder.sides_mut()[way].coming.push_back((frame.clone(), false));
            forwarder.step(0);
            let counts = forwarder.counts()[way];
            assert!(counts.is_closed() && counts.sent == 0 && counts.malformed() == 1, "{frame:02x?}: {counts:?}");
            assert_eq!(counts.lost(*why), 1, "{}: {frame:02x?}: {counts:?}", why.name());
        }
    }
    let others =
        [ethernet(0x0806, &ARP), ethernet(0x88cc, &[1; 46]), ethernet(0x8864, &[0x11; 60]), ethernet(46, &[0x42; 46])];
    let coming: Coming = [&others[..], &others[..1]].concat().into_iter().map(|frame| (0, frame)).collect();
    let mut forwarder = Forwarder::new(policy(POLICER), [Memory::default(), Memory::default()], 0).unwrap();
    forwarder.sides_mut()[0].coming.extend(coming.iter().map(|it| (it.1.clone(), false)));
    forwarder.step(0);
    assert_eq!(forwarder.sides()[1].sent, coming.iter().map(|it| it.1.clone()).collect::<Vec<_>>());
    let [there, back] = forwarder.protocols();
    let names = ["ARP", "EtherType 0x8864", "EtherType 0x88cc", "802.3 frame without EtherType"];
    let counts = [(2, 2 * 42), (1, 74), (1, 60), (1, 60)].map(|(packets, bytes)| Count { packets, bytes });
    let wanted: Vec<_> = names.map(str::to_owned).into_iter().zip(counts).collect();
    assert_eq!((there.counts().collect::<Vec<_>>(), back.counts().count()), (wanted, 0));
}

/// RFC 1858, RFC 3128 and RFC 7112: fragments that hide a transport header are lost, and others pass.
#[test]
fn fragments_hide_no_transport_header() {
    let tcp = [0, 9, 0, 80, 0, 0, 0, 1, 0, 0, 0, 2, 0x50, 0x10, 0, 9, 0, 0, 0, 0, 1, 2, 3, 4];
    let four = |payload: &[u8], protocol, field| {
        fragment(&ethernet(0x0800, &ip4(&Packet { protocol, ..Packet::of(payload) })), field)
    };
    // fragment header of TCP or of destination options (60), at an offset of 8-byte units, with more to come
    let six = |next: u8, offset: u16, payload: &[u8]| {
        let [high, low] = (offset << 3 | 1).to_be_bytes();
        let carried = [&[next, 0, high, low, 0, 0, 0, 7][..], payload].concat();
        ethernet(0x86dd, &ip6(&Packet { protocol: 44, ..Packet::of(&carried) }))
    };
    let options = [&[6, 0, 1, 4, 0, 0, 0, 0][..], &tcp].concat();
    for (frame, is_lost) in [
        (four(&tcp[..16], 6, 0x2000), true),
        (four(&tcp, 6, 0x2000), false),
        (four(&tcp[8..], 6, 0x2001), true),
        (four(&tcp[8..], 6, 0x0001), true),
        (four(&tcp[8..], 17, 0x2001), false),
        (four(&tcp[8..], 6, 0x2002), false),
        (four(&tcp[..8], 17, 0x2000), false),
        (four(&tcp[..16], 6, 0x4000), false),
        // an authentication header that is not all in the first fragment
        (four(&[6, 4, 0, 0, 0, 0, 0, 1], 51, 0x2000), true),
        (six(6, 0, &tcp), false),
        (six(6, 0, &tcp[..16]), true),
        (six(6, 1, &tcp[8..]), true),
        (six(60, 0, &options), false),
        (six(60, 0, &options[..8]), true),
        (six(60, 0, &[6, 3, 1, 4, 0, 0, 0, 0]), true),
        (six(60, 1, &tcp), false),
    ] {
        let passed = passed(POLICER, &each_ms(1, &frame), MS);
        assert_eq!(passed.counts.lost(Dropped::TinyFragment), u64::from(is_lost), "{frame:02x?}");
        assert_eq!(passed.left.len(), usize::from(!is_lost));
    }
}

/// All fragments of a datagram are of its flow, whatever extension header is behind the fragment header.
#[test]
fn fragments_stay_with_their_datagram() {
    let by_port = POLICER.replace("kind", "match = { destination-port = 2000 }\n    kind");
    let options = [&[17, 0, 1, 4, 0, 0, 0, 0][..], &udp(&[0; 1400])].concat();
    let of = |offset: u16, more: u16, payload: &[u8]| {
        let [high, low] = (offset << 3 | more).to_be_bytes();
        let carried = [&[60, 0, high, low, 0, 0, 0, 7][..], payload].concat();
        ethernet(0x86dd, &ip6(&Packet { protocol: 44, ..Packet::of(&carried) }))
    };
    let (first, later) = (of(0, 1, &options[..800]), of(100, 0, &options[800..]));
    let coming: Coming = (0..200).map(|n| (n / 2 * MS, [&first, &later][n as usize % 2].clone())).collect();
    let passed = passed(&by_port, &coming, 100 * MS);
    assert_eq!(passed.counts.lost(Dropped::Policer), 200 - passed.left.len() as u64);
    // the bucket, and what 99 ms add to it
    assert!(passed.bytes() <= 15_000 + 12_375, "{}", passed.bytes());
}

/// A sender that repeats its SYN between segments of an open connection gets no full bucket for it: of 4,000 segments, each behind
/// a SYN, as many pass as a bucket of 15 kB lets through that fills with 125 kB a second. So it is beside a conditioner that measures
/// round trips.
#[test]
fn a_syn_fills_no_bucket() {
    let by_flow = POLICER.replace("kind", "per = \"flow\"\n    kind");
    let measures = "[conditioner.measures]\nkind = \"rtt-rto\"\ncir = \"2Mbit/s\"\nmin-rto = \"200ms\"\n";
    let segment = |flags: u8, data: usize| {
        let tcp = [&[0, 9, 0, 80, 0, 0, 0, 1, 0, 0, 0, 2, 0x50, flags, 0, 9, 0, 0, 0, 0][..], &vec![0; data]].concat();
        ethernet(0x0800, &ip4(&Packet { protocol: 6, ..Packet::of(&tcp) }))
    };
    let (syn, data) = (segment(2, 0), segment(16, 1460));
    let coming: Coming = (0..8000).map(|n| (n / 2 * MS, [&syn, &data][n as usize % 2].clone())).collect();
    for policy in [by_flow.clone(), by_flow + measures] {
        let passed = passed(&policy, &coming, 4000 * MS);
        assert!(passed.bytes() <= 15_000 + 3999 * 125, "{}", passed.bytes());
        assert!(passed.bytes() > 500_000);
    }
}
