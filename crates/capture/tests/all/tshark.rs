//! Round-trip times, repeats and windows against tshark's, on real TCP captured at an edge: `tests/reference/tshark`.

use perhop_capture::mark::{FlowRoundTrip, Marking, RoundTripReport, RoundTripsOf, SampleRow, run};
use perhop_capture::{Capture, CaptureError, Fate, Pump};
use perhop_core::estimate::MicroFlows;
use perhop_core::packet::{FlowId, Packet, flags};
use perhop_core::units::{Span, Time};
use perhop_edge::{FlowTable, TcpView, locate};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The port of the servers.
const SERVER: u16 = 5001;
const CAPTURES: [&str; 3] = ["two-servers", "no-timestamps", "losses-before"];

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/reference/tshark").join(name)
}

/// A frame as tshark read it, with its time from the capture.
#[derive(Clone, Debug)]
struct Frame {
    ns: u64,
    stream: u32,
    source_port: u16,
    seq: u32,
    end: u32,
    data: u32,
    ack: u32,
    stamps: Option<(u32, u32)>,
    /// Frame that this one acknowledges, and the time since, ns.
    acked: Option<(usize, u64)>,
    /// Retransmission or out of order.
    repeats: bool,
    in_flight: Option<u32>,
    /// Whether it has SACK blocks.
    sacks: bool,
}

impl Frame {
    fn is_segment(&self) -> bool {
        self.seq != self.end
    }
}

fn nanoseconds(seconds: &str) -> u64 {
    let (whole, fraction) = seconds.split_once('.').expect("tshark writes nine digits");
    assert_eq!(fraction.len(), 9);
    whole.parse::<u64>().unwrap() * 1_000_000_000 + fraction.parse::<u64>().unwrap()
}

/// By frame number; there is none with number 0.
fn frames(name: &str) -> BTreeMap<usize, Frame> {
    let text = std::fs::read_to_string(file(&format!("{name}.tsv"))).unwrap();
    let mut lines = text.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let times = times(name);
    let frame = |line: Vec<&str>| {
        let row: BTreeMap<&str, &str> = header.iter().copied().zip(line).collect();
        let number = |field: &str| row[field].parse::<u32>().ok();
        let [seq, data, syn, fin] =
            ["tcp.seq_raw", "tcp.len", "tcp.flags.syn", "tcp.flags.fin"].map(|f| number(f).unwrap());
        let place = number("frame.number").unwrap() as usize;
        let acked = number("tcp.analysis.acks_frame").map(|it| (it as usize, nanoseconds(row["tcp.analysis.ack_rtt"])));
        let flag = |field: &str| !row[field].is_empty();
        let frame = Frame {
            ns: times[place - 1],
            stream: number("tcp.stream").unwrap(),
            source_port: number("tcp.srcport").unwrap() as u16,
            seq,
            end: seq.wrapping_add(data + syn + fin),
            data,
            ack: number("tcp.ack_raw").unwrap(),
            stamps: number("tcp.options.timestamp.tsval").zip(number("tcp.options.timestamp.tsecr")),
            acked,
            repeats: flag("tcp.analysis.retransmission") || flag("tcp.analysis.out_of_order"),
            in_flight: number("tcp.analysis.bytes_in_flight"),
            sacks: flag("tcp.options.sack_le"),
        };
        (place, frame)
    };
    lines.map(frame).collect()
}

fn times(name: &str) -> Vec<u64> {
    let mut times = Vec::new();
    each_record(name, |_, ns, _| times.push(ns));
    times
}

/// Number, time and TCP header of every packet, with the packet as algorithms see it but for its flow.
fn each_record(name: &str, mut each: impl FnMut(usize, u64, (&perhop_edge::IpHeaders, TcpView))) {
    let mut capture = Capture::open(file(&format!("{name}.pcap"))).unwrap();
    let mut number = 0;
    while let Some(mut chunk) = capture.next_chunk().unwrap() {
        let Some(record) = chunk.record() else { continue };
        number += 1;
        let headers = locate(record.link, record.data, record.original).unwrap();
        each(number, record.time_ns.unwrap(), (&headers, headers.tcp.unwrap()));
    }
}

fn after(a: u32, b: u32) -> bool {
    a != b && a.wrapping_sub(b) < 1 << 31
}

