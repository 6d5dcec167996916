//! Captures and packets: any bytes yield packets or a typed error with a message, never a panic, and a copied or
//! rewritten packet differs from its input only where it may.

use perhop_capture::mark::{self, Marking, RoundTripsOf};
use perhop_capture::{Capture, CaptureError, Fate, Pump};
use perhop_edge::{FlowTable, IpHeaders, LinkType};
use perhop_edge::{locate, set_dscp, set_flow_label};
use perhop_results::captures;

/// The block type of a section header, the same in both byte orders.
const PCAPNG: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];

/// Link types that have their own header format, and one that is unknown.
const LINKS: [u16; 11] = [0, 1, 12, 14, 101, 108, 113, 147, 228, 229, 276];

/// Bytes as a classic pcap.
pub fn pcap(data: &[u8]) {
    if !data.starts_with(&PCAPNG) {
        capture(data);
    }
}

/// Bytes as a pcapng.
pub fn pcapng(data: &[u8]) {
    if data.starts_with(&PCAPNG) {
        capture(data);
    }
}

/// Bytes as a packet: its link type, its length on the wire, a new code point, then what was captured.
pub fn headers(data: &[u8]) {
    let Some((&[link, dscp, a, b, c, d], captured)) = data.split_first_chunk() else { return };
    let link = LINKS[usize::from(link) % LINKS.len()];
    rewritten(&Packet { link, data: captured, original: u32::from_le_bytes([a, b, c, d]) }, dscp % 64);
}

/// Bytes as a file: read, copied and metered.
pub fn capture(bytes: &[u8]) {
    chunks(bytes);
    copied(bytes);
    metered(bytes);
}

/// Read to the end or to the first error; the same error must come again.
pub fn chunks(bytes: &[u8]) {
    let mut capture = match Capture::new(bytes) {
        Ok(capture) => capture,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let mut covered = 0;
    loop {
        match capture.next_chunk() {
            Ok(Some(chunk)) => {
                assert_eq!(chunk.offset(), covered as u64);
                assert_eq!(chunk.bytes(), &bytes[covered..covered + chunk.bytes().len()]);
                covered += chunk.bytes().len();
            }
            Ok(None) => return assert_eq!(covered, bytes.len()),
            Err(error) => {
                let again = capture.next_chunk().err().expect("an error lasts").to_string();
                return assert_eq!(error.to_string(), again);
            }
        }
    }
}

/// A copy is the beginning of its input.
fn copied(bytes: &[u8]) {
    let Ok(mut capture) = Capture::new(bytes) else { return };
    let mut out = Vec::new();
    let pump = Pump { partial: true, ..Pump::default() };
    let done = pump.run(&mut capture, Some(&mut out), |_| Ok::<_, CaptureError>(Fate::Keep));
    assert!(bytes.starts_with(&out), "{done:?}");
}

/// Round-trip times of the packets, if any: a report, or an error with a message.
fn metered(bytes: &[u8]) {
    let Ok(mut capture) = Capture::new(bytes) else { return };
    let marking = Marking { round_trips: RoundTripsOf::Samples, ..Marking::default() };
    match mark::run(marking, &mut capture, None, &Pump { partial: true, ..Pump::default() }) {
        Ok(report) => assert!(!captures::text(&report, 10).is_empty()),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// A captured packet.
#[derive(Debug)]
pub struct Packet<'a> {
    /// Link type: which header the bytes begin with.
    pub link: u16,
    /// The captured bytes.
    pub data: &'a [u8],
    /// Bytes on the wire.
    pub original: u32,
}

impl Packet<'_> {
    fn locate(&self, data: &[u8]) -> Option<IpHeaders> {
        locate(LinkType(self.link), data, self.original).ok()
    }
}

/// A new code point changes the first two bytes of the IP header and an IPv4 checksum.
pub fn rewritten(packet: &Packet<'_>, dscp: u8) {
    let Some(headers) = packet.locate(packet.data) else { return };
    assert!(headers.ip_offset + 20 <= packet.data.len());
    assert!(headers.lengths.l3 >= 20 && headers.dscp < 64 && headers.ecn < 4);
    if let Some(tcp) = headers.tcp {
        assert!(u32::from(tcp.header_length) + tcp.payload + 20 <= headers.lengths.l3);
    }
    FlowTable::new().id(&headers);
    let mut changed = packet.data.to_vec();
    set_dscp(&mut changed, &headers, dscp).expect("below 64");
    let now = packet.locate(&changed).expect("as before");
    assert_eq!((now.dscp, IpHeaders { dscp: headers.dscp, ..now }), (dscp, headers));
    let v4 = headers.version == 4;
    differs_only(packet, &changed, |place| {
        place.wrapping_sub(headers.ip_offset) < 2 || v4 && checksum(&headers, place)
    });
    relabelled(packet, &headers);
}

/// A new flow label changes the second to the fourth byte of an IPv6 header; IPv4 is refused unchanged.
fn relabelled(packet: &Packet<'_>, headers: &IpHeaders) {
    let mut changed = packet.data.to_vec();
    let label = packet.original & 0xf_ffff;
    let v6 = headers.version == 6;
    assert_eq!(set_flow_label(&mut changed, headers, label).is_ok(), v6);
    let wanted = headers.flow_label.map(|_| label);
    assert_eq!(packet.locate(&changed), Some(IpHeaders { flow_label: wanted, ..*headers }));
    differs_only(packet, &changed, |place| v6 && (1..4).contains(&place.wrapping_sub(headers.ip_offset)));
}

fn checksum(headers: &IpHeaders, place: usize) -> bool {
    (10..12).contains(&place.wrapping_sub(headers.ip_offset))
}

fn differs_only(packet: &Packet<'_>, changed: &[u8], allowed: impl Fn(usize) -> bool) {
    assert_eq!(packet.data.len(), changed.len());
    assert!((0..changed.len()).all(|place| packet.data[place] == changed[place] || allowed(place)));
}
