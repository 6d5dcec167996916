//! What one decision costs: the method of one conditioner or AQM, called directly, with no port around it.
//!
//! Sizes, gaps, colours, queue lengths and labels are random ([`super::inputs`]); 1.6 times what meters and links are set to is
//! offered. The loop that reads them and counts the outcomes is part of what is measured; its cost alone is shown as
//! `empty loop`. An AQM's decision is `on_arrival` and `on_fate`; of RIO also the departure of another packet.
//!
//! With a million instances each packet meets one at random, in bursts of 32: the memory of all 32 is touched before the
//! first decision, so that the reads overlap. That is what a prefetch does, without unsafe code.

use super::inputs::{Inputs, N, NAMED};
use perhop_core::aqm::{self, Aqm, Arrival, Backlog};
use perhop_core::conditioner::{self, Conditioner, Passage, meter::Tokens};
use perhop_core::packet::{Colour, FlowId, Packet};
use perhop_core::params::{Params, Problems, Tree, read_table};
use perhop_core::port::Turn;
use perhop_core::rng::Rng;
use perhop_core::scope::{Scope, Weights};
use perhop_core::units::{BitRate, Length, Packets, Time};
use perhop_core::verdict::{Fate, Verdict};
use perhop_core::{ParamError, aqm::Departure};
use std::hint::black_box;
use std::mem::ManuallyDrop;
use std::num::NonZeroU64;
use std::rc::Rc;

/// Loops; the median counts.
pub(super) const REPEATS: usize = 7;

/// Instances where there are many.
pub(super) const MILLION: usize = 1_000_000;

/// Packets whose instances are read together.
const BURST: usize = 32;

/// Packets that a queue holds whose AQM looks at departures.
const HELD: usize = 256;

/// Outcomes that are counted: three colours, dropped.
type Counts = [u64; 4];

/// A loop of so many decisions.
type Loop = Box<dyn FnMut(u64) -> Counts>;

/// A decision to be measured.
struct Bare {
    name: &'static str,
    one: Loop,
    /// Makes so many instances, where that is asked for.
    many: Option<Box<dyn Fn(usize) -> Loop>>,
}

/// What was measured: medians, CPU ns.
pub(super) struct Measured {
    /// Which decision.
    pub(super) name: &'static str,
    /// Ours, of one instance and of many.
    pub(super) own: [Option<f64>; 2],
    /// The peer's.
    pub(super) peer: [Option<f64>; 2],
}

/// Another program that takes decisions of the same names.
pub(super) trait Peer {
    /// CPU ns of one decision in a loop of `packets` with so many instances; `None` if it has no such decision.
    fn ns(&mut self, name: &str, packets: u64, instances: usize) -> Option<f64>;
}

/// A peer that has no decision.
pub(super) struct Alone;

impl Peer for Alone {
    fn ns(&mut self, _: &str, _: u64, _: usize) -> Option<f64> {
        None
    }
}

/// Every decision, by turns with the peer's. With fewer packets than a million there are as many instances as packets.
pub(super) fn measure(packets: NonZeroU64, inputs: Inputs, peer: &mut dyn Peer) -> Vec<Measured> {
    let packets = packets.get();
    let instances = usize::try_from(packets).map_or(MILLION, |packets| packets.min(MILLION));
    let mut by_turns = |name, ours: &mut Loop, instances| {
        let mut found = [Vec::new(), Vec::new()];
        for _ in 0..REPEATS {
            found[0].push(nanoseconds(ours, packets));
            found[1].extend(peer.ns(name, packets, instances));
        }
        found.map(median)
    };
    let all = list(&Rc::new(inputs));
    let total = all.len();
    let each = |(done, mut bare): (usize, Bare)| {
        super::show("bare decisions", done, total);
        let [one, peers_one] = by_turns(bare.name, &mut bare.one, 1);
        let many = bare.many.map(|make| by_turns(bare.name, &mut make(instances), instances));
        let [many, peers_many] = many.unwrap_or_default();
        Measured { name: bare.name, own: [one, many], peer: [peers_one, peers_many] }
    };
    let measured = all.into_iter().enumerate().map(each).collect();
    super::show("bare decisions", total, total);
    measured
}