/// The capture without TCP timestamps: no-operations in their place.
fn without_stamps(name: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut capture = Capture::open(file(&format!("{name}.pcap"))).unwrap();
    let blanked = Pump::default().run(&mut capture, Some(&mut out), |record| {
        let option = |it: &[u8]| it == [1, 1, 8, 10] || it == [4, 2, 8, 10];
        if let Some(at) = record.data.windows(4).position(option) {
            let end = record.data.len().min(at + 12);
            record.data[at + 2..end].fill(1);
        }
        Ok::<_, CaptureError>(Fate::Keep)
    });
    blanked.unwrap();
    out
}

fn measured(bytes: &[u8]) -> RoundTripReport {
    let marking = Marking { round_trips: RoundTripsOf::Samples, ..Marking::default() };
    run(marking, &mut Capture::new(bytes).unwrap(), None, &Pump::default()).unwrap().round_trips.unwrap()
}

/// What became of samples: perhop's and tshark's.
#[derive(Debug, Default, PartialEq)]
struct Compared {
    /// The same segment, the same ACK, the same time to the nanosecond.
    equal: u32,
    /// The ACK covers more: tshark times the last segment that it covers, perhop the one it had open.
    cumulative: u32,
    /// tshark's alone: the segment, or one that its ACK waited for, came more than once.
    repeated: u32,
    /// tshark's alone: another sample was open.
    busy: u32,
}

struct Comparison {
    frames: BTreeMap<usize, Frame>,
    report: RoundTripReport,
    compared: Compared,
}

impl Comparison {
    /// Frames of one direction after `from` and before `to`.
    fn between(&self, like: &Frame, (from, to): (usize, usize)) -> impl Iterator<Item = (usize, &Frame)> {
        let (stream, port) = (like.stream, like.source_port);
        let range = self.frames.range(from + 1..to).map(|(number, frame)| (*number, frame));
        range.filter(move |(_, it)| it.stream == stream && it.source_port == port)
    }

    fn of(name: &str, bytes: &[u8]) -> Compared {
        let mut it = Self { frames: frames(name), report: measured(bytes), compared: Compared::default() };
        let samples = it.report.samples.take().unwrap();
        let taken: BTreeSet<(usize, usize)> = samples.iter().map(|sample| it.sample(sample)).collect();
        assert_eq!(taken.len(), samples.len());
        let theirs: Vec<_> = it.frames.iter().filter_map(|(j, frame)| Some((frame.acked?.0, *j))).collect();
        theirs.iter().filter(|pair| !taken.contains(pair)).for_each(|pair| it.missed(*pair));
        it.compared
    }

    /// The segment that a sample timed and the ACK that closed it.
    fn sample(&mut self, sample: &SampleRow) -> (usize, usize) {
        let j = sample.packet as usize;
        let ack = &self.frames[&j];
        let sent = ack.ns - sample.rtt_ns;
        let port = self.report.flows[sample.flow].source_port;
        let is = |it: &Frame| it.ns == sent && it.stream == ack.stream && it.source_port == port && it.is_segment();
        let candidates: Vec<_> = self.frames.iter().filter(|(_, it)| is(it)).collect();
        let [(&i, segment)] = candidates[..] else { panic!("{sample:?}: {candidates:?}") };
        assert!(!segment.repeats, "{sample:?} times a retransmission, frame {i}");
        match sample.from_timestamps {
            true => self.echoes(segment, (i, j)),
            false => {
                let again = self.between(segment, (i, j)).find(|(_, it)| it.is_segment() && after(segment.end, it.seq));
                assert!(again.is_none(), "{sample:?} of frame {i}, and {again:?} lies between");
            }
        }
        if ack.ack == segment.end {
            assert_eq!(ack.acked, Some((i, sample.rtt_ns)), "{sample:?}");
            self.compared.equal += 1;
        } else {
            assert!(after(ack.ack, segment.end), "{sample:?}");
            assert!(ack.acked.is_none_or(|(last, rtt)| last > i && rtt <= sample.rtt_ns), "{sample:?}: {ack:?}");
            self.compared.cumulative += 1;
        }
        (i, j)
    }

    /// The first of its direction with its timestamp, and the first that echoes it.
    fn echoes(&self, segment: &Frame, (i, j): (usize, usize)) {
        let (value, _) = segment.stamps.unwrap();
        let before = self.between(segment, (0, i)).find(|(_, it)| it.stamps.unwrap().0 == value);
        assert!(before.is_none(), "frame {i} and {before:?} have one timestamp");
        let echo = self.between(&self.frames[&j], (i, j)).find(|(_, it)| it.stamps.unwrap().1 == value);
        assert!(echo.is_none() && self.frames[&j].stamps.unwrap().1 == value, "frame {j} after {echo:?}");
    }

