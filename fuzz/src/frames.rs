//! Frames between two interfaces: whatever the bytes, a frame passes unless it is malformed, has one fate, and differs from what came
//! only where it may.

use perhop_edge::{IpHeaders, LinkType, Policy, locate};
use perhop_live::{Counts, Dropped, Forwarder, Memory};
use perhop_scenario::Options;

/// All that the edge may write: code points, rates in flow labels, and CE by a queue that marks every packet it can.
const POLICY: &str = r#"
    [policy]
    flow-label = "rate"
    queue = "marks"
    link = "100Gbit/s"
    [conditioner.labels]
    per = "flow"
    kind = "rate-labeller"
    k = "100ms"
    [conditioner.colours]
    per = "pair"
    kind = "srtcm"
    cir = "8Mbit/s"
    cbs = "3000B"
    ebs = "3000B"
    green = "mark AF11"
    yellow = "mark AF12"
    red = "mark AF13"
    [queue.marks]
    limit = "1000p"
"#;

/// Between two frames: the line is free again, and buckets have some tokens.
const STEP_NS: u64 = 10_000;

/// A forwarder that stays the same for all inputs, so that an input meets what those before it have left.
pub struct Between {
    forwarder: Forwarder<Memory>,
    now: u64,
}

impl Default for Between {
    fn default() -> Self {
        let (policy, _) = perhop_scenario::Policy::parse(POLICY, &Options::new("fuzz.toml")).expect("a sound policy");
        let policy = policy.live();
        let queue = policy.line().zip(policy.queue());
        let policy = Policy {
            stages: policy.stages(),
            flow_label: policy.encoding(),
            flow_timeout: Some("10ms".parse().expect("a time")),
            most_flows: Some(100),
            queue: queue.map(|(plan, name)| perhop_edge::Behind { name: name.to_owned(), plan: plan.clone() }),
            ..Policy::default()
        };
        let sides = [Memory::default(), Memory::default()];
        Self { forwarder: Forwarder::new(policy, sides, 0).expect("a sound policy"), now: 0 }
    }
}

impl Between {
    /// A byte whose lowest bits say whether the checksum is unfinished, and whether the frame returns; then the frame.
    pub fn pass(&mut self, data: &[u8]) {
        let Some((&kind, frame)) = data.split_first() else { return };
        let (unfinished, way) = (kind & 1 != 0, usize::from(kind >> 1 & 1));
        self.forwarder.sides_mut()[way].coming.push_back((frame.to_vec(), unfinished));
        self.now += STEP_NS;
        assert_eq!(self.forwarder.step(self.now), 1);
        let left: Vec<_> = self.forwarder.sides_mut()[1 - way].sent.drain(..).collect();
        match left.as_slice() {
            [] => assert!(frame.len() > 1514 || is_malformed(frame), "lost: {frame:02x?}"),
            [after] => self.differs(frame, after, (unfinished, way == 0)),
            more => panic!("{} frames of one", more.len()),
        }
    }

    fn differs(&self, before: &[u8], after: &[u8], (unfinished, forward): (bool, bool)) {
        assert_eq!(before.len(), after.len());
        let found = locate(LinkType::ETHERNET, before, before.len() as u32).ok();
        for place in (0..before.len()).filter(|place| before[*place] != after[*place]) {
            let may = found.is_some_and(|it| may_differ(&it, place, forward, unfinished));
            assert!(may, "byte {place} of {before:02x?} became {:#x}", after[place]);
        }
    }

    /// Every frame has one fate.
    pub fn counts(&mut self) -> [Counts; 2] {
        let counts = self.forwarder.counts();
        assert!(counts.iter().all(Counts::is_closed), "{counts:?}");
        counts
    }
}

/// Whether it should be IP and is not, or hides a transport header: then it is lost.
fn is_malformed(frame: &[u8]) -> bool {
    match locate(LinkType::ETHERNET, frame, frame.len() as u32) {
        Ok(headers) => headers.fragment.is_some_and(|fragment| fragment.tiny),
        Err(why) => Dropped::of(why).is_some(),
    }
}

/// Of what goes forward the code point with IPv4's checksum, or with IPv6's flow label; an unfinished checksum of the
/// transport wherever it goes.
fn may_differ(headers: &IpHeaders, place: usize, forward: bool, unfinished: bool) -> bool {
    let at = place.wrapping_sub(headers.ip_offset);
    let header = if headers.version == 4 { [1, 10, 11].contains(&at) } else { at < 4 };
    let transport = at.wrapping_sub((headers.lengths.stated - headers.lengths.l4) as usize);
    let checksum = match headers.protocol {
        6 => 16..18,
        17 => 6..8,
        58 => 2..4,
        _ => 0..0,
    };
    forward && header || unfinished && checksum.contains(&transport)
}