/// CPU ns of a decision.
fn nanoseconds(decide: &mut Loop, packets: u64) -> f64 {
    let began = super::cpu_seconds();
    black_box(decide(packets));
    (super::cpu_seconds() - began) * 1e9 / packets as f64
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

fn list(inputs: &Rc<Inputs>) -> Vec<Bare> {
    use conditioner::{fsam, pam, rate_labeller, redp, srtcm, trtcm, trtcm4115, tsw2cm, tsw3cm};
    let bucket = [("cir", "800Mbit/s"), ("cbs", "20000B")];
    let single = [bucket[0], bucket[1], ("ebs", "20000B")];
    let double = [bucket[0], bucket[1], ("pir", "1040Mbit/s"), ("pbs", "20000B")];
    let separate = [bucket[0], bucket[1], ("eir", "240Mbit/s"), ("ebs", "20000B")];
    let tsw = [bucket[0], ("pir", "1040Mbit/s"), ("window", "1ms")];
    let ramp = [("min", "200p"), ("max", "400p"), ("weight", "9")];
    let blind = |of: &[Entry]| [table(of), table(&of.iter().map(a_millionth).collect::<Vec<_>>())];
    let aware = |of: &[Entry]| blind(&[of, &[("colour-aware", "true")]].concat());
    vec![
        Bare { name: "empty loop", one: empty(inputs), many: None },
        both(inputs, "srtcm blind", blind(&single), srtcm::Params::build),
        both(inputs, "srtcm aware", aware(&single), srtcm::Params::build),
        both(inputs, "trtcm blind", blind(&double), trtcm::Params::build),
        both(inputs, "trtcm aware", aware(&double), trtcm::Params::build),
        both(inputs, "trtcm-4115 blind", blind(&separate), trtcm4115::Params::build),
        both(inputs, "trtcm-4115 aware", aware(&separate), trtcm4115::Params::build),
        both(inputs, "rate-labeller", blind(&[]), rate_labeller::Params::build),
        meter(inputs, "tsw2cm", table(&[tsw[0], tsw[2]]), tsw2cm::Params::build),
        meter(inputs, "tsw3cm", table(&tsw), tsw3cm::Params::build),
        meter(inputs, "pam", table(&bucket), pam::Params::build),
        meter(inputs, "f-sam", table(&bucket), fsam::Params::build),
        meter(inputs, "redp", table(&bucket), redp::Params::build),
        queue(inputs, "red", table(&ramp), aqm::red::Params::build),
        queue_with_departures(inputs, "rio", rio(), aqm::rio::Params::build),
        queue(inputs, "tred", table(&ramp), aqm::tred::Params::build),
        queue(inputs, "svb", table(&[]), aqm::svb::Params::build),
        queue(inputs, "msvb", msvb(), aqm::msvb::Params::build),
        queue(inputs, "csfq", table(&[]), aqm::csfq::Params::build),
    ]
}

/// A key and its value.
type Entry = (&'static str, &'static str);

/// What one of a million is set to: a millionth of the rate, and a burst of two large packets.
fn a_millionth(&(key, value): &Entry) -> Entry {
    let value = match key {
        "cir" => "800bit/s",
        "pir" => "1040bit/s",
        "eir" => "240bit/s",
        "cbs" | "ebs" | "pbs" => "3000B",
        _ => value,
    };
    (key, value)
}

/// Keys and values as a file states them.
fn table(entries: &[Entry]) -> Tree {
    let value = |text: &str| match (text.parse(), text.parse()) {
        (Ok(number), _) => Tree::Integer(number),
        (_, Ok(truth)) => Tree::Bool(truth),
        _ => Tree::Text(text.to_owned()),
    };
    Tree::table(entries.iter().map(|(key, text)| (*key, value(text))).collect())
}

fn rio() -> Tree {
    let side = |min, max| table(&[("min", min), ("max", max)]);
    Tree::table(vec![("in", side("40p", "120p")), ("out", side("200p", "400p")), ("weight", Tree::Integer(9))])
}

fn msvb() -> Tree {
    let class = |colour: &str, share| {
        let members = Tree::List(vec![Tree::Text(colour.to_owned()).into()]);
        Tree::table(vec![("for", members), ("share", Tree::Float(share))]).into()
    };
    let classes = vec![class("green", 0.5), class("yellow", 0.3), class("red", 0.2)];
    Tree::table(vec![("classes", Tree::List(classes))])
}

/// The link behind every queue sends 100 MB/s; labels have weight 1.
fn scope() -> Scope {
    Scope {
        link_rate: Some(BitRate::mbps(800)),
        limit: Some(Length::Packets(Packets::new(1000))),
        weights: Some(Weights::ONE),
        ..Scope::default()
    }
}

/// An instance; the parameters of [`list`] are good.
fn build<P: Params, T>(params: Tree, build: impl FnOnce(P, &Scope) -> Result<T, ParamError>) -> T {
    let mut problems = Problems::default();
    let params = read_table(&params.into(), &mut problems).unwrap_or_else(|| panic!("{:?}", problems.list));
    build(params, &scope()).unwrap_or_else(|error| panic!("{error:?}"))
}

fn random() -> Rng {
    Rng::stream(1, 0, "bench")
}

/// Packet `i`, `gap` after the one before.
#[inline(always)]
fn packet(inputs: &Inputs, i: usize) -> Packet {
    let mut packet = Packet { size: inputs.sizes[i].into(), colour: inputs.colours[i], ..Packet::default() };
    packet.set_label(inputs.labels[i]);
    packet
}

/// How a packet left, by number: of colours, and for a labeller of labels.
#[inline(always)]
fn outcome<C: Conditioner>(meter: &C, verdict: Verdict, packet: &Packet) -> usize {
    match verdict {
        Verdict::Pass if meter.writes().field() == 0 => packet.colour.index(),
        Verdict::Pass => (packet.label.to_bits() & 3) as usize,
        _ => 3,
    }
}

fn empty(inputs: &Rc<Inputs>) -> Loop {
    let (inputs, mut now) = (Rc::clone(inputs), 0);
    Box::new(move |packets| {
        let mut counts = Counts::default();
        for i in 0..packets {
            let i = i as usize % N;
            now += u64::from(inputs.gaps[i]);
            counts[(u64::from(inputs.sizes[i]) ^ now) as usize & 3] += 1;
        }
        counts
    })
}

/// The decision of one meter.
fn meter<P: Params, C: Conditioner + 'static>(
    inputs: &Rc<Inputs>,
    name: &'static str,
    params: Tree,
    built: impl FnOnce(P, &Scope) -> Result<C, ParamError>,
) -> Bare {
    Bare { name, one: with_one(inputs, build(params, built)), many: None }
}