    /// Why perhop has not a sample that tshark has.
    fn missed(&mut self, (i, j): (usize, usize)) {
        let segment = &self.frames[&i];
        let again = |(_, it): &(usize, &Frame)| it.is_segment() && after(segment.end, it.seq);
        let repeated = segment.repeats || self.between(segment, (i, j)).any(|it| again(&it));
        let acked = |end: u32, from: usize| {
            let back = self.frames.range(from..i).map(|(_, it)| it).filter(|it| it.stream == segment.stream);
            back.filter(|it| it.source_port != segment.source_port).any(|it| !after(end, it.ack))
        };
        let busy = self.between(segment, (0, i)).any(|(m, it)| it.is_segment() && !acked(it.end, m));
        match (repeated, busy) {
            (true, _) => self.compared.repeated += 1,
            (false, true) => self.compared.busy += 1,
            (false, false) => panic!("frames {i} to {j}: tshark has a sample and nothing kept perhop from it"),
        }
    }
}

/// Samples, where the captures are as they were recorded, and what became of them; without timestamps the same but that one.
#[test]
fn samples_are_tsharks() {
    let compared = |equal, cumulative, repeated, busy| Compared { equal, cumulative, repeated, busy };
    let as_recorded = |name: &str| Comparison::of(name, &std::fs::read(file(&format!("{name}.pcap"))).unwrap());
    assert_eq!(CAPTURES.map(as_recorded), [compared(88, 14, 12, 119), compared(23, 1, 9, 25), compared(18, 3, 9, 23)]);
    let by_numbers = |name: &str| Comparison::of(name, &without_stamps(name));
    assert_eq!(CAPTURES.map(by_numbers), [compared(89, 13, 12, 118), compared(23, 1, 9, 25), compared(18, 4, 9, 23)]);
}

#[test]
fn stamps_are_read_and_were_blanked() {
    for name in CAPTURES {
        let of = |bytes: &[u8]| measured(bytes).flows.iter().map(|it| it.measured.samples_from_timestamps).sum::<u64>();
        let stamped = frames(name).values().any(|it| it.stamps.is_some());
        assert_eq!(of(&std::fs::read(file(&format!("{name}.pcap"))).unwrap()) > 0, stamped, "{name}");
        assert_eq!(of(&without_stamps(name)), 0, "{name}");
    }
}

/// Frames of a flow's connection, and whether they are the flow's own.
fn of_flow<'a>(frames: &'a BTreeMap<usize, Frame>, flow: &FlowRoundTrip) -> Vec<(&'a Frame, bool)> {
    let client = flow.source_port.max(flow.destination_port);
    let stream = frames.values().find(|it| it.source_port == client).unwrap().stream;
    let connection = frames.values().filter(|it| it.stream == stream);
    connection.map(|it| (it, it.source_port == flow.source_port)).collect()
}

/// Repeats of what was not acknowledged, after the sender was silent for 0.2 s.
fn after_silence(connection: &[(&Frame, bool)]) -> u64 {
    let (mut acked, mut last, mut found) = (None, u64::MAX, 0);
    for (it, own) in connection {
        match own {
            true => {
                let open = acked.is_none_or(|acked| after(it.end, acked));
                found += u64::from(it.is_segment() && it.repeats && open && it.ns.saturating_sub(last) >= 200_000_000);
                last = it.ns;
            }
            false => acked = acked.filter(|acked| !after(it.ack, *acked)).or(Some(it.ack)),
        }
    }
    found
}

/// Repeats are what tshark calls a retransmission or out of order, flow by flow. Time-outs are more than there were: Linux
/// repairs a loss after one or two ACKs with SACK blocks (RFC 8985), and that looks like a time-out to who counts to three.
/// A real one comes when the sender has been silent for at least 0.2 s. One whose ACK was lost between edge and sender is
/// not seen.
#[test]
fn repeats_are_tsharks_and_timeouts_are_told_from_too_few_duplicates() {
    let mut timeouts = (0, 0);
    for name in CAPTURES {
        let frames = frames(name);
        let report = measured(&std::fs::read(file(&format!("{name}.pcap"))).unwrap());
        for flow in &report.flows {
            let connection = of_flow(&frames, flow);
            let segments = || connection.iter().filter(|(it, own)| *own && it.is_segment());
            assert_eq!(flow.measured.segments, segments().count() as u64, "{flow:?}");
            assert_eq!(flow.measured.repeats, segments().filter(|(it, _)| it.repeats).count() as u64, "{flow:?}");
            let real = after_silence(&connection);
            assert!(flow.measured.timeouts >= real, "{flow:?}: {real}");
            timeouts = (timeouts.0 + flow.measured.timeouts, timeouts.1 + real);
        }
    }
    assert_eq!(timeouts, (14, 7), "counted, and after a silence");
}

