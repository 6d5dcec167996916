//! A million frames of any lengths: what is charged for each is what the rule says, read from the bytes by another hand.
//! `PERHOP_CASES` says how many; a hundred million take minutes in a release build.

use perhop_core::Rng;
use target::{Charging, Frame, Kind};

#[path = "../../../../fuzz/src/lengths.rs"]
mod target;

/// Cases of an ordinary run.
const CASES: u64 = 1_000_000;

/// Of an ordinary run each way to a length has at least so many: one in a thousand.
const LEAST: u64 = CASES / 1000;

/// Bytes that begin something in headers.
const WORDS: [u8; 12] = [0x45, 0x46, 0x4f, 0x60, 0x81, 0x88, 0xa8, 0x08, 0x86, 0xdd, 44, 0];

/// Draws frames.
struct Draw(Rng);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        (self.0.bits() % bound as u64) as usize
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// What a header says of `there` bytes: the truth, nearly the truth, or anything.
    fn stated(&mut self, there: usize) -> u16 {
        let off = self.below(8);
        let stated = match self.below(10) {
            0..3 => there,
            3..5 => there.saturating_sub(off),
            5 => there + off,
            6 => self.below(60),
            7 => self.of(&[0, 1, 8, 19, 20, 28, 40, 48, 65_535]),
            _ => self.below(1 << 16),
        };
        stated.min(65_535) as u16
    }

    /// A link header that announces a version, and its link type.
    fn link(&mut self, bytes: &mut Vec<u8>, version: u8) -> u16 {
        let link = self.of(&[1, 1, 1, 101, 113, 276]);
        let ip = if version == 4 { 0x0800_u16 } else { 0x86dd };
        let tags = self.of(&[0, 0, 0, 1, 1, 2, 3, 8, 9]);
        let mut types: Vec<u16> = (0..tags).map(|_| self.of(&[0x8100, 0x88a8, 0x9100])).collect();
        types.push(ip);
        let first = types[0].to_be_bytes();
        match link {
            1 => bytes.extend([&[2; 12][..], &first].concat()),
            113 => bytes.extend([&[0, 0, 0, 1, 0, 6][..], &[2; 8], &first].concat()),
            276 => bytes.extend([&first[..], &[0, 0, 0, 0, 0, 3, 0, 1, 0, 6], &[2; 8]].concat()),
            _ => return link,
        }
        types[1..].iter().for_each(|kind| bytes.extend([&[0, 5][..], &kind.to_be_bytes()].concat()));
        link
    }

    /// An IP packet with so many bytes behind its header, which may say otherwise.
    fn ip(&mut self, bytes: &mut Vec<u8>, version: u8, behind: usize) {
        let protocol = self.of(&[6, 17, 1, 0, 43, 44, 51, 59, 60, 132]);
        if version == 4 {
            let words = self.of(&[5, 5, 5, 5, 6, 15, 4]);
            let header = words.max(5) * 4;
            let [high, low] = self.stated(header + behind).to_be_bytes();
            let [offset, part] = self.of(&[[0x40, 0], [0x20, 0], [0, 1], [0x20, 3]]);
            bytes.extend([0x40 | words as u8, 0, high, low, 0, 7, offset, part, 64, protocol, 0, 0]);
            bytes.extend([10, 0, 0, 1, 10, 0, 0, 2]);
            bytes.resize(bytes.len() + header - 20, 1);
        } else {
            let [high, low] = self.stated(behind).to_be_bytes();
            bytes.extend([0x60, 0, 0, 0, high, low, protocol, 64]);
            bytes.extend([3; 32]);
        }
        (0..behind.min(64)).for_each(|_| {
            let byte = self.of(&WORDS);
            bytes.push(byte);
        });
        bytes.resize(bytes.len() + behind.saturating_sub(64), 9);
    }

    /// A frame: its link type, its bytes, and how many it had.
    fn frame(&mut self, bytes: &mut Vec<u8>) -> (u16, u32) {
        bytes.clear();
        let version = self.of(&[4, 6]);
        let link = self.link(bytes, version);
        let start = bytes.len();
        let behind = self.of(&[0, 8, 20, 26, 32]) + if self.below(3) == 0 { self.below(1500) } else { self.below(30) };
        self.ip(bytes, version, behind);
        match self.below(6) {
            0 => bytes.resize(bytes.len().max(start + 46), 0),
            1 => bytes.resize(bytes.len() + self.below(8), 0),
            2 => bytes.truncate(self.below(bytes.len() + 1)),
            _ => {}
        }
        for _ in 0..self.of(&[0, 0, 0, 0, 1, 2, 3]) {
            let at = self.below(bytes.len().clamp(1, 80));
            let byte = self.of(&WORDS);
            bytes.get_mut(at).into_iter().for_each(|place| *place = byte);
        }
        let more = self.below(2000);
        let had = bytes.len() as u32;
        (link, self.of(&[had, had, had, had + more as u32, had / 2, 0]))
    }
}

#[test]
fn a_frame_is_charged_what_it_has() {
    let cases = std::env::var("PERHOP_CASES").map_or(CASES, |it| it.parse().expect("PERHOP_CASES is a number"));
    let (mut draw, mut charging) = (Draw(Rng::stream(1, 0, "lengths")), Charging::default());
    let (mut bytes, mut found) = (Vec::new(), std::collections::BTreeMap::<Kind, u64>::new());
    for _ in 0..cases {
        let (link, original) = draw.frame(&mut bytes);
        *found.entry(charging.charge(&Frame { link, bytes: &bytes, original })).or_default() += 1;
    }
    assert_eq!(found.values().sum::<u64>(), cases);
    assert!(found.len() == 7 && (cases < CASES || found.values().all(|frames| *frames >= LEAST)), "{found:?}");
}

/// The fuzzer's target.
#[test]
fn any_bytes() {
    let (mut draw, mut charging) = (Draw(Rng::stream(2, 0, "lengths")), Charging::default());
    for _ in 0..20_000 {
        let bytes: Vec<_> = (0..draw.below(120))
            .map(|_| if draw.below(2) == 0 { draw.of(&WORDS) } else { draw.below(256) as u8 })
            .collect();
        charging.input(&bytes);
    }
}