fn with_one<C: Conditioner + 'static>(inputs: &Rc<Inputs>, mut meter: C) -> Loop {
    let (inputs, mut rng, mut last) = (Rc::clone(inputs), random(), 0);
    Box::new(move |packets| {
        let (mut counts, inputs, mut now) = (Counts::default(), &*inputs, last);
        for i in 0..packets {
            let i = i as usize % N;
            now += u64::from(inputs.gaps[i]);
            let mut packet = packet(inputs, i);
            let verdict =
                meter.forward(Turn::testing(&Passage::of(Time::from_ns(now), FlowId(0))), &mut packet, &mut rng);
            counts[outcome(&meter, verdict, &packet)] += 1;
        }
        last = now;
        counts
    })
}

/// The decision of one meter, and of one of many.
fn both<P: Params, C: Conditioner + Clone + 'static>(
    inputs: &Rc<Inputs>,
    name: &'static str,
    [alone, of_many]: [Tree; 2],
    built: impl Fn(P, &Scope) -> Result<C, ParamError>,
) -> Bare {
    let (one, of_many, own) = (with_one(inputs, build(alone, &built)), build(of_many, &built), Rc::clone(inputs));
    Bare { name, one, many: Some(Box::new(move |instances| with_many(&own, &of_many, instances))) }
}

/// An instance in one cache line, if it fits.
#[derive(Clone)]
#[repr(align(64))]
struct Slot<C>(C);

/// Reads a part of an instance that its decision needs.
fn touch<C: Conditioner>(instance: &C) -> usize {
    let mut read = matches!(instance.tokens(), Tokens::Packets).into();
    if instance.writes().field() != 0 {
        instance.gauges(Time::ZERO, &mut |_, value| read += value as usize);
    }
    read
}

fn with_many<C: Conditioner + Clone + 'static>(inputs: &Rc<Inputs>, meter: &C, instances: usize) -> Loop {
    let mut slots = vec![Slot(meter.clone()); instances];
    let (inputs, mut rng, mut last) = (Rc::clone(inputs), random(), 0);
    Box::new(move |packets| {
        let (mut counts, inputs, mut now) = (Counts::default(), &*inputs, last);
        for burst in 0..packets / BURST as u64 {
            let first = burst as usize * BURST;
            let place = |i: usize| ((u64::from(inputs.instances[i % NAMED]) * slots.len() as u64) >> 32) as usize;
            let mut places = [0; BURST];
            for (i, it) in places.iter_mut().enumerate() {
                *it = place(first + i);
            }
            black_box(places.iter().fold(0, |all, place| all | touch(&slots[*place].0)));
            for (i, place) in places.into_iter().enumerate() {
                let i = (first + i) % N;
                now += u64::from(inputs.gaps[i]);
                let mut packet = packet(inputs, i);
                let at = Passage::of(Time::from_ns(now), FlowId(0));
                let verdict = slots[place].0.forward(Turn::testing(&at), &mut packet, &mut rng);
                counts[outcome(&slots[place].0, verdict, &packet)] += 1;
            }
        }
        last = now;
        counts
    })
}