/// The window of each segment as it passes, segments; and the near side's mean at the end, s, where clients are behind the
/// edge and where the servers are.
fn windows(name: &str) -> (BTreeMap<usize, u32>, [f64; 2]) {
    let mut table = FlowTable::new();
    let mut behind = [(); 2].map(|()| MicroFlows::new(100, Span::from_s(60)));
    let (frames, mut windows) = (frames(name), BTreeMap::new());
    each_record(name, |number, ns, (headers, tcp)| {
        let flow = table.id(headers);
        let mate = FlowId(table.mate(flow));
        let bits = [(1, flags::FIN), (2, flags::SYN), (16, flags::ACK)];
        let flags = bits.iter().filter(|(bit, _)| tcp.flags & bit != 0).fold(0, |all, (_, flag)| all | flag);
        let (seq_end, payload) = (frames[&number].end, tcp.payload as u16);
        let packet = Packet { flow: FlowId(flow), seq_end, ack: tcp.ack, payload, flags, ..Packet::default() };
        let now = Time::from_ns(ns);
        let here = usize::from(frames[&number].source_port == SERVER);
        behind[1 - here].on_reverse(now, mate, &packet, None);
        windows.extend(behind[here].on_forward(now, &packet, None).map(|it| (number, it.window().segments())));
    });
    (windows, behind.map(|flows| flows.near().unwrap()))
}

/// The way between edge and host, from the handshakes, with a weight of 1/8 each: behind it the client, from SYN-ACK to what
/// acknowledges it, or the server, from SYN to SYN-ACK.
#[test]
fn the_near_side_is_from_a_syn_to_its_ack() {
    for name in CAPTURES {
        let frames = frames(name);
        let streams: BTreeSet<u32> = frames.values().map(|it| it.stream).collect();
        let handshake = |stream: u32, from_server: bool| {
            let of: Vec<_> = frames.values().filter(|it| it.stream == stream).collect();
            let asked = of.iter().position(|it| (it.source_port == SERVER) == from_server)?;
            let answers = |it: &&Frame| (it.source_port == SERVER) != from_server && it.ack == of[asked].end;
            let done = of[asked..].iter().position(answers)? + asked;
            let once = of[asked + 1..done].iter().all(|it| it.seq != of[asked].seq);
            once.then(|| (of[done].ns, (of[done].ns - of[asked].ns) as f64 / 1e9))
        };
        let near = windows(name).1;
        for (side, from_server) in [true, false].into_iter().enumerate() {
            let mut times: Vec<_> = streams.iter().filter_map(|&stream| handshake(stream, from_server)).collect();
            times.sort_by_key(|(at, _)| *at);
            let mean = times.iter().map(|(_, s)| *s).reduce(|mean, s| 0.875 * mean + 0.125 * s).unwrap();
            assert!((near[side] - mean).abs() < 1e-12, "{name}: {} and {mean}", near[side]);
        }
        assert!((0.002..0.004).contains(&near[0]) && near[1] > 0.01, "{name}: {near:?}");
    }
}

/// tshark's bytes in flight leave out what SACK blocks name and what was lost before the edge; a window counts all beyond the
/// highest ACK. Until a flow's first loss both are the same.
#[test]
fn windows_are_bytes_in_flight_until_the_first_loss() {
    let mut equal = [0; 3];
    for (name, equal) in CAPTURES.into_iter().zip(&mut equal) {
        let windows = windows(name).0;
        let mut state: BTreeMap<(u32, u16), (u32, u32, bool)> = BTreeMap::new();
        let mut sacked: BTreeSet<u32> = BTreeSet::new();
        for (number, it) in &frames(name) {
            sacked.extend(it.sacks.then_some(it.stream));
            let (highest, mss, lossless) = state.entry((it.stream, it.source_port)).or_insert((it.seq, 1, true));
            *mss = (*mss).max(it.data);
            *lossless &= !after(it.seq, *highest) && !it.repeats && !sacked.contains(&it.stream);
            *highest = if after(it.end, *highest) { it.end } else { *highest };
            if let (Some(bytes), true) = (it.in_flight, *lossless) {
                assert_eq!(windows[number], bytes.div_ceil(*mss), "{name} frame {number}");
                *equal += 1;
            }
        }
    }
    assert_eq!(equal, [119, 29, 4]);
}
