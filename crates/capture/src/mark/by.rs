//! Who sends how much: the packets of a capture by host, by pair of addresses, by flow, by code point or by ECN.
//!
//! All IP packets that were metered count, of both directions, as they came. By host a packet counts twice, at the address
//! that sent it and at the one that received it; otherwise once.

use super::flow_row::name_of;
use super::rows::Counted;
use super::volume::Volume;
use perhop_core::packet::FlowId;
use perhop_edge::flows::flow_name;
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::HashMap;

/// What packets are grouped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// Addresses, that send or receive.
    Host,
    /// Source and destination address.
    Pair,
    /// Protocol, addresses and ports.
    Flow,
    /// Code point.
    Dscp,
    /// The two bits of ECN.
    Ecn,
}

impl By {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Host, Self::Pair, Self::Flow, Self::Dscp, Self::Ecn];

    /// Its name on the command line, and that of its column.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Pair => "pair",
            Self::Flow => "flow",
            Self::Dscp => "dscp",
            Self::Ecn => "ecn",
        }
    }
}

/// The packets of one of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    /// What it is called.
    pub name: String,
    /// Its packets.
    pub volume: Volume,
    /// Of a host's, those that it sent.
    pub sent: Volume,
}

/// The packets of captures in groups, most bytes first; of equals by name.
#[derive(Clone, Debug, PartialEq)]
pub struct Groups {
    /// What they are grouped by.
    pub by: By,
    /// They.
    pub rows: Vec<Group>,
    /// All packets, each once.
    pub whole: Volume,
    /// The time of the captures; `None` where none has a time.
    pub seconds: Option<f64>,
}

/// Names of the two bits, by value.
const ECN: [&str; 4] = ["Not-ECT", "ECT(1)", "ECT(0)", "CE"];

impl Groups {
    /// Of one capture.
    pub(super) fn of(counted: &Counted, by: By) -> Self {
        let mut found = GroupBuilder::default();
        for (at, count) in counted.octets.iter().enumerate() {
            let octet = at as u8; // of either direction
            found.whole.add((*count).into());
            match by {
                By::Dscp => found.add(name_of(octet >> 2), (*count).into()),
                By::Ecn => found.add(ECN[usize::from(octet & 3)].to_owned(), (*count).into()),
                By::Host | By::Pair | By::Flow => {}
            }
        }
        if matches!(by, By::Host | By::Pair | By::Flow) {
            counted.seen().for_each(|flow| found.flow(counted, flow, by));
        }
        found.groups(by, counted.duration_s)
    }

    /// Of several captures, which together cover this time.
    pub fn sum<'a>(by: By, all: impl Iterator<Item = &'a Self>, seconds: Option<f64>) -> Self {
        let mut found = GroupBuilder::default();
        for groups in all {
            found.whole.add(groups.whole);
            for Group { name, volume, sent } in &groups.rows {
                found.add(name.clone(), *volume);
                found.sent(name, *sent);
            }
        }
        found.groups(by, seconds)
    }

    /// A group's bytes over the time of the captures, bit/s.
    pub fn bit_s(&self, row: &Group) -> Option<f64> {
        row.volume.bit_s(self.seconds)
    }

    /// A group's share of all bytes, in per cent.
    pub fn share_percent(&self, row: &Group) -> Option<f64> {
        (self.whole.bytes > 0).then(|| 100.0 * row.volume.bytes as f64 / self.whole.bytes as f64)
    }
}

/// A list of objects.
impl Serialize for Groups {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.rows.iter().map(|row| Object { of: self, row }))
    }
}

struct Object<'a> {
    of: &'a Groups,
    row: &'a Group,
}

impl Serialize for Object<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { of, row } = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry(of.by.name(), &row.name)?;
        map.serialize_entry("packets", &row.volume.packets)?;
        map.serialize_entry("bytes", &row.volume.bytes)?;
        map.serialize_entry("bit_s", &of.bit_s(row))?;
        map.serialize_entry("share_percent", &of.share_percent(row))?;
        if of.by == By::Host {
            map.serialize_entry("sent_packets", &row.sent.packets)?;
            map.serialize_entry("sent_bytes", &row.sent.bytes)?;
        }
        map.end()
    }
}

impl Group {
    /// With the packets of another.
    pub fn add(&mut self, other: &Self) {
        self.volume.add(other.volume);
        self.sent.add(other.sent);
    }
}

/// Groups while they are found.
#[derive(Default)]
struct GroupBuilder {
    whole: Volume,
    places: HashMap<String, usize>,
    rows: Vec<Group>,
}

impl GroupBuilder {
    fn flow(&mut self, counted: &Counted, flow: FlowId, by: By) {
        let (key, volume) = (counted.key(flow), counted.volume(flow));
        let [source, destination] = [key.source, key.destination].map(|address| address.to_string());
        match by {
            By::Host => {
                self.add(source.clone(), volume);
                self.sent(&source, volume);
                self.add(destination, volume);
            }
            By::Pair => self.add(format!("{source} > {destination}"), volume),
            _ => self.add(flow_name(&key), volume),
        }
    }

    fn add(&mut self, name: String, volume: Volume) {
        if volume.packets > 0 {
            self.at(name).volume.add(volume);
        }
    }

    fn sent(&mut self, name: &str, volume: Volume) {
        if volume.packets > 0 {
            self.at(name.to_owned()).sent.add(volume);
        }
    }

    fn at(&mut self, name: String) -> &mut Group {
        let place = *self.places.entry(name).or_insert_with_key(|name| {
            self.rows.push(Group { name: name.clone(), ..Group::default() });
            self.rows.len() - 1
        });
        &mut self.rows[place]
    }

    fn groups(self, by: By, seconds: Option<f64>) -> Groups {
        let mut rows = self.rows;
        rows.sort_by(|a, b| (Reverse(a.volume.bytes), &a.name).cmp(&(Reverse(b.volume.bytes), &b.name)));
        Groups { by, rows, whole: self.whole, seconds }
    }
}