/// The decision of one AQM.
fn queue<P: Params, A: Aqm + 'static>(
    inputs: &Rc<Inputs>,
    name: &'static str,
    params: Tree,
    built: impl FnOnce(P, &Scope) -> Result<A, ParamError>,
) -> Bare {
    let (inputs, mut state, mut last) = (Rc::clone(inputs), Some((build(params, built), random())), 0);
    let one = Box::new(move |packets| {
        // Variables of the loop, as the peer's program has them: nothing holds their address.
        let Some((aqm, mut rng)) = state.take() else { return Counts::default() };
        let mut aqm = ManuallyDrop::new(aqm);
        let mut clock = Clock { inputs: &inputs, now: last };
        let counts = clock.run(packets, |at, packet| decide(&mut *aqm, &at, packet, &mut rng));
        (last, state) = (clock.now, Some((ManuallyDrop::into_inner(aqm), rng)));
        counts
    });
    Bare { name, one, many: None }
}

/// The decision of one AQM that looks at departures.
fn queue_with_departures<P: Params, A: Aqm + 'static>(
    inputs: &Rc<Inputs>,
    name: &'static str,
    params: Tree,
    built: impl FnOnce(P, &Scope) -> Result<A, ParamError>,
) -> Bare {
    let (inputs, mut aqm, mut rng, mut last) = (Rc::clone(inputs), build(params, built), random(), 0);
    let mut held = Held::fill(&mut aqm, &inputs);
    let one = Box::new(move |packets| {
        let mut clock = Clock { inputs: &inputs, now: last };
        let counts = clock.run(packets, |at, packet| {
            let fate = decide(&mut aqm, &at, packet, &mut rng);
            if fate.stays() {
                held.replace(&mut aqm, &at, *packet, &mut rng);
            }
            fate
        });
        last = clock.now;
        counts
    });
    Bare { name, one, many: None }
}

/// What an AQM is asked and told of an arrival.
#[inline(always)]
fn decide(aqm: &mut impl Aqm, at: &Arrival, packet: &mut Packet, rng: &mut Rng) -> Fate {
    let fate = match aqm.on_arrival(Turn::testing(at), packet, rng) {
        Verdict::Pass => Fate::Queued,
        Verdict::Mark => Fate::Marked,
        Verdict::Drop(reason) => Fate::Dropped(reason),
    };
    aqm.on_fate(Turn::testing(at), packet, fate);
    fate
}

/// Packets, one after the other.
struct Clock<'a> {
    inputs: &'a Inputs,
    now: u64,
}

impl Clock<'_> {
    /// Counts the fates of so many arrivals at queues of random lengths.
    #[inline(always)]
    fn run(&mut self, packets: u64, mut fate: impl FnMut(Arrival, &mut Packet) -> Fate) -> Counts {
        let (mut counts, inputs, mut now) = (Counts::default(), self.inputs, self.now);
        for i in 0..packets {
            let i = i as usize % N;
            now += u64::from(inputs.gaps[i]);
            let mut packet = packet(inputs, i);
            let at = Arrival { now: Time::from_ns(now), backlog: backlog(inputs.queues[i].into()) };
            let fate = fate(at, &mut packet);
            counts[if fate.stays() { packet.colour.index() } else { 3 }] += 1;
        }
        self.now = now;
        counts
    }
}

#[inline(always)]
fn backlog(packets: u32) -> Backlog {
    Backlog { packets, bytes: u64::from(packets) * 700, idle_since: None, room: true, ecn: false }
}

/// The packets in a queue, for an AQM that looks at departures: for each that arrives the oldest leaves.
struct Held {
    packets: Box<[Packet; HELD]>,
    next: usize,
}

impl Held {
    fn fill(aqm: &mut impl Aqm, inputs: &Inputs) -> Self {
        let packets = std::array::from_fn(|i| packet(inputs, i));
        let at = Arrival { now: Time::ZERO, backlog: backlog(HELD as u32) };
        packets.iter().for_each(|packet| aqm.on_fate(Turn::testing(&at), packet, Fate::Queued));
        Self { packets: Box::new(packets), next: 0 }
    }

    #[inline(always)]
    fn replace(&mut self, aqm: &mut impl Aqm, at: &Arrival, packet: Packet, rng: &mut Rng) {
        let mut oldest = std::mem::replace(&mut self.packets[self.next % HELD], packet);
        self.next += 1;
        let departure = Departure { now: at.now, arrived: at.now, backlog: at.backlog };
        black_box(aqm.on_departure(Turn::testing(&departure), &mut oldest, rng));
    }
}

/// Colours by number, as the peer's program has them.
const _: () = assert!(Colour::Green as u8 == 0 && Colour::Yellow as u8 == 1 && Colour::Red as u8 == 2);
