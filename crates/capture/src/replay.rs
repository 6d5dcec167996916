//! Captures that traffic replays (`model = "capture"`), as lists of packets: read once as long as some scenario holds them.

use crate::{Capture, CaptureError, is_capture};
use perhop_core::classify::Match;
use perhop_core::dscp::Dscp;
use perhop_core::packet::{Ecn, Packet};
use perhop_core::units::{Span, counted};
use perhop_edge::{FlowKey, FlowTable, IpHeaders, locate};
use perhop_sim::traffic::capture::{CaptureReader, Contents, Fault, Replayed};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::SystemTime;

/// Most packets of one capture: 24 bytes each.
const MOST: usize = 100_000_000;

/// Captures in files.
#[derive(Clone, Copy, Debug)]
pub struct Files;

impl CaptureReader for Files {
    fn recognises(&self, start: &[u8]) -> bool {
        is_capture(start)
    }

    fn read(&self, file: &str, matches: &Match) -> Result<Contents, Fault> {
        read(Path::new(file), matches)
    }
}

/// Path, length, time of the last change, and what matches: packets and their hash.
type Known = BTreeMap<(PathBuf, u64, Option<SystemTime>, String), (Weak<[Replayed]>, String)>;

fn read(path: &Path, matches: &Match) -> Result<Contents, Fault> {
    static KNOWN: Mutex<Known> = Mutex::new(BTreeMap::new());
    let about = std::fs::metadata(path).map_err(|error| unreadable(&error.to_string()))?;
    let key = (path.to_owned(), about.len(), about.modified().ok(), format!("{matches:?}"));
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.retain(|_, (packets, _)| packets.strong_count() > 0);
    if let Some((packets, hash)) = known.get(&key)
        && let Some(packets) = packets.upgrade()
    {
        return Ok(Contents { packets, hash: hash.clone() });
    }
    let packets: Arc<[Replayed]> = packets(path, matches)?.into();
    let hash = hash(&packets);
    known.insert(key, (Arc::downgrade(&packets), hash.clone()));
    Ok(Contents { packets, hash })
}

fn unreadable(why: &str) -> Fault {
    [
        why.to_owned(),
        "give a pcap or pcapng file, plain or .gz, by its path from the directory in which perhop runs".into(),
    ]
}

/// The packets that match, in the order of the file.
fn packets(path: &Path, matches: &Match) -> Result<Vec<Replayed>, Fault> {
    let failed = |error: CaptureError| unreadable(&error.to_string());
    let mut capture = Capture::open(path).map_err(failed)?;
    let mut reading =
        Reading { matches, flows: FlowTable::new(), numbers: BTreeMap::new(), first: None, packets: Vec::new() };
    let mut seen = 0;
    while let Some(mut chunk) = capture.next_chunk().map_err(failed)? {
        let Some(record) = chunk.record() else { continue };
        seen += 1;
        let Ok(headers) = locate(record.link, record.data, record.original) else { continue };
        reading.add(seen, record.time_ns, &headers)?;
    }
    if reading.packets.is_empty() {
        let help = "check `match` and what was captured: `perhop meter FILE` lists its flows and code points";
        return Err([format!("no packet to replay among {}", counted(seen, ["packet", "packets"])), help.into()]);
    }
    Ok(reading.packets)
}

struct Reading<'a> {
    matches: &'a Match,
    flows: FlowTable,
    /// Numbers of the flows that match.
    numbers: BTreeMap<u32, u32>,
    first: Option<u64>,
    packets: Vec<Replayed>,
}

impl Reading<'_> {
    /// The packet `number` of the file, counted from 1.
    fn add(&mut self, number: u64, stamp: Option<u64>, headers: &IpHeaders) -> Result<(), Fault> {
        let dscp = Dscp::new(headers.dscp).expect("six bits");
        let (ecn, next) = (Ecn::from_bits(headers.ecn), self.numbers.len() as u32);
        let packet = Packet { dscp, ecn, ..Packet::default() };
        if !self.matches.flow(&FlowKey::of(headers).headers()) || !self.matches.packet(&packet) {
            return Ok(());
        }
        let Some(stamp) = stamp else {
            let help = "capture with a tool that writes the time, such as tcpdump or dumpcap";
            return Err([format!("packet {number} has no timestamp"), help.into()]);
        };
        let at = stamp.checked_sub(*self.first.get_or_insert(stamp)).map(Span::from_ns);
        let Some(at) = at.filter(|at| self.packets.last().is_none_or(|last| last.at <= *at)) else {
            return Err([
                format!("packet {number} has an earlier timestamp than one before it"),
                "`reordercap` sorts a capture".into(),
            ]);
        };
        if self.packets.len() == MOST {
            return Err([format!("more than {MOST} packets"), "replay a part of it (editcap), or use `match`".into()]);
        }
        let flow = *self.numbers.entry(self.flows.id(headers)).or_insert(next);
        self.packets.push(Replayed { at, flow, wire: headers.lengths.l3, dscp, ecn });
        Ok(())
    }
}

/// Of all that is replayed: 16 hexadecimal digits.
fn hash(packets: &[Replayed]) -> String {
    let mut hasher = blake3::Hasher::new_derive_key("perhop capture v1");
    for it in packets {
        hasher.update(&it.at.ns().to_le_bytes()).update(&it.flow.to_le_bytes()).update(&it.wire.to_le_bytes());
        hasher.update(&[it.dscp.get(), it.ecn as u8]);
    }
    hasher.finalize().to_hex()[..16].to_owned()
}
