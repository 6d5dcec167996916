//! Captures that traffic replays (`model = "capture"`): read once, checked, and given to the simulator as lists.

use crate::sections::named::Named;
use crate::sections::traffic::{TrafficCommon, TrafficSection};
use perhop_capture::CaptureError;
use perhop_core::classify::{Match, Passed};
use perhop_core::dscp::Dscp;
use perhop_core::packet::{Ecn, Packet};
use perhop_core::params::{Place, Problems};
use perhop_core::units::{Span, counted};
use perhop_edge::{FlowKey, FlowTable, IpHeaders, locate};
use perhop_sim::traffic::TrafficModel as _;
use perhop_sim::traffic::capture::{CodePoints, Params, Replayed};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::SystemTime;

/// Most packets of one capture: 24 bytes each.
const MOST: usize = 100_000_000;

/// A capture as it is replayed.
struct Read {
    packets: Arc<[Replayed]>,
    hash: String,
}

/// Why one cannot be replayed: what is wrong, and the fix.
type Fault = [String; 2];

/// Reads the captures of all traffic, for a run of `duration`; faults are reported.
pub fn load(traffic: &mut Named<TrafficSection>, duration: Span, problems: &mut Problems) {
    for (name, _, section) in traffic.sound_mut() {
        let place = |field: &str| section.model.places.at(field);
        let places = ["file", "hash"].map(place);
        let Some(params) = section.model.value.replayed() else { continue };
        no_effect(params, &section.common, problems);
        nothing_passed(params, problems);
        let read = match read(params) {
            Ok(read) => read,
            Err([what, help]) => {
                problems.error("E264", places[0], format!("`{}`: {what}", params.file.file)).help(help);
                continue;
            }
        };
        if let Some(stated) = params.hash.as_ref().filter(|stated| **stated != read.hash) {
            let message = format!("`hash` is \"{stated}\", that of `{}` is \"{}\"", params.file.file, read.hash);
            let help = "the file or `match` has changed: restore it, or leave `hash` out";
            problems.error("E264", places[1], message).help(help);
        }
        cut(
            name,
            &read.packets,
            Span::from_ns(duration.ns().saturating_sub(section.common.start.ns())),
            places[0],
            problems,
        );
        params.file.packets = read.packets;
        params.hash.get_or_insert(read.hash);
    }
}

/// E281: a packet that starts has passed no conditioner.
fn nothing_passed(params: &Params, problems: &mut Problems) {
    let Some(matches) = params.matches.as_deref() else { return };
    if let Err(error) = Passed::named("match", matches, &[]) {
        problems.param(&error, matches.place("conditioner"));
    }
}

/// E239: keys of other models.
fn no_effect(params: &Params, common: &TrafficCommon, problems: &mut Problems) {
    if let Some(spread) = common.spread.filter(|spread| **spread > Span::ZERO) {
        let help = "remove `spread`: packets have the capture's times, the first one at `start`";
        problems.error("E239", spread.place, "`spread` has no effect on model \"capture\"").help(help);
    }
    if params.code_points == CodePoints::Traffic {
        return;
    }
    let ecn = common.ecn.filter(|ecn| **ecn).map(|ecn| ("ecn", ecn.place));
    let dscp = (*common.dscp != Dscp::BE).then_some(("dscp", common.dscp.place));
    for (key, place) in dscp.into_iter().chain(ecn) {
        let message = format!("`{key}` has no effect: packets keep the code points of the capture");
        problems.error("E239", place, message).help("remove the key, or add code-points = \"traffic\"");
    }
}

/// W330: packets after the end of the run.
fn cut(name: &str, packets: &[Replayed], left: Span, place: Place, problems: &mut Problems) {
    let beyond = packets.iter().rev().take_while(|packet| packet.at >= left).count();
    let Some(last) = packets.last().filter(|_| beyond > 0) else { return };
    let message = format!(
        "the capture of traffic `{name}` lasts {:.3} s, but the run ends {:.3} s after its start",
        last.at.seconds(),
        left.seconds()
    );
    let label = format!("{} of {} not sent", counted(beyond as u64, ["packet is", "packets are"]), packets.len());
    problems.warn("W330", place, message).label(label).help("raise `duration`, or shorten the capture (editcap)");
}

/// What was read before, as long as some scenario holds it: sweeps read a file once.
type Known = BTreeMap<(PathBuf, u64, Option<SystemTime>, String), (Weak<[Replayed]>, String)>;

fn read(params: &Params) -> Result<Read, Fault> {
    static KNOWN: Mutex<Known> = Mutex::new(BTreeMap::new());
    let path = Path::new(&params.file.file);
    let about = std::fs::metadata(path).map_err(|error| unreadable(&error.to_string()))?;
    let matches = params.matches.as_ref().map(|it| it.value.clone()).unwrap_or_default();
    let key = (path.to_owned(), about.len(), about.modified().ok(), format!("{matches:?}"));
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.retain(|_, (packets, _)| packets.strong_count() > 0);
    if let Some((packets, hash)) = known.get(&key)
        && let Some(packets) = packets.upgrade()
    {
        return Ok(Read { packets, hash: hash.clone() });
    }
    let packets: Arc<[Replayed]> = packets(path, &matches)?.into();
    let hash = hash(&packets);
    known.insert(key, (Arc::downgrade(&packets), hash.clone()));
    Ok(Read { packets, hash })
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
    let mut capture = perhop_capture::Capture::open(path).map_err(failed)?;
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
