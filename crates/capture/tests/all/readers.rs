//! Others' readers confirm ours: tshark and scapy on the committed captures (`tests/captures`) and on what we make of them.
//!
//! If one of the two is missing the test says so and passes; with `CI` set it fails instead. Scapy is sought in
//! the Python that `PERHOP_PYTHON` names, else in `python3`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::{copy, shift_dscp};
use perhop_capture::export::{Exporter, SimulatedPacket, SimulatedTransport};
use perhop_capture::{Capture, Fate, Pump};
use perhop_edge::{IpHeaders, LinkType, Ports, Unread, locate, set_dscp, set_flow_label};

const CAPTURES: usize = 14;
const EF: u8 = 46;

fn captures() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/captures");
    let entries = std::fs::read_dir(directory).expect("the captures are committed");
    let paths = entries.map(|entry| entry.expect("readable").path());
    let mut found: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|end| end == "pcap" || end == "pcapng")).collect();
    found.sort();
    assert_eq!(found.len(), CAPTURES);
    found
}

/// A file for another program to read; removed at the end.
struct Temporary(PathBuf);

impl Temporary {
    fn new(name: &str, bytes: &[u8]) -> Self {
        let path = std::env::temp_dir().join(format!("perhop-readers-{}-{name}", std::process::id()));
        std::fs::write(&path, bytes).expect("the temporary directory is writable");
        Temporary(path)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Whether to continue without a tool, with a message; never in CI.
fn missing(tool: &str, how: &str) -> bool {
    assert!(std::env::var_os("CI").is_none(), "{tool} is not installed, and CI must not skip: {how}");
    // not println!: the harness would hide it
    writeln!(std::io::stderr(), "skipped: {tool} not installed ({how})").expect("stderr is open");
    true
}

fn no_tshark() -> bool {
    let found = Command::new("tshark").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    !found && missing("tshark", "apt install tshark")
}

fn python() -> String {
    std::env::var("PERHOP_PYTHON").unwrap_or_else(|_| "python3".into())
}

fn no_scapy() -> bool {
    let probe = Command::new(python()).args(["-c", "import scapy.all"]).stderr(Stdio::null()).status();
    !probe.is_ok_and(|status| status.success()) && missing("scapy", "pip install scapy")
}

const FIELDS: [&str; 20] = [
    "frame.time_epoch",
    "frame.len",
    "frame.cap_len",
    "ip.dsfield.dscp",
    "ip.dsfield.ecn",
    "ip.len",
    "ip.checksum.status",
    "ipv6.tclass.dscp",
    "ipv6.tclass.ecn",
    "ipv6.flow",
    "ipv6.plen",
    "ip.src",
    "ipv6.src",
    "tcp.srcport",
    "udp.dstport",
    "tcp.seq_raw",
    "tcp.ack_raw",
    "tcp.flags",
    "tcp.hdr_len",
    "tcp.len",
];

/// What tshark says about each packet, in the order of `FIELDS`; an empty string where it has nothing.
fn tshark(path: &Path) -> Vec<Vec<String>> {
    let mut command = Command::new("tshark");
    command.arg("-n").arg("-r").arg(path).args(["-T", "fields", "-E", "occurrence=f", "-E", "separator=|"]);
    for option in
        ["ip.check_checksum:TRUE", "ip.defragment:FALSE", "ipv6.defragment:FALSE", "tcp.desegment_tcp_streams:FALSE"]
    {
        command.args(["-o", option]);
    }
    for field in FIELDS {
        command.args(["-e", field]);
    }
    let output = command.output().expect("tshark runs");
    assert!(output.status.success(), "tshark: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("ASCII");
    text.lines().map(|line| line.split('|').map(str::to_string).collect()).collect()
}

/// What we say about each packet, in the same words.
fn ours(bytes: &[u8]) -> Vec<Vec<String>> {
    let mut capture = Capture::new(bytes).expect("a sound capture");
    let mut lines = Vec::new();
    while let Some(mut chunk) = capture.next_chunk().expect("a sound capture") {
        let Some(record) = chunk.record() else { continue };
        let time = record.time_ns.expect("no Simple Packet Block");
        let frame = [
            format!("{}.{:09}", time / 1_000_000_000, time % 1_000_000_000),
            record.original.to_string(),
            record.data.len().to_string(),
        ];
        let headers = match locate(record.link, record.data, record.original) {
            Ok(headers) => ip_fields(&headers),
            Err(Unread::EtherType(0x0806) | Unread::Version(0)) => vec![String::new(); 17],
            Err(other) => panic!("packet {}: {other}", record.index),
        };
        lines.push([&frame[..], &headers].concat());
    }
    lines
}

fn ip_fields(headers: &IpHeaders) -> Vec<String> {
    let IpHeaders { version, dscp, ecn, flow_label, lengths, source, ports, tcp, protocol, .. } = *headers;
    let of_version = |wanted: u8, text: String| if version == wanted { text } else { String::new() };
    let of_protocol = |wanted: u8, port: fn(Ports) -> u16| match ports {
        Some(ports) if protocol == wanted => port(ports).to_string(),
        _ => String::new(),
    };
    let of_tcp = |text: fn(perhop_edge::TcpView) -> String| tcp.map_or(String::new(), text);
    vec![
        of_version(4, dscp.to_string()),
        of_version(4, ecn.to_string()),
        of_version(4, lengths.l3.to_string()),
        of_version(4, "1".into()), // the IPv4 checksum is good
        of_version(6, dscp.to_string()),
        of_version(6, ecn.to_string()),
        flow_label.map_or(String::new(), |label| format!("{label:#08x}")),
        of_version(6, lengths.l3.wrapping_sub(40).to_string()),
        of_version(4, source.to_string()),
        of_version(6, source.to_string()),
        of_protocol(6, |ports| ports.source),
        of_protocol(17, |ports| ports.destination),
        of_tcp(|tcp| tcp.seq.to_string()),
        of_tcp(|tcp| tcp.ack.to_string()),
        of_tcp(|tcp| format!("{:#06x}", tcp.flags)),
        of_tcp(|tcp| tcp.header_length.to_string()),
        of_tcp(|tcp| tcp.payload.to_string()),
    ]
}

/// Set EF on every packet that can be read; gives the copy and the number of those packets.
fn marked(bytes: &[u8]) -> (Vec<u8>, usize) {
    let mut readable = 0;
    let (output, _) = copy(bytes, Pump::default(), |record| {
        if let Ok(headers) = locate(record.link, record.data, record.original) {
            readable += 1;
            set_dscp(record.data, &headers, EF).expect("below 64");
        }
        Ok(Fate::Keep)
    })
    .expect("a sound capture");
    (output, readable)
}

#[test]
fn the_committed_captures_are_copied_byte_for_byte() {
    for path in captures() {
        let bytes = std::fs::read(&path).unwrap();
        assert!(bytes.len() < 60_000, "{}", path.display());
        let (output, _) = copy(&bytes, Pump::default(), |record| shift_dscp(record, 0)).unwrap();
        assert!(output == bytes, "{}", path.display());
        let (output, _) = copy(&bytes, Pump::default(), |record| shift_dscp(record, 17)).unwrap();
        assert!(output != bytes, "{}", path.display());
        let (back, _) = copy(&output, Pump::default(), |record| shift_dscp(record, 64 - 17)).unwrap();
        assert!(back == bytes, "there and back: {}", path.display());
    }
}

#[test]
fn tshark_reads_the_same() {
    if no_tshark() {
        return;
    }
    for path in captures() {
        let (theirs, ours) = (tshark(&path), ours(&std::fs::read(&path).unwrap()));
        assert_eq!(theirs.len(), ours.len(), "{}", path.display());
        assert!(ours.len() >= 100, "{}", path.display());
        for (number, (theirs, ours)) in theirs.iter().zip(&ours).enumerate() {
            assert_eq!(theirs, ours, "{} packet {}", path.display(), number + 1);
        }
    }
}

#[test]
fn tshark_confirms_what_was_marked() {
    if no_tshark() {
        return;
    }
    for path in captures() {
        let (output, readable) = marked(&std::fs::read(&path).unwrap());
        let name = path.file_name().unwrap().to_str().unwrap();
        let file = Temporary::new(name, &output);
        let (before, after) = (tshark(&path), tshark(&file.0));
        let (mut seen, places) = (0, ["ip.dsfield.dscp", "ipv6.tclass.dscp"]);
        assert_eq!(before.len(), after.len());
        for (before, after) in before.iter().zip(&after) {
            for (field, (old, new)) in FIELDS.iter().zip(before.iter().zip(after)) {
                let marked = places.contains(field) && !old.is_empty();
                seen += usize::from(marked);
                let wanted = if marked { EF.to_string() } else { old.clone() };
                assert_eq!(new, &wanted, "{name} {field}");
            }
        }
        assert_eq!(seen, readable, "{name}");
    }
}

/// The captures with IPv6 in them, each packet with another flow label: all 20 bits take part. Gives the copies and the
/// labels.
fn labelled() -> Vec<(PathBuf, Vec<u8>, Vec<u32>)> {
    let each = captures().into_iter().map(|path| {
        let (output, written) = with_labels(&std::fs::read(&path).unwrap());
        (path, output, written)
    });
    each.filter(|(.., written)| !written.is_empty()).collect()
}

fn with_labels(bytes: &[u8]) -> (Vec<u8>, Vec<u32>) {
    let mut written = Vec::new();
    let (output, _) = copy(bytes, Pump::default(), |record| {
        if let Ok(headers) = locate(record.link, record.data, record.original)
            && headers.version == 6
        {
            let label = (record.index as u32 + 1).wrapping_mul(2_654_435_761) >> 12;
            set_flow_label(record.data, &headers, label).expect("20 bits");
            written.push(label);
        }
        Ok(Fate::Keep)
    })
    .expect("a sound capture");
    (output, written)
}

#[test]
fn tshark_confirms_flow_labels() {
    if no_tshark() {
        return;
    }
    let mut seen = 0;
    for (path, output, written) in labelled() {
        let name = path.file_name().unwrap().to_str().unwrap();
        let file = Temporary::new(&format!("labels-{name}"), &output);
        let mut written = written.iter().map(|label| format!("{label:#08x}"));
        for (before, after) in tshark(&path).iter().zip(&tshark(&file.0)) {
            for (field, (old, new)) in FIELDS.iter().zip(before.iter().zip(after)) {
                let labelled = *field == "ipv6.flow" && !old.is_empty();
                seen += usize::from(labelled);
                let wanted = if labelled { written.next().expect("one a packet") } else { old.clone() };
                assert_eq!(new, &wanted, "{name} {field}");
            }
        }
        assert_eq!(written.next(), None, "{name}");
    }
    assert!(seen > 300, "{seen}");
}

/// Prints the flow labels of a file's IPv6 packets.
const SCAPY_FLOW_LABELS: &str = r#"
import sys
from scapy.all import IPv6, rdpcap
print(*(packet[IPv6].fl for packet in rdpcap(sys.argv[1]) if IPv6 in packet))
"#;

#[test]
fn scapy_confirms_flow_labels() {
    if no_scapy() {
        return;
    }
    for (path, output, written) in labelled().iter().filter(|(path, ..)| !path.ends_with("sections.pcapng")) {
        let file = Temporary::new(&format!("scapy-labels-{}", path.file_name().unwrap().to_str().unwrap()), output);
        let output = Command::new(python()).args(["-c", SCAPY_FLOW_LABELS]).arg(&file.0).output().expect("python runs");
        assert!(output.status.success(), "scapy: {}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).expect("ASCII");
        let seen: Vec<u32> = text.split_whitespace().map(|word| word.parse().expect("a number")).collect();
        assert_eq!(&seen, written, "{}", path.display());
    }
}

/// Prints, for each file, the numbers of IPv4 and IPv6 packets and of those without EF or with a wrong checksum.
const SCAPY: &str = r#"
import sys
from scapy.all import IP, IPv6, rdpcap
for name in sys.argv[1:]:
    four = six = wrong = 0
    for packet in rdpcap(name):
        if IP in packet and packet[IP].version == 4:
            header = packet[IP]
            raw = bytes(header)[: header.ihl * 4]
            total = sum(int.from_bytes(raw[i:i + 2], "big") for i in range(0, len(raw), 2))
            four += 1
            wrong += header.tos >> 2 != 46 or total % 0xFFFF != 0
        elif IPv6 in packet:
            six += 1
            wrong += packet[IPv6].tc >> 2 != 46
    print(four, six, wrong)
"#;

#[test]
fn scapy_confirms_what_was_marked() {
    if no_scapy() {
        return;
    }
    // scapy reads the first section of a file only
    let paths: Vec<PathBuf> = captures().into_iter().filter(|path| !path.ends_with("sections.pcapng")).collect();
    let (mut files, mut wanted) = (Vec::new(), Vec::new());
    for path in &paths {
        let (output, readable) = marked(&std::fs::read(path).unwrap());
        files.push(Temporary::new(&format!("scapy-{}", path.file_name().unwrap().to_str().unwrap()), &output));
        wanted.push(readable);
    }
    let script = Command::new(python()).args(["-c", SCAPY]).args(files.iter().map(|file| &file.0)).output();
    let output = script.expect("python runs");
    assert!(output.status.success(), "scapy: {}", String::from_utf8_lossy(&output.stderr));
    let (mut fours, mut sixes) = (0, 0);
    let text = String::from_utf8(output.stdout).expect("ASCII");
    for (line, wanted) in text.lines().zip(&wanted) {
        let numbers: Vec<usize> = line.split(' ').map(|word| word.parse().expect("a number")).collect();
        let [four, six, 0] = numbers[..] else { panic!("wrong packets: {line}") };
        assert_eq!(four + six, *wanted, "{line}");
        (fours, sixes) = (fours + four, sixes + six);
    }
    assert_eq!(text.lines().count(), CAPTURES - 1);
    assert!(fours > 1_000 && sixes > 300, "{fours} {sixes}");
}

#[test]
fn tshark_reads_what_the_simulator_exports() {
    if no_tshark() {
        return;
    }
    let mut exporter = Exporter::new(Vec::new()).unwrap();
    for number in 0..200u32 {
        let tcp = SimulatedTransport::Tcp { seq: number * 1460, ack: 1, flags: 0x10 };
        let packet = SimulatedPacket {
            time_ns: u64::from(number) * 1_234_567,
            source: [10, 0, 0, 1].into(),
            destination: [10, 0, 1, number as u8].into(),
            ports: Ports { source: 5000, destination: 80 },
            // not 63: with CE that is 0x45ff, which Wireshark takes for PPP if the next byte is 3
            dscp: (number % 63) as u8,
            ecn: (number % 4) as u8,
            ip_length: 40 + number * 7,
            transport: if number % 2 == 0 { tcp } else { SimulatedTransport::Udp },
        };
        exporter.write(&packet).unwrap();
    }
    let bytes = exporter.into_inner();
    let file = Temporary::new("export.pcap", &bytes);
    let (theirs, ours) = (tshark(&file.0), ours(&bytes));
    assert_eq!((theirs.len(), ours.len()), (200, 200));
    theirs.iter().zip(&ours).for_each(|(theirs, ours)| assert_eq!(theirs, ours));
}

#[test]
fn the_captures_show_every_link_type_and_both_versions() {
    let mut seen = std::collections::BTreeSet::new();
    for path in captures() {
        let bytes = std::fs::read(&path).unwrap();
        copy(&bytes, Pump::default(), |record| {
            if let Ok(headers) = locate(record.link, record.data, record.original) {
                seen.insert((record.link, headers.version, headers.fragment.is_some(), headers.ip_offset));
            }
            Ok(Fate::Keep)
        })
        .unwrap();
    }
    let has = |link, version, fragment, offset| seen.contains(&(link, version, fragment, offset));
    assert!(has(LinkType::ETHERNET, 4, false, 14) && has(LinkType::ETHERNET, 6, false, 14));
    assert!(has(LinkType::ETHERNET, 4, true, 14) && has(LinkType::ETHERNET, 6, true, 14));
    assert!(has(LinkType::ETHERNET, 4, false, 18) && has(LinkType::ETHERNET, 4, false, 22), "VLAN and QinQ");
    assert!(has(LinkType::LINUX_SLL, 4, false, 16) && has(LinkType::LINUX_SLL2, 4, false, 20));
    assert!(has(LinkType::RAW, 4, false, 0));
}
