//! Matches by the values that they ask for, so that those which have to do with another one are found without asking all.
//!
//! Matches that ask for the same fields, with prefixes of about one length, are of one shape, and a shape is a table by these values
//! (tuple space search: Srinivasan, Suri, Varghese, SIGCOMM 1999). What is found is a superset: the caller asks each one.

use super::{Match, Prefix};
use crate::units::Span;
use ipnet::IpNet;
use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Fields of a match.
const FIELDS: usize = 10;
/// Of these, those of prefixes.
const NETS: [usize; 2] = [0, 1];
/// Conditioners, of which a packet may have passed several.
const PASSED: usize = 8;
/// Round-trip times: whether one is asked for.
const RTT: usize = 9;
/// Keys of one match, and of one question.
const MOST_KEYS: usize = 64;

/// How much of each field counts: nothing, the value, or so many bits of a prefix.
type Shape = [Part; FIELDS];

/// How much of a field counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Part {
    #[default]
    Nothing,
    Value,
    /// Bits of an address of IPv4.
    Four(u8),
    /// Bits of an address of IPv6.
    Six(u8),
}

/// A value of a field: a number, a hash of a name, or the bits of a prefix from the left.
type Value = u128;

/// The values of the fields that count, of one shape.
#[derive(Clone, Debug, Default)]
struct Values {
    shape: Shape,
    lists: [Vec<Value>; FIELDS],
    /// What the round-trip time begins with.
    rtt: Option<Span>,
}

/// How a match that is looked for has to do with the one that is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// It may take all packets of the given one.
    Covers,
    /// A packet may be of both.
    Meets,
    /// It may take the given one, which is a packet: its single values, and without those that are not known.
    Takes,
}

/// Matches by their values; each has the number of its place.
#[derive(Clone, Debug, Default)]
pub struct Index {
    tables: Vec<Table>,
    by_shape: HashMap<Shape, usize>,
    count: usize,
}

/// The matches of one shape.
#[derive(Clone, Debug, Default)]
struct Table {
    shape: Shape,
    /// Each with its group and its place.
    entries: Vec<((usize, usize), Values)>,
    /// By what of the shape counts for a question: the places by the hash of the values.
    keys: HashMap<Shape, HashMap<u64, Places>>,
}

/// Places in their order.
#[derive(Clone, Debug, Default)]
struct Places {
    list: Vec<usize>,
    /// By group.
    groups: BTreeMap<usize, Vec<usize>>,
    /// The least round-trip time that any up to each begins with.
    least: Vec<Span>,
}

impl<'a> FromIterator<&'a Match> for Index {
    fn from_iter<T: IntoIterator<Item = &'a Match>>(all: T) -> Self {
        let mut index = Self::default();
        all.into_iter().for_each(|matches| index.add(matches));
        index
    }
}

impl Index {
    /// One more, at the next place.
    pub fn add(&mut self, matches: &Match) {
        self.add_to(matches, 0);
    }

    /// The next place has none.
    pub fn skip(&mut self) {
        self.count += 1;
    }

    /// One more, of a group.
    pub fn add_to(&mut self, matches: &Match, group: usize) {
        let place = (group, self.count);
        self.count += 1;
        for mut values in values(matches) {
            values.narrow();
            let shape = values.shape;
            let at = *self.by_shape.entry(shape).or_insert(self.tables.len());
            if at == self.tables.len() {
                self.tables.push(Table { shape, ..Table::default() });
            }
            let table = &mut self.tables[at];
            for (shape, by_key) in &mut table.keys {
                values.cut(*shape).each_key(|key| by_key.entry(key).or_default().push(place, values.rtt));
            }
            table.entries.push((place, values));
        }
    }

    /// Places below another that may have such a relation to a match, in lists that each ascend; a place may come twice.
    pub fn candidates(&mut self, of: &Match, (relation, below): (Relation, usize), mut each: impl FnMut(&[usize])) {
        self.places(of, relation, |places, rtt| each(places.range(rtt, below)));
    }

    fn places(&mut self, of: &Match, relation: Relation, mut each: impl FnMut(&Places, Option<Span>)) {
        for asked in values(of) {
            for table in &mut self.tables {
                let Some(asked) = asked.against(&table.shape, relation) else { continue };
                let by_key = table.by_key(asked.shape);
                asked.each_key(|key| by_key.get(&key).into_iter().for_each(|it| each(it, asked.rtt)));
            }
        }
    }

    /// Of groups from one on, so many at most in each list, the first place below another that has such a relation: group and place. A
    /// group may come again.
    pub fn first_of_each(
        &mut self,
        of: &Match,
        (relation, below): (Relation, usize),
        (from, most): (usize, usize),
        has: impl Fn(usize) -> bool,
    ) -> Vec<(usize, usize)> {
        let mut all = Vec::new();
        self.places(of, relation, |places, _| {
            let first = |(group, places): (&usize, &Vec<usize>)| {
                let found = places.iter().take_while(|place| **place < below).find(|place| has(**place));
                found.map(|place| (*group, *place))
            };
            all.extend(places.groups.range(from..).filter_map(first).take(most));
        });
        all
    }

    /// The first place below another that has such a relation, by a test of the caller's.
    pub fn first(
        &mut self,
        of: &Match,
        (relation, below): (Relation, usize),
        has: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let mut best = below;
        self.candidates(of, (relation, below), |places| {
            let found = places.iter().take_while(|place| **place < best).find(|place| has(**place));
            found.iter().for_each(|place| best = **place);
        });
        (best < below).then_some(best)
    }
}

impl Places {
    fn push(&mut self, (group, place): (usize, usize), rtt: Option<Span>) {
        if self.list.last() == Some(&place) {
            return;
        }
        self.groups.entry(group).or_default().push(place);
        self.list.push(place);
        let least = self.least.last().copied().into_iter().chain(rtt).min();
        self.least.push(least.unwrap_or_default());
    }

    /// Those below a place, from the first that may begin before a round-trip time.
    fn range(&self, rtt: Option<Span>, below: usize) -> &[usize] {
        let end = self.list.partition_point(|place| *place < below);
        let start = rtt.map_or(0, |rtt| self.least[..end].partition_point(|least| *least > rtt));
        &self.list[start..end]
    }
}

impl Table {
    /// The places by the values of a part of the shape.
    fn by_key(&mut self, shape: Shape) -> &HashMap<u64, Places> {
        self.keys.entry(shape).or_insert_with(|| {
            let mut map: HashMap<u64, Places> = HashMap::new();
            for (place, values) in &self.entries {
                values.cut(shape).each_key(|key| map.entry(key).or_default().push(*place, values.rtt));
            }
            map
        })
    }
}

impl Values {
    /// Leaves out fields with many values until there are few keys.
    fn narrow(&mut self) {
        let many = |lists: &[Vec<Value>; FIELDS]| {
            lists.iter().filter(|list| !list.is_empty()).map(Vec::len).fold(1, usize::saturating_mul)
        };
        while many(&self.lists) > MOST_KEYS && self.lists.iter().filter(|list| !list.is_empty()).count() > 1 {
            let Some(longest) = (0..FIELDS).max_by_key(|field| self.lists[*field].len()) else { return };
            self.lists[longest].clear();
            self.shape[longest] = Part::Nothing;
        }
    }

    /// What of a question a table of some shape can answer; `None`: it has nothing.
    fn against(&self, shape: &Shape, relation: Relation) -> Option<Self> {
        let mut common = Shape::default();
        for (field, part) in shape.iter().enumerate().filter(|it| *it.1 != Part::Nothing) {
            common[field] = match (self.shape[field], relation) {
                (_, Relation::Meets) if matches!(field, PASSED | RTT) => Part::Nothing,
                (_, Relation::Takes) if field == PASSED => Part::Nothing,
                (Part::Nothing, Relation::Takes) if field == RTT => return None,
                (Part::Nothing, Relation::Covers) => return None,
                (Part::Nothing, _) => Part::Nothing,
                (own, _) => part.common(own, relation)?,
            };
        }
        let mut asked = self.cut(common);
        match relation {
            // Whatever covers the question covers each of its values.
            Relation::Covers => asked.lists.iter_mut().for_each(|list| list.truncate(1)),
            Relation::Meets | Relation::Takes => asked.narrow(),
        }
        Some(asked)
    }

    /// The same as far as a shape says.
    fn cut(&self, shape: Shape) -> Self {
        let mut lists: [Vec<Value>; FIELDS] = Default::default();
        for (field, part) in shape.iter().enumerate() {
            let bits = match part {
                Part::Nothing => continue,
                Part::Value => u128::BITS,
                Part::Four(bits) | Part::Six(bits) => u32::from(*bits),
            };
            let mask = u128::MAX.checked_shl(u128::BITS - bits).unwrap_or(0);
            lists[field] = self.lists[field].iter().map(|value| value & mask).collect();
            if bits < u128::BITS {
                lists[field].dedup();
            }
        }
        let rtt = self.rtt.filter(|_| shape[RTT] != Part::Nothing);
        Self { shape, lists, rtt }
    }

    /// A hash for each choice of one value from each list.
    fn each_key(&self, mut each: impl FnMut(u64)) {
        let lists: Vec<_> = self.lists.iter().filter(|list| !list.is_empty()).collect();
        let mut at = vec![0; lists.len()];
        loop {
            let mut hasher = DefaultHasher::new();
            lists.iter().zip(&at).for_each(|(list, i)| list[*i].hash(&mut hasher));
            each(hasher.finish());
            let Some(next) = (0..lists.len()).find(|list| at[*list] + 1 < lists[*list].len()) else { return };
            at[next] += 1;
            at[..next].fill(0);
        }
    }
}

impl Part {
    /// What both say; `None`: no value of one is a value of the other.
    fn common(self, asked: Self, relation: Relation) -> Option<Self> {
        let bits = |own: u8, asked: u8| match relation {
            Relation::Covers => (own <= asked).then_some(own),
            Relation::Meets | Relation::Takes => Some(own.min(asked)),
        };
        match (self, asked) {
            (Self::Value, Self::Value) => Some(Self::Value),
            (Self::Four(own), Self::Four(asked)) => bits(own, asked).map(Self::Four),
            (Self::Six(own), Self::Six(asked)) => bits(own, asked).map(Self::Six),
            _ => None,
        }
    }
}

/// The values of a match: once for each choice of a length of its source and of its destination.
fn values(of: &Match) -> Vec<Values> {
    let mut all = Values { rtt: of.rtt.as_ref().map(|rtt| rtt.0.from), ..Values::default() };
    let name = |name: &String| {
        let mut hasher = DefaultHasher::new();
        name.hash(&mut hasher);
        u128::from(hasher.finish())
    };
    let lists: [Vec<Value>; FIELDS - 2] = [
        of.traffic.iter().map(name).collect(),
        of.dscp.iter().map(|dscp| dscp.get().into()).collect(),
        of.protocol.iter().map(|protocol| protocol.0.into()).collect(),
        of.source_port.iter().map(|port| (*port).into()).collect(),
        of.destination_port.iter().map(|port| (*port).into()).collect(),
        of.ecn.iter().map(|ecn| *ecn as u128).collect(),
        of.conditioner.iter().map(name).collect(),
        of.rtt.iter().map(|_| 0).collect(),
    ];
    for (field, list) in (NETS.len()..).zip(lists) {
        all.shape[field] = if list.is_empty() { Part::Nothing } else { Part::Value };
        all.lists[field] = list;
    }
    let mut found = vec![all];
    for (field, prefixes) in NETS.into_iter().zip([&of.source, &of.destination]) {
        let by_length = by_length(prefixes);
        if !by_length.is_empty() {
            let with = |values: &Values, (part, list): (&Part, &Vec<Value>)| {
                let mut values = values.clone();
                values.shape[field] = *part;
                values.lists[field].clone_from(list);
                values
            };
            found =
                found.iter().flat_map(|values| by_length.iter().map(move |it| with(values, (&it.0, &it.1)))).collect();
        }
    }
    found
}

/// Prefixes by their length, roughly: those of fewer bits in steps of 8, or of 16 in IPv6.
fn by_length(prefixes: &[Prefix]) -> Vec<(Part, Vec<Value>)> {
    let mut found: Vec<(Part, Vec<Value>)> = Vec::new();
    for Prefix(net) in prefixes {
        let (part, bits) = match net {
            IpNet::V4(net) => (Part::Four(net.prefix_len() / 8 * 8), u128::from(u32::from(net.addr())) << 96),
            IpNet::V6(net) => (Part::Six(net.prefix_len() / 16 * 16), u128::from(net.addr())),
        };
        match found.iter_mut().find(|it| it.0 == part) {
            Some((_, list)) => list.push(bits),
            None => found.push((part, vec![bits])),
        }
    }
    found
}
